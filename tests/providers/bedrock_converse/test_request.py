"""Requests as Converse gets them: each is held against botocore's model of the API, and checked member by member."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.corpus.driver import answer, open_exchange
from tests.matrix.vendors import bedrock_converse
from tests.named_rows import each_row
from tests.providers.bedrock_converse.converse_upstream import document as whole
from toolwire.doors import load_door
from toolwire.model.errors import RequestError
from toolwire.model.http import HttpRequest
from toolwire.model.request import ReasoningPart
from toolwire.model.settings import ProviderConfig, Target
from toolwire.model.source import replace
from toolwire.providers.bedrock_converse.models import FAMILIES, family_of
from toolwire.providers.bedrock_converse.request import invocation, write_request
from toolwire.providers.bedrock_converse.tools import DO_NOT_CALL
from toolwire.rewrite.tool_names import WIRE_NAME

CLAUDE = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
CLAUDE_37 = "anthropic.claude-3-7-sonnet-20250219-v1:0"
NOVA = "us.amazon.nova-lite-v1:0"
NOVA_2 = "us.amazon.nova-2-lite-v1:0"
LLAMA = "meta.llama3-3-70b-instruct-v1:0"
MISTRAL = "mistral.mistral-large-2407-v1:0"
GPT_OSS = "openai.gpt-oss-120b-1:0"
QWEN = "qwen.qwen3-235b-a22b-2507-v1:0"
R1 = "us.deepseek.r1-v1:0"

USER = {"role": "user", "content": "hi"}
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}
TOOLS: list[Any] = [
    {"type": "function", "function": {"name": name, "description": name, "parameters": SCHEMA}}
    for name in ("weather", "time")
]
SPECS = [
    {"toolSpec": {"name": name, "description": name, "inputSchema": {"json": SCHEMA}}} for name in ("weather", "time")
]
PNG = "iVBORw0KGgo="


def call(*calls: tuple[str, str, str], content: str | None = None) -> dict[str, Any]:
    made = [{"id": id, "type": "function", "function": {"name": name, "arguments": given}} for id, name, given in calls]
    return {"role": "assistant", "content": content, "tool_calls": made}


def result(id: str, content: Any = "sunny") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": content}


LOOP = [USER, call(("call_1", "weather", '{"city":"Paris"}')), result("call_1")]


def target(model: str = CLAUDE) -> Target:
    return Target(
        ProviderConfig("bedrock", "bedrock_converse", "https://bedrock-runtime.us-east-1.amazonaws.com"), model
    )


def posted(body: dict[str, Any]) -> HttpRequest:
    return HttpRequest("POST", "/", {}, json.dumps(body).encode())


def sent(model: str = CLAUDE, *, door: str = "chat_completions", **body: Any) -> tuple[dict[str, Any], list[str], bool]:
    """The body that is sent, the warnings, and whether the answer is streamed."""
    asked = {"model": "bedrock/x", "messages": [USER], **body}
    request = load_door(door).parse_request(posted(asked))
    raw, streams, warnings = write_request(request, target(model), WIRE_NAME)
    bedrock_converse(raw)
    document = json.loads(raw)
    return document, list(warnings), streams


def turns(document: dict[str, Any]) -> list[tuple[str, list[Any]]]:
    return [(message["role"], message["content"]) for message in document["messages"]]


# ---------------------------------------------------------------- turns with calls and results

SAYING = {
    "role": "assistant",
    "content": "Let me see.",
    "tool_calls": [{"id": "callaaaaa", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
}
SEEN = {"role": "tool", "tool_call_id": "callaaaaa", "content": "20"}
CALLED = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}
APART = [
    ("user", ["text"]), ("assistant", ["text"]), ("user", ["text"]), ("assistant", ["toolUse"]),
    ("user", ["toolResult"]), ("assistant", ["text"]), ("user", ["text"]),
]  # fmt: skip
TOGETHER = [("user", ["text"]), ("assistant", ["text", "toolUse"]), ("user", ["toolResult", "text"])]


@pytest.mark.parametrize(
    ("model", "apart"),
    [
        ("us.meta.llama3-3-70b-instruct-v1:0", True),
        ("mistral.mistral-large-2407-v1:0", True),
        ("cohere.command-r-plus-v1:0", True),
        (CLAUDE, False),
        ("amazon.nova-pro-v1:0", False),
        ("openai.gpt-oss-120b-1:0", False),
    ],
)
@pytest.mark.parametrize("behind", ["user", "system"])
def test_calls_and_results_have_turns_of_their_own_where_a_model_asks_for_it(
    model: str, apart: bool, behind: str
) -> None:
    said = [SAYING, SEEN, {"role": behind, "content": "And?"}]
    body, warnings, _ = sent(model, messages=[USER, *said], tools=[CALLED])
    found = [(role, [kind for block in content for kind in block]) for role, content in turns(body)]
    assert found == (APART if apart else TOGETHER)
    assert ("turns_rearranged" in warnings) == apart
    assert "Let me see." in json.dumps(body["messages"])
    plain, warnings, _ = sent(model, messages=[USER, {**SAYING, "content": None}, SEEN], tools=[CALLED])
    assert len(plain["messages"]) == 3
    assert "turns_rearranged" not in warnings


# ---------------------------------------------------------------- address


@pytest.mark.parametrize(
    ("model", "segment"),
    [
        (CLAUDE, "us.anthropic.claude-sonnet-4-5-20250929-v1%3A0"),
        (
            "arn:aws:bedrock:eu-west-1:123456789012:inference-profile/eu.amazon.nova-lite-v1:0",
            "arn%3Aaws%3Abedrock%3Aeu-west-1%3A123456789012%3Ainference-profile%2Feu.amazon.nova-lite-v1%3A0",
        ),
    ],
)
def test_a_model_is_one_segment_of_the_path(model: str, segment: str) -> None:
    url = f"https://bedrock-runtime.us-east-1.amazonaws.com/model/{segment}/converse-stream"
    assert invocation(target(model), "converse-stream", b"{}", None, streams=True).url == url


# ---------------------------------------------------------------- messages


def test_system_text_leads() -> None:
    messages = [{"role": "system", "content": "A"}, {"role": "developer", "content": "B"}, USER]
    document, warnings, _ = sent(messages=messages)
    assert document["system"] == [{"text": "A"}, {"text": "B"}]
    assert turns(document) == [("user", [{"text": "hi"}])]
    assert warnings == []


def test_system_text_in_the_middle_is_marked() -> None:
    document, warnings, _ = sent(messages=[USER, {"role": "system", "content": "Be brief."}])
    assert turns(document) == [("user", [{"text": "hi"}, {"text": "<system>\nBe brief.\n</system>"}])]
    assert warnings == ["system_message_in_user_turn"]


def test_results_of_one_turn_are_in_one_message_and_first() -> None:
    messages = [
        USER,
        call(("a", "weather", '{"city":"Paris","n":1.10}'), ("b", "time", ""), content="Both."),
        result("b", "noon"),
        {"role": "user", "content": "quick"},
        result("a"),
    ]
    document, warnings, _ = sent(messages=messages, tools=TOOLS)
    use = [
        {"text": "Both."},
        {"toolUse": {"toolUseId": "a", "name": "weather", "input": {"city": "Paris", "n": 1.1}}},
        {"toolUse": {"toolUseId": "b", "name": "time", "input": {}}},
    ]
    results = [
        {"toolResult": {"toolUseId": id, "content": [{"text": text}]}} for id, text in (("b", "noon"), ("a", "sunny"))
    ]
    assert turns(document) == [
        ("user", [{"text": "hi"}]),
        ("assistant", use),
        ("user", [*results, {"text": "quick"}]),
    ]
    assert warnings == []


def test_arguments_of_the_history_are_their_own_text() -> None:
    request = load_door("chat_completions").parse_request(
        posted({"model": "m", "messages": [USER, call(("a", "f", '{"n": 1.10, "b": 12345678901234567890}'))]})
    )
    assert b'"input":{"n": 1.10, "b": 12345678901234567890}' in write_request(request, target(), WIRE_NAME)[0]


def test_arguments_that_are_no_object_are_wrapped() -> None:
    document, warnings, _ = sent(messages=[USER, call(("a", "weather", "[1]")), result("a")], tools=TOOLS)
    assert document["messages"][1]["content"][0]["toolUse"]["input"] == {"_raw_arguments": "[1]"}
    assert warnings == ["history_arguments_wrapped"]


@pytest.mark.parametrize(
    ("model", "told"),
    [
        (CLAUDE, {"content": [{"text": "no route"}], "status": "error"}),
        (NOVA, {"content": [{"text": "no route"}], "status": "error"}),
        (LLAMA, {"content": [{"text": "Error:"}, {"text": "no route"}]}),
    ],
)
def test_an_error_of_a_tool_is_told_as_the_model_understands_it(model: str, told: dict[str, Any]) -> None:
    block = {"type": "tool_result", "tool_use_id": "a", "content": "no route", "is_error": True}
    use = {"type": "tool_use", "id": "a", "name": "weather", "input": {}}
    messages = [USER, {"role": "assistant", "content": [use]}, {"role": "user", "content": [block]}]
    tools = [{"name": "weather", "input_schema": SCHEMA}]
    document, _, _ = sent(model, door="messages", messages=messages, tools=tools, max_tokens=9)
    assert document["messages"][2]["content"][0]["toolResult"] == {"toolUseId": "a", **told}


def test_an_empty_result_says_so() -> None:
    document, _, _ = sent(messages=[*LOOP[:2], result("call_1", "")], tools=TOOLS)
    assert document["messages"][2]["content"][0]["toolResult"]["content"] == [{"text": "(no text)"}]


def test_a_call_without_a_result_gets_one() -> None:
    document, warnings, _ = sent(messages=[*LOOP[:2], USER], tools=TOOLS)
    (told, _) = document["messages"][2]["content"]
    assert told["toolResult"]["status"] == "error"
    assert warnings == ["tool_result_missing"]


def test_images_are_sent_as_bytes() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/jpg;base64,/9j/4A=="}}
    document, _, _ = sent(messages=[{"role": "user", "content": [image]}])
    assert turns(document) == [("user", [{"image": {"format": "jpeg", "source": {"bytes": "/9j/4A=="}}}])]


def test_documents() -> None:
    """With a text beside them, and names of their own, which the API wants."""
    file = {"type": "file", "file": {"filename": "Q3: plan.pdf", "file_data": "data:application/pdf;base64,JVBERi0="}}
    note = {"type": "file", "file": {"filename": "a.csv", "file_data": "data:text/csv;base64,YSxi"}}
    document, warnings, _ = sent(messages=[{"role": "user", "content": [file, file, note]}])
    assert [block.get("document", block) for block in document["messages"][0]["content"]] == [
        {"text": "(no text)"},
        {"format": "pdf", "name": "Q3 plan pdf", "source": {"bytes": "JVBERi0="}},
        {"format": "pdf", "name": "Q3 plan pdf 2", "source": {"bytes": "JVBERi0="}},
        {"format": "txt", "name": "a csv", "source": {"text": "a,b"}},
    ]
    assert warnings == []


@pytest.mark.parametrize(
    "titles", [("a 2", "a", "a"), ("a", "a", "a 2"), ("a", "a 2", "a", "a"), ("é", "", "?"), ("b" * 400,) * 3]
)
def test_no_two_documents_have_one_name(titles: tuple[str, ...]) -> None:
    source = {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="}
    content = [{"type": "document", "source": source, "title": title} for title in titles]
    document, _, _ = sent(door="messages", messages=[{"role": "user", "content": content}], max_tokens=9)
    names = [block["document"]["name"] for block in document["messages"][0]["content"][1:]]
    assert len(set(names)) == len(titles)
    assert all(re.fullmatch(r"[A-Za-z0-9()\[\] -]{1,200}", name) and "  " not in name for name in names)


def test_a_document_in_a_result() -> None:
    source = {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="}
    block = {"type": "tool_result", "tool_use_id": "a", "content": [{"type": "document", "source": source}]}
    use = {"type": "tool_use", "id": "a", "name": "weather", "input": {}}
    messages = [USER, {"role": "assistant", "content": [use]}, {"role": "user", "content": [block]}]
    tools = [{"name": "weather", "input_schema": SCHEMA}]
    document, _, _ = sent(door="messages", messages=messages, tools=tools, max_tokens=9)
    told = {"document": {"format": "pdf", "name": "document", "source": {"bytes": "JVBERi0="}}}
    assert document["messages"][2]["content"][0]["toolResult"]["content"] == [told]


@pytest.mark.parametrize(
    ("url", "said"),
    [("https://example.com/a.png", "by its address"), ("data:image/tiff;base64,SUkqAA==", "image/tiff")],
)
def test_images_that_cannot_be_sent_are_named(url: str, said: str) -> None:
    content = [{"type": "text", "text": "see"}, {"type": "image_url", "image_url": {"url": url}}]
    with pytest.raises(RequestError, match=said) as caught:
        sent(messages=[{"role": "user", "content": content}])
    assert caught.value.param == "messages[0].content[1]"


def test_a_conversation_begins_with_the_user() -> None:
    document, warnings, _ = sent(messages=[{"role": "assistant", "content": "Hello"}, USER])
    assert turns(document)[0] == ("user", [{"text": "(no text)"}])
    assert warnings == ["empty_message"]


def test_reasoning_goes_back_with_its_proof_only() -> None:
    request = load_door("chat_completions").parse_request(
        posted({"model": "m", "messages": [USER, {"role": "assistant", "content": "x"}, USER]})
    )
    parts = (ReasoningPart("Hm", "s1"), ReasoningPart("", "redacted:AAEC"), ReasoningPart("unproved"))
    answer = replace(request.messages[1], parts=(*parts, *request.messages[1].parts))
    raw, _, _ = write_request(
        replace(request, messages=(request.messages[0], answer, request.messages[2])), target(), WIRE_NAME
    )
    assert json.loads(raw)["messages"][1]["content"] == [
        {"reasoningContent": {"reasoningText": {"text": "Hm", "signature": "s1"}}},
        {"reasoningContent": {"redactedContent": "AAEC"}},
        {"text": "x"},
    ]


def test_thinking_of_a_messages_client() -> None:
    """Claude's proofs hold wherever it is served."""
    thought = [
        {"type": "thinking", "thinking": "Hm", "signature": "s1"},
        {"type": "redacted_thinking", "data": "AAEC"},
        {"type": "text", "text": "x"},
    ]
    history = [USER, {"role": "assistant", "content": thought}, USER]
    body = json.dumps({"model": "m", "max_tokens": 9, "messages": history}).encode()
    sent_body = json.loads(
        open_exchange(body, door="messages", wire="bedrock_converse", profile=None, model=CLAUDE).upstream_request.body
    )
    assert sent_body["messages"][1]["content"] == [
        {"reasoningContent": {"reasoningText": {"text": "Hm", "signature": "s1"}}},
        {"reasoningContent": {"redactedContent": "AAEC"}},
        {"text": "x"},
    ]


