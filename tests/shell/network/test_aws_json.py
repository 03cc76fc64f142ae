"""The light client of AWS's JSON APIs, with boto3 as its judge: the same request, the same answer, the same address."""

from __future__ import annotations

import json
from functools import cache
from typing import Any
from urllib.parse import urlsplit

import boto3
import pytest
from botocore.awsrequest import AWSResponse

from tests.shell.access.sigv4_judge import fault_of
from toolwire.model.http import UpstreamRequest
from toolwire.shell.network.aws_errors import AwsError
from toolwire.shell.network.aws_json import SERVICES, JsonClient, endpoint

pytestmark = pytest.mark.usefixtures("fresh_clients")

SECRET = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
REGION = "eu-central-1"

KEY = {"conversation_id": {"S": "acme#Zürich"}, "tool_call_id": {"S": "state#a"}}
ITEM = {**KEY, "expires_at": {"N": "2000000000"}, "body": {"B": b"\x00\xff\x1f{}"}}

#: service, operation, its arguments, and the body of an answer: those that are on a request's way.
CALLS: list[tuple[str, str, dict[str, Any], dict[str, Any]]] = [
    ("dynamodb", "get_item", {"TableName": "t", "Key": KEY, "ConsistentRead": True}, {}),
    ("dynamodb", "get_item", {"TableName": "t", "Key": KEY}, {"Item": {**KEY, "body": {"B": "AP8fe30="}}}),
    (
        "dynamodb",
        "query",
        {
            "TableName": "t",
            "KeyConditionExpression": "conversation_id = :p AND begins_with(tool_call_id, :c)",
            "ExpressionAttributeValues": {":p": {"S": "acme#T"}, ":c": {"S": "call#"}},
            "ExclusiveStartKey": KEY,
        },
        {"Items": [{"B": {"S": "an attribute of that name"}}, {"x": {"B": ""}}], "LastEvaluatedKey": KEY, "Count": 2},
    ),
    (
        "dynamodb",
        "batch_get_item",
        {"RequestItems": {"t": {"Keys": [KEY], "ConsistentRead": True}}},
        {"Responses": {"t": [KEY]}, "UnprocessedKeys": {"t": {"Keys": [KEY]}}},
    ),
    (
        "dynamodb",
        "batch_write_item",
        {"RequestItems": {"t": [{"PutRequest": {"Item": ITEM}}]}},
        {"UnprocessedItems": {"t": [{"PutRequest": {"Item": {**KEY, "body": {"B": "AP8fe30="}}}}]}},
    ),
    (
        "dynamodb",
        "update_item",
        {
            "TableName": "t",
            "Key": {"window": {"S": "acme#1"}},
            "UpdateExpression": "ADD requests :one",
            "ConditionExpression": "requests < :most",
            "ExpressionAttributeValues": {":one": {"N": "1"}, ":most": {"N": "50"}},
            "ReturnValues": "ALL_NEW",
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        },
        {"Attributes": {"requests": {"N": "7"}}},
    ),
    ("secretsmanager", "get_secret_value", {"SecretId": "toolwire/openai"}, {"SecretString": "sk-planted"}),
    (
        "ssm",
        "get_parameter",
        {"Name": "/toolwire/openai", "WithDecryption": True},
        {"Parameter": {"Name": "/toolwire/openai", "Value": "sk-planted", "Version": 1}},
    ),
]
REFUSALS: list[tuple[int, dict[str, str], dict[str, Any]]] = [
    (400, {}, {"__type": "com.amazonaws.dynamodb.v20120810#ResourceNotFoundException", "message": "no"}),
    (400, {}, {}),
    (400, {}, {"__type": "ConditionalCheckFailedException", "Message": "no", "Item": {"requests": {"N": "50"}}}),
    (500, {}, {"__type": "InternalServerError"}),
]


@cache
def session() -> boto3.session.Session:
    """One for all: it reads the descriptions of the services once. Variables are read for each client."""
    return boto3.session.Session()


@pytest.fixture(autouse=True)
def account(fresh_clients: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)


class _Raw:
    """The body of an answer, as botocore reads one."""

    def __init__(self, body: bytes) -> None:
        self.body = body

    def stream(self, **_: object) -> list[bytes]:
        return [self.body]


