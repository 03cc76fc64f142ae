"""OpenAI Chat Completions, the answer: one turn of the script as JSON or as a stream.

Two flavours, told apart by the URL they are served under:
- `openai`: as OpenAI writes it. A call opens with id, type and name and streams its arguments; usage comes in a chunk
  of its own, when asked for; a named `tool_choice` finishes with "stop"; reasoning is not shown.
- `compatible`: as self-hosted and smaller servers write it, each habit seen in the wild: role in every chunk, a whole
  call in one chunk, ids like `chatcmpl-tool-<hex>` (46 characters, more than OpenAI itself accepts),
  `reasoning_content`, usage unasked in the chunk that also finishes, no `service_tier`, and errors with a number for
  `code`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Literal

from toolwire.demo.answer import Answer, RefusedError
from toolwire.demo.openai_chat_request import forces_one_tool, read_request
from toolwire.demo.script import Call, Turn, play, wanted_of

Flavour = Literal["openai", "compatible"]

_SERVER_ERRORS = {
    429: ("rate_limit_exceeded", "Rate limit reached on request of the demo directive."),
    503: ("server_overloaded", "The model is overloaded on request of the demo directive."),
}
#: Statuses that tell the client when to come back, as OpenAI, and others with 529, do.
_RETRY_AFTER = {429: "1", 503: "1", 529: "1"}


def answer(body: bytes, flavour: Flavour, *, now: int, new_hex: Callable[[], str]) -> Answer:
    """Answers one POST /chat/completions. `now`: seconds since 1970; `new_hex`: 32 fresh hexadecimal digits a call.
    The answer's time and ids are the only things that do not follow from the body."""
    try:
        try:
            request = json.loads(body)
        except (ValueError, RecursionError):
            raise RefusedError(400, "The body is not valid JSON, or nested too deeply.") from None
        asked = read_request(request, model=flavour, strict=flavour == "openai")
        wanted = wanted_of(asked)
        if wanted.error is not None:
            code, message = _SERVER_ERRORS.get(wanted.error, (None, "An error on request of the demo directive."))
            raise RefusedError(wanted.error, message, code=code)
    except RefusedError as refused:
        return error_answer(refused, flavour)
    writer = _Writer(request, play(asked), flavour, now, new_hex)
    if request.get("stream") is not True:
        pieces = (_json(writer.completion()),)
        return Answer(
            200,
            _headers(flavour, "application/json", new_hex),
            pieces,
            stall=wanted.stall,
            cut=0 if wanted.cut else None,
        )
    chunks = list(writer.chunks(interleave=wanted.interleave))
    frames = (*(b"data: " + _json(chunk) + b"\n\n" for chunk in chunks), b"data: [DONE]\n\n")
    return Answer(
        200,
        _headers(flavour, "text/event-stream; charset=utf-8", new_hex),
        frames,
        stream=True,
        pace=wanted.pace,
        stall=wanted.stall,
        cut=_last_content(chunks) if wanted.cut else None,
    )


def error_answer(refused: RefusedError, flavour: Flavour) -> Answer:
    """An error in the flavour's own shape."""
    kind = {401: "authentication_error", 403: "permission_error", 404: "not_found_error", 429: "rate_limit_error"}.get(
        refused.status, "invalid_request_error" if refused.status < 500 else "server_error"
    )
    error: dict[str, Any] = {"message": refused.message, "type": kind, "param": refused.param, "code": refused.code}
    if flavour == "compatible":
        error = {"code": refused.status, "message": refused.message, "type": kind}
    headers = [("content-type", "application/json")]
    if refused.status in _RETRY_AFTER:
        headers.append(("retry-after", _RETRY_AFTER[refused.status]))
    return Answer(refused.status, tuple(headers), (_json({"error": error}),))


