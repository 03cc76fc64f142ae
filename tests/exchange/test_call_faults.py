"""How fit the calls of an answer are, counted for the log and the metrics."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from tests.corpus.driver import answer, open_exchange
from tests.named_rows import each_row

TOOL = {
    "type": "function",
    "function": {"name": "f", "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}}},
}
GOOD, UNKNOWN = ("f", '{"n":1}'), ("g", "{}")
MALFORMED, INVALID = ("f", '{"n":'), ("f", '{"n":"x"}')

ROWS: dict[str, tuple[list[tuple[str, str]], str, dict[str, int], dict[str, int]]] = {
    # calls, finish reason, what is counted with validation, and without
    "good": ([GOOD, GOOD], "tool_calls", {}, {}),
    "unknown": ([GOOD, UNKNOWN], "tool_calls", {"unknown_tool_call": 1}, {}),
    "malformed": ([MALFORMED], "tool_calls", {"malformed_tool_arguments": 1}, {"malformed_tool_arguments": 1}),
    "invalid": ([INVALID, GOOD, INVALID], "tool_calls", {"invalid_tool_arguments": 2}, {}),
    "each": (
        [UNKNOWN, INVALID, MALFORMED],
        "tool_calls",
        {"unknown_tool_call": 1, "invalid_tool_arguments": 1, "malformed_tool_arguments": 1},
        {"malformed_tool_arguments": 1},
    ),
    "ended as a text": ([GOOD], "stop", {"finish_mismatch": 1}, {"finish_mismatch": 1}),
    "no call after all": ([], "tool_calls", {"finish_mismatch": 1}, {"finish_mismatch": 1}),
    "a text": ([], "stop", {}, {}),
}


@each_row("mode", ["annotate", "off", "reject"])
@each_row("row", ROWS)
def test_what_is_counted(row: str, mode: str) -> None:
    calls, finish, with_validation, without = ROWS[row]
    counted = with_validation if mode != "off" else without
    if mode == "reject" and sum(counted.values()) > 1:  # it ends with the first
        counted = {next(iter(counted)): 1}
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "x"}], "tools": [TOOL]}).encode()
    exchange = open_exchange(body, headers={"x-toolwire-validate-tool-arguments": mode})
    made = [
        {"id": f"call_{n}", "type": "function", "function": {"name": name, "arguments": text}}
        for n, (name, text) in enumerate(calls)
    ]
    message: dict[str, Any] = {"role": "assistant", "content": None if made else "hi"}
    choice = {"index": 0, "message": message | ({"tool_calls": made} if made else {}), "finish_reason": finish}
    upstream = {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    answer(exchange, [json.dumps(upstream).encode()], content_type="application/json")
    assert +exchange.figures.call_faults == Counter(counted)
