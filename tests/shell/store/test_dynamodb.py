"""What the DynamoDB store asks of its table, call by call, and what it makes of each way to fail."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.shell.store_tables import NOW, TABLE, Clock, item, soon
from toolwire.model.stored import Key
from toolwire.shell.network import aws
from toolwire.shell.network.aws import AwsError
from toolwire.shell.store.dynamodb import ATTEMPTS, MOST_PAGES, DynamoDbStore
from toolwire.shell.store.store import MOST_ITEM_BYTES, Store, StoreError

Answer = dict[str, Any] | AwsError

THROTTLED = AwsError("op", "ThrottlingException", "throttled", {"Error": {}})
UNREACHABLE = AwsError("op", "EndpointConnectionError", "unavailable")


class FakeTable:
    """Answers calls from a script, then as a table that takes everything and has nothing. Keeps every call."""

    def __init__(self, *script: Answer) -> None:
        self.script = list(script)
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.pauses: list[float] = []

    def __call__(self, operation: str, *, deadline: float, **arguments: Any) -> dict[str, Any]:
        self.calls.append((operation, dict(arguments)))
        answer = self.script.pop(0) if self.script else {}
        if isinstance(answer, AwsError):
            raise answer
        return answer

    def store(self) -> DynamoDbStore:
        return DynamoDbStore(TABLE, call=self, clock=Clock(), pause=self.pauses.append)

    def sizes(self) -> list[int]:
        """Keys or items of each batch call."""
        requests = [arguments["RequestItems"][TABLE] for _, arguments in self.calls]
        return [len(request["Keys"] if isinstance(request, dict) else request) for request in requests]


def attributes(sort: str, expires_at: float = NOW + 60, **others: dict[str, Any]) -> dict[str, Any]:
    return {
        "conversation_id": {"S": "acme#TOKEN"},
        "tool_call_id": {"S": sort},
        "expires_at": {"N": str(int(expires_at))},
        **others,
    }


def keys(count: int) -> list[Key]:
    return [Key("acme#TOKEN", f"state#{number}") for number in range(count)]


# Calls --------------------------------------------------------------------------------------------------------------


def test_mappings_are_one_consistent_query() -> None:
    table = FakeTable({"Items": [attributes("call_a", provider={"S": "openai"}, v={"N": "1"}, state={"B": b"\0"})]})

    found = table.store().mappings("acme#TOKEN", deadline=soon())

    assert found == [item("call_a", provider="openai", v=1, state=b"\0")]
    assert table.calls == [
        (
            "query",
            {
                "TableName": TABLE,
                "KeyConditionExpression": "conversation_id = :partition AND begins_with(tool_call_id, :call)",
                "FilterExpression": "expires_at > :now",
                "ExpressionAttributeValues": {
                    ":partition": {"S": "acme#TOKEN"},
                    ":call": {"S": "call_"},
                    ":now": {"N": str(int(NOW))},
                },
                "ConsistentRead": True,
            },
        )
    ]


def test_a_query_goes_on_where_its_page_ended() -> None:
    last = {"conversation_id": {"S": "acme#TOKEN"}, "tool_call_id": {"S": "call_a"}}
    table = FakeTable({"Items": [attributes("call_a")], "LastEvaluatedKey": last}, {"Items": [attributes("call_b")]})

    found = table.store().mappings("acme#TOKEN", deadline=soon())

    assert [mapping.key.sort for mapping in found] == ["call_a", "call_b"]
    assert [arguments.get("ExclusiveStartKey") for _, arguments in table.calls] == [None, last]


def test_a_query_does_not_go_on_for_ever() -> None:
    page: Answer = {"Items": [], "LastEvaluatedKey": {"tool_call_id": {"S": "call_a"}}}
    table = FakeTable(*[page] * (MOST_PAGES + 5))

    with pytest.raises(StoreError) as caught:
        table.store().mappings("acme#TOKEN", deadline=soon())

    assert caught.value.code == "too_large"
    assert len(table.calls) == MOST_PAGES


@pytest.mark.parametrize(("count", "sizes"), [(0, []), (1, [1]), (100, [100]), (101, [100, 1]), (1000, [100] * 10)])
def test_reads_are_batches_of_100(count: int, sizes: list[int]) -> None:
    table = FakeTable()

    table.store().get(keys(count), deadline=soon())

    assert table.sizes() == sizes
    assert all(operation == "batch_get_item" for operation, _ in table.calls)
    assert all(arguments["RequestItems"][TABLE]["ConsistentRead"] is True for _, arguments in table.calls)


@pytest.mark.parametrize(("count", "sizes"), [(0, []), (1, [1]), (25, [25]), (26, [25, 1]), (129, [25] * 5 + [4])])
def test_writes_are_batches_of_25(count: int, sizes: list[int]) -> None:
    table = FakeTable()

    table.store().put([item(f"call_{number}") for number in range(count)], deadline=soon())

    assert table.sizes() == sizes
    assert all(operation == "batch_write_item" for operation, _ in table.calls)


def test_a_key_is_sent_once() -> None:
    """DynamoDB refuses a batch that names a key twice."""
    table = FakeTable()

    table.store().get([*keys(2), *keys(2)], deadline=soon())
    table.store().put([item("call_a", v=1), item("call_b", v=1), item("call_a", v=2)], deadline=soon())

    assert table.sizes() == [2, 2]
    (_, arguments) = table.calls[1]
    assert arguments["RequestItems"][TABLE][0] == {"PutRequest": {"Item": attributes("call_a", v={"N": "2"})}}


def test_an_item_that_is_too_large_is_not_sent() -> None:
    table = FakeTable()

    with pytest.raises(StoreError) as caught:
        table.store().put([item("call_a"), item("state#a", state=bytes(MOST_ITEM_BYTES))], deadline=soon())

    assert caught.value.code == "too_large"
    assert table.sizes() == [1]


# What was left out --------------------------------------------------------------------------------------------------


def test_keys_that_were_left_out_join_the_next_call() -> None:
    left = [{"conversation_id": {"S": "acme#TOKEN"}, "tool_call_id": {"S": "state#0"}}]
    table = FakeTable(
        {"Responses": {TABLE: [attributes("state#1")]}, "UnprocessedKeys": {TABLE: {"Keys": left}}},
        {"Responses": {TABLE: [attributes("state#0"), attributes("state#100")]}},
    )

    found = table.store().get(keys(101), deadline=soon())

    assert table.sizes() == [100, 2]
    assert [state.key.sort for state in found] == ["state#0", "state#1", "state#100"]
    assert len(table.pauses) == 1


def test_items_that_were_left_out_join_the_next_call() -> None:
    def left_out(*numbers: int) -> Answer:
        return {
            "UnprocessedItems": {TABLE: [{"PutRequest": {"Item": attributes(f"call_{number}")}} for number in numbers]}
        }

    table = FakeTable(left_out(0, 1, 2), left_out(1))

    table.store().put([item(f"call_{number}") for number in range(30)], deadline=soon())

    assert table.sizes() == [25, 8, 1]
    assert len(table.pauses) == 2


@pytest.mark.parametrize("operation", ["get", "put"])
def test_a_table_that_always_leaves_items_out_is_throttled(operation: str) -> None:
    """The real clock: a pause that would reach over the deadline ends it."""
    left: dict[str, Answer] = {
        "get": {"UnprocessedKeys": {TABLE: {"Keys": [{"tool_call_id": {"S": "state#0"}}]}}},
        "put": {"UnprocessedItems": {TABLE: [{"PutRequest": {"Item": attributes("call_a")}}]}},
    }
    table = FakeTable(*[left[operation]] * 1000)
    store = table.store()
    deadline = time.monotonic() + 0.3
    calls: dict[str, Callable[[], object]] = {
        "get": lambda: store.get(keys(1), deadline=deadline),
        "put": lambda: store.put([item("call_a")], deadline=deadline),
    }

    with pytest.raises(StoreError) as caught:
        calls[operation]()

    assert caught.value.code == "throttled"
    assert 1 < len(table.calls) < 1000


# Faults -------------------------------------------------------------------------------------------------------------


def operations(store: Store) -> list[Callable[[], object]]:
    return [
        lambda: store.mappings("acme#TOKEN", deadline=soon()),
        lambda: store.get(keys(1), deadline=soon()),
        lambda: store.put([item("call_a")], deadline=soon()),
    ]


#: What AWS or botocore says, the code it becomes, and the calls that are made of it.
FAULTS = [
    (AwsError("op", "ResourceNotFoundException", "not_found", {"Error": {}}), "missing_table", 1),
    (AwsError("op", "AccessDeniedException", "denied", {"Error": {}}), "denied", 1),
    (AwsError("op", "NoCredentialsError", "denied"), "denied", 1),
    (AwsError("op", "ItemCollectionSizeLimitExceededException", "too_large", {"Error": {}}), "too_large", 1),
    (AwsError("op", "ValidationException", "refused", {"Error": {}}), "unavailable", 1),
    (AwsError("op", "NoRegionError", "unavailable"), "unavailable", 1),
    (AwsError("op", "ImportError", "unavailable"), "unavailable", 1),
    (UNREACHABLE, "unavailable", ATTEMPTS),
    (AwsError("op", "InternalServerError", "unavailable", {"Error": {}}), "unavailable", ATTEMPTS),
    (AwsError("op", "ReadTimeoutError", "timeout"), "timeout", ATTEMPTS),
]


@pytest.mark.parametrize("operation", range(3), ids=["mappings", "get", "put"])
@pytest.mark.parametrize(("fault", "code", "calls"), FAULTS, ids=[fault[0].code for fault in FAULTS])
def test_a_fault_has_a_stable_code(operation: int, fault: AwsError, code: str, calls: int) -> None:
    table = FakeTable(*[fault] * 10)

    with pytest.raises(StoreError) as caught:
        operations(table.store())[operation]()

    assert caught.value.code == code
    assert fault.code in str(caught.value)
    assert len(table.calls) == calls


def test_throttling_is_the_reason_where_time_runs_out_in_the_next_call() -> None:
    table = FakeTable(THROTTLED, *[AwsError("query", aws.DEADLINE_EXCEEDED, "timeout")] * 5)

    with pytest.raises(StoreError) as caught:
        table.store().mappings("acme#TOKEN", deadline=soon())

    assert caught.value.code == "throttled"


@pytest.mark.parametrize("operation", range(3), ids=["mappings", "get", "put"])
def test_a_fault_that_passes_is_not_seen(operation: int) -> None:
    table = FakeTable(UNREACHABLE, *[THROTTLED] * 5)

    operations(table.store())[operation]()

    assert len(table.calls) == 7
    assert all(0 <= pause <= 0.4 for pause in table.pauses)


def test_items_that_are_not_ours_are_as_if_absent() -> None:
    table = FakeTable(
        {
            "Items": [
                attributes("call_a", strange={"M": {}}),
                attributes("call_b", strange={"N": "1.5"}),
                {key: value for key, value in attributes("call_c").items() if key != "expires_at"},
                attributes("call_d") | {"expires_at": {"S": "soon"}},
                attributes("call_e", NOW),  # the table's filter has let it pass
                attributes("call_f"),
            ]
        }
    )

    assert [found.key.sort for found in table.store().mappings("acme#TOKEN", deadline=soon())] == ["call_f"]


def test_no_fault_shows_content() -> None:
    """botocore's own refusal of a wrong argument quotes it."""
    table = FakeTable(AwsError("query", "ParamValidationError", "unavailable"))

    with pytest.raises(StoreError) as caught:
        table.store().mappings("acme#TOKEN", deadline=soon())

    assert str(caught.value) == "unavailable: query failed with ParamValidationError"
    assert caught.value.__suppress_context__
