"""What the upstream is told to answer: a script in the user's message.

A script is text, so it passes through any gateway unchanged: `bench/tools/100/3` is two parallel tool calls of 100
argument deltas each, 3 ms apart. How it is answered is in a module for each wire: `openai_chat`, and so on. Every
delta carries `@N@`, the CLOCK_MONOTONIC time in nanoseconds at which the upstream wrote it; that clock is the same for
every process of one machine.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass

#: Where a delta stands in a frame.
MARK = b"MARK"
STAMP = re.compile(rb"@(\d+)@")

_PARAMETERS = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}

_SCRIPT = re.compile(rb"bench/(text|bare|tools)/(\d+)/(\d+)")


@dataclass(frozen=True, slots=True)
class Script:
    """An answer. Kinds: "text"; "bare" is text in Chat chunks without `object` and `created`, as some hosts send them,
    which a gateway has to write anew; "tools" is two parallel tool calls."""

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

    def messages_request(self, model: str, *, stream: bool = True) -> bytes:
        """The same as a request of Anthropic's Messages API."""
        content = f"bench/{self.kind}/{self.deltas}/{self.pause_ms}"
        body: dict[str, object] = {"model": model, "max_tokens": 4096}
        body["messages"] = [{"role": "user", "content": content}]
        if self.kind == "tools":
            body["tools"] = [
                {"name": name, "description": "Files.", "input_schema": _PARAMETERS}
                for name in ("read_file", "list_files")
            ]
        if stream:
            body["stream"] = True
        return json.dumps(body).encode()


def read_script(body: bytes) -> Script:
    """The script in a request's body. Raises ValueError if there is none."""
    found = _SCRIPT.search(body)
    if found is None:
        raise ValueError("the request has no script")
    return Script(found[1].decode(), int(found[2]), int(found[3]))


def _tool(name: str) -> dict[str, object]:
    return {"type": "function", "function": {"name": name, "description": "Files.", "parameters": _PARAMETERS}}


def arguments(script: Script) -> bytes:
    """A call's whole arguments, with as many stamps as it has deltas."""
    stamps = b"".join(b"@%d@" % time.monotonic_ns() for _ in range(script.deltas))
    return b'{"path":"%b"}' % stamps


def stamped(frame: bytes, count: int, start: bytes = b"", end: bytes = b"") -> Iterator[tuple[bool, bytes]]:
    """Events of one delta each, with whether they are paced. `frame` holds MARK where the delta stands; the first delta
    is opened and the last one closed with more text."""
    before, _, after = frame.partition(MARK)
    for number in range(count):
        opening = start if number == 0 else b""
        closing = end if number == count - 1 else b""
        yield True, b"%b%b@%d@%b%b" % (before, opening, time.monotonic_ns(), closing, after)
