"""The messages door: Anthropic Messages in (POST /messages, POST /messages/count_tokens).

Every rejected request names the JSON path of the field, what was there, and the fix. Unknown fields, tools, blocks and
`anthropic-*` headers are accepted; they reach a provider of the same dialect only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from toolwire.doors import AnswerContext, Door, StreamEncoder
from toolwire.doors.limit_headers import RateLimit, anthropic_limit_headers, openai_limit_headers
from toolwire.doors.messages.document import render_response
from toolwire.doors.messages.errors import render_error
from toolwire.doors.messages.history import read_history
from toolwire.doors.messages.stream import MessagesEncoder
from toolwire.doors.messages.tools import CHOICES, read_tool_choice, read_tools
from toolwire.doors.reasoning_efforts import effort_of_budget
from toolwire.doors.sample_request import SAMPLE_MESSAGES, sample_post
from toolwire.doors.tool_choice_forms import with_own_choice
from toolwire.doors.typed_json import member, required_model, too_deep, top_members
from toolwire.model.errors import GatewayError, RequestError
from toolwire.model.events import Batch
from toolwire.model.http import Headers, HttpRequest
from toolwire.model.request import ChatRequest, RequestFields, ResponseFormat, Sampling
from toolwire.model.response import ChatResponse
from toolwire.model.source import replace
from toolwire.wire import anthropic_messages as wire
from toolwire.wire.json import dump

#: The path that counts the tokens of a request.
_COUNT = "/messages/count_tokens"

_EFFORTS = ("low", "medium", "high", "xhigh", "max")
_THINKING = ("adaptive", "between_tools", "disabled", "enabled")

#: The API's headers that are passed on: betas, versions, new ones. Not those that choose the account, which is the
#: gateway's own.
_HEADER = re.compile(r"anthropic-[a-z0-9-]+")
_ACCOUNT = frozenset({"anthropic-organization-id", "anthropic-workspace-id"})

#: Fields that mean something only to Anthropic's API: carried in the lane, reported or refused elsewhere.
_DIALECT_FIELDS = (
    "cache_control", "container", "context_management", "diagnostics", "inference_geo", "mcp_servers", "metadata",
    "service_tier", "speed", "thread",
)  # fmt: skip


class MessagesDoor(Door):
    """See `doors.Door`."""

    name = "messages"
    dialect = wire.DIALECT
    call_id = r"[A-Za-z0-9_-]{1,64}"
    response_prefix = "msg_"

    def parse_request(self, request: HttpRequest) -> ChatRequest:
        return parse_request(request)

    def count_renderer(self, request: HttpRequest) -> Callable[[int], bytes] | None:
        return _count if request.path == _COUNT else None

    def sample_request(self, tools: Iterable[tuple[str, bytes]]) -> HttpRequest:
        return sample_post("/messages", (("messages", SAMPLE_MESSAGES), ("max_tokens", b"1024")), tools)

    def limit_headers(self, limits: Iterable[RateLimit]) -> Headers:
        limits = tuple(limits)
        return openai_limit_headers(limits) + anthropic_limit_headers(limits)

    def stream_encoder(self, request: ChatRequest, context: AnswerContext) -> StreamEncoder:  # noqa: ARG002
        return MessagesEncoder()

    def render_response(self, response: ChatResponse, batch: Batch, context: AnswerContext) -> bytes:
        return render_response(response, batch, context)

    def render_error(self, error: GatewayError, request_id: str) -> bytes:
        return render_error(error, request_id)


DOOR = MessagesDoor()


def parse_request(http: HttpRequest) -> ChatRequest:
    """The neutral request, with the client's own bytes on every node. A request that only counts tokens needs no output
    limit. Raises RequestError."""
    try:
        request = _request(with_own_choice(top_members(http.body), "tool"), to_count=http.path == _COUNT)
    except RecursionError:
        raise too_deep() from None
    return replace(request, headers=tuple(_headers(http.headers)))


def _headers(headers: dict[str, str]) -> Iterator[tuple[str, str]]:
    for name, value in headers.items():
        if not _HEADER.fullmatch(name) or name in _ACCOUNT:
            continue
        if not value.isascii() or not value.isprintable():
            raise RequestError(f"the header `{name}` must be printable ASCII", param=name, code="invalid_value")
        yield name, value


def _count(tokens: int) -> bytes:
    return dump({"input_tokens": tokens})


def _request(top: dict[str, bytes], to_count: bool) -> ChatRequest:
    model = required_model(top)
    max_tokens = _max_tokens(top, to_count)
    choice, parallel = read_tool_choice(top)
    config = member(top, "output_config", wire.OutputConfig) or wire.OutputConfig()
    dialect_fields = (
        *(name for name in _DIALECT_FIELDS if top.get(name, b"null") != b"null"),
        *_new_words(top, config),
        *(("max_tokens",) if max_tokens == 0 else ()),
    )
    parsed = ChatRequest(
        model=model,
        messages=read_history(top),
        tools=read_tools(top),
        tool_choice=choice,
        parallel_tool_calls=parallel,
        stream=bool(member(top, "stream", bool)) and not to_count,
        include_usage=True,
        max_tokens=max_tokens,
        sampling=_sampling(top),
        response_format=_response_format(top, config),
        reasoning_effort=_reasoning_effort(top, config),
        dialect_fields=dialect_fields,
    )
    return replace(parsed, fields=RequestFields(wire.DIALECT, tuple(top.items()), parsed, stop="stop_sequences"))


# ---------------------------------------------------------------- top-level fields


def _max_tokens(top: dict[str, bytes], to_count: bool) -> int | None:
    """The output limit. 0 only warms Anthropic's prompt cache."""
    value = member(top, "max_tokens", int)
    if value is None and not to_count:
        raise RequestError(
            "`max_tokens` is required: the most tokens that the answer may have",
            param="max_tokens",
            code="missing_required_parameter",
        )
    if value is not None and value < 0:
        raise RequestError(f"`max_tokens` must be at least 1, not {value}", param="max_tokens", code="invalid_value")
    return value


