"""Upstreams that sign what they say and verify what comes back, as the real APIs do: what is missing, altered or moved
in the tool loop is refused, with the status and the words of the API.

Each follows one script: to a user's text it answers with calls (two at once in every second turn), to their results
with one more call, to that one's result with text. So a conversation of ten user turns has thirty requests.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

_KEY = b"the host's own"


class RefusedError(Exception):
    """A request that the API answers with 400."""


def sign(*parts: str) -> str:
    """A signature over these texts, in their order."""
    return hmac.new(_KEY, "\0".join(parts).encode(), hashlib.sha256).hexdigest()


def held(condition: bool, message: str) -> None:
    if not condition:
        raise RefusedError(message)


@dataclass
class Host:
    """One upstream. `requests` are the bodies it was sent, `refused` what it found wrong in them."""

    path: ClassVar[str]
    requests: list[dict[str, Any]] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    serial: int = 0

    def answer(self, body: dict[str, Any]) -> tuple[int, Any]:
        """(status, the JSON answer or the stream's events)."""
        self.requests.append(body)
        try:
            turns, steps = self.verify(body)
        except RefusedError as error:
            self.refused.append(str(error))
            return 400, self.error(str(error))
        self.serial += 1
        calls = 0 if steps == 2 else 2 if turns % 2 == 0 and steps == 0 else 1
        return 200, self.say([{"city": f"{turns}-{steps}-{n}"} for n in range(calls)], f"done with {turns}")

    def verify(self, body: dict[str, Any]) -> tuple[int, int]:
        """(the user's turns, the steps of calls in the current one). Raises RefusedError."""
        raise NotImplementedError

    def say(self, calls: list[dict[str, Any]], text: str) -> dict[str, Any]:
        """The whole answer: these calls, or the text if there is none."""
        raise NotImplementedError

    def stream(self, whole: dict[str, Any]) -> Iterator[tuple[str | None, Any]]:
        """The same answer as a stream's events, each with its name."""
        raise NotImplementedError

    def error(self, message: str) -> dict[str, Any]:
        return {"error": {"message": message, "type": "invalid_request_error", "code": 400, "param": None}}


class Gemini(Host):
    """Gemini 3: the first call of each step is signed, and so is the text behind the calls' results."""

    path = "/v1beta/models/gemini-3-pro-preview"

    def verify(self, body: dict[str, Any]) -> tuple[int, int]:
        users = [n for n, content in enumerate(body["contents"]) if _is_user_text(content)]
        steps = [c for c in body["contents"][users[-1] :] if any("functionCall" in part for part in c["parts"])]
        for step in steps:
            first = next(part for part in step["parts"] if "functionCall" in part)
            held("thoughtSignature" in first, "Function call is missing a thought_signature in functionCall parts.")
        for content in body["contents"]:
            for part in content["parts"]:
                self._verify_part(part)
        pairs = [(c["parts"], a["parts"]) for c, a in zip(body["contents"], body["contents"][1:], strict=False)]
        for model, user in pairs:
            asked = [part["functionCall"].get("id") for part in model if "functionCall" in part]
            told = [part["functionResponse"].get("id") for part in user if "functionResponse" in part]
            held(asked == told, f"the responses {told} do not match the calls {asked}")
        return len(users), len(steps)

    @staticmethod
    def _verify_part(part: dict[str, Any]) -> None:
        signature = part.get("thoughtSignature")
        if signature is None or signature == "skip_thought_signature_validator":
            return
        call = part.get("functionCall", {})
        wanted = sign("gemini", part.get("text", ""), call.get("id", ""), json.dumps(call.get("args", {})))
        held(signature == wanted, "Thought signature is not valid: it belongs to another part.")

    def say(self, calls: list[dict[str, Any]], text: str) -> dict[str, Any]:
        parts: list[dict[str, Any]] = [{"text": "pondering", "thought": True}]
        for number, args in enumerate(calls):
            part: dict[str, Any] = {
                "functionCall": {"id": f"g-{self.serial}-{number}", "name": "get_weather", "args": args}
            }
            if number == 0:
                part["thoughtSignature"] = sign("gemini", "", part["functionCall"]["id"], json.dumps(args))
            parts.append(part)
        if calls and len(calls) == 1:  # a signed word before the call
            parts.insert(1, {"text": "Looking.", "thoughtSignature": sign("gemini", "Looking.", "", "{}")})
        if not calls:
            parts += [{"text": text}, {"text": "", "thoughtSignature": sign("gemini", "", "", "{}")}]
        candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
        usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
        return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "g", "responseId": f"r{self.serial}"}

    def stream(self, whole: dict[str, Any]) -> Iterator[tuple[str | None, Any]]:
        (candidate,) = whole["candidates"]
        for part in candidate["content"]["parts"]:
            piece = {"content": {"role": "model", "parts": [part]}, "index": 0}
            yield None, {"candidates": [piece], "modelVersion": "g", "responseId": whole["responseId"]}
        end = {"content": {"role": "model", "parts": [{"text": ""}]}, "finishReason": "STOP", "index": 0}
        yield None, {**whole, "candidates": [end]}

    def error(self, message: str) -> dict[str, Any]:
        return {"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}}


def _is_user_text(content: dict[str, Any]) -> bool:
    return content["role"] == "user" and any("text" in part for part in content["parts"])


class Claude(Host):
    """Claude with thinking: the turn of the tool loop begins with its signed thinking, a redacted block among it."""

    path = "/v1/messages"

    def verify(self, body: dict[str, Any]) -> tuple[int, int]:
        messages = body["messages"]
        users = [n for n, m in enumerate(messages) if m["role"] == "user" and _has(m, "text")]
        steps = [m for m in messages[users[-1] :] if m["role"] == "assistant"]
        thinks = body.get("thinking", {}).get("type") in ("enabled", "adaptive")
        for message in messages:
            if message["role"] == "assistant":
                self._verify_thinking(message["content"])
        if thinks and steps:
            first = steps[-1]["content"][0]["type"]
            held(
                first in ("thinking", "redacted_thinking"),
                f"messages: Expected `thinking` or `redacted_thinking`, but found `{first}`. When `thinking` is "
                "enabled, a final `assistant` message must start with a thinking block.",
            )
        return len(users), len(steps)

    @staticmethod
    def _verify_thinking(content: list[dict[str, Any]]) -> None:
        own = [b["id"] for b in content if b["type"] == "tool_use" and b["id"].startswith("toolu_own_")]
        for block in content:
            if block["type"] == "thinking":
                wanted = sign("claude", block["thinking"], *own)
                held(block["signature"] == wanted, "Invalid `signature` in `thinking` block")
            elif block["type"] == "redacted_thinking":
                held(block["data"] == sign("redacted", *own), "Invalid `data` in `redacted_thinking` block")

    def say(self, calls: list[dict[str, Any]], text: str) -> dict[str, Any]:
        ids = [f"toolu_own_{self.serial}_{number}" for number in range(len(calls))]
        thought = f"hmm {self.serial}"
        content: list[dict[str, Any]] = [
            {"type": "thinking", "thinking": thought, "signature": sign("claude", thought, *ids)},
            {"type": "redacted_thinking", "data": sign("redacted", *ids)},
        ]
        content += [{"type": "text", "text": "Let me see." if calls else text}]
        for id, args in zip(ids, calls, strict=True):
            content.append({"type": "tool_use", "id": id, "name": "get_weather", "input": args})
        usage = {"input_tokens": 1, "output_tokens": 1}
        return {
            "id": f"msg_{self.serial}", "type": "message", "role": "assistant", "model": "c", "content": content,
            "stop_reason": "tool_use" if calls else "end_turn", "stop_sequence": None, "usage": usage,
        }  # fmt: skip

    def stream(self, whole: dict[str, Any]) -> Iterator[tuple[str | None, Any]]:
        yield "message_start", {"message": {**whole, "content": [], "stop_reason": None}}
        for index, block in enumerate(whole["content"]):
            begin, deltas = _pieces(block)
            yield "content_block_start", {"index": index, "content_block": begin}
            for delta in deltas:
                yield "content_block_delta", {"index": index, "delta": delta}
            yield "content_block_stop", {"index": index}
        delta = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
        yield "message_delta", {"delta": delta, "usage": {"output_tokens": 1}}
        yield "message_stop", {}

    def error(self, message: str) -> dict[str, Any]:
        return {"type": "error", "error": {"type": "invalid_request_error", "message": message}}


def _has(message: dict[str, Any], kind: str) -> bool:
    content = message["content"]
    return isinstance(content, str) or any(block["type"] == kind for block in content)


def _pieces(block: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    match block:
        case {"type": "thinking", "thinking": thought, "signature": signature}:
            deltas = [{"type": "thinking_delta", "thinking": thought}]
            deltas.append({"type": "signature_delta", "signature": signature})
            return {"type": "thinking", "thinking": "", "signature": ""}, deltas
        case {"type": "text", "text": text}:
            return {"type": "text", "text": ""}, [{"type": "text_delta", "text": text}]
        case {"type": "tool_use", "input": args}:
            return block | {"input": {}}, [{"type": "input_json_delta", "partial_json": json.dumps(args)}]
        case _:
            return block, []


class _ChatHost(Host):
    """A Chat host with state of its own, which OpenAI's SDKs drop: what is written onto a message with calls."""

    path = "/v1/chat/completions"

    def state(self, ids: list[str]) -> dict[str, Any]:
        """Members of the message."""
        raise NotImplementedError

    def call_state(self, ids: list[str]) -> dict[str, Any]:
        """Members of the first call."""
        return {}

    def verify(self, body: dict[str, Any]) -> tuple[int, int]:
        messages = body["messages"]
        users = [n for n, message in enumerate(messages) if message["role"] == "user"]
        steps = [m for m in messages[users[-1] :] if m["role"] == "assistant" and m.get("tool_calls")]
        for step in steps:
            ids = [call["id"] for call in step["tool_calls"]]
            if not ids[0].startswith("own-"):
                continue  # of another provider
            for name, value in self.state(ids).items():
                held(step.get(name) == value, f"The `{name}` in the thinking mode must be passed back to the API.")
            for name, value in self.call_state(ids).items():
                held(step["tool_calls"][0].get(name) == value, f"missing a thought_signature: {name}")
        return len(users), len(steps)

    def say(self, calls: list[dict[str, Any]], text: str) -> dict[str, Any]:
        ids = [f"own-{self.serial}-{number}" for number in range(len(calls))]
        message: dict[str, Any] = {"role": "assistant", "content": None if calls else text, **self.state(ids)}
        if calls:
            message["tool_calls"] = [
                {"id": id, "type": "function", "function": {"name": "get_weather", "arguments": json.dumps(args)}}
                for id, args in zip(ids, calls, strict=True)
            ]
            message["tool_calls"][0] |= self.call_state(ids)
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
        return {"id": f"c{self.serial}", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}

    def stream(self, whole: dict[str, Any]) -> Iterator[tuple[str | None, Any]]:
        message, finish = whole["choices"][0]["message"], whole["choices"][0]["finish_reason"]
        deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
        deltas += [{name: message[name]} for name in self.state([]) if name in message]
        for index, call in enumerate(message.get("tool_calls", ())):
            deltas.append({"tool_calls": [{"index": index, **call}]})
        if message["content"]:
            deltas.append({"content": message["content"]})
        for number, delta in enumerate([*deltas, {}]):
            choice = {"index": 0, "delta": delta, "finish_reason": finish if number == len(deltas) else None}
            yield None, {**whole, "object": "chat.completion.chunk", "choices": [choice]}


class DeepSeek(_ChatHost):
    def state(self, ids: list[str]) -> dict[str, Any]:
        return {"reasoning_content": "thought of " + ",".join(ids)}


class OpenRouter(_ChatHost):
    def state(self, ids: list[str]) -> dict[str, Any]:
        detail = {"type": "reasoning.encrypted", "data": sign("router", *ids), "id": "rs_1", "index": 0}
        return {"reasoning_details": [{"type": "reasoning.text", "text": "so", "index": 0, "signature": None}, detail]}


class LiteLlm(_ChatHost):
    """Claude's blocks behind a proxy, and Gemini's signature on the call."""

    def state(self, ids: list[str]) -> dict[str, Any]:
        return {
            "thinking_blocks": [
                {"type": "thinking", "thinking": "so", "signature": sign("claude", *ids)},
                {"type": "redacted_thinking", "data": sign("redacted", *ids)},
            ]
        }

    def call_state(self, ids: list[str]) -> dict[str, Any]:
        return {"provider_specific_fields": {"thought_signature": sign("gemini", *ids)}}


class Copilot(_ChatHost):
    def state(self, ids: list[str]) -> dict[str, Any]:
        return {"reasoning_text": "so", "reasoning_opaque": sign("copilot", *ids)}


class GeminiCompatible(_ChatHost):
    def state(self, ids: list[str]) -> dict[str, Any]:
        return {}

    def call_state(self, ids: list[str]) -> dict[str, Any]:
        return {"extra_content": {"google": {"thought_signature": sign("compat", *ids)}}}


@contextmanager
def serving(current: Callable[[], Host]) -> Iterator[str]:
    """The current host on a free port of the loopback interface; gives `http://127.0.0.1:port`."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            host = current()
            assert self.path.startswith(host.path), self.path
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            status, answer = host.answer(body)
            data, kind = json.dumps(answer).encode(), "application/json"
            if status == 200 and (body.get("stream") or "alt=sse" in self.path):
                kind = "text/event-stream"
                data = b"".join(_frame(name, event) for name, event in host.stream(answer))
                data += b"data: [DONE]\n\n" if isinstance(host, _ChatHost) else b""
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *args: object) -> None:
            """Nothing: the tests read `requests`."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()


def _frame(name: str | None, event: dict[str, Any]) -> bytes:
    if name is None:
        return b"data: " + json.dumps(event).encode() + b"\n\n"
    return f"event: {name}\ndata: ".encode() + json.dumps({"type": name, **event}).encode() + b"\n\n"
