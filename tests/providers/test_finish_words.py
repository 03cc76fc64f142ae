"""Why a turn ended, in words of other APIs and other spellings: a cut or a failure never looks like a stop."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.named_rows import each_row
from tests.providers import every_door
from tests.providers.anthropic_messages import messages_upstream as upstream
from tests.providers.openai_responses import responses_upstream as responses

#: A host's word -> why the turn ended, as the Chat API has it; "" for an answer that failed.
WORDS = {
    "stop": "stop", "COMPLETE": "stop", "end-turn": "stop", "FINISH_REASON_STOP": "stop", "what-is-this": "stop",
    "length": "length", "max-tokens": "length", "maxTokens": "length", "MAX_TOKENS": "length", "token_limit": "length",
    "time_limit": "length", "max_length": "length", "ERROR_LIMIT": "length", "max_completion_tokens": "length",
    "context_length_exceeded": "length", "LENGTH_EXCEEDED": "length",
    "tool_calls": "stop", "tool_use": "stop", "tool_call": "stop", "function_call": "stop",  # the answer has no call
    "content_filter": "content_filter", "content-filter": "content_filter", "contentFilter": "content_filter",
    "sensitive": "content_filter", "ERROR_TOXIC": "content_filter", "content_filtered": "content_filter",
    "error": "", "timeout": "", "USER_CANCEL": "", "cancel": "", "server_error": "", "network_error": "",
    "not_finished": "", "abort": "",
}  # fmt: skip


def chat(word: str) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", "content": "x"}, "finish_reason": word}
    return {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}


def messages(word: str) -> dict[str, Any]:
    blocks = [{"type": "text", "text": "x"}]
    return {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": blocks, "stop_reason": word}


def gemini(word: str) -> dict[str, Any]:
    content = {"role": "model", "parts": [{"text": "x"}]}
    return {"candidates": [{"index": 0, "content": content, "finishReason": word}]}


@each_row("word", WORDS)
@each_row(("wire", "document"), [("openai_chat", chat), ("anthropic_messages", messages)])
def test_a_word_of_any_api_is_read(wire: str, document: Any, word: str) -> None:
    body = json.dumps(document(word)).encode()
    for door in every_door.REQUESTS:
        said = every_door.asked(door, body, streamed=False, wire=wire)
        assert (said.status == 200) == (WORDS[word] != "")
    shown = json.loads(every_door.asked("chat_completions", body, streamed=False, wire=wire).body)
    assert shown["choices"][0]["finish_reason"] == WORDS[word] if WORDS[word] else "error" in shown


@each_row("word", [word for word, reason in WORDS.items() if reason in ("length", "content_filter")])
def test_a_reason_of_another_api_for_what_is_incomplete(word: str) -> None:
    whole = responses.response("incomplete", [responses.message("msg_1", "x")], incomplete_details={"reason": word})
    body = json.dumps(whole).encode()
    chat = json.loads(every_door.asked("chat_completions", body, streamed=False, wire="openai_responses").body)
    own = json.loads(every_door.asked("responses", body, streamed=False, wire="openai_responses").body)
    assert chat["choices"][0]["finish_reason"] == WORDS[word]
    reason = {"length": "max_output_tokens"}.get(WORDS[word], WORDS[word])
    assert (own["status"], own["incomplete_details"]) == ("incomplete", {"reason": reason})


@pytest.mark.parametrize(("word", "reason"), [("stop", "stop"), ("max_tokens", "length"), ("safety", "content_filter")])
def test_googles_words_written_small(word: str, reason: str) -> None:
    body = json.dumps(gemini(word)).encode()
    chat = json.loads(every_door.asked("chat_completions", body, streamed=False, wire="gemini").body)
    own = json.loads(every_door.asked("gemini", body, streamed=False, wire="gemini").body)
    assert (chat["choices"][0]["finish_reason"], own["candidates"][0]["finishReason"]) == (reason, word.upper())


# ---------------------------------------------------------------- words that do not say whether an answer is complete


def converse(word: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": [{"text": "x"}]}
    return {"output": {"message": message}, "stopReason": word, "usage": {"inputTokens": 1, "outputTokens": 1}}


def streams(wire: str, word: str) -> bytes:
    """The answer of a stream that ends with this word."""
    events: list[dict[str, Any]]
    match wire:
        case "openai_chat":
            start = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
            events = [
                {**start, "choices": [{"index": 0, "delta": {"role": "assistant", "content": "x"}}]},
                {**start, "choices": [{"index": 0, "delta": {}, "finish_reason": word}]},
            ]
            return b"".join(b"data: %b\n\n" % json.dumps(event).encode() for event in events) + b"data: [DONE]\n\n"
        case "anthropic_messages":
            events = [upstream.start(), upstream.begin(0, "text", text=""), upstream.text(0, "x"), upstream.end(0),
                      upstream.finish(word), upstream.STOP]  # fmt: skip
            return b"".join(
                b"event: %b\ndata: %b\n\n" % (event["type"].encode(), json.dumps(event).encode()) for event in events
            )
    return b"data: %b\n\n" % json.dumps(gemini(word)).encode()


#: Wire -> a document that ends with a word, and words that do not say how the answer ended.
UNKNOWN: dict[str, tuple[Any, list[str]]] = {
    "openai_chat": (chat, ["other", "unknown", "what-is-this"]),
    "anthropic_messages": (messages, ["other", "what_is_this"]),
    "bedrock_converse": (converse, ["other", "what_is_this"]),
    "gemini": (gemini, ["OTHER", "NO_IMAGE", "FINISH_REASON_UNSPECIFIED", "WHAT_IS_THIS"]),
}
#: Wire -> the words that its API documents for what is complete, cut or filtered.
KNOWN = {
    "openai_chat": ["stop", "length", "content_filter"],
    "anthropic_messages": ["end_turn", "max_tokens", "stop_sequence", "refusal", "model_context_window_exceeded"],
    "bedrock_converse": ["end_turn", "max_tokens", "stop_sequence", "guardrail_intervened", "content_filtered"],
    "gemini": ["STOP", "MAX_TOKENS", "SAFETY", "LANGUAGE", "IMAGE_OTHER", "IMAGE_SAFETY", "CONTINUATION"],
}


@each_row(("wire", "word"), [(wire, word) for wire, (_, words) in UNKNOWN.items() for word in words])
@each_row("door", every_door.REQUESTS)
def test_a_word_that_says_nothing_is_in_a_warning(door: str, wire: str, word: str) -> None:
    document, _ = UNKNOWN[wire]
    said = every_door.asked(door, json.dumps(document(word)).encode(), streamed=False, wire=wire)
    assert said.status == 200
    assert f"finish_reason_unknown:{word}" in said.headers["x-toolwire-warnings"]
    if wire != "bedrock_converse":
        streamed = every_door.asked(door, streams(wire, word), streamed=True, wire=wire)
        assert f"finish_reason_unknown:{word}".encode() in streamed.body


@each_row(("wire", "word"), [(wire, word) for wire, words in KNOWN.items() for word in words])
@each_row("door", every_door.REQUESTS)
def test_a_documented_word_is_in_none(door: str, wire: str, word: str) -> None:
    document, _ = UNKNOWN[wire]
    said = every_door.asked(door, json.dumps(document(word)).encode(), streamed=False, wire=wire)
    assert "finish_reason_unknown" not in said.headers.get("x-toolwire-warnings", "")
