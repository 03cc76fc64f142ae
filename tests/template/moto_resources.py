"""Resources that moto's services have and its CloudFormation does not make of a template, or makes too little of.

moto finds each by its being a direct subclass of `CloudFormationModel`.
"""

from __future__ import annotations

from typing import Any

from moto.apigateway.models import Deployment, apigateway_backends
from moto.awslambda.models import LambdaVersion, LayerVersion, lambda_backends
from moto.core.common_models import CloudFormationModel


class Api(CloudFormationModel):  # type: ignore[misc]
    """AWS::ApiGateway::RestApi with what its document says: moto's own is without a path."""

    def __init__(self, physical_id: str) -> None:
        self.physical_resource_id = physical_id

    @staticmethod
    def cloudformation_type() -> str:
        return "AWS::ApiGateway::RestApi"

    @classmethod
    def create_from_cloudformation_json(
        cls, resource_name: str, cloudformation_json: dict[str, Any], account_id: str, region_name: str, **_: Any
    ) -> Api:
        made = apigateway_backends[account_id][region_name].create_rest_api(resource_name, "")
        return cls.update_from_cloudformation_json(cls(made.id), "", cloudformation_json, account_id, region_name)

    @classmethod
    def update_from_cloudformation_json(
        cls,
        original_resource: Api,
        new_resource_name: str,
        cloudformation_json: dict[str, Any],
        account_id: str,
        region_name: str,
    ) -> Api:
        api = apigateway_backends[account_id][region_name]
        document = _as_moto_reads_it(cloudformation_json["Properties"]["Body"])
        api.put_rest_api(original_resource.physical_resource_id, document, fail_on_warnings=False, mode="overwrite")
        return original_resource

    def delete(self, account_id: str, region_name: str) -> None:
        apigateway_backends[account_id][region_name].delete_rest_api(self.physical_resource_id)


class Stage(CloudFormationModel):  # type: ignore[misc]
    """AWS::ApiGateway::Stage."""

    def __init__(self, api: str, name: str) -> None:
        self.api = api
        self.physical_resource_id = name

    @staticmethod
    def cloudformation_type() -> str:
        return "AWS::ApiGateway::Stage"

    @classmethod
    def create_from_cloudformation_json(
        cls, resource_name: str, cloudformation_json: dict[str, Any], account_id: str, region_name: str, **_: Any
    ) -> Stage:
        said = cloudformation_json["Properties"]
        backend = apigateway_backends[account_id][region_name]
        backend.create_stage(said["RestApiId"], said["StageName"], said["DeploymentId"])
        return cls(said["RestApiId"], said["StageName"])

    @classmethod
    def update_from_cloudformation_json(
        cls,
        original_resource: Stage,
        new_resource_name: str,
        cloudformation_json: dict[str, Any],
        account_id: str,
        region_name: str,
    ) -> Stage:
        deployment = cloudformation_json["Properties"]["DeploymentId"]
        change = {"op": "replace", "path": "/deploymentId", "value": deployment}
        backend = apigateway_backends[account_id][region_name]
        backend.update_stage(original_resource.api, original_resource.physical_resource_id, [change])
        return original_resource


class Alias(CloudFormationModel):  # type: ignore[misc]
    """AWS::Lambda::Alias."""

    def __init__(self, function: str, name: str, arn: str) -> None:
        self.function = function
        self.name = name
        self.physical_resource_id = arn

    @staticmethod
    def cloudformation_type() -> str:
        return "AWS::Lambda::Alias"

    @classmethod
    def create_from_cloudformation_json(
        cls, resource_name: str, cloudformation_json: dict[str, Any], account_id: str, region_name: str, **_: Any
    ) -> Alias:
        said = cloudformation_json["Properties"]
        backend = lambda_backends[account_id][region_name]
        made = backend.create_alias(said["Name"], said["FunctionName"], said["FunctionVersion"], "", "")
        return cls(said["FunctionName"], said["Name"], made.arn)

    @classmethod
    def update_from_cloudformation_json(
        cls,
        original_resource: Alias,
        new_resource_name: str,
        cloudformation_json: dict[str, Any],
        account_id: str,
        region_name: str,
    ) -> Alias:
        version = cloudformation_json["Properties"]["FunctionVersion"]
        backend = lambda_backends[account_id][region_name]
        backend.update_alias(original_resource.name, original_resource.function, version, "", "")
        return original_resource


def _version_attribute(version: LambdaVersion, name: str) -> str:
    """moto's version has no attributes; an alias asks for its number."""
    assert name == "Version"
    return str(version.version)


LambdaVersion.get_cfn_attribute = _version_attribute
# What `Ref` gives, which moto leaves out.
Deployment.physical_resource_id = property(lambda it: it.id)
LayerVersion.physical_resource_id = property(lambda it: it.arn)


def _as_moto_reads_it(document: dict[str, Any]) -> dict[str, Any]:
    """moto takes a method's name as it stands there, and every integration to have an address."""
    names = {"x-amazon-apigateway-any-method": "any"}
    integration = "x-amazon-apigateway-integration"
    paths = {
        path: {
            names.get(name, name): method | {integration: {"uri": "", "httpMethod": ""} | method[integration]}
            for name, method in methods.items()
        }
        for path, methods in document["paths"].items()
    }
    return document | {"paths": paths}
