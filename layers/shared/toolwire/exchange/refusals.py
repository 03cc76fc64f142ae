"""Reads from a refusal's words what it is about, and which fields of the host's profile it shows to be wrong. The
patterns are the words of known hosts.

`mending` sends a request once more only if this changes it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from toolwire.exchange.profile_lessons import Lesson
from toolwire.exchange.refused_messages import of_messages
from toolwire.model.errors import TOO_LONG, GatewayError
from toolwire.providers.profiles import LETTER_FIRST, PLAIN_NAME, Profile
from toolwire.providers.refused_members import is_about_identifiers, unknown_members
from toolwire.rewrite.alternating_turns import is_about_order
from toolwire.rewrite.long_descriptions import longest_description
from toolwire.rewrite.unseen_images import is_about_addresses, is_about_images, is_about_one_image

#: About the state in a history.
_ABOUT_STATE = re.compile(r"signature|thinking|thought|reasoning|encrypted", re.IGNORECASE)

#: About missing reasoning of earlier turns (Moonshot, and hosts of its models).
_WANTS_REASONING = re.compile(
    r"reasoning[_ ]content\b.*\b(missing|required|must|lacks?)\b|\b(missing|must|requires?)\b.*reasoning[_ ]content",
    re.IGNORECASE,
)

#: About the names of betas in a header.
_ABOUT_BETAS = re.compile(r"\bbeta`? (flag|header)", re.IGNORECASE)

#: About a member that the host does not know (Groq, OpenAI, hosts with FastAPI).
_UNKNOWN_MEMBER = re.compile(
    r"\b(propert(y|ies)|fields?|inputs?|parameters?|reasoning(_content)?)\b.{0,80}\b"
    r"(unsupported|not supported|not permitted|not allowed|unexpected|unknown|unrecognized|forbidden)\b"
    r"|\b(unsupported|unexpected|unknown|unrecognized)\b.{0,20}\b(property|field|parameter|key|argument)",
    re.IGNORECASE | re.DOTALL,
)

#: About a setting that the model does not take, or not with this value (OpenAI, xAI, Moonshot, hosts with FastAPI).
_NOT_TAKEN = re.compile(
    r"(\b(un|not |no )|n't )support|\bnot (be )?(permitted|allowed|accept|enabled)|\bdeprecated|\bunexpected|\bunknown"
    r"|\bunrecognized|\bonly\b.{0,40}\ballowed|\bincompatible|\bextra inputs",
    re.IGNORECASE | re.DOTALL,
)

#: About a value that is not in the host's range (DashScope, Z.ai, Moonshot, MiniMax, TGI), or beside another one.
_NOT_THIS_VALUE = re.compile(
    r"\b(must|should) be\b|\brange\b|\b(greater|less) than\b|\binvalid\b|\bcannot both\b|取值范围|非法", re.IGNORECASE
)
_VALUES = ("temperature", "top_p", "frequency_penalty", "presence_penalty")

#: About both penalties, which have one word at Google.
_ABOUT_PENALTIES = re.compile(r"\bpenalty is not enabled\b", re.IGNORECASE)

#: Settings that a request can do without. `stream_options` is ours: it asks for usage.
_SETTINGS = (
    "temperature", "top_p", "frequency_penalty", "presence_penalty", "stop", "seed", "reasoning_effort",
    "parallel_tool_calls", "stream_options",
)  # fmt: skip

#: About a member that tells a host how much to reason in its own words (`providers/reasoning_words.py`).
_ABOUT_REASONING = re.compile(
    r"\b(enable_thinking|thinking_budget|chat_template_kwargs)\b|\brequires adaptive thinking\b|\binvalid thinking\b"
    r"|\breasoning (is mandatory|cannot be)\b|\bonly works in thinking mode\b"
    r"|\bthinking[_ ]?(level|budget|config)\b.{0,40}\bnot support",
    re.IGNORECASE,
)

#: About the arguments of an earlier call, which the host has parsed; also in the words of the parsers themselves.
_ABOUT_ARGUMENTS = re.compile(
    r"\barguments?\b.{0,80}\bjson\b|\bjson\b.{0,60}\barguments?\b|\binvalid tool call arguments\b"
    r"|\bexpecting (value|property name|'.' delimiter)|\bunterminated string\b|\bextra data: line\b"
    r"|\bunexpected end of json input\b|\binvalid (\\?\\)?escape|\binvalid escaped character\b|\bno attribute 'items'",
    re.IGNORECASE | re.DOTALL,
)

#: About a tool choice that a model which thinks does not take; DeepSeek's, Moonshot's and Qwen's do by default.
_ABOUT_CHOICE = re.compile(
    r"\bthinking\b.{0,80}\btool_choice\b|\btool_choice\b.{0,80}\bthinking\b|\bnot support this tool_choice\b",
    re.IGNORECASE | re.DOTALL,
)

#: About a tool choice that is an object (LM Studio, Groq), and about any but `auto` (Z.ai, Moonshot, SambaNova, Meta
#: and aggregators).
_ABOUT_OBJECT = re.compile(
    r"\btool_choice\b.{0,40}\bobject\b|\bstring values\b.{0,20}\btool_choice\b", re.IGNORECASE | re.DOTALL
)
_ABOUT_ANY_CHOICE = re.compile(
    r"\btool[_ ]choice\b.{0,60}\b(only|must|should)\b.{0,20}\bauto\b|\bonly\b.{0,30}\btool_choice\b.{0,20}\bauto\b"
    r"|\btool[_ ]choice\b.{0,40}(\bnot|n't) support|\bnot? support.{0,40}\btool_choice\b"
    r"|\bno endpoints\b.{0,40}'tool_choice'",
    re.IGNORECASE | re.DOTALL,
)

#: About an output limit, in the words of any API; and about its size.
_ABOUT_OUTPUT = re.compile(
    r"(?<![a-z_])max_?(completion|output|new)?_?tokens(?![a-z_])|\bmaximum tokens you requested\b", re.IGNORECASE
)
_OUTPUT_SIZE = re.compile(
    r"\btoo large\b|\bat most\b|\b(less|lower) than\b|\bmaximum\b|\bexceed|\brange\b|<=|>|取值范围",
    re.IGNORECASE,
)
#: What OpenRouter says of an account that cannot pay for the whole limit, as if all of it were used.
_AFFORDS = re.compile(r"\bfewer max_tokens\b.*\bcan only afford (\d{1,7})\b", re.IGNORECASE | re.DOTALL)
_INVALID_OUTPUT = re.compile(r"\binvalid max_tokens\b|\bmax_tokens\W{0,3}(is |are )?(invalid|参数非法)", re.IGNORECASE)
_NUMBER = re.compile(r"(\b(?:less|lower) than `?(?=\d))?\b(\d{2,7})\b( \(exclusive\))?")

#: About a history that ends with the assistant (Claude, Gemini and others behind aggregators, Copilot, Perplexity,
#: DeepSeek, Bedrock's Llama and Mistral).
_ABOUT_END = re.compile(
    r"\bassistant (message )?prefill\b|\bprefilling assistant messages\b|\bending with an? (model|assistant)\b"
    r"|\b(conversation|requests?|messages?)\b.{0,30}\bends? with (a|the) user\b"
    r"|\bresponse prefill is incompatible\b|\blast (message|turn)\b.{0,60}\b(be|role|from)\b.{0,12}\buser\b",
    re.IGNORECASE,
)

#: About tools at a model that reasons, which OpenAI's hosts take by the Responses API alone (gpt-5.4 and later).
_ABOUT_TOOLS = re.compile(r"\bfunction tools with reasoning(_effort)? are not supported\b", re.IGNORECASE)

#: About the id of an item that the host has not kept (OpenAI, Azure).
_ABOUT_ITEM_IDS = re.compile(
    r"\bitems? with id\b.{0,80}\bnot found\b|\bitems are not persisted\b|\bitem_id did not match\b", re.IGNORECASE
)

#: About the schema of a tool: of grammars that are built of it (llama.cpp, Ollama, xgrammar, llguidance, Fireworks), of
#: a form of the host's own (Moonshot), or of rules for tools (OpenAI, Groq, Google, and Claude behind other APIs).
_ABOUT_SCHEMAS = re.compile(
    r"\b(parse|parsing|compile|compiling|convert|invalid|unsupported)\b.{0,30}\bgrammar\b|\bgrammar error\b"
    r"|\bxgrammar\b|\bjson schema (conversion failed|not supported)\b|\b(unrecognized|unsupported json) schema\b"
    r"|\bflavored json schema\b|\bfunction\.parameters\b|\binvalid (json )?schema\b|\bjson schema is invalid\b"
    r"|\btoo many states\b|\bfunction_?declarations?\b|\binput_?schema\b|\binvalid_function_parameters\b",
    re.IGNORECASE | re.DOTALL,
)

#: About the name of a tool, or of an earlier call (Moonshot, OpenAI, Mistral, Google and Claude behind other APIs).
_ABOUT_NAMES = re.compile(
    r"\b(function|tool)s?[ _.]names?\b.{0,160}\b(invalid|must|only|match|pattern|too long|characters)\b"
    r"|\binvalid (function|tool) name\b|\bdoes not match '?\^\[a-zA-Z"
    r"|(\b(custom|tool_use|function_call|toolspec|tooluse)|\])\.name\b.{0,60}\b(pattern|too long|constraint|match)\b",
    re.IGNORECASE | re.DOTALL,
)

#: About `strict` of a tool (Cerebras, hosts with FastAPI).
_ABOUT_STRICT = re.compile(r"\btools?\b.{0,80}\bstrict\b|\bstrict\b.{0,80}\btools?\b", re.IGNORECASE | re.DOTALL)

#: About the format of the answer, and about one beside tools (Groq, DeepSeek, Cerebras, LM Studio, OpenAI's older
#: models).
_ABOUT_FORMAT = re.compile(r"\bresponse[_ ]format\b|\bjson_(schema|object)\b|\bjson mode\b", re.IGNORECASE)
_BESIDE_TOOLS = re.compile(r"\bcombined with\b.{0,30}\b(tools?|function)\b", re.IGNORECASE)

#: How many stop sequences a host takes, as it says of too many.
_MOST = re.compile(r"\b(?:max\w*|at most|up to|exceeds?|limit\w*)\D{0,40}(\d{1,3})\b", re.IGNORECASE)

_OUTPUT_NAMES = ("max_tokens", "max_completion_tokens")
#: A smaller number in a refusal is not an output limit.
_LEAST_OUTPUT = 256
_NEWER_LIMIT = "max_completion_tokens"


#: The lesson that the host wants the reasoning of earlier turns. It holds also for an aggregator that has another name
#: for reasoning, where the host behind it has refused.
REASONING_WANTED = Lesson(
    "reasoning_added", {"reasoning_required": True, "lost_reasoning": " ", "reasoning_back": "reasoning_content"}
)


#: Lessons about the history and the tools, with the words of a refusal that teach them.
_TOLD: tuple[tuple[Callable[[str], object], Lesson], ...] = (
    (_ABOUT_END.search, Lesson("", {"user_last": True})),
    (_ABOUT_TOOLS.search, Lesson("", {"tools_at_rest": True})),
    (_ABOUT_STRICT.search, Lesson("", {"strict": "none"})),
    (_ABOUT_SCHEMAS.search, Lesson("", {"schemas": "bare"})),
    (_ABOUT_ITEM_IDS.search, Lesson("", {"item_ids": False})),
    (is_about_images, Lesson("", {"sees_images": False})),
    (is_about_addresses, Lesson("", {"fetches_images": False})),
    (is_about_one_image, Lesson("", {"sees_images": False}, is_kept=False)),
    (is_about_order, Lesson("turns_rearranged", {"alternates": True})),
)


def is_about_state(refusal: GatewayError) -> bool:
    """Whether the host does not take the state of earlier turns."""
    return _ABOUT_STATE.search(refusal.message) is not None


def is_about_betas(refusal: GatewayError) -> bool:
    """Whether the host does not know a beta that a header names."""
    return _ABOUT_BETAS.search(refusal.message) is not None


def wants_reasoning(refusal: GatewayError) -> bool:
    """Whether the host misses the reasoning of earlier turns."""
    return _WANTS_REASONING.search(refusal.message) is not None


def is_about_members(refusal: GatewayError) -> bool:
    """Whether the host does not know a member of the request."""
    return _UNKNOWN_MEMBER.search(refusal.message) is not None


def lessons(
    refusal: GatewayError, profile: Profile, *, same_dialect: bool, output: int | None = None
) -> Iterator[Lesson]:
    """The lessons that the refusal may teach, the likeliest first. `same_dialect`: the client speaks the host's own
    API, and chooses its settings itself. `output`: the output limit of the request, in tokens."""
    if refusal.code == TOO_LONG:  # vLLM names both limits on the output then
        return
    yield from _of_output(refusal, output)
    if _ABOUT_ARGUMENTS.search(refusal.message):
        yield Lesson("", {"object_arguments": True})
    yield from _of_choice(refusal.message)
    if _ABOUT_NAMES.search(refusal.message):
        yield from (Lesson("", {"tool_name": form}) for form in (LETTER_FIRST, PLAIN_NAME)[bool(profile.tool_name) :])
    yield from _of_what_is_sent(refusal.message, () if same_dialect else _formats(refusal.message))
    yield from of_messages(refusal.message)
    yield from _of_members(refusal.message)
    yield from _of_settings(refusal, same_dialect=same_dialect)
    if _ABOUT_REASONING.search(refusal.message):  # the client has not named it, in whatever API
        yield Lesson("", {"refuses": frozenset({"reasoning_effort"})})
    if _NEWER_LIMIT in refusal.message and "max_tokens" in refusal.message and not same_dialect:
        yield Lesson("", {"output_limit": _NEWER_LIMIT})
    if is_about_members(refusal):
        back = profile.reasoning_back if profile.reasoning_required else None
        known = {"message_members": frozenset({"name"}), "tool_members": False}
        yield Lesson("members_refused", known | {"reasoning_back": back})


def _of_settings(refusal: GatewayError, *, same_dialect: bool) -> Iterator[Lesson]:
    """The lessons about the settings of another API's client, and about the member that asks for usage, which is
    ours."""
    setting = _setting_in(refusal)
    if setting == "stream_options":
        yield Lesson("", {"stream_usage": False})
    elif setting is not None and not same_dialect:
        most = _MOST.search(refusal.message) if setting == "stop" else None
        fields = {"stops": int(most[1])} if most is not None else {"refuses": frozenset({setting})}
        yield Lesson("", fields)
    if not same_dialect and _ABOUT_PENALTIES.search(refusal.message):
        yield Lesson("", {"refuses": frozenset({"frequency_penalty", "presence_penalty"})})


def _of_members(said: str) -> Iterator[Lesson]:
    """The lessons about members that are too long, or that the host does not know and can be left out."""
    if (longest := longest_description(said)) is not None:
        yield Lesson("", {"description_length": longest})
    if is_about_identifiers(said):
        yield Lesson("", {"short_identifiers": True})
    if names := unknown_members(said):
        yield Lesson("", {"unknown_members": names})


def _of_what_is_sent(said: str, formats: tuple[Lesson, ...]) -> Iterator[Lesson]:
    """The lessons about the format of the answer, the history and the tools."""
    if _ABOUT_FORMAT.search(said):
        yield from formats
    yield from (lesson for is_told, lesson in _TOLD if is_told(said))
    if _ABOUT_SCHEMAS.search(said):
        yield from formats


def _formats(said: str) -> tuple[Lesson, ...]:
    """The lessons for a host that refuses the answer's format of another API's client: ask for a simpler format, then
    in words only."""
    if _BESIDE_TOOLS.search(said):
        return (Lesson("", {"json_beside_tools": False}),)
    return Lesson("", {"json_schema": False}), Lesson("", {"json_schema": False, "json_object": False})


def unknown_of(members: Iterable[str], refusal: GatewayError) -> frozenset[str]:
    """Those of these members that the refusal names as unknown."""
    if not is_about_members(refusal):
        return frozenset()
    return frozenset(name for name in members if re.search(rf"\b{name}\b", refusal.message))


def _of_choice(said: str) -> Iterator[Lesson]:
    """The lessons about `tool_choice`."""
    if _ABOUT_CHOICE.search(said):
        by_member = "tool_choice parameter" in said  # as hosts say whose member it is (DashScope)
        off = ("enable_thinking", b"false") if by_member else ("thinking", b'{"type":"disabled"}')
        yield Lesson("", {"thinking_off": off})
    elif _ABOUT_OBJECT.search(said):
        yield Lesson("", {"tool_choices": "words"})
    elif _ABOUT_ANY_CHOICE.search(said):
        yield Lesson("", {"tool_choices": "auto"})


def _of_output(refusal: GatewayError, output: int | None) -> Iterator[Lesson]:
    """The lesson about the most output: the highest number in the refusal that is less than what was asked for. If
    there is none, the request leaves the limit to the host."""
    if affords := _AFFORDS.search(refusal.message):  # holds for any limit that was asked for, or none
        if int(affords[1]) >= _LEAST_OUTPUT:
            yield Lesson("", {"most_output": int(affords[1])})
        return
    is_about = refusal.param in _OUTPUT_NAMES or _ABOUT_OUTPUT.search(refusal.message)
    if not is_about or output is None:
        return
    if _OUTPUT_SIZE.search(refusal.message):
        told = (int(number) - bool(below or exclusive) for below, number, exclusive in _NUMBER.findall(refusal.message))
        most = max((number for number in told if number < output), default=0)
        if most >= _LEAST_OUTPUT:
            yield Lesson("", {"most_output": most})
    elif _INVALID_OUTPUT.search(refusal.message):
        yield Lesson("", {"refuses": frozenset(_OUTPUT_NAMES)})


def _setting_in(refusal: GatewayError) -> str | None:
    """The setting that a refusal is about."""
    if refusal.param in _SETTINGS:
        return refusal.param
    named = _SETTINGS if _NOT_TAKEN.search(refusal.message) else _VALUES
    if named is _VALUES and _NOT_THIS_VALUE.search(refusal.message) is None:
        return None
    said = re.sub(r"(?<=[a-z])([A-Z])", lambda letter: "_" + letter[1].lower(), refusal.message)
    words = {"stop": "stop(_sequences)?"}
    return next((name for name in named if re.search(rf"(?<![a-z_]){words.get(name, name)}(?![a-z_])", said)), None)
