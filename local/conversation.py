"""Shows or deletes what the store has of one conversation. It shows no prompt, and not the content of the state.

    python -m local.conversation trip-1                                       of the gateway on this machine
    python -m local.conversation trip-1 --tenant acme --stack toolwire        of a deployed one
    python -m local.conversation trip-1 --action delete

The gateway on this machine is asked over HTTP, since its store may be in its memory. A deployed gateway's table is read
with the caller's own AWS credentials. Exit status: 1 if that fails.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from typing import Any

import httpx

from local.inspector.conversation import forget, look_up
from local.stack import StackError, stack_resource
from toolwire.shell.store.store import Store, StoreError

#: The table's name in the template.
_TABLE = "ToolCallTable"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m local.conversation")
    parser.add_argument("id", help="the conversation, as x-conversation-id says it")
    parser.add_argument("--tenant", default="default", help="whose conversation it is")
    parser.add_argument("--action", choices=("show", "delete"), default="show")
    parser.add_argument("--stack", help="the deployed stack; without it, the gateway on this machine")
    parser.add_argument("--port", default="8080", help="of the gateway on this machine")
    asked = parser.parse_args(arguments)
    try:
        items, count = _of_stack(asked) if asked.stack else _of_this_machine(asked)
    except (StackError, StoreError, httpx.HTTPError) as error:
        print(f"conversation: {_explained(error, asked.port)}", file=sys.stderr)
        return 1
    if asked.action == "delete":
        print(f"forgotten: {count} items of {asked.tenant}#{asked.id}")
    else:
        print(_table(items) if items else f"nothing is kept of {asked.tenant}#{asked.id}")
    return 0


def _of_stack(asked: argparse.Namespace) -> tuple[list[dict[str, Any]], int]:
    from toolwire.shell.store.dynamodb import DynamoDbStore  # AWS's side, which the other way does without

    store: Store = DynamoDbStore(stack_resource(asked.stack, _TABLE))
    if asked.action == "delete":
        return [], forget(store, asked.tenant, asked.id)
    return look_up(store, asked.tenant, asked.id), 0


def _of_this_machine(asked: argparse.Namespace) -> tuple[list[dict[str, Any]], int]:
    base = f"http://127.0.0.1:{asked.port}"
    said = {"tenant": asked.tenant, "id": asked.id}
    with httpx.Client(base_url=f"{base}/_toolwire", headers={"origin": base}, timeout=30, trust_env=False) as client:
        if asked.action == "delete":
            answer = client.post("/conversation", data=said)
        else:
            answer = client.get("/conversation", params=said)
        answer.raise_for_status()
        told = answer.json()
    return told["items"], told["forgotten"]


def _explained(error: Exception, port: str) -> str:
    if isinstance(error, httpx.ConnectError):
        return f"no gateway answers on port {port} of this machine: start it (make run), or name it (PORT=, or STACK=)"
    if isinstance(error, httpx.HTTPStatusError):
        return f"the gateway on port {port} says {error.response.status_code}: is its inspector off (INSPECT=0)?"
    return str(error)


def _table(items: list[dict[str, Any]]) -> str:
    """The items as a table, without empty columns."""
    names = dict.fromkeys(name for item in items for name in item)
    rows = [list(names), *([_cell(name, item.get(name, "")) for name in names] for item in items)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)


def _cell(name: str, value: Any) -> str:
    return time.strftime("%Y-%m-%d", time.gmtime(value)) if name == "expires_at" else str(value)


if __name__ == "__main__":
    sys.exit(main())
