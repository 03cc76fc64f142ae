"""The state of a streamed answer of the Responses door: its open items and their content so far.

An item is written by us, or it is the upstream's own (`raw`). The latter is followed too, so that the door can take
over in the middle: to close it, or to show it in a failure.
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

#: Kinds of calls without events of their own, which are shown only at their end: none are defined, or few clients know
#: them.
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
    #: Whether some of its text was written anew within the upstream's own item, so that the end of the text must be
    #: written too.
    mended: bool = False

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    def final_status(self, finish: Finish, is_last: bool) -> str:
        """The status at the answer's end. In an answer that was cut, a call without whole arguments is incomplete, and
        so is a last item that is a text or a freeform call."""
        if self.kind == "function_call" or self.kind in WHOLE:
            cut = finish.is_cut and not is_object(self.text)
        elif self.kind == "message":
            cut = is_last and finish.is_cut
        else:
            cut = is_last and self.kind == "custom_tool_call" and finish.is_cut
        return "incomplete" if cut else "completed"

    def write(self, status: str) -> bytes:
        """The item with its content so far."""
        match self.kind:
            case "message":
                contents = (text_content(content.text, content.refusal) for content in self.contents)
                return message_item(self.id, status, contents)
            case "reasoning":
                return reasoning_item(self.id, status, [self.text] if self.pieces else [], self.signature)
            case _:
                return call_item(self.kind, self.id, status, self.call_id, self.name, self.text, self.extra)

    def opening(self) -> bytes:
        """The item at its beginning: with its name and no content."""
        match self.kind:
            case "message":
                return message_item(self.id, "in_progress", ())
            case "reasoning":
                return reasoning_item(self.id, "in_progress", (), None)
            case _:
                return call_item(self.kind, self.id, "in_progress", self.call_id, self.name, "", self.extra)
