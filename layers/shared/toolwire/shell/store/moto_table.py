"""STORE=moto: a DynamoDB table as moto plays it, in this process and started by the first call.

Only DynamoDB is played; calls to other services of AWS (a credential in Secrets Manager) go where they always go.
"""

from __future__ import annotations

import threading
import time
from typing import Any

from toolwire.shell.network import aws
from toolwire.shell.store.dynamodb import create_table

#: What this process's clients have ours under: another DynamoDB may be in use as well.
_CLIENT = "dynamodb in moto"

_REGION = "eu-central-1"
_ENDPOINT = f"https://dynamodb.{_REGION}.amazonaws.com"


class MotoTable:
    """One table. moto has one state a process, so there should be one of these a process as well."""

    def __init__(self, table: str) -> None:
        self._table = table
        self._starting = threading.Lock()
        self._mock: Any = None

    def call(self, operation: str, *, deadline: float, **arguments: Any) -> dict[str, Any]:
        """One call, once moto plays. Its start, a second or so, does not count against the deadline."""
        began = time.monotonic()
        with self._starting:
            if self._mock is None:
                self._mock = self._start()
        deadline += time.monotonic() - began
        return aws.call(_CLIENT, operation, deadline=deadline, **arguments)

    def warm(self, wait: float) -> None:
        """There is nothing to do ahead: its start is no part of a deadline."""

    def stop(self) -> None:
        """Ends it, and its items with it."""
        with self._starting:
            if self._mock is not None:
                self._mock.stop()
                self._mock = None

    def _start(self) -> Any:
        import boto3
        from moto import mock_aws
        from moto.core.config import DefaultConfig

        config: DefaultConfig = {
            "core": {
                "mock_credentials": False,
                "reset_boto3_session": False,
                "passthrough": {"urls": [f"(?!{_ENDPOINT})"], "services": []},
            }
        }
        mock = mock_aws(config=config)
        mock.start()
        session = boto3.session.Session(aws_access_key_id="moto", aws_secret_access_key="moto", region_name=_REGION)  # noqa: S106
        client = session.client("dynamodb", endpoint_url=_ENDPOINT)
        create_table(client, self._table)
        aws.use(_CLIENT, client)
        return mock
