"""A person approves each call before it is executed. A call that is refused gets a result that says so.

python examples/approval.py           asks in the terminal
python examples/approval.py --yes     approves all
"""

import json
import sys

from gateway import MODEL, ask

DELETE = {
    "type": "function",
    "function": {
        "name": "delete_file",
        "description": "Delete a file",
        "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
    },
}


def approved(name, arguments):
    if "--yes" in sys.argv:
        return True
    return input(f"{name}({arguments})? [y/N] ").strip().lower() == "y"


messages = [{"role": "user", "content": 'Delete the file "old.log". [demo call delete_file {"path": "old.log"}]'}]
request = {"model": MODEL, "messages": messages, "tools": [DELETE]}
message = ask("/chat/completions", request)["choices"][0]["message"]
messages.append(message)
for call in message["tool_calls"]:
    function = call["function"]
    if approved(function["name"], function["arguments"]):
        content = json.dumps({"deleted": json.loads(function["arguments"])["path"]})  # and nothing is: an example
    else:
        content = "Error: The user did not approve this call. Do not try it again; ask what to do instead."
    messages.append({"role": "tool", "tool_call_id": call["id"], "content": content})
print(ask("/chat/completions", request)["choices"][0]["message"]["content"])
