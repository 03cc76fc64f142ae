"""What a provider takes as a tool's parameters, as data, and the conversion of a tool's parameters to that.

A keyword that the provider ignores is sent, since the model reads it. A keyword for which it refuses the request is
converted where that keeps the meaning (`convert`). Else `schema_mode` decides: the keyword is left out, with a warning
and a note for the model (`flatten`, `lossy`, `property_names`), or the tool is refused. Arguments are checked against
the client's own schema in any case.

The rules of each provider are its `Provider.schemas`.
"""

from __future__ import annotations

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
from toolwire.schema.essential import essential
from toolwire.schema.flatten import flattened
from toolwire.schema.lossy import (
    names_alone,
    unused_definitions_dropped,
    with_optional_cycles,
    without_dynamic_references,
)
from toolwire.schema.memory import Memory, digest
from toolwire.schema.property_names import replacements, with_replacements
from toolwire.schema.strict import StrictBudget, StrictCost, strict_cost
from toolwire.schema.survey import Survey, SurveyError
from toolwire.schema.tree import draft_of, parse, walk


@dataclass(frozen=True, slots=True)
class SchemaDialect:
    """What one API takes as parameters. All want a schema of draft 2020-12 whose root has a `type` and no reference."""

    #: The schema to send for a tool without parameters; None: no member.
    empty: bytes | None = None
    #: Whether an object without properties is sent as a tool without parameters.
    omits_empty: bool = False
    #: Keywords that the root may not have.
    refused_at_root: frozenset[str] = frozenset()
    #: The pattern of the names that the root's properties may have.
    property_name: re.Pattern[str] | None = None
    #: Whether the root must have `properties`, and every array `items`.
    whole: bool = False
    #: See `Converter`.
    plain: bool = False
    #: Whether only the keywords of `essential` are sent: "typed" with bounds, patterns and formats, "bare" without.
    essential: Literal["", "typed", "bare"] = ""
    #: Whether a schema may contain itself only through an optional property.
    optional_cycles: bool = False
    #: The limits for all strict tools of a request; tools beyond them are sent without `strict`. None: no limits.
    strict_budget: StrictBudget | None = None


#: Warning: a tool is sent without `strict`. The provider cannot enforce its schema, or the request has too many strict
#: tools.
STRICT_OFF = "strict_turned_off"

#: Warning: a part of a schema was left out, at the path that follows.
SCHEMA_REDUCED = "tool_schema_reduced"
#: Warning: the provider knows parameters by other names, those of the tool at the path that follows.
NAMES_REPLACED = "tool_properties_renamed"
#: Characters that a path in a warning may not have: warnings travel in a header, divided by commas.
_UNFIT = re.compile(r"[^A-Za-z0-9_.$\[\]/~-]")


@dataclass(frozen=True, slots=True)
class Adapted:
    """A tool's schema for one provider. `parameters` is raw JSON, or None if the tool is declared without."""

    parameters: bytes | None
    strict: bool | None
    warnings: tuple[str, ...] = ()
    #: What the tool uses of `SchemaDialect.strict_budget`; None without a budget, or for a tool that is not strict.
    cost: StrictCost | None = None
    #: The note for the model about a part that was left out.
    note: str | None = None
    #: The provider's name for a parameter -> the client's, which the provider refuses.
    names: Mapping[str, str] = field(default_factory=dict)

    def described(self, description: str | None) -> str | None:
        """The tool's description, and the note."""
        return "\n\n".join(text for text in (description, self.note) if text) or None


@dataclass(frozen=True, slots=True)
class _Converted:
    """The conversion of one schema. `raw`: None if it is sent as it is. `omitted`: it is sent as a tool without
    parameters. `features`: what cannot be converted. `cuts`: JSON pointers of what was left out. `note` and `names`:
    see `Adapted`."""

    raw: bytes | None = None
    omitted: bool = False
    features: tuple[str, ...] = ()
    cost: StrictCost | None = None
    cuts: tuple[str, ...] = ()
    note: str | None = None
    names: Mapping[str, str] = field(default_factory=dict)


