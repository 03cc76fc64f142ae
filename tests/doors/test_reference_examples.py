"""The examples of the reference documents, as they are written there: the Cline data model's conversation flows and
response shape on the chat door, the Sentinel documents' exchanges on the native door. `docs/reference-coverage.md`
names them rule by rule.
"""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.corpus.driver import answer, open_exchange, sent
from tests.named_rows import each_row
from tests.providers.gemini import gemini_upstream as gemini
from tests.providers.openai_chat.chat_reader import payloads, sdk_stream
from tests.providers.openai_chat.chat_upstream import stream
from toolwire.exchange.actions import Send
from toolwire.model.errors import RequestError
from toolwire.model.stored import Item

READ_FILE = {
    "type": "function",
    "function": {
        "name": "read_file",
        "description": "Read the contents of a file at the specified path",
        "parameters": {
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "Absolute or relative path to the file"},
                "encoding": {
                    "type": "string",
                    "enum": ["utf-8", "ascii", "utf-16"],
                    "description": "File encoding",
                },
            },
            "required": ["path"],
            "additionalProperties": False,
        },
    },
}
GET_WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Get current weather for a location",
        "parameters": {
            "type": "object",
            "properties": {"location": {"type": "string", "description": "City name"}},
            "required": ["location"],
        },
    },
}
WIRES = ("openai_chat", "anthropic_messages", "gemini")
USER = {"role": "user", "content": "Read /data/test.txt"}


def body(**fields: Any) -> bytes:
    return json.dumps({"model": "p/m", "messages": [USER], "tools": [READ_FILE], **fields}).encode()


def call(id: str, arguments: str, name: str = "read_file") -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def file_call(path: str) -> dict[str, Any]:
    return gemini.call("read_file", {"path": path})


# ---------------------------------------------------------------- Cline: conversation flow


def test_simple_tool_call() -> None:
    """Simple Tool Call (Single Turn)."""
    exchange = open_exchange(body(), wire="gemini", profile=None)
    upstream = json.dumps(gemini.chunk(file_call("/data/test.txt"), finish="STOP", usage=gemini.USAGE)).encode()
    choice = json.loads(answer(exchange, [upstream], content_type="application/json").body)["choices"][0]

    message = choice["message"]
    assert (message["role"], message["content"], choice["finish_reason"]) == ("assistant", None, "tool_calls")
    (made,) = message["tool_calls"]
    assert re.fullmatch(r"call_[a-zA-Z0-9]+", made["id"])
    assert made["type"] == "function"
    assert made["function"]["name"] == "read_file"
    assert isinstance(made["function"]["arguments"], str)
    assert json.loads(made["function"]["arguments"]) == {"path": "/data/test.txt"}


@pytest.mark.parametrize("wire", WIRES)
def test_multi_turn_tool_conversation(wire: str) -> None:
    """Multi-Turn Tool Conversation: the second turn's request, with the document's own ids."""
    turn = [USER, {"role": "assistant", "tool_calls": [call("call_123", '{"path":"/data/test.txt"}')]}]
    turn.append({"role": "tool", "tool_call_id": "call_123", "content": "file contents"})
    sent = open_exchange(body(messages=turn), wire=wire, profile=None).upstream_request.body.decode()
    for words in ("Read /data/test.txt", "read_file", "/data/test.txt", "file contents"):
        assert words in sent
    if wire != "gemini":
        assert sent.count("call_123") == 2


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("order", [1, -1], ids=["in the calls' order", "in another"])
def test_parallel_tool_calls(wire: str, order: int) -> None:
    """Parallel Tool Calls: both calls, and both results behind them, each for its own call in whatever order."""
    paths = ("file1.txt", "file2.txt")
    made = [call(f"call_{n}", json.dumps({"path": path})) for n, path in enumerate(paths, 1)]
    results = [
        {"role": "tool", "tool_call_id": f"call_{n}", "content": f"contents of {path}"}
        for n, path in enumerate(paths, 1)
    ]
    history = [USER, {"role": "assistant", "tool_calls": made}, *results[::order]]
    exchange = open_exchange(body(messages=history, parallel_tool_calls=True), wire=wire, profile=None)
    sent = exchange.upstream_request.body.decode()
    assert [sent.count(f"contents of {path}") for path in paths] == [1, 1]
    if wire == "gemini" or order == 1:  # Gemini's results have no id: their place tells whose they are
        assert sent.index("contents of file1.txt") < sent.index("contents of file2.txt")
    if wire != "gemini":
        assert set(re.findall(r"call_(\d)(?:(?!call_).)*?contents of file(\d)", sent)) == {("1", "1"), ("2", "2")}


