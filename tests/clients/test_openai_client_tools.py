"""OpenAI's typed tools that the client runs (two shells, patches, a computer): functions at every other provider, whose
calls come back as the items that the client's code is written for."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.clients.sending import LANES, MODELS, send
from tests.corpus import driver
from tests.named_rows import each_row
from toolwire.framing.sse import SseDecoder
from toolwire.model.errors import RequestError

USER = {"role": "user", "content": "x"}
READ = {"type": "function", "name": "read_file", "parameters": {"type": "object", "properties": {}}}
LANE = LANES["responses"]
FOREIGN = sorted(set(MODELS) - {LANE})
PIXEL = "data:image/png;base64,iVBORw0KGgo="

#: Tool -> (the function's name, its inputs, what else the model is told).
TOOLS: dict[str, tuple[dict[str, Any], str, set[str], str]] = {
    "local_shell": (
        {"type": "local_shell"}, "local_shell",
        {"command", "env", "timeout_ms", "user", "working_directory"}, "without a shell",
    ),
    "shell": ({"type": "shell"}, "shell", {"commands", "timeout_ms", "max_output_length"}, "shell commands"),
    "shell, local": (
        {"type": "shell", "environment": {"type": "local"}}, "shell",
        {"commands", "timeout_ms", "max_output_length"}, "shell commands",
    ),
    "apply_patch": ({"type": "apply_patch"}, "apply_patch", {"type", "path", "diff"}, "V4A"),
    "computer": ({"type": "computer"}, "computer", {"actions"}, "screenshot"),
    "computer_use_preview": (
        {"type": "computer_use_preview", "display_width": 1280, "display_height": 800, "environment": "mac"},
        "computer", {"type", "x", "y", "button", "scroll_x", "scroll_y", "keys", "text", "path"},
        "display_width: 1280.",
    ),
}  # fmt: skip

#: Type of a call's item -> (the arguments of the function's call, what the item holds, its output, what of that is told
#: elsewhere).
CALLS: dict[str, tuple[str, str, dict[str, Any], dict[str, Any], str]] = {
    "local_shell_call": (
        "local_shell", '{"command":["ls","-l"],"timeout_ms":1.50}',
        {"action": {"type": "exec", "command": ["ls", "-l"], "env": {}, "timeout_ms": 1.5}},
        {"output": "a.txt"}, "a.txt",
    ),
    "shell_call": (
        "shell", '{"commands":["ls"],"timeout_ms":5}', {"action": {"commands": ["ls"], "timeout_ms": 5}},
        {"output": [{"stdout": "a.txt", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}]}, "a.txt",
    ),
    "apply_patch_call": (
        "apply_patch", '{"type":"delete_file","path":"a.txt"}',
        {"operation": {"type": "delete_file", "path": "a.txt"}}, {"status": "failed", "output": "no a.txt"}, "no a.txt",
    ),
    "computer_call": (
        "computer", '{"actions":[{"type":"screenshot"}]}',
        {"actions": [{"type": "screenshot"}], "pending_safety_checks": []},
        {"output": {"type": "computer_screenshot", "image_url": PIXEL}}, "iVBORw0KGgo=",
    ),
}  # fmt: skip


def history(kind: str) -> list[Any]:
    _, _, told, output, _ = CALLS[kind]
    call = {"type": kind, "id": "x_1", "call_id": "call_1", "status": "completed", **told}
    return [USER, call, {"type": f"{kind}_output", "call_id": "call_1", **output}]


def declared(kind: str) -> dict[str, Any]:
    return {"type": CALLS[kind][0]}


# ---------------------------------------------------------------- requests


@each_row("wire", FOREIGN)
@each_row("tool", TOOLS)
def test_each_is_a_function_elsewhere(tool: str, wire: str) -> None:
    declaration, name, inputs, told = TOOLS[tool]
    found = send("responses", wire, input=[USER], tools=[READ, declaration])
    assert list(found.tools) == ["read_file", name]
    assert set(found.tools[name]["properties"]) == inputs
    assert told in json.dumps(found.body)
    assert [code for code in found.warnings if "reasoning" not in code] == []


@pytest.mark.parametrize("tool", TOOLS)
def test_each_is_the_clients_own_bytes_at_openai(tool: str) -> None:
    found = send("responses", LANE, input=[USER], tools=[READ, TOOLS[tool][0]])
    assert (found.body["tools"], found.warnings) == ([READ, TOOLS[tool][0]], [])


@pytest.mark.parametrize("environment", ["container_auto", "container_reference"])
def test_a_shell_in_a_container_runs_at_the_host(environment: str) -> None:
    with pytest.raises(RequestError) as refused:
        send("responses", "openai_chat", profile="compatible", input=[USER],
             tools=[{"type": "shell", "environment": {"type": environment}}])  # fmt: skip
    assert refused.value.code == "unsupported_tool"


@each_row("wire", sorted(MODELS))
@each_row("tool", TOOLS)
def test_each_can_be_forced(tool: str, wire: str) -> None:
    declaration, name, *_ = TOOLS[tool]
    choice = {"type": declaration["type"]}
    found = send("responses", wire, input=[USER], tools=[READ, declaration], tool_choice=choice)
    if wire == LANE:
        assert found.body["tool_choice"] == choice
    else:
        assert f'"{name}"' in json.dumps(found.body.get("tool_choice") or found.body.get("toolConfig"))


def test_each_can_be_allowed() -> None:
    allowed = {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "shell"}]}
    found = send("responses", "openai_chat", profile="compatible", input=[USER], tools=[READ, {"type": "shell"}],
                 tool_choice=allowed)  # fmt: skip
    assert list(found.tools) == ["shell"]


@each_row("wire", FOREIGN)
@each_row("kind", CALLS)
def test_their_calls_and_outputs_are_told_elsewhere(kind: str, wire: str) -> None:
    name, arguments, _, _, told = CALLS[kind]
    found = send("responses", wire, input=history(kind), tools=[READ, declared(kind)])
    said = json.dumps(found.turns)
    assert f'"{name}"' in said
    for value in ("ls", "delete_file", "screenshot"):
        assert (value in arguments) <= (value in said)
    assert said.count(told) == 1
    assert "tool_result_missing" not in found.warnings


@pytest.mark.parametrize("kind", CALLS)
def test_their_calls_and_outputs_are_the_clients_own_bytes_at_openai(kind: str) -> None:
    found = send("responses", LANE, input=history(kind), tools=[READ, declared(kind)])
    assert (found.turns, found.warnings) == (history(kind), [])


@pytest.mark.parametrize("kind", CALLS)
def test_a_call_that_was_left_is_answered_at_openai_by_an_output_of_its_kind(kind: str) -> None:
    found = send("responses", LANE, input=[*history(kind)[:2], USER], tools=[declared(kind)])
    assert found.turns[2]["type"] == f"{kind}_output"
    assert found.warnings == ["tool_result_missing"]


def test_the_output_of_the_older_shell_may_name_its_item() -> None:
    call, output = history("local_shell_call")[1:]
    output = {name: value for name, value in output.items() if name != "call_id"} | {"id": "x_1"}
    found = send("responses", "openai_chat", profile="compatible", input=[USER, call, output], tools=[READ])
    assert found.turns[2] == {"role": "tool", "tool_call_id": "call_1", "content": "a.txt"}


# ---------------------------------------------------------------- answers


def frames_of(stream: bytes) -> list[dict[str, Any]]:
    return [json.loads(frame.data) for frame in SseDecoder().feed(stream) if frame.data]


def asked(kind: str, stream: bool, **more: Any) -> bytes:
    return json.dumps(
        {"model": "m", "input": [USER], "stream": stream, "tools": [READ, declared(kind)], **more}
    ).encode()


def from_chat(kind: str, stream: bool, arguments: str, finish: str = "tool_calls") -> dict[str, Any]:
    """The response that the client sees of a Chat host's call."""
    exchange = driver.open_exchange(asked(kind, stream), door="responses")
    call = {
        "index": 0,
        "id": "call_1",
        "type": "function",
        "function": {"name": CALLS[kind][0], "arguments": arguments},
    }
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    choice = {"index": 0, "finish_reason": finish, ("delta" if stream else "message"): message}
    body = json.dumps({"id": "x", "model": "m", "created": 1, "choices": [choice]}).encode()
    body = b"data: " + body + b"\n\ndata: [DONE]\n\n" if stream else body
    kind_of = "text/event-stream" if stream else "application/json"
    said = driver.answer(exchange, [body], content_type=kind_of).body
    if not stream:
        whole: dict[str, Any] = json.loads(said)
        return whole
    events = frames_of(said)
    done = [event["item"] for event in events if event["type"] == "response.output_item.done"]
    last: dict[str, Any] = events[-1]["response"]
    assert done == last["output"]
    assert [event["item"]["type"] for event in events if event["type"] == "response.output_item.added"] == [kind]
    return last


