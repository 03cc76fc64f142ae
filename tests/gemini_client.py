"""What a client of the gemini door puts into the path and the query: tests write it as members of the body, `model` and
`stream`, as for the other doors."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import msgspec

from toolwire.model.http import HttpRequest

RESOURCE = "/v1beta/models/{id+}"


def placed(body: bytes) -> tuple[bytes, dict[str, str], dict[str, str]]:
    """The body without these members, the path's parameters and the query. `stream="array"` asks for the other form of
    a stream."""
    try:
        members = json.loads(body)
    except ValueError:
        members = None
    if not isinstance(members, dict):
        return body, {"id": "m:generateContent"}, {}
    model, stream = members.pop("model", "m"), members.pop("stream", False)
    method = "streamGenerateContent" if stream else "generateContent"
    query = {"alt": "sse"} if stream is True else {}
    return json.dumps(members, ensure_ascii=False).encode(), {"id": f"{model}:{method}"}, query


def http_request(door: str, body: bytes, headers: dict[str, str]) -> HttpRequest:
    """The request of a door's client."""
    if door != "gemini":
        return HttpRequest("POST", "/", headers, body)
    body, parameters, query = placed(body)
    return HttpRequest("POST", RESOURCE, headers, body, parameters, query)


def event_members(door: str, body: bytes) -> dict[str, Any]:
    """The members of a proxy event for a request of a door's client, beside the path."""
    if door != "gemini":
        return {"body": body.decode()}
    body, parameters, query = placed(body)
    return {"body": body.decode(), "pathParameters": parameters, "queryStringParameters": query}


# ---------------------------------------------------------------- what it reads


@dataclass
class Said:
    """An answer as a careful client understands it. Arguments are the JSON text as it came."""

    text: str = ""
    thoughts: str = ""
    calls: list[tuple[str, str]] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    finish: str | None = None
    error: dict[str, Any] | None = None
    warnings: list[str] = field(default_factory=list)

    @property
    def reason(self) -> str:
        """The neutral reason."""
        words = {"STOP": "tool_calls" if self.calls else "stop", "MAX_TOKENS": "length"}
        return words.get(self.finish or "", "content_filter")


class _Call(msgspec.Struct):
    name: str
    args: msgspec.Raw = msgspec.Raw(b"{}")
    id: str = ""


class _Part(msgspec.Struct):
    text: str | None = None
    thought: bool = False
    thoughtSignature: str | None = None  # noqa: N815 - the API's name
    functionCall: _Call | None = None  # noqa: N815


def read(body: bytes) -> Said:
    """The answer in any of its three forms. Fails for what no client could read: a chunk behind the end, or a part that
    is none of the API's."""
    said = Said()
    for chunk in chunks(body):
        assert said.error is None, "nothing follows an error"
        document = msgspec.json.decode(chunk)
        if "error" in document:
            said.error = document["error"]
            said.finish = None
            continue
        for candidate in document.get("candidates", ()):
            _take(msgspec.json.decode(msgspec.json.encode(candidate)), chunk, said)
    return said


def chunks(body: bytes) -> list[bytes]:
    """The JSON documents of an answer, or of a stream in either form."""
    if body.startswith(b"data: ") or body.strip() == b"":
        blocks = body.split(b"\n\n")
        assert blocks.pop() == b""
        assert all(block.lstrip(b"\n").startswith(b"data: ") for block in blocks), "google-genai reads no comments"
        return [block.lstrip(b"\n").removeprefix(b"data: ") for block in blocks]
    if body.lstrip().startswith(b"["):
        return [bytes(raw) for raw in msgspec.json.decode(body, type=list[msgspec.Raw])]
    return [body]


class _Content(msgspec.Struct):
    parts: list[msgspec.Raw] = []


class _Candidate(msgspec.Struct):
    content: _Content = msgspec.field(default_factory=_Content)


class _Chunk(msgspec.Struct):
    candidates: list[_Candidate] = []


def _take(candidate: dict[str, Any], chunk: bytes, said: Said) -> None:
    assert said.finish is None, "nothing follows the finish reason"
    for raw in msgspec.json.decode(chunk, type=_Chunk).candidates[0].content.parts:
        part = msgspec.json.decode(raw, type=_Part)
        if part.functionCall is not None:
            said.calls.append((part.functionCall.name, bytes(part.functionCall.args).decode()))
            said.ids.append(part.functionCall.id)
        elif part.thought:
            said.thoughts += part.text or ""
        else:
            said.text += part.text or ""
    said.finish = candidate.get("finishReason")
    told = candidate.get("finishMessage", "")
    if told.startswith("x-toolwire-warnings: "):
        said.warnings = told.removeprefix("x-toolwire-warnings: ").split(",")
