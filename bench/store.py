"""What the store adds to a turn: the look-up before the upstream is asked, and the write that its end waits for.

`memory` is the local default. `dynamodb` is the client of a deployment against a table that answers at once, on the
loopback interface: what boto3 and this package cost. A real table's own few milliseconds come on top of each call.
"""

from __future__ import annotations

import json
import os
import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from statistics import median
from typing import Any, ClassVar

from bench.traffic import Figures
from toolwire.conversation import Found, TurnRecord, partition_of, restored, wanted
from toolwire.conversation.tool_call_ids import mint
from toolwire.model.events import ToolCallEnd, ToolCallStart
from toolwire.model.request import ChatRequest, Message, TextPart, ToolCallPart, ToolResultPart
from toolwire.model.settings import ProviderConfig, Target
from toolwire.model.stored import Item
from toolwire.shell.store.dynamodb import DynamoDbStore
from toolwire.shell.store.store import MemoryStore, Store

_TOKEN = "0123456789"
_PARTITION = partition_of("default", _TOKEN)
_EXPIRES = 4_000_000_000
_TARGET = Target(ProviderConfig("bench", "gemini", "http://127.0.0.1:1"), "gemini-3-pro")
_REPEATS = 30
#: Bytes of a signature, before they are written as text: as long as Gemini's.
_SIGNATURE_BYTES = 1_000

#: Names of the subjects.
MEMORY, DYNAMODB = "memory", "dynamodb"


def figures() -> Iterator[tuple[str, Figures]]:
    """(subject, its figures) of both stores: medians of repeated calls, in milliseconds."""
    yield MEMORY, _figures(MemoryStore())
    with _table() as store:
        yield DYNAMODB, _figures(store)


def _figures(store: Store) -> Figures:
    result = {"store_write": _median(lambda: _put(store, _items(2)))}
    for steps in (1, 100, 1_000):
        _put(store, _items(steps))
        request = _history(steps)
        result[f"recall_{steps}"] = _median(lambda request=request: _recall(store, request))
    return result


def _median(act: Any) -> float:
    act()
    times = []
    for _ in range(_REPEATS):
        began = time.perf_counter()
        act()
        times.append(time.perf_counter() - began)
    return median(times) * 1e3


def _put(store: Store, items: list[Item]) -> None:
    store.put(items, deadline=time.monotonic() + 60)


def _recall(store: Store, request: ChatRequest) -> None:
    """What the shell and the exchange do before the upstream's request is built."""
    lookup = wanted(request, "default")
    deadline = time.monotonic() + 60
    items = [item for partition in lookup.partitions for item in store.mappings(partition, deadline=deadline)]
    items += store.get(lookup.states, deadline=deadline)
    restored(request, Found.of(items), _TARGET, shares_state=False)


def _id(number: int) -> str:
    return mint(_TOKEN, str(number).rjust(20, "0"))


def _items(steps: int) -> list[Item]:
    """What as many turns leave: a mapping and a state each."""
    signature = random.Random(1).randbytes(_SIGNATURE_BYTES).hex()
    items: list[Item] = []
    for number in range(steps):
        turn = TurnRecord(_TARGET, _PARTITION, _EXPIRES)
        turn.note(ToolCallStart(0, _id(number), "read_file", provider_id=f"own-{number}"))
        turn.note(ToolCallEnd(0, signature))
        items += turn.items()
    return items


def _history(steps: int) -> ChatRequest:
    messages = [Message("user", (TextPart("x"),))]
    for number in range(steps):
        messages.append(Message("assistant", (ToolCallPart(_id(number), "read_file", "{}"),)))
        messages.append(Message("tool", (ToolResultPart(_id(number), (TextPart("ok"),)),)))
    return ChatRequest("bench/gemini-3-pro", tuple(messages))


# ---------------------------------------------------------------- a table that answers at once


class _Table(BaseHTTPRequestHandler):
    """DynamoDB's protocol as far as the store speaks it: what was written is found, and nothing is ever busy."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    items: ClassVar[dict[str, Any]] = {}

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        operation = self.headers["x-amz-target"].partition(".")[2]
        body = json.dumps(getattr(self, operation)(request)).encode()
        self.send_response(200)
        self.send_header("content-type", "application/x-amz-json-1.0")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def BatchWriteItem(self, request: dict[str, Any]) -> dict[str, Any]:  # noqa: N802 - AWS's name
        ((_, writes),) = request["RequestItems"].items()
        for write in writes:
            item = write["PutRequest"]["Item"]
            self.items[item["tool_call_id"]["S"]] = item
        return {"UnprocessedItems": {}}

    def BatchGetItem(self, request: dict[str, Any]) -> dict[str, Any]:  # noqa: N802
        ((table, wanted_keys),) = request["RequestItems"].items()
        names = [key["tool_call_id"]["S"] for key in wanted_keys["Keys"]]
        return {"Responses": {table: [self.items[name] for name in names if name in self.items]}}

    def Query(self, request: dict[str, Any]) -> dict[str, Any]:  # noqa: N802, ARG002
        return {"Items": [item for name, item in self.items.items() if name.startswith("call_")]}

    def log_message(self, *args: object) -> None:
        """Nothing."""


@contextmanager
def _table() -> Iterator[Store]:
    _Table.items.clear()  # what an earlier run has left would be found, and read
    with ThreadingHTTPServer(("127.0.0.1", 0), _Table) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        os.environ |= {
            "AWS_ENDPOINT_URL_DYNAMODB": f"http://127.0.0.1:{server.server_address[1]}",
            "AWS_DEFAULT_REGION": "eu-central-1",
            "AWS_ACCESS_KEY_ID": "bench",
            "AWS_SECRET_ACCESS_KEY": "bench",
        }
        try:
            yield DynamoDbStore("bench")
        finally:
            server.shutdown()
