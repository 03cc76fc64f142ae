"""Refusals of the form of a history's messages, as hosts word them, and what is sent in its place: whoever the client
is, since nobody can take a message out of a conversation again."""

from __future__ import annotations

import json
import re
from typing import Any

from tests.corpus.driver import open_exchange
from tests.named_rows import each_row

USER = {"role": "user", "content": "hi"}
ANSWER = {"role": "assistant", "content": "so"}


def text(*words: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": word} for word in words]


def call(id: str) -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": "time", "arguments": '{"n": 1.10}'}}


def calls(*ids: str, **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": None, **more, "tool_calls": [call(id) for id in ids]}


def result(id: str, content: Any = "now") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": content}


#: Refusals of content that is a list of parts: DeepSeek (qwen-code#2320, litellm#6642), Groq, Cerebras, SiliconFlow
#: (cherry-studio#3474), templates at vLLM, Ollama's parser, Cloudflare.
LISTS = [
    "Failed to deserialize the JSON body into the target type: messages[2]: invalid type: sequence, expected a string",
    "'messages.3' : for 'role:tool' the following must be satisfied[('messages.3.content' : value must be a string)]",
    "messages.2.tool.content.str: Input should be a valid string",
    "Input should be a valid string",
    'can only concatenate str (not "list") to str',
    "json: cannot unmarshal array into Go struct field ChatRequest.messages.content of type string",
    "AiError: Bad input: Error: Type mismatch of '/messages/2/content', 'array' not in 'string'",
    "Invalid type for 'messages[1].content': expected a string, but got an array instead.",
]

#: Refusals of content that is null: Ollama, DashScope, hosts with FastAPI, LM Studio (thane-ai-agent#1229), Azure,
#: serde.
NULLS = [
    "invalid message content type: <nil>",
    "<400> InternalError.Algo.InvalidParameter: The content field is a required field.",
    "messages.2.content: none is not an allowed value",
    "[{'type': 'string_type', 'loc': ('body', 'messages', 2, 'content'), 'msg': 'Input should be a valid string'}]",
    "Invalid 'content': 'content' field must be a string or an array of objects.",
    "Invalid value for 'content': expected a string, got null.",
    "messages[2]: missing field `content` at line 1 column 90",
    "messages[2]: invalid type: null, expected a string",
    'Invalid request error: expected string, received null at "params.messages[2].content"',
]

#: Refusals of content that is empty: LM Studio (autogen#1521), Moonshot, xAI, Mistral (OpenHands#8685), Claude behind
#: other APIs (vercel/ai#14618), Z.ai (AionUi#538).
EMPTY = [
    "'messages' array must only contain objects with a 'content' field that is not empty.",
    "Invalid request: the message at position 2 with role 'assistant' must not be empty",
    "Invalid request content: Each message must have at least one content element.",
    "Assistant message must have either content or tool_calls, but not none.",
    "messages: text content blocks must be non-empty",
    "messages.1.content: text content blocks must contain non-whitespace text",
    "The prompt parameter was not received normally.",
    "未正常接收到prompt参数。",
]

#: Refusals of several calls in one turn (templates of Llama 3).
SEVERAL = [
    "This model only supports single tool-calls at once!",
    "Jinja Exception: This model only supports single tool-calls at once! at row 71, column 13",
]

#: Refusals of a text beside calls: Mistral's rule, and gpt-oss's template of text beside reasoning (llama.cpp#19703).
BESIDE = [
    "Assistant message must have either content or tool_calls, but not both.",
    "Jinja Exception: Cannot pass both content and thinking in an assistant message with tool calls! Put the analysis "
    "message in one or the other, but not both.",
]

OK = {"role": "assistant", "content": "OK."}
GO_ON = {"role": "user", "content": "Continue."}
NO_TEXT = "(no text)"

#: Refusals of the kind, the history, what is sent in its place, the warnings.
FORMS: dict[str, tuple[list[str], list[Any], list[Any], set[str]]] = {
    "lists": (
        LISTS,
        [{"role": "system", "content": text("a", "b")}, {"role": "user", "content": text("hi", "you")},
         calls("call_a", content="I look."), result("call_a", text("x", "y")),
         {"role": "assistant", "content": text("s", "o")}, USER],
        [{"role": "system", "content": "a\nb"}, {"role": "user", "content": "hi\nyou"},
         calls("call_a", content="I look."), result("call_a", "x\ny"), {"role": "assistant", "content": "so"}, USER],
        set(),
    ),
    "null": (
        NULLS,
        [USER, calls("call_a"), result("call_a"),
         {"role": "assistant", "content": None, "reasoning_content": "hm"}, USER],
        [USER, calls("call_a", content=""), result("call_a"),
         {"role": "assistant", "reasoning_content": "hm", "content": ""}, USER],
        set(),
    ),
    "empty": (
        EMPTY,
        [{"role": "system", "content": ""}, USER, {"role": "assistant", "content": ""},
         {"role": "user", "content": " "},
         calls("call_a", content=""), result("call_a", ""), {"role": "user", "content": text("", "x")}],
        [{"role": "system", "content": NO_TEXT}, USER, {"role": "user", "content": NO_TEXT}, calls("call_a"),
         result("call_a", NO_TEXT), {"role": "user", "content": text("x")}],
        {"empty_message"},
    ),
    "several": (
        SEVERAL,
        [USER, calls("call_a", "call_b", content="I look."), result("call_a", "x"), result("call_b", "y"), USER],
        [USER, calls("call_a", content="I look."), result("call_a", "x"), calls("call_b"), result("call_b", "y"), USER],
        {"turns_rearranged"},
    ),
    "beside": (
        BESIDE,
        [USER, calls("call_a", content="I look.", reasoning_content="hm"), result("call_a"), ANSWER, USER],
        [USER, {"role": "assistant", "content": "I look."}, GO_ON, calls("call_a", reasoning_content="hm"),
         result("call_a"), ANSWER, USER],
        {"turns_rearranged"},
    ),
}  # fmt: skip

ROWS = [(kind, refusal) for kind, (refusals, *_) in FORMS.items() for refusal in refusals]


def refused(exchange: Any, status: int, message: str) -> bool:
    """Whether a refusal ends the exchange; else another request is to be sent."""
    exchange.receive_head(status, {"content-type": "application/json"})
    exchange.receive_data(json.dumps({"error": {"message": message}}).encode())
    return bool(exchange.receive_end())


def opened(history: list[Any], door: str = "chat_completions", **host: Any) -> Any:
    return open_exchange(
        json.dumps({"model": "m", "messages": history}).encode(), door=door, wire="openai_chat", **host
    )


def sent(exchange: Any) -> list[Any]:
    messages: list[Any] = json.loads(exchange.upstream_request.body)["messages"]
    return messages


@each_row("status", [400, 422, 500])
@each_row(("kind", "refusal"), ROWS)
def test_a_history_is_sent_in_the_form_that_the_host_takes(kind: str, refusal: str, status: int) -> None:
    _, history, wanted, warnings = FORMS[kind]
    exchange = opened(history, profile="compatible")
    assert sent(exchange) == history, "a client of the host's own API is not rewritten before"
    assert not refused(exchange, status, refusal)
    assert sent(exchange) == wanted
    assert warnings <= set(exchange.figures.warnings)
    assert b'{\\"n\\": 1.10}' in exchange.upstream_request.body or "call_a" not in json.dumps(history)
    assert refused(exchange, status, refusal), "the same request would be refused again"


@each_row(("kind", "refusal"), ROWS)
def test_a_history_without_such_messages_is_not_sent_again(kind: str, refusal: str) -> None:
    assert refused(opened([USER, ANSWER, USER], profile="compatible"), 400, refusal)


USE = {"type": "tool_use", "id": "toolu_1", "name": "time", "input": {}}
MORE = {"type": "tool_use", "id": "toolu_2", "name": "time", "input": {}}


@each_row(
    ("refusal", "wanted"),
    [
        (NULLS[0], [["toolu_1", "toolu_2"], ["toolu_1"], ["toolu_2"]]),
        (EMPTY[0], [["toolu_1", "toolu_2"], ["toolu_1"], ["toolu_2"]]),
        (SEVERAL[0], [["toolu_1"], ["toolu_1"], ["toolu_2"], ["toolu_2"]]),
    ],
)
def test_the_history_of_another_apis_client_is_changed_alike(refusal: str, wanted: list[list[str]]) -> None:
    results = [{"type": "tool_result", "tool_use_id": "toolu_1"}, {"type": "tool_result", "tool_use_id": "toolu_2"}]
    history = [USER, {"role": "assistant", "content": [USE, MORE]}, {"role": "user", "content": results}]
    body = json.dumps({"model": "m", "max_tokens": 9, "messages": history}).encode()
    exchange = open_exchange(body, door="messages", wire="openai_chat", profile="vllm")
    assert not refused(exchange, 400, refusal)
    _, *turns = sent(exchange)
    ids = [[one["id"] for one in turn.get("tool_calls", ())] or [turn["tool_call_id"]] for turn in turns]
    assert ids == wanted
    contents = {turn["content"] for turn in turns if turn["role"] == "assistant"}
    assert contents == ({""} if refusal == NULLS[0] else {None})
    assert {turn["content"] for turn in turns if turn["role"] == "tool"} == {NO_TEXT if refusal == EMPTY[0] else ""}


def test_a_host_that_takes_neither_null_nor_nothing_is_sent_words() -> None:
    exchange = opened([USER, calls("call_a"), result("call_a")], profile="compatible")
    assert not refused(exchange, 400, NULLS[0])
    assert not refused(exchange, 400, EMPTY[0])
    assert sent(exchange)[1] == calls("call_a", content=NO_TEXT)


#: Refusals of a call's id: Mistral's rule at any host (vllm#10821, omlx#1995) and in its template; Claude's behind
#: other APIs; OpenAI's.
IDS: dict[str, str] = {
    "Tool call id was functions.time:0 but must be a-z, A-Z, 0-9, with a length of 9.": r"[A-Za-z0-9]{9}",
    "Jinja Exception: Tool call IDs should be alphanumeric strings with length 9!": r"[A-Za-z0-9]{9}",
    "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'": r"[A-Za-z0-9_-]{1,40}",
    "Value 'functions.time:0' at 'toolUseId' failed to satisfy constraint: Member must satisfy regular expression "
    "pattern: [a-zA-Z0-9_-]+": r"[A-Za-z0-9_-]{1,40}",
    "Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum length 12, but got a "
    "string with length 16 instead.": r"[A-Za-z0-9_-]{1,12}",
}


@each_row(("refusal", "form"), IDS.items())
def test_a_host_that_refuses_an_id_is_sent_one_of_its_form(refusal: str, form: str) -> None:
    history = [
        USER,
        calls("functions.time:0", "functions.time:1"),
        result("functions.time:0"),
        result("functions.time:1"),
    ]
    exchange = opened(history, profile="compatible")
    assert sent(exchange) == history
    assert not refused(exchange, 400, refusal)
    _, turn, *results = sent(exchange)
    ids = [one["id"] for one in turn["tool_calls"]]
    assert ids == [one["tool_call_id"] for one in results]
    assert len(set(ids)) == 2
    assert all(re.fullmatch(form, id) for id in ids)
    assert refused(exchange, 400, refusal)


#: Refusals of the order of turns in other words: llama.cpp (openfox#367), Perplexity, Google, Anthropic and Converse
#: behind other APIs, Z.ai (opencode#2557).
FIRST = {"role": "user", "content": NO_TEXT}
ORDERS: list[tuple[str, list[Any], list[Any]]] = [
    ("Cannot have 2 or more assistant messages at the end of the list.", [USER, ANSWER, ANSWER],
     [USER, {"role": "assistant", "content": "so\n\nso"}, GO_ON]),
    ("After the (optional) system message(s), user or tool message(s) should alternate with assistant message(s).",
     [USER, USER], [{"role": "user", "content": "hi\nhi"}]),
    ("Last message must have role `user`.", [USER, ANSWER], [USER, ANSWER, GO_ON]),
    ("Assistant response prefill is incompatible with enable_thinking.", [USER, ANSWER], [USER, ANSWER, GO_ON]),
    ("Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
     [calls("call_a"), result("call_a"), USER], [FIRST, calls("call_a"), result("call_a"), OK, USER]),
    ("First message must be from user", [ANSWER, USER], [FIRST, ANSWER, USER]),
    ('messages: first message must use the "user" role', [ANSWER, USER], [FIRST, ANSWER, USER]),
    ("A conversation must start with a user message. Try again with a conversation that starts with a user message.",
     [ANSWER, USER], [FIRST, ANSWER, USER]),
    ("The messages parameter is illegal. Please check the documentation.", [{"role": "system", "content": "s"}],
     [{"role": "system", "content": "s"}, FIRST]),
    ("messages 参数非法。请检查文档。", [{"role": "system", "content": "s"}],
     [{"role": "system", "content": "s"}, FIRST]),
]  # fmt: skip


@each_row(("refusal", "history", "wanted"), ORDERS)
def test_a_host_that_refuses_the_order_in_other_words(refusal: str, history: list[Any], wanted: list[Any]) -> None:
    exchange = opened(history, profile="compatible")
    assert sent(exchange) == history
    assert not refused(exchange, 400, refusal)
    assert sent(exchange) == wanted
    assert refused(exchange, 400, refusal)
