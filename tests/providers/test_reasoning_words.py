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


def template(**values: Any) -> dict[str, Any]:
    return {"chat_template_kwargs": values}


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
    ("nvidia", "deepseek-ai/deepseek-v4-pro", "high", template(thinking=True, reasoning_effort="high"), []),
    ("cerebras", "zai-glm-4.7", "none", effort("none"), []),
    ("cerebras", "gpt-oss-120b", "none", effort("low"), CHANGED),
    ("vllm", "Qwen/Qwen3.6-35B-A3B", "none", effort("none"), []),
    ("llamacpp", "qwen3.5-4b", "none", effort("none"), []),
    ("sglang", "Qwen/Qwen3.6-35B-A3B", "none", effort("none"), []),
    ("sglang", "openai/gpt-oss-120b", "none", effort("low"), CHANGED),
    ("lmstudio", "qwen/qwen3.5-9b", "none", effort("none"), []),
    ("ollama", "qwen3.5", "max", effort("max"), []),
    ("fireworks", "accounts/fireworks/models/glm-5p1", "low", effort("high"), CHANGED),
    ("fireworks", "accounts/fireworks/models/glm-5p2", "none", effort("none"), []),
    ("fireworks", "accounts/fireworks/models/deepseek-v4-pro", "xhigh", effort("xhigh"), []),
    ("nvidia", "deepseek-ai/deepseek-v4-pro", "none", {"chat_template_kwargs": {"thinking": False}}, []),
    ("nvidia", "deepseek-ai/deepseek-v4-flash", "max", template(thinking=True, reasoning_effort="max"), []),
    ("nvidia", "stepfun-ai/step-3.7-flash", "none", effort("low"), CHANGED),
    ("volcengine", "doubao-seed-2-0-pro-260215", "max", effort("max"), []),
    ("volcengine", "doubao-seed-1-6-251015", "max", effort("high"), CHANGED),
    ("chutes", "Qwen/Qwen3.6-27B", "none", NO_TEMPLATE, []),
    ("chutes", "zai-org/GLM-5.1", "none", template(thinking=False), []),
    ("chutes", "deepseek-ai/DeepSeek-V3.2", "high", template(thinking=True), CHANGED),
    ("siliconflow", "Qwen/Qwen3-32B", "none", {"enable_thinking": False}, []),
    ("siliconflow", "Qwen/Qwen3-32B", "low", {"enable_thinking": True, "thinking_budget": 4096}, []),
    ("siliconflow", "Qwen/Qwen3-235B-A22B-Thinking-2507", "none", {"thinking_budget": 4096}, CHANGED),
    ("siliconflow", "Pro/deepseek-ai/DeepSeek-V3.2", "none", {"enable_thinking": False}, []),
    ("siliconflow", "zai-org/GLM-5.2", "medium", effort("high"), CHANGED),
    ("siliconflow", "deepseek-ai/DeepSeek-V4-Flash", "none", {"enable_thinking": False}, []),
    ("siliconflow", "deepseek-ai/DeepSeek-V4-Flash", "max", effort("max"), []),
    ("siliconflow", "Qwen/Qwen3-Coder-480B-A35B-Instruct", "high", {}, LEFT_OUT),
    ("siliconflow", "MiniMaxAI/MiniMax-M2.5", "none", {"thinking_budget": 4096}, CHANGED),
    ("novita", "deepseek/deepseek-v4-pro", "none", {"enable_thinking": False}, []),
    ("novita", "deepseek/deepseek-v4-pro", "high", effort("high"), []),
    ("novita", "zai-org/glm-4.5", "none", {"enable_thinking": False}, []),
    ("novita", "deepseek/deepseek-v3.2", "high", {"enable_thinking": True}, CHANGED),
    ("deepinfra", "Qwen/Qwen3.6-35B-A3B", "none", effort("none"), []),
    ("deepinfra", "deepseek-ai/DeepSeek-V4-Pro", "max", effort("xhigh"), CHANGED),
    ("nebius", "deepseek-ai/DeepSeek-V4-Flash", "none", effort("none"), []),
    ("nebius", "Qwen/Qwen3-32B", "none", {}, LEFT_OUT),
    ("baseten", "zai-org/GLM-5.1", "none", {"chat_template_args": {"enable_thinking": False}}, []),
    ("baseten", "moonshotai/Kimi-K2.6", "high", {"chat_template_args": {"enable_thinking": True}}, CHANGED),
    ("baseten", "deepseek-ai/DeepSeek-V4-Flash-0731", "none", effort("none"), []),
    ("scaleway", "qwen3.5-397b-a17b", "none", effort("none"), []),
    ("scaleway", "gpt-oss-120b", "none", effort("low"), CHANGED),
    ("friendli", "zai-org/GLM-5.1", "none", NO_TEMPLATE, []),
    ("friendli", "zai-org/GLM-5.1", "high", effort("high"), []),
    ("tencent", "hy3-preview", "none", OFF, []),
    ("tencent", "hy3", "high", ON | effort("high"), []),
    ("hunyuan", "hunyuan-a13b", "none", {"enable_thinking": False}, []),
    ("qianfan", "qwen3-32b", "none", {"enable_thinking": False}, []),
    ("qianfan", "ernie-4.5-turbo-vl-preview", "high", {"enable_thinking": True}, CHANGED),
    ("stepfun", "step-3.7-flash", "none", effort("low"), CHANGED),
    ("stepfun", "step-3.5-flash-2603", "medium", effort("low"), CHANGED),
    ("stepfun", "step-3.5-flash", "high", {}, LEFT_OUT),
    ("xiaomi", "mimo-v2.5-pro", "none", OFF, []),
    ("cohere", "command-a-reasoning-08-2025", "none", effort("none"), []),
    ("cohere", "command-a-reasoning-08-2025", "medium", effort("high"), CHANGED),
    ("cloudflare", "@cf/zai-org/glm-4.7-flash", "none", NO_TEMPLATE, []),
    ("cloudflare", "@cf/google/gemma-4-26b-a4b-it", "none", effort("none"), []),
    ("cloudflare", "@cf/moonshotai/kimi-k2.6", "low", effort("high"), CHANGED),
    ("cloudflare", "@cf/moonshotai/kimi-k2.7-code", "none", {}, LEFT_OUT),
    ("cloudflare", "@cf/zai-org/glm-5.2", "none", NO_TEMPLATE, []),
    ("cloudflare", "@cf/zai-org/glm-5.3-flash", "none", effort("low"), CHANGED),
    ("cloudflare", "@cf/openai/gpt-oss-120b", "none", effort("low"), CHANGED),
    ("vercel", "zai/glm-5.2", "none", {"reasoning": {"effort": "none"}}, []),
    ("vercel", "zai/glm-5.2", "max", {"reasoning": {"effort": "xhigh"}}, CHANGED),
    ("vercel", "openai/gpt-5-mini", "none", {"reasoning": {"effort": "minimal"}}, CHANGED),
    ("vercel", "openai/gpt-4o", "high", {}, LEFT_OUT),
    ("venice", "qwen3-6-27b", "max", effort("max"), []),
    ("digitalocean", "deepseek-v4-pro", "none", effort("none"), []),
    ("requesty", "zai/glm-5.2", "max", effort("max"), []),
]

