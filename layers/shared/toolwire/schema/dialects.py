"""What a provider takes as a tool's parameters, as data, and a tool's parameters in its words.

A keyword that a provider documents as ignored is sent: the model reads it, and the meaning stays. One that makes it
refuse the whole request is converted if nothing is lost (`convert` says when). Else it is left out, with a warning, and
in words for the model (`flatten`, `lossy`, `property_names`), or the tool is refused here, by name: `schema_mode` says
which. Arguments are checked against the client's own schema in any case.

Each provider has its rules as `Provider.schemas`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Literal

from msgspec import json

from toolwire.model.errors import RequestError
from toolwire.model.request import Tool
from toolwire.schema.check import usable
from toolwire.schema.convert import CONDITIONS, CONDITIONS_SINCE, CannotConvertError, Converter
from toolwire.schema.flatten import flattened
from toolwire.schema.lossy import (
    names_alone,
    unused_definitions_dropped,
    with_optional_cycles,
    without_dynamic_references,
)
from toolwire.schema.property_names import replacements, with_replacements
from toolwire.schema.strict import StrictBudget, StrictCost, strict_cost
from toolwire.schema.survey import Survey, SurveyError
from toolwire.schema.tree import draft_of, parse, walk


@dataclass(frozen=True, slots=True)
class SchemaDialect:
    """What one API takes. Each wants a schema of draft 2020-12, with `type` and without a reference at its root."""

    #: What is sent for a tool without parameters; None: nothing.
    empty: bytes | None = None
    #: Whether an object without properties is sent as a tool without parameters.
    omits_empty: bool = False
    #: Keywords that may not stand at the root.
    refused_at_root: frozenset[str] = frozenset()
    #: What the names of the root's properties must match.
    property_name: re.Pattern[str] | None = None
    #: Whether the root must have `properties`, and an array `items`.
    whole: bool = False
    #: Whether only the words that the provider documents are used where there is a choice.
    plain: bool = False
    #: Whether a schema may contain itself only through a property that need not be there.
    optional_cycles: bool = False
    #: What strict tools share; what is beyond it is sent without `strict`. None: there is no such bound.
    strict_budget: StrictBudget | None = None


#: `strict` was asked for, and the schema says more than the provider can force, or the request has too many such.
STRICT_OFF = "strict_turned_off"

#: Something was left out of a schema, at the path that follows.
SCHEMA_REDUCED = "tool_schema_reduced"
#: Parameters have other names at the provider, of the tool at the path that follows.
NAMES_REPLACED = "tool_properties_renamed"
#: What may not stand in a warning: warnings travel in a header, divided by commas.
_UNFIT = re.compile(r"[^A-Za-z0-9_.$\[\]/~-]")


@dataclass(frozen=True, slots=True)
class Adapted:
    """A tool's schema for one provider: `parameters` is raw JSON, None if the declaration goes without."""

    parameters: bytes | None
    strict: bool | None
    warnings: tuple[str, ...] = ()
    #: What the tool takes of the provider's budget for strict tools; None where there is none, or it is not strict.
    cost: StrictCost | None = None
    #: What the model should know of what was left out.
    note: str | None = None
    #: The names that the provider has for parameters whose own it refuses -> these.
    names: Mapping[str, str] = field(default_factory=dict)

    def described(self, description: str | None) -> str | None:
        """The tool's description, and the note."""
        return "\n\n".join(text for text in (description, self.note) if text) or None


@dataclass(frozen=True, slots=True)
class _Converted:
    """What becomes of one schema. `raw` is None if it goes as it is; `features` are what cannot be said, or could not;
    `cuts` is where something was left out; `note` and `names`: see `Adapted`."""

    raw: bytes | None = None
    omitted: bool = False
    features: tuple[str, ...] = ()
    cost: StrictCost | None = None
    cuts: tuple[str, ...] = ()
    note: str | None = None
    names: Mapping[str, str] = field(default_factory=dict)


#: Conversions by rules and SHA-256 of the schema: a conversation sends the same tools with every turn. Larger ones
#: are made anew, so that what is kept is bounded.
_KEPT, _KEPT_BYTES = 1024, 32 << 10
_converted: dict[tuple[SchemaDialect, bool, bytes], _Converted] = {}

#: Places of one schema that are told apart when something is left out of it.
_MOST_CUTS = 16

#: How far a schema may change on its way: see `adapted`.
SchemaMode = Literal["convert", "reject", "lossy"]


