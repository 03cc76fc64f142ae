"""Messages answers, decoded into neutral events: the stream's events and the JSON answer.

A frame that a client of the same API can read as it is keeps its `source`, even if the neutral model has no word for it
(ping, citations, new events). A frame that needed repair has none (a block without its beginning or end, content in
message_start).
"""

from __future__ import annotations

from toolwire.framing import Frame
from toolwire.framing.sse import meant
from toolwire.model.errors import UpstreamError, UpstreamProtocolError, UpstreamTruncated
from toolwire.model.events import (
    Batch,
    Finish,
    ResponseEnd,
    ResponseStart,
    StreamEvent,
    Usage,
    UsageUpdate,
)
from toolwire.model.source import Source
from toolwire.providers.anthropic_messages.alike_events import AlikeEvents
from toolwire.providers.anthropic_messages.answer_blocks import Blocks
from toolwire.providers.anthropic_messages.answer_shapes import NULL, blocks_of, read_event, read_message, usage
from toolwire.providers.anthropic_messages.errors import error_from_body
from toolwire.providers.decoder_context import DecoderContext
from toolwire.providers.finish_words import FAILURES, FINISH, meaning, note_unknown
from toolwire.providers.openai_chat.errors import is_failure
from toolwire.wire import anthropic_messages as wire

_NOTHING = Batch(())

#: The counts that are of the prompt.
_PROMPT = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")

#: The events that are decoded. Any other event is passed on as it is, since its members may have other types.
_MODELLED = frozenset({
    "message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta",
    "message_stop",
})  # fmt: skip

#: The names of the frames with a delta.
_NAMES_OF_DELTAS = (None, "content_block_delta")

#: Why a turn ended -> this API's word, for hosts that send another API's word.
_OWN_WORDS = {"stop": "end_turn", "length": "max_tokens", "tool_calls": "tool_use", "content_filter": "refusal"}


