"""What Chat hosts want back that OpenAI's protocol has no field for: OpenRouter's `reasoning_details` on a message,
`extra_content` of Gemini's endpoint on a call. In a neutral stream it is a signature: a JSON object of those members.
"""

from __future__ import annotations

from typing import Any

import msgspec

from toolwire.wire.json import dump, members

#: The member that holds a message's state, an array, and that of a call's, an object.
MESSAGE_STATE, CALL_STATE = "reasoning_details", "extra_content"
_BEGINS = {MESSAGE_STATE: b"[", CALL_STATE: b"{"}

#: Members of a detail that arrive in pieces.
_PIECES = ("text", "summary", "data")
#: Of these, what a reader can read.
_READABLE = ("text", "summary")


class ReasoningDetails:
    """The `reasoning_details` of one answer while they arrive: pieces of one detail come as details of its index."""

    def __init__(self) -> None:
        self._details: list[Any] = []

    def take(self, raw: bytes) -> str:
        """More of them; the text in them that can be read. What is no list of objects says nothing that could be given
        back."""
        try:
            details = msgspec.json.decode(raw)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return ""
        text = ""
        for detail in details if isinstance(details, list) else ():
            last: Any = self._details[-1] if self._details else None
            if isinstance(detail, dict) and _goes_on(last, detail):
                _join(last, detail)
            else:
                self._details.append(detail)
            if isinstance(detail, dict):
                text += next((value for name in _READABLE if isinstance(value := detail.get(name), str)), "")
        return text

    def signature(self) -> str | None:
        """Those that no signature has held yet."""
        details, self._details = self._details, []
        return dump({"reasoning_details": details}).decode() if details else None


def call_signature(extra_content: bytes) -> str:
    """The state that stands on a call."""
    return '{"extra_content":' + extra_content.decode("utf-8", "surrogatepass") + "}"


def state_member(signature: str, name: str) -> dict[str, bytes]:
    """The member of this name in a signature, if it has it. A client may bring what it likes as a signature: nothing
    but this member gets into the request by it, and only in its form."""
    try:
        value = members(signature.encode()).get(name, b"")
        return {name: value} if value.startswith(_BEGINS[name]) else {}
    except (ValueError, RecursionError):  # no JSON object, or no text
        return {}


def _goes_on(last: Any, detail: dict[str, Any]) -> bool:
    if not isinstance(last, dict) or last.get("type") != detail.get("type"):
        return False
    known, index = last.get("index"), detail.get("index")
    ids = [of["id"] for of in (last, detail) if of.get("id") is not None]
    # A whole encrypted block has no pieces, unless its host says where they belong.
    return known == index and ids[:1] == ids[-1:] and (index is not None or detail.get("type") == "reasoning.text")


def _join(last: dict[str, Any], detail: dict[str, Any]) -> None:
    for name, value in detail.items():
        if name in _PIECES and isinstance(value, str) and isinstance(last.get(name), str):
            last[name] += value
        elif value is not None:
            last[name] = value
