"""Reads a tool's parameters. All doors share it but the native one, which has its own rule."""

from __future__ import annotations

import msgspec

from toolwire.model.errors import RequestError
from toolwire.wire.json import raw_members


def read_parameters(raw: bytes, member: str) -> bytes | None:
    """The schema as it came; None if there is none. `member`: its JSON path. Raises RequestError
    (`invalid_function_parameters`) for a value that cannot be a schema of arguments, which are an object."""
    if raw in (b"", b"null", b"[]"):  # the last is how PHP writes an empty object
        return None
    if raw[:1] == b'"':  # a schema that was written as JSON twice
        raw = msgspec.json.decode(raw, type=str).encode("utf-8", "surrogatepass")
    if raw[:1] != b"{":
        raise _refused(f"`{member}` must be a JSON Schema object", member)
    root = bytes(raw_members(raw).get("type", b"null"))
    kinds = msgspec.json.decode(root)
    kinds = kinds if isinstance(kinds, list) else [kinds]
    if not any(kind is None or (isinstance(kind, str) and kind.lower() in _OBJECT) for kind in kinds):
        raise _refused(f'`{member}.type` must be "object", not {root.decode()[:80]}', f"{member}.type")
    return raw


#: An object, or nothing in particular: see `schema.repair`.
_OBJECT = frozenset({"", "any", "dict", "map", "object"})


def _refused(message: str, param: str) -> RequestError:
    return RequestError(message, param=param, code="invalid_function_parameters")
