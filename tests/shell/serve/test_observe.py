"""Lines of the log and of the metrics: what an upstream wrote does not get in, and no line gets into another."""

from __future__ import annotations

import io
import json
import logging
import sys
import threading

import pytest

from toolwire.model.errors import UpstreamError
from toolwire.shell.serve import observe


@pytest.mark.parametrize(
    ("code", "logged"),
    [
        ("context_length_exceeded", "context_length_exceeded"),
        ("1210", "1210"),
        ("the prompt was: hello", "upstream_error"),
        ("a" * 65, "upstream_error"),
        ("a\nb", "upstream_error"),
    ],
)
def test_an_upstreams_code_is_logged_if_it_is_one(code: str, logged: str) -> None:
    record = observe.RequestRecord("req-1", "chat")

    record.failed(UpstreamError("busy", code=code))

    assert (record.error_code, record.outcome) == (logged, "upstream_error")


class Pieces(io.StringIO):
    """A stream that yields to the other threads after every write, and keeps what was written."""

    def write(self, text: str) -> int:
        written = super().write(text)
        threading.Event().wait(0.0001)
        return written


def test_lines_of_many_threads_stay_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    out = Pieces()
    monkeypatch.setenv("TOOLWIRE_METRICS", "1")
    monkeypatch.setattr(sys, "stdout", out)
    observe.logger()
    (handler,) = logging.getLogger(observe.SERVICE).handlers
    assert isinstance(handler, logging.StreamHandler)
    before = handler.setStream(out)

    def requests(number: int) -> None:
        for turn in range(5):
            observe.finish(observe.RequestRecord(f"req-{number}-{turn}", "chat"))

    threads = [threading.Thread(target=requests, args=(number,)) for number in range(8)]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        handler.setStream(before)

    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    assert len(lines) == 80
    assert sum("_aws" in line for line in lines) == 40
    assert {line["request_id"] for line in lines if "_aws" not in line} == {
        f"req-{number}-{turn}" for number in range(8) for turn in range(5)
    }
