"""Chat requests as Anthropic gets them: each is judged by the SDK's own types, and checked member by member."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest
from anthropic.types import ToolParam
from anthropic.types.message_create_params import MessageCreateParamsBase
from pydantic import TypeAdapter

from tests.corpus.driver import open_exchange
from tests.named_rows import each_row
from tests.providers.anthropic_messages.messages_upstream import MODEL, TOOLS, USER, WIRE
from toolwire.model.errors import RequestError
from toolwire.schema.dialects import STRICT_OFF

OPUS = "claude-opus-4-8"
WEATHER = {"name": "weather", "input_schema": {"type": "object", "properties": {}}}
ANSWER = {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": False}
TIME = {"name": "time", "input_schema": {"type": "object", "properties": {}}}


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

    @property
    def turns(self) -> list[tuple[str, list[Any]]]:
        return [(message["role"], message["content"]) for message in self.body["messages"]]


@cache
def _types() -> TypeAdapter[Any]:
    return TypeAdapter(MessageCreateParamsBase)


def judge(body: dict[str, Any]) -> None:
    """Fails unless the SDK's types know every member of the body. Sampling has left them with the newer version."""
    sampling = {"temperature", "top_p", "top_k"}
    top = {name: value for name, value in body.items() if name not in sampling}
    assert top.keys() - {"stream"} <= MessageCreateParamsBase.__annotations__.keys()
    _drained(_types().validate_python(top))
    for tool in body.get("tools", ()):
        assert tool.keys() <= ToolParam.__annotations__.keys()


def _drained(value: Any) -> None:
    """pydantic checks what is iterable only when it is iterated."""
    if isinstance(value, dict):
        for inner in value.values():
            _drained(inner)
    elif isinstance(value, Iterator | list):
        for inner in value:
            _drained(inner)
    elif hasattr(value, "__iter__") and not isinstance(value, str | bytes):
        _drained(iter(value))


def sent(model: str = MODEL, **members: Any) -> Sent:
    body = {"model": "m", "messages": [USER], **members}
    exchange = open_exchange(json.dumps(body).encode(), wire=WIRE, profile=None, model=model)
    upstream = exchange.upstream_request
    found = Sent(upstream.url, dict(upstream.headers), upstream.body, list(exchange.figures.warnings))
    judge(found.body)
    return found


def refused(model: str = MODEL, **members: Any) -> RequestError:
    with pytest.raises(RequestError) as error:
        sent(model, **members)
    assert error.value.status == 400
    return error.value


def call(id: str, arguments: str = "{}", name: str = "weather") -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def assistant(*calls: dict[str, Any], content: Any = None) -> dict[str, Any]:
    return {"role": "assistant", "content": content, **({"tool_calls": list(calls)} if calls else {})}


def result(id: str, content: Any = "ok") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": content}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def use(id: str, name: str = "weather", **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": name, "input": given}


def answered(id: str, *content: Any, **more: Any) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "tool_result", "tool_use_id": id}
    return block | ({"content": list(content)} if content else {}) | more


# ---------------------------------------------------------------- the whole


def test_a_plain_request() -> None:
    plain = sent(stream=True)
    assert plain.body == {
        "model": MODEL,
        "max_tokens": 64_000,
        "messages": [{"role": "user", "content": [text("hi")]}],
        "stream": True,
    }
    assert plain.url == "http://127.0.0.1:1/v1/v1/messages"  # the base URL is the SDK's, which has no /v1
    assert plain.headers == {
        "content-type": "application/json",
        "accept": "text/event-stream",
        "anthropic-version": "2026-10-21",
    }
    assert plain.warnings == []


def test_the_version_that_still_takes_sampling() -> None:
    assert sent(temperature=0.5).headers["anthropic-version"] == "2023-06-01"
    assert sent("claude-opus-5", temperature=0.5).headers["anthropic-version"] == "2026-10-21"


