"""Nothing that a client sends disappears in silence: a member that a provider is not told is named in a warning."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.clients.sending import LANES, MODELS, send
from tests.corpus.driver import open_exchange, opened
from tests.named_rows import each_row
from toolwire.doors import DOORS
from toolwire.doors.messages.request import DOOR
from toolwire.model.errors import RequestError
from toolwire.model.settings import ProviderConfig, Target, Tenant
from toolwire.rewrite.unread_members import meant
from toolwire.wire.member_names import MEMBER_NAMES

USER = {"role": "user", "content": "x"}
GOOGLES = {"role": "user", "parts": [{"text": "x"}]}
#: What a turn of a thread holds beside the server's own copy of what went before.
RESULTS = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "ok"}]}
#: Door -> a request that says nothing odd.
PLAIN: dict[str, dict[str, Any]] = {
    "chat_completions": {"messages": [USER]},
    "responses": {"input": [USER]},
    "messages": {"max_tokens": 99, "messages": [USER]},
    "native": {"messages": [USER]},
    "gemini": {"contents": [GOOGLES]},
}
OTHERS = [(door, wire) for door in LANES for wire in sorted(MODELS) if LANES[door] != wire]

_KNOWN = frozenset().union(*(names.read | names.documented for names in MEMBER_NAMES.values()))
#: What `send` is told beside the request's members.
_ARGUMENTS = {"door", "wire", "model", "profile"}


def _is_unknown(name: str) -> bool:
    first, *more = name.split("_")  # Gemini's API reads its members in either spelling
    return _KNOWN.isdisjoint((name, first + "".join(map(str.capitalize, more)))) and name not in _ARGUMENTS


names = st.text("abcdefghijklmnopqrstuvwxyz_", min_size=1, max_size=20).filter(_is_unknown)
values = st.one_of(st.booleans(), st.integers(), st.text(max_size=5), st.lists(st.integers(), max_size=2),
                   st.dictionaries(st.text(max_size=3), st.integers(), max_size=2))  # fmt: skip


def test_every_door_of_a_vendor_is_covered() -> None:
    assert {*LANES, "native"} == set(PLAIN) == set(DOORS)


@pytest.mark.parametrize(("door", "wire"), OTHERS)
@given(name=names, value=values)
@example(name="temperatur", value=0.5)
@example(name="min_p", value=0.1)
def test_any_unknown_member_is_named(door: str, wire: str, name: str, value: Any) -> None:
    members: dict[str, Any] = PLAIN[door] | {name: value}
    assert send(door, wire, **members).warnings == [f"unknown_field:{name}"]


@given(name=names, value=values)
def test_the_native_door_refuses_it(name: str, value: Any) -> None:
    with pytest.raises(RequestError) as refused:
        send("native", "openai_chat", **(PLAIN["native"] | {f"x_{name}": value}))
    assert refused.value.status == 400
    assert name in refused.value.message


@pytest.mark.parametrize("door", LANES)
@given(name=names, value=values)
def test_in_the_lane_the_vendor_gets_it(door: str, name: str, value: Any) -> None:
    members: dict[str, Any] = PLAIN[door] | {name: value}
    found = send(door, LANES[door], **members)
    assert (found.body[name], found.warnings) == (value, [])


@each_row("wire", sorted(set(MODELS) - {LANES["chat_completions"]}))
def test_what_only_speeds_an_answer_up_is_told_and_left_out(wire: str) -> None:
    """As Continue sends it with each edit."""
    predicted = {"prediction": {"type": "content", "content": "x = 1"}}
    assert send("chat_completions", wire, **(PLAIN["chat_completions"] | predicted)).warnings == ["ignored:prediction"]


# ---------------------------------------------------------------- what the API has and the provider has not

#: A value that asks for something, where `true` is not one.
VALUES: dict[str, Any] = {"service_tier": "flex", "truncation": "auto", "top_logprobs": 2}


@each_row(("door", "wire"), OTHERS)
def test_every_documented_member_is_named_carried_or_refused(door: str, wire: str) -> None:
    plain = send(door, wire, **PLAIN[door])
    for name in sorted(MEMBER_NAMES[LANES_DIALECT[door]].documented):
        members: dict[str, Any] = PLAIN[door] | {name: VALUES.get(name, True)}
        try:
            found = send(door, wire, **members)
        except RequestError as refused:
            assert name in refused.message  # noqa: PT017 - what else there is to say of it
            continue
        carried = found.body.keys() - plain.body.keys()
        assert carried or [code for code in found.warnings if code.endswith(f":{name}")], name


LANES_DIALECT = {
    "chat_completions": "openai_chat", "responses": "openai_responses",
    "messages": "anthropic_messages", "gemini": "gemini",
}  # fmt: skip

NOTHING: dict[str, dict[str, Any]] = {
    "chat_completions": {"store": False, "user": None, "n": 1, "service_tier": "auto"},
    "responses": {
        "store": False, "truncation": "disabled", "top_logprobs": 0, "include": ["reasoning.encrypted_content"],
        "background": False, "metadata": None,
    },
    "messages": {"metadata": None, "stream": False},
    "gemini": {"safetySettings": None, "generationConfig": {"candidateCount": 1, "thinkingConfig": {}}, "store": False},
}  # fmt: skip


@each_row(("door", "wire"), OTHERS)
def test_what_asks_for_nothing_is_no_news(door: str, wire: str) -> None:
    assert send(door, wire, **(PLAIN[door] | NOTHING[door])).warnings == []


# ---------------------------------------------------------------- within

TEXT = {"type": "text", "text": "x"}
PICTURE = {"mimeType": "image/png", "data": "AAAA"}


def called(call: dict[str, Any], result: dict[str, Any]) -> list[dict[str, Any]]:
    """A call and its result in Gemini's API, with these members more."""
    return [
        {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}} | call}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {}} | result}]},
    ]


