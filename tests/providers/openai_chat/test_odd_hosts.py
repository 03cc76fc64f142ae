"""What odd hosts of the Chat wire say in other words: their calls, arguments, names and reasoning."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from tests.corpus.driver import answer as answer_of
from tests.corpus.driver import open_exchange
from tests.named_rows import each_row
from tests.providers import every_door
from tests.providers.openai_chat.chat_upstream import (
    CALLS,
    ROLE,
    STOP,
    TOTAL,
    ask,
    chunk,
    fragment,
    opening,
    seen,
    stream,
    text,
    whole,
)
from toolwire.model.events import UsageUpdate
from toolwire.providers.decoder_context import DecoderContext
from toolwire.providers.openai_chat.answer import ChatDecoder
from toolwire.providers.openai_chat.errors import error_from_body
from toolwire.providers.openai_chat.state import ReasoningState
from toolwire.wire import openai_chat as wire

PARIS = '{"city":"Paris"}'
WEATHER, CLOCK = ("weather", PARIS), ("time", "{}")


def details(text: str, kind: str = "text") -> list[dict[str, Any]]:
    return [{"type": f"reasoning.{kind}", kind: text, "index": 0}]


OTHER_NAMES = {"reasoning", "reasoning_text", "cot_summary", "thinking"}
#: What hosts call reasoning: a delta with this text.
REASONING: dict[str, Callable[[str], dict[str, Any]]] = {
    "reasoning_content": lambda text: {"reasoning_content": text},
    "reasoning": lambda text: {"reasoning": text},
    "both": lambda text: {"reasoning": text, "reasoning_content": text},
    "details beside it": lambda text: {"reasoning": text, "reasoning_details": details(text)},
    "details alone": lambda text: {"reasoning_details": details(text)},
    "in parts": lambda text: {"reasoning_content": [{"type": "text", "text": text}]},
    "in an object": lambda text: {"reasoning": {"content": text}},
    "Copilot": lambda text: {"reasoning_text": text, "reasoning_opaque": None},
    "Copilot, before that": lambda text: {"cot_summary": text},
    "thinking": lambda text: {"thinking": text},
    "thinking in an object": lambda text: {"thinking": {"text": text}},
    "blocks": lambda text: {"thinking_blocks": [{"type": "thinking", "thinking": text, "signature": "s"}]},
    "blocks beside it": lambda text: {
        "reasoning_content": text,
        "thinking_blocks": [{"type": "thinking", "thinking": text, "signature": "s"}],
    },
    "every name": lambda text: dict.fromkeys(("reasoning_content", "reasoning", "reasoning_text", "thinking"), text),
    "a summary in details": lambda text: {"reasoning": None, "reasoning_details": details(text, "summary")},
}


@each_row("delta", REASONING.values(), ids=REASONING)
def test_reasoning_is_shown_once_under_one_name(delta: Callable[[str], dict[str, Any]]) -> None:
    for parts in (["h", "m"], ["hm"]):
        said = seen(stream(ROLE, *(chunk(delta(part)) for part in parts), text("x"), STOP, TOTAL))
        assert (said.reasoning, said.content) == ("hm", "x")
        assert not any(OTHER_NAMES & c["choices"][0]["delta"].keys() for c in said.chunks if c["choices"])
    message = json.loads(ask(whole({"content": "x", **delta("hm")}), streamed=False).body)["choices"][0]["message"]
    assert (message["reasoning_content"], OTHER_NAMES & message.keys()) == ("hm", set())


#: Texts of one detail as MiniMax streams them: each the whole so far, or each a piece -> the reasoning.
SNAPSHOTS: dict[str, tuple[list[str], str]] = {
    "whole so far": (["The user", "The user asks", "The user asks.", "The user asks."], "The user asks."),
    "pieces": (["The user", " asks", " asks", "."], "The user asks asks."),
    "pieces that begin alike": (["a", " b", "a b c"], "a ba b c"),
    "one": (["The user asks."], "The user asks."),
}


@each_row(("texts", "wanted"), SNAPSHOTS.values(), ids=SNAPSHOTS)
@each_row("beside", [None, "reasoning_content"])
@each_row("door", every_door.REQUESTS)
def test_details_that_repeat_what_was_told_are_told_once(
    texts: list[str], wanted: str, beside: str | None, door: str
) -> None:
    """MiniMax's document shows each as the whole so far, its other endpoint sends pieces (MiniMax-M2#95)."""
    about = {"type": "reasoning.text", "id": "reasoning-text-1", "format": "MiniMax-response-v1", "index": 0}
    deltas = [{"reasoning_details": [{**about, "text": text}]} | ({beside: text} if beside else {}) for text in texts]
    upstream = stream(ROLE, *map(chunk, deltas), text("x"), STOP, TOTAL)
    said = every_door.asked(door, upstream, streamed=True, wire="openai_chat", step=len(upstream))
    if door != "chat_completions" or not beside:  # that client gets the host's own member as it is
        assert every_door.reasoning_in(door, said.body, streamed=True) == wanted
    state = ReasoningState()
    for delta in deltas:
        state.take(msgspec.json.decode(json.dumps(delta), type=wire.Delta))
    assert json.loads(state.signature() or "")["reasoning_details"] == [{**about, "text": wanted}]


