"""The effort that a client of another API asks for, as each model and host knows it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.corpus.driver import open_exchange
from tests.named_rows import each_row
from toolwire.providers.openai_models import EFFORTS, FAMILIES, family_of
from toolwire.providers.profiles import PROFILES

CHANGED, LEFT_OUT = ["reasoning_effort_changed"], ["not_supported:reasoning_effort"]

#: Profile, model, what Claude Code asks -> what is sent, and the warnings.
CASES: list[tuple[str, str, str, str | None, list[str]]] = [
    ("openai", "gpt-4o", "high", None, LEFT_OUT),
    ("openai", "gpt-4o", "none", None, []),
    ("openai", "gpt-4.1-mini", "medium", None, LEFT_OUT),
    ("openai", "gpt-5-chat-latest", "low", None, LEFT_OUT),
    ("openai", "o3", "high", "high", []),
    ("openai", "o4-mini", "max", "high", CHANGED),
    ("openai", "gpt-5", "xhigh", "high", CHANGED),
    ("openai", "gpt-5-mini", "none", "minimal", CHANGED),
    ("openai", "gpt-5-pro", "low", "high", CHANGED),
    ("openai", "gpt-5-codex", "none", "low", CHANGED),
    ("openai", "gpt-5.1", "none", "none", []),
    ("openai", "gpt-5.1-codex", "none", "low", CHANGED),
    ("openai", "gpt-5.1-codex-mini", "max", "high", CHANGED),
    ("openai", "gpt-5.1-codex-max", "max", "xhigh", CHANGED),
    ("openai", "gpt-5.2-chat-latest", "high", "medium", CHANGED),
    ("openai", "gpt-5.3-chat-latest", "none", "medium", CHANGED),
    ("openai", "gpt-5.2", "max", "xhigh", CHANGED),
    ("openai", "gpt-5.2-codex", "none", "low", CHANGED),
    ("openai", "gpt-5.2-pro", "none", "medium", CHANGED),
    ("openai", "gpt-5.2-pro-2025-12-11", "max", "xhigh", CHANGED),
    ("openai", "gpt-5.3-codex", "none", "none", []),
    ("openai", "gpt-5.3-codex-spark", "none", "low", CHANGED),
    ("openai", "gpt-5.4-pro", "low", "medium", CHANGED),
    ("openai", "gpt-5.5-pro", "none", "medium", CHANGED),
    ("openai", "o3-deep-research", "high", "medium", CHANGED),
    ("openai", "gpt-5.5", "max", "xhigh", CHANGED),
    ("openai", "gpt-5.6-sol", "max", "max", []),
    ("openai", "gpt-5.6-luna", "none", "none", []),
    ("openai", "gpt-6-astra", "max", "max", []),
    ("openai", "gpt-6-astra", "none", "low", CHANGED),
    ("openai", "gpt-6.1-sol", "none", "low", CHANGED),
    ("openai", "gpt-6-luna", "none", "none", []),
    ("openai", "gpt-6.1-terra", "none", "none", []),
    ("openai", "gpt-6-sol-2026-09-03", "none", "none", []),
    ("openai", "brand-new", "max", "max", []),
    ("azure", "gpt-4o", "high", None, LEFT_OUT),
    ("compatible", "unheard-of", "high", "high", []),
    ("compatible", "unheard-of", "xhigh", "high", CHANGED),
    ("compatible", "unheard-of", "none", None, LEFT_OUT),
    ("groq", "meta-llama/Llama-3.3-70b", "high", None, LEFT_OUT),
    ("groq", "openai/gpt-oss-120b", "none", "low", CHANGED),
    ("openrouter", "openai/gpt-4o", "high", None, LEFT_OUT),
    ("xai", "grok-4", "high", None, LEFT_OUT),
    ("xai", "grok-4.3", "none", "none", []),
    ("xai", "grok-4.5", "high", "high", []),
    ("xai", "grok-4.5", "none", "low", CHANGED),
    ("xai", "grok-4.6", "max", "xhigh", CHANGED),
    ("xai", "grok-4.7", "xhigh", "xhigh", []),
    ("openrouter", "x-ai/grok-4.7", "none", "low", CHANGED),
    ("xai", "grok-build-0.1", "high", None, LEFT_OUT),
    ("openrouter", "x-ai/grok-4.6", "medium", "medium", []),
    ("xai", "grok-4.20-0309-non-reasoning", "high", None, LEFT_OUT),
    ("deepseek", "deepseek-chat", "max", "max", []),
    ("mistral", "mistral-large-latest", "high", None, LEFT_OUT),
    ("mistral", "mistral-medium-3-5", "high", "high", []),
    ("mistral", "mistral-medium-latest", "high", "high", []),
    ("mistral", "mistral-medium-3", "none", "none", []),
    ("mistral", "mistral-medium-2604", "low", "high", CHANGED),
    ("openrouter", "mistralai/mistral-medium-3.5", "none", "none", []),
    ("mistral", "mistral-medium-2508", "high", None, LEFT_OUT),
    ("mistral", "mistral-small-latest", "low", "high", CHANGED),
    ("mistral", "mistral-small-2603", "none", "none", []),
    ("nvidia", "mistralai/mistral-small-4-119b-2603", "none", "none", []),
    ("mistral", "mistral-large-4-0", "medium", "medium", []),
]


#: Profile, model, effort -> the settings of sampling that are sent of all there are.
ALL = {"temperature", "top_p", "stop"}
SAMPLED: list[tuple[str, str, str | None, set[str]]] = [
    ("openai", "gpt-4.1", None, ALL),
    ("openai", "o3", None, set()),
    ("openai", "gpt-5-mini", None, set()),
    ("openai", "gpt-5.1", None, ALL),
    ("openai", "gpt-5.1", "low", {"stop"}),
    ("openai", "gpt-5.1", "none", ALL),
    ("azure", "o4-mini", None, set()),
    ("openai", "gpt-5.1-codex", None, set()),
    ("openai", "gpt-5.2-chat-latest", None, set()),
    ("openai", "gpt-5.2-codex", None, set()),
    ("openai", "gpt-5.2-pro", None, set()),
    ("openai", "gpt-5.3-codex", None, ALL),
    ("openai", "gpt-5.3-codex-spark", None, set()),
    ("openai", "gpt-5.4-pro", None, set()),
    ("openai", "gpt-6-astra", None, set()),
    ("openai", "gpt-6-luna", None, {"stop"}),
    ("openai", "gpt-6-luna", "none", ALL),
    ("xai", "grok-4", None, set()),
    ("xai", "grok-4.6", None, set()),
    ("xai", "grok-build-0.1", None, set()),
    ("xai", "grok-4.3", None, {"stop"}),
    ("xai", "grok-4.3", "none", ALL),
    ("xai", "grok-4-fast-non-reasoning", None, ALL),
    ("openrouter", "openai/gpt-5-mini", None, set()),
    ("compatible", "unheard-of", "high", ALL),
]


def sent(body: dict[str, Any], profile: str, model: str, door: str, wire: str = "openai_chat") -> tuple[Any, list[str]]:
    exchange = open_exchange(json.dumps(body).encode(), door=door, wire=wire, profile=profile, model=model)
    return json.loads(exchange.upstream_request.body), list(exchange.figures.warnings)


def asking(effort: str) -> dict[str, Any]:
    """Claude Code's way to ask."""
    asked = {"thinking": {"type": "disabled"}} if effort == "none" else {"output_config": {"effort": effort}}
    return {"model": "m", "max_tokens": 100, "messages": [{"role": "user", "content": "hi"}], **asked}


