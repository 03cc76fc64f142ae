"""Sends a recorded request once more, to another model, through the gateway as it is configured now."""

from __future__ import annotations

import codecs
import json
import textwrap
import uuid
from collections.abc import Iterator
from contextlib import suppress
from itertools import zip_longest
from typing import Any

from local.event import LocalContext
from local.handlers import Handler
from local.watch.exchanges import Exchanges
from toolwire.model.http import Head
from toolwire.shell.network.proxy_event import http_request, with_body
from toolwire.shell.recording.exchange import SeenExchange
from toolwire.shell.recording.summarize import summary
from toolwire.wire.json import dump, raw_members, write_object

#: The seconds that an answer may take.
SECONDS = 600.0

#: Variables that make clients need a key. They are unset, since a command has none.
CLIENT_KEYS = ("KEYS_FILE", "KEYS_TABLE", "KEY_SHA256", "REQUIRE_KEY")

_LABEL = 16
_GAP = " | "


def with_model(event: dict[str, Any], model: str) -> dict[str, Any]:
    """The client's request for another model, with a new id. The rest of the body stays as it is. Raises GatewayError
    for a body that cannot be read."""
    body = http_request(event).body
    event = event | {"requestContext": event["requestContext"] | {"requestId": str(uuid.uuid4())}}
    if (in_path := _model_in_path(event, model)) is not None:
        event |= in_path
    else:
        with suppress(ValueError):  # no JSON: the answer will say so
            own = raw_members(body).items()
            members = [(name, dump(model) if name == "model" else bytes(raw)) for name, raw in own]
            body = write_object([*members, ("model", dump(model))])
    return with_body(event, body.decode("utf-8", "surrogatepass"))


def _model_in_path(event: dict[str, Any], model: str) -> dict[str, Any] | None:
    """The changes of the event for an API whose paths end with the model, a colon and a method; None for any other
    API."""
    for name, value in (event.get("pathParameters") or {}).items():
        before, colon, method = value.rpartition(":")
        if colon:
            new, context = f"{model}:{method}", event["requestContext"]
            paths = {"path": event["path"].replace(f"{before}:{method}", new)}
            context = context | {"path": context["path"].replace(f"{before}:{method}", new)}
            return {"pathParameters": event["pathParameters"] | {name: new}, "requestContext": context, **paths}
    return None


def ask_again(event: dict[str, Any], handler: Handler, exchanges: Exchanges) -> SeenExchange:
    """Runs a request without a client. The returned exchange has the bytes that a client would be sent."""
    request_id = event["requestContext"]["requestId"]
    with exchanges.watching(event) as seen:
        for item in handler(event, LocalContext("again", request_id, SECONDS)):
            if isinstance(item, Head):
                seen.left("sent_head", item)
            else:
                seen.wrote(item)
    return seen


def rows(seen: SeenExchange) -> dict[str, str]:
    """The rows of the table about an exchange: label and value."""
    line = summary(seen)
    return {
        "model": line.provider or line.model,
        "status": str(line.status or "no answer"),
        "error": "" if seen.error is None else f"{seen.error.message} ({seen.error.code})",
        "calls": ", ".join(line.calls),
        "tokens": "" if line.tokens is None else f"{line.tokens[0]} + {line.tokens[1]}",
        "seconds": "" if line.seconds is None else f"{line.seconds:.2f}",
        "warnings": ", ".join(line.warnings),
    }


def recorded_rows(about: dict[str, Any]) -> dict[str, str]:
    """The same rows, from a folder's `exchange.json`."""
    tokens, seconds = about.get("tokens"), about.get("seconds")
    return {
        "model": about.get("provider") or about.get("model") or "",
        "status": str(about.get("status") or "no answer"),
        "error": about.get("error", ""),
        "calls": ", ".join(about.get("calls", ())),
        "tokens": f"{tokens[0]} + {tokens[1]}" if tokens else "",
        "seconds": f"{seconds:.2f}" if seconds else "",
        "warnings": ", ".join(about.get("warnings", ())),
    }


def side_by_side(before: dict[str, str], after: dict[str, str], columns: int) -> Iterator[str]:
    """The lines of a table with labels and two columns. Long values continue on the next line."""
    width = (columns - _LABEL - len(_GAP)) // 2
    yield _line("", ["recorded"], ["again"], width)
    for label in before | after:
        texts = before.get(label, ""), after.get(label, "")
        if any(texts):
            left, right = ([part for line in text.split("\n") for part in _wrapped(line, width)] for text in texts)
            yield _line(label, left, right, width)


def answer_text(body: bytes) -> str:
    """An answer for a column: an indented document, or a stream's frames without their common parts."""
    text = codecs.decode(body, "utf-8", "replace")
    try:
        return json.dumps(json.loads(text), indent=1, ensure_ascii=False)
    except ValueError:
        return "\n".join(line for line in text.split("\n") if line)


def _line(label: str, left: list[str], right: list[str], width: int) -> str:
    lines = []
    for number, (one, other) in enumerate(zip_longest(left, right, fillvalue="")):
        start = label if number == 0 else ""
        lines.append(f"{start:<{_LABEL}}{one:<{width}}{_GAP}{other}".rstrip())
    return "\n".join(lines)


def _wrapped(line: str, width: int) -> list[str]:
    return textwrap.wrap(line, width, break_on_hyphens=False, drop_whitespace=False) or [""]
