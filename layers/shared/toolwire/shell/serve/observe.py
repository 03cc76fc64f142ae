"""What is told about a request: one JSON line in the log and one set of metrics, when it is over.

Names, counts, sizes and times; never a header's value (but for the id of a session), never text of a prompt, an answer
or an argument. `log` writes the lines, `metrics` the metrics, where there are any.

    LOG_LEVEL=DEBUG       two lines for each tool call as well: when it began and when it was complete
    TOOLWIRE_METRICS=1    metrics where there is no Lambda too (they are off there); 0: none on Lambda either
"""

from __future__ import annotations

import logging
import os
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from toolwire.model.errors import GatewayError, InternalError, RequestError, UpstreamError
from toolwire.model.settings import Target
from toolwire.rewrite.unread_members import meant
from toolwire.shell.serve.log import logger
from toolwire.shell.serve.output import stack_of
from toolwire.shell.serve.spans import write_span
from toolwire.shell.settings.sections import SettingsError

if TYPE_CHECKING:  # the catalog's function has no exchange and does not import one
    from toolwire.exchange.figures import Figures
    from toolwire.exchange.observer import Observer
    from toolwire.model.request import ChatRequest
    from toolwire.shell.serve.watch import Watch

#: How a request ended, by who decided it.
Outcome = Literal["ok", "request_error", "upstream_error", "internal_error", "client_gone"]

#: Characters of a name that a line bears, and different tool names in one line: the client and the model choose them.
NAME_CHARS, _TOOL_NAMES = 128, 32

#: A code as a log bears it: an upstream's may be any text, that of a prompt included.
_CODE = re.compile(r"[A-Za-z0-9_.:-]{1,64}")

#: What a client may call its conversation so that a line bears it: ids do, words do not.
_SESSION = re.compile(r"[A-Za-z0-9_.:-]{1,128}")

#: Who looks at the request that runs in this context, beside the log.
current_watch: ContextVar[Watch | None] = ContextVar("current_watch", default=None)


@dataclass(slots=True)
class RequestRecord:
    """What is known about one request, filled in as it is learnt. Times are moments of `clock`, in seconds."""

    request_id: str
    door: str
    clock: Callable[[], float] = time.monotonic
    started: float = field(init=False)
    first_byte: float | None = None
    tenant: str | None = None
    target: Target | None = None
    #: The model as the client named it.
    requested_model: str | None = None
    #: What the client calls its conversation: an id, see `session_id`.
    session: str | None = None
    #: The headers that say which trace the request is a part of, where there are traces.
    trace_headers: dict[str, str] = field(default_factory=dict)
    #: Tools that the request declares.
    tools: int = 0
    status: int | None = None
    outcome: Outcome = "ok"
    error_code: str | None = None
    #: The error that ended the request. Its message is for the client and never logged.
    error: GatewayError | None = None
    figures: Figures | None = None
    #: Attempts at the answer that were begun, and the moment of the last one's begin.
    attempts: int = 0
    attempt_began: float = field(init=False, default=0.0)
    #: Counts the answer's calls against the tenant's rates, once.
    charge: Callable[[int], None] | None = None
    #: What the request holds, and gives back when it is over.
    held: list[Callable[[], None]] = field(default_factory=list)
    store_error: str | None = None
    store_read_ms: float | None = None
    store_write_ms: float | None = None
    #: A health check: there are many, and each is like the one before.
    routine: bool = False

    def __post_init__(self) -> None:
        self.started = self.clock()

    def byte_sent(self) -> None:
        """Notes that a piece of the body is on its way; the first one counts."""
        if self.first_byte is None:
            self.first_byte = self.clock()

    def charge_calls(self) -> None:
        """Counts the calls of the answer, when they are known or when it broke off."""
        if self.charge is not None and self.figures is not None:
            charge, self.charge = self.charge, None
            charge(self.figures.calls)

    def begin_attempt(self, target: Target) -> None:
        """Notes that an attempt is ready to be sent."""
        self.target, self.attempts, self.attempt_began = target, self.attempts + 1, self.clock()

    def attempt_failed(self, error: GatewayError, pause: float) -> None:
        """Logs an attempt that another one will follow, in `pause` seconds."""
        assert self.target is not None
        fields = {
            "request_id": self.request_id,
            "attempt": self.attempts,
            "gen_ai.provider.name": self.target.provider.name,
            "gen_ai.request.model": short(self.target.model),
            "upstream_status": None if self.figures is None else self.figures.upstream_status,
            "error_code": code_of(error),
            "duration_ms": milliseconds(self.clock() - self.attempt_began),
            "pause_ms": milliseconds(pause),
        }
        logger().warning("attempt", **{name: value for name, value in fields.items() if value is not None})

    def store_failed(self, doing: Literal["read", "write"], error: Exception) -> None:
        """Notes that the store failed, which ends no request."""
        self.store_error = f"{doing}_{getattr(error, 'code', 'failed')}"
        logger().warning("the store failed", request_id=self.request_id, doing=doing, problem=str(error))

    def failed(self, error: GatewayError) -> None:
        """Notes the error that ended the request."""
        self.error = error.forgetting_frames()
        self.error_code = code_of(error)
        if isinstance(error, RequestError):
            self.outcome = "request_error"
        else:
            self.outcome = "upstream_error" if isinstance(error, UpstreamError) else "internal_error"


