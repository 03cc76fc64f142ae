"""Checks the arguments of one call against its tool's schema, and explains the faults in words of our own.

`is_valid` of jsonschema_rs decides. It remembers which parts of a recursive schema it has checked. Its `validate`
explains the first fault, and jsonschema the others (`schema.explain`), so that a model can mend all in one turn.
Neither remembers, so each is called only if its work has a small bound. Schemas come from clients, arguments from
models that clients prompt: sizes, nesting and steps of patterns are bounded, and arguments that cannot be checked
within the bounds are refused. Nothing is fetched.

An explanation names paths and types, never values: values are the conversation's, and errors are logged.
"""

from __future__ import annotations

import json
from decimal import Decimal
from math import prod
from typing import Any, NamedTuple

from toolwire.policy.definitions import measure
from toolwire.schema.check import Validator, compiled_validator, usable
from toolwire.schema.explain import FALSE, MOST, Explained, faults_of_value
from toolwire.schema.memory import Memory, digest
from toolwire.schema.survey import Survey
from toolwire.schema.tree import draft_of, escaped, parse

UNKNOWN = "unknown_tool_call"
MALFORMED = "malformed_tool_arguments"
INVALID = "invalid_tool_arguments"

#: The most levels of objects and arrays that arguments may have.
LEVELS = 128

#: The most work, as schemas times values, of a check (about a second), of the first fault's explanation and of the
#: others' (which Python does: a tenth of a second).
_VERDICT_STEPS = 20_000_000
_EXPLANATION_STEPS = 1_000_000
_EVERY_FAULT_STEPS = 20_000

#: A validator holds up to 17 times its schema's text (measured): these are the tools of twenty conversations or more.
_VALIDATOR_BYTES = 17
_memory: Memory[Judge] = Memory(32 << 20)


class Flaw(NamedTuple):
    """A fault of a call's arguments: see `model.call_faults.CallFault`."""

    code: str
    path: str
    expected: str
    got: str


class Judge(NamedTuple):
    """A schema that is ready for checks. `size`: how many schemas it has with its references expanded. `ways`: an upper
    bound of the references by which it enters itself one level deeper; 1 if it does not contain itself."""

    validator: Validator
    size: int
    ways: int


def find_faults(text: str, parameters: bytes | None) -> list[Flaw]:
    """The faults of a call's arguments, the validator's own first; none of valid arguments. `parameters` is a schema
    that `schema.check` accepts; None accepts every object."""
    try:
        value = json.loads(text, parse_float=Decimal, parse_constant=_no_number)
        text.encode()
    except (ValueError, RecursionError):
        return [Flaw(MALFORMED, "", "a JSON object", "text that is no JSON" if text else "nothing")]
    if not isinstance(value, dict):
        return [Flaw(MALFORMED, "", "a JSON object", _kind(value))]
    if parameters is None:
        return []
    levels, nodes = measure(text.encode())
    if levels > LEVELS:
        return [Flaw(INVALID, "", f"at most {LEVELS} levels of objects and arrays", f"{levels} levels")]
    schema = usable(parameters).raw
    judge = _judge(schema)
    steps = judge.size * (nodes + text.count(",") + 1)
    if steps > _VERDICT_STEPS:
        return [Flaw(INVALID, "", "arguments that can be checked against so large a schema", "too many values")]
    try:
        if judge.validator.is_valid(value):
            return []
        steps *= judge.ways**levels
        if steps > _EXPLANATION_STEPS:
            return [Flaw(INVALID, "", "what the tool's schema allows", "something else")]
        first = _first_fault(judge.validator, value)
    except UnicodeEncodeError:
        return [Flaw(MALFORMED, "", "text", "half a surrogate pair")]
    if steps > _EVERY_FAULT_STEPS:
        return [_flaw(first)]
    # jsonschema tells the first one, too, and of names all that are missing or too many.
    found = faults_of_value(schema, text, draft_of(json.loads(schema)))
    found.sort(key=lambda fault: (fault.path, fault.keyword) != (first.path, first.keyword))
    if not found or (found[0].path, found[0].keyword) != (first.path, first.keyword):
        found.insert(0, first)
    return list(dict.fromkeys(map(_flaw, found)))[:MOST]


def _no_number(word: str) -> Any:
    raise ValueError(word)  # NaN and Infinity, which Python's parser accepts


