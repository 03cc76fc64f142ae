"""Thinking, effort, sampling and the API's version by model family: pure tables."""

from __future__ import annotations

from typing import Any

import pytest

from tests.named_rows import each_row
from toolwire.model.errors import RequestError
from toolwire.model.request import (
    ChatRequest,
    Message,
    Part,
    ReasoningPart,
    RequestOptions,
    Sampling,
    TextPart,
    Tool,
    ToolCallPart,
    ToolChoice,
    ToolResultPart,
)
from toolwire.providers.anthropic_messages.models import FAMILIES, family_of
from toolwire.providers.anthropic_messages.thinking_and_sampling import SAMPLING_VERSION, VERSION, Settings, settle

USER = Message("user", (TextPart("hi"),))
CALL = ToolCallPart("c1", "f", "{}")
RESULT = Message("tool", (ToolResultPart("c1", (TextPart("ok"),)),))
ADAPTIVE = {"type": "adaptive", "display": "summarized"}
OFF = {"type": "disabled"}
BETWEEN = {"type": "between_tools"}
CLASSIC, OPUS_46, OPUS_47, OPUS_48 = (
    "claude-sonnet-4-5-20250929",
    "claude-opus-4-6",
    "claude-opus-4-7",
    "claude-opus-4-8",
)
SONNET_5, OPUS_5, FABLE_5, SONNET_55, OPUS_55 = (
    "claude-sonnet-5", "claude-opus-5", "claude-fable-5", "claude-sonnet-5-5", "claude-opus-5-5",
)  # fmt: skip
HAIKU_55 = "claude-haiku-5-5"
#: The pattern of those that always think and take no forced choice.
ALWAYS = r"opus-5[-.]5|(fable|mythos)-5[-.][1-9](?!\d)"


def settled(model: str, *turn: Part, choice: str | None = None, **fields: Any) -> Settings:
    """The settings for a request whose history holds, behind the user's message, this turn and its result."""
    history = (USER, Message("assistant", turn), RESULT) if turn else (USER,)
    tool_choice = ToolChoice(choice) if choice is not None else None  # type: ignore[arg-type]
    request = ChatRequest("m", history, (Tool("f"),), tool_choice, **fields)
    return settle(request, family_of(model))


@each_row(
    ("model", "pattern", "max_tokens"),
    [
        ("claude-3-haiku-20240307", "claude-(3|2|instant)", 4_096),
        ("claude-3-5-sonnet-20241022", "claude-3[-.]5", 8_192),
        ("claude-3-7-sonnet-latest", "sonnet-4|4-sonnet|3[-.]7-sonnet", 64_000),
        ("claude-opus-4-20250514", "opus-4|4-opus", 32_000),
        ("claude-4-opus-20250514", "opus-4|4-opus", 32_000),
        ("anthropic.claude-opus-4-1-20250805-v1:0", "opus-4[-.]1", 32_000),
        ("claude-sonnet-4@20250514", "sonnet-4|4-sonnet|3[-.]7-sonnet", 64_000),
        (CLASSIC, "(opus|sonnet|haiku)-4[-.]5", 64_000),
        ("us.anthropic.claude-haiku-4-5-20251001-v1:0", "(opus|sonnet|haiku)-4[-.]5", 64_000),
        (OPUS_46, "opus-4[-.]6", 128_000),
        ("claude-sonnet-4.6", "sonnet-4[-.]6", 128_000),
        (OPUS_47, "opus-4[-.]7", 128_000),
        (OPUS_48, "opus-4[-.]8", 128_000),
        ("claude-opus-5-20260801", "(sonnet|opus|haiku)-5", 128_000),
        ("claude-mythos-5", "(fable|mythos)-5", 128_000),
        ("claude-fable-5-20260610", "(fable|mythos)-5", 128_000),
        ("claude-fable-5-1", ALWAYS, 128_000),
        ("us.anthropic.claude-fable-5-2", ALWAYS, 128_000),
        ("claude-mythos-5.1", ALWAYS, 128_000),
        (SONNET_55, "sonnet-5[-.]5", 128_000),
        (HAIKU_55, "(sonnet|opus|haiku)-5", 128_000),
        ("claude-next-9", "claude", 64_000),
        ("deepseek-chat", "", 8_192),
    ],
)
def test_family(model: str, pattern: str, max_tokens: int) -> None:
    family = family_of(model)
    assert (family.pattern, family.max_tokens) == (pattern, max_tokens)
    assert settled(model).max_tokens == max_tokens
    assert settled(model, max_tokens=100).max_tokens == 100


