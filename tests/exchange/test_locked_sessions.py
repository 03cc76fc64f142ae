"""What stands in a history and is refused in each further request: an image that cannot be processed, a text of white
space, a reference to a tool, a call without its thinking. Agents send a history as it is, so that one of these would
end the session for good (claude-code#23390, #34542, #59133, #61284; cc-switch#2941; 9router#2397)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.corpus.driver import open_exchange
from tests.named_rows import each_row
from toolwire.exchange.mending import mended
from toolwire.rewrite.unseen_images import is_about_addresses, is_about_images, is_about_one_image

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
WORDS = "(an image, which this model cannot see)"

#: Whose words of one image these are -> the words.
IMAGES = {
    "Anthropic": "messages.1.content.0: Could not process image",
    "Anthropic's of the type": "messages.11.content.15.image.source.base64.data: Image does not match the provided "
    "media type image/jpeg",
    "Anthropic's of the size": "messages.3.content.1.image.source.base64: image exceeds 5 MB maximum: 10053760 bytes > "
    "5242880 bytes",
    "Anthropic's of many": "messages.39.content.38.image.source.base64.data: At least one of the image dimensions "
    "exceed max allowed size for many-image requests: 2000 pixels",
    "Anthropic's of an address": "Unable to download the file. Please verify the URL and try again.",
    "OpenAI": "You uploaded an unsupported image. Please make sure your image has of one the following formats: "
    "['png', 'jpeg', 'gif', 'webp'].",
    "OpenAI's of the data": "The image data you provided does not represent a valid image. Please check your input and "
    "try again.",
    "OpenAI's of an address": "Error while downloading https://example.com/cat.png.",
    "OpenAI's of time": "Timeout while downloading https://example.com/cat.png.",
    "Google": "Unable to process input image. Please retry or report in https://example.com",
    "Google's of validity": "Provided image is not valid.",
    "Google's of an address": "Cannot fetch content from the provided URL. Please ensure the URL is valid.",
    "vLLM": "cannot identify image file <_io.BytesIO object at 0x7f>",
    "vLLM's of the data": "Failed to load image: Incorrect padding",
    "Moonshot": "Invalid request: failed to decode image data",
    "DashScope": "<400> InternalError.Algo.InvalidParameter: Failed to download multimodal content: image",
    "Bedrock": "The model returned the following errors: messages.0.content.1.image.source.base64.data: Could not "
    "process image",
}


def history(door: str) -> dict[str, Any]:
    """A conversation with an image in an earlier turn, in this door's words."""
    match door:
        case "messages":
            image: Any = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
        case "responses":
            image = {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}"}
        case "gemini":
            image = {"inlineData": {"mimeType": "image/png", "data": PNG}}
        case _:
            image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}
    if door == "gemini":
        turns = [("user", [{"text": "look"}, image]), ("model", [{"text": "so"}]), ("user", [{"text": "go on"}])]
        return {"contents": [{"role": role, "parts": parts} for role, parts in turns]}
    kind = "input_text" if door == "responses" else "text"
    messages = [
        {"role": "user", "content": [{"type": kind, "text": "look"}, image]},
        {"role": "assistant", "content": "so"},
        {"role": "user", "content": "go on"},
    ]
    limit = {"max_tokens": 99} if door == "messages" else {}
    return {"input": messages} if door == "responses" else {"messages": messages, **limit}


def opened(door: str, wire: str, request: dict[str, Any], **host: Any) -> Any:
    return open_exchange(json.dumps({"model": "m", **request}).encode(), door=door, wire=wire, **host)


def refused(exchange: Any, message: str, status: int = 400) -> bool:
    exchange.receive_head(status, {"content-type": "application/json"})
    of_converse = exchange.attempt.target.provider.wire == "bedrock_converse"
    exchange.receive_data(json.dumps({"message": message} if of_converse else {"error": {"message": message}}).encode())
    return bool(exchange.receive_end())


LANES = {
    "chat_completions": "openai_chat",
    "responses": "openai_responses",
    "messages": "anthropic_messages",
    "gemini": "gemini",
}
WIRES = [*LANES.values(), "bedrock_converse"]


@each_row("said", IMAGES.values(), ids=IMAGES)
def test_words_about_one_image_are_not_about_all(said: str) -> None:
    assert is_about_one_image(said)
    assert not is_about_images(said)
    assert not is_about_addresses(said)


