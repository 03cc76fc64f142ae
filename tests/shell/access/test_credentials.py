"""Credentials of providers: where they come from, how long they are kept, what is said when one is missing."""

import logging
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.shell.boto3_clients import use_boto3
from toolwire.model.errors import InternalError, RequestError
from toolwire.model.settings import ProviderConfig
from toolwire.shell.access.credentials import RETRY_SECONDS, TTL_SECONDS, Credentials
from toolwire.shell.network.aws_secrets import SecretStoreError, read_parameter, read_secret

pytestmark = pytest.mark.usefixtures("fresh_clients")


class FakeStore:
    """A secret store that counts how often it is asked."""

    def __init__(self, values: dict[str, str]) -> None:
        self.values = values
        self.asked = 0
        self.down = False

    def __call__(self, name: str) -> str | None:
        self.asked += 1
        if self.down:
            raise SecretStoreError("get_secret_value answered AccessDeniedException")
        return self.values.get(name)


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def provider(credential: str) -> ProviderConfig:
    return ProviderConfig("acme", "openai_chat", "https://acme.example/v1", credential)


def test_none_is_no_credential() -> None:
    assert Credentials({}, env={}).credential(provider("none")) is None


def test_a_variable_is_read_each_time() -> None:
    env = {"ACME_KEY": "sk-1\n"}
    credentials = Credentials({}, env=env)

    assert credentials.credential(provider("env:ACME_KEY")) == "sk-1"
    env["ACME_KEY"] = "sk-2"
    assert credentials.credential(provider("env:ACME_KEY")) == "sk-2"


@pytest.mark.parametrize("kind", ["secret", "ssm"])
def test_a_stored_one_is_kept_for_a_while(kind: str) -> None:
    store, clock = FakeStore({"toolwire/acme": "sk-1"}), Clock()
    credentials = Credentials({kind: store}, env={}, clock=clock)
    acme = provider(f"{kind}:toolwire/acme")

    assert [credentials.credential(acme) for _ in range(3)] == ["sk-1"] * 3
    assert store.asked == 1
    store.values["toolwire/acme"] = "sk-2"
    clock.now += TTL_SECONDS + 1
    assert credentials.credential(acme) == "sk-2"
    assert store.asked == 2


@pytest.mark.parametrize("kind", ["secret", "ssm"])
@pytest.mark.parametrize(("age", "asked_again"), [(0.0, False), (RETRY_SECONDS - 1, False), (RETRY_SECONDS, True)])
def test_one_that_the_host_refuses_is_read_again(kind: str, age: float, asked_again: bool) -> None:
    """It may have been rotated, and the old one revoked at once. A wrong key is not read with every request."""
    store, clock = FakeStore({"toolwire/acme": "sk-1"}), Clock()
    credentials = Credentials({kind: store}, env={}, clock=clock)
    acme, other = provider(f"{kind}:toolwire/acme"), provider(f"{kind}:toolwire/other")
    store.values["toolwire/other"] = "sk-other"
    credentials.credential(acme)
    credentials.credential(other)
    store.values["toolwire/acme"] = "sk-2"

    clock.now += age
    credentials.refused(acme)
    assert credentials.credential(acme) == ("sk-2" if asked_again else "sk-1")
    credentials.refused(acme)
    credentials.credential(acme)
    credentials.credential(other)
    assert store.asked == (3 if asked_again else 2)


@pytest.mark.parametrize("credential", ["none", "env:ACME_KEY", "secret:never/read", "aws"])
def test_a_refusal_of_what_is_not_kept_is_nothing(credential: str) -> None:
    Credentials({}, env={}).refused(provider(credential))