@each_row("stream", [True, False])
@each_row("kind", CALLS)
def test_calls_come_back_as_items_of_their_own_type(kind: str, stream: bool) -> None:
    _, arguments, told, _, _ = CALLS[kind]
    response = from_chat(kind, stream, arguments)
    (item,) = response["output"]
    assert item.pop("id")
    assert item.pop("call_id")
    assert item == {"type": kind, "status": "completed", **told}
    assert ("1.50" in arguments) <= ("1.5" in json.dumps(item))


@each_row("stream", [True, False])
@each_row("kind", CALLS)
@each_row(("text", "finish"), [("rm -rf /", "tool_calls"), ('{"commands":["rm -r', "length")])
def test_what_is_no_object_runs_nothing_and_is_not_lost(text: str, finish: str, kind: str, stream: bool) -> None:
    (item,) = from_chat(kind, stream, text, finish)["output"]
    told = item.get("action") or item.get("operation")
    assert told["_raw_arguments"] == text
    assert not any(told.get(name) for name in ("command", "commands", "path", "diff"))
    assert told.get("type") in (None, "exec")
    assert item["status"] == ("incomplete" if finish == "length" else "completed")


def from_openai(kind: str, stream: bool, **more: Any) -> tuple[list[dict[str, Any]], bytes]:
    """The items that the client sees of OpenAI's own, and all bytes."""
    exchange = driver.open_exchange(asked(kind, stream, **more), door="responses", wire=LANE, profile="openai")
    item = history(kind)[1] | {"created_by": "me"}
    response = {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "model": "m",
        "status": "completed",
        "output": [item],
    }
    if not stream:
        said = driver.answer(exchange, [json.dumps(response).encode()], content_type="application/json").body
        return json.loads(said)["output"], said
    events = [
        {"type": "response.created", "response": response | {"status": "in_progress", "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": item | {"status": "in_progress"}},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": response},
    ]
    frames = [
        f"event: {event['type']}\ndata: {json.dumps(event | {'sequence_number': number})}\n\n".encode()
        for number, event in enumerate(events)
    ]
    said = driver.answer(exchange, frames).body
    return frames_of(said)[-1]["response"]["output"], said


@each_row("stream", [True, False])
@each_row("kind", CALLS)
def test_openais_own_calls_pass_as_they_are(kind: str, stream: bool) -> None:
    for choice in ("auto", "required", {"type": CALLS[kind][0]}):
        output, said = from_openai(kind, stream, tool_choice=choice)
        assert output == [history(kind)[1] | {"created_by": "me"}]
        assert said.count(b'"sequence_number"') == (4 if stream else 0)
        assert b'"function_call' not in said