def test_parallel_calls_have_ids_of_their_own() -> None:
    exchange = open_exchange(body(), wire="gemini", profile=None)
    upstream = json.dumps(gemini.chunk(file_call("file1.txt"), file_call("file2.txt"), finish="STOP")).encode()
    document = json.loads(answer(exchange, [upstream], content_type="application/json").body)
    made = document["choices"][0]["message"]["tool_calls"]
    assert len({entry["id"] for entry in made}) == 2
    assert [json.loads(entry["function"]["arguments"])["path"] for entry in made] == ["file1.txt", "file2.txt"]


# ---------------------------------------------------------------- Cline: the response


def test_the_shape_of_a_whole_answer() -> None:
    exchange = open_exchange(body(), wire="gemini", profile=None)
    upstream = json.dumps(gemini.chunk(gemini.text("hi"), finish="STOP", usage=gemini.USAGE)).encode()
    document = json.loads(answer(exchange, [upstream], content_type="application/json").body)

    assert re.fullmatch(r"chatcmpl-\w+", document["id"])
    assert (document["object"], type(document["created"]), type(document["model"])) == ("chat.completion", int, str)
    (choice,) = document["choices"]
    assert (choice["index"], choice["finish_reason"]) == (0, "stop")
    assert "delta" not in choice
    usage = document["usage"]
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"] > 0


@pytest.mark.parametrize("asked", [True, False])
def test_the_shape_of_a_stream(asked: bool) -> None:
    options = {"stream_options": {"include_usage": asked}}
    exchange = open_exchange(body(stream=True, **options), wire="gemini", profile=None)
    upstream = gemini.stream(gemini.chunk(gemini.text("hi")), gemini.STOP)
    data = list(payloads(answer(exchange, [upstream]).body))
    assert data[-1] == b"[DONE]"
    chunks = [json.loads(item) for item in data[:-1]]

    assert {chunk["object"] for chunk in chunks} == {"chat.completion.chunk"}
    assert len({chunk["id"] for chunk in chunks}) == 1
    choices = [choice for chunk in chunks for choice in chunk["choices"]]
    assert all("message" not in choice for choice in choices)
    assert [choice["finish_reason"] for choice in choices] == [None] * (len(choices) - 1) + ["stop"]
    shown = [chunk["usage"] for chunk in chunks if chunk.get("usage")]
    assert len(shown) == asked
    if asked:
        assert chunks[-1]["choices"] == []
        assert shown[0]["total_tokens"] == shown[0]["prompt_tokens"] + shown[0]["completion_tokens"]


# ---------------------------------------------------------------- Sentinel


def sentinel(**fields: Any) -> bytes:
    return json.dumps(
        {"model": "p/m", "messages": [{"role": "user", "content": "x"}], "tools": [GET_WEATHER], **fields}
    ).encode()


def test_a_definition_reaches_openai_as_it_is() -> None:
    exchange = open_exchange(sentinel(), door="native")
    (tool,) = json.loads(exchange.upstream_request.body)["tools"]
    assert tool == GET_WEATHER


