"""What differs from host to host, what says nothing, results, counts, and the probes that must arrive as they are."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.corpus.driver import open_exchange
from tests.named_rows import each_row
from tests.providers.openai_chat.test_request import TIME, USER, WEATHER, build, call, result, sent, turn
from toolwire.model.errors import RequestError
from toolwire.model.settings import ProviderConfig, Target, Tenant
from toolwire.providers import profile_of
from toolwire.providers.profiles import PROFILES, profile_for_model
from toolwire.rewrite.history import NO_RESULT

# ---------------------------------------------------------------- profiles


@pytest.mark.parametrize(
    ("profile", "role"), [("openai", "developer"), ("compatible", "system"), ("azure", "developer")]
)
def test_the_developer_role(profile: str, role: str) -> None:
    messages = sent({"role": "developer", "content": "D", "x": 1}, {"role": "system", "content": "S"}, USER,
                    profile=profile)["messages"]  # fmt: skip
    assert messages == [{"role": role, "content": "D", "x": 1}, {"role": "system", "content": "S"}, USER]


@pytest.mark.parametrize(
    ("profile", "field"),
    [
        ("openai", None),
        ("mistral", None),
        ("compatible", "reasoning_content"),
        ("deepseek", "reasoning_content"),
        ("openrouter", "reasoning"),
        ("groq", "reasoning"),
    ],
)
def test_reasoning_goes_back_under_the_hosts_own_name(profile: str, field: str | None) -> None:
    message = turn(call("abcdefgh1"), reasoning_content="R", reasoning_details=[{"data": 1}])
    got = sent(USER, message, result("abcdefgh1"), profile=profile)["messages"][1]

    details = {} if PROFILES[profile].message_members is not None else {"reasoning_details": [{"data": 1}]}
    expected = turn(call("abcdefgh1"), **details)
    assert got == (expected if field is None else expected | {field: "R"})


@each_row(
    ("profile", "given", "expected", "warnings"),
    [
        ("openai", {"max_completion_tokens": 5, "seed": 1}, {"max_completion_tokens": 5, "seed": 1}, []),
        ("mistral", {"max_completion_tokens": 5, "seed": 1}, {"max_tokens": 5, "random_seed": 1}, []),
        ("mistral", {"max_tokens": 5, "max_completion_tokens": 5}, {"max_tokens": 5}, []),
        ("deepseek", {"max_completion_tokens": 5}, {"max_tokens": 5}, []),
        ("mistral", {"store": False, "user": "u"}, {}, ["not_supported:store", "not_supported:user"]),
        ("mistral", {"store": None, "user": None}, {}, []),
        (
            "mistral",
            {"metadata": {"a": "b"}, "prompt_cache_key": "k"},
            {"metadata": {"a": "b"}, "prompt_cache_key": "k"},
            [],
        ),
        ("groq", {"logit_bias": {"1": 1}}, {}, ["not_supported:logit_bias"]),
        ("groq", {"store": True, "metadata": {"a": "b"}}, {}, ["not_supported:store", "not_supported:metadata"]),
        ("groq", {"user": "u", "service_tier": "flex"}, {"user": "u", "service_tier": "flex"}, []),
    ],
)
def test_knobs(profile: str, given: dict[str, Any], expected: dict[str, Any], warnings: list[str]) -> None:
    exchange = build(profile=profile, **given)
    document = json.loads(exchange.upstream_request.body)
    assert document == {"model": "m", "messages": [USER], **expected}
    assert exchange.figures.warnings == warnings


ALLOWED = {
    "type": "allowed_tools",
    "allowed_tools": {"mode": "required", "tools": [{"type": "function", "function": {"name": "time"}}]},
}


def test_allowed_tools() -> None:
    whole = sent(tools=[WEATHER, TIME], tool_choice=ALLOWED, profile="openai")
    assert (whole["tools"], whole["tool_choice"]) == ([WEATHER, TIME], ALLOWED)
    # Without the feature: what is not sent cannot be called, so the set is neither widened nor dropped.
    for profile in ("compatible", "azure", "mistral", "groq"):
        cut = sent(tools=[WEATHER, TIME], tool_choice=ALLOWED, profile=profile)
        assert (cut["tools"], cut["tool_choice"]) == ([TIME], "required")


@each_row("profile", ["openai", "compatible"])
@each_row(
    "fields",
    [
        {"tools": []},
        {"tools": [], "tool_choice": "auto", "parallel_tool_calls": True},
        {"tools": None, "tool_choice": "none"},
        {"tool_choice": "auto"},
        {"parallel_tool_calls": False},
        {"tool_choice": None, "parallel_tool_calls": None, "max_tokens": None, "temperature": None, "stop": None},
        {"stream": None, "stream_options": None, "response_format": None, "reasoning_effort": None},
        {"user": None, "logit_bias": None, "functions": None, "unknown_to_all": None},
    ],
)
def test_what_says_nothing_is_not_sent(profile: str, fields: dict[str, Any]) -> None:
    assert sent(profile=profile, **fields) == {"model": "m", "messages": [USER]}


def test_null_members_of_messages_are_dropped() -> None:
    """OpenAI's SDKs replay them, and several hosts refuse them."""
    replayed: dict[str, Any] = {
        "content": "A", "refusal": None, "role": "assistant", "annotations": [], "audio": None, "function_call": None,
        "tool_calls": None,
    }  # fmt: skip
    calls = turn(call("a"), refusal=None, audio=None)
    got = sent(USER, replayed, USER, calls, result("a"))["messages"]
    assert got[1] == {"role": "assistant", "content": "A", "annotations": []}
    assert got[3] == turn(call("a"))


