"""Fast sockets for a process in which many threads serve.

Python's sockets release the interpreter during each call, although a call that does not wait takes only microseconds.
With several running requests another thread then runs: a request changed threads 15 times, which cost a third of its
CPU. Here a call that does not wait keeps the interpreter. A call that must wait is the standard library's.
"""

from __future__ import annotations

import ctypes
import errno
import os
import socket
import threading
from typing import Any

#: The most bytes of a call that keeps the interpreter: some 20 microseconds of the kernel's work.
_MOST_BYTES = 64 << 10

#: The errors of a call that would have to wait.
_WOULD_WAIT = (errno.EAGAIN, errno.EWOULDBLOCK)

# Numbers: the standard library's are members of an enum, whose arithmetic takes longer than the kernel's part.
_NO_WAIT = int(socket.MSG_DONTWAIT)
_SENT = _NO_WAIT | getattr(socket, "MSG_NOSIGNAL", 0)

# PyDLL: the interpreter is kept during the call.
_libc = ctypes.PyDLL(None, use_errno=True)
_send, _recv = _libc.send, _libc.recv
_send.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int]
_recv.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
_send.restype = _recv.restype = ctypes.c_ssize_t

#: Where all receive, one after the other.
_buffer = bytearray(_MOST_BYTES)
_place = (ctypes.c_char * _MOST_BYTES).from_buffer(_buffer)
_view = memoryview(_buffer)
_receiving = threading.Lock()


class PromptSocket(socket.socket):
    """A plain socket, to the client or to a provider."""

    def sendall(self, data: Any, flags: int = 0) -> None:
        """See `socket.socket.sendall`."""
        sent = self._sent_at_once(data) if flags == 0 else 0
        if sent < len(data):
            super().sendall(memoryview(data)[sent:] if sent else data, flags)

    def send(self, data: Any, flags: int = 0) -> int:
        """See `socket.socket.send`."""
        sent = self._sent_at_once(data) if flags == 0 else 0
        return sent or super().send(data, flags)

    def recv(self, size: int, flags: int = 0) -> bytes:
        """See `socket.socket.recv`."""
        if size > _MOST_BYTES or not (flags & _NO_WAIT or self.gettimeout() == 0):
            return super().recv(size, flags)
        with _receiving:
            received = _recv(self.fileno(), _place, size, flags | _NO_WAIT)
            if received >= 0:
                return bytes(_view[:received])
            code = ctypes.get_errno()
        if code in _WOULD_WAIT:
            raise BlockingIOError(code, os.strerror(code))
        return super().recv(size, flags)  # which says what is wrong

    def _sent_at_once(self, data: Any) -> int:
        """The number of bytes that were sent without waiting. After 0, the standard library's call reports the
        reason."""
        if type(data) is not bytes or len(data) > _MOST_BYTES:
            return 0
        sent: int = _send(self.fileno(), data, len(data), _SENT)
        return max(sent, 0)


def prompt(accepted: socket.socket) -> PromptSocket:
    """The same connection as one of these."""
    return PromptSocket(accepted.family, accepted.type, accepted.proto, fileno=accepted.detach())
