"""Chat Completions answers, decoded into neutral events: the stream's chunks and the JSON answer.

It reads leniently and writes exactly. A frame that a strict client could not read as it is has no `source`, so that the
door writes it anew: one with a missing index, an id that changes or repeats, a role or finish that is missing or comes
twice, or usage beside content. All others keep their source.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Sequence

import msgspec

from toolwire.framing import Frame
from toolwire.framing.sse import meant
from toolwire.model.errors import UpstreamError, UpstreamProtocolError, UpstreamTruncated
from toolwire.model.events import (
    Batch,
    Finish,
    FinishReason,
    ResponseEnd,
    ResponseStart,
    StreamEvent,
)
from toolwire.model.source import Members, Source
from toolwire.model.warnings import named_warning
from toolwire.providers.decoder_context import DecoderContext
from toolwire.providers.finish_words import FAILURES, FINISH, meaning, note_unknown
from toolwire.providers.openai_chat.alike_chunks import AlikeChunks
from toolwire.providers.openai_chat.answer_parts import AnswerParts
from toolwire.providers.openai_chat.errors import error_from_body, is_failure, is_told_beside
from toolwire.providers.openai_chat.usage import UsageSoFar
from toolwire.wire import openai_chat as wire
from toolwire.wire.json import ABSENT, is_null, is_set, unnamed
from toolwire.wire.plain import plain

_NOTHING = Batch(())

#: Finish reasons that mean that there is none yet: DashScope's.
_NOT_YET = ("null", "none")


class ChatDecoder:
    """One answer. `decode` takes the stream's frames and `end` its end; `decode_json` takes a whole JSON answer.

    All raise UpstreamError (or a subclass) for an error the upstream reports and for answers that make no sense; `end`
    raises UpstreamTruncated when the answer broke off.
    """

    def __init__(self, context: DecoderContext) -> None:
        self._context = context
        self._id: str | None = None
        self._started = False
        self._role_seen = self._has_deltas = False
        self._done = False  # [DONE] was read
        self._ended = False
        self._parts = AnswerParts(context)
        self._alike = AlikeChunks(self._parts)
        self._finish: Finish | None = None
        self._usage = UsageSoFar()
        self._stash: Members = ()  # members of a chunk that came before the answer began (Azure's prompt filter)

    # ------------------------------------------------------------ stream

    def decode(self, frame: Frame) -> Batch:
        data = frame.data
        if self._ended:
            return _NOTHING
        if self._finish is None and frame.event != "error" and (alike := self._alike.batch(data)) is not None:
            return alike
        if data[:1] != b"{":
            data = meant(data)
            if data == b"[DONE]":
                self._done = True
                return Batch(tuple(self._close()))
            if not data:
                return _NOTHING
            if frame.event == "error" or _is_error_array(data):
                raise error_from_body(data, 200)
        chunk, exact, readable = _read(data)
        if frame.event == "error" or _is_failed(chunk, readable):
            raise error_from_body(readable, 200)
        if not self._started and not (chunk.choices or chunk.id):
            self._stash = unnamed(readable, wire.KNOWN_CHUNK)
            return _NOTHING
        return self._alike.learnt(data, self._chunk(chunk, readable, exact), exact)

    def end(self) -> Batch:
        """The body is over, with or without [DONE]."""
        if self._ended:
            return _NOTHING
        return Batch(tuple(self._close()))

    def _chunk(self, chunk: wire.Chunk, data: bytes, exact: bool) -> Batch:
        if not exact:
            _tell_left_out(chunk, self._context)
        events: list[StreamEvent] = []
        keep = exact and chunk.object == "chat.completion.chunk" and bool(chunk.model) and chunk.created is not None
        keep = keep and chunk.choices is not None and chunk.error is ABSENT
        if not self._started:
            self._started = True
            self._id = chunk.id or None
            events.append(ResponseStart(self._id, chunk.model or None, chunk.created))
            keep = keep and not self._stash and bool(chunk.choices)  # else no frame would show the role
        if self._id is None or chunk.id != self._id:
            keep = False
        for choice in chunk.choices or ():
            if choice.index:  # n > 1 is refused at the door
                keep = False
                if _says(choice):
                    self._context.warnings.add(named_warning("answer_part_left_out", "choice"))
                continue
            keep = self._choice(choice, events) and keep
        if self._usage.take(chunk, events):
            keep = keep and not chunk.choices and self._usage.is_exact
        else:
            keep = keep and is_null(chunk.usage)
        # of a list whose entries have no index, openai-python refuses the second chunk
        batch = self._batch(events, data, keep, "thinking_blocks")
        if self._stash:
            rest = tuple(pair for pair in batch.extra if pair[0])
            batch = Batch(batch.events, (("", self._stash + dict(batch.extra).get("", ())), *rest))
            self._stash = ()
        return batch

    def _choice(self, choice: wire.Choice, events: list[StreamEvent]) -> bool:
        """Adds the events of the one choice. Returns whether a strict client may see it as it is."""
        keep = choice.index == 0 and choice.delta is not None
        delta = choice.delta
        if delta is None and not self._has_deltas:  # else the message would repeat what the deltas have said
            delta = _message(choice)
        if not self._role_seen:
            self._role_seen = True
            keep = keep and delta is not None and delta.role == "assistant"
        elif delta is not None and delta.role is not None:
            keep = False  # said in every chunk: openai-python joins it to "assistantassistant" and sends that back
        _raise_error(choice)
        before = len(events)
        if delta is not None:
            keep = self._parts.say(delta, events) and keep and not is_set(delta.thinking_blocks)
        if len(events) > before:
            self._has_deltas = self._has_deltas or choice.delta is not None
            keep = keep and self._finish is None  # content after the finish
        if choice.finish_reason:
            _check_native(choice.native_finish_reason)
            keep = self._finished(choice.finish_reason, events) and keep
        elif choice.finish_reason is not None:
            keep = False
        return keep

    # ------------------------------------------------------------ JSON

    def decode_json(self, body: bytes) -> Batch:
        """A whole answer as one batch of events."""
        body = body.removeprefix(BOM_UTF8)
        if _is_error_array(body):
            raise error_from_body(body, 200)
        chunk, exact, readable = _read(body)
        if _is_failed(chunk, readable):
            raise error_from_body(readable, 200)
        if not exact:
            _tell_left_out(chunk, self._context)
        choice = next((choice for choice in chunk.choices or () if not choice.index), None)
        if choice is not None:
            _raise_error(choice)
        message = (choice.message or choice.delta or _message(choice)) if choice is not None else None
        if choice is not None and message is None and choice.finish_reason == "content_filter":
            message = wire.Delta()  # Azure leaves the message out when its filter took all of it
        if choice is None or message is None:
            raise UpstreamProtocolError("the upstream's answer has no message")
        keep = exact and _is_documented(chunk, choice, message)
        events: list[StreamEvent] = [ResponseStart(chunk.id or None, chunk.model or None, chunk.created)]
        self._started = self._done = True
        message = _joined(message, choice, chunk.choices or ())
        calls, message.tool_calls = message.tool_calls, None
        keep = self._parts.say(message, events) and keep and calls != []
        for position, entry in enumerate(calls or ()):
            self._parts.call(entry, position, events)
            whole = entry.type == "custom" if entry.custom is not None else bool(entry.type == "function")
            keep = keep and bool(entry.id) and whole and len(self._parts.announced) == position + 1
            keep = keep and (entry.custom is not None or bool(entry.function and entry.function.arguments))
        if choice.finish_reason:
            _check_native(choice.native_finish_reason)
            keep = self._finished(choice.finish_reason, events) and keep
        keep = self._usage.take(chunk, events) and self._usage.is_exact and keep
        closing = self._close()
        keep = keep and not self._parts.warnings and not any(type(event) is Finish for event in closing)
        return self._batch(events + closing, readable, keep)

    # ------------------------------------------------------------ ends

    def _finished(self, word: str, events: list[StreamEvent]) -> bool:
        said = meaning(word)
        if said in _NOT_YET:
            return False
        if said in FAILURES:
            raise UpstreamError(f"the upstream ended its answer with the finish reason {word!r}")
        first = self._finish is None
        reason = FINISH.get(said, "stop")
        if self._finish is not None and (self._finish.reason == "length" or reason != "length"):
            return False
        note_unknown(word, said in FINISH, self._context.warnings)
        finish = Finish(self._settle(reason, word), word)
        self._finish = finish
        events.append(finish)
        return (first and finish.reason == word) or (word == "function_call" and self._parts.passes_function_call)

    def _settle(self, reason: FinishReason, word: str | None) -> FinishReason:
        """Notes why the turn ended: with tool_calls if there are calls, unless the output limit or a filter ended
        it."""
        if reason in ("stop", "tool_calls") and not (word == "function_call" and self._parts.passes_function_call):
            return "tool_calls" if self._parts.calls else "stop"
        return reason

    def _close(self) -> list[StreamEvent]:
        """Adds all that ends with the body."""
        self._ended = True
        if not self._started:
            raise UpstreamTruncated("the upstream's answer ended before it began")
        events: list[StreamEvent] = []
        if self._finish is None and not self._done:
            raise UpstreamTruncated("the upstream's answer broke off: no finish reason and no end of stream")
        given = self._finish or Finish("stop")
        reason = self._settle(given.reason, given.raw)
        if self._finish is None and not self._parts.count:
            raise UpstreamProtocolError("the upstream's answer is empty: no content and no finish reason")
        self._parts.end(self._finish is not None, reason, events)
        self._context.warnings.add(*sorted(self._parts.warnings))
        if self._finish is None or self._finish.reason != reason:
            events.append(Finish(reason, given.raw))
        events.append(ResponseEnd(self._usage.at_the_end(events)))
        return events

    def _batch(self, events: list[StreamEvent], raw: bytes, keep: bool, *hidden: str) -> Batch:
        batch = Batch(tuple(events), source=Source(wire.DIALECT, raw))
        if self._context.tool_names:
            hidden = (*hidden, "function_call")  # shown as a tool call
        return batch if keep else _without(plain(batch), hidden)


def _tell_left_out(chunk: wire.Chunk, context: DecoderContext) -> None:
    """Warns of parts of a content that the API does not have."""
    for choice in chunk.choices or ():
        for kind in getattr(choice.delta or choice.message, "left_out", ()):
            context.warnings.add(named_warning("answer_part_left_out", kind))


def _without(batch: Batch, names: tuple[str, ...]) -> Batch:
    """The batch, which has no source, without these unnamed members."""
    if not batch.extra:
        return batch  # as nearly all
    extra = tuple((path, tuple(pair for pair in found if pair[0] not in names)) for path, found in batch.extra)
    return Batch(batch.events, tuple(pair for pair in extra if pair[1]))


def _message(choice: wire.Choice) -> wire.Delta | None:
    """The delta made of a message, or of a mere text, that a host sends in its place. The calls of a message have no
    index: their place in the list counts."""
    if choice.message is None and choice.text is not None:
        return wire.Delta(content=choice.text)
    for position, call in enumerate((choice.message and choice.message.tool_calls) or ()):
        if call.index is None:
            call.index = position
    return choice.message


def _is_documented(chunk: wire.Chunk, choice: wire.Choice, message: wire.Delta) -> bool:
    """Whether a whole answer has all members that the API documents as required."""
    whole = chunk.object == "chat.completion" and bool(chunk.id and chunk.model) and chunk.created is not None
    alone = is_null(chunk.error) and len(chunk.choices or ()) == 1 and choice.index == 0
    return whole and alone and choice.message is not None and message.role == "assistant"


def _joined(message: wire.Delta, first: wire.Choice, choices: Sequence[wire.Choice]) -> wire.Delta:
    """The message with the content of the host's other choices, although only one was asked for: Copilot puts a text in
    one and the calls in the next."""
    for choice in choices:
        other = choice.message
        wants = not message.tool_calls and FINISH.get(meaning(first.finish_reason or "")) == "tool_calls"
        if choice is first or other is None or (choice.index and not (wants and other.tool_calls)):
            continue
        message.content = (message.content or "") + (other.content or "") or None
        message.reasoning_content = message.reasoning_content or other.reasoning_content
        message.tool_calls = [*(message.tool_calls or ()), *(other.tool_calls or ())] or None
    return message


def _is_failed(chunk: wire.Chunk, data: bytes) -> bool:
    """Whether a document reports an error: in `error` (vLLM), beside its choices, or in their place."""
    told = is_set(chunk.error) or chunk.object == "error"
    return told or (chunk.choices is None and is_failure(data)) or is_told_beside(chunk, data)


def _is_error_array(data: bytes) -> bool:
    """Whether the body is an array with an error, as Google's endpoint sends it."""
    return data.lstrip()[:1] == b"[" and b'"error"' in data


