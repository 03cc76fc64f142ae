"""The benchmark beside other gateways says who is better, and asks each as it wants to be asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.beside import OURS, REASONS, page
from bench.client import Answer, BenchError, Endpoint
from bench.peers import PEERS, Peer
from bench.report import DIRECT
from bench.script import Script, read_script

UPSTREAM = "http://127.0.0.1:1/v1"


def written(json_cpu: float, rate: float, load: float = 0.0) -> str:
    """The page of a run in which the other gateway had these figures, and ours 2.0 and 100."""
    starts = {OURS: [{"first_answer": 300.0, "idle": 35.0}], "Other": [{"first_answer": 400.0, "idle": 80.0}]}
    chat = {
        DIRECT: [{"json_rate_1": 9000.0}],
        OURS: [{"json_cpu": 2.0, "json_rate_1": 100.0}],
        "Other": [{"json_cpu": json_cpu, "json_rate_1": rate}],
    }
    return page(starts, {"chat_completions": chat}, 3, load, {"Other": "other@1.2.3"})


def test_the_page_has_versions_and_ratios_to_ours() -> None:
    text = written(3.0, 50.0)

    assert "- **Other**: other@1.2.3" in text
    assert "| CPU a JSON answer with two calls, ms |  | 2.00 |  | 3.00 (1.50x) |" in text
    assert text.endswith("## The rows that we lose\n\nNone.\n")


@pytest.mark.parametrize(
    ("json_cpu", "rate", "lost"),
    [
        (1.0, 50.0, ["CPU a JSON answer with two calls, ms"]),
        (3.0, 200.0, ["JSON answers/s, 1 connection"]),
        (1.0, 200.0, ["CPU a JSON answer with two calls, ms", "JSON answers/s, 1 connection"]),
    ],
)
def test_every_row_that_is_lost_is_named(json_cpu: float, rate: float, lost: list[str]) -> None:
    rows = written(json_cpu, rate).partition("## The rows that we lose\n\n")[2].splitlines()

    assert [row.partition("**")[2].partition("**, to Other: ")[0] for row in rows] == lost
    assert not any(row.endswith(": ") for row in rows)


def test_a_busy_machine_shows_no_times() -> None:
    text = written(1.0, 200.0, load=1000.0)

    assert "1000 processes of the machine waited" in text
    assert f"- **CPU a JSON answer with two calls, ms**, to Other: {REASONS['json_cpu']}" in text
    assert "answers/s" not in text
    assert "start to first answer" not in text


@pytest.mark.parametrize("peer", PEERS, ids=lambda peer: peer.name)
def test_each_is_led_to_the_upstream(peer: Peer, tmp_path: Path) -> None:
    peer.settings(tmp_path, UPSTREAM, 4000)
    documents = [json.loads(path.read_text()) for path in tmp_path.rglob("*") if path.is_file()]
    command = list(peer.command(peer.folder, tmp_path, 4000))

    for door in peer.models:
        endpoint = peer.endpoint(4000, door, UPSTREAM)
        assert UPSTREAM in json.dumps([documents, endpoint.headers])
        assert endpoint.address == ("127.0.0.1", 4000)
    assert "4000" in json.dumps([documents, command])
    assert all(any(sign in package for sign in ("==", "@")) for package in peer.packages)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("door", ["chat_completions", "messages"])
def test_an_endpoint_is_asked_in_its_api(door: str, stream: bool) -> None:
    script = Script("tools", 7, 2)
    endpoint = Endpoint(UPSTREAM, "m", ("x-to: there",), door)
    head, _, body = endpoint.request(script, stream=stream).partition(b"\r\n\r\n")
    asked = json.loads(body)

    path = {"chat_completions": b"chat/completions", "messages": b"messages"}[door]
    assert head.startswith(b"POST /v1/%b HTTP/1.1\r\n" % path)
    assert b"\r\nx-to: there\r\n" in head
    assert read_script(body) == script
    assert asked.get("stream", False) == stream
    names = [tool["name"] if door == "messages" else tool["function"]["name"] for tool in asked["tools"]]
    assert names == ["read_file", "list_files"]


def test_a_messages_stream_is_complete_with_its_last_event() -> None:
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    body = b'data: @1@\n\nevent: message_stop\ndata: {"type":"message_stop"}\n\n'
    whole = Answer()
    whole.take(head + b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body))
    whole.check(1)

    cut = Answer()
    cut.take(head + b"%x\r\n%b\r\n0\r\n\r\n" % (9, b"data: @1@"))
    with pytest.raises(BenchError, match="not the scripted answer"):
        cut.check(1)
