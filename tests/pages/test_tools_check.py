"""Which providers take a set of tools, what becomes of it there, and what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from local.answer_models import ToolsCheckResponse
from tests.named_rows import each_row
from toolwire.doors import load_door
from toolwire.model.errors import RequestError
from toolwire.model.http import HttpRequest
from toolwire.model.request import ChatRequest
from toolwire.model.settings import ProviderConfig, Target, Tenant
from toolwire.pages.tools_check import Candidate, report
from toolwire.providers import WIRES

ANYBODY = Tenant(schema_mode="reject")


def target(wire: str, model: str, profile: str | None = None) -> Target:
    return Target(ProviderConfig(wire, wire, "https://x/v1", profile=profile), model)


TARGETS = {
    "openai": target("openai_chat", "gpt-5.1", "openai"),
    "compatible": target("openai_chat", "m"),
    "anthropic": target("anthropic_messages", "claude-sonnet-5"),
    "gemini": target("gemini", "gemini-3-flash"),
}


def tool(name: str, parameters: dict[str, Any], **members: Any) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {"name": name, "description": f"Does {name}.", "parameters": parameters, **members},
    }


def asked(*tools: dict[str, Any], **members: Any) -> ChatRequest:
    body = {"model": "any", "messages": [{"role": "user", "content": "?"}], "tools": tools, **members}
    return load_door("chat_completions").parse_request(HttpRequest("POST", "/", {}, json.dumps(body).encode()))


def checked(
    *tools: dict[str, Any], candidates: list[Candidate] | None = None, tenant: Tenant = ANYBODY, **members: Any
) -> dict[str, Any]:
    """The report; `providers` by the names of TARGETS."""
    asks = candidates or [Candidate(name, its) for name, its in TARGETS.items()]
    body = report(load_door("chat_completions"), asked(*tools, **members), {}, tenant, asks)
    ToolsCheckResponse.model_validate_json(body)
    found: dict[str, Any] = json.loads(body)
    found["providers"] = {verdict["model"]: verdict for verdict in found["providers"]}
    return found


def refusals(verdict: dict[str, Any]) -> list[tuple[str, str]]:
    return [(error["code"], error["param"]) for error in verdict["refused"]]


PLAIN = tool("get_weather", {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]})


def test_what_everybody_takes_goes_as_it_is() -> None:
    found = checked(PLAIN)
    assert (found["tools"], found["refused"], found["warnings"]) == (1, [], [])
    for verdict in found["providers"].values():
        assert (verdict["accepted"], verdict["refused"], verdict["changes"]) == (True, [], [])
    schema = PLAIN["function"]["parameters"]
    sent = {name: verdict["sent"][0] for name, verdict in found["providers"].items()}
    assert sent["openai"] == PLAIN
    assert sent["anthropic"] == {"name": "get_weather", "description": "Does get_weather.", "input_schema": schema}
    assert sent["gemini"]["parametersJsonSchema"] == schema


def test_every_wire_is_asked() -> None:
    """A wire that writes tools otherwise than those before it would be heard to send none."""
    for wire in WIRES:
        found = checked(PLAIN, candidates=[Candidate("it", target(wire, "claude-sonnet-5"))])
        assert (found["providers"]["it"]["changes"], len(found["providers"]["it"]["sent"])) == ([], 1), wire


#: The set of the brief: a schema, what is refused where, and where a conversion shows.
PATTERN = {"type": "object", "properties": {"pattern": {"type": "string", "pattern": "^a+$"}, "enum": {"enum": ["x"]}}}
NUMERIC = {"type": "object", "properties": {"n": {"enum": [1, 2, 3]}}}
REFERENCE = {
    "type": "object",
    "properties": {"a": {"$ref": "#/$defs/point", "description": "Where."}},
    "$defs": {"point": {"type": "object", "properties": {"x": {"type": "number", "exclusiveMinimum": 0}}}},
}
ONE_OF_INSIDE = {"type": "object", "properties": {"a": {"oneOf": [{"type": "string"}, {"type": "integer"}]}}}
ONE_OF_AT_ROOT = {"type": "object", "properties": {}, "oneOf": [{"required": ["a"]}, {"required": ["b"]}]}
TREE = {"type": "object", "properties": {"next": {"$ref": "#"}}}
ENDLESS = {
    "type": "object",
    "properties": {"node": {"$ref": "#/$defs/node"}},
    "required": ["node"],
    "$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}, "required": ["next"]}},
}

#: name -> the schema, the providers that refuse it, those that get it converted
SCHEMAS: dict[str, tuple[dict[str, Any], set[str], set[str]]] = {
    "a parameter named pattern": (PATTERN, set(), set()),
    "a numeric enum": (NUMERIC, set(), set()),
    "a $ref beside other keywords": (REFERENCE, set(), {"gemini"}),
    "oneOf inside": (ONE_OF_INSIDE, set(), set()),
    "oneOf at the root": (ONE_OF_AT_ROOT, {"anthropic"}, set()),
    "recursion": (TREE, set(), {"gemini"}),
    "endless recursion": (ENDLESS, {"gemini"}, set()),
    "const": ({"type": "object", "properties": {"k": {"const": "x"}}}, set(), {"gemini"}),
}


@each_row("name", SCHEMAS)
def test_schemas(name: str) -> None:
    schema, refusing, converting = SCHEMAS[name]
    verdicts = checked(PLAIN, tool("it", schema))["providers"]

    assert {provider for provider, verdict in verdicts.items() if not verdict["accepted"]} == refusing
    for provider, verdict in verdicts.items():
        assert len(verdict["sent"]) == (1 if provider in refusing else 2), "a refused tool is not sent"
        if provider in refusing:
            (error,) = verdict["refused"]
            assert (error["code"], error["tool"], error["type"]) == ("tool_schema_incompatible", "it", "semantic_error")
            assert error["param"].startswith("tools[1]")
            assert error["incompatible_features"]
    changed = {(p, c["tool"], c["change"]) for p, verdict in verdicts.items() for c in verdict["changes"]}
    assert changed == {(provider, "it", "schema_converted") for provider in converting}


def test_where_a_schema_differs() -> None:
    (change,) = checked(tool("it", REFERENCE))["providers"]["gemini"]["changes"]
    assert change["path"] == "tools[0]"
    assert {"path": "/$defs", "difference": "removed"} in change["differences"]
    assert all(place["path"].startswith(("/$defs", "/properties/a")) for place in change["differences"])


def test_names_are_told() -> None:
    verdicts = checked(tool("get.weather now", {"type": "object", "properties": {}}))["providers"]
    for verdict in verdicts.values():
        (change, *rest) = verdict["changes"]
        assert (change["change"], change["path"]) == ("renamed", "tools[0]")
        assert json.dumps(change["to"]) in json.dumps(verdict["sent"])
        assert [other["change"] for other in rest] == (["schema_left_out"] if verdict["provider"] == "gemini" else [])


def test_all_refusals_are_named_at_once() -> None:
    bad = tool("it", {"type": "object", "properties": {"a": {"type": "text"}}})
    endless, at_root = tool("endless", ENDLESS), tool("root", ONE_OF_AT_ROOT)
    found = checked(PLAIN, bad, endless, tool("bad2", {"type": "object", "required": "a"}), at_root)

    assert refusals(found) == [
        ("invalid_function_parameters", "tools[1].function.parameters"),
        ("invalid_function_parameters", "tools[3].function.parameters"),
    ]
    verdicts = found["providers"]
    assert not any(verdict["accepted"] for verdict in verdicts.values()), "nobody gets what the gateway refuses"
    assert [path.partition(".")[0] for _, path in refusals(verdicts["gemini"])] == ["tools[2]"]
    assert [path.partition(".")[0] for _, path in refusals(verdicts["anthropic"])] == ["tools[4]"]
    assert [len(verdict["sent"]) for verdict in verdicts.values()] == [2, 3, 2, 2]


def test_what_a_provider_has_no_words_for_is_loosened() -> None:
    """As the default has it: one flawed tool never ends a session."""
    bad = tool("it", {"type": "object", "properties": {"a": {"type": "text!"}}})
    found = checked(PLAIN, bad, tool("endless", ENDLESS), tool("root", ONE_OF_AT_ROOT), tenant=Tenant())

    assert found["refused"] == []
    for provider, loosened in (
        ("openai", []),  # in the lane the vendor decides
        ("anthropic", ["it", "root"]),
        ("gemini", ["it", "endless"]),
    ):
        verdict = found["providers"][provider]
        assert (verdict["accepted"], len(verdict["sent"])) == (True, 4)
        assert [c["tool"] for c in verdict["changes"] if c["change"] == "schema_loosened"] == loosened
        assert {warning["code"].partition(":")[0] for warning in verdict["warnings"]} == (
            {"tool_schema_reduced"} if loosened else set()
        )


def test_strict_rules_are_the_providers() -> None:
    verdicts = checked(tool("it", {"type": "object", "properties": {"a": {"type": "string"}}}, strict=True))[
        "providers"
    ]
    assert refusals(verdicts["openai"]) == [("invalid_strict_schema", "tools[0].function.parameters")]
    assert verdicts["compatible"]["changes"] == []
    assert [change["change"] for change in verdicts["anthropic"]["changes"]] == ["strict_dropped"]
    assert [warning["code"] for warning in verdicts["anthropic"]["warnings"]] == ["strict_turned_off"]
    assert verdicts["gemini"]["changes"] == [], "calls of all tools are held to their schemas"


def test_a_set_that_is_too_large() -> None:
    tools = [tool(f"t{number}", {"type": "object", "properties": {}}) for number in range(129)]
    verdicts = checked(*tools)["providers"]
    assert refusals(verdicts["openai"]) == [("too_many_tools", "tools")]
    assert verdicts["openai"]["sent"] == []
    assert verdicts["anthropic"]["accepted"]


def test_host_tools_are_left_out_elsewhere() -> None:
    verdicts = checked(PLAIN, {"type": "web_search"})["providers"]
    for provider in ("anthropic", "gemini"):
        (change,) = verdicts[provider]["changes"]
        assert (change["tool"], change["change"]) == ("web_search", "left_out")


#: door, its host's own tool
HOST_TOOLS: list[tuple[str, dict[str, Any]]] = [
    ("messages", {"type": "web_search_20250305", "name": "web_search"}),
    ("responses", {"type": "web_search"}),
]


@each_row(("door", "own"), HOST_TOOLS)
def test_what_a_real_request_refuses_is_refused(door: str, own: dict[str, Any]) -> None:
    """A host's own tool alone: elsewhere the model would invent what the tool finds, and the request is refused."""
    sample = load_door(door).sample_request([("tools", json.dumps([own]).encode())])
    request = load_door(door).parse_request(sample)
    body = report(load_door(door), request, {}, ANYBODY, [Candidate("it", TARGETS["gemini"])])
    (verdict,) = json.loads(body)["providers"]
    assert (verdict["accepted"], refusals(verdict)) == (False, [("unsupported_tool", "tools[0]")])


