"""The native door's answers: named events, the JSON answer, and errors. `docs/native.md` shows each.

A stream is the neutral events on the wire, one class one event, and ends with `response.end` or with `error`. What a
call's arguments are is said once, by `tool_call.end`, as an object in the model's own digits. Arguments that are no
object are an error, unless the output limit cut them: then they are null, with their text beside them. The reason of a
cut comes after the call on some wires, so such a call's end waits for the end of the answer.
"""

from __future__ import annotations

from toolwire.doors import AnswerContext
from toolwire.framing.sse import encode_comment, encode_event
from toolwire.model.errors import GatewayError, InternalError, UpstreamError, UpstreamProtocolError
from toolwire.model.events import (
    Batch,
    Finish,
    OpaquePart,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    ResponseEnd,
    ResponseStart,
    StreamEvent,
    StreamFailed,
    TextDelta,
    TextEnd,
    TextStart,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    Usage,
    UsageUpdate,
)
from toolwire.model.response import ChatResponse, ReasoningOutput, TextOutput, ToolCallOutput
from toolwire.model.source import Members
from toolwire.model.warnings import explain
from toolwire.wire.json import dump, is_object, write_array, write_object

DIALECT = "native"

#: Said of every answer with calls: nobody but the client executes them.
_CONTAINS_CALLS = "contains_tool_calls"


class _Call:
    """A call while it streams."""

    __slots__ = ("fragments", "number", "signature", "start")

    def __init__(self, start: ToolCallStart, number: int) -> None:
        self.start, self.number = start, number  # its place among the calls
        self.fragments: list[str] = []
        self.signature: str | None = None


class NativeEncoder:
    """One streamed answer."""

    def __init__(self, context: AnswerContext) -> None:
        self._context = context
        self._told: list[dict[str, str]] = []  # warnings that the client knows
        self._calls: dict[int, _Call] = {}
        self._unfinished: list[int] = []  # ended calls whose arguments are no object
        self._finish = Finish("stop")
        self._usage: Usage | None = None
        self._has_begun = False
        self._out: list[bytes] = []  # written of a batch so far

    def encode(self, batch: Batch) -> bytes:
        for event in batch.events:
            self._out.append(self._write(event))
        if self._context.warnings or self._context.faults:
            self._out.append(self._warnings())
        return self._taken()

    def fail(self, error: GatewayError, request_id: str) -> bytes:
        """The error event, which is the last one, behind what a batch held that `encode` could not show whole."""
        before = self._taken() + (self._warnings() if self._has_begun else b"")
        return before + encode_event(b"error", render_error(error, request_id))

    def _taken(self) -> bytes:
        data = b"".join(self._out)
        self._out.clear()
        return data

    def keep_alive(self) -> bytes:
        return encode_comment(b"keep-alive")

    def _write(self, event: StreamEvent) -> bytes:
        match event:
            case TextDelta(index, text):
                return _frame(b"text.delta", b'"index":%d,"text":%b' % (index, dump(text)))
            case ReasoningDelta(index, text):
                return _frame(b"reasoning.delta", b'"index":%d,"text":%b' % (index, dump(text)))
            case ToolCallDelta(index, fragment):
                self._calls[index].fragments.append(fragment)
                return _frame(b"tool_call.delta", b'"index":%d,"fragment":%b' % (index, dump(fragment)))
            case ToolCallStart(index, id, name):
                call = self._calls[index] = _Call(event, len(self._calls))
                return _event(b"tool_call.start", index=index, call_index=call.number, id=id, name=name)
            case ToolCallEnd(index, signature):
                return self._call_ended(index, signature)
            case UsageUpdate(usage):
                self._usage = usage
                return _frame(b"usage", b'"usage":' + render_usage(usage))
            case ResponseStart():
                return self._started(event)
            case Finish():
                self._finish = event  # said by response.end: a later one replaces it
                return b""
            case ResponseEnd(usage):
                return self._ended(usage)
            case StreamFailed():
                return b""  # `fail` says it
            case _:
                return _plain(event)

    def _started(self, event: ResponseStart) -> bytes:
        context = self._context
        self._has_begun = True
        start = _event(
            b"response.start",
            id=event.id,
            model=event.model,
            created=event.created,
            provider=context.provider,
            conversation_id=context.conversation_id,
            request_id=context.request_id,
        )
        return start + self._warnings()

    def _call_ended(self, index: int, signature: str | None) -> bytes:
        call = self._calls[index]
        call.signature = signature
        text = "".join(call.fragments)
        if not is_object(text):
            self._unfinished.append(index)
            return b""
        call.fragments = []
        return self._call_end(index, (("arguments", _raw(text)),))

    def _call_end(self, index: int, arguments: Members) -> bytes:
        call = self._calls[index]
        identity = (("index", index), ("call_index", call.number), ("id", call.start.id), ("name", call.start.name))
        members = [*((name, dump(value)) for name, value in identity), *arguments]
        members += [("signature", dump(call.signature))] if call.signature is not None else []
        return _frame(b"tool_call.end", write_object(members)[1:-1])

    def _ended(self, usage: Usage | None) -> bytes:
        """The last events. Raises UpstreamProtocolError for an answer that cannot be shown."""
        out = []
        for index in self._unfinished:
            call = self._calls[index]
            text = "".join(call.fragments)
            out.append(self._call_end(index, _cut_arguments(call.start.name, text, self._finish)))
        out.append(self._warnings(contains_calls=self._finish.reason == "tool_calls"))
        ending = [*_reasons(self._finish), ("usage", render_usage(usage or self._usage))]
        out.append(_frame(b"response.end", write_object(ending)[1:-1]))
        return b"".join(out)

    def _warnings(self, *, contains_calls: bool = False) -> bytes:
        """The warnings that have come up since the last ones were told."""
        new = [
            warning
            for warning in render_warnings(self._context, contains_calls=contains_calls)
            if warning not in self._told
        ]
        self._told += new
        return b"".join(_event(b"warning", **warning) for warning in new)


