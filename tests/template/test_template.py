"""What is deployed: read off the template after the SAM transform, since that drops what it does not understand."""

from __future__ import annotations

import itertools
import json
import os
import re
import subprocess
from types import SimpleNamespace
from typing import Any

import pytest

from tests.named_rows import each_row
from tests.template import cloudformation
from tests.template.cloudformation import ROOT

METHODS = {
    ("post", "/chat/completions"): "ChatCompletionsFunction",
    ("post", "/responses"): "ResponsesFunction",
    ("post", "/messages"): "MessagesFunction",
    ("post", "/messages/count_tokens"): "MessagesFunction",
    ("post", "/native/chat"): "NativeFunction",
    ("post", "/native/tools/check"): "NativeFunction",
    ("post", "/native/translate"): "NativeFunction",
    ("get", "/models"): "CatalogFunction",
    ("get", "/models/{id+}"): "CatalogFunction",
    ("get", "/health"): "CatalogFunction",
    ("post", "/responses/compact"): "ResponsesFunction",
    ("get", "/responses/{id}"): "ResponsesFunction",
    ("delete", "/responses/{id}"): "ResponsesFunction",
    ("post", "/responses/input_tokens"): "ResponsesFunction",
    ("get", "/responses/{id}/input_items"): "ResponsesFunction",
    ("post", "/responses/{id}/cancel"): "ResponsesFunction",
    ("post", "/models/{id+}"): "GeminiFunction",
    ("post", "/v1beta/models/{id+}"): "GeminiFunction",
    ("post", "/v1alpha/models/{id+}"): "GeminiFunction",
    ("post", "/v1beta1/{id+}"): "GeminiFunction",
    ("post", "/projects/{id+}"): "GeminiFunction",
    ("post", "/publishers/{id+}"): "GeminiFunction",
    ("get", "/v1beta/models"): "CatalogFunction",
    ("get", "/v1beta/models/{id+}"): "CatalogFunction",
}
#: Those of the two vendors' APIs are also reached where a client adds the stage's name to a base URL that has it.
METHODS |= {
    (method, f"/v1{path}"): function
    for (method, path), function in METHODS.items()
    if not path.startswith(("/native", "/health", "/v1alpha", "/v1beta"))
}
#: Every other method of these paths, and every other path: `pages/paths.py` says what their clients are told.
ANY_METHOD = "x-amazon-apigateway-any-method"
METHODS |= {(ANY_METHOD, path): "CatalogFunction" for path in sorted({"/{path+}", *(path for _, path in METHODS)})}

LOGS = ["logs:CreateLogStream", "logs:PutLogEvents"]
ACCOUNT = "${AWS::Region}:${AWS::AccountId}"
READ_CONFIG = {
    "Fn::If": [
        "ConfigIsParameter",
        {
            "Effect": "Allow",
            "Action": "ssm:GetParameter",
            "Resource": {
                "Fn::Sub": [
                    f"arn:${{AWS::Partition}}:ssm:{ACCOUNT}:parameter${{Name}}",
                    {"Name": {"Fn::Select": [1, {"Fn::Split": [":", {"Ref": "ConfigSource"}]}]}},
                ]
            },
        },
        {"Ref": "AWS::NoValue"},
    ]
}

#: What `shell/store/dynamodb.py` calls.
KEEP_STATE = {
    "Effect": "Allow",
    "Action": ["dynamodb:BatchGetItem", "dynamodb:BatchWriteItem", "dynamodb:Query"],
    "Resource": {"Fn::GetAtt": ["ToolCallTable", "Arn"]},
}

KEYS_TABLE = {"Fn::If": ["MakesKeysTable", {"Ref": "KeysTable"}, {"Ref": "KeysTableName"}]}

