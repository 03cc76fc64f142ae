"""Answers of Bedrock's Converse, written by us: events of a stream, and whole documents."""

from __future__ import annotations

import json
from typing import Any

from tests.framing.aws_frames import event as frame_of

Event = tuple[str, dict[str, Any]]

BEGIN: Event = ("messageStart", {"role": "assistant"})
USAGE: Event = (
    "metadata",
    {"usage": {"inputTokens": 10, "outputTokens": 5, "totalTokens": 15}, "metrics": {"latencyMs": 7}},
)


def delta(index: int | None, **members: Any) -> Event:
    payload = {"contentBlockIndex": index, "delta": members, "p": "abc"}
    return "contentBlockDelta", {name: value for name, value in payload.items() if value is not None}


def text(index: int | None, words: str) -> Event:
    return delta(index, text=words)


def reasoning(index: int, **members: str) -> Event:
    return delta(index, reasoningContent=members)


def call(index: int, id: str, name: str, **more: str) -> Event:
    return "contentBlockStart", {
        "contentBlockIndex": index,
        "start": {"toolUse": {"toolUseId": id, "name": name, **more}},
    }


def fragment(index: int | None, arguments: str) -> Event:
    return delta(index, toolUse={"input": arguments})


def end(index: int) -> Event:
    return "contentBlockStop", {"contentBlockIndex": index}


def stop(reason: str) -> Event:
    return "messageStop", {"stopReason": reason}


def stream(*events: Event) -> bytes:
    return b"".join(frame_of(kind, json.dumps(payload).encode()) for kind, payload in events)


def document(*content: Any, reason: str | None = "end_turn", usage: dict[str, int] | None = None) -> bytes:
    said: dict[str, Any] = {"output": {"message": {"role": "assistant", "content": list(content)}}}
    said["usage"] = usage or {"inputTokens": 10, "outputTokens": 5, "totalTokens": 15}
    return json.dumps(said | ({"stopReason": reason} if reason is not None else {})).encode()
