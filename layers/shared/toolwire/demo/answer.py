"""An HTTP answer of the demo as a value: what is sent, and when. `server.py` sends it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Answer:
    """`pieces` are sent one by one, `pace` seconds apart; an answer that is no stream has one piece.

    `stall` seconds pass before the second piece of a stream, or before the only piece. With `cut` the connection breaks
    in the middle of the piece with that index.
    """

    status: int
    headers: tuple[tuple[str, str], ...]
    pieces: tuple[bytes, ...]
    stream: bool = False
    pace: float | None = None
    stall: float = 0.0
    cut: int | None = None


class RefusedError(Exception):
    """The request is answered with an error. `param` and `code` are as OpenAI's error object has them."""

    def __init__(self, status: int, message: str, *, param: str | None = None, code: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.param = param
        self.code = code
