"""The raw bytes that a neutral node was decoded from. A writer of the same dialect sends them unchanged.

Every neutral node (message, part, tool) and every batch of events from one frame may carry `source`: the raw bytes it
was decoded from, with their dialect. A writer of the same dialect emits those bytes; any other writer encodes the
node. `source` is no constructor argument, so `dataclasses.replace` drops it: a changed node cannot be written with
its old bytes. `extra` (raw members the model does not name) is an ordinary field and survives: a rewritten node
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
    """Sets the node's `source` in place and returns the node. Only decoders and door parsers may call this."""
    if isinstance(node, Struct):
        force_setattr(node, "source", source)
    else:
        object.__setattr__(node, "source", source)
    return node


def raw_in(node: Any, dialect: str) -> bytes | None:
    """The node's raw bytes if it was decoded from this dialect and has not changed, else None."""
    source = node.source
    return source.raw if source is not None and source.dialect == dialect else None
