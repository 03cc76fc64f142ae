"""Usage of Chat Completions hosts as the neutral model counts it."""

from __future__ import annotations

import msgspec

from toolwire.model.events import StreamEvent, Usage, UsageUpdate
from toolwire.model.source import Source, with_source
from toolwire.wire import openai_chat as wire
from toolwire.wire.json import ABSENT, is_null, is_set, raw_members, unnamed, whole_characters
from toolwire.wire.openai_usage import read_counts


def read_usage(raw: msgspec.Raw) -> Usage:
    """The usage as the neutral model counts it: the input includes cached tokens, the output includes reasoning. xAI
    leaves the reasoning out of completion_tokens and adds it to the total, so it is added back. xAI on Azure counts
    more cached tokens than the prompt has, so they are limited to the prompt. The host's own bytes are kept if their
    total is the sum."""
    data = bytes(raw)
    counts = read_counts(data, wire.USAGE_COUNTS)
    output, added = counts.output, counts.given + counts.output
    if counts.reasoning and counts.reported == added + counts.reasoning:
        output += counts.reasoning
    neutral = Usage(
        input_tokens=counts.given,
        output_tokens=output,
        cache_read_tokens=min(counts.given, counts.cached),
        cache_write_tokens=counts.written,
        reasoning_tokens=counts.reasoning,
        extra=unnamed(data, wire.KNOWN_USAGE) if data[:1] == b"{" else (),
        reported_total=None if counts.reported == added else counts.reported,
    )
    if counts.exact and counts.reported == added:
        with_source(neutral, Source(wire.DIALECT, data))
    return neutral


class UsageSoFar:
    """The usage of one answer. Usage at another place than the API's counts only if the host sends none there."""

    def __init__(self) -> None:
        self._told: Usage | None = None
        self._elsewhere: Usage | None = None

    @property
    def is_exact(self) -> bool:
        """Whether a client may see the host's own bytes of the usage."""
        return self._told is not None and self._told.source is not None

    def take(self, chunk: wire.Chunk, events: list[StreamEvent]) -> bool:
        """Notes the usage of a chunk or a whole answer. Returns whether it stands where the API has it."""
        if not is_set(chunk.usage):
            self._elsewhere = _elsewhere(chunk) or self._elsewhere
            return False
        self._told = read_usage(chunk.usage)
        events.append(UsageUpdate(self._told))
        return True

    def at_the_end(self, events: list[StreamEvent]) -> Usage | None:
        if self._told is None and self._elsewhere is not None:
            events.append(UsageUpdate(self._elsewhere))
        return self._told or self._elsewhere


def _elsewhere(chunk: wire.Chunk) -> Usage | None:
    """The usage in another place: Moonshot's in the choice, Groq's in a member of its own."""
    for choice in chunk.choices or ():
        if is_set(choice.usage):
            return read_usage(choice.usage)
    if chunk.x_groq is ABSENT or bytes(chunk.x_groq)[:1] != b"{":
        return None
    told = raw_members(whole_characters(bytes(chunk.x_groq))).get("usage", ABSENT)
    return None if is_null(told) else read_usage(told)
