"""The checks of the other doors, of state across turns and of rates: see `verify.py`."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from typing import Any

from local.client import Reply
from local.expectations import Gateway, SkippedError, error_of, expect, expect_stream

_TWO_CITIES = "What is the weather in Paris and New York?"
_CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
_FUNCTION = {"name": "get_weather", "description": "The current weather of a city", "parameters": _CITY}
_CHAT_TOOL = {"type": "function", "function": _FUNCTION}
_CALLED = [{"city": "Paris"}, {"city": "New York"}]


def _post(gateway: Gateway, path: str, body: dict[str, Any], **how: Any) -> Reply:
    return gateway.send("POST", path, json.dumps(body).encode(), **how)


def _expect_answer(reply: Reply, what: str) -> None:
    expect(reply.status == 200, f"{what} is {reply.status}: {error_of(reply)}")


def _expect_calls(found: list[Any], what: str) -> None:
    expect(found == _CALLED, f"{what}: two calls were made, these arrived: {found}; a bug")


def messages(gateway: Gateway) -> str:
    """Checks the Messages API, with the key where its clients put it."""
    body = {
        "model": "demo/openai",
        "max_tokens": 1024,
        "stream": True,
        "messages": [{"role": "user", "content": _TWO_CITIES}],
        "tools": [{"name": "get_weather", "description": _FUNCTION["description"], "input_schema": _CITY}],
    }
    reply = _post(gateway, "/messages", body, header="x-api-key")
    expect_stream(reply)
    texts: dict[int, str] = {}
    for event in reply.chunks:
        if event["type"] == "content_block_start" and event["content_block"]["type"] == "tool_use":
            texts[event["index"]] = ""
        elif event["type"] == "content_block_delta" and event["delta"]["type"] == "input_json_delta":
            texts[event["index"]] += event["delta"]["partial_json"]
    _expect_calls([json.loads(text) for _, text in sorted(texts.items())], "POST /messages")
    reasons = [event["delta"].get("stop_reason") for event in reply.chunks if event["type"] == "message_delta"]
    expect(reasons == ["tool_use"], f"POST /messages: stop_reason is {reasons} instead of 'tool_use'; a bug")
    expect(
        reply.chunks[-1]["type"] == "message_stop", "POST /messages: the stream has no message_stop at its end; a bug"
    )
    return "two calls over a Chat Completions host, the key as x-api-key"


def count_tokens(gateway: Gateway) -> str:
    body = {"model": "demo/openai", "messages": [{"role": "user", "content": _TWO_CITIES}]}
    reply = _post(gateway, "/messages/count_tokens", body)
    _expect_answer(reply, "POST /messages/count_tokens")
    tokens = reply.json["input_tokens"]
    expect(isinstance(tokens, int) and tokens > 0, f"POST /messages/count_tokens counts {tokens!r}; a bug")
    return f"{tokens} tokens"


def responses(gateway: Gateway) -> str:
    body = {
        "model": "demo/anthropic",
        "stream": True,
        "input": _TWO_CITIES,
        "tools": [{"type": "function", **_FUNCTION}],
    }
    reply = _post(gateway, "/responses", body)
    expect_stream(reply)
    last = reply.chunks[-1]
    expect(
        last["type"] == "response.completed",
        f"POST /responses: the last event is {last['type']!r}, no completed; a bug",
    )
    calls = [item for item in last["response"]["output"] if item["type"] == "function_call"]
    _expect_calls([json.loads(call["arguments"]) for call in calls], "POST /responses")
    streamed: dict[str, str] = {}
    for event in reply.chunks:
        if event["type"] == "response.function_call_arguments.delta":
            streamed[event["item_id"]] = streamed.get(event["item_id"], "") + event["delta"]
    expect(
        streamed == {call["id"]: call["arguments"] for call in calls},
        "POST /responses: the deltas are not the arguments of the calls; a bug",
    )
    return "two calls over Anthropic's API"


def gemini(gateway: Gateway) -> str:
    """Checks Gemini's API, in both forms of a stream, with the key where its clients put it."""
    body = {
        "contents": [{"parts": [{"text": _TWO_CITIES}]}],
        "tools": [{"functionDeclarations": [{"name": "get_weather", "parametersJsonSchema": _CITY}]}],
    }
    path = "/v1beta/models/demo/anthropic:streamGenerateContent"
    events = _post(gateway, f"{path}?alt=sse", body, header="x-goog-api-key")
    expect_stream(events)
    _expect_google(events.chunks, "POST /v1beta/models/...:streamGenerateContent?alt=sse")
    array = _post(gateway, path, body, header="x-goog-api-key")
    _expect_answer(array, f"POST {path}")
    expect(isinstance(array.json, list), f"POST {path} is no JSON array: its query is not what the client sent")
    _expect_google(array.json, "POST /v1beta/models/...:streamGenerateContent")
    counted = _post(gateway, "/v1beta/models/demo/anthropic:countTokens", body, header="x-goog-api-key")
    _expect_answer(counted, "POST /v1beta/models/...:countTokens")
    expect(counted.json.get("totalTokens", 0) > 0, f"POST /v1beta/models/...:countTokens counts {counted.json}; a bug")
    return "two calls over Anthropic's API, as events and as one array"


