"""Answers of Gemini's API with names in snake_case, as proxies write them whose JSON is made from the Python types.

The shapes of `gemini` refuse such a name where it stands for something that must not be lost; what they refuse is read
again after `camel_answer` or `camel_part`. Only the API's own names are changed: arguments keep their text.
"""

from __future__ import annotations

import re

from toolwire.wire.json import elements, members, write_array, write_object

_SNAKE = re.compile(r"_([a-z])")


def camel_answer(raw: bytes) -> bytes:
    """The answer, or the chunk of one, in the API's own names, its parts as they are. Raises ValueError if it is no
    JSON object."""
    found = _renamed(raw)
    for name in ("usageMetadata", "promptFeedback"):
        if found.get(name, b"")[:1] == b"{":
            found[name] = write_object(_renamed(found[name]).items())
    if found.get("candidates", b"")[:1] == b"[":
        candidates = (write_object(_renamed(candidate).items()) for candidate in elements(found["candidates"]))
        found["candidates"] = write_array(candidates)
    return write_object(found.items())


def camel_part(raw: bytes) -> bytes:
    """One part in the API's own names. Raises ValueError if it is no JSON object."""
    found = _renamed(raw)
    call = found.get("functionCall", b"")
    if call[:1] == b"{":
        within = _renamed(call)
        if within.get("partialArgs", b"")[:1] == b"[":
            pieces = (write_object(_renamed(piece).items()) for piece in elements(within["partialArgs"]))
            within["partialArgs"] = write_array(pieces)
        found["functionCall"] = write_object(within.items())
    return write_object(found.items())


def _renamed(raw: bytes) -> dict[str, bytes]:
    return {_SNAKE.sub(lambda match: match[1].upper(), name): value for name, value in members(raw).items()}
