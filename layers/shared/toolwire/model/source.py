"""Where a neutral node came from: the mechanism of the same-dialect lane.

Every neutral node (message, part, tool) and every batch of events from one frame may carry `source`: the raw bytes it
was decoded from, with their dialect. A writer of the same dialect emits those bytes; any other writer encodes the
node. `source` is no constructor argument, so `dataclasses.replace` drops it: a node that was changed can not be written
with its old bytes. `extra` (raw members the model does not name) is an ordinary field and survives: a rewritten node
loses its layout, never a field.
"""

from __future__ import annotations

from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import force_setattr

#: Raw JSON members that the model does not name, in the order in which they came: ((name, raw JSON value), ...).
Members = tuple[tuple[str, bytes], ...]


class Source(Struct, frozen=True, gc=False):  # made for every frame: see `events.TextDelta`
    """The bytes of a node and the dialect they are written in ("openai_chat", "anthropic_messages", ...)."""

    dialect: str
    raw: bytes


Node = TypeVar("Node", bound=Any)


def with_source(node: Node, source: Source | None) -> Node:
    """The node itself, marked with where it came from. Only decoders and door parsers call this."""
    if isinstance(node, Struct):
        force_setattr(node, "source", source)
    else:
        object.__setattr__(node, "source", source)
    return node


def raw_in(node: Any, dialect: str) -> bytes | None:
    """The node's own bytes if it came unchanged from this dialect, else None."""
    source = node.source
    return source.raw if source is not None and source.dialect == dialect else None
