"""HTTP as values: what the shell receives and sends."""

from __future__ import annotations

from dataclasses import dataclass, field

#: Header fields in order; names in lower case.
Headers = tuple[tuple[str, str], ...]


#: Our own header that names a conversation: in requests whose body does not name one, and in every answer.
CONVERSATION_HEADER = "x-conversation-id"


def id_headers(request_id: str) -> Headers:
    """The request's id as OpenAI's SDKs read it, and as Anthropic's do."""
    return (("x-request-id", request_id), ("request-id", request_id))


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A client's request. Header names are lower case; a repeated header is joined with ", ". `path` is the route's
    template, and `parameters` has the values of the names in it. If a name is repeated in the `query`, the last value
    counts."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    parameters: dict[str, str] = field(default_factory=dict)
    query: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Head:
    """Status and headers of an answer to the client. Once it is yielded, the status cannot change."""

    status: int
    headers: Headers


@dataclass(frozen=True, slots=True)
class UpstreamRequest:
    """One request to a provider. `url` is absolute; `headers` hold the credential and must never be logged."""

    method: str
    url: str
    headers: Headers
    body: bytes
    stream: bool


def endpoint(base_url: str, path: str, query: str = "") -> str:
    """The URL of a path below a base URL. The caller must have quoted what a client wrote in `path`."""
    return base_url.rstrip("/") + path + (f"?{query}" if query else "")


def post_json(url: str, body: bytes, *, stream: bool, headers: Headers = ()) -> UpstreamRequest:
    """A POST of this JSON, for an answer in JSON or as a stream of events. `headers` follow the usual ones."""
    accept = "text/event-stream" if stream else "application/json"
    return UpstreamRequest(
        "POST", url, (("content-type", "application/json"), ("accept", accept), *headers), body, stream
    )