@pytest.mark.parametrize(
    ("model", "thinking", "told"),
    [
        (CLAUDE, {"type": "adaptive"}, {"thinking": {"type": "enabled", "budget_tokens": 10_000}}),
        ("us.anthropic.claude-opus-4-6-v1", {"type": "adaptive"},
         {"thinking": {"type": "adaptive", "display": "summarized"}, "output_config": {"effort": "high"}}),
        (CLAUDE, {"type": "disabled"}, {}),
        (CLAUDE, None, {}),
    ],
)  # fmt: skip
def test_thinking_as_a_messages_client_asks_for_it(model: str, thinking: Any, told: dict[str, Any]) -> None:
    """The model judges how hard to think, and thinks: that is no default everywhere."""
    asked = {"thinking": thinking} if thinking else {}
    document, warnings, _ = sent(model, door="messages", max_tokens=20_000, **asked)
    assert document.get("additionalModelRequestFields", {}) == told
    assert warnings == []


@pytest.mark.parametrize(
    ("model", "named", "warned"),
    [
        ("arn:aws:bedrock:eu-central-1:123456789012:application-inference-profile/ab12cd", None, ["model_not_said"]),
        ("arn:aws:bedrock:eu-central-1:123456789012:application-inference-profile/ab12cd", CLAUDE, []),
        (f"arn:aws:bedrock:eu-west-1:123456789012:inference-profile/{CLAUDE}", None, []),
        ("some.new-model-v1:0", None, []),
    ],
)
def test_an_arn_that_does_not_say_its_model_is_told(model: str, named: str | None, warned: list[str]) -> None:
    models = ((model, named),) if named else ()
    provider = replace(target().provider, models=models)
    request = load_door("chat_completions").parse_request(posted({"model": "m", "messages": [USER]}))
    assert list(write_request(request, Target(provider, model), WIRE_NAME)[2]) == warned


