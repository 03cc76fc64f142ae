"""CrewAI's agent, over three of its models' APIs; streamed, it drops the calls of Responses.

name: CrewAI
install: pip crewai[anthropic]==1.15.30
ways: chat, chat-streamed, responses, messages
"""

import os

os.environ |= {"CREWAI_DISABLE_TELEMETRY": "true", "CREWAI_TRACING_ENABLED": "false", "OTEL_SDK_DISABLED": "true"}

from crewai import LLM, Agent
from crewai.tools import tool
from tools import BASE, ROOT, STREAMED, TURNS, WAY, broken, note

HOSTS = {
    "chat": {"provider": "openai", "base_url": BASE},
    "responses": {"provider": "openai", "base_url": BASE, "api": "responses"},
    "messages": {"provider": "anthropic", "base_url": ROOT},
}
TOOLS = [tool("note")(note), tool("broken")(broken)]
history = []
for name, prompt in TURNS:
    host = HOSTS[WAY.removesuffix("-streamed")]
    llm = LLM(model=name, api_key="none", max_retries=1, stream=STREAMED, **host)
    agent = Agent(role="assistant", goal="do as asked", backstory="You note words.", llm=llm, tools=TOOLS)
    result = agent.kickoff([*history, {"role": "user", "content": prompt}])
    print(result.raw)
    history = [message for message in result.messages if message["role"] != "system"]
