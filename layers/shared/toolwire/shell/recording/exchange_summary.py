"""The line of an exchange in a list. Of most exchanges only this is kept."""

from __future__ import annotations

from datetime import UTC, datetime

from msgspec import Struct


class Summary(Struct, array_like=True, gc=False):
    """See the module. It stays when the bytes of the exchange are dropped."""

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
        """The time when the request came."""
        return datetime.fromtimestamp(self.began, UTC)
