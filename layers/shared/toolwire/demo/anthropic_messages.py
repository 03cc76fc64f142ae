"""Anthropic Messages, the answer: one turn of the script as JSON or as a stream.

As Anthropic writes it: a ping behind the first block's beginning, the first fragment of a call's input empty, thinking
(where it was asked for) with a signature at its end, counts that grow, cache counts beside the input's.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from toolwire.demo.answer import Answer, RefusedError
from toolwire.demo.anthropic_messages_request import read_request, shows_thinking
from toolwire.demo.script import Turn, play, wanted_of

#: What the demo serves there.
MODEL = "anthropic"

_STOP_REASONS = {"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens"}

_ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    409: "conflict_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}
_RETRY_AFTER = {429: "1", 503: "1", 529: "1"}


def answer(body: bytes, headers: Mapping[str, str], *, new_hex: Callable[[], str]) -> Answer:
    """Answers one POST /v1/messages. `headers` have their names in lower case; `new_hex` gives 32 fresh hexadecimal
    digits a call."""
    try:
        try:
            request = json.loads(body)
        except (ValueError, RecursionError):
            raise RefusedError(400, "The body is not valid JSON, or nested too deeply.") from None
        asked = read_request(request, headers, model=MODEL)
        wanted = wanted_of(asked)
        if wanted.error is not None:
            raise RefusedError(wanted.error, "An error on request of the demo directive.")
    except RefusedError as refused:
        return error_answer(refused)
    writer = _Writer(request, play(asked), new_hex)
    identity = ("request-id", f"req_{new_hex()}")
    if request.get("stream") is not True:
        pieces = (_json(writer.message()),)
        cut = 0 if wanted.cut else None
        return Answer(200, (("content-type", "application/json"), identity), pieces, stall=wanted.stall, cut=cut)
    events = list(writer.events())
    return Answer(
        200,
        (("content-type", "text/event-stream; charset=utf-8"), identity),
        tuple(b"event: %b\ndata: %b\n\n" % (event["type"].encode(), _json(event)) for event in events),
        stream=True,
        pace=wanted.pace,
        stall=wanted.stall,
        cut=_last_content(events) if wanted.cut else None,
    )


def error_answer(refused: RefusedError) -> Answer:
    """An error in Anthropic's shape."""
    kind = _ERROR_TYPES.get(refused.status, "api_error" if refused.status >= 500 else "invalid_request_error")
    body = {"type": "error", "error": {"type": kind, "message": refused.message}, "request_id": "req_demo"}
    headers = [("content-type", "application/json"), ("request-id", "req_demo")]
    if refused.status in _RETRY_AFTER:
        headers.append(("retry-after", _RETRY_AFTER[refused.status]))
    return Answer(refused.status, tuple(headers), (_json(body),))


@dataclass(slots=True)
class _Writer:
    """Writes one turn."""

    request: dict[str, Any]
    turn: Turn
    new_hex: Callable[[], str]

    def message(self) -> dict[str, Any]:
        blocks = [self._whole(block, fragments) for block, fragments in self._blocks()]
        return self._envelope(blocks, self._stop_reason(), self._usage(self.turn.tokens + self._thought()))

    def events(self) -> Iterator[dict[str, Any]]:
        yield {"type": "message_start", "message": self._envelope([], None, self._usage(1))}
        for index, (block, fragments) in enumerate(self._blocks()):
            yield {"type": "content_block_start", "index": index, "content_block": block}
            if index == 0:
                yield {"type": "ping"}
            for delta in self._deltas(block["type"], fragments):
                yield {"type": "content_block_delta", "index": index, "delta": delta}
            yield {"type": "content_block_stop", "index": index}
        end = {"stop_reason": self._stop_reason(), "stop_sequence": self.turn.stopped}
        yield {"type": "message_delta", "delta": end, "usage": self._usage(self.turn.tokens + self._thought())}
        yield {"type": "message_stop"}

    def _blocks(self) -> Iterator[tuple[dict[str, Any], tuple[str, ...]]]:
        """Each block as it begins, and what fills it."""
        if shows_thinking(self.request):
            yield {"type": "thinking", "thinking": "", "signature": ""}, self.turn.reasoning
        if self.turn.text:
            yield {"type": "text", "text": ""}, self.turn.text
        for call in self.turn.calls:
            identity = f"toolu_01{self.new_hex()[:22]}"
            fragments = () if call.arguments == ("{}",) else call.arguments
            yield {"type": "tool_use", "id": identity, "name": call.name, "input": {}}, fragments

    def _whole(self, block: dict[str, Any], fragments: tuple[str, ...]) -> dict[str, Any]:
        text = "".join(fragments)
        match block["type"]:
            case "thinking":
                return block | {"thinking": text, "signature": self._signature()}
            case "text":
                return block | {"text": text}
        try:
            return block | {"input": json.loads(text or "{}")}
        except ValueError:  # cut by the output limit: the API shows what it could read of it
            return block

    def _deltas(self, kind: str, fragments: tuple[str, ...]) -> Iterator[dict[str, Any]]:
        match kind:
            case "thinking":
                yield from ({"type": "thinking_delta", "thinking": text} for text in fragments)
                yield {"type": "signature_delta", "signature": self._signature()}
            case "text":
                yield from ({"type": "text_delta", "text": text} for text in fragments)
            case _:
                yield {"type": "input_json_delta", "partial_json": ""}
                yield from ({"type": "input_json_delta", "partial_json": text} for text in fragments)

    def _signature(self) -> str:
        return f"demo{self.new_hex()}"

    def _envelope(self, content: list[Any], stop_reason: str | None, usage: dict[str, Any]) -> dict[str, Any]:
        return {
            "id": f"msg_01{self.new_hex()[:22]}",
            "type": "message",
            "role": "assistant",
            "model": MODEL,
            "content": content,
            "stop_reason": stop_reason,
            "stop_sequence": self.turn.stopped if stop_reason is not None else None,
            "usage": usage,
        }

    def _stop_reason(self) -> str:
        return "stop_sequence" if self.turn.stopped is not None else _STOP_REASONS[self.turn.finish]

    def _thought(self) -> int:
        return len(self.turn.reasoning) if shows_thinking(self.request) else 0

    def _usage(self, written: int) -> dict[str, Any]:
        """About four characters a token for the prompt; exactly a fragment a token for the answer."""
        prompt = [self.request.get("system"), self.request["messages"], self.request.get("tools")]
        return {
            "input_tokens": len(json.dumps(prompt)) // 4,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": written,
            "service_tier": "standard",
        }


def _last_content(events: list[dict[str, Any]]) -> int:
    """The last event that carries text or arguments: a cut there leaves a call, or a text, half said."""
    return max(position for position, event in enumerate(events) if event["type"] == "content_block_delta")


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
