"""OpenAI Responses as an upstream: OpenAI's own newer models, and the hosts that speak its protocol.

A client of the same dialect keeps its own bytes, member by member, except `model` and what had to change. For any other
client the request is written from the neutral one, and asks the host to store nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from toolwire.model.errors import UpstreamError
from toolwire.model.http import UpstreamRequest, post_json
from toolwire.model.map_request import map_messages, map_parts
from toolwire.model.request import ChatRequest, Message, Part, ReasoningPart, RequestFields
from toolwire.model.settings import Target
from toolwire.model.source import raw_in, replace
from toolwire.model.warnings import Warnings
from toolwire.providers import Decoder, Provider
from toolwire.providers.address import below, key_headers, url_of
from toolwire.providers.decoder_context import DecoderContext
from toolwire.providers.openai_cache import openai_cache_form
from toolwire.providers.openai_models import EFFORTS, Family, family_of, is_reasoning
from toolwire.providers.openai_responses.answer import ResponsesDecoder
from toolwire.providers.openai_responses.errors import error_from_body
from toolwire.providers.openai_responses.messages import CONTENT, write_input
from toolwire.providers.openai_responses.tools import write_tool_choice, write_tools
from toolwire.providers.openai_tools import (
    SCHEMAS,
    check_tools,
    only_allowed,
    with_known_format,
    with_known_schemas,
    with_told_tools,
    without_idle_choice,
)
from toolwire.providers.profiles import Profile
from toolwire.providers.reasoning_efforts import with_known_effort
from toolwire.providers.refused_members import as_refusals_told
from toolwire.providers.upstream_errors import retry_after_of
from toolwire.rewrite.answer_format import with_object_format
from toolwire.rewrite.client_dialect import check_fields, without_server_tools
from toolwire.rewrite.custom_tools import bridged
from toolwire.rewrite.history import lacks_results, with_legal_ids, with_object_arguments, with_results
from toolwire.rewrite.images_and_files import with_carried_content
from toolwire.rewrite.long_descriptions import with_short_descriptions
from toolwire.rewrite.prompt_cache import AS_GIVEN, CacheForm
from toolwire.rewrite.tool_names import with_wire_names
from toolwire.wire import openai_chat
from toolwire.wire.json import dump, elements, members, write_array, write_object
from toolwire.wire.openai_responses import DIALECT, is_own_id

if TYPE_CHECKING:
    from toolwire.providers.sent_tools import SentTool
    from toolwire.providers.token_count import Count

#: The names of functions and the call ids that the API accepts, and the length of an id that replaces another.
_TOOL_NAME = r"[A-Za-z0-9_-]{1,128}"
_CALL_ID = r"[A-Za-z0-9_-]{1,64}"
_CALL_ID_LENGTH = 40

#: The least output limit the API takes, in tokens.
_LEAST_OUTPUT = 16

#: Request member -> the neutral attributes it is made from. If they have not changed, the client's own bytes are sent.
_ATTRIBUTES = {
    "input": ("messages",),
    "tools": ("tools",),
    "tool_choice": ("tool_choice",),
    "parallel_tool_calls": ("parallel_tool_calls",),
    "stream": ("stream",),
    "max_output_tokens": ("max_tokens",),
    "temperature": ("sampling",),
    "top_p": ("sampling",),
    "frequency_penalty": ("sampling",),
    "presence_penalty": ("sampling",),
    "text": ("response_format",),
    "reasoning": ("reasoning_effort", "reasoning_summary"),
}

#: Members of a Chat request that mean the same here.
_SHARED = (
    "metadata", "moderation", "prompt_cache_key", "prompt_cache_options", "prompt_cache_retention", "safety_identifier",
    "service_tier", "user",
)  # fmt: skip

#: The types of items whose id the API does not ask for.
_WHOLE_WITHOUT_ID = frozenset(
    b'"%s"' % kind
    for kind in (
        b"custom_tool_call", b"custom_tool_call_output", b"function_call", b"function_call_output", b"message",
        b"reasoning", b"tool_search_call", b"tool_search_output",
    )
)  # fmt: skip

#: Members of a request for an answer that a request for a compaction does not have.
_NOT_COMPACTED = ("include", "store", "stream", "stream_options")

#: Settings that this API does not have.
_NO_KNOBS = ("top_k", "seed", "frequency_penalty", "presence_penalty", "stop")


class OpenAIResponses(Provider):
    """See `providers.Provider`."""

    dialect = DIALECT
    tool_name = _TOOL_NAME
    schemas = SCHEMAS
    lanes = frozenset({DIALECT})
    judges_results = True
    may_write_calls_as_text = True

    def build_request(
        self, request: ChatRequest, target: Target, profile: Profile, credential: str | None
    ) -> tuple[UpstreamRequest, Warnings]:
        fields = request.fields_in(DIALECT)
        request, warnings = _adapted(request, target, profile, self.tool_names(target, profile), fields is not None)
        if fields is not None:
            pairs = _own_members(request, fields, target, profile)
            pairs = pairs if profile.item_ids else _without_item_ids(pairs, warnings)
        else:
            pairs = _members(request, target, profile, warnings)
        body = write_object(as_refusals_told(pairs, profile, warnings))
        key = key_headers(target.provider, credential, "authorization")
        headers = (*(request.headers if fields is not None else ()), *key)
        return post_json(url_of(target, "/responses"), body, stream=request.stream, headers=headers), warnings

    def cache_form(self, target: Target, profile: Profile) -> CacheForm:
        return openai_cache_form(target, profile) or AS_GIVEN

    def decoder(self, context: DecoderContext) -> Decoder:
        return ResponsesDecoder(context)

    def sent_tools(self, body: bytes) -> list[SentTool]:
        from toolwire.providers.sent_tools import entries, member, sent_tool  # for few requests

        return [sent_tool(tool, None, "parameters") for tool in entries(member(body, "tools"))]

    def parse_error(self, status: int, headers: dict[str, str], body: bytes) -> UpstreamError:
        return error_from_body(body, status, retry_after_of(headers))

    def count_request(self, request: UpstreamRequest) -> Count:
        from toolwire.providers.openai_responses.token_count import (
            count_request,  # for few requests: not at a cold start
        )

        return count_request(request)

    def compaction_request(self, request: UpstreamRequest) -> UpstreamRequest | None:
        kept = ((name, value) for name, value in members(request.body).items() if name not in _NOT_COMPACTED)
        return replace(request, url=below(request.url, "/compact"), body=write_object(kept))


PROVIDER = OpenAIResponses()


# ---------------------------------------------------------------- what the host takes


def _adapted(
    request: ChatRequest, target: Target, profile: Profile, names: str, same_dialect: bool
) -> tuple[ChatRequest, Warnings]:
    """The request, rewritten to what this host takes: pairs of the history, ids, names, tools and tool_choice."""
    warnings = Warnings()
    check_tools(request, target, profile, warnings)
    if not same_dialect:
        others = tuple(name for name in request.dialect_fields if name not in _shared_members(request))
        warnings.add(*check_fields(replace(request, dialect_fields=others), target))
        request = with_known_effort(request, target, EFFORTS, warnings)
        request = with_object_format(request, warnings) if profile.strict_rules else request
        request = with_known_format(request, profile, warnings)
        request = _with_sent_tools(request, target, profile, warnings)
        request = with_carried_content(request, CONTENT, target.provider.name, warnings)
    else:
        request = with_told_tools(request, target, profile, warnings)
    if same_dialect and profile.reasoning_back is None:
        request = _with_encrypted_reasoning(request)
    if same_dialect and not profile.unasked_outputs:
        request = map_messages(request, _told_by_the_user)
    request = with_wire_names(request, names)
    if profile.description_length is not None:
        request = with_short_descriptions(request, profile.description_length, warnings)
    if not same_dialect or lacks_results(request):  # a client of this API may put results anywhere behind their calls
        request = with_results(request, warnings)
    if profile.object_arguments or (not same_dialect and not profile.any_arguments):
        request = with_object_arguments(request, warnings)
    return with_legal_ids(request, _CALL_ID, _CALL_ID_LENGTH), warnings


def _told_by_the_user(message: Message) -> Message:
    """Rewrites an output without a call as a user's message, since other APIs have no other place for it."""
    raw = raw_in(message, DIALECT) if message.role == "user" else None
    is_output = raw is not None and b'call_output"' in raw and members(raw).get("type", b"").endswith(b'_output"')
    return replace(message) if is_output else message  # a copy is written anew


