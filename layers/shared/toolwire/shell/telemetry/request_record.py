"""The facts about one request, for the log, metrics and span: names, counts, sizes and times; never text of a prompt,
an answer or an argument.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from toolwire.model.errors import GatewayError, RequestError, UpstreamError
from toolwire.model.settings import Target
from toolwire.shell.telemetry.log import logger

if TYPE_CHECKING:  # the catalog's function has no exchange and does not import one
    from toolwire.exchange.figures import Figures

#: How a request ended, by who decided it.
Outcome = Literal["ok", "request_error", "upstream_error", "internal_error", "client_gone"]

#: The most characters of a name in a line: the client and the model choose it.
NAME_CHARS = 128

#: A code that may be logged: an upstream's code may be any text, even that of a prompt.
_CODE = re.compile(r"[A-Za-z0-9_.:-]{1,64}")

#: A conversation's name that may be logged: an id, no words.
_SESSION = re.compile(r"[A-Za-z0-9_.:-]{1,128}")


@dataclass(slots=True)
class RequestRecord:
    """The facts about one request, set when they are known. Times are moments of `clock`, in seconds."""

    request_id: str
    door: str
    clock: Callable[[], float] = time.monotonic
    started: float = field(init=False)
    first_byte: float | None = None
    tenant: str | None = None
    target: Target | None = None
    #: The model as the client named it.
    requested_model: str | None = None
    #: The client's id of its conversation: see `session_id`.
    session: str | None = None
    #: The headers with the request's trace, if traces are on.
    trace_headers: dict[str, str] = field(default_factory=dict)
    #: Tools that the request declares.
    tools: int = 0
    status: int | None = None
    outcome: Outcome = "ok"
    error_code: str | None = None
    #: The error that ended the request. Its message is for the client and never logged.
    error: GatewayError | None = None
    figures: Figures | None = None
    #: The number of attempts, and the time when the last one began.
    attempts: int = 0
    attempt_began: float = field(init=False, default=0.0)
    #: Counts the answer's calls against the tenant's rates, once.
    charge: Callable[[int], None] | None = None
    #: Functions that release what the request holds. They are called when it is over.
    held: list[Callable[[], None]] = field(default_factory=list)
    store_error: str | None = None
    store_read_ms: float | None = None
    store_write_ms: float | None = None
    #: A health check: there are many, and each is like the one before.
    routine: bool = False

    def __post_init__(self) -> None:
        self.started = self.clock()

    def byte_sent(self) -> None:
        """Notes the time of the first piece of the body."""
        if self.first_byte is None:
            self.first_byte = self.clock()

    def charge_calls(self) -> None:
        """Counts the calls of the answer against the tenant's rates, once they are known or the answer broke off."""
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


def code_of(error: GatewayError) -> str:
    """An error's code, fit for the log."""
    return error.code if _CODE.fullmatch(error.code) else "upstream_error"


def session_id(names: Iterable[str | None]) -> str | None:
    """The first of these names that is an id. In the log it connects the requests of one session."""
    return next((name for name in names if name and _SESSION.fullmatch(name)), None)


def milliseconds(seconds: float) -> float:
    """The seconds as milliseconds, rounded as logs and metrics have them."""
    return round(seconds * 1000, 2)


def short(name: str | None) -> str | None:
    """The name, cut for a line."""
    return None if name is None else name[:NAME_CHARS]
