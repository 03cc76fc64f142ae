"""How this process calls AWS: one client a service, made when it is first needed, and one way for a call to fail.

boto3's import and its first client cost 0.3 to 0.5 s, so both happen in the function that needs them, and `client` may
be called from a thread that is ahead of the need. Region, credentials and endpoints are boto3's own variables
(AWS_DEFAULT_REGION, AWS_ENDPOINT_URL_DYNAMODB, ...).
"""

from __future__ import annotations

import logging
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, Literal, NamedTuple

#: Why a call failed, in one stable word; `refused` is any other answer, told apart by `AwsError.code`.
Reason = Literal["unavailable", "timeout", "throttled", "not_found", "denied", "too_large", "refused"]


class Patience(NamedTuple):
    """How long one attempt may take, in seconds, and how many boto3 makes by itself."""

    connect: float
    read: float
    attempts: int


#: DynamoDB is on the way of every answer and its callers have deadlines: they retry by themselves while there is time.
_PATIENCE = {"dynamodb": Patience(connect=0.5, read=1.0, attempts=1)}
_DEFAULT_PATIENCE = Patience(connect=2.0, read=3.0, attempts=3)

#: Calls with a deadline that are under way at once. One that outlives its deadline stays until its own timeout.
_WORKERS = 16

#: AWS's error codes, and botocore's exceptions by class name.
_REASONS: dict[str, Reason] = {
    "ConnectTimeoutError": "timeout",
    "ReadTimeoutError": "timeout",
    "ProvisionedThroughputExceededException": "throttled",
    "RequestLimitExceeded": "throttled",
    "ThrottlingException": "throttled",
    "ResourceNotFoundException": "not_found",
    "ParameterNotFound": "not_found",
    "AccessDeniedException": "denied",
    "ExpiredTokenException": "denied",
    "IncompleteSignatureException": "denied",
    "InvalidSignatureException": "denied",
    "MissingAuthenticationTokenException": "denied",
    "UnrecognizedClientException": "denied",
    "NoCredentialsError": "denied",
    "PartialCredentialsError": "denied",
    "CredentialRetrievalError": "denied",
    "TokenRetrievalError": "denied",
    "UnauthorizedSSOTokenError": "denied",
    "ItemCollectionSizeLimitExceededException": "too_large",
}


#: The code of a call that its caller's deadline ended.
DEADLINE_EXCEEDED = "DeadlineExceeded"

#: What no second attempt repairs.
_LASTING = frozenset(
    {"ImportError", "InvalidRegionError", "NoRegionError", "ParamValidationError", "ProfileNotFound", "ValueError"}
)


class AwsError(Exception):
    """A call to AWS failed. The text names the operation and the code; it never has content.

    `code` is AWS's own error code, or the name of botocore's exception where there was no answer. `retry` says whether
    the same call may soon succeed. `answer` is the body of a refusal (a failed condition has the item that failed it),
    empty where there was none.
    """

    def __init__(self, operation: str, code: str, reason: Reason, answer: dict[str, Any] | None = None) -> None:
        super().__init__(f"{operation} {'answered' if answer else 'failed with'} {code}")
        self.code = code
        self.reason = reason
        self.retry = reason in ("throttled", "timeout") or (reason == "unavailable" and code not in _LASTING)
        self.answer = answer or {}


_clients: dict[str, Any] = {}
_creating = threading.Lock()
_pool = ThreadPoolExecutor(_WORKERS, thread_name_prefix="aws")


def client(service: str) -> Any:
    """This process's boto3 client of a service. Safe from any thread; who comes while it is made waits for it.

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

    `deadline` is a moment of `time.monotonic`. It holds whatever the network does, the making of the client, of name
    resolution and an answer in drops included: the call runs in a thread, and nobody waits for it any longer.
    Raises AwsError.
    """
    if deadline is None:
        return _call(service, operation, arguments)
    remaining = deadline - time.monotonic()
    if remaining <= 0:
        raise AwsError(operation, DEADLINE_EXCEEDED, "timeout")
    future = _pool.submit(_call, service, operation, arguments)
    try:
        return future.result(remaining)
    except TimeoutError:
        future.cancel()  # one that has not begun is not begun
        raise AwsError(operation, DEADLINE_EXCEEDED, "timeout") from None


def warm(service: str, *, wait: float = 0.0) -> None:
    """Makes the client in a thread, ahead of the need, and waits for it at most `wait` seconds.

    Never raises: why it fails, the first call says.
    """
    if service in _clients:
        return
    made = _pool.submit(client, service)
    if wait > 0:
        with suppress(AwsError, TimeoutError):
            made.result(wait)


def use(service: str, made: Any) -> None:
    """Has this process call `service` through a boto3 client that was made elsewhere."""
    with _creating:
        _clients[service] = made


def forget_clients() -> None:
    """Drops the clients: the environment they were made in has changed."""
    with _creating:
        _clients.clear()


def _create(service: str) -> Any:
    try:
        import boto3
        from botocore.config import Config
        from botocore.exceptions import BotoCoreError
    except ImportError:
        raise AwsError("boto3", "ImportError", "unavailable") from None
    # At DEBUG, which LOG_LEVEL may set for every logger on Lambda, it would log what is sent and answered.
    logging.getLogger("botocore").setLevel(logging.WARNING)
    patience = _PATIENCE.get(service, _DEFAULT_PATIENCE)
    config = Config(
        connect_timeout=patience.connect,
        read_timeout=patience.read,
        retries={"total_max_attempts": patience.attempts, "mode": "standard"},
        max_pool_connections=_WORKERS,
    )
    try:
        # A session of its own: boto3's default one must not be used by two threads.
        return boto3.session.Session().client(service, config=config)
    except (BotoCoreError, ValueError) as error:  # botocore says ValueError of an endpoint that is no URL
        raise _failed("client", error) from None


def _call(service: str, operation: str, arguments: dict[str, object]) -> dict[str, Any]:
    made = client(service)
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        answer: dict[str, Any] = getattr(made, operation)(**arguments)
    except ClientError as error:
        code = error.response.get("Error", {}).get("Code", "Unknown")
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        reason = _REASONS.get(code, "unavailable" if status >= 500 else "refused")
        raise AwsError(operation, code, reason, error.response) from None
    except BotoCoreError as error:
        raise _failed(operation, error) from None
    return answer


def _failed(operation: str, error: Exception) -> AwsError:
    """A call that got no answer."""
    code = type(error).__name__
    return AwsError(operation, code, _REASONS.get(code, "unavailable"))
