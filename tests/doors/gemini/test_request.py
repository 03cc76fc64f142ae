"""generateContent requests as the neutral request, and what the door refuses."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from tests.named_rows import each_row
from toolwire.doors.gemini.request import DOOR
from toolwire.model.errors import RequestError
from toolwire.model.http import HttpRequest
from toolwire.model.request import (
    ChatRequest,
    FilePart,
    ImagePart,
    Message,
    OpaquePart,
    ReasoningPart,
    ResponseFormat,
    Sampling,
    TextPart,
    Tool,
    ToolCallPart,
    ToolChoice,
    ToolResultPart,
)

USER = {"role": "user", "parts": [{"text": "hi"}]}
PICTURE = {"mimeType": "image/png", "data": "AAAA"}
F: dict[str, Any] = {"functionDeclarations": [{"name": "f"}]}


def parse(*, path: str = "m:generateContent", query: dict[str, str] | None = None, **members: Any) -> ChatRequest:
    body = {"contents": [USER]} | members
    http = HttpRequest("POST", "/", {}, json.dumps(body, ensure_ascii=False).encode(), {"id": path}, query or {})
    return DOOR.parse_request(http)


def settings(**members: Any) -> ChatRequest:
    return parse(generationConfig=members)


def said(*contents: Any) -> list[Message]:
    return list(parse(contents=list(contents)).messages)


def model(*parts: Any) -> dict[str, Any]:
    return {"role": "model", "parts": list(parts)}


def user(*parts: Any) -> dict[str, Any]:
    return {"role": "user", "parts": list(parts)}


def call(name: str = "f", **members: Any) -> dict[str, Any]:
    return {"functionCall": {"name": name} | members}


def result(name: str = "f", response: Any = None, **members: Any) -> dict[str, Any]:
    return {"functionResponse": {"name": name, "response": response} | members}


# ---------------------------------------------------------------- path and query


@each_row(
    ("path", "query", "name", "is_stream", "in_array"),
    [
        ("m:generateContent", {}, "m", False, False),
        ("m:generateContent", {"alt": "sse"}, "m", False, False),
        ("m:streamGenerateContent", {"alt": "sse"}, "m", True, False),
        ("m:streamGenerateContent", {"$alt": "sse"}, "m", True, False),
        ("m:streamGenerateContent", {}, "m", True, True),
        ("m:streamGenerateContent", {"alt": "json"}, "m", True, True),
        ("m:countTokens", {}, "m", False, False),
        ("p/a/b:generateContent", {}, "p/a/b", False, False),
        ("p%2Fa:generateContent", {}, "p/a", False, False),
        ("p/a:7b:generateContent", {}, "p/a:7b", False, False),
        ("p/a%3Afree%3AgenerateContent", {}, "p/a:free", False, False),
        ("models/p/a:generateContent", {}, "p/a", False, False),
    ],
)
def test_the_path_names_the_model(path: str, query: dict[str, str], name: str, is_stream: bool, in_array: bool) -> None:
    request = parse(path=path, query=query)
    assert (request.model, request.stream, request.stream_array) == (name, is_stream, in_array)


PLACES = "projects/p/locations/l"


@each_row(
    ("resource", "id", "name"),
    [
        ("/v1beta1/{id+}", f"{PLACES}/publishers/google/models/demo/openai:generateContent", "demo/openai"),
        ("/v1beta1/{id+}", f"{PLACES}/publishers/demo/models/openai:countTokens", "demo/openai"),
        ("/v1beta1/{id+}", "publishers/google/models/p/a:7b:generateContent", "p/a:7b"),
        ("/v1beta1/{id+}", "models/demo/openai:generateContent", "demo/openai"),
        ("/projects/{id+}", "p/locations/l/publishers/google/models/demo%2Fopenai:generateContent", "demo/openai"),
        ("/publishers/{id+}", "google/models/m:generateContent", "m"),
        ("/publishers/{id+}", "demo/models/openai:generateContent", "demo/openai"),
        ("/v1beta/models/{id+}", "publishers/google/models/demo/openai:generateContent", "demo/openai"),
        ("/projects/{id+}", "p/locations/l/endpoints/1:generateContent", "p/locations/l/endpoints/1"),
    ],
)
def test_the_paths_of_vertex_ai(resource: str, id: str, name: str) -> None:
    body = json.dumps({"contents": [USER]}).encode()
    assert DOOR.parse_request(HttpRequest("POST", resource, {}, body, {"id": id})).model == name


@pytest.mark.parametrize("path", ["m", "m:embedContent", ":generateContent", "m:", "models/:generateContent"])
def test_another_path_is_not_found(path: str) -> None:
    with pytest.raises(RequestError) as refused:
        parse(path=path)
    assert (refused.value.status, refused.value.code) == (404, "not_found")


def test_the_path_counts_and_not_the_body() -> None:
    assert parse(model="models/other").model == "m"
    counted = parse(path="m:countTokens", generateContentRequest={"model": "models/x", "contents": [USER, model()]})
    assert (counted.model, len(counted.messages)) == ("m", 2)


# ---------------------------------------------------------------- settings


@each_row(
    ("config", "expected"),
    [
        ({"maxOutputTokens": 7}, {"max_tokens": 7}),
        ({"max_output_tokens": 7.0}, {"max_tokens": 7}),
        ({"maxOutputTokens": "7"}, {"max_tokens": 7}),
        ({"temperature": 0.5, "topP": 1, "topK": 40.0}, {"sampling": Sampling(temperature=0.5, top_p=1, top_k=40)}),
        ({"temperature": "0.5", "top_k": "3", "seed": "-1"}, {"sampling": Sampling(temperature=0.5, top_k=3, seed=-1)}),
        ({"stopSequences": ["a"], "frequencyPenalty": 1}, {"sampling": Sampling(stop=("a",), frequency_penalty=1)}),
        ({"stop_sequences": [], "presencePenalty": 1}, {"sampling": Sampling(presence_penalty=1)}),
        ({"candidateCount": 1}, {"dialect_fields": ()}),
        ({"responseMimeType": "application/json"}, {"response_format": ResponseFormat("json_object")}),
        ({"responseMimeType": "text/plain"}, {"response_format": None, "dialect_fields": ()}),
        (
            {"responseMimeType": "text/x.enum", "responseSchema": {"type": "STRING", "enum": ["A"]}},
            {
                "response_format": ResponseFormat("json_schema", "answer", b'{"type":"string","enum":["A"]}', True),
                "dialect_fields": ("generationConfig.responseMimeType",),
            },
        ),
        (
            {"response_schema": {"type": "OBJECT", "properties": {"a": {"type": "INTEGER", "nullable": True}}}},
            {
                "response_format": ResponseFormat(
                    "json_schema",
                    "answer",
                    b'{"type":"object","properties":{"a":{"type":["integer","null"]}}}',
                    strict=True,
                )
            },
        ),
        (
            {"responseJsonSchema": {"type": "object", "x": 1.10}},
            {"response_format": ResponseFormat("json_schema", "answer", b'{"type": "object", "x": 1.1}', strict=True)},
        ),
        ({}, {"reasoning_effort": None, "reasoning_summary": None}),
        ({"thinkingConfig": {"includeThoughts": True}}, {"reasoning_effort": None, "reasoning_summary": "auto"}),
        ({"thinkingConfig": {"thinkingBudget": 0}}, {"reasoning_effort": "none"}),
        ({"thinkingConfig": {"thinkingBudget": -1}}, {"reasoning_effort": None}),
        ({"thinkingConfig": {"thinking_budget": "2048"}}, {"reasoning_effort": "low"}),
        ({"thinkingConfig": {"thinkingBudget": 12_288}}, {"reasoning_effort": "medium"}),
        ({"thinking_config": {"thinkingBudget": 12_289}}, {"reasoning_effort": "high"}),
        ({"thinkingConfig": {"thinkingLevel": "MINIMAL"}}, {"reasoning_effort": "minimal"}),
        ({"thinkingConfig": {"thinking_level": "high"}}, {"reasoning_effort": "high"}),
        ({"thinkingConfig": {"thinkingLevel": "THINKING_LEVEL_UNSPECIFIED"}}, {"reasoning_effort": None}),
    ],
)
def test_settings(config: dict[str, Any], expected: dict[str, Any]) -> None:
    request = settings(**config)
    assert {name: getattr(request, name) for name in expected} == expected


@each_row(
    ("config", "expected"),
    [
        ({"mode": "AUTO"}, ToolChoice("auto")),
        ({"mode": "auto"}, ToolChoice("auto")),
        ({}, ToolChoice("auto")),
        ({"mode": "MODE_UNSPECIFIED"}, ToolChoice("auto")),
        ({"mode": "NONE"}, ToolChoice("none")),
        ({"mode": "ANY"}, ToolChoice("required")),
        ({"mode": "ANY", "allowedFunctionNames": []}, ToolChoice("required")),
        ({"mode": "ANY", "allowedFunctionNames": ["f"]}, ToolChoice("required", ("f",), named=True)),
        ({"mode": "ANY", "allowed_function_names": ["f", "g"]}, ToolChoice("required", ("f", "g"))),
        ({"mode": "VALIDATED", "allowedFunctionNames": ["f"]}, ToolChoice("auto", ("f",))),
    ],
)
@each_row("spelled", [("toolConfig", "functionCallingConfig"), ("tool_config", "function_calling_config")])
def test_the_use_of_tools(config: dict[str, Any], expected: ToolChoice, spelled: tuple[str, str]) -> None:
    members: dict[str, Any] = {spelled[0]: {spelled[1]: config}}
    request = parse(tools=[F], **members)
    assert request.tool_choice == expected
    validated = ("toolConfig.functionCallingConfig.mode",) if config.get("mode") == "VALIDATED" else ()
    assert request.dialect_fields == validated


# ---------------------------------------------------------------- tools


@each_row(
    ("declared", "expected"),
    [
        ({"name": "f"}, Tool("f")),
        ({"name": "f", "description": "d", "parameters": None}, Tool("f", "d")),
        ({"name": "f", "parametersJsonSchema": {"type": "object", "a": 1.10}},
         Tool("f", parameters=b'{"type": "object", "a": 1.1}')),
        ({"name": "f", "parameters_json_schema": {"type": "object", "nullable": True}},
         Tool("f", parameters=b'{"type": "object", "nullable": true}')),
        ({"name": "f", "parameters": {"type": "OBJECT", "propertyOrdering": ["a"], "properties": {
            "a": {"type": "STRING", "any_of": [{"type": "NULL"}], "minLength": "2", "nullable": True, "enum": ["x"]},
            "min_items": {"type": "ARRAY", "min_items": "1", "items": {"type": "TYPE_UNSPECIFIED", "ref": "#/a"}},
        }}},
         Tool("f", parameters=b'{"type":"object","properties":{"a":{"type":["string","null"],"anyOf":[{"type":"null"}],'
              b'"minLength":2,"enum":["x",null]},"min_items":{"type":"array","minItems":1,"items":{"$ref":"#/a"}}}}')),
        ({"name": "f", "behavior": "BLOCKING", "response": {"type": "OBJECT"}},
         Tool("f", extra=(("behavior", b'"BLOCKING"'), ("response", b'{"type": "OBJECT"}')))),
    ],
)  # fmt: skip
@each_row("spelled", ["functionDeclarations", "function_declarations"])
def test_a_declaration(declared: dict[str, Any], expected: Tool, spelled: str) -> None:
    assert parse(tools=[{spelled: [declared]}]).tools == (expected,)
    assert parse(tools={spelled: declared}).tools == (expected,), "one may stand without its array"


def test_each_entry_holds_tools_of_several_kinds() -> None:
    tools = parse(tools=[{"google_search": {}} | F, {"codeExecution": {}, "urlContext": None}, {}]).tools
    assert [(tool.name, tool.kind) for tool in tools] == [
        ("googleSearch", "opaque"), ("f", "function"), ("codeExecution", "opaque"),
    ]  # fmt: skip


# ---------------------------------------------------------------- contents

SYSTEM: list[tuple[Any, list[str]]] = [
    ("x", ["x"]),
    ({"parts": [{"text": "x"}, {"text": ""}, {"text": "y"}]}, ["x", "y"]),
    ({"role": "system", "parts": {"text": "x"}}, ["x"]),
    ({"text": "x"}, ["x"]),
    ({"parts": []}, []),
    (None, []),
    ("", []),
]


@each_row(("given", "texts"), SYSTEM)
@each_row("spelled", ["systemInstruction", "system_instruction"])
def test_the_system_text(given: Any, texts: list[str], spelled: str) -> None:
    *system, _ = parse(**{spelled: given}).messages
    assert system == ([Message("system", tuple(map(TextPart, texts)))] if texts else [])


CONTENTS: list[tuple[list[Any], list[Message]]] = [
    ([USER], [Message("user", (TextPart("hi"),))]),
    ([{"parts": {"text": "hi"}}], [Message("user", (TextPart("hi"),))]),
    ([user({"inlineData": PICTURE})],
     [Message("user", (ImagePart(data="AAAA", media_type="image/png", kind="inlineData",
                                 path="contents[0].parts[0].inlineData"),))]),
    ([user({"inline_data": {"mime_type": "application/pdf", "data": "_-8", "display_name": "a.pdf"}})],
     [Message("user", (FilePart("application/pdf", "a.pdf", data="/+8=", kind="inlineData",
                                path="contents[0].parts[0].inlineData"),))]),
    ([user({"fileData": {"fileUri": "gs://b/a", "mimeType": "image/png"}})],
     [Message("user", (ImagePart(url="gs://b/a", media_type="image/png", kind="fileData",
                                 path="contents[0].parts[0].fileData"),))]),
    ([USER, model({"text": "hm", "thought": True}, {"text": "so"}, {"text": ""})],
     [Message("user", (TextPart("hi"),)), Message("assistant", (ReasoningPart("hm"), TextPart("so")))]),
    # What a client keeps of a stream: a content for each chunk.
    ([model({"text": "h", "thought": True}), model({"text": "m", "thought": True}),
      model({"text": "", "thought": True, "thoughtSignature": "c2ln"}), model({"text": "so"}), model({"text": ""})],
     [Message("assistant", (ReasoningPart("hm", "c2ln"), TextPart("so")))]),
    ([model(call(args={"a": 1.5})), user(result(response={"output": "x"}))],
     [Message("assistant", (ToolCallPart("call_at_1", "f", '{"a": 1.5}'),)),
      Message("tool", (ToolResultPart("call_at_1", (TextPart("x"),), name="f"),))]),
    # No id, parallel calls of one name, in contents of their own; results in one.
    ([model(call()), model(call()), user(result(response={"error": "x"}), result(response={"a": 1}), {"text": "go"})],
     [Message("assistant", (ToolCallPart("call_at_1", "f", "{}"), ToolCallPart("call_at_2", "f", "{}"))),
      Message("tool", (ToolResultPart("call_at_1", (TextPart("x"),), is_error=True, name="f"),)),
      Message("tool", (ToolResultPart("call_at_2", (TextPart('{"a": 1}'),), name="f"),)),
      Message("user", (TextPart("go"),))]),
    # Ids count before places; an id that no call has is an answer to the first open call of its name.
    ([model(call(id="1"), call("g", id="2"), call("g", id="3")),
      user(result("g", "x", id="3"), result("g", None, id="9"), result("f", {}))],
     [Message("assistant", (ToolCallPart("1", "f", "{}"), ToolCallPart("2", "g", "{}"), ToolCallPart("3", "g", "{}"))),
      Message("tool", (ToolResultPart("3", (TextPart("x"),), name="g"),)),
      Message("tool", (ToolResultPart("2", (), name="g"),)),
      Message("tool", (ToolResultPart("1", (TextPart("{}"),), name="f"),))]),
    # A name that no call has is an id of the client's, as Goose sends it, or "unknown": such results answer by place,
    # whether they stand in a content or in several, with or without the id of another API.
    ([model(call(), call("g")), user(result("0f-uuid", {"a": 1})), user({"text": "t"}), user(result("unknown", {}))],
     [Message("assistant", (ToolCallPart("call_at_1", "f", "{}"), ToolCallPart("call_at_2", "g", "{}"))),
      Message("tool", (ToolResultPart("call_at_1", (TextPart('{"a": 1}'),), name="0f-uuid"),)),
      Message("user", (TextPart("t"),)),
      Message("tool", (ToolResultPart("call_at_2", (TextPart("{}"),), name="unknown"),))]),
    ([model(call(id="1"), call("g", id="2")), user(result("1", None, id="8"), result("x", None, id="2"))],
     [Message("assistant", (ToolCallPart("1", "f", "{}"), ToolCallPart("2", "g", "{}"))),
      Message("tool", (ToolResultPart("1", (), name="1"),)), Message("tool", (ToolResultPart("2", (), name="x"),))]),
    # Of a name that is a call's id, that call is meant, in whatever order (Bifrost, AstrBot).
    ([model(call(id="1"), call("g", id="2")), user(result("2", None), result("1", None))],
     [Message("assistant", (ToolCallPart("1", "f", "{}"), ToolCallPart("2", "g", "{}"))),
      Message("tool", (ToolResultPart("2", (), name="2"),)), Message("tool", (ToolResultPart("1", (), name="1"),))]),
    # A name that a call has had is meant: it answers no call of another.
    ([model(call()), user(result(response={}), result(response={}))],
     [Message("assistant", (ToolCallPart("call_at_1", "f", "{}"),)),
      Message("tool", (ToolResultPart("call_at_1", (TextPart("{}"),), name="f"),)),
      Message("tool", (ToolResultPart("a call of f", (TextPart("{}"),), name="f"),))]),
    ([model(call(), call("g")), user(result(response={}), result(response={}))],
     [Message("assistant", (ToolCallPart("call_at_1", "f", "{}"), ToolCallPart("call_at_2", "g", "{}"))),
      Message("tool", (ToolResultPart("call_at_1", (TextPart("{}"),), name="f"),)),
      Message("tool", (ToolResultPart("a call of f", (TextPart("{}"),), name="f"),))]),
    ([model(call()), {"role": "function", "parts": [result(response={"output": {"b": 2.50}})]}],
     [Message("assistant", (ToolCallPart("call_at_1", "f", "{}"),)),
      Message("tool", (ToolResultPart("call_at_1", (TextPart('{"b": 2.5}'),), name="f"),))]),
    # None but the model calls, whatever the role says.
    ([user(call()), model(result(response={}))],
     [Message("assistant", (ToolCallPart("call_at_1", "f", "{}"),)),
      Message("tool", (ToolResultPart("call_at_1", (TextPart("{}"),), name="f"),))]),
    ([model(call()), user(result(response={"output": "x"}, parts=[{"inlineData": PICTURE}]))],
     [Message("assistant", (ToolCallPart("call_at_1", "f", "{}"),)),
      Message("tool", (ToolResultPart("call_at_1", (TextPart("x"), ImagePart(
          data="AAAA", media_type="image/png", kind="inlineData",
          path="contents[1].parts[0].functionResponse.parts[0].inlineData")), name="f"),))]),
    ([model({"executableCode": {"code": "1"}})],
     [Message("assistant", (OpaquePart("executableCode", "gemini", b'{"executableCode": {"code": "1"}}',
                                       path="contents[0].parts[0]"),))]),
]  # fmt: skip


@each_row(("contents", "expected"), CONTENTS)
def test_contents(contents: list[Any], expected: list[Message]) -> None:
    assert said(*contents) == expected


def test_a_content_stands_without_its_array() -> None:
    assert parse(contents=USER).messages == (Message("user", (TextPart("hi"),)),)


TAGGED = base64.b64encode(b"tw1.AAAAAAAA.abc").decode()


@each_row(
    ("given", "read"),
    [
        ("c2ln", "c2ln"),
        ("no base64!", "no base64!"),
        (TAGGED, "tw1.AAAAAAAA.abc"),
        (TAGGED.rstrip("="), "tw1.AAAAAAAA.abc"),
        ("", None),
        (None, None),
        ("skip_thought_signature_validator", None),
        ("context_engineering_is_the_way_to_go", None),
    ],
)
def test_a_signature(given: str | None, read: str | None) -> None:
    for name in ("thoughtSignature", "thought_signature"):
        [message] = said(model(call() | {name: given}))
        [part] = message.parts
        assert isinstance(part, ToolCallPart)
        assert part.signature == read


# ---------------------------------------------------------------- refusals

CALLING = "toolConfig.functionCallingConfig"
THINKING = "generationConfig.thinkingConfig"
DECLARED = "tools[0].functionDeclarations"
PART = "contents[0].parts[0]"
REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"contents": []}, "contents"),
    ({"contents": None}, "contents"),
    ({"contents": "hi"}, "contents"),
    ({"contents": ["hi"]}, "contents[0]"),
    ({"contents": [USER | {"role": "assistant"}]}, "contents[0].role"),
    ({"contents": [{"parts": "x"}]}, "contents[0].parts"),
    ({"contents": [{"parts": ["x"]}]}, PART),
    ({"contents": [user({})]}, PART),
    ({"contents": [user({"text": 1})]}, f"{PART}.text"),
    ({"contents": [user({"text": "a", "inlineData": PICTURE})]}, PART),
    ({"contents": [user({"text": "a"} | call())]}, PART),
    ({"contents": [model(call(), result(response={}))]}, "contents[0].parts"),
    ({"contents": [user({"inlineData": {"mimeType": "image/png"}})]}, f"{PART}.inlineData.data"),
    ({"contents": [user({"inlineData": PICTURE | {"data": 1}})]}, f"{PART}.inlineData.data"),
    ({"contents": [user({"fileData": {"mimeType": "image/png"}})]}, f"{PART}.fileData.fileUri"),
    ({"contents": [model(call(name=""))]}, f"{PART}.functionCall.name"),
    ({"contents": [model(call(args=[]))]}, f"{PART}.functionCall.args"),
    ({"contents": [model(call(args="{}"))]}, f"{PART}.functionCall.args"),
    ({"contents": [model(call(id=1))]}, f"{PART}.functionCall.id"),
    ({"contents": [model(call() | {"thoughtSignature": 1})]}, f"{PART}.thoughtSignature"),
    ({"contents": [user(result(name=""))]}, f"{PART}.functionResponse.name"),
    ({"systemInstruction": [{"text": "x"}]}, "systemInstruction"),
    ({"systemInstruction": {"prats": []}}, "systemInstruction"),
    ({"systemInstruction": {"parts": [1]}}, "systemInstruction.parts[0]"),
    ({"tools": "x"}, "tools"),
    ({"tools": ["x"]}, "tools[0]"),
    ({"tools": [{"functionDeclarations": 5}]}, DECLARED),
    ({"tools": [{"functionDeclarations": [{}]}]}, f"{DECLARED}[0].name"),
    ({"tools": [{"functionDeclarations": [{"name": "f", "parameters": [1]}]}]}, f"{DECLARED}[0].parameters"),
    ({"tools": [{"functionDeclarations": [{"name": "f", "parametersJsonSchema": "x"}]}]},
     f"{DECLARED}[0].parametersJsonSchema"),
    ({"toolConfig": "x"}, "toolConfig"),
    ({"toolConfig": {"functionCallingConfig": 1}}, CALLING),
    ({"toolConfig": {"functionCallingConfig": {"mode": "SOME"}}}, f"{CALLING}.mode"),
    ({"toolConfig": {"functionCallingConfig": {"allowedFunctionNames": "f"}}}, f"{CALLING}.allowedFunctionNames"),
    ({"generationConfig": "x"}, "generationConfig"),
    ({"generationConfig": {"maxOutputTokens": 0}}, "generationConfig.maxOutputTokens"),
    ({"generationConfig": {"maxOutputTokens": 1.5}}, "generationConfig.maxOutputTokens"),
    ({"generationConfig": {"maxOutputTokens": "many"}}, "generationConfig.maxOutputTokens"),
    ({"generationConfig": {"temperature": 2.1}}, "generationConfig.temperature"),
    ({"generationConfig": {"topP": "1.1"}}, "generationConfig.topP"),
    ({"generationConfig": {"stopSequences": "x"}}, "generationConfig.stopSequences"),
    ({"generationConfig": {"candidateCount": 2}}, "generationConfig.candidateCount"),
    ({"generationConfig": {"topK": 1, "top_k": 2}}, "generationConfig.topK"),
    ({"generationConfig": {"responseMimeType": 1}}, "generationConfig.responseMimeType"),
    ({"generationConfig": {"responseSchema": "x"}}, "generationConfig.responseSchema"),
    ({"generationConfig": {"responseJsonSchema": [1]}}, "generationConfig.responseJsonSchema"),
    ({"generationConfig": {"thinkingConfig": "x"}}, THINKING),
    ({"generationConfig": {"thinkingConfig": {"thinkingLevel": "MUCH"}}}, f"{THINKING}.thinkingLevel"),
    ({"generationConfig": {"thinking_config": {"thinking_budget": "much"}}}, f"{THINKING}.thinkingBudget"),
    ({"generationConfig": {"thinkingConfig": {"includeThoughts": 1}}}, f"{THINKING}.includeThoughts"),
    ({"tools": [], "toolConfig": {}, "tool_config": {}}, "toolConfig"),
]  # fmt: skip


@each_row(("members", "place"), REFUSED)
def test_a_refusal_names_the_field(members: dict[str, Any], place: str) -> None:
    with pytest.raises(RequestError) as refused:
        parse(**members)
    assert (refused.value.status, refused.value.param) == (400, place)
    [fault] = [
        detail["fieldViolations"]
        for detail in json.loads(DOOR.render_error(refused.value, "req"))["error"]["details"]
        if detail["@type"] == "type.googleapis.com/google.rpc.BadRequest"
    ]
    assert [one["field"] for one in fault] == [place]
