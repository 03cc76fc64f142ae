"""Answers of a Responses host, written by us, and the exchange that a chat client's request has with it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from tests.corpus.driver import Answer, answer, open_exchange
from tests.providers.openai_chat.chat_reader import Said, read, sdk_answer, sdk_stream

WIRE = "openai_responses"
MODEL = "gpt-5.6"
TOOLS = [
    {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {}}}}
    for name in ("weather", "time")
]
USER = {"role": "user", "content": "hi"}
USAGE = {
    "input_tokens": 10,
    "input_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 1},
    "output_tokens": 20,
    "output_tokens_details": {"reasoning_tokens": 8},
    "total_tokens": 30,
}


def event(kind: str, **members: Any) -> dict[str, Any]:
    """An event; members that are None are left out."""
    return {"type": f"response.{kind}", **{name: value for name, value in members.items() if value is not None}}


#: What OpenAI says of a response in any case.
SAID: dict[str, Any] = {
    "background": False, "completed_at": None, "frequency_penalty": 0.0, "instructions": None,
    "max_output_tokens": None, "max_tool_calls": None, "metadata": {}, "parallel_tool_calls": True,
    "presence_penalty": 0.0, "previous_response_id": None, "prompt_cache_key": None,
    "reasoning": {"effort": None, "summary": None}, "safety_identifier": None, "service_tier": "default",
    "store": True, "temperature": 1.0, "text": {"format": {"type": "text"}, "verbosity": "medium"},
    "tool_choice": "auto", "tools": [], "top_logprobs": 0, "top_p": 1.0, "truncation": "disabled",
}  # fmt: skip


def response(status: str = "in_progress", output: Any = (), **more: Any) -> dict[str, Any]:
    head = {"id": "resp_1", "object": "response", "created_at": 1_700_000_000, "status": status, "model": "gpt-host"}
    head |= {"error": None, "incomplete_details": None, "output": list(output), "usage": None, **SAID}
    return head | {"completed_at": 1_700_000_001 if status == "completed" else None, **more}


def created(**more: Any) -> dict[str, Any]:
    return event("created", response=response(**more))


def added(index: int | None, kind: str, id: str | None, **members: Any) -> dict[str, Any]:
    """output_item.added with the stubs that OpenAI writes."""
    stubs: dict[str, dict[str, Any]] = {
        "message": {"role": "assistant", "content": [], "status": "in_progress"},
        "reasoning": {"summary": []},
        "function_call": {"arguments": "", "status": "in_progress"},
        "custom_tool_call": {"input": "", "status": "in_progress"},
    }
    return event("output_item.added", output_index=index, item=item(kind, id, **stubs.get(kind, {}) | members))


def done(index: int | None, finished: dict[str, Any]) -> dict[str, Any]:
    return event("output_item.done", output_index=index, item=finished)


def item(kind: str, id: str | None, **members: Any) -> dict[str, Any]:
    return {"type": kind, **({"id": id} if id is not None else {}), **members}


def message(id: str | None, *texts: str, **more: Any) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text, "annotations": []} for text in texts]
    return item("message", id, role="assistant", status="completed", content=content, **more)


def call(id: str | None, call_id: str | None, name: str, arguments: str, **more: Any) -> dict[str, Any]:
    finished = item("function_call", id, status="completed", call_id=call_id, name=name, arguments=arguments)
    return finished | more


def custom(id: str, call_id: str, name: str, text: str) -> dict[str, Any]:
    return item("custom_tool_call", id, status="completed", call_id=call_id, name=name, input=text)


def reasoning(id: str | None, *summary: str, **more: Any) -> dict[str, Any]:
    return item("reasoning", id, summary=[{"type": "summary_text", "text": text} for text in summary], **more)


def text(index: int | None, id: str | None, words: str, content: int | None = 0) -> dict[str, Any]:
    return event("output_text.delta", output_index=index, item_id=id, content_index=content, delta=words, logprobs=[])


def part(kind: str, index: int, id: str, words: str, content: int = 0) -> dict[str, Any]:
    shape = {"type": "output_text", "text": words, "annotations": []}
    return event(f"content_part.{kind}", output_index=index, item_id=id, content_index=content, part=shape)


def fragment(index: int | None, id: str | None, piece: str) -> dict[str, Any]:
    return event("function_call_arguments.delta", output_index=index, item_id=id, delta=piece)


def arguments(index: int | None, id: str | None, whole: str, name: str | None = "weather") -> dict[str, Any]:
    return event("function_call_arguments.done", output_index=index, item_id=id, arguments=whole, name=name)


def summary(index: int, id: str, piece: str, place: int = 0) -> dict[str, Any]:
    return event("reasoning_summary_text.delta", output_index=index, item_id=id, summary_index=place, delta=piece)


def completed(*output: dict[str, Any], **more: Any) -> dict[str, Any]:
    return event("completed", response=response("completed", output, **{"usage": USAGE, **more}))


def incomplete(reason: str, *output: dict[str, Any]) -> dict[str, Any]:
    details = {"reason": reason}
    return event("incomplete", response=response("incomplete", output, usage=USAGE, incomplete_details=details))


def said(index: int, id: str, *pieces: str) -> list[dict[str, Any]]:
    """A whole message."""
    whole = "".join(pieces)
    return [
        added(index, "message", id),
        part("added", index, id, ""),
        *(text(index, id, piece) for piece in pieces),
        event("output_text.done", output_index=index, item_id=id, content_index=0, text=whole, logprobs=[]),
        part("done", index, id, whole),
        done(index, message(id, whole)),
    ]


def called(index: int, id: str, call_id: str, name: str, *pieces: str) -> list[dict[str, Any]]:
    """A whole call."""
    whole = "".join(pieces)
    return [
        added(index, "function_call", id, call_id=call_id, name=name),
        *(fragment(index, id, piece) for piece in pieces),
        arguments(index, id, whole, name),
        done(index, call(id, call_id, name, whole)),
    ]


def stream(*events: Any) -> bytes:
    """Events as SSE; bytes are a frame as it is."""
    frames = [
        event if isinstance(event, bytes) else f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()
        for event in events
    ]
    return b"".join(frames)


def whole(*output: dict[str, Any], **more: Any) -> bytes:
    """A JSON answer; `more` replaces its members."""
    return json.dumps(response("completed", output, usage=USAGE) | more).encode()


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
    exchange = open_exchange(request(streamed=streamed, **fields), wire=WIRE, profile="openai", model=MODEL)
    pieces = [upstream] if isinstance(upstream, bytes) else upstream
    kind = content_type or ("text/event-stream" if streamed else "application/json")
    return answer(exchange, pieces, status=status, content_type=kind)


def seen(*events: Any, **fields: Any) -> Said:
    """What both readers understand of a streamed answer."""
    result = ask(stream(*events), **fields)
    assert (result.status, result.headers["content-type"]) == (200, "text/event-stream; charset=utf-8"), result.body
    heard = read(result.body, usage=True)
    assert heard.error is None, heard.error
    folded = sdk_stream(result.body)
    told = folded["choices"][0]["message"]
    assert (told["content"] or "", told["refusal"] or "") == (heard.content, heard.refusal)
    return heard


def told(body: bytes, **fields: Any) -> dict[str, Any]:
    """The completion that openai-python reads from a JSON answer."""
    result = ask(body, streamed=False, **fields)
    assert (result.status, result.headers["content-type"]) == (200, "application/json"), result.body
    return sdk_answer(result.status, result.headers, result.body)
