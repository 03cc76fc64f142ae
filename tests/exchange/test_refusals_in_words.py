"""What hosts mean by a refusal, whatever status it has: no money, a flagged prompt, a failure that passes, a limit, a
form that they do not take. Each row is what a host was seen to say."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.corpus.driver import Answer, answer, open_exchange
from tests.exchange.test_odd_hosts import refused
from tests.named_rows import each_row
from tests.providers.every_door import REQUESTS
from toolwire.exchange.retries import who_may_follow

CHAT, MESSAGES, GEMINI, RESPONSES = "openai_chat", "anthropic_messages", "gemini", "openai_responses"


def error(message: str, **more: Any) -> dict[str, Any]:
    return {"error": {"message": message, **more}}


#: Host -> the wire, the status and the body of its refusal; the status and the code that the client is told, and who
#: may be asked instead.
MEANT: dict[str, tuple[str, int, Any, int, str, str]] = {
    "xAI, no credits": (CHAT, 403, {"code": "The caller does not have permission", "error":
        "Your newly created team doesn't have any credits yet."}, 402, "insufficient_quota", "another"),
    "new-api": (CHAT, 403, error("用户额度不足, 剩余额度: $-0.01", code="insufficient_user_quota"),
        402, "insufficient_quota", "another"),
    "SiliconFlow": (CHAT, 403, {"code": 30001, "message": "Sorry, your account balance is insufficient", "data": None},
        402, "insufficient_quota", "another"),
    "Volcengine": (CHAT, 403, error("The request failed because your account has an overdue balance.",
        code="AccountOverdueError"), 402, "insufficient_quota", "another"),
    "DashScope": (CHAT, 400, error("Access denied, please make sure your account is in good standing."),
        400, "insufficient_quota", "another"),
    "Fireworks": (CHAT, 412, error("Account x is suspended, possibly due to reaching the monthly spending limit"),
        412, "insufficient_quota", "another"),
    "Anthropic": (MESSAGES, 400, {"type": "error", "error": {"type": "invalid_request_error", "message":
        "Your credit balance is too low to access the Anthropic API."}}, 400, "insufficient_quota", "another"),
    "Z.ai by Anthropic's API": (MESSAGES, 403, {"type": "error", "error": {"type": "1113", "message": "余额不足"}},
        402, "insufficient_quota", "another"),
    "Google, billing": (GEMINI, 403, error("This API method requires billing to be enabled.", code=403,
        status="PERMISSION_DENIED"), 402, "insufficient_quota", "another"),
    "xAI, flagged": (CHAT, 403, {"error": "Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_BIO"},
        400, "content_filter", "none"),
    "Groq, without capacity": (CHAT, 498, error("Flex tier capacity exceeded", type="capacity_exceeded"),
        503, "upstream_overloaded", "any"),
    "TGI": (CHAT, 424, {"error": "Request failed during generation", "error_type": "generation"},
        502, "upstream_error", "any"),
    "too early": (CHAT, 425, error("too early"), 503, "upstream_overloaded", "any"),
    "Google by OpenAI's API": (CHAT, 499, [{"error": {"code": 499, "message": "The operation was cancelled."}}],
        502, "upstream_error", "any"),
    "Google": (GEMINI, 499, error("The operation was cancelled.", code=499, status="CANCELLED"),
        502, "upstream_error", "any"),
    "a wrong key": (CHAT, 401, error("Insufficient credits? No: a wrong key."),
        502, "upstream_authentication_failed", "another"),
    "a rate": (CHAT, 429, error("You exceeded your current quota, please check your plan and billing details."),
        429, "rate_limit_exceeded", "any"),
}  # fmt: skip


@each_row("host", MEANT)
@each_row("door", ["chat_completions", "messages", "responses", "gemini", "native"])
def test_a_refusal_is_what_the_host_means(door: str, host: str) -> None:
    wire, status, body, shown, code, others = MEANT[host]
    exchange = open_exchange(json.dumps({"model": "m", **REQUESTS[door]}).encode(), door=door, wire=wire)
    told = answer(exchange, [json.dumps(body).encode()], status=status, content_type="application/json")
    failed = exchange.answer.error or exchange.figures.error
    assert failed is not None
    assert (told.status, failed.code, who_may_follow(failed, status)) == (shown, code, others)


#: What a 403 says that is about no key -> words of ours about it.
NO_KEY: dict[str, tuple[Any, str]] = {
    "OpenAI, a country": (error("Country, region, or territory not supported"), "the place"),
    "OpenAI, a model": (error("Project `p` does not have access to model `gpt-5`"), "this model"),
    "Groq": (error("The model `x` is blocked at the organization level."), "this model"),
    "a firewall": (b"<html><title>403 Forbidden</title></html>", "a web page"),
}


@each_row("host", NO_KEY)
@each_row("wire", [CHAT, MESSAGES, GEMINI, RESPONSES])
def test_a_403_says_what_it_is_about(wire: str, host: str) -> None:
    given, words = NO_KEY[host]
    body = given if isinstance(given, bytes) else json.dumps(given).encode()
    exchange = open_exchange(json.dumps({"model": "m", **REQUESTS["native"]}).encode(), door="native", wire=wire)
    told = answer(exchange, [body], status=403, content_type="application/json")
    assert told.status == 502
    assert words in json.loads(told.body)["error"]["message"]


#: Where hosts put the words of a refusal.
PLACES: dict[str, Any] = {
    "Hunyuan": {"Response": {"Error": {"Code": "InvalidParameterValue", "Message": "said"}, "RequestId": "1"}},
    "NVIDIA": {"type": "about:blank", "status": 400, "title": "said"},
    "FastAPI": {"detail": [{"type": "x", "loc": ["body", "messages", 0], "msg": "said"}]},
}


@each_row("host", PLACES)
def test_what_a_host_says_is_told(host: str) -> None:
    said = refusal("native", 400, PLACES[host])
    wanted = "messages.0: said" if host == "FastAPI" else "said"
    assert json.loads(said.body)["error"]["message"] == wanted


def refusal(door: str, status: int, body: Any, streamed: bool = False) -> Answer:
    request = json.dumps({"model": "m", "stream": streamed, **REQUESTS[door]}).encode()
    data = json.dumps(body).encode()
    kind = "text/event-stream" if streamed else "application/json"
    return answer(
        open_exchange(request, door=door), [b"data: " + data + b"\n\n" if streamed else data],
        status=status, content_type=kind,
    )  # fmt: skip


#: An error within a 200 answer -> the status that it would have had.
WITHIN: dict[str, tuple[Any, int]] = {
    "Anthropic's": ({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, 529),
    "OpenAI's rate": (error("Rate limit reached", type="requests", code="rate_limit_exceeded"), 429),
    "OpenAI's refusal": (error("tools[0] bad", type="invalid_request_error"), 400),
    "vLLM's": (error("bad", type="BadRequestError"), 400),
    "Google's": (error("busy", status="UNAVAILABLE"), 503),
    "LM Studio, too long": (error("The number of tokens to keep from the initial prompt is greater than the context "
        "length. Try to load the model with a larger context length"), 400),
    "nobody's": (error("it broke", type="server_error"), 502),
}  # fmt: skip


@each_row("streamed", [False, True])
@each_row("name", WITHIN)
@each_row("door", ["chat_completions", "messages"])
def test_an_error_within_an_answer_has_the_status_that_its_words_say(door: str, name: str, streamed: bool) -> None:
    body, status = WITHIN[name]
    assert refusal(door, 200, body, streamed).status == status


@each_row("streamed", [False, True])
def test_a_refusal_within_an_answer_is_mended_as_any(streamed: bool) -> None:
    """LM Studio tells a template's refusal in an event of a stream with status 200, by its words alone."""
    turns = [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]
    exchange = open_exchange(json.dumps({"model": "m", "stream": streamed, "messages": turns}).encode())
    data = json.dumps(error("Jinja: Conversation roles must alternate user/assistant/user/assistant/...")).encode()
    exchange.receive_head(200, {"content-type": "text/event-stream" if streamed else "application/json"})
    begun = exchange.answer
    assert not exchange.receive_data(b"event: error\ndata: " + data + b"\n\n" if streamed else data)
    assert (exchange.answer is not begun) == streamed, "what still comes of a stream is none of the next answer"
    assert streamed or not exchange.receive_end()
    assert json.loads(exchange.upstream_request.body)["messages"] == [{"role": "user", "content": "a\nb"}]


