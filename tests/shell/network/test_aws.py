"""How calls to AWS end: the client against an endpoint that misbehaves."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator

import pytest
from botocore.parsers import ResponseParserError

from tests.shell.fake_dynamodb import FakeDynamoDb, Reply, refusal
from tests.shell.store_tables import TABLE, item, soon
from toolwire.model.stored import Key
from toolwire.shell.network import aws
from toolwire.shell.network.aws import AwsError
from toolwire.shell.network.aws_boto3 import Boto3Client
from toolwire.shell.network.aws_json import SERVICES
from toolwire.shell.store.dynamodb import DynamoDbStore
from toolwire.shell.store.store import StoreError

pytestmark = [pytest.mark.enable_socket, pytest.mark.usefixtures("fresh_clients")]

Endpoint = Callable[..., FakeDynamoDb]


@pytest.fixture
def account(fresh_clients: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Credentials and a region."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIATESTING")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")


@pytest.fixture
def endpoint(account: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    started: list[FakeDynamoDb] = []

    def start(*replies: Reply) -> FakeDynamoDb:
        started.append(FakeDynamoDb(*replies))
        monkeypatch.setenv("AWS_ENDPOINT_URL_DYNAMODB", started[-1].url)
        return started[-1]

    yield start
    for server in started:
        server.close()


def get_item(deadline: float | None = None) -> dict[str, object]:
    return aws.call("dynamodb", "get_item", TableName=TABLE, Key={"k": {"S": "prompt text"}}, deadline=deadline)


@pytest.mark.parametrize("deadline", [None, 20.0])
def test_an_answer(endpoint: Endpoint, deadline: float | None) -> None:
    server = endpoint((200, {"Item": {"k": {"S": "v"}}}))

    answer = get_item(deadline and soon(deadline))

    assert answer["Item"] == {"k": {"S": "v"}}
    assert server.asked == ["GetItem"]


REFUSALS = [
    ("ResourceNotFoundException", 400, "not_found", False),
    ("AccessDeniedException", 400, "denied", False),
    ("UnrecognizedClientException", 400, "denied", False),
    ("ExpiredTokenException", 400, "denied", False),
    ("ThrottlingException", 400, "throttled", True),
    ("ProvisionedThroughputExceededException", 400, "throttled", True),
    ("RequestLimitExceeded", 400, "throttled", True),
    ("ConditionalCheckFailedException", 400, "refused", False),
    ("ValidationException", 400, "refused", False),
    ("InternalServerError", 500, "unavailable", True),
    ("ServiceUnavailable", 503, "unavailable", True),
]


@pytest.mark.parametrize(("code", "status", "reason", "retry"), REFUSALS, ids=[row[0] for row in REFUSALS])
def test_a_refusal(endpoint: Endpoint, code: str, status: int, reason: str, retry: bool) -> None:
    server = endpoint(refusal(code, status))

    with pytest.raises(AwsError) as caught:
        get_item(soon())

    error = caught.value
    assert (error.code, error.reason, error.retry) == (code, reason, retry)
    assert str(error) == f"get_item answered {code}"
    assert error.answer["Error"]["Code"] == code
    assert server.asked == ["GetItem"], "the client must not try again: who has the deadline does"


def test_a_connection_that_breaks(endpoint: Endpoint) -> None:
    endpoint("hang up")

    with pytest.raises(AwsError) as caught:
        get_item(soon())

    assert (caught.value.code, caught.value.reason, caught.value.retry) == (
        "ConnectionClosedError",
        "unavailable",
        True,
    )


def test_nobody_listens(account: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_DYNAMODB", "http://127.0.0.1:9")

    with pytest.raises(AwsError) as caught:
        get_item(soon())

    assert (caught.value.code, caught.value.reason) == ("EndpointConnectionError", "unavailable")


def test_silence_ends_at_the_deadline(endpoint: Endpoint) -> None:
    endpoint("silence")

    with pytest.raises(AwsError) as caught:
        get_item(soon(0.2))

    assert (caught.value.reason, caught.value.code) == ("timeout", "DeadlineExceeded")


def test_silence_ends_without_a_deadline_too(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SERVICES, "dynamodb", SERVICES["dynamodb"]._replace(connect=0.1, answer=0.1))
    endpoint("silence")

    with pytest.raises(AwsError) as caught:
        get_item()

    assert (caught.value.reason, caught.value.code) == ("timeout", "ReadTimeoutError")


def test_a_client_that_is_long_in_the_making_ends_at_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    release = threading.Event()

    def slow(service: str) -> Boto3Client:
        release.wait(10)
        return Boto3Client(None)

    monkeypatch.setattr(aws, "_create", slow)

    with pytest.raises(AwsError, match="DeadlineExceeded"):
        get_item(soon(0.05))
    release.set()


def test_without_credentials(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    server = endpoint((200, {}))
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")

    with pytest.raises(AwsError) as caught:
        get_item(soon())

    assert (caught.value.code, caught.value.reason, caught.value.retry) == ("NoCredentialsError", "denied", False)
    assert server.asked == []


def test_without_a_region() -> None:
    with pytest.raises(AwsError) as caught:
        get_item(soon())

    assert (caught.value.code, caught.value.retry) == ("NoRegionError", False)


def test_an_endpoint_that_is_no_url(account: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_DYNAMODB", "localhost:8000")

    with pytest.raises(AwsError) as caught:
        get_item(soon())

    assert (caught.value.reason, caught.value.retry) == ("unavailable", False)


def test_a_page_in_the_place_of_an_answer() -> None:
    """As a proxy on the way to AWS gives one."""

    class Proxied:
        def describe_stacks(self) -> None:
            raise ResponseParserError("invalid XML received: b'<!doctype html> of the proxy'")

    with pytest.raises(AwsError) as caught:
        Boto3Client(Proxied()).call("describe_stacks", {})

    assert str(caught.value) == "describe_stacks failed with ResponseParserError"
    assert (caught.value.reason, caught.value.retry) == ("unavailable", True)


def test_an_argument_that_is_wrong_is_not_quoted(endpoint: Endpoint) -> None:
    endpoint((200, {}))

    with pytest.raises(AwsError) as caught:
        aws.call("dynamodb", "get_item", TableName=TABLE, Key={"prompt text"}, Limit=1j)

    assert (caught.value.code, caught.value.retry) == ("ParamValidationError", False)
    assert "prompt" not in str(caught.value)


def test_nothing_that_is_sent_is_logged(endpoint: Endpoint, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)  # as the template's LogLevel sets it on Lambda, for every logger there is
    endpoint((200, {"Item": {"k": {"S": "answer text"}}}))

    get_item()

    assert "prompt text" not in caplog.text
    assert "answer text" not in caplog.text


def test_one_client_however_many_ask(account: None, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    create = aws._create

    def counted(service: str) -> object:
        made.append(service)
        return create(service)

    monkeypatch.setattr(aws, "_create", counted)
    aws.warm("dynamodb")
    found: list[object] = []
    threads = [threading.Thread(target=lambda: found.append(aws.client("dynamodb"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert made == ["dynamodb"]
    assert len({id(client) for client in found}) == 1
    assert len(found) == 8
    aws.forget_clients()
    assert aws.client("dynamodb") is not found[0]


def test_warming_waits_for_as_long_as_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    release, made = threading.Event(), Boto3Client(None)

    def slow(service: str) -> object:
        release.wait(10)
        return made

    monkeypatch.setattr(aws, "_create", slow)
    began = time.monotonic()
    aws.warm("dynamodb")
    aws.warm("dynamodb", wait=0.05)
    assert time.monotonic() - began >= 0.05
    assert aws._clients == {}
    release.set()
    aws.warm("dynamodb", wait=10)
    assert aws._clients == {"dynamodb": made}


def test_a_failure_while_warming_is_left_to_the_first_call() -> None:
    aws.warm("dynamodb", wait=10)  # there is no region

    with pytest.raises(AwsError, match="NoRegionError"):
        aws.client("dynamodb")


# The store over it: what a turn pays for a fault --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "code", "most_calls"),
    [
        ("silence", "timeout", 1),
        ("hang up", "unavailable", 3),
        (refusal("ThrottlingException"), "throttled", 50),
        (refusal("ResourceNotFoundException"), "missing_table", 1),
        (refusal("AccessDeniedException"), "denied", 1),
        (refusal("InternalServerError", 500), "unavailable", 3),
    ],
)
@pytest.mark.parametrize(
    "operation", ["mappings", *(pytest.param(it, marks=pytest.mark.integration) for it in ("get", "put"))]
)
def test_a_fault_costs_no_more_than_the_deadline(
    endpoint: Endpoint, operation: str, reply: Reply, code: str, most_calls: int
) -> None:
    server = endpoint(reply)
    store = DynamoDbStore(TABLE)
    aws.client("dynamodb")
    deadline = soon(
        0.25 if code in ("timeout", "throttled") else 5
    )  # the others end by themselves, on a busy machine too
    calls: dict[str, Callable[[], object]] = {
        "mappings": lambda: store.mappings("acme#TOKEN", deadline=deadline),
        "get": lambda: store.get([Key("acme#TOKEN", "state#a")], deadline=deadline),
        "put": lambda: store.put([item("call_a")], deadline=deadline),
    }

    with pytest.raises(StoreError) as caught:
        calls[operation]()

    assert caught.value.code == code
    assert time.monotonic() < deadline + 5
    assert 1 <= len(server.asked) <= most_calls


def test_the_store_warms_the_client_that_it_calls_through(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    server = endpoint((200, {"Items": []}))
    store = DynamoDbStore(TABLE)

    store.warm(wait=10)
    monkeypatch.setattr(aws, "_create", lambda service: pytest.fail("it is there already"))

    assert store.mappings("acme#TOKEN", deadline=soon()) == []
    assert server.asked == ["Query"]


def test_throttling_that_passes_is_not_seen(endpoint: Endpoint) -> None:
    throttled = refusal("ThrottlingException")
    server = endpoint(throttled, throttled, (200, {"UnprocessedItems": {}}))

    DynamoDbStore(TABLE).put([item("call_a")], deadline=soon())

    assert server.asked == ["BatchWriteItem"] * 3
