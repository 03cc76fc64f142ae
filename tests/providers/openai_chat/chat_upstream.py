"""Answers of a Chat Completions host, written by us, and the exchange that a client's request has with it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from tests.corpus.driver import Answer, answer, open_exchange
from tests.providers.openai_chat.chat_reader import Said, read, sdk_stream

TOOLS = [{"type": "function", "function": {"name": name}} for name in ("weather", "time")]
USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}


def chunk(delta: Any = None, finish: str | None = None, **more: Any) -> dict[str, Any]:
    """One chunk as OpenAI writes it; `more` replaces its members."""
    choice = {"index": 0, "delta": {} if delta is None else delta, "finish_reason": finish}
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1700000000, "model": "host-model"}
    return {**head, "choices": [choice], **more}


def opening(index: int | None, id: str | None, name: str | None, arguments: Any = "", **more: Any) -> dict[str, Any]:
    """A chunk that opens a call; None leaves a member out."""
    entry = {"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": arguments}, **more}
    entry["function"] = {key: value for key, value in entry["function"].items() if value is not None}
    return chunk({"tool_calls": [{key: value for key, value in entry.items() if value is not None}]})


def fragment(index: int | None, arguments: Any, **more: Any) -> dict[str, Any]:
    """A chunk with more arguments of a call."""
    entry = {"function": {"arguments": arguments}, **more}
    return chunk({"tool_calls": [entry if index is None else {"index": index, **entry}]})


ROLE = chunk({"role": "assistant", "content": ""})
STOP = chunk(finish="stop")
CALLS = chunk(finish="tool_calls")
TOTAL = chunk(choices=[], usage=USAGE)


def text(words: Any) -> dict[str, Any]:
    return chunk({"content": words})


def stream(*chunks: Any, done: bool = True) -> bytes:
    """Chunks as SSE; bytes are a frame's payload as it is."""
    frames = [item if isinstance(item, bytes) else json.dumps(item).encode() for item in chunks]
    return b"".join(b"data: " + data + b"\n\n" for data in [*frames, *([b"[DONE]"] if done else [])])


def whole(message: dict[str, Any], finish: str | None = "stop", **more: Any) -> bytes:
    """A JSON answer; `more` replaces its members."""
    document = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1700000000,
        "model": "host-model",
        "choices": [{"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}],
        "usage": USAGE,
    }
    return json.dumps({**document, **more}).encode()


def request(*, streamed: bool = True, usage: bool = False, **fields: Any) -> bytes:
    options = {"stream_options": {"include_usage": True}} if usage else {}
    document = {"model": "p/m", "messages": [{"role": "user", "content": "hi"}], "tools": TOOLS, "stream": streamed}
    return json.dumps({**document, **options, **fields}).encode()


def ask(
    upstream: bytes | Iterable[bytes],
    *,
    streamed: bool = True,
    usage: bool = False,
    profile: str = "compatible",
    status: int = 200,
    content_type: str | None = None,
    **fields: Any,
) -> Answer:
    """What the client gets for this answer of the host."""
    exchange = open_exchange(request(streamed=streamed, usage=usage, **fields), profile=profile)
    pieces = [upstream] if isinstance(upstream, bytes) else upstream
    kind = content_type or ("text/event-stream" if streamed else "application/json")
    return answer(exchange, pieces, status=status, content_type=kind)


def seen(upstream: bytes | Iterable[bytes], **fields: Any) -> Said:
    """What both readers understand of a streamed answer."""
    usage = fields.pop("usage", True)
    answer = ask(upstream, usage=usage, **fields)
    assert (answer.status, answer.headers["content-type"]) == (200, "text/event-stream; charset=utf-8")
    said = read(answer.body, usage=usage)
    assert said.error is None
    folded = sdk_stream(answer.body)
    message = folded["choices"][0]["message"]
    assert (message["content"] or "") == said.content
    calls = message["tool_calls"] or []
    assert [(call["id"], call["function"]["name"], call["function"]["arguments"]) for call in calls] == said.calls
    assert folded["choices"][0]["finish_reason"] == said.finish
    assert folded["usage"] == said.usage
    return said
