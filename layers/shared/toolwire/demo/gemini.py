"""Google's generateContent, the answer: one turn of the script as JSON or as a stream.

As Google writes it: every chunk is a whole answer with what is new; a call arrives in one piece, parallel calls in
chunks of their own, the first with a thought signature; thoughts are shown when asked for; usage in every chunk;
`STOP` also after calls, in a last chunk with an empty text; lines end with CRLF and no frame says that the stream is
over. Some models give calls an id and some do not: here every second call of a turn has one.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from toolwire.demo.answer import Answer, RefusedError
from toolwire.demo.gemini_request import read_request
from toolwire.demo.script import Turn, play, wanted_of

MODEL = "gemini"

_STATUSES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
#: Fragments of text in one chunk: Google's chunks are larger than a token.
_FRAGMENTS = 4


def answer(body: bytes, *, stream: bool, now: int, new_hex: Callable[[], str]) -> Answer:
    """Answers one POST to :generateContent or, with `stream`, :streamGenerateContent?alt=sse. `now`: seconds since
    1970; `new_hex`: 32 fresh hexadecimal digits a call."""
    try:
        try:
            request = json.loads(body)
        except (ValueError, RecursionError):
            raise RefusedError(400, "Invalid JSON payload received.") from None
        asked = read_request(request)
        wanted = wanted_of(asked)
        if wanted.error is not None:
            raise RefusedError(wanted.error, "An error on request of the demo directive.")
    except RefusedError as refused:
        return error_answer(refused)
    thinking = request.get("generationConfig", {}).get("thinkingConfig", {})
    prompt = len(json.dumps([request["contents"], request.get("tools")])) // 4
    writer = _Writer(
        play(asked), prompt, thinking.get("includeThoughts") is True, f"{now:08x}{new_hex()[-14:]}", new_hex
    )
    if not stream:
        pieces: tuple[bytes, ...] = (json.dumps(writer.whole(), ensure_ascii=False, indent=2).encode(),)
        headers = (("content-type", "application/json; charset=UTF-8"),)
        return Answer(200, headers, pieces, stall=wanted.stall, cut=0 if wanted.cut else None)
    chunks = list(writer.chunks())
    pieces = tuple(b"data: " + json.dumps(chunk, ensure_ascii=False).encode() + b"\r\n\r\n" for chunk in chunks)
    return Answer(
        200,
        (("content-type", "text/event-stream"),),
        pieces,
        stream=True,
        pace=wanted.pace,
        stall=wanted.stall,
        # In the last content, unless the break would then come before the answer.
        cut=max(len(pieces) - 2, min(1, len(pieces) - 1)) if wanted.cut else None,
    )


def error_answer(refused: RefusedError) -> Answer:
    """An error in Google's shape. When to come back is a detail, not a header."""
    status = _STATUSES.get(refused.status, "UNKNOWN")
    error: dict[str, Any] = {"code": refused.status, "message": refused.message, "status": status}
    if refused.status in (429, 503):
        error["details"] = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.5s"}]
    return Answer(
        refused.status, (("content-type", "application/json; charset=UTF-8"),), (json.dumps({"error": error}).encode(),)
    )


@dataclass(slots=True)
class _Writer:
    """Writes one turn."""

    turn: Turn
    prompt: int
    shows_thoughts: bool
    id: str
    new_hex: Callable[[], str]

    def whole(self) -> dict[str, Any]:
        parts = [{"text": "".join(self.turn.reasoning), "thought": True}] if self.shows_thoughts else []
        parts += [{"text": "".join(self.turn.text)}] if self.turn.text else []
        parts += self._calls()
        return self._answer(parts, self._finish_reason(), self.turn.tokens)

    def chunks(self) -> Iterator[dict[str, Any]]:
        said = 0
        if self.shows_thoughts:
            yield self._answer([{"text": "".join(self.turn.reasoning), "thought": True}], None, 0)
        for start in range(0, len(self.turn.text), _FRAGMENTS):
            fragments = self.turn.text[start : start + _FRAGMENTS]
            said += len(fragments)
            yield self._answer([{"text": "".join(fragments)}], None, said)
        for part in self._calls():
            yield self._answer([part], None, said)
        yield self._answer([{"text": ""}], self._finish_reason(), self.turn.tokens)

    def _calls(self) -> Iterator[dict[str, Any]]:
        """Whole calls only: one that the output limit cut is not shown at all."""
        for position, call in enumerate(self.turn.calls):
            try:
                arguments = json.loads("".join(call.arguments))
            except ValueError:
                return
            part: dict[str, Any] = {"functionCall": {"name": call.name, "args": arguments}}
            if position % 2:
                part["functionCall"]["id"] = self.new_hex()[-8:]
            if position == 0:
                part["thoughtSignature"] = base64.b64encode(f"demo:{self.id}".encode()).decode()
            yield part

    def _answer(self, parts: list[dict[str, Any]], finish: str | None, said: int) -> dict[str, Any]:
        candidate: dict[str, Any] = {"content": {"parts": parts, "role": "model"}, "index": 0}
        if finish is not None:
            candidate["finishReason"] = finish
        thoughts = len(self.turn.reasoning)
        usage = {"promptTokenCount": self.prompt, "candidatesTokenCount": said, "thoughtsTokenCount": thoughts}
        usage["totalTokenCount"] = sum(usage.values())
        usage_metadata = usage | {"promptTokensDetails": [{"modality": "TEXT", "tokenCount": self.prompt}]}
        envelope = {"modelVersion": MODEL, "responseId": self.id}
        return {"candidates": [candidate], "usageMetadata": usage_metadata, **envelope}

    def _finish_reason(self) -> str:
        return "MAX_TOKENS" if self.turn.finish == "length" else "STOP"
