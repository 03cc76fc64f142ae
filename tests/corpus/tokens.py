"""The token counts that a recording's answer must be shown with: those that the judge reads, but for one kind of host.

xAI leaves the reasoning out of `completion_tokens` and counts it in the total. OpenAI's and Anthropic's output counts
include it, and so do all doors here.
"""

from __future__ import annotations

import re
from typing import Any

_COUNTS = rb'"(prompt_tokens|completion_tokens|reasoning_tokens|total_tokens)"\s*:\s*(\d+)'


def expected_usage(played: Any) -> tuple[int, int] | None:
    """Input and output tokens; None if the recording has none."""
    given: tuple[int, int] | None = played.turn.usage
    counts = {name.decode(): int(count) for name, count in re.findall(_COUNTS, played.body)}
    reasoning = counts.get("reasoning_tokens", 0)
    if given is None or not reasoning or counts.get("total_tokens") != sum(given) + reasoning:
        return given
    return given[0], given[1] + reasoning
