"""The key of a request: where it is taken from, what is remembered of it, and that no refusal tells why."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.shell.boto3_clients import use_boto3
from toolwire.doors import KeyPlaces
from toolwire.model.errors import InternalError, RequestError
from toolwire.model.http import HttpRequest
from toolwire.model.limits import PRESET_2API, PRESET_AGENTS
from toolwire.model.settings import Settings, SettingsError, Tenant
from toolwire.shell.access import keys
from toolwire.shell.access.key_records import (
    KeyRecord,
    KeysUnavailableError,
    file_text,
    find_in_table,
    from_item,
    to_item,
)
from toolwire.shell.access.keys import MOST_KEPT, TTL_SECONDS, Keys
from toolwire.shell.network import aws

TENANT = Tenant(name="default")
OPEN = Settings(providers={}, tenant=TENANT)
LOCKED = Settings(providers={}, tenant=TENANT, key_sha256=hashlib.sha256(b"tw-secret").hexdigest())
SHUT = Settings(providers={}, tenant=TENANT, require_key=True)

NOW = 2_000_000_000


def authenticate(headers: dict[str, str], settings: Settings) -> Tenant:
    return keys.authenticate(HttpRequest("POST", "/chat/completions", headers, b""), settings)


def sha256(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()


def record(key: str, tenant: str = "acme", expires_at: int | None = None, **settings: object) -> KeyRecord:
    return KeyRecord(sha256(key), key[:11], tenant, NOW - 1000, expires_at, settings)


class FakeTable:
    """Records by hash, counting who asks."""

    def __init__(self, *records: KeyRecord) -> None:
        self.records = {found.key_sha256: found for found in records}
        self.asked: list[str] = []
        self.down = False

    def __call__(self, key_sha256: str) -> KeyRecord | None:
        self.asked.append(key_sha256)
        if self.down:
            raise KeysUnavailableError("get_item failed with ReadTimeoutError")
        return self.records.get(key_sha256)


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


UseTable = Callable[..., tuple[Settings, FakeTable]]


@pytest.fixture
def use_table(monkeypatch: pytest.MonkeyPatch) -> UseTable:
    """Settings whose keys are in a fake table, at a clock that stands still at NOW."""

    def use(*records: KeyRecord, default: Tenant = TENANT) -> tuple[Settings, FakeTable]:
        table = FakeTable(*records)
        memory = Keys(table, now=lambda: NOW)
        monkeypatch.setattr(keys, "_process_keys", lambda name, file: memory)
        return Settings(providers={}, tenant=default, require_key=True, keys_table="keys"), table

    return use


# ---------------------------------------------------------------- one key, by its hash in the environment


@pytest.mark.parametrize(
    "headers",
    [
        {"authorization": "Bearer tw-secret"},
        {"authorization": "bearer  tw-secret "},
        {"x-api-key": "tw-secret"},
        {"authorization": "Bearer other", "x-api-key": "tw-secret"},
        {"authorization": "Basic other", "x-api-key": "tw-secret"},
        {"api-key": "tw-secret"},  # Azure's clients, VS Code for some addresses (microsoft/vscode#317810)
    ],
)
def test_the_key_is_taken_from_either_header(headers: dict[str, str]) -> None:
    assert authenticate(headers, LOCKED) is TENANT


def test_a_door_says_where_its_clients_put_the_key() -> None:
    places = KeyPlaces(headers=("x-goog-api-key",), query=("key",))
    for headers, query in (({"x-goog-api-key": "tw-secret"}, {}), ({}, {"key": "tw-secret", "alt": "sse"})):
        request = HttpRequest("POST", "/", headers, b"", query=query)
        assert keys.authenticate(request, LOCKED, places) is TENANT
    elsewhere = HttpRequest("POST", "/", {"authorization": "Bearer tw-secret"}, b"")
    with pytest.raises(RequestError, match=r"send it as 'x-goog-api-key: KEY' or '\?key=KEY'\."):
        keys.authenticate(elsewhere, LOCKED, places)


WRONG: dict[str, dict[str, str]] = {
    "none": {},
    "empty": {"authorization": ""},
    "empty bearer": {"authorization": "Bearer "},
    "no scheme": {"authorization": "tw-secret"},
    "another scheme": {"authorization": "Basic tw-secret"},
    "another header": {"x-auth-token": "tw-secret"},
    "Google's header": {"x-goog-api-key": "tw-secret"},
    "a part of it": {"authorization": "Bearer tw-secre"},
    "its hash": {"x-api-key": LOCKED.key_sha256 or ""},
    "no Unicode": {"x-api-key": "\ud800"},
    "10 KB": {"authorization": "Bearer " + "x" * 10_000},
    "10 KB of it": {"x-api-key": "tw-secret" * 1_100},
}


@pytest.mark.parametrize("headers", WRONG.values(), ids=WRONG)
def test_whatever_is_wrong_with_a_key_is_refused_alike(headers: dict[str, str]) -> None:
    with pytest.raises(RequestError) as caught:
        authenticate(headers, LOCKED)

    assert _shown(caught.value) == (
        401,
        "invalid_api_key",
        "The key is missing or not valid for this gateway: send it as 'Authorization: Bearer KEY' or 'x-api-key: KEY' "
        "or 'api-key: KEY'.",
        (("x-should-retry", "false"),),
    )


def _shown(error: RequestError) -> tuple[object, ...]:
    return error.status, error.code, error.message, error.retry_headers()


def test_everybody_is_let_in_where_no_key_is_configured_nor_required() -> None:
    assert authenticate({"authorization": "Bearer whatever"}, OPEN) is TENANT
    assert authenticate({}, OPEN) is TENANT


@pytest.mark.parametrize("headers", [{}, {"authorization": "Bearer whatever"}])
def test_nobody_is_let_in_where_a_key_is_required_and_none_configured(headers: dict[str, str]) -> None:
    with pytest.raises(RequestError, match="KEYS_FILE, or KEY_SHA256") as caught:
        authenticate(headers, SHUT)
    assert caught.value.status == 401


# ---------------------------------------------------------------- keys of a table


def test_a_key_says_who_asks_and_what_holds(use_table: UseTable) -> None:
    default = replace(TENANT, limits=PRESET_2API, requests_per_minute=5)
    made = record("tw_12345678_a", "acme", models=["openai/*"], tool_calls_per_minute=7, requests_per_minute=60)
    settings, _ = use_table(made, record("tw_87654321_b", "zeta"), default=default)

    acme = authenticate({"x-api-key": "tw_12345678_a"}, settings)
    assert (acme.name, acme.models, acme.requests_per_minute, acme.tool_calls_per_minute) == (
        "acme",
        ("openai/*",),
        60,
        7,
    )
    assert acme.limits is PRESET_2API
    assert authenticate({"authorization": "Bearer tw_87654321_b"}, settings) == replace(default, name="zeta")


def test_the_key_of_the_environment_is_good_beside_the_table(use_table: UseTable) -> None:
    settings, table = use_table(record("tw_12345678_a"))
    settings = replace(settings, key_sha256=sha256("tw-secret"))

    assert authenticate({"x-api-key": "tw-secret"}, settings) is TENANT
    assert authenticate({"x-api-key": "tw_12345678_a"}, settings).name == "acme"
    assert table.asked == [sha256("tw_12345678_a")]


def test_bad_revoked_expired_and_rotated_keys_are_refused_alike(use_table: UseTable) -> None:
    """The same words, and the same look-up behind them: nothing tells which it was, the time it takes included."""
    settings, table = use_table(
        record("tw_12345678_good"),
        record("tw_12345678_expired", expires_at=NOW),
        record("tw_12345678_old", expires_at=NOW - 3600),
    )
    shown = set()
    for key in ("tw_12345678_expired", "tw_12345678_old", "tw_12345678_revoked", "tw-secret", "x" * 10_000):
        for headers in ({"authorization": f"Bearer {key}"}, {"x-api-key": key}):
            with pytest.raises(RequestError) as caught:
                authenticate(headers, settings)
            shown.add(_shown(caught.value))
            assert key not in str(caught.value)
        assert table.asked.count(sha256(key)) == 1
    with pytest.raises(RequestError) as caught:
        authenticate({"x-auth-token": "tw_12345678_good"}, settings)
    assert {_shown(caught.value)} == shown


@pytest.mark.parametrize("key", ["tw_12345678_a", "tw_unknown"], ids=["good", "refused"])
def test_a_minute_is_remembered_and_no_longer(key: str) -> None:
    table, clock = FakeTable(record("tw_12345678_a")), Clock()
    memory = Keys(table, clock, now=lambda: NOW)
    found = [memory.find(sha256(key)) for _ in range(100)]

    assert len(set(map(id, found))) == 1
    assert len(table.asked) == 1, "a warm check asks nobody"
    clock.now += TTL_SECONDS - 0.1
    memory.find(sha256(key))
    assert len(table.asked) == 1
    clock.now += 0.1
    memory.find(sha256(key))
    assert len(table.asked) == 2


def test_a_revoked_key_is_refused_within_a_minute_and_a_new_one_works_within_one() -> None:
    table, clock = FakeTable(record("tw_12345678_a")), Clock()
    memory = Keys(table, clock, now=lambda: NOW)
    assert memory.find(sha256("tw_12345678_a")) is not None
    assert memory.find(sha256("tw_later")) is None

    table.records = {sha256("tw_later"): record("tw_later")}
    clock.now += TTL_SECONDS
    assert memory.find(sha256("tw_12345678_a")) is None
    assert memory.find(sha256("tw_later")) is not None


def test_a_key_ends_at_its_second_although_it_is_remembered() -> None:
    moment = NOW - 1
    memory = Keys(FakeTable(record("tw_12345678_a", expires_at=NOW)), Clock(), now=lambda: moment)
    assert memory.find(sha256("tw_12345678_a")) is not None
    moment = NOW
    assert memory.find(sha256("tw_12345678_a")) is None


def test_a_flood_of_invented_keys_is_forgotten_and_pushes_out_no_good_one() -> None:
    table = FakeTable(record("tw_12345678_a"))
    memory = Keys(table, Clock(), now=lambda: NOW)
    memory.find(sha256("tw_12345678_a"))
    for number in range(3 * MOST_KEPT):
        memory.find(f"{number:064x}")

    assert len(memory._refused) == MOST_KEPT
    asked = len(table.asked)
    memory.find(sha256("tw_12345678_a"))
    assert len(table.asked) == asked


def test_a_table_that_cannot_be_asked_lets_nobody_in_and_may_be_asked_again(use_table: UseTable) -> None:
    settings, table = use_table(record("tw_12345678_a"))
    table.down = True
    with pytest.raises(InternalError, match="ReadTimeoutError") as caught:
        authenticate({"x-api-key": "tw_12345678_a"}, settings)

    error = caught.value
    assert (error.status, error.code) == (503, "key_check_unavailable")
    assert error.retry_headers() == (("retry-after", "1"),)
    table.down = False
    assert authenticate({"x-api-key": "tw_12345678_a"}, settings).name == "acme"


def test_settings_of_a_key_that_mean_nothing_are_the_operators_to_mend(use_table: UseTable) -> None:
    settings, _ = use_table(record("tw_12345678_a", preset="huge"))
    with pytest.raises(SettingsError, match=r"the key tw_12345678 of acme\.preset: 'huge' is not known"):
        authenticate({"x-api-key": "tw_12345678_a"}, settings)


# ---------------------------------------------------------------- where records are


def test_a_file_of_keys(tmp_path: Path) -> None:
    file = tmp_path / "keys.json"
    settings = Settings(providers={}, tenant=TENANT, keys_file=str(file))
    with pytest.raises(RequestError, match="missing or not valid"):  # named but not there: no key is good
        authenticate({"x-api-key": "tw_12345678_a"}, settings)

    file.write_text(file_text([record("tw_12345678_b", preset="2api")]))
    tenant = authenticate({"x-api-key": "tw_12345678_b"}, settings)
    assert (tenant.name, tenant.limits) == ("acme", PRESET_2API)
    assert TENANT.limits is PRESET_AGENTS


@pytest.mark.parametrize("text", ["", "[]", '{"keys": [1]}', '{"keys": [{"key_id": "tw_1"}]}', '{"keys": 1}'])
def test_a_file_that_is_none_of_ours(tmp_path: Path, text: str) -> None:
    file = tmp_path / "keys.json"
    file.write_text(text)
    with pytest.raises(SettingsError, match="make key"):
        authenticate({"x-api-key": "k"}, Settings(providers={}, keys_file=str(file)))


@pytest.mark.parametrize(
    "made", [record("k"), record("k", expires_at=NOW), record("k", models=["a/*"], requests_per_minute=3)]
)
def test_an_item_is_the_record_again(made: KeyRecord) -> None:
    assert from_item(to_item(made)) == made


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("tenant", {"S": "a#b"}),
        ("tenant", {"S": ""}),
        ("settings", {"S": "{"}),
        ("settings", {"S": "[]"}),
        ("x", {"S": ""}),
    ],
)
def test_an_item_that_was_changed_by_hand(name: str, value: dict[str, str]) -> None:
    with pytest.raises(SettingsError, match="'tw_12345678' is broken"):
        from_item({**to_item(record("tw_12345678_a")), name: value})


@pytest.fixture
def table(in_moto: Callable[[str, str], str]) -> str:
    """A table of keys that is empty."""
    return in_moto("keys", "key_sha256")


@pytest.mark.integration
def test_a_dynamodb_table_of_keys(table: str, caplog: pytest.LogCaptureFixture) -> None:
    made = record("tw_12345678_planted", expires_at=NOW, preset="2api")
    aws.call("dynamodb", "put_item", TableName=table, Item=to_item(made))
    caplog.set_level(logging.DEBUG)
    calls: list[str] = []
    use_boto3("dynamodb").meta.events.register("before-call.dynamodb", lambda model, **_: calls.append(model.name))
    memory = Keys(find_in_table(table), now=lambda: NOW - 1)

    assert [memory.find(made.key_sha256) for _ in range(50)] == [made] * 50
    assert calls == ["GetItem"], "cold: one read; warm: none"
    assert memory.find(sha256("tw_other")) is None
    assert calls == ["GetItem"] * 2
    assert "planted" not in caplog.text + json.dumps(to_item(made))
    with pytest.raises(KeysUnavailableError, match="ResourceNotFoundException"):
        find_in_table("absent")(made.key_sha256)


def test_a_read_that_got_no_answer_is_tried_once_more(monkeypatch: pytest.MonkeyPatch) -> None:
    answers: list[object] = [aws.AwsError("get_item", "ReadTimeoutError", "timeout"), {"Item": to_item(record("k"))}]

    def call(service: str, operation: str, **arguments: object) -> object:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(aws, "call", call)
    assert find_in_table("keys")(sha256("k")) == record("k")
    answers += [aws.AwsError("get_item", "AccessDeniedException", "denied")]
    with pytest.raises(KeysUnavailableError, match="AccessDenied"):
        find_in_table("keys")(sha256("k"))
    assert answers == []
