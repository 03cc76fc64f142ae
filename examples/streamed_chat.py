"""A chat as Cline holds it: streamed, with the calls put together from their deltas by `index`."""

from gateway import MODEL, stream

READ_FILE = {
    "type": "function",
    "function": {
        "name": "read_file",
        "description": "Read a file",
        "parameters": {
            "type": "object",
            "properties": {"path": {"type": "string"}},
            "required": ["path"],
        },
    },
}

calls = {}
request = {
    "model": MODEL,
    "messages": [
        {"role": "system", "content": "You are a careful engineer."},
        {"role": "user", "content": 'What is in it? [demo call read_file {"path": "src/main.py"}]'},
    ],
    "tools": [READ_FILE],
    "stream_options": {"include_usage": True},
}
for chunk in stream("/chat/completions", request):
    for choice in chunk["choices"]:
        delta = choice["delta"]
        if delta.get("content"):
            print(delta["content"], end="", flush=True)
        for piece in delta.get("tool_calls", ()):
            call = calls.setdefault(piece["index"], {"id": "", "name": "", "arguments": ""})
            call["id"] += piece.get("id") or ""
            call["name"] += piece.get("function", {}).get("name") or ""
            call["arguments"] += piece.get("function", {}).get("arguments") or ""
        if choice["finish_reason"]:
            print(f"[{choice['finish_reason']}]")
    if chunk.get("usage"):
        print(f"[{chunk['usage']['total_tokens']} tokens]")
for call in calls.values():
    print(f"{call['name']}({call['arguments']})")
