"""The list of exchanges: its lines, and its filters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from toolwire.model.warnings import explain
from toolwire.shell.recording.exchange_summary import Summary

#: The most lines of one page.
PAGE = 100

#: The filters of the list, and their labels.
FILTERS = {"door": "API", "provider": "Provider", "tool": "Tool called", "warning": "Warning", "outcome": "Outcome"}


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the list, as it is shown."""

    id: str
    short: str
    time: str
    request: str
    model: str
    status: str
    is_bad: bool
    is_running: bool
    calls: str
    tokens: str
    first_byte: str
    seconds: str
    warnings: tuple[str, ...]
    error: str
    attempts: int
    #: Whether the exchange has a page.
    has_page: bool


def line(of: Summary, *, has_page: bool = True) -> Line:
    """A line of the list."""
    counted = Counter(of.calls)
    model = of.model if of.model == of.provider or not of.provider else f"{of.model} → {of.provider}"
    return Line(
        id=of.request_id,
        short=of.request_id[:8],
        time=f"{of.began_at.astimezone():%H:%M:%S}",
        request=f"{of.method} {of.path}",
        model=model,
        status="…" if of.status is None and of.seconds is None else str(of.status or "none"),
        is_bad=of.outcome not in ("ok", "running"),
        is_running=of.seconds is None,
        calls=", ".join(f"{name} ×{times}" if times > 1 else name for name, times in counted.items()),
        tokens="" if of.tokens is None else f"{of.tokens[0]} + {of.tokens[1]}",
        first_byte=duration(of.first_byte),
        seconds=duration(of.seconds),
        warnings=tuple(explain(code) for code in of.warnings if code != "contains_tool_calls"),
        error="the client hung up" if of.outcome == "client_gone" else of.error,
        attempts=of.attempts,
        has_page=has_page,
    )


def chosen(lines: Iterable[Summary], wanted: Mapping[str, str]) -> list[Summary]:
    """The lines that pass all filters. `wanted`: values for some of `FILTERS`; "" means any."""
    active = {name: value for name, value in wanted.items() if value and name in FILTERS}
    return [one for one in lines if all(value in _values(one, name) for name, value in active.items())]


def choices(lines: Iterable[Summary]) -> dict[str, list[str]]:
    """The choices of each filter."""
    found: dict[str, set[str]] = {name: set() for name in FILTERS}
    for one in lines:
        for name, values in found.items():
            values.update(_values(one, name))
    return {name: sorted(value for value in values if value) for name, values in found.items()}


def _values(of: Summary, name: str) -> Iterable[str]:
    if name == "door":
        return (of.door or "none",)
    if name == "provider":
        return (of.provider.partition("/")[0],)
    if name == "tool":
        return of.calls
    if name == "warning":
        return [code.partition(":")[0] for code in of.warnings]
    return (of.error or of.outcome,) if of.outcome not in ("ok", "running") else (of.outcome,)


def duration(seconds: float | None) -> str:
    """A time for a person."""
    if seconds is None:
        return ""
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.2f} s"
