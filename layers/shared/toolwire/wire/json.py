"""JSON as it travels: parts of a document are kept raw, and what is written is assembled from raw values.

`members` splits an object without reading its values, so numbers, the order of keys and escapes leave as they came.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import msgspec

from toolwire.model.source import Members

_members = msgspec.json.Decoder(dict[str, msgspec.Raw])
_array = msgspec.json.Decoder(list[msgspec.Raw])
_encode = msgspec.json.Encoder().encode


#: A raw member that is absent, to be told by `is`; `Raw | None` would accept nothing but null.
ABSENT = msgspec.Raw()

_NULL = (b"", b"null")
_EMPTY = (*_NULL, b'""', b"{}", b"false")


class TooDeepError(msgspec.DecodeError, RecursionError):
    """JSON is nested deeper than the parser can read. The depth depends on the caller's stack, so a document that was
    read once may be too deep for the next call."""


#: An escape in a JSON text: a whole surrogate pair, half of one (group 1: its hexadecimal digits), or any other.
ESCAPE = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u([dD][89a-fA-F][0-9a-fA-F]{2})|\\.", re.DOTALL
)


#: The beginning of a surrogate's escape. One regular expression searches a large body faster than two searches for
#: bytes.
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


def whole_characters(raw: bytes) -> bytes:
    """The JSON with U+FFFD in place of each half of a surrogate pair; the same object without any. JSON allows such
    halves, and msgspec does not read them."""
    if _SURROGATE.search(raw) is None:
        return raw
    whole = ESCAPE.sub(lambda match: b"\\ufffd" if match[1] else match[0], raw)
    return raw if whole == raw else whole


def members(raw: bytes | msgspec.Raw) -> dict[str, bytes]:
    """The members of a JSON object, values raw. Raises msgspec.DecodeError (ValidationError is one) or
    UnicodeDecodeError if it is none, both ValueErrors."""
    return {name: bytes(value) for name, value in raw_members(raw).items()}


def raw_members(raw: bytes | msgspec.Raw) -> dict[str, msgspec.Raw]:
    """`members` without copies of the values, for callers that need few of them."""
    try:
        return _members.decode(raw)
    except RecursionError as error:
        raise TooDeepError("JSON is nested too deeply") from error


def elements(raw: bytes | msgspec.Raw) -> list[bytes]:
    """The elements of a JSON array, raw."""
    return [bytes(value) for value in _array.decode(raw)]


def is_object(raw: bytes | str) -> bool:
    """Whether the text is one complete JSON object. False for one that is nested deeper than the parser can read."""
    try:
        _members.decode(raw)
    except (msgspec.DecodeError, UnicodeError):
        pass
    except RecursionError:
        return False
    else:
        return True
    try:  # half a surrogate pair, which JSON allows and msgspec does not
        return isinstance(json.loads(raw, parse_constant=_refuse), dict)
    except (ValueError, RecursionError):
        return False


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


def is_set(raw: msgspec.Raw) -> bool:
    """Whether a raw member has a value: hosts send null, "" and {} for none."""
    return raw is not ABSENT and bytes(raw) not in _EMPTY


def is_null(raw: msgspec.Raw) -> bool:
    """Whether a raw member is absent or null."""
    return raw is ABSENT or bytes(raw) in _NULL


def unnamed(raw: bytes | msgspec.Raw, known: frozenset[str]) -> Members:
    """The members of an object that the model does not name, in order."""
    return tuple((name, bytes(value)) for name, value in raw_members(raw).items() if name not in known)


def dump(value: Any) -> bytes:
    """A value as compact JSON. A lone surrogate, which UTF-8 cannot hold, is escaped as it was in the source."""
    try:
        return _encode(value)
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":")).encode()


# Both writers join once: each further copy of a large body is made of fresh pages, which cost more than all else here.


def write_object(pairs: Iterable[tuple[str, bytes]]) -> bytes:
    """An object of raw values, in the given order. Of a repeated name, only the first value is written."""
    seen: set[str] = set()
    pieces: list[bytes] = []
    lead = b"{"
    for name, value in pairs:
        if name not in seen:
            seen.add(name)
            pieces += (lead, _key(name), value)
            lead = b","
    pieces.append(b"}" if pieces else b"{}")
    return b"".join(pieces)


@lru_cache(maxsize=1024)
def _key(name: str) -> bytes:
    """A member's name and colon as JSON. Cached, since nearly all names are an API's and come in every object."""
    return dump(name) + b":"


def write_array(values: Iterable[bytes]) -> bytes:
    """An array of raw values."""
    pieces: list[bytes] = []
    lead = b"["
    for value in values:
        pieces += (lead, value)
        lead = b","
    pieces.append(b"]" if pieces else b"[]")
    return b"".join(pieces)
