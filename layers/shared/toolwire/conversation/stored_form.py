"""A turn's state as it is stored: its parts in order, packed and compressed.

Of what the client has (texts, arguments) only the place is kept.
"""

from __future__ import annotations

import zlib

import msgspec
from msgspec import Struct

from toolwire.model.stored import Item

#: Bytes of one turn's state, compressed. DynamoDB's items end at 400 KB.
STATE_BYTES = 256 << 10
#: No state of ours unpacks to more.
_UNPACKED_BYTES = 16 << 20

#: Of the stored form: what has another one is left alone.
VERSION = 1


class Reasoning(Struct, tag="r", array_like=True, frozen=True):
    text: str
    signature: str | None = None


class Opaque(Struct, tag="o", array_like=True, frozen=True):
    kind: str
    dialect: str
    raw: bytes


class Text(Struct, tag="t", array_like=True, frozen=True):
    """A run of text: only its length, the client has the text."""

    chars: int
    signature: str | None = None


class Call(Struct, tag="c", array_like=True, frozen=True):
    id: str
    signature: str | None = None


Piece = Reasoning | Opaque | Text | Call

_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder(list[Piece]).decode


def packed(pieces: list[Piece]) -> bytes | None:
    """None for state that is too large, or that cannot be written (half a surrogate pair in a reasoning text)."""
    try:
        plain = _pack(pieces)
    except UnicodeEncodeError:
        return None
    if len(plain) > _UNPACKED_BYTES:
        return None
    data = zlib.compress(plain)
    return data if len(data) <= STATE_BYTES else None


def unpacked(item: Item) -> list[Piece] | None:
    """None for what cannot be read: of a later version, or damaged."""
    data = item.values.get("data")
    if item.values.get("v") != VERSION or not isinstance(data, bytes):
        return None
    try:
        return _unpack(zlib.decompressobj().decompress(data, _UNPACKED_BYTES))
    except (zlib.error, msgspec.DecodeError):
        return None
