"""How a token is kept: when it is minted anew, by whom, and what happens while that goes on or fails."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable

import pytest

from tests.shell.access.cloud_tokens.clouds import Cloud
from toolwire.model.errors import InternalError, RequestError
from toolwire.model.settings import ProviderConfig
from toolwire.shell.access.cloud_tokens import KeptToken, Token, TokenError
from toolwire.shell.access.cloud_tokens.tokens import FAILED_SECONDS
from toolwire.shell.access.credentials import Credentials


class Clock:
    now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


class Mint:
    """Gives t1, t2, ..., each for an hour; waits for `open` where it is not set."""

    def __init__(self, seconds: float = 3600.0) -> None:
        self.count, self.seconds = 0, seconds
        self.open = threading.Event()
        self.open.set()
        self.failure: str | None = None

    def __call__(self) -> Token:
        self.count += 1
        number = self.count
        assert self.open.wait(10)
        if self.failure is not None:
            raise TokenError(self.failure)
        return Token(f"t{number}", self.seconds)


def awaited(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 10
    while not true():
        assert time.monotonic() < end
        time.sleep(0.005)


def test_a_token_is_minted_once() -> None:
    mint, clock = Mint(), Clock()
    kept = KeptToken(mint, clock)
    assert mint.count == 0
    for _ in range(5):
        assert kept.value() == "t1"
    clock.now += 2900
    assert (kept.value(), mint.count) == ("t1", 1)


def test_requests_go_on_with_the_old_one_while_the_next_is_minted() -> None:
    mint, clock = Mint(), Clock()
    kept = KeptToken(mint, clock)
    kept.value()
    clock.now += 3100
    mint.open.clear()
    assert [kept.value() for _ in range(20)] == ["t1"] * 20
    awaited(lambda: mint.count == 2)  # one thread mints, and nobody waits
    mint.open.set()
    awaited(lambda: kept.value() == "t2")
    assert mint.count == 2


def test_an_expired_one_is_never_used() -> None:
    mint, clock = Mint(), Clock()
    kept = KeptToken(mint, clock)
    kept.value()
    clock.now += 3541  # less than a minute is left
    assert kept.value() == "t2"


def test_one_request_mints_and_the_others_wait_for_it() -> None:
    mint = Mint()
    mint.open.clear()
    kept, got = KeptToken(mint, Clock()), []
    threads = [threading.Thread(target=lambda: got.append(kept.value())) for _ in range(12)]
    for thread in threads:
        thread.start()
    awaited(lambda: mint.count == 1)
    mint.open.set()
    for thread in threads:
        thread.join(10)
    assert (got, mint.count) == (["t1"] * 12, 1)


def test_what_failed_is_not_tried_by_each() -> None:
    mint, clock = Mint(), Clock()
    kept = KeptToken(mint, clock)
    mint.failure = "no"
    for _ in range(5):
        with pytest.raises(TokenError, match="no"):
            kept.value()
    assert mint.count == 1
    clock.now += FAILED_SECONDS
    mint.failure = None
    assert kept.value() == "t2"


def test_a_failed_renewal_leaves_the_old_one() -> None:
    mint, clock = Mint(), Clock()
    kept = KeptToken(mint, clock)
    kept.value()
    clock.now += 3100
    mint.failure = "no"
    assert kept.value() == "t1"
    awaited(lambda: mint.count == 2)
    mint.failure = None
    assert kept.value() == "t1"  # not tried again at once
    clock.now += FAILED_SECONDS
    awaited(lambda: kept.value() == "t3")


def test_a_token_that_a_host_refuses_is_minted_anew_but_not_each_time() -> None:
    mint, clock = Mint(), Clock()
    kept = KeptToken(mint, clock)
    kept.value()
    kept.refused()  # as soon as it was minted: another one would fare no better
    assert kept.value() == "t1"
    clock.now += 60
    kept.refused()
    assert (kept.value(), mint.count) == ("t2", 2)


@pytest.mark.parametrize("seconds", [0, 1, 30])
def test_a_short_life_is_used_as_long_as_it_is(seconds: float) -> None:
    mint, clock = Mint(seconds), Clock()
    kept = KeptToken(mint, clock)
    assert kept.value() == "t1"
    clock.now += seconds
    assert kept.value() == "t2"


# ---------------------------------------------------------------- by the credentials of a provider

CLIENT = json.dumps({"tenant_id": "t", "client_id": "c", "client_secret": "s3cret"})
TOKEN_URL = "login.microsoftonline.com/t/oauth2/v2.0/token"


def azure(credential: str, **more: str) -> ProviderConfig:
    return ProviderConfig("azure", "openai_chat", "https://r.openai.azure.com/openai/v1", credential, **more)  # type: ignore[arg-type]


def test_a_provider_has_its_token() -> None:
    cloud = Cloud({TOKEN_URL: {"access_token": "eyJ.1", "expires_in": 3600}})
    credentials = Credentials({"secret": lambda name: {"azure": CLIENT}[name]}, env={"DOCUMENT": CLIENT}, ask=cloud.ask)
    for reference in ("entra:secret:azure", "entra:env:DOCUMENT"):
        assert [credentials.credential(azure(reference)) for _ in range(3)] == ["eyJ.1"] * 3
    assert len(cloud.asked) == 2
    credentials.credential(azure("entra:secret:azure", scope="https://other.example/.default"))
    assert (len(cloud.asked), cloud.form(-1)["scope"]) == (3, "https://other.example/.default")


def test_a_refused_token_is_forgotten_and_a_key_is_not_looked_for() -> None:
    cloud, clock = Cloud({TOKEN_URL: {"access_token": "eyJ.1", "expires_in": 3600}}), Clock()
    credentials = Credentials({}, env={"DOCUMENT": CLIENT}, now=clock, ask=cloud.ask)
    credentials.credential(azure("entra:env:DOCUMENT"))
    clock.now += 100
    credentials.refused(azure("entra:env:DOCUMENT"))
    credentials.refused(azure("env:KEY"))
    credentials.credential(azure("entra:env:DOCUMENT"))
    assert len(cloud.asked) == 2


def test_a_missing_document_is_named() -> None:
    with pytest.raises(RequestError, match="environment variable DOCUMENT is not set") as caught:
        Credentials({}, env={}, ask=Cloud({}).ask).credential(azure("entra:env:DOCUMENT"))
    assert (caught.value.status, caught.value.code) == (401, "missing_credential")


def test_a_cloud_that_refuses_is_named(caplog: pytest.LogCaptureFixture) -> None:
    cloud = Cloud({TOKEN_URL: (401, {"error": "invalid_client", "error_description": "AADSTS1: no."})})
    with pytest.raises(InternalError) as caught:
        Credentials({}, env={"DOCUMENT": CLIENT}, ask=cloud.ask).credential(azure("entra:env:DOCUMENT"))
    error = caught.value
    assert (error.status, error.code) == (503, "credential_unavailable")
    assert error.message == (
        "There is no access token for provider 'azure': login.microsoftonline.com answered 401 "
        "(invalid_client: AADSTS1: no.)."
    )
    assert "s3cret" not in caplog.text
