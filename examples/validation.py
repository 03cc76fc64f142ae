"""Arguments checked against their tool's schema before a client sees the call, and tools checked before any request."""

import json

from gateway import MODEL, ask

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "send_email",
            "description": "Send an email",
            "parameters": {
                "type": "object",
                "properties": {"to": {"type": "string"}, "copies": {"type": "integer", "minimum": 1}},
                "required": ["to"],
            },
        },
    }
]

# Would each provider take these tools, and what would be changed for it?
checked = ask("/native/tools/check", {"models": [MODEL, "demo/anthropic", "demo/gemini"], "tools": TOOLS})
print(json.dumps(checked, indent=1))

# A call whose arguments break the schema becomes an error here, not a call.
messages = [{"role": "user", "content": 'Write to Ada. [demo call send_email {"to": "ada@example.com"}]'}]
body = {"model": MODEL, "messages": messages, "tools": TOOLS}
answer = ask("/chat/completions", body, {"x-toolwire-validate-tool-arguments": "reject"})
for call in answer["choices"][0]["message"]["tool_calls"]:
    print(f"valid: {call['function']['name']}({call['function']['arguments']})")
