"""The demo's Gemini wire: what is refused, and how a turn is written. Google's SDK reads the answers."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from google.genai import types

from tests.named_rows import each_row
from toolwire.demo.answer import Answer
from toolwire.demo.gemini import answer

WEATHER = {
    "name": "get_weather",
    "parametersJsonSchema": {
        "type": "object",
        "properties": {"location": {"type": "string"}},
        "required": ["location"],
    },
}
TOOLS = [{"functionDeclarations": [WEATHER, {"name": "get_time"}]}]
TWO_CITIES = "Weather in Paris and New York?"


def counting() -> Callable[[], str]:
    numbers = iter(range(1, 1000))
    return lambda: f"{next(numbers):032x}"


def user(*parts: Any) -> dict[str, Any]:
    return {"role": "user", "parts": [{"text": part} if isinstance(part, str) else part for part in parts]}


def calls(*names: str) -> dict[str, Any]:
    return {"role": "model", "parts": [{"functionCall": {"name": name, "args": {}}} for name in names]}


def results(*names: str, **response: Any) -> dict[str, Any]:
    said = response or {"output": "18 degrees"}
    return {"role": "user", "parts": [{"functionResponse": {"name": name, "response": said}} for name in names]}


def ask(*contents: Any, stream: bool = True, **fields: Any) -> Answer:
    body = {"contents": [user(one) if isinstance(one, str) else one for one in contents or ("hello",)], **fields}
    return answer(json.dumps(body).encode(), stream=stream, now=1_700_000_000, new_hex=counting())


def read(said: Answer) -> list[types.GenerateContentResponse]:
    """The answer's chunks, or the one document."""
    assert said.status == 200
    if said.stream:
        assert all(piece.startswith(b"data: ") and piece.endswith(b"\r\n\r\n") for piece in said.pieces)
    pieces = [piece.removeprefix(b"data: ") for piece in said.pieces]
    return [types.GenerateContentResponse.model_validate_json(piece) for piece in pieces]


def parts(said: Answer) -> list[types.Part]:
    return [part for one in read(said) for part in one.candidates[0].content.parts]


def asked_for(said: Answer) -> list[tuple[str | None, Any]]:
    return [(part.function_call.name, part.function_call.args) for part in parts(said) if part.function_call]


