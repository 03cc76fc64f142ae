"""The official anthropic Python SDK against the local server: tool loops, streamed and whole, over every wire."""

from __future__ import annotations

import json
from typing import Any

import anthropic
import pytest

from tests.in_turn import in_turn
from tests.reference import needs
from tests.sdk.talks import DEMO_MODELS, SIM, SIM_MODELS, TALKS, TOOLS, Talk, check

pytestmark = pytest.mark.enable_socket

WAYS = ["whole", "streamed"]

#: The tools of the talks, in this API's words.
OWN_TOOLS = [
    {
        "name": tool["function"]["name"],
        "description": tool["function"]["description"],
        "input_schema": tool["function"]["parameters"],
    }
    for tool in TOOLS
]
_FINISHES = {"tool_use": "tool_calls", "end_turn": "stop", "max_tokens": "length"}


def client(base: str) -> anthropic.Anthropic:
    return anthropic.Anthropic(api_key="none", base_url=base.removesuffix("/v1"), max_retries=0)


def ask(sdk: anthropic.Anthropic, way: str, **members: Any) -> anthropic.types.Message:
    if way == "whole":
        whole: anthropic.types.Message = sdk.messages.create(max_tokens=1000, **members)
        return whole
    with sdk.messages.stream(max_tokens=1000, **members) as stream:
        return stream.get_final_message()


def hold(sdk: anthropic.Anthropic, way: str, model: str, talk: Talk) -> list[dict[str, Any]]:
    """What the SDK saw of a talk."""
    messages: list[dict[str, Any]] = []
    turns = []
    for prompt in talk.prompts(model):
        messages.append({"role": "user", "content": prompt})
        asked = ask(sdk, way, model=model, messages=messages, tools=OWN_TOOLS)
        calls = [block for block in asked.content if block.type == "tool_use"]
        results = [{"type": "tool_result", "tool_use_id": call.id, "content": talk.result_for(model)} for call in calls]
        messages += [{"role": "assistant", "content": asked.content}, {"role": "user", "content": results}]
        said = ask(sdk, way, model=model, messages=messages, tools=OWN_TOOLS)
        messages.append({"role": "assistant", "content": said.content})
        shown = [
            {"id": call.id, "name": call.name, "arguments": json.dumps(call.input, separators=(",", ":"))}
            for call in calls
        ]
        turns.append(
            {
                "calls": shown,
                "finish": _FINISHES[str(asked.stop_reason)],
                "text": "".join(block.text for block in said.content if block.type == "text"),
                "last_finish": _FINISHES[str(said.stop_reason)],
            }
        )
    return turns


@in_turn("model, way", WAYS, DEMO_MODELS)
def test_tool_loop(demo_gateway: str, model: str, way: str) -> None:
    with client(demo_gateway) as sdk:
        for talk in TALKS:
            check(talk, model, hold(sdk, way, model, talk))


@in_turn("model, way", WAYS, DEMO_MODELS)
def test_tool_runner(demo_gateway: str, model: str, way: str) -> None:
    """The SDK's own loop, as it comes: with a message thread, which no other API has, and on without one."""
    asked: list[str] = []

    @anthropic.beta_tool  # type: ignore[untyped-decorator]
    def get_weather(city: str) -> str:
        """Does get_weather."""
        asked.append(city)
        if city == "Nowhere":
            raise ValueError("no such place")
        return "18 degrees"

    prompt = "[demo slow 0] Weather in Paris, Nowhere and London?"
    with client(demo_gateway) as sdk:
        runner: Any = sdk.beta.messages.tool_runner(
            model=model, max_tokens=1000, tools=[get_weather], messages=[{"role": "user", "content": prompt}],
            stream=way == "streamed",
        )  # fmt: skip
        turns: list[Any] = [turn.get_final_message() if way == "streamed" else turn for turn in runner]
    assert sorted(asked) == ["London", "Nowhere", "Paris"]
    assert [turn.stop_reason for turn in turns] == ["tool_use", "end_turn"]
    said = "".join(block.text for block in turns[-1].content if block.type == "text")
    assert said.count("18 degrees") == 2
    assert "no such place" in said


@needs(SIM)
@in_turn("model, way", WAYS, [model for model, (wire, _) in SIM_MODELS.items() if wire != "openai_chat"])
def test_tool_loop_with_another_upstream(sim_gateway: str, model: str, way: str) -> None:
    with client(sim_gateway) as sdk:
        for talk in TALKS:
            check(talk, model, hold(sdk, way, model, talk))


@pytest.mark.parametrize("model", DEMO_MODELS)
def test_tokens_are_counted(demo_gateway: str, model: str) -> None:
    with client(demo_gateway) as sdk:
        count = sdk.messages.count_tokens(model=model, messages=[{"role": "user", "content": "How many?"}])
    assert count.input_tokens > 0


@pytest.mark.parametrize("way", ["whole", "streamed"])
def test_errors_are_the_sdks_own(demo_gateway: str, way: str) -> None:
    with client(demo_gateway) as sdk:
        with pytest.raises(anthropic.NotFoundError):
            ask(sdk, way, model="nobody/m", messages=[{"role": "user", "content": "x"}])
        with pytest.raises(anthropic.RateLimitError):
            ask(sdk, way, model="demo/openai", messages=[{"role": "user", "content": "[demo error 429]"}])


def test_a_model_is_retrieved(demo_gateway: str) -> None:
    with client(demo_gateway) as sdk:
        assert sdk.models.retrieve("demo/anthropic").display_name == "demo/anthropic"
        with pytest.raises(anthropic.NotFoundError, match="demo"):
            sdk.models.retrieve("demo/none")


def test_models_are_listed(demo_gateway: str) -> None:
    with client(demo_gateway) as sdk:
        assert {model.id for model in sdk.models.list()} >= set(DEMO_MODELS)
