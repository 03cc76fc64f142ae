"""What is refused before anything is made: the template's rules, read as CloudFormation reads them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.named_rows import each_row
from tests.template import cloudformation

TEMPLATE = cloudformation.load()
ARN = "arn:aws:{}:eu-central-1:123456789012:{}".format
DOMAIN = {"DomainName": "llm.example.com", "CertificateArn": ARN("acm", "certificate/1")}
NETWORK = {"VpcSubnetIds": "subnet-1,subnet-2", "VpcSecurityGroupIds": "sg-1"}


def _value(said: Any, values: dict[str, str]) -> Any:
    """A parameter is text here, a number too, and a list of texts where it is one."""
    if not (isinstance(said, dict) and said.keys() == {"Ref"}):
        return said
    value = values[said["Ref"]]
    is_list = TEMPLATE["Parameters"][said["Ref"]]["Type"] == "CommaDelimitedList"
    return value.split(",") if is_list else value


def _holds(said: dict[str, Any], values: dict[str, str]) -> bool:
    ((function, arguments),) = said.items()
    match function, arguments:
        case "Fn::And", _:
            return all(_holds(it, values) for it in arguments)
        case "Fn::Or", _:
            return any(_holds(it, values) for it in arguments)
        case "Fn::Not", [one]:
            return not _holds(one, values)
        case "Fn::Equals", [left, right]:
            return bool(_value(left, values) == _value(right, values))
        case "Fn::Contains", [texts, one]:
            return _value(one, values) in _value(texts, values)
        case "Fn::EachMemberEquals", [texts, one]:
            return all(it == one for it in _value(texts, values))
    raise AssertionError(f"no function of a rule: {function}")


def _broken(**parameters: str) -> list[str]:
    """The rules that these break. What is not named has its default."""
    values = {name: str(it["Default"]) for name, it in TEMPLATE["Parameters"].items()} | parameters
    return [
        name
        for name, rule in TEMPLATE["Rules"].items()
        if _holds(rule.get("RuleCondition", {"Fn::And": []}), values)
        and not all(_holds(it["Assert"], values) for it in rule["Assertions"])
    ]


@each_row(
    ("parameters", "rules"),
    [
        ({}, []),
        (DOMAIN, []),
        ({"DomainName": "llm.example.com"}, ["DomainAndCertificate"]),
        ({"CertificateArn": DOMAIN["CertificateArn"]}, ["DomainAndCertificate"]),
        ({"OnlyDomainName": "1"}, ["OnlyADomainThatIsThere"]),
        (DOMAIN | {"OnlyDomainName": "1"}, []),
        ({"WebAclArn": ARN("wafv2", "regional/webacl/a/b")}, []),
        ({"WebAclArn": ARN("wafv2", "regional/webacl/a/b"), "WafRequestsPerIp": "2000"}, ["OneFirewall"]),
        ({"WafRequestsPerIp": "10"}, []),
        *(({"WafRequestsPerIp": str(few)}, ["AsManyRequestsAsAFirewallCounts"]) for few in range(1, 10)),
        (NETWORK, []),
        ({"VpcSubnetIds": "subnet-1,subnet-2"}, ["SubnetsAndSecurityGroups"]),
        ({"VpcSecurityGroupIds": "sg-1"}, ["SubnetsAndSecurityGroups"]),
        ({"OtelLayerArn": ARN("lambda", "layer:otel:1")}, ["SpansWhereThereAreTraces"]),
        ({"OtelLayerArn": ARN("lambda", "layer:otel:1"), "EnableTracing": "1"}, []),
        ({"EnableSnapStart": "1"}, []),
        ({"EnableSnapStart": "1", "ProvisionedConcurrency": "5"}, ["SnapshotsOrKeptStarts"]),
        ({"EnableSnapStart": "1", "Runtime": "python3.11"}, ["SnapshotsOrKeptStarts"]),
        ({"ProvisionedConcurrency": "5", "Runtime": "python3.11"}, []),
    ],
    ids=str,
)
def test_what_does_not_go_together_is_refused(parameters: dict[str, str], rules: list[str]) -> None:
    assert _broken(**parameters) == rules


def test_a_parameter_is_compared_with_text() -> None:
    """A parameter of type Number is text wherever it is used, so a number beside it might never be its equal."""

    def compared(said: Any) -> Iterator[Any]:
        if isinstance(said, dict):
            yield from said.get("Fn::Equals", [])
        for it in said.values() if isinstance(said, dict) else said if isinstance(said, list) else []:
            yield from compared(it)

    sides = list(compared([TEMPLATE["Rules"], TEMPLATE["Conditions"]]))
    assert len(sides) > 50
    assert [it for it in sides if not isinstance(it, str | dict)] == []
