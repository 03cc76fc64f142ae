"""OpenAI Responses, the answer: one turn of the script as JSON or as a stream.

As OpenAI writes it: named events with their type and number, reasoning, message and calls as items with ids of their
own, every text told in deltas, again when it is done, and again in the item and in the response at the end; reasoning,
where it is asked for, encrypted, and with a summary only where that is asked for.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import chain, zip_longest
from typing import Any

from toolwire.demo.answer import Answer, RefusedError
from toolwire.demo.openai_responses_request import ENCRYPTED, SEARCH, SEARCH_CALL, declared, read_request
from toolwire.demo.script import Call, Turn, play, wanted_of

MODEL = "responses"
#: The model that both of the host's APIs serve, as most of OpenAI's do.
CHAT_MODEL = "openai"

_SERVER_ERRORS = {
    429: ("rate_limit_exceeded", "Rate limit reached on request of the demo directive."),
    503: ("server_is_overloaded", "The model is overloaded on request of the demo directive."),
}
_ERROR_TYPES = {401: "authentication_error", 403: "permission_error", 404: "not_found_error", 429: "rate_limit_error"}
_RETRY_AFTER = {429: "1", 503: "1", 529: "1"}

#: An event of the stream.
Event = dict[str, Any]


def answer(body: bytes, *, now: int, new_hex: Callable[[], str]) -> Answer:
    """Answers one POST /responses. `now`: seconds since 1970; `new_hex`: 32 fresh hexadecimal digits a call."""
    try:
        try:
            request = json.loads(body)
        except (ValueError, RecursionError):
            raise RefusedError(400, "The body is not valid JSON, or nested too deeply.") from None
        asked = read_request(request, models=(MODEL, CHAT_MODEL))
        wanted = wanted_of(asked)
        if wanted.error is not None:
            code, message = _SERVER_ERRORS.get(wanted.error, (None, "An error on request of the demo directive."))
            raise RefusedError(wanted.error, message, code=code)
    except RefusedError as refused:
        return error_answer(refused)
    writer = _Writer(request, play(asked), now, new_hex)
    identity = ("x-request-id", f"req_{new_hex()}")
    if request.get("stream") is not True:
        pieces = (_json(writer.whole()),)
        cut = 0 if wanted.cut else None
        return Answer(200, (("content-type", "application/json"), identity), pieces, stall=wanted.stall, cut=cut)
    events = [event | {"sequence_number": n} for n, event in enumerate(writer.events(interleave=wanted.interleave))]
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
    """An error in OpenAI's shape."""
    kind = _ERROR_TYPES.get(refused.status, "invalid_request_error" if refused.status < 500 else "server_error")
    error = {"message": refused.message, "type": kind, "param": refused.param, "code": refused.code}
    headers = [("content-type", "application/json")]
    if refused.status in _RETRY_AFTER:
        headers.append(("retry-after", _RETRY_AFTER[refused.status]))
    return Answer(refused.status, tuple(headers), (_json({"error": error}),))


@dataclass(slots=True)
class _Item:
    """One item of the output: as it begins, as it is in the end, and the events between."""

    opened: dict[str, Any]
    closed: dict[str, Any]
    deltas: list[Event] = field(default_factory=list)
    dones: list[Event] = field(default_factory=list)

    def placed(self, index: int, events: list[Event]) -> Iterator[Event]:
        """The events with the item's id and place."""
        for event in events:
            yield event | {"item_id": self.opened["id"], "output_index": index}


