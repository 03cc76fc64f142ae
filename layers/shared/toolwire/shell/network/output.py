"""What the client is sent: a buffer in front of a socket, and a clock.

Whoever runs a handler (the Lambda runtime, the local server) owns an `Output` for the invocation. Its handler yields
one `Head`, then bytes; `deliver` puts them into the buffer. Two moments empty it: 8 KiB are full, or the upstream has
nothing to read and its reader calls `before_block`. So events that arrive together leave in one write and none waits.

`before_block` also keeps the connection alive by the client's clock, not the upstream's: a client times out on what
it does not receive, whether the upstream is silent or its events are being held back.
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

#: Bytes in the buffer that are sent without waiting for the upstream to pause.
FLUSH_BYTES = 8 << 10
#: Seconds without a byte to the client after which a keep-alive goes out. Claude Code's watchdog takes 20.
KEEP_ALIVE_SECONDS = 10.0
#: Seconds from the request on after which status 200 is committed although the upstream has said nothing.
FIRST_COMMIT_SECONDS = 15.0
#: The same for an answer that is one JSON document: its status is not known before its end, so it is committed only
#: before API Gateway would end a silent response, which it does after 300 s.
DOCUMENT_COMMIT_SECONDS = 240.0
#: Seconds after which a waiting answer sees that its process is to stop, where it can be told.
_LOOK_SECONDS = 0.25
#: Seconds in which a client must take at least one byte of what it is sent.
SEND_SECONDS = 30.0
#: Made once: `|` of the enumeration's members takes as long as the call.
PEEK = int(socket.MSG_PEEK | socket.MSG_DONTWAIT)
#: One poll, at most; then it is asked for again. A deadline may be infinite, poll's argument may not.
LONGEST_POLL_SECONDS = 3600.0

#: What a handler is, once called: its head first, then the body. It may yield no head if it found the head sent.
Answer = Generator[Head | bytes, None, Any]


class Carrier(Protocol):
    """The connection an answer leaves on, and how an answer is framed there."""

    #: True: the other end is the client, whose hang-up ends the input. False: a middleman, of which only errors tell.
    reaches_client: bool

    @property
    def connection(self) -> socket.socket | None:
        """The socket; None while it is not open."""

    def connect(self) -> socket.socket:
        """Opens the connection. Called before the first byte where there is none. Raises OSError."""

    def listen(self) -> bool:
        """Hears the other end, which has sent something while it is answered. Returns whether to hear it again. Raises
        OSError when it is gone."""

    def head(self, head: Head, length: int | None) -> bytes:
        """The bytes before the body. `length` is the body's size where the whole answer is known, else None."""

    def frame(self, data: bytes) -> bytes:
        """The bytes that carry `data`, a piece of the body that is not empty."""

    def end(self, failure: BaseException | None) -> bytes:
        """The bytes after the body. With a `failure` they must not make the answer look complete."""


class Audience(Protocol):
    """Is told what leaves for the client."""

    def left(self, kind: Literal["sent_head", "silence"], what: Head | None = None) -> None:
        """A head is on its way to the client, or a word that keeps it waiting comes next."""

    def wrote(self, data: bytes) -> None:
        """Some of the body is on its way to the client."""