@pytest.mark.parametrize(
    ("choice", "sent"),
    [
        ("auto", "auto"),
        ("none", "none"),
        ("required", "required"),
        (
            {"type": "function", "function": {"name": "get_weather"}},
            {"type": "function", "function": {"name": "get_weather"}},
        ),
    ],
)
def test_tool_choice_variants(choice: Any, sent: Any) -> None:
    exchange = open_exchange(sentinel(tool_choice=choice), door="native")
    assert json.loads(exchange.upstream_request.body)["tool_choice"] == sent


@pytest.mark.parametrize(
    ("change", "param"),
    [
        ({"name": "get-weather"}, "tools[0].function.name"),
        ({"name": "get weather"}, "tools[0].function.name"),
        ({"description": ""}, "tools[0].function.description"),
        ({"parameters": {"type": "array"}}, "tools[0].function.parameters"),
    ],
)
def test_a_definition_that_is_not_valid_is_refused(change: dict[str, Any], param: str) -> None:
    tool = {"type": "function", "function": {**GET_WEATHER["function"], **change}}  # type: ignore[dict-item]
    with pytest.raises(RequestError) as caught:
        open_exchange(sentinel(tools=[tool]), door="native")
    assert caught.value.status == 400
    assert (caught.value.param or "").startswith(param)


def test_a_description_is_required() -> None:
    function = {"name": "get_weather", "parameters": {"type": "object"}}
    with pytest.raises(RequestError) as caught:
        open_exchange(sentinel(tools=[{"type": "function", "function": function}]), door="native")
    assert caught.value.param == "tools[0].function.description"


ANSWER = {
    "id": "x",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [
        {
            "index": 0,
            "message": {
                "role": "assistant",
                "content": None,
                "tool_calls": [call("call_abc123", '{"location": "Boston"}', "get_weather")],
            },
            "finish_reason": "tool_calls",
        }
    ],
}


def test_a_call_has_an_id_of_ours_and_parsed_arguments() -> None:
    """OpenAI Tool Call (Response)."""
    exchange = open_exchange(sentinel(), door="native")
    document = json.loads(answer(exchange, [json.dumps(ANSWER).encode()], content_type="application/json").body)
    choice = document["choices"][0]
    (made,) = choice["message"]["tool_calls"]
    assert choice["finish_reason"] == "tool_calls"
    assert made["function"] == {"name": "get_weather", "arguments": {"location": "Boston"}}
    assert re.fullmatch(r"call_[A-Za-z0-9]{32}", made["id"])
    assert (made["index"], made["type"]) == (0, "function")


@pytest.mark.parametrize("with_calls", [True, False])
def test_a_mapping_for_each_call_and_none_without(with_calls: bool) -> None:
    """ToolCallIdMapping: our id leads to the provider's; an answer without calls has none."""
    exchange, kept = open_exchange(sentinel(), door="native"), list[Item]()
    document = json.loads(json.dumps(ANSWER))
    if not with_calls:
        document["choices"][0] = {
            "index": 0,
            "message": {"role": "assistant", "content": "hi"},
            "finish_reason": "stop",
        }
    sent(exchange, exchange.receive_head(200, {"content-type": "application/json"}), kept)
    sent(exchange, exchange.receive_data(json.dumps(document).encode()), kept)
    (_, shown) = sent(exchange, exchange.receive_end(), kept)
    assert isinstance(shown, Send)
    made = json.loads(shown.data)["choices"][0]["message"].get("tool_calls", [])
    assert [(item.key.sort, item.values["provider_call_id"]) for item in kept] == [
        (call["id"], "call_abc123") for call in made
    ]
    assert len(made) == with_calls


