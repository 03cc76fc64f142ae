"""The chat door: OpenAI Chat Completions in (POST /chat/completions). Its answer side is `chat_answer.py`.

Every rejected request names the JSON path of the field, what was there, and the fix. Unknown fields are accepted; they
reach a provider of the same dialect only.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, TypeVar, cast

import msgspec

from toolwire.doors import StreamEncoder, chat_answer
from toolwire.model.errors import GatewayError, RequestError
from toolwire.model.events import Batch
from toolwire.model.request import (
    ChatRequest,
    ImagePart,
    Message,
    OpaquePart,
    Part,
    ReasoningPart,
    RefusalPart,
    RequestFields,
    ResponseFormat,
    Role,
    Sampling,
    TextPart,
    Tool,
    ToolCallPart,
    ToolChoice,
    ToolResultPart,
)
from toolwire.model.response import ChatResponse
from toolwire.model.source import Members, Source, with_source
from toolwire.wire import openai_chat as wire
from toolwire.wire.json import members, raw_members, unnamed

T = TypeVar("T")

_ROLES = ("system", "developer", "user", "assistant", "tool", "function")
_EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")

_MESSAGE = frozenset({"role", "content", "name", "tool_calls", "tool_call_id", "refusal", "reasoning_content"})
_CALL = frozenset({"id", "type", "function", "custom", "index"})
_INNER_CALL = frozenset({"name", "arguments", "input"})
_PART = {
    "text": frozenset({"type", "text"}),
    "refusal": frozenset({"type", "refusal"}),
    "image_url": frozenset({"type", "image_url"}),
}

#: Fields that mean something only to Chat Completions hosts: carried in the lane, reported or refused elsewhere.
_DIALECT_FIELDS = (
    "audio", "functions", "function_call", "logit_bias", "logprobs", "modalities", "moderation", "prediction",
    "prompt_cache_key", "prompt_cache_options", "safety_identifier", "service_tier", "store", "metadata",
    "top_logprobs", "user", "verbosity", "web_search_options",
)  # fmt: skip


class ChatDoor:
    """See `doors.Door`."""

    name = "chat"
    dialect = wire.DIALECT
    call_id = r"call_[A-Za-z0-9]{1,35}"
    response_prefix = "chatcmpl-"

    def parse_request(self, body: bytes, headers: dict[str, str]) -> ChatRequest:  # noqa: ARG002
        return parse_request(body)

    def stream_encoder(self, request: ChatRequest) -> StreamEncoder:
        return chat_answer.ChatEncoder(request.include_usage)

    def render_response(self, response: ChatResponse, batch: Batch) -> bytes:
        return chat_answer.render_response(response, batch)

    def render_error(self, error: GatewayError, request_id: str) -> bytes:
        return chat_answer.render_error(error, request_id)


DOOR = ChatDoor()


def parse_request(body: bytes) -> ChatRequest:
    """The neutral request, with the client's own bytes on every node."""
    try:
        return _request(_top(body))
    except RecursionError:
        raise RequestError("the body is not valid JSON: it is nested too deeply", code="invalid_json") from None


def _top(body: bytes) -> dict[str, bytes]:
    try:
        body.decode()  # once for all: raw members are not looked at, and travel on
        return members(body)
    except msgspec.ValidationError:
        raise RequestError("the body must be a JSON object", code="invalid_json") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise RequestError(f"the body is not valid JSON: {error}", code="invalid_json") from None


def _request(top: dict[str, bytes]) -> ChatRequest:
    model = _value(top, "model", str)
    if not model:
        raise RequestError(
            "`model` is required: a configured alias, or provider/model",
            param="model",
            code="missing_required_parameter",
        )
    stream = bool(_value(top, "stream", bool))
    tools = _tools(top)
    parsed = ChatRequest(
        model=model,
        messages=_messages(top),
        tools=tools,
        tool_choice=_tool_choice(top),
        parallel_tool_calls=_value(top, "parallel_tool_calls", bool),
        stream=stream,
        include_usage=_include_usage(top, stream),
        max_tokens=_max_tokens(top),
        sampling=_sampling(top),
        response_format=_response_format(top),
        reasoning_effort=_reasoning_effort(top),
        dialect_fields=tuple(name for name in _DIALECT_FIELDS if top.get(name, b"null") != b"null"),
    )
    if _value(top, "n", int) not in (None, 1):
        raise RequestError(
            "`n` must be 1: send one request for each answer you want", param="n", code="unsupported_parameter"
        )
    return replace(parsed, fields=RequestFields(wire.DIALECT, tuple(top.items()), parsed))


# ---------------------------------------------------------------- top-level fields


