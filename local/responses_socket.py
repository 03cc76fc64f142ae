"""The Responses API in a WebSocket, as OpenAI and Open Responses have it: each `response.create` is a POST /responses,
and its events come as messages of text, one answer after the other.

A request can continue from the connection's latest answer, even if answers are not kept: its `previous_response_id` is
replaced by the items that were sent and received up to that answer.
"""

from __future__ import annotations

import dataclasses
import socket
import time
import uuid

from local.http import RequestHead
from local.websocket import WebSocket
from toolwire.doors.responses.response_object import ResponseShape
from toolwire.framing.sse import SseDecoder
from toolwire.model.errors import RequestError
from toolwire.model.events import ResponseStart, Usage
from toolwire.model.http import Head
from toolwire.model.limits import BODY_BYTES
from toolwire.pages.paths import Route, resolve
from toolwire.wire.json import dump, elements, raw_members, write_array, write_object

#: Headers of the handshake that do not belong to a request.
_OF_THE_HANDSHAKE = ("connection", "upgrade", "content-type", "content-length", "expect", "transfer-encoding")
#: Members of `response.create` that a request does not have, or that we set.
_OF_THE_SOCKET = ("type", "generate", "stream")
#: Headers of an answer that are sent in the WebSocket, with an error.
_TOLD = ("retry-after", "retry-after-ms", "x-request-id", "x-should-retry")
#: The events after which an answer can be continued.
_ENDS = (b'"response.completed"', b'"response.incomplete"')


def _route(path: str) -> Route:
    route = resolve("POST", path)
    return route if isinstance(route, Route) else Route("", "")


@dataclasses.dataclass(slots=True)
class Turn:
    """An answer that can be continued: its id, and the raw items of the conversation up to it."""

    id: bytes = b"null"
    items: list[bytes] = dataclasses.field(default_factory=list)


class ResponsesSocket:
    """One connection: messages in, requests out, and their answers."""

    def __init__(self, connection: socket.socket, head: RequestHead) -> None:
        """Raises RefusedError for a request that is no handshake."""
        self._socket = WebSocket(connection, head, BODY_BYTES)
        self.route = _route(head.target.partition("?")[0])
        own = [
            (name, value)
            for name, value in head.headers
            if name.lower() not in _OF_THE_HANDSHAKE and not name.lower().startswith("sec-websocket-")
        ]
        headers = [*own, ("content-type", "application/json")]
        fields = {name: value for name, value in head.fields.items() if name in {key.lower() for key, _ in own}}
        fields["content-type"] = "application/json"
        #: The head of each request of this connection.
        self.head = dataclasses.replace(head, method="POST", headers=headers, fields=fields)
        self._last = Turn()

    @property
    def is_open(self) -> bool:
        """Whether messages may still come."""
        return self._socket.is_open

    def receive(self) -> bytes | None:
        """The next message; None at the end of the connection."""
        return self._socket.receive()

    def request(self, message: bytes) -> bytearray | None:
        """The body of the request in a message. None if it was answered here, since it asks nothing of the model.
        Raises GatewayError."""
        given = self._members(message)
        before, self._last = self._last, Turn()  # an answer that fails cannot be continued, nor what it continued
        items = _items(given.get("input", b"[]"))
        if before.id != b"null" and given.get("previous_response_id") == before.id:
            del given["previous_response_id"]
            items = before.items + items
            given["input"] = write_array(items)
        self._last.items = items
        if given.get("generate") == b"false":
            self._warm_up(given.get("model", b"null"))
            return None
        request = {name: value for name, value in given.items() if name not in _OF_THE_SOCKET}
        body = bytearray(write_object([*request.items(), ("stream", b"true")]))
        if len(body) > BODY_BYTES:
            raise RequestError(
                "The conversation is larger than a request may be.", status=413, code="request_too_large"
            )
        return body

    def answer(self) -> SocketAnswer:
        """Carries the answer to the latest request."""
        return SocketAnswer(self._socket, self._last)

    def _members(self, message: bytes) -> dict[str, bytes]:
        try:
            given = {name: bytes(value) for name, value in raw_members(message).items()}
        except ValueError:
            raise RequestError("A message in this WebSocket is a JSON object.") from None
        if given.get("type") != b'"response.create"':
            raise RequestError("Messages of the type `response.create` are taken here.", param="type")
        if "stream_id" in given:
            raise RequestError("One answer at a time is told here: leave `stream_id` out.", param="stream_id")
        return given

    def _warm_up(self, model: bytes) -> None:
        """Answers a request whose `generate` is false: its items are remembered, and nothing is generated."""
        start = ResponseStart(f"resp_{uuid.uuid4().hex}", _text(model), int(time.time()))
        self._last.id = dump(start.id)
        shape, events = ResponseShape(None, time.time), []
        for number, (kind, status, usage) in enumerate(
            (("created", "in_progress", None), ("completed", "completed", Usage(0, 0)))
        ):
            response = shape.write(start, status, (), usage=usage)
            events.append(
                b'{"type":"response.%b","sequence_number":%d,"response":%b}' % (kind.encode(), number, response)
            )
        self._socket.connection.sendall(b"".join(self._socket.text(event) for event in events))


