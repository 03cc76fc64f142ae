"""What a provider is told accepts and rejects what the client's schema does, under two independent validators; or the
tool was refused as incompatible."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import jsonschema
import jsonschema_rs
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tests.schema.provider_schemas import DIALECTS, adapted
from toolwire.model.errors import RequestError
from toolwire.model.request import Tool
from toolwire.schema.check import check_parameters

PATH = "tools[0].function.parameters"
URIS = {
    4: "http://json-schema.org/draft-04/schema#",
    7: "http://json-schema.org/draft-07/schema#",
    2019: "https://json-schema.org/draft/2019-09/schema",
    2020: None,
}
VALIDATORS = {
    URIS[4]: (jsonschema.Draft4Validator, jsonschema_rs.Draft4Validator),
    URIS[7]: (jsonschema.Draft7Validator, jsonschema_rs.Draft7Validator),
    URIS[2019]: (jsonschema.Draft201909Validator, jsonschema_rs.Draft201909Validator),
    URIS[2020]: (jsonschema.Draft202012Validator, jsonschema_rs.Draft202012Validator),
}

NAMES = st.sampled_from(["a", "b", "const", "$ref"])
#: `$ref` as a property is nobody's business but Anthropic's, which takes no `$` in names.
SAFE_NAMES = st.sampled_from(["a", "b", "const", "items"])
SCALARS = st.sampled_from([None, True, False, 0, 1, 2, 1.5, -3, "", "x", "yy"])
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES | SAFE_NAMES, inner, max_size=3),
    max_leaves=8,
)
KINDS = st.sampled_from(["null", "boolean", "integer", "number", "string", "array", "object"])
ANNOTATIONS = st.fixed_dictionaries({}, optional={"description": SCALARS.map(str), "default": VALUES})
BOUNDS = st.integers(-2, 3) | st.sampled_from([0.5, 1.5])


@cache
def schemas(draft: int) -> st.SearchStrategy[Any]:
    """Schemas of a draft's own words, with references to `p`, `q` and the root."""
    references = st.sampled_from(["#/$defs/p", "#/$defs/q", "#", "#/definitions/d"])
    leaves = st.one_of(
        st.fixed_dictionaries({"type": KINDS}),
        st.fixed_dictionaries({"type": st.lists(KINDS, min_size=1, max_size=3, unique=True)}),
        st.fixed_dictionaries({"enum": st.lists(VALUES, min_size=1, max_size=3, unique_by=json.dumps)}),
        st.fixed_dictionaries({"$ref": references}),
        st.fixed_dictionaries({"$ref": references, "description": st.just("d")}),
        ANNOTATIONS,
    )
    exclusive: dict[str, Any] = {"exclusiveMinimum": BOUNDS, "exclusiveMaximum": BOUNDS, "minimum": BOUNDS}
    if draft == 4:
        exclusive = {"minimum": BOUNDS, "exclusiveMinimum": st.booleans()}
    numbers = st.fixed_dictionaries(
        {"type": st.sampled_from(["integer", "number", ["integer", "string"]])}, optional=exclusive
    ).filter(lambda node: draft > 4 or "exclusiveMinimum" not in node or "minimum" in node)
    newer = [] if draft == 4 else [st.booleans(), st.fixed_dictionaries({"const": VALUES})]
    return st.recursive(st.one_of(leaves, numbers, *newer), lambda inner: nested(inner, draft), max_leaves=6)


@cache
def roots(draft: int) -> tuple[st.SearchStrategy[dict[str, Any]], st.SearchStrategy[dict[str, Any]]]:
    """What stands at the root, and what a reference leads to. To make a strategy costs more than to draw from it."""
    inner = schemas(draft)
    found = st.one_of(inner, nested(inner, draft)).map(lambda node: node if isinstance(node, dict) else {})
    return nested(inner, draft) | st.fixed_dictionaries({"$ref": st.just("#/$defs/p")}), found


