"""Gemini's side, written by us: its answers, the exchange a Chat client has with it, and Google's SDK as a judge of
the requests that reach it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from google.genai import types

from tests.corpus.driver import Answer, answer, open_exchange
from tests.providers.openai_chat.chat_reader import Said, read, sdk_stream
from tests.providers.openai_chat.chat_upstream import request

USAGE = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"text": words, **more}


def thought(words: str, **more: Any) -> dict[str, Any]:
    return {"text": words, "thought": True, **more}


def call(name: str | None = None, args: Any = None, **more: Any) -> dict[str, Any]:
    """A part with a call; None leaves a member out. Members of the part itself end in an underscore."""
    part = {key.rstrip("_"): more.pop(key) for key in list(more) if key.endswith("_")}
    inner = {"name": name, "args": args, **more}
    return {"functionCall": {key: value for key, value in inner.items() if value is not None}, **part}


def piece(path: str, **value: Any) -> dict[str, Any]:
    return {"jsonPath": path, **value}


def chunk(*parts: Any, finish: Any = None, usage: Any = None, **more: Any) -> dict[str, Any]:
    """One chunk, or a whole answer; `more` replaces its members."""
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": list(parts)}, "index": 0}
    if finish is not None:
        candidate["finishReason"] = finish
    document = {"candidates": [candidate], "modelVersion": "gemini-3-flash", "responseId": "r-1"}
    return {**document, **({"usageMetadata": usage} if usage is not None else {}), **more}


STOP = chunk(text(""), finish="STOP", usage=USAGE)


def stream(*chunks: Any) -> bytes:
    """Chunks as Google frames them; bytes are a frame's payload as it is."""
    payloads = (item if isinstance(item, bytes) else json.dumps(item, ensure_ascii=False).encode() for item in chunks)
    return b"".join(b"data: " + payload + b"\r\n\r\n" for payload in payloads)


def ask(
    upstream: bytes | Iterable[bytes],
    *,
    streamed: bool = True,
    usage: bool = False,
    status: int = 200,
    content_type: str | None = None,
    **fields: Any,
) -> Answer:
    """What a Chat client gets for this answer."""
    exchange = open_exchange(request(streamed=streamed, usage=usage, **fields), wire="gemini", profile=None)
    pieces = [upstream] if isinstance(upstream, bytes) else upstream
    kind = content_type or ("text/event-stream" if streamed else "application/json")
    return answer(exchange, pieces, status=status, content_type=kind)


def said(upstream: bytes | Iterable[bytes], **fields: Any) -> Said:
    """A streamed answer as a strict reader has it; openai-python has the same, unless it is an error."""
    answered = ask(upstream, usage=True, **fields)
    assert answered.status == 200
    heard = read(answered.body, usage=True)
    if heard.error is None:
        folded = sdk_stream(answered.body)["choices"][0]
        message = folded["message"]
        assert (message["content"] or "", folded["finish_reason"]) == (heard.content, heard.finish)
        calls = [(c["id"], c["function"]["name"], c["function"]["arguments"]) for c in message["tool_calls"] or []]
        assert calls == heard.calls
    return heard


def sent(model: str = "gemini-3-flash", *, warned: list[str] | None = None, **members: Any) -> dict[str, Any]:
    """The body that reaches Google for a Chat request's members. Google's SDK must know every field of it, and the
    warnings must be these."""
    body = {"model": "m", "messages": [{"role": "user", "content": "hi"}], **members}
    exchange = open_exchange(json.dumps(body).encode(), wire="gemini", profile=None, model=model)
    assert exchange.figures.warnings == (warned or [])
    built: dict[str, Any] = json.loads(exchange.upstream_request.body)
    for content in built["contents"]:
        types.Content.model_validate(content)
    for tool in built.get("tools", ()):
        types.Tool.model_validate(tool)
    types.Content.model_validate(built.get("systemInstruction", {}))
    types.ToolConfig.model_validate(built.get("toolConfig", {}))
    types.GenerationConfig.model_validate(built.get("generationConfig", {}))
    known = {"contents", "systemInstruction", "tools", "toolConfig", "generationConfig"}
    assert built.keys() <= known
    return built
