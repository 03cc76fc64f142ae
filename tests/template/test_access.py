"""Keys, rates, browsers, firewall, domain and alarms, as they are deployed."""

from __future__ import annotations

import json
import re
from typing import Any

import anthropic
import httpx2
import openai
import pytest

from tests.template import cloudformation
from tests.template.cloudformation import ROOT
from toolwire.shell.serve.cors import PREFLIGHT

DEPLOY = (ROOT / "docs" / "deploy.md").read_text(encoding="utf-8")
ENCRYPTION = {
    "Fn::If": [
        "HasKmsKey",
        {"SSEEnabled": True, "SSEType": "KMS", "KMSMasterKeyId": {"Ref": "KmsKeyArn"}},
        {"Ref": "AWS::NoValue"},
    ]
}

#: Alarm -> what it watches.
ALARMS = {
    "BugAlarm": "outcome = 'internal_error'",
    "ProviderAlarm": "outcome = 'upstream_error'",
    "ServerErrorAlarm": "5XXError",
    "ConcurrencyAlarm": "Throttles",
    "FunctionAlarm": "Errors",
    "KeysAlarm": "ThrottleEvents",
    "ConfigurationAlarm": "ConfigurationErrors",
}


@pytest.fixture(scope="module")
def deployed() -> dict[str, Any]:
    return cloudformation.transform()


