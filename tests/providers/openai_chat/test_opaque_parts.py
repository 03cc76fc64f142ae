"""Pictures, sounds and citations beside a host's text (OpenRouter, Perplexity, OpenAI's audio): clients of the Chat API
have them as they came, others are told that they were left out."""

from __future__ import annotations

import json
from typing import Any

from tests.corpus.driver import answer, open_exchange
from tests.named_rows import each_row
from tests.providers import every_door
from tests.providers.openai_chat.chat_upstream import ROLE, STOP, TOTAL, ask, chunk, opening, stream, text, whole

IMAGES = [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]
#: Members of a delta or message -> the kind that is named; None: nothing is said.
BESIDE: dict[str, tuple[dict[str, Any], str | None]] = {
    "pictures": ({"images": IMAGES}, "images"),
    "a sound": ({"audio": {"id": "a", "transcript": "hello"}}, "audio"),
    "citations": ({"annotations": [{"type": "url_citation", "url_citation": {"url": "https://a"}}]}, "annotations"),
    "none": ({"annotations": [], "audio": None, "images": []}, None),
}

#: What is in them.
MARKS = (b"base64,AAAA", b'"hello"', b"https://a")


@each_row("streamed", [True, False])
@each_row("name", BESIDE)
@each_row("words", ["x", ""])
@each_row("door", every_door.REQUESTS)
def test_what_is_beside_the_text_is_shown_or_named(door: str, words: str, name: str, streamed: bool) -> None:
    members, kind = BESIDE[name]
    upstream = (
        stream(ROLE, chunk({"content": words, **members}), chunk(members), STOP, TOTAL)
        if streamed
        else whole({"content": words, **members})
    )
    said = every_door.asked(door, upstream, streamed=streamed, wire="openai_chat", step=len(upstream))
    warnings = said.headers.get("x-toolwire-warnings", "") + (said.body.decode() if streamed else "")
    knows = door in ("chat_completions", "native")
    if door != "gemini" or not streamed:  # its stream has another place for warnings
        assert (f"answer_part_left_out:{kind}" in warnings) == (kind is not None and not knows)
        assert ("empty_answer" in warnings) == (kind is None and not words)
    assert kind is None or any(mark in said.body for mark in MARKS) == knows


def test_they_are_not_sent_back() -> None:
    """Chat Completions has no place for them in the history, and a picture is too large to be kept."""
    parts = [{"kind": "images", "dialect": "openai_chat", "data": {"images": IMAGES}}]
    said = {"role": "assistant", "content": "so", "opaque_parts": parts}
    turns = [{"role": "user", "content": "hi"}, said, {"role": "user", "content": "on"}]
    body = json.dumps({"model": "m", "messages": turns}).encode()
    sent = json.loads(open_exchange(body, door="native").upstream_request.body)["messages"]
    assert sent[1] == {"role": "assistant", "content": "so"}

    asked = json.dumps({"model": "m", "stream": True, **every_door.REQUESTS["messages"]}).encode()
    exchange = open_exchange(asked, door="messages")
    call = opening(0, "call_a", "weather", "{}")
    upstream = stream(ROLE, text("x"), chunk({"images": IMAGES}), call, chunk(finish="tool_calls"))
    answer(exchange, [upstream])
    record = exchange.answer._stages.record
    assert record is not None
    assert all(b"AAAA" not in str(item).encode() for item in record.items())


def test_the_hosts_own_bytes_pass() -> None:
    said = chunk({"content": "x", "images": IMAGES})
    assert json.dumps(said) in ask(stream(ROLE, said, STOP, TOTAL), usage=True).body.decode()
