"""OpenAI's SDK for Python, Chat Completions: a loop by hand, streamed by its helper.

name: openai for Python (Chat)
install: pip openai==3.57.0
ways: chat, chat-streamed
"""

import json

from openai import OpenAI
from tools import BASE, NOTE, NOTHING, STREAMED, TURNS, broken, note

CLIENT = OpenAI(base_url=BASE, api_key="none", max_retries=1, timeout=30)
RUN = {"note": note, "broken": broken}
TOOLS = [
    {"type": "function", "function": {"name": name, "description": run.__doc__, "parameters": schema, "strict": True}}
    for (name, run), schema in zip(RUN.items(), (NOTE, NOTHING), strict=True)
]


def ask(model: str) -> dict:
    if not STREAMED:
        return CLIENT.chat.completions.create(model=model, messages=history, tools=TOOLS).choices[0].message
    with CLIENT.chat.completions.stream(model=model, messages=history, tools=TOOLS) as stream:
        for _ in stream:
            pass
        return stream.get_final_completion().choices[0].message


def result(call) -> dict:
    try:
        content = RUN[call.function.name](**json.loads(call.function.arguments))
    except ValueError as error:
        content = f"Error: {error}"
    return {"role": "tool", "tool_call_id": call.id, "content": content}


history = []
for model, prompt in TURNS:
    history.append({"role": "user", "content": prompt})
    while (message := ask(model)).tool_calls:
        history += [message.to_dict(exclude_none=True), *map(result, message.tool_calls)]
    history.append({"role": "assistant", "content": message.content})
    print(message.content)
