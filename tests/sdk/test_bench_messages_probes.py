"""The bench harness's probes of a Messages client, and what of them reaches each provider."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.reference import SHARED, needs
from tests.sdk.talks import SIM, SIM_MODELS
from tests.sdk.test_bench_probes import ALONE, converse_tools

PROBES = "bench/probes.py"

pytestmark = [pytest.mark.enable_socket, needs(SIM, PROBES)]

_NAMED = {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["get_weather"]}}
#: Wire -> probe -> members of the request that reaches the provider, None for one that is not there.
EXPECTED: dict[str, dict[str, dict[str, Any]]] = {
    "openai_chat": {
        "tool_choice_none": {"tool_choice": "none"},
        "tool_choice_auto": {"tool_choice": "auto", "parallel_tool_calls": False},
        "tool_choice_any": {"tool_choice": "required"},
        "tool_choice_named": {"tool_choice": {"type": "function", "function": {"name": "get_weather"}}},
        "strict_and_schema": {"tool_choice": None},  # without `strict`: OpenAI would refuse the schema
        "history": {},
    },
    "anthropic_messages": {
        "tool_choice_none": {"tool_choice": {"type": "none"}},
        "tool_choice_auto": {"tool_choice": {"type": "auto", "disable_parallel_tool_use": True}},
        "tool_choice_any": {"tool_choice": {"type": "any"}},
        "tool_choice_named": {"tool_choice": {"type": "tool", "name": "get_weather"}},
        "strict_and_schema": {"tool_choice": None},  # whatever it is, it is between the client and the API
        "history": {},
    },
    "gemini": {
        "tool_choice_none": {"toolConfig": {"functionCallingConfig": {"mode": "NONE"}}},
        "tool_choice_auto": {"toolConfig": None},
        "tool_choice_any": {"toolConfig": {"functionCallingConfig": {"mode": "ANY"}}},
        "tool_choice_named": {"toolConfig": _NAMED},
        "strict_and_schema": {"toolConfig": {"functionCallingConfig": {"mode": "VALIDATED"}}},
        "history": {},
    },
    "bedrock_converse": {
        "tool_choice_none": {"toolConfig": None},
        "tool_choice_auto": {"additionalModelRequestFields": {"tool_choice": {"type": "auto"} | ALONE}},
        "tool_choice_any": {"toolConfig": converse_tools({"any": {}})},
        "tool_choice_named": {"toolConfig": converse_tools({"tool": {"name": "get_weather"}})},
        "strict_and_schema": {},
        "history": {},
    },
}


@pytest.mark.parametrize("model", SIM_MODELS)
def test_what_reaches_the_provider(tmp_path: Path, sim_config: str, sim_gateway: str, model: str) -> None:
    wire = SIM_MODELS[model][0]
    probed = probe(tmp_path, sim_config, sim_gateway, model)
    assert probed.keys() == EXPECTED[wire].keys()
    for name, row in probed.items():
        members = EXPECTED[wire][name]
        assert row["status"] == 200, row["reply"]
        assert {member: row["upstream"].get(member) for member in members} == members, name
    HISTORIES[wire](probed["history"]["upstream"])


def _chat_history(sent: dict[str, Any]) -> None:
    messages = sent["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant", "tool", "tool", "user"]
    assert [call["id"] for call in messages[1]["tool_calls"]] == ["toolu_A", "toolu_B"]
    assert [(m["tool_call_id"], m["content"]) for m in messages[2:4]] == [
        ("toolu_B", "Error: boom"),
        ("toolu_A", "A-result"),
    ]


def _own_history(sent: dict[str, Any]) -> None:
    _, turn, results = sent["messages"]
    assert turn["content"][0] == {"type": "thinking", "thinking": "hm", "signature": "SIGNATURE=="}
    assert results["content"][0] == {
        "type": "tool_result", "tool_use_id": "toolu_B", "content": "boom", "is_error": True,
    }  # fmt: skip


def _gemini_history(sent: dict[str, Any]) -> None:
    answers = [
        part["functionResponse"] for turn in sent["contents"] for part in turn["parts"] if "functionResponse" in part
    ]
    assert [answer["response"] for answer in answers] == [{"output": "A-result"}, {"error": "boom"}]


def _converse_history(sent: dict[str, Any]) -> None:
    _, turn, results = sent["messages"]
    reasoning = {"reasoningText": {"text": "hm", "signature": "SIGNATURE=="}}
    assert turn["content"][0] == {"reasoningContent": reasoning}  # Claude's, wherever it is served
    said = {
        block["toolResult"]["toolUseId"]: block["toolResult"] for block in results["content"] if "toolResult" in block
    }
    assert said["toolu_B"] == {"toolUseId": "toolu_B", "content": [{"text": "boom"}], "status": "error"}
    assert said["toolu_A"]["content"] == [{"text": "A-result"}]


HISTORIES = {
    "openai_chat": _chat_history,
    "anthropic_messages": _own_history,
    "gemini": _gemini_history,
    "bedrock_converse": _converse_history,
}


def probe(folder: Path, config: str, base: str, model: str) -> dict[str, Any]:
    """The probes' report. What they put into a request to find it again is taken out of it."""
    report = folder / "probes.json"
    upstream = tomllib.loads(config)["providers"]["sim-anthropic"]["base_url"]
    command = [sys.executable, "-B", str(SHARED / PROBES), "--front", "anthropic", "--model", model]
    command += ["--base", base.removesuffix("/v1"), "--sim-url", upstream, "--save", str(report)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    text = re.sub(r"probe-\d+ \[\[sim text n=2\]\]", "go", report.read_text("utf-8"))
    probed: dict[str, Any] = json.loads(text)
    return probed