#: Conversions, by the rules and the schema. The tools of one request are 4 MB at most.
_memory: Memory[_Converted] = Memory(8 << 20)

#: The most places of one schema that warnings or an error name.
_MOST_CUTS = 16

#: How far a schema may be changed: see `adapted`.
SchemaMode = Literal["convert", "reject", "lossy"]


def adapted(tool: Tool, rules: SchemaDialect, path: str, provider: str, mode: SchemaMode | None = None) -> Adapted:
    """The tool's parameters for a provider with these rules: the client's own bytes if the provider takes them. `path`
    is the JSON path of the parameters in the client's request.

    Else they are converted with the same meaning. Where that is not possible, "convert" (which None means) and "lossy"
    leave the feature out, with a warning that names the path; "reject" raises RequestError
    (`tool_schema_incompatible`).
    """
    raw = tool.parameters or rules.empty
    if raw is None:
        return Adapted(None, tool.strict)
    result = _remembered(raw, rules, loosens=mode != "reject")
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


def replaced_names(tool: Tool, rules: SchemaDialect | None, mode: SchemaMode | None) -> Mapping[str, str]:
    """`Adapted.names` of the tool at a provider with these rules. `rules` is None for a provider that takes every
    schema."""
    if tool.parameters is None or mode == "reject" or rules is None or rules.property_name is None:
        return {}
    return _remembered(tool.parameters, rules, loosens=True).names


def _incompatible(tool: Tool, path: str, provider: str, features: tuple[str, ...]) -> RequestError:
    message = (
        f"the parameters of the tool {tool.name!r} (`{path}`) use what {provider} does not take, and it cannot be said "
        f"otherwise without a change of meaning: {', '.join(features)}. Put it otherwise, or let it be changed with "
        "`schema_mode` (the header `x-toolwire-schema-mode`) `convert`"
    )
    return RequestError(message, param=path, code="tool_schema_incompatible", features=_keywords(features))


def _keywords(features: tuple[str, ...]) -> tuple[str, ...]:
    """The keywords of a schema that the features are about, as 2api names them (section 5.4)."""
    about = {"the": "properties", "recursion": "$ref"}
    return tuple(dict.fromkeys(about.get(word, word) for word in (feature.partition(" ")[0] for feature in features)))


def within_strict_budget(tools: Sequence[Adapted], budget: StrictBudget) -> list[Adapted]:
    """The tools of one request within the provider's budget: the costliest lose `strict` until the others fit."""
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


def _remembered(raw: bytes, rules: SchemaDialect, *, loosens: bool) -> _Converted:
    return _memory.found((rules, loosens, digest(raw)), lambda: _fresh(raw, rules, loosens=loosens), _size)


def _size(result: _Converted) -> int:
    texts = (*result.features, *result.cuts, result.note or "", *result.names, *result.names.values())
    return len(result.raw or b"") + sum(map(len, texts))


def _fresh(raw: bytes, rules: SchemaDialect, *, loosens: bool) -> _Converted:
    valid = usable(raw)
    result = _convert(valid.raw, rules)
    if loosens and result.features:
        result = _loosened(valid.raw, rules)
    if valid.raw is not raw:
        raw_now = result.raw or (None if result.omitted else valid.raw)
        result = replace(result, raw=raw_now, cuts=_few((*valid.cuts, *result.cuts)))
    return result


def _few(cuts: Sequence[str]) -> tuple[str, ...]:
    """The cuts; of more than a header should name, the root alone."""
    return tuple(cuts) if len(cuts) <= _MOST_CUTS else ("",)


