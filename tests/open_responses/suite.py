"""Requests of the kinds that the standard's compliance suite sends, and more, each asked of every wire.

The requests are ours. The wires' hosts are those of the demo, which write what real ones do.
"""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from tests.corpus.driver import TIME, Answer, answer, opened
from tests.doors.responses.responses_reader import events
from tests.open_responses.judge import document_faults, stream_faults
from toolwire.demo.server import ROUTES
from toolwire.doors import load_door
from toolwire.model.settings import Target, Tenant
from toolwire.providers.hosts import DEMO_MODELS

_PIXEL = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg"
    "gg=="
)

TOOL = {
    "type": "function",
    "name": "find_train",
    "description": "Finds the next train to a city.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}


#: What has the demo call it.
TRAIN = 'Which train goes to Bergen? [demo call find_train {"city": "Bergen"}]'


def user(content: Any) -> dict[str, Any]:
    return {"type": "message", "role": "user", "content": content}


@dataclass(frozen=True, slots=True)
class Asked:
    """A request, and what must be in the answer: the types of its items but for reasoning, and its status."""

    what: str
    fields: dict[str, Any]
    stream: bool = False
    items: tuple[str, ...] = ("message",)
    status: str = "completed"
    #: Wires of which it is not asked.
    but: tuple[str, ...] = ()


def _both(what: str, fields: dict[str, Any], **expected: Any) -> list[Asked]:
    return [Asked(what, fields, stream=stream, **expected) for stream in (False, True)]


SUITE = [
    *_both("a text", {"input": [user("Name a river.")]}),
    *_both("a text, all members set", {
        "input": "Name a river.", "instructions": "Be brief.", "temperature": 0.5, "top_p": 0.9,
        "max_output_tokens": 500, "metadata": {"team": "maps"}, "parallel_tool_calls": False, "store": False,
        "truncation": "disabled", "service_tier": "auto", "safety_identifier": "user-1", "prompt_cache_key": "rivers",
        "text": {"format": {"type": "text"}, "verbosity": "medium"}, "tool_choice": "auto", "tools": [TOOL],
        "include": ["reasoning.encrypted_content"], "stream_options": {"include_obfuscation": False},
    }),
    *_both("a system prompt", {
        "input": [{"type": "message", "role": "system", "content": "You speak like a sailor."}, user("Name a river.")],
    }),
    *_both("a tool call", {"input": [user(TRAIN)], "tools": [TOOL]}, items=("function_call",)),
    *_both("several tool calls", {"input": [user("[demo calls 2] " + TRAIN)], "tools": [TOOL]},
           items=("function_call", "function_call")),
    *_both("a named tool", {
        "input": [user("Go on.")], "tools": [TOOL], "tool_choice": {"type": "function", "name": "find_train"},
    }, items=("function_call",)),
    *_both("one of the allowed tools", {
        "input": [user(TRAIN)], "tools": [TOOL],
        "tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "find_train"}]},
    }, items=("function_call",)),
    *_both("a tool's result", {
        "input": [
            user(TRAIN),
            {"type": "function_call", "call_id": "call_1", "name": "find_train", "arguments": '{"city":"Bergen"}'},
            {"type": "function_call_output", "call_id": "call_1", "output": "the 9:25"},
        ],
        "tools": [TOOL],
    }),
    *_both("an image", {
        "input": [user([{"type": "input_text", "text": "What is it?"}, {"type": "input_image", "image_url": _PIXEL}])],
    }),
    *_both("several turns", {
        "input": [
            user("I am Ada."), {"type": "message", "role": "assistant", "content": "Hello."}, user("Who am I?"),
        ],
    }),
    *_both("a JSON schema for the answer", {
        "input": [user("Name a river.")],
        "text": {"format": {"type": "json_schema", "name": "river", "schema": {
            "type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"],
            "additionalProperties": False}}},
    }, but=("responses",)),  # OpenAI repeats the schema, and what a host of this API says stays; the standard has null
    *_both("reasoning", {
        "input": [user(TRAIN)], "tools": [TOOL],
        "reasoning": {"effort": "low", "summary": "auto"},
    }, items=("function_call",)),
    *_both("an answer cut by the output limit", {"input": [user("[demo length] Name a river.")]}, status="incomplete"),
    Asked("an answer that breaks off", {"input": [user("[demo cut] Name a river.")]}, stream=True, status="failed"),
]  # fmt: skip

#: The wires, by the model of the demo that speaks it.
WIRES = tuple(DEMO_MODELS)
#: Those whose demo shows reasoning where it is asked for.
REASONING_WIRES = ("responses", "compatible", "anthropic", "gemini", "bedrock", "bedrock-claude")


def play(wire: str, asked: Asked) -> Answer:
    """What the client gets."""
    exchange = opened(load_door("responses"), _body(asked), target(wire), Tenant())
    request = exchange.upstream_request
    digits = itertools.count(1)
    host = ROUTES[urlsplit(request.url).path]
    said = host.answer(request.body, dict(request.headers), TIME, lambda: f"{next(digits):032x}")
    content_type = dict(said.headers)["content-type"]
    whole = len(said.pieces) if said.cut is None else said.cut
    return answer(exchange, said.pieces[:whole], status=said.status, content_type=content_type)


def _body(asked: Asked) -> bytes:
    return json.dumps({"model": "m", "stream": asked.stream, **asked.fields}).encode()


def target(wire: str) -> Target:
    provider = DEMO_MODELS[wire]
    return Target(replace(provider, base_url="http://demo" + provider.base_url), wire)


def final_response(given: Answer, stream: bool) -> dict[str, Any]:
    """The response object of an answer: that of a stream's last event."""
    final: dict[str, Any] = list(events(given.body))[-1]["response"] if stream else json.loads(given.body)
    return final


def faults(wire: str, asked: Asked) -> list[str]:
    """What is wrong with the answer: by the standard, or because it is not what was asked for."""
    given = play(wire, asked)
    if given.status != 200:
        return [f"HTTP {given.status}: {given.body[:300]!r}"]
    found = stream_faults(given.body) if asked.stream else document_faults(given.body)
    final = final_response(given, asked.stream)
    kinds = tuple(item["type"] for item in final["output"] if item["type"] != "reasoning")
    if final["status"] != asked.status:
        found.append(f"the status is {final['status']}, not {asked.status}")
    if asked.status == "completed" and kinds != asked.items:
        found.append(f"the items are {kinds}, not {asked.items}")
    return found
