"""Tools whose schemas a host refuses, with all of the request: hosts that make a grammar of them, or have a form or
rules of their own. One such tool of an MCP server, or of the agent's own, ended every session there.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.clients.sending import send
from tests.corpus.driver import open_exchange, opened
from tests.named_rows import each_row
from toolwire.doors import load_door
from toolwire.exchange.exchange import Exchange
from toolwire.model.settings import ProviderConfig, Target, Tenant

PATTERN = "^(?!\\.\\.?(?:\\/|$))[\\w\\-]{1,200}$"
#: As Claude Code's own `Artifact` has it, and Apollo's and Notion's MCP servers.
SCHEMA = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "description": "Where.", "pattern": PATTERN, "maxLength": 65536},
        "whose": {
            "type": "object",
            "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
            "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
        },
        "any": {},
    },
    "required": ["path"],
}
PLAIN = {"type": "object", "properties": {"path": {"type": "string", "description": "Where."}}, "required": ["path"]}

#: Host -> what it says of such a tool.
REFUSALS = {
    "llama.cpp": "Failed to initialize samplers: failed to parse grammar",
    "llama.cpp, a pattern": "JSON schema conversion failed:\nPattern must start with '^' and end with '$'",
    "llama.cpp, no type": 'Unrecognized schema: {"description":"x"}',
    "Ollama": "parse: error parsing grammar: unknown escape at \\d",
    "vLLM": "The provided JSON schema contains features not supported by xgrammar.",
    "SGLang": "Failed to compile json grammar: unsupported keyword",
    "Fireworks": "JSON Schema not supported: could not understand the instance `{}`.",
    "Moonshot": "tools.function.parameters is not a valid moonshot flavored json schema, details: <At path 'root': "
    "when using anyOf, type should be defined in anyOf items instead of the parent schema>",
    "Groq": "invalid JSON schema for tool f, tools[0].function.parameters: 'required' present but 'properties' is "
    "missing",
    "OpenAI behind a proxy": "Invalid schema for function 'f': In context=('properties', 'any'), schema must have a "
    "'type' key.",
    "Claude behind a proxy": "tools.0.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft "
    "2020-12",
    "Gemini behind a proxy": "* GenerateContentRequest.tools[0].function_declarations[0].parameters.properties[any]"
    ".type: must be specified when not using one_of, any_of or all_of fields",
    "Bedrock behind a proxy": "The value at toolConfig.tools.0.toolSpec.inputSchema.json.type must be one of the "
    "following: object.",
}


def request(door: str, schema: Any, **more: Any) -> dict[str, Any]:
    about = {"name": "f", "description": "Does.", **more}
    match door:
        case "chat_completions":
            function = about | {"parameters": schema}
            return {
                "messages": [{"role": "user", "content": "x"}],
                "tools": [{"type": "function", "function": function}],
            }
        case "responses":
            return {
                "input": [{"role": "user", "content": "x"}],
                "tools": [{"type": "function", "parameters": schema, **about}],
            }
        case "messages":
            return {
                "max_tokens": 99,
                "messages": [{"role": "user", "content": "x"}],
                "tools": [about | {"input_schema": schema}],
            }
    declared = {"functionDeclarations": [about | {"parametersJsonSchema": schema}]}
    return {"contents": [{"role": "user", "parts": [{"text": "x"}]}], "tools": [declared]}


def asked(door: str, wire: str, schema: Any, profile: str = "compatible", **more: Any) -> Exchange:
    body = json.dumps({"model": "m", **request(door, schema, **more)}).encode()
    return open_exchange(body, door=door, wire=wire, profile=profile)


def refused(exchange: Exchange, said: str, status: int = 400) -> bool:
    """Whether the client is told of this refusal, since nothing is sent in place of what was refused."""
    error = {"message": said, "type": "invalid_request_error", "code": status}
    answer = json.dumps({"message": said, "error": error}).encode()  # AWS's and others' form
    actions = exchange.receive_head(status, {"content-type": "application/json"})
    actions += exchange.receive_data(answer) + exchange.receive_end()
    return bool(actions)


def tool(exchange: Exchange) -> dict[str, Any]:
    (found,) = json.loads(exchange.upstream_request.body)["tools"]
    inner: dict[str, Any] = found.get("function", found)
    return inner


@each_row("host", REFUSALS)
@each_row("wire", ["openai_chat", "openai_responses"])
@each_row("door", ["chat_completions", "responses", "messages", "gemini"])
def test_a_host_that_refuses_a_schema_is_sent_what_every_host_takes(door: str, wire: str, host: str) -> None:
    for status in (400, 422, 500):
        exchange = asked(door, wire, SCHEMA)
        before = tool(exchange)
        assert before["parameters"]["properties"]["path"]["pattern"] == PATTERN
        assert not refused(exchange, REFUSALS[host], status)
        sent = tool(exchange)
        path, whose, anything = (sent["parameters"]["properties"][name] for name in ("path", "whose", "any"))
        assert path.keys() == {"type", "description"}
        assert path["description"].startswith("Where.\n\n")
        assert json.loads(path["description"].partition("\n\n")[2]) == {"maxLength": 65536, "pattern": PATTERN}
        assert whose["properties"].keys() == {"a", "b"}
        assert "anyOf" not in whose
        assert set(anything) == {"type"}
        assert sent["parameters"]["required"] == ["path"]
        assert {name: sent[name] for name in ("name", "description")} == {"name": "f", "description": "Does."}
        cuts = [code.rpartition("/")[2] for code in exchange.figures.warnings if code.startswith("tool_schema_reduced")]
        assert set(cuts) == {"pattern", "maxLength", "anyOf"}
        assert refused(exchange, REFUSALS[host], status), "once"


@each_row("said", ["Failed to initialize samplers: failed to parse grammar",
                   "The specified schema produces a constraint that has too many states for serving."])  # fmt: skip
@each_row(
    ("door", "wire"),
    [
        ("chat_completions", "gemini"),
        ("messages", "gemini"),
        ("chat_completions", "anthropic_messages"),
        ("messages", "anthropic_messages"),
    ],
)
def test_so_is_a_host_of_anthropics_or_googles_api(door: str, wire: str, said: str) -> None:
    """Ollama and llama.cpp speak Anthropic's, and Google itself refuses what is too much of many tools."""
    exchange = asked(door, wire, SCHEMA)
    assert '"pattern"' in exchange.upstream_request.body.decode()
    assert not refused(exchange, said)
    (sent,) = json.loads(exchange.upstream_request.body)["tools"]
    sent = sent.get("functionDeclarations", [sent])[0]
    schema = sent.get("input_schema") or sent["parametersJsonSchema"]
    assert schema["properties"]["path"].keys() == {"type", "description"}
    assert (sent["name"], sent["description"]) == ("f", "Does.")
    assert any(code.endswith("/pattern") for code in exchange.figures.warnings)
    assert refused(exchange, said), "once"


