"""Chat Completions answers, decoded into neutral events: the stream's chunks and the JSON answer.

Lenient in what it reads, exact in what it says: a frame that a strict client could not read as it is (a missing index,
an id that changes or repeats, a role or finish that is missing or comes twice, usage beside content) loses its
`source`, so that the door writes it anew; all others keep it.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from typing import Literal

import msgspec

from toolwire.framing.sse import Frame
from toolwire.model.errors import UpstreamError, UpstreamProtocolError, UpstreamTruncated
from toolwire.model.events import (
    Batch,
    Finish,
    FinishReason,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
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
from toolwire.model.source import Members, Source
from toolwire.providers.openai_chat.errors import error_from_body, is_failure
from toolwire.providers.openai_chat.state import ReasoningDetails, call_signature
from toolwire.providers.openai_chat.usage import read_usage
from toolwire.stream.accumulator import Call, ToolCallAccumulator
from toolwire.wire import openai_chat as wire
from toolwire.wire.json import is_object, unnamed
from toolwire.wire.openai_chat_extra import without_source

_NOTHING = Batch(())
_NULL = (b"", b"null")
_NO_DETAILS = (*_NULL, b"[]")
_EMPTY = (*_NULL, b'""', b"{}", b"false")

#: The provider's word -> why the turn ended. An unknown word is a stop; the word itself is kept in `Finish.raw`.
FINISH: dict[str, FinishReason] = {
    "stop": "stop", "end_turn": "stop", "eos": "stop", "eos_token": "stop", "stop_sequence": "stop",
    "completed": "stop",
    "tool_calls": "tool_calls", "tool_use": "tool_calls", "function_call": "tool_calls",
    "length": "length", "max_tokens": "length", "max_output_tokens": "length", "model_length": "length",
    "model_context_window_exceeded": "length",
    "content_filter": "content_filter", "safety": "content_filter", "refusal": "content_filter",
    "sensitive": "content_filter", "prohibited_content": "content_filter", "recitation": "content_filter",
    "blocklist": "content_filter", "spii": "content_filter", "guardrail_intervened": "content_filter",
}  # fmt: skip

#: Words for an answer that failed, which must not look like a stop: vLLM and SGLang (abort), DeepSeek, Z.ai, Gemini.
FAILURES = frozenset({
    "error", "failed", "abort", "aborted", "cancelled", "canceled", "network_error", "insufficient_system_resource",
    "malformed_function_call", "unexpected_tool_call", "too_many_tool_calls", "malformed_response",
    "missing_thought_signature",
})  # fmt: skip


class ChatDecoder:
    """One answer. `decode` takes the stream's frames and `end` its end; `decode_json` takes a whole JSON answer.

    All raise UpstreamError (or a subclass) for an error the upstream reports and for answers that make no sense; `end`
    raises UpstreamTruncated when the answer broke off.
    """

    def __init__(self) -> None:
        self._id: str | None = None
        self._started = False
        self._role_seen = False
        self._has_deltas = False
        self._done = False  # [DONE] was read
        self._ended = False
        self._parts = 0
        self._open_text: int | None = None
        self._open_refusal: int | None = None
        self._open_reasoning: int | None = None
        self._details = ReasoningDetails()
        self._call_state: dict[Call, str] = {}
        self._has_state = False
        self._calls = ToolCallAccumulator()
        self._announced: list[Call] = []
        self._finish: Finish | None = None
        self._usage: Usage | None = None
        self._stash: Members = ()  # members of a chunk that came before the answer began (Azure's prompt filter)

    # ------------------------------------------------------------ stream

    def decode(self, frame: Frame) -> Batch:
        data = frame.data
        if self._ended:
            return _NOTHING
        if data[:1] != b"{":
            data = data.strip()
            if data == b"[DONE]":
                self._done = True
                return Batch(tuple(self._close()))
            if not data or data[:1] == b":":  # a proxy's keep-alive, wrapped in a data field
                return _NOTHING
            if frame.event == "error":
                raise error_from_body(data, 200)
        chunk, exact, readable = _read(data)
        if _is_set(chunk.error) or frame.event == "error" or chunk.object == "error":  # vLLM's has no `error`
            raise error_from_body(data, 200)
        if chunk.choices is None and is_failure(readable):
            raise error_from_body(readable, 200)
        if not self._started and not chunk.choices and not chunk.id:
            self._stash = unnamed(readable, wire.KNOWN_CHUNK)
            return _NOTHING
        return self._chunk(chunk, readable, exact)

    def end(self) -> Batch:
        """The body is over, with or without [DONE]."""
        if self._ended:
            return _NOTHING
        return Batch(tuple(self._close()))

    def _chunk(self, chunk: wire.Chunk, data: bytes, exact: bool) -> Batch:
        events: list[StreamEvent] = []
        keep = exact and chunk.object == "chat.completion.chunk" and bool(chunk.model) and chunk.created is not None
        keep = keep and chunk.choices is not None and chunk.error is wire.ABSENT
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
                continue
            keep = self._choice(choice, events) and keep
        if _is_set(chunk.usage):
            self._usage = read_usage(chunk.usage)
            events.append(UsageUpdate(self._usage))
            keep = keep and not chunk.choices and self._usage.source is not None
        else:
            keep = keep and _is_null(chunk.usage)
        batch = self._batch(events, data, keep)
        if self._stash:
            rest = tuple(pair for pair in batch.extra if pair[0])
            batch = Batch(batch.events, (("", self._stash + dict(batch.extra).get("", ())), *rest))
            self._stash = ()
        return batch

    def _choice(self, choice: wire.Choice, events: list[StreamEvent]) -> bool:
        """The events of the one choice; whether a strict client may see it as it is."""
        keep = choice.index == 0 and choice.delta is not None
        delta = choice.delta
        if delta is None and not self._has_deltas:  # else the message would repeat what the deltas have said
            delta = _message(choice)
        if not self._role_seen:
            self._role_seen = True
            keep = keep and delta is not None and delta.role == "assistant"
        elif delta is not None and delta.role:
            keep = False  # said in every chunk: openai-python joins it to "assistantassistant" and sends that back
        _raise_error(choice)
        before = len(events)
        if delta is not None:
            keep = self._delta(delta, events) and keep
        if len(events) > before:
            self._has_deltas = self._has_deltas or choice.delta is not None
            keep = keep and self._finish is None  # content after the finish
        if choice.finish_reason:
            keep = self._finished(choice.finish_reason, events) and keep
        elif choice.finish_reason is not None:
            keep = False
        return keep

    def _delta(self, delta: wire.Delta, events: list[StreamEvent]) -> bool:
        reasoning = delta.reasoning_content or delta.reasoning
        if delta.reasoning_details is not wire.ABSENT and bytes(delta.reasoning_details) not in _NO_DETAILS:
            self._details.take(bytes(delta.reasoning_details))
            self._has_state = True
        if reasoning:
            if self._open_reasoning is None:
                self._close_texts(events)
                self._open_reasoning = self._next_part()
                events.append(ReasoningStart(self._open_reasoning))
            events.append(ReasoningDelta(self._open_reasoning, reasoning))
        if delta.content:
            if self._open_text is None:
                self._close_texts(events)
                self._open_text = self._next_part()
                events.append(TextStart(self._open_text))
            events.append(TextDelta(self._open_text, delta.content))
        if delta.refusal:
            if self._open_refusal is None:
                self._close_texts(events)
                self._open_refusal = self._next_part()
                events.append(TextStart(self._open_refusal, refusal=True))
            events.append(TextDelta(self._open_refusal, delta.refusal))
        if delta.tool_calls is None:
            return True
        keep = bool(delta.tool_calls)
        for entry in delta.tool_calls:
            keep = self._call(entry, entry.index, events) and keep
        return keep

    def _call(self, entry: wire.ToolCallDelta, index: int | None, events: list[StreamEvent]) -> bool:
        if entry.custom is not None:
            name, fragment = entry.custom.name, entry.custom.input
        else:
            name, fragment = (entry.function.name, entry.function.arguments) if entry.function else (None, None)
        kind: Literal["function", "custom"] = "custom" if entry.custom is not None else "function"
        announced, known = len(self._announced), len(self._calls.calls)
        touched: Call | None = None
        state = entry.extra_content is not wire.ABSENT and _is_set(entry.extra_content)
        self._has_state = self._has_state or state
        for call, piece in self._calls.take(entry.id, index, name, fragment or "", kind):
            keep = touched is None and (touched := call) is call
            self._say(call, piece, events)
        assert touched is not None
        if state:
            self._call_state[touched] = call_signature(bytes(entry.extra_content))
        opened = len(self._announced) - announced
        if not keep or touched.part is None or entry.index is None or fragment is None or opened > 1:
            return False
        if opened:
            named = bool(entry.id and name) and entry.type == kind
            fresh = len(self._calls.calls) > known  # else it has had arguments before its name
            return fresh and named and touched is self._announced[-1] and entry.index == announced
        return not entry.id and not name and entry.index < announced and self._announced[entry.index] is touched

    def _say(self, call: Call, piece: str, events: list[StreamEvent]) -> None:
        """Announce a call once its name is known, with all that came before; later pieces as they come."""
        if call.part is not None:
            if piece:
                events.append(ToolCallDelta(call.part, piece))
        elif call.name:
            self._close_texts(events)
            self._say_state(events)
            call.part = self._next_part()
            self._announced.append(call)
            events.append(ToolCallStart(call.part, call.id, call.name, call.kind, has_state=self._has_state))
            if call.arguments:
                events.append(ToolCallDelta(call.part, call.text()))

    # ------------------------------------------------------------ JSON

    def decode_json(self, body: bytes) -> Batch:
        """A whole answer as one batch of events."""
        body = body.removeprefix(BOM_UTF8)
        chunk, exact, readable = _read(body)
        if _is_set(chunk.error) or chunk.object == "error" or (chunk.choices is None and is_failure(readable)):
            raise error_from_body(body, 200)
        choice = next((choice for choice in chunk.choices or () if not choice.index), None)
        if choice is not None:
            _raise_error(choice)
        message = (choice.message or choice.delta) if choice else None
        if choice is not None and message is None and choice.finish_reason == "content_filter":
            message = wire.Delta()  # Azure leaves the message out when its filter took all of it
        if choice is None or message is None:
            raise UpstreamProtocolError("the upstream's answer has no message")
        keep = exact and chunk.object == "chat.completion" and bool(chunk.id and chunk.model)
        keep = keep and chunk.created is not None and _is_null(chunk.error)
        keep = keep and len(chunk.choices or ()) == 1 and choice.index == 0
        keep = keep and choice.message is not None and message.role == "assistant"
        events: list[StreamEvent] = [ResponseStart(chunk.id or None, chunk.model or None, chunk.created)]
        self._started = self._done = True
        calls, message.tool_calls = message.tool_calls, None
        self._delta(message, events)
        keep = keep and calls != []
        for position, entry in enumerate(calls or ()):
            self._call(entry, position, events)
            whole = entry.type == "custom" if entry.custom is not None else bool(entry.type == "function")
            keep = keep and bool(entry.id) and whole and len(self._announced) == position + 1
            keep = keep and (entry.custom is not None or bool(entry.function and entry.function.arguments))
        if choice.finish_reason:
            keep = self._finished(choice.finish_reason, events) and keep
        if _is_set(chunk.usage):
            self._usage = read_usage(chunk.usage)
            events.append(UsageUpdate(self._usage))
            keep = keep and self._usage.source is not None
        else:
            keep = keep and _is_null(chunk.usage)
        closing = self._close()
        keep = keep and not any(isinstance(event, ToolCallDelta | Finish) for event in closing)
        return self._batch(events + closing, readable, keep)

    # ------------------------------------------------------------ ends

    def _finished(self, word: str, events: list[StreamEvent]) -> bool:
        meaning = word.lower().rpartition(": ")[2]  # Gemini's endpoint: "function_call_filter: MALFORMED_..."
        if meaning in FAILURES:
            raise UpstreamError(f"the upstream ended its answer with the finish reason {word!r}")
        first = self._finish is None
        reason = FINISH.get(meaning, "stop")
        if self._finish is not None and (self._finish.reason == "length" or reason != "length"):
            return False
        finish = Finish(self._settle(reason, word), word)
        self._finish = finish
        events.append(finish)
        return (first and finish.reason == word) or (word == "function_call" and not self._calls.calls)

    def _settle(self, reason: FinishReason, word: str | None) -> FinishReason:
        """Calls make it tool_calls, whatever the provider's word; truncation and a filter win over calls."""
        if reason in ("stop", "tool_calls") and word != "function_call":
            return "tool_calls" if self._calls.calls else "stop"
        return reason

    def _close(self) -> list[StreamEvent]:
        """Everything that ends with the upstream's end."""
        self._ended = True
        if not self._started:
            raise UpstreamTruncated("the upstream's answer ended before it began")
        events: list[StreamEvent] = []
        if self._finish is None and not self._done:
            raise UpstreamTruncated("the upstream's answer broke off: no finish reason and no end of stream")
        given = self._finish or Finish("stop")
        reason = self._settle(given.reason, given.raw)
        if self._finish is None and not self._parts:
            raise UpstreamProtocolError("the upstream's answer is empty: no content and no finish reason")
        self._close_texts(events)
        self._say_state(events)
        for call in self._calls.calls:
            if call.part is None:
                raise UpstreamProtocolError("the upstream sent a tool call without a name")
            if self._finish is None and call.kind == "function" and call.arguments and not is_object(call.text()):
                raise UpstreamTruncated("the upstream's answer ended inside a tool call's arguments")
            if call.kind == "function" and not call.arguments.strip() and reason in ("stop", "tool_calls"):
                events.append(ToolCallDelta(call.part, "{}"))  # a call without arguments: JSON.parse("") throws
            events.append(ToolCallEnd(call.part, self._call_state.get(call)))
        if self._finish is None or self._finish.reason != reason:
            events.append(Finish(reason, given.raw))
        events.append(ResponseEnd(self._usage))
        return events

    def _close_texts(self, events: list[StreamEvent]) -> None:
        if self._open_reasoning is not None:
            events.append(ReasoningEnd(self._open_reasoning, self._details.signature()))
        if self._open_text is not None:
            events.append(TextEnd(self._open_text))
        if self._open_refusal is not None:
            events.append(TextEnd(self._open_refusal))
        self._open_reasoning = self._open_text = self._open_refusal = None

    def _say_state(self, events: list[StreamEvent]) -> None:
        """State that came without readable reasoning: a part of its own."""
        if (signature := self._details.signature()) is not None:
            part = self._next_part()
            events += (ReasoningStart(part), ReasoningEnd(part, signature))

    def _next_part(self) -> int:
        self._parts += 1
        return self._parts - 1

    def _batch(self, events: list[StreamEvent], raw: bytes, keep: bool) -> Batch:
        batch = Batch(tuple(events), source=Source(wire.DIALECT, raw))
        return batch if keep else without_source(batch)


