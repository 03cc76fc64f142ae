"""The process's log: each line is one JSON object, written at once.

    LOG_LEVEL                  DEBUG, INFO, WARNING, ERROR, CRITICAL
    AWS_LAMBDA_LOG_LEVEL       wins: the level in the function's own settings, if its logs are JSON

A line costs 15 us. Powertools' Logger took 85, more than some whole steps of a request, and 1.3 MB of memory with its
imports. So only the metrics are Powertools'.
"""

from __future__ import annotations

import functools
import logging
import os
import sys
from collections.abc import Mapping
from datetime import UTC, datetime

import msgspec

SERVICE = "toolwire"

#: Lambda's names of levels that are not Python's.
_LAMBDA_LEVELS = {"TRACE": "NOTSET", "FATAL": "CRITICAL"}

_encode = msgspec.json.Encoder(enc_hook=str).encode


class LogLine(logging.LogRecord):
    """A line: its message and its fields by name."""

    def __init__(self, level: int, message: str, fields: Mapping[str, object]) -> None:
        # Without the place in the code, which would always be the one below.
        super().__init__(SERVICE, level, "", 0, message, None, None)
        self.fields = fields


class _JsonFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        """See `logging.Formatter`."""
        line: dict[str, object] = {
            "level": record.levelname,
            "message": record.getMessage(),
            "timestamp": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "service": SERVICE,
        }
        if isinstance(record, LogLine):
            line |= {name: value for name, value in record.fields.items() if value is not None}
        if trace := os.environ.get("_X_AMZN_TRACE_ID"):
            line["xray_trace_id"] = trace.partition(";")[0].removeprefix("Root=")
        return _encode(line).decode()


class Log:
    """Writes lines, by its logger `lines`. Fields that are None are left out."""

    def __init__(self, lines: logging.Logger) -> None:
        self.lines = lines

    def shows(self, level: int) -> bool:
        """Whether lines of this level are written. `isEnabledFor` would cache its first answer, since only loggers of
        the tree are told of a new level."""
        return level >= self.lines.level

    def debug(self, message: str, **fields: object) -> None:
        """Logs a detail for somebody who searches for a fault."""
        self._write(logging.DEBUG, message, fields)

    def info(self, message: str, **fields: object) -> None:
        """Logs an event of every request, or an operator's action."""
        self._write(logging.INFO, message, fields)

    def warning(self, message: str, **fields: object) -> None:
        """Logs a failure that was made up for."""
        self._write(logging.WARNING, message, fields)

    def error(self, message: str, **fields: object) -> None:
        """Logs a failure that somebody should look at."""
        self._write(logging.ERROR, message, fields)

    def _write(self, level: int, message: str, fields: Mapping[str, object]) -> None:
        if self.shows(level):
            self.lines.handle(LogLine(level, message, fields))


@functools.cache
def logger() -> Log:
    """The log of this process, on standard output."""
    # Not in the tree of loggers: Lambda's runtime client gives the root a handler, which would write each line again.
    lines = logging.Logger(SERVICE, _level())
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(_JsonFormatter())
    lines.addHandler(handler)
    return Log(lines)


def _level() -> str:
    if of_function := os.environ.get("AWS_LAMBDA_LOG_LEVEL"):
        return _LAMBDA_LEVELS.get(of_function, of_function)
    level = os.environ.get("LOG_LEVEL", "").strip().upper()
    # The settings refuse any other word, which must be logged first.
    return level if level in logging.getLevelNamesMapping() else "INFO"
