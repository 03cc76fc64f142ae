"""The arguments of one call against its tool's schema: the verdict, the words, and hostile schemas and arguments."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.named_rows import each_row
from toolwire.model.errors import RequestError
from toolwire.model.request import Tool
from toolwire.policy import arguments
from toolwire.policy.arguments import Flaw, find_faults
from toolwire.schema.check import check_parameters
from toolwire.schema.explain import MOST
from toolwire.schema.memory import Memory

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "minLength": 2, "maxLength": 5},
        "days": {"type": "integer", "minimum": 1, "exclusiveMaximum": 10},
        "unit": {"enum": ["secret-c", "secret-f"]},
        "tags": {"type": "array", "items": {"type": ["string", "null"]}, "maxItems": 2, "uniqueItems": True},
        "where": {"anyOf": [{"type": "string"}, {"type": "object", "required": ["x"]}]},
        "zip": {"type": "string", "pattern": "^[0-9]{5}$"},
        "a/b": {"const": 1},
        "step": {"multipleOf": 0.01},
    },
    "required": ["city"],
    "additionalProperties": False,
}


def judged(text: str, schema: Any = None) -> Flaw | None:
    raw = json.dumps(SCHEMA if schema is None else schema).encode()
    check_parameters(Tool("f", parameters=raw), "p")
    return next(iter(find_faults(text, raw)), None)


@each_row(
    "text",
    [
        '{"city":"Rome"}',
        ' {"city" : "Rome", "days": 9} ',
        '{"city":"Rome","days":3.0}',
        '{"city":"Rome","tags":["a",null]}',
        '{"city":"Rome","where":{"x":1}}',
        '{"city":"Rome","zip":"01234"}',
        '{"city":"\\ud83d\\ude00x"}',
        '{"city":"Rome","a/b":1,"step":1.10}',
        '{"city":"Rome","step":0.07}',
    ],
)
def test_valid(text: str) -> None:
    assert judged(text) is None
    assert not list(Draft202012Validator(SCHEMA).iter_errors(json.loads(text))) or "0.07" in text  # binary floats


@each_row(
    ("text", "path", "expected", "got"),
    [
        ("{}", "", "the property 'city'", "none of that name"),
        ('{"city":1}', "/city", "a string", "an integer"),
        ('{"city":"x"}', "/city", "at least 2 characters", "a string of 1 characters"),
        ('{"city":"London"}', "/city", "at most 5 characters", "a string of 6 characters"),
        ('{"city":"Rome","days":1.5}', "/days", "an integer", "a number"),
        ('{"city":"Rome","days":true}', "/days", "an integer", "a boolean"),
        ('{"city":"Rome","days":0}', "/days", "a number of at least 1", "an integer"),
        ('{"city":"Rome","days":10}', "/days", "a number below 10", "an integer"),
        ('{"city":"Rome","unit":"k"}', "/unit", "one of the values of `enum`", "a string"),
        ('{"city":"Rome","tags":["a",1]}', "/tags/1", "null or a string", "an integer"),
        ('{"city":"Rome","tags":["a","b","c"]}', "/tags", "at most 2 items", "an array of 3 items"),
        ('{"city":"Rome","tags":["a","a"]}', "/tags", "items that are all different", "an array"),
        ('{"city":"Rome","where":{}}', "/where", "a value that one of the schemas of `anyOf` allows", "an object"),
        ('{"city":"Rome","zip":"1"}', "/zip", "text that matches the pattern", "a string"),
        ('{"city":"Rome","a/b":2}', "/a~1b", "the value of `const`", "an integer"),
        ('{"city":"Rome","step":0.001}', "/step", "a multiple of 0.01", "a number"),
        ('{"city":"Rome","ctiy":"x"}', "", "no property but those of the schema", "also 'ctiy'"),
    ],
)
def test_invalid(text: str, path: str, expected: str, got: str) -> None:
    assert judged(text) == Flaw("invalid_tool_arguments", path, expected, got)
    assert list(Draft202012Validator(SCHEMA).iter_errors(json.loads(text)))


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ('{"city":1,"days":"x"}', {("/city", "a string"), ("/days", "an integer")}),
        ("{}", {("", "the property 'city'")}),
        ('{"days":0,"unit":"k"}', {("", "the property 'city'"), ("/days", "a number of at least 1")}
         | {("/unit", "one of the values of `enum`")}),
        # The schema of `anyOf` that fits best says what is missing.
        ('{"city":"Rome","where":{}}', {("/where", "a value that one of the schemas of `anyOf` allows")}
         | {("/where", "the property 'x'")}),
        ('{"city":"Rome","tags":[1,2,"a"]}', {("/tags", "at most 2 items"), ("/tags/0", "null or a string")}
         | {("/tags/1", "null or a string")}),
        ('{"city":"Rome","days":2.0,"x":1,"y":2}', {("", "no property but those of the schema")}),
        ('{"city":"Rome","zip":"1","step":0.001}', {("/zip", "text that matches the pattern")}
         | {("/step", "a multiple of 0.01")}),
    ],
)  # fmt: skip
def test_all_faults_are_told_at_once(text: str, faults: set[tuple[str, str]]) -> None:
    found = find_faults(text, json.dumps(SCHEMA).encode())
    assert {(flaw.path, flaw.expected) for flaw in found} == faults
    assert len(found) == len(faults)


@each_row(
    "schema",
    [
        {"properties": {"a": False}},
        {"properties": {"a": {"items": False}}},
        {"properties": {"a": {"allOf": [False]}}},
        {"properties": {"a": {"anyOf": [False, False]}}},
        {"properties": {"a": {"contains": False}}},
        {"properties": {"a": {"not": True}}},
        {"patternProperties": {"a": False}},
        {"additionalProperties": {"prefixItems": [False]}},
        {"dependentSchemas": {"a": False}},
        {"propertyNames": False},
        {"$ref": "#/$defs/no", "$defs": {"no": False}},
    ],
    ids=json.dumps,
)
def test_the_schema_false_is_explained_as_well(schema: dict[str, Any]) -> None:
    """It has no keyword that could be named."""
    flaw = judged('{"a":[1]}', {"type": "object", **schema})
    assert flaw is not None
    assert "None" not in flaw.expected


@pytest.mark.parametrize(
    "number", ["1e400", "-1e400", "1e308", "1e40", "12345678901234567890123456789012345678901234.5"]
)
def test_a_number_that_pythons_arithmetic_cannot_divide(number: str) -> None:
    """It is judged by the validator, and explained in its words alone."""
    flaw = judged('{"a":%s,"b":1}' % number, {"type": "object", "properties": {"a": {"multipleOf": 7e-30}, "b": False}})  # noqa: UP031
    assert flaw is not None


def test_the_faults_of_one_call_are_bounded() -> None:
    schema = {"type": "object", "additionalProperties": {"type": "integer"}}
    text = json.dumps({str(number): "x" for number in range(100)})
    assert len(find_faults(text, json.dumps(schema).encode())) == MOST


@pytest.mark.parametrize(
    "keywords",
    [
        {"properties": {"a": {"pattern": "^(a|aa)+$"}}},
        {"patternProperties": {"^(a|aa)+$": {"type": "string"}}, "additionalProperties": False},
        {"patternProperties": {"^(a|aa)+$": {"type": "string"}}, "unevaluatedProperties": False},
        {"propertyNames": {"pattern": "^(a|aa)+$"}},
        {"dependentSchemas": {"a": {"patternProperties": {"^(a|aa)+$": {"type": "integer"}}}}},
    ],
)
def test_no_pattern_of_a_client_is_run_to_explain(keywords: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Python's engine has no bound."""

    def ran(*_: Any) -> None:
        raise AssertionError("a pattern was run")

    schema = json.dumps({"type": "object", "required": ["b"]} | keywords).encode()
    for name in ("search", "match", "fullmatch"):
        monkeypatch.setattr(re, name, ran)
    flaws = find_faults('{"a":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!"}', schema)
    assert ("", "the property 'b'") in {(flaw.path, flaw.expected) for flaw in flaws}


