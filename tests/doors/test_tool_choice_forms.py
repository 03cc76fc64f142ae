"""A choice of one tool, and tools, in the form of another API: every door reads them, and a provider gets its own."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.corpus.driver import open_exchange
from toolwire.doors import load_door
from toolwire.model.http import HttpRequest
from toolwire.model.request import ToolChoice

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}
FUNCTION = {"name": "weather", "description": "Weather of a city.", "parameters": SCHEMA}
NESTED = {"type": "function", "function": FUNCTION}
FLAT = {"type": "function", **FUNCTION}
MESSAGES = [{"role": "user", "content": "Weather in Paris?"}]
ANTHROPIC = {"name": "weather", "description": "Weather of a city.", "input_schema": SCHEMA}

#: Door -> a request without a choice, and the choice as the door's own API has it.
DOORS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "chat": ({"messages": MESSAGES, "tools": [NESTED]}, {"type": "function", "function": {"name": "weather"}}),
    "responses": ({"input": "Weather in Paris?", "tools": [FLAT]}, {"type": "function", "name": "weather"}),
    "messages": (
        {"messages": MESSAGES, "max_tokens": 100, "tools": [ANTHROPIC]},
        {"type": "tool", "name": "weather"},
    ),
    "native": ({"messages": MESSAGES, "tools": [NESTED]}, {"type": "function", "function": {"name": "weather"}}),
}
LANES = {"chat": "openai_chat", "responses": "openai_responses", "messages": "anthropic_messages"}
FORMS: list[dict[str, Any]] = [
    {"function": {"name": "weather"}},
    {"name": "weather"},
    {"type": "function", "function": {"name": "weather"}},
    {"type": "function", "name": "weather"},
    {"type": "tool", "name": "weather"},
]
#: The native door refuses the members of other APIs.
READ = [(door, form) for door in DOORS for form in (FORMS[:3] if door == "native" else FORMS)]


@pytest.mark.parametrize(("door", "form"), READ)
def test_every_door_reads_it(door: str, form: dict[str, Any]) -> None:
    body, _ = DOORS[door]
    request = load_door(door).parse_request(HttpRequest("POST", "/", {}, _body(body, form)))
    assert request.tool_choice == ToolChoice("required", ("weather",), named=True)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("door", LANES)
def test_a_provider_gets_its_own(door: str, form: dict[str, Any]) -> None:
    body, own = DOORS[door]
    exchange = open_exchange(_body(body, form), door=door, wire=LANES[door])
    assert json.loads(exchange.upstream_request.body)["tool_choice"] == own


def test_other_members_of_the_choice_stay() -> None:
    body, _ = DOORS["messages"]
    given = {"name": "weather", "disable_parallel_tool_use": True}
    exchange = open_exchange(_body(body, given), door="messages", wire="anthropic_messages")
    assert json.loads(exchange.upstream_request.body)["tool_choice"] == {"type": "tool", **given}


def test_nested_tools_are_flat_for_openais_responses() -> None:
    body = {"input": "hi", "tools": [NESTED, {"type": "web_search"}, {**FLAT, "name": "other"}]}
    exchange = open_exchange(_body(body, "auto"), door="responses", wire="openai_responses")
    tools = json.loads(exchange.upstream_request.body)["tools"]
    assert tools == [FLAT, {"type": "web_search"}, {**FLAT, "name": "other"}]


def _body(body: dict[str, Any], choice: Any) -> bytes:
    return json.dumps({"model": "m", **body, "tool_choice": choice}).encode()
