"""Bedrock's Converse, the answer: one turn of the script as JSON or as an AWS event stream.

As Bedrock writes it: no beginning for text and reasoning, the usage behind the stop reason, padding in every payload.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from zlib import crc32

from toolwire.demo.answer import Answer, RefusedError
from toolwire.demo.bedrock_converse_request import read_request, shows_reasoning
from toolwire.demo.script import Turn, play, wanted_of

_STOP_REASONS = {"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens"}

_EXCEPTIONS = {
    400: "ValidationException",
    403: "AccessDeniedException",
    404: "ResourceNotFoundException",
    408: "ModelTimeoutException",
    424: "ModelErrorException",
    429: "ThrottlingException",
    503: "ServiceUnavailableException",
}

#: Letters that pad a payload, so that its length tells nothing.
PADDING = "abcdefghijklmnopqrstuvwxyz"


def answer(body: bytes, *, stream: bool, new_hex: Callable[[], str]) -> Answer:
    """Answers one POST /model/{id}/converse or /converse-stream. `new_hex` gives 32 fresh hexadecimal digits a call."""
    try:
        try:
            request = json.loads(body)
        except (ValueError, RecursionError):
            raise RefusedError(400, "The body is not valid JSON, or nested too deeply.") from None
        asked = read_request(request)
        wanted = wanted_of(asked)
        if wanted.error is not None:
            raise RefusedError(wanted.error, "An error on request of the demo directive.")
    except RefusedError as refused:
        return error_answer(refused)
    writer = _Writer(request, play(asked), new_hex)
    identity = ("x-amzn-requestid", new_hex())
    if not stream:
        cut = 0 if wanted.cut else None
        pieces = (_json(writer.document()),)
        return Answer(200, (("content-type", "application/json"), identity), pieces, stall=wanted.stall, cut=cut)
    events = list(writer.events())
    return Answer(
        200,
        (("content-type", "application/vnd.amazon.eventstream"), identity),
        tuple(
            event_frame(kind, _json(payload | {"p": PADDING[: 1 + n % 26]})) for n, (kind, payload) in enumerate(events)
        ),
        stream=True,
        pace=wanted.pace,
        stall=wanted.stall,
        cut=max(n for n, (kind, _) in enumerate(events) if kind == "contentBlockDelta") if wanted.cut else None,
    )


def error_answer(refused: RefusedError) -> Answer:
    """An error in AWS's shape."""
    name = _EXCEPTIONS.get(
        refused.status, "InternalServerException" if refused.status >= 500 else "ValidationException"
    )
    headers = (("content-type", "application/json"), ("x-amzn-errortype", f"{name}:http://internal.amazon.com/"))
    return Answer(refused.status, headers, (_json({"message": refused.message}),))


def event_frame(kind: str, payload: bytes) -> bytes:
    """One frame of an AWS event stream."""
    headers = b"".join(
        bytes([len(name)]) + name.encode() + b"\x07" + struct.pack(">H", len(value)) + value.encode()
        for name, value in ((":event-type", kind), (":content-type", "application/json"), (":message-type", "event"))
    )
    lengths = struct.pack(">II", 16 + len(headers) + len(payload), len(headers))
    data = lengths + struct.pack(">I", crc32(lengths)) + headers + payload
    return data + struct.pack(">I", crc32(data))


@dataclass(slots=True)
class _Writer:
    """Writes one turn."""

    request: dict[str, Any]
    turn: Turn
    new_hex: Callable[[], str]

    def document(self) -> dict[str, Any]:
        content: list[dict[str, Any]] = []
        if self._shows_reasoning():
            told = {"text": "".join(self.turn.reasoning), "signature": self._signature()}
            content.append({"reasoningContent": {"reasoningText": told}})
        if self.turn.text:
            content.append({"text": "".join(self.turn.text)})
        for call in self.turn.calls:
            try:
                given = json.loads("".join(call.arguments) or "{}")
            except ValueError:  # cut by the output limit
                given = {}
            content.append({"toolUse": {"toolUseId": self._call_id(), "name": call.name, "input": given}})
        return {
            "metrics": {"latencyMs": 1},
            "output": {"message": {"content": content, "role": "assistant"}},
            "stopReason": self._stop_reason(),
            "usage": self._usage(),
        }

    def events(self) -> Iterator[tuple[str, dict[str, Any]]]:
        yield "messageStart", {"role": "assistant"}
        index = 0
        if self._shows_reasoning():
            deltas: list[dict[str, Any]] = [{"reasoningContent": {"text": text}} for text in self.turn.reasoning]
            yield from self._block(index, [*deltas, {"reasoningContent": {"signature": self._signature()}}])
            index += 1
        if self.turn.text:
            yield from self._block(index, [{"text": text} for text in self.turn.text])
            index += 1
        for call in self.turn.calls:
            start = {"toolUse": {"toolUseId": self._call_id(), "name": call.name}}
            yield "contentBlockStart", {"contentBlockIndex": index, "start": start}
            fragments = () if call.arguments == ("{}",) else call.arguments
            yield from self._block(index, [{"toolUse": {"input": text}} for text in fragments])
            index += 1
        yield "messageStop", {"stopReason": self._stop_reason()}
        yield "metadata", {"metrics": {"latencyMs": 1}, "usage": self._usage()}

    def _stop_reason(self) -> str:
        return "stop_sequence" if self.turn.stopped is not None else _STOP_REASONS[self.turn.finish]

    def _block(self, index: int, deltas: list[dict[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
        yield from (("contentBlockDelta", {"contentBlockIndex": index, "delta": delta}) for delta in deltas)
        yield "contentBlockStop", {"contentBlockIndex": index}

    def _shows_reasoning(self) -> bool:
        return shows_reasoning(self.request)

    def _signature(self) -> str:
        return f"demo{self.new_hex()}"

    def _call_id(self) -> str:
        return f"tooluse_{self.new_hex()[:22]}"

    def _usage(self) -> dict[str, int]:
        """About four characters a token for the prompt; exactly a fragment a token for the answer."""
        prompt = [self.request.get("system"), self.request["messages"], self.request.get("toolConfig")]
        read = len(json.dumps(prompt)) // 4
        written = self.turn.tokens + (len(self.turn.reasoning) if self._shows_reasoning() else 0)
        return {"inputTokens": read, "outputTokens": written, "totalTokens": read + written}


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
