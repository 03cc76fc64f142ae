"""Follows a schema's references: how large the schema is with every reference expanded, and whether they end.

Schemas come from clients and may be hostile. Twenty definitions that each refer to the next one twice are a million
schemas to a validator; one that refers to itself in place never ends. Both are found here by counting, before the
schema is compiled, in time that is linear in the document.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from typing import Any, NamedTuple

from toolwire.schema.tree import DEFINITIONS, IN_PLACE, REFERENCES, References, Schema, children

#: The most schemas in a document with every reference replaced by its target.
EXPANDED_NODES = 100_000

#: The longest chain of references. Validators follow them recursively, on the machine's stack.
REFERENCE_CHAIN = 100


class SurveyError(ValueError):
    """Why a document cannot be used. `node`: the schema at fault. `too_large`: whether it is valid, but beyond a
    limit."""

    def __init__(self, text: str, node: Schema, *, too_large: bool = False) -> None:
        super().__init__(text)
        self.node = node
        self.too_large = too_large


class Edge(NamedTuple):
    """A reference inside a unit: the id of its target, and what lies between the unit's root and the reference."""

    target: int
    #: Whether only keywords lie between that apply to the same value.
    in_place: bool
    #: Whether an optional property lies between.
    optional: bool


@dataclass(slots=True)
class Unit:
    """The document, or a schema that a reference points to."""

    schema: Schema
    nodes: int = 0
    edges: list[Edge] = field(default_factory=list)


class Survey:
    """The units of a document by the `id()` of their schema, the root's first. Raises SurveyError for a reference
    without a target in the document, for references that never end, and for a document beyond the limits."""

    def __init__(self, root: dict[str, Any]) -> None:
        self.references = References(root)
        self.units: dict[int, Unit] = {id(root): Unit(root)}
        self._walked = 0
        #: How many schemas the document has with its references expanded, each cycle once.
        self.size = 0
        waiting: list[Schema] = [root]
        while waiting:
            waiting += self._visit(self.units[id(waiting.pop())])
        if len(self.units) > 1 or self.units[id(root)].edges:
            if self._has_cycle(lambda edge: edge.in_place):
                raise SurveyError("a reference leads back to itself without going into the value: it never ends", root)
            self.size, _ = self._measure(id(root), {}, 0)
        else:
            self.size = self.units[id(root)].nodes

    def has_cycle(self) -> bool:
        """Whether a schema contains itself."""
        return self._has_cycle(lambda _: True)

    def cycles_only_where_optional(self) -> bool:
        """Whether every cycle passes an optional property."""
        return not self._has_cycle(lambda edge: not edge.optional)

    def _visit(self, unit: Unit) -> Iterator[Schema]:
        """Counts the schemas of a unit and notes its references. Yields their targets that are new units."""
        stack = [(unit.schema, True, False)]
        while stack:
            node, in_place, optional = stack.pop()
            unit.nodes += 1
            self._walked += 1
            if self._walked > EXPANDED_NODES:
                raise self._too_large(unit.schema)
            if not isinstance(node, dict):
                continue
            for keyword in REFERENCES:
                if keyword in node and isinstance(target := self._target(node, keyword), dict):
                    unit.edges.append(Edge(id(target), in_place, optional))
                    if id(target) not in self.units:
                        self.units[id(target)] = Unit(target)
                        yield target
            required = _names(node.get("required"))
            for keyword, key, schema in children(node):
                if keyword not in DEFINITIONS:
                    may_lack = keyword == "properties" and key not in required
                    stack.append((schema, in_place and keyword in IN_PLACE, optional or may_lack))

    def _target(self, node: dict[str, Any], keyword: str) -> Schema:
        target = self.references.target(node[keyword])
        if target is None:
            text = f"`{keyword}` must point to a schema in the same document (#/...); nothing is fetched"
            raise SurveyError(text, node)
        return target

    def _has_cycle(self, counts: Callable[[Edge], bool]) -> bool:
        graph = {key: [edge.target for edge in unit.edges if counts(edge)] for key, unit in self.units.items()}
        try:
            TopologicalSorter(graph).prepare()
        except CycleError:
            return True
        return False

    def _measure(self, key: int, done: dict[int, tuple[int, int]], depth: int) -> tuple[int, int]:
        """How many schemas a unit has with its references expanded, each cycle once, and its longest chain of
        references."""
        if depth > REFERENCE_CHAIN:
            raise self._too_long(self.units[key].schema)
        if key not in done:
            done[key] = (1, 0)  # what a reference back to this unit counts, until it is measured
            size, height = self.units[key].nodes, 0
            for edge in self.units[key].edges:
                inner, chain = self._measure(edge.target, done, depth + 1)
                size, height = size + inner, max(height, chain + 1)
            if size > EXPANDED_NODES:
                raise self._too_large(self.units[key].schema)
            if height > REFERENCE_CHAIN:
                raise self._too_long(self.units[key].schema)
            done[key] = (size, height)
        return done[key]

    @staticmethod
    def _too_large(node: Schema) -> SurveyError:
        text = f"with its references followed it is larger than {EXPANDED_NODES} schemas"
        return SurveyError(text, node, too_large=True)

    @staticmethod
    def _too_long(node: Schema) -> SurveyError:
        text = f"more than {REFERENCE_CHAIN} references lead from one to the next"
        return SurveyError(text, node, too_large=True)


def _names(required: Any) -> frozenset[str]:
    """The names in `required`, whose value was not checked yet. A set, since a hostile schema's lists may be long."""
    return frozenset(name for name in required if isinstance(name, str)) if isinstance(required, list) else frozenset()
