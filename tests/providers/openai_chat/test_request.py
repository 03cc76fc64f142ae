"""What a Chat Completions host is sent: the client's own bytes where nothing must change, one node where one must."""

from __future__ import annotations

import itertools
import json
import re
from typing import Any

import pytest

from tests.corpus.driver import open_exchange
from toolwire.exchange.exchange import Exchange
from toolwire.providers.profiles import PROFILES
from toolwire.wire.json import elements, members

USER = {"role": "user", "content": "hi"}
WEATHER = {
    "type": "function",
    "function": {"name": "weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}},
}
TIME = {"type": "function", "function": {"name": "time"}}


def call(id: str, name: str = "weather", arguments: str = "{}") -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def turn(*calls: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": list(calls), **more}


def result(id: str, content: Any = "sunny") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": content}


def build(*messages: Any, profile: str = "compatible", **fields: Any) -> Exchange:
    document = {"model": "p/m", "messages": list(messages) or [USER], **fields}
    return open_exchange(json.dumps(document).encode(), profile=profile)


def sent(*messages: Any, profile: str = "compatible", **fields: Any) -> dict[str, Any]:
    """What reaches the host, parsed."""
    document: dict[str, Any] = json.loads(build(*messages, profile=profile, **fields).upstream_request.body)
    return document


def raw_sent(body: bytes, profile: str = "compatible") -> dict[str, bytes]:
    return members(open_exchange(body, profile=profile).upstream_request.body)


# ---------------------------------------------------------------- the lane

#: Odd layout, numbers, escapes, key order and fields nobody knows: what a parse and a re-serialisation would change.
ODD = rb"""{
  "temperature": 1.10, "metadata" : {"a":"\u00e9\/"}, "seed": 9007199254740993123,
  "messages": [ {"content":"S\u0041", "role":"system", "cache_control" : {"type":"ephemeral"}},
    {"role":"user","content":[{"text":"x","type":"text","cache_control":{ "ttl":"1h" }},
      {"type":"image_url","image_url":{"detail":"original","url":"data:image/png;base64,AA=="}},
      {"type":"file","file":{"file_id":"f"}}]},
    {"tool_calls":[{"function":{"arguments":"{\"n\": 1.10,\"big\": 1234567890123456789}","name":"weather"},
      "id":"call_A","type":"function","extra":{"deep":[1e3]}}],"role":"assistant","content":null},
    {"role":"tool","content":"r","tool_call_id":"call_A","meta":1.0}],
  "tools": [ {"function":{"parameters":{"type":"object","properties":{"n":{"maximum":1e3,"minimum":1.10}}},
      "strict":false,"name":"weather","later":[]},"type":"function","cache_control":{"type":"ephemeral"}} ],
  "tool_choice" : {"function":{"name":"weather"},"type":"function"},
  "model": "provider/some/model", "max_completion_tokens":100, "logit_bias":{"50256":-100.0},
  "response_format": {"type":"json_schema","json_schema":{"schema":{"const":1.0},"name":"n","x":1}},
  "unknown_to_all":{"b":1,"a":[1.10,"\u2028"]}, "stop":["\u0000"], "parallel_tool_calls" : false
}"""


@pytest.mark.parametrize("profile", ["openai", "compatible", "openrouter", "xai"])
def test_every_member_is_the_clients_own_bytes_but_the_model(profile: str) -> None:
    given, got = members(ODD), raw_sent(ODD, profile)

    renamed = dict(PROFILES[profile].rename)
    refused = PROFILES[profile].refuses
    assert list(got) == [renamed.get(name, name) for name in given if name not in refused]
    for name, raw in given.items():
        if name not in refused:
            assert got[renamed.get(name, name)] == (b'"m"' if name == "model" else raw)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (b"", b',"stream_options":{"include_usage":true}'),
        (b',"stream_options":null', b',"stream_options":{"include_usage":true}'),
        (b',"stream_options":{"include_usage":true}', b',"stream_options":{"include_usage":true}'),
        (b',"stream_options":{"include_usage":false}', b',"stream_options":{"include_usage":true}'),
        (
            b',"stream_options":{"include_obfuscation":false,"x":1.0}',
            b',"stream_options":{"include_obfuscation":false,"x":1.0,"include_usage":true}',
        ),
    ],
)
def test_usage_is_always_asked_for_in_a_stream(options: bytes, expected: bytes) -> None:
    head = b'{"model":"m","messages":[{"role":"user","content":"x"}],"stream":true'
    assert open_exchange(head + options + b"}").upstream_request.body == head + expected + b"}"
    if options:
        assert b"stream_options" not in open_exchange(head + options + b"}", profile="mistral").upstream_request.body


