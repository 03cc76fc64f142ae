"""Reads secrets of AWS Secrets Manager, and parameters of Systems Manager."""

from __future__ import annotations

import time
from typing import Any

#: The seconds that a fetch may take: a request must not wait long for a service that cannot be reached.
_FETCH_SECONDS = 3.0

#: AWS's error codes for an unknown name.
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
    """Makes one call to AWS. Returns None for an unknown name. The import costs 60 ms, so it is made only here."""
    from toolwire.shell.network import aws

    try:
        return aws.call(service, operation, deadline=time.monotonic() + _FETCH_SECONDS, **arguments)
    except aws.AwsError as error:
        if error.code in _NOT_FOUND:
            return None
        raise SecretStoreError(str(error)) from error
