"""The native door: Chat's shapes with arguments as objects (POST /native/chat).

Nothing of a request is ignored: a member that the API does not have is refused. Every call's id is minted, and each
tool is described.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from toolwire.doors import AnswerContext, Door, StreamEncoder
from toolwire.doors.native import request_models
from toolwire.doors.native.document import render_response
from toolwire.doors.native.errors import render_error
from toolwire.doors.native.history import read_message
from toolwire.doors.native.reader import read
from toolwire.doors.native.stream import NativeEncoder
from toolwire.doors.native.tools import read_tool_choice, read_tools
from toolwire.doors.sample_request import SAMPLE_MESSAGES, sample_post
from toolwire.model.errors import GatewayError, RequestError
from toolwire.model.events import Batch
from toolwire.model.http import HttpRequest
from toolwire.model.request import (
    ChatRequest,
    RequestOptions,
    ResponseFormat,
    Sampling,
)
from toolwire.model.response import ChatResponse

_VALIDATION: dict[bool, Literal["off", "reject"]] = {True: "reject", False: "off"}


class NativeDoor(Door):
    """See `doors.Door`."""

    name = "native"
    dialect = "native"
    #: No id matches: clients of this door see only minted ids.
    call_id = r"(?!)"
    response_prefix = "native_"
    shows_opaque = True

    def parse_request(self, request: HttpRequest) -> ChatRequest:
        return _neutral(read(request.body, request_models.ChatRequest))

    def sample_request(self, tools: Iterable[tuple[str, bytes]]) -> HttpRequest:
        return sample_post("/native/chat", (("messages", SAMPLE_MESSAGES),), tools)

    def stream_encoder(self, request: ChatRequest, context: AnswerContext) -> StreamEncoder:  # noqa: ARG002
        return NativeEncoder(context)

    def render_response(self, response: ChatResponse, batch: Batch, context: AnswerContext) -> bytes:  # noqa: ARG002
        return render_response(response, context)

    def render_error(self, error: GatewayError, request_id: str) -> bytes:
        return render_error(error, request_id)


DOOR = NativeDoor()


def _neutral(given: request_models.ChatRequest) -> ChatRequest:
    options = given.request_options or request_models.RequestOptions()
    stop = given.stop
    return ChatRequest(
        model=_model(given),
        messages=tuple(read_message(message, f"messages[{n}]") for n, message in enumerate(given.messages)),
        tools=read_tools(given.tools or ()),
        tool_choice=read_tool_choice(given.tool_choice),
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


def _model(given: request_models.ChatRequest) -> str:
    """The model's name; empty for the model that the named conversation used last."""
    if given.model is None and given.conversation_id is None:
        raise RequestError(
            "`model` is required: a configured alias, or provider/model (only a later turn of a conversation that "
            "`conversation_id` names may leave it out)",
            param="model",
            code="missing_required_parameter",
        )
    return given.model or ""


def _stream(given: request_models.ChatRequest, options: request_models.RequestOptions) -> bool:
    said = [value for value in (given.stream, options.stream) if value is not None]
    if len(set(said)) > 1:
        raise RequestError(
            "`request_options.stream` says the opposite of `stream`: leave one of them out",
            param="request_options.stream",
            code="invalid_value",
        )
    return bool(said and said[0])


def _options(options: request_models.RequestOptions) -> RequestOptions:
    validate = options.validate_tool_arguments
    return RequestOptions(
        validate_tool_arguments=_VALIDATION[validate] if isinstance(validate, bool) else validate,
        schema_mode=options.schema_mode,
        recover_text_calls=options.recover_text_calls,
        repair_arguments=options.repair_arguments,
    )


def _response_format(shape: request_models.ResponseFormat | None) -> ResponseFormat | None:
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
