"""Names of tools that a host refuses, with all of the request, or that its model cannot write. One tool of an MCP
server ("12306__get", "files.read", "resolve-library-id") ended every session there.

Hosts' rules are rows of `providers/profiles.py` and `bedrock_converse/models.py`; another host's rule is learned from
its refusal. A client never sees a name but its own.
"""

from __future__ import annotations

import json
import re
from typing import Any

from tests.clients.sending import MODELS
from tests.corpus.driver import answer, open_exchange
from tests.door_requests import function, question
from tests.named_rows import each_row
from tests.providers.every_door import calls_in
from tests.providers.test_refused_schemas import refused
from toolwire.exchange.exchange import Exchange
from toolwire.rewrite.tool_names import wire_name

PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}}
DOORS = ["chat_completions", "messages", "responses", "gemini", "native"]
#: What MCP servers and frameworks call their tools.
NAMES = [
    "12306__get-tickets",
    "files.read",
    "mcp/fs/list dir",
    "resolve-library-id",
    "_private",
    "größe",
    "9",
    "-x",
    "fine",
]

LETTER = r"[A-Za-z][A-Za-z0-9_-]*"
IDENTIFIER = r"[A-Za-z_][A-Za-z0-9_]*"
USUAL = r"[A-Za-z0-9_-]+"
#: Host -> its wire, its profile, a model, and the rule that it documents, or that it was seen to keep to.
RULES: dict[str, tuple[str, str, str, str]] = {
    "OpenAI": ("openai_chat", "openai", "gpt-5.2", USUAL),
    "OpenAI, Responses": ("openai_responses", "openai", "gpt-5.6", USUAL),
    "Anthropic": ("anthropic_messages", "anthropic", "claude-opus-5", USUAL),
    "Google": ("gemini", "compatible", "gemini-3-flash", r"[A-Za-z_][A-Za-z0-9_.:-]*"),
    "Google by OpenAI's API": ("openai_chat", "gemini-compat", "gemini-3-flash", r"[A-Za-z_][A-Za-z0-9_-]*"),
    "Bedrock": ("bedrock_converse", "bedrock", "anthropic.claude-opus-5", USUAL),
    "Nova": ("bedrock_converse", "bedrock", "us.amazon.nova-pro-v1:0", IDENTIFIER),
    "Command R at Bedrock": ("bedrock_converse", "bedrock", "cohere.command-r-plus-v1:0", IDENTIFIER),
    "Cohere": ("openai_chat", "cohere", "command-a", IDENTIFIER),
    "Moonshot": ("openai_chat", "moonshot", "kimi-k2.6", LETTER),
    "Mistral": ("openai_chat", "mistral", "mistral-large", USUAL),
    "Groq": ("openai_chat", "groq", "llama-4", USUAL),
    "any other": ("openai_chat", "compatible", "m", USUAL),
}


def names_in(exchange: Exchange) -> list[str]:
    """What the tools are called in the request to the host."""
    body = json.loads(exchange.upstream_request.body)
    tools = body.get("toolConfig", {}).get("tools") or body["tools"]
    told = [inner for tool in tools for inner in tool.get("functionDeclarations", [tool])]
    return [(tool.get("function") or tool.get("toolSpec") or tool)["name"] for tool in told]


def asked(door: str, wire: str, names: list[str], profile: str = "compatible", model: str | None = None) -> Exchange:
    body = {"model": "m", **question(door, "hi", *(function(name, PARAMETERS) for name in names))}
    raw = json.dumps(body, ensure_ascii=False).encode()
    return open_exchange(raw, door=door, wire=wire, profile=profile, model=model or MODELS[wire])


@each_row("host", RULES)
@each_row("door", DOORS)
def test_a_host_is_sent_names_that_it_takes(door: str, host: str) -> None:
    wire, profile, model, rule = RULES[host]
    if door == wire == "gemini":
        return  # between the two
    names = [name for name in NAMES if door != "native" or re.fullmatch("[a-zA-Z0-9_]{1,64}", name)]  # its own rule
    sent = names_in(asked(door, wire, names, profile, model))
    assert [name for name in sent if not re.fullmatch(rule, name) or len(name) > 64] == []
    kept = [name for name in names if re.fullmatch(rule, name)]
    assert [name for name in kept if name not in sent] == []
    assert len(set(sent)) == len(names)


def history(name: str) -> dict[str, Any]:
    """A request of the Chat API whose history has a call, and which asks for another one."""
    call = {"id": "call_1", "type": "function", "function": {"name": name, "arguments": "{}"}}
    return {
        "messages": [
            {"role": "user", "content": "x"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "call_1", "content": "r"},
        ],
        "tools": [{"type": "function", "function": function(name, PARAMETERS)}],
        "tool_choice": {"type": "function", "function": {"name": name}},
    }