def test_the_request_is_a_post_with_the_credential_and_nothing_of_the_clients_headers() -> None:
    request = build(stream=True).upstream_request

    assert (request.method, request.url) == ("POST", "http://127.0.0.1:1/v1/chat/completions")
    assert dict(request.headers) == {"content-type": "application/json", "accept": "text/event-stream"}
    assert dict(build().upstream_request.headers)["accept"] == "application/json"


def test_the_next_turn_extends_the_prefix_of_the_last() -> None:
    """What a prompt cache needs: nothing before the new messages changes, also where ids and names are rewritten."""
    odd = {"type": "function", "function": {"name": "fs.read file", "description": "d"}}
    history = [{"role": "developer", "content": "D"}, USER]
    for number in range(4):
        turns = [turn(call(f"id {number}:{'x' * 70}", "fs.read file"), call("same", "time"))]
        history += [*turns, result(f"id {number}:{'x' * 70}"), result("same"), {"role": "user", "content": "\u2028é"}]

    for profile in PROFILES:
        bodies = [
            build(*history[: 2 + 4 * n], tools=[odd, TIME], profile=profile).upstream_request.body for n in range(5)
        ]
        heads = [body.partition(b'],"tools":')[0] for body in bodies]
        tails = {body.partition(b'],"tools":')[2] for body in bodies}
        assert all(later.startswith(earlier) for earlier, later in itertools.pairwise(heads)), profile
        assert len(tails) == 1, profile


# ---------------------------------------------------------------- what must change, and nothing beside it


def untouched(raw: bytes, profile: str, changed: set[int], member: str = "messages") -> dict[int, Any]:
    """The changed elements of a member, parsed; all others must be the client's bytes."""
    given, got = elements(members(raw)[member]), elements(raw_sent(raw, profile)[member])
    assert len(given) == len(got)
    assert {number for number, pair in enumerate(zip(given, got, strict=True)) if pair[0] != pair[1]} == changed
    return {number: json.loads(got[number]) for number in changed}


HISTORY = rb"""{"model":"m","messages":[
  {"role":"user","content":"\u0041", "x":1.0},
  {"role":"assistant","note":1.10,"content":"\u0042","tool_calls":[
     {"function":{"name":"weather","arguments":"{\"a\":1.10}","parsed":1.0},"id":"%s","type":"function","t":1e3},
     {"id": "call_B" ,"type":"function","function":{"name":"weather","arguments":""}}]},
  {"role":"tool","content":[{"type":"text","text":"\u0043","cache_control":{}}],"tool_call_id":"%s","m":1.0},
  {"tool_call_id":"call_B", "role":"tool","content":"\u0044"}]}"""


@pytest.mark.parametrize(
    ("id", "profile"),
    [
        (b"call:weird/id." + b"x" * 80, "openai"),
        (b"call:weird/id." + b"x" * 80, "compatible"),
        (b"toolu_" + b"A" * 35, "openai"),
        (b"functions.weather:0", "openai"),
        (b"with space", "compatible"),
        (b"call_B\\u00e9", "compatible"),
        (b"a" * 41, "azure"),
    ],
)
def test_an_illegal_id_is_rewritten_on_both_ends_only(id: bytes, profile: str) -> None:
    raw = HISTORY % (id, id)
    nodes = untouched(raw, profile, {1, 2})

    new = nodes[1]["tool_calls"][0]["id"]
    assert re.fullmatch(PROFILES[profile].call_id, new)
    assert nodes[2]["tool_call_id"] == new
    assert untouched(raw, profile, {1, 2}) == nodes, "the same on every turn"
    # A rewritten node loses its layout, never a field: only the id differs.
    given = [json.loads(message) for message in elements(members(raw)["messages"])]
    given[1]["tool_calls"][0]["id"] = given[2]["tool_call_id"] = new
    assert nodes == {1: given[1], 2: given[2]}
    text = raw_sent(raw, profile)["messages"]
    assert rb"{\"a\":1.10}" in text
    assert b'"note":1.10' in text
    assert b'"t":1e3' in text
    assert b'{"id": "call_B" ,' in text, "the sibling call keeps its bytes"


@pytest.mark.parametrize("id", ["functions.weather:0", "toolu_01A", "a" * 64, "call_1", "9"])
def test_a_legal_id_goes_as_it_is(id: str) -> None:
    assert untouched(HISTORY % (id.encode(), id.encode()), "compatible", set()) == {}


def test_a_duplicate_id_is_made_distinct_and_stays_paired() -> None:
    history = [USER, turn(call("call_0")), result("call_0", "one"), turn(call("call_0")), result("call_0", "two")]
    for profile in ("openai", "compatible", "mistral"):
        _, one, first, two, second = sent(*history, profile=profile)["messages"]
        ids = one["tool_calls"][0]["id"], two["tool_calls"][0]["id"]
        assert ids[0] != ids[1]
        assert (first["tool_call_id"], first["content"]) == (ids[0], "one")
        assert (second["tool_call_id"], second["content"]) == (ids[1], "two")


