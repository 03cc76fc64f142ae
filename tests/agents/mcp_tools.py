"""The tools that the bench harness's upstream calls, as an MCP server on standard input and output.

Each says how many items its call brought, and tells the upstream to end the turn with a text. With `FAILS=1` in the
environment every call fails.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

#: What the upstream calls its tools, in its order.
NAMES = ("get_weather", "search_docs", "run_query", "send_mail")

_SCHEMA = {
    "type": "object",
    "properties": {"call": {"type": "integer"}, "items": {"type": "array", "items": {"type": "string"}}},
}


def answer(method: str, params: dict[str, Any]) -> dict[str, Any]:
    """The result of one request."""
    match method:
        case "initialize":
            info = {"name": "bench", "version": "1"}
            return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": info}
        case "tools/list":
            return {"tools": [{"name": name, "description": f"Does {name}.", "inputSchema": _SCHEMA} for name in NAMES]}
        case "tools/call":
            text = f"{params['name']} had {_items(params.get('arguments') or {})} items [[sim text n=4]]"
            return {"content": [{"type": "text", "text": text}], "isError": os.environ.get("FAILS") == "1"}
        case _:
            return {}


def _items(arguments: dict[str, Any]) -> int:
    """How many items there are, whose numbers must be whole and in order; -1 where they are not."""
    items = arguments.get("items", [])
    numbers = [item.strip("~").partition("@")[0] for item in items]
    return len(items) if numbers == [str(number) for number in range(len(items))] else -1


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
