"""Families of Gemini models, and reasoning efforts in their words."""

from __future__ import annotations

from typing import Any

from tests.named_rows import each_row
from tests.providers.gemini.gemini_upstream import sent
from toolwire.providers.gemini.models import family_of

LOST = ["not_supported:reasoning_effort"]


def level(word: str, *, shown: bool = True) -> dict[str, Any]:
    return {"includeThoughts": shown, "thinkingLevel": word}


def budget(tokens: int, *, shown: bool = True) -> dict[str, Any]:
    return {"includeThoughts": shown, "thinkingBudget": tokens}


EFFORTS: list[tuple[str, str, Any, list[str]]] = [
    ("gemini-3-flash", "none", level("MINIMAL", shown=False), LOST),
    ("gemini-3-flash", "minimal", level("MINIMAL"), []),
    ("gemini-3-flash", "medium", level("MEDIUM"), []),
    ("gemini-3-flash", "xhigh", level("HIGH"), []),
    ("gemini-3-pro-preview", "minimal", level("LOW"), LOST),
    ("gemini-3-pro-preview", "medium", level("HIGH"), LOST),
    ("gemini-3.1-pro-preview", "medium", level("MEDIUM"), []),
    ("gemini-3.5-flash", "minimal", level("MINIMAL"), []),
    ("gemini-3.6-flash", "none", level("MINIMAL", shown=False), LOST),
    ("gemini-3.7-flash", "minimal", level("LOW"), LOST),
    ("gemini-3.8-flash", "none", level("LOW", shown=False), LOST),
    ("gemini-flash-latest", "minimal", level("LOW"), LOST),
    ("gemini-4-neon", "minimal", level("LOW"), LOST),
    ("gemini-4-argon", "none", level("LOW", shown=False), LOST),
    ("gemini-4-argon", "minimal", level("LOW"), LOST),
    ("gemini-4-argon-cyber-permissive", "medium", level("MEDIUM"), []),
    ("gemini-3.1-flash-lite", "minimal", level("MINIMAL"), []),
    ("gemini-3.5-pro", "minimal", level("LOW"), LOST),
    ("gemini-pro-latest", "low", level("LOW"), []),
    ("models/gemini-2.5-flash", "none", budget(0, shown=False), []),
    ("gemini-2.5-flash", "medium", budget(8192), []),
    ("gemini-2.5-flash", "max", budget(24576), []),
    ("gemini-2.5-pro", "none", budget(128, shown=False), LOST),
    ("gemini-2.5-pro", "max", budget(32768), []),
    ("gemini-2.0-flash", "low", None, LOST),
    ("gemma-3-27b-it", "none", None, []),
]


@each_row(("model", "effort", "config", "warned"), EFFORTS)
def test_reasoning_effort(model: str, effort: str, config: Any, warned: list[str]) -> None:
    body = sent(model, reasoning_effort=effort, warned=warned)
    assert body.get("generationConfig") == (config and {"thinkingConfig": config})


def test_thinking_is_the_models_own_choice_unless_asked_for() -> None:
    assert "generationConfig" not in sent("gemini-3-flash")


@each_row(
    ("model", "wants"),
    [
        ("gemini-1.5-pro", False),
        ("gemini-2.0-flash", False),
        ("gemini-2.5-flash-lite", False),
        ("gemini-3-flash-preview", True),
        ("gemini-3.5-flash", True),
        ("gemini-4-argon", True),
        ("gemini-10-ultra", True),
        ("gemini-flash-latest", True),
        ("publishers/google/models/gemini-3-pro", True),
        ("gemma-3", False),
        ("my-own", False),
    ],
)
def test_which_models_want_signatures(model: str, wants: bool) -> None:
    assert family_of(model).wants_signatures is wants
    assert family_of(model).files_in_results is wants


@each_row(("model", "taken"), [("gemini-2.5-flash", True), ("gemini-3.8-flash", True), ("gemini-4-neon", False)])
def test_penalties_do_not_reach_models_that_refuse_them(model: str, taken: bool) -> None:
    given = {"frequency_penalty": 0.5, "presence_penalty": 0.5}
    warned = [] if taken else [f"not_supported:{name}" for name in given]
    config = sent(model, temperature=0.5, **given, warned=warned)["generationConfig"]
    assert config == {"temperature": 0.5, **({"presencePenalty": 0.5, "frequencyPenalty": 0.5} if taken else {})}
    sent(model, frequency_penalty=0, warned=[])
