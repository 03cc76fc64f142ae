"""Scripted answers of Gemini's generateContent. Calls come whole: all the deltas of one are in one event."""

from __future__ import annotations

import json
from collections.abc import Iterator

from bench.script import MARK, Script, arguments, stamped

_USAGE = {"promptTokenCount": 20, "candidatesTokenCount": 40, "totalTokenCount": 60}
_NAMES = ("read_file", "list_files")


def events(script: Script) -> Iterator[tuple[bool, bytes]]:
    """The stream's SSE events, each with whether it is a delta (to be paced)."""
    if script.kind == "tools":
        for call in _CALLS:
            yield True, call.replace(b'"%b"' % MARK, arguments(script))
    else:
        yield from stamped(_TEXT, script.deltas)
    yield False, _END


def whole() -> bytes:
    """The JSON answer: two tool calls."""
    calls = [{"functionCall": {"name": name, "args": {"path": "src/main.py"}}} for name in _NAMES]
    return json.dumps(_answer(calls, "STOP"), indent=2).encode()


def _event(parts: list[dict[str, object]], finish: str | None = None) -> bytes:
    return b"data: " + json.dumps(_answer(parts, finish), separators=(",", ":")).encode() + b"\r\n\r\n"


def _answer(parts: object, finish: str | None) -> dict[str, object]:
    candidate: dict[str, object] = {"content": {"parts": parts, "role": "model"}, "index": 0}
    candidate |= {"finishReason": finish} if finish else {}
    return {
        "candidates": [candidate],
        "usageMetadata": _USAGE,
        "modelVersion": "scripted",
        "responseId": "bench",
    }


_TEXT = _event([{"text": " word MARK"}])
_CALLS = tuple(_event([{"functionCall": {"name": name, "args": "MARK"}}]) for name in _NAMES)
_END = _event([{"text": ""}], "STOP")
