"""Schemas that break the rules of JSON Schema: what is meant, what is cut and where, and that nothing gets narrower."""

from __future__ import annotations

import json
from typing import Any

import jsonschema_rs
import pytest

from tests.named_rows import each_row
from tests.schema.provider_schemas import DIALECTS, adapted
from toolwire.model.errors import RequestError
from toolwire.model.request import Tool
from toolwire.policy.arguments import find_faults
from toolwire.schema.check import check_parameters, usable

STRING = {"type": "string"}
A = {"a": STRING}
PATH = "tools[0].function.parameters"


def root(**words: Any) -> dict[str, Any]:
    return {"type": "object", **words}


def of(schema: Any) -> dict[str, Any]:
    return root(properties={"x": schema})


#: What is given, what is left, and the places that were cut.
REPAIRED: list[tuple[Any, Any, list[str]]] = [
    # one empty value for everything
    (root(properties=A, required=None), root(properties=A), []),
    (root(properties=A, required={}), root(properties=A), []),
    (root(properties=A, required=[]), root(properties=A, required=[]), []),
    (root(properties=None), root(), []),
    (root(properties=[]), root(), []),
    (root(properties={"a": None}), root(properties={"a": {}}), []),
    ({"type": None, "properties": A}, {"properties": A}, []),
    (of({"type": "array", "items": None, "enum": None, "description": None}), of({"type": "array"}), []),
    # names
    (root(properties=A, required=["a", "a"]), root(properties=A, required=["a"]), []),
    (root(properties=A, required=["a", "ghost"]), root(properties=A, required=["a", "ghost"]), []),
    (root(properties=A, required="a"), root(properties=A), ["/required"]),
    (of({"type": "string", "required": True}), of(STRING), ["/properties/x/required"]),
    (of({"type": "string", "required": False}), of(STRING), []),
    # types of other languages
    ({"type": "OBJECT", "properties": {"a": {"type": "String"}}}, root(properties=A), []),
    (of({"type": "int"}), of({"type": "integer"}), []),
    (of({"type": ["string", None, "string"]}), of({"type": ["string", "null"]}), []),
    (of({"type": "any"}), of({}), []),
    (of({"type": "file", "description": "d"}), of({"description": "d"}), ["/properties/x/type"]),
    (of({"type": ["string", "file"]}), of({}), ["/properties/x/type"]),
    (root(properties={"a": "string"}), root(properties=A), []),
    # words of an old draft without its name
    (of({"items": [STRING]}), of({"prefixItems": [STRING]}), []),
    (of({"items": [STRING], "additionalItems": False}), of({"prefixItems": [STRING], "items": False}), []),
    (of({"minimum": 1, "exclusiveMinimum": True}), of({"exclusiveMinimum": 1}), []),
    (of({"maximum": 1, "exclusiveMaximum": False}), of({"maximum": 1}), []),
    # values that cannot be meant
    (of({"minLength": -1, "maxLength": "9"}), of({}), ["/properties/x/minLength", "/properties/x/maxLength"]),
    (of({"multipleOf": 0}), of({}), ["/properties/x/multipleOf"]),
    (of({"pattern": "(a"}), of({}), ["/properties/x/pattern"]),
    (of({"additionalProperties": 5}), of({}), ["/properties/x/additionalProperties"]),
    (of({"anyOf": {"type": "string"}}), of({}), ["/properties/x/anyOf"]),
    (of({"anyOf": [STRING, 7]}), of({}), ["/properties/x/anyOf"]),
    (of({"allOf": [STRING, 7]}), of({"allOf": [STRING]}), ["/properties/x/allOf/1"]),
    (of({"$ref": "#/$defs/none", "title": "t"}), of({"title": "t"}), ["/properties/x/$ref"]),
    (of({"$ref": "http://json-schema.org/draft-07/schema#", "title": "t"}), of({"title": "t"}), ["/properties/x/$ref"]),
    (of({"items": {"$ref": "HTTPS://geojson.org/schema/Point.json"}}), of({"items": {}}), ["/properties/x/items/$ref"]),
    # where a cut would make it narrower
    (of({"not": {"type": "file"}}), of({}), ["/properties/x/not"]),
    (of({"not": {"pattern": "(a"}}), of({}), ["/properties/x/not"]),
    (of({"if": {"type": "file"}, "then": STRING}), of({"then": STRING}), ["/properties/x/if"]),
    (of({"oneOf": [{"type": "file"}, STRING]}), of({"anyOf": [{}, STRING]}), ["/properties/x/oneOf/0/type"]),
    (of({"oneOf": [{"pattern": "(a"}, STRING]}), of({"anyOf": [{}, STRING]}), ["/properties/x/oneOf/0/pattern"]),
    (root(properties={f"p{n}": {"pattern": "(a"} for n in range(9)}), root(properties={f"p{n}": {} for n in range(9)}),
     [f"/properties/p{n}/pattern" for n in range(9)]),
    (of({"not": {"anyOf": [{"$anchor": "a b"}]}, "title": "t"}), of({"title": "t"}), ["/properties/x/not"]),
    (of({"patternProperties": {"(a": STRING}, "additionalProperties": False}), of({"patternProperties": {}}),
     ["/properties/x/patternProperties/(a"]),
    (root(properties={"not": {"pattern": "(a"}}), root(properties={"not": {}}), ["/properties/not/pattern"]),
    # names of the document
    ({"$id": "a#b", **of(STRING)}, of(STRING), []),
    ({"$schema": 5, **of(STRING)}, of(STRING), []),
]  # fmt: skip


