"""A client of each door, no larger than the policy's tests need: what it asks, and what it understands of an answer.

A new door is a row of `CLIENTS`; `test_every_door.py` fails until it is there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.corpus.driver import Answer


@dataclass
class Seen:
    """An answer as a client understands it. `error` is the code of the error that ended it, `complete` whether it ended
    as a whole one does."""

    status: int
    text: str = ""
    #: Name and arguments as they were sent, as JSON text.
    calls: list[tuple[str, str]] = field(default_factory=list)
    error: str | None = None
    complete: bool = False
    #: Whether the answer says that the output limit cut it.
    cut: bool = False
    warnings: list[str] = field(default_factory=list)
    #: The answer's own index of a call -> its place in `calls`, while they stream.
    places: dict[int, int] = field(default_factory=dict)

    def begin(self, index: int, name: str) -> None:
        self.places[index] = len(self.calls)
        self.calls.append((name, ""))

    def more(self, index: int, fragment: str) -> None:
        name, arguments = self.calls[self.places[index]]
        self.calls[self.places[index]] = (name, arguments + fragment)


@dataclass(frozen=True)
class Client:
    """`body` makes a request of tools, a choice ("auto", "required", "none" or a tool's name), parallel or not, and
    streamed or not. `whole` and `event` add what they find to a Seen; an event is its name and its data."""

    body: Callable[[list[dict[str, Any]], str | None, bool | None, bool], dict[str, Any]]
    whole: Callable[[dict[str, Any], Seen], None]
    event: Callable[[str, Any, Seen], None]

    def read(self, answer: Answer) -> Seen:
        seen = Seen(answer.status)
        told = answer.headers.get("x-toolwire-warnings", "")
        seen.warnings = [code for code in told.split(",") if code]
        if answer.headers["content-type"].startswith("application/json"):
            document = json.loads(answer.body)
            if answer.status == 200:
                self.whole(document, seen)
                seen.complete = True
            else:
                error = document["error"]
                seen.error = code_of(error)
            return seen
        for name, data in frames(answer.body, seen.warnings):
            assert not seen.complete, "nothing follows the end"
            self.event(name, data, seen)
        seen.warnings = list(dict.fromkeys(seen.warnings))  # the native door has them as events, too
        return seen


def code_of(error: dict[str, Any]) -> Any:
    """Our code, wherever the door's form of an error has it."""
    details = error.get("details")
    if isinstance(details, list):
        return details[0]["metadata"]["code"]
    return error.get("code") or error["details"]["error_code"]


def frames(body: bytes, warnings: list[str]) -> Iterator[tuple[str, Any]]:
    """The events of a stream; warnings that come as comments go into the list."""
    for block in body.decode().split("\n\n"):
        name, data = "", None
        for line in block.splitlines():
            kind, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if kind == "event":
                name = value
            elif kind == "data":
                data = value if value == "[DONE]" else json.loads(value)
            elif not kind and value.startswith("x-toolwire-warnings: "):
                warnings += value.removeprefix("x-toolwire-warnings: ").split(",")
        if data is not None:
            yield name, data


# ---------------------------------------------------------------- chat


def _chat_body(
    tools: list[dict[str, Any]], choice: str | None, parallel: bool | None, streamed: bool
) -> dict[str, Any]:
    named: Any = choice
    if choice not in (None, "auto", "none", "required"):
        named = {"type": "function", "function": {"name": choice}}
    body = {
        "model": "p/m",
        "messages": [{"role": "user", "content": "hi"}],
        "tools": [{"type": "function", "function": {"description": "A tool.", **tool}} for tool in tools],
        "tool_choice": named,
        "parallel_tool_calls": parallel,
        "stream": streamed,
    }
    return {name: value for name, value in body.items() if value is not None}


def _chat_whole(document: dict[str, Any], seen: Seen) -> None:
    message = document["choices"][0]["message"]
    seen.cut = document["choices"][0]["finish_reason"] == "length"
    seen.text = message.get("content") or ""
    seen.calls = [(call["function"]["name"], _text(call["function"])) for call in message.get("tool_calls") or ()]


def _chat_event(_: str, data: Any, seen: Seen) -> None:
    if data == "[DONE]":
        seen.complete = True
        return
    if "error" in data:
        seen.error = data["error"]["code"]
        return
    for choice in data["choices"]:
        seen.cut = choice["finish_reason"] == "length"
        seen.text += choice["delta"].get("content") or ""
        for part in choice["delta"].get("tool_calls") or ():
            function = part["function"]
            if part["index"] not in seen.places:
                seen.begin(part["index"], function["name"])
            seen.more(part["index"], function.get("arguments") or "")


# ---------------------------------------------------------------- responses


def _responses_body(
    tools: list[dict[str, Any]], choice: str | None, parallel: bool | None, streamed: bool
) -> dict[str, Any]:
    body = _chat_body([], choice, parallel, streamed)
    if isinstance(body.get("tool_choice"), dict):
        body["tool_choice"] = {"type": "function", "name": choice}
    del body["messages"]
    return body | {"input": "hi", "tools": [{"type": "function", "strict": False, **tool} for tool in tools]}


def _responses_whole(document: dict[str, Any], seen: Seen) -> None:
    seen.cut = document["status"] == "incomplete"
    for item in document["output"]:
        _responses_item(item, seen)


def _responses_item(item: dict[str, Any], seen: Seen) -> None:
    if item["type"] == "function_call":
        seen.calls.append((item["name"], item["arguments"]))
    for part in item.get("content") or ():
        seen.text += part.get("text", "") if item["type"] == "message" else ""


def _responses_event(name: str, data: Any, seen: Seen) -> None:
    if name == "response.output_item.added" and data["item"]["type"] == "function_call":
        seen.begin(data["output_index"], data["item"]["name"])
    elif name == "response.function_call_arguments.delta":
        seen.more(data["output_index"], data["delta"])
    elif name == "response.output_text.delta":
        seen.text += data["delta"]
    elif name == "response.failed":
        seen.error = data["response"]["error"]["type"]
    elif name == "error":
        seen.error = data["code"]
    elif name in ("response.completed", "response.incomplete"):
        seen.complete, seen.cut = True, name == "response.incomplete"


# ---------------------------------------------------------------- messages


def _messages_body(
    tools: list[dict[str, Any]], choice: str | None, parallel: bool | None, streamed: bool
) -> dict[str, Any]:
    words = {"auto": "auto", "required": "any", "none": "none"}
    chosen: dict[str, Any] = {"type": words.get(choice or "auto", "tool")}
    chosen |= {"name": choice} if chosen["type"] == "tool" else {}
    chosen |= {"disable_parallel_tool_use": not parallel} if parallel is not None else {}
    shaped = [
        {("input_schema" if name == "parameters" else name): value for name, value in tool.items()} for tool in tools
    ]
    body = {"model": "p/m", "max_tokens": 100, "messages": [{"role": "user", "content": "hi"}], "stream": streamed}
    return body | {"tools": [{"input_schema": {"type": "object"}, **tool} for tool in shaped], "tool_choice": chosen}


def _messages_whole(document: dict[str, Any], seen: Seen) -> None:
    seen.cut = document["stop_reason"] == "max_tokens"
    for block in document["content"]:
        if block["type"] == "tool_use":
            seen.calls.append((block["name"], _text({"arguments": block["input"]})))
        seen.text += block.get("text", "")


def _messages_event(name: str, data: Any, seen: Seen) -> None:
    if name == "error":
        seen.error = data["error"]["details"]["error_code"]
    elif name == "content_block_start" and data["content_block"]["type"] == "tool_use":
        seen.begin(data["index"], data["content_block"]["name"])
    elif name == "content_block_delta" and data["delta"]["type"] == "input_json_delta":
        seen.more(data["index"], data["delta"]["partial_json"])
    elif name == "content_block_delta" and data["delta"]["type"] == "text_delta":
        seen.text += data["delta"]["text"]
    elif name == "message_delta":
        seen.cut = data["delta"]["stop_reason"] == "max_tokens"
    elif name == "message_stop":
        seen.complete = True


# ---------------------------------------------------------------- gemini


def _gemini_body(
    tools: list[dict[str, Any]],
    choice: str | None,
    parallel: bool | None,
    streamed: bool,
) -> dict[str, Any]:
    modes = {"auto": "AUTO", "required": "ANY", "none": "NONE"}
    config: dict[str, Any] = {"mode": modes.get(choice or "auto", "ANY")}
    config |= {"allowedFunctionNames": [choice]} if choice is not None and choice not in modes else {}
    declared = [
        {("parametersJsonSchema" if name == "parameters" else name): value for name, value in tool.items()}
        for tool in tools
    ]
    body = {
        "model": "p/m",
        "stream": streamed,
        "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
        "tools": [{"functionDeclarations": declared}],
    }
    return body | ({"toolConfig": {"functionCallingConfig": config}} if choice is not None else {})


def _gemini_whole(document: dict[str, Any], seen: Seen) -> None:
    _gemini_event("", document, seen)


def _gemini_event(_: str, data: Any, seen: Seen) -> None:
    if "error" in data:
        seen.error = code_of(data["error"])
        return
    (candidate,) = data["candidates"]
    for part in candidate.get("content", {}).get("parts", ()):
        if "functionCall" in part:
            call = part["functionCall"]
            seen.calls.append((call["name"], _text({"arguments": call["args"]})))
        elif not part.get("thought"):
            seen.text += part["text"]
    if (reason := candidate.get("finishReason")) is not None:
        seen.complete, seen.cut = True, reason == "MAX_TOKENS"
    told = candidate.get("finishMessage", "").removeprefix("x-toolwire-warnings: ")
    seen.warnings += told.split(",") if told else []


# ---------------------------------------------------------------- native


def _native_body(
    tools: list[dict[str, Any]], choice: str | None, parallel: bool | None, streamed: bool
) -> dict[str, Any]:
    return _chat_body([{"parameters": {"type": "object"}, **tool} for tool in tools], choice, parallel, streamed)


def _native_event(name: str, data: Any, seen: Seen) -> None:
    if name == "error":
        seen.error = data["error"]["code"]
    elif name == "text.delta":
        seen.text += data["text"]
    elif name == "tool_call.start":
        seen.begin(data["index"], data["name"])
    elif name == "tool_call.delta":
        seen.more(data["index"], data["fragment"])
    elif name == "warning":
        seen.warnings.append(data["code"])
    elif name == "response.end":
        seen.complete, seen.cut = True, data["finish_reason"] == "length"


def _text(function: dict[str, Any]) -> str:
    """Arguments as compact JSON text, whether a door shows them as text or as an object; of a cut call, what there is
    of them."""
    arguments = function["arguments"]
    if isinstance(arguments, str):
        return arguments
    if arguments is None:
        return str(function["raw_arguments"])
    return str(arguments.get("_raw_arguments") or json.dumps(arguments, separators=(",", ":")))


CLIENTS = {
    "chat_completions": Client(_chat_body, _chat_whole, _chat_event),
    "responses": Client(_responses_body, _responses_whole, _responses_event),
    "gemini": Client(_gemini_body, _gemini_whole, _gemini_event),
    "messages": Client(_messages_body, _messages_whole, _messages_event),
    "native": Client(_native_body, _chat_whole, _native_event),
}
