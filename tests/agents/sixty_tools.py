"""Sixty tools of an MCP server on standard input and output: so many that agents defer and search them.

Their schema has what some provider or other refuses: a parameter's name, a union with null. A file of its own, without
an import of ours: it runs wherever an agent starts it.
"""

from __future__ import annotations

import json
import sys
from typing import Any

_NOUNS = ("weather", "ticket", "invoice", "branch", "deploy", "sensor", "recipe", "flight", "ledger", "photo", "comet",
          "orchid")  # fmt: skip
_VERBS = ("create", "read", "update", "delete", "list")
_SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "options": {"anyOf": [{"type": "object", "properties": {"$filter": {"type": "string"}}}, {"type": "null"}]},
    },
    "required": ["name"],
}
TOOLS = [
    {"name": f"{verb}_{noun}", "description": f"{verb} one {noun} in the registry", "inputSchema": _SCHEMA}
    for noun in _NOUNS
    for verb in _VERBS
]


def answer(method: str, params: dict[str, Any]) -> dict[str, Any]:
    """The result of one request."""
    match method:
        case "initialize":
            info = {"name": "sixty", "version": "1"}
            return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": info}
        case "tools/list":
            return {"tools": TOOLS}
        case "tools/call":
            return {"content": [{"type": "text", "text": f"{params['name']} is done"}], "isError": False}
        case _:
            return {}


def main() -> None:
    """Answers requests, one a line, until standard input ends."""
    for line in sys.stdin:
        request = json.loads(line)
        if "id" in request:
            result = answer(request["method"], request.get("params") or {})
            sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
