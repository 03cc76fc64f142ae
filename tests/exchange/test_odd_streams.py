"""How odd hosts frame a stream: the same answer in each form, over each wire, at each door that streams."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.corpus.driver import answer, open_exchange
from tests.named_rows import each_row
from tests.providers import every_door
from tests.providers.anthropic_messages import messages_upstream as messages
from tests.providers.openai_chat import chat_upstream as chat
from tests.providers.openai_responses import responses_upstream as responses

PARIS = '{"city":"Paris"}'
_CALL = responses.call("fc_1", "call_1", "weather", PARIS)
#: Wire -> the documents of a stream that says "Hi" and calls.
DOCUMENTS: dict[str, list[dict[str, Any]]] = {
    "openai_chat": [
        chat.ROLE, chat.text("H"), chat.text("i"), chat.opening(0, "call_1", "weather", PARIS), chat.CALLS, chat.TOTAL,
    ],
    "openai_responses": [
        responses.created(), responses.added(0, "message", "msg_1"), responses.text(0, "msg_1", "Hi", 0),
        responses.done(0, responses.message("msg_1", "Hi")), responses.done(1, _CALL),
        responses.event("completed", response=responses.response("completed", [])),
    ],
    "anthropic_messages": [
        messages.start(), messages.begin(0, "text", text=""), messages.text(0, "Hi"), messages.end(0),
        messages.call(1, "toolu_1", "weather"), messages.fragment(1, PARIS), messages.end(1),
        messages.finish("tool_use"), messages.STOP,
    ],
    "gemini": [
        {"candidates": [{"content": {"parts": [{"text": "Hi"}]}}]},
        {"candidates": [
            {"content": {"parts": [{"functionCall": {"name": "weather", "args": json.loads(PARIS)}}]},
             "finishReason": "STOP"},
        ]},
    ],
}  # fmt: skip


def events(lead: bytes = b"data: ", end: bytes = b"\n\n", last: bytes = b"") -> Callable[[list[bytes]], bytes]:
    return lambda documents: b"".join(lead + document + end for document in documents) + last


#: The form of a stream -> its bytes, from the documents'.
FORMS: dict[str, Callable[[list[bytes]], bytes]] = {
    "as it should be": events(),
    "no space": events(b"data:"),
    "CR": events(end=b"\r\r"),
    "no blank lines": events(end=b"\n"),
    "events of events": events(b"data: data: "),
    "comments in data": events(end=b"\n\ndata: : ping\n\n"),
    "null between": events(b"data: null\n\ndata: "),
    "ended": events(last=b"data: [DONE]\n\n"),
    "ended in lower case": events(last=b"data: [done]\n\n"),
    "ended in a string": events(last=b'data: "[DONE]"\n\n'),
    "ended without brackets": events(last=b"data: DONE\n\n"),
    "a document a line": events(b"", b"\n"),
    "a document a line, ended": events(b"", b"\n", b"[DONE]\n"),
    "a document a line, and CR": events(b"", b"\r\n"),
}
#: How a host announces it -> the size of the pieces in which it comes, another for each: so are the cuts.
KINDS = {
    "text/event-stream": 7,
    "application/x-ndjson": 13,
    "application/stream+json": 23,
    "application/json": 37,
    "text/plain": 61,
}


@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.integration)])
@pytest.mark.parametrize("wire", DOCUMENTS)
@each_row("kind", KINDS)
@each_row("form", FORMS)
def test_every_form_of_a_stream_is_read(wire: str, form: str, kind: str, every: bool) -> None:
    """Whole and in pieces, at every door, or, in `make test`, one of the two at another door in each row."""
    documents = [json.dumps(document, separators=(",", ":")).encode() for document in DOCUMENTS[wire]]
    upstream = FORMS[form](documents)
    doors = list(every_door.REQUESTS)
    turn = (list(FORMS).index(form) + 3 * list(KINDS).index(kind)) % (2 * len(doors))
    ways = [*itertools.product(doors, (len(upstream), KINDS[kind]))]
    for door, step in ways if every else [ways[turn]]:
        body = json.dumps({"model": "m", "stream": True, **every_door.REQUESTS[door]}).encode()
        pieces = [upstream[at : at + step] for at in range(0, len(upstream), step)]
        said = answer(open_exchange(body, door=door, wire=wire), pieces, content_type=kind).body
        assert every_door.calls_in(door, said, streamed=True) == [("weather", PARIS)]
        assert every_door.text_in(door, said) == "Hi"


@each_row("form", ["a document a line", "as it should be"])
@each_row("kind", KINDS)
@each_row("wire", DOCUMENTS)
def test_a_stream_that_breaks_off_never_looks_complete(wire: str, kind: str, form: str) -> None:
    documents = [json.dumps(document).encode() for document in DOCUMENTS[wire][:2]]
    if wire == "gemini":
        documents = documents[:1] * 2
    upstream = FORMS[form](documents)
    for streamed in (True, False):
        body = json.dumps({"model": "m", "stream": streamed, **every_door.REQUESTS["chat_completions"]}).encode()
        said = answer(open_exchange(body, wire=wire), [upstream], content_type=kind)
        assert said.status == 502 or b'"error"' in said.body
