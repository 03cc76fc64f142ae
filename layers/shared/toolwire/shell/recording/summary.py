"""What a line of a list says of an exchange: all that is left of most."""

from __future__ import annotations

from datetime import UTC, datetime

from msgspec import Struct


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
