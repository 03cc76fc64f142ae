"""LangChain for Python: an agent over each of its vendors' packages.

name: LangChain for Python
install: pip langchain==1.5.2 langchain-openai==1.7.4 langchain-anthropic==1.7.10 langchain-google-genai==4.4.3
ways: chat, chat-streamed, responses, messages, messages-streamed, gemini
"""

from langchain.agents import create_agent
from langchain_anthropic import ChatAnthropic
from langchain_core.tools import tool
from langchain_google_genai import ChatGoogleGenerativeAI
from langchain_openai import ChatOpenAI
from tools import BASE, ROOT, STREAMED, TURNS, WAY, broken, note

OPENAI = {"base_url": BASE, "api_key": "none", "max_retries": 1}
MODELS = {
    "chat": lambda name: ChatOpenAI(model=name, **OPENAI),
    "responses": lambda name: ChatOpenAI(model=name, use_responses_api=True, store=False, **OPENAI),
    "messages": lambda name: ChatAnthropic(model=name, base_url=ROOT, api_key="none", max_retries=1),
    "gemini": lambda name: ChatGoogleGenerativeAI(model=name, base_url=ROOT, api_key="none", max_retries=2),
}
failing = tool(broken)
failing.handle_tool_error = True
failing.func = lambda: "Error: it is broken"

history = []
for name, prompt in TURNS:
    agent = create_agent(MODELS[WAY.removesuffix("-streamed")](name), [tool(note), failing])
    asked = {"messages": [*history, {"role": "user", "content": prompt}]}
    if STREAMED:
        for mode, part in agent.stream(asked, stream_mode=["messages", "values"]):
            history = part["messages"] if mode == "values" else history
    else:
        history = agent.invoke(asked)["messages"]
    print(history[-1].text)
