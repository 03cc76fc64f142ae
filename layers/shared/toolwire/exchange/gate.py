"""Holds the bytes that end the turn for the client, until the turn's items are in the store.

The next request can come within a millisecond of those bytes, and needs the items."""

from __future__ import annotations

from toolwire.conversation import TurnRecord
from toolwire.exchange.figures import Figures
from toolwire.model.stored import Item


class Gate:
    """The gate of one answer. `record` gives the items of the turn's calls and state (None: the turn has none).
    `sticky`: the item that names the model for the conversation's next turn, if the client asks for that."""

    def __init__(self, record: TurnRecord | None, sticky: Item | None, figures: Figures) -> None:
        self._record, self._figures = record, figures
        self._leaves = () if sticky is None else (sticky,)
        self._waiting = b""

    def hold(self, data: bytes, answer: tuple[Item, ...]) -> tuple[Item, ...]:
        """Returns the items to store before `data` may be sent. It returns each item once; if it returns none, `data`
        can be sent now. `answer`: the items that keep the answer itself, where answers are kept."""
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
        """Returns the bytes that waited. `error`: the code of what failed while storing, None if all is stored."""
        if error is not None:
            self._figures.warnings.add("state_not_stored")
        data, self._waiting = self._waiting, b""
        return data