def test_at_anthropics_own_api_a_schema_is_between_the_two() -> None:
    target = Target(ProviderConfig("p", "anthropic_messages", "https://api.anthropic.com", "none"), "claude-opus-5")
    body = json.dumps({"model": "m", **request("messages", SCHEMA)}).encode()
    said = "tools.0.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12"
    assert refused(opened(load_door("messages"), body, target, Tenant()), said)


@each_row("wire", ["openai_chat", "openai_responses"])
@each_row("door", ["chat_completions", "responses", "messages", "gemini"])
def test_where_every_host_takes_the_schema_the_refusal_is_shown(door: str, wire: str) -> None:
    assert refused(asked(door, wire, PLAIN), REFUSALS["llama.cpp"])


def test_words_of_other_refusals_change_no_schema() -> None:
    for said in ("Rate limit reached", "messages: at least one message is required", "model not found", "bad request"):
        assert refused(asked("messages", "openai_chat", SCHEMA), said)


def test_codexs_namespaces_stay_whole_where_its_own_api_is_spoken() -> None:
    spaced = {"type": "namespace", "name": "mcp__a__", "description": "A",
              "tools": [{"type": "function", "name": "f", "parameters": SCHEMA}]}  # fmt: skip
    body = json.dumps({"model": "m", "input": [{"role": "user", "content": "x"}], "tools": [spaced]}).encode()
    exchange = open_exchange(body, door="responses", wire="openai_responses", profile="compatible")
    assert refused(exchange, REFUSALS["llama.cpp"])
    other = open_exchange(body, door="responses", wire="openai_chat", profile="compatible")
    assert not refused(other, REFUSALS["llama.cpp"])
    assert "pattern" not in tool(other)["parameters"]["properties"]["path"]


@pytest.mark.parametrize("door", ["responses", "messages", "gemini"])
def test_a_host_with_a_form_of_its_own_is_sent_that_at_once(door: str) -> None:
    found = send(door, "openai_chat", profile="moonshot", **request(door, SCHEMA)).tools["f"]
    assert found["properties"]["path"] == SCHEMA["properties"]["path"]  # type: ignore[index]
    assert "anyOf" not in found["properties"]["whose"]
    assert "type" in found["properties"]["any"]


