"""What an answer comes to, whichever door gave it: its calls, how it ended and its error; not its text and its ids.

Streams are read by the strict readers of their doors, so that a function that answers is also one that answers well.
"""

from __future__ import annotations

import json
from typing import Any

from tests import gemini_client, native_client
from tests.doors.messages import messages_reader
from tests.doors.responses import responses_reader


def outcome(path: str, body: bytes) -> dict[str, Any]:
    """The outcome of the answer to a request for `path`."""
    streamed = body.startswith((b"data:", b"event:", b":"))
    streamed = streamed or body.startswith(b"[")  # a stream of Gemini's API as one array
    if not streamed and (error := json.loads(body).get("error")):
        return {"error": error.get("code") or error["type"]}
    return (_gemini if path.endswith("{id+}") else _DOORS[path])(body, streamed)  # Gemini's API has several paths


def _chat(body: bytes, streamed: bool) -> dict[str, Any]:
    if not streamed:
        choice = json.loads(body)["choices"][0]
        calls = [call["function"] for call in choice["message"].get("tool_calls", ())]
        return {"calls": [(call["name"], call["arguments"]) for call in calls], "end": [choice["finish_reason"]]}
    frames = [line.removeprefix(b"data: ") for line in body.splitlines() if line.startswith(b"data: ")]
    calls_by_index: dict[int, list[str]] = {}
    found: dict[str, Any] = {"end": [], "done": frames[-1] == b"[DONE]"}
    for chunk in map(json.loads, frames[: -1 if found["done"] else None]):
        if "error" in chunk:
            found["error"] = chunk["error"]["code"]
        for choice in chunk.get("choices", ()):
            found["end"] += [choice["finish_reason"]] if choice["finish_reason"] else []
            for delta in choice["delta"].get("tool_calls", ()):
                call = calls_by_index.setdefault(delta["index"], ["", ""])
                call[0] += delta["function"].get("name", "")
                call[1] += delta["function"].get("arguments", "")
    return found | {"calls": [tuple(call) for call in calls_by_index.values()]}


def _messages(body: bytes, streamed: bool) -> dict[str, Any]:
    if streamed:
        said = messages_reader.read(body)
        code = None if said.error is None else said.error["error"]["details"]["error_code"]
        return {"calls": [call[1:] for call in said.calls], "end": said.stop_reason, "error": code}
    answer = json.loads(body)
    calls = [(block["name"], block["input"]) for block in answer["content"] if block["type"] == "tool_use"]
    return {"calls": calls, "end": answer["stop_reason"]}


def _responses(body: bytes, streamed: bool) -> dict[str, Any]:
    answer = json.loads(body) if not streamed else responses_reader.read(body).final
    assert answer is not None, "a stream of the Responses API ends with the response"
    calls = [(item["name"], item["arguments"]) for item in answer["output"] if item["type"] == "function_call"]
    return {"calls": calls, "end": answer["status"], "error": answer["error"]}


def _native(body: bytes, streamed: bool) -> dict[str, Any]:
    said = native_client.read_stream(body) if streamed else native_client.read_answer(body)
    code = None if said.error is None else said.error["code"]
    return {"calls": [(call.name, call.arguments) for call in said.calls], "end": said.finish, "error": code}


def _gemini(body: bytes, streamed: bool) -> dict[str, Any]:
    said = gemini_client.read(body)
    return {"calls": said.calls, "end": said.finish, "error": said.error and said.error["status"]}


_DOORS = {
    "/chat/completions": _chat,
    "/messages": _messages,
    "/native/chat": _native,
    "/responses": _responses,
}
