"""Reads the outputs and parameters of a deployed stack, and calls AWS with errors of one line. Credentials and region
are the caller's own, as boto3 and the AWS CLI find them."""

from __future__ import annotations

from typing import Any

from toolwire.shell.network import aws

#: `ConfigSource` of a stack whose layer has the toolwire.toml of the folder that it was built in.
PACKED_FILE = "/opt/toolwire.toml"


class StackError(Exception):
    """AWS could not be asked, or the stack is not what it should be. The message says what to do."""


def calling(service: str, operation: str, **arguments: Any) -> dict[str, Any]:
    """The answer to one call. Raises StackError."""
    try:
        return aws.call(service, operation, **arguments)
    except aws.AwsError as error:
        raise StackError(_explained(error)) from None


def stack_output(stack: str, name: str) -> str:
    """The value of a stack's output. Raises StackError."""
    for output in _described(stack).get("Outputs", ()):
        if output["OutputKey"] == name:
            return str(output["OutputValue"])
    raise StackError(f"the stack {stack!r} has no output {name}: deploy this version first (make deploy STACK={stack})")


def stack_parameter(stack: str, name: str) -> str:
    """The value that a stack was deployed with. Raises StackError."""
    for parameter in _described(stack).get("Parameters", ()):
        if parameter["ParameterKey"] == name:
            return str(parameter["ParameterValue"])
    raise StackError(f"the stack {stack!r} has no parameter {name}: is it a stack of this template?")


def secret_prefix(stack: str) -> str:
    """The prefix of the names of the stack's secrets. Raises StackError."""
    return stack_parameter(stack, "SecretPrefix") or f"{stack}/"


def stack_resource(stack: str, name: str) -> str:
    """AWS's name for a resource of the stack, by its name in the template. Raises StackError."""
    found = calling("cloudformation", "describe_stack_resource", StackName=stack, LogicalResourceId=name)
    return str(found["StackResourceDetail"]["PhysicalResourceId"])


def first_failure(stack: str) -> str | None:
    """Why the stack's first deployment failed: its first resource that did. Raises StackError."""
    first, page = None, {"StackName": stack}
    while True:  # the newest come first, and what was deleted after the failure may fill a page
        answer = calling("cloudformation", "describe_stack_events", **page)
        for event in answer["StackEvents"]:
            if event["ResourceStatus"].endswith("_FAILED") and event.get("ResourceStatusReason"):
                first = f"{event['LogicalResourceId']}: {event['ResourceStatusReason']}"
        if not answer.get("NextToken"):
            return first
        page["NextToken"] = answer["NextToken"]


def _described(stack: str) -> dict[str, Any]:
    described = find_stack(stack)
    if described is None:
        raise StackError(
            f"there is no stack {stack!r} in this account and region: deploy it first (make deploy STACK={stack})"
        )
    return described


def find_stack(stack: str) -> dict[str, Any] | None:
    """The stack as CloudFormation describes it; None if there is none. Raises StackError."""
    try:
        answer = aws.call("cloudformation", "describe_stacks", StackName=stack)
    except aws.AwsError as error:
        if error.code == "ValidationError":  # CloudFormation's word for a stack that is not there
            return None
        raise StackError(_explained(error)) from None
    found: dict[str, Any] = answer["Stacks"][0]
    return found


def _explained(error: aws.AwsError) -> str:
    """The failure, with the usual fix."""
    helps = {
        "NoCredentialsError": "give AWS credentials (aws configure, or AWS_PROFILE)",
        "NoRegionError": "name a region (AWS_DEFAULT_REGION=eu-central-1)",
        "ImportError": "install boto3 (make sets up an environment with it)",
    }
    hint = helps.get(error.code) or ("these AWS credentials may not do it" if error.reason == "denied" else None)
    return f"{error}: {hint}" if hint else str(error)
