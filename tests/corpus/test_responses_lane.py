"""Recorded answers of the Responses API to a client of that API: what the host said passes, event by event, with what
the standard asks for beside it; what had to be mended loses no member."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.corpus.test_recordings import ROWS, answer, recording
from tests.doors.responses.responses_reader import events

PATHS = [path for path, row in ROWS.items() if row["api"] == "openai-responses"]

#: Recorded answers that a strict client could not read, or not in full, as they are -> what is mended.
MENDED = {
    "chatgpt/": "the response at the end has no output",
    "deepseek/": "the call's id becomes one of ours, under which the reasoning that belongs to it is found",
    "openai/resp-ddtrace-response-function-call-streamed": "its events have no numbers",
    "openai/resp-pydanticai-openai-previous-response-id": "no usage",
    "openai/resp-pydanticai-openai-responses-model-mcp-list-tools-stream-backfills": "an item that only the end tells",
    "openai/resp-pydanticai-openai-responses-verbosity": "no usage",
}

#: What is written anew is ours to say, and what a mended answer cannot have from its host.
OURS = {"id", "object", "model", "status", "output", "usage", "error", "incomplete_details", "created_at"}


def test_recordings_are_there() -> None:
    if not PATHS:
        pytest.skip("recordings absent: none is passed on")
    assert len(PATHS) > 150


@pytest.mark.integration
@pytest.mark.parametrize("path", PATHS)
def test_a_client_of_the_same_api_is_shown_all_of_it(path: str) -> None:
    played = recording(path)
    if played.status != 200 or played.expect == "not-clean":
        pytest.skip(f"the recording is {played.expect}, which no lane passes on as it is")
    shown = answer("responses", path, [played.body])
    if shown.status != 200:
        assert b"background answers are not supported" in shown.body
        return
    mended = any(path.startswith(begin) for begin in MENDED)
    if mended:
        given, said = final(played.body, played.stream), final(shown.body, played.stream)
        assert {name: said.get(name) for name in given if name not in OURS} == {
            name: value for name, value in given.items() if name not in OURS
        }
    elif played.stream:
        given_events, said_events = list(events(played.body)), list(events(shown.body))
        assert len(said_events) == len(given_events)
        assert [n for n, pair in enumerate(zip(said_events, given_events, strict=True)) if not holds(*pair)] == []
    else:
        assert holds(json.loads(shown.body), json.loads(played.body))


def holds(said: Any, given: Any) -> bool:
    """Whether everything that was given is said. Members may be added, and take the place of null."""
    if isinstance(given, dict):
        return isinstance(said, dict) and all(
            given[name] is None or (name in said and holds(said[name], given[name])) for name in given
        )
    if isinstance(given, list):
        return isinstance(said, list) and len(said) == len(given) and all(map(holds, said, given))
    return type(said) is type(given) and said == given


def final(body: bytes, stream: bool) -> dict[str, Any]:
    """The response as it ended."""
    document: dict[str, Any] = list(events(body))[-1]["response"] if stream else json.loads(body)
    return document