class SocketAnswer:
    """A `Carrier` for one answer in a WebSocket: each event is a message. An answer that is no stream is an error."""

    reaches_client = True

    def __init__(self, websocket: WebSocket, turn: Turn) -> None:
        self.connection: socket.socket | None = websocket.connection
        self._socket, self._turn = websocket, turn
        self._head = Head(200, ())
        self._events: SseDecoder | None = None
        self._document = bytearray()

    @property
    def keeps_open(self) -> bool:
        """Whether another request may follow."""
        return self._socket.is_open

    def connect(self) -> socket.socket:
        raise OSError("the client's connection cannot be opened from here")

    def listen(self) -> bool:
        return self._socket.listen()

    def head(self, head: Head, length: int | None) -> bytes:  # noqa: ARG002 - messages have their own length
        self._head = head
        if "event-stream" in dict(head.headers).get("content-type", ""):
            self._events = SseDecoder()
        return b""

    def frame(self, data: bytes) -> bytes:
        if self._events is None:
            self._document += data
            return b""
        messages = [self._message(frame.data) for frame in self._events.feed(data)]
        return b"".join(messages) if messages or not data.startswith(b":") else self._socket.ping()

    def end(self, failure: BaseException | None) -> bytes:
        if self._events is None:
            return self._socket.text(self._error(bytes(self._document)))
        if failure is None:
            return b"".join([self._message(frame.data) for frame in self._events.end()])
        error = {"type": "server_error", "code": "internal_error", "message": "The gateway failed.", "param": None}
        return self._socket.text(self._error(dump({"error": error})))

    def _message(self, event: bytes) -> bytes:
        if not event.startswith(b"{"):
            return b""
        said = raw_members(event)
        if "item" in said and bytes(said["type"]) == b'"response.output_item.done"':
            self._turn.items.append(bytes(said["item"]))
        elif "response" in said and bytes(said["type"]) in _ENDS:
            self._turn.id = bytes(raw_members(said["response"])["id"])
        return self._socket.text(event)

    def _error(self, document: bytes) -> bytes:
        """The event for an error answer."""
        try:
            said = raw_members(document)
        except ValueError:
            said = raw_members(dump({"error": {"message": document.decode(errors="replace")}}))
        status = self._head.status if self._head.status >= 400 else 500
        headers = {name: value for name, value in self._head.headers if name in _TOLD}
        given = {name: bytes(value) for name, value in said.items() if name not in ("type", "status", "headers")}
        return write_object(
            [("type", b'"error"'), ("status", dump(status)), *given.items(), ("headers", dump(headers))]
        )


def _items(raw: bytes) -> list[bytes]:
    """The items of a request's `input`, which may be a text."""
    if raw.lstrip()[:1] == b'"':
        return [write_object([("type", b'"message"'), ("role", b'"user"'), ("content", raw)])]
    try:
        return elements(raw)
    except ValueError:
        raise RequestError("`input` is a text or an array of items.", param="input") from None


def _text(raw: bytes) -> str:
    return raw[1:-1].decode() if raw[:1] == b'"' else ""
