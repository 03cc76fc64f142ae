"""The table of conversations as it is deployed, and that the code which uses it agrees."""

from __future__ import annotations

from typing import Any

import pytest

from tests.template import cloudformation
from toolwire.model.settings import Settings
from toolwire.shell.settings.variables import MOST_STATE_TTL_DAYS
from toolwire.shell.store.dynamodb import create_table


@pytest.fixture(scope="module")
def written() -> dict[str, Any]:
    return cloudformation.load()


@pytest.fixture(scope="module")
def deployed() -> dict[str, Any]:
    return cloudformation.transform()


def test_the_table_of_conversations(deployed: dict[str, Any]) -> None:
    table = deployed["Resources"]["ToolCallTable"]
    assert (table["DeletionPolicy"], table["UpdateReplacePolicy"]) == ("Delete", "Delete")
    assert table["Properties"] == {
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [
            {"AttributeName": "conversation_id", "AttributeType": "S"},
            {"AttributeName": "tool_call_id", "AttributeType": "S"},
        ],
        "KeySchema": [
            {"AttributeName": "conversation_id", "KeyType": "HASH"},
            {"AttributeName": "tool_call_id", "KeyType": "RANGE"},
        ],
        "TimeToLiveSpecification": {"AttributeName": "expires_at", "Enabled": True},
        "PointInTimeRecoverySpecification": {
            "PointInTimeRecoveryEnabled": {"Fn::If": ["HasStateRecovery", True, False]}
        },
        "SSESpecification": {
            "Fn::If": [
                "HasKmsKey",
                {"SSEEnabled": True, "SSEType": "KMS", "KMSMasterKeyId": {"Ref": "KmsKeyArn"}},
                {"Ref": "AWS::NoValue"},
            ]
        },
    }


def test_the_store_takes_the_table_as_it_is_deployed(written: dict[str, Any]) -> None:
    """The code's own description of the table, by which local ones are made, says the same as the template."""
    made: dict[str, Any] = {}

    class Client:
        def create_table(self, **arguments: Any) -> None:
            made.update(arguments)

    create_table(Client(), "calls")

    deployed = written["Resources"]["ToolCallTable"]["Properties"]
    assert made.pop("TableName") == "calls"
    assert made == {name: deployed[name] for name in made}
    assert made.keys() == {"BillingMode", "KeySchema", "AttributeDefinitions"}


def test_state_is_kept_for_days_that_the_settings_take(written: dict[str, Any]) -> None:
    days = written["Parameters"]["StateTtlDays"]
    assert (days["MinValue"], days["MaxValue"]) == (1, MOST_STATE_TTL_DAYS)
    assert days["Default"] == Settings({}).state_ttl_days
