"""The arguments of a call that a model wrote as text, as the raw JSON text of a call.

If the model wrote JSON, its text stays. If it wrote named parameters, the tool's schema decides their types: a declared
string stays a string, whatever it looks like, and a number keeps its digits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from toolwire.model.request import Tool
from toolwire.schema.tree import References, Schema, parse
from toolwire.stream.text_calls.reader import Content, Written
from toolwire.wire.json import dump, is_object, members, write_array, write_object

_ANY: frozenset[str] = frozenset()
#: The most schemas that are read for the types of a parameter: references may form a circle.
_MOST_STEPS = 64


class TextTool:
    """A tool whose calls may be written as text."""

    def __init__(self, tool: Tool) -> None:
        self.name, self.kind = tool.name, tool.kind
        self._raw = tool.parameters
        self._root: dict[str, Any] | None = None
        self._types: dict[str, frozenset[str]] = {}

    def arguments(self, written: Written) -> str | None:
        """The call's arguments as JSON text, or a custom tool's input; None if they are no valid arguments, so that the
        block stays text."""
        if written.parameters is not None:
            text = self._from_parameters(written.parameters)
        else:
            text = _from_json(written.arguments)
        return _input(text) if text is not None and self.kind == "custom" else text

    def _from_parameters(self, parameters: Sequence[tuple[str, Content, bool | None]]) -> str | None:
        values: dict[str, bytes] = {}
        for name, content, is_string in parameters:
            if name in values or (is_string is False and not _kind(content)):
                return None
            if not isinstance(content, str):
                if (value := self._nested(self._property(name), content)) is None:
                    return None
                values[name] = value
            elif is_string is None:
                values[name] = _typed(content, self._types_of(name))
            else:
                values[name] = dump(content) if is_string else content.strip().encode()
        return write_object(values.items()).decode()

    def _nested(self, schema: Schema, content: Content) -> bytes | None:
        """An element as JSON, by its schema; None if an object would have a name twice."""
        references = References(self._parsed())
        types = _types(schema, references)
        if isinstance(content, str):
            return _typed(content, types)
        is_list = "array" in types or ("object" not in types and all(name == "item" for name, _ in content))
        parts = [self._nested(_below(schema, "" if is_list else name, references), part) for name, part in content]
        values = [part for part in parts if part is not None]
        if len(values) < len(content) or (not is_list and len({name for name, _ in content}) < len(content)):
            return None
        if is_list:
            return write_array(values)
        return write_object((name, value) for (name, _), value in zip(content, values, strict=True))

    def _types_of(self, name: str) -> frozenset[str]:
        if name not in self._types:
            self._types[name] = _types(self._property(name), References(self._parsed()))
        return self._types[name]

    def _property(self, name: str) -> Schema:
        properties = self._parsed().get("properties")
        schema: Schema = properties.get(name, True) if isinstance(properties, dict) else True
        return schema

    def _parsed(self) -> dict[str, Any]:
        if self._root is None:
            root = parse(self._raw) if self._raw else {}
            self._root = root if isinstance(root, dict) else {}
        return self._root


def _typed(text: str, types: frozenset[str]) -> bytes:
    """A parameter as JSON: its own text if this is a value of the declared type, else a string."""
    bare = text.strip()
    if "null" in types and bare == "null":
        return b"null"
    if types == _ANY or "string" in types:
        return dump(text)
    if "boolean" in types and bare.lower() in ("true", "false"):  # models also write Python's True
        return bare.lower().encode()
    if not bare and types <= {"array", "object"}:  # an element without elements
        return b"[]" if "array" in types else b"{}"
    return bare.encode() if _kind(bare) in types else dump(text)


def _below(schema: Schema, name: str, references: References) -> Schema:
    """The schema of a property; of an array's items for the name "". True where there is none."""
    pending: list[Schema | None] = [schema]
    for _ in range(_MOST_STEPS):
        if not pending:
            break
        node = pending.pop()
        if not isinstance(node, dict):
            continue
        named = node.get("properties") if name else node
        if isinstance(named, dict) and isinstance(found := named.get(name or "items"), dict):
            return found
        pending += _alternatives(node, references)
    return True


def _alternatives(node: dict[str, Any], references: References) -> Iterator[Schema | None]:
    """The schemas that say more of the value that this one is about."""
    for keyword in ("anyOf", "oneOf", "allOf"):
        if isinstance(node.get(keyword), list):
            yield from node[keyword]
    if "$ref" in node:
        yield references.target(node["$ref"])


def _kind(text: Content) -> str:
    """The JSON type of a text, "" if it is no JSON value. A whole number is an "integer", however it is written."""
    if not isinstance(text, str):
        return ""
    try:
        value = msgspec.json.decode(text)
    except (ValueError, RecursionError):
        return ""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, float) and value.is_integer():
        return "integer"
    kinds = {str: "string", int: "integer", float: "number", dict: "object", list: "array"}
    return kinds.get(type(value), "null")


def _types(schema: Schema, references: References) -> frozenset[str]:
    """The JSON types that the schema names for a value; with "number" also "integer". Empty if it names none."""
    found: set[str] = set()
    pending: list[Schema | None] = [schema]
    for _ in range(_MOST_STEPS):
        if not pending:
            break
        node = pending.pop()
        if not isinstance(node, dict):
            continue
        declared = node.get("type")
        if declared is not None:
            found.update([declared] if isinstance(declared, str) else filter(_is_text, declared))
            continue
        values = node["enum"] if isinstance(node.get("enum"), list) else [node["const"]] if "const" in node else []
        found.update(_kind(dump(value).decode()) for value in values)
        pending += _alternatives(node, references)
    return frozenset(found | {"integer"} if "number" in found else found)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _from_json(raw: str | None) -> str | None:
    """The text of a JSON object. Some models write the object as a string, as in Chat's API."""
    if raw is None:
        return "{}"
    if raw[:1] == '"':
        try:
            raw = msgspec.json.decode(raw, type=str)
        except ValueError:
            return None
    return raw if is_object(raw) else None


def _input(arguments: str) -> str | None:
    """The input of a custom tool: the only member of the object that the model wrote."""
    values = list(members(arguments.encode()).values())
    try:
        return msgspec.json.decode(values[0], type=str) if len(values) == 1 else None
    except ValueError:
        return None