@each_row(
    ("text", "got"),
    [
        ("", "nothing"),
        ("{", "text that is no JSON"),
        ('{"city":"Rome"} {}', "text that is no JSON"),
        ('{"days":NaN}', "text that is no JSON"),
        ('{"days":-Infinity}', "text that is no JSON"),
        ("{'city':'Rome'}", "text that is no JSON"),
        ("[]", "an array"),
        ('"Rome"', "a string"),
        ("null", "null"),
        ("12345678901234567890.5", "a number"),
        ('{"city":"\\ud83d"}', "half a surrogate pair"),
        ('{"city":"\ud83d"}', "text that is no JSON"),
        ('{"days":' + "1" * 5000 + "}", "text that is no JSON"),
        ("[" * 100_000, "text that is no JSON"),
    ],
)
def test_malformed(text: str, got: str) -> None:
    flaw = judged(text)
    assert flaw is not None
    assert (flaw.code, flaw.path, flaw.got) == ("malformed_tool_arguments", "", got)


@pytest.mark.parametrize("text", ["{}", '{"anything":[1,2]}'])
def test_a_tool_without_parameters_takes_every_object(text: str) -> None:
    assert find_faults(text, None) == []


def test_large_and_exact_numbers_are_compared_as_they_are_written() -> None:
    schema = {"type": "object", "properties": {"n": {"maximum": 9007199254740993}}}
    assert judged('{"n":9007199254740993}', schema) is None
    assert judged('{"n":9007199254740994}', schema) is not None


