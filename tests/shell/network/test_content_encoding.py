"""Compressed request bodies, as they are and as they should not be."""

from __future__ import annotations

import base64
import gzip
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import pytest

from toolwire.model.errors import RequestError
from toolwire.model.limits import BODY_BYTES
from toolwire.shell.network.content_encoding import unpacked
from toolwire.shell.network.proxy_event import http_request

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

LAYER = Path(__file__).parents[3] / "layers" / "shared"
BODY = b'{"model": "m", "text": "' + "héllo ".encode() * 500 + b'"}'


def raw_deflate(data: bytes) -> bytes:
    stream = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return stream.compress(data) + stream.flush()


def halves(compress: Any) -> bytes:
    return bytes(compress(BODY[:99]) + compress(BODY[99:]))


def wide_window(data: bytes) -> bytes:
    """A frame of one raw block that asks for a window of 128 MB."""
    return b"\x28\xb5\x2f\xfd" + bytes([0, (27 - 10) << 3]) + (len(data) << 3 | 1).to_bytes(3, "little") + data


PACKED = {
    "gzip": ("gzip", gzip.compress(BODY)),
    "gzip by its old name": ("X-GZip", gzip.compress(BODY)),
    "gzip in two members": ("gzip", halves(gzip.compress)),
    "gzip filled up": ("gzip", gzip.compress(BODY) + bytes(30)),
    "deflate": ("deflate", zlib.compress(BODY)),
    "deflate without its head": ("deflate", raw_deflate(BODY)),
    "zstd": ("zstd", zstd.compress(BODY)),
    "zstd in two frames": ("zstd", halves(zstd.compress)),
    "nothing": ("identity", BODY),
    "an empty header": ("", BODY),
    "one in the other": ("gzip, zstd", zstd.compress(gzip.compress(BODY))),
}


@pytest.mark.parametrize(("header", "packed"), PACKED.values(), ids=PACKED)
def test_is_read(header: str, packed: bytes) -> None:
    assert unpacked(packed, header) == BODY


REFUSED: dict[str, tuple[str, bytes, int, str]] = {
    "brotli": ("br", BODY, 415, "'br' is not read here: send the body with gzip, deflate or zstd"),
    "one of two": ("gzip, br", gzip.compress(BODY), 415, "'br'"),
    "too many": ("gzip, gzip, gzip", BODY, 415, "Content-Encoding"),
    "plain as gzip": ("gzip", BODY, 400, "Content-Encoding 'gzip'"),
    "plain as deflate": ("deflate", BODY, 400, "Content-Encoding 'deflate'"),
    "plain as zstd": ("zstd", BODY, 400, "Content-Encoding 'zstd'"),
    "gzip cut": ("gzip", gzip.compress(BODY)[:-9], 400, "cut short"),
    "deflate cut": ("deflate", zlib.compress(BODY)[:-5], 400, "cut short"),
    "zstd cut": ("zstd", zstd.compress(BODY)[:-5], 400, "cut short"),
    "deflate and more": ("deflate", zlib.compress(BODY) + b"x", 400, "follows its end"),
    "a wide window": ("zstd", wide_window(BODY), 400, "cannot be unpacked"),
    "no end of members": ("gzip", gzip.compress(b"") * 101, 400, "too many members"),
}


@pytest.mark.parametrize(("header", "packed", "status", "says"), REFUSED.values(), ids=REFUSED)
def test_is_refused(header: str, packed: bytes, status: int, says: str) -> None:
    with pytest.raises(RequestError) as refused:
        unpacked(packed, header)
    assert refused.value.status == status
    assert (refused.value.headers != ()) is (status == 415)
    assert says in refused.value.message


@pytest.mark.parametrize("packed", [gzip.compress, zlib.compress, zstd.compress], ids=["gzip", "deflate", "zstd"])
def test_a_bomb_is_unpacked_no_further_than_the_limit(packed: Any, request: pytest.FixtureRequest) -> None:
    coding = request.node.callspec.id
    assert len(unpacked(packed(bytes(BODY_BYTES)), coding)) == BODY_BYTES
    for bomb in (packed(bytes(BODY_BYTES + 1)), packed(bytes(4 * BODY_BYTES))):
        with pytest.raises(RequestError) as refused:
            unpacked(bomb, coding)
        assert (refused.value.status, refused.value.code) == (413, "request_too_large")


def test_an_event_with_a_compressed_body() -> None:
    event = {"httpMethod": "POST", "path": "/x", "requestContext": {}, "isBase64Encoded": True}
    for coding, packed in (("gzip", gzip.compress(BODY)), ("zstd", zstd.compress(b"\xef\xbb\xbf" + BODY))):
        given = event | {"headers": {"Content-Encoding": coding}, "body": base64.b64encode(packed).decode()}
        assert http_request(given).body == BODY


def test_the_reader_of_zstd_is_loaded_when_it_is_needed() -> None:
    code = (
        "import sys, toolwire.shell.serve.door; "
        "sys.exit(any(name.startswith(('backports', 'compression')) for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": str(LAYER)}, check=False).returncode == 0
