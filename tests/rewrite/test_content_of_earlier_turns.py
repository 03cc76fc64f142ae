"""Content that a provider has no place for, in what tools and earlier turns have said: words stand for it, since it is
in every further request of its conversation, and nobody can take it out. In the newest turn it is refused.

Bedrock's Converse takes images as bytes alone; a conversation that moves there from another provider is to go on.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.clients.sending import MODELS
from tests.corpus.driver import open_exchange
from tests.named_rows import each_row
from toolwire.model.errors import RequestError
from toolwire.rewrite.unseen_images import is_about_addresses, is_about_images

URL = "https://example.com/cat.png"

#: Door -> an image by its address, as its clients write it.
IMAGES: dict[str, dict[str, Any]] = {
    "chat_completions": {"type": "image_url", "image_url": {"url": URL}},
    "native": {"type": "image_url", "image_url": {"url": URL}},
    "responses": {"type": "input_image", "image_url": URL},
    "messages": {"type": "image", "source": {"type": "url", "url": URL}},
    "gemini": {"fileData": {"mimeType": "image/png", "fileUri": URL}},
}
#: What of another kind has no place -> door, part, wire, and how the words begin that stand for it.
OTHERS: dict[str, tuple[str, dict[str, Any], str, str]] = {
    "a file by its address": ("responses", {"type": "input_file", "file_url": "https://example.com/a.pdf"},
        "bedrock_converse", "(a file by its address or its id https://example.com/a.pdf, "),
    "a file's id": ("chat_completions", {"type": "file", "file": {"file_id": "file-1"}}, "anthropic_messages",
        "(a file of another vendor's storage, "),
    "a recording": ("chat_completions", {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}},
        "anthropic_messages", "(a recording of the type 'audio/wav', "),
    "a type of image": ("chat_completions", {"type": "image_url", "image_url": {"url": "data:image/bmp;base64,Qk0="}},
        "bedrock_converse", "(an image of the type 'image/bmp', "),
}  # fmt: skip


def turn(door: str, role: str, *parts: str | dict[str, Any]) -> dict[str, Any]:
    kind = {"user": "input_text", "assistant": "output_text"}[role] if door == "responses" else "text"
    named: dict[str, Any] = {} if door == "gemini" else {"type": kind}
    written: list[dict[str, Any]] = [{**named, "text": part} if isinstance(part, str) else part for part in parts]
    if door == "gemini":
        return {"role": "model" if role == "assistant" else role, "parts": written}
    return {"role": role, "content": written}


def from_a_tool(door: str, part: dict[str, Any]) -> list[dict[str, Any]]:
    """A call and its result, which is the part."""
    made: dict[str, Any]
    match door:
        case "responses":
            call = {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"}
            return [call, {"type": "function_call_output", "call_id": "c1", "output": [part]}]
        case "messages":
            asked = {"type": "tool_use", "id": "c1", "name": "f", "input": {}}
            result = {"type": "tool_result", "tool_use_id": "c1", "content": [part]}
            return [{"role": "assistant", "content": [asked]}, {"role": "user", "content": [result]}]
        case "gemini":
            made = {"id": "c1", "name": "f"}
            answered = {"functionResponse": {**made, "response": {"output": "r"}, "parts": [part]}}
            return [{"role": "model", "parts": [{"functionCall": made}]}, {"role": "user", "parts": [answered]}]
    arguments: Any = {} if door == "native" else "{}"
    made = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": arguments}}
    return [
        {"role": "assistant", "content": None, "tool_calls": [made]},
        {"role": "tool", "tool_call_id": "c1", "content": [part]},
    ]


def sent(door: str, wire: str, history: list[dict[str, Any]], **more: Any) -> tuple[str, list[str]]:
    """The body that reaches the provider, and the warnings."""
    member = {"responses": "input", "gemini": "contents"}.get(door, "messages")
    limit = {} if door == "gemini" else {"max_output_tokens" if door == "responses" else "max_tokens": 99}
    body = json.dumps({"model": "m", **limit, member: history, **more}).encode()
    exchange = open_exchange(body, door=door, wire=wire, profile=None, model=MODELS[wire])
    return exchange.upstream_request.body.decode(), list(exchange.figures.warnings)


def histories(door: str, part: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Where the part may stand, so that every further request has it."""
    ask = turn(door, "user", "look")
    return {
        "an earlier turn": [turn(door, "user", "look", part), turn(door, "assistant", "I see."), ask],
        "a tool's result": [ask, *from_a_tool(door, part)],
        "a tool's earlier result": [ask, *from_a_tool(door, part), turn(door, "assistant", "I see."), ask],
    }


@each_row("place", ["an earlier turn", "a tool's result", "a tool's earlier result"])
@each_row("door", IMAGES)
def test_an_image_by_its_address_ends_no_conversation_where_only_bytes_are_taken(door: str, place: str) -> None:
    body, warnings = sent(door, "bedrock_converse", histories(door, IMAGES[door])[place])
    assert f" {URL}, which this model cannot be sent)" in body
    assert "images_in_words" in warnings
    assert body.count(URL) == 1


