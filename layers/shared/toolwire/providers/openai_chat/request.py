"""The Chat Completions wire: OpenAI itself and every compatible host. What differs between them is a `Profile`.

A client of the same dialect keeps its own bytes, member by member, except `model` and what had to change. For any other
client the request is written from the neutral one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from toolwire.model.errors import UpstreamError
from toolwire.model.http import UpstreamRequest, post_json
from toolwire.model.map_request import map_messages
from toolwire.model.request import ChatRequest, Message, ReasoningPart
from toolwire.model.settings import Target
from toolwire.model.source import replace
from toolwire.model.warnings import Warnings
from toolwire.providers import Decoder, Provider
from toolwire.providers.address import key_headers, url_of
from toolwire.providers.decoder_context import DecoderContext
from toolwire.providers.known_sampling import with_known_sampling
from toolwire.providers.openai_cache import openai_cache_form
from toolwire.providers.openai_chat.answer import ChatDecoder
from toolwire.providers.openai_chat.errors import error_from_body
from toolwire.providers.openai_chat.known_choice import with_known_choice
from toolwire.providers.openai_chat.known_content import with_known_content
from toolwire.providers.openai_chat.messages import (
    CONTENT,
    DOCUMENT_URLS,
    with_document_urls,
    with_files_apart,
    with_known_members,
    without_refusals,
    write_message,
)
from toolwire.providers.openai_chat.thinking_off import is_forced, without_thinking
from toolwire.providers.openai_chat.tools import write_tool, write_tool_choice
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
from toolwire.providers.reasoning_words import Told, words_of
from toolwire.providers.refused_members import as_refusals_told
from toolwire.providers.upstream_errors import retry_after_of
from toolwire.rewrite.alternating_turns import (
    with_alternating_turns,
    with_instructions_of_the_user,
    with_one_system_message,
    with_single_calls,
    with_tool_turns_apart,
)
from toolwire.rewrite.answer_format import with_object_format
from toolwire.rewrite.client_dialect import check_fields, without_dialect, without_server_tools
from toolwire.rewrite.custom_tools import bridged
from toolwire.rewrite.history import (
    with_legal_ids,
    with_object_arguments,
    with_results,
    with_user_last,
    without_silent_turns,
)
from toolwire.rewrite.images_and_files import with_carried_content
from toolwire.rewrite.long_descriptions import with_short_descriptions
from toolwire.rewrite.prompt_cache import CacheForm
from toolwire.rewrite.stop_sequences import with_stops
from toolwire.rewrite.tool_names import WIRE_NAME, with_wire_names
from toolwire.wire.json import dump, members, write_array, write_object
from toolwire.wire.openai_chat import DIALECT

if TYPE_CHECKING:
    from toolwire.providers.sent_tools import SentTool


#: Request member -> the neutral attribute it is made from. If that has not changed, the client's own bytes are sent.
_ATTRIBUTES = {
    "messages": "messages",
    "tools": "tools",
    "tool_choice": "tool_choice",
    "parallel_tool_calls": "parallel_tool_calls",
    "stream": "stream",
    "max_tokens": "max_tokens",
    "max_completion_tokens": "max_tokens",
    "temperature": "sampling",
    "top_p": "sampling",
    "seed": "sampling",
    "frequency_penalty": "sampling",
    "presence_penalty": "sampling",
    "stop": "sampling",
    "response_format": "response_format",
    "reasoning_effort": "reasoning_effort",
}


class OpenAIChat(Provider):
    """See `providers.Provider`."""

    dialect = DIALECT
    tool_name = WIRE_NAME
    schemas = SCHEMAS
    lanes = frozenset({DIALECT})
    may_write_calls_as_text = True

    def build_request(
        self, request: ChatRequest, target: Target, profile: Profile, credential: str | None
    ) -> tuple[UpstreamRequest, Warnings]:
        request, warnings = _adapt(request, target, profile, self.tool_names(target, profile))
        pairs = _members(request, target, profile, warnings)
        body = write_object(as_refusals_told(pairs, profile, warnings))
        key = key_headers(target.provider, credential, "authorization")
        return post_json(url_of(target, "/chat/completions"), body, stream=request.stream, headers=key), warnings

    def cache_form(self, target: Target, profile: Profile) -> CacheForm | None:
        return openai_cache_form(target, profile)

    def decoder(self, context: DecoderContext) -> Decoder:
        return ChatDecoder(context)

    def sent_tools(self, body: bytes) -> list[SentTool]:
        from toolwire.providers.sent_tools import entries, member, members_of, sent_tool  # for few requests

        tools = entries(member(body, "tools"))
        inner = [members_of(tool) for tool in tools]
        return [
            sent_tool(tool, of.get("function") or of.get("custom"), "parameters")
            for tool, of in zip(tools, inner, strict=True)
        ]

    def parse_error(self, status: int, headers: dict[str, str], body: bytes) -> UpstreamError:
        return error_from_body(body, status, retry_after_of(headers))


PROVIDER = OpenAIChat()


def _adapt(request: ChatRequest, target: Target, profile: Profile, names: str) -> tuple[ChatRequest, Warnings]:
    """The request, rewritten to what this host takes: pairs of the history, ids, names, tools and tool_choice."""
    warnings = Warnings()
    translated = request.fields_in(DIALECT) is None
    if translated:
        request = _from_another_api(request, target, profile, warnings)
    else:
        request = with_told_tools(request, target, profile, warnings)
    check_tools(request, target, profile, warnings)
    request = with_results(with_wire_names(request, names), warnings)
    if profile.object_arguments or (translated and not profile.any_arguments):
        request = with_object_arguments(request, warnings)
    if translated and not profile.prefill:
        request = with_user_last(request, warnings)
    request = _as_refusals_told(request, profile, warnings)
    request = with_legal_ids(request, profile.call_id, profile.call_id_length, own_ids=profile.own_ids)
    if translated:
        request = with_files_apart(request)
        request = with_document_urls(request) if profile.document_urls else request
    request = only_allowed(without_idle_choice(request), profile)
    if profile.tool_choices != "all":
        request = with_known_choice(request, profile.tool_choices, warnings)
    if profile.thinking_off is not None:
        request = without_thinking(request, warnings)
    if not profile.developer_role:
        request = map_messages(request, lambda it: replace(it, role="system") if it.role == "developer" else it)
        request = with_one_system_message(request) if translated else request
    if profile.reasoning_back != "reasoning_content" or profile.reasoning_required:
        request = without_silent_turns(_with_reasoning(request, profile), warnings, own=DIALECT)
    if not profile.refusals and (translated or profile.message_members is not None):
        request = without_refusals(request)
    if profile.message_members is not None:
        request = with_known_members(request, profile.message_members, warnings)
    return request, warnings


def _from_another_api(request: ChatRequest, target: Target, profile: Profile, warnings: Warnings) -> ChatRequest:
    """The settings, tools and content of another API's client, as this API has them."""
    warnings.add(*check_fields(request, target))
    if request.sampling.top_k is not None:
        warnings.add("not_supported:top_k")
    words = words_of(profile.name, target.known_as)
    request = with_known_effort(request, target, profile.efforts, warnings, words)
    request = with_stops(with_known_sampling(request, target, warnings), warnings, most=profile.stops)
    request = with_object_format(request, warnings) if profile.strict_rules else request
    request = with_known_format(request, profile, warnings)
    request = without_server_tools(without_dialect(request, DIALECT), DIALECT, target, warnings)
    request = request if profile.custom_tools else bridged(request, warnings)
    content = DOCUMENT_URLS if profile.document_urls else CONTENT
    request = with_carried_content(request, content, target.provider.name, warnings)
    return with_known_schemas(request, target, profile, warnings)


