"""Converse answers, decoded into neutral events: the stream's events and the JSON answer.

In a stream only calls have an event for their beginning; text and reasoning begin with their first delta. The usage
comes behind the stop reason.
"""

from __future__ import annotations

from toolwire.framing import Frame
from toolwire.framing.aws_event_stream import EXCEPTION
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
from toolwire.providers.bedrock_converse.answer_blocks import Blocks, read
from toolwire.providers.bedrock_converse.errors import error_of_frame
from toolwire.providers.decoder_context import DecoderContext
from toolwire.providers.finish_words import note_unknown
from toolwire.wire import bedrock_converse as wire

_NOTHING = Batch(())


class ConverseDecoder:
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
        self._usage: Usage | None = None

    # ------------------------------------------------------------ stream

    def decode(self, frame: Frame) -> Batch:
        kind = frame.event or ""
        if kind.startswith(EXCEPTION):
            raise error_of_frame(frame)
        if self._ended:
            return _NOTHING
        event = read(frame.data, wire.event_decoder)
        events: list[StreamEvent] = []
        self._begin(events)
        match kind:
            case "contentBlockDelta" if event.delta is not None:
                self._blocks.add(event.contentBlockIndex, event.delta, events)
            case "contentBlockStart" if event.start is not None:
                self._blocks.begin(event.contentBlockIndex, event.start, frame.data, events)
            case "contentBlockStop":
                self._blocks.end(event.contentBlockIndex, events)
            case "messageStop":
                self._finished(event.stopReason or "", events)
            case "metadata":
                self._count(event.usage, events)
        return Batch(tuple(events), source=Source(wire.DIALECT, frame.data))

    def end(self) -> Batch:
        """The body is over. The answer is complete if its stop reason has come; only the usage may be missing."""
        if self._ended:
            return _NOTHING
        if self._finish is None:
            raise UpstreamTruncated("the upstream's answer broke off: no messageStop")
        events: list[StreamEvent] = []
        self._close(events)
        return Batch(tuple(events))

    def _begin(self, events: list[StreamEvent]) -> None:
        if not self._started:
            self._started = True
            events.append(ResponseStart(None, None))  # the API names neither id nor model

    # ------------------------------------------------------------ JSON

    def decode_json(self, body: bytes) -> Batch:
        """A whole answer as one batch of events."""
        answer = read(body, wire.answer_decoder)
        message = answer.output.message if answer.output is not None else None
        if message is None:
            raise UpstreamProtocolError("the upstream's answer has no message")
        events: list[StreamEvent] = []
        self._begin(events)
        for index, raw in enumerate(message.content):
            self._blocks.whole(index, bytes(raw), events)
        if answer.stopReason:
            self._finished(answer.stopReason, events)
        self._count(answer.usage, events)
        if not self._ended:
            self._close(events)
        return Batch(tuple(events), source=Source(wire.DIALECT, body))

    # ------------------------------------------------------------ ends

    def _finished(self, word: str, events: list[StreamEvent]) -> None:
        """Notes why the turn ended: with tool_calls if there are calls, unless the limit or a filter ended it."""
        if word in wire.MALFORMED:
            raise UpstreamError(f"the model's answer cannot be used: {word}", code=f"upstream_{word}")
        reason = wire.STOP_REASONS.get(word, "stop")
        self._blocks.end_all(events, cut=reason in ("length", "content_filter"))
        if reason in ("stop", "tool_calls"):
            reason = "tool_calls" if self._blocks.calls else "stop"
        if self._finish is None:
            note_unknown(word, word in wire.STOP_REASONS, self._context.warnings)
            self._finish = Finish(reason, word or None)
            events.append(self._finish)

    def _close(self, events: list[StreamEvent]) -> None:
        self._ended = True
        if self._finish is None:  # a JSON answer without its reason
            if not self._blocks.count:
                raise UpstreamProtocolError("the upstream's answer is empty: no content and no stop reason")
            self._finished("", events)
        self._context.warnings.add(*sorted(self._blocks.call_ends.warnings))
        events.append(ResponseEnd(self._usage))

    def _count(self, counts: wire.Usage | None, events: list[StreamEvent]) -> None:
        """Notes the usage, which comes last in a stream. OpenAI's models count cached tokens within the input, as their
        total shows."""
        if counts is not None:
            read, written = counts.cacheReadInputTokens or 0, counts.cacheWriteInputTokens or 0
            given, output = counts.inputTokens or 0, counts.outputTokens or 0
            is_within = counts.totalTokens == given + output and given >= read + written
            self._usage = Usage(
                input_tokens=given if is_within else given + read + written,
                output_tokens=output,
                cache_read_tokens=read,
                cache_write_tokens=written,
            )
            events.append(UsageUpdate(self._usage))
