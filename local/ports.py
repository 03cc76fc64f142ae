"""Finds free ports of this machine, and explains why nothing can listen at one."""

from __future__ import annotations

import errno
import socket
from contextlib import suppress


def cannot_listen(error: OSError | OverflowError, host: str, port: int) -> str:
    """The reason why nothing can listen there; for a taken port, the command with a free one."""
    reason = str(error)
    if isinstance(error, OSError):
        reason = error.strerror or type(error).__name__
        if error.errno == errno.EADDRINUSE and (free := free_port(host, port + 1)) is not None:
            reason = f"{reason}. Free is: make run PORT={free}"
    return f"toolwire: cannot listen at {host}:{port}: {reason}"


def free_port(host: str, first: int, tries: int = 50) -> int | None:
    """The first free port from `first` on; None if none of `tries` ports is free."""
    for port in range(first, min(first + tries, 1 << 16)):
        with socket.socket(family_of(host)) as probe, suppress(OSError):
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
            return port
    return None


def family_of(host: str) -> socket.AddressFamily:
    """The address family: IPv6 for an address with colons."""
    return socket.AF_INET6 if ":" in host else socket.AF_INET
