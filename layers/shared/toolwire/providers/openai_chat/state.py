"""State that Chat hosts want back and OpenAI's protocol has no field for: on a message OpenRouter's
`reasoning_details`, LiteLLM's signed `thinking_blocks` and Copilot's `reasoning_opaque`; on a call `extra_content` of
Gemini's endpoint and LiteLLM's `provider_specific_fields`. In the neutral stream it is a signature: a JSON object of
these members.
"""

from __future__ import annotations

from typing import Any

import msgspec

from toolwire.wire import openai_chat as wire
from toolwire.wire.json import dump, is_set, members

#: The members that hold a message's state, and those that hold a call's -> how their values begin.
MESSAGE_STATE = {"reasoning_details": b"[", "thinking_blocks": b"[", "reasoning_opaque": b'"'}
CALL_STATE = {"extra_content": b"{", "provider_specific_fields": b"{"}

#: The members of a detail that arrive in pieces.
_PIECES = ("text", "summary", "data")
#: Those of them that hold readable text.
_READABLE = ("text", "summary")


class ReasoningState:
    """The reasoning of one answer's message while it arrives, with its state.

    The pieces of one of the `reasoning_details` have its index. At MiniMax each piece may be the whole text so far
    (https://platform.minimax.io/docs/api-reference/text-openai-api), which the second piece shows. A block of
    `thinking_blocks` comes in pieces; the last one has the signature, and may repeat the whole text. No host wants a
    block without a signature back.
    """

    def __init__(self) -> None:
        self._details: list[Any] = []
        self._blocks: list[Any] = []
        self._thinking = ""  # of the block that has no signature yet
        self._opaque: str | None = None
        #: Whether each detail repeats the whole text so far; None: not known yet.
        self._repeats: bool | None = None
        self._signed = False  # whether there was a signature
        self._told_plainly = False  # reasoning also came as plain text

    @property
    def has_had_any(self) -> bool:
        """Whether the answer has shown state so far."""
        return self._signed or bool(self._details or self._blocks or self._opaque)

    def take(self, delta: wire.Delta) -> tuple[str | None, bool]:
        """Returns the reasoning of a delta, whatever its member is called, and whether no other member than
        `reasoning_content` held some: Chat clients are shown only that one."""
        named = delta.reasoning or delta.reasoning_text or delta.thinking or delta.cot_summary
        said = delta.reasoning_content or named
        if said:
            self._told_plainly = True
        if delta.reasoning_opaque:
            self._opaque = delta.reasoning_opaque  # comes whole
        if is_set(delta.reasoning_details):
            readable = self._take_details(bytes(delta.reasoning_details))
            if self._repeats:  # and so does what is beside them
                return readable, bool(delta.reasoning_content) or not (named or readable)
            named = named or (None if said else readable)
        if is_set(delta.thinking_blocks):
            readable = self._take_blocks(bytes(delta.thinking_blocks))
            named = named or (None if self._told_plainly else readable)
        return said or named, not named

    def _take_blocks(self, raw: bytes) -> str:
        """Takes more of the `thinking_blocks`. Returns their new text."""
        text = ""
        for block in _listed(raw):
            kind = block.get("type") if isinstance(block, dict) else None
            if kind == "redacted_thinking":
                self._blocks.append(block)
            if kind != "thinking":
                continue
            said = block["thinking"] if isinstance(block.get("thinking"), str) else ""
            signed = bool(block.get("signature"))
            text += said if not (signed and said == self._thinking) else ""
            self._thinking = said if signed and said == self._thinking else self._thinking + said
            if signed:
                self._blocks.append({**block, "thinking": self._thinking})
                self._thinking = ""
        return text

    def _take_details(self, raw: bytes) -> str:
        """Takes more of the `reasoning_details`. Returns their readable text. Anything but a list of objects is
        ignored."""
        details = _listed(raw)
        text = ""
        for detail in details:
            last: Any = self._details[-1] if self._details else None
            if isinstance(detail, dict) and _goes_on(last, detail):
                detail = self._piece_of(last, detail)
                _join(last, detail)
            else:
                self._details.append(detail)
            if isinstance(detail, dict):
                text += next((value for name in _READABLE if isinstance(value := detail.get(name), str)), "")
        return text

    def _piece_of(self, last: dict[str, Any], detail: dict[str, Any]) -> dict[str, Any]:
        """The detail with only the new part of its text."""
        told, text = last.get("text"), detail.get("text")
        of_minimax = str(detail.get("format") or last.get("format")).startswith("MiniMax")
        if not of_minimax or not isinstance(told, str) or not isinstance(text, str) or not told.strip():
            return detail
        if self._repeats is None:
            self._repeats = text.startswith(told)
        return {**detail, "text": text[len(told) :]} if self._repeats and text.startswith(told) else detail

    def signature(self) -> str | None:
        """The signature of the state that no signature holds yet; None if there is none."""
        told = zip(MESSAGE_STATE, (self._details, self._blocks, self._opaque), strict=True)
        found = {name: value for name, value in told if value}
        self._details, self._blocks, self._opaque = [], [], None
        self._signed = self._signed or bool(found)
        return dump(found).decode() if found else None


def _listed(raw: bytes) -> list[Any]:
    """The values of a list; none for anything else."""
    try:
        found = msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return []
    return found if isinstance(found, list) else []


def call_signature(found: dict[str, msgspec.Raw]) -> str | None:
    """The state on a call: those of these members that are not empty."""
    told = [f'"{name}":{bytes(raw).decode("utf-8", "surrogatepass")}' for name, raw in found.items() if is_set(raw)]
    return "{" + ",".join(told) + "}" if told else None


def state_members(signature: str, known: dict[str, bytes]) -> dict[str, bytes]:
    """The known members in a signature. A client can send anything as a signature, so only these members, and only in
    their form, get into the request."""
    try:
        found = members(signature.encode())
    except (ValueError, RecursionError):  # no JSON object, or no text
        return {}
    return {name: found[name] for name, begins in known.items() if found.get(name, b"").startswith(begins)}


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
