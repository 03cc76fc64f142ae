"""Calls of an assistant's message in forms that no Chat API documents, as the documented ones that they mean: the list
as the text of its JSON, calls of LangChain's, arguments that are null. What the API's documents rule out in their own
form (arguments that are an object, a call or a result without its id) is refused as it is."""

from __future__ import annotations

from toolwire.doors.typed_json import decode
from toolwire.wire.json import dump, elements, members, write_object


def calls_in(raw: bytes) -> list[bytes]:
    """The calls of an assistant's message, each in its documented form; none where there is no list."""
    if raw[:1] == b'"':
        raw = decode(raw, str, "tool_calls").strip().encode("utf-8", "surrogatepass")
    return list(map(_call, elements(raw))) if raw[:1] == b"[" else []


def arguments_text(value: bytes) -> bytes:
    """Arguments as the text that they are in this API: a JSON value's own, `{}` for none."""
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
