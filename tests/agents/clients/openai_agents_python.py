"""OpenAI's Agents SDK, over Chat Completions and Responses.

name: OpenAI Agents SDK
install: pip openai-agents==0.24.0
ways: chat, chat-streamed, responses, responses-streamed
picture: [demo call picture {}]
"""

import asyncio

from agents import (
    Agent,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    Runner,
    ToolOutputImage,
    function_tool,
    set_tracing_disabled,
)
from openai import AsyncOpenAI
from tools import BASE, PNG, STREAMED, TURNS, WAY, broken, note

set_tracing_disabled(True)
CLIENT = AsyncOpenAI(base_url=BASE, api_key="none", max_retries=1)
API = OpenAIChatCompletionsModel if WAY.startswith("chat") else OpenAIResponsesModel


@function_tool
def picture() -> ToolOutputImage:
    """Takes a picture."""
    return ToolOutputImage(image_url=f"data:image/png;base64,{PNG}")


async def main() -> None:
    history = []
    for name, prompt in TURNS:
        tools = [function_tool(note), function_tool(broken), picture]
        agent = Agent(name="agent", model=API(name, CLIENT), tools=tools)
        history.append({"role": "user", "content": prompt})
        if STREAMED:
            result = Runner.run_streamed(agent, history)
            async for _ in result.stream_events():
                pass
        else:
            result = await Runner.run(agent, history)
        print(result.final_output)
        history = result.to_input_list()


asyncio.run(main())
