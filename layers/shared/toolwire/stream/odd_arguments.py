"""Arguments that are no JSON object though they mean one."""

from __future__ import annotations

import msgspec

from toolwire.wire.json import is_object

#: How such arguments begin: `[]`, or a string that holds the text of an object. `null`, as Groq writes it, stays.
BEGINS = ("[", '"')
_NOTHING = ("", "[]")


def meant(text: str) -> tuple[str, bool]:
    """The arguments that a host means by a whole text, and whether they were the text of a JSON string.

    `[]` and an empty string are no arguments. A text that means nothing else is returned as it is.
    """
    if "".join(text.split()) in _NOTHING:
        return "", False
    try:
        inner = msgspec.json.decode(text, type=str)
    except (ValueError, RecursionError):
        return text, False
    if inner.strip() in _NOTHING:
        return "", False
    return (inner, True) if is_object(inner) else (text, False)
