"""Writes usage for Chat Completions and the native API."""

from __future__ import annotations

from toolwire.model.events import Usage
from toolwire.wire.json import dump


def chat_usage(usage: Usage | None) -> bytes:
    """The usage object. Absent counts are zeros."""
    usage = usage or Usage()
    return dump(
        {
            "prompt_tokens": usage.input_tokens,
            "completion_tokens": usage.output_tokens,
            "total_tokens": usage.total_tokens,
            "prompt_tokens_details": {
                "cached_tokens": usage.cache_read_tokens,
                "cache_write_tokens": usage.cache_write_tokens,
            },
            "completion_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
        }
    )
