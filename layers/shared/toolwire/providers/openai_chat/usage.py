"""Usage of Chat Completions hosts as the neutral model counts it."""

from __future__ import annotations

import msgspec

from toolwire.model.events import Usage
from toolwire.model.source import Source, with_source
from toolwire.wire import openai_chat as wire
from toolwire.wire.json import unnamed


def read_usage(raw: msgspec.Raw) -> Usage:
    """Chat usage to neutral: prompt_tokens includes cached, completion_tokens includes reasoning. xAI leaves the
    reasoning out of completion_tokens and adds it to the total: there it is added back. On Azure it
    counts more cached tokens than the prompt has: no more than all of it. The host's own bytes are kept where their
    total is the sum."""
    data = bytes(raw)
    try:
        usage = wire.usage_decoder.decode(data)
        counts = [msgspec.json.decode(data).get(name) for name in wire.USAGE_COUNTS]
    except (msgspec.DecodeError, UnicodeDecodeError, AttributeError, RecursionError):
        return Usage()
    prompt = usage.prompt_tokens_details or wire.TokenDetails()
    completion = usage.completion_tokens_details or wire.TokenDetails()
    given, output = usage.prompt_tokens or 0, usage.completion_tokens or 0
    reasoning = completion.reasoning_tokens or 0
    reported = counts[-1] if type(counts[-1]) is int else None
    is_sum = reported == given + output
    if reasoning and reported == given + output + reasoning:
        output += reasoning
    neutral = Usage(
        input_tokens=given,
        output_tokens=output,
        cache_read_tokens=min(given, prompt.cached_tokens or usage.prompt_cache_hit_tokens or 0),
        cache_write_tokens=prompt.cache_write_tokens or 0,
        reasoning_tokens=reasoning,
        extra=unnamed(data, wire.KNOWN_USAGE),
        reported_total=None if reported == given + output else reported,
    )
    if is_sum and all(type(count) is int for count in counts):
        with_source(neutral, Source(wire.DIALECT, data))
    return neutral
