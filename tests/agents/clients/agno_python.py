"""Agno, over three of its models' APIs.

name: Agno
install: pip agno==3.1.10 openai==3.57.0 anthropic==2.14.0
ways: chat, chat-streamed, responses, messages
"""

from agno.agent import Agent
from agno.models.anthropic import Claude
from agno.models.message import Message
from agno.models.openai import OpenAIResponses
from agno.models.openai.like import OpenAILike
from tools import BASE, ROOT, STREAMED, TURNS, WAY, broken, note

MODELS = {
    "chat": lambda name: OpenAILike(id=name, base_url=BASE, api_key="none", max_retries=1),
    "responses": lambda name: OpenAIResponses(id=name, base_url=BASE, api_key="none", max_retries=1, store=False),
    "messages": lambda name: Claude(id=name, api_key="none", client_params={"base_url": ROOT, "max_retries": 1}),
}
history = []
for name, prompt in TURNS:
    agent = Agent(model=MODELS[WAY.removesuffix("-streamed")](name), tools=[note, broken], telemetry=False)
    history.append(Message(role="user", content=prompt))
    if STREAMED:
        for event in agent.run(history, stream=True, yield_run_output=True):
            result = event
    else:
        result = agent.run(history)
    print(result.content)
    history = [message for message in result.messages if message.role != "system"]
