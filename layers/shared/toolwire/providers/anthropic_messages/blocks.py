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
    ToolCallEnd,
    ToolCallStart,
)
from toolwire.providers.anthropic_messages.shapes import arguments, joined, read_block
from toolwire.wire import anthropic_messages as wire
from toolwire.wire.json import is_object


class Block:
    """A block that has begun and not ended. `part` is its place in the neutral stream, None for one that goes there
    whole at its end."""

    __slots__ = ("input", "kind", "part", "pieces", "raw", "signature")

    def __init__(self, kind: str, part: int | None, raw: bytes = b"") -> None:
        self.kind = kind
        self.part = part
        self.raw = raw  # of a block that goes whole
        self.pieces: list[str] = []  # the input of such a block, or of a call
        self.input = ""  # a call's arguments that came with its beginning
        self.signature = ""


class Blocks:
    """The blocks of one answer. Their parts are numbered in the order in which they begin."""

    def __init__(self) -> None:
        self.count = 0  # of parts
        self.calls = 0
        self.open: dict[int, Block] = {}  # by the block's index
        self._bare: int | None = None  # the part of a call that has ended without arguments: see `end_bare`

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
        """The beginning of a block, with what it already says, and whether a client of the same API may see it."""
        block = read_block(raw)
        self.end_bare(events)
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
                opened = Block("tool_use", self._next_part())
                opened.input = arguments(block)
                self.calls += 1
                events.append(ToolCallStart(self.count - 1, block.id or None, block.name))
                # Clients take the input from the deltas alone.
                return opened, bool(block.id) and bytes(block.input)[:1] == b"{" and not (opened.input and streamed)
            case _:
                opened = Block(block.type, None, raw)
        return opened, True

    def _open_text(self, events: list[StreamEvent]) -> Block:
        events.append(TextStart(self._next_part()))
        return Block("text", self.count - 1)

    def _open_thinking(self, events: list[StreamEvent]) -> Block:
        events.append(ReasoningStart(self._next_part()))
        return Block("thinking", self.count - 1)

    def add(self, index: int | None, delta: wire.Delta, events: list[StreamEvent]) -> bool:
        """content_block_delta. Returns whether a client of the same API may see it as it is."""
        keep = index is not None
        index = index if index is not None else max(self.open, default=0)
        opened = self.open.get(index)
        if opened is None:
            opened = self._implied(delta, events)
            if opened is None:
                return True  # of a kind that is new, or of no block
            self.open[index] = opened
            keep = False
        match delta.type:
            case "text_delta" | "thinking_delta":
                self._say(opened, delta.text if delta.type == "text_delta" else delta.thinking, events)
            case "signature_delta":
                opened.signature += delta.signature or ""
            case "input_json_delta":
                self._say(opened, delta.partial_json, events)
            case _:
                pass  # citations, and whatever is new
        return keep

    def _implied(self, delta: wire.Delta, events: list[StreamEvent]) -> Block | None:
        """The block that a delta without one belongs to: text and thinking need no more than that."""
        if delta.type == "text_delta":
            self.end_bare(events)
            return self._open_text(events)
        if delta.type == "thinking_delta":
            self.end_bare(events)
            return self._open_thinking(events)
        if delta.type == "input_json_delta" and delta.partial_json:
            raise UpstreamProtocolError("the upstream sent arguments of no tool call")
        return None

    def _say(self, opened: Block, text: str | None, events: list[StreamEvent]) -> None:
        """More of a block, under whatever kind of delta it came."""
        if not text:
            return
        if opened.part is None:
            opened.pieces.append(text)  # the input of a server's tool
        elif opened.kind == "text":
            events.append(TextDelta(opened.part, text))
        elif opened.kind == "thinking":
            events.append(ReasoningDelta(opened.part, text))
        else:
            opened.pieces.append(text)
            events.append(ToolCallDelta(opened.part, text))

    def end(self, index: int | None, events: list[StreamEvent]) -> bool:
        """content_block_stop. Returns whether a client of the same API may see it as it is."""
        opened = self.open.pop(index if index is not None else max(self.open, default=-1), None)
        if opened is None:
            return False
        said = len(opened.pieces)
        self._end(opened, events)
        return index is not None and len(opened.pieces) == said

    def _end(self, opened: Block, events: list[StreamEvent]) -> None:
        if opened.part is None:
            events.append(
                OpaquePart(self._next_part(), opened.kind, wire.DIALECT, joined(opened.raw, "".join(opened.pieces)))
            )
        elif opened.kind == "text":
            events.append(TextEnd(opened.part))
        elif opened.kind == "thinking":
            events.append(ReasoningEnd(opened.part, opened.signature or None))
        else:
            if not opened.pieces:
                self._say(opened, opened.input, events)
            if opened.pieces:
                events.append(ToolCallEnd(opened.part))
            else:
                self.end_bare(events)
                self._bare = opened.part

    def end_bare(self, events: list[StreamEvent], cut: bool = False) -> None:
        """A call without arguments says `{}`; but one that the output limit has cut looks the same until the stop
        reason is read, and must not: so its end waits for what comes next."""
        if self._bare is None:
            return
        if not cut:
            events.append(ToolCallDelta(self._bare, "{}"))
        events.append(ToolCallEnd(self._bare))
        self._bare = None

    def whole(self, raw: bytes, events: list[StreamEvent]) -> bool:
        """A block that comes in one piece. Returns whether a client of the same API may see it as it is."""
        block, shown = self._start(raw, events, streamed=False)
        self._end(block, events)
        return shown

    def refuse(self, explanation: str, events: list[StreamEvent]) -> None:
        """A refusal that the stop reason explains: a text of its own."""
        part = self._next_part()
        events += (TextStart(part, refusal=True), TextDelta(part, explanation), TextEnd(part))

    def end_all(self, finish: Finish | None, events: list[StreamEvent]) -> None:
        """End what is open. Raises UpstreamTruncated for a call that broke off, which a stop reason excludes."""
        for index in sorted(self.open):
            opened = self.open[index]
            if finish is None and opened.kind == "tool_use" and not is_object("".join(opened.pieces)):
                raise UpstreamTruncated("the upstream's answer ended inside a tool call's arguments")
            self._end(opened, events)
        self.open.clear()
        self.end_bare(events, cut=finish is not None and finish.is_cut)

    def _next_part(self) -> int:
        self.count += 1
        return self.count - 1
