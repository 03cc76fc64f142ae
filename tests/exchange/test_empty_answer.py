"""An answer that ends cleanly without a word and without a call is told as such, whatever its provider's API."""

from __future__ import annotations

import json
from typing import Any

from tests.named_rows import each_row
from tests.providers import every_door
from tests.providers.anthropic_messages import messages_upstream as messages
from tests.providers.openai_chat import chat_upstream as chat
from tests.providers.openai_responses import responses_upstream as responses

#: Wire -> the documents of a stream that says nothing, and the place of one that says "Hi".
DOCUMENTS: dict[str, tuple[list[dict[str, Any]], int, list[dict[str, Any]]]] = {
    "openai_chat": ([chat.ROLE, chat.STOP, chat.TOTAL], 1, [chat.text("Hi")]),
    "openai_responses": (
        [responses.created(), responses.event("completed", response=responses.response("completed", []))],
        1,
        [responses.added(0, "message", "msg_1"), responses.text(0, "msg_1", "Hi", 0)],
    ),
    "anthropic_messages": (
        [messages.start(), messages.finish("end_turn"), messages.STOP],
        1,
        [messages.begin(0, "text", text=""), messages.text(0, "Hi"), messages.end(0)],
    ),
    "gemini": (
        [{"candidates": [{"content": {"parts": []}, "finishReason": "STOP"}]}],
        0,
        [{"candidates": [{"content": {"parts": [{"text": "Hi"}]}}]}],
    ),
}


@each_row("says", [False, True])
@each_row("door", every_door.REQUESTS)
@each_row("wire", DOCUMENTS)
def test_a_clean_end_without_a_word_is_told(wire: str, door: str, says: bool) -> None:
    documents, place, words = DOCUMENTS[wire]
    told = [*documents[:place], *words, *documents[place:]] if says else documents
    upstream = b"".join(b"data: " + json.dumps(document).encode() + b"\n\n" for document in told)
    said = every_door.asked(door, upstream, streamed=True, wire=wire)
    shown = said.headers.get("x-toolwire-warnings", "") + said.body.decode()
    assert ("empty_answer" in shown) == (not says)
