"""POST /native/tools/check and /native/translate as their function answers them: no provider is asked."""

from __future__ import annotations

import hashlib
import json
import time
from typing import Any

import pytest

from local.answer_models import ErrorResponse, ToolsCheckResponse, TranslateResponse
from tests.gemini_client import http_request
from tests.policy.door_clients import CLIENTS
from toolwire.doors import DOORS, load_door
from toolwire.model.http import Head
from toolwire.model.settings import ProviderConfig, Settings, Tenant
from toolwire.shell.serve import admission, attempts
from toolwire.shell.serve.native import serve_native
from toolwire.shell.telemetry.request_record import RequestRecord

KEY, SECRET = "tw-key", "sk-a-provider-secret"
SETTINGS = Settings(
    providers={
        "openai": ProviderConfig("openai", "openai_chat", "https://api.openai.com/v1", "env:ACME_KEY", "openai"),
        "anthropic": ProviderConfig("anthropic", "anthropic_messages", "https://api.anthropic.com", "env:ACME_KEY"),
        "google": ProviderConfig("google", "gemini", "https://g.example/v1beta", "env:ACME_KEY"),
    },
    aliases={"fast": "openai/gpt-5.1"},
    key_sha256=hashlib.sha256(KEY.encode()).hexdigest(),
)
PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}}
FUNCTION = {"name": "get_weather", "description": "Weather of a city.", "parameters": PARAMETERS}
WEATHER = {"type": "function", "function": FUNCTION}
GEMINI_PATH = {"id": "fast:generateContent"}
CHECK, TRANSLATE = "/native/tools/check", "/native/translate"


@pytest.fixture(autouse=True)
def settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACME_KEY", SECRET)
    monkeypatch.setattr(admission, "current_settings", lambda: SETTINGS)


def ask(path: str, body: Any, headers: dict[str, str] | None = None) -> tuple[Head, Any]:
    """Head and decoded body."""
    event = {
        "httpMethod": "POST",
        "resource": path,
        "path": path,
        "headers": headers if headers is not None else {"X-Api-Key": KEY},
        "requestContext": {"requestId": "req-1"},
        "body": body if isinstance(body, str) else json.dumps(body),
    }
    head, text = serve_native(event, None)
    assert isinstance(head, Head)
    assert isinstance(text, bytes)
    assert SECRET.encode() not in text
    assert dict(head.headers)["x-request-id"] == "req-1"
    assert dict(head.headers)["content-type"] == "application/json"
    kind = (ToolsCheckResponse if path == CHECK else TranslateResponse) if head.status == 200 else ErrorResponse
    kind.model_validate_json(text)
    return head, json.loads(text)


def error(path: str, body: Any, **more: Any) -> tuple[int, str, str | None]:
    head, shown = ask(path, body, **more)
    return head.status, shown["error"]["code"], shown["error"]["param"]


# ---------------------------------------------------------------- tools/check


def test_every_provider_that_is_served_is_asked() -> None:
    _, body = ask(CHECK, {"tools": [WEATHER]})
    assert {verdict["provider"] for verdict in body["providers"]} == SETTINGS.providers.keys()
    assert all(verdict["accepted"] and verdict["model"] is None for verdict in body["providers"])


def test_models_may_be_named() -> None:
    models = ["fast", "anthropic/claude-sonnet-5", "demo/gemini", "nowhere/m", "x"]
    _, body = ask(CHECK, {"tools": [WEATHER], "models": models})
    assert [verdict["model"] for verdict in body["providers"]] == models
    assert [verdict["provider"] for verdict in body["providers"]][:4] == ["openai", "anthropic", "demo", None]
    assert [verdict["accepted"] for verdict in body["providers"]][:4] == [True, True, True, False]
    assert body["providers"][3]["refused"][0]["code"] == "model_not_found"


#: A tool as each door writes it.
TOOLS = {
    "native": WEATHER,
    "chat_completions": WEATHER,
    "responses": {"type": "function", **FUNCTION},
    "gemini": {
        "functionDeclarations": [
            {"name": "get_weather", "description": "Weather of a city.", "parametersJsonSchema": PARAMETERS}
        ]
    },
    "messages": {
        "name": "get_weather",
        "description": "Weather of a city.",
        "input_schema": PARAMETERS,
    },
}


