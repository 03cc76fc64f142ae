"""Clouds, played: what they are asked is kept, and they answer what a test says."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from toolwire.model.errors import UpstreamTimeout
from toolwire.model.http import UpstreamRequest
from toolwire.shell.access.cloud_tokens import Ask


class Cloud:
    """Answers by the path and host asked: {"host/path": document, or (status, document)}."""

    def __init__(self, answers: dict[str, Any]) -> None:
        self.answers = answers
        self.asked: list[UpstreamRequest] = []
        self.ask = Ask(self._send)

    def _send(self, request: UpstreamRequest, seconds: float) -> tuple[int, bytes]:
        assert seconds <= 10
        self.asked.append(request)
        url = urlsplit(request.url)
        found = self.answers.get(url.netloc + url.path)
        if found is None:
            raise UpstreamTimeout("nobody there")
        status, document = found if isinstance(found, tuple) else (200, found)
        return status, document if isinstance(document, bytes) else json.dumps(document).encode()

    def form(self, number: int = 0) -> dict[str, str]:
        """The form that was sent."""
        request = self.asked[number]
        assert ("content-type", "application/x-www-form-urlencoded") in request.headers
        return dict(parse_qsl(request.body.decode(), strict_parsing=True))
