"""A conversation on any door over any provider, turn by turn, and what the provider is sent for each turn.

The client of a door brings back all that its API let it see, as clients do. The provider's answers are those of
`hosts.py`; what the gateway keeps of a turn is there for the next one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import msgspec

from tests.corpus.driver import counting_ids, opened, sent
from tests.matrix.hosts import Host
from tests.matrix.scenarios import Call, Reasoning, Scenario, Text
from toolwire.conversation import Found
from toolwire.doors import load_door
from toolwire.model.http import Head
from toolwire.model.settings import ProviderConfig, Target, Tenant
from toolwire.model.stored import Item

_PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}}
NAMES = ("get_weather", "get_time")
Part = Text | Reasoning | Call

#: Members of a provider's request that hold the conversation.
_HISTORY = ("messages", "contents", "input")
#: Members that are no part of the prompt.
_SETTINGS = frozenset({"stream", "stream_options"})


@dataclass
class Conversation:
    """One client, one provider."""

    door: str
    host: Host
    system: str | None = "Be brief."
    history: list[Any] = field(default_factory=list)
    prompts: list[dict[str, bytes]] = field(default_factory=list)
    kept: dict[Any, Item] = field(default_factory=dict)
    new_id: Callable[[int], str] = field(default_factory=counting_ids)

    def say(self, text: str) -> None:
        self.history.append(_USERS[self.door](text))

    def ask(self, parts: tuple[Part, ...], results: Callable[[str], str] = lambda name: f"{name} is done") -> None:
        """One request, which the provider answers with these parts; the results of its calls go into the history."""
        finish = "tool_calls" if any(isinstance(part, Call) for part in parts) else "stop"
        reply = self.host.write(Scenario("turn", "turn", parts, finish), False)
        body = json.dumps({"model": "m", **_REQUESTS[self.door](self)}).encode()
        provider = ProviderConfig("up", self.host.wire, "http://127.0.0.1:1/v1", "none", self.host.profile)
        found = Found.of(self.kept.values())
        door, target = load_door(self.door), Target(provider, self.host.model)
        exchange = opened(door, body, target, Tenant(), found=found, new_id=self.new_id)
        self.prompts.append(msgspec.json.decode(exchange.upstream_request.body, type=dict[str, msgspec.Raw]))
        kept: list[Item] = []
        unique = _unique(reply.body, len(self.prompts))
        actions = sent(exchange, exchange.receive_head(200, {"content-type": reply.content_type}), kept)
        actions += sent(exchange, exchange.receive_data(unique), kept)
        actions += sent(exchange, exchange.receive_end(None), kept)
        head, told = actions[0], b"".join(getattr(action, "data", b"") for action in actions[1:])
        assert isinstance(head, Head)
        assert head.status == 200, told
        self.kept |= {item.key: item for item in kept}
        made = _ANSWERS[self.door](self, json.loads(told))
        for call_id, name in made:
            self.history.append(_RESULTS[self.door](call_id, name, results(name)))

    def breaks(self) -> list[str]:
        """What of a turn's prompt the next one does not begin with, in words."""
        found = []
        for turn, (before, after) in enumerate(zip(self.prompts, self.prompts[1:], strict=False), 1):
            for name in before.keys() | after.keys():
                if name in _SETTINGS:
                    continue
                old, new = bytes(before.get(name, b"")), bytes(after.get(name, b""))
                if not _goes_on(name, old, new):
                    found.append(f"turn {turn}, {name}: {old.decode()} | {new.decode()}")
        return found


def _goes_on(name: str, old: bytes, new: bytes) -> bool:
    """Whether the new value begins with the old one: the history item by item, everything else as a whole."""
    if name not in _HISTORY:
        return old == new
    before, after = (msgspec.json.decode(text, type=list[msgspec.Raw]) for text in (old, new))
    return [bytes(item) for item in after[: len(before)]] == [bytes(item) for item in before]


def _unique(body: bytes, turn: int) -> bytes:
    """The answer with ids and signatures that no other turn has, as hosts mint them."""
    letter = bytes([ord("a") + turn])
    body = re.sub(rb"(toolu_01T1x1f|tooluse_|call_kAb|functions\.)", lambda found: found[0] + letter, body)
    return re.sub(rb"(EqQBCgIYAhIk|CiQBcsja|gAAAAA)", lambda found: found[0] + letter * 4, body)


# ---------------------------------------------------------------- each door's client


def _chat_tools() -> list[dict[str, Any]]:
    return [
        {"type": "function", "function": {"name": name, "description": "It.", "parameters": _PARAMETERS}}
        for name in NAMES
    ]


def _ask_chat(talk: Conversation) -> dict[str, Any]:
    system = [{"role": "system", "content": talk.system}] if talk.system else []
    return {"messages": [*system, *talk.history], "tools": _chat_tools()}