@each_row("door", every_door.REQUESTS)
@each_row("name", sorted(OTHER_NAMES))
@each_row("flag", [True, False, 1])
def test_a_flag_is_no_reasoning(flag: Any, name: str, door: str) -> None:
    said = every_door.asked(door, whole({"content": "x", name: flag}), streamed=False, wire="openai_chat")
    assert (said.status, every_door.reasoning_in(door, said.body, streamed=False)) == (200, "")


@each_row("door", every_door.REQUESTS)
@each_row("delta", REASONING.values(), ids=REASONING)
def test_reasoning_is_shown_at_every_door(delta: Callable[[str], dict[str, Any]], door: str) -> None:
    streamed = stream(ROLE, chunk(delta("hm")), text("x"), STOP, TOTAL)
    document = whole({"content": "x", **delta("hm")})
    for upstream, is_stream in ((streamed, True), (document, False)):
        said = every_door.asked(door, upstream, streamed=is_stream, wire="openai_chat", step=len(upstream))
        assert every_door.reasoning_in(door, said.body, streamed=is_stream) == "hm"


FUNCTION_CALL = {"name": "weather", "arguments": PARIS}
#: What a host says beside, or in place of, `tool_calls`: deltas, their finish, the calls.
DEPRECATED: dict[str, tuple[list[dict[str, Any]], str, list[tuple[str, str]]]] = {
    "in pieces": (
        [chunk({"function_call": {"name": "weather", "arguments": ""}}),
         chunk({"function_call": {"arguments": PARIS[:5]}}), chunk({"function_call": {"arguments": PARIS[5:]}})],
        "function_call", [("weather", PARIS)],
    ),
    "whole": ([chunk({"function_call": FUNCTION_CALL})], "stop", [("weather", PARIS)]),
    "whole, and no arguments": ([chunk({"function_call": {"name": "time"}})], "function_call", [("time", "{}")]),
    "beside the same": (
        [chunk({"function_call": FUNCTION_CALL, **opening(0, "call_a", "weather", PARIS)["choices"][0]["delta"]})],
        "tool_calls", [("weather", PARIS)],
    ),
    "before the same": (
        [chunk({"function_call": FUNCTION_CALL}), opening(0, "call_a", "weather", PARIS)],
        "function_call", [("weather", PARIS)],
    ),
    "beside another": (
        [chunk({"function_call": FUNCTION_CALL}), opening(0, "call_a", "time", "{}")],
        "tool_calls", [("time", "{}"), ("weather", PARIS)],
    ),
    "null": ([chunk({"function_call": None, "content": "x"})], "stop", []),
}  # fmt: skip


@pytest.mark.parametrize(("deltas", "finish", "calls"), DEPRECATED.values(), ids=DEPRECATED)
def test_a_function_call_where_tools_were_asked(
    deltas: list[dict[str, Any]], finish: str, calls: list[tuple[str, str]]
) -> None:
    said = seen(stream(ROLE, *deltas, chunk(finish=finish), TOTAL))
    assert [call[1:] for call in said.calls] == calls
    assert said.finish == ("tool_calls" if calls else "stop")
    assert not any(c["choices"][0]["delta"].get("function_call") for c in said.chunks if c["choices"])