@dataclass(slots=True)
class _Writer:
    """Writes one turn."""

    request: dict[str, Any]
    turn: Turn
    now: int
    new_hex: Callable[[], str]
    id: str = ""

    def __post_init__(self) -> None:
        self.id = f"resp_{self.new_hex()}"

    def whole(self) -> dict[str, Any]:
        return self._ended([item.closed for item in self._items()])

    def events(self, *, interleave: bool) -> Iterator[Event]:
        begun = self._response("in_progress", [])
        yield {"type": "response.created", "response": begun}
        yield {"type": "response.in_progress", "response": begun}
        items = self._items()
        calls = len(self.turn.calls) if interleave else 0
        for index, item in enumerate(items[: len(items) - calls]):
            yield from self._item_events(index, [item])
        if calls:
            yield from self._item_events(len(items) - calls, items[len(items) - calls :])
        ended = self._ended([item.closed for item in items])
        yield {"type": f"response.{ended['status']}", "response": ended}

    def _item_events(self, first: int, items: list[_Item]) -> Iterator[Event]:
        """The events of one item, or of several whose deltas take turns."""
        placed = list(enumerate(items, first))
        for index, item in placed:
            yield {"type": "response.output_item.added", "output_index": index, "item": item.opened}
        rounds = zip_longest(*(item.placed(index, item.deltas) for index, item in placed))
        yield from (event for event in chain.from_iterable(rounds) if event is not None)
        for index, item in placed:
            yield from item.placed(index, item.dones)
            yield {"type": "response.output_item.done", "output_index": index, "item": item.closed}

    # ------------------------------------------------------------ items

    def _items(self) -> list[_Item]:
        items = [self._reasoning()] if self._reasons() else []
        items += [self._message()] if self.turn.text else []
        items += [self._call(call) for call in self.turn.calls]
        if self.turn.finish == "length" and (self.turn.text or self.turn.calls):
            items[-1].closed["status"] = "incomplete"
        return items

    def _reasons(self) -> bool:
        return (self.request.get("reasoning") or {}).get("effort") not in (None, "none")

    def _reasoning(self) -> _Item:
        opened = {"id": f"rs_{self.new_hex()}", "type": "reasoning", "summary": []}
        item = _Item(opened, opened | {"encrypted_content": f"{ENCRYPTED}{self.new_hex()}"})
        if (self.request.get("reasoning") or {}).get("summary"):
            text = "".join(self.turn.reasoning)
            part = {"type": "summary_text", "text": text}
            kind, place = "response.reasoning_summary_", {"summary_index": 0}
            item.closed["summary"] = [part]
            item.deltas = [
                {"type": kind + "part.added", **place, "part": part | {"text": ""}},
                *({"type": kind + "text.delta", **place, "delta": piece} for piece in self.turn.reasoning),
            ]
            item.dones = [
                {"type": kind + "text.done", **place, "text": text},
                {"type": kind + "part.done", **place, "part": part},
            ]
        return item

    def _message(self) -> _Item:
        head = {"id": f"msg_{self.new_hex()}", "type": "message", "role": "assistant"}
        text = "".join(self.turn.text)
        part = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
        kind, place = "response.output_text.", {"content_index": 0}
        return _Item(
            head | {"status": "in_progress", "content": []},
            head | {"status": "completed", "content": [part]},
            [
                {"type": "response.content_part.added", **place, "part": part | {"text": ""}},
                *({"type": kind + "delta", **place, "delta": piece, "logprobs": []} for piece in self.turn.text),
            ],
            [
                {"type": kind + "done", **place, "text": text, "logprobs": []},
                {"type": "response.content_part.done", **place, "part": part},
            ],
        )

    def _call(self, call: Call) -> _Item:
        named = next((named for tool, named in declared(self.request) if tool.name == call.name), {})
        if call.name == SEARCH and self._has_search():
            return self._search(call)
        kind, prefix, name = (
            ("custom_tool_call", "ctc_", "input") if call.custom else ("function_call", "fc_", "arguments")
        )
        event = "response.custom_tool_call_input." if call.custom else "response.function_call_arguments."
        digits, text = self.new_hex(), "".join(call.arguments)
        head = {"id": prefix + digits, "type": kind, "call_id": f"call_{digits[-24:]}"}
        head |= {"name": call.name, **named}
        told = {"type": event + "done", name: text} | ({} if call.custom else {"name": head["name"]})
        return _Item(
            head | {"status": "in_progress", name: ""},
            head | {"status": "completed", name: text},
            [{"type": event + "delta", "delta": piece} for piece in call.arguments],
            [told],
        )

    def _has_search(self) -> bool:
        tools = self.request.get("tools") or []
        return any(tool.get("type") == SEARCH and tool.get("execution") == "client" for tool in tools)

    def _search(self, call: Call) -> _Item:
        """A search that the client runs: an item of its own kind, whole at once, its arguments an object."""
        digits = self.new_hex()
        head = {"id": f"tsc_{digits}", "type": SEARCH_CALL, "call_id": f"call_{digits[-24:]}", "execution": "client"}
        closed = head | {"status": "completed", "arguments": json.loads("".join(call.arguments))}
        return _Item(head | {"status": "in_progress", "arguments": {}}, closed)

    # ------------------------------------------------------------ the response

    def _ended(self, output: list[dict[str, Any]]) -> dict[str, Any]:
        if self.turn.finish == "length":
            details = {"reason": "max_output_tokens"}
            return self._response("incomplete", output) | {"incomplete_details": details, "usage": self._usage()}
        return self._response("completed", output) | {"completed_at": self.now, "usage": self._usage()}

    def _response(self, status: str, output: list[dict[str, Any]]) -> dict[str, Any]:
        given = self.request
        return {
            "id": self.id,
            "object": "response",
            "created_at": self.now,
            "status": status,
            "background": False,
            "completed_at": None,
            "error": None,
            "incomplete_details": None,
            "instructions": given.get("instructions"),
            "max_output_tokens": given.get("max_output_tokens"),
            "model": MODEL,
            "output": output,
            "parallel_tool_calls": given.get("parallel_tool_calls") is not False,
            "previous_response_id": None,
            "reasoning": {"effort": None, "summary": None} | (given.get("reasoning") or {}),
            "service_tier": "default",
            "store": given.get("store") is not False,
            "temperature": given.get("temperature", 1.0),
            "text": {"format": {"type": "text"}, "verbosity": "medium"} | (given.get("text") or {}),
            "tool_choice": given.get("tool_choice", "auto"),
            "tools": given.get("tools") or [],
            "top_p": given.get("top_p", 1.0),
            "truncation": "disabled",
            "usage": None,
            "user": None,
            "metadata": given.get("metadata") or {},
        }

    def _usage(self) -> dict[str, Any]:
        """About four characters a token for the prompt; exactly a fragment a token for the answer."""
        prompt = len(json.dumps([self.request.get(name) for name in ("instructions", "input", "tools")])) // 4
        reasoning = len(self.turn.reasoning) if self._reasons() else 0
        written = self.turn.tokens + reasoning
        return {
            "input_tokens": prompt,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": written,
            "output_tokens_details": {"reasoning_tokens": reasoning},
            "total_tokens": prompt + written,
        }


def _last_content(events: list[Event]) -> int:
    """The last event that carries text or arguments: a cut there leaves a call, or a text, half said."""
    return max(n for n, event in enumerate(events) if event["type"].endswith(".delta"))


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
