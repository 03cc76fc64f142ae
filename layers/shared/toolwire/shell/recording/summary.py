"""What a line of a list says of an exchange: all that is left of most."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from toolwire.shell.recording.exchange import SeenExchange


class Summary(Struct, array_like=True, gc=False):
    """A line of a list: what is left of an exchange when its bytes are gone."""

    request_id: str
    began: float
    method: str
    path: str
    door: str = ""
    model: str = ""
    provider: str = ""
    status: int | None = None
    outcome: str = "running"
    error: str = ""
    tools: int = 0
    calls: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    tokens: tuple[int, int] | None = None
    first_byte: float | None = None
    seconds: float | None = None
    attempts: int = 0
    stream: bool = False
    #: A health check, of which there are many.
    routine: bool = False
    #: The names that the request's members have: the door's.
    dialect: str = ""

    @property
    def began_at(self) -> datetime:
        """When the request came."""
        return datetime.fromtimestamp(self.began, UTC)


def summary(seen: SeenExchange) -> Summary:
    """What a line of a list says of the exchange, as far as it is known now."""
    if seen.line is not None:
        return seen.line
    line = Summary(seen.request_id, seen.began, seen.method, seen.path)
    line.attempts = len(seen.asked)
    client, record = seen.client, seen.record
    if client is not None:
        request = client.request
        line.model, line.tools, line.stream = request.model, len(request.tools), request.stream
        line.door = client.door.name
    if seen.targets:
        target = seen.targets[-1]
        line.provider = f"{target.provider.name}/{target.model}"
    line.status, line.first_byte = seen.first_sent()
    if record is not None:
        line.door, line.tools, line.outcome, line.routine = record.door, record.tools, record.outcome, record.routine
        line.model = line.model or record.requested_model or ""
        figures = record.figures
        if figures is not None:
            line.calls, line.warnings = tuple(figures.tool_names), tuple(figures.warnings)
            line.dialect = figures.dialect
            if figures.usage is not None:
                line.tokens = figures.usage.input_tokens, figures.usage.output_tokens
    if seen.error is not None:
        line.error = seen.error.code
        line.status = line.status or seen.error.status
        line.outcome = line.outcome if record is not None else "request_error"
    if seen.over:
        line.seconds = seen.lasted
    return line
