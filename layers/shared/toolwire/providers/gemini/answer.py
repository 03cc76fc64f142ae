"""Gemini's answers, decoded into neutral events: the stream's chunks and the JSON answer, which have one shape.

A call is one part, with its arguments as a whole object. There is no finish reason for calls, and only the end of the
body ends a stream. The text of the arguments is the wire's own, without white space around its tokens, so numbers keep
all their digits. A frame that needed repair has no `source` (its finish repeats or comes early).
"""

from __future__ import annotations

import msgspec

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
from toolwire.model.source import Source, replace
from toolwire.providers.decoder_context import DecoderContext
from toolwire.providers.finish_words import note_unknown
from toolwire.providers.gemini.answer_parts import AnswerParts
from toolwire.providers.gemini.errors import error_from_body
from toolwire.wire import gemini as wire
from toolwire.wire.gemini_snake import camel_answer
from toolwire.wire.json import elements

_NOTHING = Batch(())
_NO_ANSWER = "the upstream sent something that is no answer of its protocol"

#: Finish reasons for a call that the model could not finish. Such an answer is an error.
_FAILURES = {
    "MALFORMED_FUNCTION_CALL": "wrote a tool call that cannot be read",
    "UNEXPECTED_TOOL_CALL": "called a tool that it may not use",
    "TOO_MANY_TOOL_CALLS": "called too many tools",
    "MISSING_THOUGHT_SIGNATURE": "was given a call without its thought signature",
    "MALFORMED_RESPONSE": "wrote an answer that cannot be read",
}


