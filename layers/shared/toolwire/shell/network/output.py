"""Sends an answer to the client: a buffer in front of a socket, and a clock.

The runner of a handler (the Lambda runtime, the local server) owns an `Output` for the invocation. Its handler yields
one `Head`, then bytes; `deliver` puts them into the buffer. The buffer is sent when it has 8 KiB, or when the upstream
has nothing to read and its reader calls `before_block`. So events that arrive together leave in one write, and none
waits.

`before_block` also sends keep-alives by the client's clock, not the upstream's: the client times out if it receives
nothing, whether the upstream is silent or its events are held.
"""

from __future__ import annotations

import math
import select
import socket
import struct
import time
import traceback
from collections.abc import Callable, Generator
from contextlib import suppress
from contextvars import ContextVar
from typing import Any, Literal, Protocol

from toolwire.model.errors import ClientGone, InternalError
from toolwire.model.http import Head, Headers

#: With so many bytes the buffer is sent at once.
FLUSH_BYTES = 8 << 10
#: The seconds without a byte to the client after which a keep-alive is sent. Claude Code's watchdog fires after 20.
KEEP_ALIVE_SECONDS = 10.0
#: The seconds from the request on after which status 200 is sent although the upstream is silent.
FIRST_COMMIT_SECONDS = 15.0
#: The same for an answer that is one JSON document. Its status is known only at its end, so 200 is sent as late as
#: possible: API Gateway ends a silent response after 300 s.
DOCUMENT_COMMIT_SECONDS = 240.0
#: The seconds after which a waiting answer checks whether its process is to stop.
_LOOK_SECONDS = 0.25
#: The seconds in which a client must take at least one byte.
SEND_SECONDS = 30.0
#: Computed once: `|` of the enumeration's members takes as long as the call.
PEEK = int(socket.MSG_PEEK | socket.MSG_DONTWAIT)
#: The longest single poll, in seconds. A deadline may be infinite, but not poll's argument.
LONGEST_POLL_SECONDS = 3600.0

#: The generator of a called handler: its head, then the body. It yields no head if the Output has sent one already.
Answer = Generator[Head | bytes, None, Any]


class Carrier(Protocol):
    """The connection that an answer is sent on, and its framing."""

    #: True: the other end is the client, and the input ends when it hangs up. False: it is a middleman, and only an
    #: error shows a hang-up.
    reaches_client: bool

    @property
    def connection(self) -> socket.socket | None:
        """The socket; None while it is not open."""

    def connect(self) -> socket.socket:
        """Opens the connection. Called before the first byte if it is not open. Raises OSError."""

    def listen(self) -> bool:
        """Called when the other end has sent something during the answer. Returns whether to call it again. Raises
        OSError if the other end is gone."""

    def head(self, head: Head, length: int | None) -> bytes:
        """The bytes before the body. `length` is the body's size if the whole answer is known, else None."""

    def frame(self, data: bytes) -> bytes:
        """The bytes that carry `data`, a piece of the body that is not empty."""

    def end(self, failure: BaseException | None) -> bytes:
        """The bytes after the body. With a `failure` they must not make the answer look complete."""


class Audience(Protocol):
    """The interface of those that are told what the client is sent."""

    def left(self, kind: Literal["sent_head", "silence"], what: Head | None = None) -> None:
        """A head is being sent to the client, or the next bytes are a keep-alive."""

    def wrote(self, data: bytes) -> None:
        """Some of the body is being sent to the client."""


