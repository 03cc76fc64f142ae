"""The least request of an API, around tools: POST /native/tools/check has them read by their door."""

from __future__ import annotations

from collections.abc import Iterable

from toolwire.model.http import HttpRequest
from toolwire.wire.json import write_object

#: A question, as most APIs write one.
SAMPLE_MESSAGES = b'[{"role":"user","content":"?"}]'


def sample_post(path: str, least: Iterable[tuple[str, bytes]], tools: Iterable[tuple[str, bytes]]) -> HttpRequest:
    """A request to any model whose body has its name as `model`, then the `least` that the API asks for, then the
    members about tools."""
    return HttpRequest("POST", path, {}, write_object([("model", b'"any"'), *least, *tools]))
