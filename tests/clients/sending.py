"""What of a client's request reaches a provider, read the same for every wire."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from tests.corpus.driver import open_exchange

#: Wire -> a model of today's.
MODELS = {
    "openai_chat": "m",
    "openai_responses": "gpt-5.6",
    "anthropic_messages": "claude-opus-5",
    "gemini": "gemini-3-flash",
    "bedrock_converse": "anthropic.claude-opus-5",
}
#: Door -> the wire that speaks its API.
LANES = {
    "chat_completions": "openai_chat",
    "gemini": "gemini",
    "messages": "anthropic_messages",
    "responses": "openai_responses",
}


@dataclass(frozen=True)
class Sent:
    """The body that reaches the provider, and the codes of warnings."""

    wire: str
    body: dict[str, Any]
    warnings: list[str]

    @property
    def tools(self) -> dict[str, Any]:
        """Name -> schema of what the model may call."""
        match self.wire:
            case "openai_chat":
                return {t["function"]["name"]: t["function"].get("parameters") for t in self.body.get("tools", [])}
            case "openai_responses":
                return {t["name"]: t.get("parameters") for t in self.body.get("tools", [])}
            case "anthropic_messages":
                return {t["name"]: t.get("input_schema") for t in self.body.get("tools", [])}
            case "gemini":
                declared = [d for t in self.body.get("tools", []) for d in t["functionDeclarations"]]
                return {d["name"]: d.get("parametersJsonSchema") for d in declared}
        tools = self.body.get("toolConfig", {}).get("tools", [])
        return {t["toolSpec"]["name"]: t["toolSpec"]["inputSchema"]["json"] for t in tools if "toolSpec" in t}

    @property
    def turns(self) -> list[Any]:
        """The history as the provider has it."""
        name = {"openai_responses": "input", "gemini": "contents"}.get(self.wire, "messages")
        turns: list[Any] = self.body[name]
        return turns

    @property
    def roles(self) -> list[str]:
        """Who speaks, turn by turn; Google's word for the assistant is another one."""
        return ["assistant" if turn.get("role") == "model" else turn.get("role") for turn in self.turns]


def send(door: str, wire: str, *, model: str | None = None, profile: str | None = None, **members: Any) -> Sent:
    """A request of this door's client at this wire. Raises RequestError."""
    profile = profile or ("openai" if wire.startswith("openai") else None)
    body = json.dumps({"model": "m", **members}).encode()
    exchange = open_exchange(body, door=door, wire=wire, profile=profile, model=model or MODELS[wire])
    warned = [code for code in exchange.figures.warnings if code != "state_left_out"]
    return Sent(wire, json.loads(exchange.upstream_request.body), warned)