@pytest.mark.parametrize("door", DOORS)
def test_tools_are_written_as_the_door_writes_them(door: str) -> None:
    own: dict[str, Any] = {"messages": {"type": "any"}, "gemini": {"functionCallingConfig": {"mode": "ANY"}}}
    choice = own.get(door, "required")
    _, body = ask(CHECK, {"tools": [TOOLS[door]], "door": door, "tool_choice": choice})
    assert body["tools"] == 1
    for verdict in body["providers"]:
        assert (verdict["accepted"], verdict["changes"], len(verdict["sent"])) == (True, [], 1), verdict


BAD_CHECKS: list[tuple[Any, tuple[int, str, str | None]]] = [
    ("{", (400, "invalid_json", None)),
    ({}, (400, "missing_required_parameter", "tools")),
    ({"tools": {}}, (400, "invalid_type", "tools")),
    ({"tools": [WEATHER], "door": "x"}, (400, "invalid_value", "door")),
    ({"tools": [WEATHER], "models": []}, (400, "invalid_value", "models")),
    ({"tools": [WEATHER], "messages": []}, (400, "unknown_parameter", "messages")),
    ({"tools": [{"type": "function"}]}, (400, "missing_required_parameter", "tools[0].function")),
    ({"tools": [WEATHER], "tool_choice": "x"}, (400, "invalid_value", "tool_choice")),
    ({"tools": [WEATHER], "parallel_tool_calls": 5}, (400, "invalid_type", "parallel_tool_calls")),
]


@pytest.mark.parametrize(("body", "expected"), BAD_CHECKS)
def test_a_bad_check(body: Any, expected: tuple[int, str, str | None]) -> None:
    assert error(CHECK, body) == expected


def test_a_check_heeds_the_options_of_its_headers() -> None:
    """As a request with these headers would."""
    _, body = ask(CHECK, {"tools": [WEATHER]}, {"x-api-key": KEY, "x-toolwire-schema-mode": "x"})
    assert [refused["code"] for refused in body["refused"]] == ["invalid_option"]
    assert not any(verdict["accepted"] for verdict in body["providers"])


# ---------------------------------------------------------------- translate

CHAT = {"model": "fast", "messages": [{"role": "user", "content": "hi"}], "tools": [WEATHER], "seed": 7}


def test_a_request_is_shown_as_it_would_be_sent() -> None:
    head, body = ask(TRANSLATE, {"door": "chat_completions", "body": {**CHAT, "model": "anthropic/claude-sonnet-5"}})
    assert head.status == 200
    assert (body["provider"], body["wire"], body["model"]) == ("anthropic", "anthropic_messages", "claude-sonnet-5")
    assert (body["method"], body["url"]) == ("POST", "https://api.anthropic.com/v1/messages")
    assert body["headers"].keys() >= {"content-type", "anthropic-version"}
    assert body["headers"].keys().isdisjoint({"x-api-key", "authorization", "x-goog-api-key"})
    assert body["body"]["tools"][0]["input_schema"] == PARAMETERS
    assert [warning["code"] for warning in body["warnings"]] == ["not_supported:seed"]


