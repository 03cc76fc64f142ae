"""On every door, over every wire: a turn is stored before its client hears that it is over, and the client is told the
same streamed and whole."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.conversation.clients import PARAMETERS
from tests.conversation.signing_hosts import Claude, DeepSeek, Gemini, Host
from tests.conversation.signing_responses import OpenAIResponses
from tests.corpus import driver
from tests.corpus.driver import sent
from tests.named_rows import each_row
from toolwire.doors import DOORS, load_door
from toolwire.exchange.actions import Send, Store
from toolwire.exchange.exchange import Exchange
from toolwire.model.settings import ProviderConfig, Target, Tenant
from toolwire.model.stored import Item

#: wire -> (host, profile, model).
HOSTS: dict[str, tuple[type[Host], str | None, str]] = {
    "gemini": (Gemini, None, "gemini-3-pro-preview"),
    "anthropic_messages": (Claude, None, "claude-sonnet-4-5"),
    "openai_chat": (DeepSeek, "deepseek", "deepseek-chat"),
    "openai_responses": (OpenAIResponses, "openai", "gpt-5"),
}

#: What a client of the door reads as the turn's end.
ENDS = {
    "chat_completions": b'"finish_reason":"',
    "messages": b'"stop_reason":"',
    "responses": b"event: response.completed",
    "native": b"event: response.end",
    "gemini": b'"finishReason":',
}

#: Doors and wires of one dialect, where the provider's ids are kept and nothing is stored: (an id that it used before
#: makes it mint one.)
LANES = {("messages", "anthropic_messages"): "toolu_own_0_0", ("responses", "openai_responses"): "own-0-0"}

#: The lane whose client holds all there is, and needs no ids: nothing is ever stored.
STORELESS = ("gemini", "gemini")


def body(door: str, stream: bool, used: str | None) -> bytes:
    """A request with a tool, and with a call in its history that has this id."""
    function = {"name": "get_weather", "description": "x", "parameters": PARAMETERS}
    document: dict[str, Any] = {"model": "m", "stream": stream}
    match door:
        case "responses":
            items: list[Any] = [{"role": "user", "content": "x"}]
            if used:
                items.append({"type": "function_call", "call_id": used, "name": "get_weather", "arguments": "{}"})
                items.append({"type": "function_call_output", "call_id": used, "output": "ok"})
            document |= {"input": items, "tools": [{"type": "function", **function}]}
        case "gemini":
            declared = {"name": "get_weather", "parametersJsonSchema": PARAMETERS}
            document |= {"contents": [{"parts": [{"text": "x"}]}], "tools": [{"functionDeclarations": [declared]}]}
        case "messages":
            messages: list[Any] = [{"role": "user", "content": "x"}]
            if used:
                use = {"type": "tool_use", "id": used, "name": "get_weather", "input": {}}
                result = {"type": "tool_result", "tool_use_id": used, "content": "ok"}
                messages += [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
            tool = {"name": "get_weather", "input_schema": PARAMETERS}
            document |= {"messages": messages, "tools": [tool], "max_tokens": 4096}
        case _:
            document |= {"messages": [{"role": "user", "content": "x"}]}
            document |= {"tools": [{"type": "function", "function": function}]}
    return json.dumps(document).encode()


def opened(
    door_name: str, wire: str, *, stream: bool, used: str | None = None, document: dict[str, Any] | None = None
) -> Exchange:
    door, tenant = load_door(door_name), Tenant()
    _, profile, model = HOSTS[wire]
    given = body(door_name, stream, used) if document is None else json.dumps(document).encode()
    provider = ProviderConfig("up", wire, "http://127.0.0.1:1", "none", profile)
    return driver.opened(door, given, Target(provider, model), tenant, request_id="req")


def frames(wire: str) -> list[bytes]:
    """A turn of two calls, with its state."""
    host = HOSTS[wire][0]()
    out = []
    for name, event in host.stream(host.say([{"city": "a"}, {"city": "b"}], "")):
        text = json.dumps({"type": name, **event} if name else event, separators=(",", ":"))
        out.append((f"event: {name}\n" if name else "").encode() + f"data: {text}\n\n".encode())
    return [*out, b"data: [DONE]\n\n"] if wire == "openai_chat" else out


def streamed(exchange: Exchange, pieces: list[bytes], end: bytes) -> tuple[bytes, list[Item]]:
    """What the client is sent, and what was stored before it read the end."""
    exchange.receive_head(200, {"content-type": "text/event-stream"})
    said, stored = b"", list[Item]()
    for piece in pieces:
        actions = exchange.receive_data(piece)
        for number, action in enumerate(actions):
            if isinstance(action, Store):
                assert number == len(actions) - 1, "nothing is sent before it is done"
                assert end not in said
                stored += action.items
                said += b"".join(a.data for a in exchange.receive_stored() if isinstance(a, Send))
            elif isinstance(action, Send):
                said += action.data
    late: list[Item] = []
    said += b"".join(a.data for a in sent(exchange, exchange.receive_end(), late) if isinstance(a, Send))
    assert late == []
    assert end in said
    assert exchange.figures.error is None
    return said, stored


def kinds(items: list[Item]) -> list[str]:
    return sorted(item.key.sort[:5] for item in items)


@each_row("together", [False, True], ids=["frame by frame", "at once"])
@each_row("wire", HOSTS)
@each_row("door", DOORS)
def test_the_store_comes_before_the_end(door: str, wire: str, together: bool) -> None:
    pieces = [b"".join(frames(wire))] if together else frames(wire)
    _, stored = streamed(opened(door, wire, stream=True), pieces, ENDS[door])
    assert kinds(stored) == ([] if (door, wire) in (*LANES, STORELESS) else ["call_", "call_", "state"])


@each_row("wire", HOSTS)
@each_row("door", DOORS)
def test_a_warning_behind_the_head_is_told_once_and_before_the_end(door: str, wire: str) -> None:
    exchange = opened(door, wire, stream=True)
    first, *rest = frames(wire)
    exchange.receive_head(200, {"content-type": "text/event-stream"})
    said = b"".join(a.data for a in sent(exchange, exchange.receive_data(first)) if isinstance(a, Send))
    exchange.figures.warnings.add("found_late")
    for actions in (exchange.receive_data(b"".join(rest)), exchange.receive_end()):
        said += b"".join(a.data for a in sent(exchange, actions) if isinstance(a, Send))
    comment = b"x-toolwire-warnings: found_late" + (b'"' if door == "gemini" else b"\n\n")
    assert said.count(comment) == 1
    assert said.index(comment) < said.index(ENDS[door])


@pytest.mark.parametrize("together", [False, True], ids=["frame by frame", "at once"])
@pytest.mark.parametrize(("lane", "used"), LANES.items(), ids=lambda value: "-".join(value))
def test_a_lane_that_has_to_mint_stores_first_too(lane: tuple[str, str], used: str, together: bool) -> None:
    door, wire = lane
    pieces = [b"".join(frames(wire))] if together else frames(wire)
    said, stored = streamed(opened(door, wire, stream=True, used=used), pieces, ENDS[door])
    assert kinds(stored) == ["call_", "state"], "the second id was not used before, and is kept"
    assert f'"{used}"'.encode() not in said


@each_row("wire", HOSTS)
@each_row("door", DOORS)
@each_row("repeats", [False, True])
def test_streamed_and_whole_leave_the_same(door: str, wire: str, repeats: bool) -> None:
    used = LANES.get((door, wire)) if repeats else None
    said, stored = streamed(opened(door, wire, stream=True, used=used), frames(wire), ENDS[door])
    exchange, items = opened(door, wire, stream=False, used=used), list[Item]()
    exchange.receive_head(200, {"content-type": "application/json"})
    whole = HOSTS[wire][0]().say([{"city": "a"}, {"city": "b"}], "")
    actions = exchange.receive_data(json.dumps(whole, separators=(",", ":")).encode()) + exchange.receive_end()
    assert isinstance(actions[0], Store) == bool(stored), "the answer waits for it"
    body = b"".join(action.data for action in sent(exchange, actions, items) if isinstance(action, Send))
    assert items == stored
    minted = re.compile(rb"call_[0-9A-Za-z]{32}")
    assert set(minted.findall(said)) == set(minted.findall(body))


@each_row("wire", HOSTS)
@each_row("door", DOORS)
def test_an_interrupted_stream_stores_nothing_and_says_no_end(door: str, wire: str) -> None:
    pieces = frames(wire)
    says_end = re.compile(rb'finishReason|message_delta|"finish_reason":"|response.completed')
    end = next(number for number, piece in enumerate(pieces) if says_end.search(piece))
    for cut in range(1, end):
        exchange = opened(door, wire, stream=True)
        exchange.receive_head(200, {"content-type": "text/event-stream"})
        kept: list[Item] = []
        actions = sent(exchange, exchange.receive_data(b"".join(pieces[:cut])), kept)
        actions += sent(exchange, exchange.receive_end(), kept)
        assert kept == []
        assert exchange.figures.error is not None
        assert ENDS[door] not in b"".join(action.data for action in actions if isinstance(action, Send))


@pytest.mark.parametrize("silent", [False, True])
def test_refused_state_is_left_out_though_the_head_may_be_out(silent: bool) -> None:
    """A keep-alive has committed the head: nothing of an answer was sent yet, so it is asked again."""
    document = json.loads(body("messages", True, None))
    thinking = {"type": "thinking", "thinking": "hm", "signature": "old"}
    use = {"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": {}}
    document["messages"] += [
        {"role": "assistant", "content": [thinking, use]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "ok"}]},
    ]
    document["thinking"] = {"type": "enabled", "budget_tokens": 1024}
    exchange = opened("messages", "anthropic_messages", stream=True, document=document)
    assert b'"signature": "old"' in exchange.upstream_request.body
    if silent:
        exchange.keep_alive()
    exchange.receive_head(400, {"content-type": "application/json"})
    refusal = Claude().error("Invalid `signature` in `thinking` block")
    assert exchange.receive_data(json.dumps(refusal).encode()) + exchange.receive_end() == []
    assert exchange.unanswered
    again = json.loads(exchange.upstream_request.body)
    assert "signature" not in json.dumps(again)
    assert again["thinking"] == {"type": "disabled"}
    said, _ = streamed(exchange, frames("anthropic_messages"), ENDS["messages"])
    assert said.count(b"event: message_start") == 1