#: What `shell/access/key_records.py` and `shell/access/rates.py` call.
CHECK_KEYS = {
    "Effect": "Allow",
    "Action": "dynamodb:GetItem",
    "Resource": {"Fn::Sub": [f"arn:${{AWS::Partition}}:dynamodb:{ACCOUNT}:table/${{Name}}", {"Name": KEYS_TABLE}]},
}
COUNT = {
    "Effect": "Allow",
    "Action": ["dynamodb:GetItem", "dynamodb:UpdateItem"],
    "Resource": {"Fn::GetAtt": ["RatesTable", "Arn"]},
}
#: Only through the services whose data the key encrypts.
USE_KMS_KEY = {
    "Fn::If": [
        "HasKmsKey",
        {
            "Effect": "Allow",
            "Action": ["kms:Decrypt", "kms:GenerateDataKey"],
            "Resource": {"Ref": "KmsKeyArn"},
            "Condition": {
                "StringEquals": {
                    "kms:ViaService": [
                        {"Fn::Sub": f"{service}.${{AWS::Region}}.${{AWS::URLSuffix}}"}
                        for service in ("dynamodb", "secretsmanager", "ssm", "s3")
                    ]
                }
            },
        },
        {"Ref": "AWS::NoValue"},
    ]
}

#: What `shell/recording/bucket.py` calls.
RECORD = {
    "Fn::If": [
        "HasRecordings",
        {
            "Effect": "Allow",
            "Action": "s3:PutObject",
            "Resource": {"Fn::Sub": "arn:${AWS::Partition}:s3:::${RecordingsBucket}/recordings/*"},
        },
        {"Ref": "AWS::NoValue"},
    ]
}

USE_BEDROCK = {
    "Fn::If": [
        "HasBedrock",
        {
            "Effect": "Allow",
            "Action": ["bedrock:CountTokens", "bedrock:InvokeModel", "bedrock:InvokeModelWithResponseStream"],
            "Resource": {"Ref": "BedrockModels"},
        },
        {"Ref": "AWS::NoValue"},
    ]
}

TRACE = {
    "Fn::If": [
        "HasTracing",
        {"Effect": "Allow", "Action": ["xray:PutTraceSegments", "xray:PutTelemetryRecords"], "Resource": "*"},
        {"Ref": "AWS::NoValue"},
    ]
}

_INTERFACES = ("CreateNetworkInterface", "DescribeNetworkInterfaces", "DescribeSubnets", "DeleteNetworkInterface",
               "AssignPrivateIpAddresses", "UnassignPrivateIpAddresses")  # fmt: skip
JOIN_VPC = {
    "Fn::If": [
        "HasVpc",
        {"Effect": "Allow", "Action": [f"ec2:{action}" for action in _INTERFACES], "Resource": "*"},
        {"Ref": "AWS::NoValue"},
    ]
}

SECRET_PREFIX = {"Fn::If": ["NamesSecretPrefix", {"Ref": "SecretPrefix"}, {"Fn::Sub": "${AWS::StackName}/"}]}


def _under_prefix(place: str) -> dict[str, Any]:
    return {"Fn::Sub": [f"arn:${{AWS::Partition}}:{place}${{Prefix}}*", {"Prefix": SECRET_PREFIX}]}


#: Everything the functions may do. A new permission is a line here, and its reason in docs/deploy.md.
PERMISSIONS: dict[str, list[Any]] = {
    "ChatCompletionsRole": [
        {"Effect": "Allow", "Action": LOGS, "Resource": {"Fn::GetAtt": ["ChatCompletionsLogs", "Arn"]}},
        {
            "Effect": "Allow",
            "Action": "secretsmanager:GetSecretValue",
            "Resource": _under_prefix(f"secretsmanager:{ACCOUNT}:secret:"),
        },
        {
            "Effect": "Allow",
            "Action": "ssm:GetParameter",
            "Resource": _under_prefix(f"ssm:{ACCOUNT}:parameter/"),
        },
        CHECK_KEYS,
        COUNT,
        KEEP_STATE,
        USE_KMS_KEY,
        READ_CONFIG,
        TRACE,
        JOIN_VPC,
        USE_BEDROCK,
        RECORD,
    ],
    "CatalogRole": [
        {"Effect": "Allow", "Action": LOGS, "Resource": {"Fn::GetAtt": ["CatalogLogs", "Arn"]}},
        CHECK_KEYS,
        USE_KMS_KEY,
        READ_CONFIG,
        TRACE,
        JOIN_VPC,
    ],
}
#: The other doors do what every door does.
PERMISSIONS["ResponsesRole"] = [
    {"Effect": "Allow", "Action": LOGS, "Resource": {"Fn::GetAtt": ["ResponsesLogs", "Arn"]}},
    *PERMISSIONS["ChatCompletionsRole"][1:],
]
PERMISSIONS["GatewayRole"] = [
    {"Effect": "Allow", "Action": LOGS, "Resource": {"Fn::GetAtt": ["GatewayLogs", "Arn"]}},
    *PERMISSIONS["ChatCompletionsRole"][1:],
]
PERMISSIONS["NativeRole"] = [
    {"Effect": "Allow", "Action": LOGS, "Resource": {"Fn::GetAtt": ["NativeLogs", "Arn"]}},
    *PERMISSIONS["ChatCompletionsRole"][1:],
]

