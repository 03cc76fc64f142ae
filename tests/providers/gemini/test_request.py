"""Chat requests as Gemini gets them: history, tools, tool_choice, settings. Google's SDK judges every body."""

from __future__ import annotations

import json
from typing import Any

import jsonschema_rs
import pytest

from tests.corpus.driver import open_exchange
from tests.named_rows import each_row
from tests.providers.gemini.gemini_upstream import sent
from toolwire.model.errors import RequestError
from toolwire.model.settings import ProviderConfig, Target
from toolwire.providers.gemini.messages import PLACEHOLDER_SIGNATURE
from toolwire.providers.gemini.request import PROVIDER
from toolwire.providers.profiles import PROFILES

OLD, NEW = "gemini-2.5-flash", "gemini-3-flash"
PNG = "data:image/png;base64,aGk="
IMAGE = {"type": "image_url", "image_url": {"url": PNG}}
INLINE = {"inlineData": {"mimeType": "image/png", "data": "aGk="}}


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


def asked(*calls: tuple[str, str, str], content: str | None = None) -> dict[str, Any]:
    """An assistant's turn with calls: id, name, arguments."""
    made = [{"id": id, "type": "function", "function": {"name": n, "arguments": a}} for id, n, a in calls]
    return {"role": "assistant", "content": content, "tool_calls": made}


def result(id: str, content: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": content}


def function(name: str, **more: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, **more}}


def model(*parts: Any) -> dict[str, Any]:
    return {"role": "model", "parts": list(parts)}


def says(*parts: Any) -> dict[str, Any]:
    return {"role": "user", "parts": [{"text": part} if isinstance(part, str) else part for part in parts]}


def made(name: str, args: Any, **more: Any) -> dict[str, Any]:
    return {"functionCall": {"name": name, "args": args}, **more}


def output(name: str, text: str, key: str = "output", **more: Any) -> dict[str, Any]:
    return {"functionResponse": {"name": name, "response": {key: text}, **more}}


#: name -> (messages, contents); the model is one that wants no signatures.
HISTORIES: dict[str, tuple[list[Any], list[Any]]] = {
    "turns": (
        [user("a"), {"role": "assistant", "content": "b"}, user("c")],
        [says("a"), model({"text": "b"}), says("c")],
    ),
    "one role after itself": (
        [user("a"), user("b"), {"role": "assistant", "content": "c"}, {"role": "assistant", "content": "d"}, user("e")],
        [says("a", "b"), model({"text": "c"}, {"text": "d"}), says("e")],
    ),
    "empty texts": (
        [user("a"), {"role": "assistant", "content": ""}, user("b"), asked(("1", "f", "{}"), content=""),
         result("1", "")],
        [says("a", "b"), model(made("f", {})), says(output("f", ""))],
    ),
    "a system message in mid-conversation": (
        [user("a"), {"role": "developer", "content": "D"}, user("b"), {"role": "system", "content": "S"}],
        [says("a", "<system>", "D", "</system>", "b", "<system>", "S", "</system>")],
    ),
    "instructions alone": ([{"role": "system", "content": "S"}], [says("S")]),
    "results in the order of the calls": (
        [user("a"), asked(("1", "f", '{"n":1}'), ("2", "g", '{"n":2}'), ("3", "f", '{"n":3}'), content="t"),
         result("3", "C"), result("1", "A"), result("2", [{"type": "text", "text": "B"}]), user("go")],
        [says("a"), model({"text": "t"}, made("f", {"n": 1}), made("g", {"n": 2}), made("f", {"n": 3})),
         says(output("f", "A"), output("g", "B"), output("f", "C")), says("go")],
    ),
    "one id in two turns": (
        [user("a"), asked(("1", "f", "{}")), result("1", "A"), asked(("1", "g", "{}")), result("1", "B")],
        [says("a"), model(made("f", {})), says(output("f", "A")), model(made("g", {})), says(output("g", "B"))],
    ),
    "results behind another turn": (
        [user("a"), asked(("1", "f", "{}")), asked(("2", "g", "{}")), result("1", "A"), result("2", "B")],
        [says("a"), model(made("f", {})), says(output("f", "A")), model(made("g", {})), says(output("g", "B"))],
    ),
    "text, then calls, in two messages": (
        [user("a"), {"role": "assistant", "content": "t"}, asked(("1", "f", "{}")), result("1", "A")],
        [says("a"), model({"text": "t"}, made("f", {})), says(output("f", "A"))],
    ),
    "every kind of result is a text": (
        [user("a"), asked(*((str(n), "f", "{}") for n in range(5))),
         *(result(str(n), text) for n, text in enumerate(['[{"k":1}]', "42", "null", "plain", '{"output":1.10}']))],
        [says("a"), model(*[made("f", {})] * 5),
         says(*(output("f", text) for text in ['[{"k":1}]', "42", "null", "plain", '{"output":1.10}']))],
    ),
    "empty arguments": ([user("a"), asked(("1", "f", " ")), result("1", "A")],
                        [says("a"), model(made("f", {})), says(output("f", "A"))]),
    "a custom tool's call": (
        [user("a"), {"role": "assistant", "tool_calls": [
            {"id": "1", "type": "custom", "custom": {"name": "sh", "input": 'ls "x"'}}]}, result("1", "A")],
        [says("a"), model(made("sh", {"input": 'ls "x"'})), says(output("sh", "A"))],
    ),
    "refusal and reasoning": (
        [user("a"), {"role": "assistant", "content": None, "refusal": "no", "reasoning_content": "hm"}, user("b")],
        [says("a"), model({"text": "no"}), says("b")],
    ),
    "images and files": (
        [user([{"type": "text", "text": "a"}, IMAGE,
               {"type": "image_url", "image_url": {"url": "gs://bucket/x.jpg"}},
               {"type": "input_audio", "input_audio": {"data": "aGk=", "format": "wav"}},
               {"type": "file", "file": {"file_data": "data:application/pdf;base64,aGk=", "filename": "x.pdf"}}])],
        [says("a", INLINE, {"fileData": {"mimeType": "image/jpeg", "fileUri": "gs://bucket/x.jpg"}},
              {"inlineData": {"mimeType": "audio/wav", "data": "aGk="}},
              {"inlineData": {"mimeType": "application/pdf", "data": "aGk="}})],
    ),
    "an image in a result, beside it where the model has no place for it": (
        [user("a"), asked(("1", "f", "{}")), result("1", [{"type": "text", "text": "A"}, IMAGE]), user("b")],
        [says("a"), model(made("f", {})), says(output("f", "A")), says("Content of the result of f:", INLINE, "b")],
    ),
}  # fmt: skip