@pytest.mark.parametrize(
    ("profile", "taken"),
    [
        ("mistral", {"prefix"}),
        ("groq", {"name"}),
        ("compatible", {"prefix", "name", "annotations", "provider_specific_fields", "x", "cache_control", "index"}),
    ],
)
def test_a_host_that_refuses_members_it_does_not_know_is_not_sent_them(profile: str, taken: set[str]) -> None:
    """SDKs and proxies send an answer back with all that it had."""
    text = {"type": "text", "text": "Q", "cache_control": {"type": "ephemeral"}}
    answered = {"prefix": True, "name": "bob", "annotations": [], "provider_specific_fields": {"a": 1}}
    messages = [
        {"role": "user", "content": [text], "x": 1},
        {"role": "assistant", "content": "A", "refusal": None, "audio": None, **answered},
        turn(call("abcdefgh1") | {"index": 0}),
        result("abcdefgh1") | {"name": "time"},
    ]
    exchange = build(messages=messages, profile=profile)
    got = json.loads(exchange.upstream_request.body)["messages"]
    assert got[3] == messages[3]
    members = {*got[0], *got[1], *got[2]["tool_calls"][0]} - {"role", "content", "id", "type", "function"}
    members |= set(got[0]["content"][0]) - {"type", "text"} if isinstance(got[0]["content"], list) else set()
    assert members == taken
    told = {warning.partition(":")[2] for warning in exchange.figures.warnings}
    left = {"prefix", "name", "provider_specific_fields", "x", "cache_control"} - taken
    assert told == (set() if profile == "compatible" else left)