PERMISSIONS["GeminiRole"] = [
    {"Effect": "Allow", "Action": LOGS, "Resource": {"Fn::GetAtt": ["GeminiLogs", "Arn"]}},
    *PERMISSIONS["ChatCompletionsRole"][1:],
]

PERMISSIONS["MessagesRole"] = [
    {"Effect": "Allow", "Action": LOGS, "Resource": {"Fn::GetAtt": ["MessagesLogs", "Arn"]}},
    *PERMISSIONS["ChatCompletionsRole"][1:],
]

ENVIRONMENT = {
    "AWS_LAMBDA_EXEC_WRAPPER": "/opt/bootstrap",
    "TOOLWIRE_EXEC_WRAPPER": {"Fn::If": ["HasOtel", "/opt/otel-instrument", ""]},
    "TOOLWIRE_CONFIG": {"Ref": "ConfigSource"},
    "KEY_SHA256": {"Ref": "KeySha256"},
    "REQUIRE_KEY": "1",
    "KEYS_TABLE": KEYS_TABLE,
    "RATES_TABLE": {"Ref": "RatesTable"},
    "SECRET_PREFIX": SECRET_PREFIX,
    "RECORDINGS_BUCKET": {"Ref": "RecordingsBucket"},
    "CORS_ORIGIN": {"Ref": "CorsOrigin"},
    "ENABLE_DEMO": {"Ref": "EnableDemo"},
    "STORE_TABLE": {"Ref": "ToolCallTable"},
    "STATE_TTL_DAYS": {"Ref": "StateTtlDays"},
    "LOG_LEVEL": {"Ref": "LogLevel"},
    "TOOLWIRE_METRICS": {"Ref": "EnableMetrics"},
    "POWERTOOLS_SERVICE_NAME": "toolwire",
    "POWERTOOLS_METRICS_NAMESPACE": {"Fn::Sub": "toolwire/${AWS::StackName}"},
}

#: API Gateway's own answers: status (None: API Gateway's), and the error's type and code.
GATEWAY_RESPONSES = {
    "DEFAULT_4XX": (None, "invalid_request_error", "invalid_request"),
    "DEFAULT_5XX": (None, "api_error", "internal_error"),
    "UNAUTHORIZED": ("401", "authentication_error", "invalid_api_key"),
    "ACCESS_DENIED": ("403", "permission_error", "access_denied"),
    "WAF_FILTERED": ("403", "permission_error", "access_denied"),
    "MISSING_AUTHENTICATION_TOKEN": ("404", "not_found_error", "not_found"),
    "INVALID_SIGNATURE": ("404", "not_found_error", "not_found"),
    "RESOURCE_NOT_FOUND": ("404", "not_found_error", "not_found"),
    "REQUEST_TOO_LARGE": ("413", "request_too_large", "request_too_large"),
    "THROTTLED": ("429", "rate_limit_error", "rate_limit_exceeded"),
    "INTEGRATION_FAILURE": ("502", "api_error", "gateway_failure"),
    "INTEGRATION_TIMEOUT": ("504", "api_error", "gateway_timeout"),
}


#: Milliseconds as numbers: what a mapping gives is text.
STREAM_TIMEOUT: Any = {
    "Fn::If": ["Seconds60", 60_000, {
        "Fn::If": ["Seconds120", 120_000, {
            "Fn::If": ["Seconds300", 300_000, {"Fn::If": ["Seconds600", 600_000, 900_000]}]}]}]
}  # fmt: skip