#: History -> what its client is told.
WARNED = {"a system message in mid-conversation": ["system_message_in_user_turn"]}


@each_row("name", HISTORIES)
def test_history(name: str) -> None:
    messages, contents = HISTORIES[name]
    assert sent(OLD, messages=messages, warned=WARNED.get(name, []))["contents"] == contents


def test_leading_instructions_are_the_system_instruction() -> None:
    leading = [{"role": "system", "content": "S"}, {"role": "developer", "content": [{"type": "text", "text": "D"}]}]
    body = sent(messages=[*leading, user("a")])

    assert list(body) == ["systemInstruction", "contents"]
    assert body["systemInstruction"] == {"parts": [{"text": "S"}, {"text": "D"}]}
    assert body["contents"] == [says("a")]


def test_a_call_without_result_gets_one_that_says_so() -> None:
    messages = [user("a"), asked(("1", "f", "{}"), ("2", "g", "{}")), result("1", "A"), user("b")]
    contents = sent(OLD, messages=messages, warned=["tool_result_missing"])["contents"]

    lost = "Error: no result was provided for this tool call."
    assert contents[2] == says(output("f", "A"), output("g", lost, "error"))


@pytest.mark.parametrize("arguments", ['{"city": "Par', '"text"', "[1]", "nonsense"])
def test_arguments_that_are_no_object_are_wrapped(arguments: str) -> None:
    messages = [user("a"), asked(("1", "f", arguments)), result("1", "A")]
    contents = sent(OLD, messages=messages, warned=["history_arguments_wrapped"])["contents"]
    assert contents[1] == model(made("f", {"_raw_arguments": arguments}))


def test_arguments_travel_as_the_text_they_are() -> None:
    arguments = '{"big": 1234567890123456789012,"price":1.10,"e":"\\u00e9\\/"}'
    body = json.dumps({"model": "m", "messages": [user("a"), asked(("1", "f", arguments)), result("1", "A")]}).encode()
    upstream = open_exchange(body, wire="gemini", profile=None, model=OLD).upstream_request
    assert b'"args":' + arguments.encode() in upstream.body


def test_images_stand_in_the_result_where_the_model_has_a_place_for_them() -> None:
    messages = [user("a"), asked(("1", "f", "{}")), result("1", [IMAGE, {"type": "text", "text": "A"}])]
    contents = sent(NEW, messages=messages)["contents"]
    assert contents[2] == says(output("f", "A", parts=[INLINE]))


