"""A WebSocket (RFC 6455) on a client's connection: the handshake and whole messages of text. `websockets` reads and
writes the frames, without its network."""

from __future__ import annotations

import socket
from collections import deque

from websockets.datastructures import Headers
from websockets.frames import CloseCode, Frame, Opcode
from websockets.http11 import Request
from websockets.protocol import SERVER, Protocol, State
from websockets.server import ServerProtocol

from local.http import RefusedError, RequestHead

_PIECE_BYTES = 64 << 10


class WebSocket:
    """One open WebSocket. Its socket is read by whoever calls `receive` or `listen`; pings are answered there."""

    def __init__(self, connection: socket.socket, head: RequestHead, most_bytes: int) -> None:
        """Accepts the handshake that `head` is. A message over `most_bytes` ends the connection, with code 1009.
        Raises RefusedError for what is no handshake."""
        handshake = ServerProtocol()
        answer = handshake.accept(Request(head.target, Headers(head.headers)))
        if answer.status_code != 101:
            fields = tuple(item for item in answer.headers.raw_items() if item[0].lower().startswith("sec-websocket"))
            raise RefusedError("This is no valid WebSocket handshake.", answer.status_code, headers=fields)
        handshake.send_response(answer)
        self.connection = connection
        self._protocol = Protocol(SERVER, max_size=most_bytes)
        self._message: list[bytes] = []
        self._waiting: deque[bytes] = deque()
        self._pinged = self._ended = False
        connection.sendall(b"".join(handshake.data_to_send()))

    @property
    def is_open(self) -> bool:
        """Whether messages may still come."""
        return self._protocol.state is State.OPEN and not self._ended

    def receive(self) -> bytes | None:
        """The next message; None at the end of the connection. A client that says nothing for as long as the socket
        waits is sent a ping, and has ended when it does not answer that either."""
        while not self._waiting and self.is_open:
            try:
                data = self.connection.recv(_PIECE_BYTES)
            except BlockingIOError:
                if self._pinged:
                    self._protocol.fail(CloseCode.INTERNAL_ERROR, "no pong in time")
                    self._send()
                    return None
                self.connection.sendall(self.ping())
                self._pinged = True
            else:
                self._pinged = False
                self._take(data)
        return self._waiting.popleft() if self._waiting else None

    def listen(self) -> bool:
        """Takes what the client has sent, while it is being answered. Returns False when its next message is there: the
        one after that waits in the socket. Raises OSError when it has ended the connection."""
        while self.is_open and not self._waiting:
            try:
                data = self.connection.recv(_PIECE_BYTES, socket.MSG_DONTWAIT)
            except BlockingIOError:
                return True
            self._take(data)
        if not self.is_open:
            raise ConnectionAbortedError("the client ended its WebSocket")
        return False

    def text(self, message: bytes) -> bytes:
        """The bytes that carry a message, for whoever sends them."""
        self._protocol.send_text(message)
        return b"".join(self._protocol.data_to_send())

    def ping(self) -> bytes:
        """The bytes of a ping."""
        self._protocol.send_ping(b"")
        return b"".join(self._protocol.data_to_send())

    def _take(self, data: bytes) -> None:
        self._ended = not data  # without a word: the protocol takes it for open still
        self._protocol.receive_data(data)
        for frame in self._protocol.events_received():
            assert isinstance(frame, Frame)
            if frame.opcode is Opcode.BINARY:
                self._protocol.fail(CloseCode.UNSUPPORTED_DATA, "messages are text")
                break
            if frame.opcode in (Opcode.TEXT, Opcode.CONT):
                self._message.append(bytes(frame.data))
                if frame.fin:
                    self._end_message()
        self._send()

    def _end_message(self) -> None:
        message = b"".join(self._message)
        self._message.clear()
        try:
            message.decode()
        except UnicodeDecodeError:
            self._protocol.fail(CloseCode.INVALID_DATA, "messages are UTF-8")
        else:
            self._waiting.append(message)

    def _send(self) -> None:
        """Sends what the protocol answers by itself: pongs, and the end."""
        self.connection.sendall(b"".join(self._protocol.data_to_send()))