#: (door, members, what is told)
WITHIN: list[tuple[str, dict[str, Any], list[str]]] = [
    ("messages", {"messages": [{"role": "user", "content": [TEXT | {"cahce_control": 1}]}]},
     ["unknown_field:cahce_control"]),
    ("messages", {"messages": [USER | {"nmae": "x"}]}, ["unknown_field:nmae"]),
    ("messages", {"thinking": {"type": "enabled", "budget_tokens": 2000, "dispaly": 1}},
     ["unknown_field:thinking.dispaly"]),
    ("messages", {"output_config": {"task_budget": {}}}, ["ignored:output_config.task_budget"]),
    ("chat_completions", {"messages": [USER | {"nmae": "x"}]}, ["unknown_field:nmae"]),
    ("chat_completions", {"tools": [{"type": "function", "function": {"name": "f", "descripton": "x"}}]},
     ["unknown_field:descripton"]),
    ("responses", {"input": [{"role": "user", "content": [{"type": "input_text", "text": "x", "lang": "en"}]}]},
     ["unknown_field:lang"]),
    ("responses", {"reasoning": {"efort": "low"}}, ["unknown_field:reasoning.efort"]),
    ("responses", {"tools": [{"type": "function", "name": "f", "parameters": {}, "descripton": "x"}]},
     ["unknown_field:descripton"]),
    ("gemini", {"systemInstruction": {"parts": [{"text": "x"}], "prats": 1}}, ["unknown_field:prats"]),
    ("gemini", {"contents": [GOOGLES | {"rol": "x"}]}, ["unknown_field:rol"]),
    ("gemini", {"contents": [{"parts": [{"text": "x", "video_metadata": {"fps": 1}, "txet": 1}]}]},
     ["ignored:videoMetadata", "unknown_field:txet"]),
    ("gemini", {"contents": [{"parts": [{"inlineData": PICTURE | {"lang": "en"}}]}]}, ["unknown_field:lang"]),
    ("gemini", {"contents": [GOOGLES, *called({"willContinue": True, "arsg": {}}, {})]},
     ["ignored:willContinue", "unknown_field:arsg"]),
    ("gemini", {"contents": [GOOGLES, *called({}, {"scheduling": "SILENT", "rseponse": {}})]},
     ["ignored:scheduling", "unknown_field:rseponse"]),
    ("gemini", {"tools": [{"functionDeclarations": [{"name": "f", "behavior": "BLOCKING", "descripton": "x"}]}]},
     ["ignored:behavior", "unknown_field:descripton"]),
    ("gemini", {"toolConfig": {"function_calling_config": {"mode": "AUTO", "stream_function_call_arguments": True}}},
     ["ignored:toolConfig.functionCallingConfig.streamFunctionCallArguments"]),
    ("gemini", {"toolConfig": {"functionCallingConfig": {"mdoe": "ANY"}}},
     ["unknown_field:toolConfig.functionCallingConfig.mdoe"]),
    ("gemini", {"generationConfig": {"thinkingConfig": {"thinkingBugdet": 1}}},
     ["unknown_field:generationConfig.thinkingConfig.thinkingBugdet"]),
    ("gemini", {"generation_config": {"top_q": 1, "media_resolution": "MEDIA_RESOLUTION_LOW"}},
     ["unknown_field:generationConfig.top_q", "ignored:generationConfig.mediaResolution"]),
]  # fmt: skip


@each_row("wire", ["gemini", "openai_chat", "openai_responses", "anthropic_messages"])
@each_row(("door", "members", "told"), WITHIN)
def test_members_within_are_named(door: str, members: dict[str, Any], told: list[str], wire: str) -> None:
    found = send(door, wire, **(PLAIN[door] | members))
    said = [code for code in found.warnings if code.startswith(("ignored", "unknown"))]
    assert said == ([] if LANES[door] == wire else told)


