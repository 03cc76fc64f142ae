"""A tool that fails: the model is told by a result that begins with "Error:", and goes on."""

from gateway import MODEL, ask

QUERY = {
    "type": "function",
    "function": {
        "name": "query_database",
        "description": "Run a query",
        "parameters": {"type": "object", "properties": {"sql": {"type": "string"}}, "required": ["sql"]},
    },
}

messages = [{"role": "user", "content": 'Is it there? [demo call query_database {"sql": "select 1"}]'}]
request = {"model": MODEL, "messages": messages, "tools": [QUERY]}
message = ask("/chat/completions", request)["choices"][0]["message"]
messages.append(message)
for call in message["tool_calls"]:
    # A result for every call, whatever happened: providers refuse a history in which one has none.
    failed = "Error: Database connection failed. Please try again later."
    messages.append({"role": "tool", "tool_call_id": call["id"], "content": failed})
print(ask("/chat/completions", request)["choices"][0]["message"]["content"])
