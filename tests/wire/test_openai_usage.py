"""Token counts under the names of either of OpenAI's APIs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from toolwire.wire import openai_chat, openai_responses
from toolwire.wire.openai_usage import Counts, read_counts

CHAT, RESPONSES = openai_chat.USAGE_COUNTS, openai_responses.USAGE_COUNTS
CHAT_USAGE = {
    "prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 2},
    "completion_tokens": 5, "completion_tokens_details": {"reasoning_tokens": 3}, "total_tokens": 14,
}  # fmt: skip
RESPONSES_USAGE = {
    "input_tokens": 9, "input_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 2},
    "output_tokens": 5, "output_tokens_details": {"reasoning_tokens": 3}, "total_tokens": 14,
}  # fmt: skip


@pytest.mark.parametrize(
    ("usage", "names", "exact"),
    [(CHAT_USAGE, CHAT, True), (RESPONSES_USAGE, RESPONSES, True), (CHAT_USAGE, RESPONSES, False),
     (RESPONSES_USAGE, CHAT, False)],
)  # fmt: skip
def test_counts_under_either_apis_names(usage: dict[str, Any], names: tuple[str, ...], exact: bool) -> None:
    assert read_counts(json.dumps(usage).encode(), names) == Counts(9, 5, 4, 2, 3, 14, exact)


@pytest.mark.parametrize("usage", [b"", b"[]", b"5", b"{", b'"x"', b"\xff", b"null", b"[" * 100_000])
def test_what_is_no_object_has_no_counts(usage: bytes) -> None:
    assert read_counts(usage, CHAT) == Counts()


@pytest.mark.parametrize("odd", [None, True, -1, [], {}, "x", "1.5", 1 << 60])
def test_an_odd_count_costs_no_other(odd: Any) -> None:
    usage = json.dumps({**CHAT_USAGE, "completion_tokens": odd}).encode()
    counts = read_counts(usage, CHAT)
    assert (counts.given, counts.output, counts.cached) == (9, 0, 4)