def _with_encrypted_reasoning(request: ChatRequest) -> ChatRequest:
    """The request without reasoning that is neither encrypted nor stored at the host. It is another provider's, which
    this client was shown earlier, and the host would refuse the unknown item. If the host stores answers, such an item
    has a minted id. Encrypted reasoning loses a minted id, which the host would not accept."""
    fields = request.fields
    stores = fields is None or dict(fields.members).get("store") != b"false"
    return map_messages(request, lambda message: map_parts(message, lambda part: _as_made(part, stores)))


def _as_made(part: Part, stores: bool) -> Part | None:
    if type(part) is not ReasoningPart:
        return part
    item = raw_in(part, DIALECT)
    # An id of ours is plain ASCII: what stands between its quotation marks is the id.
    is_ours = item is not None and is_own_id(members(item).get("id", b"").decode().strip('"'))
    if part.signature:
        return replace(part) if is_ours else part
    return None if is_ours or not stores else part


def _shared_members(request: ChatRequest) -> dict[str, bytes]:
    """The members of a Chat client's request that this API knows by the same name."""
    fields = request.fields_in(openai_chat.DIALECT)
    if fields is None:
        return {}
    given = dict(fields.members)
    return {name: given[name] for name in (*_SHARED, "verbosity") if given.get(name, b"null") != b"null"}


