"""A document that is labelled as a stream, and a stream that is labelled as a document: each is read as what it is, by
every wire, for a client that reads a stream and for one that does not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.corpus.driver import Answer, answer, open_exchange
from tests.exchange.test_bytes_that_are_no_text import DOCUMENTS, HERE, TEXTS, stream
from tests.named_rows import each_row
from tests.providers import every_door

STREAM_TYPES = ["text/event-stream", "text/event-stream; charset=utf-8", "text/plain", ""]
DOCUMENT_TYPES = ["application/json", "text/plain", "", "application/octet-stream"]
SSE = [wire for wire in TEXTS if wire != "bedrock_converse"]


def asked(door: str, wire: str, upstream: bytes, content_type: str, *, streamed: bool) -> Answer:
    body = json.dumps({"model": "m", "stream": streamed, **every_door.REQUESTS[door]}).encode()
    exchange = open_exchange(body, door=door, wire=wire)
    return answer(exchange, [upstream[at : at + 7] for at in range(0, len(upstream), 7)], content_type=content_type)


def without_marks(value: Any) -> Any:
    return json.loads(json.dumps(value).replace(HERE, ""))


def says(door: str, told: Answer, *, streamed: bool) -> str:
    """All that the answer says, whatever its form."""
    assert told.status == 200
    if streamed:
        return every_door.text_in(door, told.body)
    return told.body.decode()


@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.integration)])
@each_row("form", ["in one line", "indented", "behind blank lines"])
@each_row("content_type", STREAM_TYPES)
@each_row("wire", DOCUMENTS)
@each_row("door", every_door.REQUESTS)
def test_a_document_under_a_streams_label(door: str, wire: str, content_type: str, form: str, every: bool) -> None:
    """For both kinds of client, or, in `make test`, for one: each wire and door meets either."""
    document = without_marks(json.loads(DOCUMENTS[wire][0]))
    upstream = json.dumps(document, indent=2 if form == "indented" else None).encode()
    upstream = b"\n\n" + upstream if form == "behind blank lines" else upstream
    turn = (STREAM_TYPES.index(content_type) + len(form)) % 2
    for streamed in (True, False) if every else (turn == 0,):
        assert "abc" in says(door, asked(door, wire, upstream, content_type, streamed=streamed), streamed=streamed)


@each_row("content_type", STREAM_TYPES)
@each_row("wire", DOCUMENTS)
@each_row("door", every_door.REQUESTS)
def test_a_call_in_such_a_document(door: str, wire: str, content_type: str) -> None:
    upstream = json.dumps(without_marks(json.loads(DOCUMENTS[wire][1]))).encode()
    for streamed in (True, False):
        told = asked(door, wire, upstream, content_type, streamed=streamed)
        ((name, _),) = every_door.calls_in(door, told.body, streamed=streamed)
        assert name == "weather"


@each_row("content_type", DOCUMENT_TYPES)
@each_row("wire", SSE)
@each_row("door", every_door.REQUESTS)
def test_a_stream_under_a_documents_label(door: str, wire: str, content_type: str) -> None:
    upstream = stream(wire, without_marks(TEXTS[wire]))
    for streamed in (True, False):
        assert "abc" in says(door, asked(door, wire, upstream, content_type, streamed=streamed), streamed=streamed)


@each_row("content_type", [*STREAM_TYPES, *DOCUMENT_TYPES])
@each_row("wire", SSE)
def test_a_document_a_line_is_shown_as_it_comes(wire: str, content_type: str) -> None:
    lines = [json.dumps(event).encode() + b"\n" for event in without_marks(TEXTS[wire])]
    body = json.dumps({"model": "m", "stream": True, **every_door.REQUESTS["chat_completions"]}).encode()
    exchange = open_exchange(body, wire=wire)
    exchange.receive_head(200, {"content-type": content_type})
    shown = b""
    for line in lines[:-1]:
        shown += b"".join(getattr(action, "data", b"") for action in exchange.receive_data(line))
    assert b'"content":"' in shown or b'"content": "' in shown


@each_row("wire", SSE)
@each_row("door", every_door.REQUESTS)
def test_an_error_under_a_streams_label_is_that_error(door: str, wire: str) -> None:
    upstream = json.dumps({"error": {"message": "the model is busy", "type": "overloaded_error", "code": 503}}).encode()
    for streamed in (True, False):
        told = asked(door, wire, upstream, "text/event-stream", streamed=streamed)
        assert told.status >= 400
        assert "the model is busy" in told.body.decode()