def test_every_row_is_reached_by_its_own_name() -> None:
    assert [row.pattern for row in FAMILIES].count("") == 1
    assert FAMILIES[-1].pattern == ""


@each_row(
    ("model", "effort", "thinking", "sent", "warnings"),
    [
        ("claude-3-5-haiku-latest", "high", None, None, ["not_supported:reasoning_effort"]),
        ("claude-3-5-haiku-latest", "none", None, None, []),
        (CLASSIC, None, None, None, []),
        (CLASSIC, "none", None, None, []),
        (CLASSIC, "minimal", {"type": "enabled", "budget_tokens": 1024}, None, []),
        (CLASSIC, "high", {"type": "enabled", "budget_tokens": 16384}, None, []),
        (OPUS_46, "max", ADAPTIVE, "max", []),
        (OPUS_46, "xhigh", ADAPTIVE, "high", ["reasoning_effort_changed"]),
        (OPUS_47, "minimal", ADAPTIVE, "low", ["reasoning_effort_changed"]),
        (OPUS_47, "xhigh", ADAPTIVE, "xhigh", []),
        (SONNET_5, None, None, None, []),
        (SONNET_5, "none", OFF, None, []),
        (SONNET_5, "medium", ADAPTIVE, "medium", []),
        (SONNET_55, "none", BETWEEN, None, []),
        (HAIKU_55, "none", OFF, None, []),
        (HAIKU_55, None, None, None, []),
        (HAIKU_55, "max", ADAPTIVE, "max", []),
        (FABLE_5, "none", None, "low", ["reasoning_effort_changed"]),
        (OPUS_55, "high", ADAPTIVE, "high", []),
    ],
)
def test_effort(
    model: str, effort: str | None, thinking: dict[str, Any] | None, sent: str | None, warnings: list[str]
) -> None:
    settings = settled(model, reasoning_effort=effort)
    assert (settings.thinking, settings.effort, list(settings.warnings)) == (thinking, sent, warnings)


@pytest.mark.parametrize(
    ("max_tokens", "budget"),
    [(40_000, 16_384), (10_000, 5_000), (1_500, 1_024), (1_025, 1_024), (1_024, None), (1, None)],
)
def test_the_budget_is_below_the_output_limit(max_tokens: int, budget: int | None) -> None:
    settings = settled(CLASSIC, reasoning_effort="high", max_tokens=max_tokens)
    assert settings.thinking == ({"type": "enabled", "budget_tokens": budget} if budget else None)
    assert settings.warnings == ([] if budget else ["reasoning_turned_off"])


@pytest.mark.parametrize(
    ("model", "effort", "thinking"),
    [
        (CLASSIC, "high", None),
        (OPUS_46, "high", None),
        (OPUS_47, "high", None),
        (OPUS_48, "high", ADAPTIVE),
        (SONNET_5, None, None),
        (SONNET_5, "high", ADAPTIVE),
        (HAIKU_55, None, None),
        (FABLE_5, "high", ADAPTIVE),
    ],
)
def test_a_forced_choice_wins_where_the_pair_is_refused(model: str, effort: str | None, thinking: Any) -> None:
    settings = settled(model, choice="required", reasoning_effort=effort)
    off = effort is not None and thinking is None
    assert (settings.thinking, list(settings.warnings)) == (thinking, ["reasoning_turned_off"] if off else [])
    assert settled(model, choice="auto", reasoning_effort="high").thinks