@pytest.mark.parametrize(("profile", "member"), [("openai", "refusal"), ("compatible", "content"), ("groq", "content")])
def test_another_apis_refusal_is_a_text_where_the_host_has_no_member_for_it(profile: str, member: str) -> None:
    refused = {"type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]}
    asked = {"model": "up/m", "input": [{"role": "user", "content": "Q"}, refused, {"role": "user", "content": "W"}]}
    exchange = open_exchange(json.dumps(asked).encode(), door="responses", profile=profile)
    assert json.loads(exchange.upstream_request.body)["messages"][1] == {"role": "assistant", member: "No."}


def test_null_members_of_tools_are_dropped() -> None:
    bare = {"name": "ping", "description": None, "parameters": None, "strict": None}
    asked = sent(tools=[{"type": "function", "function": bare, "x": 1}, TIME])
    assert asked["tools"] == [{"type": "function", "function": {"name": "ping"}, "x": 1}, TIME]


@pytest.mark.parametrize("type_", [{}, {"type": None}])
def test_a_call_without_a_type_is_a_function(type_: dict[str, Any]) -> None:
    untyped = {name: value for name, value in call("a").items() if name != "type"} | type_
    assert sent(USER, turn(untyped), result("a"))["messages"][1] == turn(call("a"))


def test_an_empty_list_of_parts_is_no_content() -> None:
    messages = sent(USER, turn(call("a"), content=[]), result("a"), {"role": "assistant", "content": []})["messages"]
    assert messages[1]["content"] is None
    assert len(messages) == 3  # hosts refuse a turn that says nothing


@pytest.mark.parametrize(("profile", "lost"), [("deepseek", ""), ("moonshot", " ")])
@pytest.mark.parametrize("told", [None, "", "I look."])
def test_reasoning_goes_with_every_turn_that_calls_tools(told: str | None, profile: str, lost: str) -> None:
    """Their thinking modes refuse one without, Kimi's an empty one, too; clients drop what OpenAI does not document."""
    plain = {"role": "assistant", "content": "A"}
    given = turn(call("a")) if told is None else turn(call("a"), reasoning_content=told)
    messages = sent(USER, given, result("a"), plain, profile=profile)["messages"]
    assert messages[1] == turn(call("a"), reasoning_content=told or lost)
    assert messages[3] == plain


@each_row(
    ("model", "profile"),
    [
        ("kimi-k2-thinking", "moonshot"), ("moonshotai/Kimi-K2-Thinking", "moonshot"),
        ("kimi-k2-thinking-turbo", "moonshot"),
        ("moonshot.kimi-k2-thinking", "moonshot"), ("kimi-k2.5", "moonshot"), ("moonshotai/kimi-k2.6", "moonshot"),
        ("accounts/fireworks/models/kimi-k2p5", "moonshot"), ("kimi-k2.5:cloud", "moonshot"), ("kimi-k3", "moonshot"),
        ("Pro/moonshotai/Kimi-K2.5", "moonshot"), ("kimi-k2.7-code", "moonshot"), ("kimi-for-coding", "moonshot"),
        ("kimi-thinking-preview", "moonshot"), ("kimi-latest", "compatible"), ("kimi-k2-0905-preview", "compatible"),
        ("moonshotai/Kimi-K2-Instruct", "compatible"), ("kimi-k2-turbo-preview", "compatible"),
        ("deepseek-v4-pro", "compatible"), ("my-kimi-k3", "compatible"),
    ],
)  # fmt: skip
def test_a_model_brings_its_makers_rules(model: str, profile: str) -> None:
    assert profile_for_model(model) == profile


def test_a_late_result_is_moved_to_its_turn() -> None:
    """Hosts refuse a turn with calls that its results do not follow."""
    messages = [USER, turn(call("a"), call("b")), result("b"), USER, result("a")]
    assert sent(*messages)["messages"] == [*messages[:3], messages[4], messages[3]]


def test_an_empty_list_of_calls_is_dropped() -> None:
    got = sent(USER, {"role": "assistant", "content": "A", "tool_calls": []}, USER)["messages"]
    assert got[1] == {"role": "assistant", "content": "A"}


def test_functions_of_old_pass_through_the_lane() -> None:
    old: dict[str, Any] = {"functions": [{"name": "f", "parameters": {}}], "function_call": {"name": "f"}}
    asked = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}}
    answered = {"role": "function", "name": "f", "content": "x"}
    assert sent(USER, asked, answered, **old) == {"model": "m", "messages": [USER, asked, answered], **old}


# ---------------------------------------------------------------- results


def test_a_missing_result_is_filled_in_with_a_warning() -> None:
    exchange = build(USER, turn(call("a"), call("b")), result("b"), USER)
    messages = json.loads(exchange.upstream_request.body)["messages"]

    assert exchange.figures.warnings == ["tool_result_missing"]
    assert messages[2] == result("b")
    assert messages[3] == {"role": "tool", "tool_call_id": "a", "content": NO_RESULT, "name": "weather"}
    assert messages[4] == USER


