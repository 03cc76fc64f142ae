"""How a host of the toy wire writes the scenarios of the matrix, with nothing of what reads them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.matrix.reply import Reply, encoded, failed, whole
from tests.matrix.scenarios import Scenario, Text

_WORDS = {"tool_calls": "calls", "length": "full", "content_filter": "hush", "stop": "done"}


def write(scenario: Scenario, stream: bool) -> Reply:
    """The answer."""
    if scenario.failure == "refused":
        return failed(429, ["trouble", "Slow down."])
    words = list(_words(scenario))
    if not stream:
        if scenario.failure == "error":
            return failed(503, ["trouble", "Overloaded."])
        return whole(scenario, encoded(words))
    if scenario.failure == "error":
        words.append(["trouble", "Overloaded."])
    body = b"".join(b"%d:%b," % (len(text), text) for text in map(encoded, words))
    return Reply(200, "application/x-netstrings", body[:-3] if scenario.failure == "cut" else body)


def _words(scenario: Scenario) -> Iterator[list[Any]]:
    yield ["begin", "toy-1"]
    for number, part in enumerate(scenario.parts):
        if isinstance(part, Text):
            yield from (["text", piece] for piece in part.pieces)
        else:
            yield ["call", f"c{number}", getattr(part, "name", "")]
            yield from (["piece", piece] for piece in part.pieces)
    if scenario.failure is None:
        usage = scenario.usage
        yield ["end", _WORDS[scenario.finish], [usage.input, usage.output, usage.cached, 0, usage.reasoning]]
