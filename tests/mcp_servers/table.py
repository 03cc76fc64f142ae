"""What becomes of tools at each provider, by the gateway's own tools/check."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.mcp_servers.listing import Declared
from toolwire.doors import load_door
from toolwire.model.request import ChatRequest, Message, TextPart, Tool
from toolwire.model.settings import ProviderConfig, Target, Tenant
from toolwire.pages.tools_check import Candidate, report

#: What is said of a tool at a provider, from the best to the worst.
OUTCOMES = ("unchanged", "converted", "loosened", "refused")

#: Column -> wire, profile and model.
_PROVIDERS = {
    "OpenAI Chat": ("openai_chat", "openai", "gpt-5.1"),
    "OpenAI Responses": ("openai_responses", "openai", "gpt-5.5"),
    "Chat host": ("openai_chat", "compatible", "m"),
    "Anthropic": ("anthropic_messages", None, "claude-opus-4-8"),
    "Gemini": ("gemini", None, "gemini-3-pro-preview"),
    "Bedrock": ("bedrock_converse", None, "anthropic.claude-opus-4-8"),
}
PROVIDERS = tuple(_PROVIDERS)

#: Tools of one request: no provider's limit of their number is reached.
_AT_ONCE = 100

Counts = dict[str, Counter[str]]


def outcomes(tools: Sequence[Declared], at_once: int = _AT_ONCE) -> tuple[Counts, list[str]]:
    """Column -> how many tools had which outcome, and each refusal in a line. `at_once`: tools of one request."""
    counts: Counts = {name: Counter() for name in PROVIDERS}
    refusals: list[str] = []
    for at in range(0, len(tools), at_once):
        some = tools[at : at + at_once]
        found = _report(some)
        nobody = {error["tool"]: error["message"] for error in found["refused"]}
        for name, verdict in zip(PROVIDERS, found["providers"], strict=True):
            refused = nobody | {error["tool"]: error["message"] for error in verdict["refused"]}
            refusals += [f"{name}: {message}" for message in refused.values()]
            for tool in some:
                counts[name][_outcome(tool.name, verdict, refused)] += 1
    return counts, refusals


def _report(tools: Sequence[Declared]) -> dict[str, Any]:
    """For a client whose API is no provider's own: there is no lane."""
    declared = tuple(Tool(tool.name, tool.description, tool.schema) for tool in tools)
    request = ChatRequest("any", (Message("user", (TextPart("x"),)),), declared)
    candidates = [
        Candidate(name, Target(ProviderConfig(name, wire, "https://x/v1", profile=profile), model))
        for name, (wire, profile, model) in _PROVIDERS.items()
    ]
    found: dict[str, Any] = json.loads(report(load_door("chat_completions"), request, {}, Tenant(), candidates))
    return found


def _outcome(tool: str, verdict: dict[str, Any], refused: dict[str, str]) -> str:
    if tool in refused:
        return "refused"
    changes = {change["change"] for change in verdict["changes"] if change["tool"] == tool} - {"renamed"}
    if "schema_loosened" in changes:
        return "loosened"
    return "converted" if changes else "unchanged"


def captured(folder: Path) -> Iterator[tuple[str, list[Declared]]]:
    """The tools of recorded requests, each agent's once: (agent, tools). A file is JSON with the request's body under
    `body_shape` or `body`, and is named `agent--number_...`."""
    found: dict[str, dict[str, Declared]] = {}
    for path in sorted(folder.glob("*.json")):
        document = json.loads(path.read_text("utf-8"))
        body = document.get("body_shape") or document.get("body") or document
        for tool in body.get("tools", ()) if isinstance(body, dict) else ():
            inner = tool.get("function", tool)
            schema = inner.get("input_schema", inner.get("parameters"))
            if isinstance(schema, dict) and "name" in inner:
                declared = Declared(inner["name"], inner.get("description"), json.dumps(schema).encode())
                found.setdefault(path.name.partition("--")[0], {}).setdefault(declared.name, declared)
    for agent, tools in found.items():
        yield agent, list(tools.values())
