"""smolagents, which wants a call in every turn and ends with one of its own.

name: smolagents
install: pip smolagents[openai]==1.26.0
ways: chat, chat-streamed
end: [demo call final_answer {"answer": "noted four and all the rest"}]

It tells the model of results in the user's name, so the demo reads its next turn there.
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
    return "Error: it is broken"  # where a tool raises, the model is not told that it was called


def goes_on(step, agent) -> None:
    step.observations = f"{step.observations}\n{turns.pop(0) if turns else ''}"


memory = None
for name, prompt in TURNS:
    model = OpenAIServerModel(name, api_base=BASE, api_key="none", client_kwargs={"max_retries": 1}, retry=False)
    prompt, *turns = prompt.split(" >> ")
    agent = ToolCallingAgent([note, broken], model, stream_outputs=STREAMED, max_steps=6, step_callbacks=[goes_on])
    agent.memory = memory or agent.memory
    print(agent.run(prompt, reset=memory is None))
    memory = agent.memory