def test_the_first_call_of_each_step_of_the_current_turn_is_signed() -> None:
    step = [asked(("1", "f", "{}"), ("2", "f", "{}")), result("1", "A"), result("2", "B")]
    again = [asked(("3", "g", "{}"), content="t"), result("3", "C")]
    messages = [user("a"), *step, user("b"), *step, *again]
    signed = {"thoughtSignature": PLACEHOLDER_SIGNATURE}

    turns = [content["parts"] for content in sent(NEW, messages=messages)["contents"] if content["role"] == "model"]
    assert turns == [
        [made("f", {}), made("f", {})],
        [made("f", {}, **signed), made("f", {})],
        [{"text": "t"}, made("g", {}, **signed)],
    ]
    assert PLACEHOLDER_SIGNATURE not in json.dumps(sent(OLD, messages=messages))


REFUSED_CONTENT = {
    "image by an address without TLS": {"type": "image_url", "image_url": {"url": "http://example.com/x.png"}},
    "file by id": {"type": "file", "file": {"file_id": "file-1"}},
    "unknown kind": {"type": "video", "video": {}},
}


@pytest.mark.parametrize("part", REFUSED_CONTENT.values(), ids=REFUSED_CONTENT)
def test_content_that_cannot_be_sent_is_refused_by_name(part: Any) -> None:
    with pytest.raises(RequestError, match="upstream") as refused:
        sent(messages=[user("a"), user([part])])
    assert (refused.value.code, refused.value.param) == ("unsupported_content", "messages[1].content[0]")


ADDRESSES = {
    "https://example.com/x.png": "image/png",
    "https://example.com/x.webp?signed=a.pdf": "image/webp",
    "https://example.com/x": "image/jpeg",
}


@pytest.mark.parametrize("address", ADDRESSES)
def test_newer_models_fetch_public_files_themselves(address: str) -> None:
    part = {"type": "image_url", "image_url": {"url": address}}
    file = {"fileData": {"mimeType": ADDRESSES[address], "fileUri": address}}
    for model_name in (OLD, NEW, "gemini-flash-latest"):
        assert sent(model_name, messages=[user([part])])["contents"] == [says(file)]
    with pytest.raises(RequestError, match="upstream") as refused:
        sent("gemini-2.0-flash", messages=[user([part])])
    assert refused.value.code == "unsupported_content"


# ---------------------------------------------------------------- tools

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WEATHER, PING = function("weather", description="d", parameters=SCHEMA), function("ping")


def named(name: str) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name}}


def allowed(mode: str, *names: str) -> dict[str, Any]:
    return {"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": [named(name) for name in names]}}


CHOICES: list[tuple[Any, Any]] = [
    (None, None),
    ("auto", None),
    ("none", {"mode": "NONE"}),
    ("required", {"mode": "ANY"}),
    (named("ping"), {"mode": "ANY", "allowedFunctionNames": ["ping"]}),
    (allowed("required", "ping", "weather"), {"mode": "ANY", "allowedFunctionNames": ["ping", "weather"]}),
    (allowed("auto", "ping"), {"mode": "VALIDATED", "allowedFunctionNames": ["ping"]}),
]


@pytest.mark.parametrize(("choice", "config"), CHOICES)
def test_tool_choice(choice: Any, config: Any) -> None:
    body = sent(tools=[WEATHER, PING], **({"tool_choice": choice} if choice else {}))
    assert body.get("toolConfig") == (config and {"functionCallingConfig": config})
    assert [tool["name"] for tool in body["tools"][0]["functionDeclarations"]] == ["weather", "ping"]


def test_declarations() -> None:
    (tool,) = sent(tools=[WEATHER, PING])["tools"]
    weather, ping = tool["functionDeclarations"]
    assert weather == {"name": "weather", "description": "d", "parametersJsonSchema": SCHEMA}
    assert ping == {"name": "ping"}


