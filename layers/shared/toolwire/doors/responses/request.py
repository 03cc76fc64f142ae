"""The Responses door: OpenAI Responses in (POST /responses).

Unless the tenant has answers kept, nothing is stored: `store` is reported as false, and members that need stored
answers (`previous_response_id`, `conversation`, `item_reference`) are passed to a provider of the same dialect and
refused for any other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

import msgspec

from toolwire.conversation.kept_answers import KeptAnswer
from toolwire.doors import AnswerContext, Compaction, Door, StreamEncoder
from toolwire.doors.reasoning_efforts import known_effort
from toolwire.doors.responses.compaction import whole_compaction
from toolwire.doors.responses.document import render_response
from toolwire.doors.responses.errors import no_compaction, not_served, render_error
from toolwire.doors.responses.history import read_input
from toolwire.doors.responses.kept_answers import continued, named_answers
from toolwire.doors.responses.stream import ResponsesEncoder
from toolwire.doors.responses.tools import read_tool_choice, read_tools, with_flat_tools
from toolwire.doors.sample_request import sample_post
from toolwire.doors.tool_choice_forms import with_own_choice
from toolwire.doors.typed_json import in_range, member, one_of, required_model, too_deep, top_members
from toolwire.model.errors import GatewayError, RequestError
from toolwire.model.events import Batch
from toolwire.model.http import HttpRequest
from toolwire.model.request import ChatRequest, RequestFields, ResponseFormat, Sampling, Tool
from toolwire.model.response import ChatResponse
from toolwire.model.source import replace
from toolwire.wire import openai_responses as wire
from toolwire.wire.json import dump
from toolwire.wire.member_names import NOTHING_ASKED

#: Fields that mean something only to OpenAI: carried in the lane, reported or refused elsewhere.
_DIALECT_FIELDS = (
    "access_programs", "client_metadata", "context_management", "conversation", "image",
    "max_tool_calls", "metadata", "moderation", "previous_response_id", "prompt", "prompt_cache_key",
    "prompt_cache_options", "prompt_cache_retention", "safety_identifier", "service_tier", "store", "top_logprobs",
    "truncation", "user",
)  # fmt: skip

#: The types of members that are only repeated in the answer.
_TYPES: dict[str, Any] = {
    "max_tool_calls": int, "metadata": dict[str, msgspec.Raw], "previous_response_id": str, "prompt_cache_key": str,
    "safety_identifier": str, "service_tier": str, "store": bool, "top_logprobs": int, "truncation": str,
}  # fmt: skip

#: Values of `include` that every provider's answer has anyway.
_INCLUDED = "reasoning.encrypted_content"

#: What Codex asks where it takes the provider for OpenAI.
_COMPACT = "/responses/compact"

#: The path that counts the tokens of a request.
_COUNT = "/responses/input_tokens"

#: Warning: see `docs/operations.md`.
_REFERENCE_LEFT_OUT, _FORM_CHANGED = "item_reference_left_out", "request_form_changed"

#: Headers about the form of the body. With one, Codex sends the tools of newer models in `input`; OpenAI refuses their
#: members without it.
_OWN_HEADERS = frozenset({"x-openai-internal-codex-responses-lite"})

#: The members that refer to a history which OpenAI keeps.
_STORED_HISTORY = ("previous_response_id", "conversation", "prompt")


class ResponsesDoor(Door):
    """See `doors.Door`."""

    name = "responses"
    dialect = wire.DIALECT
    call_id = r"[A-Za-z0-9_-]{1,64}"
    response_prefix = "resp_"

    def parse_request(self, request: HttpRequest) -> ChatRequest:
        own = tuple((name, value) for name, value in request.headers.items() if name in _OWN_HEADERS)
        parsed = parse_request(request.body)
        return replace(parsed, headers=own, stream=parsed.stream and request.path != _COUNT)

    def count_renderer(self, request: HttpRequest) -> Callable[[int], bytes] | None:
        return _count if request.path == _COUNT else None

    def compaction(self, request: HttpRequest) -> Compaction | None:
        return Compaction(whole_compaction, no_compaction) if request.path == _COMPACT else None

    def not_served(self, method: str, path: str, headers: Mapping[str, str]) -> GatewayError | None:
        return not_served(method, path, headers)

    def named_answers(self, request: ChatRequest) -> list[str] | None:
        return named_answers(request)

    def continued(self, request: ChatRequest, answers: Mapping[str, KeptAnswer]) -> ChatRequest:
        return continued(request, answers, _request)

    def sample_request(self, tools: Iterable[tuple[str, bytes]]) -> HttpRequest:
        return sample_post("/responses", (("input", b'"?"'),), tools)

    def stream_encoder(self, request: ChatRequest, context: AnswerContext) -> StreamEncoder:
        return ResponsesEncoder(request, context)

    def render_response(self, response: ChatResponse, batch: Batch, context: AnswerContext) -> bytes:
        return render_response(response, batch, context)

    def render_error(self, error: GatewayError, request_id: str) -> bytes:
        return render_error(error, request_id)


DOOR = ResponsesDoor()


def _count(tokens: int) -> bytes:
    return dump({"object": "response.input_tokens", "input_tokens": tokens})


def parse_request(body: bytes) -> ChatRequest:
    """The neutral request, with the client's own bytes on every node. Raises RequestError."""
    try:
        return _request(with_own_choice(top_members(body), "flat"))
    except RecursionError:
        raise too_deep() from None


