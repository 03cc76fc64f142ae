"""Faults of compatible hosts' streams, as bug reports describe them, through the chat door. The inputs are our own."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.corpus import driver
from toolwire.framing.sse import SseDecoder

TOOL = {"type": "function", "function": {"name": "read_log", "parameters": {"type": "object", "properties": {}}}}
DONE = b"data: [DONE]\n\n"


def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    head = {"id": "r-1", "object": "chat.completion.chunk", "created": 5, "model": "up"}
    return b"data: %b\n\n" % json.dumps({**head, "choices": [choice]}).encode()


def call(arguments: str | None = None, **members: Any) -> dict[str, Any]:
    """A delta with one call, at index 0."""
    function = {name: members.pop(name) for name in ("name",) if name in members}
    if arguments is not None:
        function["arguments"] = arguments
    return {"tool_calls": [{"index": 0, **members, "function": function}]}


def stream(*pieces: bytes) -> driver.Answer:
    """The client's stream when a compatible host answers so."""
    request = {"model": "m", "stream": True, "tools": [TOOL], "messages": [{"role": "user", "content": "Look."}]}
    return driver.answer(driver.open_exchange(json.dumps(request).encode()), pieces)


def payloads(answer: driver.Answer) -> list[str]:
    """The data of the client's frames."""
    decoder = SseDecoder()
    return [str(frame.data, "utf-8") for frame in [*decoder.feed(answer.body), *decoder.end()]]


def deltas(answer: driver.Answer) -> list[dict[str, Any]]:
    assert payloads(answer)[-1] == "[DONE]"
    return [json.loads(data)["choices"][0]["delta"] for data in payloads(answer)[:-1]]


def calls(answer: driver.Answer) -> dict[int, tuple[str, str, str]]:
    """Index -> id, name and arguments, by a client that takes id and name where a call begins and nowhere else."""
    found: dict[int, tuple[str, str, str]] = {}
    for delta in deltas(answer):
        for part in delta.get("tool_calls", ()):
            if part["index"] in found:
                assert not part.get("id")
                id, name, arguments = found[part["index"]]
                found[part["index"]] = (id, name, arguments + part["function"]["arguments"])
            else:
                found[part["index"]] = (part["id"], part["function"]["name"], part["function"].get("arguments", ""))
    return found


@pytest.mark.parametrize("nameless", [{}, {"name": ""}, {"name": None}, {"name": "", "id": ""}], ids=str)
def test_second_call_without_identity_is_a_call_of_its_own(nameless: dict[str, Any]) -> None:
    # The host forgot id and name, and left the index at 0: only the JSON value that was complete tells them apart.
    answer = stream(
        chunk({"role": "assistant"} | call(id="c_1", type="function", name="read_log")),
        chunk(call('{"file":"a.log"}', **nameless)),
        chunk(call('{"file":', **nameless)),
        chunk(call('"b.log"}', **nameless)),
        chunk({}, "tool_calls"),
        DONE,
    )
    found = calls(answer)
    assert [(name, arguments) for _, name, arguments in found.values()] == [
        ("read_log", '{"file":"a.log"}'),
        ("read_log", '{"file":"b.log"}'),
    ]
    assert list(found) == [0, 1]
    assert found[0][0] != found[1][0]


def test_no_client_gets_an_empty_list_of_calls() -> None:
    answer = stream(
        chunk({"role": "assistant", "content": "No", "tool_calls": []}),
        chunk({"content": " need.", "tool_calls": []}),
        chunk({"tool_calls": []}, "stop"),
        DONE,
    )
    assert "".join(delta.get("content") or "" for delta in deltas(answer)) == "No need."
    assert [delta for delta in deltas(answer) if "tool_calls" in delta] == []

    message = {"role": "assistant", "content": "No need.", "tool_calls": []}
    host = {"id": "r-1", "object": "chat.completion", "created": 5, "model": "up"}
    body = json.dumps({**host, "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}).encode()
    request = {"model": "m", "messages": [{"role": "user", "content": "Look."}]}
    exchange = driver.open_exchange(json.dumps(request).encode())
    shown = json.loads(driver.answer(exchange, [body], content_type="application/json").body)
    assert "tool_calls" not in shown["choices"][0]["message"]
    assert shown["choices"][0]["message"]["content"] == "No need."


@pytest.mark.parametrize(
    "sign_of_life",
    [b": waiting\n\n", b":\n\n", b"data: : waiting\n\n", b"data:\n\n", b"event: ping\ndata: : \n\n"],
    ids=["comment", "empty comment", "comment as data", "empty data", "named event"],
)
def test_keep_alives_never_come_out_as_data(sign_of_life: bytes) -> None:
    answer = stream(
        sign_of_life,
        chunk({"role": "assistant"} | call('{"file"', id="c_1", type="function", name="read_log")),
        sign_of_life,
        chunk(call(':"a.log"}')),
        sign_of_life + sign_of_life,
        chunk({}, "tool_calls"),
        sign_of_life,
        DONE,
    )
    assert all(data == "[DONE]" or isinstance(json.loads(data), dict) for data in payloads(answer))
    assert [arguments for _, _, arguments in calls(answer).values()] == ['{"file":"a.log"}']
