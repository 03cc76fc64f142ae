"""LlamaIndex: a function agent over a compatible host.

name: LlamaIndex
install: pip llama-index-core==0.14.25 llama-index-llms-openai-like==0.8.1
ways: chat, chat-streamed
"""

import asyncio

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.llms.openai_like import OpenAILike
from tools import BASE, STREAMED, TURNS, broken, note

HOST = {"api_base": BASE, "api_key": "none", "is_chat_model": True, "is_function_calling_model": True, "max_retries": 1}


async def main() -> None:
    memory = ChatMemoryBuffer.from_defaults(token_limit=50_000)
    for name, prompt in TURNS:
        agent = FunctionAgent(tools=[note, broken], llm=OpenAILike(model=name, **HOST), streaming=STREAMED)
        print(await agent.run(prompt, memory=memory))


asyncio.run(main())
