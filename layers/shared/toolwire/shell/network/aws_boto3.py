"""boto3's client of a service, for commands, which have no cold start, and for services without JSON."""

from __future__ import annotations

import logging
from typing import Any, NamedTuple

from toolwire.shell.network.aws_errors import refused, unanswered


class Boto3Client(NamedTuple):
    """Calls through a client of boto3's, whose errors become ours."""

    boto3: Any

    def call(self, operation: str, arguments: dict[str, object]) -> dict[str, Any]:
        """The answer to an operation. Raises AwsError."""
        from botocore.exceptions import BotoCoreError, ClientError
        from botocore.parsers import ResponseParserError  # not a BotoCoreError: a proxy's page in place of AWS's answer

        try:
            answer: dict[str, Any] = getattr(self.boto3, operation)(**arguments)
        except ClientError as error:
            code = error.response.get("Error", {}).get("Code", "Unknown")
            status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
            raise refused(operation, code, status, dict(error.response)) from None
        except (BotoCoreError, ResponseParserError) as error:
            raise unanswered(operation, type(error).__name__) from None
        return answer

    def close(self) -> None:
        """Does nothing: boto3's connections end with its client."""


def boto3_client(service: str) -> Boto3Client:
    """A new client, in this process's region and with its credentials. Raises AwsError."""
    try:
        import boto3
        from botocore.config import Config
        from botocore.exceptions import BotoCoreError
    except ImportError:
        raise unanswered("boto3", "ImportError") from None
    # At DEBUG, which LOG_LEVEL may set for every logger on Lambda, it would log requests and answers.
    logging.getLogger("botocore").setLevel(logging.WARNING)
    config = Config(connect_timeout=2, read_timeout=3, retries={"total_max_attempts": 3, "mode": "standard"})
    try:
        # A session of its own: boto3's default one must not be used by two threads.
        return Boto3Client(boto3.session.Session().client(service, config=config))
    except (BotoCoreError, ValueError) as error:  # botocore's error for an endpoint that is no URL
        raise unanswered("client", type(error).__name__) from None
