"""Profiles: the quirks of one host or model family, as data.

Three words for three things: a *wire* is a protocol, a *provider* is a configured upstream (URL and credential), a
*profile* is what differs within one wire. A new compatible host is a row here and a row in `hosts.py`, no code.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from toolwire.providers.openai_models import EFFORTS


@dataclass(frozen=True, slots=True)
class Profile:
    """Differences from OpenAI's own Chat Completions. The defaults are for an unknown compatible host: it is sent the
    plain subset of the API, and its answers may have any of its known deviations. Other wires read only the fields
    about answers."""

    name: str
    #: The call ids that the host accepts, as a regular expression for the whole id. Another id is rewritten
    #: deterministically, in call and result. The default allows any characters: hosts send ids like "functions.f:0".
    call_id: str = r"[\x21-\x7e]{1,64}"
    #: Whether the host's own ids are as its API documents them. Then a client of that API sees them, and none is
    #: minted.
    documented_ids: bool = False
    #: Length of a rewritten id.
    call_id_length: int = 40
    #: The tool names that the host takes, as a regular expression for the whole name; "": the names that its API
    #: documents. Others are mapped, and restored in answers.
    tool_name: str = ""
    #: The most tools in one request; None: no known limit.
    tools: int | None = None
    #: Whether a tool with `strict: true` must keep OpenAI's rules for strict schemas; else `strict` is passed on
    #: unchecked.
    strict_rules: bool = False
    #: The form of a tool's schema that the host takes; "": any. "typed": each value has one type, and no keyword
    #: stands beside alternatives. "bare": the host has refused a schema (`schema/essential.py`).
    schemas: Literal["", "typed", "bare"] = ""
    #: Whether tools may have `strict`: each for itself, only all or none of a request ("alike"), or none, if the host
    #: has refused it.
    strict: Literal["each", "alike", "none"] = "each"
    #: Whether `tool_choice: {"type": "allowed_tools"}` is understood; else only the allowed tools are sent.
    allowed_tools: bool = False
    #: Whether messages may have the role "developer"; else they are sent as "system", which means the same.
    developer_role: bool = False
    #: Whether custom (freeform) tools are understood; else those of another API's client are sent as functions.
    custom_tools: bool = False
    #: Whether the arguments of earlier calls may be any text, as at OpenAI; else arguments of another API's client that
    #: are no object are put into one.
    any_arguments: bool = False
    #: Whether a host has refused arguments that are no object (`rewrite/history.py`).
    object_arguments: bool = False
    #: The member and value that switch thinking off, at a host that has refused a forced call while the model thinks
    #: (`openai_chat/thinking_off.py`).
    thinking_off: tuple[str, bytes] | None = None
    #: Whether a host has refused tools beside reasoning, which is then switched off for requests with tools.
    tools_at_rest: bool = False
    #: The most output tokens, as a refusal of the host has named them (`rewrite/output_limit.py`).
    most_output: int | None = None
    #: The forms of `tool_choice` that the host takes: all, or only `words` or only `auto`, if it has refused others
    #: (`openai_chat/known_choice.py`).
    tool_choices: Literal["all", "words", "auto"] = "all"
    #: Whether the model reads images and files. False if the host has refused them (`rewrite/unseen_images.py`).
    sees_images: bool = True
    #: Whether the host fetches images by their address; false where it has refused to.
    fetches_images: bool = True
    #: Whether a file is a part of the type `document_url`, with its bytes or its address (Mistral); else a `file` of
    #: the Chat API, which has no address.
    document_urls: bool = False
    #: The member of an assistant message in which the host wants its reasoning text back; None: it refuses reasoning.
    reasoning_back: str | None = "reasoning_content"
    #: Whether the host refuses a turn with tool calls that lacks that member.
    reasoning_required: bool = False
    #: The placeholder for reasoning that the history has lost. If it is empty and the host refuses that, a space is
    #: sent once more.
    lost_reasoning: str = ""
    #: Whether `stream_options.include_usage` is understood (Mistral sends usage unasked and refuses the member).
    stream_usage: bool = True
    #: For a host that refuses unknown members of messages: those that it takes beside `role`, `content`, `tool_calls`
    #: and `tool_call_id`. Others are left out, with a warning if they have content.
    message_members: frozenset[str] | None = None
    #: Whether tools may have members that the API does not document. False if the host has refused one.
    tool_members: bool = True
    #: Whether an assistant's message has the member `refusal`; else a refusal of another API's client becomes its text.
    refusals: bool = False
    #: Request members that have another name at the host, and those that it refuses: these are left out with a warning.
    rename: tuple[tuple[str, str], ...] = ()
    refuses: frozenset[str] = frozenset()
    #: The host's name for the output limit, for a client of another API. All hosts know the older name.
    output_limit: str = "max_tokens"
    #: The most stop sequences in one request; None: no known limit.
    stops: int | None = None
    #: Whether `response_format` takes a schema; else a schema of another API's client is put in words, and any JSON
    #: object is asked for.
    json_schema: bool = True
    #: Whether it takes a format of the answer without a schema, and any format beside tools. False if the host has
    #: refused that: then the format of another API's client is put in words.
    json_object: bool = True
    json_beside_tools: bool = True
    #: Whether the model continues a history that ends with the assistant.
    prefill: bool = True
    #: Members with their JSON that are added to the request of another API's client.
    adds: tuple[tuple[str, str], ...] = ()
    #: Whether it serves open models of many makers. Then the makers' profiles decide about reasoning in the history.
    open_models: bool = False
    #: The efforts for a model without a row in `reasoning_words.py` or `openai_models.py`, for clients of other APIs.
    #: The default has the three that every host with the member takes. Empty at a host that refuses the member for
    #: models without reasoning.
    efforts: tuple[str, ...] = ("low", "medium", "high")
    #: Whether an effort is sent as `reasoning: {"effort": ...}`, as in the Responses API.
    reasoning_object: bool = False
    #: Whether answers may have `{}` as a placeholder before a call's real arguments. If not, a call without arguments
    #: need not wait for its end.
    placeholders: bool = True
    #: Whether answers may hold reasoning in the text, between tags (`openai_chat/tagged_reasoning.py`).
    tagged_reasoning: bool = True
    #: Whether answers have state that the documented fields of the Chat API cannot hold. Then ids must be minted, to
    #: find it by.
    yields_state: bool = False
    #: Whether the host has the Responses API beside Chat Completions. Clients of the Responses API are then served by
    #: it, others if the model needs it (`openai_models.py`).
    has_responses: bool = False
    #: Whether its Responses API serves only the models that need it.
    responses_if_needed: bool = False
    #: The marks for the prompt cache that it takes: OpenAI's, for models that have them, or Anthropic's in parts.
    cache_breakpoints: bool = False
    cache_control: bool = False
    #: Whether the host has refused a history that ends with the assistant. Holds for clients of every API.
    user_last: bool = False
    #: Whether the host has refused turns that do not alternate (`rewrite/alternating_turns.py`).
    alternates: bool = False
    #: Whether content may be a list of parts where it is only text, null, and empty. False if the host has refused it
    #: (`openai_chat/known_content.py`).
    content_lists: bool = True
    null_content: bool = True
    empty_content: bool = True
    #: Whether messages may have the role "system". False if the host has refused it: it is in the user's turn then.
    system_messages: bool = True
    #: Whether it takes references to tools in results of a search (Claude Code's). False if it has refused one.
    tool_references: bool = True
    #: Whether a host of the Messages API has refused a turn with calls that lacks its thinking.
    thinking_required: bool = False
    #: Whether one turn may have several calls, and a text beside a call. False if the host has refused it
    #: (`rewrite/alternating_turns.py`).
    several_calls: bool = True
    #: The most characters of a tool's description, where the host has refused more (`rewrite/long_descriptions.py`).
    description_length: int | None = None
    #: Members of the request that the host has refused, whoever sends them, and whether it has refused identifiers of
    #: more than 64 characters (`refused_members.py`).
    unknown_members: frozenset[str] = frozenset()
    short_identifiers: bool = False
    text_beside_calls: bool = True
    #: Whether it takes the ids of calls that it made itself. False if it has refused one: then these, too, must match
    #: `call_id`.
    own_ids: bool = True
    #: Whether the host's Responses API takes an output without a call, as Codex sends.
    unasked_outputs: bool = False
    #: Whether it takes the ids of items that it does not store. False if it has refused one.
    item_ids: bool = True
    #: Whether tool calls that models write as text become calls (`stream/text_calls`), unless a request says no.
    #: Vendors whose own servers parse every call never have it, whatever a request says: markup in their text is text.
    recovers_text_calls: bool = True


#: Rules of tool names: a letter first; and no hyphen either, which is what all known rules have in common.
LETTER_FIRST = r"[A-Za-z][A-Za-z0-9_-]{0,63}"
PLAIN_NAME = r"[A-Za-z][A-Za-z0-9_]{0,63}"

_OPENAI_ONLY = frozenset({"store", "metadata", "service_tier", "prompt_cache_key", "safety_identifier", "verbosity"})

#: What Mistral's own client knows (`ChatCompletionRequest` of mistralai/client-python).
_MISTRAL_TOO = frozenset({"metadata", "prompt_cache_key"})

_TO_HIGH = ("none", "low", "medium", "high")

PROFILES: dict[str, Profile] = {
    row.name: row
    for row in (
        Profile(
            "openai",
            documented_ids=True,
            placeholders=False,
            call_id=r"[A-Za-z0-9_-]{1,40}",
            tools=128,
            strict_rules=True,
            allowed_tools=True,
            developer_role=True,
            custom_tools=True,
            any_arguments=True,
            refusals=True,
            output_limit="max_completion_tokens",
            stops=4,
            efforts=EFFORTS,
            reasoning_back=None,
            tagged_reasoning=False,
            has_responses=True,
            unasked_outputs=True,
            cache_breakpoints=True,
            recovers_text_calls=False,
        ),
        Profile(
            "azure",
            documented_ids=True,
            unasked_outputs=True,
            cache_breakpoints=True,
            placeholders=False,
            recovers_text_calls=False,
            call_id=r"[A-Za-z0-9_-]{1,40}",
            tools=128,
            strict_rules=True,
            developer_role=True,
            custom_tools=True,
            any_arguments=True,
            refusals=True,
            output_limit="max_completion_tokens",
            stops=4,
            efforts=EFFORTS,
            reasoning_back=None,
            tagged_reasoning=False,
        ),
        # The vendors of two other wires: their frames pass as they are.
        Profile("anthropic", documented_ids=True, placeholders=False, recovers_text_calls=False),
        Profile("bedrock", placeholders=False, recovers_text_calls=False),
        Profile("compatible", open_models=True),
        Profile(
            "deepseek",
            tools=128,
            reasoning_required=True,
            json_schema=False,
            stops=16,
            rename=(("max_completion_tokens", "max_tokens"),),
            yields_state=True,
        ),
        # https://github.com/MoonshotAI/walle/blob/main/docs/walle.md: its form of a schema
        Profile(
            "moonshot",
            # MoonshotAI/kimi-cli#1773: "must start with a letter and can contain letters, numbers, underscores, dashes"
            tool_name=LETTER_FIRST,
            reasoning_required=True,
            lost_reasoning=" ",
            yields_state=True,
            schemas="typed",
        ),
        Profile(
            # Ids of exactly nine alphanumerics; unknown members are refused with 422.
            "mistral",
            call_id=r"[A-Za-z0-9]{9}",
            call_id_length=9,
            rename=(("max_completion_tokens", "max_tokens"), ("seed", "random_seed")),
            refuses=_OPENAI_ONLY - _MISTRAL_TOO | {"user", "logprobs", "top_logprobs", "logit_bias"},
            efforts=(),
            document_urls=True,
            reasoning_back=None,
            message_members=frozenset({"prefix"}),
            stream_usage=False,
            prefill=False,
        ),
        Profile(
            # "property 'x' is unsupported" for every member that its API does not document.
            "groq",
            tools=128,
            output_limit="max_completion_tokens",
            stops=4,  # as its SDK says, and that of Cerebras
            refuses=_OPENAI_ONLY - {"service_tier"} | {"logprobs", "top_logprobs", "logit_bias"},
            reasoning_back="reasoning",
            message_members=frozenset({"name"}),
        ),
        Profile("xai", tools=128),
        Profile("openrouter", efforts=EFFORTS, reasoning_back="reasoning", yields_state=True, cache_control=True),
        Profile(
            "gemini-compat",
            tool_name=r"[A-Za-z_][A-Za-z0-9_-]{0,63}",  # the rule of Google's own API, and of OpenAI's
            efforts=EFFORTS[:5],
            reasoning_back=None,
            yields_state=True,
            recovers_text_calls=False,
        ),
        # https://docs.aws.amazon.com/bedrock/latest/userguide/inference-responses-api.html: gpt-oss by Chat alone
        Profile("bedrock-openai", has_responses=True, responses_if_needed=True),
        Profile(
            "cerebras",
            output_limit="max_completion_tokens",
            stops=4,
            efforts=_TO_HIGH,
            reasoning_back="reasoning",
            strict="alike",  # "Tools with mixed values for 'strict' are not allowed", of which none is one
        ),
        Profile("ollama", efforts=(*_TO_HIGH, "max"), reasoning_back="reasoning"),  # https://docs.ollama.com/openai
        # vllm-project/vllm#43401, ggml-org/llama.cpp#26045, sgl-project/sglang#20556 and
        # lmstudio-ai/lmstudio-bug-tracker#2057: `none` switches off what the template switches
        Profile("vllm", efforts=_TO_HIGH, open_models=True),
        Profile("llamacpp", efforts=_TO_HIGH, open_models=True),
        Profile("sglang", efforts=_TO_HIGH, open_models=True),
        Profile("lmstudio", efforts=_TO_HIGH, open_models=True),
        # Hosts that differ in how they are told how much to reason (`reasoning_words.py`).
        Profile("zai", tools=128, yields_state=True),
        # Without `reasoning_split` its models think in tags within the text.
        Profile(
            "minimax",
            adds=(("reasoning_split", "true"),),
            output_limit="max_completion_tokens",
            yields_state=True,
        ),
        Profile("dashscope", open_models=True),
        Profile("volcengine", efforts=_TO_HIGH, open_models=True),
        Profile("together", open_models=True),
        Profile("fireworks", efforts=_TO_HIGH, open_models=True),
        Profile("nvidia", open_models=True),
        *(
            Profile(name, open_models=True)
            for name in ("baseten", "chutes", "cloudflare", "friendli", "nebius", "novita", "qianfan", "tencent")
        ),
        Profile("siliconflow", stops=4, open_models=True),
        *(Profile(name) for name in ("hunyuan", "stepfun", "xiaomi")),
        # Those whose docs name the efforts, by all models: https://docs.deepinfra.com (chat reasoning),
        # https://www.scaleway.com/en/docs/generative-apis, https://docs.digitalocean.com (serverless inference),
        # veniceai/api-docs#138, https://docs.cohere.com/docs/compatibility-api, and Requesty's, where `none` is
        # only the least (anomalyco/models.dev#2870).
        Profile("deepinfra", efforts=EFFORTS[:6], open_models=True),
        Profile("scaleway", efforts=_TO_HIGH, open_models=True),
        Profile("digitalocean", efforts=(*_TO_HIGH, "max"), open_models=True),
        Profile("venice", efforts=EFFORTS, open_models=True),
        Profile("requesty", efforts=(*_TO_HIGH[1:], "max")),
        # "Valid names contain only the characters a-z, A-Z, 0-9, _ and must not begin with a digit" (its `Tool`)
        Profile("cohere", tool_name=r"[A-Za-z_][A-Za-z0-9_]{0,63}", efforts=("none", "high")),
        # https://vercel.com/docs/ai-gateway/sdks-and-apis/openai-chat-completions/reasoning
        Profile("vercel", efforts=EFFORTS[:6], reasoning_object=True),
    )
}

#: Pattern of a model's name, without the host's namespace -> the profile of its maker, whose rules hold at every
#: compatible host. The Kimi models here think by default; some hosts write a `p` for the point in their names.
MODELS: tuple[tuple[str, str], ...] = (
    (r"(?:moonshot(?:ai)?\.)?kimi-(?:k2-thinking|thinking|k2[.p][5-9]|k[3-9]|for-coding).*", "moonshot"),
)


def profile_for_model(model: str) -> str:
    """The profile of a model's maker; "compatible" for a model without a row."""
    name = model.lower().rpartition("/")[2]
    return next((profile for pattern, profile in MODELS if re.fullmatch(pattern, name)), "compatible")


@lru_cache(maxsize=256)
def with_makers_rules(host: Profile, model: str) -> Profile:
    """The profile of a host, with the rules of the model's maker for reasoning in a history."""
    maker = PROFILES[profile_for_model(model)]
    if not maker.reasoning_required or not host.open_models:
        return host
    return replace(
        host,
        reasoning_required=maker.reasoning_required,
        lost_reasoning=maker.lost_reasoning,
        yields_state=maker.yields_state,
    )