@pytest.mark.parametrize(("model", "told"), [(CLAUDE, "s1"), (GPT_OSS, "tw1.")])
def test_signatures_as_a_messages_client_sees_them(model: str, told: str) -> None:
    body = json.dumps({"model": "m", "max_tokens": 9, "messages": [USER]}).encode()
    exchange = open_exchange(body, door="messages", wire="bedrock_converse", profile=None, model=model)
    said = whole({"reasoningContent": {"reasoningText": {"text": "Hm", "signature": "s1"}}}, {"text": "Yes."})
    shown = json.loads(answer(exchange, [said], content_type="application/json").body)
    assert shown["content"][0]["signature"].startswith(told)


@pytest.mark.parametrize(("model", "length"), [(CLAUDE, 40), (MISTRAL, 9)])
def test_ids_are_those_that_the_model_takes(model: str, length: int) -> None:
    loop = [USER, call(("functions.f:0!", "weather", "{}")), result("functions.f:0!")]
    document, _, _ = sent(model, messages=loop, tools=TOOLS)
    use = document["messages"][1]["content"][0]["toolUse"]["toolUseId"]
    assert len(use) == length
    assert document["messages"][2]["content"][0]["toolResult"]["toolUseId"] == use


def test_prompt_cache_marks_become_cache_points() -> None:
    mark = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}
    body: dict[str, Any] = {
        "system": [{"type": "text", "text": "S", **mark}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}]}
        ],
        "tools": [{"name": "weather", "input_schema": SCHEMA, **mark}],
        "max_tokens": 9,
    }
    hour, default = {"cachePoint": {"type": "default", "ttl": "1h"}}, {"cachePoint": {"type": "default"}}
    document, warnings, _ = sent(door="messages", **body)
    assert document["system"] == [{"text": "S"}, hour]
    assert document["messages"][0]["content"] == [{"text": "hi"}, default]
    assert document["toolConfig"]["tools"][1] == hour
    assert warnings == []


