"""Every recording cut in two, through every door: the answer is that to the whole body, to the byte.

How the network cuts a stream must never show. A cut matters to what reads the upstream, which is the same behind every
door, so each streamed recording is cut at every point through one door, and at a few points through the others. A
longer stream is cut at some points, and a JSON body, which is read when it is whole, at a few. The points are the same
in each run.
"""

from __future__ import annotations

import random
import zlib

import pytest

from tests.corpus.test_recordings import JUDGED, PAIRS, answer, judged, recording, recordings

#: Bytes of the longest stream that is cut everywhere: the work grows with the square.
EVERY_POINT = 768
SOME_POINTS = 40
FEW_POINTS = 6


def points_of(door: str, path: str) -> list[int]:
    """Where this door's turn of the recording is cut."""
    played = recording(path)
    everywhere = range(1, len(played.body))
    mine = JUDGED[zlib.crc32(path.encode()) % len(JUDGED)] == door
    if played.stream and mine and len(played.body) <= EVERY_POINT:
        return list(everywhere)
    wanted = SOME_POINTS if played.stream and mine else FEW_POINTS
    return random.Random(f"{door} {path}").sample(everywhere, min(wanted, len(everywhere)))


@pytest.mark.integration
@recordings(PAIRS)
def test_cut_in_two(door: str, path: str) -> None:
    whole = judged(door, path)
    body = recording(path).body
    assert [at for at in points_of(door, path) if answer(door, path, (body[:at], body[at:])) != whole] == []
