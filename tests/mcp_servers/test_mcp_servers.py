"""The script that asks MCP servers for their tools, without any of the public ones."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.mcp_servers.__main__ import PAGE
from tests.mcp_servers.listing import Declared, started_and_asked
from tests.mcp_servers.servers import SERVERS
from tests.mcp_servers.table import PROVIDERS, captured, outcomes

ROOT = Path(__file__).parents[2]
TEXT = {"type": "string"}


def test_a_server_is_asked_for_its_tools(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'layers' / 'shared'}"}
    tools = started_and_asked([sys.executable, "-m", "tests.agents.mcp_tools"], environment, tmp_path)
    assert [tool.name for tool in tools] == ["get_weather", "search_docs", "run_query", "send_mail"]
    assert json.loads(tools[0].schema)["type"] == "object"


def test_a_server_that_ends_has_no_tools(tmp_path: Path) -> None:
    with pytest.raises((LookupError, OSError)):
        started_and_asked([sys.executable, "-c", "print('hello')"], dict(os.environ), tmp_path)


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "object", "properties": {"a": TEXT}}, dict.fromkeys(PROVIDERS, "unchanged")),
        (
            {"type": "object", "properties": {"a": {"const": "x"}}},
            dict.fromkeys(PROVIDERS, "unchanged") | {"Gemini": "converted"},
        ),
        (
            {"type": "object", "properties": {"a": TEXT}, "anyOf": [{"required": ["a"]}, {}]},
            dict.fromkeys(PROVIDERS, "loosened") | dict.fromkeys(("Chat host", "Gemini"), "unchanged"),
        ),
        ({"type": "object", "properties": {"a": {"$ref": "http://x/y"}}}, dict.fromkeys(PROVIDERS, "loosened")),
        ({"type": "object", "properties": {"a": {"$ref": "file:///x"}}}, dict.fromkeys(PROVIDERS, "refused")),
    ],
)
def test_outcomes(schema: dict[str, Any], expected: dict[str, str]) -> None:
    counts, refusals = outcomes([Declared("f", "d", json.dumps(schema).encode()), Declared("g", None, b"{}")])
    assert {name: [it for it in counter if it == expected[name]] for name, counter in counts.items()} == {
        name: [it] for name, it in expected.items()
    }
    assert all(sum(counter.values()) == 2 for counter in counts.values())
    assert len(refusals) == (len(PROVIDERS) if "refused" in expected.values() else 0)


def test_recorded_requests_of_agents(tmp_path: Path) -> None:
    chat = {"type": "function", "function": {"name": "a", "parameters": {"type": "object"}}}
    for number, tools in enumerate([[chat], [chat, {"name": "b", "input_schema": {}}, {"type": "web_search"}]]):
        (tmp_path / f"it--{number}_POST.json").write_text(json.dumps({"body": {"tools": tools}}))
    ((agent, tools_of_it),) = captured(tmp_path)
    assert (agent, [tool.name for tool in tools_of_it]) == ("it", ["a", "b"])


def test_the_page_has_thirty_servers_and_no_refusal() -> None:
    rows = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| `")]
    assert len(rows) >= 30
    assert {line.split("`")[1] for line in rows} <= {server.package for server in SERVERS}
    cells = re.findall(r"\d+ / \d+ / \d+ / (\d+)", "\n".join(rows))
    assert set(cells) == {"0"}