# ---------------------------------------------------------------- tools


CHOICES: list[tuple[str, Any, Any, list[str]]] = [
    (CLAUDE, "auto", None, []),
    (CLAUDE, "required", {"any": {}}, []),
    (CLAUDE, {"type": "function", "function": {"name": "time"}}, {"tool": {"name": "time"}}, []),
    (NOVA, {"type": "function", "function": {"name": "time"}}, {"tool": {"name": "time"}}, []),
    (MISTRAL, "required", {"any": {}}, []),
    (MISTRAL, {"type": "function", "function": {"name": "time"}}, {"any": {}}, []),
    (LLAMA, "required", None, ["tool_choice_changed"]),
]


@pytest.mark.parametrize(("model", "choice", "told", "warned"), CHOICES)
def test_tool_choice(model: str, choice: Any, told: Any, warned: list[str]) -> None:
    document, warnings, _ = sent(model, tools=TOOLS, tool_choice=choice)
    expected = SPECS
    if model == MISTRAL and isinstance(choice, dict):  # `any` of one tool is that tool
        expected = SPECS[1:]
    assert document["toolConfig"] == {"tools": expected, **({"toolChoice": told} if told else {})}
    assert warnings == warned


def test_only_allowed_tools_are_sent() -> None:
    allowed = {"mode": "required", "tools": [{"type": "function", "function": {"name": "time"}}]}
    choice = {"type": "allowed_tools", "allowed_tools": allowed}
    document, _, _ = sent(tools=TOOLS, tool_choice=choice)
    assert document["toolConfig"] == {"tools": SPECS[1:], "toolChoice": {"any": {}}}


