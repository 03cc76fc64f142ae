"""Tables of DynamoDB that answer at once, on the loopback interface, for what is measured of a deployed gateway."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

from toolwire.shell.access.key_records import KeyRecord, to_item


class _Table(BaseHTTPRequestHandler):
    """DynamoDB's protocol as far as the gateway speaks it: what was written is found, and nothing is ever busy."""

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

    def GetItem(self, request: dict[str, Any]) -> dict[str, Any]:  # noqa: N802
        """Every key is good, and has limits to be counted; no circuit is open."""
        if "key_sha256" not in request["Key"]:
            return {}
        limits = {"requests_per_minute": 60_000, "tool_calls_per_minute": 60_000}
        return {"Item": to_item(KeyRecord(request["Key"]["key_sha256"]["S"], "tw_bench", "bench", 1, settings=limits))}

    def UpdateItem(self, request: dict[str, Any]) -> dict[str, Any]:  # noqa: N802, ARG002
        return {"Attributes": {}}

    def log_message(self, *args: object) -> None:
        """Nothing."""


@contextmanager
def tables_at_once() -> Iterator[str]:
    """Serves every table at one address, and gives it."""
    _Table.items.clear()  # what an earlier run has left would be found, and read
    with ThreadingHTTPServer(("127.0.0.1", 0), _Table) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