class MessagesDecoder:
    """One answer. `decode` takes the stream's frames and `end` its end; `decode_json` takes a whole JSON answer.

    All raise UpstreamError (or a subclass) for an error the upstream reports and for answers that make no sense; `end`
    raises UpstreamTruncated when the answer broke off.
    """

    def __init__(self, context: DecoderContext) -> None:
        self._context = context
        self._started = False
        self._ended = False
        self._blocks = Blocks(placeholders=context.placeholders)
        self._finish: Finish | None = None
        self._counts = wire.Usage()
        self._alike = AlikeEvents(self._blocks)
        self._usage: Usage | None = None

    # ------------------------------------------------------------ stream

    def decode(self, frame: Frame) -> Batch:
        data = frame.data
        if self._ended:
            return _NOTHING
        if frame.event in _NAMES_OF_DELTAS and (alike := self._alike.batch(data)) is not None:
            return alike
        if data[:1] != b"{":
            data = meant(data)
            if data in (b"", b"[DONE]"):
                return _NOTHING
        event, exact = read_event(data)
        kind = event.type or frame.event
        if kind == "error" or bytes(event.error) not in NULL or (kind is None and is_failure(data)):
            raise error_from_body(data, 200)
        events: list[StreamEvent] = []
        keep = self._event(kind, event, events) and event.type is not None and frame.event in (None, event.type)
        keep = keep and (exact or kind not in _MODELLED)
        batch = Batch(tuple(events), source=Source(wire.DIALECT, data) if keep else None)
        return self._alike.learnt(data, batch, keep)

    def end(self) -> Batch:
        """The body is over, with or without message_stop. The answer is complete if its stop reason has come."""
        if self._ended:
            return _NOTHING
        if not self._started:
            raise UpstreamTruncated("the upstream's answer ended before it began")
        if self._finish is None:
            raise UpstreamTruncated("the upstream's answer broke off: no stop reason and no message_stop")
        events: list[StreamEvent] = []
        self._close(events)
        return Batch(tuple(events))

    def _event(self, kind: str | None, event: wire.Event, events: list[StreamEvent]) -> bool:
        """Adds the events of one frame. Returns whether a client of the same API may see the frame as it is."""
        match kind:
            case "content_block_delta":
                if event.delta is None:
                    return False
                begun = self._begin(events)
                return self._blocks.add(event.index, event.delta, events) and begun
            case "content_block_start":
                begun = self._begin(events)
                return self._blocks.begin(event.index, bytes(event.content_block), events) and begun
            case "content_block_stop":
                return self._blocks.end(event.index, events)
            case "message_start":
                return self._message_start(event.message or wire.Message(), events)
            case "message_delta":
                return self._message_delta(event, events)
            case "message_stop":
                whole = self._started and self._finish is not None and not self._blocks.open
                self._begin(events)
                self._close(events)
                return whole
            case _:
                return True  # ping, and whatever is new

    def _message_start(self, message: wire.Message, events: list[StreamEvent]) -> bool:
        if self._started:
            if self._blocks.count:
                raise UpstreamProtocolError("the upstream began a second message inside the first")
            return False
        self._started = True
        events.append(ResponseStart(message.id or None, message.model or None))
        self._count(message.usage, events)
        for block in message.content or ():
            self._blocks.whole(bytes(block), events)
        return bool(message.id and message.usage) and message.content == []

    def _begin(self, events: list[StreamEvent]) -> bool:
        """Begins an answer that has no message_start. Returns whether nothing had to be repaired."""
        if self._started:
            return True
        self._started = True
        events.append(ResponseStart(None, None))
        return False

    def _message_delta(self, event: wire.Event, events: list[StreamEvent]) -> bool:
        keep = self._begin(events) and event.delta is not None and not self._blocks.open
        self._count(event.usage, events)
        if event.delta is not None and event.delta.stop_reason:
            keep = self._finished(event.delta.stop_reason, event.delta.stop_details, events) and keep
        return keep and event.usage is not None

    # ------------------------------------------------------------ JSON

    def decode_json(self, body: bytes) -> Batch:
        """A whole answer as one batch of events."""
        message, exact = read_message(body)
        if message.type == "error" or bytes(message.error) not in NULL:
            raise error_from_body(body, 200)
        if message.content is None and not message.stop_reason:
            if is_failure(body):
                raise error_from_body(body, 200)
            raise UpstreamProtocolError("the upstream's answer has no content")
        events: list[StreamEvent] = [ResponseStart(message.id or None, message.model or None)]
        self._started = True
        whole = exact and bool(message.id and message.model and message.usage and message.stop_reason)
        whole = whole and message.content is not None
        blocks = blocks_of(message)
        for block in blocks:
            whole = self._blocks.whole(block, events) and whole
        whole = whole and len(blocks) == len(message.content or ())
        self._count(message.usage, events)
        if message.stop_reason:
            whole = self._finished(message.stop_reason, message.stop_details, events) and whole
        self._close(events)
        return Batch(tuple(events), source=Source(wire.DIALECT, body) if whole and message.type == "message" else None)

    # ------------------------------------------------------------ ends

    def _finished(self, given: str, details: wire.StopDetails | None, events: list[StreamEvent]) -> bool:
        """Notes why the turn ended. Returns whether a client of the same API may see the word. An answer with calls
        ends with tool_calls whatever the word, unless it was cut or refused."""
        word = _own_word(given)
        reason = wire.STOP_REASONS.get(word, "stop")  # the word itself is kept beside it
        self._blocks.call_ends.end_waiting(events, cut=Finish(reason, word).is_cut)
        if reason == "content_filter" and self._finish is None and details is not None and details.explanation:
            self._blocks.refuse(details.explanation, events)
        if reason in ("stop", "tool_calls"):
            reason = "tool_calls" if self._blocks.calls else "stop"
        if self._finish is None or (self._finish.reason in ("stop", "tool_calls") and self._finish.raw != word):
            note_unknown(word, word in wire.STOP_REASONS, self._context.warnings)
            self._finish = Finish(reason, word)
            events.append(self._finish)
        return (
            word == given
            and (reason != "tool_calls" or word == "tool_use")
            and (word != "tool_use" or reason != "stop")
        )

    def _close(self, events: list[StreamEvent]) -> None:
        """Everything that ends with the answer's end."""
        self._ended = True
        if self._finish is None and not self._blocks.count:
            raise UpstreamProtocolError("the upstream's answer is empty: no content and no stop reason")
        self._blocks.end_all(self._finish, events)
        self._context.warnings.add(*sorted(self._blocks.call_ends.warnings))
        if self._finish is None:
            events.append(Finish("tool_calls" if self._blocks.calls else "stop"))
        elif self._finish.reason == "stop" and self._blocks.calls:  # a call after the reason
            events.append(Finish("tool_calls", self._finish.raw))
        events.append(ResponseEnd(self._usage))

    # ------------------------------------------------------------ usage

    def _count(self, counts: wire.Usage | None, events: list[StreamEvent]) -> None:
        """Notes the usage. Counts are cumulative: a later one replaces an earlier one. A zero does not replace the
        count of the prompt, since some hosts send zeros with the stop reason."""
        if counts is None:
            return
        is_empty = not any(getattr(counts, name) for name in _PROMPT)
        for name in wire.Usage.__struct_fields__:
            if (value := getattr(counts, name)) is not None and not (is_empty and name in _PROMPT):
                setattr(self._counts, name, value)
        self._usage = usage(self._counts)
        events.append(UsageUpdate(self._usage))


def _own_word(given: str) -> str:
    """This API's word for a host's stop reason. An unknown word stays. Raises UpstreamError for a word that means a
    failure."""
    if given in wire.STOP_REASONS:
        return given
    said = meaning(given)
    if said in FAILURES:
        raise UpstreamError(f"the upstream ended its answer with the stop reason {given!r}")
    return said if said in wire.STOP_REASONS else _OWN_WORDS.get(FINISH.get(said, ""), given)
