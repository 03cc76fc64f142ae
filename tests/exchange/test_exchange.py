"""The exchange: ids, the conversation, heads, early heads, keep-alives, limits, and what the log is told."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import openai
import pytest

from tests.corpus import driver
from tests.corpus.driver import Answer, answer
from tests.named_rows import each_row
from tests.providers.every_door import REQUESTS
from tests.providers.openai_chat.chat_reader import read, sdk_stream
from tests.providers.openai_chat.chat_upstream import (
    CALLS,
    ROLE,
    STOP,
    TOTAL,
    USAGE,
    fragment,
    opening,
    request,
    stream,
    text,
    whole,
)
from toolwire.conversation.tool_call_ids import token_of
from toolwire.doors import DOORS, load_door
from toolwire.exchange.actions import Action, Send
from toolwire.exchange.exchange import Exchange
from toolwire.exchange.observer import Observer
from toolwire.model.errors import UpstreamTimeout
from toolwire.model.http import Head
from toolwire.model.limits import PRESET_AGENTS, Limits
from toolwire.model.settings import ProviderConfig, Target, Tenant

MINTED = re.compile("call_[A-Za-z0-9]{32}")


def opened(
    body: bytes,
    *,
    profile: str = "compatible",
    headers: dict[str, str] | None = None,
    limits: Limits = PRESET_AGENTS,
    tenant: str = "default",
    credential: str | None = "secret",
    observer: Observer | None = None,
    new_id: Callable[[int], str] | None = None,
) -> Exchange:
    door = load_door("chat_completions")
    asks = Tenant(tenant, limits)
    target = Target(ProviderConfig("up", "openai_chat", "http://127.0.0.1:1/v1", "none", profile), "m")
    return driver.opened(
        door,
        body,
        target,
        asks,
        headers=headers,
        credential=credential,
        request_id="req-1",
        observer=observer,
        new_id=new_id,
    )


def told(exchange: Exchange, upstream: bytes, kind: str = "text/event-stream") -> Answer:
    return answer(exchange, [upstream], content_type=kind)


def ids(upstream: bytes, **options: Any) -> list[str]:
    return [id for id, _, _ in read(told(opened(request(), **options), upstream).body).calls]


# ---------------------------------------------------------------- ids of calls

KEPT = ["call_a", "call_" + "Z9" * 17 + "a", "call_0123456789"]
NOT_KEPT = [
    "", "call_", "call_" + "a" * 36, "call_a_b", "call-a", "CALL_a", "toolu_01", "functions.weather:0",
    "chatcmpl-tool-1", "9aZ", "call_é", " call_a", "call_a\n",
]  # fmt: skip


@each_row(("id", "kept"), [(id, True) for id in KEPT] + [(id, False) for id in NOT_KEPT])
@each_row("streamed", [True, False])
def test_an_id_is_kept_or_minted(id: str, kept: bool, streamed: bool) -> None:
    exchange = opened(request(streamed=streamed))
    if streamed:
        answered = told(exchange, stream(ROLE, opening(0, id, "time", "{}"), CALLS))
        ((shown, _, _),) = read(answered.body).calls
    else:
        call = {"id": id, "type": "function", "function": {"name": "time", "arguments": "{}"}}
        answered = told(exchange, whole({"content": None, "tool_calls": [call]}, "tool_calls"), "application/json")
        (entry,) = json.loads(answered.body)["choices"][0]["message"]["tool_calls"]
        shown = entry["id"]

    assert exchange.figures.ids_minted == (0 if kept else 1)
    if kept:
        assert shown == id
    else:
        assert MINTED.fullmatch(shown)
        assert len(shown) <= 40
        assert token_of(shown) == exchange.conversation.token


@pytest.mark.parametrize("profile", ["deepseek", "openrouter", "gemini-compat"])
def test_hosts_that_yield_state_always_get_minted_ids(profile: str) -> None:
    (id,) = ids(stream(ROLE, opening(0, "call_a", "time", "{}"), CALLS), profile=profile)
    assert MINTED.fullmatch(id)


def test_an_id_is_shown_once_in_a_conversation() -> None:
    twice = stream(ROLE, opening(0, "call_a", "time", "{}"), opening(1, "call_a", "weather", "{}"), CALLS)
    first, second = ids(twice)
    assert first == "call_a"
    assert MINTED.fullmatch(second)

    call = {"id": "call_a", "type": "function", "function": {"name": "time", "arguments": "{}"}}
    history = [
        {"role": "user", "content": "x"},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_a", "content": "x"},
    ]
    again = told(opened(request(messages=history)), stream(ROLE, opening(0, "call_a", "time", "{}"), CALLS))
    assert MINTED.fullmatch(read(again.body).calls[0][0])


def test_names_a_host_refuses_come_back_as_the_client_knows_them() -> None:
    tools = [{"type": "function", "function": {"name": "fs.read"}}]
    for streamed in (True, False):
        exchange = opened(request(streamed=streamed, tools=tools))
        wire = json.loads(exchange.upstream_request.body)["tools"][0]["function"]["name"]
        frames = stream(ROLE, opening(0, "call_a", wire, "{}", extra=1), CALLS)
        answered = told(exchange, frames)
        name, entry = "fs.read", None
        if streamed:
            (said,) = read(answered.body).calls
            assert said == ("call_a", name, "{}")
            entry = read(answered.body).chunks[1]["choices"][0]["delta"]["tool_calls"][0]
        else:
            (entry,) = json.loads(answered.body)["choices"][0]["message"]["tool_calls"]
        assert entry["function"]["name"] == name
        assert entry["extra"] == 1, "a member that the model does not name survives the change"
        assert exchange.figures.tool_names == [name]


# ---------------------------------------------------------------- the conversation


def test_the_conversation_is_found_by_the_ids_of_the_history() -> None:
    new_id = driver.counting_ids()  # goes on: a conversation that is not found is another
    first = opened(request(), new_id=new_id)
    ((id, _, _),) = read(told(first, stream(ROLE, opening(0, "x", "time", "{}"), CALLS)).body).calls
    history = [
        {"role": "user", "content": "x"},
        {"role": "assistant", "tool_calls": [{"id": id, "function": {"name": "time", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": id, "content": "x"},
    ]
    second = opened(request(messages=history), new_id=new_id)

    assert second.conversation == first.conversation != opened(request(), new_id=new_id).conversation
    assert id.encode() in second.upstream_request.body, "an id of ours is legal everywhere but at Mistral"
    assert id.encode() not in opened(request(messages=history), profile="mistral").upstream_request.body


@pytest.mark.parametrize("name", ["x-conversation-id", "x-claude-code-session-id", "session-id", "x-session-id"])
def test_a_conversation_the_client_names(name: str) -> None:
    mine, theirs = (opened(request(), headers={name: "my talk"}, tenant=tenant) for tenant in ("a", "b"))
    assert mine.conversation.id == theirs.conversation.id == "my talk"
    assert mine.conversation.token != theirs.conversation.token
    answered = told(mine, stream(ROLE, opening(0, "x", "time", "{}"), CALLS))
    assert answered.headers["x-conversation-id"] == "my talk"
    assert token_of(read(answered.body).calls[0][0]) == mine.conversation.token
    ours = opened(request(), headers={name: "conv_0123456789"})
    assert ours.conversation.token == "0123456789"


def test_a_conversation_without_an_id_of_ours_is_known_by_how_it_begins() -> None:
    """OpenAI's own ids stay, and lead nowhere: without this each turn would be another conversation."""
    first = opened(request(), profile="openai")
    answered = told(first, stream(ROLE, opening(0, "call_theirs", "time", "{}"), CALLS))
    history = json.loads(request())["messages"] + [
        {"role": "assistant", "tool_calls": [{"id": "call_theirs", "function": {"name": "time", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "call_theirs", "content": "x"},
    ]
    second = opened(request(messages=history), profile="openai")
    assert answered.headers["x-conversation-id"] == first.conversation.id == second.conversation.id
    other = opened(request(messages=[{"role": "user", "content": "something else"}]), profile="openai")
    assert other.conversation.id != first.conversation.id


# ---------------------------------------------------------------- heads


def test_heads() -> None:
    streamed = told(opened(request()), stream(ROLE, text("x"), STOP))
    assert streamed.headers == {
        "content-type": "text/event-stream; charset=utf-8",
        "cache-control": "no-cache",
        "x-request-id": "req-1",
        "request-id": "req-1",
        "x-conversation-id": "conv_0000000001",
    }
    document = told(opened(request(streamed=False)), whole({"content": "x"}), "application/json")
    assert document.headers == {
        "content-type": "application/json",
        "x-request-id": "req-1",
        "request-id": "req-1",
        "x-conversation-id": "conv_0000000001",
    }
    warned = opened(request(store=True, user="u"), profile="mistral")
    assert told(warned, stream(ROLE, STOP)).headers["x-toolwire-warnings"] == "not_supported:store,not_supported:user"


def test_the_head_goes_out_with_the_first_event_and_not_before() -> None:
    exchange = opened(request())
    assert exchange.receive_head(200, {"content-type": "text/event-stream"}) == []
    assert exchange.receive_data(b": PROCESSING\n\n") == []
    frame = stream(ROLE, done=False)
    assert exchange.receive_data(frame[:-1]) == []
    head, send = exchange.receive_data(frame[-1:])
    assert isinstance(head, Head)
    assert send == Send(frame)
    assert exchange.receive_data(stream(text("x"), done=False)) == [Send(stream(text("x"), done=False))]
    assert exchange.receive_data(stream(STOP, done=False)) == [], "the finish waits for the upstream's end"
    assert exchange.receive_data(b"data: [DONE]\n\n") == [Send(stream(STOP))]
    assert exchange.answer.over
    assert exchange.receive_data(b"data: x\n\n") == exchange.receive_end() == exchange.fail(UpstreamTimeout("x")) == []


def late(act: Callable[[Exchange], list[Action]]) -> tuple[bytes, list[Action]]:
    """What follows a head that was sent before the upstream said anything."""
    exchange = opened(request())
    head = exchange.early_head()
    assert head is not None
    assert (head.status, dict(head.headers)["content-type"]) == (200, "text/event-stream; charset=utf-8")
    alive = exchange.keep_alive()
    actions = act(exchange)
    return alive + b"".join(action.data for action in actions if isinstance(action, Send)), actions


def refuse(exchange: Exchange) -> list[Action]:
    exchange.receive_head(429, {"content-type": "application/json", "retry-after": "3"})
    exchange.receive_data(b'{"error":{"message":"slow down"}}')
    return exchange.receive_end()


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda exchange: exchange.fail(UpstreamTimeout("nothing came")), "nothing came"),
        (lambda exchange: exchange.receive_end(UpstreamTimeout("nothing came")), "nothing came"),
        (refuse, "slow down"),
    ],
)
def test_a_failure_after_an_early_head_is_an_error_event(act: Callable[[Exchange], list[Action]], message: str) -> None:
    body, actions = late(act)
    assert not any(isinstance(action, Head) for action in actions)
    said = read(body)
    assert said.error is not None
    assert said.error["message"] == message
    with pytest.raises(openai.APIError, match=message):
        sdk_stream(body)