def _expect_google(chunks: list[Any], what: str) -> None:
    """Expects the calls and the end of a stream of Gemini's API."""
    candidates = [chunk["candidates"][0] for chunk in chunks if "candidates" in chunk]
    parts = [part for candidate in candidates for part in candidate["content"]["parts"]]
    _expect_calls([part["functionCall"]["args"] for part in parts if "functionCall" in part], what)
    reasons = [candidate["finishReason"] for candidate in candidates if "finishReason" in candidate]
    expect(reasons == ["STOP"], f"{what}: finishReason is {reasons} instead of 'STOP'; a bug")


def native(gateway: Gateway) -> str:
    body = {"model": "demo/gemini", "messages": [{"role": "user", "content": _TWO_CITIES}], "tools": [_CHAT_TOOL]}
    reply = _post(gateway, "/native/chat", body)
    _expect_answer(reply, "POST /native/chat")
    calls = reply.json["choices"][0]["message"].get("tool_calls") or []
    _expect_calls([call["function"]["arguments"] for call in calls], "POST /native/chat")
    checked = _post(gateway, "/native/tools/check", {"tools": [_CHAT_TOOL]})
    _expect_answer(checked, "POST /native/tools/check")
    return "two calls over Gemini, tools checked"


def state_across_turns(gateway: Gateway) -> str:
    """Checks the store: Gemini wants its signature back, and clients of Chat Completions do not keep it."""
    question = {"role": "user", "content": "What is the weather in Oslo?"}
    body = {"model": "demo/gemini", "messages": [question], "tools": [_CHAT_TOOL]}
    first = _post(gateway, "/chat/completions", body)
    _expect_answer(first, "a call by Gemini")
    calls = first.json["choices"][0]["message"]["tool_calls"]
    kept = [{"id": call["id"], "type": "function", "function": call["function"]} for call in calls]
    turn = [
        {"role": "assistant", "content": None, "tool_calls": kept},
        *({"role": "tool", "tool_call_id": call["id"], "content": "12 degrees"} for call in kept),
    ]
    history = body | {"messages": [question, *turn]}
    shown = _post(gateway, "/native/translate", {"door": "chat_completions", "body": history})
    _expect_answer(shown, "POST /native/translate")
    expect(b"functionResponse" in shown.body, "POST /native/translate does not show Gemini's request; a bug")
    expect(
        b"skip_thought_signature_validator" not in shown.body,
        "the signature of the turn before is lost: the functions need the table of STORE_TABLE and the permission to "
        "use it; `store_error` in the log says more",
    )
    return "a signature that the client did not keep came back"


def rates(gateway: Gateway) -> str:
    body = {"model": "demo/openai", "messages": [{"role": "user", "content": "hi"}]}
    reply = _post(gateway, "/chat/completions", body)
    _expect_answer(reply, "a chat request")
    limit, left, reset = (reply.headers.get(f"x-ratelimit-{name}-requests") for name in ("limit", "remaining", "reset"))
    if limit is None:
        raise SkippedError("this key has no limit of requests, or counting fails (the log says: rates are not counted)")
    seen = f"x-ratelimit-*-requests: limit {limit}, remaining {left}, reset {reset}"
    expect(left is not None and 0 <= int(left) < int(limit), f"{seen}: this request is not counted; a bug")
    expect(reset is not None and reset.endswith("s"), f"{seen}: no time; a bug")
    return f"{left} of {limit} requests left in this minute"


def compressed_body(gateway: Gateway) -> str:
    """Checks a compressed body, as Claude Code sends for a long conversation."""
    body = {"model": "demo/openai", "messages": [{"role": "user", "content": "hi " * 4096}]}
    reply = gateway.send("POST", "/chat/completions", gzip.compress(json.dumps(body).encode()), encoding="gzip")
    expect(
        reply.status == 200,
        f"a body with gzip is {reply.status}: {error_of(reply)}; API Gateway needs BinaryMediaTypes, and a proxy must "
        "leave the body and its Content-Encoding as they are",
    )
    return "gzip is read"


def one_model(gateway: Gateway) -> str:
    """Checks GET /models/{id}, as the SDKs' `models.retrieve` sends it."""
    for name in ("demo/openai", "demo%2Fopenai"):
        reply = gateway.send("GET", f"/models/{name}")
        _expect_answer(reply, f"GET /models/{name}")
        expect(reply.json["id"] == "demo/openai", f"GET /models/{name} is the model {reply.json['id']!r}; a bug")
    return "by its id, encoded or not"


DOOR_CHECKS: tuple[Callable[[Gateway], str], ...] = (
    messages,
    count_tokens,
    responses,
    gemini,
    native,
    compressed_body,
    one_model,
    state_across_turns,
    rates,
)