@each_row(("profile", "model", "effort", "kept"), SAMPLED)
def test_sampling_of_a_model_that_reasons(profile: str, model: str, effort: str | None, kept: set[str]) -> None:
    asked = (asking(effort or "none") if effort else asking("none") | {"thinking": None}) | {"stop_sequences": ["x"]}
    found, told = sent(asked | {"temperature": 0.5, "top_p": 0.5}, profile, model, "messages")
    assert ALL & found.keys() == kept
    assert {warning.partition(":")[2] for warning in told} - {"reasoning_effort"} == ALL - kept
    found, told = sent(asked | {"temperature": 1, "top_p": 1, "stop_sequences": []}, profile, model, "messages")
    assert [warning for warning in told if "effort" not in warning] == []


@each_row(("profile", "model", "effort", "wanted", "warnings"), CASES)
def test_a_client_of_another_api(
    profile: str, model: str, effort: str, wanted: str | None, warnings: list[str]
) -> None:
    found, told = sent(asking(effort), profile, model, "messages")
    assert (found.get("reasoning_effort"), told) == (wanted, warnings)


@pytest.mark.parametrize(("effort", "wanted", "warnings"), [("max", None, LEFT_OUT), ("none", None, [])])
def test_the_responses_wire_has_the_same_rule(effort: str, wanted: str | None, warnings: list[str]) -> None:
    found, told = sent(asking(effort), "openai", "gpt-4o", "messages", "openai_responses")
    assert (found.get("reasoning"), told) == (wanted, warnings)


@pytest.mark.parametrize("effort", EFFORTS)
def test_a_client_of_the_api_itself_asks_what_it_likes(effort: str) -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "reasoning_effort": effort}
    found, told = sent(body, "openai", "gpt-4o", "chat_completions")
    assert (found["reasoning_effort"], told) == (effort, [])


def test_words_rise_and_are_known() -> None:
    for words in [family.efforts for family in FAMILIES if family.efforts is not None] + [
        profile.efforts for profile in PROFILES.values()
    ]:
        assert words == tuple(word for word in EFFORTS if word in words)
        assert words != ("none",)


def test_a_name_without_a_row_is_unknown() -> None:
    assert family_of("qwen3-coder").efforts is None
    assert family_of("gpt-5.9").efforts is None


@each_row("door", ["messages", "responses"])
@each_row(
    ("profile", "model", "told"),
    [
        ("deepseek", "deepseek-v4-flash", {"thinking": {"type": "disabled"}}),
        ("moonshot", "kimi-k2.6", {"thinking": {"type": "disabled"}}),
        (None, "kimi-k2.6", {}),  # another host of that model
        ("openrouter", "deepseek/deepseek-v4", {"reasoning_effort": "none"}),
    ],
)
def test_a_model_that_thinks_unasked_is_told_not_to_in_its_hosts_words(
    profile: str | None, model: str, told: dict[str, Any], door: str
) -> None:
    asked = {"thinking": {"type": "disabled"}} if door == "messages" else {"reasoning": {"effort": "none"}}
    said = [{"role": "user", "content": "x"}]
    rest = {"messages": said, "max_tokens": 99} if door == "messages" else {"input": said}
    body = json.dumps({"model": model, **rest, **asked}).encode()
    exchange = open_exchange(body, door=door, wire="openai_chat", profile=profile, model=model)
    found = json.loads(exchange.upstream_request.body)
    assert {name: found[name] for name in ("thinking", "reasoning_effort") if name in found} == told
    assert list(exchange.attempt.warnings) == ([] if told else LEFT_OUT)
