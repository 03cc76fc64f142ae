"""google-genai as an independent reader of the gemini door's answers."""

from __future__ import annotations

from functools import cache

import httpx2
from google import genai
from google.genai import types

from tests.prepared_server import PreparedServer


@cache
def _sdk() -> tuple[PreparedServer, genai.Client]:
    server = PreparedServer()
    options = types.HttpOptions(base_url="http://gateway", httpx_client=server.client())
    return server, genai.Client(api_key="none", vertexai=False, http_options=options)


#: What the tests' own host of this API signs with, which is no base64: the SDK reads nothing else.
_UNREADABLE, _READABLE = b"CiQBcsjafBsignature+of/a/thought==", b"CiQBcsjafBsignature+of/a/thought"


def sdk_stream(body: bytes) -> list[types.GenerateContentResponse]:
    """The chunks that google-genai reads in a stream. Raises its errors."""
    server, client = _sdk()
    server.response = httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=_readable(body))
    return list(client.models.generate_content_stream(model="m", contents="hi"))


def sdk_answer(status: int, headers: dict[str, str], body: bytes) -> types.GenerateContentResponse:
    """What google-genai makes of a JSON answer. Raises its errors."""
    server, client = _sdk()
    server.response = httpx2.Response(status, headers=headers, content=_readable(body))
    return client.models.generate_content(model="m", contents="hi")


def _readable(body: bytes) -> bytes:
    return body.replace(_UNREADABLE, _READABLE)