def adapted(tool: Tool, rules: SchemaDialect, path: str, provider: str, mode: SchemaMode | None = None) -> Adapted:
    """The tool's parameters for a provider with these rules: the very bytes where nothing must change. `path` is the
    JSON path of the parameters in the client's request.

    Where something must, they say the same in the provider's words. Where the provider has no words for it, "reject"
    refuses; "convert" (which None means) and "lossy" leave it out, with a warning that names the path. Raises
    RequestError (`tool_schema_incompatible`) where the provider cannot be told the same.
    """
    raw = tool.parameters or rules.empty
    if raw is None:
        return Adapted(None, tool.strict)
    result = _cached(raw, rules, loosens=mode != "reject")
    if result.features:
        raise _incompatible(tool, path, provider, result.features)
    warnings = tuple(f"{SCHEMA_REDUCED}:{_UNFIT.sub('_', path + cut)[:200]}" for cut in result.cuts)
    warnings += (f"{NAMES_REPLACED}:{path}",) if result.names else ()
    parameters = None if result.omitted else raw if result.raw is None else result.raw
    strict, cost = tool.strict, None
    if tool.strict and rules.strict_budget is not None:
        cost = result.cost
        strict = None if cost is None else True
        warnings += (STRICT_OFF,) if cost is None else ()
    return Adapted(parameters, strict, warnings, cost, result.note, result.names)


def replaced_names(tool: Tool, rules: SchemaDialect | None, mode: SchemaMode | None = None) -> Mapping[str, str]:
    """`Adapted.names` of the tool at a provider with these rules; None: it takes everything as it is."""
    if tool.parameters is None or mode == "reject" or rules is None or rules.property_name is None:
        return {}
    return _cached(tool.parameters, rules, loosens=True).names


def _incompatible(tool: Tool, path: str, provider: str, features: tuple[str, ...]) -> RequestError:
    message = (
        f"the parameters of the tool {tool.name!r} (`{path}`) use what {provider} does not take, and it cannot be said "
        f"otherwise without a change of meaning: {', '.join(features)}. Put it otherwise, or let it be changed with "
        "`schema_mode` (the header `x-toolwire-schema-mode`) `convert`"
    )
    return RequestError(message, param=path, code="tool_schema_incompatible", features=features)


def within_strict_budget(tools: Sequence[Adapted], budget: StrictBudget) -> list[Adapted]:
    """The tools of one request, the costliest without `strict` until the provider's budget holds the others."""
    result = list(tools)
    strict = [number for number, tool in enumerate(result) if tool.cost is not None]
    while strict:
        costs = [cost for number in strict if (cost := result[number].cost) is not None]
        spent = (len(strict), sum(cost.optional for cost in costs), sum(cost.unions for cost in costs))
        if all(count <= most for count, most in zip(spent, budget, strict=True)):
            break
        fattest = max(range(len(strict)), key=lambda place: (costs[place].optional + costs[place].unions, place))
        number = strict.pop(fattest)
        warnings = (*result[number].warnings, STRICT_OFF)
        result[number] = replace(result[number], strict=None, warnings=warnings, cost=None)
    return result


def _cached(raw: bytes, rules: SchemaDialect, *, loosens: bool) -> _Converted:
    key = (rules, loosens, hashlib.sha256(raw).digest())
    result = _converted.get(key)
    if result is None:
        valid = usable(raw)
        result = _convert(valid.raw, rules)
        if loosens and result.features:
            result = _loosened(valid.raw, rules)
        if valid.raw is not raw:
            raw_now = result.raw or (None if result.omitted else valid.raw)
            result = replace(result, raw=raw_now, cuts=_few((*valid.cuts, *result.cuts)))
        if len(_converted) >= _KEPT:
            _converted.clear()
        if len(result.raw or b"") <= _KEPT_BYTES:
            _converted[key] = result
    return result


def _few(cuts: Sequence[str]) -> tuple[str, ...]:
    """The cuts, or the one that stands for more of them than a header should name."""
    return tuple(cuts) if len(cuts) <= _MOST_CUTS else ("",)


