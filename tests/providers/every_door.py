"""One provider's answer as every door shows it: the request of each door, and a reader of what its client is told."""

from __future__ import annotations

import json
from typing import Any

from tests.corpus.driver import Answer, answer, open_exchange
from tests.door_requests import function, question
from tests.gemini_client import read
from toolwire.doors import DOORS

PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}}
#: Door -> a request for it, without `stream`.
REQUESTS = {door: question(door, "hi", function("weather", PARAMETERS)) for door in DOORS}
#: How many bytes of a stream come at a time: so few that each event comes in pieces, and most of its words do. That a
#: frame may be cut at any byte is shown in `tests/framing`, and of whole answers in `tests/corpus`.
STEP = 7
#: Wire -> the media type of its streams, where that is not the usual one.
STREAMS = {"bedrock_converse": "application/vnd.amazon.eventstream"}


def asked(
    door: str, upstream: bytes, *, streamed: bool, wire: str, profile: str | None = "compatible", step: int = STEP
) -> Answer:
    """The answer of a door to a request whose provider answers so; streams come `step` bytes at a time."""
    body = json.dumps({"model": "m", "stream": streamed, **REQUESTS[door]}).encode()
    exchange = open_exchange(body, door=door, wire=wire, profile=profile)
    kind = STREAMS.get(wire, "text/event-stream") if streamed else "application/json"
    pieces = [upstream[at : at + step] for at in range(0, len(upstream), step)] if streamed else [upstream]
    return answer(exchange, pieces, content_type=kind)


def events_in(body: bytes) -> list[dict[str, Any]]:
    """The JSON events of a door's stream."""
    lines = [line[6:] for line in body.split(b"\n") if line.startswith(b"data: {")]
    return [json.loads(line) for line in lines]


def calls_in(door: str, body: bytes, *, streamed: bool) -> list[tuple[str, str]]:
    """The calls of a door's answer: name, and arguments as JSON text (the native door's and a document's of the
    messages door are objects). What comes in pieces is joined."""
    calls: list[tuple[str, str]]
    calls = _STREAMS[door](events_in(body)) if streamed else _DOCUMENTS[door](json.loads(body))
    return calls


def text_in(door: str, body: bytes) -> str:
    """The text of a door's stream."""
    events = events_in(body)
    match door:
        case "chat_completions":
            return "".join(choice["delta"].get("content") or "" for event in events for choice in event["choices"])
        case "messages":
            return "".join(event["delta"].get("text", "") for event in events if event["type"] == "content_block_delta")
        case "gemini":
            return read(body).text
        case _:
            name = {"responses": ("response.output_text.delta", "delta"), "native": ("text.delta", "text")}[door]
            return "".join(event[name[1]] for event in events if event["type"] == name[0])


def reasoning_in(door: str, body: bytes, *, streamed: bool) -> str:
    """The reasoning in a door's answer, each piece once."""
    if door == "gemini":
        return read(body).thoughts
    documents = events_in(body) if streamed else [json.loads(body)]
    return "".join(piece for document in documents for piece in _REASONING[door](document))


def _chat_reasoning(document: dict[str, Any]) -> list[str]:
    told = [choice.get("delta") or choice.get("message") or {} for choice in document["choices"]]
    return [said["reasoning_content"] for said in told if said.get("reasoning_content")]


def _responses_reasoning(document: dict[str, Any]) -> list[str]:
    if document.get("object") != "response":
        return [document["delta"]] if "reasoning" in document["type"] and "delta" in document else []
    items = [item for item in document["output"] if item["type"] == "reasoning"]
    return [part["text"] for item in items for part in (item.get("content") or []) + item["summary"]][:1]


def _messages_reasoning(document: dict[str, Any]) -> list[str]:
    said = [document["delta"]] if document["type"] == "content_block_delta" else document.get("content", ())
    return [part["thinking"] for part in said if "thinking" in part]


def _native_reasoning(document: dict[str, Any]) -> list[str]:
    if "choices" in document:
        return [document["choices"][0]["message"].get("reasoning_content") or ""]
    return [document["text"]] if document["type"] == "reasoning.delta" else []