#: Each member that tells a host how much to reason.
MEMBERS = {"reasoning_effort", "reasoning", *(name for row in WORDS for told in row.told.values() for name, _ in told)}


def sent(body: dict[str, Any], door: str, profile: str, model: str) -> tuple[dict[str, Any], list[str]]:
    exchange = open_exchange(json.dumps(body).encode(), door=door, wire="openai_chat", profile=profile, model=model)
    return json.loads(exchange.upstream_request.body), list(exchange.attempt.warnings)


def asking(door: str, word: str) -> dict[str, Any]:
    said = [{"role": "user", "content": "x"}]
    if door == "responses":
        return {"model": "m", "input": said, "reasoning": {"effort": word}}
    if door == "chat_completions":
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
    found, told = sent(asking("chat_completions", word), "chat_completions", profile, model)
    assert told == []
    its_own = {"reasoning": {"effort": word}} if PROFILES[profile].reasoning_object else effort(word)
    assert {name: value for name, value in found.items() if name in MEMBERS} == (its_own if warnings else wanted)


@each_row(
    ("profile", "model", "given"),
    [
        ("zai", "glm-4.6", {"thinking": {"type": "enabled", "clear_thinking": False}}),
        ("dashscope", "qwen-plus", {"enable_thinking": True}),
        ("moonshot", "kimi-k2.6", {"thinking": {"type": "enabled", "keep": "all"}}),
        ("vercel", "zai/glm-5.2", {"reasoning": {"effort": "low", "exclude": True}}),
    ],
)
def test_what_a_client_says_in_the_hosts_words_stays(profile: str, model: str, given: dict[str, Any]) -> None:
    found, _ = sent(asking("chat_completions", "none") | given, "chat_completions", profile, model)
    assert {name: value for name, value in found.items() if name in MEMBERS} == {**effort("none"), **given}


def test_minimax_is_asked_to_tell_its_reasoning_apart() -> None:
    assert sent(asking("messages", "high"), "messages", "minimax", "MiniMax-M3")[0]["reasoning_split"] is True
    assert (
        "reasoning_split"
        not in sent(asking("chat_completions", "high"), "chat_completions", "minimax", "MiniMax-M3")[0]
    )


@each_row("profile", [name for name, row in PROFILES.items() if row.open_models])
def test_a_host_of_open_models_is_sent_the_reasoning_that_a_maker_asks_for(profile: str) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    turn = {"role": "assistant", "content": None, "tool_calls": [call]}
    said = [{"role": "user", "content": "x"}, turn, {"role": "tool", "tool_call_id": "c1", "content": "y"}]
    body = {"model": "m", "messages": said}
    assert sent(body, "chat_completions", profile, "moonshotai/kimi-k2.6")[0]["messages"][1]["reasoning_content"] == " "
    assert "reasoning_content" not in sent(body, "chat_completions", profile, "qwen3-32b")[0]["messages"][1]


def test_rows_rise_and_name_profiles() -> None:
    assert {row.profile for row in WORDS} <= PROFILES.keys()
    for row in WORDS:
        assert tuple(row.told) == tuple(word for word in EFFORTS if word in row.told)
