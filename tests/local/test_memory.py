"""What a large answer needed is given back when it is over, however many there were."""

from __future__ import annotations

import http.client
import json
import re
import sys
import time
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.gateway import gateway_process
from tests.shell.misbehaving_upstream import Close, MisbehavingUpstream, Send, answer

pytestmark = [
    pytest.mark.enable_socket,
    pytest.mark.skipif(sys.platform != "linux", reason="the process's memory is read from /proc"),
]

#: Bytes of the large part of an answer, and how many answers.
LARGE, ANSWERS = 6 << 20, 4
#: Megabytes that the process may keep: some of the last exchanges are held for the inspector, which are 6 to 12. What
#: is not given back is 24 to 50.
KEPT = 18

ENDLESS_LINE = answer(b"data: ", b"x" * LARGE)
WHOLE_LINE = answer(
    b'data: {"id":"a","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"%b"}}]}\n\n'
    % (b"x" * (LARGE * 3 // 4)),
    b"data: [DONE]\n\n",
)
DOCUMENT = answer(
    b'{"id":"a","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"%b"},'
    b'"finish_reason":"stop"}]}' % (b"x" * LARGE),
    headers=[("content-type", "application/json")],
)
REFUSAL = answer(b"x" * LARGE, status="500 No", headers=[("content-type", "application/json")])


@pytest.mark.parametrize(
    ("large", "stream"),
    [(ENDLESS_LINE, True), (WHOLE_LINE, True), (DOCUMENT, False), (REFUSAL, True)],
    ids=["endless line", "whole line", "document", "refusal"],
)
def test_a_process_keeps_no_large_answers(tmp_path: Path, large: bytes, stream: bool) -> None:
    with MisbehavingUpstream() as upstream:
        upstream.script([Send(answer(b"data: [DONE]\n\n"))], *[(Send(large), Close())] * ANSWERS)
        config = f'[providers.acme]\nwire = "openai_chat"\nbase_url = "{upstream.url}/v1"\n'
        with gateway_process(tmp_path, config) as (base, pid):
            _ask(base, stream)
            before = _megabytes(pid)
            for _ in range(ANSWERS):
                _ask(base, stream)
            end = time.monotonic() + 10  # its thread may still be at it
            while _megabytes(pid) - before >= KEPT and time.monotonic() < end:
                time.sleep(0.1)
            assert _megabytes(pid) - before < KEPT


def _ask(base: str, stream: bool) -> None:
    body = {"model": "acme/m", "messages": [{"role": "user", "content": "Hi"}], "stream": stream}
    with closing(http.client.HTTPConnection(urlsplit(base).netloc, timeout=60)) as client:
        client.request("POST", "/v1/chat/completions", json.dumps(body))
        client.getresponse().read()


def _megabytes(pid: int) -> float:
    found = re.search(r"VmRSS:\s*([0-9]+) kB", Path(f"/proc/{pid}/status").read_text())
    assert found is not None
    return int(found[1]) / 1024