def _judge(parameters: bytes) -> Judge:
    return _memory.found(digest(parameters), lambda: _made(parameters), lambda _: _VALIDATOR_BYTES * len(parameters))


def _made(parameters: bytes) -> Judge:
    survey = Survey(parse(parameters))
    # A chain of references within one level passes each unit at most once, so the product is an upper bound.
    ways = prod(max(len(unit.edges), 1) for unit in survey.units.values()) if survey.has_cycle() else 1
    return Judge(compiled_validator(parameters), survey.size, ways)


def _first_fault(validator: Validator, value: Any) -> Explained:
    """The first fault of a value that the validator refuses."""
    import jsonschema_rs

    try:
        validator.validate(value)
    except jsonschema_rs.ValidationError as error:
        return Explained(tuple(error.instance_path), error.kind.name, _wanted(error.kind), error.instance)
    raise AssertionError("`is_valid` found a fault that `validate` does not")


def _wanted(kind: Any) -> Any:
    """The validator's word for `Explained.wanted`."""
    if kind.name == "required":
        return [kind.property]
    for member in ("types", "unexpected", "value"):
        if hasattr(kind, member):
            return getattr(kind, member)
    return None


def _flaw(fault: Explained) -> Flaw:
    """The fault in words, without a value of the arguments or of the schema."""
    return Flaw(INVALID, "".join("/" + escaped(step) for step in fault.path), *_words(fault))


#: Keyword -> what it expects, for keywords whose value is a number, which may be shown.
_EXPECTED = {
    "exclusiveMaximum": "a number below {}",
    "exclusiveMinimum": "a number above {}",
    "maxItems": "at most {} items",
    "maxLength": "at most {} characters",
    "maxProperties": "at most {} properties",
    "maximum": "a number of at most {}",
    "minItems": "at least {} items",
    "minLength": "at least {} characters",
    "minProperties": "at least {} properties",
    "minimum": "a number of at least {}",
    "multipleOf": "a multiple of {}",
}
#: Keyword -> what it expects, for keywords whose value is a schema or the client's, and is not shown.
_EXPECTED_OTHERWISE = {
    "anyOf": "a value that one of the schemas of `anyOf` allows",
    "const": "the value of `const`",
    "contains": "an item that the schema of `contains` allows",
    "enum": "one of the values of `enum`",
    FALSE: "no value, which the schema `false` says",
    "not": "a value that the schema of `not` does not allow",
    "oneOf": "a value that exactly one of the schemas of `oneOf` allows",
    "pattern": "text that matches the pattern",
    "propertyNames": "property names that the schema of `propertyNames` allows",
    "uniqueItems": "items that are all different",
}


def _words(fault: Explained) -> tuple[str, str]:
    """What a keyword expects and what the value is, in words."""
    keyword, wanted = fault.keyword, fault.wanted
    got = _measured(keyword, fault.value)
    if keyword == "type":
        types = [wanted] if isinstance(wanted, str) else sorted(wanted)
        return " or ".join(map(_article, types)), got
    if keyword == "required" and isinstance(wanted, list):
        return "the property " + " and ".join(repr(str(name)[:64]) for name in wanted[:5]), "none of that name"
    if keyword in ("additionalProperties", "unevaluatedProperties") and isinstance(wanted, list):
        return "no property but those of the schema", "also " + ", ".join(repr(name[:64]) for name in wanted[:5])
    if keyword in _EXPECTED:
        return _EXPECTED[keyword].format(str(wanted)[:40]), got
    return _EXPECTED_OTHERWISE.get(keyword, f"what `{keyword}` of the schema allows"), got


def _measured(keyword: str, value: Any) -> str:
    """The value's type, with its size if the keyword limits that."""
    units = {"Length": "characters", "Items": "items", "Properties": "properties"}
    unit = units.get(keyword[3:]) if keyword[:3] in ("min", "max") else None
    return _kind(value) if unit is None else f"{_kind(value)} of {len(value)} {unit}"


def _kind(value: Any) -> str:
    """The JSON type of a value, with its article."""
    for kind, name in ((bool, "boolean"), (int, "integer"), (str, "string"), (list, "array"), (dict, "object")):
        if isinstance(value, kind):
            return _article(name)
    return "null" if value is None else "a number"


def _article(name: str) -> str:
    return name if name == "null" else f"{'an' if name[0] in 'aio' else 'a'} {name}"
