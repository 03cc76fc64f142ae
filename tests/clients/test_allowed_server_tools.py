"""An allowed set with tools that the host runs, as OpenAI documents it: `{"type": "mcp", "server_label": ...}`,
`{"type": "image_generation"}` beside functions. Other providers are left with the functions of the set."""

from __future__ import annotations

from typing import Any

import pytest

from tests.clients.sending import LANES, send
from tests.named_rows import each_row
from toolwire.model.errors import RequestError

OTHERS = ["openai_chat", "anthropic_messages", "gemini", "bedrock_converse"]
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}
SERVER = {"type": "mcp", "server_label": "deepwiki", "server_url": "https://mcp.deepwiki.com/mcp"}
TOOLS = [
    {"type": "function", "name": "weather", "parameters": SCHEMA},
    {"type": "function", "name": "time", "parameters": SCHEMA},
    SERVER,
    {"type": "web_search"},
]
WEATHER = {"type": "function", "name": "weather"}
HOSTED = [{"type": "mcp", "server_label": "deepwiki"}, {"type": "web_search"}, {"type": "image_generation"}]


def asked(wire: str, mode: str, *allowed: Any) -> Any:
    choice = {"type": "allowed_tools", "mode": mode, "tools": list(allowed)}
    return send("responses", wire, input=[{"role": "user", "content": "x"}], tools=TOOLS, tool_choice=choice)


def callable_in(found: Any) -> set[str]:
    """What the model may call."""
    body = found.body
    if found.wire == "gemini":
        config = body["toolConfig"]["functionCallingConfig"]
        if config["mode"] == "NONE":
            return set()
        return set(config.get("allowedFunctionNames", found.tools))
    if body.get("tool_choice") in ("none", {"type": "none"}):
        return set()
    allowed = body["tool_choice"].get("allowed_tools", {}) if isinstance(body.get("tool_choice"), dict) else {}
    return {entry["function"]["name"] for entry in allowed.get("tools", [])} or set(found.tools)


@each_row("hosted", HOSTED, ids=lambda entry: entry["type"])
@each_row("mode", ["auto", "required"])
@each_row("wire", OTHERS)
def test_the_functions_of_the_set_are_left(wire: str, mode: str, hosted: dict[str, Any]) -> None:
    found = asked(wire, mode, WEATHER, hosted)
    assert callable_in(found) == {"weather"}
    assert "not_supported:server_tools" in found.warnings


@each_row("wire", OTHERS)
def test_where_no_function_is_in_the_set_none_may_be_called(wire: str) -> None:
    found = asked(wire, "auto", *HOSTED)
    assert callable_in(found) == set()
    assert "not_supported:server_tools" in found.warnings


@each_row("wire", OTHERS)
def test_where_a_hosts_tool_must_be_used_the_request_is_refused(wire: str) -> None:
    with pytest.raises(RequestError, match="tool_choice") as refused:
        asked(wire, "required", *HOSTED)
    assert refused.value.param == "tool_choice"


@each_row("mode", ["auto", "required"])
def test_at_its_own_api_the_set_goes_as_it_came(mode: str) -> None:
    choice = {"type": "allowed_tools", "mode": mode, "tools": [WEATHER, *HOSTED]}
    for allowed in ([WEATHER, *HOSTED], HOSTED):
        found = asked(LANES["responses"], mode, *allowed)
        assert found.body["tool_choice"] == {**choice, "tools": allowed}
        assert found.warnings == []


@each_row("wire", [wire for wire in OTHERS if wire != "openai_chat"])
def test_a_chat_clients_set_of_hosted_tools_means_no_function(wire: str) -> None:
    allowed = {"mode": "auto", "tools": [{"type": "web_search"}]}
    tools = [{"type": "function", "function": {"name": "weather", "parameters": SCHEMA}}]
    found = send("chat_completions", wire, messages=[{"role": "user", "content": "x"}], tools=tools,
                 tool_choice={"type": "allowed_tools", "allowed_tools": allowed})  # fmt: skip
    assert callable_in(found) == set()
