"""Scripted answers of a Chat Completions host."""

from __future__ import annotations

import json
from collections.abc import Iterator

from bench.script import Script, stamped

_HEAD: dict[str, object] = {
    "id": "chatcmpl-bench",
    "object": "chat.completion.chunk",
    "created": 1700000000,
    "model": "scripted",
}
_BARE_HEAD: dict[str, object] = {"id": "chatcmpl-bench", "model": "scripted"}
_USAGE = {"prompt_tokens": 20, "completion_tokens": 40, "total_tokens": 60}
_CALL_IDS = ("call_BenchReadFile0000000001", "call_BenchListFiles000000002")


def events(script: Script) -> Iterator[tuple[bool, bytes]]:
    """The stream's SSE events, each with whether it is a delta (to be paced)."""
    head = _BARE_HEAD if script.kind == "bare" else _HEAD
    yield False, _chunk(head, {"role": "assistant", "content": ""})
    if script.kind == "tools":
        for number in range(2):
            yield False, _CALL_STARTS[number]
            yield from stamped(_ARGUMENTS[number], script.deltas, start=b'{\\"path\\":\\"', end=b'\\"}')
    else:
        yield from stamped(_TEXTS[script.kind], script.deltas)
    yield False, _chunk(head, {}, "tool_calls" if script.kind == "tools" else "stop")
    yield False, _frame(head | {"choices": [], "usage": _USAGE})
    yield False, b"data: [DONE]\n\n"


def whole() -> bytes:
    """The JSON answer: two tool calls."""
    calls = [
        {"id": id, "type": "function", "function": {"name": name, "arguments": '{"path":"src/main.py"}'}}
        for id, name in zip(_CALL_IDS, ("read_file", "list_files"), strict=True)
    ]
    message = {"role": "assistant", "content": None, "refusal": None, "tool_calls": calls}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "tool_calls"}
    answer = _HEAD | {"object": "chat.completion", "choices": [choice], "usage": _USAGE}
    return json.dumps(answer, separators=(",", ":")).encode()


def _chunk(head: dict[str, object], delta: dict[str, object], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    return _frame(head | {"choices": [choice], "usage": None})


def _frame(value: object) -> bytes:
    return b"data: " + json.dumps(value, separators=(",", ":")).encode() + b"\n\n"


def _call(index: int, **members: object) -> dict[str, object]:
    return {"tool_calls": [{"index": index, **members}]}


_CALL_STARTS = tuple(
    _chunk(_HEAD, _call(number, id=id, type="function", function={"name": name, "arguments": ""}))
    for number, (id, name) in enumerate(zip(_CALL_IDS, ("read_file", "list_files"), strict=True))
)
_ARGUMENTS = tuple(_chunk(_HEAD, _call(number, function={"arguments": "MARK"})) for number in range(2))
_TEXTS = {kind: _chunk(head, {"content": " word MARK"}) for kind, head in (("text", _HEAD), ("bare", _BARE_HEAD))}
