"""What a turn leaves behind is stored before the client hears that the turn is over: until then, the bytes that say so
wait here."""

from __future__ import annotations

from toolwire.conversation import TurnRecord
from toolwire.exchange.figures import Figures
from toolwire.model.stored import Item


class Gate:
    """One answer's. `record`: what follows the answer, None where it leaves nothing; `sticky`: what the conversation's
    next turn is told of its model, if it wants to be."""

    def __init__(self, record: TurnRecord | None, sticky: Item | None, figures: Figures) -> None:
        self._record, self._figures = record, figures
        self._leaves = () if sticky is None else (sticky,)
        self._waiting = b""

    def hold(self, data: bytes, answer: tuple[Item, ...] = ()) -> tuple[Item, ...]:
        """What is to be stored before `data` is sent, and was not handed out before; where there is nothing, `data`
        need not wait. `answer`: what is kept of the answer itself."""
        leaves, self._leaves = self._leaves, ()
        items = leaves = (*leaves, *answer)
        if self._record is not None:
            items = (*self._record.items(), *leaves)
            self._figures.warn(*self._record.warnings)
        if items:
            self._figures.stored_items += len(items)
            self._waiting = data
        return items

    def release(self, error: str | None) -> bytes:
        """The bytes that waited. `error`: the code of what kept the store from it, None if all is stored."""
        if error is not None:
            self._figures.warn("state_not_stored")
        data, self._waiting = self._waiting, b""
        return data