def test_none_leaves_the_tools_out() -> None:
    document, warnings, _ = sent(tools=TOOLS, tool_choice="none")
    assert "toolConfig" not in document
    assert "system" not in document
    assert warnings == []


def test_none_beside_a_history_with_calls_is_said_in_words() -> None:
    document, _, _ = sent(tools=TOOLS, tool_choice="none", messages=LOOP)
    assert document["toolConfig"] == {"tools": SPECS}
    assert document["system"] == [{"text": DO_NOT_CALL}]


def test_a_history_with_calls_needs_tools() -> None:
    document, _, _ = sent(messages=LOOP)
    assert [entry["toolSpec"]["name"] for entry in document["toolConfig"]["tools"]] == ["weather"]
    assert document["system"] == [{"text": DO_NOT_CALL}]


def test_a_model_without_tools() -> None:
    with pytest.raises(RequestError, match="knows no tools") as caught:
        sent(R1, tools=TOOLS)
    assert (caught.value.code, caught.value.param) == ("unsupported_tool", "tools")
    sent(R1)


def test_an_absent_description_and_absent_parameters() -> None:
    document, _, _ = sent(tools=[{"type": "function", "function": {"name": "f", "description": ""}}])
    assert document["toolConfig"]["tools"] == [
        {"toolSpec": {"name": "f", "inputSchema": {"json": {"type": "object", "properties": {}}}}}
    ]