@each_row("said", ["Too many requests", "Could not process the request", "max_tokens exceeds the maximum",
                   "Invalid 'tools': too long", "The file `a` is not supported", "reading the body failed",
                   "Failed to open a stream"])  # fmt: skip
def test_other_words_are_not(said: str) -> None:
    assert not is_about_one_image(said)


@each_row("wire", WIRES)
@each_row("door", LANES)
def test_an_image_that_cannot_be_processed_is_in_words_in_the_next_turn(door: str, wire: str) -> None:
    said = IMAGES["Anthropic"]
    exchange = opened(door, wire, history(door))
    assert PNG in exchange.upstream_request.body.decode()
    assert not refused(exchange, said)
    body = exchange.upstream_request.body.decode()
    assert PNG not in body
    assert WORDS in body
    assert "images_in_words" in exchange.figures.warnings
    assert refused(exchange, said), "once"


@each_row("said", IMAGES.values(), ids=IMAGES)
def test_each_wording_is_known_to_the_exchange(said: str) -> None:
    exchange = opened("messages", "anthropic_messages", history("messages"))
    assert not refused(exchange, said)
    assert not any(lesson.is_kept for lesson in exchange.attempt.given.lessons), "other conversations keep their images"


@each_row("door", LANES)
def test_an_image_of_the_newest_turn_is_the_users_to_know_of(door: str) -> None:
    request = history(door)
    turns = next(value for value in request.values() if isinstance(value, list))
    del turns[1:]
    assert refused(opened(door, LANES[door], request), IMAGES["Anthropic"])


# ---------------------------------------------------------------- the Messages API

USER = {"role": "user", "content": "hi"}


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


def use(id: str = "toolu_1") -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": "time", "input": {"n": 1}}


def result(content: Any, id: str = "toolu_1") -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": content}]}


BLANK = [
    "messages: text content blocks must be non-empty",
    "messages: text content blocks must contain non-whitespace text",
    "messages.30.content.2.text: cache_control cannot be set for empty text blocks",
    "messages.1: all messages must have non-empty content except for the optional final assistant message",
]


@each_row("said", BLANK)
@each_row("profile", ["anthropic", "compatible"])
def test_a_text_of_white_space_is_left_out_of_a_clients_own_history(profile: str, said: str) -> None:
    mark = {"cache_control": {"type": "ephemeral"}}
    turns = [
        USER,
        {"role": "assistant", "content": [text(""), use()]},
        result([text("\n"), text("now")]),
        {"role": "assistant", "content": [text(" \n")]},
        {"role": "user", "content": [text("", **mark), text("go on")]},
    ]
    exchange = opened("messages", "anthropic_messages", {"max_tokens": 9, "messages": turns}, profile=profile)
    assert json.loads(exchange.upstream_request.body)["messages"] == turns
    assert not refused(exchange, said)
    sent = json.loads(exchange.upstream_request.body)["messages"]
    assert [block for turn in sent for block in turn["content"] if turn["role"] == "assistant"] == [use()]
    assert json.dumps(sent).count('"text": "') == 2 + (sent[0]["content"] != "hi")
    assert all(word in json.dumps(sent) for word in ("hi", "now", "go on"))
    assert refused(exchange, said)


REFERENCES = [
    "failed to convert tool result content: unsupported content type in ContentBlockParamUnion: tool_reference",
    "messages[2]: unknown variant `tool_reference`, expected one of `text`, `image`",
]


@each_row("said", REFERENCES)
def test_a_host_that_knows_no_tool_references_is_told_in_words(said: str) -> None:
    turns = [
        USER,
        {"role": "assistant", "content": [use()]},
        result([{"type": "tool_reference", "tool_name": "WebSearch"}]),
    ]
    tools = [{"name": "time", "input_schema": {"type": "object"}},
             {"name": "WebSearch", "input_schema": {"type": "object"}}]  # fmt: skip
    request = {"max_tokens": 9, "messages": turns, "tools": tools}
    exchange = opened("messages", "anthropic_messages", request, profile="moonshot")
    assert not refused(exchange, said)
    sent = json.loads(exchange.upstream_request.body)
    assert "tool_reference" not in json.dumps(sent)
    assert "The tool `WebSearch` can be called now." in json.dumps(sent)
    assert sent["tools"] == tools
    assert refused(exchange, said)


LOST = [
    "The `content[].thinking` in the thinking mode must be passed back to the API.",
    "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is "
    "enabled, a final `assistant` message must start with a thinking block.",
]
THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "S"}