def test_a_choice_of_a_refused_tool_refuses_no_other() -> None:
    choice = {"type": "function", "function": {"name": "it"}}
    found = checked(PLAIN, tool("it", ENDLESS), tool_choice=choice)
    assert [path.partition(".")[0] for _, path in refusals(found["providers"]["gemini"])] == ["tools[1]"]


def test_a_model_that_cannot_be_reached() -> None:
    gone = RequestError("no such model", status=404, code="model_not_found", param="model")
    found = checked(PLAIN, candidates=[Candidate("x/y", None, gone), Candidate("openai", TARGETS["openai"])])
    assert refusals(found["providers"]["x/y"]) == [("model_not_found", "model")]
    assert found["providers"]["x/y"]["provider"] is None
    assert found["providers"]["openai"]["accepted"]


def test_the_tenants_own_rules_hold() -> None:
    tenant = replace(Tenant(), allowlist=("get_weather",), schema_mode="reject")
    found = checked(PLAIN, tool("other", {"type": "object", "properties": {}}), tenant=tenant)
    assert refusals(found) == [("tool_not_allowed", "tools[1].function.name")]
    verdicts = checked(tool("get_weather", ENDLESS), tenant=tenant)["providers"]
    assert [name for name, verdict in verdicts.items() if not verdict["accepted"]] == ["gemini"]


def test_many_faults_are_named_up_to_a_bound() -> None:
    tools = [tool(f"t{number}", {"type": "object", "required": "a"}) for number in range(100)]
    found = checked(*tools)
    assert len(found["refused"]) == 64
    assert all(verdict["sent"] == [] for verdict in found["providers"].values())
