"""LiteLLM's SDK, which speaks each API by the prefix of the model's name: a loop by hand.

name: LiteLLM SDK
install: pip litellm==1.110.2
ways: chat, chat-streamed, responses, responses-streamed, messages, messages-streamed, gemini, gemini-streamed
"""

import json
import os

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # it would fetch its prices at each start
import litellm
from tools import BASE, NOTE, NOTHING, ROOT, STREAMED, TURNS, WAY, broken, note

API = WAY.removesuffix("-streamed")
#: What stands in front of the model's name, and the base URL. `responses/` has its Chat Completions go by Responses.
PREFIX, URL = {
    "chat": ("openai/", BASE),
    "responses": ("openai/responses/", BASE),
    "messages": ("anthropic/", ROOT),
    "gemini": ("gemini/", f"{ROOT}/v1beta"),
}[API]
RUN = {"note": note, "broken": broken}
TOOLS = [
    {"type": "function", "function": {"name": name, "description": run.__doc__, "parameters": schema}}
    for (name, run), schema in zip(RUN.items(), (NOTE, NOTHING), strict=True)
]


def ask(model: str):
    options = {"api_base": URL, "api_key": "none", "messages": history, "tools": TOOLS, "timeout": 30}
    answer = litellm.completion(model=PREFIX + model, stream=STREAMED, **options)
    if STREAMED:
        answer = litellm.stream_chunk_builder(list(answer), messages=history)
    return answer.choices[0].message


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
        history += [message.model_dump(exclude_none=True), *map(result, message.tool_calls)]
    history.append({"role": "assistant", "content": message.content})
    print(message.content)
