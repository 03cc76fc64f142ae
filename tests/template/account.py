"""An AWS account for `make deploy` and what follows it: moto's server, with what moto's CloudFormation leaves out.

    python -m tests.template.account

It prints its address. moto has the services (Lambda, API Gateway, DynamoDB, S3, the Secrets Manager, logs, roles), and
its CloudFormation makes the template's resources. Ours is, in CloudFormation's place:

- the SAM transform, by AWS's own translator, when a change set is made;
- the API's document, its stage and the functions' aliases (`moto_resources.py`);
- that a function is changed before a version of it is published;
- that a first deployment which fails is taken back (ROLLBACK_COMPLETE), and RetainExceptOnCreate.

Alarms, a dashboard, a firewall, a domain, a function URL and CodeDeploy's groups are unknown to moto's CloudFormation:
it warns, and the stack goes on without them.
"""

from __future__ import annotations

import json
import sys
import time
from contextlib import suppress
from typing import Any

import yaml
from moto.cloudformation import models, parsing, responses
from moto.cloudformation.utils import get_stack_from_s3_url
from moto.moto_server.threaded_moto_server import ThreadedMotoServer

import tests.template.moto_resources  # noqa: F401 - moto finds them as they are defined
from tests.template.cloudformation import CloudFormationLoader, translated

#: What a deployment changes in its place. Tables, roles and log groups stay as they were made.
_CHANGED = ("AWS::Lambda::Function", "AWS::Lambda::Alias", "AWS::ApiGateway::RestApi", "AWS::ApiGateway::Stage")

_moto_cleans = parsing.clean_json
_moto_creates = parsing.parse_and_create_resource
_moto_updates = parsing.parse_and_update_resource
_moto_makes_change_set = models.CloudFormationBackend.create_change_set
_moto_carries_out = models.CloudFormationBackend.execute_change_set


class _ResourceMap(parsing.ResourceMap):  # type: ignore[misc]
    """The resources of a stack. `failed`: the first that could not be made, and why."""

    failed: tuple[str, str] | None = None
    input_parameters: dict[str, Any]
    _resource_json_map: dict[str, Any]

    def build_resource_diff(
        self, other_template: dict[str, Any], parameters: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        """moto compares what is written; what a condition decides changes with the parameters alone."""
        found: dict[str, Any] = super().build_resource_diff(other_template, parameters)
        both = self._resource_json_map.keys() & other_template["Resources"].keys()
        found["Modify"] = [name for name in both if other_template["Resources"][name]["Type"] in _CHANGED]
        return found

    def update(self, template: dict[str, Any], parameters: dict[str, Any] | None = None) -> None:
        changed = self.build_resource_diff(template, parameters)["Modify"]
        before, self._resource_json_map = self._resource_json_map, template["Resources"]
        self._template, self.input_parameters = template, parameters or self.input_parameters
        self.load_mapping()
        self.load_parameters()
        self.load_conditions()
        for name in changed:
            if template["Resources"][name]["Type"] == "AWS::Lambda::Function":
                _updated(name, template["Resources"][name], self, self._account_id, self._region_name)
        self._resource_json_map = before
        super().update(template, parameters)

    def load_parameters(self) -> None:
        """A number is text wherever it is used."""
        super().load_parameters()
        numbers = {name: str(it) for name, it in self.resolved_parameters.items() if isinstance(it, int | float)}
        self.resolved_parameters |= numbers
        self._parsed_resources |= numbers

    def delete(self) -> None:
        for resource in self._resource_json_map.values():
            if resource.get("DeletionPolicy") == "RetainExceptOnCreate" and self.failed is None:
                resource["DeletionPolicy"] = "Retain"
        super().delete()


def _cleaned(said: Any, resources: _ResourceMap) -> Any:
    """`AWS::NoValue` is nothing in a list too."""
    value = _moto_cleans(said, resources)
    return [it for it in value if it is not None] if isinstance(value, list) else value


def _created(logical_id: str, said: dict[str, Any], resources: _ResourceMap, **where: str) -> Any:
    try:
        return _moto_creates(logical_id, said, resources, **where)
    except Exception as error:
        resources.failed = resources.failed or (logical_id, str(error) or type(error).__name__)
        raise


def _updated(logical_id: str, said: dict[str, Any], resources: _ResourceMap, account_id: str, region_name: str) -> Any:
    """What moto does not know how to change stays as it was, not as nothing; what is not there is not changed."""
    if "Condition" in said and not resources.lazy_condition_map[said["Condition"]]:
        return None
    changed = _moto_updates(logical_id, said, resources, account_id, region_name)
    return resources[logical_id] if changed is None else changed


def _change_set(
    backend: models.CloudFormationBackend, *, template: str, parameters: dict[str, Any], **others: Any
) -> tuple[str, str]:
    values = {name: ",".join(it) if isinstance(it, list) else str(it) for name, it in parameters.items()}
    document = yaml.load(template, CloudFormationLoader)
    if "Transform" in document:
        template = json.dumps(translated(document, values))
    made: tuple[str, str] = _moto_makes_change_set(backend, template=template, parameters=values, **others)
    return made


def _carried_out(backend: models.CloudFormationBackend, change_set_name: str, stack_name: str | None = None) -> None:
    change_set = backend.describe_change_set(change_set_name)
    assert change_set is not None
    stack: Any = backend.stacks[change_set.stack_id]
    try:
        _moto_carries_out(backend, change_set_name, stack_name)
    except Exception:
        if change_set.change_set_type != "CREATE" or stack.resource_map.failed is None:
            raise
        _take_back(stack)
    else:  # moto leaves the outputs as they were before
        stack._parse_template()
        stack.output_map = stack._create_output_map()


def _there(stack: models.Stack) -> list[Any]:
    """Without what a condition has left out."""
    return [it for it in stack.resource_map.values() if it is not None]


def _template_at(url: str, account_id: str, partition: str) -> str:
    """moto knows the place of a bucket behind this name of the machine only."""
    template: str = get_stack_from_s3_url(url.replace("//127.0.0.1", "//localhost"), account_id, partition)
    return template


def _take_back(stack: Any) -> None:
    """As CloudFormation does it with the first change set of a stack: nothing stays, and none can follow."""
    name, reason = stack.resource_map.failed
    stack._add_stack_event("CREATE_FAILED", reason)
    stack.events[-1].logical_resource_id = name
    stack.resource_map.delete()
    stack._add_stack_event("ROLLBACK_COMPLETE")
    stack.status = "ROLLBACK_COMPLETE"


def main() -> None:
    """Serves until it is ended."""
    for owner, name, ours in (
        (parsing, "clean_json", _cleaned),
        (parsing, "parse_and_create_resource", _created),
        (parsing, "parse_and_update_resource", _updated),
        (models, "ResourceMap", _ResourceMap),
        (models.Stack, "stack_resources", property(_there)),
        (responses, "get_stack_from_s3_url", _template_at),
        (models.CloudFormationBackend, "create_change_set", _change_set),
        (models.CloudFormationBackend, "execute_change_set", _carried_out),
    ):
        setattr(owner, name, ours)
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    sys.stdout.write(f"serves at http://127.0.0.1:{server.get_host_and_port()[1]}\n")
    sys.stdout.flush()
    with suppress(KeyboardInterrupt):
        while True:
            time.sleep(60)


if __name__ == "__main__":
    main()