@dataclass(slots=True)
class _Writer:
    """Writes one turn. Every chunk of a stream has the same id and time."""

    request: dict[str, Any]
    turn: Turn
    flavour: Flavour
    now: int
    new_hex: Callable[[], str]
    id: str = ""

    def __post_init__(self) -> None:
        self.id = f"chatcmpl-{self.new_hex()[-29:] if self.flavour == 'openai' else self.new_hex()}"

    def completion(self) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": "".join(self.turn.text) or None}
        if self.flavour == "openai":
            message |= {"refusal": None, "annotations": []}
        else:
            message["reasoning_content"] = "".join(self.turn.reasoning)
        if self.turn.calls:
            message["tool_calls"] = [self._call(call, "".join(call.arguments)) for call in self.turn.calls]
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": self._finish_reason()}
        return self._envelope("chat.completion", [choice], self._usage())

    def chunks(self, *, interleave: bool) -> Iterator[dict[str, Any]]:
        options = self.request.get("stream_options") or {}
        show_usage = options.get("include_usage") is True
        deltas = self._openai_deltas(interleave) if self.flavour == "openai" else self._compatible_deltas()
        for delta in deltas:
            yield self._chunk(delta, None, {"usage": None} if show_usage and self.flavour == "openai" else {})
        if self.flavour == "compatible":
            yield self._chunk({"role": "assistant", "content": ""}, self._finish_reason(), {"usage": self._usage()})
            return
        yield self._chunk({}, self._finish_reason(), {"usage": None} if show_usage else {})
        if show_usage:
            yield self._envelope("chat.completion.chunk", [], self._usage())

    def _openai_deltas(self, interleave: bool) -> Iterator[dict[str, Any]]:
        yield {"role": "assistant", "content": None if self.turn.calls else "", "refusal": None}
        for text in self.turn.text:
            yield {"content": text}
        calls = [list(self._call_deltas(index, call)) for index, call in enumerate(self.turn.calls)]
        rounds = zip_longest(*calls) if interleave else calls
        for one_round in rounds:
            for delta in one_round:
                if delta is not None:
                    yield {"tool_calls": [delta]}

    def _call_deltas(self, index: int, call: Call) -> Iterator[dict[str, Any]]:
        kind, text = ("custom", "input") if call.custom else ("function", "arguments")
        yield {"index": index, **self._call(call, "")}
        for fragment in call.arguments:
            yield {"index": index, kind: {text: fragment}}

    def _compatible_deltas(self) -> Iterator[dict[str, Any]]:
        for text in self.turn.reasoning:
            yield {"role": "assistant", "content": None, "reasoning_content": text}
        for text in self.turn.text:
            yield {"role": "assistant", "content": text}
        for index, call in enumerate(self.turn.calls):
            whole = {"index": index, **self._call(call, "".join(call.arguments))}
            yield {"role": "assistant", "content": None, "tool_calls": [whole]}

    def _call(self, call: Call, text: str) -> dict[str, Any]:
        digits = self.new_hex()
        identity = f"call_{digits[-24:]}" if self.flavour == "openai" else f"chatcmpl-tool-{digits}"
        if call.custom:
            return {"id": identity, "type": "custom", "custom": {"name": call.name, "input": text}}
        return {"id": identity, "type": "function", "function": {"name": call.name, "arguments": text}}

    def _chunk(self, delta: dict[str, Any], finish: str | None, more: dict[str, Any]) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return self._envelope("chat.completion.chunk", [choice]) | more

    def _envelope(self, kind: str, choices: list[Any], usage: dict[str, Any] | None = None) -> dict[str, Any]:
        envelope: dict[str, Any] = {"id": self.id, "object": kind, "created": self.now, "model": self.flavour}
        if self.flavour == "openai":
            envelope |= {"service_tier": "default", "system_fingerprint": "fp_demo"}
        envelope["choices"] = choices
        return envelope | {"usage": usage} if usage is not None else envelope

    def _finish_reason(self) -> str:
        stops = self.turn.finish == "tool_calls" and self.flavour == "openai" and forces_one_tool(self.request)
        return "stop" if stops else self.turn.finish

    def _usage(self) -> dict[str, Any]:
        """About four characters a token for the prompt; exactly a fragment a token for the answer."""
        prompt = len(json.dumps([self.request["messages"], self.request.get("tools")])) // 4
        reasoning = len(self.turn.reasoning) if self.flavour == "compatible" else 0
        written = self.turn.tokens + reasoning
        usage: dict[str, Any] = {
            "prompt_tokens": prompt,
            "completion_tokens": written,
            "total_tokens": prompt + written,
        }
        if self.flavour == "openai":
            usage["prompt_tokens_details"] = {"cached_tokens": 0, "audio_tokens": 0}
            usage["completion_tokens_details"] = {
                "reasoning_tokens": 0,
                "audio_tokens": 0,
                "accepted_prediction_tokens": 0,
                "rejected_prediction_tokens": 0,
            }
        else:
            usage["completion_tokens_details"] = {"reasoning_tokens": reasoning}
        return usage


def _last_content(chunks: list[dict[str, Any]]) -> int:
    """The last chunk that carries text or arguments: a cut there leaves a call, or a text, half said."""
    last = len(chunks) - 1
    for position, chunk in enumerate(chunks):
        delta = chunk["choices"][0]["delta"] if chunk["choices"] else {}
        if "tool_calls" in delta or delta.get("content"):
            last = position
    return last


def _headers(flavour: Flavour, content_type: str, new_hex: Callable[[], str]) -> tuple[tuple[str, str], ...]:
    headers = [("content-type", content_type)]
    if flavour == "openai":
        headers += [("x-request-id", f"req_{new_hex()}"), ("openai-version", "2020-10-01")]
    return tuple(headers)


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
