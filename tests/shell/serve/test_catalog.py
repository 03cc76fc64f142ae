"""GET /models and GET /health as their function answers them."""

import hashlib
import json
from typing import Any

import pytest

import toolwire
from toolwire.model.http import Head
from toolwire.model.settings import ProviderConfig, Settings
from toolwire.providers.hosts import DEMO_MODELS
from toolwire.shell.serve import catalog as module
from toolwire.shell.serve.catalog import serve_catalog
from toolwire.shell.settings.configuration import SettingsError
from toolwire.shell.store.current import open_store

LOCKED = Settings(
    providers={"acme": ProviderConfig("acme", "openai_chat", "https://acme.example/v1")},
    aliases={"fast": "acme/m"},
    key_sha256=hashlib.sha256(b"tw-key").hexdigest(),
)


def ask(path: str, headers: dict[str, str] | None = None) -> tuple[Head, Any]:
    """Head and decoded body of a GET."""
    event = {"httpMethod": "GET", "path": path, "headers": headers, "requestContext": {"requestId": "req-1"}}
    head, body = serve_catalog(event, None)
    assert isinstance(head, Head)
    assert isinstance(body, bytes)
    assert dict(head.headers)["x-request-id"] == "req-1"
    assert dict(head.headers)["content-type"] == "application/json"
    return head, json.loads(body)


@pytest.fixture(autouse=True)
def locked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A gateway that asks for a key."""
    monkeypatch.setattr(module, "current_settings", lambda: LOCKED)


def test_models_need_the_key() -> None:
    head, body = ask("/models", {"X-Api-Key": "tw-key"})

    assert head.status == 200
    assert [model["id"] for model in body["data"]] == [*(f"demo/{name}" for name in DEMO_MODELS), "fast"]


def test_a_refusal_is_one_that_every_sdk_reads() -> None:
    head, body = ask("/models")

    assert head.status == 401
    assert (body["type"], body["request_id"]) == ("error", "req-1")
    assert (body["error"]["type"], body["error"]["code"]) == ("authentication_error", "invalid_api_key")
    assert {"message", "param"} <= body["error"].keys()


def test_health_needs_none() -> None:
    head, body = ask("/health")

    assert (head.status, body) == (
        200,
        {"status": "ok", "version": toolwire.__version__, "demo": True, "store": "memory"},
    )


def test_health_names_the_store(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "current_store", lambda: open_store({"STORE_TABLE": "calls"}))

    assert ask("/health")[1]["store"] == "dynamodb"


def test_a_store_that_cannot_be_meant_is_no_good_health(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "current_store", lambda: open_store({"STORE": "redis"}))

    head, body = ask("/health")

    assert (head.status, body["error"]["code"]) == (500, "configuration_error")


def test_nothing_else_is_there() -> None:
    head, body = ask("/elsewhere", {"Authorization": "Bearer tw-key"})

    assert (head.status, body["error"]["code"]) == (404, "not_found")


@pytest.mark.parametrize("path", ["/models", "/health"])
def test_a_wrong_configuration_is_no_good_health(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong() -> Settings:
        raise SettingsError("providers.acme.wire: 'x' is not known")

    monkeypatch.setattr(module, "current_settings", wrong)

    head, body = ask(path)

    assert (head.status, body["error"]["code"]) == (500, "configuration_error")
    assert "acme" not in json.dumps(body)


def test_an_invocation_that_is_no_request_does_nothing() -> None:
    assert list(serve_catalog({"ping": 1}, None))[1:] == [b"{}"]
