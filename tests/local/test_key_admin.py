"""`make key`: keys are made, listed, replaced and revoked, and shown once."""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from local.key_admin import main
from tests.local.fake_stack import STACK, TABLE, fake_stack
from toolwire.model.errors import RequestError
from toolwire.model.http import HttpRequest
from toolwire.model.settings import Settings
from toolwire.shell.access.key_records import find_in_file, find_in_table, read_file
from toolwire.shell.access.keys import Keys, _sha256, _tenant, authenticate
from toolwire.shell.network import aws

NOW = 2_000_000_000
DAY = 86_400
KEY = re.compile(r"tw_[0-9A-Za-z]{8}_[0-9A-Za-z]{40}\n")


class Admin:
    """The command, at a place for keys and a moment."""

    def __init__(self, place: list[str], capsys: pytest.CaptureFixture[str]) -> None:
        self.now = NOW
        self._place = place
        self._capsys = capsys
        self.printed = ""

    def run(self, *arguments: str) -> str:
        """Standard output of a command that succeeded."""
        status, out, err = self.try_to(*arguments)
        assert status == 0, err
        return out

    def try_to(self, *arguments: str) -> tuple[int, str, str]:
        self._capsys.readouterr()
        status = main([*arguments, *self._place], now=lambda: self.now + 0.5)
        out, err = self._capsys.readouterr()
        self.printed += out + err
        return status, out, err

    def make(self, *arguments: str) -> str:
        out = self.run("create", *arguments)
        assert KEY.fullmatch(out)
        return out.strip()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "state" / "keys.json"


@pytest.fixture
def admin(file: Path, capsys: pytest.CaptureFixture[str]) -> Admin:
    return Admin(["--file", str(file)], capsys)


def good(file: Path, key: str, now: int = NOW) -> bool:
    return Keys(find_in_file(file), now=lambda: now).find(_sha256(key)) is not None


def test_a_key_is_shown_once_and_only_its_hash_is_kept(admin: Admin, file: Path) -> None:
    key = admin.make("--tenant", "acme")

    assert good(file, key)
    assert (
        authenticate(
            HttpRequest("GET", "/models", {"x-api-key": key}, b""), Settings(providers={}, keys_file=str(file))
        ).name
        == "acme"
    )
    secret = key[12:]
    assert secret not in file.read_text()
    assert secret not in admin.run("list")
    assert admin.printed.count(secret) == 1
    assert key[:11] in admin.run("list")


def test_the_file_is_its_owners_alone(admin: Admin, file: Path) -> None:
    for _ in range(2):
        admin.make("--tenant", "acme")
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
        assert [found.name for found in file.parent.iterdir()] == [file.name]


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    taken = tmp_path / "taken"
    taken.write_text("")
    admin = Admin(["--file", str(taken / "toolwire" / "keys.json")], capsys)

    status, out, err = admin.try_to("create", "--tenant", "acme")

    assert (status, out) == (1, "")  # a key that is not kept is not shown
    assert "keys.json' cannot be" in err
    assert err.count("\n") == 1


def test_settings_of_a_key(admin: Admin, file: Path, tmp_path: Path) -> None:
    settings = tmp_path / "acme.toml"
    settings.write_text('models = ["openai/*"]\nrequests_per_minute = 120\n')
    key = admin.make("--tenant", "acme", "--settings", str(settings), "--days", "90")

    (record,) = read_file(file)
    assert (record.created_at, record.expires_at) == (NOW, NOW + 90 * DAY)
    tenant = _tenant(record, Settings(providers={}).tenant)
    assert (tenant.models, tenant.requests_per_minute) == (("openai/*",), 120)
    assert good(file, key, NOW + 90 * DAY - 1)
    assert not good(file, key, NOW + 90 * DAY)
    assert "2033-08-16 03:33 UTC" in admin.run("list")
    admin.now += 90 * DAY
    assert "(expired)" in admin.run("list")


def test_a_rotated_key_is_refused_and_the_new_one_holds_the_same(admin: Admin, file: Path, tmp_path: Path) -> None:
    settings = tmp_path / "acme.toml"
    settings.write_text('models = ["openai/*"]')
    old = admin.make("--tenant", "acme", "--settings", str(settings), "--days", "30")
    admin.now += DAY
    new = admin.run("rotate", "--tenant", "acme").strip()

    (record,) = read_file(file)
    assert record.settings == {"models": ["openai/*"]}
    assert record.expires_at == NOW + DAY + 30 * DAY
    assert good(file, new)
    assert not good(file, old)


