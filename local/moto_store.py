"""STORE=moto: the DynamoDB store of a deployment, without an AWS account.

The table is in moto's DynamoDB, inside this process. The first call starts it.

Only DynamoDB is simulated; calls to other services of AWS (a credential in Secrets Manager) are sent as usual.
"""

from __future__ import annotations

import importlib.util
import threading
import time
from collections.abc import Mapping
from typing import Any

from toolwire.model.settings import SettingsError
from toolwire.shell.network import aws
from toolwire.shell.network.aws_boto3 import Boto3Client
from toolwire.shell.store.dynamodb import DynamoDbStore, create_table

#: The name of our client among this process's clients: another DynamoDB may be in use as well.
_CLIENT = "dynamodb in moto"

_REGION = "eu-central-1"
_ENDPOINT = f"https://dynamodb.{_REGION}.amazonaws.com"


def moto_store(env: Mapping[str, str]) -> DynamoDbStore:
    """The store. Raises SettingsError if moto is not installed or another DynamoDB is configured."""
    if importlib.util.find_spec("moto") is None or importlib.util.find_spec("boto3") is None:
        raise SettingsError("STORE: moto is not installed here; `make test` installs it, or use STORE=memory.")
    if env.get("AWS_ENDPOINT_URL_DYNAMODB"):
        raise SettingsError("AWS_ENDPOINT_URL_DYNAMODB: names an endpoint that STORE=moto would not use; unset one.")
    table = MotoTable(env.get("STORE_TABLE", "").strip() or "toolwire-moto")
    return DynamoDbStore(table.name, name="moto", call=table.call, warm=table.warm)


class MotoTable:
    """One table. moto has one state a process, so there should be one of these a process as well."""

    def __init__(self, table: str) -> None:
        self.name = table
        self._starting = threading.Lock()
        self._mock: Any = None

    def call(self, operation: str, *, deadline: float, **arguments: Any) -> dict[str, Any]:
        """Makes one call, after starting moto. The start, some second, does not count against the deadline."""
        began = time.monotonic()
        with self._starting:
            if self._mock is None:
                self._mock = self._start()
        deadline += time.monotonic() - began
        return aws.call(_CLIENT, operation, deadline=deadline, **arguments)

    def warm(self, wait: float) -> None:
        """Does nothing: moto's start is no part of a deadline."""

    def stop(self) -> None:
        """Ends moto, and drops its items."""
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
        create_table(client, self.name)
        aws.use(_CLIENT, Boto3Client(client))
        return mock
