"""The messages door's stream: one block after the other, dense indices, the stop reason last.

What strict clients require (tested against both of Anthropic's SDKs): `event:` and the same `type` in the data,
message_start first and whole, every block begun and ended before the next begins, arguments in `input_json_delta` only,
message_delta with usage and message_stop at the end; an `error` event instead when the answer broke off.
"""

from __future__ import annotations

from contextlib import suppress
from operator import is_

import msgspec

from toolwire.doors.messages.document import DEFAULT_STOP, render_usage, stop_reason
from toolwire.doors.messages.errors import render_error
from toolwire.framing.sse import encode_event
from toolwire.model.errors import GatewayError
from toolwire.model.events import (
    Batch,
    Finish,
    OpaquePart,
    ReasoningDelta,
    ReasoningEnd,
    ResponseEnd,
    ResponseStart,
    StreamEvent,
    TextDelta,
    TextEnd,
    TextStart,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    Usage,
    UsageUpdate,
)
from toolwire.model.source import Members, raw_in
from toolwire.stream.sequential import Sequential
from toolwire.wire.anthropic_messages import DIALECT
from toolwire.wire.json import dump, whole_characters, write_object
from toolwire.wire.plain import plain

_PING = encode_event(b"ping", b'{"type":"ping"}')
_STOP = encode_event(b"message_stop", b'{"type":"message_stop"}')


class _Frame(msgspec.Struct):
    """The members of an upstream's own event that decide whether it fits at this point of the stream."""

    type: str
    index: int | None = None


_frame = msgspec.json.Decoder(_Frame)


def _frame_of(raw: bytes) -> _Frame | None:
    """Reads these members of an event; None for an event that cannot be read."""
    try:
        return _frame.decode(raw)
    except ValueError:  # half a character somewhere in it need not be written anew
        with suppress(ValueError):
            return _frame.decode(whole_characters(raw))
        return None