def test_a_function_call_in_a_document() -> None:
    answer = ask(whole({"content": None, "function_call": FUNCTION_CALL}, "function_call"), streamed=False)
    choice = json.loads(answer.body)["choices"][0]
    assert [call["function"] for call in choice["message"]["tool_calls"]] == [FUNCTION_CALL]
    assert (choice["finish_reason"], "function_call" in choice["message"]) == ("tool_calls", False)


def test_a_function_call_where_functions_were_asked() -> None:
    called = chunk({"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}})
    upstream = stream(called, chunk(finish="function_call"), TOTAL)
    functions = [{"name": "f", "parameters": {"type": "object"}}]
    lines = ask(upstream, usage=True, tools=None, functions=functions).body.decode().splitlines()
    choices = [c for line in lines if line.startswith("data: {") for c in json.loads(line[6:])["choices"]]
    pieces = [c["delta"]["function_call"] for c in choices if "function_call" in c["delta"]]
    assert (pieces[0]["name"], "".join(piece["arguments"] for piece in pieces)) == ("f", "{}")
    assert choices[-1]["finish_reason"] == "function_call"
    assert not any("tool_calls" in c["delta"] for c in choices)


BARE = {"index": 0, "id": "call_a", "type": "function", "name": "weather"}
BARE_CALLS: dict[str, list[dict[str, Any]]] = {
    "whole": [{**BARE, "arguments": PARIS}],
    "in pieces": [{**BARE, "arguments": PARIS[:5]}, {"index": 0, "arguments": PARIS[5:]}],
    "an object": [{**BARE, "arguments": json.loads(PARIS)}],
    "function null": [{**BARE, "function": None, "arguments": PARIS}],
}


@pytest.mark.parametrize("entries", BARE_CALLS.values(), ids=BARE_CALLS)
def test_a_call_without_its_function_around_it(entries: list[dict[str, Any]]) -> None:
    said = seen(stream(ROLE, *(chunk({"tool_calls": [entry]}) for entry in entries), CALLS, TOTAL))
    assert [(name, json.loads(arguments)) for _, name, arguments in said.calls] == [("weather", json.loads(PARIS))]
    joined = {**BARE, "arguments": "".join(str(entry["arguments"]) for entry in entries)}
    if len(entries) == 1:
        joined = entries[0]
    message = json.loads(ask(whole({"content": None, "tool_calls": [joined]}), streamed=False).body)["choices"][0]
    (call,) = message["message"]["tool_calls"]
    assert (call["id"], json.loads(call["function"]["arguments"])) == ("call_a", json.loads(PARIS))
    assert (message["finish_reason"], "name" in call) == ("tool_calls", False)


NAMED = {"name": "weather"}
#: Calls with arguments that do not stand where the API has them, or with something beside them.
ODD_CALLS: dict[str, Any] = {
    "one call without a list": {**BARE, "function": {**NAMED, "arguments": PARIS}},
    "the text of a list": json.dumps([{**BARE, "function": {**NAMED, "arguments": PARIS}}]),
    "the text of a call": json.dumps({**BARE, "function": {**NAMED, "arguments": json.loads(PARIS)}}),
    "the text of a function": [{**BARE, "function": json.dumps({**NAMED, "arguments": PARIS})}],
    "parameters": [{**BARE, "function": {**NAMED, "parameters": json.loads(PARIS)}}],
    "parameters as text": [{**BARE, "function": {**NAMED, "parameters": PARIS}}],
    "input": [{**BARE, "input": json.loads(PARIS)}],
    "arguments null": [{**BARE, "function": {**NAMED, "arguments": None, "parameters": json.loads(PARIS)}}],
    "an empty list of arguments": [{**BARE, "function": {**NAMED, "arguments": [], "parameters": json.loads(PARIS)}}],
    "null beside it": [None, {**BARE, "function": {**NAMED, "arguments": PARIS}}],
    "in a string": [{**BARE, "function": {**NAMED, "arguments": json.dumps(PARIS)}}],
}


@each_row("entries", ODD_CALLS.values(), ids=ODD_CALLS)
def test_arguments_in_odd_places(entries: Any) -> None:
    said = seen(stream(ROLE, chunk({"tool_calls": entries}), CALLS, TOTAL))
    assert [(name, json.loads(arguments)) for _, name, arguments in said.calls] == [("weather", json.loads(PARIS))]
    message = json.loads(ask(whole({"content": None, "tool_calls": entries}), streamed=False).body)["choices"][0]
    (call,) = message["message"]["tool_calls"]
    assert (json.loads(call["function"]["arguments"]), message["finish_reason"]) == (json.loads(PARIS), "tool_calls")
    assert not {"input", "parameters"} & {*call, *call["function"]}


#: Content that is no string -> the text, and the reasoning.
CONTENTS: dict[str, tuple[Any, str, str]] = {
    "one part": ({"type": "text", "text": "x"}, "x", ""),
    "parts": ([{"type": "text", "text": "x"}, "y"], "xy", ""),
    "thinking": ([{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}], "", "hm"),
    "a summary (Databricks)": (
        [{"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm", "signature": "S"}]},
         {"type": "text", "text": "x"}], "x", "hm",
    ),
}  # fmt: skip


