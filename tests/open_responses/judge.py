"""Whether an answer is valid by the standard. `standard.json` says what that is: see `make_schema`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

import jsonschema_rs

from tests.doors.responses.responses_reader import events
from tests.open_responses.make_schema import SCHEMA

_DOCUMENT = json.loads(SCHEMA.read_text("utf-8"))
#: The date of the standard's release, and its schemas by their names.
RELEASE: str = _DOCUMENT["release"]
STANDARD: dict[str, Any] = _DOCUMENT["components"]["schemas"]

_ENDINGS = ("response.completed", "response.incomplete", "response.failed", "error")


def _event_schemas() -> Iterator[tuple[str, str]]:
    for name, schema in STANDARD.items():
        if name.endswith("StreamingEvent"):
            (kind,) = schema["properties"]["type"]["enum"]
            yield kind, name


#: Type of an event -> the name of its schema.
EVENTS = dict(_event_schemas())


@cache
def _validator(name: str) -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator(
        {
            "$ref": f"#/components/schemas/{name}",
            "components": _DOCUMENT["components"],
        }
    )


def faults(name: str, value: Any) -> list[str]:
    """What is wrong with a value by this schema of the standard."""
    return [
        f"{name} {'.'.join(map(str, error.instance_path))}: {error.message}"
        for error in _validator(name).iter_errors(value)
    ]


def document_faults(body: bytes) -> list[str]:
    """What is wrong with a whole answer."""
    return faults("ResponseResource", json.loads(body))


def stream_faults(body: bytes) -> list[str]:
    """What is wrong with a streamed answer: any event, or the end."""
    found: list[str] = []
    kind = ""
    for event in events(body):
        kind = event["type"]
        found += faults(EVENTS[kind], event) if kind in EVENTS else [f"the standard has no event {kind}"]
    return found if kind in _ENDINGS else [*found, f"the last event is {kind!r}"]


def error_faults(body: bytes) -> list[str]:
    """What is wrong with the body of an error answer."""
    return faults("ErrorPayload", json.loads(body).get("error"))
