"""A strict reader of what the Responses door sends, and openai-python as a second one.

The strict reader wants events in their order, ids and indices that never change, and every text told alike in its
deltas, at its end, in its item and in the response.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

import httpx2
import openai

from tests.prepared_server import PreparedServer
from toolwire.framing.sse import SseDecoder

#: Event that ends a text -> the member that holds it, and the event of its deltas.
_TEXT_ENDS = {
    "response.output_text.done": "text",
    "response.refusal.done": "refusal",
    "response.reasoning_summary_text.done": "text",
    "response.function_call_arguments.done": "arguments",
    "response.custom_tool_call_input.done": "input",
}
_ENDINGS = ("response.completed", "response.incomplete", "response.failed")


class Said:
    """A stream as it was heard."""

    def __init__(self) -> None:
        self.types: list[str] = []
        self.items: dict[int, dict[str, Any]] = {}
        self.done: dict[int, dict[str, Any]] = {}
        self.final: dict[str, Any] | None = None
        self.error: dict[str, Any] | None = None
        self.extra: list[dict[str, Any]] = []
        self.events: list[dict[str, Any]] = []

    def order(self) -> list[str]:
        """The types, a run of deltas as one."""
        return [kind for number, kind in enumerate(self.types) if number == 0 or self.types[number - 1] != kind]


def events(body: bytes) -> Iterator[dict[str, Any]]:
    """The data of each event, whose name is its type."""
    decoder = SseDecoder()
    for frame in [*decoder.feed(body), *decoder.end()]:
        data: dict[str, Any] = json.loads(frame.data)
        assert frame.event == data["type"]
        yield data


def read(body: bytes) -> Said:
    """Fails for any fault of the grammar."""
    said = Said()
    texts: dict[tuple[Any, ...], list[str]] = {}
    response_id = None
    for number, event in enumerate(events(body)):
        kind = event["type"]
        assert event["sequence_number"] == number
        assert said.final is None or kind == "response.done", "the ending is last"
        said.events.append(event)
        if kind.startswith("response.output_tool_call") or kind == "response.done":
            said.extra.append(event)
            continue
        said.types.append(kind)
        if kind == "error":
            said.error = event
            continue
        if "response" in event:
            response = event["response"]
            response_id = response_id or response["id"]
            assert response["id"] == response_id
            assert number or kind == "response.created"
            if kind in _ENDINGS:
                _check_ending(kind, response, said)
            continue
        _take(event, said, texts)
    return said


def _take(event: dict[str, Any], said: Said, texts: dict[tuple[Any, ...], list[str]]) -> None:
    kind, index = event["type"], event["output_index"]
    if kind == "response.output_item.added":
        assert index not in said.items
        item = said.items[index] = event["item"]
        stub = {"message": "content", "reasoning": "summary", "function_call": "arguments"}
        assert not item.get(stub.get(item["type"], "input"))
        assert len(item["id"]) <= 64
        assert item["id"] != item.get("call_id")
        return
    item = said.items[index]
    assert index not in said.done, "nothing comes after an item's end"
    if kind == "response.output_item.done":
        done = said.done[index] = event["item"]
        assert [done.get(name) for name in ("id", "type", "call_id", "name")] == [
            item.get(name) for name in ("id", "type", "call_id", "name")
        ]
        return
    assert event["item_id"] == item["id"]
    place = (index, event.get("content_index"), event.get("summary_index"))
    if kind.endswith(".delta"):
        texts.setdefault(place, []).append(event["delta"])
    elif kind in _TEXT_ENDS:
        assert event[_TEXT_ENDS[kind]] == "".join(texts.get(place, ()))
        if kind == "response.function_call_arguments.done":
            assert event["name"] == item["name"]


def _check_ending(kind: str, response: dict[str, Any], said: Said) -> None:
    said.final = response
    assert response["status"] == kind.removeprefix("response.")
    if response["status"] == "failed":
        assert response["error"]["message"]
        return
    assert said.items.keys() == said.done.keys() == set(range(len(said.done)))
    assert response["output"] == [said.done[index] for index in sorted(said.done)]
    usage = response["usage"]
    assert usage["total_tokens"] == usage["input_tokens"] + usage["output_tokens"]


# ---------------------------------------------------------------- openai-python


@cache
def _sdk() -> tuple[PreparedServer, openai.OpenAI]:
    server = PreparedServer()
    return server, openai.OpenAI(
        api_key="none", base_url="http://gateway/v1", http_client=server.client(), max_retries=0
    )


def sdk_stream(body: bytes) -> dict[str, Any]:
    """The response that openai-python's `responses.stream()` gathers. Raises what it raises: RuntimeError for a broken
    grammar or an ending that is not `response.completed`, openai.APIError for an error event."""
    server, client = _sdk()
    server.response = httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=body)
    with client.responses.stream(model="m", input="") as stream:
        gathered: dict[str, Any] = stream.get_final_response().to_dict(mode="json", warnings=False)
        return gathered


def sdk_events(body: bytes) -> list[dict[str, Any]]:
    """What `responses.create(stream=True)` yields."""
    server, client = _sdk()
    server.response = httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=body)
    return [
        event.to_dict(mode="json", warnings=False)
        for event in client.responses.create(model="m", input="", stream=True)
    ]


def sdk_answer(status: int, headers: dict[str, str], body: bytes) -> dict[str, Any]:
    """The response that openai-python reads from a JSON answer. Raises openai.APIStatusError for an error."""
    server, client = _sdk()
    server.response = httpx2.Response(status, headers=headers, content=body)
    answer: dict[str, Any] = client.responses.create(model="m", input="").to_dict(mode="json", warnings=False)
    return answer