class Said:
    """An answer for either client, and the request of each."""

    def __init__(self, status: int, headers: dict[str, str], body: dict[str, Any]) -> None:
        self.status, self.headers, self.body = status, headers, json.dumps(body).encode()
        self.requests: list[Any] = []

    def by_boto3(self, service: str, operation: str, arguments: dict[str, Any]) -> dict[str, Any]:
        client = session().client(service)

        def answer(request: Any, **_: object) -> AWSResponse:
            self.requests.append(request)
            return AWSResponse(request.url, self.status, self.headers, _Raw(self.body))

        client.meta.events.register("before-send.*", answer)
        try:
            found = getattr(client, operation)(**arguments)
        except client.exceptions.ClientError as error:
            found = error.response
        found["ResponseMetadata"] = {"HTTPStatusCode": found["ResponseMetadata"]["HTTPStatusCode"]}
        return found  # type: ignore[no-any-return]

    def by_ours(self, service: str, operation: str, arguments: dict[str, Any]) -> tuple[UpstreamRequest, Any]:
        client = JsonClient(service)
        sent: list[UpstreamRequest] = []

        def send(request: UpstreamRequest, **_: object) -> Said:
            sent.append(request)
            return self

        client._http.send = send  # type: ignore[assignment, method-assign]
        try:
            found: Any = client.call(operation, arguments)
        except AwsError as error:
            found = error
        return sent[0], found

    def read(self, _: int) -> bytes:
        return self.body


@pytest.mark.parametrize(("service", "operation", "arguments", "body"), CALLS)
def test_a_call_is_boto3s(service: str, operation: str, arguments: dict[str, Any], body: dict[str, Any]) -> None:
    said = Said(200, {}, body)
    expected = said.by_boto3(service, operation, arguments)
    theirs = said.requests[0]
    ours, found = said.by_ours(service, operation, arguments)

    headers = dict(ours.headers)
    for name in ("x-amz-target", "content-type"):
        assert headers[name] == _text(theirs.headers[name])
    assert json.loads(ours.body) == json.loads(theirs.body)
    assert urlsplit(ours.url) == urlsplit(theirs.url)
    expected.pop("ResponseMetadata")
    assert found == {name: value for name, value in expected.items() if name in body}
    assert found.keys() == body.keys()
    assert (
        fault_of(method="POST", url=ours.url, headers=headers, body=ours.body, secret=SECRET, region=REGION,
                 service=service) is None
    )  # fmt: skip


@pytest.mark.parametrize(("status", "headers", "body"), REFUSALS)
def test_a_refusal_is_boto3s(
    status: int, headers: dict[str, str], body: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolwire.shell.network.aws_json.time.sleep", lambda _: None)
    said = Said(status, headers, body)
    expected = said.by_boto3("dynamodb", "update_item", CALLS[5][2])
    _, found = said.by_ours("dynamodb", "update_item", CALLS[5][2])

    assert isinstance(found, AwsError)
    assert found.code == expected["Error"]["Code"]
    assert found.answer["Error"]["Message"] == expected["Error"].get("Message", "")
    assert found.answer["ResponseMetadata"] == expected["ResponseMetadata"]
    assert found.answer.get("Item") == expected.get("Item")


@pytest.mark.parametrize("value", ["YWI", "!!", "YW Jj"])
def test_an_answer_with_bytes_that_are_none_cannot_be_read(value: str) -> None:
    said = Said(200, {}, {"Items": [{"whole": {"B": "YWI="}}, {"odd": {"B": value}}]})

    _, failure = said.by_ours("dynamodb", "query", {"TableName": "t"})

    assert isinstance(failure, AwsError)
    assert failure.reason == "unavailable"
    assert "ResponseParserError" in str(failure)


@pytest.mark.parametrize("service", SERVICES)
@pytest.mark.parametrize(
    "region", ["us-east-1", "eu-central-1", "ap-southeast-7", "cn-north-1", "us-gov-west-1", "eusc-de-east-1"]
)
@pytest.mark.parametrize(
    "named",
    [{}, {"AWS_ENDPOINT_URL": "http://localhost:4566"}, {"AWS_ENDPOINT_URL_SECRETS_MANAGER": "https://vpce.example/s"}],
)
def test_an_address_is_boto3s(
    service: str, region: str, named: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in named.items():
        monkeypatch.setenv(name, value)
    client = session().client(service, region_name=region)
    assert endpoint(service, region).rstrip("/") == client.meta.endpoint_url


@pytest.mark.enable_socket
@pytest.mark.parametrize(("service", "times"), [("dynamodb", 1), ("ssm", 2), ("secretsmanager", 2)])
def test_who_has_no_deadline_asks_again(service: str, times: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolwire.shell.network.aws_json.time.sleep", lambda _: None)
    client, asked = JsonClient(service), []

    def send(request: UpstreamRequest, **_: object) -> Said:
        asked.append(request)
        return Said(503, {}, {"__type": "ServiceUnavailable"})

    client._http.send = send  # type: ignore[assignment, method-assign]
    with pytest.raises(AwsError, match="answered ServiceUnavailable"):
        client.call("get_parameter", {"Name": "/a"})
    assert len(asked) == times


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value
