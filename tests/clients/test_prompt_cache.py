"""What a client marks for a prompt cache is marked at the provider, where its API has a word for it; else the client is
told. A cache that is lost shows nowhere but on the bill."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.clients.sending import LANES, MODELS, send
from tests.named_rows import each_row

CONTROL = {"cache_control": {"type": "ephemeral"}}
HOUR = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}
BREAKPOINT = {"prompt_cache_breakpoint": {"mode": "explicit"}}
SCHEMA = {"type": "object", "properties": {}}
CALL = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
USER = {"role": "user", "content": "hi"}


def text(words: str, mark: dict[str, Any], kind: str = "text") -> dict[str, Any]:
    return {"type": kind, "text": words, **mark}


def chat(mark: dict[str, Any], place: str) -> dict[str, Any]:
    """A Chat request whose mark stands at this place."""

    def at(name: str) -> dict[str, Any]:
        return mark if name == place else {}

    def content(name: str) -> Any:
        return [text(name, mark)] if name == place else name

    function = {"name": "f", "parameters": SCHEMA, **at("function")}
    return {
        "messages": [
            {"role": "system", "content": content("system")},
            {"role": "user", "content": content("user"), **at("message")},
            {"role": "assistant", "content": None, "tool_calls": [CALL | at("call")]},
            {"role": "tool", "tool_call_id": "call_1", "content": content("result"), **at("result message")},
        ],
        "tools": [{"type": "function", "function": function, **at("tool")}],
        **at("request"),
    }


def messages(mark: dict[str, Any], place: str) -> dict[str, Any]:
    """The same one of the Messages API."""

    def at(name: str) -> dict[str, Any]:
        return mark if name == place else {}

    use = {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}, **at("call")}
    inner = [text("result", at("result"))]
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": inner, **at("result message")}
    return {
        "max_tokens": 99,
        "system": [text("system", at("system"))],
        "messages": [
            {"role": "user", "content": [text("user", at("user"))]},
            {"role": "assistant", "content": [use]},
            {"role": "user", "content": [result]},
        ],
        "tools": [{"name": "f", "input_schema": SCHEMA, **at("tool")}],
        **at("request"),
    }


def responses(mark: dict[str, Any], place: str) -> dict[str, Any]:
    """The same one of the Responses API."""

    def content(name: str) -> Any:
        return [text(name, mark if name == place else {}, "input_text")]

    return {
        "input": [
            {"role": "developer", "content": content("system")},
            {"role": "user", "content": content("user")},
            {"type": "function_call", "call_id": "call_1", "name": "f", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "call_1", "output": content("result")},
        ],
        "tools": [{"type": "function", "name": "f", "parameters": SCHEMA, "strict": False}],
    }


#: (door, its request, the client's mark, the places at which it has one)
CLIENTS: list[tuple[str, Any, dict[str, Any], list[str]]] = [
    ("chat_completions", chat, CONTROL,
     ["system", "user", "message", "call", "result", "result message", "tool", "function", "request"]),
    ("chat_completions", chat, BREAKPOINT, ["system", "user", "result"]),
    ("messages", messages, CONTROL, ["system", "user", "call", "result", "result message", "tool", "request"]),
    ("responses", responses, BREAKPOINT, ["system", "user", "result"]),
]  # fmt: skip
#: Wire -> the places that it has no word for.
NOWHERE = {
    "anthropic_messages": set[str](),
    "bedrock_converse": set[str](),
    "openai_responses": {"call", "tool", "function", "request"},
    "openai_chat": {"call", "tool", "function", "request"},
}
#: Where, in what the provider gets, a mark of the client's at this place is looked for.
LANDS = {"message": "user", "result message": "result", "function": "tool", "request": "result"}


def rows() -> Iterator[tuple[str, Any, dict[str, Any], str, str]]:
    for door, written, mark, places in CLIENTS:
        for wire in MODELS:
            if LANES[door] != wire:
                yield from ((door, written, mark, place, wire) for place in places)


def places_in(wire: str, body: dict[str, Any]) -> list[str]:
    """The places of a provider's request that have a mark."""
    member = {"bedrock_converse": "cachePoint", "openai_responses": "prompt_cache_breakpoint",
              "openai_chat": "prompt_cache_breakpoint"}.get(wire, "cache_control")  # fmt: skip
    if wire == "bedrock_converse":
        tools, history = body["toolConfig"]["tools"], body["messages"]
    else:
        tools, history = body["tools"], body["input" if wire == "openai_responses" else "messages"]
    system = body.get("system", [])
    if wire.startswith("openai"):
        if history[0].get("role") in ("system", "developer"):
            system, history = [history[0]], history[1:]
        else:
            assert body["instructions"] == "system"
    places = dict(zip(("system", "tool", "user", "call", "result"), (system, tools, *history), strict=True))
    return [name for name, node in places.items() if f'"{member}"' in json.dumps(node)]


