"""Looking up what is kept of a conversation, and having it forgotten."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

import httpx
import pytest

from local import conversation
from tests.gateway import gateway

pytestmark = pytest.mark.enable_socket

TOOL = {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}
QUESTION = "What is the weather in Paris?"


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with gateway(tmp_path_factory.mktemp("conversation"), "") as url:
        yield url


def call(base: str, name: str) -> str:
    """A turn with a call whose id is ours. Returns the id."""
    body = {"model": "demo/gemini", "messages": [{"role": "user", "content": QUESTION}], "tools": [TOOL]}
    answer = httpx.post(f"{base}/chat/completions", json=body, headers={"x-conversation-id": name}, timeout=30)
    made = answer.json()["choices"][0]["message"]["tool_calls"]
    return str(made[0]["id"])


def looked_up(base: str, *arguments: str) -> int:
    return conversation.main([*arguments, "--port", str(urlsplit(base).port)])


def test_it_is_shown_without_a_word_of_it_and_forgotten(base: str, capsys: pytest.CaptureFixture[str]) -> None:
    id = call(base, "trip-1")
    call(base, "trip-2")
    assert looked_up(base, "trip-1") == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert f"default#trip-1 {id}" in shown
    assert f"default#trip-1 state#{id}" in shown
    assert "get_weather" in shown
    assert "state_bytes" in shown
    assert "Paris" not in shown

    assert looked_up(base, "trip-1", "--action", "delete") == 0
    assert capsys.readouterr().out == "forgotten: 3 items of default#trip-1\n"
    assert looked_up(base, "trip-1") == 0
    assert capsys.readouterr().out == "nothing is kept of default#trip-1\n"
    assert looked_up(base, "trip-2") == 0
    assert "get_weather" in capsys.readouterr().out


def test_another_tenants_is_another(base: str, capsys: pytest.CaptureFixture[str]) -> None:
    call(base, "trip-3")
    assert looked_up(base, "trip-3", "--tenant", "acme") == 0
    assert capsys.readouterr().out == "nothing is kept of acme#trip-3\n"


def test_no_gateway(capsys: pytest.CaptureFixture[str]) -> None:
    assert conversation.main(["trip-1", "--port", "9"]) == 1
    assert "make run" in capsys.readouterr().err