MEMBERS: list[tuple[dict[str, Any], dict[str, Any], list[str]]] = [
    ({"max_tokens": 5}, {"max_tokens": 5}, []),
    ({"max_completion_tokens": 6}, {"max_tokens": 6}, []),
    ({"stop": "x"}, {"stop_sequences": ["x"]}, []),
    ({"stop": ["x", "\n", "y"]}, {"stop_sequences": ["x", "y"]}, ["stop_cut:stop"]),
    ({"stop": []}, {}, []),
    ({"temperature": 0.5}, {"temperature": 0.5}, []),
    ({"seed": 3}, {}, ["not_supported:seed"]),
    ({"logit_bias": {"1": 2}}, {}, ["not_supported:logit_bias"]),
    ({"user": "u", "metadata": {"a": "b"}, "store": True}, {}, ["ignored:store", "ignored:metadata", "ignored:user"]),
    ({"reasoning_effort": "low"}, {"thinking": {"type": "enabled", "budget_tokens": 2048}}, []),
    ({"response_format": {"type": "text"}}, {}, []),
    (
        {"response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": ANSWER}}},
        {"output_config": {"format": {"type": "json_schema", "schema": ANSWER}}},
        [],
    ),
    ({"tools": []}, {}, []),
    ({"tools": [], "tool_choice": "auto", "parallel_tool_calls": False}, {}, []),
    ({"tools": TOOLS}, {"tools": [WEATHER, TIME]}, []),
    ({"tools": [{"type": "web_search"}, TOOLS[0]]}, {"tools": [WEATHER]}, ["not_supported:server_tools"]),
]


@each_row(("members", "expected", "warnings"), MEMBERS, ids=[json.dumps(row[0]) for row in MEMBERS])
def test_members(members: dict[str, Any], expected: dict[str, Any], warnings: list[str]) -> None:
    found = sent(**members)
    assert found.body == sent().body | expected
    assert found.warnings == warnings


def test_effort_and_format_share_their_member() -> None:
    schema = {"type": "json_schema", "json_schema": {"name": "n", "schema": ANSWER}}
    found = sent(OPUS, reasoning_effort="xhigh", response_format=schema)
    assert found.body["output_config"] == {
        "effort": "xhigh",
        "format": {"type": "json_schema", "schema": ANSWER},
    }


REFUSED: list[tuple[dict[str, Any], str, str, str]] = [
    ({"tools": [{"type": "web_search"}], "tool_choice": "required"}, "unsupported_tool", "tools[0]", "no other"),
    ({"tools": [{"type": "web_search"}]}, "unsupported_tool", "tools[0]", "no other"),
    ({"audio": {}}, "unsupported_parameter", "audio", "audio"),
    ({"messages": [{"role": "user", "content": [text("a"), {"type": "file", "file": {}}]}]}, "unsupported_content",
     "messages[0].content[1]", "'file'"),
    ({"messages": [{"role": "user", "content": [{"type": "input_audio", "input_audio": {}}]}]}, "unsupported_content",
     "messages[0].content[0]", "'input_audio'"),
    ({"messages": [USER, {"role": "tool", "tool_call_id": "z", "content": "A"}, USER]}, "unknown_tool_call_id",
     "messages[1].tool_call_id", "'z'"),
    ({"messages": [USER, {"role": "function", "name": "f", "content": "x"}]}, "unsupported_content",
     "messages[1]", "'function_message'"),
]  # fmt: skip


@pytest.mark.parametrize(("members", "code", "param", "message"), REFUSED, ids=[json.dumps(row[0]) for row in REFUSED])
def test_what_cannot_be_carried_is_refused(members: dict[str, Any], code: str, param: str, message: str) -> None:
    error = refused(**members)
    assert (error.code, error.param) == (code, param)
    assert message in error.message


IN_WORDS = {"json_object": {"type": "json_object"}, "a schema, in a family that takes none": {
    "type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object", "title": "1.10"}}}}  # fmt: skip


@pytest.mark.parametrize("name", IN_WORDS)
def test_a_format_without_a_member_is_asked_for_in_words(name: str) -> None:
    found = sent("claude-sonnet-4-20250514", response_format=IN_WORDS[name])
    (asked,) = found.body["system"]
    assert "one JSON object" in asked["text"]
    assert ('{"type": "object", "title": "1.10"}' in asked["text"]) == ("schema" in name)
    assert "output_config" not in found.body
    assert found.warnings == ["response_format_in_words"]


# ---------------------------------------------------------------- tools


CHOICES: list[tuple[Any, bool | None, Any]] = [
    (None, None, None),
    (None, True, None),
    (None, False, {"type": "auto", "disable_parallel_tool_use": True}),
    ("auto", None, {"type": "auto"}),
    ("auto", True, {"type": "auto"}),
    ("auto", False, {"type": "auto", "disable_parallel_tool_use": True}),
    ("none", False, {"type": "none"}),
    ("required", None, {"type": "any"}),
    ("required", False, {"type": "any", "disable_parallel_tool_use": True}),
    ({"type": "function", "function": {"name": "time"}}, None, {"type": "tool", "name": "time"}),
    (
        {"type": "function", "function": {"name": "time"}},
        False,
        {"type": "tool", "name": "time", "disable_parallel_tool_use": True},
    ),
]