def _value(top: dict[str, bytes], name: str, type_: type[T]) -> T | None:
    """A typed member, None when absent or null."""
    raw = top.get(name)
    if raw is None or raw == b"null":
        return None
    return cast(T, _decode(raw, type_, name))


def _decode(raw: bytes, type_: Any, path: str) -> Any:
    try:
        return msgspec.json.decode(raw, type=type_)
    except msgspec.ValidationError as error:
        raise _wrong_type(str(error), path) from None
    except msgspec.DecodeError as error:
        raise RequestError(f"`{path}` is not valid JSON: {error}", param=path, code="invalid_json") from None


#: msgspec's words for types -> JSON's.
_TYPES = {"str": "a string", "int": "an integer", "float": "a number", "bool": "true or false", "null": "null"} | {
    "array": "an array",
    "object": "an object",
}


def _wrong_type(text: str, path: str) -> RequestError:
    """msgspec's "Expected `str | null`, got `int` - at `$.a.b`" with the request's path and in JSON's words."""
    what, _, where = text.partition(" - at `$")
    path += where.rstrip("`")
    if missing := re.fullmatch("Object missing required field `(.+)`", what):
        path += "." + missing[1]
        return RequestError(f"`{path}` is required", param=path, code="missing_required_parameter")
    if types := re.fullmatch("Expected `(.+)`, got `(.+)`", what):
        wanted, given = ([_TYPES.get(word, word) for word in part.split(" | ")] for part in types.groups())
        what = f"must be {', '.join(wanted[:-1])}{' or ' if wanted[1:] else ''}{wanted[-1]}, not {' or '.join(given)}"
    return RequestError(f"`{path}` {what[:1].lower()}{what[1:]}", param=path, code="invalid_type")


def _in_range(top: dict[str, bytes], name: str, low: float, high: float) -> float | None:
    value = _value(top, name, float)
    if value is not None and not low <= value <= high:
        raise RequestError(
            f"`{name}` must be between {low:g} and {high:g}, not {value:g}", param=name, code="invalid_value"
        )
    return value


def _include_usage(top: dict[str, bytes], stream: bool) -> bool:
    options = _value(top, "stream_options", wire.StreamOptions)
    if options is not None and not stream:
        raise RequestError(
            "`stream_options` is only allowed with `stream: true`", param="stream_options", code="invalid_value"
        )
    return bool(options and options.include_usage)


def _max_tokens(top: dict[str, bytes]) -> int | None:
    found = None
    for name in ("max_tokens", "max_completion_tokens"):
        value = _value(top, name, int)
        if value is not None and value < 1:
            raise RequestError(f"`{name}` must be at least 1, not {value}", param=name, code="invalid_value")
        found = value if value is not None else found
    return found


def _sampling(top: dict[str, bytes]) -> Sampling:
    stop = _value(top, "stop", cast("type[str | list[str]]", str | list[str]))
    return Sampling(
        temperature=_in_range(top, "temperature", 0, 2),
        top_p=_in_range(top, "top_p", 0, 1),
        seed=_value(top, "seed", int),
        frequency_penalty=_in_range(top, "frequency_penalty", -2, 2),
        presence_penalty=_in_range(top, "presence_penalty", -2, 2),
        stop=(stop,) if isinstance(stop, str) else tuple(stop) if stop is not None else None,
    )


def _response_format(top: dict[str, bytes]) -> ResponseFormat | None:
    shape = _value(top, "response_format", wire.ResponseFormat)
    if shape is None:
        return None
    if shape.type not in ("text", "json_object", "json_schema"):
        raise RequestError(
            f"`response_format.type` must be text, json_object or json_schema, not {shape.type!r}",
            param="response_format.type",
            code="invalid_value",
        )
    if shape.type != "json_schema":
        return ResponseFormat(cast(Any, shape.type))
    if shape.json_schema is None:
        raise RequestError(
            "`response_format.json_schema` is required for the type json_schema",
            param="response_format.json_schema",
            code="missing_required_parameter",
        )
    inner = shape.json_schema
    schema = bytes(inner.schema) or None
    return ResponseFormat("json_schema", inner.name, schema, inner.strict, inner.description)


def _reasoning_effort(top: dict[str, bytes]) -> str | None:
    effort = _value(top, "reasoning_effort", str)
    if effort is not None and effort not in _EFFORTS:
        raise RequestError(
            f"`reasoning_effort` must be one of {', '.join(_EFFORTS)}, not {effort!r}",
            param="reasoning_effort",
            code="invalid_value",
        )
    return effort


# ---------------------------------------------------------------- tools


def _tools(top: dict[str, bytes]) -> tuple[Tool, ...]:
    raw = _value(top, "tools", list[msgspec.Raw])
    return tuple(_tool(bytes(item), f"tools[{number}]") for number, item in enumerate(raw or ()))