def test_an_answer_after_an_early_head() -> None:
    def answers(exchange: Exchange) -> list[Action]:
        exchange.receive_head(200, {"content-type": "text/event-stream"})
        return exchange.receive_data(stream(ROLE, text("x"), STOP))

    def ignores_stream(exchange: Exchange) -> list[Action]:
        exchange.receive_head(200, {"content-type": "application/json"})
        exchange.receive_data(whole({"content": "x"}))
        return exchange.receive_end()

    for act in (answers, ignores_stream):
        body, actions = late(act)
        assert not any(isinstance(action, Head) for action in actions)
        assert read(body).content == "x"


def test_a_document_may_begin_with_white_space() -> None:
    exchange = opened(request(streamed=False))
    head = exchange.early_head()
    assert (head.status, dict(head.headers)["content-type"]) == (200, "application/json")
    alive = exchange.keep_alive() + exchange.keep_alive()
    exchange.receive_head(200, {"content-type": "application/json"})
    exchange.receive_data(whole({"content": "x"}))

    actions = exchange.receive_end()

    assert not any(isinstance(action, Head) for action in actions)
    body = alive + b"".join(action.data for action in actions if isinstance(action, Send))
    assert json.loads(body)["choices"][0]["message"]["content"] == "x"


@pytest.mark.parametrize("door", DOORS)
def test_a_failure_behind_a_documents_head_is_the_doors_error(door: str) -> None:
    exchange = driver.open_exchange(json.dumps({"model": "m", **REQUESTS[door]}).encode(), door=door)
    alive = exchange.keep_alive()

    actions = refuse(exchange)

    (send,) = actions
    assert isinstance(send, Send)
    assert "slow down" in json.loads(alive + send.data)["error"]["message"]


