"""The native door: Chat's shapes with arguments as objects (POST /native/chat).

native_models.py   the request's shape, as pydantic models
native_reader.py   a body as one of them, or a refusal with its JSON path
native_answer.py   the answer side: events, the JSON answer, errors

Nothing of a request is ignored: a member that the API does not have is refused. Every call's id is minted, and each
tool is described.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from toolwire.doors import AnswerContext, StreamEncoder
from toolwire.doors.native import models
from toolwire.doors.native import stream as native_answer
from toolwire.doors.native.reader import read
from toolwire.doors.openai_files import audio_part, file_of_bytes, image_part
from toolwire.model.errors import GatewayError, RequestError
from toolwire.model.events import Batch
from toolwire.model.request import (
    ChatRequest,
    FilePart,
    ImagePart,
    Message,
    OpaquePart,
    Part,
    ReasoningPart,
    RefusalPart,
    RequestOptions,
    ResponseFormat,
    Sampling,
    TextPart,
    Tool,
    ToolCallPart,
    ToolChoice,
    ToolResultPart,
)
from toolwire.model.response import ChatResponse
from toolwire.wire.json import raw_members

_VALIDATION: dict[bool, Literal["off", "reject"]] = {True: "reject", False: "off"}


class NativeDoor:
    """See `doors.Door`."""

    name = "native"
    dialect = native_answer.DIALECT
    #: No id matches: a client of this door gets only ids of ours.
    call_id = r"(?!)"
    response_prefix = "native_"

    def parse_request(self, body: bytes, headers: dict[str, str]) -> ChatRequest:  # noqa: ARG002
        return _neutral(read(body, models.ChatRequest))

    def stream_encoder(self, request: ChatRequest, context: AnswerContext) -> StreamEncoder:  # noqa: ARG002
        return native_answer.NativeEncoder(context)

    def render_response(self, response: ChatResponse, batch: Batch, context: AnswerContext) -> bytes:  # noqa: ARG002
        return native_answer.render_response(response, context)

    def render_error(self, error: GatewayError, request_id: str) -> bytes:
        return native_answer.render_error(error, request_id)


DOOR = NativeDoor()


def _neutral(given: models.ChatRequest) -> ChatRequest:
    options = given.request_options or models.RequestOptions()
    stop = given.stop
    return ChatRequest(
        model=_model(given),
        messages=tuple(_message(message, f"messages[{n}]") for n, message in enumerate(given.messages)),
        tools=tuple(_tool(tool, f"tools[{n}]") for n, tool in enumerate(given.tools or ())),
        tool_choice=_tool_choice(given.tool_choice),
        parallel_tool_calls=given.parallel_tool_calls,
        stream=_stream(given, options),
        include_usage=True,
        max_tokens=given.max_tokens,
        sampling=Sampling(
            temperature=given.temperature,
            top_p=given.top_p,
            seed=given.seed,
            frequency_penalty=given.frequency_penalty,
            presence_penalty=given.presence_penalty,
            stop=(stop,) if isinstance(stop, str) else tuple(stop) if stop is not None else None,
        ),
        response_format=_response_format(given.response_format),
        reasoning_effort=given.reasoning_effort,
        options=_options(options),
        conversation_id=given.conversation_id,
    )


def _model(given: models.ChatRequest) -> str:
    """The model's name; empty for the one that the named conversation used last."""
    if given.model is None and given.conversation_id is None:
        raise RequestError(
            "`model` is required: a configured alias, or provider/model (only a later turn of a conversation that "
            "`conversation_id` names may leave it out)",
            param="model",
            code="missing_required_parameter",
        )
    return given.model or ""


def _stream(given: models.ChatRequest, options: models.RequestOptions) -> bool:
    said = [value for value in (given.stream, options.stream) if value is not None]
    if len(set(said)) > 1:
        raise RequestError(
            "`request_options.stream` says the opposite of `stream`: leave one of them out",
            param="request_options.stream",
            code="invalid_value",
        )
    return bool(said and said[0])


def _options(options: models.RequestOptions) -> RequestOptions:
    validate = options.validate_tool_arguments
    return RequestOptions(
        validate_tool_arguments=_VALIDATION[validate] if isinstance(validate, bool) else validate,
        schema_mode=options.schema_mode,
        recover_text_calls=options.recover_text_calls,
    )


def _response_format(shape: models.ResponseFormat | None) -> ResponseFormat | None:
    if shape is None:
        return None
    if (shape.type == "json_schema") != (shape.json_schema is not None):
        raise RequestError(
            "`response_format.json_schema` goes with the type json_schema, and only with it",
            param="response_format.json_schema",
            code="invalid_value",
        )
    inner = shape.json_schema
    if inner is None:
        return ResponseFormat(shape.type)
    schema = None if inner.schema_ is None else bytes(inner.schema_)
    return ResponseFormat("json_schema", inner.name, schema, inner.strict, inner.description)


# ---------------------------------------------------------------- messages