def test_results_in_any_order_stay_as_they_are() -> None:
    history = [USER, turn(call("a"), call("b")), result("b", "2"), result("a", [{"type": "text", "text": "1"}])]
    exchange = build(*history)
    assert json.loads(exchange.upstream_request.body)["messages"] == history
    assert exchange.figures.warnings == []


# ---------------------------------------------------------------- counts


@pytest.mark.parametrize(
    ("profile", "count", "refused"),
    [("openai", 128, False), ("openai", 129, True), ("azure", 129, True), ("compatible", 512, False),
     ("compatible", 513, True), ("openai", 513, True)],
)  # fmt: skip
def test_how_many_tools(profile: str, count: int, refused: bool) -> None:
    tools = [{"type": "function", "function": {"name": f"f{number}"}} for number in range(count)]
    if not refused:
        assert len(sent(tools=tools, profile=profile)["tools"]) == count
        return
    with pytest.raises(RequestError) as caught:
        build(tools=tools, profile=profile)
    error = caught.value
    assert (error.status, error.code, error.param) == (400, "too_many_tools", "tools")
    limit = 512 if count > 512 else PROFILES[profile].tools
    assert f"{count} entries" in error.message
    assert str(limit) in error.message
    if count <= 512:
        assert "upstream accepts" in error.message, "the provider whose limit it is"


# ---------------------------------------------------------------- probes

#: A schema with everything a gateway may be tempted to simplify.
SCHEMA = {
    "type": "object", "title": "T", "additionalProperties": False, "$schema": "http://json-schema.org/draft-07/schema#",
    "$defs": {"U": {"enum": ["c", "f"]}, "N": {"type": "object", "properties": {"next": {"$ref": "#/$defs/N"}}}},
    "properties": {
        "unit": {"$ref": "#/$defs/U"}, "tree": {"$ref": "#/$defs/N"},
        "maybe": {"type": ["string", "null"], "default": None},
        "either": {"anyOf": [{"type": "integer"}, {"type": "null"}]}, "one": {"oneOf": [{"type": "string"}, {}]},
        "k": {"const": "x"}, "level": {"type": "integer", "enum": [1, 2]},
        "many": {"type": "array", "uniqueItems": True},
        "when": {"type": "string", "format": "date-time", "pattern": "^2.*$", "minLength": 1},
    },
    "required": ["unit"],
}  # fmt: skip
NASTY = {"type": "function", "function": {"name": "nasty", "strict": False, "description": "d", "parameters": SCHEMA}}
CLOSED = {"type": "object", "properties": {}, "additionalProperties": False}
STRICT = {"type": "function", "function": {"name": "strict", "strict": True, "description": "d", "parameters": CLOSED}}
BAD = '{"city": "Par'


@each_row("profile", ["openai", "compatible"])
@each_row(
    "fields",
    [
        {"tools": [WEATHER], "tool_choice": "none"},
        {"tools": [WEATHER], "tool_choice": "auto"},
        {"tools": [WEATHER], "tool_choice": "required"},
        {"tools": [WEATHER], "tool_choice": {"type": "function", "function": {"name": "weather"}}},
        {"tools": [WEATHER], "tool_choice": "auto", "parallel_tool_calls": False},
        {"tools": [NASTY, STRICT]},
        {"tools": [TIME]},
        {"messages": [{"role": "system", "content": "S"}, USER, turn(call("call_A"), call("call_B", arguments="")),
                      result("call_B"), result("call_A", [{"type": "text", "text": "A"}]), USER], "tools": [WEATHER]},
        {"messages": [USER, turn(call("call_A", arguments=BAD)), result("call_A"), USER], "tools": [WEATHER]},
    ],
)  # fmt: skip
def test_probes_that_reach_the_host_as_they_are(profile: str, fields: dict[str, Any]) -> None:
    fields = {"messages": [USER], "max_tokens": 500, **fields}
    messages = fields.pop("messages")
    assert sent(*messages, profile=profile, **fields) == {"model": "m", "messages": messages, **fields}


OPEN = {"type": "object", "properties": {"a": {"type": "string"}}}
LOOSE = {"type": "function", "function": {"name": "loose", "strict": True, "parameters": OPEN}}