def _as_refusals_told(request: ChatRequest, profile: Profile, warnings: Warnings) -> ChatRequest:
    """The request with its messages as the host's refusals have shown that they must be."""
    if profile.user_last:
        request = with_user_last(request, warnings)
    if profile.tools_at_rest and request.tools and request.reasoning_effort != "none":
        warnings.add("reasoning_turned_off")
        request = replace(request, reasoning_effort="none")
    if profile.description_length is not None:
        request = with_short_descriptions(request, profile.description_length, warnings)
    if not profile.several_calls:
        request = with_single_calls(request, warnings)
    if not profile.text_beside_calls:
        request = with_tool_turns_apart(request, warnings)
    request = with_known_content(request, profile, warnings)
    if not profile.system_messages:
        request = with_instructions_of_the_user(request, warnings)
    return with_alternating_turns(request, warnings) if profile.alternates else request


def _with_reasoning(request: ChatRequest, profile: Profile) -> ChatRequest:
    """The request with reasoning of earlier turns as the host takes it: left out, or under the host's name for it, or a
    placeholder if the host requires reasoning and there is none."""

    def adapted(message: Message) -> Message:
        if message.role != "assistant":
            return message
        told = [part for part in message.parts if type(part) is ReasoningPart]
        wanted = profile.reasoning_required and message.tool_calls and not any(part.text for part in told)
        if wanted and (profile.lost_reasoning or not told):
            others = (part for part in message.parts if type(part) is not ReasoningPart or part.signature)
            return replace(message, parts=(ReasoningPart(profile.lost_reasoning), *others))
        if not told:
            return message
        if profile.reasoning_back == "reasoning_content":
            return message
        if profile.reasoning_back is not None:
            return replace(message)
        return replace(message, parts=tuple(part for part in message.parts if type(part) is not ReasoningPart))

    return map_messages(request, adapted)


# ---------------------------------------------------------------- the body


