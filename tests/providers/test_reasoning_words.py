"""How hosts of the Chat API are told how much to reason, in their own members and words."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.corpus.driver import open_exchange
from tests.named_rows import each_row
from toolwire.providers.openai_models import EFFORTS
from toolwire.providers.profiles import PROFILES
from toolwire.providers.reasoning_words import WORDS

CHANGED, LEFT_OUT = ["reasoning_effort_changed"], ["not_supported:reasoning_effort"]
OFF, ON = {"thinking": {"type": "disabled"}}, {"thinking": {"type": "enabled"}}
NO_TEMPLATE = {"chat_template_kwargs": {"enable_thinking": False}}


def effort(word: str) -> dict[str, Any]:
    return {"reasoning_effort": word}


#: Profile, model, what is asked -> the members that are sent, and the warnings.
CASES: list[tuple[str, str, str, dict[str, Any], list[str]]] = [
    ("zai", "glm-5.3", "none", effort("low"), CHANGED),
    ("zai", "glm-5.3-flash", "max", effort("max"), []),
    ("zai", "glm-5.3", "medium", effort("low"), CHANGED),
    ("zai", "glm-5.2", "none", OFF, []),
    ("zai", "glm-5.2", "xhigh", effort("xhigh"), []),
    ("zai", "glm-4.6", "none", OFF, []),
    ("zai", "glm-4.7", "high", ON, CHANGED),
    ("zai", "glm-5", "medium", ON, []),
    ("dashscope", "qwen3.8-max", "none", {"enable_thinking": False}, []),
    ("dashscope", "qwen3.8-max", "max", effort("max"), []),
    ("dashscope", "qwen-plus", "none", {"enable_thinking": False}, []),
    ("dashscope", "qwen-plus", "low", {"enable_thinking": True, "thinking_budget": 4096}, []),
    ("dashscope", "qwen3.6-plus", "max", {"enable_thinking": True}, CHANGED),
    ("dashscope", "kimi-k2.6", "none", {"enable_thinking": False}, []),
    ("dashscope", "glm-5.1", "high", {"enable_thinking": True}, CHANGED),
    ("dashscope", "qwen3-coder-plus", "high", {}, LEFT_OUT),
    ("dashscope", "qwq-plus", "none", {}, LEFT_OUT),
    ("minimax", "MiniMax-M3", "none", OFF, []),
    ("minimax", "MiniMax-M3", "high", {"thinking": {"type": "adaptive"}}, CHANGED),
    ("minimax", "MiniMax-M3.1-Flash", "none", effort("low"), CHANGED),
    ("minimax", "MiniMax-M3.1-Flash", "xhigh", effort("xhigh"), []),
    ("minimax", "MiniMax-M2.7", "none", {}, LEFT_OUT),
    ("moonshot", "kimi-k3", "none", effort("low"), CHANGED),
    ("moonshot", "kimi-k3.1-pro", "max", effort("max"), []),
    ("moonshot", "kimi-k2.7-code", "none", {}, LEFT_OUT),
    ("moonshot", "kimi-k2.6", "none", OFF, []),
    ("moonshot", "kimi-k2.5", "high", ON, CHANGED),
    ("volcengine", "doubao-seed-2-0-pro-260215", "none", OFF, []),
    ("volcengine", "doubao-seed-2-0-pro-260215", "high", effort("high"), []),
    ("groq", "qwen/qwen3-32b", "none", effort("none"), []),
    ("groq", "qwen/qwen3.6-27b", "high", effort("default"), CHANGED),
    ("groq", "openai/gpt-oss-120b", "high", effort("high"), []),
    ("together", "zai-org/GLM-5.1", "none", {"reasoning": {"enabled": False}}, []),
    ("together", "zai-org/GLM-5.3", "none", effort("low"), CHANGED),
    ("together", "openai/gpt-oss-120b", "none", effort("low"), CHANGED),
    ("together", "moonshotai/Kimi-K2.6", "none", {"reasoning": {"enabled": False}}, []),
    ("fireworks", "accounts/fireworks/models/deepseek-v4-pro", "none", effort("none"), []),
    ("fireworks", "accounts/fireworks/models/kimi-k2p6", "none", effort("low"), CHANGED),
    ("fireworks", "accounts/fireworks/models/glm-5p3", "max", effort("max"), []),
    ("nvidia", "z-ai/glm5", "none", NO_TEMPLATE, []),
    ("nvidia", "deepseek-ai/deepseek-v4-pro", "high", effort("high"), []),
    ("cerebras", "zai-glm-4.7", "none", effort("none"), []),
    ("cerebras", "gpt-oss-120b", "none", effort("low"), CHANGED),
    ("vllm", "Qwen/Qwen3.6-35B-A3B", "none", effort("none"), []),
    ("llamacpp", "qwen3.5-4b", "none", effort("none"), []),
]

#: Each member that tells a host how much to reason.
MEMBERS = {"reasoning_effort", *(name for row in WORDS for told in row.told.values() for name, _ in told)}


def sent(body: dict[str, Any], door: str, profile: str, model: str) -> tuple[dict[str, Any], list[str]]:
    exchange = open_exchange(json.dumps(body).encode(), door=door, wire="openai_chat", profile=profile, model=model)
    return json.loads(exchange.upstream_request.body), list(exchange.attempt.warnings)


def asking(door: str, word: str) -> dict[str, Any]:
    said = [{"role": "user", "content": "x"}]
    if door == "responses":
        return {"model": "m", "input": said, "reasoning": {"effort": word}}
    if door == "chat":
        return {"model": "m", "messages": said, "reasoning_effort": word}
    asked = {"thinking": {"type": "disabled"}} if word == "none" else {"output_config": {"effort": word}}
    return {"model": "m", "max_tokens": 99, "messages": said, **asked}


@pytest.mark.parametrize("door", ["messages", "responses"])
@each_row(("profile", "model", "word", "wanted", "warnings"), CASES)
def test_a_client_of_another_api(
    profile: str, model: str, word: str, wanted: dict[str, Any], warnings: list[str], door: str
) -> None:
    found, told = sent(asking(door, word), door, profile, model)
    assert ({name: value for name, value in found.items() if name in MEMBERS}, told) == (wanted, warnings)


@each_row(("profile", "model", "word", "wanted", "warnings"), CASES)
def test_a_client_of_the_api_itself(
    profile: str, model: str, word: str, wanted: dict[str, Any], warnings: list[str]
) -> None:
    """What the host says otherwise is said its way; a word that it does not know is between the two."""
    found, told = sent(asking("chat", word), "chat", profile, model)
    assert told == []
    assert {name: value for name, value in found.items() if name in MEMBERS} == (effort(word) if warnings else wanted)


@each_row(
    ("profile", "model", "given"),
    [
        ("zai", "glm-4.6", {"thinking": {"type": "enabled", "clear_thinking": False}}),
        ("dashscope", "qwen-plus", {"enable_thinking": True}),
        ("moonshot", "kimi-k2.6", {"thinking": {"type": "enabled", "keep": "all"}}),
    ],
)
def test_what_a_client_says_in_the_hosts_words_stays(profile: str, model: str, given: dict[str, Any]) -> None:
    found, _ = sent(asking("chat", "none") | given, "chat", profile, model)
    assert {name: value for name, value in found.items() if name in MEMBERS} == {**effort("none"), **given}


def test_minimax_is_asked_to_tell_its_reasoning_apart() -> None:
    assert sent(asking("messages", "high"), "messages", "minimax", "MiniMax-M3")[0]["reasoning_split"] is True
    assert "reasoning_split" not in sent(asking("chat", "high"), "chat", "minimax", "MiniMax-M3")[0]


@each_row("profile", [name for name, row in PROFILES.items() if row.open_models])
def test_a_host_of_open_models_is_sent_the_reasoning_that_a_maker_asks_for(profile: str) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    turn = {"role": "assistant", "content": None, "tool_calls": [call]}
    said = [{"role": "user", "content": "x"}, turn, {"role": "tool", "tool_call_id": "c1", "content": "y"}]
    body = {"model": "m", "messages": said}
    assert sent(body, "chat", profile, "moonshotai/kimi-k2.6")[0]["messages"][1]["reasoning_content"] == " "
    assert "reasoning_content" not in sent(body, "chat", profile, "qwen3-32b")[0]["messages"][1]


def test_rows_rise_and_name_profiles() -> None:
    assert {row.profile for row in WORDS} <= PROFILES.keys()
    for row in WORDS:
        assert tuple(row.told) == tuple(word for word in EFFORTS if word in row.told)