def test_its_own_apis_client_has_its_own_schema_there() -> None:
    assert (
        send("chat_completions", "openai_chat", profile="moonshot", **request("chat_completions", SCHEMA)).tools["f"]
        == SCHEMA
    )


# ---------------------------------------------------------------- strict

STRICT = [
    "Tools with mixed values for 'strict' are not allowed. Please set all tools to 'strict: true' or 'strict: false'",
    "Tools with strict=True are not supported by this model",
    "Extra inputs are not permitted, field: 'tools[0].function.strict', value: True",
    "property 'tools[0].function.strict' is unsupported",
]
CLOSED = PLAIN | {"additionalProperties": False}


@each_row("said", STRICT)
@each_row(("door", "wire"), [("chat_completions", "openai_chat"), ("responses", "openai_chat"),
                             ("messages", "openai_chat"), ("responses", "openai_responses")])  # fmt: skip
def test_a_host_that_refuses_strict_is_asked_without(door: str, wire: str, said: str) -> None:
    exchange = asked(door, wire, CLOSED, strict=True)
    assert tool(exchange)["strict"] is True
    assert not refused(exchange, said)
    assert not tool(exchange).get("strict")
    assert tool(exchange)["parameters"] == CLOSED
    assert "strict_turned_off" in exchange.figures.warnings
    assert refused(exchange, said), "once"


@each_row("strict", [(True, True), (True, False), (True, None), (False, None), (None, None)])
@each_row("door", ["responses", "messages"])
def test_a_host_that_wants_all_tools_strict_or_none(door: str, strict: tuple[bool | None, bool | None]) -> None:
    members = request(door, CLOSED)
    (first,) = members["tools"]
    members["tools"] = [
        first | {"name": name} | ({} if said is None else {"strict": said})
        for name, said in zip("fg", strict, strict=True)
    ]
    found = send(door, "openai_chat", profile="cerebras", **members)
    sent = [entry["function"].get("strict") for entry in found.body["tools"]]
    assert sent == ([True, True] if strict == (True, True) else [None, None])
    assert ("strict_turned_off" in found.warnings) == (True in strict and strict != (True, True))


# ---------------------------------------------------------------- the format of the answer

BY_SCHEMA = {"type": "json_schema", "json_schema": {"name": "out", "schema": CLOSED}}
#: Host -> what it says of a schema for the answer.
FORMATS = {
    "Groq": "This model does not support response format `json_schema`. See supported models",
    "Groq, a keyword": "invalid schema for response format: response_format/json_schema: minItems is not supported",
    "DeepSeek": "This response_format type is unavailable now",
    "OpenAI's older models": "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this "
    "model.",
    "llama.cpp": "Failed to initialize samplers: failed to parse grammar",
}
BESIDE_TOOLS = "json mode cannot be combined with tool/function calling"


def formatted(door: str, wire: str, *, tools: bool = False) -> Exchange:
    members = request(door, PLAIN)
    if not tools:
        del members["tools"]
    shape = {"type": "json_schema", "name": "out", "schema": CLOSED}
    match door:
        case "chat_completions":
            members["response_format"] = BY_SCHEMA
        case "responses":
            members["text"] = {"format": shape}
        case "messages":
            members["output_config"] = {"format": {"type": "json_schema", "schema": CLOSED}}
        case _:
            members["generationConfig"] = {"responseMimeType": "application/json", "responseJsonSchema": CLOSED}
    body = json.dumps({"model": "m", **members}).encode()
    return open_exchange(body, door=door, wire=wire, profile="compatible")


def shape_of(exchange: Exchange) -> str | None:
    """The kind of the format that the host is asked for."""
    body = json.loads(exchange.upstream_request.body)
    found = body.get("response_format") or body.get("text", {}).get("format") or {}
    kind: str | None = found.get("type")
    return kind


@each_row("host", FORMATS)
@each_row(
    ("door", "wire"),
    [("responses", "openai_chat"), ("messages", "openai_chat"), ("gemini", "openai_chat"),
     ("chat_completions", "openai_responses"), ("messages", "openai_responses")],
)  # fmt: skip
def test_a_schema_that_a_host_refuses_for_its_answer_is_asked_for_in_words(door: str, wire: str, host: str) -> None:
    exchange = formatted(door, wire)
    assert shape_of(exchange) == "json_schema"
    for kind in ("json_object", None):
        assert not refused(exchange, FORMATS[host])
        assert shape_of(exchange) == kind
        assert "It must be valid against this JSON Schema" in exchange.upstream_request.body.decode()
        assert "response_format_in_words" in exchange.figures.warnings
    assert refused(exchange, FORMATS[host])


