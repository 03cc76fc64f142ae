"""The interface by which checks ask a running gateway, and the errors of a check that fails."""

from __future__ import annotations

from typing import Protocol

from local.client import KeyHeader, Reply


class Gateway(Protocol):
    """The gateway under test."""

    @property
    def is_local(self) -> bool: ...

    @property
    def has_key(self) -> bool: ...

    def send(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        *,
        key: str | None = "own",
        header: KeyHeader = "bearer",
        encoding: str | None = None,
    ) -> Reply:
        """One request; `path` is behind the URL. `key`: "own" for the user's, None for none, else that one, in the
        header that clients of OpenAI's APIs, of Anthropic's or of Google's put it in. `encoding`: the coding of
        the body."""


class FailedError(Exception):
    """A check failed. The message says what was seen and what to change."""


class BlockedError(FailedError):
    """A check failed that later ones depend on."""


class SkippedError(Exception):
    """A check does not apply here. The message says why."""


def expect(holds: bool, what_to_change: str) -> None:
    """Raises FailedError, with what to change, unless `holds`."""
    if not holds:
        raise FailedError(what_to_change)


def expect_error(reply: Reply, status: int, what: str, *, hint: str = "a bug", upstreams: bool = False) -> None:
    """Expects an error answer that OpenAI's SDKs can read, with the same request id in the header and, unless the body
    is the upstream's own, in the body."""
    expect(reply.status == status, f"{what} is {reply.status} instead of {status}; {hint}")
    error = reply.json.get("error") if isinstance(reply.json, dict) else None
    readable = isinstance(error, dict) and isinstance(error.get("message"), str) and isinstance(error.get("type"), str)
    expect(readable, f"{what}: the body is not {{'error': {{'message', 'type', ...}}}}; {hint}")
    request_id = expect_request_id(reply)
    named = upstreams or request_id.encode() in reply.body
    expect(named, f"{what}: the body does not name the request id of its header; {hint}")


def expect_request_id(reply: Reply) -> str:
    """The id that the header names."""
    request_id = reply.headers.get("x-request-id", "")
    expect(bool(request_id), f"an answer ({reply.status}) has no x-request-id")
    return request_id


def expect_stream(reply: Reply) -> None:
    """Expects a complete stream of events."""
    expect(reply.status == 200, f"a stream is {reply.status}: {error_of(reply)}")
    content_type = reply.headers.get("content-type", "")
    expect(content_type.startswith("text/event-stream"), f"a stream has content-type {content_type!r}")
    expect(not reply.broken, "the connection broke before the stream's end")
    expect_request_id(reply)
    expect(bool(reply.chunks), "a stream has no chunk")


def error_of(reply: Reply) -> str:
    """The message of an error answer."""
    error = reply.json.get("error") if isinstance(reply.json, dict) else None
    return str(error.get("message"))[:200] if isinstance(error, dict) else "no error body"
