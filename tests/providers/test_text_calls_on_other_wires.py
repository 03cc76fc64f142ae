"""Calls that a model wrote as text, at hosts that speak the Messages or the Responses API: vLLM, LM Studio, Ollama."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from tests.named_rows import each_row
from tests.providers import every_door
from tests.providers.anthropic_messages import messages_upstream as messages
from tests.providers.openai_responses import responses_upstream as responses
from toolwire.model.settings import ProviderConfig, Target
from toolwire.providers import profile_of

PARIS = '{"city":"Paris"}'
HERMES = f'<tool_call>{{"name":"weather","arguments":{PARIS}}}</tool_call>'
KIMI = f"<|tool_call_begin|>functions.weather:0<|tool_call_argument_begin|>{PARIS}<|tool_call_end|>"


def _messages(pieces: Sequence[str]) -> tuple[bytes, bytes]:
    """The stream and the document of a text."""
    said = [messages.text(0, piece) for piece in pieces]
    ends = [messages.end(0), messages.finish("end_turn"), messages.STOP]
    stream = messages.stream(messages.start(), messages.begin(0, "text"), *said, *ends)
    message = messages.start()["message"]
    document = message | {"content": [{"type": "text", "text": "".join(pieces)}], "stop_reason": "end_turn"}
    return stream, json.dumps(document).encode()


def _responses(pieces: Sequence[str]) -> tuple[bytes, bytes]:
    message = responses.message("msg_1", "".join(pieces))
    return (
        responses.stream(responses.created(), *responses.said(0, "msg_1", *pieces), responses.completed(message)),
        responses.whole(message),
    )


WIRES = {"anthropic_messages": _messages, "openai_responses": _responses}
#: The wire's vendor.
VENDORS = {"anthropic_messages": "anthropic", "openai_responses": "openai"}
#: A text in pieces -> the text that is left, and how many calls of `weather`.
TEXTS: dict[str, tuple[list[str], str, int]] = {
    "a call": ([HERMES], "", 1),
    "behind a text": (["I look. ", HERMES[:9], HERMES[9:]], "I look. ", 1),
    "two": ([HERMES, "\n", KIMI], "", 2),
    "quoted": (["`" + HERMES + "`"], "`" + HERMES + "`", 0),
    "no call": (["Hi"], "Hi", 0),
    "an empty piece first": (["", HERMES], "", 1),
    "an empty piece first, and no call": (["", "Hi"], "Hi", 0),
}


def _texts(door: str, body: bytes) -> int:
    """How many texts have begun in a door's stream, where texts begin: of nothing but markup there is none, as in a
    document."""
    begins = {
        "messages": b'"content_block":{"type":"text"',
        "responses": b'"type":"response.content_part.added"',
        "native": b'"type":"text.start"',
    }
    return body.replace(b" ", b"").count(begins[door]) if door in begins else int(bool(every_door.text_in(door, body)))


@each_row("door", every_door.REQUESTS)
@each_row("wire", WIRES)
@each_row("name", TEXTS)
def test_they_become_calls(name: str, wire: str, door: str) -> None:
    pieces, left, count = TEXTS[name]
    stream, document = WIRES[wire](pieces)
    for step in (every_door.STEP, len(stream)):
        said = every_door.asked(door, stream, streamed=True, wire=wire, step=step)
        calls = every_door.calls_in(door, said.body, streamed=True)
        assert [(tool, json.loads(arguments)) for tool, arguments in calls] == [("weather", json.loads(PARIS))] * count
        assert every_door.text_in(door, said.body) == left
        assert _texts(door, said.body) == bool(left)
        assert (b"tool_call>" in said.body) == ("tool_call>" in left), "nothing that was left out is told again"
    said = every_door.asked(door, document, streamed=False, wire=wire)
    calls = every_door.calls_in(door, said.body, streamed=False)
    assert [(tool, json.loads(arguments)) for tool, arguments in calls] == [("weather", json.loads(PARIS))] * count
    assert ("text_calls_recovered" in said.body.decode() + said.headers.get("x-toolwire-warnings", "")) == bool(count)


@pytest.mark.parametrize("wire", WIRES)
def test_the_vendors_text_is_text(wire: str) -> None:
    stream, _ = WIRES[wire]([HERMES])
    said = every_door.asked("chat_completions", stream, streamed=True, wire=wire, profile=VENDORS[wire])
    assert every_door.calls_in("chat_completions", said.body, streamed=True) == []
    assert every_door.text_in("chat_completions", said.body) == HERMES


def test_a_host_has_the_profile_of_its_address() -> None:
    for address, profile in {
        "https://api.anthropic.com": "anthropic",
        "https://api.openai.com/v1": "openai",
        "http://127.0.0.1:1/v1": "compatible",
    }.items():
        assert profile_of(Target(ProviderConfig("any", "anthropic_messages", address), "m")).name == profile
