"""The official openai Python SDK's Responses API against the local server: whole tool loops with each provider."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import openai
import pytest
from openai import OpenAI

from tests.in_turn import crossed, in_turn
from tests.reference import needs
from tests.sdk.talks import DEMO_MODELS, SIM, SIM_MODELS, TALKS, TOOLS, Talk, check

pytestmark = pytest.mark.enable_socket

#: The talks' tools, flat.
FLAT = [{"type": "function", "strict": False, **tool["function"]} for tool in TOOLS]

Ask = Callable[[OpenAI, dict[str, Any]], dict[str, Any]]
"""A request's members -> the response."""


def whole(client: OpenAI, request: dict[str, Any]) -> dict[str, Any]:
    response: dict[str, Any] = client.responses.create(**request).to_dict(mode="json", warnings=False)
    return response


def helper(client: OpenAI, request: dict[str, Any]) -> dict[str, Any]:
    """With the SDK's own accumulator."""
    with client.responses.stream(**request) as stream:
        kinds = [event.type for event in stream]
        response: dict[str, Any] = stream.get_final_response().to_dict(mode="json", warnings=False)
    assert (kinds[0], kinds[-1]) == ("response.created", "response.completed")
    assert kinds.count("response.output_item.done") == len(response["output"])
    return response


def raw(client: OpenAI, request: dict[str, Any]) -> dict[str, Any]:
    """As a program does that gathers the finished items itself."""
    events = list(client.responses.create(**request, stream=True))
    assert [event.sequence_number for event in events] == list(range(len(events)))
    items = [event.item for event in events if event.type == "response.output_item.done"]
    final = events[-1]
    assert final.type == "response.completed"
    assert final.response.output == items
    response: dict[str, Any] = final.response.to_dict(mode="json", warnings=False)
    return response


def converse(client: OpenAI, ask: Ask, model: str, talk: Talk) -> list[dict[str, Any]]:
    """The whole conversation: each user message, the calls it leads to, their results, the text. What the client sends
    back is what it got, as the SDK's documentation shows."""
    history: list[Any] = []
    turns = []
    for prompt in talk.prompts(model):
        history.append({"role": "user", "content": prompt})
        asked = ask(client, {"model": model, "input": history, "tools": FLAT, "store": False})
        history += asked["output"]
        calls = [item for item in asked["output"] if item["type"] == "function_call"]
        for call in calls:
            result = {"type": "function_call_output", "call_id": call["call_id"], "output": talk.result_for(model)}
            history.append(result)
        said = ask(client, {"model": model, "input": history, "tools": FLAT, "store": False})
        history += said["output"]
        parts = [part for item in said["output"] if item["type"] == "message" for part in item["content"]]
        shown = [{"id": call["call_id"], "name": call["name"], "arguments": call["arguments"]} for call in calls]
        last = "tool_calls" if any(item["type"] == "function_call" for item in said["output"]) else "stop"
        text = "".join(part["text"] for part in parts)
        turns.append({"calls": shown, "finish": "tool_calls" if calls else "stop", "text": text, "last_finish": last})
    return turns


@pytest.fixture(scope="module")
def client(demo_gateway: str) -> Iterator[OpenAI]:
    with _sdk(demo_gateway) as made:
        yield made


def _sdk(base: str) -> OpenAI:
    return OpenAI(api_key="sk-nobody", base_url=base, max_retries=0, timeout=20)


@in_turn("model, way", crossed(TALKS, [whole, helper, raw]), DEMO_MODELS)
def test_tool_loop(client: OpenAI, model: str, way: tuple[Talk, Ask]) -> None:
    talk, ask = way
    check(talk, model, converse(client, ask, model, talk))


@needs(SIM)
@pytest.mark.integration
@pytest.mark.parametrize("model", SIM_MODELS)
def test_tool_loop_with_the_bench_upstream(sim_gateway: str, model: str) -> None:
    with _sdk(sim_gateway) as client:
        for ask in (whole, helper, raw):
            for talk in TALKS:
                check(talk, model, converse(client, ask, model, talk))


@pytest.mark.parametrize("model", DEMO_MODELS)
def test_structured_output(client: OpenAI, model: str) -> None:
    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"],
              "additionalProperties": False}  # fmt: skip
    shape: Any = {"type": "json_schema", "name": "place", "schema": schema, "strict": True}
    response = client.responses.create(model=model, input="[demo slow 0] Where is Bern?", text={"format": shape})
    assert json.loads(response.output_text)["city"]


def test_errors_are_the_sdks_own(client: OpenAI) -> None:
    with pytest.raises(openai.RateLimitError) as busy:
        client.responses.create(model="demo/anthropic", input="[demo error 429] hi")
    assert busy.value.response.headers["retry-after"] == "1"
    with pytest.raises(openai.BadRequestError, match="whole history in `input`"):
        client.responses.create(model="demo/gemini", input="hi", previous_response_id="resp_1")
    with pytest.raises(openai.NotFoundError):
        client.responses.create(model="nobody", input="hi")


@pytest.mark.parametrize("model", DEMO_MODELS)
def test_a_stream_that_breaks_ends_in_response_failed(client: OpenAI, model: str) -> None:
    events = list(client.responses.create(model=model, input="[demo cut] [demo slow 0] hi", stream=True))
    final = events[-1]
    assert final.type == "response.failed"
    assert final.response.status == "failed"
    assert final.response.error is not None
