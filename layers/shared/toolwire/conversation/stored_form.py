"""The stored form of a turn's state: its parts in order, packed with msgpack and compressed.

Texts and arguments are not stored, since the client sends them again; only their places are.
"""

from __future__ import annotations

import zlib

import msgspec
from msgspec import Struct

from toolwire.model.stored import Item

#: The most bytes of one turn's state, compressed. An item of DynamoDB may have 400 KB.
STATE_BYTES = 256 << 10
#: The most bytes of one turn's state, not compressed.
_UNPACKED_BYTES = 16 << 20

#: The version of the stored form. An item of another version is not read.
VERSION = 1


class Reasoning(Struct, tag="r", array_like=True, frozen=True):
    text: str
    signature: str | None = None


class Opaque(Struct, tag="o", array_like=True, frozen=True):
    kind: str
    dialect: str
    raw: bytes


class Text(Struct, tag="t", array_like=True, frozen=True):
    """A text of the answer, by its length alone: the client has the text."""

    chars: int
    signature: str | None = None


class Call(Struct, tag="c", array_like=True, frozen=True):
    id: str
    signature: str | None = None


Piece = Reasoning | Opaque | Text | Call

_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder(list[Piece]).decode


def packed(pieces: list[Piece]) -> bytes | None:
    """The stored form. None for state that is too large, or that msgpack cannot write: half a surrogate pair in a text
    of reasoning."""
    try:
        plain = _pack(pieces)
    except UnicodeEncodeError:
        return None
    if len(plain) > _UNPACKED_BYTES:
        return None
    data = zlib.compress(plain)
    return data if len(data) <= STATE_BYTES else None


def unpacked(item: Item) -> list[Piece] | None:
    """The state in a stored item. None if the item has another version, or is damaged."""
    data = item.values.get("data")
    if item.values.get("v") != VERSION or not isinstance(data, bytes):
        return None
    try:
        return _unpack(zlib.decompressobj().decompress(data, _UNPACKED_BYTES))
    except (zlib.error, msgspec.DecodeError):
        return None