@each_row(
    ("profile", "contract_2api", "mode", "outcome"),
    [
        # OpenAI judges its own client's tools itself.
        ("openai", False, None, []),
        ("openai", False, "reject", "invalid_strict_schema"),
        ("openai", True, "reject", "invalid_strict_schema"),
        ("compatible", False, None, ["invalid_strict_schema:loose"]),
        ("compatible", False, "reject", ["invalid_strict_schema:loose"]),
        ("compatible", True, "reject", "invalid_strict_schema"),
        ("groq", False, None, ["invalid_strict_schema:loose"]),
    ],
)
@each_row("wire", ["openai_chat", "openai_responses"])
def test_a_strict_tool_that_breaks_openais_rules(
    wire: str, profile: str, contract_2api: bool, mode: Any, outcome: list[str] | str
) -> None:
    tenant = Tenant(contract_2api=contract_2api, schema_mode=mode)
    body = json.dumps(
        {"model": "p/m", "messages": [USER], "tools": [STRICT, LOOSE], "parallel_tool_calls": False}
    ).encode()
    if isinstance(outcome, str):
        with pytest.raises(RequestError) as caught:
            open_exchange(body, wire=wire, profile=profile, tenant=tenant)
        assert (caught.value.code, caught.value.param) == (outcome, "tools[1].function.parameters")
        return
    exchange = open_exchange(body, wire=wire, profile=profile, tenant=tenant)
    strict = [code for code in exchange.figures.warnings if code.startswith("invalid_strict_schema")]
    assert strict == outcome
    tools = json.loads(exchange.upstream_request.body)["tools"]
    # Another API's client's tool goes to OpenAI without the word.
    kept = profile != "openai" or wire == "openai_chat"
    assert [tool.get("function", tool)["strict"] for tool in tools] == [True, kept]


def test_an_orphan_result_reaches_no_host() -> None:
    with pytest.raises(RequestError, match="call_ZZZ") as caught:
        build(USER, result("call_ZZZ"), USER)
    assert (caught.value.code, caught.value.param) == ("unknown_tool_call_id", "messages[1].tool_call_id")


@each_row(
    ("address", "profile"),
    [
        ("https://api.moonshot.ai/v1", "moonshot"), ("https://api.moonshot.cn/v1/", "moonshot"),
        ("https://open.bigmodel.cn/api/paas/v4", "zai"), ("https://api.z.ai/api/coding/paas/v4", "zai"),
        ("https://dashscope.aliyuncs.com/compatible-mode/v1", "dashscope"),
        ("https://coding-intl.dashscope.aliyuncs.com/v1", "dashscope"),
        ("https://api.minimaxi.com/v1", "minimax"), ("https://api.siliconflow.cn/v1", "siliconflow"),
        ("https://ark.ap-southeast.bytepluses.com/api/v3", "volcengine"),
        ("https://ark.cn-beijing.volces.com/api/coding/v3", "volcengine"),
        ("https://api.stepfun.ai/v1", "stepfun"), ("https://api.together.ai/v1", "together"),
        ("https://api.deepseek.com", "deepseek"), ("https://api.deepseek.com/beta", "deepseek"),
        ("https://generativelanguage.googleapis.com/v1beta/openai/", "gemini-compat"),
        ("https://api.cloudflare.com/client/v4/accounts/0123abc/ai/v1", "cloudflare"),
        ("https://eu.api.openai.com/v1", "openai"), ("https://work.openai.azure.com/openai/v1", "azure"),
        ("http://localhost:11434/v1", "ollama"), ("http://127.0.0.1:1234/v1", "lmstudio"),
        # their other APIs, and addresses that only begin so
        ("https://api.deepseek.com/anthropic", "compatible"), ("https://api.z.ai/api/anthropic", "compatible"),
        ("https://api.minimaxi.com/anthropic", "compatible"), ("https://api.moonshot.cn/anthropic", "compatible"),
        ("https://work.services.ai.azure.com/anthropic", "compatible"), ("https://llm.example.com/v1", "compatible"),
    ],
)  # fmt: skip
def test_a_host_is_known_by_each_of_its_addresses(address: str, profile: str) -> None:
    assert profile_of(Target(ProviderConfig("any", "openai_chat", address), "m")).name == profile
