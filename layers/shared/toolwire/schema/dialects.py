"""What each provider takes as a tool's parameters, as data, and a tool's parameters in its words.

A keyword that a provider documents as ignored is sent: the model reads it, and the meaning stays. One that makes it
refuse the whole request is converted if nothing is lost (`convert` says when), else the tool is refused here, by name.

Where the rows come from: OpenAI takes any schema that is valid (what `strict` asks for is checked with the request).
Anthropic refuses `oneOf`, `allOf` and `anyOf` at the root, wants `type: object` there and property names of 64 plain
characters, and reads 2020-12. Gemini takes JSON Schema in `parametersJsonSchema`; of its keywords it documents `$defs`
and a `$ref` alone in its schema, going round only through properties that need not be there, `enum` of strings and
numbers, inclusive bounds, `anyOf`, `oneOf` and `prefixItems`, and says of others that they are ignored.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from msgspec import json

from toolwire.model.errors import RequestError
from toolwire.model.request import Tool
from toolwire.schema.convert import CannotConvertError, Converter
from toolwire.schema.lossy import (
    ANYTHING,
    unused_definitions_dropped,
    with_optional_cycles,
    without_dynamic_references,
    without_odd_names,
    without_root_keywords,
)
from toolwire.schema.strict import ANTHROPIC_LIMITS, StrictCost, anthropic_cost
from toolwire.schema.survey import Survey, SurveyError
from toolwire.schema.tree import draft_of, parse, walk


@dataclass(frozen=True, slots=True)
class SchemaDialect:
    """What one API takes. The defaults take everything as it is."""

    #: What is sent for a tool without parameters; None: nothing.
    empty: bytes | None = None
    #: Whether an object without properties is sent as a tool without parameters.
    omits_empty: bool = False
    #: Keywords that may not stand at the root.
    refused_at_root: frozenset[str] = frozenset()
    #: What the names of the root's properties must match.
    property_name: re.Pattern[str] | None = None
    #: Whether the schema must be draft 2020-12, with `type` and without a reference at its root.
    modern: bool = False
    #: Whether only the words that the provider documents are used where there is a choice.
    plain: bool = False
    #: Whether a schema may contain itself only through a property that need not be there.
    optional_cycles: bool = False
    #: Whether a strict tool takes of a budget, and what is beyond it is sent without `strict`.
    strict_budget: bool = False


DIALECTS = {
    "anthropic_messages": SchemaDialect(
        empty=b'{"type":"object","properties":{}}',
        refused_at_root=frozenset({"allOf", "anyOf", "oneOf"}),
        property_name=re.compile(r"[A-Za-z0-9_.-]{1,64}"),
        modern=True,
        strict_budget=True,
    ),
    "bedrock_converse": SchemaDialect(
        empty=b'{"type":"object","properties":{}}',
        refused_at_root=frozenset({"allOf", "anyOf", "oneOf"}),
        modern=True,
    ),
    "gemini": SchemaDialect(omits_empty=True, modern=True, plain=True, optional_cycles=True),
}

#: `strict` was asked for, and the schema says more than the provider can force, or the request has too many such.
STRICT_OFF = "strict_turned_off"

#: Something was left out of a schema, at the path that follows.
SCHEMA_REDUCED = "tool_schema_reduced"
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


@dataclass(frozen=True, slots=True)
class _Converted:
    """What becomes of one schema. `raw` is None if it goes as it is; `features` are what cannot be said; `changed` are
    the keywords that are said otherwise; `cuts` is where something was left out (lossy)."""

    raw: bytes | None = None
    omitted: bool = False
    features: tuple[str, ...] = ()
    cost: StrictCost | None = None
    changed: tuple[str, ...] = ()
    cuts: tuple[str, ...] = ()


#: Conversions by dialect and SHA-256 of the schema: a conversation sends the same tools with every turn. Larger ones
#: are made anew, so that what is kept is bounded.
_KEPT, _KEPT_BYTES = 1024, 32 << 10
_converted: dict[tuple[str, bool, bytes], _Converted] = {}

#: Places of one schema that are told apart when something is left out of it.
_MOST_CUTS = 16

#: How far a schema may change on its way: see `adapted`.
SchemaMode = Literal["convert", "reject", "lossy"]


def adapted(tool: Tool, dialect: str, path: str, provider: str, mode: SchemaMode | None = None) -> Adapted:
    """The tool's parameters for a provider of this dialect: the very bytes where nothing must change. `path` is the
    JSON path of the parameters in the client's request.

    Where something must, "convert" (which None means) says the same in the provider's words, "reject" refuses, and
    "lossy" also leaves out what the provider has no words for, with a warning that names the path. Raises RequestError
    (`tool_schema_incompatible`) where the provider cannot be told the same, or not as it is.
    """
    rules = DIALECTS.get(dialect)
    if rules is None:
        return Adapted(tool.parameters, tool.strict)
    raw = tool.parameters or rules.empty
    if raw is None:
        return Adapted(None, tool.strict)
    result = _cached(raw, dialect, rules, lossy=mode == "lossy")
    what = f"the parameters of the tool {tool.name!r} (`{path}`) use what {provider} does not take"
    if result.features:
        raise _incompatible(
            f"{what}, and it cannot be said otherwise without a change of meaning", path, result.features
        )
    if mode == "reject" and result.changed:
        raise _incompatible(f"{what}, and schema_mode `reject` allows no conversion", path, result.changed)
    cuts = tuple(f"{SCHEMA_REDUCED}:{_UNFIT.sub('_', path + cut)[:200]}" for cut in result.cuts)
    parameters = None if result.omitted else raw if result.raw is None else result.raw
    if not (tool.strict and rules.strict_budget):
        return Adapted(parameters, tool.strict, cuts)
    if result.cost is None:
        return Adapted(parameters, None, (*cuts, STRICT_OFF))
    return Adapted(parameters, True, cuts, cost=result.cost)


def _incompatible(text: str, path: str, features: tuple[str, ...]) -> RequestError:
    message = f"{text}: {', '.join(features)}"
    return RequestError(message, param=path, code="tool_schema_incompatible", features=features)


def within_strict_budget(tools: Sequence[Adapted]) -> list[Adapted]:
    """The tools of one request, the costliest without `strict` until the provider's budget holds the others."""
    result = list(tools)
    strict = [number for number, tool in enumerate(result) if tool.cost is not None]
    while strict:
        costs = [cost for number in strict if (cost := result[number].cost) is not None]
        spent = (len(strict), sum(cost.optional for cost in costs), sum(cost.unions for cost in costs))
        if all(count <= most for count, most in zip(spent, ANTHROPIC_LIMITS, strict=True)):
            break
        fattest = max(range(len(strict)), key=lambda place: (costs[place].optional + costs[place].unions, place))
        number = strict.pop(fattest)
        warnings = (*result[number].warnings, STRICT_OFF)
        result[number] = replace(result[number], strict=None, warnings=warnings, cost=None)
    return result