def test_malformed_arguments_are_an_error() -> None:
    exchange = open_exchange(sentinel(), door="native")
    broken = json.dumps(ANSWER).replace("Boston", "").encode()
    broken = broken.replace(rb"\"\"}", rb"\"}")
    got = answer(exchange, [broken], content_type="application/json")
    assert (got.status, json.loads(got.body)["error"]["code"]) == (502, "malformed_tool_arguments")


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ({"content": '{"temperature": 72, "condition": "sunny"}'}, '{"temperature": 72, "condition": "sunny"}'),
        ({"content": {"temperature": 72}}, '{"temperature": 72}'),
        ({"content": "station silent", "is_error": True}, "Error: station silent"),
        ({"content": "72", "name": "get_weather"}, "72"),
    ],
)
def test_a_result_reaches_openai_as_text(result: dict[str, Any], text: str) -> None:
    """OpenAI Tool Result (Next Request): `name` is taken from the call where it is not said."""
    made = {"id": "call_abc123", "function": {"name": "get_weather", "arguments": {"location": "Boston"}}}
    history = [
        {"role": "user", "content": "x"},
        {"role": "assistant", "tool_calls": [made]},
        {"role": "tool", "tool_call_id": "call_abc123", **result},
    ]
    messages = json.loads(open_exchange(sentinel(messages=history), door="native").upstream_request.body)["messages"]
    assert json.loads(messages[1]["tool_calls"][0]["function"]["arguments"]) == {"location": "Boston"}
    assert messages[2]["role"] == "tool"
    assert messages[2]["tool_call_id"] == messages[1]["tool_calls"][0]["id"]
    assert messages[2]["content"] == text


def test_a_result_without_its_id_is_refused() -> None:
    history = [{"role": "user", "content": "x"}, {"role": "tool", "content": "72"}]
    with pytest.raises(RequestError) as caught:
        open_exchange(sentinel(messages=history), door="native")
    assert (caught.value.param, caught.value.code) == ("messages[1].tool_call_id", "missing_required_parameter")


def delta(**fields: Any) -> dict[str, Any]:
    return {"choices": [{"delta": {"tool_calls": [{"index": 0, **fields}]}}]}


STREAM = stream(
    delta(id="call_abc123", type="function", function={"name": "get_weather", "arguments": ""}),
    delta(function={"arguments": '{"loc'}),
    delta(function={"arguments": 'ation":'}),
    delta(function={"arguments": '"Boston"}'}),
    {"choices": [{"delta": {}, "finish_reason": "tool_calls"}]},
)


def test_streaming_deltas_on_the_chat_door() -> None:
    """OpenAI Streaming Tool Call Delta, folded by the official SDK."""
    exchange = open_exchange(sentinel(stream=True))
    folded = sdk_stream(answer(exchange, [STREAM]).body)["choices"][0]
    (made,) = folded["message"]["tool_calls"]
    assert made["function"]["arguments"] == '{"location":"Boston"}'
    assert folded["finish_reason"] == "tool_calls"


def test_streaming_deltas_on_the_native_door() -> None:
    """Nothing is parsed before the call is complete, and then it is an object."""
    exchange = open_exchange(sentinel(stream=True), door="native")
    body = answer(exchange, [STREAM]).body.decode()
    events = [json.loads(line[6:]) for line in body.splitlines() if line.startswith("data: ")]
    assert [event["fragment"] for event in events if event["type"] == "tool_call.delta" and event["fragment"]] == [
        '{"loc', 'ation":', '"Boston"}',
    ]  # fmt: skip
    (ended,) = (event for event in events if event["type"] == "tool_call.end")
    assert (ended["name"], ended["arguments"]) == ("get_weather", {"location": "Boston"})


# ---------------------------------------------------------------- the documents' rules of requests, one by one


def function(**members: Any) -> dict[str, Any]:
    """Members of a request with the weather tool changed; a member that is None is left out."""
    changed: dict[str, Any] = {**GET_WEATHER["function"], **members}  # type: ignore[dict-item]
    inner = {name: value for name, value in changed.items() if value is not None}
    return {"tools": [{"type": "function", "function": inner}]}