@each_row(("choice", "parallel", "expected"), CHOICES, ids=[json.dumps(row[:2]) for row in CHOICES])
def test_tool_choice(choice: Any, parallel: bool | None, expected: Any) -> None:
    found = sent(tools=TOOLS, tool_choice=choice, parallel_tool_calls=parallel).body
    assert found.get("tool_choice") == expected
    assert found["tools"] == [WEATHER, TIME]


@pytest.mark.parametrize(("mode", "kind"), [("auto", "auto"), ("required", "any")])
def test_only_allowed_tools_are_sent(mode: str, kind: str) -> None:
    allowed = {"mode": mode, "tools": [{"type": "function", "function": {"name": "time"}}]}
    found = sent(tools=TOOLS, tool_choice={"type": "allowed_tools", "allowed_tools": allowed}).body
    assert (found["tool_choice"], found["tools"]) == ({"type": kind}, [TIME])


@pytest.mark.parametrize(
    ("parameters", "schema"),
    [
        (None, {"type": "object", "properties": {}}),
        ({"properties": {"k": {"type": "string"}}}, {"type": "object", "properties": {"k": {"type": "string"}}}),
        ({"type": "object", "additionalProperties": False}, {"type": "object", "additionalProperties": False}),
    ],
)
def test_every_schema_has_a_root_type(parameters: Any, schema: dict[str, Any]) -> None:
    function = {"name": "f", "description": "", **({} if parameters is None else {"parameters": parameters})}
    (tool,) = sent(tools=[{"type": "function", "function": function}]).body["tools"]
    assert tool == {"name": "f", "input_schema": schema}


def test_schemas_are_sent_as_they_came() -> None:
    schema = (
        '{"type": "object", "properties": {"n": {"type": "number", "minimum": 1.10, "maximum": 12345678901234567890}}}'
    )
    body = b'{"model":"m","messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":'
    body += b'{"name":"f","description":"d","parameters":' + schema.encode() + b"}}]}"
    exchange = open_exchange(body, wire=WIRE, profile=None, model=MODEL)
    tool = b'{"name":"f","description":"d","input_schema":' + schema.encode() + b"}"
    assert b'"tools":[' + tool + b"]" in exchange.upstream_request.body


def test_strict() -> None:
    parameters = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    tool = {"type": "function", "function": {"name": "f", "strict": True, "parameters": parameters}}
    assert sent(tools=[tool]).body["tools"][0]["strict"] is True
    old = sent("claude-sonnet-4-20250514", tools=[tool])
    assert "strict" not in old.body["tools"][0]
    assert "not_supported:strict" in old.warnings


def test_what_is_beyond_the_apis_budget_is_sent_without_strict() -> None:
    parameters = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    functions = [{"name": f"f{number}", "strict": True, "parameters": parameters} for number in range(21)]
    found = sent(
        tools=[{"type": "function", "function": function} for function in functions], parallel_tool_calls=False
    )
    assert ["strict" in tool for tool in found.body["tools"]].count(True) == 20
    assert found.warnings == [STRICT_OFF]


def test_names_the_api_refuses_are_mapped_everywhere() -> None:
    tool = {"type": "function", "function": {"name": "get.weather"}}
    named = {"type": "function", "function": {"name": "get.weather"}}
    history = [USER, assistant(call("c1", name="get.weather")), result("c1")]
    body = sent(tools=[tool], tool_choice=named, messages=history).body
    name = body["tools"][0]["name"]
    assert name.startswith("get_weather_")
    assert (body["tool_choice"]["name"], body["messages"][1]["content"][0]["name"]) == (name, name)


# ---------------------------------------------------------------- messages