@each_row(("given", "left", "cuts"), REPAIRED)
def test_what_is_left(given: Any, left: Any, cuts: list[str]) -> None:
    raw = json.dumps(given).encode()
    found = usable(raw)

    assert (json.loads(found.raw), list(found.cuts)) == (left, cuts)
    assert jsonschema_rs.meta.is_valid(left)
    assert usable(found.raw) == (found.raw, ())


@each_row("dialect", sorted(DIALECTS))
@each_row(("given", "left", "cuts"), REPAIRED)
def test_every_provider_gets_the_tool(given: Any, left: Any, cuts: list[str], dialect: str) -> None:
    """What reaches the provider is valid, its cuts are said, and the parameters stay."""
    told = adapted(Tool("f", parameters=json.dumps(given).encode()), dialect, PATH, "vendor")
    sent = json.loads(told.parameters or b"{}")

    assert jsonschema_rs.meta.is_valid(sent)
    assert sent.get("properties", {}).keys() == left.get("properties", {}).keys()
    assert len(told.warnings) == len(cuts)


@each_row(("given", "cuts"), [(given, cuts) for given, left, cuts in REPAIRED if given != left])
def test_reject_refuses_them(given: Any, cuts: list[str]) -> None:
    tool = Tool("f", parameters=json.dumps(given).encode())
    check_parameters(tool, PATH, repairs=True)

    with pytest.raises(RequestError) as caught:
        check_parameters(tool, PATH)
    assert (caught.value.code, caught.value.param) == ("invalid_function_parameters", PATH)
    assert "'f'" in caught.value.message


@pytest.mark.parametrize(
    "hostile",
    [
        of({"$ref": "file:///etc/passwd", "required": None}),
        {"$ref": "#", "required": None},
        {"type": "array", "required": None},
        {"$ref": "#/$defs/d0", "required": None}
        | {"$defs": {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(30)} | {"d30": {}}},
    ],
)
def test_what_is_hostile_is_refused_always(hostile: Any) -> None:
    with pytest.raises(RequestError):
        check_parameters(Tool("f", parameters=json.dumps(hostile).encode()), PATH, repairs=True)


def test_arguments_are_held_against_what_is_left_of_the_clients_own() -> None:
    given = json.dumps({"properties": {"a": {"type": "file"}, "n": {"type": "int"}}, "required": ["n", "n"]}).encode()
    assert find_faults('{"a":[1],"n":3}', given) == []
    assert find_faults('{"a":[1]}', given) != []
    assert find_faults('{"n":"3"}', given) != []


@pytest.mark.parametrize("draft", ["http://json-schema.org/draft-07/schema#", None])
def test_a_format_is_no_rule_whatever_the_draft(draft: str | None) -> None:
    given = json.dumps({"$schema": draft, **of({"type": "string", "format": "date"})}).encode()
    assert find_faults('{"x":"today"}', given) == []