def _tool(raw: bytes, path: str) -> Tool:
    shape = _decode(raw, wire.Tool, path)
    inner = {"function": shape.function, "custom": shape.custom}.get(shape.type)
    if shape.type not in ("function", "custom"):
        return with_source(Tool(shape.type, kind="opaque"), Source(wire.DIALECT, raw))
    if inner is None:
        raise RequestError(
            f"`{path}.{shape.type}` is required for a tool of type {shape.type!r}",
            param=f"{path}.{shape.type}",
            code="missing_required_parameter",
        )
    if shape.custom is not None and shape.type == "custom":
        extra = tuple((name, value) for name, value in members(raw).items() if name == "custom")
        tool = Tool(inner.name, inner.description, kind="custom", extra=extra)
        return with_source(tool, Source(wire.DIALECT, raw))
    parameters = bytes(inner.parameters) or b"null"
    if parameters != b"null" and parameters[:1] != b"{":
        raise RequestError(
            f"`{path}.function.parameters` must be a JSON Schema object",
            param=f"{path}.function.parameters",
            code="invalid_function_parameters",
        )
    _check_root(parameters, path)
    outer = unnamed(raw, frozenset({"type", "function"}))
    named = frozenset({"name", "description", "parameters", "strict"})
    schema = parameters if parameters != b"null" else None
    tool = Tool(inner.name, inner.description, schema, inner.strict, extra=outer + _within(raw, "function", named))
    return with_source(tool, Source(wire.DIALECT, raw))


def _within(raw: bytes, kind: str, named: frozenset[str]) -> Members:
    """The unnamed members of a tool's or call's inner object, marked with its name ("function.")."""
    return tuple((f"{kind}.{name}", value) for name, value in unnamed(raw_members(raw)[kind], named))


def _check_root(parameters: bytes, path: str) -> None:
    root = bytes(raw_members(parameters).get("type", b"")) if parameters[:1] == b"{" else b""
    if root and root != b'"object"':
        raise RequestError(
            f'`{path}.function.parameters.type` must be "object", not {root.decode()[:80]}',
            param=f"{path}.function.parameters.type",
            code="invalid_function_parameters",
        )


def _tool_choice(top: dict[str, bytes]) -> ToolChoice | None:
    raw = top.get("tool_choice", b"null")
    if raw == b"null":
        return None
    if raw[:1] == b'"':
        word = _decode(raw, str, "tool_choice")
        if word not in ("auto", "none", "required"):
            raise RequestError(
                f'`tool_choice` must be "auto", "none", "required" or an object, not {word!r}',
                param="tool_choice",
                code="invalid_value",
            )
        return ToolChoice(word)
    shape = _decode(raw, wire.ToolChoice, "tool_choice")
    named = {"function": shape.function, "custom": shape.custom}.get(shape.type)
    if named is not None:
        return ToolChoice("required", (named.name,), named=True)
    allowed = shape.allowed_tools if shape.type == "allowed_tools" else None
    if allowed is None or allowed.mode not in ("auto", "required") or not allowed.tools:
        raise RequestError(
            '`tool_choice` must be {"type": "function", "function": {"name": ...}} or {"type": "allowed_tools", '
            '"allowed_tools": {"mode": "auto" or "required", "tools": [at least one]}}',
            param="tool_choice",
            code="invalid_value",
        )
    names = tuple(inner.name for tool in allowed.tools if (inner := tool.function or tool.custom) is not None)
    return ToolChoice(cast(Any, allowed.mode), names)


# ---------------------------------------------------------------- messages


def _messages(top: dict[str, bytes]) -> tuple[Message, ...]:
    raw = _value(top, "messages", list[msgspec.Raw])
    if not raw:
        raise RequestError(
            "`messages` is required and must hold at least one message",
            param="messages",
            code="missing_required_parameter",
        )
    return tuple(_message(bytes(item), f"messages[{number}]") for number, item in enumerate(raw))