def test_a_keep_alive_changes_nothing_at_any_moment() -> None:
    upstream = stream(ROLE, text("x"), opening(0, "call_a", "time"), fragment(0, "{}"), CALLS, TOTAL)
    plain = told(opened(request(usage=True)), upstream).body
    folded, chunks = sdk_stream(plain), read(plain, usage=True).chunks
    for at in range(0, len(upstream) + 1, 11):
        exchange = opened(request(usage=True))
        sent = exchange.keep_alive() if at == 0 else b""
        actions = exchange.receive_head(200, {"content-type": "text/event-stream"})
        actions += exchange.receive_data(upstream[:at])
        sent += b"".join(action.data for action in actions if isinstance(action, Send)) + exchange.keep_alive()
        actions = exchange.receive_data(upstream[at:]) + exchange.receive_end()
        sent += b"".join(action.data for action in actions if isinstance(action, Send)) + exchange.keep_alive()
        assert sent.replace(exchange.keep_alive(), b"") == plain
        assert read(sent, usage=True).chunks == chunks
    assert sdk_stream(sent) == folded


# ---------------------------------------------------------------- limits


@pytest.mark.parametrize(
    ("limits", "chunks", "code"),
    [
        (
            replace(PRESET_AGENTS, calls=2),
            [opening(number, f"call_{number}", "time", "{}") for number in range(3)],
            "too_many_tool_calls",
        ),
        (
            replace(PRESET_AGENTS, arguments_bytes=8),
            [opening(0, "call_0", "time"), *(fragment(0, '"abc') for _ in range(3))],
            "tool_arguments_too_large",
        ),
        (  # bytes of UTF-8, not characters
            replace(PRESET_AGENTS, arguments_bytes=8),
            [opening(0, "call_0", "time", "éééé€")],
            "tool_arguments_too_large",
        ),
    ],
)
@pytest.mark.parametrize("streamed", [True, False])
def test_a_limit_that_is_crossed_ends_the_answer_with_an_error(
    limits: Limits, chunks: list[Any], code: str, streamed: bool
) -> None:
    exchange = opened(request(streamed=streamed), limits=limits)
    answered = told(exchange, stream(ROLE, *chunks, CALLS, TOTAL))
    assert exchange.figures.error is not None
    assert exchange.figures.error.code == code
    assert exchange.answer.over
    if not streamed:
        assert (answered.status, json.loads(answered.body)["error"]["code"]) == (502, code)
        return
    said = read(answered.body)
    assert said.error is not None
    assert said.error["code"] == code
    assert said.finish is None
    assert len(said.calls) <= limits.calls
    assert all(len(arguments.encode()) <= limits.arguments_bytes for _, _, arguments in said.calls)


