"""A deployed stack for the commands that look one up: moto's DynamoDB and Secrets Manager, and of CloudFormation what
they ask. A stack that moto makes of the template itself is in `tests/template/test_life.py`: it takes a minute."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.shell.boto3_clients import use_boto3
from toolwire.shell.network import aws
from toolwire.shell.network.aws_boto3 import Boto3Client

STACK, TABLE = "toolwire", "toolwire-keys"


class FakeCloudFormation:
    """One stack, until it is deleted. `outputs`: none before a first deployment has ended well."""

    def __init__(self) -> None:
        self.deleted = False
        self.status = "CREATE_COMPLETE"
        self.outputs = {"KeysTable": TABLE}
        self.parameters = {"SecretPrefix": "", "KmsKeyArn": "", "ConfigSource": "", "ProtectKeysTable": "0"}
        self.events: list[dict[str, str]] = []
        #: What the stack made: logical id -> physical id.
        self.resources: dict[str, str] = {}

    def describe_stacks(self, StackName: str) -> dict[str, Any]:  # noqa: N803 - AWS's name
        if StackName != STACK or self.deleted:
            error = {"Code": "ValidationError", "Message": f"Stack with id {StackName} does not exist"}
            raise ClientError({"Error": error}, "DescribeStacks")
        outputs = [{"OutputKey": name, "OutputValue": value} for name, value in self.outputs.items()]
        parameters = [{"ParameterKey": name, "ParameterValue": value} for name, value in self.parameters.items()]
        stack = {"StackStatus": self.status, "Outputs": outputs, "Parameters": parameters}
        return {"Stacks": [stack]}

    def describe_stack_events(self, StackName: str, NextToken: str = "0") -> dict[str, Any]:  # noqa: N803 - AWS's names
        """One event a page; AWS's pages have a hundred."""
        after = int(NextToken) + 1
        more = {"NextToken": str(after)} if after < len(self.events) else {}
        return {"StackEvents": self.events[after - 1 : after], **more}

    def describe_stack_resource(self, StackName: str, LogicalResourceId: str) -> dict[str, Any]:  # noqa: N803
        return {"StackResourceDetail": {"PhysicalResourceId": self.resources[LogicalResourceId]}}


@contextmanager
def fake_stack() -> Iterator[FakeCloudFormation]:
    """The stack STACK with its table of keys, for the clients of `toolwire.shell.network.aws`."""
    import moto  # 0.5 s, which the other tests here do without

    with pytest.MonkeyPatch.context() as patch, moto.mock_aws():
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            patch.setenv(name, "testing")
        patch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
        aws.forget_clients()
        stack = FakeCloudFormation()
        aws.use("cloudformation", Boto3Client(stack))
        for service in ("secretsmanager", "ssm"):
            use_boto3(service)
        use_boto3("dynamodb").create_table(
            TableName=TABLE,
            BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=[{"AttributeName": "key_sha256", "AttributeType": "S"}],
            KeySchema=[{"AttributeName": "key_sha256", "KeyType": "HASH"}],
        )
        yield stack
        aws.forget_clients()
