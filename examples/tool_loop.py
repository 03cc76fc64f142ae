"""The client's loop: ask, execute what the model calls, send the results, until it answers in text.

This is the loop of the 2api document, section 4.2, on the chat API. The gateway executes no tool; this program does.
"""

import json

from gateway import MODEL, ask

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "description": "Get current weather for a location",
            "parameters": {
                "type": "object",
                "properties": {"location": {"type": "string", "description": "City name, e.g., 'Tokyo'"}},
                "required": ["location"],
            },
        },
    }
]


def execute_tool(name, arguments):
    """Yours: a database, an API, a robot. Models may write arguments that are no JSON, or of another shape."""
    try:
        location = json.loads(arguments)["location"]
    except (ValueError, KeyError) as error:
        return f"Error: {error!r}. Please call {name} again with a location."
    return {"location": location, "temperature": 22, "condition": "sunny"}


def chat(messages):
    answer = ask("/chat/completions", {"model": MODEL, "messages": messages, "tools": TOOLS})
    return answer["choices"][0]["message"]


messages = [{"role": "user", "content": "What is the weather in Tokyo?"}]
message = chat(messages)
while message.get("tool_calls"):
    messages.append(message)  # as it came: ids and what a provider wants back are in it
    for call in message["tool_calls"]:
        function = call["function"]
        result = execute_tool(function["name"], function["arguments"])
        print(f"{function['name']}({function['arguments']}) -> {json.dumps(result)}")
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": json.dumps(result)})
    message = chat(messages)
print(message["content"])
