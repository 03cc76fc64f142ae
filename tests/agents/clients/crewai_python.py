"""CrewAI, by its own client for OpenAI's API.

name: CrewAI
install: pip crewai[openai]==1.15.30
ways: chat
"""

import os

os.environ |= {"CREWAI_TRACING_ENABLED": "false", "OTEL_SDK_DISABLED": "true", "CREWAI_DISABLE_TELEMETRY": "true"}

from crewai import LLM, Agent
from crewai.tools import tool
from tools import BASE, TURNS, broken, note

for name, prompt in TURNS:
    llm = LLM(model=f"openai/{name}", base_url=BASE, api_key="none", max_retries=1)
    tools = [tool("note")(note), tool("broken")(broken)]
    agent = Agent(role="writer", goal="to note words", backstory="one of many", llm=llm, tools=tools, max_iter=6)
    print(agent.kickoff(prompt).raw)
