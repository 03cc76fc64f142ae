"""The bench harness's probes: awkward requests of a Chat client, and what of them reaches each provider."""

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

PROBES = "bench/probes.py"

pytestmark = [pytest.mark.enable_socket, needs(SIM, PROBES)]

WEATHER = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
NO_PARAMETERS = {"type": "object", "properties": {}}
ALONE = {"disable_parallel_tool_use": True}
#: What is sent in the place of an id that a provider refuses: the same to both ends of the pair.
LEGAL = "<legal id>"


def chat_call(id: str, arguments: str) -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": "get_weather", "arguments": arguments}}


def chat_turns(calls: list[Any], *results: tuple[str, Any], content: str | None = None) -> list[dict[str, Any]]:
    turns: list[dict[str, Any]] = [
        {"role": "user", "content": "q1"},
        {"role": "assistant", "content": content, "tool_calls": calls},
    ]
    turns += [{"role": "tool", "tool_call_id": id, "content": result} for id, result in results]
    return [*turns, {"role": "user", "content": "go"}]


def claude_call(id: str, given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": "get_weather", "input": given}


def claude_turns(calls: list[Any], *results: tuple[str, str]) -> list[dict[str, Any]]:
    """The results and what the user says next are one message."""
    blocks = [
        {"type": "tool_result", "tool_use_id": id, "content": [{"type": "text", "text": text}]} for id, text in results
    ]
    return [
        {"role": "user", "content": [{"type": "text", "text": "q1"}]},
        {"role": "assistant", "content": calls},
        {"role": "user", "content": [*blocks, {"type": "text", "text": "go"}]},
    ]


def gemini_turns(arguments: list[Any], *results: str) -> list[dict[str, Any]]:
    """Calls and results have no ids: the results are in the order of the calls."""
    calls = [{"functionCall": {"name": "get_weather", "args": args}} for args in arguments]
    answers = [{"functionResponse": {"name": "get_weather", "response": {"output": text}}} for text in results]
    return [
        {"role": "user", "parts": [{"text": "q1"}]},
        {"role": "model", "parts": calls},
        {"role": "user", "parts": answers},
        {"role": "user", "parts": [{"text": "go"}]},
    ]


def converse_call(id: str, given: Any) -> dict[str, Any]:
    return {"toolUse": {"toolUseId": id, "name": "get_weather", "input": given}}


def converse_turns(calls: list[Any], *results: tuple[str, str]) -> list[dict[str, Any]]:
    """The results and what the user says next are one message."""
    blocks: list[Any] = [{"toolResult": {"toolUseId": id, "content": [{"text": text}]}} for id, text in results]
    return [
        {"role": "user", "content": [{"text": "q1"}]},
        {"role": "assistant", "content": calls},
        {"role": "user", "content": [*blocks, {"text": "go"}]},
    ]


def converse_tools(choice: Any = None, **more: Any) -> dict[str, Any]:
    """`toolConfig` with the weather's tool. `auto` is what the API does unasked."""
    spec = {"name": "get_weather", "description": "d", "inputSchema": {"json": WEATHER}, **more}
    return {"tools": [{"toolSpec": spec}]} | ({"toolChoice": choice} if choice else {})


CUT = '{"city": "Par'
#: Wire -> probe -> members of the request that reaches the provider (None for one that is not there), or the code of
#: the error with which the gateway refuses it.
EXPECTED: dict[str, dict[str, dict[str, Any] | str]] = {
    "openai_chat": {
        "tool_choice_none": {"tool_choice": "none"},
        "tool_choice_auto": {"tool_choice": "auto"},
        "tool_choice_required": {"tool_choice": "required"},
        "tool_choice_named": {"tool_choice": {"type": "function", "function": {"name": "get_weather"}}},
        "parallel_false": {"tool_choice": "auto", "parallel_tool_calls": False},
        # OpenAI decides of the strict schema: it is its own client's.
        "allowed_tools": {"parallel_tool_calls": None},
        "strict_and_schema": {"tool_choice": None},
        "no_params": {"tools": [{"type": "function", "function": {"name": "ping"}}]},
        "history": {
            "messages": [
                {"role": "system", "content": "S"},
                *chat_turns(
                    [chat_call("call_AAA", '{"city":"Paris"}'), chat_call("call_BBB", "")],
                    ("call_BBB", "B-result"),
                    ("call_AAA", [{"type": "text", "text": "A-result"}]),
                ),
            ]
        },
        "history_bad_args": {
            "messages": chat_turns([chat_call("call_AAA", CUT)], ("call_AAA", "A-result"), content="")
        },
        "long_id": {"messages": chat_turns([chat_call(LEGAL, '{"city":"P"}')], (LEGAL, "A"))},
    },
    "anthropic_messages": {
        "tool_choice_none": {"tool_choice": {"type": "none"}},
        "tool_choice_auto": {"tool_choice": {"type": "auto"}},
        "tool_choice_required": {"tool_choice": {"type": "any"}},
        "tool_choice_named": {"tool_choice": {"type": "tool", "name": "get_weather"}},
        "parallel_false": {
            "tool_choice": {"type": "auto", "disable_parallel_tool_use": True},
            "tools": [{"name": "get_weather", "description": "d", "input_schema": WEATHER}],
        },
        # What is not sent cannot be called.
        "allowed_tools": {
            "tool_choice": {"type": "any"},
            "tools": [{"name": "get_weather", "description": "d", "input_schema": WEATHER}],
        },
        "strict_and_schema": {"tool_choice": None},
        "no_params": {"tools": [{"name": "ping", "input_schema": {"type": "object", "properties": {}}}]},
        "history": {
            "messages": claude_turns(
                [claude_call("call_AAA", {"city": "Paris"}), claude_call("call_BBB", {})],
                ("call_BBB", "B-result"),
                ("call_AAA", "A-result"),
            )
        },
        "history_bad_args": {
            "messages": claude_turns([claude_call("call_AAA", {"_raw_arguments": CUT})], ("call_AAA", "A-result"))
        },
        "long_id": {"messages": claude_turns([claude_call(LEGAL, {"city": "P"})], (LEGAL, "A"))},
    },
    "gemini": {
        "tool_choice_none": {"toolConfig": {"functionCallingConfig": {"mode": "NONE"}}},
        "tool_choice_auto": {"toolConfig": None},
        "tool_choice_required": {"toolConfig": {"functionCallingConfig": {"mode": "ANY"}}},
        "tool_choice_named": {
            "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["get_weather"]}}
        },
        # Gemini cannot be told.
        "parallel_false": {
            "toolConfig": None,
            "tools": [
                {"functionDeclarations": [{"name": "get_weather", "description": "d", "parametersJsonSchema": WEATHER}]}
            ],
        },
        "allowed_tools": {
            "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["get_weather"]}}
        },
        "strict_and_schema": {"toolConfig": {"functionCallingConfig": {"mode": "VALIDATED"}}},
        "no_params": {"tools": [{"functionDeclarations": [{"name": "ping"}]}]},
        "history": {"contents": gemini_turns([{"city": "Paris"}, {}], "A-result", "B-result")},
        "history_bad_args": {"contents": gemini_turns([{"_raw_arguments": CUT}], "A-result")},
        "long_id": {"contents": gemini_turns([{"city": "P"}], "A")},
    },
    "bedrock_converse": {
        "tool_choice_none": {"toolConfig": None},  # the API has no word for it, and without tools nothing is called
        "tool_choice_auto": {"toolConfig": converse_tools()},
        "tool_choice_required": {"toolConfig": converse_tools({"any": {}})},
        "tool_choice_named": {"toolConfig": converse_tools({"tool": {"name": "get_weather"}})},
        "parallel_false": {
            "toolConfig": converse_tools(),
            "additionalModelRequestFields": {"tool_choice": {"type": "auto"} | ALONE},
        },
        "allowed_tools": {"toolConfig": converse_tools({"any": {}})},
        "strict_and_schema": {},
        "no_params": {
            "toolConfig": {"tools": [{"toolSpec": {"name": "ping", "inputSchema": {"json": NO_PARAMETERS}}}]}
        },
        "history": {
            "system": [{"text": "S"}],
            "messages": converse_turns(
                [converse_call("call_AAA", {"city": "Paris"}), converse_call("call_BBB", {})],
                ("call_BBB", "B-result"),
                ("call_AAA", "A-result"),
            ),
        },
        "history_bad_args": {
            "messages": converse_turns([converse_call("call_AAA", {"_raw_arguments": CUT})], ("call_AAA", "A-result"))
        },
        "long_id": {"messages": converse_turns([converse_call(LEGAL, {"city": "P"})], (LEGAL, "A"))},
    },
}


@pytest.mark.parametrize("model", SIM_MODELS)
def test_what_reaches_the_provider(tmp_path: Path, sim_config: str, sim_gateway: str, model: str) -> None:
    probed = probe(tmp_path, sim_config, sim_gateway, model)
    expected = EXPECTED[SIM_MODELS[model][0]] | {"orphan_tool_result": "unknown_tool_call_id"}
    assert probed.keys() == expected.keys()
    for name, row in probed.items():
        members = expected[name]
        if isinstance(members, str):
            assert (row["status"], json.loads(row["reply"])["error"]["code"]) == (400, members)
            continue
        assert row["status"] == 200, row["reply"]
        assert {member: row["upstream"].get(member) for member in members} == members, name


def probe(folder: Path, config: str, base: str, model: str) -> dict[str, Any]:
    """The probes' report. What they put into a request to find it again is taken out of it."""
    report = folder / "probes.json"
    upstream = tomllib.loads(config)["providers"]["sim-anthropic"]["base_url"]
    command = [sys.executable, "-B", str(SHARED / PROBES), "--front", "chat", "--model", model]
    command += ["--base", base.removesuffix("/v1"), "--sim-url", upstream, "--save", str(report)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    text = re.sub(r"probe-\d+ \[\[sim text n=2\]\]", "go", report.read_text("utf-8"))
    probed: dict[str, Any] = json.loads(re.sub(r'"[A-Za-z0-9]{40}"', f'"{LEGAL}"', text))
    return probed