def finishes(said: Answer) -> list[str]:
    words = [one.candidates[0].finish_reason for one in read(said)]
    return [word.value for word in words if word is not None]


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("no contents", {"contents": []}, "contents is not specified"),
    ("a member of the body", {"messages": []}, 'Unknown name "messages"'),
    ("a member of a part", {"contents": [{"parts": [{"text": "a", "type": "text"}]}]}, "'contents[0].parts[0]'"),
    ("a member of a call", {"contents": [user("a"), {"role": "model", "parts": [{"functionCall": {"nane": "f"}}]}]},
     'Unknown name "nane"'),
    ("a role", {"contents": [{"role": "tool", "parts": [{"text": "a"}]}]}, "valid role: user, model"),
    ("no parts", {"contents": [{"role": "user", "parts": []}]}, "must not be empty"),
    ("a part of nothing", {"contents": [user({"thought": True})]}, "must have one initialized"),
    ("a part of two things", {"contents": [user({"text": "a", "inlineData": {}})]}, "must have one initialized"),
    ("a result that is a text", {"contents": [user("a"), calls("f"), user({"functionResponse": {
        "name": "f", "response": "A"}})]}, "google.protobuf.Struct"),
    ("a result without a name", {"contents": [user("a"), calls("f"), user({"functionResponse": {"response": {}}})]},
     "Name cannot be empty"),
    ("too few results", {"contents": [user("a"), calls("f", "f"), results("f")]}, "equal to the number of"),
    ("results in two contents", {"contents": [user("a"), calls("f", "f"), results("f"), results("f")]}, "equal to"),
    ("no results", {"contents": [user("a"), calls("f"), user("b")]}, "equal to the number"),
    ("a result of nothing", {"contents": [user("a"), results("f")]}, "after a function call turn"),
    ("calls first", {"contents": [calls("f"), results("f")]}, "after a user turn"),
    ("calls after text", {"contents": [user("a"), {"role": "model", "parts": [{"text": "b"}]}, calls("f"),
                                       results("f")]}, "after a user turn"),
    ("calls in two contents", {"contents": [user("a"), calls("f"), calls("f"), results("f", "f")]}, "equal to"),
    ("a system text alone", {"systemInstruction": "be short"}, "'system_instruction'"),
    ("a schema that is none", {"generationConfig": {
        "responseMimeType": "application/json", "responseSchema": "x"}}, "response_schema"),
    ("a keyword of JSON Schema", {"tools": [{"functionDeclarations": [{"name": "f", "parameters": {
        "type": "object", "properties": {"a": {"const": 1}}}}]}]}, "parameters.properties[a]"),
    ("two schemas", {"tools": [{"functionDeclarations": [
        {"name": "f", "parameters": {}, "parametersJsonSchema": {}}]}]}, "only one of"),
    ("a tool's name", {"tools": [{"functionDeclarations": [{"name": "1f"}]}]}, "Invalid function name"),
    ("a name twice", {"tools": [{"functionDeclarations": [{"name": "f"}, {"name": "f"}]}]}, "Duplicate"),
    ("strict", {"tools": [{"functionDeclarations": [{"name": "f", "strict": True}]}]}, 'Unknown name "strict"'),
    ("a mode", {"tools": TOOLS, "toolConfig": {"functionCallingConfig": {"mode": "required"}}}, ".mode"),
    ("names beside AUTO", {"tools": TOOLS, "toolConfig": {"functionCallingConfig": {
        "mode": "AUTO", "allowedFunctionNames": ["get_time"]}}}, "only supported in"),
    ("a name that is not declared", {"tools": TOOLS, "toolConfig": {"functionCallingConfig": {
        "mode": "ANY", "allowedFunctionNames": ["x"]}}}, "must be among"),
    ("a mode without tools", {"toolConfig": {"functionCallingConfig": {"mode": "ANY"}}}, "without function_decl"),
    ("a setting", {"generationConfig": {"stop": ["a"]}}, 'Unknown name "stop"'),
    ("six stops", {"generationConfig": {"stopSequences": list("abcdef")}}, "stop_sequences"),
    ("level and budget", {"generationConfig": {"thinkingConfig": {"thinkingBudget": 1, "thinkingLevel": "LOW"}}},
     "only set one"),
    ("no output", {"generationConfig": {"maxOutputTokens": 0}}, "must be positive"),
]  # fmt: skip


