"""pydantic-ai, by each of its models' APIs.

name: pydantic-ai
install: pip pydantic-ai-slim[openai,anthropic,google]==2.68.0
ways: chat, chat-streamed, responses, responses-streamed, messages, messages-streamed, gemini, gemini-streamed
picture: [demo call picture {}]
"""

import base64

from pydantic_ai import Agent, BinaryContent, ModelRetry
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.google import GoogleModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.google import GoogleProvider
from pydantic_ai.providers.openai import OpenAIProvider
from tools import BASE, PNG, ROOT, STREAMED, TURNS, WAY, note

MODELS = {
    "chat": lambda name: OpenAIChatModel(name, provider=OpenAIProvider(base_url=BASE, api_key="none")),
    "responses": lambda name: OpenAIResponsesModel(name, provider=OpenAIProvider(base_url=BASE, api_key="none")),
    "messages": lambda name: AnthropicModel(name, provider=AnthropicProvider(base_url=ROOT, api_key="none")),
    "gemini": lambda name: GoogleModel(name, provider=GoogleProvider(base_url=ROOT, api_key="none")),
}


def broken() -> str:
    """Does not work."""
    raise ModelRetry("it is broken")


def picture() -> BinaryContent:
    """Takes a picture."""
    return BinaryContent(base64.b64decode(PNG), media_type="image/png")


agent = Agent(tools=[note, broken, picture])
history = []
for name, prompt in TURNS:
    model = MODELS[WAY.removesuffix("-streamed")](name)
    if STREAMED:
        result = agent.run_stream_sync(prompt, model=model, message_history=history)
        print(result.get_output())
    else:
        result = agent.run_sync(prompt, model=model, message_history=history)
        print(result.output)
    history = result.all_messages()
