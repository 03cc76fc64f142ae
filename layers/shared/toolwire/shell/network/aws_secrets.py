"""What AWS keeps by name: secrets of Secrets Manager, and parameters of Systems Manager."""

from __future__ import annotations

import time
from typing import Any

#: Seconds that a fetch may take. Where no such service is to be reached, a request must not wait for its patience.
_FETCH_SECONDS = 3.0

#: How AWS says that nothing has this name.
_NOT_FOUND = ("ResourceNotFoundException", "ParameterNotFound", "InvalidRequestException")


class SecretStoreError(Exception):
    """The store could not be asked. The text says why and is safe to show."""


def read_secret(name: str) -> str | None:
    """A secret of AWS Secrets Manager, by name or ARN."""
    answer = _ask("secretsmanager", "get_secret_value", SecretId=name)
    return None if answer is None else answer.get("SecretString")


def read_parameter(name: str) -> str | None:
    """A parameter of AWS Systems Manager, decrypted."""
    answer = _ask("ssm", "get_parameter", Name=name, WithDecryption=True)
    return None if answer is None else answer["Parameter"]["Value"]


def _ask(service: str, operation: str, **arguments: Any) -> Any:
    """One call to AWS; None if it knows no such name. The import costs 60 ms, so only who needs it pays."""
    from toolwire.shell.network import aws

    try:
        return aws.call(service, operation, deadline=time.monotonic() + _FETCH_SECONDS, **arguments)
    except aws.AwsError as error:
        if error.code in _NOT_FOUND:
            return None
        raise SecretStoreError(str(error)) from error