def resource(deployed: dict[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = deployed["Resources"][name]
    return found


def statements(deployed: dict[str, Any]) -> list[dict[str, Any]]:
    """Every statement of every role; of a conditional one, what it is when it is there."""
    roles = [found for found in deployed["Resources"].values() if found["Type"] == "AWS::IAM::Role"]
    listed = [
        statement
        for role in roles
        for policy in role["Properties"]["Policies"]
        for statement in policy["PolicyDocument"]["Statement"]
    ]
    return [statement.get("Fn::If", [None, statement])[1] for statement in listed]


# ---------------------------------------------------------------- permissions


def test_no_permission_is_for_everything(deployed: dict[str, Any]) -> None:
    for statement in statements(deployed):
        if re.match("xray:|ec2:.*Network", statement["Action"][0]):  # they have no resources to name
            continue
        resources = statement["Resource"] if isinstance(statement["Resource"], list) else [statement["Resource"]]
        assert "*" not in resources, statement
        assert "*" not in json.dumps(statement["Action"]), statement


def test_the_table_of_permissions_is_true(deployed: dict[str, Any]) -> None:
    """Role by role: each has what the table says, and nothing else, the catalog without what is "not for" it."""

    def actions(role: dict[str, Any]) -> set[str]:
        found = statements({"Resources": {"one": role}})
        return {
            action for one in found for action in ([one["Action"]] if isinstance(one["Action"], str) else one["Action"])
        }

    section = DEPLOY.partition("## What the functions may do")[2].partition("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("|")]
    told: dict[bool, set[str]] = {False: set(), True: set()}  # by whether the catalog is left out
    for row in rows:
        told["Not for `GET /models`" in row] |= set(re.findall(r"`([a-z0-9]+:[A-Z]\w+)`", row.split("|")[1]))
    roles = {name: found for name, found in deployed["Resources"].items() if found["Type"] == "AWS::IAM::Role"}

    assert len(roles) == 7
    for name, role in roles.items():
        assert actions(role) == (told[False] if name == "CatalogRole" else told[False] | told[True]), name


def test_what_stays_is_said(deployed: dict[str, Any]) -> None:
    """Every resource that outlives its stack is named where somebody who deletes it looks."""
    kept = {
        name
        for name, found in deployed["Resources"].items()
        if "Retain" in f"{found.get('DeletionPolicy')} {found.get('UpdateReplacePolicy')}"
        and found["Type"] != "AWS::Lambda::Version"  # they stay with an upgrade, and go with their function
    }
    section = DEPLOY.partition("## Delete")[2].partition("\n## ")[0]

    assert kept == {"KeysTable"}
    assert all(f"`{name}`" in section for name in kept)


# ---------------------------------------------------------------- tables


def test_the_table_of_keys(deployed: dict[str, Any]) -> None:
    table = resource(deployed, "KeysTable")
    assert (table["DeletionPolicy"], table["UpdateReplacePolicy"]) == ("RetainExceptOnCreate", "Retain")
    assert table["Condition"] == "MakesKeysTable"
    assert table["Properties"] == {
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": "key_sha256", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "key_sha256", "KeyType": "HASH"}],
        "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True},
        "SSESpecification": ENCRYPTION,
        "DeletionProtectionEnabled": {"Fn::If": ["ProtectsKeys", True, False]},
    }


def test_the_table_of_rates(deployed: dict[str, Any]) -> None:
    table = resource(deployed, "RatesTable")
    assert (table["DeletionPolicy"], table["UpdateReplacePolicy"]) == ("Delete", "Delete")
    assert table["Properties"] == {
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": "window", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "window", "KeyType": "HASH"}],
        "TimeToLiveSpecification": {"AttributeName": "expires_at", "Enabled": True},
        "SSESpecification": ENCRYPTION,
    }


def test_the_commands_find_what_they_need(deployed: dict[str, Any]) -> None:
    """`make key` and `make secret` read these of a stack."""
    assert deployed["Outputs"]["KeysTable"]["Value"] == {
        "Fn::If": ["MakesKeysTable", {"Ref": "KeysTable"}, {"Ref": "KeysTableName"}]
    }
    assert {"SecretPrefix", "KmsKeyArn"} <= deployed["Parameters"].keys()


# ---------------------------------------------------------------- browsers


def test_a_preflight_is_answered_without_a_function(deployed: dict[str, Any]) -> None:
    """The same as the local server's: see `shell/serve/cors.py`."""
    paths = resource(deployed, "GatewayApi")["Properties"]["Body"]["paths"]
    for operations in paths.values():
        integration = operations["options"]["x-amazon-apigateway-integration"]
        assert integration["type"] == "mock"
        assert integration["contentHandling"] == "CONVERT_TO_TEXT"  # else it fails where bodies are binary
        headers = integration["responses"]["default"]["responseParameters"]
        told = {name.removeprefix("method.response.header.").lower(): value for name, value in headers.items()}
        assert told.pop("access-control-allow-origin") == {
            "Fn::If": ["HasCors", {"Fn::Sub": "'${CorsOrigin}'"}, "'none'"]
        }
        assert told == {name: f"'{value}'" for name, value in PREFLIGHT}


def test_a_compressed_body_reaches_the_function_as_it_is(deployed: dict[str, Any]) -> None:
    """In base64: what is no binary type is made text, and its bytes are lost."""
    assert resource(deployed, "GatewayApi")["Properties"]["Body"]["x-amazon-apigateway-binary-media-types"] == ["*/*"]


# ---------------------------------------------------------------- API Gateway's own answers

#: API Gateway's own answer -> status and the class that the SDKs of OpenAI and Anthropic raise for it.
RAISED = {
    "DEFAULT_4XX": (400, "BadRequestError"),
    "DEFAULT_5XX": (500, "InternalServerError"),
    "UNAUTHORIZED": (401, "AuthenticationError"),
    "ACCESS_DENIED": (403, "PermissionDeniedError"),
    "WAF_FILTERED": (403, "PermissionDeniedError"),
    "MISSING_AUTHENTICATION_TOKEN": (404, "NotFoundError"),
    "INVALID_SIGNATURE": (404, "NotFoundError"),
    "RESOURCE_NOT_FOUND": (404, "NotFoundError"),
    "REQUEST_TOO_LARGE": (413, "APIStatusError"),
    "THROTTLED": (429, "RateLimitError"),
    "INTEGRATION_FAILURE": (502, "InternalServerError"),
    "INTEGRATION_TIMEOUT": (504, "InternalServerError"),
}


@pytest.mark.parametrize("kind", RAISED)
def test_the_sdks_read_what_api_gateway_answers(deployed: dict[str, Any], kind: str) -> None:
    """Both vendors' SDKs as judges: the class to catch, the message to read, the id to report."""
    body = resource(deployed, "GatewayApi")["Properties"]["Body"]
    answers = body["x-amazon-apigateway-gateway-responses"]
    assert answers.keys() == RAISED.keys()
    status, name = RAISED[kind]
    assert answers[kind].get("statusCode", str(status)) == str(status)
    text = answers[kind]["responseTemplates"]["application/json"].replace("$context.requestId", "req-1")
    headers = {
        name.removeprefix("gatewayresponse.header."): "req-1"
        for name, value in answers[kind]["responseParameters"].items()
        if value == "context.requestId"
    }
    transport = httpx2.MockTransport(
        lambda _: httpx2.Response(status, text=text, headers={"content-type": "application/json", **headers})
    )
    client = httpx2.Client(transport=transport)
    chat = openai.OpenAI(base_url="http://gateway/v1", api_key="k", max_retries=0, http_client=client)
    with pytest.raises(openai.APIStatusError) as by_openai:
        chat.chat.completions.create(model="m", messages=[])
    messages = anthropic.Anthropic(base_url="http://gateway", api_key="k", max_retries=0, http_client=client)
    with pytest.raises(anthropic.APIStatusError) as by_anthropic:
        messages.messages.create(model="m", max_tokens=1, messages=[])

    error = json.loads(text)["error"]
    for caught in (by_openai.value, by_anthropic.value):
        assert name in [kind.__name__ for kind in type(caught).__mro__]
        assert error["message"] in str(caught)
        assert caught.request_id == "req-1"
    assert by_openai.value.code == error["code"]
    assert by_anthropic.value.type == error["type"]


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        (
            "CorsOrigin",
            ["", "*", "https://app.example.com", "http://localhost:3000"],
            ["app.example.com", "https://a b", "'"],
        ),
        ("ReservedConcurrency", ["", "1", "500"], ["0", "-1", "many"]),
        ("KeysTableName", ["", "toolwire-KeysTable-1A2B"], ["a", "a/b"]),
        ("AlarmTopicArn", ["", "arn:aws:sns:eu-central-1:123456789012:alarms"], ["alarms"]),
        ("WebAclArn", ["", "arn:aws:wafv2:eu-central-1:123456789012:regional/webacl/a/b"], ["acl"]),
        ("CertificateArn", ["", "arn:aws:acm:eu-central-1:123456789012:certificate/1-2"], ["1-2", "arn:aws:iam::1:x"]),
        ("KmsKeyArn", ["", "arn:aws:kms:eu-central-1:123456789012:key/1-2"], ["alias/a", "1-2"]),
    ],
)
def test_what_a_parameter_takes(deployed: dict[str, Any], name: str, good: list[str], bad: list[str]) -> None:
    pattern = deployed["Parameters"][name]["AllowedPattern"]
    assert [value for value in good if not re.fullmatch(pattern, value)] == []
    assert [value for value in bad if re.fullmatch(pattern, value)] == []


# ---------------------------------------------------------------- in front, and on call


def test_a_reservation_is_for_doors_only(deployed: dict[str, Any]) -> None:
    for name, found in deployed["Resources"].items():
        if found["Type"] == "AWS::Lambda::Function":
            reserved = found["Properties"]["ReservedConcurrentExecutions"]
            wanted = {"Fn::If": ["HasReserved", {"Ref": "ReservedConcurrency"}, {"Ref": "AWS::NoValue"}]}
            assert reserved == ({"Ref": "AWS::NoValue"} if name == "CatalogFunction" else wanted)


def test_firewall_and_domain_are_there_where_they_are_named(deployed: dict[str, Any]) -> None:
    acl = resource(deployed, "WebAclAssociation")
    assert acl["Condition"] == "HasFirewall"
    assert acl["Properties"]["WebACLArn"]["Fn::If"][0] == "HasWebAcl"
    assert acl["Properties"]["ResourceArn"]["Fn::Sub"].endswith("::/restapis/${GatewayApi}/stages/${GatewayApiv1Stage}")
    mapping = resource(deployed, "CustomDomainMapping")
    assert mapping["Condition"] == resource(deployed, "CustomDomain")["Condition"] == "HasDomain"
    assert mapping["Properties"]["BasePath"] == "v1"


def test_a_rate_rule_blocks_what_one_address_sends_too_much(deployed: dict[str, Any]) -> None:
    acl = resource(deployed, "WebAcl")
    assert acl["Condition"] == "HasRateRule"
    (rule,) = acl["Properties"]["Rules"]
    limit = {"AggregateKeyType": "IP", "EvaluationWindowSec": 300, "Limit": {"Ref": "WafRequestsPerIp"}}
    assert (rule["Action"], rule["Statement"]) == ({"Block": {}}, {"RateBasedStatement": limit})
    # A sample would show headers, and with them keys.
    for shown in (rule["VisibilityConfig"], acl["Properties"]["VisibilityConfig"]):
        assert shown["SampledRequestsEnabled"] is False
    assert "SizeRestrictions_BODY" in deployed["Parameters"]["WebAclArn"]["Description"]
    assert "SizeRestrictions_BODY" in DEPLOY


def test_what_is_closed_or_encrypted_by_parameter(deployed: dict[str, Any]) -> None:
    closed = resource(deployed, "GatewayApi")["Properties"]["Body"]["servers"][0][
        "x-amazon-apigateway-endpoint-configuration"
    ]["disableExecuteApiEndpoint"]
    assert closed == {"Fn::If": ["OnlyDomain", True, False]}
    protected = resource(deployed, "KeysTable")["Properties"]["DeletionProtectionEnabled"]
    assert protected == {"Fn::If": ["ProtectsKeys", True, False]}
    groups = [found for found in deployed["Resources"].values() if found["Type"] == "AWS::Logs::LogGroup"]
    key = {"Fn::If": ["HasLogsKmsKey", {"Ref": "LogsKmsKeyArn"}, {"Ref": "AWS::NoValue"}]}
    assert all(group["Properties"]["KmsKeyId"] == key for group in groups)


def test_an_access_line_has_nothing_that_bears_a_key(deployed: dict[str, Any]) -> None:
    stages = [found for found in deployed["Resources"].values() if found["Type"] == "AWS::ApiGateway::Stage"]
    condition, access, _ = stages[0]["Properties"]["AccessLogSetting"]["Fn::If"]
    assert condition == "HasAccessLogs"
    line = json.loads(re.sub(r"\$context[.\w]*", "0", access["Format"]))
    assert line.keys() == {"requestId", "ip", "method", "path", "status", "ms", "bytes", "error"}
    assert not re.search(r"header|query|\$input|authorizer|apiKey", access["Format"], re.IGNORECASE)


def test_the_alarm_on_functions_counts_each(deployed: dict[str, Any]) -> None:
    functions = {name for name, found in deployed["Resources"].items() if found["Type"] == "AWS::Lambda::Function"}
    total, *metrics = resource(deployed, "FunctionAlarm")["Properties"]["Metrics"]
    # The last one is there where the function URL is.
    asked, with_url, without = metrics[-1].pop("Fn::If")
    metrics[-1] = with_url
    counted = {it["MetricStat"]["Metric"]["Dimensions"][0]["Value"]["Ref"] for it in metrics}
    assert counted == functions
    filled = [f"FILL({it['Id']}, 0)" for it in metrics]
    sums = [f"SUM([{', '.join(some)}])" for some in (filled, filled[:-1])]
    assert total["Expression"] == {"Fn::If": ["HasFunctionUrl", *sums]}
    assert (asked, without) == ("HasFunctionUrl", {"Ref": "AWS::NoValue"})


def test_alarms_are_made_where_there_is_somebody_to_tell(deployed: dict[str, Any]) -> None:
    alarms = {name: found for name, found in deployed["Resources"].items() if found["Type"] == "AWS::CloudWatch::Alarm"}
    assert alarms.keys() == ALARMS.keys()
    for name, alarm in alarms.items():
        assert alarm["Condition"] == ("HasConfigurationAlarm" if name == "ConfigurationAlarm" else "HasAlarms")
        assert alarm["Properties"]["AlarmActions"] == [{"Ref": "AlarmTopicArn"}]
        assert alarm["Properties"]["TreatMissingData"] == "notBreaching"
        assert ALARMS[name] in json.dumps(alarm["Properties"])
        assert f"`{name}`" in DEPLOY


def test_the_dashboard_shows_metrics_that_are_written(deployed: dict[str, Any]) -> None:
    dashboard = resource(deployed, "Dashboard")
    assert dashboard["Condition"] == "HasDashboard"
    text = dashboard["Properties"]["DashboardBody"]["Fn::Sub"][0]
    widgets = json.loads(re.sub(r"\$\{[\w:]+\}", "x", text))["widgets"]
    assert len(widgets) >= 6
    source = (ROOT / "layers/shared/toolwire/shell/telemetry/metrics.py").read_text(encoding="utf-8")
    (made,) = re.findall(r'_metric_set\((\{"door": [^}]+\})\)', source)
    dimensions = sorted([*re.findall(r'"(\w+)":', made), "service"])
    searches = re.findall(
        r"SEARCH\('\{\\\"toolwire/x\\\",([\w,]+)\} MetricName=\\\"(\w+)\\\"", text.replace("${AWS::StackName}", "x")
    )
    assert {name for _, name in searches} >= {"Requests", "TimeToFirstByte", "ToolCalls", "InputTokens"}
    for schema, name in searches:
        assert schema == ",".join(dimensions)
        assert re.search(rf'add_metric\("{name}"|"{name}": ', source), name
