"""Requests and tool calls a minute: what passes, what is told, and that counts are exact."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor

import anthropic
import httpx2
import openai
import pytest
from google import genai
from google.genai import errors, types

from toolwire.doors import DOORS, load_door
from toolwire.model.errors import RequestError
from toolwire.model.settings import Settings, Tenant
from toolwire.shell.access import rates
from toolwire.shell.access.rates import Counter, Counts, DynamoDbCounter, MemoryCounter, NotCountedError, admit, charge
from toolwire.shell.network import aws
from toolwire.shell.network.aws_boto3 import Boto3Client
from toolwire.shell.network.proxy_event import error_head
from toolwire.shell.telemetry.log import LogLine

#: 20 seconds into a minute.
NOW = 2_000_000_000.0
SETTINGS = Settings(providers={}, rates_table="rates")
CHAT = load_door("chat_completions")


def tenant(requests: int | None = None, calls: int | None = None, name: str = "acme") -> Tenant:
    return Tenant(name=name, requests_per_minute=requests, tool_calls_per_minute=calls)


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> MemoryCounter:
    counter = MemoryCounter()
    monkeypatch.setattr(rates, "_counter", lambda settings: counter)
    return counter


def passes(who: Tenant, now: float = NOW) -> bool:
    try:
        admit(who, CHAT, SETTINGS, now)
    except RequestError:
        return False
    return True


# ---------------------------------------------------------------- the rules


def test_as_many_requests_as_are_allowed_pass_in_each_minute(memory: MemoryCounter) -> None:
    assert [passes(tenant(requests=3)) for _ in range(5)] == [True] * 3 + [False] * 2
    assert [passes(tenant(requests=3), NOW + 39.9) for _ in range(2)] == [False] * 2
    assert [passes(tenant(requests=3), NOW + 40) for _ in range(4)] == [True] * 3 + [False]


def test_the_answer_that_crosses_the_limit_of_calls_is_served_and_the_next_request_refused(
    memory: MemoryCounter,
) -> None:
    who = tenant(calls=10)
    for calls, admitted in [(4, True), (5, True), (3, True), (1, False)]:
        assert passes(who) is admitted
        if admitted:
            charge(who, calls, SETTINGS, NOW)
    assert passes(who, NOW + 60)


def test_calls_count_in_the_minute_in_which_they_are_known(memory: MemoryCounter) -> None:
    who = tenant(calls=2)
    assert passes(who)
    charge(who, 2, SETTINGS, NOW + 60)  # a long answer
    assert passes(who)
    assert not passes(who, NOW + 61)


def test_a_refused_request_is_not_counted(memory: MemoryCounter) -> None:
    who = tenant(requests=1)
    assert [passes(who) for _ in range(4)] == [True, False, False, False]
    assert memory.take("acme#33333333", Counts(9, 9), 0)[1].requests == 2


def test_tenants_do_not_share_a_minute(memory: MemoryCounter) -> None:
    assert passes(tenant(requests=1))
    assert passes(tenant(requests=1, name="zeta"))
    assert not passes(tenant(requests=1))


def test_no_limit_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rates, "_counter", lambda settings: pytest.fail("nothing is counted"))
    assert admit(tenant(), CHAT, SETTINGS, NOW) == ()
    charge(tenant(), 5, SETTINGS, NOW)
    charge(tenant(requests=1), 5, SETTINGS, NOW)
    charge(tenant(calls=1), 0, SETTINGS, NOW)


# ---------------------------------------------------------------- what is told


def test_the_headers_of_an_answer(memory: MemoryCounter) -> None:
    who = tenant(requests=10, calls=5)
    charge(who, 2, SETTINGS, NOW)
    told = dict(admit(who, CHAT, SETTINGS, NOW))
    assert told == {
        "x-ratelimit-limit-requests": "10",
        "x-ratelimit-remaining-requests": "9",
        "x-ratelimit-reset-requests": "40s",
        "x-ratelimit-limit-tool-calls": "5",
        "x-ratelimit-remaining-tool-calls": "3",
        "x-ratelimit-reset-tool-calls": "40s",
    }
    by_messages = dict(admit(who, load_door("messages"), SETTINGS, NOW))
    assert by_messages == told | {
        "x-ratelimit-remaining-requests": "8",
        "anthropic-ratelimit-requests-limit": "10",
        "anthropic-ratelimit-requests-remaining": "8",
        "anthropic-ratelimit-requests-reset": "2033-05-18T03:34:00Z",
    }


@pytest.mark.parametrize(
    ("who", "says", "remaining"),
    [
        (tenant(requests=1), "1 requests a minute", {"x-ratelimit-remaining-requests": "0"}),
        (tenant(calls=1), "1 tool calls a minute", {"x-ratelimit-remaining-tool-calls": "0"}),
        (
            tenant(requests=9, calls=1),
            "1 tool calls a minute",
            {"x-ratelimit-remaining-requests": "8", "x-ratelimit-remaining-tool-calls": "0"},
        ),
    ],
)
def test_a_refusal_says_when_to_come_back(
    memory: MemoryCounter, who: Tenant, says: str, remaining: dict[str, str]
) -> None:
    assert passes(who)
    charge(who, 3, SETTINGS, NOW)
    with pytest.raises(RequestError, match=says) as caught:
        admit(who, CHAT, SETTINGS, NOW + 0.5)

    error = caught.value
    headers = dict(error.retry_headers())
    assert (error.status, error.code, headers["retry-after"]) == (429, "rate_limit_exceeded", "40")
    assert {name: value for name, value in headers.items() if "remaining" in name} == remaining
    assert "x-should-retry" not in headers


def test_a_table_that_cannot_be_asked_refuses_nobody_and_the_log_says_so(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    class Down:
        def take(self, window: str, most: Counts, expires_at: int) -> tuple[bool, Counts]:
            raise NotCountedError("update_item failed with ReadTimeoutError")

        def add(self, window: str, tool_calls: int, expires_at: int) -> None:
            raise NotCountedError("update_item failed with ReadTimeoutError")

    monkeypatch.setattr(rates, "_counter", lambda settings: Down())

    assert admit(tenant(requests=1, calls=1), CHAT, SETTINGS, NOW) == ()
    charge(tenant(calls=1), 1, SETTINGS, NOW)
    assert _fields(caplog) == [{"tenant": "acme", "problem": "update_item failed with ReadTimeoutError"}] * 2


@pytest.mark.usefixtures("fresh_clients")
def test_a_table_that_never_answers_holds_nobody_back_for_longer_than_counting_may_take(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Neither the request nor the end of its answer: the test ends although the table does not answer."""
    answers = threading.Event()

    class Silent:
        def update_item(self, **_: object) -> dict[str, object]:
            answers.wait()
            return {}

    aws.use("dynamodb", Boto3Client(Silent()))
    monkeypatch.setattr(rates, "_PATIENCE_SECONDS", 0.02)
    try:
        assert admit(tenant(requests=1, calls=1), CHAT, SETTINGS, NOW) == ()
        charge(tenant(calls=1), 1, SETTINGS, NOW)
    finally:
        answers.set()
    assert _fields(caplog) == [{"tenant": "acme", "problem": "update_item failed with DeadlineExceeded"}] * 2


