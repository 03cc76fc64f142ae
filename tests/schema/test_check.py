"""Which parameters are refused when a request comes in, with which code, and where the fault is said to be."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import jsonschema_rs
import pytest

from tests.named_rows import each_row
from toolwire.model.errors import RequestError
from toolwire.model.request import ChatRequest, Tool
from toolwire.policy import ToolRules, check_request
from toolwire.schema import check
from toolwire.schema.check import check_parameters, check_strict, compiled_validator, has_slow_pattern, usable
from toolwire.schema.flatten import flattened
from toolwire.schema.lossy import with_optional_cycles
from toolwire.schema.memory import ENTRY_BYTES, Memory
from toolwire.schema.merge import merge
from toolwire.schema.property_names import replacements, with_replacements
from toolwire.schema.strict import strict_cost, strict_fault
from toolwire.schema.survey import EXPANDED_NODES, Survey

PATH = "tools[0].function.parameters"
DRAFT_4 = "http://json-schema.org/draft-04/schema#"
DRAFT_7 = "http://json-schema.org/draft-07/schema#"


def given(schema: Any, *, strict: bool | None = None) -> None:
    raw = schema if isinstance(schema, bytes) else json.dumps(schema).encode()
    tool = Tool("f", parameters=raw, strict=strict)
    check_parameters(tool, PATH)
    check_strict(tool, PATH)


def refused(schema: Any, *, strict: bool | None = None) -> RequestError:
    with pytest.raises(RequestError) as caught:
        given(schema, strict=strict)
    assert (caught.value.status, caught.value.param) == (400, PATH)
    return caught.value


def within(schema: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": schema}}


def chain(length: int) -> dict[str, Any]:
    """A schema of references that lead from one to the next."""
    definitions: dict[str, Any] = {f"d{n}": within({"$ref": f"#/$defs/d{n + 1}"}) for n in range(length - 1)}
    return {"$ref": "#/$defs/d0", "$defs": {**definitions, f"d{length - 1}": {}}}


def doubling(levels: int) -> dict[str, Any]:
    """A schema that stands for two to the power of `levels`."""
    definitions: dict[str, Any] = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(levels)}
    return {"$ref": "#/$defs/d0", "$defs": {**definitions, f"d{levels}": {}}}


@each_row(
    "schema",
    [
        {},
        {"type": "object"},
        {"type": ["object", "null"]},
        within(True),
        within({"type": ["string", "null"], "nullable": True, "x-anything": 1}),
        within({"$ref": "#"}),
        {**within({"$ref": "#/$defs/t"}), "$defs": {"t": True}},
        {**within({"$ref": "#/$defs/a~1b/items/0"}), "$defs": {"a/b": {"items": [{}]}}, "$schema": DRAFT_7},
        {**within({"$ref": "#here"}), "$defs": {"t": {"$anchor": "here"}}},
        {**within({"$ref": "https://example.com/s#/$defs/t"}), "$id": "https://example.com/s", "$defs": {"t": {}}},
        {"$schema": DRAFT_4, **within({"minimum": 1, "exclusiveMinimum": True})},
        {"$schema": DRAFT_7, **within({"items": [{}, {}]})},
        {"$schema": "http://example.com/my-own", **within({})},
        within({"minimum": 123456789012345678901234567890, "multipleOf": 0.01}),
        within({"maximum": 1e308}),
        b'{"properties":{"a":{"maximum":1e999}}}',
        within({"pattern": r"^([a-z]+\.)+[a-z]+$"}),
        within({"pattern": r"^[a-z]+(-[a-z]+)*$"}),
        within({"pattern": r"(ab+)+"}),
        within({"pattern": r"\(a+\)+"}),
        chain(50),
        doubling(10),
    ],
)  # fmt: skip
def test_taken(schema: Any) -> None:
    given(schema)


@pytest.mark.parametrize("raw", [b'{"maximum":' + b"9" * 4300 + b"}", b'{"title":"' + b"9" * 5000 + b'"}'])
def test_long_numbers_that_can_be_read(raw: bytes) -> None:
    given(raw)
    assert compiled_validator(raw).is_valid({})


@each_row(
    ("schema", "where", "what"),
    [
        ({"type": "array"}, "/type", "must be \"object\""),
        ({"type": ["string", "null"]}, "/type", "must be \"object\""),
        (within({"type": "strin"}), "/properties/a/type", "must be one of \"array\""),
        (within({"type": "string", "required": True}), "/properties/a/required", "must be an array of distinct"),
        (within({"properties": {"type": "string"}}), "/properties/a/properties/type", "must be a schema"),
        (within({"items": [{}]}), "/properties/a/items", "`prefixItems`"),
        (within({"minimum": 1, "exclusiveMinimum": True}), "/properties/a/exclusiveMinimum", "draft-04"),
        (within({"minLength": -1}), "/properties/a/minLength", "zero or more"),
        (within({"minimum": "x"}), "/properties/a/minimum", "does not allow"),
        (within({"pattern": "("}), "/properties/a/pattern", "ECMA-262"),
        ({"properties": {"a/b~": {"enum": 1}}}, "/properties/a~1b~0/enum", "an array"),
        (within({"$ref": "#/$defs/none"}), "/properties/a", "same document"),
        (within({"$ref": "http://example.com/s"}), "/properties/a", "nothing is fetched"),
        (within({"$ref": "https://json-schema.org/draft/2020-12/schema"}), "/properties/a", "nothing is fetched"),
        (within({"$ref": "file:///etc/passwd"}), "/properties/a", "nothing is fetched"),
        (within({"$ref": 5}), "/properties/a", "same document"),
        (within({"$dynamicRef": "http://example.com/s#x"}), "/properties/a", "`$dynamicRef`"),
        ({"$ref": "#"}, "", "never ends"),
        ({"anyOf": [{"$ref": "#/$defs/b"}], "$defs": {"b": {"not": {"$ref": "#"}}}}, "", "never ends"),
        (b'{"title":"\\ud83d"}', "", "half a surrogate pair"),
        (b'{"title":NaN}', "", "cannot be read"),
        (b'{"maximum":' + b"9" * 4301 + b"}", "", "4,300 digits"),
        (b'{"properties":{"a":{"pattern":"\\\\Z"},"b":{"enum":[' + b"1" * 9000 + b"]}}}", "", "4,300 digits"),
        (b"[]", "", "must be a JSON Schema object"),
        (b"{", "", "not valid JSON"),
    ],
)  # fmt: skip
def test_refused(schema: Any, where: str, what: str) -> None:
    error = refused(schema)

    assert error.code == "invalid_function_parameters"
    assert what in error.message
    assert (f" at {where!r}:" if where else "'f':") in error.message


def test_all_faults_of_a_schema_are_told_at_once() -> None:
    error = refused({"properties": {"a": {"type": "strin"}, "b": {"required": True}, "c": {"enum": 1}}, "minItems": -1})

    for where in ("/properties/a/type", "/properties/b/required", "/properties/c/enum", "/minItems"):
        assert error.message.count(f"at {where!r}:") == 1
    assert "strin`" not in error.message


def test_of_a_large_schema_the_first_fault_alone_is_told() -> None:
    error = refused({"properties": {str(number): {"type": 1} for number in range(500)}})

    assert error.message.count(" at '") == 1


@pytest.mark.parametrize("schema", [chain(101), chain(3000), doubling(30), doubling(60)])
def test_references_that_stand_for_too_much_are_found_by_counting(schema: Any) -> None:
    assert refused(schema).code == "tool_schema_too_complex"


def test_what_is_refused_for_its_size_never_reaches_the_validator(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonschema_rs, "Draft202012Validator", None)  # calling it would fail

    wide = {
        "$defs": {"d": {"anyOf": [{}] * 1000}},
        "anyOf": [{"items": {"$ref": "#/$defs/d"}}] * (EXPANDED_NODES // 1000),
    }
    assert refused(wide).code == "tool_schema_too_complex"
    assert refused({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}).code == "invalid_function_parameters"


def test_ten_thousand_and_one_nodes_are_refused_by_the_limits() -> None:
    tool = Tool("f", parameters=json.dumps({"anyOf": [{}] * 9_999}).encode())

    with pytest.raises(RequestError) as caught:
        check_request(ChatRequest("m", (), (tool,)), ToolRules())
    assert caught.value.code == "tool_schema_too_complex"


@each_row("secret", ["sk-secret", ["sk-secret"], {"a": "sk-secret"}])
@each_row("keyword", ["type", "required", "minimum", "pattern", "properties", "$ref"])
def test_no_value_of_the_client_is_in_a_message(keyword: str, secret: Any) -> None:
    if keyword == "pattern" and isinstance(secret, str):
        secret = "(sk-secret"
    assert "secret" not in refused(within({keyword: secret if keyword != "required" else "sk-secret"})).message


@each_row(
    ("pattern", "slow"),
    [
        ("^(a+)+$", True),
        (r"(?:[^)\]]*){2,}", True),
        (r"(\w+?)*", True),
        (r"^(https?:\/\/)?([\da-z\.-]+)\.([a-z\.]{2,6})([\/\w \.-]*)*\/?$", True),
        (r"^([a-z]+\.)+[a-z]+$", False),
        (r"^[a-z]+(-[a-z]+)*$", False),
        (r"\(a+\)+", False),
    ],
)
@each_row("where", ["pattern", "patternProperties"])
def test_a_slow_pattern_is_a_warning(pattern: str, slow: bool, where: str) -> None:
    """Providers and clients may have engines that try. Ours has a bound, so the tool goes."""
    schema = within({where: pattern if where == "pattern" else {pattern: {}}})
    given(schema)
    tool = Tool("f", parameters=json.dumps(schema).encode())
    assert has_slow_pattern(tool.parameters or b"") is slow
    warnings = check_request(ChatRequest("m", (), (tool,)), ToolRules())
    assert warnings == (["slow_pattern:f"] if slow else [])
    escaped = json.dumps(schema).replace(")", r"\u0029").encode()  # another way to write the same text
    assert has_slow_pattern(escaped) is slow


#: Patterns on which engines differ. One is refused only if neither Python nor ECMA-262 reads it.
@pytest.mark.parametrize(
    ("pattern", "taken"),
    [
        (r"^\p{L}+$", True),
        (r"(?<year>\d{4})", True),
        (r"^(?!.*\.\.)[a-z]+$", True),
        (r"^[a-z]+\Z", True),  # Python's end of text; to ECMA-262 a plain Z
        (r"(?P<n>a)", True),  # Python's
        (r"(a", False),
        (r"a{2,1}", False),
    ],
)
def test_patterns(pattern: str, taken: bool) -> None:
    if taken:
        given(within({"pattern": pattern}))
    else:
        refused(within({"pattern": pattern}))


def test_many_patterns_that_only_other_engines_read() -> None:
    given({"properties": {f"p{n}": {"pattern": rf"a\Z{n}"} for n in range(15)}})
    refused({"properties": {f"p{n}": {"pattern": rf"a\Z{n}"} for n in range(16)}})


def test_a_verdict_is_found_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "_memory", Memory(1 << 20))
    given(within({"minimum": 1}))
    monkeypatch.setattr(check, "parse", None)  # calling it would fail

    given(within({"minimum": 1}))
    with pytest.raises(TypeError):
        given(within({"minimum": 1}), strict=True)  # another question


def test_what_is_kept_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: Memory[Any] = Memory(100_000)
    monkeypatch.setattr(check, "_memory", kept)
    for number in range(25):
        given({"title": str(number)})
    assert 25 * ENTRY_BYTES <= kept.held < 26 * ENTRY_BYTES
    repaired = json.dumps({"required": None, "title": "x" * 30_000}).encode()
    usable(repaired)
    assert kept.held > 30_000  # the repaired schema
    refused({"properties": {"x" * 10_000: {"$ref": "elsewhere"}}})
    assert kept.held > 50_000  # the pointer to its fault


def test_parallel_calls_are_not_strict() -> None:
    closed = Tool("f", parameters=b'{"type":"object","properties":{},"additionalProperties":false}', strict=True)
    warnings = {
        parallel: check_request(ChatRequest("m", (), (closed,), parallel_tool_calls=parallel), ToolRules())
        for parallel in (None, True, False)
    }
    assert warnings == {None: ["strict_with_parallel"], True: ["strict_with_parallel"], False: []}


# ---------------------------------------------------------------- work


class Name(str):
    """A property's name that counts what it is compared with."""

    __slots__ = ()
    compared = 0
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        Name.compared += 1
        return str.__eq__(self, other)