HISTORIES: dict[str, tuple[list[Any], list[tuple[str, list[Any]]], list[str]]] = {
    # name: messages, turns, warnings
    "roles that repeat": (
        [USER, {"role": "user", "content": "two"}, assistant(content="a"), assistant(content="b"), USER],
        [("user", [text("hi"), text("two")]), ("assistant", [text("a"), text("b")]), ("user", [text("hi")])],
        [],
    ),
    "parallel calls, results in another order, and text behind them": (
        [USER, assistant(call("c1", '{"a":1}'), call("c2"), content="Look."), result("c2", "two"), result("c1", "one"),
         USER],
        [
            ("user", [text("hi")]),
            ("assistant", [text("Look."), use("c1", a=1), use("c2")]),
            ("user", [answered("c2", text("two")), answered("c1", text("one")), text("hi")]),
        ],
        [],
    ),
    "a result behind a later message": (
        [USER, assistant(call("c1")), USER, result("c1", "one")],
        [("user", [text("hi")]), ("assistant", [use("c1")]), ("user", [answered("c1", text("one")), text("hi")])],
        [],
    ),
    "a result behind a later turn": (
        [USER, assistant(call("c1")), USER, assistant(content="Wait."), result("c1", "one"), USER],
        [
            ("user", [text("hi")]),
            ("assistant", [use("c1")]),
            ("user", [answered("c1", text("one")), text("hi")]),
            ("assistant", [text("Wait.")]),
            ("user", [text("hi")]),
        ],
        [],
    ),
    "a call without its result": (
        [USER, assistant(call("c1"), call("c2")), result("c1", "one"), USER],
        [
            ("user", [text("hi")]),
            ("assistant", [use("c1"), use("c2")]),
            (
                "user",
                [
                    answered("c1", text("one")),
                    answered("c2", text("Error: no result was provided for this tool call."), is_error=True),
                    text("hi"),
                ],
            ),
        ],
        ["tool_result_missing"],
    ),
    "empty texts beside calls": (
        [USER, assistant(call("c1"), content=""), result("c1", ""), assistant(call("c2"), content=[text(" ")]),
         result("c2")],
        [
            ("user", [text("hi")]),
            ("assistant", [use("c1")]),
            ("user", [answered("c1")]),
            ("assistant", [use("c2")]),
            ("user", [answered("c2", text("ok"))]),
        ],
        [],
    ),
    "an assistant who said nothing": (
        [USER, assistant(content=""), USER], [("user", [text("hi"), text("hi")])], [],
    ),
    "a user who says nothing": (
        [USER, assistant(content="a"), {"role": "user", "content": ""}],
        [("user", [text("hi")]), ("assistant", [text("a")]), ("user", [text("(no text)")])],
        ["empty_message"],
    ),
    "an assistant who begins": (
        [assistant(content="a"), USER],
        [("user", [text("(no text)")]), ("assistant", [text("a")]), ("user", [text("hi")])],
        ["empty_message"],
    ),
    "arguments that are no object": (
        [USER, assistant(call("c1", ""), call("c2", " \n"), call("c3", '{"a'), call("c4", "[1]"), call("c5", '""')),
         *(result(f"c{n}") for n in range(1, 6))],
        [
            ("user", [text("hi")]),
            ("assistant", [use("c1"), use("c2"), use("c3", _raw_arguments='{"a'), use("c4", _raw_arguments="[1]"),
                           use("c5", _raw_arguments='""')]),
            ("user", [answered(f"c{n}", text("ok")) for n in range(1, 6)]),
        ],
        ["history_arguments_wrapped"],
    ),
    "a refusal, and reasoning that nobody signed": (
        [USER, {"role": "assistant", "content": None, "refusal": "No.", "reasoning_content": "Hm."}, USER],
        [("user", [text("hi")]), ("assistant", [text("No.")]), ("user", [text("hi")])],
        [],
    ),
    "a name": ([USER | {"name": "ann"}], [("user", [text("hi")])], ["not_supported:name"]),
    "a custom tool's call": (
        [USER, assistant({"id": "c1", "type": "custom", "custom": {"name": "py", "input": "1+1"}}), result("c1", "2")],
        [("user", [text("hi")]), ("assistant", [use("c1", "py", input="1+1")]), ("user", [answered("c1", text("2"))])],
        [],
    ),
}  # fmt: skip


@each_row("name", HISTORIES)
def test_history(name: str) -> None:
    messages, turns, warnings = HISTORIES[name]
    found = sent(messages=messages)
    assert found.turns == turns
    assert found.warnings == warnings
    assert sent(messages=messages).raw == found.raw


def test_arguments_of_the_history_stay_what_they_are() -> None:
    exact = '{"id": 12345678901234567890, "f": 1.10, "s": "\\u00e9\\ud83d\u2028"}'
    found = sent(messages=[USER, assistant(call("c1", exact)), result("c1")])
    assert b'"input":' + exact.encode() in found.raw


def test_ids_the_api_refuses_are_replaced_on_both_ends() -> None:
    long = "call:weird/id." + "x" * 80
    turns = sent(messages=[USER, assistant(call(long), call("c2")), result("c2"), result(long)]).turns
    first, second = turns[1][1]
    assert (second["id"], len(first["id"]), first["id"].isalnum()) == ("c2", 40, True)
    assert [block["tool_use_id"] for block in turns[2][1]] == ["c2", first["id"]]


