"""JSON as Google reads it: a member's name is camelCase or snake_case, and a schema may be written as a protobuf."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from toolwire.doors.typed_json import decode
from toolwire.model.errors import RequestError
from toolwire.wire.gemini import DIALECT
from toolwire.wire.json import dump, members, write_object
from toolwire.wire.member_names import MEMBER_NAMES

#: Path of an object of settings -> the names in it.
_WITHIN = MEMBER_NAMES[DIALECT].within

_UNDERSCORE = re.compile(r"_([a-z0-9])")

#: Keywords of a protobuf schema that are lists of schemas, and objects of them.
_LISTS, _OBJECTS = ("anyOf", "oneOf", "allOf", "prefixItems"), ("properties", "$defs", "defs")

#: Keywords whose numbers come as strings, as protobuf writes those of 64 bits.
_SIZES = frozenset({"minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"})


def _camel(name: str) -> str:
    """The name as the API documents it."""
    return _UNDERSCORE.sub(lambda found: found[1].upper(), name) if "_" in name else name


def own_members(raw: bytes, path: str) -> dict[str, bytes]:
    """The members of an object under their documented names, values raw. Raises RequestError."""
    if raw[:1] != b"{":
        decode(raw, dict[str, msgspec.Raw], path)
    return {_camel(name): value for name, value in members(raw).items()}


def documented(given: dict[str, bytes], known: frozenset[str], path: str = "") -> dict[str, bytes]:
    """The members, with documented names for the known ones; others keep their names. Raises RequestError for a member
    in both spellings."""
    own: dict[str, bytes] = {}
    for spelled, value in given.items():
        name = _camel(spelled)
        name = name if name in known else spelled
        if name in own:
            at = f"{path}.{name}" if path else name
            raise RequestError(f"`{at}` is given twice, in two spellings", param=at, code="invalid_value")
        own[name] = value
    return own


def own_object(raw: bytes, path: str) -> bytes:
    """An object of settings with documented names, also in its inner objects; the same bytes if it has these names
    already. Raises RequestError."""
    if raw[:1] != b"{":
        return raw
    given = members(raw)
    own = documented(given, frozenset().union(*_WITHIN[path]), path)
    for name, value in own.items():
        if (at := f"{path}.{name}") in _WITHIN:
            own[name] = own_object(value, at)
    return write_object(own.items()) if own != given else raw


def json_schema(raw: bytes) -> bytes:
    """A protobuf schema as JSON Schema: types in lower case, `nullable` among them, sizes as numbers."""
    return dump(_schema(msgspec.json.decode(raw)))


def _schema(given: Any) -> Any:
    if not isinstance(given, dict):
        return given
    schema: dict[str, Any] = {}
    for spelled, value in given.items():
        name = _camel(spelled)
        if name == "type" and isinstance(value, str):
            if value != "TYPE_UNSPECIFIED":
                schema[name] = value.lower()
        elif name in _OBJECTS and isinstance(value, dict):
            schema[f"${name}" if name == "defs" else name] = {key: _schema(inner) for key, inner in value.items()}
        elif name in _LISTS and isinstance(value, list):
            schema[name] = [_schema(inner) for inner in value]
        elif name in ("items", "additionalProperties"):
            schema[name] = _schema(value)
        elif name in _SIZES and isinstance(value, str) and value.isdigit():
            schema[name] = int(value)
        elif name not in ("nullable", "propertyOrdering"):
            schema["$ref" if name == "ref" else name] = value
    if given.get("nullable") is True and isinstance(schema.get("type"), str):
        schema["type"] = [schema["type"], "null"]
        if isinstance(schema.get("enum"), list) and None not in schema["enum"]:
            schema["enum"] = [*schema["enum"], None]
    return schema