def _members(request: ChatRequest, target: Target, profile: Profile, warnings: Warnings) -> Iterator[tuple[str, bytes]]:
    """The request's members in the client's order, then those that are ours to add."""
    fields = request.fields_in(DIALECT)
    written = {"model"}
    if fields is None:
        yield "model", dump(target.model)
    for name, raw in fields.members if fields else ():
        written.add(name)
        if name in profile.refuses:
            if raw != b"null":
                warnings.add(f"not_supported:{name}")
        elif (value := dump(target.model) if name == "model" else _own(request, name, raw, profile)) is not None:
            yield from _as_named(name, value, request, target, profile)
    knobs = _learned(profile, written) if fields else (profile.output_limit, *_KNOBS)
    if not written.isdisjoint(_FUNCTIONS):  # the client's own, deprecated, form of these
        written |= {"tools", "tool_choice", "parallel_tool_calls"}
    for name in ("messages", "tools", "tool_choice", "parallel_tool_calls", "stream", "stream_options", *knobs):
        if name not in written and (value := _encode(request, name, profile)) is not None:
            if name in profile.refuses:
                warnings.add(f"not_supported:{name}")
                continue
            yield from _as_named(name, value, request, target, profile)
    if fields is None:
        yield from ((name, value.encode()) for name, value in profile.adds)
    if profile.thinking_off is not None and is_forced(request):
        yield profile.thinking_off


def _learned(profile: Profile, written: set[str]) -> tuple[str, ...]:
    """The members that are added to a request of this API's client, because the host has refused requests without
    them."""
    limits = not written.isdisjoint(("max_tokens", "max_completion_tokens"))
    limit = (profile.output_limit,) if profile.most_output is not None and not limits else ()
    return (*limit, *(("reasoning_effort",) if profile.tools_at_rest else ()))


def _as_named(
    name: str, value: bytes, request: ChatRequest, target: Target, profile: Profile
) -> Iterator[tuple[str, bytes]]:
    """A member under the host's name for it. Adds the host's own members for the effort, if the client sent none of
    them."""
    told = _told_effort(value, request, target, profile) if name == "reasoning_effort" else None
    if told is None:
        yield dict(profile.rename).get(name, name), value
        return
    fields = request.fields_in(DIALECT)
    given = {name for name, _ in fields.members} - {"reasoning_effort"} if fields else ()
    yield from [(name, value)] if any(member in given for member, _ in told) else told


def _told_effort(value: bytes, request: ChatRequest, target: Target, profile: Profile) -> Told | None:
    """The host's own members for this effort of reasoning; None: the API's member is used."""
    if (words := words_of(profile.name, target.known_as)) is not None:
        return words.told.get(request.reasoning_effort or "")
    return (("reasoning", write_object([("effort", value)])),) if profile.reasoning_object else None


def _own(request: ChatRequest, name: str, raw: bytes, profile: Profile) -> bytes | None:
    """A member that the client sent: its own bytes if the attribute made from it has not changed."""
    if name == "stream_options":
        return _stream_options(request, profile, raw)
    if raw == b"null":  # an absent member; several hosts refuse the null
        return None
    attribute = _ATTRIBUTES.get(name)
    if attribute is None:
        return raw
    return raw if _untouched(request, name, attribute) else _encode(request, name, profile)


_FUNCTIONS = ("functions", "function_call")

_KNOBS = (
    "response_format",
    "reasoning_effort",
    "temperature",
    "top_p",
    "seed",
    "frequency_penalty",
    "presence_penalty",
    "stop",
)


def _untouched(request: ChatRequest, name: str, attribute: str) -> bool:
    assert request.fields is not None
    if getattr(request, attribute) is not getattr(request.fields.parsed, attribute):
        return False
    if name == "messages":
        return all(message.source is not None for message in request.messages)
    if name == "tools":
        return bool(request.tools) and all(tool.source is not None for tool in request.tools)
    return True


def _encode(request: ChatRequest, name: str, profile: Profile) -> bytes | None:
    """One member from the neutral request; None if it is not to be sent."""
    match name:
        case "messages":
            return write_array(write_message(message, profile.reasoning_back) for message in request.messages)
        case "tools":
            return write_array(write_tool(tool) for tool in request.tools) if request.tools else None
        case "tool_choice":
            return write_tool_choice(request.tool_choice, request.tools) if request.tool_choice is not None else None
        case "stream":
            return b"true" if request.stream else None
        case "stream_options":
            return _stream_options(request, profile, b"{}")
        case "max_tokens" | "max_completion_tokens":
            value: object = request.max_tokens
        case "response_format":
            return _response_format(request)
        case "parallel_tool_calls" | "reasoning_effort":
            value = getattr(request, name)
        case _:
            value = getattr(request.sampling, name)
    return dump(value) if value is not None else None


def _stream_options(request: ChatRequest, profile: Profile, raw: bytes) -> bytes | None:
    """The stream options: usage is always asked for; the client's other options stay."""
    if not request.stream or not profile.stream_usage:
        return None
    options = members(raw) if raw[:1] == b"{" else {}
    options["include_usage"] = b"true"
    return write_object(options.items())


def _response_format(request: ChatRequest) -> bytes | None:
    shape = request.response_format
    if shape is None:
        return None
    if shape.kind != "json_schema":
        return dump({"type": shape.kind})
    inner = [("name", dump(shape.name))]
    inner += [("description", dump(shape.description))] if shape.description is not None else []
    inner += [("schema", shape.schema)] if shape.schema is not None else []
    inner += [("strict", dump(shape.strict))] if shape.strict is not None else []
    return write_object([("type", b'"json_schema"'), ("json_schema", write_object(inner))])