class GeminiDecoder:
    """One answer. `decode` takes the stream's frames and `end` its end; `decode_json` takes a whole JSON answer.

    All raise UpstreamError (or a subclass) for an error the upstream reports and for answers that make no sense; `end`
    raises UpstreamTruncated when the answer broke off.
    """

    def __init__(self, context: DecoderContext) -> None:
        self._context = context
        self._started = False
        self._ended = False
        self._parts = AnswerParts()
        self._finish: Finish | None = None  # as Google gives it
        self._said: Finish | None = None  # as the client was told; calls change it
        self._failure: UpstreamError | None = None  # read in a frame that had content, which is shown first
        self._counts: tuple[int, ...] = (0,) * 5  # in the order of `_count`
        self._usage: Usage | None = None

    def decode(self, frame: Frame) -> Batch:
        data = frame.data if frame.data[:1] == b"{" else meant(frame.data)
        if self._ended or data in (b"", b"[DONE]"):
            return _NOTHING
        if data[:1] == b"[":  # an error body in the form that it has where the stream is an array
            raise error_from_body(data, 200)
        self._raise_failure()
        return self._chunk(*_read(data))

    def end(self) -> Batch:
        """The body is over, and with it the answer: a stream has no other end."""
        if self._ended:
            return _NOTHING
        return Batch(tuple(self._close()))

    def decode_json(self, body: bytes) -> Batch:
        """A whole answer as one batch of events: one document, or the array of a stream that is not SSE."""
        is_array = body.lstrip()[:1] == b"["
        try:
            documents = elements(body) if is_array else [body]
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise UpstreamTruncated("the upstream's answer is no complete JSON") from error
        batches = [self._chunk(*_read(document)) for document in documents]
        if self._finish is None and not is_array and self._parts.count:
            self._finish = Finish("stop")  # a document is complete by itself; a stream is not
        events = [event for batch in batches for event in batch.events] + self._close()
        whole = not is_array and batches[0].source is not None
        return Batch(tuple(events), source=Source(wire.DIALECT, body) if whole else None)

    # ------------------------------------------------------------ chunks

    def _chunk(self, chunk: wire.Chunk, data: bytes, keep: bool) -> Batch:
        """`keep`: whether a client of the same API could read the data as it is."""
        if bytes(chunk.error) not in (b"", b"null"):
            raise error_from_body(data, 200)
        if chunk.candidates is None and chunk.prompt_feedback is None and chunk.usage_metadata is None:
            raise UpstreamProtocolError("the upstream sent something that is no part of an answer")
        events: list[StreamEvent] = []
        if not self._started:
            self._started = True
            events.append(ResponseStart(chunk.response_id or None, chunk.model_version or None))
        before = len(events)
        for candidate in chunk.candidates or ():
            if not candidate.index:  # one candidate is asked for
                keep = self._candidate(candidate, events, before) and keep
        blocked = chunk.prompt_feedback and chunk.prompt_feedback.block_reason
        if blocked and self._finish is None:
            self._finish = Finish("content_filter", str(blocked))
            self._say_finish(events)
        if chunk.usage_metadata is not None:
            self._count(chunk.usage_metadata, events)
        return Batch(tuple(events), source=Source(wire.DIALECT, data) if keep else None)

    def _candidate(self, candidate: wire.Candidate, events: list[StreamEvent], before: int) -> bool:
        """Adds the events of the one candidate. Returns whether its frame needed no repair."""
        finished, exact = self._finish is not None, True
        for raw in (candidate.content and candidate.content.parts) or ():
            exact = self._parts.take(raw, events) and exact
        has_content = len(events) > before
        if candidate.finish_reason is None:
            return exact and not (finished and has_content)
        given = str(candidate.finish_reason)
        word = given.upper()  # a proxy writes lower case
        exact = exact and word == given
        if word in _FAILURES:
            message = f"the model broke its answer off with {word}: it {_FAILURES[word]}"
            self._failure = UpstreamError(message, code="upstream_" + word.lower())
            if not has_content:
                self._raise_failure()
            return exact
        reason = wire.FINISH_REASONS.get(word, "stop")
        if self._finish is not None and (self._finish.reason != "stop" or reason == "stop"):
            return False
        note_unknown(word, word in wire.FINISH_REASONS, self._context.warnings)
        self._finish = Finish(reason, word)
        self._parts.cut = self._finish.is_cut
        self._parts.close_call(events)
        self._say_finish(events)
        return exact and not finished

    # ------------------------------------------------------------ ends

    def _say_finish(self, events: list[StreamEvent]) -> None:
        """Adds the finish. An answer with calls ends with tool_calls, for which Google has no word, unless it was cut
        or filtered."""
        finish = self._finish
        assert finish is not None
        if finish.reason == "stop" and self._parts.has_calls:
            finish = Finish("tool_calls", finish.raw)
        if finish != self._said:
            self._said = finish
            events.append(finish)

    def _close(self) -> list[StreamEvent]:
        """Adds all that ends with the body."""
        self._ended = True
        self._raise_failure()
        if not self._started:
            raise UpstreamTruncated("the upstream's answer ended before it began")
        if self._finish is None:
            raise UpstreamTruncated("the upstream's answer broke off: it gives no finish reason")
        events: list[StreamEvent] = []
        self._parts.end(events)
        self._say_finish(events)  # calls may have come after it
        events.append(ResponseEnd(self._usage))
        return events

    def _raise_failure(self) -> None:
        if self._failure is not None:
            raise self._failure

    def _count(self, found: wire.UsageMetadata, events: list[StreamEvent]) -> None:
        """Notes the usage. Counts are cumulative; a chunk may leave out counts that are not known yet."""
        given = (
            found.prompt_token_count,
            found.tool_use_prompt_token_count,
            found.cached_content_token_count,
            found.candidates_token_count,
            found.thoughts_token_count,
        )
        counts = tuple(old if new is None else new for new, old in zip(given, self._counts, strict=True))
        if counts == self._counts:
            return
        self._counts = counts
        prompt, tool_use, cached, candidates, thoughts = counts
        usage = Usage(prompt + tool_use, candidates + thoughts, cached, reasoning_tokens=thoughts)
        reported = found.total_token_count
        self._usage = usage if reported == usage.total_tokens else replace(usage, reported_total=reported)
        events.append(UsageUpdate(self._usage))


def _read(data: bytes) -> tuple[wire.Chunk, bytes, bool]:
    """The chunk, its bytes, and whether its names are the API's own. Raises UpstreamProtocolError."""
    try:
        if not data.isascii():
            data.decode()  # msgspec does not check what it skips, and we pass that on
        return wire.chunk_decoder.decode(data), data, True
    except msgspec.ValidationError:
        pass
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UpstreamProtocolError(_NO_ANSWER) from error
    try:
        data = camel_answer(data)
        return wire.chunk_decoder.decode(data), data, False
    except (ValueError, RecursionError) as error:
        raise UpstreamProtocolError(_NO_ANSWER) from error
