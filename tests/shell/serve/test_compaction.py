"""POST /responses/compact in front of hosts that compact, that cannot, and that refuse."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.open_responses.judge import error_faults, faults
from tests.shell.serve.answering_host import AnsweringHost, answering_host

pytestmark = pytest.mark.enable_socket

ITEM = {"type": "compaction", "id": "cmp_1", "encrypted_content": "gAAA"}
MESSAGE = {"type": "message", "id": "msg_1", "status": "completed", "role": "user", "content": [
    {"type": "input_text", "text": "hi"}]}  # fmt: skip
USAGE = {"input_tokens": 1, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 2,
         "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 3}  # fmt: skip
DONE = {"id": "resp_1", "object": "response.compaction", "created_at": 5, "output": [MESSAGE, ITEM], "usage": USAGE}


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AnsweringHost]:
    with answering_host(tmp_path_factory.mktemp("host")) as host:
        yield host


def compact(host: AnsweringHost, wire: str = "openai_responses", **members: Any) -> httpx.Response:
    body = {"model": host.model(wire), "input": "hi", "store": False} | members
    return httpx.post(f"{host.base}/responses/compact", json=body, timeout=20)


def test_a_host_that_compacts_is_asked(host: AnsweringHost) -> None:
    host.answers(200, DONE)
    got = compact(host, instructions="Be brief.", news=1)
    assert got.status_code == 200
    assert got.content == json.dumps(DONE).encode()
    assert faults("CompactResource", got.json()) == []
    assert host.asked == [("/responses/compact", {"model": "m", "input": "hi", "instructions": "Be brief.", "news": 1})]


def test_what_a_host_leaves_out_of_its_items_is_put_in(host: AnsweringHost) -> None:
    bare = {name: value for name, value in MESSAGE.items() if name != "status"}
    host.answers(200, DONE | {"output": [bare, ITEM]})
    got = compact(host)
    assert got.json() == DONE


@pytest.mark.parametrize(("wire", "status"), [("openai_responses", 404), ("openai_responses", 405), ("gemini", 200)])
def test_a_provider_without_compaction_is_a_clear_error(host: AnsweringHost, wire: str, status: int) -> None:
    host.answers(status, {"error": "no"})
    got = compact(host, wire)
    assert (got.status_code, got.headers["x-should-retry"]) == (501, "false")
    assert error_faults(got.content) == []
    assert f"{host.model(wire).removesuffix('/m')} does not compact conversations" in got.json()["error"]["message"]


def test_a_refusal_passes_as_it_is(host: AnsweringHost) -> None:
    refusal = {"error": {"message": "no", "type": "invalid_request_error", "param": "input", "code": None}}
    host.answers(400, refusal)
    got = compact(host)
    assert (got.status_code, got.json()) == (400, refusal)


def test_what_is_no_compaction_is_the_hosts_fault(host: AnsweringHost) -> None:
    host.answers(200, {"output": "?"})
    got = compact(host)
    assert (got.status_code, got.json()["error"]["code"]) == (502, "upstream_protocol_error")
