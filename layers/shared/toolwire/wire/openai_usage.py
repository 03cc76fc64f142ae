"""Reads token counts of hosts of OpenAI's two APIs: under either API's names, and at the places that hosts have added.
A value that is no count becomes 0, so that the others can still be read."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

#: A field of `Counts` -> the places of its count. The first place that has one counts.
_PLACES = {
    "given": ("prompt_tokens", "input_tokens"),
    "output": ("completion_tokens", "output_tokens"),
    "cached": (
        "prompt_tokens_details.cached_tokens",
        "input_tokens_details.cached_tokens",
        "prompt_cache_hit_tokens",  # DeepSeek
        "cached_tokens",  # Moonshot
        "cache_read_input_tokens",  # LiteLLM, Databricks
    ),
    "written": (
        "prompt_tokens_details.cache_write_tokens",
        "input_tokens_details.cache_write_tokens",
        "cache_creation_input_tokens",
    ),
    "reasoning": ("completion_tokens_details.reasoning_tokens", "output_tokens_details.reasoning_tokens"),
}


class Counts(Struct, frozen=True):
    """`given` includes cached tokens; `output` may include the reasoning. `reported`: the host's own total. `exact`:
    the API's own counts are present, as it writes them."""

    given: int = 0
    output: int = 0
    cached: int = 0
    written: int = 0
    reasoning: int = 0
    reported: int | None = None
    exact: bool = False


def read_counts(data: bytes, names: tuple[str, ...]) -> Counts:
    """The counts in a usage object. `names`: the API's own names. A document that is no object has no counts."""
    try:
        usage = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return Counts()
    if not isinstance(usage, dict):
        return Counts()
    told = {field: next(filter(None, (_at(usage, place) for place in places)), 0) for field, places in _PLACES.items()}
    reported = usage.get("total_tokens")
    exact = all(type(usage.get(name)) is int and usage[name] >= 0 for name in names)
    return Counts(**told, reported=reported if type(reported) is int else None, exact=exact)


def _at(usage: dict[str, Any], place: str) -> int:
    outer, _, name = place.rpartition(".")
    found = usage.get(outer) if outer else usage
    return _count(found.get(name)) if isinstance(found, dict) else 0


def _count(value: Any) -> int:
    """A count, which hosts write as floats and strings, too."""
    if isinstance(value, str) and value.isdecimal():
        return int(value)
    return int(value) if type(value) in (int, float) and 0 < value < 1 << 53 else 0
