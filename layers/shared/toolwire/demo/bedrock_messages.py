"""Claude at Bedrock by its own API: InvokeModel and InvokeModelWithResponseStream.

As Bedrock writes it: Anthropic's document, or each of its events as base64 in a frame of an AWS event stream, with the
counts of the invocation in the last one. The model and whether it streams are in the address, and no member says them.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from toolwire.demo import anthropic_messages
from toolwire.demo.answer import Answer, RefusedError
from toolwire.demo.bedrock_converse import PADDING, error_answer, event_frame

_VERSION = "bedrock-2023-05-31"
#: The version of Anthropic's API that it stands for.
_MEANT = {"anthropic-version": "2023-06-01"}


def answer(body: bytes, *, stream: bool, new_hex: Callable[[], str]) -> Answer:
    """Answers one POST /model/{id}/invoke or /invoke-with-response-stream. `new_hex` gives 32 fresh hexadecimal digits
    a call."""
    try:
        request = _meant(body)
    except RefusedError as refused:
        return error_answer(refused)
    own = anthropic_messages.answer(
        json.dumps(request | {"model": anthropic_messages.MODEL, "stream": stream}).encode(), _MEANT, new_hex=new_hex
    )
    if own.status != 200:
        return error_answer(RefusedError(own.status, json.loads(own.pieces[0])["error"]["message"]))
    identity = ("x-amzn-requestid", new_hex())
    if not stream:
        return replace(own, headers=(("content-type", "application/json"), identity))
    events = [json.loads(piece.partition(b"data: ")[2]) for piece in own.pieces]
    events[-1]["amazon-bedrock-invocationMetrics"] = _metrics(events)
    pieces = tuple(_chunk(event, 1 + number % 26) for number, event in enumerate(events))
    return replace(own, headers=(("content-type", "application/vnd.amazon.eventstream"), identity), pieces=pieces)


def _meant(body: bytes) -> dict[str, Any]:
    """The request in Anthropic's own API. Raises RefusedError."""
    try:
        request = json.loads(body)
    except (ValueError, RecursionError):
        raise RefusedError(400, "Malformed input request, please reformat your input and try again.") from None
    if not isinstance(request, dict) or request.pop("anthropic_version", None) != _VERSION:
        raise RefusedError(400, f"anthropic_version: {_VERSION} is required")
    for name in ("model", "stream"):
        if name in request:
            raise RefusedError(400, f"{name}: Extra inputs are not permitted")
    betas = request.pop("anthropic_beta", [])
    if not isinstance(betas, list) or not all(isinstance(beta, str) for beta in betas):
        raise RefusedError(400, "anthropic_beta: Input should be a valid list")
    return request


def _metrics(events: list[dict[str, Any]]) -> dict[str, int]:
    read = events[0]["message"]["usage"]["input_tokens"]
    written = max(event["usage"]["output_tokens"] for event in events if event["type"] == "message_delta")
    return {"inputTokenCount": read, "outputTokenCount": written, "invocationLatency": 2, "firstByteLatency": 1}


def _chunk(event: dict[str, Any], padding: int) -> bytes:
    said = b64encode(json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode()).decode()
    return event_frame("chunk", json.dumps({"bytes": said, "p": PADDING[:padding]}, separators=(",", ":")).encode())
