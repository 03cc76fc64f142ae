"""Real providers' answers through every door, in process, judged by an independent reader (recordings/judge.py).

Each recording is fed to the exchange whole and judged: what the door says, and the faults of its protocol. Then the
same bytes in other pieces must give the same answer, to the byte: one at a time, cut at random, and cut in two
(`test_cuts.py`). How the network cuts a stream must never show. What openai-python gathers from the chat door's answer
is judged too.

`make test` takes one recording in thirty and every other one with parallel calls, each cut wherever something ends at
one of the doors; `make integration` takes them all, at all of them, a byte at a time.
"""

from __future__ import annotations

import itertools
import json
import random
import warnings
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import pytest

from tests.corpus import driver
from tests.corpus.tokens import expected_usage
from tests.named_rows import each_row
from tests.providers.cuts import some
from tests.providers.openai_chat.chat_reader import sdk_answer, sdk_stream
from tests.reference import SHARED, judge, served_rows, their_word
from toolwire.doors import DOORS
from toolwire.model.errors import GatewayError
from toolwire.providers.profiles import PROFILES

#: The doors that the judge can read; `test_native.py` and `test_gemini.py` are about the others.
JUDGED = [door for door in DOORS if door not in ("native", "gemini")]

ROWS = {row["path"]: row for row in served_rows()}
PAIRS = [(door, path) for door in JUDGED for path in ROWS]
SAMPLE = [path for path in ROWS if zlib.crc32(path.encode()) % (2 if int(ROWS[path]["tool_calls"]) > 1 else 30) == 0]

#: The door at which each recording of the sample is cut wherever something ends in `make test`: each has its share.
CUT_SHORT = {path: JUDGED[zlib.crc32(path.encode()) // 30 % len(JUDGED)] for path in ROWS}


def recordings(pairs: list[tuple[str, str]]) -> pytest.MarkDecorator:
    """A test for each pair of a door and a recording."""
    return pytest.mark.parametrize(("door", "path"), pairs, ids=["-".join(pair) for pair in pairs])


def test_recordings_are_there() -> None:
    if not ROWS:
        pytest.skip(f"recordings absent: none is judged, nothing at {SHARED.name}/recordings")
    assert len(ROWS) > 900
    assert len(SAMPLE) > 60


def test_one_kind_of_host_counts_otherwise() -> None:
    """Each recording's usage is shown as it was reported, but for one host's: see docs/decisions.md."""
    other = [path for path in ROWS if expected_usage(recording(path)) != recording(path).turn.usage]
    assert {recording(path).provider for path in other} <= {"xai"}
    assert len(other) == (23 if ROWS else 0)


@pytest.mark.parametrize("door", JUDGED)
@each_row("path", SAMPLE)
def test_sample(door: str, path: str) -> None:
    whole = judged(door, path)
    body = recording(path).body
    assert answer(door, path, in_pieces(body, random.Random(f"{path} 0"))) == whole
    if CUT_SHORT[path] == door:
        cuts = [0, *some(body), len(body)]
        assert answer(door, path, (body[at:end] for at, end in itertools.pairwise(cuts))) == whole


@pytest.mark.integration
@recordings(PAIRS)
def test_cut_at_random(door: str, path: str) -> None:
    body = recording(path).body
    whole = answer(door, path, [body])
    for seed in range(1, 3):
        assert answer(door, path, in_pieces(body, random.Random(f"{path} {seed}"))) == whole


@pytest.mark.integration
@recordings(PAIRS)
def test_all(door: str, path: str) -> None:
    whole = judged(door, path)
    body = recording(path).body
    assert answer(door, path, (body[at : at + 1] for at in range(len(body)))) == whole


@pytest.mark.integration
@recordings([pair for pair in PAIRS if pair[0] == "chat_completions"])
def test_openai_python_hears_the_same(door: str, path: str) -> None:
    played = recording(path)
    if played.expect != "same":
        pytest.skip(f"the recording is {played.expect}")
    whole = judged(door, path)
    assert whole.status == 200
    (choice,) = (sdk_stream(whole.body) if played.stream else sdk_answer(200, whole.headers, whole.body))["choices"]
    message = choice["message"]
    # The SDK joins what it does not know: a role or a name that is said twice would show here.
    assert (message["role"], message.get("content") or "") == ("assistant", played.turn.text)
    calls = [(call["type"], call["function"]["name"]) for call in message.get("tool_calls") or []]
    assert calls == [("function", call.name) for call in played.turn.calls]


@contextmanager
def the_judges_open_files() -> Iterator[None]:
    """The judge leaves the closing of files to the interpreter."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        yield


@cache
def recording(path: str) -> Any:
    """The judge's reading of a recording: its bytes, and what they say. Its number matters over HTTP only."""
    with the_judges_open_files():
        return judge().Recording(0, str(SHARED / "recordings"), ROWS[path])


@cache
def request(door: str, path: str) -> bytes:
    """The judge's own request: in the recording's mode, with its tools."""
    _, _, shape, rest = judge().DOORS[their_word(door)]
    asked = recording(path)
    body: dict[str, Any] = {"model": "m", "stream": asked.stream, **rest}
    with the_judges_open_files():
        tools = [shape(*tool) for tool in asked.tools()]
    if tools:
        body["tools"] = tools
    if asked.stream and door == "chat_completions":
        body["stream_options"] = {"include_usage": True}
    return json.dumps(body).encode()


def answer(door: str, path: str, pieces: Iterable[bytes]) -> driver.Answer:
    """The door's answer when the provider's bytes arrive in these pieces."""
    played = recording(path)
    profile = played.provider if played.provider in PROFILES else "compatible"
    wire = judge().WIRES[played.api][0]
    try:
        exchange = driver.open_exchange(request(door, path), door=door, wire=wire, profile=profile)
    except GatewayError as refused:
        pytest.fail(f"the judge's request was refused: {refused.message}")
    return driver.answer(exchange, pieces, status=played.status, content_type=played.content_type)


def judged(door: str, path: str) -> driver.Answer:
    """The door's answer to the whole body, found without fault. Recordings the judge calls special are only played."""
    played = recording(path)
    whole = answer(door, path, [played.body])
    kind = whole.headers.get("content-type", "")
    shown = judge().read_door(their_word(door), played, whole.status, kind, whole.body, False)
    if played.expect != "special":
        assert judge().compare(played, their_word(door), whole.status, shown) == []
        assert shown.shape == []
    if played.expect == "same" and played.turn.usage is not None and not shown.error:
        assert shown.usage == expected_usage(played)
    return whole


def in_pieces(body: bytes, chance: random.Random) -> Iterator[bytes]:
    """The body in pieces of 1 to 100 bytes."""
    at = 0
    while at < len(body):
        size = chance.randint(1, 100)
        yield body[at : at + size]
        at += size
