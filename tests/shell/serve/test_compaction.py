"""POST /responses/compact in front of hosts that compact, that cannot, and that refuse."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.gateway import gateway
from tests.open_responses.judge import error_faults, faults
from tests.shell.serve.test_count_tokens import config, counting

pytestmark = pytest.mark.enable_socket

ITEM = {"type": "compaction", "id": "cmp_1", "encrypted_content": "gAAA"}
MESSAGE = {"type": "message", "id": "msg_1", "status": "completed", "role": "user", "content": [
    {"type": "input_text", "text": "hi"}]}  # fmt: skip
USAGE = {"input_tokens": 1, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 2,
         "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 3}  # fmt: skip
DONE = {"id": "resp_1", "object": "response.compaction", "created_at": 5, "output": [MESSAGE, ITEM], "usage": USAGE}


def compact(base: str, **members: Any) -> httpx.Response:
    body = {"model": "p/m", "input": "hi", "store": False} | members
    return httpx.post(f"{base}/responses/compact", json=body, timeout=20)


def test_a_host_that_compacts_is_asked(tmp_path: Path) -> None:
    with counting(200, DONE) as (address, asked), gateway(tmp_path, config("openai_responses", address)) as base:
        got = compact(base, instructions="Be brief.", news=1)
    assert got.status_code == 200
    assert got.content == json.dumps(DONE).encode()
    assert faults("CompactResource", got.json()) == []
    assert asked == [("/responses/compact", {"model": "m", "input": "hi", "instructions": "Be brief.", "news": 1})]


def test_what_a_host_leaves_out_of_its_items_is_put_in(tmp_path: Path) -> None:
    bare = {name: value for name, value in MESSAGE.items() if name != "status"}
    with (
        counting(200, DONE | {"output": [bare, ITEM]}) as (address, _),
        gateway(tmp_path, config("openai_responses", address)) as base,
    ):
        got = compact(base)
    assert got.json() == DONE


@pytest.mark.parametrize(("wire", "status"), [("openai_responses", 404), ("openai_responses", 405), ("gemini", 200)])
def test_a_provider_without_compaction_is_a_clear_error(tmp_path: Path, wire: str, status: int) -> None:
    with counting(status, {"error": "no"}) as (address, _), gateway(tmp_path, config(wire, address)) as base:
        got = compact(base)
    assert (got.status_code, got.headers["x-should-retry"]) == (501, "false")
    assert error_faults(got.content) == []
    assert "p does not compact conversations" in got.json()["error"]["message"]


def test_a_refusal_passes_as_it_is(tmp_path: Path) -> None:
    refusal = {"error": {"message": "no", "type": "invalid_request_error", "param": "input", "code": None}}
    with counting(400, refusal) as (address, _), gateway(tmp_path, config("openai_responses", address)) as base:
        got = compact(base)
    assert (got.status_code, got.json()) == (400, refusal)


def test_what_is_no_compaction_is_the_hosts_fault(tmp_path: Path) -> None:
    with counting(200, {"output": "?"}) as (address, _), gateway(tmp_path, config("openai_responses", address)) as base:
        got = compact(base)
    assert (got.status_code, got.json()["error"]["code"]) == (502, "upstream_protocol_error")
