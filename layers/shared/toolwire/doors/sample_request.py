"""Makes the smallest request of an API with some tools. POST /native/tools/check has the door read it."""

from __future__ import annotations

from collections.abc import Iterable

from toolwire.model.http import HttpRequest
from toolwire.wire.json import write_object

#: A question, in the form of most APIs.
SAMPLE_MESSAGES = b'[{"role":"user","content":"?"}]'


def sample_post(path: str, least: Iterable[tuple[str, bytes]], tools: Iterable[tuple[str, bytes]]) -> HttpRequest:
    """A request to some model. Its body has `model`, then the members that the API requires (`least`), then those about
    tools."""
    return HttpRequest("POST", path, {}, write_object([("model", b'"any"'), *least, *tools]))
