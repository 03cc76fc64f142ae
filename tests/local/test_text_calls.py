"""Calls that a host writes as text, over HTTP from end to end: a client of each API hears calls, answers them, and the
host is told of both as if it had made a call itself."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.cases.test_text_calls import (
    CALL,
    DOCUMENTS,
    REQUESTS,
    STREAMS,
    Heard,
    on_every_door,
    streamed_or_not,
    upstream,
)
from tests.door_requests import posted
from tests.gateway import gateway
from tests.shell.misbehaving_upstream import MisbehavingUpstream, Send, answer, chunk
from toolwire.conversation.tool_call_ids import token_of

pytestmark = pytest.mark.enable_socket

CITY = '{"city": "A"}'
LAST = b"0\r\n\r\n"


@pytest.fixture(scope="module")
def host() -> Iterator[MisbehavingUpstream]:
    with MisbehavingUpstream() as server:
        yield server


@pytest.fixture(scope="module")
def base(host: MisbehavingUpstream, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    config = f'[providers.host]\nwire = "openai_chat"\nbase_url = "{host.url}"\ncredential = "none"\n'
    with gateway(tmp_path_factory.mktemp("text-calls"), config) as url:
        yield url


def say(host: MisbehavingUpstream, stream: bool, *texts: str) -> None:
    """The host's next answer: these texts, each in a write of its own."""
    parts = upstream(stream, texts, [], "stop")
    if stream:
        host.script([Send(part) for part in framed(parts)])
    else:
        host.script([Send(answer(*parts, framing="length", headers=[("content-type", "application/json")]))])


def framed(parts: list[bytes]) -> list[bytes]:
    """The head, then each part of a stream as a chunk."""
    return [answer().removesuffix(LAST), *map(chunk, parts), LAST]


def ask(base: str, door: str, stream: bool, headers: dict[str, str] | None = None, **more: Any) -> Heard:
    path, content = posted(door, {"model": "host/m", "stream": stream, **REQUESTS[door], **more})
    sent = {"content-type": "application/json", **(headers or {})}
    got = httpx.post(f"{base}{path}", content=content, headers=sent, timeout=30)
    assert got.status_code == 200, got.text
    return (STREAMS if stream else DOCUMENTS)[door](got.content)


def answered(door: str, id: str) -> dict[str, Any]:
    """The client's next request: the call as this API shows it, and its result."""
    shown = json.loads(CITY) if door == "native" else CITY
    call = {"id": id, "type": "function", "function": {"name": "get_weather", "arguments": shown}}
    asked = [{"role": "user", "content": "x"}]
    match door:
        case "gemini":
            made = {"functionCall": {"id": id, "name": "get_weather", "args": json.loads(CITY)}}
            told = {"functionResponse": {"id": id, "name": "get_weather", "response": {"output": "18"}}}
            said = {"role": "user", "parts": [{"text": "x"}]}
            return {"contents": [said, {"role": "model", "parts": [made]}, {"role": "user", "parts": [told]}]}
        case "messages":
            use = {"type": "tool_use", "id": id, "name": "get_weather", "input": json.loads(CITY)}
            result = {"type": "tool_result", "tool_use_id": id, "content": "18"}
            turns = [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
            return {"messages": [*asked, *turns]}
        case "responses":
            item = {"type": "function_call", "call_id": id, "name": "get_weather", "arguments": CITY}
            return {"input": [*asked, item, {"type": "function_call_output", "call_id": id, "output": "18"}]}
        case _:
            result = {"role": "tool", "tool_call_id": id, "content": "18"}
            return {"messages": [*asked, {"role": "assistant", "content": None, "tool_calls": [call]}, result]}


@on_every_door
@streamed_or_not
def test_two_turns(host: MisbehavingUpstream, base: str, door: str, stream: bool) -> None:
    say(host, stream, "Let me see. <tool", CALL[5:30], CALL[30:])
    heard = ask(base, door, stream)
    assert heard[:2] == ("Let me see. ", [("get_weather", {"city": "A"})])
    assert heard.finish == "tool_calls"
    (id,) = heard.ids
    assert token_of(id) is not None

    say(host, stream, "18 degrees <in A>.")
    assert ask(base, door, stream, **answered(door, id)) == Heard("18 degrees <in A>.", [], [], "stop")

    told = json.loads(host.requests[-1].body)["messages"]
    (call,) = told[1]["tool_calls"]
    assert (call["function"]["name"], json.loads(call["function"]["arguments"])) == ("get_weather", {"city": "A"})
    assert (told[2]["tool_call_id"], told[2]["content"]) == (call["id"], "18")


@on_every_door
def test_the_ids_depend_on_the_conversation_and_the_place_alone(
    host: MisbehavingUpstream, base: str, door: str
) -> None:
    def ids(conversation: str, *, stream: bool) -> list[str]:
        say(host, stream, CALL, CALL)
        return list(ask(base, door, stream, {"x-conversation-id": conversation}).ids)

    first = ids("trip-1", stream=True)
    assert len(set(first)) == 2
    assert ids("trip-1", stream=True) == ids("trip-1", stream=False) == first
    assert not set(ids("trip-2", stream=True)) & set(first)


@on_every_door
@streamed_or_not
def test_switched_off(host: MisbehavingUpstream, base: str, door: str, stream: bool) -> None:
    say(host, stream, "Let me see. ", CALL)
    heard = ask(base, door, stream, {"x-toolwire-recover-text-calls": "off"})
    assert heard == Heard("Let me see. " + CALL, [], [], "stop")
