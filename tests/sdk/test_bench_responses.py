"""The bench harness against the Responses door: its strict client, and what of its probes reaches each provider."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.gateway import gateway
from tests.reference import SHARED, needs
from tests.sdk.talks import SIM, SIM_MODELS
from tests.sdk.test_bench_probes import (
    ALONE,
    chat_call,
    chat_turns,
    claude_call,
    claude_turns,
    converse_call,
    converse_tools,
    converse_turns,
    gemini_turns,
)

CLIENT, PROBES = "bench/client.py", "bench/probes.py"

pytestmark = [pytest.mark.enable_socket, needs(SIM, CLIENT, PROBES)]


@pytest.mark.integration
@pytest.mark.parametrize("model", SIM_MODELS)
def test_no_defect_in_any_case(tmp_path: Path, sim_gateway: str, model: str) -> None:
    command = [sys.executable, "-B", str(SHARED / CLIENT), "check", "--front", "responses", "--model", model]
    more = ["--base", sim_gateway.removesuffix("/v1"), "--save", str(tmp_path), "--sim-url", ""]
    done = subprocess.run([*command, *more], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr

    rows = {row["case"]: row for row in json.loads((tmp_path / "report.json").read_text("utf-8"))}
    assert len(rows) == 16
    # That client takes every ending for a clean one: a broken stream's is `response.failed`, as this API has it.
    cut = rows.pop("truncated_stream")
    assert cut["finish"] == "failed"
    assert {name: [d for d in row.get("defects") or () if not d.startswith("info:")] for name, row in rows.items()} == {
        name: [] for name in rows
    }
    statuses = {name: row["status"] for name, row in rows.items() if row["status"] != 200}
    assert statuses == {"err429_stream": 429, "err429_full": 429, "err500_full": 500}


#: Wire -> probe -> members of the request that reaches the provider.
EXPECTED: dict[str, dict[str, dict[str, Any]]] = {
    "openai_chat": {
        "tool_choice_none": {"tool_choice": "none"},
        "tool_choice_required": {"tool_choice": "required"},
        "tool_choice_named": {"tool_choice": {"type": "function", "function": {"name": "get_weather"}}},
        "parallel_false": {"parallel_tool_calls": False},
        "history": {
            "messages": chat_turns(
                [chat_call("call_A", '{"city":"Paris"}'), chat_call("call_B", "{}")], ("call_B", "B"), ("call_A", "A")
            )
        },
    },
    "anthropic_messages": {
        "tool_choice_none": {"tool_choice": {"type": "none"}},
        "tool_choice_required": {"tool_choice": {"type": "any"}},
        "tool_choice_named": {"tool_choice": {"type": "tool", "name": "get_weather"}},
        "parallel_false": {"tool_choice": {"type": "auto"} | ALONE},
        "history": {
            "messages": claude_turns(
                [claude_call("call_A", {"city": "Paris"}), claude_call("call_B", {})], ("call_B", "B"), ("call_A", "A")
            )
        },
    },
    "gemini": {
        "tool_choice_none": {"toolConfig": {"functionCallingConfig": {"mode": "NONE"}}},
        "tool_choice_required": {"toolConfig": {"functionCallingConfig": {"mode": "ANY"}}},
        "tool_choice_named": {
            "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["get_weather"]}}
        },
        # Gemini cannot be told to call one at a time; the tool's `strict` it can.
        "parallel_false": {"toolConfig": {"functionCallingConfig": {"mode": "VALIDATED"}}},
        "history": {"contents": gemini_turns([{"city": "Paris"}, {}], "A", "B")},
    },
    "bedrock_converse": {
        "tool_choice_none": {"toolConfig": None},
        "tool_choice_required": {"toolConfig": converse_tools({"any": {}}, strict=True)},
        "tool_choice_named": {"toolConfig": converse_tools({"tool": {"name": "get_weather"}}, strict=True)},
        "parallel_false": {"additionalModelRequestFields": {"tool_choice": {"type": "auto"} | ALONE}},
        "history": {
            "messages": converse_turns(
                [converse_call("call_A", {"city": "Paris"}), converse_call("call_B", {})],
                ("call_B", "B"),
                ("call_A", "A"),
            )
        },
    },
}


@pytest.mark.parametrize("model", SIM_MODELS)
def test_what_reaches_the_provider(tmp_path: Path, sim_config: str, sim_gateway: str, model: str) -> None:
    probed = probe(tmp_path, sim_config, sim_gateway, model)
    stored = probed.pop("previous_response_id")
    assert (stored["status"], json.loads(stored["reply"])["error"]["param"]) == (400, "previous_response_id")
    expected = EXPECTED[SIM_MODELS[model][0]]
    assert probed.keys() == expected.keys()
    for name, row in probed.items():
        assert row["status"] == 200, row["reply"]
        assert {member: row["upstream"].get(member) for member in expected[name]} == expected[name], name


def test_what_reaches_a_chat_host_without_rules_of_its_own(tmp_path: Path, sim_config: str) -> None:
    model = "sim/gpt-4o"
    with gateway(tmp_path, sim_config.replace('profile = "openai"', "")) as base:
        probed = probe(tmp_path, sim_config, base, model)
    for name, row in probed.items():
        if name in EXPECTED["openai_chat"]:
            members = EXPECTED["openai_chat"][name]
            assert {member: row["upstream"].get(member) for member in members} == members, name


def probe(folder: Path, config: str, base: str, model: str) -> dict[str, Any]:
    """The probes' report. What they put into a request to find it again is taken out of it."""
    report = folder / "probes.json"
    upstream = tomllib.loads(config)["providers"]["sim-anthropic"]["base_url"]
    command = [sys.executable, "-B", str(SHARED / PROBES), "--front", "responses", "--model", model]
    command += ["--base", base.removesuffix("/v1"), "--sim-url", upstream, "--save", str(report)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    probed: dict[str, Any] = json.loads(re.sub(r"probe-\d+ \[\[sim text n=2\]\]", "go", report.read_text("utf-8")))
    return probed
