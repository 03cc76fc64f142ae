"""What a client asks of the gateway in headers, and how it joins what the tenant and the door say."""

from __future__ import annotations

import json
from typing import Any, Literal

import pytest

from tests.named_rows import each_row
from toolwire.doors import load_door
from toolwire.model.errors import RequestError
from toolwire.model.http import HttpRequest
from toolwire.model.limits import PRESET_2API, PRESET_AGENTS
from toolwire.model.request import ChatRequest, RequestFields, RequestOptions
from toolwire.model.settings import Tenant
from toolwire.model.source import replace
from toolwire.policy import ToolRules, read_options, rules_for, with_rules
from toolwire.policy.checked_request import checked_request

VALIDATE = "x-toolwire-validate-tool-arguments"
MODE = "x-toolwire-schema-mode"
RECOVER = "x-toolwire-recover-text-calls"
EVENTS = "x-toolwire-events"


@each_row(
    ("headers", "options"),
    [
        ({}, RequestOptions()),
        ({"x-request-id": "1", "x-tool": "x", "x-toolwire-hop": "1"}, RequestOptions()),
        ({VALIDATE: "annotate"}, RequestOptions("annotate")),
        ({VALIDATE: " Reject "}, RequestOptions("reject")),
        ({VALIDATE: "true"}, RequestOptions("reject")),
        ({VALIDATE: "false"}, RequestOptions("off")),
        ({MODE: "lossy"}, RequestOptions(schema_mode="lossy")),
        ({MODE: "reject"}, RequestOptions(schema_mode="reject")),
        ({RECOVER: "on"}, RequestOptions(recover_text_calls=True)),
        ({RECOVER: "0"}, RequestOptions(recover_text_calls=False)),
        ({EVENTS: "extended"}, RequestOptions(extended_events=True)),
        ({EVENTS: "standard", MODE: "convert"}, RequestOptions(schema_mode="convert", extended_events=False)),
    ],
)
def test_headers(headers: dict[str, str], options: RequestOptions) -> None:
    assert read_options(headers) == options


@each_row(
    ("name", "value", "says"),
    [
        (VALIDATE, "yes", "off, annotate, reject"),
        (MODE, "", "convert, reject, lossy"),
        (MODE, "loose", "'loose'"),
        (RECOVER, "maybe", "on, true, 1, off, false, 0"),
        (EVENTS, "all", "standard, extended"),
        ("x-toolwire-schema_mode", "lossy", rf"^There is no option .*\. Did you mean '{MODE}'\? Known: "),
        ("x-toolwire-falback", "a/b", r"^There is no option .*\. Did you mean 'x-toolwire-fallback'\? Known: "),
        ("x-toolwire-total-second", "9", r"^There is no option .*\. Did you mean 'x-toolwire-total-seconds'\? Known: "),
    ],
)
def test_what_means_nothing_is_refused(name: str, value: str, says: str) -> None:
    with pytest.raises(RequestError, match=says) as caught:
        read_options({name: value})
    assert (caught.value.status, caught.value.code, caught.value.param) == (400, "invalid_option", name)


@each_row(
    ("tenant", "door", "expected"),
    [
        (Tenant(), "chat_completions", ToolRules()),
        (Tenant(), "native", ToolRules(PRESET_2API, schema_mode="reject", insists_on_choice=True)),
        (
            Tenant(limits=PRESET_2API, native_limits=PRESET_AGENTS),
            "native",
            ToolRules(schema_mode="reject", insists_on_choice=True),
        ),
        (Tenant(limits=PRESET_2API), "chat_completions", ToolRules(PRESET_2API)),
        (Tenant(tool_choice_not_honored="error"), "chat_completions", ToolRules(insists_on_choice=True)),
        (Tenant(tool_choice_not_honored="warn"), "native", ToolRules(PRESET_2API, schema_mode="reject")),
        (Tenant(schema_mode="convert", tool_choice_not_honored="warn"), "native", ToolRules(PRESET_2API)),
        (Tenant(allowlist=("a",)), "chat_completions", ToolRules(allowed=frozenset("a"))),
        (Tenant(allowlist=()), "chat_completions", ToolRules(allowed=frozenset())),
        (
            Tenant(allowlist=("a",), allowlist_mode="warn"),
            "chat_completions",
            ToolRules(allowed=frozenset("a"), refuses_others=False),
        ),
        (Tenant(events="extended"), "responses", ToolRules(extended_events=True)),
        (Tenant(repair_arguments=True), "chat_completions", ToolRules(repair_arguments=True)),
        (Tenant(strict_parallel="reject"), "chat_completions", ToolRules(refuses_strict_parallel=True)),
        (
            Tenant(validate_tool_arguments="reject", schema_mode="lossy"),
            "chat_completions",
            ToolRules(validate_tool_arguments="reject", schema_mode="lossy"),
        ),
    ],
)
def test_rules(tenant: Tenant, door: str, expected: ToolRules) -> None:
    assert rules_for(tenant, door) == expected


def test_an_allowlist_that_is_off_restricts_nothing() -> None:
    assert rules_for(Tenant(allowlist=("a",), allowlist_mode="off"), "chat_completions").allowed is None


@each_row("asked", ["off", "annotate", "reject"])
@each_row("default", ["off", "annotate", "reject"])
def test_a_request_wins_over_its_tenant(asked: Literal["off"], default: Literal["off"]) -> None:
    tenant = Tenant(validate_tool_arguments=default)
    assert rules_for(tenant, "chat_completions", RequestOptions(asked)).validate_tool_arguments == asked
    assert rules_for(tenant, "chat_completions").validate_tool_arguments == default


def test_writers_see_the_mode_and_the_lane_stays_a_lane() -> None:
    parsed = ChatRequest("m", ())
    request = replace(parsed, fields=RequestFields("openai_chat", (), parsed))
    ruled = with_rules(request, ToolRules(schema_mode="lossy"))

    assert ruled.options == RequestOptions("off", "lossy")
    assert ruled.fields is request.fields
    assert with_rules(ruled, ToolRules(schema_mode="lossy")) is ruled
    assert not [
        name
        for name in ChatRequest.__struct_fields__
        if name not in ("options", "fields") and not _same(ruled, request, name)
    ]


def _same(one: Any, other: Any, name: str) -> bool:
    return getattr(one, name) is getattr(other, name)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"recover_text_calls": False}, RequestOptions("reject", "lossy", False)),
        ({"validate_tool_arguments": False}, RequestOptions("off", "lossy", True)),
        ({"schema_mode": "convert"}, RequestOptions("reject", "convert", True)),
        ({}, RequestOptions("reject", "lossy", True)),
    ],
)
def test_a_body_wins_over_a_header(options: dict[str, Any], expected: RequestOptions) -> None:
    """Also where it switches something off."""
    body = {"model": "p/m", "messages": [{"role": "user", "content": "x"}], "request_options": options}
    door = load_door("native")
    headers = {VALIDATE: "reject", MODE: "lossy", RECOVER: "on"}
    found = checked_request(
        door.name, door.parse_request(HttpRequest("POST", "/", headers, json.dumps(body).encode())), headers, Tenant()
    )
    assert found.request.options == expected