NODE = {"type": "object", "properties": {"name": {"type": "string"}, "next": {"$ref": "#/$defs/Node"}}}
#: name -> (properties and what stands beside them, arguments that fit, arguments that do not)
SCHEMAS: dict[str, tuple[dict[str, Any], list[Any], list[Any]]] = {
    "keywords that Google's own schema lacks": (
        {
            "$schema": "https://json-schema.org/draft/2020-12/schema", "additionalProperties": False,
            "properties": {
                "n": {"type": "integer", "exclusiveMinimum": 0, "multipleOf": 2},
                "l": {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
                "m": {"type": "object", "patternProperties": {"^a": {"const": "v"}}},
            },
        },
        [{}, {"n": 2, "l": ["a"], "m": {"ab": "v"}}],
        [{"n": 0}, {"n": 3}, {"l": ["a", "a"]}, {"m": {"ab": 1}}, {"x": 1}],
    ),
    "parameters named like keywords": (
        {
            "properties": {
                "pattern": {"type": "string", "pattern": "^a"}, "$ref": {"type": "string"},
                "const": {"type": "integer"},
                "properties": {"type": "object", "properties": {"type": {"enum": ["title", "const"]}}},
            },
            "required": ["pattern", "const"],
        },
        [{"pattern": "ab", "const": 1, "$ref": "#", "properties": {"type": "const"}}],
        [{"pattern": "b", "const": 1}, {"pattern": "a"}, {"pattern": "a", "const": 1, "properties": {"type": "x"}}],
    ),
    "references": (
        {
            "properties": {"o": {"$ref": "#/$defs/O", "description": "outer"}, "l": {"items": {"$ref": "#/$defs/I"}}},
            "$defs": {"O": {"type": "object", "required": ["v"], "description": "inner"}, "I": {"type": "integer"}},
        },
        [{"o": {"v": 1}, "l": [1]}], [{"o": {}}, {"l": ["x"]}],
    ),
    "a reference to itself": (
        {"properties": {"root": {"$ref": "#/$defs/Node"}}, "$defs": {"Node": NODE}},
        [{"root": {"name": "a", "next": {"next": {"name": "b"}}}}], [{"root": {"next": {"next": {"name": 1}}}}],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("schema", "fit", "unfit"), SCHEMAS.values(), ids=SCHEMAS)
def test_schemas_mean_the_same(schema: dict[str, Any], fit: list[Any], unfit: list[Any]) -> None:
    given = {"type": "object", **schema}
    (declared,) = sent(tools=[function("f", parameters=given)])["tools"][0]["functionDeclarations"]
    judge = jsonschema_rs.validator_for(declared["parametersJsonSchema"])
    assert [judge.is_valid(arguments) for arguments in fit + unfit] == [True] * len(fit) + [False] * len(unfit)


def test_strict_tools_are_validated_where_the_choice_is_free() -> None:
    closed = {**SCHEMA, "additionalProperties": False}
    tools, parallel = [function("weather", strict=True, parameters=closed), PING], ["strict_with_parallel"]
    assert sent(tools=tools, warned=parallel)["toolConfig"] == {"functionCallingConfig": {"mode": "VALIDATED"}}
    assert sent(tools=tools, tool_choice="required", warned=parallel)["toolConfig"] == {
        "functionCallingConfig": {"mode": "ANY"}
    }
    assert sent(tools=tools, tool_choice="none", warned=parallel)["toolConfig"] == {
        "functionCallingConfig": {"mode": "NONE"}
    }


def test_parallel_calls_cannot_be_switched_off() -> None:
    sent(tools=[PING], parallel_tool_calls=False, warned=["not_supported:parallel_tool_calls"])
    sent(tools=[PING], parallel_tool_calls=True)


def test_names_that_google_refuses_are_other_names_everywhere() -> None:
    name = "1st/tool"
    history = [user("a"), asked(("1", name, "{}")), result("1", "A")]
    body = sent(OLD, messages=history, tools=[function(name)], tool_choice=named(name))
    (declared,) = body["tools"][0]["functionDeclarations"]
    given = declared["name"]
    assert given.startswith("_1st_tool_")
    assert body["contents"][1:] == [model(made(given, {})), says(output(given, "A"))]
    assert body["toolConfig"]["functionCallingConfig"]["allowedFunctionNames"] == [given]
    assert sent(tools=[function("a.b:c-d")])["tools"][0]["functionDeclarations"] == [{"name": "a.b:c-d"}]


def test_services_of_another_host_are_left_out_and_named() -> None:
    search = {"type": "web_search", "name": "web_search"}
    body = sent(tools=[search, PING], warned=["not_supported:server_tools"])
    assert body["tools"] == [{"functionDeclarations": [{"name": "ping"}]}]
    with pytest.raises(RequestError, match="does not have the tool") as refused:
        sent(tools=[search], tool_choice="required")
    assert refused.value.code == "unsupported_tool"


def test_a_custom_tool_is_a_function_with_one_string() -> None:
    patch = {"type": "custom", "custom": {"name": "patch", "description": "Edits."}}
    body = sent(tools=[PING, patch], warned=["custom_tool_as_function"])
    declared = body["tools"][0]["functionDeclarations"][1]
    assert (declared["name"], declared["description"]) == ("patch", "Edits.")
    assert list(declared["parametersJsonSchema"]["properties"]) == ["input"]


# ---------------------------------------------------------------- settings

SETTINGS: dict[str, tuple[dict[str, Any], dict[str, Any] | None, list[str]]] = {
    "sampling": (
        {"temperature": 0.5, "top_p": 0.9, "seed": 7, "presence_penalty": 1, "frequency_penalty": -1, "stop": "x"},
        {"temperature": 0.5, "topP": 0.9, "stopSequences": ["x"], "seed": 7, "presencePenalty": 1,
         "frequencyPenalty": -1},
        [],
    ),
    "output limit": ({"max_completion_tokens": 9}, {"maxOutputTokens": 9}, []),
    "a seed of more than 32 bits": ({"seed": 1 << 31}, None, ["not_supported:seed"]),
    "knobs of OpenAI": ({"logprobs": True, "user": "u"}, None, ["not_supported:logprobs", "ignored:user"]),
    "plain text": ({"response_format": {"type": "text"}}, None, []),
    "any JSON": ({"response_format": {"type": "json_object"}}, {"responseMimeType": "application/json"}, []),
    "JSON by schema": (
        {"response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": SCHEMA}}},
        {"responseMimeType": "application/json", "responseJsonSchema": SCHEMA},
        [],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("members", "config", "warned"), SETTINGS.values(), ids=SETTINGS)
def test_settings(members: dict[str, Any], config: Any, warned: list[str]) -> None:
    assert sent(warned=warned, **members).get("generationConfig") == config


@pytest.mark.parametrize(
    ("members", "param"),
    [({"audio": {}}, "audio")],
)
def test_settings_that_change_the_answer_are_refused(members: dict[str, Any], param: str) -> None:
    with pytest.raises(RequestError) as refused:
        sent(**members)
    assert refused.value.param == param


def test_names_and_details_that_get_lost_are_warned_about() -> None:
    sharp = {"type": "image_url", "image_url": {"url": PNG, "detail": "high"}}
    sent(messages=[user([sharp]) | {"name": "Ann"}], warned=["not_supported:name", "not_supported:detail"])


# ---------------------------------------------------------------- address and credential

GOOGLE = "https://generativelanguage.googleapis.com/v1beta"
VERTEX = "https://europe-west1-aiplatform.googleapis.com/v1/projects/p/locations/l/publishers/google"
HOSTS = [
    (GOOGLE, "gemini-3-flash", "/models/gemini-3-flash", ("x-goog-api-key", "k")),
    (GOOGLE + "/", "models/gemini-3-flash", "/models/gemini-3-flash", ("x-goog-api-key", "k")),
    (GOOGLE, "tunedModels/mine", "/tunedModels/mine", ("x-goog-api-key", "k")),
    (GOOGLE, "../x?key=1#", "/models/..%2Fx%3Fkey%3D1%23", ("x-goog-api-key", "k")),
    (VERTEX, "gemini-2.5-pro", "/models/gemini-2.5-pro", ("authorization", "Bearer k")),
    ("https://aiplatform.googleapis.com/v1", "m", "/models/m", ("authorization", "Bearer k")),
    ("https://evil-aiplatform.googleapis.com.example.com/v1", "m", "/models/m", ("x-goog-api-key", "k")),
]


@each_row(("base", "model", "path", "header"), HOSTS)
@each_row("stream", [True, False])
def test_address_and_credential(base: str, model: str, path: str, header: tuple[str, str], stream: bool) -> None:
    body = json.dumps({"model": "m", "messages": [user("a")], "stream": stream}).encode()
    request = open_exchange(body).client.request
    target = Target(ProviderConfig("google", "gemini", base), model)

    built, _ = PROVIDER.build_request(request, target, PROFILES["compatible"], "k")
    method = ":streamGenerateContent?alt=sse" if stream else ":generateContent"
    assert (built.method, built.url) == ("POST", base.rstrip("/") + path + method)
    assert header in built.headers
    without, _ = PROVIDER.build_request(request, target, PROFILES["compatible"], None)
    assert not {"x-goog-api-key", "authorization"} & dict(without.headers).keys()