def _cached(raw: bytes, dialect: str, rules: SchemaDialect, *, lossy: bool) -> _Converted:
    key = (dialect, lossy, hashlib.sha256(raw).digest())
    result = _converted.get(key)
    if result is None:
        result = _convert(raw, rules)
        if lossy and result.features:
            result = _reduce(raw, rules)
        if len(_converted) >= _KEPT:
            _converted.clear()
        if len(result.raw or b"") <= _KEPT_BYTES:
            _converted[key] = result
    return result


def _convert(raw: bytes, rules: SchemaDialect) -> _Converted:
    try:
        given = parse(raw)
        survey = Survey(given)
        schema = Converter(given, survey.references, plain=rules.plain).document() if _must(given, rules) else given
        if rules.omits_empty and _is_empty(schema):
            return _Converted(omitted=True)
        features = _unspeakable(schema, survey, rules)
        cost = anthropic_cost(schema, survey) if rules.strict_budget else None
    except CannotConvertError as error:
        return _Converted(features=(str(error),))
    except SurveyError:
        return _Converted(features=("$ref",))
    except RecursionError:
        return _Converted(features=("nesting",))
    if schema == given:
        return _Converted(features=features, cost=cost)
    return _Converted(json.encode(schema), features=features, cost=cost, changed=_difference(given, schema))


def _difference(given: dict[str, Any], schema: dict[str, Any]) -> tuple[str, ...]:
    """The keywords that a conversion has replaced, else those it has added or moved."""
    before, after = (Counter(word for node in walk(root) for word in node) for root in (given, schema))
    return tuple(sorted(before - after)) or tuple(sorted(after - before)) or ("layout",)


def _reduce(raw: bytes, rules: SchemaDialect) -> _Converted:
    """The schema without what the provider has no words for, and where that was."""
    schema: dict[str, Any] = parse(raw)
    try:
        cuts = without_dynamic_references(schema)
        survey = Survey(schema)
        schema = parse(json.encode(Converter(schema, survey.references, plain=rules.plain).document()))
        cuts += without_root_keywords(schema, rules.refused_at_root)
        if rules.property_name is not None:
            cuts += without_odd_names(schema, rules.property_name)
        if rules.optional_cycles and not survey.cycles_only_where_optional():
            cuts += with_optional_cycles(schema)
        unused_definitions_dropped(schema)
        survey = Survey(schema)
        left = _unspeakable(schema, survey, rules)
    except (CannotConvertError, SurveyError, RecursionError):
        left, cuts = ("everything",), [""]
    if len(cuts) > _MOST_CUTS:
        cuts = [""]  # a warning each would be a document of its own
    if left:  # nothing that can be cut alone: the model is told that there are parameters, and no more
        return _Converted(json.encode(ANYTHING), cuts=tuple(cuts) or ("",))
    if rules.omits_empty and _is_empty(schema):
        return _Converted(omitted=True, cuts=tuple(cuts))
    cost = anthropic_cost(schema, survey) if rules.strict_budget else None
    return _Converted(json.encode(schema), cost=cost, cuts=tuple(cuts))


def _must(schema: dict[str, Any], rules: SchemaDialect) -> bool:
    """Whether there is anything to convert."""
    if rules.plain or schema.get("type") != "object" or "$ref" in schema or rules.refused_at_root & schema.keys():
        return True
    return draft_of(schema) < 2020 and any(map(_is_dated, walk(schema)))


def _is_dated(node: dict[str, Any]) -> bool:
    """Whether a schema of an old draft would mean something else in 2020-12."""
    return (
        isinstance(node.get("items"), list)
        or not {"additionalItems", "dependencies"}.isdisjoint(node)
        or isinstance(node.get("exclusiveMinimum"), bool)
        or isinstance(node.get("exclusiveMaximum"), bool)
        or ("$ref" in node and len(node) > 1)
        or any(isinstance(node.get(word), str) and node[word].startswith("#") for word in ("$id", "id"))
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
    pattern = rules.property_name
    if pattern is not None and not all(map(pattern.fullmatch, schema.get("properties", ()))):
        features.append("property names")
    if rules.optional_cycles and not survey.cycles_only_where_optional():
        features.append("recursion through a required property")
    return tuple(features)
