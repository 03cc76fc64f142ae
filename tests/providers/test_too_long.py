"""A prompt that the model's context does not hold: each host says so in its own words, clients know it by a few.

Codex and OpenAI's clients summarise on the code `context_length_exceeded`, Claude Code on Anthropic's words.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.corpus.driver import Answer, answer, open_exchange
from tests.named_rows import each_row
from tests.providers.every_door import REQUESTS
from toolwire.providers.upstream_errors import is_too_long

#: Host -> what it says: the wire, the status, and the body.
HOSTS: dict[str, tuple[str, int, Any]] = {
    "OpenAI": ("openai_chat", 400, {"error": {
        "message": "This model's maximum context length is 128000 tokens. However, your messages have 130000 tokens.",
        "type": "invalid_request_error", "param": "messages", "code": "context_length_exceeded"}}),
    "vLLM": ("openai_chat", 400, {"object": "error", "type": "BadRequestError", "code": 400, "message":
        "This model's maximum context length is 8192 tokens. Please reduce the length of the input messages."}),
    "SGLang": ("openai_chat", 400, {"object": "error", "code": 400, "message":
        "The input (9000 tokens) is longer than the model's context length (8192 tokens)."}),
    "llama.cpp": ("openai_chat", 400, {"error": {"code": 400, "type": "exceed_context_size_error", "message":
        "the request exceeds the available context size, try increasing it"}}),
    "Ollama": ("openai_chat", 400, {"error": {
        "message": "prompt too long; exceeded max context length by 12 tokens", "type": "api_error"}}),
    "LM Studio": ("openai_chat", 400, {"error":
        "Trying to keep the first 8000 tokens. However, the model is loaded with context length of only 4096 tokens"}),
    "TGI": ("openai_chat", 422, {"error_type": "validation", "error":
        "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 and 500"}),
    "Mistral": ("openai_chat", 400, {"object": "error", "code": "3051", "message":
        "Prompt contains 40960 tokens, too large for model with 32768 maximum context length"}),
    "Groq": ("openai_chat", 400, {"error": {"type": "invalid_request_error", "code": "context_length_exceeded",
        "message": "Please reduce the length of the messages or completion."}}),
    "xAI": ("openai_chat", 400, {"code": "Client specified an invalid argument", "error":
        "This model's maximum prompt length is 131072 but the request contains 200000 tokens."}),
    "Moonshot": ("openai_chat", 400, {"error": {"type": "invalid_request_error", "message":
        "Invalid request: Your request exceeded model token limit: 262144"}}),
    "Z.ai": ("openai_chat", 400, {"error": {"code": "1261", "message": "Prompt exceeds max length"}}),
    "MiniMax": ("openai_chat", 400, {"type": "error", "error": {"type": "bad_request_error", "message":
        "invalid params, context window exceeds limit (2013)"}}),
    "DashScope": ("openai_chat", 400, {"code": "InvalidParameter", "message":
        "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 98304]"}),
    "Fireworks": ("openai_chat", 400, {"error": {"message":
        "The prompt is too long: 131074, model maximum context length: 131071"}}),
    "Copilot": ("openai_chat", 400, {"error": {"code": "model_max_prompt_tokens_exceeded", "message":
        "prompt token count of 140000 exceeds the limit of 128000"}}),
    "OpenRouter": ("openai_chat", 400, {"error": {"code": 400, "message": "Provider returned error", "metadata": {
        "provider_name": "Anthropic", "raw": json.dumps({"type": "error", "error": {
            "type": "invalid_request_error", "message": "prompt is too long: 210000 tokens > 200000 maximum"}})}}}),
    "OpenAI's Responses": ("openai_responses", 400, {"error": {
        "message": "Your input exceeds the context window of this model.", "type": "invalid_request_error",
        "param": "input", "code": "context_length_exceeded"}}),
    "Gemini": ("gemini", 400, {"error": {"code": 400, "status": "INVALID_ARGUMENT", "message":
        "The input token count (1100000) exceeds the maximum number of tokens allowed (1048575)."}}),
    "Anthropic": ("anthropic_messages", 400, {"type": "error", "error": {"type": "invalid_request_error", "message":
        "prompt is too long: 210000 tokens > 200000 maximum"}}),
    "a host of Anthropic's API": ("anthropic_messages", 400, {"detail":
        "Prompt too long: 32799 tokens exceeds max context window of 32768 tokens"}),
    "Bedrock": ("bedrock_converse", 400, {"message": "Input is too long for requested model."}),
}  # fmt: skip

#: Refusals of a length that is not the prompt's.
OTHERS = [
    (429, "Too many tokens, please wait before trying again."),
    (413, "Request too large for model on tokens per minute (TPM): Limit 6000, Requested 9000"),
    (400, "Invalid 'tools[3].function.name': string too long. Expected a string with maximum length 64"),
    (400, "max_tokens: 200000 > 64000, which is the maximum allowed number of output tokens"),
    (400, "`context_management` is not supported by this model"),
    (413, "Request Entity Too Large"),
    (503, "the maximum context length is loading"),
]


def refused(door: str, host: str) -> Answer:
    wire, status, body = HOSTS[host]
    exchange = open_exchange(json.dumps({"model": "m", **REQUESTS[door]}).encode(), door=door, wire=wire)
    return answer(exchange, [json.dumps(body).encode()], status=status, content_type="application/json")


@each_row("host", HOSTS)
@each_row("door", ["chat_completions", "responses"])
def test_openais_code(door: str, host: str) -> None:
    shown = json.loads(refused(door, host).body)["error"]
    assert (door == "chat_completions" and HOSTS[host][0] == "openai_chat") or shown[
        "code"
    ] == "context_length_exceeded"


@each_row("host", HOSTS)
def test_anthropics_words(host: str) -> None:
    said = refused("messages", host)
    message = json.loads(said.body)["error"]["message"].lower()
    assert said.status < 500
    if HOSTS[host][0] != "anthropic_messages":  # whose own words pass as they are
        assert message.startswith("prompt is too long") or "prompt is too long" in message


#: What vLLM says of a prompt that would fit if less were asked for -> how Anthropic says it.
SUMS = {
    "This model's maximum context length is 32768 tokens. However, you requested 40000 tokens (8000 in the messages, "
    "32000 in the completion).": "8000 + 32000 > 32768",
    "Requested token count exceeds the model's maximum context length of 262144 tokens. You requested a total of "
    "262462 tokens: 230462 tokens from the input messages and 32000 tokens for the completion.":
        "230462 + 32000 > 262144",
    "'max_tokens' or 'max_completion_tokens' is too large: 32000. This model's maximum context length is 32768 tokens "
    "and your request has 8000 input tokens (32000 > 32768 - 8000).": "8000 + 32000 > 32768",
    "This model's maximum context length is 8192 tokens. However, you requested 10000 tokens (9000 in the messages, "
    "1000 in the completion).": "",
}  # fmt: skip


@pytest.mark.parametrize("said", SUMS)
def test_a_prompt_that_would_fit_if_less_were_asked_for(said: str) -> None:
    exchange = open_exchange(json.dumps({"model": "m", **REQUESTS["messages"]}).encode(), door="messages")
    body = json.dumps({"object": "error", "message": said, "code": 400}).encode()
    shown = json.loads(answer(exchange, [body], status=400, content_type="application/json").body)["error"]["message"]
    begins = (
        f"input length and `max_tokens` exceed context limit: {SUMS[said]}: " if SUMS[said] else "prompt is too long: "
    )
    assert shown == begins + said


@pytest.mark.parametrize(("status", "message"), OTHERS)
def test_another_refusal_is_none(status: int, message: str) -> None:
    assert not is_too_long(status, message)