@each_row("model", [OPUS_55, SONNET_55, "claude-fable-5-1", "claude-fable-5-2", "claude-mythos-5-1"])
@each_row("effort", [None, "none", "high"])
def test_a_forced_choice_that_no_model_of_a_family_takes(model: str, effort: str | None) -> None:
    with pytest.raises(RequestError, match="cannot be forced") as refused:
        settled(model, choice="required", reasoning_effort=effort)
    assert (refused.value.code, refused.value.param) == ("tool_choice_conflicts_with_reasoning", "tool_choice")

    lossy = settled(model, choice="required", reasoning_effort=effort, options=RequestOptions(schema_mode="lossy"))
    assert lossy.frees_choice
    assert next(iter(lossy.warnings)) == "tool_choice_changed"
    assert lossy.thinking == settled(model, choice="auto", reasoning_effort=effort).thinking
    assert settled(model, choice="none", reasoning_effort="high").thinks


@each_row(
    ("model", "effort", "thinking", "turned_off"),
    [
        (CLASSIC, "high", None, True),
        (CLASSIC, None, None, False),
        (OPUS_47, "high", ADAPTIVE, False),  # adaptive thinking may have skipped the turn
        (SONNET_5, None, None, False),
        (SONNET_5, "none", OFF, False),
        (OPUS_5, "high", ADAPTIVE, False),
        (SONNET_55, None, None, False),
        (FABLE_5, None, None, False),  # it cannot be turned off
        (FABLE_5, "high", ADAPTIVE, False),
    ],
)
def test_a_tool_loop_without_its_thinking(model: str, effort: str | None, thinking: Any, turned_off: bool) -> None:
    for turn in ((CALL,), (TextPart("Let me see."), CALL), (ReasoningPart("Hm."), CALL)):
        settings = settled(model, *turn, reasoning_effort=effort)
        assert (settings.thinking, "reasoning_turned_off" in settings.warnings) == (thinking, turned_off)
    signed = settled(model, ReasoningPart("Hm.", "EqQB"), CALL, reasoning_effort="high")
    assert signed.thinks


def test_only_the_last_turn_counts() -> None:
    done = Message("assistant", (TextPart("Done."),))
    request = ChatRequest("m", (USER, Message("assistant", (CALL,)), RESULT, done, USER), reasoning_effort="high")
    assert settle(request, family_of(CLASSIC)).thinks


@each_row(
    ("model", "given", "sent", "warnings"),
    [
        (CLASSIC, {}, {}, []),
        (CLASSIC, {"temperature": 0.5}, {"temperature": 0.5}, []),
        (CLASSIC, {"temperature": 1.7}, {"temperature": 1}, ["temperature_clamped"]),
        (CLASSIC, {"temperature": 0.0, "top_p": 0.5, "top_k": 3}, {"temperature": 0.0, "top_k": 3}, ["top_p"]),
        (CLASSIC, {"temperature": 1.0, "top_p": 0.5}, {"top_p": 0.5}, []),
        (CLASSIC, {"temperature": 0.5, "top_p": 1.0}, {"temperature": 0.5}, []),
        (CLASSIC, {"top_k": 1}, {"top_k": 1}, []),
        (OPUS_46, {"top_p": 0.5}, {"top_p": 0.5}, []),
        (OPUS_47, {"temperature": 0.5, "top_p": 0.5, "top_k": 3}, {}, ["temperature", "top_p", "top_k"]),
        (OPUS_47, {"temperature": 1.0, "top_p": 1.0}, {}, []),
        (SONNET_5, {"temperature": 0.0}, {}, ["temperature"]),
        (CLASSIC, {"seed": 1, "frequency_penalty": 0.5, "presence_penalty": 1.0}, {},
         ["seed", "frequency_penalty", "presence_penalty"]),
        (CLASSIC, {"frequency_penalty": 0.0, "presence_penalty": 0.0, "seed": 0}, {}, ["seed"]),
    ],
)  # fmt: skip
def test_sampling(model: str, given: dict[str, Any], sent: dict[str, Any], warnings: list[str]) -> None:
    settings = settled(model, sampling=Sampling(**given))
    assert (settings.sampling, settings.version) == (sent, SAMPLING_VERSION if sent else VERSION)
    assert [warning.removeprefix("not_supported:") for warning in settings.warnings] == warnings


def test_thinking_takes_no_sampling() -> None:
    settings = settled(CLASSIC, reasoning_effort="low", sampling=Sampling(temperature=0.3))
    assert (settings.thinks, settings.sampling, settings.version) == (True, {}, VERSION)
    assert settings.warnings == ["not_supported:temperature"]
