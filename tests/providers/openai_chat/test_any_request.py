"""Whatever a client sends, it is refused with a reason or reaches the host as legal JSON; never a bug of ours."""

from __future__ import annotations

import json
import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.corpus.driver import open_exchange
from tests.providers.openai_chat.test_any_answer import twisted
from toolwire.model.errors import RequestError
from toolwire.providers.profiles import PROFILES

DOCUMENT = {
    "model": "p/m",
    "messages": [
        {"role": "developer", "content": "D"},
        {"role": "user", "content": [{"type": "text", "text": "x"}, {"type": "image_url", "image_url": {"url": "u"}}]},
        {
            "role": "assistant",
            "content": None,
            "reasoning_content": "hm",
            "refusal": None,
            "tool_calls": [
                {"id": "call:1", "type": "function", "function": {"name": "fs.read", "arguments": "{}"}},
                {"id": "call_2", "type": "custom", "custom": {"name": "patch", "input": "x"}},
            ],
        },
        {"role": "tool", "tool_call_id": "call_2", "content": [{"type": "text", "text": "x"}]},
        {"role": "tool", "tool_call_id": "call:1", "content": "x", "name": "fs.read"},
    ],
    "tools": [
        {"type": "function", "function": {"name": "fs.read", "parameters": {"type": "object"}, "strict": None}},
        {"type": "custom", "custom": {"name": "patch", "format": {"type": "text"}}},
    ],
    "tool_choice": {
        "type": "allowed_tools",
        "allowed_tools": {"mode": "auto", "tools": [{"type": "function", "function": {"name": "fs.read"}}]},
    },
    "parallel_tool_calls": False,
    "stream": True,
    "stream_options": {"include_usage": False},
    "max_completion_tokens": 5,
    "stop": ["x"],
    "seed": 7,
    "response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": {}}},
    "n": 1,
}


@given(twisted(DOCUMENT), st.sampled_from(sorted(PROFILES)))
def test_any_request(document: Any, profile: str) -> None:
    try:
        exchange = open_exchange(json.dumps(document).encode(), profile=profile)
    except RequestError:
        return
    sent = json.loads(exchange.upstream_request.body)
    calls = [entry["id"] for message in sent["messages"] for entry in message.get("tool_calls") or ()]
    results = [message["tool_call_id"] for message in sent["messages"] if message["role"] == "tool"]
    assert sorted(calls) == sorted(results), "each call has its result"
    assert len(set(calls)) == len(calls)
    assert all(re.fullmatch(PROFILES[profile].call_id, id) for id in calls)
    assert sent["model"] == "m"


@given(st.binary(max_size=40), st.integers(0, 1200), st.integers(0, 40))
def test_any_bytes(inserted: bytes, at: int, dropped: int) -> None:
    body = json.dumps(DOCUMENT).encode()
    try:
        exchange = open_exchange(body[:at] + inserted + body[at + dropped :])
    except RequestError:
        return
    json.loads(exchange.upstream_request.body)
