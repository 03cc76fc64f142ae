"""The chat door: OpenAI Chat Completions in (POST /chat/completions).

Every rejected request names the JSON path of the field, what was there, and the fix. Unknown fields are accepted; they
reach a provider of the same dialect only.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from toolwire.doors import AnswerContext, Door, StreamEncoder
from toolwire.doors.chat_completions.contract_2api import with_contract_2api
from toolwire.doors.chat_completions.document import render_response
from toolwire.doors.chat_completions.errors import render_error
from toolwire.doors.chat_completions.foreign_reasoning import foreign_effort
from toolwire.doors.chat_completions.history import read_messages
from toolwire.doors.chat_completions.legacy_functions import as_tools, is_deprecated, speaks_functions
from toolwire.doors.chat_completions.stream import ChatEncoder
from toolwire.doors.chat_completions.tools import read_tool_choice, read_tools
from toolwire.doors.chat_completions.undocumented_forms import documented, has_blocks
from toolwire.doors.reasoning_efforts import known_effort
from toolwire.doors.sample_request import SAMPLE_MESSAGES, sample_post
from toolwire.doors.tool_choice_forms import with_own_choice
from toolwire.doors.typed_json import decode, in_range, member, required_model, too_deep, top_members
from toolwire.model.errors import GatewayError, RequestError
from toolwire.model.events import Batch
from toolwire.model.http import HttpRequest
from toolwire.model.request import (
    ChatRequest,
    Message,
    RequestFields,
    ResponseFormat,
    Sampling,
)
from toolwire.model.response import ChatResponse, ToolCallOutput
from toolwire.model.source import replace
from toolwire.wire import openai_chat as wire

#: Fields that mean something only to Chat Completions hosts: carried in the lane, reported or refused elsewhere.
_DIALECT_FIELDS = (
    "audio", "cache_control", "logit_bias", "logprobs", "modalities", "moderation", "prediction",
    "prompt_cache_key", "prompt_cache_options", "prompt_cache_retention", "safety_identifier", "service_tier", "store",
    "metadata", "top_logprobs", "user", "verbosity", "web_search_options",
)  # fmt: skip


#: An output limit that is none, as LM Studio and llama.cpp document it. Such a host has it as it came.
_NO_LIMIT = -1

#: Warning: see `docs/operations.md`.
_FORM_CHANGED = "request_form_changed"


class ChatDoor(Door):
    """See `doors.Door`."""

    name = "chat_completions"
    dialect = wire.DIALECT
    call_id = r"call_[A-Za-z0-9]{1,35}"
    response_prefix = "chatcmpl-"

    def parse_request(self, request: HttpRequest) -> ChatRequest:
        return parse_request(request.body)

    def sample_request(self, tools: Iterable[tuple[str, bytes]]) -> HttpRequest:
        return sample_post("/chat/completions", (("messages", SAMPLE_MESSAGES),), tools)

    def stream_encoder(self, request: ChatRequest, context: AnswerContext) -> StreamEncoder:  # noqa: ARG002
        return ChatEncoder(request.include_usage, as_function=speaks_functions(request))

    def render_response(self, response: ChatResponse, batch: Batch, context: AnswerContext) -> bytes:
        body = render_response(response, batch, as_function=speaks_functions(context.request))
        has_calls = any(type(part) is ToolCallOutput for part in response.parts)
        return with_contract_2api(body) if has_calls and context.request.options.contract_2api else body

    def render_error(self, error: GatewayError, request_id: str) -> bytes:
        return render_error(error, request_id)


DOOR = ChatDoor()


def parse_request(body: bytes) -> ChatRequest:
    """The neutral request, with the client's own bytes on every node. Raises RequestError."""
    try:
        return _read(with_own_choice(top_members(body), "nested"))
    except RecursionError:
        raise too_deep() from None


def _read(given: dict[str, bytes]) -> ChatRequest:
    """Reads the request. One that cannot be read is rewritten to the documented forms and read again."""
    refused: RequestError | None = None
    try:
        messages = read_messages(given)
        if not has_blocks(messages):
            return _request(given, messages)
    except RequestError as error:
        refused = error
    meant = documented(given)
    try:
        return replace(_request(meant, read_messages(meant)), warnings=(_FORM_CHANGED,))
    except RequestError:
        if refused is not None:
            raise refused from None  # in the words of what the client sent
        raise


