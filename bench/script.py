"""What the upstream is told to answer, and what it answers: Chat Completions, scripted by the user's message.

A script is text in the user's message, so it passes through any gateway unchanged: `bench/tools/100/3` is two parallel
tool calls of 100 argument deltas each, 3 ms apart. Every delta carries `@N@`, the CLOCK_MONOTONIC time in nanoseconds
at which the upstream wrote it; that clock is the same for every process of one machine.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass

STAMP = re.compile(rb"@(\d+)@")

_SCRIPT = re.compile(rb"bench/(text|bare|tools)/(\d+)/(\d+)")


@dataclass(frozen=True, slots=True)
class Script:
    """An answer. Kinds: "text"; "bare" is text in chunks without `object` and `created`, as some hosts send them, which
    a gateway has to write anew; "tools" is two parallel tool calls."""

    kind: str
    #: Deltas of the text, or of each call's arguments.
    deltas: int = 10
    pause_ms: int = 0

    @property
    def stamps(self) -> int:
        """How many deltas the client must see."""
        return self.deltas * (2 if self.kind == "tools" else 1)

    def request(self, model: str, *, stream: bool = True) -> bytes:
        """The body of a request for this answer."""
        content = f"bench/{self.kind}/{self.deltas}/{self.pause_ms}"
        body: dict[str, object] = {"model": model, "messages": [{"role": "user", "content": content}]}
        if self.kind == "tools":
            body["tools"] = [_tool("read_file"), _tool("list_files")]
        if stream:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        return json.dumps(body).encode()


def read_script(body: bytes) -> Script:
    """The script in a request's body. Raises ValueError if there is none."""
    found = _SCRIPT.search(body)
    if found is None:
        raise ValueError("the request has no script")
    return Script(found[1].decode(), int(found[2]), int(found[3]))


def _tool(name: str) -> dict[str, object]:
    parameters = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
    return {"type": "function", "function": {"name": name, "description": "Files.", "parameters": parameters}}


# The answers --------------------------------------------------------------------------------------------------------

_HEAD: dict[str, object] = {
    "id": "chatcmpl-bench",
    "object": "chat.completion.chunk",
    "created": 1700000000,
    "model": "scripted",
}
_BARE_HEAD: dict[str, object] = {"id": "chatcmpl-bench", "model": "scripted"}
_USAGE = {"prompt_tokens": 20, "completion_tokens": 40, "total_tokens": 60}
_CALL_IDS = ("call_BenchReadFile0000000001", "call_BenchListFiles000000002")


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
_ARGUMENTS = tuple(
    _chunk(_HEAD, _call(number, function={"arguments": "MARK"})).partition(b"MARK") for number in range(2)
)
_TEXTS = {
    kind: _chunk(head, {"content": " word MARK"}).partition(b"MARK")
    for kind, head in (("text", _HEAD), ("bare", _BARE_HEAD))
}


def events(script: Script) -> Iterator[tuple[bool, bytes]]:
    """The stream's SSE events, each with whether it is a delta (to be paced)."""
    head = _BARE_HEAD if script.kind == "bare" else _HEAD
    yield False, _chunk(head, {"role": "assistant", "content": ""})
    if script.kind == "tools":
        for number in range(2):
            yield False, _CALL_STARTS[number]
            yield from _stamped(script.deltas, *_ARGUMENTS[number][::2], start=b'{\\"path\\":\\"', end=b'\\"}')
    else:
        before, _, after = _TEXTS[script.kind]
        yield from _stamped(script.deltas, before, after)
    yield False, _chunk(head, {}, "tool_calls" if script.kind == "tools" else "stop")
    yield False, _frame(head | {"choices": [], "usage": _USAGE})
    yield False, b"data: [DONE]\n\n"


def _stamped(
    count: int, before: bytes, after: bytes, start: bytes = b"", end: bytes = b""
) -> Iterator[tuple[bool, bytes]]:
    for number in range(count):
        opening = start if number == 0 else b""
        closing = end if number == count - 1 else b""
        yield True, b"%b%b@%d@%b%b" % (before, opening, time.monotonic_ns(), closing, after)


def whole_answer() -> bytes:
    """The JSON answer: two tool calls."""
    calls = [
        {"id": id, "type": "function", "function": {"name": name, "arguments": '{"path":"src/main.py"}'}}
        for id, name in zip(_CALL_IDS, ("read_file", "list_files"), strict=True)
    ]
    message = {"role": "assistant", "content": None, "refusal": None, "tool_calls": calls}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "tool_calls"}
    answer = _HEAD | {"object": "chat.completion", "choices": [choice], "usage": _USAGE}
    return json.dumps(answer, separators=(",", ":")).encode()
