"""An HTTP client for checks. It records when each piece of an answer came, and whether the answer ended."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import SplitResult

import httpx

#: The seconds that one read may take: more than the longest silence of a check.
_READ_SECONDS = 60.0

#: The header with the key: `Authorization: Bearer`, Anthropic's or Google's.
KeyHeader = Literal["bearer", "x-api-key", "x-goog-api-key"]

_LOOPBACK = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer as it came: `pieces` with the seconds since the request was sent; `broken` when the connection ended
    before the answer did."""

    status: int
    headers: dict[str, str]
    pieces: tuple[tuple[float, bytes], ...]
    broken: bool = False

    @property
    def body(self) -> bytes:
        return b"".join(piece for _, piece in self.pieces)

    @property
    def json(self) -> Any:
        """The body as JSON; None if it is none."""
        try:
            return json.loads(self.body)
        except ValueError:
            return None

    @property
    def frames(self) -> list[str]:
        """The data of an SSE body's frames, one line each on this API; comments have none."""
        lines = self.body.decode("utf-8", "replace").split("\n")
        return [line.removeprefix("data:").strip() for line in lines if line.startswith("data:")]

    @property
    def chunks(self) -> list[dict[str, Any]]:
        """The frames that are JSON objects."""
        return [json.loads(frame) for frame in self.frames if frame.startswith("{")]


@dataclass(frozen=True, slots=True)
class HttpGateway:
    """A gateway at a URL. Each request has its own connection, so that no check depends on another."""

    url: SplitResult
    own_key: str | None = field(default=None, repr=False)

    @property
    def is_local(self) -> bool:
        return self.url.hostname in _LOOPBACK

    @property
    def has_key(self) -> bool:
        return self.own_key is not None

    def send(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        *,
        key: str | None = "own",
        header: KeyHeader = "bearer",
        encoding: str | None = None,
    ) -> Reply:
        headers = {"content-type": "application/json", "accept-encoding": "identity"}
        if encoding is not None:
            headers["content-encoding"] = encoding
        presented = self.own_key if key == "own" else key
        if presented is not None:
            name, value = ("authorization", f"Bearer {presented}") if header == "bearer" else (header, presented)
            headers[name] = value
        address = self.url.geturl().rstrip("/") + path
        started = time.monotonic()
        # The gateway is at this URL and nowhere else: no proxy, no redirect.
        with (
            httpx.Client(timeout=_READ_SECONDS, trust_env=False) as client,
            client.stream(method, address, content=body, headers=headers) as response,
        ):
            return _read(response, started)


def _read(response: httpx.Response, started: float) -> Reply:
    pieces: list[tuple[float, bytes]] = []
    broken = False
    try:
        for piece in response.iter_raw():
            pieces.append((time.monotonic() - started, piece))
    except httpx.TransportError:
        broken = True
    return Reply(response.status_code, dict(response.headers), tuple(pieces), broken)
