"""The lane from a client of Gemini's API to a host of it: bytes, and what the gateway itself may change."""

from __future__ import annotations

import json
from typing import Any

import pytest

from toolwire.conversation.tool_call_ids import mint
from toolwire.doors.gemini.request import DOOR
from toolwire.model.http import HttpRequest
from toolwire.model.request import ChatRequest, ToolChoice
from toolwire.model.settings import ProviderConfig, Target
from toolwire.model.source import replace
from toolwire.providers.gemini.messages import PLACEHOLDER_SIGNATURE
from toolwire.providers.gemini.request import PROVIDER
from toolwire.providers.profiles import PROFILES

USER = {"role": "user", "parts": [{"text": "hi"}]}
TOOL = {"name": "f", "parameters": {"type": "OBJECT", "nullable": True}, "x": 1}
#: A call's id of the gateway's own.
MINTED = mint("A" * 10, "B" * 20)


def parsed(body: bytes) -> ChatRequest:
    return DOOR.parse_request(HttpRequest("POST", "/", {}, body, {"id": "m:generateContent"}))


def sent(request: ChatRequest, model: str = "gemini-3-flash") -> tuple[bytes, list[str]]:
    target = Target(ProviderConfig("google", "gemini", "https://g.example/v1beta", "none"), model)
    upstream, warnings = PROVIDER.build_request(request, target, PROFILES["compatible"], "secret")
    return upstream.body, list(warnings)


def contents(*given: Any) -> list[Any]:
    """The contents that reach the host."""
    body, warnings = sent(parsed(json.dumps({"contents": given}).encode()))
    assert warnings == []
    found: list[Any] = json.loads(body)["contents"]
    return found


def model(*parts: Any, **more: Any) -> dict[str, Any]:
    return {"role": "model", "parts": list(parts)} | more


def call(name: str = "f", **members: Any) -> dict[str, Any]:
    return {"functionCall": {"name": name, "args": {"n": 1}}} | members


def results(*names: str) -> dict[str, Any]:
    return {"role": "user", "parts": [{"functionResponse": {"name": name, "response": {"a": 1.50}}} for name in names]}


OWN = [
    b'{"contents":[{"parts":[{"text":"hi"}]}]}',
    b'{"x":[1.10],"contents":[{"role":"user","y":null,"parts":[{"text":"a","zz":{}},{"a_b":1}]}],"s_t":{"u_v":1}}',
    b'{"contents":[{"parts":{"text":"hi"}}],"systemInstruction":"be short","safetySettings":[{"category":"C"}]}',
    b'{"tools":{"functionDeclarations":{"name":"f","parameters":{"type":"OBJECT","any_of":[]}}},'
    b'"contents":[{"parts":[{"text":"hi"}]}],"toolConfig":{"functionCallingConfig":{"mode":"VALIDATED","x":1}}}',
    b'{"contents":[{"role":"user","parts":[{"inline_data":{"mime_type":"image/png","data":"AA=="}}]}],'
    b'"generationConfig":{"maxOutputTokens":"7","thinkingConfig":{"thinkingBudget":1e3}},"labels":{"a_b":"c"}}',
    b'{"contents":[{"parts":[{"text":"hi"}]},{"role":"model","parts":[{"functionCall":{"id":"1","name":"f",'
    b'"args":{"a":1.0}},"thoughtSignature":"c2ln"},{"executableCode":{"code":"1"}}]},{"role":"user","parts":'
    b'[{"functionResponse":{"id":"1","name":"f","response":{"output":{"b":1E2}},"scheduling":"SILENT"}}]}]}',
    b'{"contents":[{"parts":[{"text":"a"}]},{"role":"model","parts":[{"text":"b"}]},{"role":"model","parts":'
    b'[{"text":"c","thought":true}]},{"parts":[{"text":"d"}]}],"cachedContent":"cachedContents/1"}',
]  # fmt: skip


@pytest.mark.parametrize("body", OWN)
def test_a_clients_bytes_are_its_own(body: bytes) -> None:
    assert sent(parsed(body)) == (body, [])


def test_a_known_name_of_settings_is_written_as_it_is_documented() -> None:
    given = {
        "contents": [USER], "generation_config": {"top_k": 1, "a_b": 2, "thinking_config": {"thinking_budget": 3}},
        "tool_config": {"function_calling_config": {"mode": "AUTO"}}, "c_d": 4,
    }  # fmt: skip
    assert json.loads(sent(parsed(json.dumps(given).encode()))[0]) == {
        "contents": [USER], "generationConfig": {"topK": 1, "a_b": 2, "thinkingConfig": {"thinkingBudget": 3}},
        "toolConfig": {"functionCallingConfig": {"mode": "AUTO"}}, "c_d": 4,
    }  # fmt: skip


# ---------------------------------------------------------------- contents that an SDK keeps one by one