def _convert(raw: bytes, rules: SchemaDialect) -> _Converted:
    try:
        given = parse(raw)
        survey = Survey(given)
        schema = _said_otherwise(given, survey, rules) if _must(given, rules) else given
        if rules.omits_empty and _is_empty(schema):
            return _Converted(omitted=True)
        features = _unspeakable(schema, survey, rules)
        if rules.essential and not features:
            schema, cuts = _essential(parse(json.encode(schema)), rules)
            features = tuple(dict.fromkeys(cut.rpartition("/")[2] for cut in cuts))[:_MOST_CUTS]
        cost = strict_cost(schema, survey) if rules.strict_budget is not None else None
    except CannotConvertError as error:
        return _Converted(features=(str(error),))
    except SurveyError:
        return _Converted(features=("$ref",))
    except RecursionError:
        return _Converted(features=("nesting",))
    return _Converted(None if schema == given else json.encode(schema), features=features, cost=cost)


def _said_otherwise(given: dict[str, Any], survey: Survey, rules: SchemaDialect) -> dict[str, Any]:
    """The schema in keywords that the provider takes, with the same meaning. Raises CannotConvertError."""
    schema = Converter(given, survey.references, plain=rules.plain or bool(rules.essential)).document()
    if rules.whole:
        _make_whole(schema)
    return schema


def _make_whole(schema: dict[str, Any]) -> None:
    schema.setdefault("properties", {})
    for node in walk(schema):
        node |= {"items": {}} if _lacks_items(node) else {}


def _essential(schema: dict[str, Any], rules: SchemaDialect) -> tuple[dict[str, Any], list[str]]:
    """See `essential`."""
    found, cuts = essential(schema, keeps_bounds=rules.essential == "typed")
    if rules.whole:
        _make_whole(found)
    return found, cuts


def _loosened(raw: bytes, rules: SchemaDialect) -> _Converted:
    """The schema without the features that cannot be converted, with the places of these."""
    schema: dict[str, Any] = parse(raw)
    note: str | None = None
    try:
        cuts = without_dynamic_references(schema)
        survey = Survey(schema)
        schema = parse(json.encode(_said_otherwise(schema, survey, rules)))
        flat = flattened(schema, rules.refused_at_root)
        cuts += flat.cuts
        note = flat.note
        if rules.essential:
            schema, dropped = _essential(schema, rules)
            cuts += dropped
        if rules.optional_cycles and not survey.cycles_only_where_optional():
            cuts += with_optional_cycles(schema)
    except (CannotConvertError, SurveyError, RecursionError):  # no single keyword could be left out
        schema, cuts = names_alone(parse(raw)), [""]
        if rules.essential:
            schema, _ = _essential(schema, rules)
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
    """Whether the schema must be converted at all."""
    if (
        rules.plain
        or rules.essential
        or schema.get("type") != "object"
        or "$ref" in schema
        or rules.refused_at_root & schema.keys()
    ):
        return True
    if rules.whole and ("properties" not in schema or any(map(_lacks_items, walk(schema)))):
        return True
    draft = draft_of(schema)
    return draft < 2020 and any(_is_dated(node, draft) for node in walk(schema))


def _lacks_items(node: dict[str, Any]) -> bool:
    kind = node.get("type")
    return (kind == "array" or (isinstance(kind, list) and "array" in kind)) and "items" not in node


def _is_dated(node: dict[str, Any], draft: int) -> bool:
    """Whether a node of an old draft's schema would have another meaning in 2020-12."""
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
    """Whether the schema restricts no argument: it allows none, or any."""
    says = {word for word, value in schema.items() if value not in ({}, [], True)}
    return says <= {"type", "title", "description", "$comment"} | (
        {"additionalProperties"} if schema.get("additionalProperties") is False else set()
    )


def _unspeakable(schema: dict[str, Any], survey: Survey, rules: SchemaDialect) -> tuple[str, ...]:
    """The features for which the provider would refuse the schema."""
    features = [f"{keyword} at the root" for keyword in sorted(rules.refused_at_root & schema.keys())]
    if rules.property_name is not None:
        odd = replacements(list(schema.get("properties", ())), rules.property_name).values()
        features += [f"the property name {name[:100]!r}" for name in islice(odd, _MOST_CUTS)]
    if rules.optional_cycles and not survey.cycles_only_where_optional():
        places = with_optional_cycles(parse(json.encode(schema)))
        features += [f"recursion through the required property {place}" for place in places[:_MOST_CUTS]]
    return tuple(features)
