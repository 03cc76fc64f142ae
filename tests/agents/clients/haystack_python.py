"""Haystack's agent.

name: Haystack
install: pip haystack-ai==3.4.1
ways: chat, chat-streamed
"""

from haystack.components.agents import Agent
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.tools import create_tool_from_function
from haystack.utils import Secret
from tools import BASE, STREAMED, TURNS, broken, note

HOST = {"api_base_url": BASE, "api_key": Secret.from_token("none"), "max_retries": 1}
messages = []
for name, prompt in TURNS:
    tools = [create_tool_from_function(note), create_tool_from_function(broken)]
    streamed = {"streaming_callback": lambda chunk: None} if STREAMED else {}
    agent = Agent(chat_generator=OpenAIChatGenerator(model=name, **HOST, **streamed), tools=tools)
    messages = agent.run([*messages, ChatMessage.from_user(prompt)])["messages"]
    print(messages[-1].text)
