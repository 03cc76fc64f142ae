"""The example in docs/state.md: one turn as the client keeps it, and as each provider gets it back. With
`--update-golden` the page is written anew."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.conversation.test_store_order import HOSTS, opened
from tests.corpus.driver import sent
from toolwire.conversation import Found
from toolwire.exchange.actions import Send
from toolwire.model.stored import Item

PAGE = Path(__file__).parents[2] / "docs" / "state.md"
EXAMPLE = re.compile(r"<!-- example: begin -->\n.*<!-- example: end -->\n", re.DOTALL)
TITLES = {"gemini": "Gemini", "anthropic_messages": "Claude", "openai_chat": "DeepSeek"}


def example() -> str:
    """Both views, for each kind of provider."""
    texts = []
    for wire, title in TITLES.items():
        client, upstream = _turn(wire)
        texts.append(f"The client's history, which says nothing of {title}:\n\n{_json(client)}")
        texts.append(f"What {title} gets of it:\n\n{_json(upstream)}")
    return "<!-- example: begin -->\n" + "\n".join(texts) + "<!-- example: end -->\n"


def _turn(wire: str) -> tuple[list[Any], list[Any]]:
    """(the assistant's message and the results as the client keeps them, the same in the next upstream request)."""
    host, items = HOSTS[wire][0](), list[Item]()
    host.serial = 7
    first = opened(wire, stream=False, reasoning_effort="medium")
    first.receive_head(200, {"content-type": "application/json"})
    sent(first, first.receive_data(json.dumps(host.say([{"city": "Bern"}, {"city": "Rome"}], "")).encode()))
    answer = sent(first, first.receive_end(), items)[-1]
    assert isinstance(answer, Send)
    said = json.loads(answer.data)["choices"][0]["message"]
    message = {name: said[name] for name in ("role", "content", "tool_calls")}
    results = [{"role": "tool", "tool_call_id": call["id"], "content": "fine"} for call in message["tool_calls"]]
    history = [{"role": "user", "content": "x"}, message, *results]
    second = opened(wire, stream=False, found=Found.of(items), messages=history, reasoning_effort="medium")
    body = json.loads(second.upstream_request.body)
    return history[1:], body.get("contents", body.get("messages"))[1:]


def _json(document: Any) -> str:
    lines = ",\n ".join(json.dumps(item, ensure_ascii=False) for item in document)
    return f"```json\n[{_short(lines)}]\n```\n"


def _short(text: str) -> str:
    """The hosts' signatures are long and say nothing."""
    return re.sub(r"[0-9a-f]{64}", lambda match: match[0][:6] + "...", text)


def test_the_page_shows_what_happens(request: pytest.FixtureRequest) -> None:
    page = PAGE.read_text("utf-8")
    if request.config.getoption("--update-golden"):
        page = EXAMPLE.sub(lambda _: example(), page)
        PAGE.write_text(page, "utf-8")
    found = EXAMPLE.search(page)
    assert found is not None
    assert found[0] == example(), "run pytest tests/turn_state --update-golden"