class MessagesEncoder:
    """One streamed answer.

    An upstream's own event is shown as it is if it fits: its block has the next index, and nothing is held. From the
    stop reason on, all waits for the upstream's end, so that late content, late usage and a corrected reason can be put
    in their places.
    """

    def __init__(self) -> None:
        self._sequence = Sequential()
        self._started = False
        self._open: int | None = None  # the index of the open block
        self._next = 0
        self._prefix = b""  # the bytes in front of the text, in deltas of the open block
        self._refused = False
        self._usage: Usage | None = None
        self._finish: Finish | None = None
        self._tail: list[bytes] = []  # the upstream's own message_deltas, from the stop reason on
        self._tail_finish: Finish | None = None  # their reason
        self._extra: dict[str, Members] = {}  # unnamed members for a message_delta that is written anew

    def encode(self, batch: Batch) -> bytes:
        for event in batch.events:
            if type(event) is UsageUpdate:
                self._usage = event.usage
        ready = [later for event in batch.events for later in self._sequence.take(event)]
        raw = raw_in(batch, DIALECT)
        if raw is None:
            return self._write(ready, batch.extra)
        frame = _frame_of(raw)
        straight = len(ready) == len(batch.events) and all(map(is_, ready, batch.events))
        if frame is not None and straight and self._fits(frame):
            return self._show(frame, raw, batch)
        return self._write(ready, plain(batch).extra)

    def fail(self, error: GatewayError, request_id: str) -> bytes:
        """An error event and nothing after it: the official SDKs raise from it."""
        return encode_event(b"error", render_error(error, request_id))

    def keep_alive(self) -> bytes:
        return _PING

    # ------------------------------------------------------------ the upstream's own events

    def _fits(self, frame: _Frame) -> bool:
        match frame.type:
            case "content_block_delta" | "content_block_stop":
                return frame.index is not None and frame.index == self._open
            case "content_block_start":
                return self._open is None and frame.index == self._next
            case "message_start":
                return not self._started
            case "message_delta" | "message_stop":
                return self._open is None
            case _:
                return True  # ping, and whatever is new

    def _show(self, frame: _Frame, raw: bytes, batch: Batch) -> bytes:
        shown = encode_event(frame.type.encode(), raw)
        match frame.type:
            case "content_block_delta":
                pass
            case "content_block_start":
                self._open, self._next, self._prefix = frame.index, self._next + 1, b""
            case "content_block_stop":
                self._open, self._prefix = None, b""
            case "message_start":
                self._started = True
            case "message_delta":
                return self._hold(shown, batch)
            case "message_stop":
                self._note_finish(batch)
                return self._end(shown)
            case _:
                pass
        return shown

    def _hold(self, shown: bytes, batch: Batch) -> bytes:
        """Holds a message_delta until the end, unless it only counts the tokens so far."""
        if self._note_finish(batch):
            self._tail_finish = self._finish
            self._extra |= dict(plain(batch).extra)
        elif not self._tail:
            return shown
        self._tail.append(shown)
        return b""

    def _note_finish(self, batch: Batch) -> bool:
        found = [event for event in batch.events if type(event) is Finish]
        self._finish = found[-1] if found else self._finish
        return bool(found)

    # ------------------------------------------------------------ our own

    def _write(self, events: list[StreamEvent], extra: tuple[tuple[str, Members], ...]) -> bytes:
        members = dict(extra)
        self._extra |= {path: more for path, more in members.items() if path in ("stop", "usage")}
        return b"".join([self._event(event, members) for event in events])

    def _event(self, event: StreamEvent, extra: dict[str, Members]) -> bytes:
        match event:
            case TextDelta(_, text):
                return self._say(b"text", text)
            case ToolCallDelta(_, fragment):
                return self._say(b"partial_json", fragment)
            case ReasoningDelta(_, text):
                return self._say(b"thinking", text)
            case ToolCallStart():
                return self._begin_call(event, extra)
            case TextEnd() | ToolCallEnd():
                return self._close()
            case ReasoningEnd(_, signature):
                return self._sign(signature) + self._close()
            case OpaquePart(_, _, dialect, raw):
                return self._whole_block(raw) if dialect == DIALECT else b""
            case _:
                return self._about_the_answer(event, extra)

    def _about_the_answer(self, event: StreamEvent, extra: dict[str, Members]) -> bytes:
        if type(event) is ResponseStart:
            return self._begin(event, extra.get("message", ()))
        if type(event) is ResponseEnd:
            return self._end(_STOP)
        if type(event) is Finish:
            self._finish = event
        elif type(event) is TextStart:
            self._refused = self._refused or event.refusal
        return b""  # text and reasoning begin with their first word; `fail` writes a failure

    def _begin(self, event: ResponseStart, extra: Members) -> bytes:
        self._started = True
        pairs = [("id", dump(event.id)), ("type", b'"message"'), ("role", b'"assistant"'), ("model", dump(event.model))]
        pairs += [("content", b"[]"), ("stop_reason", b"null"), ("stop_sequence", b"null")]
        message = write_object([*pairs, ("usage", render_usage(self._usage, self._extra.get("usage", ()))), *extra])
        return encode_event(b"message_start", b'{"type":"message_start","message":' + message + b"}")

    def _open_block(self, block: bytes) -> bytes:
        start = b'{"type":"content_block_start","index":%d,"content_block":' % self._next
        self._open, self._next = self._next, self._next + 1
        return encode_event(b"content_block_start", start + block + b"}")

    def _begin_call(self, event: ToolCallStart, extra: dict[str, Members]) -> bytes:
        more = extra.get("content_block") or extra.get(f"content[{event.index}]") or ()
        named = [("type", b'"tool_use"'), ("id", dump(event.id)), ("name", dump(event.name)), ("input", b"{}")]
        return self._open_block(write_object([*named, *more]))

    def _delta(self, kind: bytes, field: bytes) -> bytes:
        """The bytes in front of the text, in deltas of the open block."""
        start = b'event: content_block_delta\ndata: {"type":"content_block_delta","index":%d,"delta":{"type":"%s","%s":'
        return start % (self._next - 1, kind, field)

    def _say(self, field: bytes, text: str) -> bytes:
        """Writes more of the open block. Text and thinking open with their first word, so an empty block is not
        shown."""
        if not text:
            return b""
        opened = b""
        if self._open is None:
            if field == b"partial_json":  # the upstream's own end of the call has been shown
                return b""
            opened = self._open_block(_EMPTY[field])
        if not self._prefix:
            self._prefix = self._delta(_DELTAS[field], field)
        return opened + self._prefix + dump(text) + b"}}\n\n"

    def _sign(self, signature: str | None) -> bytes:
        """Writes the signature of a thinking block, which may have no text."""
        if not signature:
            return b""
        opened = self._open_block(_EMPTY[b"thinking"]) if self._open is None else b""
        return opened + self._delta(b"signature_delta", b"signature") + dump(signature) + b"}}\n\n"

    def _whole_block(self, raw: bytes) -> bytes:
        """Writes a block that only this dialect has. If its beginning was shown as it came, only its end is written."""
        return (self._open_block(raw) if self._open is None else b"") + self._close()

    def _close(self) -> bytes:
        if self._open is None:
            return b""
        end = b'{"type":"content_block_stop","index":%d}' % self._open
        self._open, self._prefix = None, b""
        return encode_event(b"content_block_stop", end)

    def _end(self, stop: bytes) -> bytes:
        """Writes the stop reason and the end."""
        if self._tail and self._tail_finish is self._finish:
            return b"".join(self._tail) + stop
        word = stop_reason(self._finish or DEFAULT_STOP, self._refused)
        delta = write_object([("stop_reason", dump(word)), *self._extra.get("stop", ()), ("stop_sequence", b"null")])
        usage = render_usage(self._usage, self._extra.get("usage", ()))
        event = write_object([("type", b'"message_delta"'), ("delta", delta), ("usage", usage)])
        return encode_event(b"message_delta", event) + stop


#: The member that holds a delta's text -> the type of the delta.
_DELTAS = {b"text": b"text_delta", b"thinking": b"thinking_delta", b"partial_json": b"input_json_delta"}
#: The beginning of a block without text.
_EMPTY = {
    b"text": b'{"type":"text","text":""}',
    b"thinking": b'{"type":"thinking","thinking":"","signature":""}',
}
