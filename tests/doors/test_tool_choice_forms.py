"""A choice of one tool, and tools, in the form of another API: every door reads them, and a provider gets its own."""

from __future__ import annotations

import json
from typing import Any

from tests.corpus.driver import open_exchange
from tests.door_requests import function, question
from tests.gemini_client import http_request
from tests.named_rows import each_row
from toolwire.doors import DOORS, load_door
from toolwire.model.request import ToolChoice
from toolwire.providers import WIRES, load_provider

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}
FUNCTION = function("weather", SCHEMA, "Weather of a city.")
NESTED = {"type": "function", "function": FUNCTION}
FLAT = {"type": "function", **FUNCTION}
NAMED = {"type": "function", "function": {"name": "weather"}}

#: Door -> the choice as its own API has it.
OWN: dict[str, dict[str, Any]] = {
    "chat_completions": {"tool_choice": NAMED},
    "responses": {"tool_choice": {"type": "function", "name": "weather"}},
    "messages": {"tool_choice": {"type": "tool", "name": "weather"}},
    "gemini": {"toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["weather"]}}},
    "native": {"tool_choice": NAMED},
}
FORMS: list[dict[str, Any]] = [
    {"function": {"name": "weather"}},
    {"name": "weather"},
    NAMED,
    {"type": "function", "name": "weather"},
    {"type": "tool", "name": "weather"},
]
#: The native door refuses the members of other APIs, and Google's API has no member of this name.
READ: dict[str, list[dict[str, Any]]] = {"native": FORMS[:3], "gemini": []}
CELLS = [
    (door, members)
    for door in DOORS
    for members in (OWN[door], *({"tool_choice": form} for form in READ.get(door, FORMS)))
]
#: At the wires of providers of the same API.
LANES = [
    (door, wire, members)
    for door, members in CELLS
    for wire in WIRES
    if load_provider(wire).dialect == load_door(door).dialect
]


@each_row(("door", "members"), CELLS)
def test_every_door_reads_it(door: str, members: dict[str, Any]) -> None:
    request = load_door(door).parse_request(http_request(door, _body(door, members), {}))
    assert request.tool_choice == ToolChoice("required", ("weather",), named=True)


@each_row(("door", "wire", "members"), LANES)
def test_a_provider_gets_its_own(door: str, wire: str, members: dict[str, Any]) -> None:
    exchange = open_exchange(_body(door, members), door=door, wire=wire)
    sent = json.loads(exchange.upstream_request.body)
    assert {name: sent[name] for name in OWN[door]} == OWN[door]


def test_other_members_of_the_choice_stay() -> None:
    given = {"name": "weather", "disable_parallel_tool_use": True}
    exchange = open_exchange(_body("messages", {"tool_choice": given}), door="messages", wire="anthropic_messages")
    assert json.loads(exchange.upstream_request.body)["tool_choice"] == {"type": "tool", **given}


def test_nested_tools_are_flat_for_openais_responses() -> None:
    given = [NESTED, {"type": "web_search"}, {**FLAT, "name": "other"}]
    body = _body("responses", {"tools": given, "tool_choice": "auto"})
    exchange = open_exchange(body, door="responses", wire="openai_responses")
    tools = json.loads(exchange.upstream_request.body)["tools"]
    assert tools == [FLAT, {"type": "web_search"}, {**FLAT, "name": "other"}]


def _body(door: str, members: dict[str, Any]) -> bytes:
    return json.dumps({"model": "m", **question(door, "Weather in Paris?", FUNCTION), **members}).encode()
