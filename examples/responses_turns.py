"""Two turns on OpenAI's Responses API, behind any provider: items in, items out, nothing kept at the gateway."""

import json

from gateway import MODEL, ask

TOOLS = [
    {
        "type": "function",
        "name": "get_weather",
        "description": "Get current weather for a location",
        "parameters": {"type": "object", "properties": {"location": {"type": "string"}}, "required": ["location"]},
        "strict": False,
    }
]

items = [{"role": "user", "content": "What is the weather in Paris?"}]
response = ask("/responses", {"model": MODEL, "input": items, "tools": TOOLS, "store": False})
items += response["output"]  # calls, and reasoning with what its provider wants back
for item in response["output"]:
    if item["type"] == "function_call":
        location = json.loads(item["arguments"])["location"]
        print(f"{item['name']}({item['arguments']})")
        output = json.dumps({"location": location, "temperature": 18})
        items.append({"type": "function_call_output", "call_id": item["call_id"], "output": output})

response = ask("/responses", {"model": MODEL, "input": items, "tools": TOOLS, "store": False})
for item in response["output"]:
    if item["type"] == "message":
        print("".join(part["text"] for part in item["content"]))
