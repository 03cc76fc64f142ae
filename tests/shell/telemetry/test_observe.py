"""Lines of the log and of the metrics: what an upstream wrote does not get in, and no line gets into another."""

from __future__ import annotations

import io
import json
import logging
import sys
import threading

import pytest

from toolwire.exchange.figures import Figures
from toolwire.model.errors import UpstreamError
from toolwire.model.settings import ProviderConfig, Target
from toolwire.shell.telemetry import observe
from toolwire.shell.telemetry.log import logger
from toolwire.shell.telemetry.request_record import RequestRecord, session_id


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
    record = RequestRecord("req-1", "chat_completions")

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
    (handler,) = logger().lines.handlers
    assert isinstance(handler, logging.StreamHandler)
    before = handler.setStream(out)

    def requests(number: int) -> None:
        for turn in range(5):
            observe.finish(RequestRecord(f"req-{number}-{turn}", "chat_completions"))

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


@pytest.mark.parametrize(
    ("names", "id"),
    [
        ((None, "0199a213-81c0-7800-8aa1-bbab2a035a53", "later"), "0199a213-81c0-7800-8aa1-bbab2a035a53"),
        (("what he said", None, "s_1:2.3"), "s_1:2.3"),
        (("x" * 129, "a\nb", ""), None),
        ((), None),
    ],
)
def test_a_session_is_logged_where_its_name_is_an_id(names: tuple[str | None, ...], id: str | None) -> None:
    """Words, lines and all that is long is a client's own text."""
    assert session_id(names) == id


def test_the_calls_of_an_answer_have_a_line_by_provider_and_model(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TOOLWIRE_METRICS", "1")
    record = RequestRecord("r", "chat_completions")
    record.target = Target(ProviderConfig("up", "openai_chat", "https://x/v1", "none"), "some/model")
    record.figures = Figures(stream=False)
    record.figures.calls = 3
    record.figures.call_faults.update({"invalid_tool_arguments": 2, "finish_mismatch": 1})
    observe.finish(record)
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines() if '"ModelCalls"' in line]
    (line,) = lines
    assert (line["provider"], line["model"]) == ("up", "some/model")
    told = {name: values for name, values in line.items() if isinstance(values, list)}
    assert told == {"ModelCalls": [3.0], "InvalidArguments": [2.0], "FinishMismatches": [1.0]}


@pytest.mark.parametrize("calls", [0, 2])
def test_no_metric_is_zero(calls: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """CloudWatch bills a metric by the hour in which it was written, whatever its value."""
    monkeypatch.setenv("TOOLWIRE_METRICS", "1")
    record = RequestRecord("r", "chat_completions")
    record.figures = Figures(stream=False)
    record.figures.calls = calls
    observe.finish(record)
    (line,) = [json.loads(line) for line in capsys.readouterr().out.splitlines() if '"Requests"' in line]
    told = {name: values for name, values in line.items() if isinstance(values, list)}
    assert told == {"Requests": [1.0]} | ({"ToolCalls": [2.0]} if calls else {})