class Output:
    """Sends one answer to the client. Not for use by several threads.

    Every method that sends raises ClientGone when the client hung up or took no byte for SEND_SECONDS.
    """

    def __init__(
        self,
        carrier: Carrier,
        *,
        headers: Headers = (),
        clock: Callable[[], float] = time.monotonic,
        keep_alive_seconds: float = KEEP_ALIVE_SECONDS,
        first_commit_seconds: float = FIRST_COMMIT_SECONDS,
    ) -> None:
        #: A head was taken. It counts as sent even while it is in the buffer: from now on a failure is an error event.
        self.head_sent = False
        #: Bytes were sent, so the answer can no longer be replaced.
        self.begun = False
        #: Returns the moment (of the clock) at which running answers end with an error, since the process stops; None:
        #: it does not stop.
        self.stops_at: Callable[[], float] | None = None
        #: The audience.
        self.audience: Audience | None = None
        #: Functions to call when the answer has ended, in any way.
        self.afterwards: Callable[[], None] | None = None
        self._carrier = carrier
        self._headers = headers  # of every head, behind its own
        self._clock = clock
        self._keep_alive_seconds = keep_alive_seconds
        self._began = clock()
        self._commit_at = self._began + first_commit_seconds
        self._quiet_since = clock()
        self._waiting_head: Head | None = None
        self._buffer: list[bytes] = []
        self._buffered = 0
        self._silence: tuple[Head, Callable[[], bytes]] | None = None
        self._watch_input = carrier.reaches_client
        self._gone = False

    def start(self, head: Head) -> None:
        """Takes the head: from the handler, or the early one when the upstream stays silent."""
        if self.head_sent:
            raise RuntimeError("the head was already sent")
        self.head_sent = True
        self._waiting_head = Head(head.status, (*head.headers, *self._headers))
        if self.audience is not None:
            self.audience.left("sent_head", head)

    def write(self, data: bytes) -> None:
        """Takes the next piece of the body. Sends when FLUSH_BYTES are buffered."""
        if not self.head_sent:
            raise RuntimeError("a body before its head")
        if data:
            self._buffer.append(data)
            self._buffered += len(data)
            if self._buffered >= FLUSH_BYTES:
                self.flush()
            if self.audience is not None:
                self.audience.wrote(data)

    def flush(self) -> None:
        """Sends the buffer, with the head."""
        if self._buffered or self._waiting_head is not None:
            self._send(self._take(None))

    def finish(self, failure: BaseException | None = None) -> None:
        """Sends the rest and ends the answer. With a `failure`, it ends so that nobody takes it for complete."""
        if self.head_sent:
            whole = self._buffered if failure is None else None
            self._send(self._take(whole) + self._carrier.end(failure))

    def ended(self) -> None:
        """Called by the handler's runner when the client has its whole answer."""
        if self.afterwards is not None:
            afterwards, self.afterwards = self.afterwards, None
            afterwards()

    def on_silence(
        self, early_head: Head, keep_alive: Callable[[], bytes], commit_seconds: float | None = None
    ) -> None:
        """Sets the head and the keep-alives to send when nothing was sent for long. Without this call nothing is sent
        then. The early head is sent when the request is `commit_seconds` old; None: this output's default."""
        self._silence = early_head, keep_alive
        if commit_seconds is not None:
            self._commit_at = self._began + commit_seconds

    def before_block(self, upstream: socket.socket, deadline: float, events: int = select.POLLIN) -> None:
        """Flushes, then waits until `upstream` is readable (data, end or error), or has other `events` of poll. Sends
        keep-alives meanwhile.

        `deadline` is a moment of the clock; past it, TimeoutError is raised. One poll waits for all of these: the
        upstream, the client's hang-up, the next keep-alive, the deadline.
        """
        self._wait(upstream, deadline, events)

    def _wait(self, upstream: socket.socket | None, deadline: float, events: int = 0) -> None:
        """Waits until `upstream` is ready, if there is one. Raises TimeoutError at the deadline."""
        self.flush()
        while True:
            now = self._clock()
            if now >= deadline:
                raise TimeoutError
            next_moment = min(deadline, self._break_silence(now), self._next_look(now))
            if self._poll(upstream, next_moment - self._clock(), events):
                return

    def pause(self, seconds: float) -> None:
        """Flushes, and waits so many seconds. Sends keep-alives meanwhile."""
        with suppress(TimeoutError):
            self._wait(None, self._clock() + seconds)

    def _next_look(self, now: float) -> float:
        """The moment of the next check whether the process is to stop. Raises InternalError if it is."""
        if self.stops_at is None:
            return math.inf
        if now >= self.stops_at():
            message = "The gateway is stopping, and the answer had no more time to end. Send the request again."
            raise InternalError(message, code="gateway_stopping", status=503)
        return now + _LOOK_SECONDS

    def _take(self, length: int | None) -> bytes:
        """Empties the buffer into bytes for the wire."""
        parts = []
        if self._waiting_head is not None:
            parts.append(self._carrier.head(self._waiting_head, length))
            self._waiting_head = None
        if self._buffered:
            parts.append(self._carrier.frame(b"".join(self._buffer)))
            self._buffer.clear()
            self._buffered = 0
        return b"".join(parts)

    def _send(self, data: bytes) -> None:
        if self._gone:
            raise ClientGone
        if not data:
            return
        try:
            connection = self._carrier.connection or self._carrier.connect()
            self.begun = True
            connection.sendall(data)
        except OSError as error:
            self._gone = True
            raise ClientGone from error
        self._quiet_since = self._clock()

    def _break_silence(self, now: float) -> float:
        """Sends a keep-alive if its time has come, and returns the moment of the next one."""
        if self._silence is None:
            return math.inf
        early_head, keep_alive = self._silence
        due = self._quiet_since + self._keep_alive_seconds if self.head_sent else self._commit_at
        if now < due:
            return due
        if self.audience is not None:
            self.audience.left("silence")
        if not self.head_sent:
            self.start(early_head)
        self.write(keep_alive())
        self.flush()
        self._quiet_since = now  # also if no bytes were sent: this loop would spin otherwise
        return now + self._keep_alive_seconds

    def _poll(self, upstream: socket.socket | None, seconds: float, events: int) -> bool:
        """Polls. Returns whether `upstream` became ready within `seconds`. Raises ClientGone."""
        poll = select.poll()
        if upstream is not None:
            poll.register(upstream, events)
        client = self._carrier.connection
        if client is not None:
            poll.register(client, select.POLLIN if self._watch_input else 0)
        readable = False
        for fd, _ in poll.poll(math.ceil(max(0.0, min(seconds, LONGEST_POLL_SECONDS)) * 1000)):
            if client is not None and fd == client.fileno():
                self._listen()
            else:
                readable = True
        return readable

    def _listen(self) -> None:
        """Called when the client's socket is readable: its end, an error, or more bytes."""
        try:
            self._watch_input = self._carrier.listen() and self._watch_input
        except OSError:
            self._gone = True
            raise ClientGone from None


