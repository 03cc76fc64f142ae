"""When a turn is stored: before the client hears that it is over, whatever the door, the split and the upstream."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.conversation.signing_hosts import Claude, DeepSeek, Gemini, Host
from tests.corpus import driver
from tests.corpus.driver import sent
from toolwire.conversation import NOTHING_FOUND, Found
from toolwire.doors import load_door
from toolwire.exchange.actions import Send, Store
from toolwire.exchange.exchange import Exchange
from toolwire.model.http import Head
from toolwire.model.settings import ProviderConfig, Target, Tenant
from toolwire.model.stored import Item

HOSTS: dict[str, tuple[type[Host], str, str]] = {
    "gemini": (Gemini, "gemini", "gemini-3-pro-preview"),
    "anthropic_messages": (Claude, "anthropic_messages", "claude-sonnet-4-5"),
    "openai_chat": (DeepSeek, "deepseek", "deepseek-chat"),
}
WIRES = list(HOSTS)
TOOL = {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object", "properties": {}}}}


def opened(wire: str, *, stream: bool = True, found: Found = NOTHING_FOUND, **more: Any) -> Exchange:
    door, tenant = load_door("chat_completions"), Tenant()
    profile = HOSTS[wire][1] if wire == "openai_chat" else None
    body = {"model": "m", "messages": [{"role": "user", "content": "x"}], "tools": [TOOL], "stream": stream} | more
    provider = ProviderConfig("up", wire, "http://127.0.0.1:1", "none", profile)
    return driver.opened(
        door, json.dumps(body).encode(), Target(provider, HOSTS[wire][2]), tenant, request_id="req", found=found
    )


def frames(wire: str) -> list[bytes]:
    """A turn of two calls, with its state."""
    host = HOSTS[wire][0]()
    whole = host.say([{"city": "a"}, {"city": "b"}], "")
    out = []
    for name, event in host.stream(whole):
        text = json.dumps({"type": name, **event} if name else event, separators=(",", ":"))
        out.append((f"event: {name}\n" if name else "").encode() + f"data: {text}\n\n".encode())
    return [*out, b"data: [DONE]\n\n"] if wire == "openai_chat" else out


@pytest.mark.parametrize("together", [False, True], ids=["frame by frame", "at once"])
@pytest.mark.parametrize("wire", WIRES)
def test_the_store_comes_before_the_finish(wire: str, together: bool) -> None:
    exchange = opened(wire)
    pieces = frames(wire)
    exchange.receive_head(200, {"content-type": "text/event-stream"})
    said, stored = b"", list[Item]()
    for piece in [b"".join(pieces)] if together else pieces:
        actions = exchange.receive_data(piece)
        for number, action in enumerate(actions):
            if isinstance(action, Store):
                assert number == len(actions) - 1, "nothing is sent before it is done"
                assert b'"finish_reason":"' not in said
                stored += action.items
                said += b"".join(a.data for a in exchange.receive_stored() if isinstance(a, Send))
            elif isinstance(action, Send):
                said += action.data
    for action in sent(exchange, exchange.receive_end(), stored):
        said += action.data if isinstance(action, Send) else b""
    assert said.endswith(b"data: [DONE]\n\n")
    assert b'"finish_reason":"tool_calls"' in said
    calls = [item for item in stored if item.key.sort.startswith("call_")]
    assert [item.values["tool_name"] for item in calls] == ["get_weather"] * 2
    assert sum(item.key.sort.startswith("state#") for item in stored) == 1


@pytest.mark.parametrize("wire", WIRES)
def test_a_whole_answer_waits_for_the_store(wire: str) -> None:
    exchange = opened(wire, stream=False)
    whole = HOSTS[wire][0]().say([{"city": "a"}], "")
    exchange.receive_head(200, {"content-type": "application/json"})
    assert exchange.receive_data(json.dumps(whole).encode()) == []
    (store,) = exchange.receive_end()
    assert isinstance(store, Store)
    assert len(store.items) == 2
    head, body = exchange.receive_stored("timeout")
    assert isinstance(head, Head)
    assert dict(head.headers)["x-toolwire-warnings"].split(",")[-1] == "state_not_stored"
    assert isinstance(body, Send)
    assert json.loads(body.data)["choices"][0]["finish_reason"] == "tool_calls"


def test_a_store_that_fails_is_told_before_the_end_of_a_stream() -> None:
    exchange = opened("gemini")
    exchange.receive_head(200, {"content-type": "text/event-stream"})
    first, *rest = frames("gemini")
    assert isinstance(exchange.receive_data(first)[0], Head)
    actions = exchange.receive_data(b"".join(rest))
    assert isinstance(actions[-1], Store)
    said = b"".join(a.data for a in exchange.receive_stored("throttled") if isinstance(a, Send))
    said += b"".join(a.data for a in sent(exchange, exchange.receive_end()) if isinstance(a, Send))
    comment = b": x-toolwire-warnings: state_not_stored\n\n"
    assert said.count(comment) == 1
    assert said.index(comment) < said.index(b'"finish_reason":"tool_calls"')


@pytest.mark.parametrize("wire", WIRES)
def test_a_broken_turn_leaves_nothing(wire: str) -> None:
    exchange = opened(wire)
    exchange.receive_head(200, {"content-type": "text/event-stream"})
    kept: list[Item] = []
    upstream = frames(wire)
    cut = {"gemini": -1, "anthropic_messages": -2, "openai_chat": -2}[wire]  # before the reason is said
    said = sent(exchange, exchange.receive_data(b"".join(upstream[:cut])), kept)
    said += sent(exchange, exchange.receive_end(), kept)
    assert kept == []
    assert exchange.figures.error is not None


# ---------------------------------------------------------------- refused state


@pytest.mark.parametrize("stream", [True, False])
def test_refused_state_is_left_out_once(stream: bool) -> None:
    """The second request has no signature, and thinking is off where there is none; what it answers is the answer."""
    first = opened("anthropic_messages", stream=False, reasoning_effort="medium")
    first.receive_head(200, {"content-type": "application/json"})
    first.receive_data(json.dumps(Claude().say([{"city": "a"}], "")).encode())
    (store,) = first.receive_end()
    assert isinstance(store, Store)
    (_, body) = first.receive_stored()
    assert isinstance(body, Send)
    message = json.loads(body.data)["choices"][0]["message"]
    plain = {name: message[name] for name in ("role", "content", "tool_calls")}
    result = {"role": "tool", "tool_call_id": plain["tool_calls"][0]["id"], "content": "ok"}
    history = [{"role": "user", "content": "x"}, plain, result]
    exchange = opened(
        "anthropic_messages", stream=stream, found=Found.of(store.items), messages=history, reasoning_effort="medium"
    )
    assert b'"signature":' in exchange.upstream_request.body
    assert b'"redacted_thinking"' in exchange.upstream_request.body
    refusal = Claude().error("messages.1.content.0: Invalid `signature` in `thinking` block")
    exchange.receive_head(400, {"content-type": "application/json"})
    assert exchange.receive_data(json.dumps(refusal).encode()) == []
    assert exchange.receive_end() == []
    assert exchange.unanswered
    again = json.loads(exchange.upstream_request.body)
    assert "signature" not in json.dumps(again)
    assert "redacted" not in json.dumps(again)
    assert "thinking" not in again
    assert again["messages"][1]["content"][-1]["id"].startswith("toolu_own_"), "the ids are not what was refused"
    # The same refusal again is the answer: it is not asked a third time.
    exchange.receive_head(400, {"content-type": "application/json"})
    exchange.receive_data(json.dumps(refusal).encode())
    head, send = exchange.receive_end()
    assert isinstance(head, Head)
    assert head.status == 400
    assert isinstance(send, Send)
    assert b"Invalid `signature`" in send.data
    assert "state_refused" in dict(head.headers)["x-toolwire-warnings"]


@pytest.mark.parametrize(
    ("status", "message"), [(400, "tools.0.name: too long"), (500, "bad signature"), (401, "signature")]
)
def test_another_refusal_is_the_answer(status: int, message: str) -> None:
    exchange = opened("anthropic_messages", stream=False)
    exchange.receive_head(status, {"content-type": "application/json"})
    exchange.receive_data(json.dumps(Claude().error(message)).encode())
    assert len(exchange.receive_end()) == 2
    assert not exchange.unanswered