@each_row("place", ["an earlier turn", "a tool's result"])
@each_row("kind", OTHERS)
def test_so_it_is_with_whatever_a_provider_has_no_place_for(kind: str, place: str) -> None:
    door, part, wire, words = OTHERS[kind]
    body, warnings = sent(door, wire, histories(door, part)[place])
    assert words in body
    assert "which this model cannot be sent)" in body
    assert "images_in_words" in warnings


@each_row("door", IMAGES)
def test_in_the_users_newest_turn_it_is_refused_with_what_to_send(door: str) -> None:
    history = [turn(door, "user", "hi"), turn(door, "assistant", "Hello."), turn(door, "user", "look", IMAGES[door])]
    with pytest.raises(RequestError) as refused:
        sent(door, "bedrock_converse", history)
    assert refused.value.code == "unsupported_content"
    assert refused.value.param is not None
    assert ".content[1]" in refused.value.param or ".parts[1]" in refused.value.param
    assert "send the" in refused.value.message


def test_a_system_message_behind_it_does_not_end_the_users_turn() -> None:
    """As agents send reminders."""
    history = [
        turn("chat_completions", "user", "hi"),
        turn("chat_completions", "assistant", "Hello."),
        turn("chat_completions", "user", IMAGES["chat_completions"]),
    ]
    with pytest.raises(RequestError, match="cannot be sent"):
        sent("chat_completions", "bedrock_converse", [*history, turn("chat_completions", "system", "Be short.")])


@each_row("wire", ["anthropic_messages", "bedrock_converse", "openai_responses"])
def test_a_picture_that_the_assistant_has_made_is_in_words_too(wire: str) -> None:
    history = [
        turn("chat_completions", "user", "draw"),
        turn("chat_completions", "assistant", "Done.", IMAGES["chat_completions"]),
        turn("chat_completions", "user", "ok"),
    ]
    body, warnings = sent("chat_completions", wire, history)
    assert f"(an image in a message of role assistant {URL}, which this model cannot be sent)" in body
    assert "images_in_words" in warnings


def test_what_is_in_a_system_message_is_refused_wherever_that_stands() -> None:
    history = [
        turn("chat_completions", "system", "You see.", IMAGES["chat_completions"]),
        turn("chat_completions", "user", "a"),
    ]
    with pytest.raises(RequestError, match="cannot be sent"):
        sent("chat_completions", "bedrock_converse", history)


# ---------------------------------------------------------------- hosts that fetch no images

#: Who says it -> what they say of an image by its address.
REFUSALS = {
    "Ollama": "image URLs are not currently supported, please use base64 encoded data instead",
    "LM Studio": "'url' field must be a base64 encoded image.",
    "Copilot": "external image URLs are not supported",
    "Bedrock's Mantle": "Only inline image data URLs and S3 URLs are supported.",
    "Moonshot": "Invalid request: unsupported image url: https://example.com/cat.png",
}
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def refused_by_host(exchange: Any, said: str) -> bool:
    exchange.receive_head(400, {"content-type": "application/json"})
    exchange.receive_data(json.dumps({"error": {"message": said}}).encode())
    return bool(exchange.receive_end())


@each_row("said", REFUSALS.values(), ids=REFUSALS)
@each_row("door", ["chat_completions", "responses", "messages"])
def test_a_host_that_fetches_no_images_gets_words_for_those_of_earlier_turns(door: str, said: str) -> None:
    assert is_about_addresses(said)
    assert not is_about_images(said)
    member = "input" if door == "responses" else "messages"
    limit = {"max_tokens": 99} if door == "messages" else {}
    history = histories(door, IMAGES[door])["an earlier turn"]
    exchange = open_exchange(json.dumps({"model": "m", **limit, member: history}).encode(), door=door)
    assert json.loads(exchange.upstream_request.body)["messages"][0]["content"][1]["type"] == "image_url"
    assert not refused_by_host(exchange, said)
    told = json.loads(exchange.upstream_request.body)["messages"][0]["content"]
    assert f"(an image by its address {URL}, which this model cannot be sent)" in json.dumps(told)
    assert "images_in_words" in exchange.figures.warnings
    assert refused_by_host(exchange, said), "once"


def test_bytes_and_the_newest_turns_image_stay() -> None:
    shot = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}
    newest = turn("chat_completions", "user", "and this?", IMAGES["chat_completions"])
    history = [
        turn("chat_completions", "user", "look", shot, IMAGES["chat_completions"]),
        turn("chat_completions", "assistant", "I see."),
        newest,
    ]
    exchange = open_exchange(json.dumps({"model": "m", "messages": history}).encode())
    assert not refused_by_host(exchange, REFUSALS["Ollama"])
    body = exchange.upstream_request.body.decode()
    assert body.count(PNG) == 1
    assert json.loads(body)["messages"][2]["content"] == newest["content"]
    assert refused_by_host(exchange, REFUSALS["Ollama"])
