"""Reads values of answers in all forms that hosts write: numbers as strings, content in parts, reasoning in an object,
half a surrogate pair, NaN. For the slow paths of the wires (`*_lenient.py`)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from toolwire.wire.cross_api_names import REASONING_PARTS
from toolwire.wire.json import ESCAPE, elements, members

#: Members of an object that is reasoning.
_REASONING = ("text", "content", "thinking", "summary")
#: Members of a part of a content that are reasoning.
THINKING = ("thinking", "summary", "reasoning")


def readable(raw: bytes) -> bytes:
    """The document in a form that msgspec can split. msgspec refuses an escaped half of a surrogate pair even in values
    that it skips, so each becomes the three bytes that Python's `surrogatepass` writes."""
    return ESCAPE.sub(
        lambda match: chr(int(match[1], 16)).encode("utf-8", "surrogatepass") if match[1] else match[0], raw
    )


def repaired(raw: bytes) -> bytes:
    """The document with two faults of hosts repaired: NaN and Infinity (in logprobs) become null, and control
    characters in strings are escaped. Raises ValueError if it still is no JSON."""
    return json.dumps(json.loads(raw, strict=False, parse_constant=lambda _: None)).encode()


def text_of(raw: bytes | None) -> str | None:
    """A string; any other value but null as its own JSON text."""
    if raw is None or raw == b"null":
        return None
    text = raw.decode("utf-8", "surrogatepass")  # of half a surrogate pair the other half is in the next chunk
    return str(json.loads(text, strict=False)) if raw[:1] == b'"' else text


def number_of(raw: bytes | None) -> int | None:
    """A whole number, which may be written as a string; None for a value that is none."""
    value: Any = json.loads(raw) if raw is not None else None
    if isinstance(value, str) and value.isdecimal():
        value = int(value)
    return int(value) if isinstance(value, int | float) else None


def listed(raw: bytes) -> list[bytes] | None:
    """The elements of a list, or the one object that a host sent without a list."""
    return elements(raw) if raw[:1] == b"[" else [raw] if raw[:1] == b"{" and members(raw) else None


def parts_of(content: bytes) -> Iterator[tuple[bytes, str | None, dict[str, bytes]]]:
    """The objects among the parts of a content, each with its type and its members."""
    for part in (listed(content) or ()) if content[:1] in (b"[", b"{") else ():
        if part[:1] == b"{":
            found = members(part)
            yield part, text_of(found.get("type")), found


def content_of(raw: bytes | None) -> tuple[str | None, str | None]:
    """The text and the thinking of a content, which may be a list of parts with thinking parts (Mistral, Databricks),
    or one part without a list."""
    if raw is None or raw[:1] not in (b"[", b"{"):
        return text_of(raw), None
    text: list[str] = []
    thinking: list[str] = []
    for element in elements(raw) if raw[:1] == b"[" else [raw]:
        if element[:1] == b'"':
            text.append(text_of(element) or "")
            continue
        part = members(element)
        inner = next((part[name] for name in THINKING if name in part), None)
        if inner is None and text_of(part.get("type")) in REASONING_PARTS:
            inner = part.get("text")
        if inner is not None:
            thinking.append(reasoning_of(inner) or "")
        else:
            text.append(text_of(part.get("text")) or "")
    return "".join(text), "".join(thinking) or None


def reasoning_of(raw: bytes | None) -> str | None:
    """The text of reasoning, which may be in parts, or in an object. Another value is a flag, and no text."""
    if raw is None or raw[:1] not in (b"[", b"{"):
        return text_of(raw) if raw is not None and raw[:1] == b'"' else None
    found = members(raw) if raw[:1] == b"{" else {"content": raw}
    inner = next((found[name] for name in _REASONING if name in found), None)
    if inner is None:
        return text_of(raw) if found else None
    text, thinking = content_of(inner)
    return (thinking or "") + (text or "")
