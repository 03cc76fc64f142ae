"""The blocks of a Messages answer while they arrive: each becomes a part of the neutral stream."""

from __future__ import annotations

from toolwire.model.errors import UpstreamProtocolError, UpstreamTruncated
from toolwire.model.events import (
    Finish,
    OpaquePart,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    StreamEvent,
    TextDelta,
    TextEnd,
    TextStart,
    ToolCallDelta,
)
from toolwire.providers.anthropic_messages.answer_shapes import NULL, arguments, fragment, joined, read_block
from toolwire.stream.block_call import BlockCall, CallEnds
from toolwire.wire import anthropic_messages as wire
from toolwire.wire.json import is_object

#: A kind of delta -> the member that holds its text, and the kind of block that it belongs to.
_TEXTS = {
    "text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json",
    "signature_delta": "signature",
}  # fmt: skip
_OWNERS = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "tool_use"}
_WITHOUT_INPUT = ("text", "thinking")
#: Kinds of deltas in other words -> this API's.
_OTHER_DELTAS = {"output_text_delta": "text_delta", "reasoning_delta": "thinking_delta"}


class Block:
    """An open block. `part` is its index in the neutral stream; None for a block that becomes a part only at its
    end."""

    __slots__ = ("by_text", "call", "input", "is_implied", "kind", "part", "pieces", "raw", "signature")

    def __init__(self, kind: str, part: int | None, raw: bytes = b"") -> None:
        self.kind = kind
        self.part = part
        self.raw = raw  # of a block that becomes a part at its end
        self.pieces: list[str] = []  # the input of such a block
        self.call: BlockCall | None = None
        self.input = ""  # a call's arguments that came with its beginning
        self.signature = ""
        self.is_implied = False  # begun by its first delta, without content_block_start
        self.by_text = False  # a call whose arguments come as deltas of text

    def takes(self, text: str | None) -> bool:
        """Whether a delta of text within a call belongs to its arguments, as some hosts write them. It does not in a
        call whose arguments come by their own deltas, nor in one without arguments if the text begins no object."""
        if self.call is not None and self.call.is_empty and (text or "").lstrip()[:1] in ("", "{"):
            self.by_text = True
        return self.call is None or self.by_text


