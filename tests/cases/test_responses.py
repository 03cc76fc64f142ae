"""Bug reports about the Responses API in front of other providers, on our own inputs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.cases.test_calls import DONE, call, chunk
from tests.corpus import driver
from tests.doors.responses.responses_reader import Said, read, sdk_stream

LOG = {"type": "function", "name": "read_log", "parameters": {"type": "object", "properties": {}}}
PATCH = {"type": "custom", "name": "patch", "description": "Edits.", "format": {"type": "text"}}


def exchange(wire: str = "openai_chat", **fields: Any) -> Any:
    body = json.dumps({"model": "m", "input": "Look.", "tools": [LOG], "stream": True} | fields).encode()
    return driver.open_exchange(body, door="responses", wire=wire)


def heard(*pieces: bytes, wire: str = "openai_chat", **fields: Any) -> tuple[Said, bytes]:
    body = driver.answer(exchange(wire, **fields), pieces).body
    return read(body), body


def test_a_repeated_name_and_id_are_one_call() -> None:
    again = {"id": "c-1", "type": "function", "name": "read_log"}
    pieces = [call("", **again), call('{"path":', **again), call('"b.log"}', **again)]
    said, body = heard(*map(chunk, pieces), chunk({}, "tool_calls"), DONE)
    (item,) = said.done.values()
    assert (item["name"], item["arguments"]) == ("read_log", '{"path":"b.log"}')
    assert sdk_stream(body)["output"][0]["call_id"] == item["call_id"]


def test_ids_of_an_item_never_change() -> None:
    said, _ = heard(chunk(call('{"a":1}', id="c", type="function", name="read_log")), chunk({}, "tool_calls"), DONE)
    ids = {event.get("item_id") or (event.get("item") or {}).get("id") for event in said.events} - {None}
    assert said.final is not None
    assert ids == {said.final["output"][0]["id"]}
    assert said.final["output"][0]["call_id"] not in ids


def test_the_ending_needs_no_done_of_the_upstream() -> None:
    said, _ = heard(chunk({"role": "assistant", "content": "Hm"}), chunk({}, "stop"))
    assert said.types[-1] == "response.completed"


@pytest.mark.parametrize("piece", ['{"path":', '{"path":"b.log"}'])
def test_a_connection_that_ends_early_is_a_failure(piece: str) -> None:
    said, _ = heard(chunk(call(piece, id="c", type="function", name="read_log")))
    assert (said.types[-1], list(said.done)) == ("response.failed", [])
    assert said.final is not None
    assert said.final["output"][0]["status"] == "incomplete"


def test_a_long_call_id_is_shortened_on_both_ends() -> None:
    long = ["call_" + "Zz9-" * 30 + end for end in ("a", "b")]
    items = [{"type": "function_call", "call_id": id, "name": "read_log", "arguments": "{}"} for id in long]
    items += [{"type": "function_call_output", "call_id": id, "output": "ok"} for id in long]
    for wire, most in (("openai_chat", 64), ("openai_responses", 64)):
        sent = json.loads(exchange(wire, input=items).upstream_request.body)
        if wire == "openai_chat":
            calls = [entry["id"] for entry in sent["messages"][0]["tool_calls"]]
            results = [message["tool_call_id"] for message in sent["messages"][1:]]
        else:
            calls, results = ([item["call_id"] for item in sent["input"][begin : begin + 2]] for begin in (0, 2))
        assert calls == results
        assert len(set(calls)) == 2
        assert max(map(len, calls)) <= most


def test_parallel_calls_are_one_assistant_message() -> None:
    calls = [
        {"type": "function_call", "call_id": f"run:{n}", "name": "read_log", "arguments": f'{{"n":{n}}}'}
        for n in (0, 1)
    ]
    results = [{"type": "function_call_output", "call_id": f"run:{n}", "output": str(n)} for n in (0, 1)]
    user = {"role": "user", "content": "x"}
    messages = json.loads(exchange(input=[user, *calls, *results]).upstream_request.body)["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant", "tool", "tool"]
    assert [entry["function"]["arguments"] for entry in messages[1]["tool_calls"]] == ['{"n":0}', '{"n":1}']
    assert [message["tool_call_id"] for message in messages[2:]] == [entry["id"] for entry in messages[1]["tool_calls"]]


def test_a_freeform_tool_over_a_chat_host() -> None:
    opened = exchange(tools=[PATCH])
    (tool,) = json.loads(opened.upstream_request.body)["tools"]
    assert (tool["type"], tool["function"]["name"]) == ("function", "patch")
    assert tool["function"]["parameters"]["required"] == ["input"]
    pieces = [call('{"input":"*** Beg', id="c", type="function", name="patch"), call('in\\n+\\"x\\"\\n"}')]
    said, _ = heard(*map(chunk, pieces), chunk({}, "tool_calls"), DONE, tools=[PATCH])
    (item,) = said.done.values()
    assert (item["type"], item["input"]) == ("custom_tool_call", '*** Begin\n+"x"\n')


def test_instructions_and_developer_messages_keep_their_order() -> None:
    roles = ("developer", "user", "assistant", "developer", "user")
    items = [{"role": role, "content": f"{role} {number}"} for number, role in enumerate(roles)]
    messages = json.loads(exchange(input=items, instructions="first").upstream_request.body)["messages"]
    # The host may take one system text at the front alone: those that stand there are one.
    assert [message["content"] for message in messages] == ["first\ndeveloper 0", *(it["content"] for it in items[1:])]
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "system", "user"]


def test_line_separators_within_json_pass() -> None:
    arguments = '{"t": "a\u2028b\u2029c\x85d"}'
    raw = json.dumps({"choices": [{"index": 0, "delta": call(arguments, id="c", type="function", name="read_log")}]},
                     ensure_ascii=False).encode()  # fmt: skip
    said, _ = heard(b"data: " + raw + b"\n\n", chunk({}, "tool_calls"), DONE)
    assert said.done[0]["arguments"] == arguments


def test_a_whole_call_is_not_cut_within_a_character() -> None:
    text = "x" * 200 + "\U0001f327" + "y" * 200
    part = {"functionCall": {"name": "read_log", "args": {"t": text}}}
    answer = {"candidates": [{"content": {"role": "model", "parts": [part]}, "index": 0, "finishReason": "STOP"}]}
    said, _ = heard(b"data: " + json.dumps(answer).encode() + b"\n\n", wire="gemini")
    assert json.loads(said.done[0]["arguments"]) == {"t": text}
    deltas = [event["delta"] for event in said.events if event["type"].endswith("arguments.delta")]
    assert all(delta.count("\\ud83c") == delta.count("\\ud83c\\udf27") for delta in deltas)
    assert not any("\ud800" <= character <= "\udfff" for delta in deltas for character in delta)


def test_arguments_before_the_name_are_held_until_it_comes() -> None:
    pieces = [call('{"path":', id="c", type="function"), call("", name="read_log"), call('"b.log"}')]
    said, _ = heard(*map(chunk, pieces), chunk({}, "tool_calls"), DONE)
    assert [kind for kind in said.order() if kind.startswith(("response.output_item", "response.function"))] == [
        "response.output_item.added",
        "response.function_call_arguments.delta",
        "response.function_call_arguments.done",
        "response.output_item.done",
    ]
    assert said.done[0]["arguments"] == '{"path":"b.log"}'