def get_ready() -> None:
    """Makes and imports what the end of the first request would otherwise have to."""
    logger()
    if _metrics_wanted():
        from toolwire.shell.serve import metrics  # noqa: F401


def code_of(error: GatewayError) -> str:
    """An error's code as a log bears it."""
    return error.code if _CODE.fullmatch(error.code) else "upstream_error"


def unexpected(failure: Exception, request_id: str) -> InternalError:
    """Logs a failure that was not foreseen and returns the error to show for it.

    The failure's own text may quote a request or a secret, so the log gets its type and place. A SettingsError's text
    is made to be shown, but to the operator only.
    """
    if isinstance(failure, SettingsError):
        logger().error("the configuration is wrong", request_id=request_id, problem=str(failure))
        return InternalError("The gateway's configuration is wrong; its log says where.", code="configuration_error")
    logger().error("bug", request_id=request_id, error_type=type(failure).__name__, stack=stack_of(failure))
    return InternalError("The gateway failed; its log says where.")


def configuration_kept(problem: str) -> None:
    """Says, in the log and by a metric, that a changed configuration is not used. `problem` is made to be shown."""
    logger().error("the changed configuration is not used; the one before it stays", problem=problem)
    if _metrics_wanted():
        from toolwire.shell.serve.metrics import write_configuration_error

        write_configuration_error()


def finish(record: RequestRecord) -> None:
    """Gives back what the request holds, and writes its line and its metrics."""
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
        from toolwire.shell.serve.metrics import write_metrics

        write_metrics(record)
    try:
        write_span(record)
    except Exception as failure:  # noqa: BLE001 - OpenTelemetry's, and an answer does not fail for it
        logger().warning("no span was written", request_id=record.request_id, problem=type(failure).__name__)


def _line(record: RequestRecord) -> dict[str, object]:
    """The fields of a request's line; what does not apply is left out. `gen_ai.*` are OpenTelemetry's names."""
    target, summary = record.target, record.figures
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
    if summary is not None:
        names = Counter(short(name) for name in summary.tool_names)
        fields |= {
            "stream": summary.stream,
            "upstream_status": summary.upstream_status,
            "tool_calls": dict(names.most_common(_TOOL_NAMES)) or None,
            "argument_bytes": summary.argument_bytes or None,
            "malformed_calls": list(map(short, summary.malformed_calls[:_TOOL_NAMES])) or None,
            "call_faults": dict(summary.call_faults) or None,
            "recovered_calls": dict(summary.recovered) or None,
            "ids_minted": summary.ids_minted or None,
            "stored_items": summary.stored_items or None,
            "store_error": record.store_error,
            "store_read_ms": record.store_read_ms,
            "store_write_ms": record.store_write_ms,
            "repaired_frames": summary.repaired_frames or None,
            "warnings": list(summary.warnings) or None,
            "did_you_mean": meant(summary.warnings, summary.dialect) or None,
            "gen_ai.response.model": short(summary.model),
            "gen_ai.response.finish_reasons": [summary.finish] if summary.finish else None,
        }
        if summary.usage is not None:
            fields["gen_ai.usage.input_tokens"] = summary.usage.input_tokens
            fields["gen_ai.usage.output_tokens"] = summary.usage.output_tokens
            fields["reported_total_tokens"] = summary.usage.reported_total
    return {name: value for name, value in fields.items() if value is not None}


def session_id(names: Iterable[str | None]) -> str | None:
    """The first of these names that is an id, for the log: with it the requests of one session are found."""
    return next((name for name in names if name and _SESSION.fullmatch(name)), None)


def call_lines(request_id: str, request: ChatRequest) -> Observer | None:
    """What logs the calls of an exchange, those of its history and each new one; None unless the level is DEBUG."""
    if not logger().shows(logging.DEBUG):
        return None
    from toolwire.shell.serve.call_lines import CallLines

    return CallLines(request_id, request)


def _metrics_wanted() -> bool:
    wanted = os.environ.get("TOOLWIRE_METRICS")
    return "AWS_LAMBDA_FUNCTION_NAME" in os.environ if wanted is None else wanted == "1"


def milliseconds(seconds: float) -> float:
    """For logs and metrics."""
    return round(seconds * 1000, 2)


def short(name: str | None) -> str | None:
    """As much of a name as a line bears."""
    return None if name is None else name[:NAME_CHARS]
