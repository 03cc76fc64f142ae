"""A client of AWS's JSON APIs (DynamoDB, Secrets Manager, Systems Manager), for calls that a request waits for before
its first byte.

Its requests are signed, and sent by the same HTTP client as those to providers, with kept connections and deadlines.
boto3 would cost a cold start half a second, for the descriptions of its services, and each call some milliseconds.
Source: AWS's JSON protocol (Smithy, "AWS JSON 1.0 and 1.1"), and botocore's description of each service.
"""

from __future__ import annotations

import os
import random
import time
from typing import Any, NamedTuple

import msgspec

from toolwire.model.errors import GatewayError, InternalError, UpstreamTimeout, UpstreamTruncated
from toolwire.model.http import UpstreamRequest
from toolwire.shell.network.aws_credentials import CredentialsError, find_credentials, find_region
from toolwire.shell.network.aws_errors import AwsError, refused, unanswered
from toolwire.shell.network.sigv4 import signed
from toolwire.shell.network.transfer import Timeouts
from toolwire.shell.network.upstream import Upstream


class Service(NamedTuple):
    """The protocol of a service. Times are seconds of one attempt."""

    #: The prefix of the operation in `x-amz-target`.
    target: str
    #: The protocol's version.
    json: str
    #: The service's part of `AWS_ENDPOINT_URL_...`.
    variable: str
    connect: float
    answer: float
    #: The most attempts of a call.
    attempts: int


#: A call to DynamoDB is sent once: every answer waits for it, and its callers try again themselves until their
#: deadline.
SERVICES = {
    "dynamodb": Service("DynamoDB_20120810", "1.0", "DYNAMODB", connect=0.5, answer=1.0, attempts=1),
    "secretsmanager": Service("secretsmanager", "1.1", "SECRETS_MANAGER", connect=1.0, answer=2.0, attempts=2),
    "ssm": Service("AmazonSSM", "1.1", "SSM", connect=1.0, answer=2.0, attempts=2),
}

#: The domains of AWS's other partitions, by the prefix of a region's name. Source: botocore's `partitions.json`,
#: without the isolated partitions, whose endpoints are configured (`AWS_ENDPOINT_URL`).
_DOMAINS = {"cn-": "amazonaws.com.cn", "eusc-": "amazonaws.eu"}

#: The largest answer: DynamoDB's have 16 MB at most.
_MOST_BYTES = 20_000_000

#: The longest pause before another attempt, in seconds.
_PAUSE = 0.2


class JsonClient:
    """One service, in this process's region and with its credentials. Safe from any thread."""

    def __init__(self, service: str) -> None:
        """Raises AwsError where there is no region, or the endpoint is no URL."""
        self._name, self._service = service, SERVICES[service]
        try:
            region = find_region()
        except CredentialsError as error:
            raise unanswered("client", error.code) from None
        if not region:
            raise unanswered("client", "NoRegionError")
        self._region = region
        self._url = endpoint(service, self._region)
        if not self._url.startswith(("http://", "https://")):
            raise unanswered("client", "ValueError")
        self._http = Upstream(Timeouts(connect=self._service.connect))

    def call(self, operation: str, arguments: dict[str, object]) -> dict[str, Any]:
        """The answer to an operation, with boto3's name (`get_item`) and arguments. Raises AwsError."""
        for left in range(self._service.attempts - 1, -1, -1):
            try:
                return self._ask(operation, arguments)
            except AwsError as error:
                if not left or not error.retry:
                    raise
            time.sleep(random.uniform(0, _PAUSE))  # noqa: S311 - it keeps no secret
        raise AssertionError("unreachable")

    def close(self) -> None:
        """Closes its idle connections."""
        self._http.close()

    def _ask(self, operation: str, arguments: dict[str, object]) -> dict[str, Any]:
        request = self._signed(operation, arguments)
        expires = time.monotonic() + self._service.connect + self._service.answer
        try:
            response = self._http.send(request, expires=expires)
            body = response.read(_MOST_BYTES)
        except GatewayError as error:
            raise unanswered(operation, _failure(error)) from None
        try:
            answer = msgspec.json.decode(body or b"{}", type=dict[str, Any])
            if b'"B"' in body:
                answer = _with_bytes(answer)
        except msgspec.DecodeError:
            raise unanswered(operation, "ResponseParserError") from None
        if response.status == 200:
            return answer
        code = str(answer.get("__type") or response.status).partition(":")[0].rpartition("#")[2]
        message = answer.get("message") or answer.get("Message") or ""
        told = {"Error": {"Code": code, "Message": message}, "ResponseMetadata": {"HTTPStatusCode": response.status}}
        raise refused(operation, code, response.status, answer | told)

    def _signed(self, operation: str, arguments: dict[str, object]) -> UpstreamRequest:
        try:
            body = msgspec.json.encode(arguments)  # bytes are base64 there, as in the protocol
        except (TypeError, ValueError):
            raise unanswered(operation, "ParamValidationError") from None
        name = "".join(word.capitalize() for word in operation.split("_"))
        headers = (
            ("content-type", f"application/x-amz-json-{self._service.json}"),
            ("x-amz-target", f"{self._service.target}.{name}"),
        )
        try:
            credentials = find_credentials()
        except CredentialsError as error:
            raise unanswered(operation, error.code) from None
        if credentials is None:
            raise unanswered(operation, "NoCredentialsError")
        unsigned = UpstreamRequest("POST", self._url, headers, body, stream=False)
        return signed(unsigned, credentials, self._name, self._region)


def endpoint(service: str, region: str) -> str:
    """The address of a service: as named in the environment, else its own in the region."""
    named = os.environ.get(f"AWS_ENDPOINT_URL_{SERVICES[service].variable}") or os.environ.get("AWS_ENDPOINT_URL")
    if named:
        return named if named.count("/") > 2 else f"{named}/"
    return f"https://{service}.{region}.{domain_of(region)}/"


def domain_of(region: str) -> str:
    """The domain of AWS's endpoints in a region."""
    return next((it for begin, it in _DOMAINS.items() if region.startswith(begin)), "amazonaws.com")


def _failure(error: GatewayError) -> str:
    """botocore's name for a call that got no answer."""
    if isinstance(error, UpstreamTimeout):
        return "ReadTimeoutError"
    if isinstance(error, UpstreamTruncated):
        return "ConnectionClosedError"
    if isinstance(error, InternalError):  # a URL or a header that HTTP does not allow
        return "ValueError"
    return "EndpointConnectionError" if error.code == "upstream_unreachable" else "ResponseParserError"


def _with_bytes(answer: dict[str, Any]) -> dict[str, Any]:
    """Replaces DynamoDB's values of the type B by their bytes, in place, since a history has thousands of values.
    Returns the answer. Raises DecodeError for a value that is no base64."""
    left: list[Any] = [answer]
    while left:
        value = left.pop()
        if type(value) is dict:
            if len(value) == 1 and type(data := value.get("B")) is str:
                value["B"] = msgspec.convert(data, bytes)  # half of the instructions of `base64.b64decode`
                continue
            value = value.values()
        left += [it for it in value if type(it) is dict or type(it) is list]
    return answer
