"""Handlers for test_runtime.py, run by the real runtime in a process of its own. The event says what to do."""

from __future__ import annotations

import json
import logging
import os
import socket
import time
from typing import Any

from toolwire.model.errors import ClientGone
from toolwire.model.http import Head
from toolwire.shell.network.output import Answer, current_output

HEAD = Head(200, (("content-type", "text/event-stream"), ("x-request-id", "r1")))


def handler(event: dict[str, Any], context: Any) -> Answer:
    do = event["do"]
    if do == "nothing":
        return {}
    if do == "fail early":
        raise LookupError("secret prompt")
    yield HEAD if do != "repeat header" else Head(201, (("set-cookie", "a"), ("set-cookie", "b")))
    if do == "fail with a buffered head":
        yield b"buffered"
        raise LookupError("secret prompt")
    if do == "endless":
        yield from _endless()
    for index in range(event.get("count", 2)):
        yield f"data: {index}\n\n".encode()
        if "pause" in event:
            _pause(event["pause"])
    if do == "fail late":
        _pause(0.0)
        raise LookupError("secret prompt")
    if do == "context":
        yield json.dumps([context.aws_request_id, context.get_remaining_time_in_millis() > 0]).encode()
    return None


def plain(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """A handler that is no generator, as somebody else's function in the same image may be."""
    return {"plain": event["do"]}


def _endless() -> Answer:
    try:
        for _ in range(1000):
            yield b"x" * 9000
            time.sleep(0.005)
    except ClientGone:
        logging.getLogger().warning("handler: client gone")


def _pause(seconds: float) -> None:
    """Waits as reading from a silent upstream does."""
    output = current_output.get()
    if output is None:
        return
    ours, theirs = socket.socketpair()
    with ours, theirs:
        try:
            output.before_block(ours, time.monotonic() + seconds)
        except TimeoutError:
            return


if os.environ.get("FAIL_AT_IMPORT"):
    raise ImportError("secret configuration")