def _request(top: dict[str, bytes]) -> ChatRequest:
    model = required_model(top)
    history = read_input(top)
    if not history.messages and not any(top.get(name, b"null") != b"null" for name in _STORED_HISTORY):
        least = "an item that is no reference to another" if history.left_out else "one item"
        raise RequestError(
            f"`input` is required: a string, or a list of at least {least}",
            param="input",
            code="missing_required_parameter",
        )
    _check_background(top)
    for name, type_ in _TYPES.items():
        member(top, name, type_)
    tools = _with_loaded(read_tools(top), history.tools)
    choice, foreign_choice = read_tool_choice(top, tools)
    shape, verbosity = _text(top)
    reasoning = member(top, "reasoning", wire.ReasoningSettings) or wire.ReasoningSettings()
    fields = [
        name for name in _DIALECT_FIELDS if top.get(name, b"null") not in (b"null", b'""', NOTHING_ASKED.get(name))
    ]
    effort, new_effort = known_effort(reasoning.effort, "reasoning.effort")
    parsed = ChatRequest(
        model=model,
        messages=history.messages,
        tools=tools,
        tool_choice=choice,
        parallel_tool_calls=member(top, "parallel_tool_calls", bool),
        stream=bool(member(top, "stream", bool)),
        include_usage=True,
        max_tokens=_max_tokens(top),
        sampling=_sampling(top),
        response_format=shape,
        reasoning_effort=effort,
        reasoning_summary=reasoning.summary,
        dialect_fields=(*fields, *new_effort, *_included(top), *verbosity, *foreign_choice, *history.foreign),
    )
    fields_sent = RequestFields(wire.DIALECT, tuple(with_flat_tools(top).items()), parsed, "input")
    if history.left_out or history.completed:  # as a new tuple, so that the client's own `input` is not sent
        messages = (*history.messages[:-1], *history.messages[-1:])
        codes = ((_REFERENCE_LEFT_OUT, history.left_out), (_FORM_CHANGED, history.completed))
        warnings = tuple(code for code, is_so in codes if is_so)
        return replace(parsed, fields=fields_sent, messages=messages, warnings=warnings)
    return replace(parsed, fields=fields_sent)


def _with_loaded(tools: tuple[Tool, ...], loaded: list[Tool]) -> tuple[Tool, ...]:
    """The request's tools, followed by those that a search in the history has loaded."""
    known = {tool.name for tool in tools}
    new = {tool.name: tool for tool in loaded if tool.name not in known}
    return (*tools, *new.values()) if new else tools


def _check_background(top: dict[str, bytes]) -> None:
    """Raises RequestError for an answer in the background, which is fetched later by its id: the gateway does not serve
    that."""
    if member(top, "background", bool):
        raise RequestError(
            "`background` cannot be true: the gateway keeps no answer to be fetched later; leave it out, and set "
            "`stream` to have the answer as it comes",
            param="background",
            code="unsupported_parameter",
        )


def _sampling(top: dict[str, bytes]) -> Sampling:
    return Sampling(
        temperature=in_range(top, "temperature", 0, 2),
        top_p=in_range(top, "top_p", 0, 1),
        frequency_penalty=in_range(top, "frequency_penalty", -2, 2),
        presence_penalty=in_range(top, "presence_penalty", -2, 2),
    )


def _included(top: dict[str, bytes]) -> list[str]:
    """The member's name, if it asks for content that only OpenAI can include."""
    asked = member(top, "include", list[str]) or ()
    return ["include"] if any(name != _INCLUDED for name in asked) else []


def _max_tokens(top: dict[str, bytes]) -> int | None:
    value = member(top, "max_output_tokens", int)
    if value is not None and value < 1:
        raise RequestError(
            f"`max_output_tokens` must be at least 1, not {value}", param="max_output_tokens", code="invalid_value"
        )
    return value


def _text(top: dict[str, bytes]) -> tuple[ResponseFormat | None, list[str]]:
    """The format of the answer, and the paths of the other members of `text`."""
    settings = member(top, "text", wire.TextSettings)
    if settings is None:
        return None, []
    others = ["verbosity"] if settings.verbosity not in (None, "medium") else []
    shape = settings.format
    if shape is None:
        return None, others
    kind = one_of(shape.type, ("text", "json_object", "json_schema"), "text.format.type")
    if kind != "json_schema":
        return ResponseFormat(cast(Any, kind)), others
    schema = bytes(shape.schema)
    for name, given in (("name", shape.name), ("schema", schema)):
        if not given:
            raise RequestError(
                f"`text.format.{name}` is required for the type json_schema",
                param=f"text.format.{name}",
                code="missing_required_parameter",
            )
    return ResponseFormat("json_schema", shape.name, schema, shape.strict, shape.description), others