SIGNED = {"thoughtSignature": "c2ln"}
THOUGHT = {"text": "hm", "thought": True}
END = {"text": ""}
JOINED: dict[str, tuple[list[Any], list[Any]]] = {
    "text before a call": (
        [USER, model({"text": "so"}), model(call()), results("f")],
        [USER, model({"text": "so"}, call()), results("f")],
    ),
    "thoughts, two calls and the end of a stream": (
        [USER, model(THOUGHT), model(call(**SIGNED), x=1), model(call("g", part_metadata={})), model(END),
         results("f", "g")],
        [USER, model(THOUGHT, call(**SIGNED), call("g", part_metadata={}), END, x=1), results("f", "g")],
    ),
    "each turn by itself": (
        [USER, model({"text": "a"}), model({"text": "b"}), USER, model(call()), model(END), results("f"), model(END)],
        [USER, model({"text": "a"}, {"text": "b"}), USER, model(call(), END), results("f"), model(END)],
    ),
    "a part without its array, and none": (
        [USER, {"role": "model", "parts": THOUGHT}, model(call()), {"role": "model"}, results("f")],
        [USER, model(THOUGHT, call()), results("f")],
    ),
    "one content a turn": (
        [USER, model(call(), call()), results("f", "f"), model(call()), results("f")],
        [USER, model(call(), call()), results("f", "f"), model(call()), results("f")],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("given", "expected"), JOINED.values(), ids=JOINED)
def test_a_turn_with_calls_is_one_content(given: list[Any], expected: list[Any]) -> None:
    assert contents(*given) == expected


# ---------------------------------------------------------------- what the gateway has changed


def other_providers(**more: Any) -> bytes:
    """A request whose history has a call that another provider has made."""
    made = {"functionCall": {"id": MINTED, "name": "f", "args": {"n": 1.50}}}
    answered = {"functionResponse": {"id": MINTED, "name": "f", "response": {"output": "ok"}}}
    history = [USER, model({"text": "so"}, made), {"role": "user", "parts": [answered]}]
    return json.dumps({"labels": {"a": "b"}, "contents": history, "x_y": 1} | more).encode()


@pytest.mark.parametrize(("name", "signature"), [("gemini-3-flash", PLACEHOLDER_SIGNATURE), ("gemini-2.5-flash", None)])
def test_a_history_of_another_provider_is_written_anew(name: str, signature: str | None) -> None:
    body, warnings = sent(
        parsed(other_providers(systemInstruction="be short", tools=[{"functionDeclarations": [TOOL]}])), name
    )
    signed = {"thoughtSignature": signature} if signature else {}
    assert warnings == []
    assert list(json.loads(body)) == ["labels", "contents", "x_y", "systemInstruction", "tools"]
    assert json.loads(body) == {
        "labels": {"a": "b"},
        "contents": [
            USER,
            model({"text": "so"}, {"functionCall": {"name": "f", "args": {"n": 1.5}}} | signed),
            {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"output": "ok"}}}]},
        ],
        "x_y": 1,
        "systemInstruction": {"parts": [{"text": "be short"}]},
        "tools": [{"functionDeclarations": [TOOL]}],
    }
    assert MINTED.encode() not in body


def test_calls_of_this_api_keep_their_ids_in_a_history_that_is_written_anew() -> None:
    own = [call(thoughtSignature="c2ln"), {"functionCall": {"id": "g-1", "name": "g", "args": {}}}]
    answers = results("f", "g")
    answers["parts"][1]["functionResponse"]["id"] = "g-1"
    given = json.loads(other_providers())
    given["contents"] += [USER, model(*own), answers]
    *_, made, told = json.loads(sent(parsed(json.dumps(given).encode()))[0])["contents"]
    assert made == model({"functionCall": {"name": "f", "args": {"n": 1}}, "thoughtSignature": "c2ln"}, own[1])
    assert [part["functionResponse"].get("id") for part in told["parts"]] == [None, "g-1"]


def test_tools_that_may_not_be_used_are_left_out() -> None:
    search: dict[str, Any] = {"googleSearch": {}}
    body = {"contents": [USER], "tools": [{"functionDeclarations": [TOOL, {"name": "g"}]}, search],
            "toolConfig": {"functionCallingConfig": {"mode": "ANY"}, "x": 1}}  # fmt: skip
    request = parsed(json.dumps(body).encode())
    f, _, googles = request.tools

    fewer = json.loads(sent(replace(request, tools=(f, googles)))[0])
    assert fewer["tools"] == [{"functionDeclarations": [TOOL]}, search]
    assert fewer["toolConfig"]["functionCallingConfig"] == {"mode": "ANY"}

    chosen = json.loads(sent(replace(request, tool_choice=ToolChoice("required", ("f",), named=True)))[0])
    assert chosen["tools"] == body["tools"]
    assert chosen["toolConfig"]["functionCallingConfig"] == {"mode": "ANY", "allowedFunctionNames": ["f"]}

    none = json.loads(sent(replace(request, tools=(), tool_choice=None))[0])
    assert none == {"contents": [USER]}
