"""Two independent readers of the chat door's answers: a strict one, and the official SDK's own accumulator."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any

import httpx2
import openai
from openai.lib.streaming.chat import ChatCompletionStreamState

from tests.prepared_server import PreparedServer

FINISHES = {"stop", "length", "tool_calls", "content_filter", "function_call"}


@dataclass
class Said:
    """What a stream said."""

    content: str = ""
    reasoning: str = ""
    refusal: str = ""
    calls: list[tuple[str, str, str]] = field(default_factory=list)  # id, name, arguments
    finish: str | None = None
    usage: dict[str, Any] | None = None
    error: dict[str, Any] | None = None
    done: bool = False
    chunks: list[dict[str, Any]] = field(default_factory=list)

    @property
    def asked(self) -> list[tuple[str, str]]:
        """The calls without their ids."""
        return [(name, arguments) for _, name, arguments in self.calls]


def payloads(body: bytes) -> Iterator[bytes]:
    """The data of each frame; comments are skipped, anything else is a fault."""
    assert body.endswith(b"\n\n"), body[-80:]
    for frame in body[:-2].split(b"\n\n"):
        if frame.startswith(b":"):
            continue
        lines = frame.split(b"\n")
        assert all(line.startswith(b"data: ") for line in lines), frame
        yield b"\n".join(line[6:] for line in lines)


def read(body: bytes, *, usage: bool = False) -> Said:
    """Judges a stream by what strict clients require (OpenAI's order of chunks); `usage`: the client asked for it."""
    said = Said()
    for data in payloads(body):
        assert not said.done, "nothing comes after [DONE]"
        assert said.error is None, "nothing comes after an error"
        if data == b"[DONE]":
            said.done = True
            continue
        chunk = json.loads(data)
        if chunk.get("error") is not None:
            said.error = chunk["error"]
            assert isinstance(said.error["message"], str)
            assert said.error["message"]
            continue
        _take(said, chunk)
    assert said.done != (said.error is not None), "an answer ends once: with [DONE] or with an error"
    if said.done:
        assert said.finish is not None
        assert (said.usage is not None) == usage
        assert said.finish != "stop" or not said.calls
        assert said.finish != "tool_calls" or said.calls or "function_call" in str(said.chunks)
        if said.finish not in ("length", "content_filter"):
            is_text = '"custom"' in json.dumps(said.chunks, default=str)  # a custom tool's input may be white space
            assert is_text or all(arguments.strip() for _, _, arguments in said.calls), "JSON.parse('') throws"
    return said


def _take(said: Said, chunk: dict[str, Any]) -> None:
    assert said.usage is None, "usage is last"
    first = said.chunks[0] if said.chunks else chunk
    said.chunks.append(chunk)
    assert isinstance(chunk["id"], str)
    assert chunk["id"]
    assert isinstance(chunk["created"], int)
    assert chunk["model"]
    assert chunk["object"] == "chat.completion.chunk"
    assert chunk["id"] == first["id"]
    if not chunk["choices"]:
        said.usage = chunk.get("usage")
        return
    assert chunk.get("usage") is None, "usage comes in a chunk of its own"
    (choice,) = chunk["choices"]
    assert choice["index"] == 0
    assert choice.get("finish_reason") in FINISHES | {None}
    delta = choice["delta"]
    if len([c for c in said.chunks if c["choices"]]) == 1:
        assert delta["role"] == "assistant"
    has_content = any(delta.get(name) for name in ("content", "reasoning_content", "refusal", "tool_calls"))
    assert said.finish is None or not (has_content or choice.get("finish_reason")), "nothing comes after the finish"
    for name, attribute in (("content", "content"), ("reasoning_content", "reasoning"), ("refusal", "refusal")):
        setattr(said, attribute, getattr(said, attribute) + (delta.get(name) or ""))
    if not delta.get("reasoning_content"):
        said.reasoning += delta.get("reasoning") or ""
    for entry in delta.get("tool_calls") or ():
        _take_call(said, entry)
    said.finish = choice.get("finish_reason") or said.finish


def _take_call(said: Said, entry: dict[str, Any]) -> None:
    index, kind = entry["index"], "custom" if "custom" in entry else "function"
    inner = entry[kind]
    text = inner["input" if kind == "custom" else "arguments"]
    assert isinstance(text, str)
    if index == len(said.calls):
        assert entry["id"]
        assert entry["type"] == kind
        assert inner["name"]
        assert entry["id"] not in [id for id, _, _ in said.calls]
        said.calls.append((entry["id"], inner["name"], text))
        return
    assert 0 <= index < len(said.calls), "indices are dense"
    assert not entry.get("id"), "the id comes once"
    assert not inner.get("name"), "the name comes once"
    id, name, before = said.calls[index]
    said.calls[index] = (id, name, before + text)


# ---------------------------------------------------------------- openai-python


@cache
def _sdk() -> tuple[PreparedServer, openai.OpenAI]:
    server = PreparedServer()
    return server, openai.OpenAI(
        api_key="none", base_url="http://gateway/v1", http_client=server.client(), max_retries=0
    )


@lru_cache(500)  # rows of a table often have one answer
def sdk_stream(body: bytes) -> dict[str, Any]:
    """The completion that openai-python gathers from a stream. Raises openai.APIError for an error event."""
    server, client = _sdk()
    server.response = httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=body)
    state: ChatCompletionStreamState[None] = ChatCompletionStreamState()
    for chunk in client.chat.completions.create(model="m", messages=[], stream=True):
        state.handle_chunk(chunk)
    gathered: dict[str, Any] = state.current_completion_snapshot.to_dict(mode="json", warnings=False)
    return gathered


def sdk_answer(status: int, headers: dict[str, str], body: bytes) -> dict[str, Any]:
    """The completion that openai-python reads from a JSON answer. Raises openai.APIStatusError for an error."""
    server, client = _sdk()
    server.response = httpx2.Response(status, headers=headers, content=body)
    answer: dict[str, Any] = client.chat.completions.create(model="m", messages=[]).to_dict(mode="json", warnings=False)
    return answer