def _chat_answer(talk: Conversation, told: dict[str, Any]) -> list[tuple[str, str]]:
    """As openai-python brings it back: what OpenAI's API does not document is gone."""
    message = told["choices"][0]["message"]
    calls = message.get("tool_calls") or []
    said = {"role": "assistant", "content": message["content"]}
    talk.history.append(said | ({"tool_calls": calls} if calls else {}))
    return [(call["id"], call["function"]["name"]) for call in calls]


def _native_answer(talk: Conversation, told: dict[str, Any]) -> list[tuple[str, str]]:
    message = told["choices"][0]["message"]
    talk.history.append(message)
    return [(call["id"], call["function"]["name"]) for call in message.get("tool_calls", ())]


def _ask_responses(talk: Conversation) -> dict[str, Any]:
    tools = [{"type": "function", "name": name, "parameters": _PARAMETERS, "strict": False} for name in NAMES]
    told = {"instructions": talk.system} if talk.system else {}
    return {"input": talk.history, "tools": tools, "store": False, **told}


def _responses_answer(talk: Conversation, told: dict[str, Any]) -> list[tuple[str, str]]:
    talk.history += told["output"]
    return [(item["call_id"], item["name"]) for item in told["output"] if item["type"] == "function_call"]


def _ask_messages(talk: Conversation) -> dict[str, Any]:
    """Results of one turn, and what the user says behind them, in one message, as the API wants them."""
    joined: list[Any] = []
    for message in talk.history:
        if joined and message["role"] == joined[-1]["role"] == "user":
            joined[-1] = {"role": "user", "content": [*joined[-1]["content"], *message["content"]]}
        else:
            joined.append(message)
    tools = [{"name": name, "input_schema": _PARAMETERS} for name in NAMES]
    told = {"system": talk.system} if talk.system else {}
    thinking = {"type": "enabled", "budget_tokens": 1024}
    return {"messages": joined, "tools": tools, "max_tokens": 4096, "thinking": thinking, **told}


def _messages_answer(talk: Conversation, told: dict[str, Any]) -> list[tuple[str, str]]:
    talk.history.append({"role": "assistant", "content": told["content"]})
    return [(block["id"], block["name"]) for block in told["content"] if block["type"] == "tool_use"]


def _ask_gemini(talk: Conversation) -> dict[str, Any]:
    joined: list[Any] = []
    for content in talk.history:
        if joined and content["role"] == joined[-1]["role"] == "user":
            joined[-1] = {"role": "user", "parts": [*joined[-1]["parts"], *content["parts"]]}
        else:
            joined.append(content)
    declared = [{"name": name, "parametersJsonSchema": _PARAMETERS} for name in NAMES]
    told = {"systemInstruction": {"parts": [{"text": talk.system}]}} if talk.system else {}
    return {"contents": joined, "tools": [{"functionDeclarations": declared}], **told}


def _gemini_answer(talk: Conversation, told: dict[str, Any]) -> list[tuple[str, str]]:
    content = told["candidates"][0]["content"]
    talk.history.append(content)
    calls = [part["functionCall"] for part in content["parts"] if "functionCall" in part]
    return [(call.get("id", ""), call["name"]) for call in calls]


def _gemini_result(call_id: str, name: str, result: str) -> dict[str, Any]:
    response = {"name": name, "response": {"output": result}, **({"id": call_id} if call_id else {})}
    return {"role": "user", "parts": [{"functionResponse": response}]}


def _messages_result(call_id: str, _: str, result: str) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call_id, "content": result}]}


def _chat_result(call_id: str, _: str, result: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": result}


def _responses_result(call_id: str, _: str, result: str) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": call_id, "output": result}


_REQUESTS: dict[str, Callable[[Conversation], dict[str, Any]]] = {
    "chat_completions": _ask_chat, "native": _ask_chat, "responses": _ask_responses, "messages": _ask_messages,
    "gemini": _ask_gemini,
}  # fmt: skip
_USERS: dict[str, Callable[[str], dict[str, Any]]] = {
    "chat_completions": lambda text: {"role": "user", "content": text},
    "native": lambda text: {"role": "user", "content": text},
    "responses": lambda text: {"role": "user", "content": [{"type": "input_text", "text": text}]},
    "messages": lambda text: {"role": "user", "content": [{"type": "text", "text": text}]},
    "gemini": lambda text: {"role": "user", "parts": [{"text": text}]},
}
_ANSWERS: dict[str, Callable[[Conversation, dict[str, Any]], list[tuple[str, str]]]] = {
    "chat_completions": _chat_answer, "native": _native_answer, "responses": _responses_answer,
    "messages": _messages_answer,
    "gemini": _gemini_answer,
}  # fmt: skip
_RESULTS: dict[str, Callable[[str, str, str], dict[str, Any]]] = {
    "chat_completions": _chat_result, "native": _chat_result, "responses": _responses_result,
    "messages": _messages_result,
    "gemini": _gemini_result,
}  # fmt: skip
