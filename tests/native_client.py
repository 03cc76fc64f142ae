"""A client of the native API that believes nothing: it reads answers by their models and follows a stream's parts.

No vendor has an SDK for this API, so the judge is this reader. It shares no line with what writes the answers; the
models are those of the API's document.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import msgspec
from pydantic import TypeAdapter

from local import answer_models as models

_EVENT: TypeAdapter[Any] = TypeAdapter(models.Event)


@dataclass(frozen=True)
class Call:
    """`arguments` is their text as it stands in the answer, None where they are null."""

    id: str
    name: str
    arguments: str | None
    raw_arguments: str | None = None


@dataclass
class Said:
    """What a client understands of an answer, streamed or not."""

    head: dict[str, Any] = field(default_factory=dict)
    text: str = ""
    refusal: str = ""
    reasoning: str = ""
    calls: list[Call] = field(default_factory=list)
    signatures: list[str] = field(default_factory=list)
    finish: str | None = None
    usage: dict[str, Any] = field(default_factory=dict)
    warnings: list[dict[str, Any]] = field(default_factory=list)
    error: dict[str, Any] | None = None


def frames(body: bytes) -> list[tuple[str, bytes]]:
    """Each event's name and data; comments are left out."""
    found = []
    for block in body.decode().split("\n\n")[:-1]:
        lines = [line for line in block.split("\n") if not line.startswith(":")]
        if lines:
            assert lines[0].startswith("event: "), block
            assert all(line.startswith("data: ") for line in lines[1:]), block
            data = "\n".join(line.removeprefix("data: ") for line in lines[1:])
            found.append((lines[0].removeprefix("event: "), data.encode()))
    return found


def read_stream(body: bytes) -> Said:
    """Follows a stream. Fails where it breaks its own grammar."""
    assert body.endswith(b"\n\n")
    said, reader = Said(), _Parts()
    events = frames(body)
    assert events[0][0] in ("response.start", "error")
    for number, (name, data) in enumerate(events):
        event = _EVENT.validate_json(data)
        assert event.type == name
        assert (name in ("response.end", "error")) == (number == len(events) - 1), f"{name} at {number}"
        if name == "response.start":
            assert number == 0
            said.head = _head(event)
        elif name == "response.end":
            assert reader.open == {}, "every part has ended"
            said.finish, said.usage = event.finish_reason, event.usage.model_dump()
        elif name == "error":
            said.error = event.error.model_dump()
        elif name == "warning":
            said.warnings.append(event.model_dump(exclude_none=True, exclude={"type"}))
        elif name != "usage":
            reader.take(name, event, data, said)
    return said


class _Parts:
    """The parts of a stream."""

    def __init__(self) -> None:
        self.open: dict[int, str] = {}
        self._seen = 0
        self._refusals: set[int] = set()
        self._calls: dict[int, tuple[models.ToolCallStart, list[str]]] = {}

    def take(self, name: str, event: Any, data: bytes, said: Said) -> None:
        kind, _, what = name.partition(".")
        if what in ("start", "") and event.index not in self.open:
            assert event.index == self._seen, "parts are numbered in the order in which they start"
            self._seen += 1
            if name != "opaque":
                self.open[event.index] = kind
        assert name == "opaque" or self.open.get(event.index) == kind, f"{name} of a part that is not open"
        match name:
            case "text.start" if event.refusal:
                self._refusals.add(event.index)
            case "text.delta" if event.index in self._refusals:
                said.refusal += event.text
            case "text.delta":
                said.text += event.text
            case "reasoning.delta":
                said.reasoning += event.text
            case "tool_call.start":
                assert event.call_index == len(self._calls)
                self._calls[event.index] = event, []
            case "tool_call.delta":
                self._calls[event.index][1].append(event.fragment)
            case "tool_call.end":
                said.calls.append(self._ended(event, data))
        if what == "end":
            del self.open[event.index]
            if event.signature is not None:
                said.signatures.append(event.signature)

    def _ended(self, event: models.ToolCallEnd, data: bytes) -> Call:
        start, fragments = self._calls[event.index]
        assert (event.id, event.name, event.call_index) == (start.id, start.name, start.call_index)
        shown = _arguments(data)
        assert "".join(fragments) == (shown if event.arguments is not None else event.raw_arguments)
        return Call(event.id, event.name, shown, event.raw_arguments)


def read_answer(body: bytes) -> Said:
    """Reads a JSON answer or an error's body."""
    if json.loads(body).get("type") == "error":
        return Said(error=models.ErrorResponse.model_validate_json(body).error.model_dump())
    answer = models.ChatResponse.model_validate_json(body)
    (choice,) = answer.choices
    message = choice.message
    said = Said(_head(answer), message.content or "", message.refusal or "", message.reasoning_content or "")
    said.finish, said.usage = choice.finish_reason, answer.usage.model_dump()
    said.warnings = [warning.model_dump(exclude_none=True) for warning in answer.warnings]
    said.signatures = [part.signature for part in message.reasoning_parts or () if part.signature is not None]
    said.signatures += [message.content_signature] if message.content_signature is not None else []
    raw = msgspec.json.decode(body, type=dict[str, msgspec.Raw])
    for number, (call, text) in enumerate(zip(message.tool_calls or (), _calls(raw), strict=True)):
        assert call.index == number
        said.calls.append(Call(call.id, call.function.name, text, call.function.raw_arguments))
        said.signatures += [call.signature] if call.signature is not None else []
    return said


def _calls(answer: dict[str, msgspec.Raw]) -> list[str | None]:
    """The arguments of each call, as their text."""
    (choice,) = msgspec.json.decode(answer["choices"], type=list[dict[str, msgspec.Raw]])
    message = msgspec.json.decode(choice["message"], type=dict[str, msgspec.Raw])
    calls = msgspec.json.decode(message.get("tool_calls", b"[]"), type=list[dict[str, msgspec.Raw]])
    return [_arguments(bytes(call["function"])) for call in calls]


def _arguments(raw: bytes) -> str | None:
    text = bytes(msgspec.json.decode(raw, type=dict[str, msgspec.Raw])["arguments"]).decode()
    return None if text == "null" else text


def _head(event: Any) -> dict[str, Any]:
    return {name: getattr(event, name) for name in ("id", "model", "created", "provider", "conversation_id")}