MANY = 400


def _wide(schema: Any = True) -> dict[str, Any]:
    """An object with many properties, each required; the names are equal and not the same objects."""
    names = [f"p{number}" for number in range(MANY)]
    properties = {Name(name): schema for name in names}
    return {"type": "object", "properties": properties, "required": [Name(name) for name in names]}


def _encodable() -> dict[str, Any]:
    return {**_wide(), "required": [f"p{number}" for number in range(MANY)]}


WORK: dict[str, Callable[[], object]] = {
    "survey": lambda: Survey(_wide()),
    "strict": lambda: strict_fault(_wide({"type": "string"}) | {"additionalProperties": False}),
    "cost at Anthropic": lambda: strict_cost(
        wide := _wide({"type": "string"}) | {"additionalProperties": False}, Survey(wide)
    ),
    "merging": lambda: merge(_wide(), _wide({"type": "string"})),
    "root keywords": lambda: flattened({"type": "object", "allOf": [_encodable(), _encodable()]}, {"allOf"}),
    "root alternatives": lambda: flattened({"type": "object", "anyOf": [_encodable(), _encodable()]}, {"anyOf"}),
    "odd names": lambda: with_replacements(wide := _wide(), replacements(list(wide["properties"]), re.compile("x"))),
    "optional cycles": lambda: with_optional_cycles(
        _wide({"$ref": "#/$defs/n"}) | {"$defs": {"n": {"properties": {"n": {"$ref": "#/$defs/n"}}}}}
    ),
}


@each_row("name", WORK)
def test_work_grows_with_the_schema_and_not_with_its_square(name: str) -> None:
    """Ten thousand properties and a `required` of a megabyte would keep a processor busy for minutes."""
    Name.compared = 0
    WORK[name]()
    assert Name.compared < 40 * MANY