def _message(choice: wire.Choice) -> wire.Delta | None:
    """The message that a host sends in place of a delta. Its calls have no index: their place tells them apart."""
    for position, call in enumerate((choice.message and choice.message.tool_calls) or ()):
        if call.index is None:
            call.index = position
    return choice.message


def _raise_error(choice: wire.Choice) -> None:
    """OpenRouter reports an error of the host behind it within the choice."""
    if _is_set(choice.error):
        raise error_from_body(b'{"error":' + bytes(choice.error) + b"}", 200)


def _read(raw: bytes) -> tuple[wire.Chunk, bool, bytes]:
    """The chunk, whether every value has the type OpenAI gives it, and the bytes in which its members can be found."""
    try:
        if not raw.isascii():
            raw.decode()  # here, since what is only skipped is not checked, and travels on
        return wire.chunk_decoder.decode(raw), True, raw
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        from toolwire.wire import openai_chat_lenient  # rare, and not needed at a cold start

        for readable in (openai_chat_lenient.readable, openai_chat_lenient.repaired):
            try:
                data = readable(raw)
                return openai_chat_lenient.read(data), False, data
            except (ValueError, TypeError, RecursionError):
                continue
        raise UpstreamProtocolError("the upstream sent something that is no JSON object") from None


def _is_set(raw: msgspec.Raw) -> bool:
    """Whether a raw member says anything: hosts send null, "" and {} for nothing."""
    return raw is not wire.ABSENT and bytes(raw) not in _EMPTY


def _is_null(raw: msgspec.Raw) -> bool:
    """Whether a raw member is absent or null."""
    return raw is wire.ABSENT or bytes(raw) in _NULL