@each_row(("door", "written", "mark", "place", "wire"), list(rows()))
def test_a_mark_stands_where_the_client_has_set_it_or_is_named(
    door: str, written: Any, mark: dict[str, Any], place: str, wire: str
) -> None:
    found = send(door, wire, model="gpt-5.6" if wire == "openai_chat" else None, **written(mark, place))
    (name,) = mark
    if wire == "gemini" or place in NOWHERE[wire]:
        assert f"ignored:{name}" in found.warnings
        assert "cache" not in json.dumps(found.body)
    else:
        assert places_in(wire, found.body) == [LANDS.get(place, place)]
        assert [code for code in found.warnings if "cache" in code] == []


@pytest.mark.parametrize(
    ("wire", "model", "place"),
    [
        ("openai_responses", "gpt-5.1", "user"),
        ("openai_chat", "gpt-5.1", "user"),
        ("bedrock_converse", "qwen.qwen3-coder-480b-a35b-v1:0", "user"),
        ("bedrock_converse", "amazon.nova-pro-v1:0", "tool"),
    ],
)
def test_models_that_know_no_marks_are_sent_none(wire: str, model: str, place: str) -> None:
    found = send("messages", wire, model=model, **messages(CONTROL, place))
    assert found.warnings == ["ignored:cache_control"]
    assert "cache" not in json.dumps(found.body)


def test_a_router_to_anthropics_models_gets_anthropics_marks() -> None:
    found = send("messages", "openai_chat", profile="openrouter", **messages(HOUR, "user"))
    assert found.turns[1]["content"] == [text("user", HOUR)]
    assert found.warnings == []


@pytest.mark.parametrize(
    ("mark", "told"),
    [
        (HOUR, HOUR),
        (BREAKPOINT, CONTROL),
        ({"prompt_cache_breakpoint": {"mode": "explicit", "ttl": "30m"}}, HOUR),
        ({"cache_control": None}, {}),
    ],
)
def test_how_long_it_is_kept(mark: dict[str, Any], told: dict[str, Any]) -> None:
    found = send("chat_completions", "anthropic_messages", **chat(mark, "user"))
    assert found.turns[0]["content"] == [text("user", told)]
    assert [code for code in found.warnings if "cache" in code] == []


@pytest.mark.parametrize("mark", [1, {}, {"type": "eternal"}])
def test_a_mark_that_means_nothing_is_named(mark: Any) -> None:
    found = send("chat_completions", "anthropic_messages", **chat({"cache_control": mark}, "user"))
    assert found.turns[0]["content"] == [text("user", {})]
    assert "ignored:cache_control" in found.warnings


@pytest.mark.parametrize("wire", ["anthropic_messages", "bedrock_converse"])
def test_of_more_than_four_the_last_count(wire: str) -> None:
    history = [{"role": "user", "content": [text(str(number), CONTROL) for number in range(6)]}]
    found = send("chat_completions", wire, messages=history)
    assert found.warnings == ["cache_marks_cut"]
    content = json.dumps(found.turns[0]["content"])
    before, _, behind = content.partition('"2"')
    assert "cache" not in before
    assert behind.count("cache") == 4


def test_what_holds_no_mark_has_it_before_itself() -> None:
    """Empty text is not sent, and a mark on it meant the end of all that was there."""
    history = [{"role": "user", "content": [text("a", {}), text("", CONTROL)]}]
    found = send("chat_completions", "anthropic_messages", messages=history)
    assert found.turns[0]["content"] == [text("a", CONTROL)]


def test_system_text_that_goes_into_a_users_turn_keeps_it() -> None:
    history = [USER, {"role": "system", "content": [text("now", CONTROL)]}, USER]
    for wire in ("anthropic_messages", "bedrock_converse"):
        model = {"anthropic_messages": "claude-sonnet-4-5", "bedrock_converse": None}[wire]
        assert json.dumps(send("chat_completions", wire, model=model, messages=history).turns).count("cache") == 1
