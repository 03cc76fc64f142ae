"""Reduces an exchange whose request is over to its line in a list."""

from __future__ import annotations

from toolwire.model.errors import GatewayError
from toolwire.shell.recording.exchange import SeenExchange
from toolwire.shell.recording.exchange_summary import Summary


def close(seen: SeenExchange, refused: GatewayError | None = None) -> None:
    """Called when the request is over. `refused`: the server itself has answered it."""
    seen.error = refused or seen.error
    seen.over = True
    seen.reduce_to(summary(seen))


def summary(seen: SeenExchange) -> Summary:
    """The line of the exchange, as far as it is known now."""
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