def test_what_is_within_the_limits_is_served() -> None:
    limits = replace(PRESET_AGENTS, calls=2, arguments_bytes=8)
    calls = [opening(number, f"call_{number}", "time", '{"a": 1}') for number in range(2)]
    assert len(read(told(opened(request(), limits=limits), stream(ROLE, *calls, CALLS)).body).calls) == 2


# ---------------------------------------------------------------- what is held when an answer breaks off

_MARKUP = "<function=time>{"


@pytest.mark.parametrize(
    ("chunks", "shown"),
    [
        ([text(_MARKUP)], _MARKUP),
        ([text("a " + _MARKUP)], "a " + _MARKUP),
        ([text("x"), opening(0, "call_a", "time"), text(_MARKUP)], "x"),
        ([opening(0, "call_a", "time"), text(_MARKUP)], ""),
    ],
)
def test_held_text_is_shown_where_the_policy_holds_nothing(chunks: list[Any], shown: str) -> None:
    """What may be a call in text waits, and so does all behind a call whose arguments are to be judged."""
    tools = [{"type": "function", "function": {"name": "time"}}]
    exchange = opened(request(tools=tools), headers={"x-toolwire-validate-tool-arguments": "reject"})
    answered = answer(exchange, [stream(ROLE, *chunks, done=False)], error=UpstreamTimeout("nothing more came"))
    said = read(answered.body)
    assert (said.content or "", said.calls) == (shown, [])
    assert said.error is not None
    assert said.error["message"] == "nothing more came"


