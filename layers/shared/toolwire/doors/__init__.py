"""The doors: the APIs we serve, one file each (its answer side beside it). A door never imports a provider.

A new door is a module with a `DOOR` object of this protocol and a row in `DOORS`; its function is a dozen lines in
`functions/`. Doors are imported when they are needed: a cold start pays for one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Protocol

from toolwire.model.errors import GatewayError
from toolwire.model.events import Batch
from toolwire.model.faults import CallFault
from toolwire.model.request import ChatRequest
from toolwire.model.response import ChatResponse


@dataclass(slots=True)
class AnswerContext:
    """What an answer may tell beside its events. `warnings` are codes, `faults` what validation found in its calls;
    more may come until the answer's end."""

    request_id: str
    conversation_id: str
    provider: str
    #: What was asked, for doors whose answers repeat some of it.
    request: ChatRequest
    warnings: list[str] = field(default_factory=list)
    faults: list[CallFault] = field(default_factory=list)


class StreamEncoder(Protocol):
    """Events to the door's bytes, one instance a response."""

    def encode(self, batch: Batch) -> bytes:
        """What the client is sent for this batch, maybe nothing yet. Raises UpstreamProtocolError for an answer that
        the provider ended well and the door cannot show."""

    def fail(self, error: GatewayError, request_id: str) -> bytes:
        """The door's error event and a proper end, which never looks like a clean stop."""

    def keep_alive(self) -> bytes:
        """What may be sent at this moment to show that the connection lives, changing nothing."""


class Door(Protocol):
    """One API we serve."""

    name: str
    dialect: str
    #: A provider's call id is shown to the client only if it matches this.
    call_id: str
    #: What the ids of answers begin with.
    response_prefix: str

    def parse_request(self, body: bytes, headers: dict[str, str]) -> ChatRequest:
        """Raises RequestError naming the JSON path, what was there, and the fix."""

    def stream_encoder(self, request: ChatRequest, context: AnswerContext) -> StreamEncoder: ...

    def render_response(self, response: ChatResponse, batch: Batch, context: AnswerContext) -> bytes:
        """The JSON answer. `batch` is the whole answer's: its source, in the same dialect, is the answer."""

    def render_error(self, error: GatewayError, request_id: str) -> bytes:
        """The body of an error answer in the door's dialect."""


#: name -> module with a `DOOR`.
DOORS = {
    "chat": "toolwire.doors.chat_completions.request",
    "messages": "toolwire.doors.messages.request",
    "native": "toolwire.doors.native.request",
    "responses": "toolwire.doors.responses.request",
}


def load_door(name: str) -> Door:
    door: Any = import_module(DOORS[name]).DOOR
    return door  # type: ignore[no-any-return]
