"""Settings that providers limit or name otherwise: carried within the limit, and what is left out is told."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.clients.sending import LANES, MODELS, send
from tests.named_rows import each_row

USER = {"role": "user", "content": "x"}
TOOL: dict[str, Any] = {"type": "object", "properties": {"path": {"type": "string"}}}
FLAT = {"type": "function", "name": "read", "parameters": TOOL}
CHAT = {"type": "function", "function": {"name": "read", "parameters": TOOL}}

# ---------------------------------------------------------------- stop sequences

SIX = list("abcdef")
#: (wire, profile, stop sequences, what is sent)
STOPS: list[tuple[str, str | None, list[str], list[str] | None]] = [
    ("openai_chat", "openai", SIX, SIX[:4]),
    ("openai_chat", "compatible", [*SIX, ""], SIX),
    ("gemini", None, SIX, SIX[:5]),
    ("gemini", None, ["", "END"], ["END"]),
    ("anthropic_messages", None, ["\n", "END", ""], ["END"]),
    ("anthropic_messages", None, [" "], None),
    ("bedrock_converse", None, ["\n", "END"], ["END"]),
]
#: Door -> its own name for them.
FIELDS = {"chat_completions": "stop", "messages": "stop_sequences", "native": "stop"}


@each_row("door", FIELDS)
@each_row(("wire", "profile", "given", "kept"), STOPS)
def test_stop_sequences(wire: str, profile: str | None, given: list[str], kept: list[str] | None, door: str) -> None:
    if (door, wire) in (("chat_completions", "openai_chat"), ("messages", "anthropic_messages")):
        return  # the vendor decides
    field = FIELDS[door]
    asked: dict[str, Any] = {"max_tokens": 99, "messages": [USER], field: given}
    found = send(door, wire, profile=profile, **asked)
    body = found.body | found.body.get("generationConfig", {}) | found.body.get("inferenceConfig", {})
    sent = body.get("stop") or body.get("stop_sequences") or body.get("stopSequences")
    assert sent == kept
    assert found.warnings == [f"stop_cut:{field}"]


def test_stop_sequences_within_the_limit_are_no_news() -> None:
    for wire in ("gemini", "anthropic_messages", "bedrock_converse"):
        assert send("chat_completions", wire, messages=[USER], stop=["END"]).warnings == []
    assert send("chat_completions", "openai_chat", messages=[USER], stop=SIX).body["stop"] == SIX  # in the lane


# ---------------------------------------------------------------- the output limit

LIMITS = {"openai": "max_completion_tokens", "compatible": "max_tokens", "mistral": "max_tokens",
          "ollama": "max_tokens", "groq": "max_completion_tokens"}  # fmt: skip


@pytest.mark.parametrize("profile", LIMITS)
def test_the_output_limit_has_the_hosts_name(profile: str) -> None:
    requests: dict[str, dict[str, Any]] = {
        "messages": {"max_tokens": 321, "messages": [USER]},
        "responses": {"max_output_tokens": 321, "input": [USER]},
        "native": {"max_tokens": 321, "messages": [USER]},
    }
    for door, members in requests.items():
        body = send(door, "openai_chat", profile=profile, **members).body
        assert {name: value for name, value in body.items() if "tokens" in name} == {LIMITS[profile]: 321}


# ---------------------------------------------------------------- the form of the answer

SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}
BY_SCHEMA = {"type": "json_schema", "json_schema": {"name": "out", "strict": True, "schema": SCHEMA}}
ANY_JSON = {"type": "json_object"}
#: (wire, model, profile, format) -> what could not be said otherwise.
IN_WORDS: list[tuple[str, str | None, str | None, dict[str, Any]]] = [
    ("gemini", "gemini-2.5-flash", None, BY_SCHEMA),
    ("gemini", "gemini-2.0-flash", None, ANY_JSON),
    ("anthropic_messages", "claude-opus-5", None, ANY_JSON),
    ("anthropic_messages", "claude-3-5-sonnet", None, BY_SCHEMA),
    ("bedrock_converse", "anthropic.claude-opus-5", None, ANY_JSON),
    ("bedrock_converse", "amazon.nova-pro-v1:0", None, BY_SCHEMA),
]


@pytest.mark.parametrize(("wire", "model", "profile", "shape"), IN_WORDS)
def test_a_format_the_provider_lacks_is_asked_for_in_words(
    wire: str, model: str | None, profile: str | None, shape: dict[str, Any]
) -> None:
    history = [{"role": "system", "content": "S"}, USER]
    found = send(
        "chat_completions", wire, model=model, profile=profile, messages=history, tools=[CHAT], response_format=shape
    )
    system = json.dumps(found.body.get("system") or found.body.get("systemInstruction"))
    assert system.index('"S"') < system.index("one JSON object")
    assert ("JSON Schema" in system) == (shape is BY_SCHEMA)
    assert "application/json" not in json.dumps(found.body)
    assert list(found.tools) == ["read"]
    assert found.warnings == ["response_format_in_words"]


@each_row("wire", sorted(MODELS))
@each_row("kind", ["json_object", "json_schema"])
def test_a_schema_that_stands_beside_its_type_is_the_answers(kind: str, wire: str) -> None:
    """Together, Fireworks and llama.cpp have it there."""
    shape = {"type": kind, "schema": SCHEMA}
    found = send("chat_completions", wire, messages=[USER], response_format=shape)
    if wire == LANES["chat_completions"]:
        assert (found.body["response_format"], found.warnings) == (shape, [])
        return
    documented = {"type": "json_schema", "json_schema": {"name": "answer", "schema": SCHEMA}}
    meant = send("chat_completions", wire, messages=[USER], response_format=documented)
    assert (found.body, found.warnings) == (meant.body, meant.warnings)


def test_deepseek_is_asked_for_json_and_told_the_schema() -> None:
    text = {"format": {"type": "json_schema", "name": "out", "schema": SCHEMA}}
    found = send("responses", "openai_chat", profile="deepseek", input=[USER], tools=[FLAT], text=text)
    assert found.body["response_format"] == {"type": "json_object"}
    assert "JSON Schema" in json.dumps(found.turns)
    assert found.warnings == ["response_format_in_words"]


def test_a_format_goes_as_it_is_where_the_provider_has_it() -> None:
    for wire, model in (("gemini", "gemini-3-pro-preview"), ("anthropic_messages", "claude-opus-5")):
        found = send("chat_completions", wire, model=model, messages=[USER], tools=[CHAT], response_format=BY_SCHEMA)
        assert json.dumps(SCHEMA) in json.dumps(found.body)
        assert found.warnings == []
    found = send("chat_completions", "gemini", model="gemini-2.5-flash", messages=[USER], response_format=BY_SCHEMA)
    assert found.body["generationConfig"]["responseMimeType"] == "application/json"


@each_row("wire", [wire for wire in MODELS if wire != "openai_chat"])
def test_a_limit_of_minus_one_is_none(wire: str) -> None:
    """LM Studio's and llama.cpp's word, which clients that were set up for them send to every model."""
    found = send("chat_completions", wire, messages=[USER], max_tokens=-1)
    assert (found.body, found.warnings) == (send("chat_completions", wire, messages=[USER]).body, [])
    assert (
        send("chat_completions", "openai_chat", profile="lmstudio", messages=[USER], max_tokens=-1).body["max_tokens"]
        == -1
    )
