"""Chat requests as a Responses host gets them: each is judged by the SDK's own types, and checked member by member."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest

from tests.corpus.driver import open_exchange
from tests.matrix.vendors import openai_responses as judge
from tests.named_rows import each_row
from tests.providers.openai_responses.responses_upstream import MODEL, TOOLS, USER, WIRE
from toolwire.model.errors import RequestError
from toolwire.model.request import (
    ChatRequest,
    ImagePart,
    Message,
    OpaquePart,
    ReasoningPart,
    RefusalPart,
    TextPart,
    Tool,
    ToolCallPart,
    ToolChoice,
    ToolResultPart,
)
from toolwire.model.settings import ProviderConfig, Target
from toolwire.providers.openai_responses.request import PROVIDER
from toolwire.providers.profiles import PROFILES

EMPTY = {"type": "object", "properties": {}}
SHUT = {**EMPTY, "additionalProperties": False}
WEATHER = {"type": "function", "name": "weather", "parameters": EMPTY, "strict": False}
TIME = {"type": "function", "name": "time", "parameters": EMPTY, "strict": False}


@dataclass(frozen=True)
class Sent:
    """What reaches the host."""

    url: str
    headers: dict[str, str]
    raw: bytes
    warnings: list[str]

    @property
    def body(self) -> dict[str, Any]:
        body: dict[str, Any] = json.loads(self.raw)
        return body


def sent(model: str = MODEL, profile: str = "openai", **members: Any) -> Sent:
    body = {"model": "m", "messages": [USER], **members}
    exchange = open_exchange(json.dumps(body).encode(), wire=WIRE, profile=profile, model=model)
    upstream = exchange.upstream_request
    judge(upstream.body)
    return Sent(upstream.url, dict(upstream.headers), upstream.body, list(exchange.figures.warnings))


def refused(**members: Any) -> RequestError:
    with pytest.raises(RequestError) as error:
        sent(**members)
    assert error.value.status == 400
    return error.value


def built(request: ChatRequest, profile: str = "openai", model: str = MODEL) -> dict[str, Any]:
    """The body for a request that no chat client can write."""
    target = Target(ProviderConfig("host", "openai_responses", "https://host.example/v1/", "none", profile), model)
    upstream, _ = PROVIDER.build_request(request, target, PROFILES[profile], "secret")
    assert upstream.url == "https://host.example/v1/responses"
    assert dict(upstream.headers)["authorization"] == "Bearer secret"
    document: dict[str, Any] = json.loads(upstream.body)
    return document


def call(id: str, arguments: str = "{}", name: str = "weather") -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def assistant(*calls: dict[str, Any], content: Any = None, **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content, **({"tool_calls": list(calls)} if calls else {}), **more}


def result(id: str, content: Any = "ok") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": content}


def said(role: str, content: Any) -> dict[str, Any]:
    return {"type": "message", "role": role, "content": content}


def function_call(id: str, arguments: str = "{}", name: str = "weather") -> dict[str, Any]:
    return {"type": "function_call", "call_id": id, "name": name, "arguments": arguments}


def output(id: str, content: Any = "ok") -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": id, "output": content}


# ---------------------------------------------------------------- the whole


def test_a_plain_request() -> None:
    plain = sent(stream=True)
    assert plain.body == {
        "model": MODEL,
        "input": [said("user", "hi")],
        "include": ["reasoning.encrypted_content"],
        "store": False,
        "stream": True,
    }
    assert plain.url.endswith("/v1/responses")
    assert plain.headers["accept"] == "text/event-stream"
    assert plain.warnings == []


@each_row(
    ("members", "expected"),
    [
        ({"tools": TOOLS}, {"tools": [WEATHER, TIME]}),
        ({"tools": TOOLS, "tool_choice": "required"}, {"tool_choice": "required"}),
        ({"tools": TOOLS, "tool_choice": "none"}, {"tool_choice": "none"}),
        (
            {"tools": TOOLS, "tool_choice": {"type": "function", "function": {"name": "time"}}},
            {"tool_choice": {"type": "function", "name": "time"}},
        ),
        (
            {
                "tools": TOOLS,
                "tool_choice": {
                    "type": "allowed_tools",
                    "allowed_tools": {"mode": "auto", "tools": [{"type": "function", "function": {"name": "time"}}]},
                },
            },
            {
                "tool_choice": {
                    "type": "allowed_tools",
                    "mode": "auto",
                    "tools": [{"type": "function", "name": "time"}],
                }
            },
        ),
        ({"tools": TOOLS, "parallel_tool_calls": False}, {"parallel_tool_calls": False}),
        ({"max_completion_tokens": 100}, {"max_output_tokens": 100}),
        ({"reasoning_effort": "low"}, {"reasoning": {"effort": "low"}}),
        ({"response_format": {"type": "json_object"}}, {"text": {"format": {"type": "json_object"}}}),
        (
            {"response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": SHUT, "strict": True}}},
            {"text": {"format": {"type": "json_schema", "name": "a", "schema": SHUT, "strict": True}}},
        ),
        (
            {"response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": EMPTY}}},
            {"text": {"format": {"type": "json_schema", "name": "a", "schema": EMPTY, "strict": False}}},
        ),
        ({"verbosity": "low"}, {"text": {"verbosity": "low"}}),
        ({"metadata": {"a": "b"}, "user": "u", "prompt_cache_key": "k"}, {"metadata": {"a": "b"}, "user": "u"}),
        ({"service_tier": "flex", "safety_identifier": "s"}, {"service_tier": "flex", "safety_identifier": "s"}),
    ],
)
def test_members(members: dict[str, Any], expected: dict[str, Any]) -> None:
    plain = sent(**members)
    assert {name: plain.body[name] for name in expected} == expected
    assert plain.warnings == []


def test_nothing_is_kept_at_the_host_and_who_asks_for_it_is_told() -> None:
    found = sent(store=True)
    assert (found.body["store"], found.warnings) == (False, ["ignored:store"])


def test_what_means_nothing_without_tools_is_left_out() -> None:
    assert not {"tools", "tool_choice", "parallel_tool_calls"} & sent(tools=[], tool_choice="auto").body.keys()


@each_row(
    ("members", "warning"),
    [
        ({"seed": 1}, "not_supported:seed"),
        ({"stop": "x"}, "not_supported:stop"),
        ({"presence_penalty": 1}, "not_supported:presence_penalty"),
        ({"logit_bias": {"1": 1}}, "not_supported:logit_bias"),
        ({"logprobs": True}, "not_supported:logprobs"),
        ({"temperature": 0.5}, "not_supported:temperature"),
        ({"messages": [USER | {"name": "ann"}]}, "not_supported:name"),
        ({"messages": [USER, assistant(call("a"))], "tools": TOOLS}, "tool_result_missing"),
        ({"max_tokens": 3}, "max_tokens_raised"),
        ({"tools": [*TOOLS, {"type": "web_search"}]}, "not_supported:server_tools"),
    ],
)
def test_what_is_left_out_or_changed_is_said(members: dict[str, Any], warning: str) -> None:
    assert sent(**members).warnings == [warning]


def test_the_least_output_limit() -> None:
    assert sent(max_tokens=3).body["max_output_tokens"] == 16


@pytest.mark.parametrize(
    ("members", "code", "param"),
    [
        ({"web_search_options": {}}, "unsupported_parameter", "web_search_options"),
        ({"audio": {"voice": "x", "format": "mp3"}}, "unsupported_parameter", "audio"),
        (
            {"messages": [{"role": "user", "content": [{"type": "input_audio", "input_audio": {}}]}]},
            "unsupported_content",
            "messages[0].content[0]",
        ),
        (
            {"messages": [USER, {"role": "user", "content": [{"type": "file", "file": 1}]}]},
            "unsupported_content",
            "messages[1].content[0]",
        ),
        ({"tools": [{"type": "web_search"}], "tool_choice": "required"}, "unsupported_tool", "tools[0]"),
    ],
)
def test_what_cannot_be_carried_is_refused(members: dict[str, Any], code: str, param: str) -> None:
    error = refused(**members)
    assert (error.code, error.param) == (code, param)


def test_openais_limit_of_tools() -> None:
    many = [{"type": "function", "function": {"name": f"f{number}"}} for number in range(129)]
    assert refused(tools=many).code == "too_many_tools"


# ---------------------------------------------------------------- history

IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
PDF_URL = "data:application/pdf;base64,JVBERi0xLjQK"

HISTORY: dict[str, tuple[list[Any], str | None, list[Any]]] = {
    # name: messages, instructions, input
    "instructions": (
        [{"role": "system", "content": "Be"}, {"role": "developer", "content": "brief."}, USER],
        "Be\n\nbrief.",
        [said("user", "hi")],
    ),
    "instructions in blocks": (
        [
            {
                "role": "system",
                "content": [{"type": "text", "text": "You are A."}, {"type": "text", "text": "Be brief."}],
            },
            USER,
        ],
        "You are A.\nBe brief.",
        [said("user", "hi")],
    ),
    "later system messages": (
        [USER, {"role": "system", "content": "Now."}, {"role": "developer", "content": "Go."}],
        None,
        [said("user", "hi"), said("system", "Now."), said("developer", "Go.")],
    ),
    "nothing but instructions": ([{"role": "system", "content": "Be."}], None, [said("system", "Be.")]),
    "a tool loop": (
        [USER, assistant(call("a", '{"n": 1.10}'), call("b"), content="Well"), result("b"), result("a", "1"), USER],
        None,
        [
            said("user", "hi"),
            said("assistant", "Well"),
            function_call("a", '{"n": 1.10}'),
            function_call("b"),
            output("b"),
            output("a", "1"),
            said("user", "hi"),
        ],
    ),
    "arguments that are none": (
        [USER, assistant(call("a", "")), result("a")],
        None,
        [said("user", "hi"), function_call("a"), output("a")],
    ),
    "arguments that are no JSON": (
        [USER, assistant(call("a", "[1")), result("a")],
        None,
        [said("user", "hi"), function_call("a", "[1"), output("a")],
    ),
    "images": (
        [{"role": "user", "content": [{"type": "text", "text": "Look"}, IMAGE]}],
        None,
        [
            said(
                "user",
                [
                    {"type": "input_text", "text": "Look"},
                    {"type": "input_image", "image_url": IMAGE["image_url"]["url"], "detail": "auto"},  # type: ignore[index]
                ],
            )
        ],
    ),
    "files": (
        [
            {
                "role": "user",
                "content": [
                    {
                        "type": "file",
                        "file": {"filename": "a.pdf", "file_data": PDF_URL},
                        "prompt_cache_breakpoint": {"mode": "explicit"},
                    }
                ],
            }
        ],
        None,
        [
            said(
                "user",
                [
                    {
                        "type": "input_file",
                        "filename": "a.pdf",
                        "file_data": PDF_URL,
                        "prompt_cache_breakpoint": {"mode": "explicit"},
                    }
                ],
            )
        ],
    ),
    "reasoning of another provider": (
        [USER, assistant(content="Hi", reasoning_content="Hmm."), USER],
        None,
        [said("user", "hi"), said("assistant", "Hi"), said("user", "hi")],
    ),
}


@each_row("name", HISTORY)
def test_history(name: str) -> None:
    messages, instructions, items = HISTORY[name]
    body = sent(messages=messages, tools=TOOLS).body
    assert (body.get("instructions"), body["input"]) == (instructions, items)


def test_a_hint_for_the_cache_is_the_same_in_both_apis() -> None:
    part = {"type": "text", "text": "long", "prompt_cache_breakpoint": {"mode": "explicit"}, "other": 1}
    body = sent(messages=[{"role": "system", "content": [part]}, USER]).body
    kept = {"type": "input_text", "text": "long", "prompt_cache_breakpoint": {"mode": "explicit"}}
    assert body["input"][0] == said("system", [kept])


def test_ids_that_the_api_refuses_are_rewritten_on_both_ends() -> None:
    long = "call:" + "x" * 70
    _, made, answered = sent(messages=[USER, assistant(call(long)), result(long)], tools=TOOLS).body["input"]
    assert made["call_id"] == answered["call_id"] != long
    assert len(made["call_id"]) == 40


def test_names_that_the_api_refuses_are_replaced_everywhere() -> None:
    tool = {"type": "function", "function": {"name": "fs.read"}}
    choice = {"type": "function", "function": {"name": "fs.read"}}
    history = [USER, assistant(call("a", name="fs.read")), result("a")]
    body = sent(tools=[tool], tool_choice=choice, messages=history).body
    name = body["tools"][0]["name"]
    assert name.startswith("fs_read_")
    assert (body["tool_choice"]["name"], body["input"][1]["name"]) == (name, name)


def test_reasoning_goes_back_as_the_provider_gave_it() -> None:
    parts = (ReasoningPart("Hmm.", "gAAA"), ReasoningPart("", "gBBB"), ToolCallPart("a", "weather", "{}"))
    history = (Message("user", (TextPart("hi"),)), Message("assistant", parts))
    items = built(ChatRequest("m", (*history, Message("tool", (ToolResultPart("a", (TextPart("ok"),)),)))))["input"]
    assert items[1:3] == [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hmm."}], "encrypted_content": "gAAA"},
        {"type": "reasoning", "summary": [], "encrypted_content": "gBBB"},
    ]


def test_open_models_get_their_reasoning_back_as_text() -> None:
    history = (Message("user", (TextPart("hi"),)), Message("assistant", (ReasoningPart("Hmm."), TextPart("Hi"))))
    items = built(ChatRequest("m", history), "compatible", "gpt-oss")["input"]
    content = [{"type": "reasoning_text", "text": "Hmm."}]
    assert items[1] == {"type": "reasoning", "summary": [], "content": content}


def test_results_with_images_and_errors() -> None:
    image = ImagePart(data="iVBORw0KGgo=", media_type="image/png", detail="low")
    calls = Message("assistant", (ToolCallPart("a", "weather", "{}"), ToolCallPart("b", "patch", "x", "custom")))
    results = (
        Message("tool", (ToolResultPart("a", (TextPart("see"), image)),)),
        Message("tool", (ToolResultPart("b", (TextPart("no such file"),), is_error=True),)),
    )
    items = built(ChatRequest("m", (Message("user", (TextPart("hi"),)), calls, *results)))["input"]
    assert items[2] == {"type": "custom_tool_call", "call_id": "b", "name": "patch", "input": "x"}
    shown = {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo=", "detail": "low"}
    assert items[3] == output("a", [{"type": "input_text", "text": "see"}, shown])
    assert items[4] == {"type": "custom_tool_call_output", "call_id": "b", "output": "Error: no such file"}


def test_refusals_and_what_the_store_had() -> None:
    opaque = OpaquePart("web_search_call", "openai_responses", b'{"type":"web_search_call","id":"ws_1"}')
    parts = (opaque, RefusalPart("No."), TextPart("But", extra=(("phase", b'"commentary"'),)))
    items = built(ChatRequest("m", (Message("user", (TextPart("hi"),)), Message("assistant", parts))))["input"]
    assert items[1:] == [
        {"type": "web_search_call", "id": "ws_1"},
        said("assistant", [{"type": "refusal", "refusal": "No."}]),
        said("assistant", "But") | {"phase": "commentary"},
    ]


def test_content_of_another_dialect_is_refused_by_its_path() -> None:
    part = OpaquePart("document", "anthropic_messages", b"{}", path="messages[0].content[1]")
    with pytest.raises(RequestError) as error:
        built(ChatRequest("m", (Message("user", (TextPart("x"), part)),)))
    assert (error.value.code, error.value.param) == ("unsupported_content", "messages[0].content[1]")


# ---------------------------------------------------------------- tools


def test_a_custom_tool_is_flattened() -> None:
    grammar = {"type": "grammar", "grammar": {"syntax": "lark", "definition": "start: /x/"}}
    tool = {"type": "custom", "custom": {"name": "patch", "description": "Patches.", "format": grammar}}
    body = sent(tools=[tool], tool_choice={"type": "custom", "custom": {"name": "patch"}}).body
    assert body["tools"] == [
        {
            "type": "custom",
            "name": "patch",
            "description": "Patches.",
            "format": {"type": "grammar", "syntax": "lark", "definition": "start: /x/"},
        }
    ]
    assert body["tool_choice"] == {"type": "custom", "name": "patch"}


def test_a_host_without_custom_tools_gets_a_function() -> None:
    tool = {"type": "custom", "custom": {"name": "patch", "description": "Patches."}}
    found = sent(profile="compatible", model="local", tools=[tool])
    (function,) = found.body["tools"]
    assert (function["type"], function["name"], function["strict"]) == ("function", "patch", False)
    assert list(function["parameters"]["properties"]) == ["input"]
    assert found.warnings == ["custom_tool_as_function"]


def test_strict_is_always_said() -> None:
    strict = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    given = [
        {"type": "function", "function": {"name": "a", "parameters": strict, "strict": True}},
        {"type": "function", "function": {"name": "b", "strict": True}},
        {"type": "function", "function": {"name": "c"}},
    ]
    tools = sent(tools=given).body["tools"]
    assert [(tool["strict"], tool["parameters"]) for tool in tools] == [(True, strict), (True, strict), (False, EMPTY)]


def test_a_schema_stays_its_bytes() -> None:
    schema = b'{"type":"object","properties":{"n":{"type":"number","minimum":1.10}}, "x": 12345678901234567890}'
    target = Target(ProviderConfig("host", "openai_responses", "https://h/v1", "none", "openai"), MODEL)
    request = ChatRequest("m", (Message("user", (TextPart("x"),)),), tools=(Tool("f", parameters=schema),))
    assert schema in PROVIDER.build_request(request, target, PROFILES["openai"], None)[0].body


def test_a_host_without_allowed_sets_gets_only_its_tools() -> None:
    tools = (Tool("weather"), Tool("time"))
    request = ChatRequest("m", (Message("user", (TextPart("x"),)),), tools, ToolChoice("required", ("time",)))
    body = built(request, "compatible")
    assert ([tool["name"] for tool in body["tools"]], body["tool_choice"]) == (["time"], "required")


# ---------------------------------------------------------------- models


@each_row(
    ("model", "members", "sent_sampling", "warnings"),
    [
        ("gpt-4.1", {"temperature": 0.5, "top_p": 0.9}, {"temperature": 0.5, "top_p": 0.9}, []),
        ("gpt-5-chat-latest", {"temperature": 0.5}, {"temperature": 0.5}, []),
        ("gpt-5-mini", {"temperature": 0.5}, {}, ["not_supported:temperature"]),
        ("gpt-5-mini", {"temperature": 1, "top_p": 1}, {}, []),
        ("gpt-5.2", {"temperature": 0.5}, {"temperature": 0.5}, []),
        ("gpt-5.2", {"temperature": 0.5, "reasoning_effort": "low"}, {}, ["not_supported:temperature"]),
        ("gpt-5.4-mini", {"temperature": 0.5}, {"temperature": 0.5}, []),
        ("gpt-5.5", {"temperature": 0.5}, {}, ["not_supported:temperature"]),
        ("gpt-5.5", {"temperature": 0.5, "reasoning_effort": "none"}, {"temperature": 0.5}, []),
        (
            "gpt-6-astra",
            {"temperature": 0.5, "reasoning_effort": "none"},
            {},
            ["reasoning_effort_changed", "not_supported:temperature"],
        ),
        ("gpt-5.6", {"reasoning_effort": "minimal"}, {}, ["reasoning_effort_changed"]),
        ("gpt-5.6", {"top_p": 0.5}, {}, ["not_supported:top_p"]),
        ("gpt-5.6", {"top_p": 0.5, "reasoning_effort": "none"}, {"top_p": 0.5}, []),
        ("o4-mini", {"top_p": 0.5}, {}, ["not_supported:top_p"]),
        ("some/model", {"temperature": 0.5}, {"temperature": 0.5}, []),
    ],
)
def test_sampling_beside_reasoning(
    model: str, members: dict[str, Any], sent_sampling: dict[str, Any], warnings: list[str]
) -> None:
    found = sent(model=model, **members)
    assert {name: found.body[name] for name in ("temperature", "top_p") if name in found.body} == sent_sampling
    assert found.warnings == warnings


@each_row(
    ("model", "asked"),
    [("gpt-5.6", True), ("openai/gpt-5-codex", True), ("o3", True), ("grok-4", True), ("gpt-4.1", False),
     ("gpt-4o", False), ("gpt-5-chat-latest", False), ("gpt-5.1-chat-latest", True), ("my-deployment", False)],
)  # fmt: skip
def test_reasoning_is_asked_for_where_there_is_some(model: str, asked: bool) -> None:
    assert ("include" in sent(model=model).body) == asked


def test_a_summary_is_asked_for_when_the_client_asks() -> None:
    request = ChatRequest("m", (Message("user", (TextPart("x"),)),), reasoning_summary="auto", reasoning_effort="high")
    assert built(request)["reasoning"] == {"effort": "high", "summary": "auto"}