def nested(inner: st.SearchStrategy[Any], draft: int) -> st.SearchStrategy[dict[str, Any]]:
    some = st.lists(inner, min_size=1, max_size=3)
    names = st.lists(SAFE_NAMES, min_size=1, max_size=2, unique=True)
    tuples = {"prefixItems": some} if draft == 2020 else {"items": some, "additionalItems": inner}
    applied = {"items": inner, **tuples}
    words: dict[str, Any] = {
        "properties": st.dictionaries(NAMES | SAFE_NAMES, inner, max_size=3),
        "additionalProperties": inner | st.booleans(),
        "patternProperties": st.dictionaries(st.sampled_from(["^a", "t$"]), inner, max_size=2),
        "required": names,
        "allOf": some,
        "anyOf": some,
        "oneOf": some,
        "not": inner,
        "$ref": st.sampled_from(["#/$defs/p", "#/$defs/q"]),
        "type": st.just("object"),
        "minProperties": st.integers(0, 2),
        **applied,
    }
    if draft in (4, 7):
        words["dependencies"] = st.dictionaries(SAFE_NAMES, inner | names, max_size=2)
    if draft == 7:
        words |= {"if": inner, "then": inner, "else": inner, "contains": inner}
    if draft >= 2019:
        words |= {"dependentRequired": st.dictionaries(SAFE_NAMES, names, max_size=2)}
        words |= {"unevaluatedProperties": inner | st.booleans(), "dependentSchemas": st.dictionaries(NAMES, inner)}
    picked = st.lists(st.sampled_from(sorted(words)), min_size=1, max_size=4, unique=True)
    return picked.flatmap(lambda chosen: st.fixed_dictionaries({word: words[word] for word in chosen}))


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    draft = draw(st.sampled_from(list(URIS)))
    uri, (body, as_object) = URIS[draft], roots(draft)
    root: dict[str, Any] = {"$schema": uri} if uri else {}
    root |= draw(body) | draw(st.sampled_from([{}, {"type": "object"}]))
    root["$defs"] = {"p": draw(as_object), "q": draw(as_object)}
    root["definitions"] = {"d": draw(as_object)}
    return root


def verdicts(schema: dict[str, Any], instances: list[Any]) -> list[tuple[bool, bool]]:
    """What each of two validators says of each instance."""
    python, rust = VALIDATORS[schema.get("$schema")]
    one, two = python(schema), rust(schema, offline=True)
    return [(one.is_valid(instance), two.is_valid(instance)) for instance in instances]


OBJECTS = st.dictionaries(NAMES | SAFE_NAMES, VALUES, max_size=4)


#: Drawing a schema costs more than its way to any provider, so each example goes to all of them.
EXAMPLES = settings(suppress_health_check=list(HealthCheck), max_examples=max(10, settings().max_examples // 4))


def usable(schema: dict[str, Any]) -> Tool:
    """A tool with these parameters; no example if the gateway refuses them from any client."""
    tool = Tool("f", parameters=json.dumps(schema).encode())
    try:
        check_parameters(tool, PATH)
    except RequestError:
        assume(False)
    return tool


@EXAMPLES
@given(schema=documents(), instances=st.lists(OBJECTS, min_size=8, max_size=12))
def test_what_reaches_a_provider_means_the_same(schema: dict[str, Any], instances: list[Any]) -> None:
    tool = usable(schema)
    meant = verdicts(schema, instances)
    # Where the two disagree about the original, one is wrong, and it is no evidence. (jsonschema 4.26 forgets under
    # 2019-09 that `additionalProperties` evaluates what it accepts.)
    agreed = [number for number, (one, two) in enumerate(meant) if one == two]
    for dialect in sorted(DIALECTS):
        told = incompatible = None
        try:
            told = adapted(tool, dialect, PATH, "vendor", "reject").parameters
        except RequestError as error:
            incompatible = error

        if incompatible is not None:
            assert incompatible.code == "tool_schema_incompatible", dialect
            assert incompatible.features, dialect
        elif told is not None:
            assert json.loads(told)["type"] == "object", dialect
            heard = verdicts(json.loads(told), instances)
            assert [heard[number] for number in agreed] == [meant[number] for number in agreed], dialect


@EXAMPLES
@given(schema=documents())
def test_no_valid_tool_is_refused_unless_that_is_asked_for(schema: dict[str, Any]) -> None:
    """What reaches the provider is valid and within its rules, and each of the root's parameters is there."""
    tool = usable(schema)
    for dialect in sorted(DIALECTS):
        told = adapted(tool, dialect, PATH, "vendor")
        if told.parameters is None:
            continue
        sent, rules = json.loads(told.parameters), DIALECTS[dialect]

        assert sent["type"] == "object", dialect
        assert jsonschema_rs.meta.is_valid(sent), dialect
        assert rules.refused_at_root.isdisjoint(sent), dialect
        assert rules.property_name is None or all(map(rules.property_name.fullmatch, sent.get("properties", ()))), (
            dialect
        )
        if "$ref" not in schema:  # beside which an old draft reads nothing
            names = {told.names.get(name, name) for name in sent.get("properties", ())}
            assert schema.get("properties", {}).keys() <= names, dialect
