"""The wires that the upstream speaks, and what the gateway needs to reach it by each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from bench import anthropic_messages, gemini, openai_chat
from bench.script import Script


@dataclass(frozen=True, slots=True)
class Wire:
    """`name` is the gateway's word for it, `path` what the base URL has behind the upstream's address, and `asked` what
    the path of every request has in it. `events` and `whole` write the answer."""

    name: str
    path: str
    asked: bytes
    model: str
    events: Callable[[Script], Iterator[tuple[bool, bytes]]]
    whole: Callable[[], bytes]
    #: The kinds of streams that would measure nothing: it has no such chunks, or sends calls whole.
    without: frozenset[str] = frozenset()


#: Provider -> its wire. The first is what the client speaks too.
WIRES = {
    "bench": Wire("openai_chat", "/v1", b"/chat/completions", "scripted", openai_chat.events, openai_chat.whole),
    "bench-anthropic": Wire(
        "anthropic_messages",
        "",
        b"/v1/messages",
        "claude-scripted",
        anthropic_messages.events,
        anthropic_messages.whole,
        frozenset({"bare"}),
    ),
    "bench-gemini": Wire(
        "gemini",
        "/v1beta",
        b"enerateContent",
        "gemini-scripted",
        gemini.events,
        gemini.whole,
        frozenset({"bare", "tools"}),
    ),
}


def wire_at(path: bytes) -> Wire:
    """The wire of a request's path. Raises ValueError for a path of none."""
    for wire in WIRES.values():
        if wire.asked in path:
            return wire
    raise ValueError("no wire has this path")