def _fields(caplog: pytest.LogCaptureFixture) -> list[Mapping[str, object]]:
    return [line.fields for line in caplog.records if isinstance(line, LogLine)]


@pytest.mark.parametrize("door", DOORS)
def test_the_sdks_read_a_refusal(memory: MemoryCounter, door: str) -> None:
    """429 in each door's dialect, judged by the SDK of the clients that use it."""
    passes(tenant(requests=1))
    with pytest.raises(RequestError) as refused:
        admit(tenant(requests=1), load_door(door), SETTINGS, NOW)
    head = error_head(refused.value, "application/json", "req-1")
    body = load_door(door).render_error(refused.value, "req-1")
    answer = httpx2.Response(head.status, headers=list(head.headers), content=body)
    client = httpx2.Client(transport=httpx2.MockTransport(lambda _: answer))

    caught: openai.APIStatusError | anthropic.APIStatusError
    if door == "messages":
        with pytest.raises(anthropic.RateLimitError, match="1 requests a minute") as by_anthropic:
            anthropic.Anthropic(
                base_url="http://gateway", api_key="k", max_retries=0, http_client=client
            ).messages.create(model="m", max_tokens=1, messages=[])
        caught = by_anthropic.value
        assert caught.type == "rate_limit_error"
    elif door == "gemini":
        options = types.HttpOptions(base_url="http://gateway", httpx_client=client)
        with pytest.raises(errors.ClientError, match="1 requests a minute") as by_google:
            genai.Client(api_key="k", vertexai=False, http_options=options).models.generate_content(
                model="m", contents="x"
            )
        assert (by_google.value.code, by_google.value.status) == (429, "RESOURCE_EXHAUSTED")
        return
    else:
        sdk = openai.OpenAI(base_url="http://gateway/v1", api_key="k", max_retries=0, http_client=client)
        with pytest.raises(openai.RateLimitError, match="1 requests a minute") as by_openai:
            sdk.chat.completions.create(model="m", messages=[])
        caught = by_openai.value
        assert caught.code == "rate_limit_exceeded"
    assert caught.response.headers["retry-after"] == "40"
    assert caught.response.headers["x-ratelimit-remaining-requests"] == "0"
    assert "x-should-retry" not in caught.response.headers