def test_another_protocols_body_is_not_told_member_by_member() -> None:
    many: dict[str, Any] = {f"x{n}": n for n in range(40)}
    assert len(send("chat_completions", "gemini", **(PLAIN["chat_completions"] | many)).warnings) == 16


def test_names_are_fit_for_a_header_and_the_log() -> None:
    odd: dict[str, Any] = {'a,b"\n': 1, "x" * 300: 1}
    first, second = send("chat_completions", "gemini", **(PLAIN["chat_completions"] | odd)).warnings
    assert first == "unknown_field:a_b__"
    assert len(second) < 150


def test_the_log_says_which_name_was_meant() -> None:
    warnings = ["unknown_field:temperatur", "unknown_field:thinking.dispaly", "unknown_field:zzz", "ignored:user"]
    assert meant(warnings, "openai_chat") == {"temperatur": "temperature"}
    assert meant(warnings, "native") == {}
    assert meant(["unknown_field:output_config.efort"], "anthropic_messages") == {"output_config.efort": "effort"}


# ---------------------------------------------------------------- threads


@pytest.mark.parametrize("wire", sorted(set(MODELS) - {"anthropic_messages"}))
def test_anthropics_sdks_are_told_to_go_on_without_a_thread(wire: str) -> None:
    members = PLAIN["messages"] | {"thread": {"type": "create"}}
    with pytest.raises(RequestError) as refused:
        send("messages", wire, **members)
    body = json.loads(DOOR.render_error(refused.value, "req"))
    assert refused.value.status == 400
    assert body["error"]["details"] == {"error_code": "thread_unsupported_request", "unsupported": ["thread"]}


def test_a_thread_begins_wherever_the_api_is_spoken() -> None:
    """Whoever takes it without keeping it has all messages in this request."""
    body = json.dumps({"model": "m", **PLAIN["messages"], "thread": {"type": "create"}}).encode()
    exchange = open_exchange(body, door="messages", wire="anthropic_messages", profile=None)
    assert json.loads(exchange.upstream_request.body)["thread"] == {"type": "create"}


@each_row(
    ("base_url", "keeps_threads"),
    [
        ("https://api.anthropic.com", True),
        ("https://aws-external-anthropic.us-east-1.api.aws", True),
        ("https://us-east5-aiplatform.googleapis.com/v1", True),
        ("https://mine.services.ai.azure.com/anthropic", True),
        ("https://bedrock-mantle.us-east-1.api.aws/anthropic", False),
        ("https://api.deepseek.com/anthropic", False),
        ("https://notanthropic.com", False),
        ("http://127.0.0.1:9", False),
    ],
)
def test_a_thread_goes_on_only_where_it_is_kept(base_url: str, keeps_threads: bool) -> None:
    thread = {"type": "continue", "previous_message_id": "msg_1"}
    members = PLAIN["messages"] | {"thread": thread, "messages": [RESULTS]}
    target = Target(ProviderConfig("p", "anthropic_messages", base_url, "none"), "claude-opus-5")

    def ask() -> Any:
        exchange = opened(DOOR, json.dumps({"model": "m", **members}).encode(), target, Tenant())
        return json.loads(exchange.upstream_request.body)

    if keeps_threads:
        assert (ask()["thread"], ask()["messages"]) == (thread, [RESULTS])
        return
    with pytest.raises(RequestError) as refused:
        ask()
    assert refused.value.code == "thread_unsupported_request"


#: Door -> members that ask for nothing: SDKs and chat programs write their defaults into every request.
DEFAULTS: dict[str, dict[str, Any]] = {
    "chat_completions": {
        "logprobs": False, "top_logprobs": 0, "logit_bias": {}, "stop": [], "frequency_penalty": 0,
        "presence_penalty": 0.0, "n": 1, "modalities": ["text"], "store": False, "metadata": {},
        "service_tier": "auto", "response_format": {"type": "text"}, "reasoning": {"exclude": False},
    },
    "responses": {
        "top_logprobs": 0, "store": False, "metadata": {}, "include": [], "truncation": "disabled",
        "service_tier": "auto", "background": False, "text": {"format": {"type": "text"}},
    },
    "messages": {"stop_sequences": [], "metadata": {}, "service_tier": "auto", "system": []},
    "gemini": {
        "generationConfig": {
            "candidateCount": 1, "stopSequences": [], "presencePenalty": 0, "frequencyPenalty": 0.0,
            "responseLogprobs": False, "responseModalities": ["TEXT"], "responseMimeType": "text/plain",
        },
        "safetySettings": [], "labels": {}, "tools": [],
    },
}  # fmt: skip


@each_row(("door", "wire"), OTHERS)
def test_defaults_are_no_news(door: str, wire: str) -> None:
    assert send(door, wire, **PLAIN[door], **DEFAULTS[door]).warnings == []
