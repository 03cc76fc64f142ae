"""A stream of a Messages host as Amazon Bedrock sends it: each event as base64 in a frame of AWS's."""

from __future__ import annotations

import base64
import json

from tests.framing.aws_frames import event, frame

CONTENT_TYPE = "application/vnd.amazon.eventstream"


def chunk(data: bytes) -> bytes:
    """The frame of one event."""
    return event("chunk", json.dumps({"bytes": base64.b64encode(data).decode(), "p": "abcdef"}).encode())


def frames(stream: bytes) -> list[bytes]:
    """The frames of the events in a body of Server-Sent Events."""
    return [chunk(line.removeprefix(b"data: ")) for line in stream.split(b"\n") if line.startswith(b"data: ")]


def exception(name: str, **members: object) -> bytes:
    """The frame of an exception in the middle of a stream."""
    headers = {":exception-type": name, ":content-type": "application/json", ":message-type": "exception"}
    return frame(headers, json.dumps(members).encode())