def _frame(name: bytes, members: bytes) -> bytes:
    return encode_event(name, b'{"type":"%b",%b}' % (name, members))


def _event(kind: bytes, /, **members: object) -> bytes:
    return _frame(kind, dump(members)[1:-1])


def _plain(event: TextStart | TextEnd | ReasoningStart | ReasoningEnd | OpaquePart) -> bytes:
    """The frame of an event that changes nothing in what comes later."""
    match event:
        case TextStart(index, refusal):
            return _event(b"text.start", index=index, **({"refusal": True} if refusal else {}))
        case ReasoningStart(index):
            return _event(b"reasoning.start", index=index)
        case TextEnd(index, signature):
            return _event(b"text.end", index=index, **_if(signature=signature))
        case ReasoningEnd(index, signature):
            return _event(b"reasoning.end", index=index, **_if(signature=signature))
        case OpaquePart(index, kind, dialect, raw):
            members = (("index", dump(index)), ("kind", dump(kind)), ("dialect", dump(dialect)), ("data", raw))
            return _frame(b"opaque", write_object(members)[1:-1])


def _if(**members: str | None) -> dict[str, str]:
    """Those that there are."""
    return {name: value for name, value in members.items() if value is not None}


def _raw(arguments: str) -> bytes:
    """Arguments as the JSON that they are. Half a surrogate pair, which UTF-8 cannot hold, is escaped."""
    return arguments.encode("utf-8", "backslashreplace")


def _cut_arguments(name: str, text: str, finish: Finish) -> Members:
    """What is said of arguments that are no object. Raises UpstreamProtocolError unless the output limit cut them."""
    if finish.reason != "length":
        raise UpstreamProtocolError(
            f"the model's arguments for the tool {name!r} are no JSON object", code="malformed_tool_arguments"
        )
    return (("arguments", b"null"), ("raw_arguments", dump(text)))


def _reasons(finish: Finish) -> Members:
    return (("finish_reason", dump(finish.reason)), ("provider_finish_reason", dump(finish.raw)))


# ---------------------------------------------------------------- the JSON answer


def render_response(response: ChatResponse, context: AnswerContext) -> bytes:
    """The JSON answer. Raises UpstreamProtocolError (`malformed_tool_arguments`): see the module."""
    choice = [("index", b"0"), ("message", _message(response)), *_reasons(response.finish)]
    warnings = render_warnings(context, contains_calls=response.finish.reason == "tool_calls")
    return write_object(
        [
            ("id", dump(response.id)),
            ("object", b'"chat.completion"'),
            ("created", dump(response.created)),
            ("model", dump(response.model)),
            ("provider", dump(context.provider)),
            ("conversation_id", dump(context.conversation_id)),
            ("choices", write_array([write_object(choice)])),
            ("usage", render_usage(response.usage)),
            ("warnings", dump(warnings)),
            ("request_id", dump(context.request_id)),
        ]
    )