def _with_sent_tools(request: ChatRequest, target: Target, profile: Profile, warnings: Warnings) -> ChatRequest:
    """The request with the tools that are sent."""
    request = without_server_tools(only_allowed(request, profile), DIALECT, target, warnings)
    request = request if profile.custom_tools else bridged(request, warnings)
    return without_idle_choice(with_known_schemas(request, target, profile, warnings))


# ---------------------------------------------------------------- a client of the same dialect


def _own_members(
    request: ChatRequest, fields: RequestFields, target: Target, profile: Profile
) -> Iterator[tuple[str, bytes]]:
    """The client's own members in its order, with their own bytes if nothing made from them has changed."""
    for name, raw in fields.members:
        if name == "model":
            yield name, dump(target.model)
        elif (value := _own(request, fields, name, raw, profile)) is not None:
            yield name, value


def _own(request: ChatRequest, fields: RequestFields, name: str, raw: bytes, profile: Profile) -> bytes | None:
    attributes = _ATTRIBUTES.get(name, ())
    if all(getattr(request, attribute) is getattr(fields.parsed, attribute) for attribute in attributes):
        return None if name == "tools" and not request.tools else raw
    match name:
        case "input":
            reasoning_text = profile.reasoning_back is not None
            return write_input(request, same_dialect=True, reasoning_text=reasoning_text).input
        case "tools":
            return write_tools(request, same_dialect=True) if request.tools else None
        case "tool_choice":
            return write_tool_choice(request.tool_choice, request.tools) if request.tool_choice is not None else None
        case "text":
            return _text_settings(request, members(raw))
        case "reasoning":
            return _reasoning(request, members(raw))
        case "temperature" | "top_p" | "frequency_penalty" | "presence_penalty":
            value: object = getattr(request.sampling, name)
        case _:
            value = getattr(request, attributes[0])
    return dump(value) if value is not None else None


def _without_item_ids(pairs: Iterable[tuple[str, bytes]], warnings: Warnings) -> Iterator[tuple[str, bytes]]:
    """The members, with the items of `input` without their ids. A host that stores nothing looks the ids up and refuses
    them; Codex sends them with `store: false`, except to Azure's address. An item keeps its id if it does not hold its
    whole content. Reasoning that is not encrypted is left out, since it is nothing without its id."""
    for name, raw in pairs:
        if name == "input" and raw[:1] == b"[":
            items = elements(raw)
            kept = [whole for item in items if (whole := _without_id(item)) is not None]
            warnings.add(*(["state_missing"] if len(kept) < len(items) else []))
            raw = write_array(kept)
        yield name, raw


