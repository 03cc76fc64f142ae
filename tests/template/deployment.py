"""A stack of the transformed template whose tables are really there, in any DynamoDB: what CloudFormation would resolve
is resolved, and its tables are made, kept and deleted as their policies say."""

from __future__ import annotations

import re
from itertools import count
from typing import Any

from tests.local.fake_stack import STACK, FakeCloudFormation
from tests.template.cloudformation import load, transform

_PSEUDO = {
    "AWS::StackName": STACK,
    "AWS::Region": "eu-central-1",
    "AWS::AccountId": "123456789012",
    "AWS::Partition": "aws",
    "AWS::URLSuffix": "amazonaws.com",
}
_NO_VALUE = object()
#: Of a table's properties, those without which it would not be this one.
_TABLE = ("BillingMode", "AttributeDefinitions", "KeySchema")


class Deployment(FakeCloudFormation):
    """The stack before its first deployment. `dynamodb`: boto3's client of where its tables are to be."""

    def __init__(self, dynamodb: Any) -> None:
        super().__init__()
        self.deleted = True
        self._dynamodb = dynamodb
        self._template: dict[str, Any] = {}
        self._made = count()

    def deploy(self, *, fails: bool = False, **parameters: str) -> None:
        """Makes what is not there yet. `fails`: the first deployment does not end well, and all is taken back."""
        defaults = {name: str(it["Default"]) for name, it in load()["Parameters"].items()}
        self._template, self.parameters = transform(**parameters), defaults | parameters
        for name, table in self._tables().items():
            if name not in self.resources:
                self.resources[name] = f"{STACK}-{name}-{next(self._made)}"
                wanted = {key: self.value(table["Properties"][key]) for key in _TABLE}
                self._dynamodb.create_table(TableName=self.resources[name], **wanted)
        self.deleted = False
        if fails:
            self._delete("Retain")
            self.status, self.outputs = "ROLLBACK_COMPLETE", {}
            return
        outputs = self._template["Outputs"].items()
        there = {name: it["Value"] for name, it in outputs if self._holds(it.get("Condition"))}
        self.status, self.outputs = "CREATE_COMPLETE", {name: str(self.value(it)) for name, it in there.items()}

    def destroy(self) -> None:
        """Deletes the stack and what its policies do not keep."""
        self._delete("Retain", "RetainExceptOnCreate")
        self.deleted = True

    def variables(self, function: str) -> dict[str, str]:
        """The environment of a function."""
        wanted = self.value(self._template["Resources"][function]["Properties"]["Environment"]["Variables"])
        return {name: str(value) for name, value in wanted.items()}

    def value(self, said: Any) -> Any:
        """What the template says, as CloudFormation resolves it."""
        if isinstance(said, list):
            return [it for it in map(self.value, said) if it is not _NO_VALUE]
        if not isinstance(said, dict):
            return said
        match next(iter(said.items()), None):
            case ("Ref", str(name)) if len(said) == 1:
                return self._named(name)
            case ("Fn::If", [condition, yes, no]):
                return self.value(yes if self._holds(condition) else no)
            case ("Fn::Sub", str(text)):
                return re.sub(r"\$\{([\w:]+)\}", lambda it: str(self._named(it[1])), text)
        return {name: it for name, raw in said.items() if (it := self.value(raw)) is not _NO_VALUE}

    def _named(self, name: str) -> Any:
        if name == "AWS::NoValue":
            return _NO_VALUE
        return _PSEUDO.get(name) or self.resources.get(name) or self.parameters.get(name, name)

    def _holds(self, condition: str | None) -> bool:
        """Of conditions, those that are a comparison with an empty parameter or with a fixed one."""
        if condition is None:
            return True
        said, wanted = self._template["Conditions"][condition], True
        if "Fn::Not" in said:
            (said,), wanted = said["Fn::Not"], False
        left, right = said["Fn::Equals"]
        if "Fn::Join" in (left if isinstance(left, dict) else {}):
            left = left["Fn::Join"][1]
        return bool((str(self.value(left)) == str(right)) is wanted)

    def _tables(self) -> dict[str, dict[str, Any]]:
        found = self._template["Resources"].items()
        tables = {name: it for name, it in found if it["Type"] == "AWS::DynamoDB::Table"}
        return {name: it for name, it in tables.items() if self._holds(it.get("Condition"))}

    def _delete(self, *kept: str) -> None:
        for name, table in self._tables().items():
            place = self.resources.pop(name, None)
            if place and table["DeletionPolicy"] not in kept:
                self._dynamodb.delete_table(TableName=place)