class Output:
    """One answer on its way to the client. Not for use by several threads.

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
        #: A head was handed over. It is committed even while it waits in the buffer: what fails now is an error event.
        self.head_sent = False
        #: Bytes have left, so the answer can no longer be replaced by another one.
        self.begun = False
        #: Gives the moment (of the clock) at which answers that are under way end with an error; None: there is none.
        self.stops_at: Callable[[], float] | None = None
        #: Who is told what leaves, beside the client.
        self.audience: Audience | None = None
        #: What is to be done when the answer has ended, however it has.
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
        """Takes a piece of the body, in order; sends when FLUSH_BYTES are there."""
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
        """Sends what is buffered, the head included."""
        if self._buffered or self._waiting_head is not None:
            self._send(self._take(None))

    def finish(self, failure: BaseException | None = None) -> None:
        """Sends the rest and ends the answer: properly, or with a `failure` so that nobody takes it for complete."""
        if self.head_sent:
            whole = self._buffered if failure is None else None
            self._send(self._take(whole) + self._carrier.end(failure))

    def ended(self) -> None:
        """Called by whoever runs the handler, once the client waits for nothing more."""
        if self.afterwards is not None:
            afterwards, self.afterwards = self.afterwards, None
            afterwards()

    def on_silence(
        self, early_head: Head, keep_alive: Callable[[], bytes], commit_seconds: float | None = None
    ) -> None:
        """Says what an answer sends when nothing was sent for long; without it silence stays silent. The head is
        committed when the request is `commit_seconds` old; None: when it is as old as this output says."""
        self._silence = early_head, keep_alive
        if commit_seconds is not None:
            self._commit_at = self._began + commit_seconds

    def before_block(self, upstream: socket.socket, deadline: float, events: int = select.POLLIN) -> None:
        """Flushes, then waits until `upstream` is readable (data, end or error), or what else `events` (of poll) asks
        for, keeping the client company.

        `deadline` is a moment of the clock; past it, TimeoutError. The one poll wakes for whichever comes first: the
        upstream, the client hanging up, the keep-alive's moment, the deadline.
        """
        self._wait(upstream, deadline, events)

    def _wait(self, upstream: socket.socket | None, deadline: float, events: int = 0) -> None:
        """Until `upstream` is ready, if there is one; TimeoutError at the deadline."""
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
        """The moment to look again whether the process is to stop. Raises InternalError once it is."""
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
        self._quiet_since = now  # also where there was nothing to say, or this would spin
        return now + self._keep_alive_seconds

    def _poll(self, upstream: socket.socket | None, seconds: float, events: int) -> bool:
        """Whether `upstream` became ready within `seconds`. Raises ClientGone."""
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
        """The client's socket has something: its end, an error, or more to say."""
        try:
            self._watch_input = self._carrier.listen() and self._watch_input
        except OSError:
            self._gone = True
            raise ClientGone from None


def is_there(connection: socket.socket) -> bool:
    """`Carrier.listen` where the next request is read later: True for a false alarm, False when it has come. Raises
    OSError at the connection's end."""
    try:
        if not connection.recv(1, PEEK):
            raise ConnectionAbortedError("the other end has hung up")
    except BlockingIOError:
        return True
    return False


#: The Output of the invocation that runs in this context; None where nobody keeps one (replay, tests, `sam local`).
current_output: ContextVar[Output | None] = ContextVar("current_output", default=None)


def deliver(answer: Answer, output: Output) -> None:
    """Runs a handler's generator to its end and sends what it yields; `finish` is left to the caller.

    Raises what the generator raises. When the client hangs up, the generator sees ClientGone where it stands, so that
    it can stop the upstream and say so in its log; ClientGone is then raised here too.
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
    """Sets up a blocking socket for answers: no delay, and OSError when the other end takes nothing for SEND_SECONDS.

    The kernel's timeout, not Python's: it counts from the last byte taken, and costs no poll before each send.
    """
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, timeval(SEND_SECONDS))


def timeval(seconds: float) -> bytes:
    """A time as socket options take it."""
    return struct.pack("ll", int(seconds), int(seconds % 1 * 1e6))


def chunk(data: bytes) -> bytes:
    """One chunk of HTTP/1.1's chunked coding. `data` is not empty: an empty chunk would end the body."""
    return b"%x\r\n%b\r\n" % (len(data), data)


def stack_of(failure: BaseException) -> list[str]:
    """Where an error came from, for logs. Without its message, which may quote a prompt or a secret."""
    return [f"{f.filename}:{f.lineno} in {f.name}" for f in traceback.extract_tb(failure.__traceback__)]