#: A refusal of 64,000 tokens of output -> the limit that is asked for instead; None: none is.
OUTPUTS: list[tuple[Any, int | None]] = [
    (error("Invalid max_tokens value, the valid range of max_tokens is [1, 8192]"), 8192),  # DeepSeek
    (error("The parameter max_tokens specified in the request is not valid: integer above maximum value, expected a "
        "value <= 32768, but got 64000 instead. Request id: 02177243", param="max_tokens"), 32768),  # Volcengine
    (error("`max_tokens` must be less than or equal to `8192`, the maximum value for `max_tokens`"), 8192),  # Groq
    (error("InternalError.Algo.InvalidParameter: Range of max_tokens should be [1, 8192]"), 8192),  # DashScope
    (error("max_tokens is too large: 64000. This model supports at most 16384 completion tokens"), 16384),  # OpenAI
    (error("max_tokens参数非法。取值范围 [1,4095]", code="1210"), 4095),  # Z.ai
    ({"code": 20015, "message": "max_tokens (64000) exceeds the maximum allowed 16384"}, 16384),  # SiliconFlow
    ({"detail": [{"loc": ["body", "max_tokens"], "msg": "Input should be less than or equal to 8192"}]}, 8192),
    (error("invalid params, max_tokens must be less than 40960 (2013)"), 40959),  # MiniMax
    (error("max_tokens: 64000 > 8192, which is the maximum allowed number of output tokens for x"), 8192),  # Anthropic
    (error("The maximum tokens you requested exceeds the model limit of 4096."), 4096),  # Bedrock
    ([error("It has a maxOutputTokens value of 64000 but the supported range is from 1 (inclusive) to 8193 "
        "(exclusive).")], 8192),  # Google
    (error("Invalid max_tokens param"), None),  # DeepSeek
]  # fmt: skip


