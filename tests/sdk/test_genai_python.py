"""The official google-genai Python SDK against the local server: its own loop of automatic function calling, streamed
and whole, over every wire of the demo provider; and what else it asks of the API."""

from __future__ import annotations

import pytest
from google import genai
from google.genai import errors, types

from tests.in_turn import in_turn
from tests.sdk.talks import DEMO_MODELS

pytestmark = pytest.mark.enable_socket


@pytest.fixture
def sdk(demo_gateway: str) -> genai.Client:
    options = types.HttpOptions(base_url=demo_gateway.removesuffix("/v1"))
    return genai.Client(api_key="none", vertexai=False, http_options=options)


@in_turn("model, way", ["whole", "streamed"], DEMO_MODELS)
def test_automatic_function_calling(sdk: genai.Client, model: str, way: str) -> None:
    """The SDK declares a Python function, calls it for each call, and sends the results; a second turn follows."""
    asked: list[str] = []

    def get_weather(location: str) -> str:
        """The current weather of a city."""
        asked.append(location)
        return f"{len(asked)} degrees in {location}"

    config = types.GenerateContentConfig(tools=[get_weather], system_instruction="Be brief.")
    chat = sdk.chats.create(model=model, config=config)
    for turn in (1, 2):
        asked.clear()
        prompt = "What is the weather in Paris and New York?"
        if way == "whole":
            text = chat.send_message(prompt).text or ""
        else:
            text = "".join(chunk.text or "" for chunk in chat.send_message_stream(prompt))
        assert asked == ["Paris", "New York"], turn
        assert "1 degrees in Paris" in text
        assert "2 degrees in New York" in text


def test_what_else_it_asks(sdk: genai.Client) -> None:
    names = [model.name for model in sdk.models.list()]
    assert [f"models/{model}" for model in DEMO_MODELS] == sorted(names, key=names.index)
    assert sdk.models.get(model="demo/openai").name == "models/demo/openai"
    assert (sdk.models.count_tokens(model="demo/anthropic", contents="hi").total_tokens or 0) > 0
    with pytest.raises(errors.ClientError) as raised:
        sdk.models.generate_content(model="nowhere/m", contents="hi")
    assert (raised.value.code, raised.value.status) == (404, "NOT_FOUND")