class Blocks:
    """The blocks of one answer. Their parts are numbered in the order in which they begin. `placeholders`: see
    `DecoderContext`."""

    def __init__(self, *, placeholders: bool) -> None:
        self._placeholders = placeholders
        self.count = 0  # of parts
        self.calls = 0
        self.open: dict[int, Block] = {}  # by the block's index
        self.call_ends = CallEnds()

    def begin(self, index: int | None, raw: bytes, events: list[StreamEvent]) -> bool:
        """content_block_start. Returns whether a client of the same API may see it as it is."""
        keep = index is not None
        index = index if index is not None else self._next_index()
        if index in self.open:
            self._end(self.open.pop(index), events)
            keep = False
        self.open[index], shown = self._start(raw, events, streamed=True)
        return keep and shown

    def _next_index(self) -> int:
        return max(self.open, default=-1) + 1

    def _start(self, raw: bytes, events: list[StreamEvent], *, streamed: bool) -> tuple[Block, bool]:
        """Begins a block with the content it already has. Returns it, and whether a client of the same API may see the
        frame as it is."""
        block, exact = read_block(raw) if raw not in NULL else (wire.Block("text"), False)
        self.call_ends.end_waiting(events)
        match block.type:
            case "text":
                opened = self._open_text(events)
                self._say(opened, block.text, events)
            case "thinking":
                opened = self._open_thinking(events)
                self._say(opened, block.thinking, events)
                opened.signature = block.signature or ""
            case "tool_use":
                if not block.name:
                    raise UpstreamProtocolError("the upstream sent a tool call without a name")
                call = BlockCall(self._next_call, placeholders=self._placeholders)
                opened = Block("tool_use", call.announce(block.id, block.name, events))
                opened.call, opened.input = call, arguments(block)
                # Clients take the input from the deltas alone.
                exact = exact and bytes(block.input)[:1] == b"{" and not (opened.input and streamed)
                return opened, exact and bool(block.id)
            case _:
                opened = Block(block.type, None, raw)
        return opened, exact and (block.type != "text" or block.text is not None)

    def _open_text(self, events: list[StreamEvent]) -> Block:
        events.append(TextStart(self._next_part()))
        return Block("text", self.count - 1)

    def _open_thinking(self, events: list[StreamEvent]) -> Block:
        events.append(ReasoningStart(self._next_part()))
        return Block("thinking", self.count - 1)

    def add(self, index: int | None, delta: wire.Delta, events: list[StreamEvent]) -> bool:
        """content_block_delta. Returns whether a client of the same API may see it as it is."""
        if delta.type == "input_json_delta" and delta.partial_json and index is not None:  # as nearly all of a call's
            its = self.open.get(index)
            if its is not None and its.call is not None and its.kind == "tool_use":
                return its.call.say(delta.partial_json, events)
        kind = delta.type or next((kind for kind, name in _TEXTS.items() if getattr(delta, name) is not None), None)
        index, keep = (index, delta.type is not None) if index is not None else (max(self.open, default=0), False)
        if kind in _OTHER_DELTAS:
            kind, keep = _OTHER_DELTAS[kind], False
        opened = self.open.get(index)
        if opened is not None and kind == "text_delta" and not opened.takes(delta.text):  # SGLang
            beside = (at for at, block in self.open.items() if block.kind == "text")
            index, keep = next(beside, self._next_index()), False
            opened = self.open.get(index)
        if opened is not None and _is_another(opened.kind, kind):
            self._end(opened, events)  # the other kind begins in its place, under an index of ours
            opened = None
        if kind == "input_json_delta" and delta.partial_json and (opened is None or opened.kind in _WITHOUT_INPUT):
            opened, keep = self._last_call(), False
        if opened is None:
            opened = self._implied(kind, events)
            if opened is None:
                return True  # of a kind that is new, or of no block
            opened.is_implied = True
            self.open[index] = opened
        text = _text_of(delta, kind)
        if kind == "signature_delta":
            opened.signature += text or ""
        elif kind in _TEXTS:
            keep = self._say(opened, text, events) and keep and getattr(delta, _TEXTS[kind]) is not None
            keep = (
                keep
                and not opened.is_implied
                and (opened.kind == _OWNERS.get(kind, opened.kind) or opened.part is None)
            )
        return keep

    def go_on(self, index: int, kind: str, text: str) -> StreamEvent | None:
        """The event of a delta that only continues its block, as nearly all do, so that a client of the same API may
        see the frame as it is. Returns None, and changes nothing, for any other delta: it is for `add`."""
        opened = self.open.get(index)
        if opened is None or opened.is_implied or opened.kind != _OWNERS[kind]:
            return None
        if opened.call is not None or opened.part is None:
            return None if opened.call is None else opened.call.go_on(text)
        return TextDelta(opened.part, text) if kind == "text_delta" else ReasoningDelta(opened.part, text)

    def _last_call(self) -> Block:
        """The call for a fragment of arguments whose index is not that of an open call."""
        calls = [opened for opened in self.open.values() if opened.call is not None]
        if not calls:
            raise UpstreamProtocolError("the upstream sent arguments of no tool call")
        return calls[-1]

    def _implied(self, kind: str | None, events: list[StreamEvent]) -> Block | None:
        """The block for a delta without content_block_start. For text and thinking, the delta begins it."""
        if kind == "text_delta":
            self.call_ends.end_waiting(events)
            return self._open_text(events)
        if kind == "thinking_delta":
            self.call_ends.end_waiting(events)
            return self._open_thinking(events)
        return None

    def _say(self, opened: Block, text: str | None, events: list[StreamEvent]) -> bool:
        """Adds to a block, by any kind of delta. Returns whether a client of the same API may see the frame as it
        is."""
        if not text:
            return True
        if opened.call is not None:
            return opened.call.say(text, events)
        if opened.part is None:
            opened.pieces.append(text)  # the input of a server's tool
        elif opened.kind == "text":
            events.append(TextDelta(opened.part, text))
        else:
            events.append(ReasoningDelta(opened.part, text))
        return True

    def end(self, index: int | None, events: list[StreamEvent]) -> bool:
        """content_block_stop. Returns whether a client of the same API may see it as it is."""
        opened = self.open.pop(index if index is not None else max(self.open, default=-1), None)
        if opened is None:
            return False
        said = len(events)
        self._end(opened, events)
        return (
            index is not None
            and not opened.is_implied
            and not any(type(event) is ToolCallDelta for event in events[said:])
        )

    def _end(self, opened: Block, events: list[StreamEvent]) -> None:
        if opened.call is not None:
            self._end_call(opened, opened.call, events)
        elif opened.part is None:
            events.append(
                OpaquePart(self._next_part(), opened.kind, wire.DIALECT, joined(opened.raw, "".join(opened.pieces)))
            )
        elif opened.kind == "text":
            events.append(TextEnd(opened.part))
        else:
            events.append(ReasoningEnd(opened.part, opened.signature or None))

    def _end_call(self, opened: Block, call: BlockCall, events: list[StreamEvent]) -> None:
        """Ends the call of a block. If no deltas came, or only `{}`, the arguments that came with its beginning are
        written as a delta, since clients read the deltas only."""
        if opened.input and call.is_empty:
            call.say(opened.input, events)
        elif opened.input:
            self.call_ends.warnings.add("tool_arguments_restated")
        self.call_ends.end(call, events)

    def whole(self, raw: bytes, events: list[StreamEvent]) -> bool:
        """A block that comes in one piece. Returns whether a client of the same API may see it as it is."""
        block, shown = self._start(raw, events, streamed=False)
        self._end(block, events)
        return shown

    def refuse(self, explanation: str, events: list[StreamEvent]) -> None:
        """Writes the explanation of a refusal as a text part."""
        part = self._next_part()
        events += (TextStart(part, refusal=True), TextDelta(part, explanation), TextEnd(part))

    def end_all(self, finish: Finish | None, events: list[StreamEvent]) -> None:
        """Ends all open blocks. Raises UpstreamTruncated for an incomplete call in an answer without a stop reason."""
        for index in sorted(self.open):
            opened = self.open[index]
            self._end(opened, events)
            if finish is None and opened.call is not None and not all(map(is_object, opened.call.texts)):
                raise UpstreamTruncated("the upstream's answer ended inside a tool call's arguments")
        self.open.clear()
        self.call_ends.end_waiting(events, cut=finish is not None and finish.is_cut)

    def _next_part(self) -> int:
        self.count += 1
        return self.count - 1

    def _next_call(self) -> int:
        self.calls += 1
        return self._next_part()


def _is_another(opened: str, delta: str | None) -> bool:
    """Whether the delta's kind is not the block's: thinking within a text, or text within thinking."""
    owner = _OWNERS.get(delta or "")
    return owner != opened and owner in _WITHOUT_INPUT and opened in _WITHOUT_INPUT


def _text_of(delta: wire.Delta, kind: str | None) -> str | None:
    """The text of a delta, under its own name or another's."""
    match kind:
        case "input_json_delta":
            return fragment(delta)
        case "thinking_delta":
            return delta.thinking or delta.reasoning or delta.text
        case _ if kind in _TEXTS:
            return str(text) if (text := getattr(delta, _TEXTS[kind])) is not None else None
        case _:
            return None