@each_row("given", [{}, {"max_tokens": 64_000}, {"max_completion_tokens": 64_000}])
@each_row("door", ["chat_completions", "messages", "responses"])
def test_an_account_that_pays_for_less_output_is_asked_for_less(door: str, given: dict[str, int]) -> None:
    """OpenRouter counts the whole limit as if it were used, the model's own where none is named (openclaude#1125)."""
    members = {"responses": dict.fromkeys(("max_output_tokens",) * bool(given), 64_000)}.get(door, given)
    members = {"max_tokens": 64_000} if door == "messages" else members
    request = json.dumps({"model": "m", **REQUESTS[door], **members}).encode()
    exchange = open_exchange(request, door=door, profile="openrouter")
    said = "This request requires more credits, or fewer max_tokens. You requested up to 65536 tokens, but can only "
    assert not told(exchange, error(said + "afford 9021. To increase, visit https://openrouter.ai", code=402), 402)
    sent = json.loads(exchange.upstream_request.body)
    assert [value for name, value in sent.items() if name.startswith("max_")] == [9021]
    assert "max_tokens_lowered" in exchange.figures.warnings
    assert told(exchange, error(said + "afford 0.", code=402), 402)


@each_row(("body", "most"), OUTPUTS)
def test_a_host_that_gives_less_output_is_asked_for_what_it_gives(body: Any, most: int | None) -> None:
    """Claude Code asks for its own models' output, which is more than most others have."""
    request = json.dumps({"model": "m", **REQUESTS["messages"], "max_tokens": 64_000}).encode()
    exchange = open_exchange(request, door="messages")
    assert not told(exchange, body)
    assert json.loads(exchange.upstream_request.body).get("max_tokens") == most
    assert ("max_tokens_lowered" if most else "not_supported:max_tokens") in exchange.figures.warnings
    assert told(exchange, body)


def told(exchange: Any, body: Any, status: int = 400) -> bool:
    """Whether the refusal ends the exchange."""
    exchange.receive_head(status, {"content-type": "application/json"})
    exchange.receive_data(json.dumps(body).encode())
    return bool(exchange.receive_end())


@each_row(("door", "wire", "member"), [
    ("messages", MESSAGES, "max_tokens"), ("messages", RESPONSES, "max_output_tokens"),
    ("messages", "bedrock_converse", "inferenceConfig"), ("messages", GEMINI, "generationConfig"),
])  # fmt: skip
def test_the_most_output_is_kept_to_on_every_wire(door: str, wire: str, member: str) -> None:
    """In the lane too, at a host that is not the API's own: Volcengine's endpoint of Anthropic's API."""
    request = json.dumps({"model": "m", **REQUESTS[door], "max_tokens": 64_000}).encode()
    exchange = open_exchange(request, door=door, wire=wire, profile="compatible")
    said = {"message": "max_tokens must be at most 8192"}
    assert not told(exchange, said | error(said["message"]))
    asked = json.loads(exchange.upstream_request.body)[member]
    assert (asked if isinstance(asked, int) else next(iter(asked.values()))) == 8192