def is_there(connection: socket.socket) -> bool:
    """`Carrier.listen` for a connection whose next request is read later: True if nothing has come, False if it has.
    Raises OSError at the connection's end."""
    try:
        if not connection.recv(1, PEEK):
            raise ConnectionAbortedError("the other end has hung up")
    except BlockingIOError:
        return True
    return False


#: The Output of the invocation in this context; None if there is none (replay, tests, `sam local`).
current_output: ContextVar[Output | None] = ContextVar("current_output", default=None)


def deliver(answer: Answer, output: Output) -> None:
    """Runs a handler's generator to its end and sends what it yields. The caller calls `finish`.

    Raises what the generator raises. When the client hangs up, ClientGone is raised inside the generator, so that it
    can stop the upstream and log this, and then here too.
    """
    token = current_output.set(output)
    try:
        for item in answer:
            if isinstance(item, Head):
                output.start(item)
            else:
                output.write(item)
    except ClientGone as gone:
        with suppress(StopIteration, ClientGone):
            answer.throw(gone)
        raise
    finally:
        try:
            answer.close()
        finally:
            current_output.reset(token)


def bound_sends(connection: socket.socket) -> None:
    """Sets up a blocking socket for answers: no delay, and OSError if the other end takes nothing for SEND_SECONDS.

    It is the kernel's timeout, not Python's: it counts from the last byte taken, and needs no poll before each send.
    """
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, timeval(SEND_SECONDS))


def timeval(seconds: float) -> bytes:
    """A time in the form of socket options."""
    return struct.pack("ll", int(seconds), int(seconds % 1 * 1e6))


def chunk(data: bytes) -> bytes:
    """One chunk of HTTP/1.1's chunked coding. `data` is not empty: an empty chunk would end the body."""
    return b"%x\r\n%b\r\n" % (len(data), data)


def stack_of(failure: BaseException) -> list[str]:
    """The stack of an error, for logs. Without the message, which may quote a prompt or a secret."""
    return [f"{f.filename}:{f.lineno} in {f.name}" for f in traceback.extract_tb(failure.__traceback__)]
