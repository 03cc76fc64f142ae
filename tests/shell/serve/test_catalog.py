"""GET /models and GET /health as their function answers them."""

import hashlib
import json
from dataclasses import replace
from typing import Any

import pytest

import toolwire
from toolwire.model.http import Head
from toolwire.model.settings import ProviderConfig, Settings, SettingsError, Tenant
from toolwire.providers.hosts import DEMO_MODELS
from toolwire.shell.serve import catalog as module
from toolwire.shell.serve.catalog import serve_catalog
from toolwire.shell.store.current import open_store

LOCKED = Settings(
    providers={"acme": ProviderConfig("acme", "openai_chat", "https://acme.example/v1")},
    aliases={"fast": "acme/m"},
    key_sha256=hashlib.sha256(b"tw-key").hexdigest(),
)


def ask(
    path: str, headers: dict[str, str] | None = None, model: str | None = None, query: dict[str, str] | None = None
) -> tuple[Head, Any]:
    """Head and decoded body of a GET."""
    event: dict[str, Any] = {
        "httpMethod": "GET",
        "path": path,
        "headers": headers,
        "requestContext": {"requestId": "req-1"},
    }
    event["pathParameters"] = None if model is None else {"id": model}
    event["queryStringParameters"] = query
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


@pytest.mark.parametrize("resource", ["/models/{id+}", "/v1/models/{id+}"])
@pytest.mark.parametrize(
    ("model", "name", "owner"),
    [
        ("fast", "fast", "acme"),
        ("demo/openai", "demo/openai", "demo"),
        ("demo%2Fopenai", "demo/openai", "demo"),
        ("acme/ft%3Amodel/1", "acme/ft:model/1", "acme"),  # the provider knows whether it has that
    ],
)
def test_one_model(resource: str, model: str, name: str, owner: str) -> None:
    head, body = ask(resource, {"X-Api-Key": "tw-key"}, model)

    assert head.status == 200
    assert (body["id"], body["object"], body["owned_by"]) == (name, "model", owner)
    assert (body["type"], body["display_name"]) == ("model", name)


@pytest.mark.parametrize(
    ("resource", "headers", "query", "is_googles"),
    [
        ("/v1beta/models", {"Authorization": "Bearer tw-key"}, None, True),
        ("/v1beta/models", {"X-Goog-Api-Key": "tw-key"}, None, True),
        ("/v1beta/models", None, {"key": "tw-key"}, True),
        ("/models", {"X-Goog-Api-Key": "tw-key"}, None, True),
        ("/models", None, {"key": "tw-key"}, True),
        ("/models", {"Authorization": "Bearer tw-key"}, None, False),
        ("/models", {"X-Api-Key": "tw-key"}, {"limit": "9"}, False),
    ],
)
def test_models_are_listed_in_the_form_of_the_api_whose_client_asks(
    resource: str, headers: dict[str, str] | None, query: dict[str, str] | None, is_googles: bool
) -> None:
    listed = ask(resource, headers, query=query)[1]
    one = ask(resource + "/{id+}", headers, "demo%2Fopenai", query)[1]

    if is_googles:
        assert [model["name"] for model in listed["models"]] == [
            *(f"models/demo/{m}" for m in DEMO_MODELS),
            "models/fast",
        ]
        assert one == listed["models"][list(DEMO_MODELS).index("openai")]
    else:
        assert listed["object"] == "list"
        assert one["id"] == "demo/openai"


@pytest.mark.parametrize("model", ["slow", "other/m", "demo/none", "", "acme/"])
def test_an_unknown_model_is_an_error_that_every_sdk_reads(model: str) -> None:
    head, body = ask("/models/{id+}", {"X-Api-Key": "tw-key"}, model)

    assert head.status == 404
    assert (body["type"], body["error"]["type"], body["error"]["code"]) == (
        "error", "not_found_error", "model_not_found",
    )  # fmt: skip


def test_one_model_needs_the_key_and_a_right_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ask("/models/{id+}", None, "fast")[0].status == 401
    monkeypatch.setattr(module, "current_settings", lambda: replace(LOCKED, tenant=Tenant(models=("demo/*",))))
    statuses = [ask("/models/{id+}", {"X-Api-Key": "tw-key"}, model)[0].status for model in ("fast", "demo/openai")]
    assert statuses == [404, 200]


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
