"""Calls AWS: one client a service, made when it is first needed, and one error for all failures.

The services that a request waits for have a light client (`aws_json.py`); all others have boto3's, whose import and
first client cost 0.3 to 0.5 s. Region, credentials and endpoints are those of AWS's own variables (AWS_DEFAULT_REGION,
AWS_ENDPOINT_URL_DYNAMODB, ...).
"""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, Protocol

from toolwire.shell.network.aws_errors import DEADLINE_EXCEEDED as DEADLINE_EXCEEDED
from toolwire.shell.network.aws_errors import AwsError as AwsError
from toolwire.shell.network.aws_errors import Reason as Reason

#: The most calls with a deadline at once. One that is past its deadline runs until its own timeout.
_WORKERS = 16


class AwsClient(Protocol):
    """Calls one service."""

    def call(self, operation: str, arguments: dict[str, object]) -> dict[str, Any]:
        """The answer to an operation, in boto3's form. Raises AwsError."""

    def close(self) -> None:
        """Closes its idle connections."""


_clients: dict[str, AwsClient] = {}
_creating = threading.Lock()
_pool = ThreadPoolExecutor(_WORKERS, thread_name_prefix="aws")


def client(service: str) -> AwsClient:
    """This process's client of a service. Safe from any thread; a thread that comes while it is made waits.

    Raises AwsError.
    """
    made = _clients.get(service)
    if made is None:
        with _creating:
            made = _clients.get(service)
            if made is None:
                made = _clients[service] = _create(service)
    return made


def call(service: str, operation: str, *, deadline: float | None = None, **arguments: Any) -> dict[str, Any]:
    """The answer to one call, e.g. `call("dynamodb", "query", TableName=...)`.

    `deadline` is a moment of `time.monotonic`. It also bounds the making of the client, name resolution and a slow
    answer: the call runs in a thread, which is not waited for after the deadline. Raises AwsError.
    """
    if deadline is None:
        return client(service).call(operation, arguments)
    remaining = deadline - time.monotonic()
    if remaining <= 0:
        raise AwsError(operation, DEADLINE_EXCEEDED, "timeout")
    future = _pool.submit(lambda: client(service).call(operation, arguments))
    try:
        return future.result(remaining)
    except TimeoutError:
        future.cancel()  # a call that has not begun does not begin
        raise AwsError(operation, DEADLINE_EXCEEDED, "timeout") from None


def warm(service: str, *, wait: float = 0.0) -> None:
    """Makes the client in a thread before it is needed, and waits for it at most `wait` seconds.

    Never raises: the first call reports the failure.
    """
    if service in _clients:
        return
    made = _pool.submit(client, service)
    if wait > 0:
        with suppress(AwsError, TimeoutError):
            made.result(wait)


def use(service: str, made: AwsClient) -> None:
    """Makes this process call `service` through a client that was made elsewhere."""
    with _creating:
        _clients[service] = made


def forget_clients() -> list[str]:
    """Drops the clients, with their connections and credentials, since the environment has changed. Returns the
    services that had one."""
    from toolwire.shell.network.aws_credentials import forget_credentials

    with _creating:
        services = list(_clients)
        for made in _clients.values():
            made.close()
        _clients.clear()
    forget_credentials()
    return services


def _create(service: str) -> AwsClient:
    from toolwire.shell.network.aws_json import SERVICES, JsonClient

    if service in SERVICES:
        return JsonClient(service)
    from toolwire.shell.network.aws_boto3 import boto3_client

    return boto3_client(service)