def test_no_value_is_ever_quoted() -> None:
    text = json.dumps({"city": "hunter2-hunter2", "unit": "hunter2", "zip": "hunter2", "where": {"y": "hunter2"}})
    for name in SCHEMA["properties"]:
        flaw = judged(text, {"type": "object", "properties": {name: SCHEMA["properties"][name]}})
        assert "hunter2" not in str(flaw)
        assert "secret" not in str(flaw)
    assert "hunter2" not in str(find_faults(text, json.dumps(SCHEMA).encode()))


# ---------------------------------------------------------------- drafts and foreign patterns


@pytest.mark.parametrize(
    ("schema", "valid", "invalid"),
    [
        (
            {
                "$schema": "http://json-schema.org/draft-04/schema#",
                "properties": {"n": {"maximum": 3, "exclusiveMaximum": True}},
            },
            '{"n":2}',
            '{"n":3}',
        ),
        (
            {
                "$schema": "http://json-schema.org/draft-07/schema#",
                "properties": {"n": {"items": [{"type": "string"}]}},
            },
            '{"n":["a",1]}',
            '{"n":[1]}',
        ),
        ({"properties": {"n": {"prefixItems": [{"type": "string"}]}}}, '{"n":["a",1]}', '{"n":[1]}'),
        ({"properties": {"n": {"type": "string", "pattern": "\\Aab\\Z"}}}, '{"n":"zz"}', '{"n":1}'),
        ({"properties": {"n": {"$ref": "#/$defs/t"}}, "$defs": {"t": {"type": "null"}}}, '{"n":null}', '{"n":1}'),
        ({"properties": {"pattern": {"type": "string"}}}, '{"pattern":"(("}', '{"pattern":1}'),
    ],
)
def test_dialects(schema: dict[str, Any], valid: str, invalid: str) -> None:
    assert judged(valid, schema) is None
    flaw = judged(invalid, schema)
    assert flaw is not None
    assert flaw.code == "invalid_tool_arguments"


# ---------------------------------------------------------------- hostile input

LOOP = {"anyOf": [{"$ref": "#/$defs/n"}, {"$ref": "#/$defs/n"}, {"$ref": "#/$defs/n"}]}
RECURSIVE = {
    "type": "object",
    "properties": {"n": LOOP},
    "$defs": {"n": {"type": "object", "properties": {"n": LOOP}, "required": ["v"]}},
}


def nested(levels: int, inner: dict[str, Any]) -> str:
    value = inner
    for _ in range(levels):
        value = {"n": value, "v": 1}
    return json.dumps(value)


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        # Three ways into itself at each level: 3^60 ways to fail at the bottom.
        (RECURSIVE, nested(60, {})),
        # Patterns that backtrack: each string is given up after a bounded number of steps.
        (
            {"type": "object", "properties": {"a": {"items": {"pattern": "^(a|aa)+$"}}}},
            json.dumps({"a": ["a" * 40 + "!"] * 500}),
        ),
        # A large schema against many values.
        (
            {"type": "object", "properties": {"a": {"items": {"anyOf": [{"const": n} for n in range(3000)]}}}},
            json.dumps({"a": ["x"] * 20_000}),
        ),
        ({"type": "object", "additionalProperties": {"$ref": "#"}}, nested(500, {})),
    ],
    ids=["recursion", "patterns", "size", "depth"],
)
def test_what_would_take_for_ever_is_refused(schema: dict[str, Any], text: str) -> None:
    flaw = judged(text, schema)
    assert flaw is not None
    assert flaw.code == "invalid_tool_arguments"


def test_a_tree_is_explained_to_its_leaves() -> None:
    tree = {
        "type": "object",
        "properties": {"v": {"type": "integer"}, "children": {"type": "array", "items": {"$ref": "#"}}},
        "required": ["v"],
    }
    value: dict[str, Any] = {"v": "leaf"}
    for _ in range(20):
        value = {"v": 1, "children": [value]}
    flaw = judged(json.dumps(value), tree)
    assert flaw == Flaw("invalid_tool_arguments", "/children/0" * 20 + "/v", "an integer", "a string")


def test_nothing_is_fetched() -> None:
    schema = json.dumps({"type": "object", "properties": {"a": {"$ref": "http://127.0.0.1:9/x"}}}).encode()
    with pytest.raises(RequestError):
        check_parameters(Tool("f", parameters=schema), "p")


def test_what_is_kept_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: Memory[Any] = Memory(10_000)
    monkeypatch.setattr(arguments, "_memory", kept)
    for number in range(50):
        judged("{}", {"type": "object", "title": str(number)})
        assert 0 < kept.held <= 10_000
    before = len(kept)
    assert before < 50
    judged("{}", {"type": "object", "title": "x" * 1_000})
    assert len(kept) == before  # too large to keep
