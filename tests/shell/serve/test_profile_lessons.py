"""What a host has refused once is not sent to it again: not by this tenant, to this model, within the hour."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.shell.misbehaving_upstream import Close, MisbehavingUpstream, Send, Step, answer, cut
from toolwire.exchange.profile_lessons import Lesson
from toolwire.model.http import Head
from toolwire.model.settings import ProviderConfig, Settings, Target, Tenant
from toolwire.shell.serve import admission
from toolwire.shell.serve.door import serve
from toolwire.shell.serve.profile_lessons import LESSON_SECONDS, LESSONS, MOST, Lessons

pytestmark = pytest.mark.enable_socket

_JSON = (("content-type", "application/json"),)
ASKED = {"role": "user", "content": "hi"}
BODIES: dict[str, dict[str, Any]] = {
    "messages": {"max_tokens": 9, "temperature": 0.2, "top_p": 0.5, "messages": [ASKED, ASKED]},
    "chat_completions": {"max_tokens": 9, "temperature": 0.2, "top_p": 0.5, "messages": [ASKED, ASKED]},
}


def refused(message: str) -> list[Step]:
    body = json.dumps({"error": {"message": message, "type": "invalid_request_error"}}).encode()
    return [Send(answer(body, status="400 Bad Request", framing="length", headers=_JSON))]


def answered() -> list[Step]:
    message = {"role": "assistant", "content": "ok"}
    body = {"id": "c", "object": "chat.completion", "created": 1, "model": "m",
            "choices": [{"index": 0, "finish_reason": "stop", "message": message}]}  # fmt: skip
    return [Send(answer(json.dumps(body).encode(), framing="length", headers=_JSON))]


TEMPERATURE = refused("Unsupported value: 'temperature' is not supported with this model.")
TOP_P = refused("top_p is not supported by this model")
ORDER = refused("Conversation roles must alternate user/assistant/user/assistant/...")


@pytest.fixture
def server() -> Iterator[MisbehavingUpstream]:
    with MisbehavingUpstream() as started:
        yield started


@pytest.fixture(autouse=True)
def _nothing_is_known() -> Iterator[None]:
    LESSONS.clear()
    yield
    LESSONS.clear()


@pytest.fixture
def settings(server: MisbehavingUpstream, monkeypatch: pytest.MonkeyPatch) -> Any:
    def configure(tenant: str = "default") -> None:
        acme = ProviderConfig("acme", "openai_chat", f"{server.url}/v1", "none")
        made = Settings(providers={"acme": acme}, tenant=Tenant(tenant))
        monkeypatch.setattr(admission, "current_settings", lambda: made)

    configure()
    return configure


def ask(door: str = "messages", model: str = "acme/m") -> tuple[int, str]:
    """The status and the warnings of an answer."""
    path = {"chat_completions": "/chat/completions", "messages": "/messages", "image": "/messages"}[door]
    event = {"httpMethod": "POST", "path": path, "headers": {}, "multiValueHeaders": {},
             "requestContext": {"requestId": "r"}, "body": json.dumps({"model": model, **BODIES[door]}),
             "isBase64Encoded": False}  # fmt: skip
    head = next(iter(list(serve("messages" if door == "image" else door, event, None))))
    assert isinstance(head, Head)
    return head.status, dict(head.headers).get("x-toolwire-warnings", "")


def test_what_was_refused_once_is_not_sent_again(settings: Any, server: MisbehavingUpstream) -> None:
    server.script(TEMPERATURE, answered(), answered(), TOP_P, answered(), answered())

    first, again, third, last = (ask() for _ in range(4))

    assert [status for status, _ in (first, again, third, last)] == [200] * 4
    assert first == again == (200, "not_supported:temperature")
    assert third[1] == last[1] == "not_supported:temperature,not_supported:top_p"
    names = [json.loads(request.body).keys() & {"temperature", "top_p"} for request in server.requests]
    assert names == [{"temperature", "top_p"}, {"top_p"}, {"top_p"}, {"top_p"}, set(), set()]


def test_a_warning_of_the_lessons_own_is_told_each_time(settings: Any, server: MisbehavingUpstream) -> None:
    server.script(ORDER, answered(), answered())
    assert [ask(), ask()] == [(200, "turns_rearranged")] * 2
    assert len(server.requests) == 3
    assert server.requests[1].body == server.requests[2].body


def test_what_is_about_one_request_is_not_remembered(settings: Any, server: MisbehavingUpstream) -> None:
    shot = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}
    turns = [{"role": "user", "content": [shot]}, {"role": "assistant", "content": "so"}, ASKED]
    server.script(refused("Could not process image"), answered(), answered())
    BODIES["image"] = {**BODIES["messages"], "messages": turns}
    try:
        assert ask("image") == (200, "images_in_words")
        assert ask("image") == (200, "")
    finally:
        del BODIES["image"]
    assert [b"iVBORw0KGgo" in request.body for request in server.requests] == [True, False, True]


@pytest.mark.parametrize("other", ["tenant", "api", "model"])
def test_it_holds_for_nobody_else(other: str, settings: Any, server: MisbehavingUpstream) -> None:
    server.script(TEMPERATURE, answered(), answered())
    ask()
    if other == "tenant":
        settings("other")

    ask(door="chat_completions" if other == "api" else "messages", model="acme/other" if other == "model" else "acme/m")

    assert b"temperature" in server.requests[2].body


@pytest.mark.parametrize(
    "then", [refused("No."), cut(answer(b"{}"), 40, Close()), [Send(answer(b"garbage"))]], ids=["refused", "cut", "odd"]
)
def test_what_did_not_help_is_not_remembered(then: list[Step], settings: Any, server: MisbehavingUpstream) -> None:
    server.script(TEMPERATURE, then, answered())
    assert ask()[0] >= 400
    assert ask() == (200, "")
    assert b"temperature" in server.requests[2].body


def test_it_is_forgotten_after_an_hour_and_the_oldest_first() -> None:
    now = itertools.chain([0.0, 1.0, LESSON_SECONDS - 1], itertools.repeat(LESSON_SECONDS + 0.5))
    known = Lessons(lambda: next(now))
    target, lesson, other = Target(ProviderConfig("p", "w", "u", "none"), "m"), Lesson("", {}), Lesson("x", {})
    known.note("t", "d", target, (lesson,))
    known.note("t", "d", target, (lesson, other))
    assert known.of("t", "d", target) == (lesson, other)
    assert known.of("t", "d", target) == ()

    full = Lessons(lambda: 0.0)
    for tenant in map(str, range(MOST + 1)):
        full.note(tenant, "d", target, (lesson,))
    assert full.of("0", "d", target) == ()
    assert full.of(str(MOST), "d", target) == (lesson,)
