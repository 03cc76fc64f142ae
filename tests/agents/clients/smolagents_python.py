"""smolagents, which wants a call in every turn and ends with one of its own.

name: smolagents
install: pip smolagents[openai]==1.26.0
ways: chat, chat-streamed
end: [demo call final_answer {"answer": "noted four and all the rest"}]
"""

from smolagents import OpenAIServerModel, ToolCallingAgent, tool
from tools import BASE, STREAMED, TURNS
from tools import note as noted


@tool
def note(word: str) -> str:
    """Notes a word.

    Args:
        word: the word
    """
    return noted(word)


@tool
def broken() -> str:
    """Does not work."""
    raise ValueError("it is broken")


memory = None
for name, prompt in TURNS:
    model = OpenAIServerModel(name, api_base=BASE, api_key="none", client_kwargs={"max_retries": 1})
    agent = ToolCallingAgent([note, broken], model, stream_outputs=STREAMED, max_steps=6)
    agent.memory = memory or agent.memory
    print(agent.run(prompt, reset=memory is None))
    memory = agent.memory
