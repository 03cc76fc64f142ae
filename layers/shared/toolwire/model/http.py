"""HTTP as values: what the shell receives and sends, without a socket in sight."""

from __future__ import annotations

from dataclasses import dataclass, field

#: Header fields in order; names in lower case.
Headers = tuple[tuple[str, str], ...]


#: The header, of our own, that names a conversation: in requests whose body does not, and in every answer.
CONVERSATION_HEADER = "x-conversation-id"


def id_headers(request_id: str) -> Headers:
    """The request's id as OpenAI's SDKs read it, and as Anthropic's do."""
    return (("x-request-id", request_id), ("request-id", request_id))


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A client's request. Header names are lower case; a repeated header is joined with ", ". `path` is the template's,
    `parameters` what stands for the names in it. Of a name that is repeated in the `query` the last value counts."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    parameters: dict[str, str] = field(default_factory=dict)
    query: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Head:
    """Status and headers of an answer to the client. Once yielded it is committed."""

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
    """The URL of a path behind a base URL. What comes from a client must be quoted in `path` already."""
    return base_url.rstrip("/") + path + (f"?{query}" if query else "")


def post_json(url: str, body: bytes, *, stream: bool, headers: Headers = ()) -> UpstreamRequest:
    """A POST of this JSON, for an answer in JSON or as a stream of events. `headers` follow the usual ones."""
    accept = "text/event-stream" if stream else "application/json"
    return UpstreamRequest(
        "POST", url, (("content-type", "application/json"), ("accept", accept), *headers), body, stream
    )
