"""AutoGen's assistant.

name: AutoGen
install: pip autogen-agentchat==0.7.5 autogen-ext[openai]==0.7.5
ways: chat, chat-streamed
"""

import asyncio

from autogen_agentchat.agents import AssistantAgent
from autogen_ext.models.openai import OpenAIChatCompletionClient
from tools import BASE, STREAMED, TURNS, broken, note

KINDS = ("vision", "function_calling", "json_output", "structured_output", "multiple_system_messages")
INFO = dict.fromkeys(KINDS, True) | {"family": "unknown"}


async def main() -> None:
    state = None
    for name, prompt in TURNS:
        client = OpenAIChatCompletionClient(model=name, base_url=BASE, api_key="none", model_info=INFO, max_retries=1)
        agent = AssistantAgent(
            "agent", client, tools=[note, broken], max_tool_iterations=9, model_client_stream=STREAMED
        )
        if state:
            await agent.load_state(state)
        print((await agent.run(task=prompt)).messages[-1].to_text())
        state = await agent.save_state()


asyncio.run(main())