# ---------------------------------------------------------------- system text


def system(words: str, role: str = "system") -> dict[str, Any]:
    return {"role": role, "content": words}


def test_leading_system_text() -> None:
    found = sent(messages=[system("A"), system("B", "developer"), system(" "), USER])
    assert (found.body["system"], found.turns) == ([text("A"), text("B")], [("user", [text("hi")])])
    alone = sent(messages=[system("A")])
    assert (alone.body["system"], alone.turns) == ([text("A")], [("user", [text("(no text)")])])


MID = [
    USER,
    assistant(content="a"),
    USER,
    system("B", "developer"),
    system("C"),
    USER,
    assistant(content="b"),
    system("D"),
]


def test_system_text_in_mid_conversation_where_the_family_has_it() -> None:
    found = sent(OPUS, messages=MID)
    assert found.turns == [
        ("user", [text("hi")]),
        ("assistant", [text("a")]),
        ("user", [text("hi")]),
        ("system", [text("B"), text("C")]),
        ("user", [text("hi")]),
        ("assistant", [text("b")]),
        ("user", [text("<system>\nD\n</system>")]),  # behind a user's turn only
    ]
    assert found.warnings == ["system_message_in_user_turn"]


def test_system_text_in_mid_conversation_elsewhere() -> None:
    found = sent(messages=MID)
    b, c, d = (text(f"<system>\n{word}\n</system>") for word in "BCD")
    assert found.turns[2:] == [("user", [text("hi"), b, c, text("hi")]), ("assistant", [text("b")]), ("user", [d])]
    assert "system" not in found.body


@pytest.mark.parametrize("model", [MODEL, OPUS])
def test_system_text_between_results(model: str) -> None:
    messages = [USER, assistant(call("c1"), call("c2")), system("B"), result("c1"), system("C"), result("c2"), USER]
    results = [answered("c1", text("ok")), answered("c2", text("ok"))]
    turns = sent(model, messages=messages).turns
    assert turns[2][0] == "user"
    assert turns[2][1][:2] == results
    said = [block["text"] for _, blocks in turns[2:] for block in blocks if block["type"] == "text"]
    assert [re.sub(r"</?system>|\n", "", word) for word in said] == ["B", "C", "hi"]


# ---------------------------------------------------------------- images


def image(url: str, **more: Any) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": url, **more}}


@pytest.mark.parametrize(
    ("url", "source"),
    [
        ("https://example.com/a.png", {"type": "url", "url": "https://example.com/a.png"}),
        ("data:image/png;base64,AAAA", {"type": "base64", "media_type": "image/png", "data": "AAAA"}),
        ("data:image/jpg;base64,AAAA", {"type": "base64", "media_type": "image/jpeg", "data": "AAAA"}),
        ("data:;base64,AAAA", {"type": "base64", "media_type": "image/png", "data": "AAAA"}),
    ],
)
def test_images(url: str, source: dict[str, str]) -> None:
    block = {"type": "image", "source": source}
    found = sent(messages=[{"role": "user", "content": [image(url), text("What?")]}])
    assert found.turns == [("user", [block, text("What?")])]
    found = sent(messages=[USER, assistant(call("c1")), result("c1", [text("See"), image(url)])])
    assert found.turns[2] == ("user", [answered("c1", text("See"), block)])


def test_the_detail_of_an_image_is_a_knob() -> None:
    url = "https://example.com/a.png"
    for detail, warnings in (("high", ["not_supported:detail"]), ("auto", [])):
        assert sent(messages=[{"role": "user", "content": [image(url, detail=detail)]}]).warnings == warnings


@pytest.mark.parametrize(
    ("role", "url", "message"),
    [
        ("user", "data:image/tiff;base64,AAAA", "'image/tiff'"),
        ("user", "http://example.com/a.png", "https URL"),
        ("user", "data:text/plain,x", "https URL"),
        ("user", "file:///etc/passwd", "https URL"),
        ("system", "https://example.com/a.png", "role system"),
    ],
)
def test_images_the_api_refuses(role: str, url: str, message: str) -> None:
    error = refused(messages=[USER, {"role": role, "content": [text("x"), image(url)]}])
    assert (error.code, error.param) == ("unsupported_content", "messages[1].content[1]")
    assert message in error.message
    assert url not in error.message
