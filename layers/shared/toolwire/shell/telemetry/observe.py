"""Writes one JSON line in the log, one set of metrics and one span when a request is over.

They have names, counts, sizes and times; never a header's value (except a session's id), never text of a prompt, an
answer or an argument.

    LOG_LEVEL=DEBUG       two lines for each tool call as well: when it began and when it was complete
    TOOLWIRE_METRICS=1    metrics where there is no Lambda too (they are off there); 0: none on Lambda either
"""

from __future__ import annotations

import logging
import os
from collections import Counter
from contextvars import ContextVar
from typing import TYPE_CHECKING

from toolwire.rewrite.unread_members import meant
from toolwire.shell.telemetry.log import logger
from toolwire.shell.telemetry.request_record import RequestRecord, milliseconds, short
from toolwire.shell.telemetry.spans import write_span

if TYPE_CHECKING:  # the catalog's function has no exchange and does not import one
    from toolwire.exchange.figures import Figures
    from toolwire.exchange.observer import Observer
    from toolwire.model.request import ChatRequest
    from toolwire.shell.telemetry.watch import Watch

#: The most tool names in one line: the client and the model choose them.
_TOOL_NAMES = 32

#: The watch of the request in this context; None if there is none.
current_watch: ContextVar[Watch | None] = ContextVar("current_watch", default=None)


def get_ready() -> None:
    """Prepares and imports what the end of the first request would otherwise wait for."""
    logger()
    if _metrics_wanted():
        from toolwire.shell.telemetry import metrics  # noqa: F401


def configuration_kept(problem: str) -> None:
    """Tells the log and a metric that a changed configuration is not used. `problem` is safe to show."""
    logger().error("the changed configuration is not used; the one before it stays", problem=problem)
    if _metrics_wanted():
        from toolwire.shell.telemetry.metrics import write_configuration_error

        write_configuration_error()


def finish(record: RequestRecord) -> None:
    """Releases what the request holds, and writes its line, metrics and span."""
    while record.held:
        record.held.pop()()
    record.charge_calls()
    if record.figures is not None and record.figures.error is not None and record.outcome == "ok":
        record.failed(record.figures.error)
    watch = current_watch.get()
    if watch is not None:
        watch.finished(record)
    if record.routine and record.outcome == "ok":
        logger().debug("request", **_line(record))
        return
    logger().info("request", **_line(record))
    if _metrics_wanted():
        from toolwire.shell.telemetry.metrics import write_metrics

        write_metrics(record)
    try:
        write_span(record)
    except Exception as failure:  # noqa: BLE001 - OpenTelemetry's, and an answer does not fail for it
        logger().warning("no span was written", request_id=record.request_id, problem=type(failure).__name__)


def _line(record: RequestRecord) -> dict[str, object]:
    """The fields of a request's line. Fields that do not apply are left out. `gen_ai.*` are OpenTelemetry's names."""
    target = record.target
    fields: dict[str, object] = {
        "request_id": record.request_id,
        "tenant": record.tenant,
        "door": record.door,
        "outcome": record.outcome,
        "status": record.status,
        "error_code": record.error_code,
        "duration_ms": milliseconds(record.clock() - record.started),
        "ttfb_ms": None if record.first_byte is None else milliseconds(record.first_byte - record.started),
        "model": short(record.requested_model),
        "session": record.session,
        "tools": record.tools or None,
        "attempts": record.attempts if record.attempts > 1 else None,
    }
    if target is not None:
        fields["gen_ai.operation.name"] = "chat"
        fields["gen_ai.provider.name"] = target.provider.name
        fields["gen_ai.request.model"] = short(target.model)
    if record.figures is not None:
        fields |= _figures(record, record.figures)
    return {name: value for name, value in fields.items() if value is not None}


def _figures(record: RequestRecord, figures: Figures) -> dict[str, object]:
    """The fields of the line about an exchange."""
    names = Counter(short(name) for name in figures.tool_names)
    fields: dict[str, object] = {
        "stream": figures.stream,
        "upstream_status": figures.upstream_status,
        "tool_calls": dict(names.most_common(_TOOL_NAMES)) or None,
        "argument_bytes": figures.argument_bytes or None,
        "malformed_calls": list(map(short, figures.malformed_calls[:_TOOL_NAMES])) or None,
        "call_faults": dict(figures.call_faults) or None,
        "recovered_calls": dict(figures.recovered) or None,
        "ids_minted": figures.ids_minted or None,
        "stored_items": figures.stored_items or None,
        "store_error": record.store_error,
        "store_read_ms": record.store_read_ms,
        "store_write_ms": record.store_write_ms,
        "repaired_frames": figures.repaired_frames or None,
        "warnings": list(figures.warnings) or None,
        "did_you_mean": meant(figures.warnings, figures.dialect) or None,
        "gen_ai.response.model": short(figures.model),
        "gen_ai.response.finish_reasons": [figures.finish] if figures.finish else None,
    }
    if figures.usage is not None:
        fields["gen_ai.usage.input_tokens"] = figures.usage.input_tokens
        fields["gen_ai.usage.output_tokens"] = figures.usage.output_tokens
        fields["reported_total_tokens"] = figures.usage.reported_total
    return fields


def call_lines(request_id: str, request: ChatRequest) -> Observer | None:
    """The writer of DEBUG lines for the calls of an exchange; None unless the level is DEBUG."""
    if not logger().shows(logging.DEBUG):
        return None
    from toolwire.shell.telemetry.call_lines import CallLines

    return CallLines(request_id, request)


def _metrics_wanted() -> bool:
    wanted = os.environ.get("TOOLWIRE_METRICS")
    return "AWS_LAMBDA_FUNCTION_NAME" in os.environ if wanted is None else wanted == "1"