# ---------------------------------------------------------------- what is observed


def test_what_the_log_line_says() -> None:
    exchange = opened(request(usage=True))
    told(exchange, stream(ROLE, text("SECRET"), opening(0, "odd", "time", '{"SECRET": "é"}'), CALLS, TOTAL))

    figures = exchange.figures
    assert (figures.stream, figures.calls, figures.tool_names, figures.ids_minted) == (True, 1, ["time"], 1)
    assert (figures.model, figures.finish, figures.upstream_status) == ("host-model", "tool_calls", 200)
    assert figures.usage is not None
    assert figures.usage.total_tokens == USAGE["total_tokens"]
    assert figures.repaired_frames == 0, "a minted id is no repair, and the end is nobody's frame"
    assert "SECRET" not in repr(figures)


def test_an_observer_sees_all_that_crosses() -> None:
    seen: list[tuple[str, Any]] = []

    class Everything(Observer):
        def __getattribute__(self, name: str) -> Any:
            assert hasattr(Observer, name)
            return lambda *what: seen.append((name, what))

    exchange = opened(request(), observer=Everything())
    upstream = stream(ROLE, opening(0, "odd", "time", "{}"), CALLS)
    answered = told(exchange, upstream)
    alive = exchange.keep_alive()

    names = [name for name, _ in seen]
    assert set(names) == {name for name, it in vars(Observer).items() if callable(it)}
    assert names[:4] == ["client_request", "upstream_request", "upstream_head", "upstream_data"]
    assert [what for name, what in seen if name == "upstream_data"] == [(upstream,)]
    assert [what[0].body for name, what in seen if name == "client_request"] == [request()]
    assert [what for name, what in seen if name == "upstream_request"] == [(exchange.upstream_request,)]
    assert names.count("frame") == upstream.count(b"\n\n")
    assert names.count("batch") >= names.count("frame")
    head, *bodies = (what[0] for name, what in seen if name == "sent")
    assert head == Head(200, tuple(answered.headers.items()))
    assert b"".join(bodies) == answered.body + alive