def test_a_rotated_key_may_be_good_for_a_while(admin: Admin, file: Path) -> None:
    old = admin.make("--tenant", "acme")
    new = admin.run("rotate", "--key", old[:11], "--grace", "3600").strip()

    assert [good(file, key, NOW + 3599) for key in (old, new)] == [True, True]
    assert [good(file, key, NOW + 3600) for key in (old, new)] == [False, True]
    # The grace never makes a key live longer than it was made to.
    short = admin.make("--tenant", "zeta", "--days", "1")
    admin.run("rotate", "--key", short[:11], "--grace", str(5 * DAY))
    assert not good(file, short, NOW + DAY)


def test_rotation_with_new_settings(admin: Admin, file: Path, tmp_path: Path) -> None:
    admin.make("--tenant", "acme")
    settings = tmp_path / "acme.toml"
    settings.write_text("requests_per_minute = 7")
    admin.run("rotate", "--tenant", "acme", "--settings", str(settings))

    assert [record.settings for record in read_file(file)] == [{"requests_per_minute": 7}]


def test_revoked_keys_are_refused(admin: Admin, file: Path) -> None:
    first, second, other = (admin.make("--tenant", tenant) for tenant in ("acme", "acme", "zeta"))
    admin.run("revoke", "--key", first)  # a whole key, pasted: its beginning counts, and it is not shown again

    assert admin.printed.count(first[12:]) == 1
    assert [good(file, key) for key in (first, second, other)] == [False, True, True]
    admin.run("revoke", "--tenant", "acme")
    assert [good(file, key) for key in (first, second, other)] == [False, False, True]
    admin.run("revoke", "--tenant", "zeta")
    with pytest.raises(RequestError):  # a file without keys lets nobody in
        authenticate(HttpRequest("GET", "/models", {}, b""), Settings(providers={}, keys_file=str(file)))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["create"], "name who the key is for"),
        (["create", "--tenant", "Acme Inc"], "a tenant's name has"),
        (["create", "--tenant", "a#b"], "a tenant's name has"),
        (["create", "--tenant", "acme", "--settings", "absent.toml"], "absent.toml cannot be read: No such file"),
        (["rotate"], "say which to rotate"),
        (["revoke"], "say which to revoke"),
        (["rotate", "--tenant", "acme"], "here are 2: tw_"),
        (["rotate", "--tenant", "nobody"], "there is no such key in"),
        (["revoke", "--key", "planted-secret"], "a key is named by its beginning"),
    ],
)
def test_what_cannot_be_done_is_said(admin: Admin, file: Path, arguments: list[str], says: str) -> None:
    for _ in range(2):
        admin.make("--tenant", "acme")
    before = file.read_text()
    status, out, err = admin.try_to(*arguments)

    assert (status, out) == (1, "")
    assert says in err
    assert "planted" not in err
    assert file.read_text() == before


def test_settings_that_mean_nothing_make_no_key(admin: Admin, file: Path, tmp_path: Path) -> None:
    settings = tmp_path / "acme.toml"
    for text, says in [
        ("model = 1", "there is no such key"),
        ("requests_per_minute = 0", "from 1 to"),
        ("= 1", "not TOML"),
    ]:
        settings.write_text(text)
        status, out, err = admin.try_to("create", "--tenant", "acme", "--settings", str(settings))
        assert (status, out) == (1, "")
        assert says in err
    assert not file.exists()


# ---------------------------------------------------------------- a deployed stack


@pytest.fixture
def stack() -> Iterator[str]:
    with fake_stack():
        yield STACK


@pytest.mark.integration
def test_the_keys_of_a_stack(stack: str, capsys: pytest.CaptureFixture[str]) -> None:
    admin = Admin(["--stack", stack], capsys)
    find = find_in_table(TABLE)
    old = admin.make("--tenant", "acme", "--days", "1")
    new = admin.run("rotate", "--tenant", "acme", "--grace", "60").strip()

    assert [admin.run("list").count(key[:11]) for key in (old, new)] == [1, 1]
    records = [find(_sha256(key)) for key in (old, new)]
    assert [record and record.expires_at for record in records] == [NOW + 60, NOW + DAY]
    admin.run("revoke", "--tenant", "acme")
    assert [find(_sha256(key)) for key in (old, new)] == [None, None]
    assert old[12:] not in json.dumps(aws.call("dynamodb", "scan", TableName=TABLE))


@pytest.mark.integration
def test_a_stack_that_is_not_there(stack: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "--stack", "absent"]) == 1
    assert "there is no stack 'absent' in this account and region: deploy it first" in capsys.readouterr().err


def test_without_a_region_it_is_said(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, "/dev/null")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    aws.forget_clients()

    assert main(["list", "--stack", "toolwire"]) == 1
    assert "name a region" in capsys.readouterr().err
