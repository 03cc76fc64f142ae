"""What a client's file is told, and the tools that its model may call."""

import base64
import json
import os
import struct
import zlib

BASE, ROOT, CLIENT, WAY = (os.environ[name] for name in ("BASE", "ROOT", "CLIENT", "WAY"))
TURNS = json.loads(os.environ["TURNS"])
STREAMED = WAY.endswith("-streamed")


def note(word: str) -> str:
    """Notes a word."""
    with open("log.txt", "a") as log:
        log.write(f"{word}\n")
    return f"noted {word}"


def broken() -> str:
    """Does not work."""
    raise ValueError("it is broken")


def _png() -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head, rows = struct.pack(">IIBBBBB", 8, 8, 8, 2, 0, 0, 0), (b"\0" + b"\xff\0\0" * 8) * 8
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


PNG = base64.b64encode(_png()).decode()

#: The tools as JSON Schema, for clients that want it.
NOTE = {
    "type": "object",
    "properties": {"word": {"type": "string"}},
    "required": ["word"],
    "additionalProperties": False,
}
NOTHING = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
