"""How hard to think, in the words that Chat hosts have beside `reasoning_effort`: they mean the same everywhere."""

from __future__ import annotations

from typing import Any

import pytest

from tests.clients.sending import send
from tests.named_rows import each_row
from toolwire.model.errors import RequestError

USER = {"role": "user", "content": "x"}
#: What a client sends -> the effort that it means; None where it says nothing of it.
FORMS: list[tuple[dict[str, Any], str | None]] = [
    ({"reasoning": {"effort": "high"}}, "high"),
    ({"reasoning": {"max_tokens": 2000}}, "low"),
    ({"reasoning": {"enabled": True}}, "medium"),
    ({"reasoning": {"enabled": False}}, "none"),
    ({"reasoning": {"effort": "none", "exclude": True}}, "none"),
    ({"reasoning": {}}, None),
    ({"reasoning": None}, None),
    ({"reasoning": "high"}, None),
    ({"thinking": {"type": "enabled", "budget_tokens": 10_000}}, "medium"),
    ({"thinking": {"type": "enabled"}}, "medium"),
    ({"thinking": {"type": "disabled"}}, "none"),
    ({"thinking": {"type": "adaptive"}}, None),
    ({"thinking": True}, "medium"),
    ({"enable_thinking": False}, "none"),
    ({"enable_thinking": True}, "medium"),
    ({"enable_thinking": True, "thinking_budget": 30_000}, "high"),
    ({"enable_thinking": False, "thinking_budget": 30_000}, "none"),
    ({"chat_template_kwargs": {"enable_thinking": False}}, "none"),
    ({"chat_template_kwargs": {"thinking": True, "x": 1}}, "medium"),
    ({"chat_template_kwargs": {"x": 1}}, None),
    ({"reasoning_effort": "low", "reasoning": {"effort": "high"}}, "low"),
]


@each_row(("members", "effort"), FORMS)
def test_it_means_the_same_as_the_apis_own_word(members: dict[str, Any], effort: str | None) -> None:
    own = {} if effort is None else {"reasoning_effort": effort}
    for wire in ("openai_responses", "anthropic_messages", "gemini", "bedrock_converse"):
        model = {"anthropic_messages": "claude-sonnet-4-5", "bedrock_converse": "anthropic.claude-sonnet-4-5"}.get(wire)
        assert (
            send("chat_completions", wire, model=model, messages=[USER], **members).body
            == send("chat_completions", wire, model=model, messages=[USER], **own).body
        )


@each_row(("members", "effort"), FORMS)
def test_a_chat_host_has_it_as_it_was_sent(members: dict[str, Any], effort: str | None) -> None:
    said = {name: value for name, value in members.items() if value is not None}
    for profile in ("compatible", "openrouter"):
        body = send("chat_completions", "openai_chat", profile=profile, messages=[USER], **members).body
        assert {name: body.get(name) for name in said} == said
        assert "reasoning_effort" not in body or "reasoning_effort" in members, effort


@pytest.mark.parametrize(
    ("members", "warned"),
    [
        ({"reasoning": {"effort": "high"}}, []),
        ({"reasoning": {"effort": "high", "exclude": True}}, ["unknown_field:reasoning.exclude"]),
        ({"thinking": {"type": "enabled", "clear_thinking": False}}, ["unknown_field:thinking.clear_thinking"]),
        ({"enable_thinking": True, "thinking_budget": 4000}, []),
        ({"chat_template_kwargs": {"x": 1}}, ["unknown_field:chat_template_kwargs.x"]),
    ],
)
def test_what_is_not_carried_is_told(members: dict[str, Any], warned: list[str]) -> None:
    assert send("chat_completions", "gemini", messages=[USER], **members).warnings == warned


@pytest.mark.parametrize(("given", "sent"), [(40, 40), (0, None), (-1, None), (None, None)])
def test_top_k_reaches_those_who_have_it(given: int | None, sent: int | None) -> None:
    """vLLM's clients send it, and 0 or -1 for none."""
    assert (
        send("chat_completions", "gemini", messages=[USER], top_k=given).body.get("generationConfig", {}).get("topK")
        == sent
    )
    found = send("chat_completions", "anthropic_messages", model="claude-sonnet-4-5", messages=[USER], top_k=given)
    assert (found.body.get("top_k"), found.warnings) == (sent, [])
    assert (
        send("chat_completions", "openai_chat", profile="compatible", messages=[USER], top_k=given).body.get("top_k")
        == given
    )


#: Door -> its lane, and a request that asks for an effort that no API documents, and where.
NEW_EFFORTS: dict[str, tuple[str, dict[str, Any], str]] = {
    "chat_completions": ("openai_chat", {"messages": [USER], "reasoning_effort": "default"}, "reasoning_effort"),
    "responses": ("openai_responses", {"input": "x", "reasoning": {"effort": "default"}}, "reasoning.effort"),
}


@pytest.mark.parametrize(("door", "lane", "asked", "path"), [(door, *row) for door, row in NEW_EFFORTS.items()])
def test_an_unknown_effort_is_for_the_apis_own_hosts_to_judge(
    door: str, lane: str, asked: dict[str, Any], path: str
) -> None:
    """Groq has `default` for Qwen; models to come will have others."""
    name = path.partition(".")[0]
    assert send(door, lane, **asked).body[name] == asked[name]
    with pytest.raises(RequestError, match="none, minimal, low, medium, high, xhigh or max") as refused:
        send(door, "gemini", **asked)
    assert (refused.value.param, refused.value.code) == (path, "unsupported_parameter")
