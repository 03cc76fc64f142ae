"""The raw bytes that a neutral node was decoded from. A writer of the same dialect sends them unchanged.

Every neutral node (message, part, tool) and every batch of events from one frame may carry `source`: the raw bytes it
was decoded from, with their dialect. A writer of the same dialect emits those bytes; any other writer encodes the
node. Only `with_source` gives a node one, and `replace` drops it: a changed node cannot be written with its old bytes.
`extra` (raw members the model does not name) is an ordinary field and survives: a rewritten node loses its layout,
never a field.
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar, TypeVar

from msgspec import Struct, structs

#: Raw JSON members that the model does not name, in the order in which they came: ((name, raw JSON value), ...).
Members = tuple[tuple[str, bytes], ...]

T = TypeVar("T")


class Source(Struct, frozen=True, gc=False):  # made for every frame: see `events.TextDelta`
    """The bytes of a node and the dialect they are written in ("openai_chat", "anthropic_messages", ...)."""

    dialect: str
    raw: bytes


class Value(Struct, frozen=True, eq=False, gc=False):
    """A msgspec Struct that ignores its `incidental` fields when it is compared: values that differ only in them are
    equal."""

    incidental: ClassVar[frozenset[str]] = frozenset()

    def _essence(self) -> tuple[Any, ...]:
        return tuple([getattr(self, name) for name in self.__struct_fields__ if name not in self.incidental])

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._essence() == other._essence()

    def __hash__(self) -> int:
        return hash(self._essence())


class Sourced(Value, frozen=True, kw_only=True):
    """A neutral node. Only `with_source` may set its `source`."""

    incidental: ClassVar[frozenset[str]] = frozenset({"source"})

    source: Source | None = None


def replace(value: T, /, **changes: Any) -> T:
    """A copy with these changes, of a node without its `source`. Takes Structs, in a tenth of the time that
    `dataclasses.replace` takes, and dataclasses, but no batch: see `wire.plain`."""
    if isinstance(value, Sourced):
        return structs.replace(value, source=None, **changes)
    if not isinstance(value, Struct):
        return dataclasses.replace(value, **changes)  # type: ignore[type-var]
    if hasattr(value, "source"):
        raise TypeError(f"a {type(value).__name__} cannot be changed")
    return structs.replace(value, **changes)


Node = TypeVar("Node", bound=Struct)


def with_source(node: Node, source: Source | None) -> Node:
    """Sets the node's `source` in place and returns the node. Only decoders and door parsers may call this."""
    structs.force_setattr(node, "source", source)
    return node


def raw_in(node: Any, dialect: str) -> bytes | None:
    """The node's raw bytes if it was decoded from this dialect and has not changed, else None."""
    source = node.source
    return source.raw if source is not None and source.dialect == dialect else None
