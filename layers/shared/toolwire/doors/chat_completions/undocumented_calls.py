"""Rewrites calls of an assistant's message from forms that no Chat API documents: the list as a JSON string,
LangChain's calls, null arguments. Forms that the API's documentation forbids are not rewritten but refused: arguments
that are an object, a call or a result without its id."""

from __future__ import annotations

from toolwire.doors.typed_json import decode
from toolwire.wire.json import dump, elements, members, write_object


def calls_in(raw: bytes) -> list[bytes]:
    """The calls of an assistant's message, each in its documented form; none if there is no list."""
    if raw[:1] == b'"':
        raw = decode(raw, str, "tool_calls").strip().encode("utf-8", "surrogatepass")
    return list(map(_call, elements(raw))) if raw[:1] == b"[" else []


def arguments_text(value: bytes) -> bytes:
    """Arguments as a text, as this API has them: the text of a JSON value, `{}` for none."""
    return dump("{}" if value in (b"", b"null") else value.decode("utf-8", "surrogatepass"))


def _call(raw: bytes) -> bytes:
    call = members(raw) if raw[:1] == b"{" else {}
    if "function" not in call and call.keys() >= {"name", "args"}:
        inner = [("name", call.pop("name")), ("arguments", arguments_text(call.pop("args")))]
        return write_object((call | {"type": b'"function"', "function": write_object(inner)}).items())
    inner_of = members(call["function"]) if call.get("function", b"")[:1] == b"{" else {}
    if inner_of.get("arguments") != b"null":
        return raw
    return write_object((call | {"function": write_object((inner_of | {"arguments": b'"{}"'}).items())}).items())
