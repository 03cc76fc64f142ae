"""`make secret`: a provider's key gets from standard input to where the functions look, and nowhere else."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator

import pytest

from local.destroy import main as destroy
from local.secret_admin import main
from tests.local.fake_stack import TABLE, FakeCloudFormation, fake_stack
from toolwire.shell.access.credentials import TTL_SECONDS, Credentials
from toolwire.shell.network import aws
from toolwire.shell.network.aws_secrets import read_secret
from toolwire.shell.settings.configuration import load_settings


def give(monkeypatch: pytest.MonkeyPatch, text: str, *arguments: str) -> int:
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))
    return main([*(arguments or ("openai",)), "--stack", "toolwire"])


@pytest.fixture
def stack() -> Iterator[FakeCloudFormation]:
    with fake_stack() as deployed:
        yield deployed


@pytest.mark.integration
def test_a_provider_answers_with_the_new_key_within_the_time_of_the_cache(
    stack: FakeCloudFormation, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """From the command to the credential that a deployed gateway sends, without a document and without a variable."""
    moment = 0.0
    openai = load_settings({"SECRET_PREFIX": "toolwire/"}).providers["openai"]
    credentials = Credentials({"secret": read_secret}, env={}, clock=lambda: moment)

    assert give(monkeypatch, "sk-planted-1\n") == 0
    assert credentials.credential(openai) == "sk-planted-1"
    assert give(monkeypatch, "sk-planted-2") == 0
    assert credentials.credential(openai) == "sk-planted-1"
    moment = TTL_SECONDS
    assert credentials.credential(openai) == "sk-planted-2"

    out, err = capsys.readouterr()
    assert "toolwire/openai is stored" in out
    assert "planted" not in out + err


@pytest.mark.integration
@pytest.mark.parametrize(
    "document", ['{\n "type": "service_account",\n "x": 1}', '{"tenant_id":"t","client_secret":"s"}']
)
def test_what_tokens_are_minted_from_is_stored_as_it_is(
    stack: FakeCloudFormation, monkeypatch: pytest.MonkeyPatch, document: str
) -> None:
    assert give(monkeypatch, document + "\n", "vertex") == 0
    assert read_secret("toolwire/vertex") == document


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("", ("openai",)),
        ("sk-planted 1", ("openai",)),
        ("sk-planted\nsk-planted", ("openai",)),
        ('{"key":"sk-planted"}', ("openai",)),
        ("sk-planted", ("Open AI",)),
        ("sk-planted", ("../other",)),
    ],
)
def test_what_is_no_key_is_not_stored(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], text: str, arguments: tuple[str, ...]
) -> None:
    monkeypatch.setattr(aws, "call", lambda *_, **__: pytest.fail("nothing is asked of AWS"))

    assert give(monkeypatch, text, *arguments) == 1
    assert "planted" not in "".join(capsys.readouterr())


@pytest.mark.integration
@pytest.mark.parametrize("keys", ["stay", "go"])
def test_destroy(
    stack: FakeCloudFormation, keys: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(command: list[str], **_: object) -> object:
        assert command == ["sam", "delete"]
        stack.deleted = True
        return type("Done", (), {"returncode": 0})

    monkeypatch.setattr("local.destroy.subprocess.run", run)
    assert destroy(["--stack", "toolwire", *(["--delete-keys"] if keys == "go" else []), "--", "sam", "delete"]) == 0

    assert aws.call("dynamodb", "list_tables")["TableNames"] == ([TABLE] if keys == "stay" else [])
    assert (f"KeysTableName={TABLE}" in capsys.readouterr().out) is (keys == "stay")


@pytest.mark.integration
@pytest.mark.usefixtures("stack")
@pytest.mark.parametrize("status", [0, 1])
def test_destroy_that_was_not_wanted_after_all(status: int, capsys: pytest.CaptureFixture[str]) -> None:
    command = [sys.executable, "-c", f"raise SystemExit({status})"]
    assert destroy(["--stack", "toolwire", "--delete-keys", "--", *command]) == 1

    assert "still there" in capsys.readouterr().err
    assert aws.call("dynamodb", "list_tables")["TableNames"] == [TABLE]
