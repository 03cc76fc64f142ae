"""What an upstream of the matrix sends, and how its JSON is written."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from tests.matrix.scenarios import Scenario


@dataclass(frozen=True)
class Reply:
    """An upstream's answer."""

    status: int
    content_type: str
    body: bytes


def failed(status: int, document: Any) -> Reply:
    """An error answer."""
    return Reply(status, "application/json", encoded(document))


def whole(scenario: Scenario, body: bytes) -> Reply:
    """A JSON answer; one whose connection ends early loses its last third."""
    return Reply(200, "application/json", body[: len(body) * 2 // 3] if scenario.failure == "cut" else body)


def encoded(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def with_arguments(document: bytes, scenario: Scenario) -> bytes:
    """The document with each call's arguments, as the text that they are, in the place of its `held_place`."""
    for number, call in enumerate(scenario.calls):
        document = document.replace(encoded(held_place(number)), (call.arguments or "{}").encode())
    return document


def held_place(number: int) -> str:
    """Stands for the arguments of a call where they are an object: writing JSON would change digits and escapes."""
    return f"<arguments of call {number}>"