_REASONING: dict[str, Any] = {
    "chat_completions": _chat_reasoning, "responses": _responses_reasoning, "messages": _messages_reasoning,
    "native": _native_reasoning,
}  # fmt: skip


def _chat_stream(chunks: list[dict[str, Any]]) -> list[tuple[str, str]]:
    calls: list[list[str]] = []
    for entry in (e for c in chunks for choice in c["choices"] for e in choice["delta"].get("tool_calls") or ()):
        if entry["index"] == len(calls):
            calls.append([entry["function"]["name"], ""])
        calls[entry["index"]][1] += entry["function"].get("arguments") or ""
    return [(name, arguments) for name, arguments in calls]


def _chat_document(document: dict[str, Any]) -> list[tuple[str, str]]:
    calls = document["choices"][0]["message"].get("tool_calls") or ()
    return [(call["function"]["name"], call["function"]["arguments"]) for call in calls]


def _messages_stream(events: list[dict[str, Any]]) -> list[tuple[str, str]]:
    calls: dict[int, list[str]] = {}
    for event in events:
        if event["type"] == "content_block_start" and event["content_block"]["type"] == "tool_use":
            assert event["content_block"]["input"] == {}
            calls[event["index"]] = [event["content_block"]["name"], ""]
        elif event["type"] == "content_block_delta" and event["index"] in calls:
            calls[event["index"]][1] += event["delta"]["partial_json"]
    return [(name, arguments or "{}") for name, arguments in calls.values()]


def _messages_document(document: dict[str, Any]) -> list[tuple[str, str]]:
    return [
        (block["name"], json.dumps(block["input"], separators=(",", ":")))
        for block in document["content"]
        if block["type"] == "tool_use"
    ]


def _responses_stream(events: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """By the deltas, which must be what the items and the last event say."""
    deltas: dict[str, str] = {}
    for event in events:
        if event["type"] == "response.output_item.added" and event["item"]["type"] == "function_call":
            assert not event["item"]["arguments"]
            deltas[event["item"]["id"]] = ""
        elif event["type"] == "response.function_call_arguments.delta":
            deltas[event["item_id"]] += event["delta"]
        elif event["type"] == "response.function_call_arguments.done":
            assert event["arguments"] == (deltas[event["item_id"]] or "{}")
    last = events[-1]["response"]
    calls = _responses_document(last)
    assert [item["id"] for item in last["output"] if item["type"] == "function_call"] == list(deltas)
    assert [arguments for _, arguments in calls] == [text or "{}" for text in deltas.values()]
    return calls


def _responses_document(document: dict[str, Any]) -> list[tuple[str, str]]:
    return [(item["name"], item["arguments"]) for item in document["output"] if item["type"] == "function_call"]


def _native_stream(events: list[dict[str, Any]]) -> list[tuple[str, str]]:
    calls = [event for event in events if event["type"] == "tool_call.end"]
    return [(call["name"], _native(call["arguments"])) for call in calls]


def _native_document(document: dict[str, Any]) -> list[tuple[str, str]]:
    calls = document["choices"][0]["message"].get("tool_calls") or ()
    return [(call["function"]["name"], _native(call["function"]["arguments"])) for call in calls]


def _native(arguments: Any) -> str:
    return json.dumps(arguments, separators=(",", ":"))


def _gemini_calls(events: list[dict[str, Any]]) -> list[tuple[str, str]]:
    parts = [part for event in events for part in event["candidates"][0].get("content", {}).get("parts", ())]
    calls = [part["functionCall"] for part in parts if "functionCall" in part]
    return [(call["name"], _native(call["args"])) for call in calls]


_STREAMS: dict[str, Any] = {
    "gemini": _gemini_calls,
    "chat_completions": _chat_stream, "responses": _responses_stream, "messages": _messages_stream,
    "native": _native_stream,
}  # fmt: skip
_DOCUMENTS: dict[str, Any] = {
    "gemini": lambda document: _gemini_calls([document]),
    "chat_completions": _chat_document, "responses": _responses_document, "messages": _messages_document,
    "native": _native_document,
}  # fmt: skip