@pytest.fixture(scope="module")
def written() -> dict[str, Any]:
    return cloudformation.load()


@pytest.fixture(scope="module")
def deployed() -> dict[str, Any]:
    return cloudformation.transform()


def _of_type(template: dict[str, Any], kind: str) -> dict[str, dict[str, Any]]:
    """The properties of every resource of a type."""
    return {name: item["Properties"] for name, item in template["Resources"].items() if item["Type"] == kind}


def _integrations(deployed: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    paths = deployed["Resources"]["GatewayApi"]["Properties"]["Body"]["paths"]
    return {
        (method, path): operation["x-amazon-apigateway-integration"]
        for path, operations in paths.items()
        for method, operation in operations.items()
        if method != "options"  # API Gateway's own answer: see test_access.py
    }


def test_the_methods_are_these(deployed: dict[str, Any]) -> None:
    assert _integrations(deployed).keys() == METHODS.keys()


@each_row(("method", "path"), METHODS)
def test_every_method_streams(deployed: dict[str, Any], method: str, path: str) -> None:
    # For an event SAM writes the region's own, and a reference to the alias.
    partition = "${AWS::Partition}" if method == ANY_METHOD else "aws"
    called = f"{METHODS[method, path]}.Arn}}:live" if method == ANY_METHOD else f"{METHODS[method, path]}Aliaslive}}"
    assert _integrations(deployed)[method, path] == {
        "type": "aws_proxy",
        "httpMethod": "POST",
        "uri": {
            "Fn::Sub": f"arn:{partition}:apigateway:${{AWS::Region}}:lambda:path/2021-11-15/functions/"
            f"${{{called}/response-streaming-invocations"
        },
        "responseTransferMode": "STREAM",
        "timeoutInMillis": 30_000 if METHODS[method, path] == "CatalogFunction" else STREAM_TIMEOUT,
    }


def test_every_timeout_has_its_milliseconds(written: dict[str, Any]) -> None:
    seconds = written["Parameters"]["StreamTimeoutSeconds"]["AllowedValues"]
    assert max(seconds) == 900  # Lambda's limit
    choice, told = STREAM_TIMEOUT, []
    while isinstance(choice, dict):
        condition, milliseconds, choice = choice["Fn::If"]
        assert written["Conditions"][condition] == {
            "Fn::Equals": [{"Ref": "StreamTimeoutSeconds"}, str(milliseconds // 1000)]
        }
        told.append(milliseconds)
    assert [*told, choice] == [s * 1000 for s in seconds]


def test_functions_are_what_the_folder_holds(written: dict[str, Any]) -> None:
    """`ls functions/` is the public API."""
    functions = _of_type(written, "AWS::Serverless::Function")
    folders = {f"functions/{file.parent.name}" for file in (ROOT / "functions").glob("*/app.py")}
    assert {properties["CodeUri"] for properties in functions.values()} == folders


def test_functions_run_in_the_streaming_runtime(deployed: dict[str, Any]) -> None:
    functions = _of_type(deployed, "AWS::Lambda::Function")
    assert functions.keys() == {*METHODS.values(), "GatewayFunction"}
    for name, properties in functions.items():
        door = name.removesuffix("Function")
        assert properties["Handler"] == "app.handler"
        assert properties["Runtime"] == {"Ref": "Runtime"}
        assert properties["Architectures"] == [{"Ref": "Architecture"}]
        assert properties["Timeout"] == (30 if name == "CatalogFunction" else {"Ref": "StreamTimeoutSeconds"})
        opentelemetry, ours = properties["Layers"]
        assert opentelemetry == {"Fn::If": ["HasOtel", {"Ref": "OtelLayerArn"}, {"Ref": "AWS::NoValue"}]}
        assert ours["Ref"].startswith("SharedLayer")  # the last one: what both bring is ours
        assert properties["Environment"]["Variables"] == ENVIRONMENT
        assert properties["Role"] == {"Fn::GetAtt": [f"{door}Role", "Arn"]}
        assert properties["LoggingConfig"]["LogGroup"] == {"Ref": f"{door}Logs"}
        assert properties["TracingConfig"] == {"Mode": {"Fn::If": ["HasTracing", "Active", "PassThrough"]}}
        assert properties["VpcConfig"]["Fn::If"][0] == "HasVpc"


def test_permissions_are_these_and_no_more(deployed: dict[str, Any]) -> None:
    roles = _of_type(deployed, "AWS::IAM::Role")
    assert roles.keys() == PERMISSIONS.keys()
    for name, role in roles.items():
        assert [s for policy in role["Policies"] for s in policy["PolicyDocument"]["Statement"]] == PERMISSIONS[name]
        assert "ManagedPolicyArns" not in role
        assert [s["Principal"] for s in role["AssumeRolePolicyDocument"]["Statement"]] == [
            {"Service": "lambda.amazonaws.com"}
        ]


URL_PERMISSIONS: dict[str, dict[str, Any]] = {
    "GatewayUrlPermission": {"Action": "lambda:InvokeFunctionUrl", "FunctionUrlAuthType": "NONE"},
    "GatewayThroughUrlPermission": {"Action": "lambda:InvokeFunction", "InvokedViaFunctionUrl": True},
}


def test_a_function_url_streams_and_is_there_where_it_is_asked_for(deployed: dict[str, Any]) -> None:
    """Open to everybody only where its parameter says so, and then through the URL alone."""
    resources, conditions = deployed["Resources"], deployed["Conditions"]
    assert resources["GatewayUrl"]["Properties"] == {
        "TargetFunctionArn": {"Ref": "GatewayFunctionAliaslive"},
        "AuthType": {"Ref": "FunctionUrl"},
        "InvokeMode": "RESPONSE_STREAM",
    }
    for name in ("GatewayUrl", "GatewayFunction", "GatewayRole", "GatewayLogs"):
        assert resources[name]["Condition"] == "HasFunctionUrl"
    assert conditions["HasOpenFunctionUrl"] == {"Fn::Equals": [{"Ref": "FunctionUrl"}, "NONE"]}
    for name, expected in URL_PERMISSIONS.items():
        assert resources[name]["Condition"] == "HasOpenFunctionUrl"
        shared = {"Principal": "*", "FunctionName": {"Ref": "GatewayFunctionAliaslive"}}
        assert resources[name]["Properties"] == expected | shared


def test_only_the_api_invokes_the_functions(deployed: dict[str, Any]) -> None:
    for name, permission in _of_type(deployed, "AWS::Lambda::Permission").items():
        if name in URL_PERMISSIONS:
            continue
        assert permission["Principal"] == "apigateway.amazonaws.com"
        assert permission["Action"] == "lambda:InvokeFunction"
        of_the_api = permission["SourceArn"]["Fn::Sub"]
        if isinstance(of_the_api, list):  # SAM's own
            assert "${__ApiId__}/${__Stage__}/" in of_the_api[0]
        else:
            assert of_the_api.endswith(":${GatewayApi}/*/*")
            assert permission["FunctionName"] == {"Ref": "CatalogFunctionAliaslive"}


def test_logs_are_kept_for_a_while(deployed: dict[str, Any]) -> None:
    groups = _of_type(deployed, "AWS::Logs::LogGroup")
    of_functions = {name.removesuffix("Function") + "Logs" for name in METHODS.values()}
    assert groups.keys() == of_functions | {"AccessLogs", "GatewayLogs"}
    assert all(group["RetentionInDays"] == {"Ref": "LogRetentionDays"} for group in groups.values())


def test_api_is_regional_with_one_throttled_stage(deployed: dict[str, Any]) -> None:
    assert deployed["Resources"]["GatewayApi"]["Properties"]["EndpointConfiguration"] == {"Types": ["REGIONAL"]}
    (stage,) = _of_type(deployed, "AWS::ApiGateway::Stage").values()
    assert stage["StageName"] == "v1"
    (settings,) = stage["MethodSettings"]
    assert settings["ThrottlingRateLimit"] == {"Ref": "ThrottleRate"}
    assert settings["ThrottlingBurstLimit"] == {"Ref": "ThrottleBurst"}
    assert settings["DataTraceEnabled"] is False
    # A second stage named "Stage" would come from a deployment that names one.
    for deployment in _of_type(deployed, "AWS::ApiGateway::Deployment").values():
        assert "StageName" not in deployment


@pytest.mark.parametrize(
    "changed",
    [
        "ThrottleRate",
        *(pytest.param(it, marks=pytest.mark.integration) for it in ("CorsOrigin", "StreamTimeoutSeconds")),
    ],
)
def test_a_parameter_that_changes_reaches_the_stage(changed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The stage serves a deployment; only another one has the new value."""
    values = {"CorsOrigin": "https://app.example.com", "StreamTimeoutSeconds": "120", "ThrottleRate": "5"}
    moments = itertools.count(1_800_000_000)  # SAM tells two deployments apart by the second
    monkeypatch.setattr("samtranslator.model.apigateway.time", SimpleNamespace(time=lambda: next(moments)))

    before = _deployments(cloudformation.transform())
    after = _deployments(cloudformation.transform(**{changed: values[changed]}))

    assert len(before) == len(after) == 1
    assert before != after


def _deployments(template: dict[str, Any]) -> set[str]:
    return {name for name, it in template["Resources"].items() if it["Type"] == "AWS::ApiGateway::Deployment"}


def test_gateway_responses_are_these(deployed: dict[str, Any]) -> None:
    body = deployed["Resources"]["GatewayApi"]["Properties"]["Body"]
    assert body["x-amazon-apigateway-gateway-responses"].keys() == GATEWAY_RESPONSES.keys()


@pytest.mark.parametrize("kind", GATEWAY_RESPONSES)
def test_gateway_response_is_one_that_every_sdk_reads(deployed: dict[str, Any], kind: str) -> None:
    status, error_type, code = GATEWAY_RESPONSES[kind]
    response = deployed["Resources"]["GatewayApi"]["Properties"]["Body"]["x-amazon-apigateway-gateway-responses"][kind]
    assert response.get("statusCode") == status
    (template,) = response["responseTemplates"].values()
    assert re.findall(r"\$[\w.]+", template) == ["$context.requestId"]
    body = json.loads(template.replace("$context.requestId", "c6af9ac6-7b61-11e6-9a41-93e8deadbeef"))
    assert body.keys() == {"type", "error", "request_id"}
    assert body["type"] == "error"
    assert body["error"].keys() == {"type", "code", "message", "param"}
    assert (body["error"]["type"], body["error"]["code"]) == (error_type, code)
    headers: dict[str, Any] = {
        "gatewayresponse.header.x-request-id": "context.requestId",
        "gatewayresponse.header.request-id": "context.requestId",
        "gatewayresponse.header.Access-Control-Allow-Origin": {
            "Fn::If": ["HasCors", {"Fn::Sub": "'${CorsOrigin}'"}, {"Ref": "AWS::NoValue"}]
        },
        "gatewayresponse.header.Access-Control-Expose-Headers": {"Fn::If": ["HasCors", "'*'", {"Ref": "AWS::NoValue"}]},
    }
    if status in ("429", "502", "504"):
        headers["gatewayresponse.header.Retry-After"] = "'1'" if status == "429" else "'5'"
    assert response["responseParameters"] == headers


def test_every_parameter_has_a_default_that_it_allows(written: dict[str, Any]) -> None:
    for name, parameter in written["Parameters"].items():
        assert parameter["Description"], name
        default = parameter["Default"]
        assert default in parameter.get("AllowedValues", [default]), name
        assert re.fullmatch(parameter.get("AllowedPattern", ".*"), str(default)), name


def test_the_key_is_not_shown_and_without_one_nobody_is_let_in(written: dict[str, Any]) -> None:
    key = written["Parameters"]["KeySha256"]
    assert key["NoEcho"] is True
    assert key["Default"] == ""
    assert ENVIRONMENT["REQUIRE_KEY"] == "1"


@pytest.mark.integration
def test_sam_finds_no_fault() -> None:
    command = [".venv-sam/bin/sam", "validate", "--lint", "--template", "template.yaml"]
    env = {**os.environ, "AWS_DEFAULT_REGION": "eu-central-1", "SAM_CLI_TELEMETRY": "0"}
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
