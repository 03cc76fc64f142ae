"""The chat door's stream: an answer in chunks.

What strict clients require of a stream (tested against both of OpenAI's SDKs): the role in the first
chunk, one id, dense call indices with id, type and name exactly once, one finish, usage last and only if asked for,
then [DONE]; an error instead of [DONE] when the answer broke off.
"""

from __future__ import annotations

from toolwire.doors.chat_completions.document import finish_word, more_members, render_usage, write_call
from toolwire.doors.chat_completions.errors import render_error
from toolwire.framing.sse import encode_comment, encode_data
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
from toolwire.model.source import Members, raw_in
from toolwire.wire.json import dump, members, whole_characters, write_object
from toolwire.wire.openai_chat import DIALECT
from toolwire.wire.plain import plain

_DONE = b"data: [DONE]\n\n"
_CONTENT = (ResponseStart, TextDelta, ReasoningDelta, ToolCallStart, ToolCallDelta)


class ChatEncoder:
    """One streamed answer.

    The chunk with the finish is held until the upstream's end, so that a late delta, usage, or a second finish (the
    output limit was reached) can still be put in its place.
    """

    def __init__(self, include_usage: bool, *, as_function: bool = False) -> None:
        """`as_function`: calls are written as the deprecated `function_call`, which has room for one."""
        self._as_function = as_function
        self._include_usage = include_usage
        self._prefix = b""
        self._suffix = b',"usage":null}' if include_usage else b"}"
        self._calls: dict[int, int] = {}  # part index -> index among the calls
        self._refusals: set[int] = set()
        self._held: list[Batch] = []  # from the finish on
        self._finish_extra: dict[str, dict[str, bytes]] = {"": {}, "choice": {}}  # unnamed members for `_finish`
        self._finish: Finish | None = None
        self._usage: Usage | None = None
        self._usage_chunk: bytes | None = None  # the upstream's own, if it can be shown
        self._usage_extra: Members = ()
        self._delta_prefixes: dict[int, bytes] = {}

    def encode(self, batch: Batch) -> bytes:
        for event in batch.events:
            self._note(event, batch)
        if self._held or self._finish is not None:
            return self._late(batch)
        return self._write(batch)

    def fail(self, error: GatewayError, request_id: str) -> bytes:
        """An error event, and no [DONE]: the official SDKs raise from it."""
        held, self._held = self._held, []
        shown = b"".join(self._write(_unfinished(batch)) for batch in held)
        return shown + encode_data(render_error(error, request_id))

    def keep_alive(self) -> bytes:
        return encode_comment(b"keep-alive")

    # ------------------------------------------------------------ state

    def _note(self, event: StreamEvent, batch: Batch) -> None:
        match event:
            case TextDelta() | ToolCallDelta() | ReasoningDelta():  # nearly all there is
                pass
            case ResponseStart(id, model, created):
                head = {"id": id, "object": "chat.completion.chunk", "created": created, "model": model}
                self._prefix = dump(head)[:-1] + b',"choices":[{"index":0,"delta":'
            case TextStart(index, True):
                self._refusals.add(index)
            case ToolCallStart(index):
                self._calls[index] = len(self._calls)
            case UsageUpdate(usage):
                self._usage = usage
                self._usage_chunk = raw_in(batch, DIALECT)
                self._usage_extra = dict(batch.extra).get("", ())
            case Finish():
                self._finish = event
                for path, extra in _extra_of(batch):
                    if path in self._finish_extra:
                        self._finish_extra[path].update(extra)
            case _:
                pass

    # ------------------------------------------------------------ order

    def _late(self, batch: Batch) -> bytes:
        """Takes a batch from the finish on. Its content is written before the finish."""
        ends = bool(batch.events) and type(batch.events[-1]) is ResponseEnd
        content = any(isinstance(event, _CONTENT) for event in batch.events)
        brings_finish = any(type(event) is Finish for event in batch.events)
        out = b""
        if content and (ends or self._held or not brings_finish):
            out = b"".join(self._write(_unfinished(earlier)) for earlier in (*self._held, batch))
            self._held = []
        else:
            if brings_finish:  # the later word counts
                self._held = [_unfinished(earlier) for earlier in self._held]
            if not ends:
                self._held.append(batch)
        return out + self._end() if ends else out

    def _end(self) -> bytes:
        finish = self._finish or Finish("stop")
        out = b"".join(self._write(batch) for batch in self._held)
        if not any(isinstance(event, Finish) for batch in self._held for event in batch.events):
            top, choice = (tuple(self._finish_extra[path].items()) for path in ("", "choice"))
            out += self._finish_chunk(finish, choice, top)
        self._held = []
        if self._include_usage:
            out += encode_data(self._usage_chunk) if self._usage_chunk else self._write_usage()
        return out + _DONE

    # ------------------------------------------------------------ bytes

    def _write(self, batch: Batch) -> bytes:
        raw = raw_in(batch, DIALECT)
        if raw is not None:
            # A chunk with usage that is shown as it is has nothing else, and is shown at the end.
            shows_usage = self._usage is not None and any(type(event) is UsageUpdate for event in batch.events)
            return b"" if shows_usage else encode_data(raw)
        extra = dict(batch.extra)
        top, choice = extra.get("", ()), extra.get("choice", ())
        deltas = self._deltas(batch, extra.get("delta", ()))
        finishes = self._finish is not None and any(type(event) is Finish for event in batch.events)
        out = []
        for number, delta in enumerate(deltas):
            last = number == len(deltas) - 1 and not finishes
            out.append(self._chunk(delta, choice if last else (), top if number == 0 else ()))
        if finishes and self._finish is not None:
            out.append(self._finish_chunk(self._finish, choice, () if deltas else top))
        return b"".join(out)

    def _deltas(self, batch: Batch, extra: Members) -> list[bytes]:
        """The batch's content as delta objects. Members that the model does not name come last."""
        chunks: list[bytes] = []
        for event in batch.events:
            match event:
                case TextDelta(index, text):
                    field = b"refusal" if index in self._refusals else b"content"
                    chunks.append(b'{"%s":%s}' % (field, dump(text)))
                case ReasoningDelta(_, text):
                    chunks.append(b'{"reasoning_content":%s}' % dump(text))
                case ToolCallStart(index) | ToolCallDelta(index) if self._as_function:
                    if self._calls[index] == 0:
                        chunks.append(_function_piece(event))
                case ToolCallDelta(index, fragment):
                    chunks.append(self._fragment(index, fragment))
                case ToolCallStart():
                    chunks.append(self._opening(event))
                case ResponseStart():
                    chunks.append(b'{"role":"assistant","content":""}')
                case (
                    TextStart() | TextEnd() | ReasoningStart() | ReasoningEnd() | ToolCallEnd() | UsageUpdate()
                    | Finish() | ResponseEnd() | StreamFailed() | OpaquePart()
                ):  # fmt: skip
                    pass
        if extra:
            chunks.append(write_object(extra))
        return chunks

    def _chunk(self, delta: bytes, choice_extra: Members = (), extra: Members = (), finish: bytes = b"null") -> bytes:
        tail = b',"finish_reason":' + finish + more_members(choice_extra) + b"}]" + more_members(extra)
        return b"data: " + self._prefix + delta + tail + self._suffix + b"\n\n"

    def _finish_chunk(self, finish: Finish, choice_extra: Members, extra: Members) -> bytes:
        return self._chunk(
            b"{}", choice_extra, extra, dump(finish_word(finish, bool(self._calls), as_function=self._as_function))
        )

    def _fragment(self, index: int, fragment: str) -> bytes:
        prefix = self._delta_prefixes.get(index)
        if prefix is None:
            prefix = b'{"tool_calls":[{"index":%d,"function":{"arguments":' % self._calls[index]
            self._delta_prefixes[index] = prefix
        return prefix + dump(fragment) + b"}}]}"

    def _opening(self, event: ToolCallStart) -> bytes:
        call = write_call(event.id or "", event.name, "", event.kind, event.extra)
        if event.kind == "custom":
            prefix = b'{"tool_calls":[{"index":%d,"custom":{"input":'
            self._delta_prefixes[event.index] = prefix % self._calls[event.index]
        return b'{"tool_calls":[{"index":%d,%s]}' % (self._calls[event.index], call[1:])

    def _write_usage(self) -> bytes:
        body = self._prefix.rpartition(b',"choices":')[0] + b',"choices":[],"usage":' + render_usage(self._usage)
        named = members(whole_characters(body) + b"}")  # a model's name may have half a character
        rest = tuple(pair for pair in self._usage_extra if pair[0] not in named)
        return b"data: " + body + more_members(rest) + b"}\n\n"


def _function_piece(event: ToolCallStart | ToolCallDelta) -> bytes:
    """The beginning of a call, or more of its arguments, as `function_call`."""
    if type(event) is ToolCallDelta:
        return b'{"function_call":{"arguments":%b}}' % dump(event.fragment)
    assert type(event) is ToolCallStart
    return dump({"function_call": {"name": event.name, "arguments": ""}})


def _extra_of(batch: Batch) -> tuple[tuple[str, Members], ...]:
    """The members of the batch that the model does not name. A source of another API has none that are shown here, and
    is not read."""
    return batch.extra if raw_in(batch, DIALECT) is None else plain(batch).extra


def _unfinished(batch: Batch) -> Batch:
    """The batch without its finish, and without the members that go with it."""
    if not any(type(event) is Finish for event in batch.events):
        return batch
    extra = tuple(pair for pair in _extra_of(batch) if pair[0] == "delta")
    return Batch(tuple(event for event in batch.events if type(event) is not Finish), extra)