def _sampling(top: dict[str, bytes]) -> Sampling:
    stop = member(top, "stop_sequences", list[str])
    return Sampling(
        temperature=_fraction(top, "temperature"),
        top_p=_fraction(top, "top_p"),
        top_k=member(top, "top_k", int),
        stop=tuple(stop) if stop is not None else None,
    )


def _fraction(top: dict[str, bytes], name: str) -> float | None:
    value = member(top, name, float)
    if value is not None and not 0 <= value <= 1:
        raise RequestError(f"`{name}` must be between 0 and 1, not {value:g}", param=name, code="invalid_value")
    return value


def _response_format(top: dict[str, bytes], config: wire.OutputConfig) -> ResponseFormat | None:
    """The schema of the answer, which the API always enforces. It was a member of its own while it was a beta."""
    shape, path = config.format, "output_config.format"
    if shape is None:
        shape, path = member(top, "output_format", wire.OutputFormat), "output_format"
    if shape is None:
        return None
    schema = bytes(shape.schema)
    if shape.type != "json_schema" or schema[:1] != b"{":
        raise RequestError(
            f'`{path}` must be {{"type": "json_schema", "schema": {{...}}}}', param=path, code="invalid_value"
        )
    return ResponseFormat("json_schema", "answer", schema, strict=True)


def _reasoning_effort(top: dict[str, bytes], config: wire.OutputConfig) -> str | None:
    """The effort of thinking, from `thinking` and `output_config.effort`; None: the model decides."""
    thinking = member(top, "thinking", wire.Thinking)
    effort = config.effort if config.effort in _EFFORTS else None
    if thinking is not None and thinking.type in ("disabled", "between_tools"):
        return "none"
    if effort is not None or thinking is None or thinking.budget_tokens is None:
        return effort
    return effort_of_budget(thinking.budget_tokens)


def _new_words(top: dict[str, bytes], config: wire.OutputConfig) -> Iterator[str]:
    """The names of members with an unknown word, which newer models of the API may know."""
    thinking, choice = member(top, "thinking", wire.Thinking), member(top, "tool_choice", wire.ToolChoice)
    if thinking is not None and thinking.type not in _THINKING:
        yield "thinking.type"
    if config.effort is not None and config.effort not in _EFFORTS:
        yield "output_config.effort"
    if choice is not None and choice.type not in CHOICES:
        yield "tool_choice.type"
