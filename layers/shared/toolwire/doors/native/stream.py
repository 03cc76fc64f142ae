"""The native door's stream: named events. `docs/native.md` shows each.

A stream has one named event for each class of neutral events, and ends with `response.end` or with `error`.
`tool_call.end` has the call's arguments once more, as an object with the model's own digits. Arguments that are no
object are an error, unless the output limit cut them: then they are null, with their text beside them. On some wires
the finish reason comes after the call, so the end of such a call waits for the end of the answer.
"""

from __future__ import annotations

from toolwire.doors import AnswerContext
from toolwire.doors.native.document import (
    cut_arguments,
    finish_reasons,
    if_said,
    raw_arguments,
    render_warnings,
)
from toolwire.doors.native.errors import render_error
from toolwire.doors.openai_usage import chat_usage
from toolwire.framing.sse import encode_comment, encode_event
from toolwire.model.errors import GatewayError
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
from toolwire.model.source import Members
from toolwire.wire.json import dump, is_object, write_object


class _Call:
    """A call while it streams."""

    __slots__ = ("fragments", "number", "signature", "start")

    def __init__(self, start: ToolCallStart, number: int) -> None:
        self.start, self.number = start, number  # `number`: its place among the calls
        self.fragments: list[str] = []
        self.signature: str | None = None


class NativeEncoder:
    """One streamed answer."""

    def __init__(self, context: AnswerContext) -> None:
        self._context = context
        self._told: list[dict[str, str]] = []  # warnings that were written
        self._calls: dict[int, _Call] = {}
        self._unfinished: list[int] = []  # ended calls whose arguments are no object
        self._finish = Finish("stop")
        self._usage: Usage | None = None
        self._has_begun = False
        self._out: list[bytes] = []  # the bytes of the current batch so far

    def encode(self, batch: Batch) -> bytes:
        for event in batch.events:
            self._out.append(self._write(event))
        if self._context.warnings or self._context.faults:
            self._out.append(self._warnings())
        return self._taken()

    def fail(self, error: GatewayError, request_id: str) -> bytes:
        """The error event, which is the last one. In front of it stands the part of the last batch that `encode` had
        written when it failed."""
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
                return _frame(b"usage", b'"usage":' + chat_usage(usage))
            case ResponseStart():
                return self._started(event)
            case Finish():
                self._finish = event  # response.end has it: a later one replaces it
                return b""
            case ResponseEnd(usage):
                return self._ended(usage)
            case StreamFailed():
                return b""  # `fail` writes it
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
        return self._call_end(index, (("arguments", raw_arguments(text)),))

    def _call_end(self, index: int, arguments: Members) -> bytes:
        call = self._calls[index]
        identity = (("index", index), ("call_index", call.number), ("id", call.start.id), ("name", call.start.name))
        members = [*((name, dump(value)) for name, value in identity), *arguments]
        members += [("signature", dump(call.signature))] if call.signature is not None else []
        return _frame(b"tool_call.end", write_object(members)[1:-1])

    def _ended(self, usage: Usage | None) -> bytes:
        """Writes the last events. Raises UpstreamProtocolError for an answer that cannot be shown."""
        out = []
        for index in self._unfinished:
            call = self._calls[index]
            text = "".join(call.fragments)
            out.append(self._call_end(index, cut_arguments(call.start.name, text, self._finish)))
        out.append(self._warnings(contains_calls=self._finish.reason == "tool_calls"))
        ending = [*finish_reasons(self._finish), ("usage", chat_usage(usage or self._usage))]
        out.append(_frame(b"response.end", write_object(ending)[1:-1]))
        return b"".join(out)

    def _warnings(self, *, contains_calls: bool = False) -> bytes:
        """The warnings since the last ones that were written."""
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
    """The frame of an event that later events do not depend on."""
    match event:
        case TextStart(index, refusal):
            return _event(b"text.start", index=index, **({"refusal": True} if refusal else {}))
        case ReasoningStart(index):
            return _event(b"reasoning.start", index=index)
        case TextEnd(index, signature):
            return _event(b"text.end", index=index, **if_said(signature=signature))
        case ReasoningEnd(index, signature):
            return _event(b"reasoning.end", index=index, **if_said(signature=signature))
        case OpaquePart(index, kind, dialect, raw):
            members = (("index", dump(index)), ("kind", dump(kind)), ("dialect", dump(dialect)), ("data", raw))
            return _frame(b"opaque", write_object(members)[1:-1])
