"""Arguments that are the text of a JSON string, in which the object stands."""

from __future__ import annotations

import msgspec

from toolwire.wire.json import is_object

#: How such arguments begin.
BEGINS = '"'


def meant(text: str) -> tuple[str, bool]:
    """The arguments that a host means by a whole text, and whether they were the text of a JSON string. An empty string
    is no arguments; a text that means nothing else is returned as it is (`null`, as Groq writes it, is one)."""
    try:
        inner = msgspec.json.decode(text, type=str)
    except (ValueError, RecursionError):
        return text, False
    return (inner, True) if not inner.strip() or is_object(inner) else (text, False)
