"""Several calls in one answer, executed at the same time. Results may go back in any order: their ids match them."""

import json
from concurrent.futures import ThreadPoolExecutor

from gateway import MODEL, ask

GET_WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Get the current weather of a city",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}


def execute(call):
    city = json.loads(call["function"]["arguments"])["city"]
    return {"role": "tool", "tool_call_id": call["id"], "content": json.dumps({"city": city, "celsius": 18})}


messages = [{"role": "user", "content": "What is the weather in Lima, Oslo and Cairo?"}]
request = {"model": MODEL, "messages": messages, "tools": [GET_WEATHER]}
message = ask("/chat/completions", request)["choices"][0]["message"]
print(f"{len(message['tool_calls'])} calls at once")
with ThreadPoolExecutor() as pool:
    results = list(pool.map(execute, message["tool_calls"]))
messages += [message, *reversed(results)]
print(ask("/chat/completions", request)["choices"][0]["message"]["content"])