@each_row("said", LOST)
@each_row("given", [{}, {"thinking": {"type": "enabled", "budget_tokens": 2000}}])
def test_a_host_that_wants_thinking_back_does_not_think_where_it_is_lost(given: dict[str, Any], said: str) -> None:
    turns = [USER, {"role": "assistant", "content": [use()]}, result("now")]
    request = {"max_tokens": 9000, "messages": turns, **given}
    exchange = opened("messages", "anthropic_messages", request, profile="deepseek")
    assert not refused(exchange, said)
    assert json.loads(exchange.upstream_request.body)["thinking"] == {"type": "disabled"}
    assert "reasoning_turned_off" in exchange.figures.warnings
    assert refused(exchange, said)


@each_row("said", LOST)
def test_so_is_another_apis_client_served(said: str) -> None:
    call = {"id": "toolu_1", "type": "function", "function": {"name": "time", "arguments": "{}"}}
    messages = [
        USER,
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "toolu_1", "content": "x"},
    ]
    exchange = opened("chat_completions", "anthropic_messages", {"messages": messages}, profile="deepseek")
    assert not refused(exchange, said)
    assert json.loads(exchange.upstream_request.body)["thinking"] == {"type": "disabled"}


@pytest.mark.parametrize("first", [THOUGHT, {"type": "redacted_thinking", "data": "D"}])
def test_a_history_that_has_its_thinking_is_not_sent_without(first: dict[str, Any]) -> None:
    turns = [USER, {"role": "assistant", "content": [first, use()]}, result("now")]
    exchange = opened("messages", "anthropic_messages", {"max_tokens": 9000, "messages": turns}, profile="deepseek")
    again = mended(exchange.attempt, 400, _error(LOST[0]))
    assert again is None or b'"disabled"' not in again.upstream_request.body


def _error(message: str) -> Any:
    from toolwire.model.errors import UpstreamError

    return UpstreamError(message, status=400)


#: Whose words of the role "system" these are (Qwen#2244, ogx#5982, kiro-gateway#197, grok2api#598) -> the words.
SYSTEM = {
    "DashScope": "messages[1].role: unknown variant `system`, expected `user` or `assistant`",
    "hosts with FastAPI": "messages.1.role: Input should be 'user' or 'assistant'",
    "Anthropic": 'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter, not '
    '"system" as an input message role.',
    "xAI": 'Messages API 不支持 role="system"',
    "a template": "System role not supported",
    "Converse": "This model doesn't support system messages.",
}


@each_row("said", SYSTEM.values(), ids=SYSTEM)
def test_a_host_that_knows_no_system_messages_has_them_in_the_users_turn(said: str) -> None:
    """Claude Code sends them within the history to models that it takes for new ones."""
    turns = [
        USER,
        {"role": "system", "content": "Be short."},
        {"role": "assistant", "content": [use()]},
        result("now"),
        {"role": "system", "content": [text("Be kind.")]},
    ]
    request = {"max_tokens": 9, "system": "Rules.", "messages": turns}
    exchange = opened("messages", "anthropic_messages", request, profile="compatible")
    assert json.loads(exchange.upstream_request.body)["messages"] == turns
    assert not refused(exchange, said)
    sent = json.loads(exchange.upstream_request.body)
    assert sent["system"] == "Rules."
    assert [turn["role"] for turn in sent["messages"]] == ["user", "assistant", "user"]
    told = json.dumps(sent["messages"])
    assert "<system>\\nBe short.\\n</system>" in told
    assert "<system>\\nBe kind.\\n</system>" in told
    assert [block["type"] for block in sent["messages"][2]["content"]] == ["tool_result", "text"]
    assert "system_message_in_user_turn" in exchange.figures.warnings
    assert refused(exchange, said)


@each_row("said", SYSTEM.values(), ids=SYSTEM)
@each_row("door", ["chat_completions", "responses"])
def test_so_are_those_of_a_chat_host(door: str, said: str) -> None:
    messages = [{"role": "system", "content": "Rules."}, USER]
    exchange = opened(door, "openai_chat", {"input" if door == "responses" else "messages": messages})
    assert not refused(exchange, said)
    (turn,) = json.loads(exchange.upstream_request.body)["messages"]
    assert turn == {"role": "user", "content": "<system>\nRules.\n</system>\nhi"}
    assert refused(exchange, said)
