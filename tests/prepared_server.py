"""What stands behind a vendor's SDK when a test only wants to know how the SDK reads an answer."""

from __future__ import annotations

import httpx2


class PreparedServer:
    """Answers every request of the SDK with one prepared response; no socket is opened."""

    def __init__(self) -> None:
        self.response = httpx2.Response(500)

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        return self.response

    def client(self) -> httpx2.Client:
        """The HTTP client that the SDK is given."""
        return httpx2.Client(transport=httpx2.MockTransport(self))