def test_names_that_the_api_refuses() -> None:
    document, _, _ = sent(tools=[{"type": "function", "function": {"name": "a" * 64, "parameters": SCHEMA}}])
    assert document["toolConfig"]["tools"][0]["toolSpec"]["name"] == "a" * 64


@pytest.mark.parametrize(("model", "warned"), [(CLAUDE, []), (NOVA, ["not_supported:strict"])])
def test_strict(model: str, warned: list[str]) -> None:
    schema = SCHEMA | {"required": ["city"], "additionalProperties": False}
    document, warnings, _ = sent(
        model, tools=[{"type": "function", "function": {"name": "f", "strict": True, "parameters": schema}}]
    )
    assert document["toolConfig"]["tools"][0]["toolSpec"].get("strict", False) is (not warned)
    assert warnings == warned


@pytest.mark.parametrize(("model", "streams"), [(CLAUDE, True), (NOVA, True), (LLAMA, False)])
def test_models_that_stream_no_tools_answer_whole(model: str, streams: bool) -> None:
    assert sent(model, stream=True, tools=TOOLS)[2] is streams
    assert sent(model, stream=True)[2] is True
    assert sent(model, tools=TOOLS)[2] is False


# ---------------------------------------------------------------- settings


SETTINGS: list[tuple[str, dict[str, Any], dict[str, Any], list[str]]] = [
    (NOVA, {}, {}, []),
    (NOVA, {"max_tokens": 5, "temperature": 0.2, "top_p": 0.5, "stop": ["END"]},
     {"inferenceConfig": {"maxTokens": 5, "temperature": 0.2, "topP": 0.5, "stopSequences": ["END"]}}, []),
    (NOVA, {"temperature": 1.5}, {"inferenceConfig": {"temperature": 1}}, ["temperature_clamped"]),
    (NOVA, {"seed": 1, "presence_penalty": 1}, {}, ["not_supported:seed", "not_supported:presence_penalty"]),
    (NOVA, {"reasoning_effort": "low"}, {}, ["not_supported:reasoning_effort"]),
    (NOVA_2, {"reasoning_effort": "high"},
     {"additionalModelRequestFields": {"reasoningConfig": {"type": "enabled", "maxReasoningEffort": "high"}}}, []),
    (NOVA_2, {"reasoning_effort": "minimal"},
     {"additionalModelRequestFields": {"reasoningConfig": {"type": "enabled", "maxReasoningEffort": "low"}}},
     ["reasoning_effort_changed"]),
    (GPT_OSS, {"reasoning_effort": "medium"}, {"additionalModelRequestFields": {"reasoning_effort": "medium"}}, []),
    (CLAUDE, {"temperature": 0.5}, {"inferenceConfig": {"temperature": 0.5}}, []),
    (CLAUDE, {"max_completion_tokens": 8000, "reasoning_effort": "low"},
     {"inferenceConfig": {"maxTokens": 8000},
      "additionalModelRequestFields": {"thinking": {"type": "enabled", "budget_tokens": 2048}}}, []),
    (CLAUDE, {"tools": TOOLS, "parallel_tool_calls": False},
     {"toolConfig": {"tools": SPECS},
      "additionalModelRequestFields": {"tool_choice": {"type": "auto", "disable_parallel_tool_use": True}}}, []),
    (NOVA, {"tools": TOOLS, "parallel_tool_calls": False}, {"toolConfig": {"tools": SPECS}},
     ["not_supported:parallel_tool_calls"]),
]  # fmt: skip