def _raise_error(choice: wire.Choice) -> None:
    """Raises the error that OpenRouter reports within a choice, for a failure of the host behind it."""
    if is_set(choice.error):
        raise error_from_body(b'{"error":' + bytes(choice.error) + b"}", 200)


def _read(raw: bytes) -> tuple[wire.Chunk, bool, bytes]:
    """The chunk, whether every value has the type OpenAI gives it, and the bytes in which its members can be found."""
    try:
        if not raw.isascii():
            raw.decode()  # msgspec does not check what it skips, and we pass that on
        return wire.chunk_decoder.decode(raw), True, raw
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        from toolwire.wire import openai_chat_lenient  # rare, and not needed at a cold start
        from toolwire.wire.lenient_values import readable, repaired

        for mended in (readable, repaired):
            try:
                data = mended(raw)
                return openai_chat_lenient.read(data), False, data
            except (ValueError, TypeError, RecursionError):
                continue
        raise UpstreamProtocolError("the upstream sent something that is no JSON object") from None


def _says(choice: wire.Choice) -> bool:
    """Whether a choice has any content."""
    said = choice.delta or choice.message
    return bool(choice.text or (said and (said.content or said.reasoning_content or said.tool_calls)))


def _check_native(word: str | None) -> None:
    """Raises UpstreamError if the word of the host behind a proxy means a failed answer or a malformed call, although
    the proxy's own reason is a usual one."""
    if word is not None and word.upper().startswith("MALFORMED"):
        raise UpstreamError(f"the model's answer cannot be used: {word[:64]}", code="upstream_malformed_function_call")
    if word is not None and meaning(word) in FAILURES:
        raise UpstreamError(f"the host behind the upstream ended its answer with the finish reason {word[:64]!r}")
