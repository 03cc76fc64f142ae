"""What a schema's references make of it: how large it is once they are followed, and whether they ever end.

Schemas come from clients and are hostile: twenty small definitions that each name the next one twice are a million
schemas to a validator, and one that names itself in place is endless. Both are found here by counting, before anything
is compiled; the work is bounded by the size of the document.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from typing import Any, NamedTuple

from toolwire.schema.tree import DEFINITIONS, IN_PLACE, REFERENCES, References, Schema, children

#: Schemas that a document may stand for once every reference is replaced by what it points to.
EXPANDED_NODES = 100_000

#: References that lead from one to the next. Validators follow them recursively, on the machine's stack.
REFERENCE_CHAIN = 100


class SurveyError(ValueError):
    """Why a document cannot be used, said of the schema `node`; `too_large` if it only stands for too much."""

    def __init__(self, text: str, node: Schema, *, too_large: bool = False) -> None:
        super().__init__(text)
        self.node = node
        self.too_large = too_large


class Edge(NamedTuple):
    """A reference inside a unit: where it leads, and how it is reached from the unit's own root."""

    target: int
    #: Nothing but keywords that apply to the same value lie between.
    in_place: bool
    #: A property that need not be there lies between.
    optional: bool


@dataclass(slots=True)
class Unit:
    """The document, or a schema that a reference points to."""

    schema: Schema
    nodes: int = 0
    edges: list[Edge] = field(default_factory=list)


class Survey:
    """The units of a document by `id()` of their schema, the document's root first. Raises SurveyError for a reference
    that leads elsewhere or nowhere, one that never ends, or a document that stands for too much."""

    def __init__(self, root: dict[str, Any]) -> None:
        self.references = References(root)
        self.units: dict[int, Unit] = {id(root): Unit(root)}
        self._walked = 0
        #: Schemas in the document once its references are followed, a cycle once.
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
        """Whether every cycle passes a property that need not be there."""
        return not self._has_cycle(lambda edge: not edge.optional)

    def _visit(self, unit: Unit) -> Iterator[Schema]:
        """Counts a unit, notes its references, and yields the schemas they make units of."""
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
        """(schemas, longest chain of references) with each reference followed, a cycle once."""
        if depth > REFERENCE_CHAIN:
            raise self._too_long(self.units[key].schema)
        if key not in done:
            done[key] = (1, 0)  # what a reference back to a unit in progress counts
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
    """The names in `required`, which may be anything yet. A set: schemas are hostile, and both lists may be long."""
    return frozenset(name for name in required if isinstance(name, str)) if isinstance(required, list) else frozenset()