def _request(given: dict[str, bytes], messages: tuple[Message, ...]) -> ChatRequest:
    top = given
    if is_deprecated(given, messages):
        top = as_tools(given)
        messages = read_messages(top)
    stream = bool(member(top, "stream", bool))
    tools = read_tools(top)
    effort, new_effort = known_effort(member(top, "reasoning_effort", str) or foreign_effort(top), "reasoning_effort")
    parsed = ChatRequest(
        model=required_model(top),
        messages=messages,
        tools=tools,
        tool_choice=read_tool_choice(top),
        parallel_tool_calls=member(top, "parallel_tool_calls", bool),
        stream=stream,
        include_usage=_include_usage(top, stream),
        max_tokens=_max_tokens(top),
        sampling=_sampling(top),
        response_format=_response_format(top),
        reasoning_effort=effort,
        dialect_fields=(*(name for name in _DIALECT_FIELDS if _asks(top, name)), *new_effort),
    )
    if member(top, "n", int) not in (None, 1):
        raise RequestError(
            "`n` must be 1: send one request for each answer you want", param="n", code="unsupported_parameter"
        )
    return replace(parsed, fields=RequestFields(wire.DIALECT, tuple(given.items()), parsed))


# ---------------------------------------------------------------- top-level fields


def _asks(top: dict[str, bytes], name: str) -> bool:
    """Whether the member asks for something other than the default."""
    raw = top.get(name, b"null")
    return raw != b"null" and (name != "modalities" or decode(raw, Any, name) != ["text"])


def _include_usage(top: dict[str, bytes], stream: bool) -> bool:
    options = member(top, "stream_options", wire.StreamOptions)
    if options is not None and not stream:
        raise RequestError(
            "`stream_options` is only allowed with `stream: true`", param="stream_options", code="invalid_value"
        )
    return bool(options and options.include_usage)


def _max_tokens(top: dict[str, bytes]) -> int | None:
    found = None
    for name in ("max_tokens", "max_completion_tokens"):
        value = member(top, name, int)
        if value == _NO_LIMIT and name == "max_tokens":
            continue
        if value is not None and value < 1:
            raise RequestError(f"`{name}` must be at least 1, not {value}", param=name, code="invalid_value")
        found = value if value is not None else found
    return found


def _sampling(top: dict[str, bytes]) -> Sampling:
    stop = member(top, "stop", cast("type[str | list[str]]", str | list[str]))
    return Sampling(
        temperature=in_range(top, "temperature", 0, 2),
        top_p=in_range(top, "top_p", 0, 1),
        top_k=_top_k(top),
        seed=member(top, "seed", int),
        frequency_penalty=in_range(top, "frequency_penalty", -2, 2),
        presence_penalty=in_range(top, "presence_penalty", -2, 2),
        stop=(stop,) if isinstance(stop, str) else tuple(stop) if stop is not None else None,
    )


def _top_k(top: dict[str, bytes]) -> int | None:
    """`top_k`, which compatible hosts have beside the API. vLLM's clients write 0 or -1 for none."""
    given = decode(top.get("top_k", b"null"), Any, "top_k")
    return given if isinstance(given, int) and given > 0 else None


def _response_format(top: dict[str, bytes]) -> ResponseFormat | None:
    shape = member(top, "response_format", wire.ResponseFormat)
    if shape is None:
        return None
    if shape.type not in ("text", "json_object", "json_schema"):
        raise RequestError(
            f"`response_format.type` must be text, json_object or json_schema, not {shape.type!r}",
            param="response_format.type",
            code="invalid_value",
        )
    alone = bytes(shape.schema)
    if shape.json_schema is None and shape.type != "text" and alone[:1] == b"{":
        return ResponseFormat("json_schema", "answer", alone)
    if shape.type != "json_schema":
        return ResponseFormat(cast(Any, shape.type))
    if shape.json_schema is None:
        raise RequestError(
            "`response_format.json_schema` is required for the type json_schema",
            param="response_format.json_schema",
            code="missing_required_parameter",
        )
    inner = shape.json_schema
    schema = None if bytes(inner.schema) in (b"", b"null") else bytes(inner.schema)
    if schema is not None and schema[:1] != b"{":
        raise RequestError(
            "`response_format.json_schema.schema` must be an object: a JSON Schema",
            param="response_format.json_schema.schema",
            code="invalid_type",
        )
    return ResponseFormat("json_schema", inner.name, schema, inner.strict, inner.description)
