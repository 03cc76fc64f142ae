"""What an exchange asks of the shell: bytes for the client, and items for the store."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from msgspec import Struct

from toolwire.model.http import Head
from toolwire.model.stored import Item


class Send(Struct, frozen=True, gc=False):
    """Bytes of the body for the client."""

    data: bytes


class Store(Struct, frozen=True, gc=False):
    """Items that later turns will look up. The shell stores them before it sends anything more, and reports that by
    `Exchange.receive_stored`."""

    items: tuple[Item, ...]


Action = Head | Send | Store


class Storing(Protocol):
    """What `carried_out` needs of an exchange."""

    def receive_stored(self, error: str | None = None) -> list[Action]: ...


def carried_out(
    exchange: Storing, actions: Iterable[Action], store: Callable[[tuple[Item, ...]], str | None]
) -> Iterator[Head | Send]:
    """Yields the heads and bytes to send, in order, and has `store` carry out each Store between them. `store` returns
    the code of an error, or None."""
    for action in actions:
        if isinstance(action, Store):
            yield from carried_out(exchange, exchange.receive_stored(store(action.items)), store)
        else:
            yield action