def _convert(raw: bytes, rules: SchemaDialect) -> _Converted:
    try:
        given = parse(raw)
        survey = Survey(given)
        schema = _said_otherwise(given, survey, rules) if _must(given, rules) else given
        if rules.omits_empty and _is_empty(schema):
            return _Converted(omitted=True)
        features = _unspeakable(schema, survey, rules)
        cost = strict_cost(schema, survey) if rules.strict_budget is not None else None
    except CannotConvertError as error:
        return _Converted(features=(str(error),))
    except SurveyError:
        return _Converted(features=("$ref",))
    except RecursionError:
        return _Converted(features=("nesting",))
    return _Converted(None if schema == given else json.encode(schema), features=features, cost=cost)


def _said_otherwise(given: dict[str, Any], survey: Survey, rules: SchemaDialect) -> dict[str, Any]:
    """The same schema in the provider's words. Raises CannotConvertError."""
    schema = Converter(given, survey.references, plain=rules.plain).document()
    if rules.whole:
        schema.setdefault("properties", {})
        for node in walk(schema):
            node |= {"items": {}} if _lacks_items(node) else {}
    return schema


def _loosened(raw: bytes, rules: SchemaDialect) -> _Converted:
    """The schema without what the provider has no words for, and where that was."""
    schema: dict[str, Any] = parse(raw)
    note: str | None = None
    try:
        cuts = without_dynamic_references(schema)
        survey = Survey(schema)
        schema = parse(json.encode(_said_otherwise(schema, survey, rules)))
        dropped, note = flattened(schema, rules.refused_at_root)
        cuts += dropped
        if rules.optional_cycles and not survey.cycles_only_where_optional():
            cuts += with_optional_cycles(schema)
    except (CannotConvertError, SurveyError, RecursionError):  # nothing that can be cut alone
        schema, cuts = names_alone(parse(raw)), [""]
    names: dict[str, str] = {}
    if rules.property_name is not None:
        names = replacements(list(schema.get("properties", ())), rules.property_name)
        schema = with_replacements(schema, names)
    unused_definitions_dropped(schema)
    if rules.omits_empty and _is_empty(schema):
        return _Converted(omitted=True, cuts=_few(cuts), note=note)
    cost = strict_cost(schema, Survey(schema)) if rules.strict_budget is not None else None
    return _Converted(json.encode(schema), cost=cost, cuts=_few(cuts), note=note, names=names)


def _must(schema: dict[str, Any], rules: SchemaDialect) -> bool:
    """Whether there is anything to convert."""
    if rules.plain or schema.get("type") != "object" or "$ref" in schema or rules.refused_at_root & schema.keys():
        return True
    if rules.whole and ("properties" not in schema or any(map(_lacks_items, walk(schema)))):
        return True
    draft = draft_of(schema)
    return draft < 2020 and any(_is_dated(node, draft) for node in walk(schema))


def _lacks_items(node: dict[str, Any]) -> bool:
    kind = node.get("type")
    return (kind == "array" or (isinstance(kind, list) and "array" in kind)) and "items" not in node


def _is_dated(node: dict[str, Any], draft: int) -> bool:
    """Whether a schema of an old draft would mean something else in 2020-12."""
    return (
        isinstance(node.get("items"), list)
        or not {"additionalItems", "dependencies"}.isdisjoint(node)
        or isinstance(node.get("exclusiveMinimum"), bool)
        or isinstance(node.get("exclusiveMaximum"), bool)
        or ("$ref" in node and len(node) > 1)
        or any(isinstance(node.get(word), str) and node[word].startswith("#") for word in ("$id", "id"))
        or (draft < CONDITIONS_SINCE and not CONDITIONS.isdisjoint(node))
    )


def _is_empty(schema: dict[str, Any]) -> bool:
    """Whether the object has no properties to speak of: no call could have arguments, or all of them could."""
    says = {word for word, value in schema.items() if value not in ({}, [], True)}
    return says <= {"type", "title", "description", "$comment"} | (
        {"additionalProperties"} if schema.get("additionalProperties") is False else set()
    )


def _unspeakable(schema: dict[str, Any], survey: Survey, rules: SchemaDialect) -> tuple[str, ...]:
    """What the provider would refuse."""
    features = [f"{keyword} at the root" for keyword in sorted(rules.refused_at_root & schema.keys())]
    if rules.property_name is not None:
        odd = replacements(list(schema.get("properties", ())), rules.property_name).values()
        features += [f"the property name {name[:100]!r}" for name in islice(odd, _MOST_CUTS)]
    if rules.optional_cycles and not survey.cycles_only_where_optional():
        places = with_optional_cycles(parse(json.encode(schema)))
        features += [f"recursion through the required property {place}" for place in places[:_MOST_CUTS]]
    return tuple(features)