def history(*messages: dict[str, Any]) -> dict[str, Any]:
    return {"messages": [USER, *messages]}


MADE = {"role": "assistant", "content": None, "tool_calls": [call("call_1", "{}")]}
NAMED = {"type": "function", "function": {"name": "other"}}

#: The rule as the Cline data model has it -> (what breaks it, the field that the error names).
CLINE_RULES: dict[str, tuple[dict[str, Any], str]] = {
    "role is required": ({"messages": [{"content": "x"}]}, "messages[0].role"),
    "role is one of four": ({"messages": [{"role": "robot", "content": "x"}]}, "messages[0].role"),
    "a tool message has a tool_call_id": (history(MADE, {"role": "tool", "content": "x"}), "messages[2].tool_call_id"),
    "a tool message has content": (history(MADE, {"role": "tool", "tool_call_id": "call_1"}), "messages[2].content"),
    "tool_call_id is of an earlier call": (
        history(MADE, {"role": "tool", "tool_call_id": "call_2", "content": "x"}),
        "messages[2].tool_call_id",
    ),
    "no tool message before its call": (
        {"messages": [USER, {"role": "tool", "tool_call_id": "call_1", "content": "x"}, MADE]},
        "messages[1].tool_call_id",
    ),
    "tool_calls are the assistant's": ({"messages": [{**USER, "tool_calls": MADE["tool_calls"]}]}, "messages[0].tool_"),
    "a tool_call_id is a tool message's": (
        history({"role": "user", "content": "x", "tool_call_id": "call_1"}),
        "messages[1].tool_call_id",
    ),
    "a called function has a name": (
        history({**MADE, "tool_calls": [{**call("call_1", "{}"), "function": {"name": "", "arguments": "{}"}}]}),
        "messages[1].tool_calls[0].function.name",
    ),
    "a call has an id": (history({**MADE, "tool_calls": [call("", "{}")]}), "messages[1].tool_calls[0].id"),
    "a call has a function": (history({**MADE, "tool_calls": [{"id": "call_1"}]}), "messages[1].tool_calls[0]"),
    "arguments are a string": (
        history({**MADE, "tool_calls": [call("call_1", {})]}),  # type: ignore[arg-type]
        "messages[1].tool_calls[0].function.arguments",
    ),
    "a function has a name": (function(name=""), "tools[0].function.name"),
    "parameters are a valid schema": (function(parameters={"type": "object", "required": 5}), "tools[0].function.para"),
    "the root is an object": (function(parameters={"type": "array"}), "tools[0].function.parameters"),
    "names are unique": ({"tools": [GET_WEATHER, GET_WEATHER]}, "tools[1].function.name"),
    "strict is a boolean": (function(strict="yes"), "tools[0].function.strict"),
    "model is required": ({"model": None}, "model"),
    "model is not empty": ({"model": ""}, "model"),
    "there is a message": ({"messages": []}, "messages"),
    "max_tokens is positive": ({"max_tokens": 0}, "max_tokens"),
    "temperature is 0 at least": ({"temperature": -0.1}, "temperature"),
    "temperature is 2 at most": ({"temperature": 2.1}, "temperature"),
    "top_p is 0 at least": ({"top_p": -0.1}, "top_p"),
    "top_p is 1 at most": ({"top_p": 1.1}, "top_p"),
    "tool_choice is one of three words": ({"tool_choice": "maybe"}, "tool_choice"),
    "tool_choice names a tool": ({"tool_choice": NAMED}, "tool_choice"),
    "parallel_tool_calls is a boolean": ({"parallel_tool_calls": "no"}, "parallel_tool_calls"),
    "stream_options needs stream": ({"stream_options": {"include_usage": True}}, "stream_options"),
    "include_usage is a boolean": ({"stream": True, "stream_options": {"include_usage": 1}}, "stream_options.include_"),
}