def _without_id(item: bytes) -> bytes | None:
    found = members(item)
    kind = found.get("type", b'"message"')
    if kind == b'"reasoning"' and found.get("encrypted_content", b"null") == b"null":
        return None
    if "id" not in found or kind not in _WHOLE_WITHOUT_ID:
        return item
    return write_object((name, value) for name, value in found.items() if name != "id")


# ---------------------------------------------------------------- any other client


def _members(request: ChatRequest, target: Target, profile: Profile, warnings: Warnings) -> Iterator[tuple[str, bytes]]:
    family = family_of(target.known_as)
    history = write_input(request, same_dialect=False, reasoning_text=profile.reasoning_back is not None)
    warnings.add(*history.warnings)
    shared = _shared_members(request)
    yield "model", dump(target.model)
    if history.instructions is not None:
        yield "instructions", history.instructions
    yield "input", history.input
    if request.tools:
        yield "tools", write_tools(request, same_dialect=False)
    if request.tool_choice is not None:
        yield "tool_choice", write_tool_choice(request.tool_choice, request.tools)
    if request.parallel_tool_calls is not None:
        yield "parallel_tool_calls", dump(request.parallel_tool_calls)
    if request.max_tokens is not None:
        if request.max_tokens < _LEAST_OUTPUT:
            warnings.add("max_tokens_raised")
        yield "max_output_tokens", dump(max(request.max_tokens, _LEAST_OUTPUT))
    yield from _sampling(request, family, warnings)
    verbosity = {"verbosity": shared["verbosity"]} if "verbosity" in shared else {}
    if (text := _text_settings(request, verbosity)) is not None:
        yield "text", text
    if (reasoning := _reasoning(request, {})) is not None:
        yield "reasoning", reasoning
    if family.reasons:
        yield "include", b'["reasoning.encrypted_content"]'
    yield "store", b"false"
    yield from ((name, shared[name]) for name in _SHARED if name in shared)
    if request.stream:
        yield "stream", b"true"


def _sampling(request: ChatRequest, family: Family, warnings: Warnings) -> Iterator[tuple[str, bytes]]:
    """Temperature and top_p, if the model takes them. The default is 1."""
    reasons = is_reasoning(family, request.reasoning_effort)
    for name in ("temperature", "top_p"):
        value = getattr(request.sampling, name)
        if value is not None and reasons:
            if value != 1:
                warnings.add(f"not_supported:{name}")
        elif value is not None:
            yield name, dump(value)
    warnings.add(*(f"not_supported:{name}" for name in _NO_KNOBS if request.sampling.asks(name)))


def _text_settings(request: ChatRequest, others: dict[str, bytes]) -> bytes | None:
    """The format of the answer, with the client's other settings for text."""
    shape = request.response_format
    pairs: list[tuple[str, bytes]] = []
    if shape is not None:
        pairs.append(("type", dump(shape.kind)))
        if shape.kind == "json_schema":
            pairs.append(("name", dump(shape.name)))
            pairs += [("description", dump(shape.description))] if shape.description is not None else []
            pairs.append(("schema", shape.schema or b"{}"))
            pairs.append(("strict", dump(bool(shape.strict))))
    settings = ({"format": write_object(pairs)} if pairs else {}) | {n: v for n, v in others.items() if n != "format"}
    return write_object(settings.items()) if settings else None


def _reasoning(request: ChatRequest, others: dict[str, bytes]) -> bytes | None:
    """Effort and summary, with the client's other settings for reasoning."""
    given = {"effort": request.reasoning_effort, "summary": request.reasoning_summary}
    settings = {name: dump(value) for name, value in given.items() if value is not None}
    settings |= {name: value for name, value in others.items() if name not in given}
    return write_object(settings.items()) if settings else None
