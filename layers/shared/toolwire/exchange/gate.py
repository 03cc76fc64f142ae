"""Holds back the bytes that tell the client of the turn's end, until the turn's items are in the store.

The next request can come within a millisecond of those bytes, and needs the items."""

from __future__ import annotations

from toolwire.conversation import TurnRecord
from toolwire.exchange.figures import Figures
from toolwire.model.stored import Item


class Gate:
    """The gate of one answer. `record`: what the turn leaves in the store; None where it leaves nothing. `sticky`: what
    the conversation's next turn is told of its model, if it asks for that."""

    def __init__(self, record: TurnRecord | None, sticky: Item | None, figures: Figures) -> None:
        self._record, self._figures = record, figures
        self._leaves = () if sticky is None else (sticky,)
        self._waiting = b""

    def hold(self, data: bytes, answer: tuple[Item, ...]) -> tuple[Item, ...]:
        """Returns the items to store before `data` may be sent, each once. Without any, `data` need not wait. `answer`:
        the items that hold the answer itself, where answers are kept."""
        leaves, self._leaves = self._leaves, ()
        items = leaves = (*leaves, *answer)
        if self._record is not None:
            items = (*self._record.items(), *leaves)
            self._figures.warnings.add(*self._record.warnings)
        if items:
            self._figures.stored_items += len(items)
            self._waiting = data
        return items

    def release(self, error: str | None) -> bytes:
        """The bytes that waited. `error`: the code of what kept the store from it, None if all is stored."""
        if error is not None:
            self._figures.warnings.add("state_not_stored")
        data, self._waiting = self._waiting, b""
        return data
