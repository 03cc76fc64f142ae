"""Answers that come compressed although none was asked for."""

from __future__ import annotations

import gzip
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.shell.misbehaving_upstream import MisbehavingUpstream, Send, answer
from tests.shell.upstream_client import client, fetch, post
from toolwire.model.errors import UpstreamProtocolError
from toolwire.shell.network import decompression
from toolwire.shell.network.decompression import unpacked

BODY = b'data: {"a":1}\n\n' * 50
CODINGS = {"gzip": gzip.compress(BODY), "x-gzip": gzip.compress(BODY), "deflate": zlib.compress(BODY)}


@pytest.mark.parametrize("coding", CODINGS)
@given(cut=st.integers(1, 40))
def test_in_pieces(coding: str, cut: int) -> None:
    packed = CODINGS[coding]
    assert b"".join(unpacked((packed[at : at + cut] for at in range(0, len(packed), cut)), coding)) == BODY


def test_what_has_arrived_is_there_at_once() -> None:
    """A host that flushes its compressor is a stream like any other."""
    compressor = zlib.compressobj(wbits=16 + zlib.MAX_WBITS)
    first = compressor.compress(b"data: 1") + compressor.flush(zlib.Z_SYNC_FLUSH)
    assert b"".join(unpacked(iter([first]), "gzip")) == b"data: 1"


@pytest.mark.parametrize(
    ("coding", "data"), [("gzip", b"{}"), ("deflate", b"\xff\xff"), ("br", b"x"), ("zstd, gzip", b"x")]
)
def test_what_cannot_be_unpacked(coding: str, data: bytes) -> None:
    with pytest.raises(UpstreamProtocolError):
        list(unpacked([data], coding))


def test_a_bomb_is_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decompression, "MOST_BYTES", 1 << 20)
    bomb = gzip.compress(bytes(32 << 20))
    got: list[bytes] = []
    with pytest.raises(UpstreamProtocolError, match="larger than"):
        got.extend(unpacked([bomb], "gzip"))
    assert sum(map(len, got)) <= 1 << 20


@pytest.mark.enable_socket
def test_from_a_host() -> None:
    headers = (("content-type", "text/event-stream"), ("content-encoding", "gzip"))
    with MisbehavingUpstream() as server, client() as upstream:
        server.script([Send(answer(CODINGS["gzip"], headers=headers))])
        assert fetch(upstream, post(server.url)) == BODY
