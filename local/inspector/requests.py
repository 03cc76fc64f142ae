"""Shows the client's request beside the provider's, with the differences marked, and both as commands."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import urlencode

from toolwire.model.errors import GatewayError
from toolwire.shell.network.proxy_event import http_request
from toolwire.shell.recording.credentials import NOT_KEPT
from toolwire.shell.recording.notes import Asked

#: A line of a document: its text, and whether the other document lacks its value.
Marked = tuple[str, bool]

#: The most characters of one text that are shown; a file may have millions.
_LONGEST = 4000
#: The most lines of a document that are shown.
MOST_LINES = 4000
#: Headers that curl sets by itself, or that belong to the connection.
_CURLS_OWN = frozenset(
    ("host", "content-length", "connection", "accept-encoding", "transfer-encoding", "content-encoding")
)


def client_body(event: dict[str, Any]) -> bytes:
    """The body of the client's request, unpacked if that is possible."""
    try:
        return http_request(event).body
    except GatewayError:
        return (event.get("body") or "").encode("utf-8", "surrogatepass")


def side_by_side(client: bytes, provider: bytes) -> tuple[list[Marked], list[Marked]]:
    """Both documents, with a line for each value. A line is marked if the other document has its value nowhere. Values
    inside JSON texts count too, since arguments are a text here and an object there."""
    left, right = _parsed(client), _parsed(provider)
    left_values, right_values = Counter(_values(left)), Counter(_values(right))
    return list(_marked(left, right_values))[:MOST_LINES], list(_marked(right, left_values))[:MOST_LINES]


def pretty(document: bytes) -> str:
    """JSON with a line a value, else the text."""
    found = _parsed(document)
    return found if isinstance(found, str) else json.dumps(found, indent=2, ensure_ascii=False)


def client_command(event: dict[str, Any], url: str, path: str) -> str:
    """The client's request to this path as a command. Its key, if it had one, is the variable KEY."""
    given = (event.get("headers") or {}).items()
    kept = [(name, value) for name, value in given if name.lower() in ("content-type", "anthropic-version", "accept")]
    secret = [(name, value) for name, value in given if value == NOT_KEPT and _is_key(name)]
    method = event["httpMethod"]
    query = urlencode({name: it for name, it in (event.get("queryStringParameters") or {}).items() if it != NOT_KEPT})
    return _command(method, url + path + (f"?{query}" if query else ""), [*kept, *secret], client_body(event))


def provider_command(asked: Asked) -> str:
    """The request to a provider as a command."""
    return _command(asked.method, asked.url, asked.headers, asked.body)


def _is_key(name: str) -> bool:
    return name.lower() in ("authorization", "x-api-key", "x-goog-api-key", "api-key")


def _command(method: str, url: str, headers: Iterable[tuple[str, str]], body: bytes) -> str:
    words = ["curl -sN" + ("" if method in ("GET", "POST") else f" -X {method}") + f" {shlex.quote(url)}"]
    for name, value in headers:
        if name.lower() in _CURLS_OWN:
            continue
        if value != NOT_KEPT:
            words.append(f"-H {shlex.quote(f'{name}: {value}')}")
        elif name.lower() == "authorization":
            words.append('-H "authorization: Bearer $KEY"')
        elif _is_key(name):
            words.append(f'-H "{name}: $KEY"')
    if body:
        words.append(f"--data-binary {shlex.quote(body.decode('utf-8', 'replace'))}")
    return " \\\n  ".join(words)


def _parsed(document: bytes) -> Any:
    try:
        return json.loads(document)
    except (ValueError, RecursionError):
        return document.decode("utf-8", "replace")


def _values(value: Any) -> Iterator[str]:
    """The values of a document, those inside of JSON texts too."""
    if isinstance(value, dict):
        for inner in value.values():
            yield from _values(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _values(inner)
    else:
        yield json.dumps(value, ensure_ascii=False)
        if isinstance(value, str) and value[:1] in "{[":
            try:
                yield from _values(json.loads(value))
            except (ValueError, RecursionError):
                return


def _marked(value: Any, other: Counter[str]) -> Iterator[Marked]:
    """The lines of a document, as `json.dumps` would indent them."""
    if not isinstance(value, dict | list):
        yield _shown(value), json.dumps(value, ensure_ascii=False) not in other
        return
    yield from _lines(value, "", "", other)


def _lines(value: Any, indent: str, lead: str, other: Counter[str], end: str = "") -> Iterator[Marked]:
    if isinstance(value, dict | list) and value:
        opening, closing = "{}" if isinstance(value, dict) else "[]"
        yield f"{indent}{lead}{opening}", False
        items = list(value.items()) if isinstance(value, dict) else [(None, inner) for inner in value]
        for number, (name, inner) in enumerate(items):
            label = "" if name is None else f"{json.dumps(name, ensure_ascii=False)}: "
            yield from _lines(inner, indent + "  ", label, other, "," if number + 1 < len(items) else "")
        yield f"{indent}{closing}{end}", False
        return
    is_new = not isinstance(value, dict | list) and not any(text in other for text in _values(value))
    yield f"{indent}{lead}{_shown(value)}{end}", is_new


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text)} characters)"
