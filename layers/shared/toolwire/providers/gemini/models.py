"""What differs between families of Gemini models, as data. A row is a family; the first row whose pattern matches
counts."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

#: Reasoning efforts of the doors, rising -> (level of Gemini 3, budget of Gemini 2.5 in tokens). The budgets are those
#: of Google's own OpenAI-compatible endpoint; the last two ask for the most there is.
_EFFORTS = {
    "none": ("MINIMAL", 0),
    "minimal": ("MINIMAL", 1024),
    "low": ("LOW", 1024),
    "medium": ("MEDIUM", 8192),
    "high": ("HIGH", 24576),
    "xhigh": ("HIGH", 32768),
    "max": ("HIGH", 32768),
}
_LEVELS = ("MINIMAL", "LOW", "MEDIUM", "HIGH")


@dataclass(frozen=True, slots=True)
class Family:
    """`pattern` is a regular expression for the beginning of the model's name, after any path.

    `levels`: the thinking levels it takes, rising. `budget`: the least and most thinking in tokens, for families that
    take a budget; `can_stop_thinking`: whether it also takes 0. A family with neither does not think.
    """

    pattern: str
    levels: tuple[str, ...] = ()
    budget: tuple[int, int] | None = None
    can_stop_thinking: bool = True
    #: Whether it refuses a call of the current turn without its thought signature.
    wants_signatures: bool = False
    #: Whether a function response may hold images and documents.
    files_in_results: bool = False
    #: Whether an answer may be asked for as JSON beside tools.
    json_with_tools: bool = True
    #: Whether it fetches public files by their https address.
    reads_urls: bool = True
    #: Whether it continues a last turn of the model's. Newer families refuse requests that end so.
    prefill: bool = True
    #: Whether it takes `frequencyPenalty` and `presencePenalty`.
    penalties: bool = True


_GEMINI_3 = Family(r"gemini-3(\.1)?-", levels=_LEVELS, wants_signatures=True, files_in_results=True)
_NEWER = replace(_GEMINI_3, levels=_LEVELS[1:], prefill=False)

FAMILIES = (
    Family(r"gemini-(1\.|2\.0)", json_with_tools=False, reads_urls=False),
    Family(r"gemini-2\.5-pro", budget=(128, 32768), can_stop_thinking=False, json_with_tools=False),
    Family(r"gemini-2\.5-flash-lite", budget=(512, 24576), json_with_tools=False),
    Family(r"gemini-2\.5", budget=(1, 24576), json_with_tools=False),
    replace(_GEMINI_3, pattern=r"gemini-3-pro", levels=("LOW", "HIGH")),
    replace(_GEMINI_3, pattern=r"gemini-3\.1-pro", levels=_LEVELS[1:]),
    _GEMINI_3,
    replace(_NEWER, pattern=r"gemini-3\.[2-6]-flash", levels=_LEVELS),
    replace(_NEWER, pattern=r"gemini-3|gemini-pro"),
    # Gemini 4 and what will follow, and names like gemini-flash-latest, which lead to the newest.
    replace(_NEWER, pattern=r"gemini", penalties=False),
    Family(r""),  # Gemma, and tuned models, whose names do not say what they are
)


def family_of(model: str) -> Family:
    """The row of a model; the last one is for all others."""
    name = model.rpartition("/")[2]
    return next(family for family in FAMILIES if re.match(family.pattern, name))


def thinking(family: Family, effort: str) -> tuple[dict[str, object] | None, bool]:
    """The `thinkingConfig` for an effort (None: no such member), and whether it is exactly the effort that was asked
    for."""
    level, tokens = _EFFORTS[effort]
    shown = effort != "none"
    if family.levels:
        nearest = next((known for known in family.levels if _LEVELS.index(known) >= _LEVELS.index(level)), "HIGH")
        return {"includeThoughts": shown, "thinkingLevel": nearest}, shown and nearest == level
    if family.budget is None:
        return None, effort == "none"
    least, most = family.budget
    budget = 0 if not shown and family.can_stop_thinking else max(least, min(tokens, most))
    return {"includeThoughts": shown, "thinkingBudget": budget}, shown or family.can_stop_thinking
