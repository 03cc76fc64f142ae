"""Shows each request on a terminal: a line when a provider is asked, one when the request is over, and below them
warnings and fixes. The bottom line has the number of running requests.

The terminal shows the error's message, which may quote the request. A log (JSON lines: `LOG_FORMAT=json` or no
terminal) never does.
"""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.text import Text

from local.watch.exchanges import Exchanges
from toolwire.model.warnings import explain
from toolwire.rewrite.unread_members import meant
from toolwire.shell.recording.exchange import SeenExchange
from toolwire.shell.recording.exchange_summary import Summary
from toolwire.shell.recording.summarize import summary
from toolwire.shell.telemetry.log import LogLine, logger

#: The most characters of an error's message.
_MESSAGE_CHARS = 600
#: A warning that is not shown: the native API's reminder, which every answer with calls has.
_EXPECTED = frozenset({"contains_tool_calls"})

_MARKS = {"ok": ("✓", "green"), "client_gone": ("–", "yellow"), "running": ("▸", "cyan")}
_FAILED = ("✗", "red")


class Terminal:
    """A listener (`Exchanges.listen`) that writes to a console."""

    def __init__(self, console: Console, exchanges: Exchanges) -> None:
        self._console, self._exchanges = console, exchanges
        self._live = Live(console=console, auto_refresh=False, transient=True)
        self._lock = threading.Lock()

    def __call__(self, seen: SeenExchange) -> None:
        """Called when an exchange begins, asks a provider, or is over."""
        line = summary(seen)
        if seen.over:
            if not line.routine or line.outcome != "ok":
                self._print(*_end_lines(seen, line))
        elif line.attempts:
            self._print(_begin_line(line))
        self._show_running()

    def log(self, record: LogLine) -> None:
        """Shows a line of the log that is not about a request: something is wrong."""
        fields = {name: value for name, value in record.fields.items() if value is not None}
        if record.getMessage() == "attempt":
            self._print(_attempt_line(fields))
            return
        text = Text(f"  {record.getMessage()}", "red" if record.levelno >= logging.ERROR else "yellow")
        for name, value in fields.items():
            lines = value if isinstance(value, list) else [value]
            text.append(f"\n    {name}: " + "\n      ".join(map(printable, map(str, lines))), "dim")
        self._print(text)

    def stop(self) -> None:
        """Removes the bottom line."""
        with self._lock:
            self._live.stop()

    def _print(self, *lines: Text) -> None:
        self._console.print(*lines, sep="\n", highlight=False, soft_wrap=not self._console.is_terminal)

    def _show_running(self) -> None:
        if not self._console.is_terminal:
            return
        running = self._exchanges.running
        with self._lock:
            if running:
                self._live.start()
                self._live.update(Text(f"{running} in flight", "dim"), refresh=True)
            else:
                self._live.stop()


class _Handler(logging.Handler):
    """The gateway's log on a terminal: a request's line is written by `Terminal` already."""

    def __init__(self, terminal: Terminal) -> None:
        super().__init__()
        self._terminal = terminal

    def emit(self, record: logging.LogRecord) -> None:
        """See `logging.Handler`."""
        if isinstance(record, LogLine) and record.getMessage() != "request":
            self._terminal.log(record)


def show_on_terminal(exchanges: Exchanges, console: Console | None = None) -> Terminal:
    """Shows exchanges and what goes wrong on the terminal, in place of the lines of JSON."""
    terminal = Terminal(console or Console(), exchanges)
    exchanges.listen(terminal)
    logger()  # makes the handler that is replaced here
    logger().lines.handlers[:] = [_Handler(terminal)]
    return terminal


def _begin_line(line: Summary) -> Text:
    text = _start(line, "running")
    if line.attempts > 1:
        text.append(f"  attempt {line.attempts}", "yellow")
    if line.tools:
        text.append(f"  {_counted(line.tools, 'tool')}", "dim")
    if line.stream:
        text.append("  streamed", "dim")
    return text


def _end_lines(seen: SeenExchange, line: Summary) -> Iterable[Text]:
    text = _start(line, line.outcome)
    failed = line.status is None or line.status >= 400
    text.append(f"  {line.status or 'no answer'}", "red" if failed else "")
    for name, times in Counter(line.calls).items():
        text.append(f"  {printable(name[:64])}" + (f" ×{times}" if times > 1 else ""), "bold cyan")
    if line.tokens is not None:
        text.append(f"  {line.tokens[0]} + {line.tokens[1]} tokens", "dim")
    if line.attempts > 1:
        text.append(f"  {line.attempts} attempts", "yellow")
    if line.seconds:
        first = "" if line.first_byte is None or not line.stream else f"first byte {_time(line.first_byte)}, "
        text.append(f"  {first}{_time(line.seconds)}", "dim")
    if line.outcome == "client_gone":
        text.append("  the client hung up", "yellow")
    yield text
    if seen.error is not None:
        yield _error_line(seen)
    near = meant(line.warnings, line.dialect) if line.warnings else {}
    for code in line.warnings:
        if code not in _EXPECTED:
            known = near.get(code.partition(":")[2])
            question = f" Did you mean `{known}`?" if known else ""
            yield Text(f"    ! {printable(explain(code))}{question}", "yellow")


def _attempt_line(told: dict[str, Any]) -> Text:
    """An attempt that has failed and is made good by another one."""
    target = f"{told.get('gen_ai.provider.name')}/{told.get('gen_ai.request.model')}"
    text = Text("↻ ", "yellow")
    text.append(f"{datetime.now():%H:%M:%S} {str(told.get('request_id'))[:4]} ", "dim")
    text.append(f"attempt {told.get('attempt')} at {printable(target[:100])} failed: ", "yellow")
    text.append(printable(str(told.get("error_code"))))
    if (pause := told.get("pause_ms")) and pause >= 1:
        text.append(f", the next one after {_time(pause / 1000)}", "dim")
    return text


def _error_line(seen: SeenExchange) -> Text:
    error = seen.error
    assert error is not None
    text = Text("    ✗ ", "red")
    if error.param:
        text.append(f"{printable(error.param[:200])}: ", "bold")
    text.append(printable(seen.without_credentials(error.message.encode()).decode()[:_MESSAGE_CHARS]))
    return text.append(f" ({printable(error.code[:64])})", "dim")


def _start(line: Summary, outcome: str) -> Text:
    """The mark, the time, and who asks for what."""
    mark, style = _MARKS.get(outcome, _FAILED)
    text = Text(f"{mark} ", style)
    text.append(f"{datetime.now():%H:%M:%S} {line.request_id[:4]} ", "dim")  # of what is told, as in a log
    text.append(f"{line.method} {printable(line.path[:100])}")
    if line.model:
        text.append(f"  {printable(line.model[:100])}", "bold")
    if line.provider and line.provider != line.model:
        text.append(f" → {printable(line.provider[:100])}")
    return text


def printable(text: str) -> str:
    """Text from outside for a terminal, which obeys control characters."""
    return "".join(it if it.isprintable() else "·" for it in text)


def _time(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