# ---------------------------------------------------------------- counters


@pytest.fixture(params=["memory", pytest.param("moto", marks=pytest.mark.integration)])
def counter(request: pytest.FixtureRequest) -> Counter:
    if request.param == "memory":
        return MemoryCounter()
    return DynamoDbCounter(request.getfixturevalue("rates_in_moto"))


def test_a_counter_counts(counter: Counter) -> None:
    most = Counts(2, 5)
    counter.add("w", 3, 60)
    assert counter.take("w", most, 60) == (True, Counts(1, 3))
    counter.add("w", 1, 60)
    assert counter.take("w", most, 60) == (True, Counts(2, 4))
    assert counter.take("w", most, 60) == (False, Counts(2, 4))
    assert counter.take("other", Counts(2, 5), 60) == (True, Counts(1, 0))
    counter.add("other", 5, 60)
    assert counter.take("other", most, 60) == (False, Counts(1, 5))


@pytest.mark.integration
@pytest.mark.parametrize("counter", ["moto"], indirect=True)
def test_the_item_of_a_window_expires_and_a_missing_table_is_told(counter: Counter) -> None:
    counter.take("acme#1", Counts(1, 1), 3660)
    counter.add("acme#1", 2, 3660)
    item = aws.call("dynamodb", "get_item", TableName="rates", Key={"window": {"S": "acme#1"}})["Item"]
    assert item == {
        "window": {"S": "acme#1"},
        "requests": {"N": "1"},
        "tool_calls": {"N": "2"},
        "expires_at": {"N": "3660"},
    }
    with pytest.raises(NotCountedError, match="ResourceNotFoundException"):
        DynamoDbCounter("absent").add("acme#1", 2, 3660)


def test_a_condition_that_failed_without_its_item(monkeypatch: pytest.MonkeyPatch) -> None:
    """dynalite leaves it out; the counts are then those of the limits."""

    def call(*_: object, **__: object) -> dict[str, object]:
        raise aws.AwsError("update_item", "ConditionalCheckFailedException", "refused", {"Error": {}})

    monkeypatch.setattr(aws, "call", call)
    assert DynamoDbCounter("rates").take("w", Counts(2, 5), 60) == (False, Counts(2, 5))


def test_old_windows_are_forgotten() -> None:
    counter = MemoryCounter()
    for minute in range(200):
        counter.take(f"acme#{minute}", Counts(1, 1), minute * 60 + 3600)
    assert len(counter._windows) <= 61


def test_threads_do_not_lose_a_count() -> None:
    counter = MemoryCounter()
    take: Callable[[int], bool] = lambda _: counter.take("w", Counts(50, 9), 60)[0]  # noqa: E731
    with ThreadPoolExecutor(16) as pool:
        assert sum(pool.map(take, range(200))) == 50