MODELS = ["openai/gpt-4.1", "openai/gpt-5.6", "anthropic/claude-sonnet-5", "google/gemini-3-flash", "demo/openai"]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("door", DOORS)
def test_what_is_shown_is_what_is_sent(door: str, model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Route, wire, policy and writer are those of the real request; `tools/check` agrees on wire and tools."""
    monkeypatch.setattr(admission, "current_settings", lambda: SETTINGS)
    monkeypatch.setattr(attempts, "_listening", lambda target: target)  # the demo's address stays a path
    body = {**CLIENTS[door].body([dict(FUNCTION)], "required", None, True), "model": model}
    headers = {"x-api-key": KEY, "x-toolwire-schema-mode": "reject"}
    record = RequestRecord("req-1", door)
    request = http_request(door, json.dumps(body).encode(), headers)
    exchange, _ = admission.open_exchange(load_door(door), request, 60.0, record)
    real = exchange.upstream_request

    if door == "gemini":
        body = json.loads(request.body)
    _, shown = ask(TRANSLATE, {"door": door, "body": body, "parameters": request.parameters}, headers)

    assert record.target is not None
    assert shown["wire"] == record.target.provider.wire
    assert (shown["method"], shown["url"], shown["body"]) == (real.method, real.url, json.loads(real.body))
    secret = {"authorization", "x-api-key", "x-goog-api-key"}
    assert shown["headers"] == {name: value for name, value in real.headers if name not in secret}
    (verdict,) = ask(CHECK, {"tools": body["tools"], "door": door, "models": [model]}, headers)[1]["providers"]
    assert verdict["wire"] == shown["wire"]
    nested = [entry.get("functionDeclarations", [entry]) for entry in shown["body"]["tools"]]
    assert verdict["sent"] == [declared for entry in nested for declared in entry]


@pytest.mark.parametrize("path", [CHECK, TRANSLATE])
def test_a_key_that_is_not_for_the_native_api(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    closed = Settings(providers=SETTINGS.providers, tenant=Tenant(doors=("chat_completions",)))
    monkeypatch.setattr(admission, "current_settings", lambda: closed)
    body = (
        {"tools": [WEATHER]}
        if path == CHECK
        else {"door": "chat_completions", "body": {**CHAT, "model": "openai/gpt-5.1"}}
    )
    assert error(path, body) == (403, "door_not_allowed", None)


def test_digits_are_kept() -> None:
    call = '{"id":"call_1","type":"function","function":{"name":"get_weather","arguments":{"n": 9007199254740993123}}}'
    messages = f'[{{"role":"user","content":"x"}},{{"role":"assistant","content":null,"tool_calls":[{call}]}}]'
    _, body = ask(TRANSLATE, f'{{"body":{{"model":"fast","messages":{messages}}}}}')
    (sent,) = body["body"]["messages"][1]["tool_calls"]
    assert sent["function"]["arguments"] == '{"n": 9007199254740993123}'
    assert body["door"] == "native"


BAD_TRANSLATIONS: list[tuple[Any, tuple[int, str, str | None]]] = [
    ("[]", (400, "invalid_json", None)),
    ({}, (400, "missing_required_parameter", "body")),
    ({"body": []}, (400, "invalid_type", "body")),
    ({"body": {"model": "fast"}}, (400, "missing_required_parameter", "messages")),
    ({"door": "gemini", "body": {"contents": []}}, (400, "missing_required_parameter", "parameters.id")),
    ({"door": "chat_completions", "body": {**CHAT, "model": "x"}}, (404, "model_not_found", "model")),
    (
        {"door": "chat_completions", "body": {**CHAT, "tools": [WEATHER, WEATHER]}},
        (400, "duplicate_tool_name", "tools[1].function.name"),
    ),
    (
        {
            "door": "chat_completions",
            "body": {**CHAT, "messages": [{"role": "tool", "tool_call_id": "a", "content": "x"}]},
        },
        (400, "unknown_tool_call_id", "messages[0].tool_call_id"),
    ),
    (
        {"body": {"conversation_id": "never-seen", "messages": [{"role": "user", "content": "hi"}]}},
        (400, "missing_required_parameter", "model"),
    ),
]


@pytest.mark.parametrize(("body", "expected"), BAD_TRANSLATIONS)
def test_a_bad_translation_is_refused_as_the_request_would_be(body: Any, expected: tuple[int, str, str | None]) -> None:
    assert error(TRANSLATE, body) == expected


# ---------------------------------------------------------------- both


@pytest.mark.parametrize("path", [CHECK, TRANSLATE])
@pytest.mark.parametrize("door", DOORS)
def test_half_a_character_is_read_as_in_a_request_for_an_answer(door: str, path: str) -> None:
    request = CLIENTS[door].body([FUNCTION | {"description": "Rain \ud83d"}], None, None, False) | {"model": "fast"}
    if path == CHECK:
        body = {"tools": request["tools"], "models": ["fast"]}
    elif door == "gemini":
        body = {"body": {"contents": request["contents"], "tools": request["tools"]}, "parameters": GEMINI_PATH}
    else:
        body = {"body": request}
    _, said = ask(path, {"door": door} | body)
    assert "Rain \ufffd" in json.dumps(said, ensure_ascii=False)
    assert "half_character_replaced" in [warning["code"] for warning in said["warnings"]]


@pytest.mark.parametrize("path", [CHECK, TRANSLATE])
def test_a_key_is_needed(path: str) -> None:
    assert error(path, {"tools": []}, headers={}) == (401, "invalid_api_key", None)


@pytest.mark.parametrize("path", [CHECK, TRANSLATE])
def test_rates_hold(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    limited = Settings(providers=SETTINGS.providers, tenant=Tenant(name=f"limited{path}", requests_per_minute=1))
    monkeypatch.setattr(admission, "current_settings", lambda: limited)
    monkeypatch.setattr(time, "time", lambda: 1_800_000_000.0)
    body = (
        {"tools": [WEATHER]}
        if path == CHECK
        else {"door": "chat_completions", "body": {**CHAT, "model": "openai/gpt-5.1"}}
    )

    head, _ = ask(path, body)

    assert (head.status, dict(head.headers)["x-ratelimit-remaining-requests"]) == (200, "0")
    assert error(path, body) == (429, "rate_limit_exceeded", None)
