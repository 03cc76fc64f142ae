"""What a streamed answer of the Responses door holds at a moment: its open items and what they have said.

An item is written by us, or is the upstream's own (`raw`) and only followed, so that the door can take over in the
middle: close it, or say in a failure how far it came.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

from toolwire.doors.responses.output_items import call_item, message_item, reasoning_item, text_content
from toolwire.model.events import Finish
from toolwire.model.source import Members
from toolwire.wire.json import is_object
from toolwire.wire.openai_client_tools import CALLS
from toolwire.wire.openai_responses import SEARCH_CALL

Kind = Literal[
    "message", "reasoning", "function_call", "custom_tool_call", "tool_search_call",
    "local_shell_call", "shell_call", "apply_patch_call", "computer_call",
]  # fmt: skip

#: Calls that are told by their items alone, at their end: no events are defined for them, or few clients know them.
WHOLE: Final = frozenset({SEARCH_CALL, *CALLS})


@dataclass(slots=True)
class Content:
    """One part of a message's content."""

    index: int
    refusal: bool
    pieces: list[str] = field(default_factory=list)
    closed: bool = False

    @property
    def text(self) -> str:
        return "".join(self.pieces)


@dataclass(slots=True)
class OutputItem:
    """One item. `index` is its `output_index`."""

    kind: Kind
    id: str
    index: int
    contents: list[Content] = field(default_factory=list)  # of a message
    pieces: list[str] = field(default_factory=list)  # of reasoning or of a call
    call_id: str = ""
    name: tuple[str | None, str] = (None, "")
    extra: Members = ()
    signature: str | None = None
    closed: bool = False
    #: Whether some of its text was written anew within the upstream's own item, and the end of that text is to be told.
    mended: bool = False

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    def final_status(self, finish: Finish, is_last: bool) -> str:
        """The status at the answer's end: in one that was cut, a call is incomplete without whole arguments, text and
        a freeform call where they are what came last."""
        if self.kind == "function_call" or self.kind in WHOLE:
            cut = finish.is_cut and not is_object(self.text)
        elif self.kind == "message":
            cut = is_last and finish.is_cut
        else:
            cut = is_last and self.kind == "custom_tool_call" and finish.is_cut
        return "incomplete" if cut else "completed"

    def write(self, status: str) -> bytes:
        """The item with all that it has said."""
        match self.kind:
            case "message":
                contents = (text_content(content.text, content.refusal) for content in self.contents)
                return message_item(self.id, status, contents)
            case "reasoning":
                return reasoning_item(self.id, status, [self.text] if self.pieces else [], self.signature)
            case _:
                return call_item(self.kind, self.id, status, self.call_id, self.name, self.text, self.extra)

    def opening(self) -> bytes:
        """The item as it begins: named, and with nothing said."""
        match self.kind:
            case "message":
                return message_item(self.id, "in_progress", ())
            case "reasoning":
                return reasoning_item(self.id, "in_progress", (), None)
            case _:
                return call_item(self.kind, self.id, "in_progress", self.call_id, self.name, "", self.extra)
