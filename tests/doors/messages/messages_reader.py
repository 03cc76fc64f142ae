"""What clients of the messages door hear: a strict reader of the stream's grammar, and anthropic-python."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import anthropic
import httpx2

from tests.prepared_server import PreparedServer
from toolwire.framing.sse import SseDecoder

#: Kind of block -> the delta that carries its text, and the member that holds it.
_DELTAS = {
    "text": ("text_delta", "text"),
    "thinking": ("thinking_delta", "thinking"),
    "tool_use": ("input_json_delta", "partial_json"),
    "server_tool_use": ("input_json_delta", "partial_json"),
}


@dataclass
class Said:
    """What a stream said. `error` is the data of its error event; an answer with one has no `stop_reason`."""

    message: dict[str, Any] = field(default_factory=dict)
    blocks: list[dict[str, Any]] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)  # the joined deltas of each block
    signatures: list[str | None] = field(default_factory=list)
    stop_reason: str | None = None
    stop: dict[str, Any] = field(default_factory=dict)  # the delta of message_delta
    usage: dict[str, Any] = field(default_factory=dict)
    error: dict[str, Any] | None = None
    pings: int = 0

    def of(self, kind: str) -> str:
        """The text of all blocks of a kind."""
        return "".join(text for block, text in zip(self.blocks, self.texts, strict=True) if block["type"] == kind)

    @property
    def calls(self) -> list[tuple[str, str, str]]:
        """Id, name and arguments of each call."""
        pairs = zip(self.blocks, self.texts, strict=True)
        return [(block["id"], block["name"], text) for block, text in pairs if block["type"] == "tool_use"]


def events(body: bytes) -> list[dict[str, Any]]:
    """The data of every event, each named by its own type."""
    decoder = SseDecoder()
    frames = [*decoder.feed(body), *decoder.end()]
    found = [json.loads(frame.data) for frame in frames]
    assert [frame.event for frame in frames] == [event["type"] for event in found], "event: and type are the same"
    return found


def read(body: bytes) -> Said:
    """A whole stream; fails at the first thing a strict client would not take."""
    reader = _Reader()
    for event in events(body):
        reader.take(event)
    assert reader.state in ("over", "failed"), "message_stop or an error is the last event"
    return reader.said


class _Reader:
    def __init__(self) -> None:
        self.said = Said()
        self.state = "new"
        self._open: int | None = None

    def take(self, event: dict[str, Any]) -> None:
        assert self.state not in ("over", "failed"), "nothing follows the end"
        kind = event["type"]
        if kind == "ping":
            self.said.pings += 1
            return
        if kind == "error":
            self._error(event)
            return
        assert (self.state == "new") == (kind == "message_start"), "message_start is first, and once"
        getattr(self, f"_{kind}")(event)

    def _error(self, event: dict[str, Any]) -> None:
        assert event["error"]["type"]
        assert event["error"]["message"]
        self.said.error, self.state = event, "failed"

    def _message_start(self, event: dict[str, Any]) -> None:
        message = event["message"]
        assert (message["type"], message["role"], message["content"]) == ("message", "assistant", [])
        assert message["id"].startswith("msg_")
        assert message["model"]
        assert message["stop_reason"] is None
        _check_usage(message["usage"])
        self.said.message, self.state = message, "open"

    def _content_block_start(self, event: dict[str, Any]) -> None:
        block = event["content_block"]
        assert self._open is None, "one block at a time"
        assert event["index"] == len(self.said.blocks), "indices are dense"
        assert self.state == "open", "no content behind the stop reason"
        if block["type"] == "tool_use":
            assert block["input"] == {}
            assert block["id"]
            assert block["name"]
        elif block["type"] in ("text", "thinking"):
            assert block[block["type"]] == ""
        self._open = event["index"]
        self.said.blocks.append(block)
        self.said.texts.append("")
        self.said.signatures.append(None)

    def _content_block_delta(self, event: dict[str, Any]) -> None:
        assert event["index"] == self._open, "a delta belongs to the open block"
        delta, block = event["delta"], self.said.blocks[-1]
        if delta["type"] == "signature_delta":
            assert block["type"] == "thinking"
            assert self.said.signatures[-1] is None, "signed once"
            self.said.signatures[-1] = delta["signature"]
        elif delta["type"] != "citations_delta":
            kind, member = _DELTAS[block["type"]]
            assert delta["type"] == kind
            assert self.said.signatures[-1] is None, "the signature comes last"
            self.said.texts[-1] += delta[member]

    def _content_block_stop(self, event: dict[str, Any]) -> None:
        assert event["index"] == self._open
        self._open = None

    def _message_delta(self, event: dict[str, Any]) -> None:
        assert self._open is None
        _check_usage(event["usage"], partial=True)
        self.said.usage |= event["usage"]
        self.said.stop |= event["delta"]
        self.said.stop_reason = event["delta"].get("stop_reason") or self.said.stop_reason
        self.state = "stopped" if self.said.stop_reason else self.state

    def _message_stop(self, event: dict[str, Any]) -> None:
        assert event == {"type": "message_stop"}
        assert self.state == "stopped", "a stop reason before the end"
        self.state = "over"


def _check_usage(usage: dict[str, Any], *, partial: bool = False) -> None:
    names = ("output_tokens",) if partial else ("input_tokens", "output_tokens")
    assert all(isinstance(usage[name], int) for name in names)


@cache
def _sdk() -> tuple[PreparedServer, anthropic.Anthropic]:
    server = PreparedServer()
    return server, anthropic.Anthropic(
        api_key="none", base_url="http://gateway", http_client=server.client(), max_retries=0
    )


_ASKED: dict[str, Any] = {"model": "m", "max_tokens": 10, "messages": [{"role": "user", "content": "hi"}]}


def sdk_stream(body: bytes) -> dict[str, Any]:
    """What anthropic-python folds a stream into. Raises its errors."""
    server, client = _sdk()
    server.response = httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=body)
    with client.messages.stream(**_ASKED) as stream:
        return _plain(stream.get_final_message())


def sdk_answer(status: int, headers: dict[str, str], body: bytes) -> dict[str, Any]:
    """What anthropic-python makes of a JSON answer. Raises its errors."""
    server, client = _sdk()
    server.response = httpx2.Response(status, headers=headers, content=body)
    return _plain(client.messages.create(**_ASKED))


def _plain(message: anthropic.types.Message) -> dict[str, Any]:
    gathered: dict[str, Any] = message.to_dict(mode="json", warnings=False)
    return gathered