def test_a_refusal_among_the_parts_of_a_content() -> None:
    content = [{"type": "refusal", "refusal": "No."}]
    said = seen(stream(ROLE, text(content), STOP, TOTAL))
    assert (said.content, [c["choices"][0]["delta"].get("refusal") for c in said.chunks if c["choices"]][1:2]) == (
        "",
        ["No."],
    )
    message = json.loads(ask(whole({"content": content}), streamed=False).body)["choices"][0]["message"]
    assert message["refusal"] == "No."


@pytest.mark.parametrize(("content", "shown", "reasoning"), CONTENTS.values(), ids=CONTENTS)
def test_content_that_is_no_string(content: Any, shown: str, reasoning: str) -> None:
    said = seen(stream(ROLE, text(content), STOP, TOTAL))
    assert (said.content, said.reasoning) == (shown, reasoning)
    message = json.loads(ask(whole({"content": content}), streamed=False).body)["choices"][0]["message"]
    assert (message["content"] or "", message.get("reasoning_content") or "") == (shown, reasoning)


BLOCK = {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": json.loads(PARIS)}
SAME = {"id": "toolu_1", "type": "function", "function": {"name": "weather", "arguments": PARIS}}
#: Messages with blocks as the Messages API has them -> the text, and how many calls.
BLOCKS: dict[str, tuple[dict[str, Any], str, int]] = {
    "a block": ({"content": [BLOCK]}, "", 1),
    "a block alone": ({"content": BLOCK}, "", 1),
    "behind a text": ({"content": [{"type": "text", "text": "x"}, BLOCK]}, "x", 1),
    "two": ({"content": [BLOCK, {**BLOCK, "id": "toolu_2"}]}, "", 2),
    "another word": ({"content": [{**BLOCK, "type": "function_call"}]}, "", 1),
    "beside the same call": ({"content": [BLOCK], "tool_calls": [{"index": 0, **SAME}]}, "", 1),
    "beside another call": ({"content": [BLOCK], "tool_calls": [{"index": 0, **SAME, "id": "call_b"}]}, "", 2),
}


@pytest.mark.parametrize(("message", "shown", "count"), BLOCKS.values(), ids=BLOCKS)
def test_blocks_of_the_messages_api_in_the_content(message: dict[str, Any], shown: str, count: int) -> None:
    said = seen(stream(ROLE, chunk(message), CALLS, TOTAL))
    assert (said.content, [(name, json.loads(arguments)) for _, name, arguments in said.calls]) == (
        shown,
        [("weather", json.loads(PARIS))] * count,
    )
    choice = json.loads(ask(whole({"content": None, **message}), streamed=False).body)["choices"][0]
    calls = [call["function"] for call in choice["message"]["tool_calls"]]
    assert [(call["name"], json.loads(call["arguments"])) for call in calls] == [("weather", json.loads(PARIS))] * count
    assert (choice["message"]["content"] or "", choice["finish_reason"]) == (shown, "tool_calls")


def choices(given: Any) -> dict[str, Any]:
    return chunk(choices=given)


#: Chunks whose choices are of another form: they say "x" and stop.
CHOICES: dict[str, list[Any]] = {
    "an object": [ROLE, choices(text("x")["choices"][0]), STOP],
    "completions of old": [choices([{"index": 0, "text": "x"}]), choices([{"text": "", "finish_reason": "stop"}])],
    "reasons that are none yet": [chunk({"role": "assistant", "content": "x"}, "null"), chunk({}, "none"), STOP],
}


@pytest.mark.parametrize("chunks", CHOICES.values(), ids=CHOICES)
def test_choices_of_another_form(chunks: list[Any]) -> None:
    said = seen(stream(*chunks, TOTAL))
    assert (said.content, said.finish) == ("x", "stop")


@pytest.mark.parametrize("choice", [{"text": "x"}, [{"text": "x"}], [{"message": {"content": "x"}}]])
def test_a_document_whose_choices_are_of_another_form(choice: Any) -> None:
    answer = json.loads(ask(whole({}, choices=choice), streamed=False).body)["choices"][0]
    assert (answer["message"]["content"], answer["finish_reason"]) == ("x", "stop")


@pytest.mark.parametrize("word", ["null", "none", ""])
def test_a_stream_without_a_reason_broke_off(word: str) -> None:
    """A word for "no reason yet" in every chunk is none."""
    upstream = stream(chunk({"role": "assistant", "content": "x"}, word), done=False)
    assert b"upstream_truncated" in ask(upstream).body


#: Chunks of a call -> its arguments, and whether something of them came twice.
REPEATED: dict[str, tuple[list[dict[str, Any]], str, bool]] = {
    "the whole call again": (
        [opening(0, "call_a", "weather"), fragment(0, PARIS), opening(0, "call_a", "weather", PARIS)], PARIS, True,
    ),
    "the arguments again": ([opening(0, "call_a", "weather", PARIS), fragment(0, PARIS)], PARIS, True),
    "all so far in every chunk": (
        [opening(0, "call_a", "weather"), *(fragment(0, PARIS[:end]) for end in (3, 8, len(PARIS)))], PARIS, True,
    ),
    "a placeholder": ([opening(0, "call_a", "weather", "{}"), fragment(0, PARIS[:4]), fragment(0, PARIS[4:])],
                      PARIS, True),
    "no arguments": ([opening(0, "call_a", "weather", "{}")], "{}", False),
}  # fmt: skip


@pytest.mark.parametrize(("chunks", "arguments", "repeated"), REPEATED.values(), ids=REPEATED)
def test_arguments_that_come_twice_count_once(chunks: list[dict[str, Any]], arguments: str, repeated: bool) -> None:
    upstream = stream(ROLE, *chunks, CALLS, TOTAL)
    for step in (len(upstream), every_door.STEP):
        pieces = [upstream[at : at + step] for at in range(0, len(upstream), step)]
        said = seen(pieces)
        assert [call[1:] for call in said.calls] == [("weather", arguments)]
        answer = ask(pieces, usage=True)
        told = answer.body.decode() + answer.headers.get("x-toolwire-warnings", "")
        assert ("tool_arguments_restated" in told) == repeated


def test_a_placeholder_in_a_document() -> None:
    call = {"id": "call_a", "type": "function", "function": {"name": "weather", "arguments": "{}" + PARIS}}
    answer = ask(whole({"content": None, "tool_calls": [call]}, "tool_calls"), streamed=False)
    (shown,) = json.loads(answer.body)["choices"][0]["message"]["tool_calls"]
    assert shown["function"]["arguments"] == PARIS
    assert answer.headers["x-toolwire-warnings"] == "tool_arguments_restated"


@pytest.mark.parametrize("names", [["wea", "ther"], ["w", "wea", "weather"], ["weather", "weather"]])
def test_a_name_in_pieces(names: list[str]) -> None:
    first, *others = names
    chunks = [opening(0, "call_a", first), *(opening(0, None, name) for name in others), fragment(0, PARIS)]
    said = seen(stream(ROLE, *chunks, CALLS, TOTAL))
    assert said.calls == [("call_a", "weather", PARIS)]


@pytest.mark.parametrize("indices", [(-1, -2), (None, None), ("0", "1"), (3, 7), ("a", "b"), (0.0, 1.0)])
def test_indices_are_dense_whatever_came(indices: tuple[Any, Any]) -> None:
    chunks = [
        item
        for index, (id, (name, arguments)) in zip(indices, {"call_a": WEATHER, "call_b": CLOCK}.items(), strict=True)
        for item in (opening(index, id, name), fragment(index, arguments))
    ]
    said = seen(stream(ROLE, *chunks, CALLS, TOTAL))
    assert said.asked == [WEATHER, CLOCK]


# ---------------------------------------------------------------- frames around a call


def test_a_finish_behind_every_chunk() -> None:
    chunks = [opening(0, "call_a", "weather"), fragment(0, PARIS[:5]), fragment(0, PARIS[5:]), opening(1, "b", "time")]
    said = seen(stream(ROLE, *(item for one in (text("x"), *chunks) for item in (one, STOP)), TOTAL))
    assert (said.content, said.asked, said.finish) == ("x", [WEATHER, CLOCK], "tool_calls")


def test_nulls_everywhere() -> None:
    empty = {"role": None, "content": None, "tool_calls": None, "function_call": None, "reasoning_content": None}
    piece = {"index": 0, "id": None, "type": None, "function": {"name": None, "arguments": PARIS}}
    nothing = {"index": 0, "id": None, "type": None, "function": None}
    chunks = [chunk(empty), opening(0, "call_a", "weather"), *(chunk({**empty, "tool_calls": [one]}) for one in
              (nothing, piece, nothing)), chunk({"tool_calls": []})]  # fmt: skip
    gone = {**chunk(), "choices": [{"index": 0, "delta": None, "finish_reason": None}]}
    said = seen(stream(ROLE, *chunks, gone, CALLS, TOTAL))
    assert (said.asked, said.finish) == ([WEATHER], "tool_calls")


def test_a_role_in_every_chunk() -> None:
    """Said again, or empty (MiniMax): SDKs join it, or refuse the chunk."""
    for role in ("assistant", ""):
        words = [chunk({"role": role, "content": word}) for word in "xy"]
        said = seen(stream(ROLE, *words, STOP, TOTAL))
        assert said.content == "xy"
        assert [c["choices"][0]["delta"].get("role") for c in said.chunks if c["choices"]].count("assistant") == 1
        assert not any(c["choices"][0]["delta"].get("role") == "" for c in said.chunks if c["choices"])


def test_filter_chunks_around_a_call() -> None:
    first = {"choices": [], "created": 0, "id": "", "model": "", "object": "", "prompt_filter_results": []}
    note = {**first, "choices": [{"index": 0, "finish_reason": None, "content_filter_results": {}}]}
    chunks = [first, ROLE, opening(0, "call_a", "weather"), note, fragment(0, PARIS[:5]), first, fragment(0, PARIS[5:])]
    said = seen(stream(*chunks, CALLS, note, TOTAL))
    assert (said.asked, said.finish) == ([WEATHER], "tool_calls")


@pytest.mark.parametrize(
    "failed",
    [
        chunk(finish="error", error={"code": 502, "message": "gone"}),
        chunk(choices=[], error={"code": 502, "message": "gone"}),
        chunk(finish="error"),
        chunk(choices=[{"index": 0, "delta": {}, "finish_reason": None, "error": {"code": 502, "message": "gone"}}]),
    ],
)
def test_an_error_within_a_stream(failed: dict[str, Any]) -> None:
    frames = [stream(ROLE, text("x"), done=False), stream(failed)]
    body = ask(frames, usage=True).body
    assert b'"error"' in body
    assert b"[DONE]" not in body
    assert b'"finish_reason":"stop"' not in body.replace(b" ", b"")


def test_a_call_that_the_host_could_not_read() -> None:
    error = {"message": "Failed to call a function.", "type": "invalid_request_error", "code": "tool_use_failed"}
    answer = ask(json.dumps({"error": error}).encode(), status=400, content_type="application/json")
    assert (answer.status, json.loads(answer.body)["error"]["code"]) == (400, "tool_use_failed")
    assert answer.headers["x-should-retry"] == "false"


@each_row("wrote", ['<function=weather={"city":"Paris"}</function>', "I cannot call that."])
@each_row("door", every_door.REQUESTS)
def test_what_the_model_wrote_of_such_a_call_is_told_in_every_api(door: str, wrote: str) -> None:
    """Groq's message only points at a member that no other API has: the words are what its clients mend a prompt by."""
    error = {"message": "Failed to call a function. See 'failed_generation' for more details.",
             "type": "invalid_request_error", "code": "tool_use_failed", "failed_generation": wrote}  # fmt: skip
    body = json.dumps({"error": error}).encode()
    asked = json.dumps({"model": "m", **every_door.REQUESTS[door]}).encode()
    exchange = open_exchange(asked, door=door, profile="groq")
    refused = answer_of(exchange, [body], status=400, content_type="application/json")
    assert refused.status == 400
    assert json.dumps(wrote)[1:-1] in refused.body.decode()
    within = every_door.asked(door, b"event: error\ndata: " + body + b"\n\n", streamed=True, wire="openai_chat")
    assert json.dumps(wrote)[1:-1] in within.body.decode()


@pytest.mark.parametrize("ending", [b"", b"\n", b"\r\n"])
def test_a_last_line_without_its_end(ending: bytes) -> None:
    upstream = stream(ROLE, opening(0, "call_a", "weather", PARIS), CALLS, done=False).rstrip(b"\n") + ending
    said = seen(upstream, usage=False)
    assert (said.asked, said.finish) == ([WEATHER], "tool_calls")


def test_no_more_of_the_prompt_is_cached_than_there_is() -> None:
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    counts = {**usage, "prompt_tokens_details": {"cached_tokens": 40}}
    events = ChatDecoder(DecoderContext()).decode_json(whole({"content": "x"}, usage=counts)).events
    (read,) = [event.usage for event in events if isinstance(event, UsageUpdate)]
    assert (read.input_tokens, read.cache_read_tokens) == (10, 10)


def test_a_text_in_another_choice_is_named_in_a_warning() -> None:
    """TGI counted the choice's index up with the tokens; of several choices none was asked for."""
    told = [chunk(choices=[{"index": at, "delta": {"content": "x"}, "finish_reason": None}]) for at in range(3)]
    body = ask(stream(ROLE, *told, STOP, TOTAL)).body
    assert body.count(b"answer_part_left_out:choice") == 1
    assert b"answer_part_left_out" not in ask(stream(ROLE, told[0], STOP, TOTAL)).body


#: What an aggregator says -> status, code, and what its clients are told of the host behind it.
BEHIND: list[tuple[int, dict[str, Any], int, str, str]] = [
    (
        400,
        {"code": 400, "metadata": {"raw": '{"type":"error","error":{"message":"tools.0: bad"}}'}},
        400,
        "",
        "tools.0: bad",
    ),
    (429, {"code": 429, "metadata": {"raw": "glm is rate-limited upstream"}}, 429, "", "glm is rate-limited upstream"),
    (502, {"code": 502, "metadata": {"raw": {"error": {"message": "no such model"}}}}, 502, "", "no such model"),
    (400, {"code": 400, "metadata": {"raw": ""}}, 400, "", ""),
    (400, {"code": 400, "metadata": {"raw": "<html></html>"}}, 400, "", ""),
    (403, {"code": 403, "metadata": {"reasons": ["violence"], "flagged_input": "x"}}, 400, "content_filter", ""),
]


@pytest.mark.parametrize(("status", "error", "shown_status", "code", "why"), BEHIND)
def test_what_the_host_behind_an_aggregator_says(
    status: int, error: dict[str, Any], shown_status: int, code: str, why: str
) -> None:
    body = json.dumps({"error": {"message": "Provider returned error", **error}}).encode()
    failed = error_from_body(body, status)
    assert (failed.status, failed.message) == (shown_status, "Provider returned error" + (f": {why}" if why else ""))
    assert not code or failed.code == code


@pytest.mark.parametrize(
    ("said", "status"), [(1001, 504), (1002, 429), (1008, 402), (1027, 400), (2013, 400), (1000, 502), (1004, 502)]
)
def test_minimax_says_the_status_in_the_answer(said: int, status: int) -> None:
    body = json.dumps({"choices": None, "base_resp": {"status_code": said, "status_msg": "boom"}}).encode()
    failed = error_from_body(body, 200)
    assert (failed.status, failed.message) == (status, "boom")