@each_row("rule", CLINE_RULES)
def test_a_rule_of_the_data_model(rule: str) -> None:
    broken, param = CLINE_RULES[rule]
    with pytest.raises(RequestError) as caught:
        open_exchange(body(**broken), headers={"x-toolwire-schema-mode": "reject"})
    assert caught.value.status == 400
    assert (caught.value.param or "").startswith(param)


@each_row(
    "fields",
    [
        {},
        history(MADE, {"role": "tool", "tool_call_id": "call_1", "content": "x", "name": "read_file"}),
        history({**MADE, "content": "Let me look."}, {"role": "tool", "tool_call_id": "call_1", "content": ""}),
        {"messages": [{"role": "system", "content": "x"}, USER]},
        {"tools": []},
        function(description=None),
        function(name="read-file_2"),
        *({"tool_choice": choice} for choice in ("auto", "none", "required")),
        {"tool_choice": {"type": "function", "function": {"name": "read_file"}}},
        {"max_tokens": 1, "temperature": 0, "top_p": 0, "stop": "x"},
        {"temperature": 2.0, "top_p": 1.0, "stop": ["x", "y"]},
        {"stream": True, "stream_options": {"include_usage": False}, "parallel_tool_calls": False},
        *({"reasoning_effort": effort} for effort in ("low", "medium", "high")),
        {"a_field_of_tomorrow": {"x": 1}},
    ],
    ids=lambda fields: ",".join(fields) or "nothing",
)
@each_row("wire", WIRES)
def test_what_the_data_model_allows(wire: str, fields: dict[str, Any]) -> None:
    exchange = open_exchange(body(**fields), wire=wire, profile=None)
    sent_fields = json.loads(exchange.upstream_request.body)
    assert "a_field_of_tomorrow" not in sent_fields or wire == "openai_chat"


#: The rule as Sentinel's documents have it -> (what breaks it, the field that the error names).
SENTINEL_RULES: dict[str, tuple[dict[str, Any], str]] = {
    "type is function": ({"tools": [{**GET_WEATHER, "type": "retrieval"}]}, "tools[0].type"),
    "type is there": ({"tools": [{"function": GET_WEATHER["function"]}]}, "tools[0].type"),
    "functions are not supported": ({"functions": [GET_WEATHER["function"]]}, "functions"),
    "function_call is not supported": ({"function_call": "auto"}, "function_call"),
    "a name has letters, digits, underscores": (function(name="get-weather"), "tools[0].function.name"),
    "a name is there": (function(name=None), "tools[0].function.name"),
    "a description is there": (function(description=None), "tools[0].function.description"),
    "a description says something": (function(description=" "), "tools[0].function.description"),
    "parameters are there": (function(parameters=None), "tools[0].function.parameters"),
    "parameters have a type": (function(parameters={}), "tools[0].function.parameters.type"),
    "parameters are of an object": (function(parameters={"type": "string"}), "tools[0].function.parameters.type"),
    "properties are an object": (function(parameters={"type": "object", "properties": []}), "tools[0].function.par"),
    "required is a list of texts": (function(parameters={"type": "object", "required": [1]}), "tools[0].function.par"),
    "an id is of the history": (
        history({"role": "tool", "tool_call_id": "call_x", "content": "x"}),
        "messages[1].tool_call_id",
    ),
    "a result has an id": (history({"role": "tool", "content": "x"}), "messages[1].tool_call_id"),
    "arguments are an object": (
        history({"role": "assistant", "tool_calls": [call("call_1", "{}")]}),
        "messages[1].tool_calls[0].function.arguments",
    ),
}


@each_row("rule", SENTINEL_RULES)
def test_a_rule_of_the_native_api(rule: str) -> None:
    broken, param = SENTINEL_RULES[rule]
    with pytest.raises(RequestError) as caught:
        open_exchange(sentinel(**broken), door="native")
    assert caught.value.status == 400
    assert (caught.value.param or "").startswith(param)
