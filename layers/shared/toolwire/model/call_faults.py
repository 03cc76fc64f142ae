"""Faults of tool calls in answers. The policy finds them; a door may show them beside the call."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CallFault:
    """One fault of one call. It never quotes a value of the arguments, which belong to the conversation.

    `code` is "unknown_tool_call" (no tool of that name was declared), "malformed_tool_arguments" (no JSON object) or
    "invalid_tool_arguments" (not what the tool's schema allows). `path` is a JSON pointer into the arguments, "" for
    the whole; `expected` and `got` say in words what should stand there and what does.
    """

    #: The part's index in the answer, and the call's id, both as the client sees them.
    index: int
    tool_call_id: str
    name: str
    code: str
    path: str
    expected: str
    got: str

    @property
    def what(self) -> str:
        """The fault without its call, as a part of a sentence."""
        where = f"at {self.path[:200]!r}: " if self.path else ""
        return f"{where}expected {self.expected}, got {self.got}"

    @property
    def message(self) -> str:
        """The fault as a sentence for people."""
        call = f"the call {self.tool_call_id[:64]} of the tool {self.name[:128]!r}"
        return f"{call}{' ' if self.path else ': '}{self.what}"