def _message(raw: bytes, path: str) -> Message:
    extra: Members = ()
    source: Source | None = Source(wire.DIALECT, raw)
    shape: Any
    try:
        shape = msgspec.json.decode(raw, type=wire.Message)
    except msgspec.DecodeError:
        shape = _decode(raw, wire.LenientMessage, path)
        extra = unnamed(raw, _MESSAGE)
    if b"null" in raw and any(value == b"null" for name, value in members(raw).items() if name != "content"):
        # A null member means an absent one; OpenAI's SDKs replay them and several hosts refuse them.
        extra = tuple((name, value) for name, value in extra if value != b"null")
        source = None
    if shape.tool_calls == []:
        source = None  # refused by OpenAI, DeepSeek and DashScope
    if shape.role not in _ROLES:
        raise RequestError(
            f"`{path}.role` must be one of system, developer, user, assistant, tool, not {shape.role!r}",
            param=f"{path}.role",
            code="invalid_value",
        )
    if shape.tool_calls and shape.role != "assistant":
        raise RequestError(
            f"`{path}.tool_calls` is only allowed in a message of role assistant",
            param=f"{path}.tool_calls",
            code="invalid_value",
        )
    if shape.role == "function":  # deprecated: only the lane carries it
        part = OpaquePart("function_message", wire.DIALECT, raw)
        return with_source(Message("user", (part,)), Source(wire.DIALECT, raw))
    return with_source(Message(cast(Role, shape.role), _parts(shape, path), shape.name, extra), source)


def _parts(shape: wire.Message, path: str) -> tuple[Part, ...]:
    if shape.role == "assistant":
        return _assistant_parts(shape, path)
    if shape.content is None or shape.content == []:
        raise RequestError(
            f"`{path}.content` is required in a message of role {shape.role}: a string or a list of content parts",
            param=f"{path}.content",
            code="missing_required_parameter",
        )
    content = _content(shape.content, path)
    if shape.role != "tool":
        return content
    if not shape.tool_call_id:
        raise RequestError(
            f"`{path}.tool_call_id` is required in a message of role tool: the id of the call it answers",
            param=f"{path}.tool_call_id",
            code="missing_required_parameter",
        )
    inner = cast("tuple[TextPart | ImagePart | OpaquePart, ...]", content)
    return (ToolResultPart(shape.tool_call_id, inner, name=shape.name),)


def _assistant_parts(shape: wire.Message, path: str) -> tuple[Part, ...]:
    parts: list[Part] = []
    if shape.reasoning_content:
        parts.append(ReasoningPart(shape.reasoning_content))
    if shape.content:
        parts += _content(shape.content, path)
    if shape.refusal:
        parts.append(RefusalPart(shape.refusal))
    for number, raw in enumerate(shape.tool_calls or ()):
        parts.append(_tool_call(bytes(raw), f"{path}.tool_calls[{number}]"))
    return tuple(parts)


def _content(content: str | list[msgspec.Raw], path: str) -> tuple[Part, ...]:
    if isinstance(content, str):
        return (TextPart(content),)
    return tuple(_content_part(bytes(raw), f"{path}.content[{number}]") for number, raw in enumerate(content))


def _content_part(raw: bytes, path: str) -> Part:
    shape = _decode(raw, wire.ContentPart, path)
    source = Source(wire.DIALECT, raw)
    known = _PART.get(shape.type)
    if known is None:
        return with_source(OpaquePart(shape.type, wire.DIALECT, raw), source)
    value = getattr(shape, shape.type)
    if value is None:
        raise RequestError(
            f"`{path}.{shape.type}` is required in a content part of type {shape.type!r}",
            param=f"{path}.{shape.type}",
            code="missing_required_parameter",
        )
    extra = unnamed(raw, known)
    part: Part
    if shape.type == "text":
        part = TextPart(value, extra)
    elif shape.type == "refusal":
        part = RefusalPart(value, extra)
    else:
        part = _image(value, extra)
    return with_source(part, source)


def _image(value: wire.ImageUrl, extra: Members) -> ImagePart:
    """An https URL stays one; a data: URL is split into its media type and base64 text."""
    head, comma, data = value.url.partition(",")
    if value.url.startswith("data:") and comma and head.endswith(";base64"):
        return ImagePart(data=data, media_type=head[5:-7] or None, detail=value.detail, extra=extra)
    return ImagePart(url=value.url, detail=value.detail, extra=extra)


def _tool_call(raw: bytes, path: str) -> ToolCallPart:
    exact = True
    shape: Any
    try:
        shape = msgspec.json.decode(raw, type=wire.ToolCall)
    except msgspec.DecodeError:
        shape = _decode(raw, wire.LenientToolCall, path)
        exact = False
    inner = {"function": shape.function, "custom": shape.custom}.get(shape.type)
    if inner is None:
        raise RequestError(
            f'`{path}` must have type "function" with a `function`, or type "custom" with a `custom`',
            param=path,
            code="invalid_value",
        )
    if not shape.id:
        raise RequestError(f"`{path}.id` must not be empty", param=f"{path}.id", code="missing_required_parameter")
    extra = () if exact else unnamed(raw, _CALL) + _within(raw, shape.type, _INNER_CALL)
    text = inner.arguments if shape.type == "function" else inner.input
    return with_source(ToolCallPart(shape.id, inner.name, text, shape.type, extra), Source(wire.DIALECT, raw))
