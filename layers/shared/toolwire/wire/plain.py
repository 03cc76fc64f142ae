"""A batch without the bytes it came from, whatever API they are of."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

from toolwire.model.events import Batch

#: Dialect -> the module whose `without_source` reads what a source says beyond the neutral model. A dialect that is no
#: door's has none: nobody could be told.
_READERS = {
    "anthropic_messages": "toolwire.wire.anthropic_messages_extra",
    "openai_chat": "toolwire.wire.openai_chat_extra",
    "openai_responses": "toolwire.wire.openai_responses_extra",
}


def plain(batch: Batch) -> Batch:
    """The batch without its source: what only that said and the model does not name is in `extra` then. The same object
    where there is no source. For whoever changes a batch, which cannot be shown with its old bytes."""
    if batch.source is None:
        return batch
    read = _reader(batch.source.dialect)
    return Batch(batch.events, batch.extra) if read is None else read(batch)


@cache
def _reader(dialect: str) -> Callable[[Batch], Batch] | None:
    """Imported when the first batch of its dialect is changed: a cold start pays for none."""
    name = _READERS.get(dialect)
    module: Any = import_module(name) if name is not None else None
    return None if module is None else module.without_source
