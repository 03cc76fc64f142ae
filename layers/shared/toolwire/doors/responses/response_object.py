"""Writes the response object, or adds to an upstream's own the members that it lacks."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from toolwire.doors.responses.request_echo import one_line, request_echo
from toolwire.doors.responses.required_members import (
    NULLABLE,
    REQUIRED,
    is_null,
    says_all,
    whole_output,
    whole_reasoning,
    whole_text,
    whole_tools,
    with_members,
)
from toolwire.model.events import Finish, ResponseStart, Usage
from toolwire.model.request import ChatRequest
from toolwire.model.source import Members, raw_in
from toolwire.wire.json import dump, raw_members, write_array, write_object
from toolwire.wire.openai_responses import DIALECT

_NULL = b"null"

#: Why a response is incomplete, in OpenAI's words.
_INCOMPLETE = {"length": "max_output_tokens", "content_filter": "content_filter"}


def status_of(finish: Finish) -> str:
    """The status of a response with this finish."""
    return "incomplete" if _why_incomplete(finish) else "completed"


def _why_incomplete(finish: Finish) -> str | None:
    """Why a response with this finish is incomplete. OpenAI has no word for a pause, which keeps its own."""
    return finish.raw if finish.is_paused else _INCOMPLETE.get(finish.reason)


def _write_usage(usage: Usage) -> bytes:
    """OpenAI's usage object: the upstream's own bytes if it speaks this API, else written, with zeros for absent
    counts."""
    raw = raw_in(usage, DIALECT)
    if raw is not None:
        return raw
    built = {
        "input_tokens": usage.input_tokens,
        "input_tokens_details": {
            "cached_tokens": usage.cache_read_tokens,
            "cache_write_tokens": usage.cache_write_tokens,
        },
        "output_tokens": usage.output_tokens,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
        "total_tokens": usage.total_tokens,
    }
    return dump(built)


class ResponseShape:
    """Writes the response object, several times while an answer streams. `now`: seconds since 1970."""

    def __init__(self, request: ChatRequest | None, now: Callable[[], float]) -> None:
        self._request, self._now = request, now
        self._echo: dict[str, bytes] | None = None
        self._completed_at: int | None = None
        self._said: dict[str, bytes] = {}
        #: Cache of values that a host repeats, as they came -> made whole: members by their names, responses by their
        #: status.
        self._last: dict[str, tuple[bytes, bytes]] = {}

    def note(self, extra: Members) -> None:
        """Notes members of the response from an upstream of this API. Later response objects have them in place of
        those repeated from the request."""
        self._said |= dict(extra)

    def write(
        self,
        start: ResponseStart,
        status: str,
        output: Iterable[bytes],
        *,
        usage: Usage | None = None,
        finish: Finish | None = None,
        error: bytes = _NULL,
    ) -> bytes:
        """The object. `finish`: why it is incomplete, if it is."""
        reason = _why_incomplete(finish) if finish is not None else None
        written = {
            "id": dump(start.id),
            "object": b'"response"',
            "created_at": dump(start.created),
            "completed_at": self._time(start, status),
            "status": dump(status),
            "background": b"false",
            "error": error,
            "incomplete_details": dump({"reason": reason}) if reason else _NULL,
            "model": dump(start.model),
            "output": write_array(output),
            "store": dump(status != "failed" and self._is_kept()),
            "usage": _write_usage(usage) if usage is not None else _NULL,
            **self._repeated(),
        }
        if not self._said:
            return write_object(written.items())
        said = {
            name: one_line(self._shaped(name, value))
            for name, value in self._said.items()
            if value != _NULL or (name in NULLABLE and name != "completed_at")
        }
        return write_object((written | said).items())

    def _is_kept(self) -> bool:
        """Whether the answer will be kept, unless it fails."""
        return self._request is not None and self._request.kept is not None and self._request.kept.wanted

    def whole(self, raw: bytes, start: ResponseStart, status: str) -> bytes:
        """An upstream's own object with the required members that it lacks; the same bytes if it lacks none."""
        before, whole = self._last.get(status, (b"", b""))
        if raw != before:  # the first two events say the same
            whole = self._whole(raw, start, status)
            self._last[status] = raw, whole
        return whole

    def _whole(self, raw: bytes, start: ResponseStart, status: str) -> bytes:
        given = raw_members(raw)
        changed = {name: self._shaped(name, bytes(given[name])) for name in _SHAPES if name in given}
        if "output" in given and not is_null(given["output"]):
            item_status = "in_progress" if status == "in_progress" else "completed"
            changed["output"] = whole_output(bytes(given["output"]), item_status, start.id or "")
        return with_members(raw, {} if says_all(given) else self._required(start, status), changed)

    def _required(self, start: ResponseStart, status: str) -> dict[str, bytes]:
        """Every member that the standard requires."""
        required = {
            "id": dump(start.id),
            "object": b'"response"',
            "created_at": dump(start.created),
            "completed_at": self._time(start, status),
            "status": dump(status),
            "error": _NULL,
            "incomplete_details": _NULL,
            "model": dump(start.model),
            "output": b"[]",
            "usage": _NULL,
            "background": b"false",
            "store": b"false",
            **self._repeated(),
        }
        return {name: value for name, value in required.items() if name in REQUIRED}

    def _shaped(self, name: str, raw: bytes) -> bytes:
        """A host's member with its required members, from the cache while the host repeats it."""
        before, shaped = self._last.get(name, (b"", b""))
        if raw != before:
            shaped = _shaped(name, raw)
            self._last[name] = raw, shaped
        return shaped

    def _repeated(self) -> dict[str, bytes]:
        if self._echo is None:
            self._echo = request_echo(self._request)
        return self._echo

    def _time(self, start: ResponseStart, status: str) -> bytes:
        """The time when the answer was completed, always the same; null until then."""
        if status != "completed":
            return _NULL
        if self._completed_at is None:
            self._completed_at = max(int(self._now()), start.created or 0)
        return dump(self._completed_at)


#: Members of the response that have required members themselves.
_SHAPES: dict[str, Callable[[bytes], bytes]] = {"reasoning": whole_reasoning, "text": whole_text, "tools": whole_tools}


def _shaped(name: str, raw: bytes) -> bytes:
    """A host's member with its required members; as it came if its form is unknown."""
    shape = _SHAPES.get(name)
    try:
        return shape(raw) if shape is not None and raw != _NULL else raw
    except ValueError:
        return raw
