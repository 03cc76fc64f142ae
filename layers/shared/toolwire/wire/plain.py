"""A batch without the raw bytes of its source, of any API."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

from toolwire.model.events import Batch

#: Dialect -> the module whose `without_source` reads the members of a source that the neutral model does not name. A
#: dialect without a door has none: no client could be shown these members.
_READERS = {
    "anthropic_messages": "toolwire.wire.anthropic_messages_extra",
    "gemini": "toolwire.wire.gemini_extra",
    "openai_chat": "toolwire.wire.openai_chat_extra",
    "openai_responses": "toolwire.wire.openai_responses_extra",
}


def plain(batch: Batch) -> Batch:
    """The batch without its source. Members that only the source had are then in `extra`. The same object if it has no
    source. Called before a batch is changed, since the old bytes would no longer be true."""
    if batch.source is None:
        return batch
    read = _reader(batch.source.dialect)
    return Batch(batch.events, batch.extra) if read is None else read(batch)


@cache
def _reader(dialect: str) -> Callable[[Batch], Batch] | None:
    """The reader of a dialect. It is imported when the first batch of the dialect is changed, not at a cold start."""
    name = _READERS.get(dialect)
    module: Any = import_module(name) if name is not None else None
    return None if module is None else module.without_source