@each_row(("model", "asked", "told", "warned"), SETTINGS)
def test_settings(model: str, asked: dict[str, Any], told: dict[str, Any], warned: list[str]) -> None:
    document, warnings, _ = sent(model, **asked)
    del document["messages"]
    assert (document, warnings) == (told, warned)


def test_top_k_is_an_additional_field() -> None:
    document, _, _ = sent(CLAUDE, door="messages", max_tokens=5, top_k=40)
    assert document["additionalModelRequestFields"] == {"top_k": 40}
    _, warnings, _ = sent(NOVA, door="messages", max_tokens=5, top_k=40)
    assert warnings == ["not_supported:top_k"]


def test_the_schema_of_an_answer_travels_as_text() -> None:
    shape = {"type": "json_schema", "json_schema": {"name": "place", "schema": SCHEMA}}
    document, _, _ = sent(response_format=shape)
    told = document["outputConfig"]["textFormat"]
    assert json.loads(told["structure"]["jsonSchema"].pop("schema")) == {**SCHEMA, "additionalProperties": False}
    assert told == {"type": "json_schema", "structure": {"jsonSchema": {"name": "place"}}}


#: Model -> whether it takes a schema and strict tools, what it takes of `toolChoice`, whether it streams tools.
FAMILY_ROWS = [
    ("anthropic.claude-3-haiku-20240307-v1:0", False, "any and tool", True),
    (CLAUDE_37, False, "any and tool", True),
    ("us.anthropic.claude-sonnet-4-20250514-v1:0", False, "any and tool", True),
    ("us.anthropic.claude-opus-4-1-20250805-v1:0", True, "any and tool", True),
    (CLAUDE, True, "any and tool", True),
    ("global.anthropic.claude-haiku-4-5-20251001-v1:0", True, "any and tool", True),
    ("us.anthropic.claude-opus-4-6-v1", True, "any and tool", True),
    # Bedrock refuses `output_config.format` for these, which have it at Anthropic.
    ("us.anthropic.claude-opus-4-7", False, "any and tool", True),
    ("eu.anthropic.claude-sonnet-5", False, "any and tool", True),
    ("us.anthropic.claude-opus-5-5", False, "any and tool", True),
    (NOVA, False, "any and tool", True),
    (NOVA_2, False, "any and tool", True),
    ("us.meta.llama4-maverick-17b-instruct-v1:0", False, "none", False),
    (LLAMA, False, "none", False),
    (MISTRAL, False, "any", True),
    ("mistral.mistral-large-3-675b-instruct", True, "any and tool", True),
    ("mistral.ministral-3-8b-instruct", True, "any and tool", True),
    (GPT_OSS, True, "any and tool", True),
    (QWEN, True, "any and tool", True),
    ("deepseek.v3.2", True, "any", True),
    ("moonshotai.kimi-k2.5", True, "any and tool", True),
    ("us.writer.palmyra-x5-v1:0", False, "none", False),
    ("cohere.command-r-plus-v1:0", False, "none", True),
    ("ai21.jamba-1-5-large-v1:0", False, "none", True),
    ("amazon.titan-text-express-v1", False, "none", True),
    (R1, False, "none", True),
    ("arn:aws:bedrock:us-east-1:1:provisioned-model/abcdef", True, "any and tool", True),
]


@each_row(("model", "structured", "forced", "streams"), FAMILY_ROWS, ids=[row[0] for row in FAMILY_ROWS])
def test_families(model: str, structured: bool, forced: str, streams: bool) -> None:
    family = family_of(model)
    assert (family.structured_output, family.forced, family.streams_tools) == (structured, forced, streams)


def test_every_family_has_its_row() -> None:
    assert {family_of(model).pattern for model, *_ in FAMILY_ROWS} == {family.pattern for family in FAMILIES}
