"""A batch without the raw bytes of its source, of any API."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

from toolwire.model.events import Batch


def plain(batch: Batch) -> Batch:
    """The batch without its source. Members that only the source had are then in `extra`. The same object if it has no
    source. Called before a batch is changed, since the old bytes would no longer be true."""
    if batch.source is None:
        return batch
    read = _reader(batch.source.dialect)
    return Batch(batch.events, batch.extra) if read is None else read(batch, batch.source.raw)


@cache
def _reader(dialect: str) -> Callable[[Batch, bytes], Batch] | None:
    """`without_source` of `wire/<dialect>_extra.py`. Imported when the first batch of the dialect is changed, not at a
    cold start. None for a dialect without such a module: it has no door, so no client could be shown these members."""
    name = f"toolwire.wire.{dialect}_extra"
    try:
        module: Any = import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        return None
    return module.without_source  # type: ignore[no-any-return]