def _message(message: models.Message, path: str) -> Message:
    match message:
        case models.AssistantMessage():
            return Message("assistant", tuple(_assistant_parts(message, path)), message.name)
        case models.ToolMessage():
            content = _result(bytes(message.content), f"{path}.content")
            return Message("tool", (ToolResultPart(message.tool_call_id, content, message.is_error, message.name),))
        case _:
            return Message(message.role, tuple(_content(message.content, f"{path}.content")), message.name)


_Content = TextPart | ImagePart | FilePart | OpaquePart


def _content(content: str | Sequence[models.ContentPart], path: str) -> list[_Content]:
    if isinstance(content, str):
        return [TextPart(content)]
    return [_content_part(part, f"{path}[{number}]") for number, part in enumerate(content)]


def _content_part(part: models.ContentPart, path: str) -> _Content:
    match part:
        case models.TextPart():
            return TextPart(part.text, signature=part.signature)
        case models.ImagePart():
            return image_part(part.image_url.url, part.image_url.detail, path=path)
        case models.AudioPart():
            return audio_part(part.input_audio.data, part.input_audio.format, path=path)
        case models.FilePart(file=file):
            read = file_of_bytes(file.file_data, file.filename, kind="file", path=path)
            if read is not None:
                return read
            path += ".file.file_data"
            raise RequestError(f"`{path}` must be a data: URL with base64", param=path, code="invalid_value")


def _assistant_parts(message: models.AssistantMessage, path: str) -> list[Part]:
    parts: list[Part] = []
    if message.reasoning_parts:
        parts += [ReasoningPart(part.text, part.signature) for part in message.reasoning_parts]
    elif message.reasoning_content:
        parts.append(ReasoningPart(message.reasoning_content))
    if isinstance(message.content, str):
        if message.content:
            parts.append(TextPart(message.content, signature=message.content_signature))
    elif message.content:
        parts += _content(message.content, f"{path}.content")
    if message.refusal:
        parts.append(RefusalPart(message.refusal))
    opaque = enumerate(message.opaque_parts or ())
    parts += [OpaquePart(p.kind, p.dialect, bytes(p.data), path=f"{path}.opaque_parts[{n}]") for n, p in opaque]
    parts += [_tool_call(call, f"{path}.tool_calls[{n}]") for n, call in enumerate(message.tool_calls or ())]
    return parts


def _tool_call(call: models.ToolCall, path: str) -> ToolCallPart:
    function = call.function
    if (function.arguments is None) == (function.raw_arguments is None):
        raise RequestError(
            f"`{path}.function.arguments` must be an object; only arguments that were cut are null, with their text in "
            "`raw_arguments`",
            param=f"{path}.function.arguments",
            code="invalid_value",
        )
    text = function.raw_arguments if function.arguments is None else bytes(function.arguments).decode()
    return ToolCallPart(call.id, function.name, text or "", signature=call.signature)


def _result(raw: bytes, path: str) -> tuple[_Content, ...]:
    """A tool's result as content: a string is text, an array of content parts is those, other JSON is its own text."""
    value = msgspec.json.decode(raw)  # only looked at
    if isinstance(value, str):
        return (TextPart(value),)
    if not isinstance(value, list) or not value:
        return (TextPart(raw.decode()),)
    parts = [_result_part(item, f"{path}[{number}]") for number, item in enumerate(value)]
    content = tuple(part for part in parts if part is not None)
    return content if len(content) == len(parts) else (TextPart(raw.decode()),)


def _result_part(value: Any, path: str) -> _Content | None:
    match value:
        case {"type": "text", "text": str(text), **rest} if not rest:
            return TextPart(text)
        case {"type": "image_url", "image_url": {"url": str(url), **rest}} if not rest:
            return image_part(url, None, path=path)
        case {"type": "file", "file": {"file_data": str(data), **rest}} if not rest.keys() - {"filename"}:
            name = rest.get("filename")
            return file_of_bytes(data, name if isinstance(name, str) else None, kind="file", path=path)
        case {"type": "input_audio", "input_audio": {"data": str(data), "format": "wav" | "mp3" as audio_format}}:
            return audio_part(data, audio_format, path=path)
    return None


# ---------------------------------------------------------------- tools


def _tool(tool: models.ToolDefinition, path: str) -> Tool:
    function = tool.function
    parameters = bytes(function.parameters)
    root = bytes(raw_members(parameters).get("type", b""))
    if root != b'"object"':
        said = f"not {root.decode()[:80]}" if root else "and is missing"
        raise RequestError(
            f'`{path}.function.parameters.type` must be "object", {said}',
            param=f"{path}.function.parameters.type",
            code="invalid_function_parameters",
        )
    return Tool(function.name, function.description, parameters, function.strict)


def _tool_choice(choice: models.ToolChoice | None) -> ToolChoice | None:
    match choice:
        case None:
            return None
        case models.NamedTool():
            return ToolChoice("required", (choice.function.name,), named=True)
        case models.AllowedTools():
            allowed = choice.allowed_tools
            return ToolChoice(allowed.mode, tuple(tool.function.name for tool in allowed.tools))
        case word:
            return ToolChoice(word)
