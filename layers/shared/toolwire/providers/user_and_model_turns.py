"""Writes a history as alternating turns of the user and the model, for the wires whose API has such turns.

Such an API wants the user's turn first, no empty turn, and every result in the one user's turn right behind the turn
with its call, before anything else there. Only content that the API has no place for is dropped or moved.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from toolwire.model.request import Message, TextPart, ToolCallPart
from toolwire.model.source import Members
from toolwire.model.warnings import Warnings
from toolwire.rewrite.history import object_arguments
from toolwire.wire.json import dump, write_array, write_object


def marked_instructions(message: Message) -> str:
    """The text of instructions inside a conversation, marked, for a user's turn: the API has no role for it."""
    text = "\n".join(part.text for part in message.parts if type(part) is TextPart)
    return f"<system>\n{text}\n</system>"


def arguments_object(call: ToolCallPart, warnings: Warnings) -> bytes:
    """A call's arguments as a JSON object. Half a surrogate pair, which UTF-8 cannot hold, is escaped."""
    return object_arguments(call.arguments, warnings).encode("utf-8", "backslashreplace")


@dataclass(slots=True)
class Turn:
    """One message of the API. `answer`: the user's turn behind an assistant's. `raw`: a whole message of a client of
    the same API, to which nothing may be added."""

    role: str
    results: list[bytes] = field(default_factory=list)
    blocks: list[bytes] = field(default_factory=list)
    answer: Turn | None = None
    raw: bytes | None = None
    extra: Members = ()

    def written(self) -> bytes:
        if self.raw is not None:
            return self.raw
        content = write_array([*self.results, *self.blocks])
        return write_object([("role", dump(self.role)), ("content", content), *self.extra])


class Turns:
    """The turns of one history, while they are written."""

    def __init__(self) -> None:
        self._turns: list[Turn] = []
        self._callers: dict[str, Turn] = {}  # call id -> the turn that made it

    @property
    def last_role(self) -> str | None:
        """The role of the last turn; None before the first."""
        return self._turns[-1].role if self._turns else None

    def open(self, role: str) -> Turn:
        """The turn to write to: the last one if it has this role, else a new one."""
        last = self._turns[-1] if self._turns else None
        return last if last is not None and last.role == role and last.raw is None else self.append(Turn(role))

    def append(self, turn: Turn) -> Turn:
        """Adds the turn behind the last one, and returns it."""
        if self._turns:
            self._turns[-1].answer = turn
        self._turns.append(turn)
        return turn

    def note_calls(self, turn: Turn, calls: Iterable[ToolCallPart]) -> None:
        """Notes the turn of these calls, so that their results can be put behind it."""
        self._callers |= {call.id: turn for call in calls}

    def answer_to(self, call_id: str) -> Turn:
        """The turn for a call's result: the user's turn right behind the call's turn, wherever the client put the
        result."""
        caller = self._callers.get(call_id)
        turn = caller.answer if caller is not None else None
        return turn if turn is not None and turn.raw is None else self.open("user")

    def end(self, no_text: bytes, warnings: Warnings) -> bytes:
        """The turns as JSON. An empty turn, and a missing user's turn at the beginning, get the text `no_text`, with a
        warning."""
        if not self._turns or (self._turns[0].role != "user" and self._turns[0].raw is None):
            self._turns.insert(0, Turn("user"))
        for turn in self._turns:
            if not turn.results and not turn.blocks and turn.raw is None:
                turn.blocks.append(no_text)
                warnings.add("empty_message")
        return write_array(turn.written() for turn in self._turns)
