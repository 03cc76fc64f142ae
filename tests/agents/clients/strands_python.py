"""Strands, over Chat Completions and Anthropic's API.

name: Strands
install: pip strands-agents[openai,anthropic]==1.62.0
ways: chat-streamed, messages-streamed
"""

from strands import Agent, ModelRetryStrategy, tool
from strands.models.anthropic import AnthropicModel
from strands.models.openai import OpenAIModel
from tools import BASE, ROOT, TURNS, WAY, broken, note

CHAT = {"base_url": BASE, "api_key": "none", "max_retries": 1}
MESSAGES = {"base_url": ROOT, "api_key": "none", "max_retries": 1}
history = []
for name, prompt in TURNS:
    if WAY.startswith("chat"):
        model = OpenAIModel(client_args=CHAT, model_id=name)
    else:
        model = AnthropicModel(client_args=MESSAGES, model_id=name, max_tokens=2000)
    retries = ModelRetryStrategy(max_attempts=2, initial_delay=1)
    tools = [tool(note), tool(broken)]
    agent = Agent(model=model, tools=tools, messages=history, callback_handler=None, retry_strategy=retries)
    print(agent(prompt))
    history = agent.messages