def test_two_parallel_calls_of_one_id_are_made_distinct() -> None:
    _, calls, one, two = sent(USER, turn(call("x"), call("x", "time")), result("x", "1"), result("x", "2"))["messages"]
    ids = [entry["id"] for entry in calls["tool_calls"]]
    assert len(set(ids)) == 2
    assert [(one["tool_call_id"], one["content"]), (two["tool_call_id"], two["content"])] == [
        (ids[0], "1"),
        (ids[1], "2"),
    ]


def test_mistral_ids_are_nine_alphanumerics_deterministic_and_distinct() -> None:
    ids = [f"call_{number}" for number in range(200)] + ["abcDEF123"]
    history = [USER, turn(*map(call, ids)), *map(result, ids)]
    first, again = (sent(*history, profile="mistral")["messages"] for _ in range(2))

    new = [entry["id"] for entry in first[1]["tool_calls"]]
    assert first == again
    assert len(set(new)) == len(ids)
    assert all(re.fullmatch("[A-Za-z0-9]{9}", id) for id in new)
    assert new[-1] == "abcDEF123"
    assert [message["tool_call_id"] for message in first[2:]] == new


# ---------------------------------------------------------------- names

ODD_NAMES = ["fs.read", "read file", "x" * 65, "naïve", "a/b", "fs_read"]


@pytest.mark.parametrize("profile", ["openai", "compatible", "mistral"])
def test_names_a_host_refuses_are_mapped_everywhere(profile: str) -> None:
    tools = [{"type": "function", "function": {"name": name, "x": 1}} for name in ODD_NAMES]
    choice = {"type": "function", "function": {"name": "fs.read"}}
    body = sent(
        USER,
        turn(call("abcdefgh1", "fs.read"), call("abcdefgh2", "fs_read")),
        result("abcdefgh1") | {"name": "fs.read"},
        result("abcdefgh2"),
        tools=tools,
        tool_choice=choice,
        profile=profile,
    )

    names = [tool["function"]["name"] for tool in body["tools"]]
    assert len(set(names)) == len(ODD_NAMES)
    assert all(re.fullmatch("[A-Za-z0-9_-]{1,64}", name) for name in names)
    assert names[-1] == "fs_read"
    assert all(tool["function"]["x"] == 1 for tool in body["tools"])
    assert body["tool_choice"] == {"type": "function", "function": {"name": names[0]}}
    assert [entry["function"]["name"] for entry in body["messages"][1]["tool_calls"]] == [names[0], "fs_read"]
    assert body["messages"][2]["name"] == names[0]


def test_a_renamed_tool_changes_no_other() -> None:
    raw = rb"""{"model":"m","messages":[{"role":"user","content":"x"}],"tools":[
      {"type":"function", "function":{"name":"ok","parameters":{"maximum":1.10}}},
      {"type":"function","function":{"strict":null,"name":"not.ok","parameters":{"maximum":1.10},"y":1e3}}],
      "tool_choice": {"function": {"name":"ok"},"type":"function"}}"""
    node = untouched(raw, "openai", {1}, "tools")[1]
    assert node["function"]["y"] == 1000
    got = raw_sent(raw, "openai")
    assert b'"parameters":{"maximum":1.10}' in elements(got["tools"])[1]
    assert got["tool_choice"] == members(raw)["tool_choice"]


def test_custom_tools_under_a_new_name_stay_custom() -> None:
    grammar = {"type": "grammar", "grammar": {"syntax": "lark", "definition": "start: /a/"}}
    body = sent(
        USER,
        turn({"id": "call_1", "type": "custom", "custom": {"name": "apply.patch", "input": "*** a"}}),
        result("call_1"),
        tools=[{"type": "custom", "custom": {"name": "apply.patch", "description": "d", "format": grammar}}, TIME],
        tool_choice={"type": "custom", "custom": {"name": "apply.patch"}},
        profile="openai",
    )
    name = body["tools"][0]["custom"]["name"]
    assert re.fullmatch("[A-Za-z0-9_-]{1,64}", name)
    assert body["tools"][0] == {"type": "custom", "custom": {"name": name, "description": "d", "format": grammar}}
    assert body["messages"][1]["tool_calls"] == [
        {"id": "call_1", "type": "custom", "custom": {"name": name, "input": "*** a"}}
    ]
    assert body["tool_choice"] == {"type": "custom", "custom": {"name": name}}
    allowed = sent(
        tools=[{"type": "custom", "custom": {"name": "apply.patch"}}, TIME],
        tool_choice={"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [
            {"type": "custom", "custom": {"name": "apply.patch"}},
            {"type": "function", "function": {"name": "time"}}]}},
        profile="openai",
    )["tool_choice"]["allowed_tools"]  # fmt: skip
    assert allowed == {
        "mode": "required",
        "tools": [{"type": "custom", "custom": {"name": name}}, {"type": "function", "function": {"name": "time"}}],
    }
