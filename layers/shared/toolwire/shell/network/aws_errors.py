"""The error of a call to AWS, with a reason in one stable word."""

from __future__ import annotations

from typing import Any, Literal

#: Why a call failed; `refused` is any other answer, told apart by `AwsError.code`.
Reason = Literal["unavailable", "timeout", "throttled", "not_found", "denied", "too_large", "refused"]

#: AWS's error codes, and botocore's names for a call without an answer, by reason.
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

#: Reasons for which a second attempt cannot succeed.
_LASTING = frozenset(
    {"ImportError", "InvalidRegionError", "NoRegionError", "ParamValidationError", "ProfileNotFound", "ValueError"}
)


class AwsError(Exception):
    """A call to AWS failed. The text names the operation and the code; it never has content.

    `code` is AWS's own error code, or the name of botocore's exception where there was no answer. `retry` says whether
    the same call may soon succeed. `answer` is the body of a refusal (a failed condition has the item that failed it)
    with the members that boto3 adds, empty where there was none.
    """

    def __init__(self, operation: str, code: str, reason: Reason, answer: dict[str, Any] | None = None) -> None:
        super().__init__(f"{operation} {'answered' if answer else 'failed with'} {code}")
        self.code = code
        self.reason = reason
        self.retry = reason in ("throttled", "timeout") or (reason == "unavailable" and code not in _LASTING)
        self.answer = answer or {}


def unanswered(operation: str, code: str) -> AwsError:
    """The error of a call that got no answer. `code`: botocore's name for it."""
    return AwsError(operation, code, _REASONS.get(code, "unavailable"))


def refused(operation: str, code: str, status: int, answer: dict[str, Any]) -> AwsError:
    """The error of a call that AWS refused."""
    return AwsError(operation, code, _REASONS.get(code, "unavailable" if status >= 500 else "refused"), answer)