@pytest.mark.parametrize(
    ("credential", "names"),
    [
        ("env:ACME_KEY", "environment variable ACME_KEY is not set"),
        ("env:EMPTY", "environment variable EMPTY is not set"),
        ("secret:toolwire/acme", "Secrets Manager secret toolwire/acme is not set"),
        ("ssm:/toolwire/acme", "SSM parameter /toolwire/acme is not set"),
        ("env:JSON", "environment variable JSON is no key"),
        ("env:LINES", "environment variable LINES is no key"),
        ("env:QUOTED", "environment variable QUOTED is no key: .* without quotes"),
        ("env:QUOTED_ONCE", "environment variable QUOTED_ONCE is no key"),
    ],
)
def test_a_missing_one_is_401_naming_where_it_should_be(credential: str, names: str) -> None:
    env = {"EMPTY": " ", "JSON": '{"key":"sk-1"}', "LINES": "sk-1\nx-evil: sk-1"}
    env |= {"QUOTED": '"sk-1"', "QUOTED_ONCE": "'sk-1'"}  # as `docker --env-file` hands a .env file over
    store = FakeStore({})

    with pytest.raises(RequestError, match=names) as caught:
        Credentials({"secret": store, "ssm": store}, env=env).credential(provider(credential))

    error = caught.value
    assert (error.status, error.code, error.retry) == (401, "missing_credential", False)
    assert "'acme'" in error.message
    assert "sk-1" not in error.message


def test_a_missing_one_is_asked_for_again() -> None:
    store = FakeStore({})
    credentials = Credentials({"secret": store}, env={})

    with pytest.raises(RequestError):
        credentials.credential(provider("secret:acme"))
    store.values["acme"] = "sk-1"
    assert credentials.credential(provider("secret:acme")) == "sk-1"


@pytest.mark.parametrize("down", [False, True])
def test_a_slow_one_is_asked_once_for_all_who_wait_and_holds_back_nobody_else(down: bool) -> None:
    asked, release = threading.Event(), threading.Event()
    store = FakeStore({"quick": "sk-2"})

    def slow(name: str) -> str | None:
        if name == "slow":
            asked.set()
            release.wait(10)
            store.asked += 1
            if down:
                raise SecretStoreError("AccessDenied")
            return "sk-1"
        return store.values[name]

    credentials = Credentials({"secret": slow}, env={})
    with ThreadPoolExecutor(4) as pool:
        first = pool.submit(credentials.credential, provider("secret:slow"))
        assert asked.wait(10)
        others = [pool.submit(credentials.credential, provider("secret:slow")) for _ in range(3)]
        assert credentials.credential(provider("secret:quick")) == "sk-2"
        release.set()
        answers = [it.exception() or it.result() for it in (first, *others)]

    if down:
        assert {getattr(answer, "code", None) for answer in answers} == {"credential_unavailable"}
    else:
        assert (answers, store.asked) == (["sk-1"] * 4, 1)


def test_a_store_that_cannot_be_asked_is_503_and_may_be_retried() -> None:
    store = FakeStore({"acme": "sk-1"})
    store.down = True

    with pytest.raises(InternalError, match="AccessDenied") as caught:
        Credentials({"secret": store}, env={}).credential(provider("secret:acme"))

    assert (caught.value.status, caught.value.code, caught.value.retry) == (503, "credential_unavailable", None)


@pytest.fixture
def aws(fresh_clients: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """AWS as moto plays it, in this process."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    import moto  # 0.5 s, which the other tests here do without

    with moto.mock_aws():
        for service in ("secretsmanager", "ssm"):
            use_boto3(service)
        yield


@pytest.mark.integration
@pytest.mark.usefixtures("aws")
def test_secrets_manager_and_parameter_store_answer(caplog: pytest.LogCaptureFixture) -> None:
    import boto3

    boto3.client("secretsmanager").create_secret(Name="toolwire/acme", SecretString="sk-secret")
    boto3.client("ssm").put_parameter(Name="/toolwire/acme", Value="sk-parameter", Type="SecureString")
    credentials = Credentials({"secret": read_secret, "ssm": read_parameter}, env={})
    caplog.clear()
    caplog.set_level(logging.DEBUG)  # as the template's LogLevel sets it on Lambda, for every logger there is

    assert credentials.credential(provider("secret:toolwire/acme")) == "sk-secret"
    assert credentials.credential(provider("ssm:/toolwire/acme")) == "sk-parameter"
    assert read_secret("absent") is None
    assert "sk-secret" not in caplog.text
    assert "sk-parameter" not in caplog.text
    assert read_parameter("/absent") is None


def test_without_a_region_the_store_is_unavailable_and_nothing_leaks() -> None:
    with pytest.raises(SecretStoreError, match="NoRegionError"):
        read_parameter("/toolwire/acme")