@each_row(
    ("door", "wire"),
    [("responses", "openai_chat"), ("messages", "openai_chat"), ("chat_completions", "openai_responses")],
)
def test_a_host_that_takes_no_format_beside_tools_is_asked_in_words_where_there_are_any(door: str, wire: str) -> None:
    exchange = formatted(door, wire, tools=True)
    assert not refused(exchange, BESIDE_TOOLS)
    assert shape_of(exchange) is None
    assert tool(exchange)["parameters"] == PLAIN
    assert "response_format_in_words" in exchange.figures.warnings
    assert refused(formatted(door, wire), BESIDE_TOOLS), "there are none"


def test_the_format_of_its_own_apis_client_is_between_the_two() -> None:
    for said in (*FORMATS.values(), BESIDE_TOOLS):
        assert refused(formatted("chat_completions", "openai_chat"), said)
        assert refused(formatted("responses", "openai_responses"), said)


# ---------------------------------------------------------------- members of tools


@each_row(
    "said",
    [
        "property 'tools[0].cache_control' is unsupported",
        "Extra inputs are not permitted, field: 'tools[0].cache_control'",
    ],
)
def test_a_tools_members_go_where_a_chat_host_refuses_one(said: str) -> None:
    members = request("chat_completions", PLAIN)
    members["tools"][0] |= {"cache_control": {"type": "ephemeral"}}
    exchange = open_exchange(json.dumps({"model": "m", **members}).encode())
    assert not refused(exchange, said)
    (sent,) = json.loads(exchange.upstream_request.body)["tools"]
    assert sent == request("chat_completions", PLAIN)["tools"][0]
    assert {"members_refused", "not_supported:cache_control"} <= set(exchange.figures.warnings)


#: What hosts of Anthropic's API say -> the member of the request, or of its tool, that they do not know.
EXTRA: dict[str, tuple[str, bool]] = {
    "tools.0.custom.eager_input_streaming: Extra inputs are not permitted": ("eager_input_streaming", True),
    "tools.0.custom.defer_loading: Extra inputs are not permitted": ("defer_loading", True),
    "tools.0.custom.input_examples: Extra inputs are not permitted": ("input_examples", True),
    "9 request validation errors: Extra inputs are not permitted, field: 'tools[0].cache_control'": (
        "cache_control", True,
    ),
    "context_management: Extra inputs are not permitted": ("context_management", False),
    "output_config: Extra inputs are not permitted": ("output_config", False),
}  # fmt: skip
NEWER = {"eager_input_streaming": True, "defer_loading": False, "input_examples": [{"path": "a"}],
         "cache_control": {"type": "ephemeral"}}  # fmt: skip
TOP = {"context_management": {"edits": []}, "output_config": {"effort": "low"}}


@each_row("said", EXTRA)
@each_row("wire", ["anthropic_messages", "bedrock_messages"])
def test_what_another_host_of_anthropics_api_does_not_know_is_left_out(wire: str, said: str) -> None:
    """Claude Code sends what is new in each of its versions, and such a host refuses every request then."""
    name, of_tool = EXTRA[said]
    members = request("messages", PLAIN) | TOP
    members["tools"][0] |= NEWER
    body = json.dumps({"model": "m", **members}).encode()
    exchange = open_exchange(body, door="messages", wire=wire, model="anthropic.claude-opus-5")
    before = json.loads(exchange.upstream_request.body)
    assert not refused(exchange, said)
    after = json.loads(exchange.upstream_request.body)
    del (before["tools"][0] if of_tool else before)[name]
    assert after == before
    assert f"not_supported:{name}" in exchange.figures.warnings
    assert refused(exchange, said), "once"


def test_what_an_answer_is_to_look_like_is_never_left_out() -> None:
    members = request("messages", PLAIN) | {"output_config": {"format": {"type": "json_schema", "schema": CLOSED}}}
    body = json.dumps({"model": "m", **members}).encode()
    exchange = open_exchange(body, door="messages", wire="anthropic_messages", model="claude-opus-5")
    assert refused(exchange, "output_config: Extra inputs are not permitted")
