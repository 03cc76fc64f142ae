"""The process's log: what a line is made of, and which lines there are."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from decimal import Decimal

import pytest

from toolwire.shell.telemetry import log
from toolwire.shell.telemetry.log import logger


@pytest.fixture
def out() -> Iterator[io.StringIO]:
    """What the process logs."""
    (handler,) = logger().lines.handlers
    assert isinstance(handler, logging.StreamHandler)
    text = io.StringIO()
    before = handler.setStream(text)
    yield text
    handler.setStream(before)


def test_a_line_is_one_object_with_its_fields(out: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    """A message is text, even where it reads as JSON, and a value that JSON has no form for is its text."""
    monkeypatch.delenv("_X_AMZN_TRACE_ID", raising=False)
    logger().warning("12", **{"gen_ai.system": "é\n"}, absent=None, zero=0, names=["a"], price=Decimal("1.10"), odd=str)

    assert out.getvalue().count("\n") == 1
    line = json.loads(out.getvalue())
    assert list(line)[:4] == ["level", "message", "timestamp", "service"]
    assert line.pop("timestamp").endswith("+00:00")
    assert line == {
        "level": "WARNING",
        "message": "12",
        "service": "toolwire",
        "gen_ai.system": "é\n",
        "zero": 0,
        "names": ["a"],
        "price": "1.10",
        "odd": "<class 'str'>",
    }


def test_a_line_names_lambdas_trace(out: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_X_AMZN_TRACE_ID", "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=557abcec3ee5a047;Sampled=1")
    logger().error("bug")

    assert json.loads(out.getvalue())["xray_trace_id"] == "1-5759e988-bd862e3fe1be46a994272793"


def test_a_line_is_written_once(out: io.StringIO) -> None:
    """Lambda's runtime client gives the root logger a handler of its own."""
    again = io.StringIO()
    handler = logging.StreamHandler(again)
    logging.getLogger().addHandler(handler)
    try:
        logger().info("request")
    finally:
        logging.getLogger().removeHandler(handler)

    assert (out.getvalue().count("\n"), again.getvalue()) == (1, "")


def test_a_level_that_is_not_wanted_writes_nothing(out: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = logger().lines
    before = lines.level
    lines.setLevel(logging.ERROR)
    try:
        logger().debug("a")
        logger().info("b")
        logger().warning("c")
        logger().error("d")
    finally:
        lines.setLevel(before)

    assert json.loads(out.getvalue())["message"] == "d"


@pytest.mark.parametrize(
    ("variables", "level"),
    [
        ({}, "INFO"),
        ({"LOG_LEVEL": ""}, "INFO"),
        ({"LOG_LEVEL": "debug"}, "DEBUG"),
        ({"LOG_LEVEL": "chatty"}, "INFO"),
        ({"LOG_LEVEL": "DEBUG", "AWS_LAMBDA_LOG_LEVEL": "WARN"}, "WARN"),
        ({"AWS_LAMBDA_LOG_LEVEL": "FATAL"}, "CRITICAL"),
        ({"AWS_LAMBDA_LOG_LEVEL": "TRACE"}, "NOTSET"),
    ],
)
def test_the_level_is_the_functions_own_or_the_variables(
    variables: dict[str, str], level: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LOG_LEVEL", "AWS_LAMBDA_LOG_LEVEL"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    assert log._level() == level
    logging.Logger("another").setLevel(log._level())