def call_of(name: str) -> bytes:
    call = {"id": "call_2", "type": "function", "function": {"name": name, "arguments": "{}"}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    return json.dumps({"id": "a", "object": "chat.completion", "created": 1, "model": "m", "choices": [
        {"index": 0, "message": message, "finish_reason": "tool_calls"}]}).encode()  # fmt: skip


@each_row("name", [name for name in NAMES if name not in ("fine", "resolve-library-id")])
def test_the_history_and_the_choice_have_the_same_name_and_the_client_its_own(name: str) -> None:
    body = json.dumps({"model": "m", **history(name)}, ensure_ascii=False).encode()
    exchange = open_exchange(body, profile="moonshot")
    sent = json.loads(exchange.upstream_request.body)
    (wire,) = names_in(exchange)
    assert sent["messages"][1]["tool_calls"][0]["function"]["name"] == wire
    assert sent["tool_choice"]["function"]["name"] == wire != name
    told = answer(exchange, [call_of(wire)], content_type="application/json")
    assert calls_in("chat_completions", told.body, streamed=False) == [(name, "{}")]


def test_a_tool_of_the_hosts_own_keeps_its_name_in_the_history() -> None:
    """Moonshot's `$web_search`: the client sends the call back, and the arguments as its result."""
    own = {"type": "builtin_function", "function": {"name": "$web_search"}}
    asks = history("$web_search") | {"tools": [own, {"type": "function", "function": function("a.b", PARAMETERS)}]}
    del asks["tool_choice"]
    exchange = open_exchange(json.dumps({"model": "m", **asks}).encode(), profile="moonshot")
    sent = json.loads(exchange.upstream_request.body)
    assert sent["messages"][1]["tool_calls"][0]["function"]["name"] == "$web_search"
    assert sent["tools"][0] == own
    assert sent["tools"][1]["function"]["name"] == wire_name("a.b")


# ---------------------------------------------------------------- a rule that no row has

#: Who says it -> what they say of a name.
REFUSALS = {
    "Moonshot": "Invalid request: function name is invalid, must start with a letter and can contain letters, numbers, "
    "underscores, and dashes",
    "OpenAI": "Invalid 'tools[3].function.name': string does not match pattern. Expected a string that matches the "
    "pattern '^[a-zA-Z0-9_-]+$'.",
    "OpenAI, a length": "Invalid 'tools[25].function.name': string too long. Expected a string with maximum length 64, "
    "but got a string with length 67 instead.",
    "OpenAI, Responses": "Invalid 'tools[48].name': string does not match pattern.",
    "OpenAI, a call": "Invalid 'messages[9].tool_calls[0].function.name': string does not match pattern.",
    "OpenAI, older": "'Google Search' does not match '^[a-zA-Z0-9_-]{1,64}$' - 'functions.0.name'",
    "Mistral": "Function name was add_newam_task_with_due_date___8c498bee-e833-49a9-8a88-0ab59fa26cb8 but must be a-z, "
    "A-Z, 0-9, or contain underscores and dashes, with a maximum length of 64.",
    "Google": "* GenerateContentRequest.tools[0].function_declarations[0].name: Invalid function name. Must start with "
    "a letter or an underscore.",
    "Claude": "tools.134.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
    "Claude, a call": "messages.1.content.0.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{1,64}$'",
    "Bedrock": "Value 'x' at 'toolConfig.tools.22.member.toolSpec.name' failed to satisfy constraint: Member must "
    "satisfy regular expression pattern: [a-zA-Z0-9_-]+",
    "an aggregator": "A tool name is invalid. Tool names can only contain letters, numbers, and underscores",
}


@each_row("said", REFUSALS.values(), ids=REFUSALS)
@each_row("wire", ["openai_chat", "openai_responses", "anthropic_messages"])
@each_row("door", ["chat_completions", "messages", "responses", "gemini"])
def test_a_host_that_refuses_a_name_is_sent_one_that_every_host_takes(door: str, wire: str, said: str) -> None:
    for name in ("1c_find-all", "find-all"):
        exchange = asked(door, wire, [name, "fine"])
        assert names_in(exchange) == [name, "fine"]
        assert not refused(exchange, said)
        assert re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", names_in(exchange)[0])
        assert names_in(exchange)[1] == "fine"
        assert refused(exchange, said), "once"


@each_row("said", REFUSALS.values(), ids=REFUSALS)
def test_where_every_host_takes_the_names_the_refusal_is_shown(said: str) -> None:
    assert refused(asked("chat_completions", "openai_chat", ["fine"]), said)


@each_row(
    "said", ["Rate limit reached", "bad request", "model not found", "messages: at least one message is required"]
)
def test_words_of_other_refusals_change_no_name(said: str) -> None:
    assert refused(asked("messages", "openai_chat", ["1c_find-all"]), said)


@each_row("door", ["chat_completions", "messages", "responses", "gemini"])
def test_the_client_has_its_own_name_behind_a_refusal_too(door: str) -> None:
    exchange = asked(door, "openai_chat", ["1c_find-all"])
    assert not refused(exchange, REFUSALS["Moonshot"])
    (wire,) = names_in(exchange)
    told = answer(exchange, [call_of(wire)], content_type="application/json")
    ((name, arguments),) = calls_in(door, told.body, streamed=False)
    assert name == "1c_find-all"
    assert json.loads(arguments) == {}
