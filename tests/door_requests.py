"""What the client of each door sends to ask a question, with tools or without, and where it sends that.

A test of every door goes over `toolwire.doors.DOORS`; a new door fails it until it has a row of `QUESTIONS` here.
A body names its model and whether it is streamed in the members `model` and `stream`, also where the door's clients do
that in the path: `posted` moves them there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode

from tests.gemini_client import placed
from toolwire.doors import DOORS

#: A function: its name, maybe its description, and its `parameters`.
Function = dict[str, Any]


def function(name: str, parameters: dict[str, Any], description: str = "d") -> Function:
    return {"name": name, "description": description, "parameters": parameters}


def question(door: str, text: str, *functions: Function) -> dict[str, Any]:
    """The body of a request, but for its model."""
    return QUESTIONS[door](text, functions)


def posted(door: str, body: Mapping[str, Any]) -> tuple[str, bytes]:
    """The path behind the gateway's base URL, with its query, and the body."""
    content = json.dumps(body, ensure_ascii=False).encode()
    path = DOORS[door].paths[0]
    if "{" not in path:
        return path, content
    content, parameters, query = placed(content)
    return "?".join(filter(None, (f"/models/{parameters['id']}", urlencode(query)))), content


def _chat(text: str, functions: tuple[Function, ...]) -> dict[str, Any]:
    tools = [{"type": "function", "function": tool} for tool in functions]
    return {"messages": [{"role": "user", "content": text}], **_if_any(tools)}


def _messages(text: str, functions: tuple[Function, ...]) -> dict[str, Any]:
    tools = [_renamed(tool, "input_schema") for tool in functions]
    return {"max_tokens": 500, "messages": [{"role": "user", "content": text}], **_if_any(tools)}


def _responses(text: str, functions: tuple[Function, ...]) -> dict[str, Any]:
    return {"input": text, **_if_any([{"type": "function", **tool} for tool in functions])}


def _gemini(text: str, functions: tuple[Function, ...]) -> dict[str, Any]:
    declared = [_renamed(tool, "parametersJsonSchema") for tool in functions]
    contents = [{"role": "user", "parts": [{"text": text}]}]
    return {"contents": contents, **_if_any([{"functionDeclarations": [tool]} for tool in declared])}


def _renamed(tool: Function, parameters: str) -> dict[str, Any]:
    return {parameters if name == "parameters" else name: value for name, value in tool.items()}


def _if_any(tools: list[dict[str, Any]]) -> dict[str, Any]:
    return {"tools": tools} if tools else {}


QUESTIONS: dict[str, Callable[[str, tuple[Function, ...]], dict[str, Any]]] = {
    "chat_completions": _chat,
    "messages": _messages,
    "responses": _responses,
    "gemini": _gemini,
    "native": _chat,
}