def test_a_limit_is_between_a_client_and_its_own_apis_host() -> None:
    request = json.dumps({"model": "m", **REQUESTS["messages"], "max_tokens": 64_000}).encode()
    exchange = open_exchange(request, door="messages", wire=MESSAGES, profile="anthropic")
    assert told(exchange, error("max_tokens: 64000 > 8192, which is the maximum allowed number of output tokens"))


#: A refusal of a value -> the setting that is left out.
VALUES = [
    (400, "Range of temperature should be [0.0, 1.0]", "temperature"),  # DashScope
    (400, "temperature参数非法。取值范围 [0.0, 1.0]", "temperature"),  # Z.ai
    (400, "Invalid request: temperature must be between 0 and 1", "temperature"),  # Moonshot
    (400, "invalid params, temperature: must be in (0.0, 1.0]", "temperature"),  # MiniMax
    (422, "Input validation error: `top_p` must be > 0.0 and < 1.0", "top_p"),  # TGI
    (400, "`temperature` and `top_p` cannot both be specified for this model.", "temperature"),  # Claude 4.1
]


@each_row(("status", "message", "setting"), VALUES)
def test_a_value_that_a_host_does_not_take_is_left_out(status: int, message: str, setting: str) -> None:
    request = json.dumps({"model": "m", **REQUESTS["responses"], "temperature": 1.5, "top_p": 1.0}).encode()
    exchange = open_exchange(request, door="responses")
    assert not refused(exchange, status, message)
    assert setting not in json.loads(exchange.upstream_request.body)
    assert f"not_supported:{setting}" in exchange.figures.warnings


TOOLS = [{"type": "function", "function": {"name": name, "parameters": {"type": "object"}}} for name in ("a", "b")]
NAMED = {"type": "function", "function": {"name": "b"}}
ONLY_AUTO = [
    "tool_choice 'required' is not supported", "tool_choice only supports auto", "Tool choice must be auto",
    "tool_choice: Input should be 'auto' or 'none'", "Only a tool_choice of 'auto' is supported for this model.",
    "No endpoints found that support the provided 'tool_choice' value.",
]  # fmt: skip
ONLY_WORDS = [
    "Invalid tool_choice type: 'object'. Supported string values: none, auto, required",
    "Only allowed string values for 'tool_choice' are [none, auto, required]",
]
#: Refusals, the choice -> the choice that is sent in its place, the tools, and the warnings.
CHOICES: list[tuple[list[str], Any, Any, list[str], list[str]]] = [
    (ONLY_AUTO, "required", None, ["a", "b"], ["tool_choice_changed"]),
    (ONLY_AUTO, NAMED, None, ["b"], ["tool_choice_changed"]),
    (ONLY_AUTO, "auto", None, ["a", "b"], []),
    (ONLY_AUTO, "none", None, [], []),
    (ONLY_WORDS, NAMED, "required", ["b"], []),
]


@pytest.mark.parametrize(("refusals", "given", "sent", "tools", "warnings"), CHOICES)
def test_a_tool_choice_that_a_host_does_not_take_is_said_otherwise(
    refusals: list[str], given: Any, sent: Any, tools: list[str], warnings: list[str]
) -> None:
    """Z.ai by OpenRouter (hindsight#4246), LM Studio (pi#4266), OpenCode Zen (opencode#45953)."""
    for message in refusals:
        turns = [{"role": "user", "content": "hi"}]
        request = {"model": "m", "messages": turns, "tools": TOOLS, "tool_choice": given}
        exchange = open_exchange(json.dumps(request).encode())
        assert not refused(exchange, 404 if "endpoints" in message else 400, message)
        body = json.loads(exchange.upstream_request.body)
        assert body.get("tool_choice") == sent
        assert [tool["function"]["name"] for tool in body.get("tools", ())] == tools
        assert list(exchange.figures.warnings) == warnings
        assert refused(exchange, 400, message)


def test_googles_moment_is_read_at_its_endpoint_of_openais_api_too() -> None:
    info = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "33.2s"}
    said = refusal("messages", 429, [error("Quota exceeded", code=429, details=[info])])
    assert said.headers["retry-after"] == "34"