def _message(response: ChatResponse) -> bytes:
    """The answer as a message that a client can put into its history as it is."""
    texts, refusals, reasoning, calls, opaque = _sorted(response)
    pairs: list[tuple[str, bytes]] = [("role", b'"assistant"')]
    pairs.append(("content", dump("".join(part.text for part in texts)) if texts or not calls else b"null"))
    if len(texts) == 1 and texts[0].signature is not None:  # of several runs, each has its own
        pairs.append(("content_signature", dump(texts[0].signature)))
    if refusals:
        pairs.append(("refusal", dump("".join(part.text for part in refusals))))
    if reasoning:
        pairs.append(("reasoning_content", dump("".join(part.text for part in reasoning))))
    if any(part.signature is not None for part in reasoning):
        signed = [{"text": part.text, **_if(signature=part.signature)} for part in reasoning]
        pairs.append(("reasoning_parts", dump(signed)))
    if opaque:
        written = ((("kind", dump(p.kind)), ("dialect", dump(p.dialect)), ("data", p.raw)) for p in opaque)
        pairs.append(("opaque_parts", write_array(map(write_object, written))))
    if calls:
        shown = (_call(call, number, response.finish) for number, call in enumerate(calls))
        pairs.append(("tool_calls", write_array(shown)))
    return write_object(pairs)


def _sorted(
    response: ChatResponse,
) -> tuple[list[TextOutput], list[TextOutput], list[ReasoningOutput], list[ToolCallOutput], list[OpaquePart]]:
    """The parts by kind, each kind in its order."""
    texts: list[TextOutput] = []
    refusals: list[TextOutput] = []
    reasoning: list[ReasoningOutput] = []
    calls: list[ToolCallOutput] = []
    opaque: list[OpaquePart] = []
    for part in response.parts:
        match part:
            case TextOutput():
                (refusals if part.refusal else texts).append(part)
            case ReasoningOutput():
                reasoning.append(part)
            case ToolCallOutput():
                calls.append(part)
            case OpaquePart():
                opaque.append(part)
    return texts, refusals, reasoning, calls, opaque


def _call(call: ToolCallOutput, number: int, finish: Finish) -> bytes:
    is_whole = is_object(call.arguments)
    arguments = (
        (("arguments", _raw(call.arguments)),) if is_whole else _cut_arguments(call.name, call.arguments, finish)
    )
    members = [("index", dump(number)), ("id", dump(call.id)), ("type", b'"function"')]
    members.append(("function", write_object([("name", dump(call.name)), *arguments])))
    members += [("signature", dump(call.signature))] if call.signature is not None else []
    return write_object(members)


def render_usage(usage: Usage | None) -> bytes:
    """Chat's usage object; zeros, never omissions."""
    usage = usage or Usage()
    return dump(
        {
            "prompt_tokens": usage.input_tokens,
            "completion_tokens": usage.output_tokens,
            "total_tokens": usage.total_tokens,
            "prompt_tokens_details": {
                "cached_tokens": usage.cache_read_tokens,
                "cache_write_tokens": usage.cache_write_tokens,
            },
            "completion_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
        }
    )


# ---------------------------------------------------------------- warnings and errors


def render_warnings(context: AnswerContext, *, contains_calls: bool) -> list[dict[str, str]]:
    """Each warning with its code and a sentence; what validation found in a call also says where."""
    told = {fault.code for fault in context.faults}
    codes = [code for code in context.warnings if code.partition(":")[0] not in told]
    warnings = [{"code": code, "message": explain(code)} for code in codes]
    warnings += [
        {
            "code": fault.code,
            "message": fault.message,
            "tool_call_id": fault.tool_call_id,
            "tool": fault.name,
            "path": fault.path,
            "expected": fault.expected,
            "got": fault.got,
        }
        for fault in context.faults
    ]
    if contains_calls:
        warnings.append({"code": _CONTAINS_CALLS, "message": explain(_CONTAINS_CALLS)})
    return warnings


#: HTTP status -> the error's type; of other statuses the class decides.
_TYPES = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
}


def error_object(error: GatewayError) -> dict[str, object]:
    """`{type, code, message, param}`, all four always there, and what a provider has no words for."""
    kind = _TYPES.get(error.status, "invalid_request_error" if error.status < 500 else "api_error")
    if isinstance(error, UpstreamError) and error.status >= 500:
        kind = "upstream_error"
    if isinstance(error, InternalError):
        kind = "api_error"
    found: dict[str, object] = {"type": kind, "code": error.code, "message": error.message, "param": error.param}
    return found | {"type": "semantic_error", "incompatible_features": error.features} if error.features else found


def render_error(error: GatewayError, request_id: str) -> bytes:
    """The error in an object that says what it is, so that it is the same as an answer's body and as an event."""
    return dump({"type": "error", "error": error_object(error), "request_id": request_id})
