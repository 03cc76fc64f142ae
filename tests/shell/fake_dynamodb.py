"""An endpoint of DynamoDB that answers as it is told, for what happens between boto3 and the network."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

#: Status and body of an answer, or how to fail: without a byte until the test ends, or by hanging up.
Reply = tuple[int, dict[str, Any]] | Literal["silence", "hang up"]


def refusal(code: str, status: int = 400) -> Reply:
    """An error as DynamoDB words it."""
    return status, {"__type": f"com.amazonaws.dynamodb.v20120810#{code}", "message": "no"}


class FakeDynamoDb:
    """Gives the replies in turn, the last one for ever. `asked` has the operations that came."""

    def __init__(self, *replies: Reply) -> None:
        self.replies = list(replies)
        self.asked: list[str] = []
        self._over = threading.Event()
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["content-length"]))
                reply = fake._next(self.headers["x-amz-target"].partition(".")[2])
                if isinstance(reply, str):
                    fake._over.wait(0 if reply == "hang up" else 10)
                    self.close_connection = True
                    return
                body = json.dumps(reply[1]).encode()
                self.send_response(reply[0])
                self.send_header("content-type", "application/x-amz-json-1.0")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *arguments: object) -> None:
                """Nothing to the terminal."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def close(self) -> None:
        self._over.set()
        self._server.shutdown()
        self._server.server_close()

    def _next(self, operation: str) -> Reply:
        self.asked.append(operation)
        return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
