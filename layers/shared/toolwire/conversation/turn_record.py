"""Collects the items to store for one answer: mappings of tool-call ids, and the provider's state."""

from __future__ import annotations

from toolwire.conversation.state_origin import origin_of
from toolwire.conversation.stored_form import VERSION, Call, Opaque, Piece, Reasoning, Text, packed
from toolwire.model.events import (
    Batch,
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
from toolwire.model.settings import Target
from toolwire.model.stage import Stage
from toolwire.model.stored import NAME, STATE_PREFIX, Item, Key, Value
from toolwire.model.warnings import Warnings

#: The most characters of reasoning that one turn's state may hold; a turn with more has its state not stored.
_REASONING_CHARS = 4 << 20


class TurnRecord(Stage):
    """Reads the events of one answer, with the ids that the client sees, and returns the items to store.

    A turn without a minted id has no items. A minted id holds the conversation's token, which is the key to the store;
    a provider's own id does not.
    """

    deltas = frozenset({TextDelta, ReasoningDelta})

    def __init__(
        self,
        target: Target,
        partition: str,
        expires_at: int,
        *,
        token_partition: str | None = None,
        keeps_state: bool = True,
        keeps_plain_reasoning: bool = False,
    ) -> None:
        """`token_partition`: where the conversation is looked for by its ids alone; None if that is known to lead to
        `partition`. `keeps_state`: whether the tenant allows state to be stored. `keeps_plain_reasoning`: whether the
        provider wants unsigned reasoning back."""
        self.origin = origin_of(target)
        self._provider = target.provider.name
        self._partition, self._expires_at = partition, expires_at
        self._token_partition = token_partition
        self._keeps_state, self._keeps_plain = keeps_state, keeps_plain_reasoning
        self._first_call: str | None = None
        self._minted: dict[str, tuple[str, str]] = {}  # our id -> `ToolCallStart.provider_id`, and the tool's name
        self._parts: list[TextStart | ReasoningStart | ToolCallStart | OpaquePart] = []
        self._chars: dict[int, int] = {}  # part index of a text -> its length so far
        self._reasoning: dict[int, list[str]] = {}
        self._reasoning_chars = 0
        self._signatures: dict[int, str] = {}
        self._stored: set[str] = set()
        self._stored_state: bytes | None = None
        #: Codes of warnings about what could not be stored.
        self.warnings = Warnings()

    def take(self, batch: Batch) -> list[Batch]:
        """See `Stage`."""
        for event in batch.events:
            self.note(event)
        return [batch]

    def note(self, event: StreamEvent) -> None:
        """Reads one event. Its ids are the client's, its signatures the provider's."""
        if type(event) is ToolCallDelta:
            return
        if type(event) is TextDelta:
            self._chars[event.index] += len(event.text)
            return
        match event:
            case ReasoningDelta(index, text):
                self._reasoning_chars += len(text)
                if self._reasoning_chars <= _REASONING_CHARS:
                    self._reasoning[index].append(text)
            case TextStart() | ReasoningStart() | ToolCallStart() | OpaquePart():
                self._begin(event)
            case TextEnd(index, signature) | ReasoningEnd(index, signature) | ToolCallEnd(index, signature):
                if signature is not None:
                    self._signatures[index] = signature
            case _:
                pass

    def _begin(self, event: TextStart | ReasoningStart | ToolCallStart | OpaquePart) -> None:
        self._parts.append(event)
        if type(event) is TextStart:
            self._chars[event.index] = 0
        elif type(event) is ReasoningStart:
            self._reasoning[event.index] = []
        elif type(event) is ToolCallStart:
            self._first_call = self._first_call or event.id
            if event.provider_id is not None:
                self._minted[event.id or ""] = (event.provider_id, event.name)

    def items(self) -> tuple[Item, ...]:
        """The items that are new, or have changed, since this was last called."""
        first = self._first_call
        if not self._minted or first is None:
            return ()
        state = self._state() if first in self._minted else None
        items = []
        for call_id, (provider_call_id, tool_name) in self._minted.items():
            flagged = call_id == first and state is not None
            if call_id in self._stored and not (flagged and self._stored_state is None):
                continue
            self._stored.add(call_id)
            items.append(
                self._item(
                    call_id, provider_call_id=provider_call_id, tool_name=tool_name[:256], has_state=int(flagged)
                )
            )
        if state is not None and state != self._stored_state:
            self._stored_state = state
            items.append(self._item(STATE_PREFIX + first, data=state))
        if self._token_partition is not None:
            name = self._partition.partition("#")[2]
            items.append(Item(Key(self._token_partition, NAME), {"conversation": name}, self._expires_at))
            self._token_partition = None
        return tuple(items)

    def _item(self, sort: str, **values: Value) -> Item:
        common: dict[str, Value] = {"provider": self._provider, "origin": self.origin, "v": VERSION}
        return Item(Key(self._partition, sort), common | values, self._expires_at)

    def _state(self) -> bytes | None:
        """The turn's state, packed. None if it has none, the tenant forbids keeping it, or it is too large."""
        pieces = [piece for part in self._parts if (piece := self._piece(part)) is not None]
        worth = any(isinstance(piece, Opaque | Reasoning) or piece.signature is not None for piece in pieces)
        if not worth or not self._keeps_state:
            return None
        state = packed(pieces) if self._reasoning_chars <= _REASONING_CHARS else None
        if state is None:
            self.warnings.add("state_not_stored")
        return state

    def _piece(self, part: TextStart | ReasoningStart | ToolCallStart | OpaquePart) -> Piece | None:
        signature = self._signatures.get(part.index)
        match part:
            case TextStart(index, refusal):
                return None if refusal else Text(self._chars[index], signature)
            case ReasoningStart(index):
                kept = signature is not None or self._keeps_plain
                return Reasoning("".join(self._reasoning[index]), signature) if kept else None
            case ToolCallStart(_, id):
                return Call(id or "", signature)
            case OpaquePart(_, kind, dialect, raw, goes_back):
                return Opaque(kind, dialect, raw) if goes_back else None
