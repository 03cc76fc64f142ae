"""Scripted answers of Anthropic Messages."""

from __future__ import annotations

import json
from collections.abc import Iterator

from bench.script import Script, stamped

_USAGE = {"input_tokens": 20, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 40}
_MESSAGE: dict[str, object] = {
    "id": "msg_bench",
    "type": "message",
    "role": "assistant",
    "model": "scripted",
    "stop_sequence": None,
}
_CALLS = (("toolu_BenchReadFile0001", "read_file"), ("toolu_BenchListFiles001", "list_files"))


def events(script: Script) -> Iterator[tuple[bool, bytes]]:
    """The stream's SSE events, each with whether it is a delta (to be paced)."""
    yield False, _START
    if script.kind == "tools":
        for number in range(len(_CALLS)):
            yield False, _CALL_STARTS[number]
            yield from stamped(_ARGUMENTS[number], script.deltas, start=b'{\\"path\\":\\"', end=b'\\"}')
            yield False, _STOPS[number]
    else:
        yield False, _TEXT_START
        yield from stamped(_TEXT, script.deltas)
        yield False, _STOPS[0]
    yield False, _END["tool_use" if script.kind == "tools" else "end_turn"]


def whole() -> bytes:
    """The JSON answer: two tool calls."""
    content = [{"type": "tool_use", "id": id, "name": name, "input": {"path": "src/main.py"}} for id, name in _CALLS]
    answer = _MESSAGE | {"content": content, "stop_reason": "tool_use", "usage": _USAGE}
    return json.dumps(answer, separators=(",", ":")).encode()


def _event(kind: str, **members: object) -> bytes:
    data = json.dumps({"type": kind, **members}, separators=(",", ":"))
    return f"event: {kind}\ndata: {data}\n\n".encode()


_START = _event(
    "message_start", message=_MESSAGE | {"content": [], "stop_reason": None, "usage": _USAGE | {"output_tokens": 1}}
)
_TEXT_START = _event("content_block_start", index=0, content_block={"type": "text", "text": ""}) + _event("ping")
_TEXT = _event("content_block_delta", index=0, delta={"type": "text_delta", "text": " word MARK"})
_CALL_STARTS = tuple(
    _event("content_block_start", index=number, content_block={"type": "tool_use", "id": id, "name": name, "input": {}})
    for number, (id, name) in enumerate(_CALLS)
)
_ARGUMENTS = tuple(
    _event("content_block_delta", index=number, delta={"type": "input_json_delta", "partial_json": "MARK"})
    for number in range(len(_CALLS))
)
_STOPS = tuple(_event("content_block_stop", index=number) for number in range(len(_CALLS)))
_END = {
    reason: _event("message_delta", delta={"stop_reason": reason, "stop_sequence": None}, usage=_USAGE)
    + _event("message_stop")
    for reason in ("tool_use", "end_turn")
}