@each_row(("fields", "words"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_what_the_real_api_refuses(fields: dict[str, Any], words: str) -> None:
    said = ask(**fields)
    error = json.loads(said.pieces[0])["error"]
    assert (said.status, error["code"], error["status"]) == (400, 400, "INVALID_ARGUMENT")
    assert words in error["message"]


def test_a_body_that_is_no_json() -> None:
    assert answer(b"{", stream=True, now=0, new_hex=counting()).status == 400


@pytest.mark.parametrize("stream", [True, False])
def test_text(stream: bool) -> None:
    said = ask(stream=stream)
    assert "You said" in "".join(part.text or "" for part in parts(said))
    assert finishes(said) == ["STOP"]


@pytest.mark.parametrize("stream", [True, False])
def test_parallel_calls(stream: bool) -> None:
    said = ask(TWO_CITIES, stream=stream, tools=TOOLS)
    assert asked_for(said) == [("get_weather", {"location": "Paris"}), ("get_weather", {"location": "New York"})]
    made = [part for part in parts(said) if part.function_call]
    assert [bool(part.thought_signature) for part in made] == [True, False]
    assert [bool(part.function_call and part.function_call.id) for part in made] == [False, True]
    assert finishes(said) == ["STOP"]


def test_the_turn_after_results() -> None:
    said = ask(user("Weather in Oslo?"), calls("get_weather"), results("get_weather"), tools=TOOLS)
    assert "18 degrees" in "".join(part.text or "" for part in parts(said))


CHOICES: list[tuple[dict[str, Any], list[str]]] = [
    ({"mode": "NONE"}, []),
    ({"mode": "ANY", "allowedFunctionNames": ["get_time"]}, ["get_time"]),
    ({"mode": "VALIDATED"}, ["get_weather", "get_weather"]),
]


@pytest.mark.parametrize(("config", "names"), CHOICES)
def test_the_calling_config_is_obeyed(config: dict[str, Any], names: list[str]) -> None:
    said = ask(TWO_CITIES, tools=TOOLS, toolConfig={"functionCallingConfig": config})
    assert [name for name, _ in asked_for(said)] == names


@pytest.mark.parametrize("stream", [True, False])
def test_thoughts_are_shown_to_who_asks(stream: bool) -> None:
    said = ask(stream=stream, generationConfig={"thinkingConfig": {"includeThoughts": True, "thinkingLevel": "LOW"}})
    assert [part.thought for part in parts(said)][:2] == [True, None]
    assert not any(part.thought for part in parts(ask()))


def test_usage_grows_and_adds_up() -> None:
    counts = [one.usage_metadata for one in read(ask())]
    said = [count.candidates_token_count for count in counts if count]
    assert said == sorted(said)
    for count in counts:
        assert count
        parts = (count.prompt_token_count, count.candidates_token_count, count.thoughts_token_count)
        assert count.total_token_count == sum(part or 0 for part in parts)


GOOGLES = {
    "type": "OBJECT",
    "properties": {"location": {"type": "STRING"}, "min_items": {"any_of": [{"type": "INTEGER"}], "nullable": True}},
    "required": ["location", "min_items"],
}


@pytest.mark.parametrize(
    "fields",
    [
        {"tools": [{"functionDeclarations": [{"name": "get_weather", "parameters": GOOGLES}]}]},
        {"tools": {"function_declarations": {"name": "get_weather", "parameters": GOOGLES}}},
        {"tools": [{"googleSearch": {}, "functionDeclarations": [{"name": "get_weather", "parameters": GOOGLES}]}, {}]},
    ],
)
def test_a_schema_and_lists_as_google_reads_them(fields: dict[str, Any]) -> None:
    [(name, arguments)] = asked_for(ask("Weather in Paris?", **fields))
    assert (name, arguments["location"]) == ("get_weather", "Paris")
    assert isinstance(arguments["min_items"], int)


@pytest.mark.parametrize(
    "fields",
    [
        {"contents": user("hello")},
        {"contents": {"parts": {"text": "hello"}}},
        {"systemInstruction": {"role": "system", "parts": {"text": "be short"}}},
    ],
)
def test_one_entry_stands_without_its_array(fields: dict[str, Any]) -> None:
    assert "hello" in "".join(part.text or "" for part in parts(ask(**fields)))


@pytest.mark.parametrize(
    "form",
    [
        {"responseJsonSchema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}},
        {"responseSchema": {"type": "OBJECT", "properties": {"n": {"type": "INTEGER"}}, "required": ["n"]}},
    ],
)
def test_json_by_schema(form: dict[str, Any]) -> None:
    said = ask("7 please", generationConfig={"responseMimeType": "application/json"} | form)
    assert json.loads("".join(part.text or "" for part in parts(said))) == {"n": 7}


def test_the_limit_cuts_the_answer_and_hides_a_cut_call() -> None:
    said = ask(TWO_CITIES, tools=TOOLS, generationConfig={"maxOutputTokens": 6})
    assert (asked_for(said), finishes(said)) == ([], ["MAX_TOKENS"])


@pytest.mark.parametrize(("status", "word"), [(429, "RESOURCE_EXHAUSTED"), (503, "UNAVAILABLE"), (418, "UNKNOWN")])
def test_errors_on_demand(status: int, word: str) -> None:
    said = ask(f"[demo error {status}]")
    error = json.loads(said.pieces[0])["error"]
    assert (said.status, error["status"]) == (status, word)
    assert ("details" in error) == (status != 418)


def test_a_cut_stream_lacks_its_end() -> None:
    said = ask("[demo cut] " + TWO_CITIES, tools=TOOLS)
    assert said.cut == len(said.pieces) - 2
    assert ask("[demo cut]", stream=False).cut == 0
