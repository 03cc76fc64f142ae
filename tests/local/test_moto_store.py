"""STORE=moto: a table that is there when it is first needed, and nothing else of AWS that is played."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator

import pytest

from local.moto_store import MotoTable, moto_store
from tests.shell.fake_dynamodb import FakeDynamoDb
from tests.shell.store_tables import TABLE, Clock, item, soon
from toolwire.model.settings import SettingsError
from toolwire.shell.network import aws
from toolwire.shell.store.dynamodb import DynamoDbStore

pytestmark = [pytest.mark.enable_socket, pytest.mark.usefixtures("fresh_clients")]


@pytest.mark.parametrize("env", [{"STORE": "moto"}, {"STORE": "moto", "STORE_TABLE": "calls"}])
def test_its_name_is_shown(env: dict[str, str]) -> None:
    assert moto_store(env).name == "moto"


def test_another_dynamodb_excludes_it() -> None:
    with pytest.raises(SettingsError, match="AWS_ENDPOINT_URL_DYNAMODB: names"):
        moto_store({"STORE": "moto", "AWS_ENDPOINT_URL_DYNAMODB": "http://127.0.0.1:1"})


def test_moto_has_to_be_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)

    with pytest.raises(SettingsError, match="STORE: moto is not installed"):
        moto_store({"STORE": "moto"})


@pytest.fixture
def table() -> Iterator[MotoTable]:
    started = MotoTable(TABLE)
    yield started
    started.stop()


def test_it_needs_neither_an_account_nor_a_region(table: MotoTable) -> None:
    """And its start, which takes longer than a turn may, is no part of the deadline."""
    store = DynamoDbStore(TABLE, name="moto", call=table.call, clock=Clock())

    store.put([item("call_a")], deadline=soon(0.3))

    assert store.mappings("acme#TOKEN", deadline=soon(0.3)) == [item("call_a")]


def test_other_services_are_asked_where_they_are(table: MotoTable, monkeypatch: pytest.MonkeyPatch) -> None:
    """A credential in Secrets Manager is still read from there."""
    table.call("list_tables", deadline=soon())
    server = FakeDynamoDb((200, {"SecretString": "from the endpoint"}))
    monkeypatch.setenv("AWS_ENDPOINT_URL_SECRETS_MANAGER", server.url)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    try:
        answer = aws.call("secretsmanager", "get_secret_value", SecretId="toolwire/acme")
    finally:
        server.close()

    assert answer["SecretString"] == "from the endpoint"


def test_its_items_end_with_it(table: MotoTable) -> None:
    store = DynamoDbStore(TABLE, call=table.call, clock=Clock())
    store.put([item("call_a")], deadline=soon())
    table.stop()

    assert store.mappings("acme#TOKEN", deadline=soon()) == []
