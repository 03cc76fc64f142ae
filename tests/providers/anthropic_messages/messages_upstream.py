"""Answers of a Messages host, written by us, and the exchange that a chat client's request has with it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from tests.corpus.driver import Answer, answer, open_exchange
from tests.providers.openai_chat.chat_reader import Said, read, sdk_answer, sdk_stream

WIRE = "anthropic_messages"
#: The family whose rules are strictest among those that still take sampling.
MODEL = "claude-sonnet-4-5"
TOOLS = [
    {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {}}}}
    for name in ("weather", "time")
]
USER = {"role": "user", "content": "hi"}
USAGE = {"input_tokens": 10, "output_tokens": 1}


def start(**more: Any) -> dict[str, Any]:
    """message_start; `more` replaces members of its message."""
    message: dict[str, Any] = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-host",
        "content": [],
    }
    message |= {"stop_reason": None, "stop_sequence": None, "usage": USAGE}
    return {"type": "message_start", "message": message | more}


def begin(index: int | None, kind: str, **members: Any) -> dict[str, Any]:
    empty: dict[str, Any] = {"text": {"text": ""}, "thinking": {"thinking": "", "signature": ""}}.get(kind, {})
    event = {"type": "content_block_start", "index": index, "content_block": {"type": kind, **empty, **members}}
    return {name: value for name, value in event.items() if value is not None}


def call(index: int | None, id: str, name: str, given: Any = None) -> dict[str, Any]:
    return begin(index, "tool_use", id=id, name=name, input={} if given is None else given)


def delta(index: int | None, kind: str, **members: Any) -> dict[str, Any]:
    event = {"type": "content_block_delta", "index": index, "delta": {"type": kind, **members}}
    return {name: value for name, value in event.items() if value is not None}


def text(index: int | None, words: str) -> dict[str, Any]:
    return delta(index, "text_delta", text=words)


def thinking(index: int, words: str) -> dict[str, Any]:
    return delta(index, "thinking_delta", thinking=words)


def signature(index: int, proof: str) -> dict[str, Any]:
    return delta(index, "signature_delta", signature=proof)


def fragment(index: int | None, arguments: str) -> dict[str, Any]:
    return delta(index, "input_json_delta", partial_json=arguments)


def end(index: int | None) -> dict[str, Any]:
    return {"type": "content_block_stop", **({} if index is None else {"index": index})}


def finish(reason: str | None, **more: Any) -> dict[str, Any]:
    """message_delta; `more` are members beside its usage of 20 output tokens."""
    usage = {"output_tokens": 20} | more.pop("usage", {})
    return {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None, **more}, "usage": usage}


PING = {"type": "ping"}
STOP = {"type": "message_stop"}
#: A short answer's beginning and its ends.
HELLO = [start(), begin(0, "text"), PING, text(0, "Hello"), end(0)]
TURN = [finish("end_turn"), STOP]
CALLS = [finish("tool_use"), STOP]


def stream(*events: Any) -> bytes:
    """Events as SSE; bytes are a frame as it is."""
    return b"".join(event if isinstance(event, bytes) else _frame(event) for event in events)


def _frame(event: Any) -> bytes:
    return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode("utf-8", "surrogatepass")


def whole(content: list[Any], reason: str | None = "end_turn", **more: Any) -> bytes:
    """A JSON answer; `more` replaces its members."""
    return json.dumps({**start()["message"], "content": content, "stop_reason": reason, **more}).encode()


def request(*, streamed: bool = True, **fields: Any) -> bytes:
    document: dict[str, Any] = {"model": "p/m", "messages": [USER], "tools": TOOLS, "stream": streamed}
    options = {"stream_options": {"include_usage": True}} if streamed else {}
    return json.dumps({**document, **options, **fields}).encode()


def ask(
    upstream: bytes | Iterable[bytes],
    *,
    streamed: bool = True,
    status: int = 200,
    content_type: str | None = None,
    **fields: Any,
) -> Answer:
    """What the client gets for this answer of the host."""
    exchange = open_exchange(request(streamed=streamed, **fields), wire=WIRE, profile=None, model=MODEL)
    pieces = [upstream] if isinstance(upstream, bytes) else upstream
    kind = content_type or ("text/event-stream" if streamed else "application/json")
    return answer(exchange, pieces, status=status, content_type=kind)


def seen(*events: Any) -> Said:
    """What both readers understand of a streamed answer."""
    result = ask(stream(*events))
    assert (result.status, result.headers["content-type"]) == (200, "text/event-stream; charset=utf-8")
    said = read(result.body, usage=True)
    assert said.error is None, said.error
    folded = sdk_stream(result.body)
    message = folded["choices"][0]["message"]
    assert (message["content"] or "", message["refusal"] or "") == (said.content, said.refusal)
    calls = message["tool_calls"] or []
    assert [(call["id"], call["function"]["name"], call["function"]["arguments"]) for call in calls] == said.calls
    assert (folded["choices"][0]["finish_reason"], folded["usage"]) == (said.finish, said.usage)
    return said


def told(body: bytes, **fields: Any) -> dict[str, Any]:
    """The completion that openai-python reads from a JSON answer."""
    result = ask(body, streamed=False, **fields)
    assert (result.status, result.headers["content-type"]) == (200, "application/json")
    return sdk_answer(result.status, result.headers, result.body)
