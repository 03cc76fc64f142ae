"""Answers of Chat Completions hosts as a strict client sees them: what hosts get wrong, repaired; the rest as it is.

Each stream is judged by two independent readers: `read`, which is strict, and openai-python's own accumulator.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.corpus.driver import answer, open_exchange
from tests.named_rows import each_row
from tests.providers.every_door import REQUESTS
from tests.providers.openai_chat.chat_reader import payloads, read
from tests.providers.openai_chat.chat_upstream import (
    CALLS,
    ROLE,
    STOP,
    TOTAL,
    USAGE,
    ask,
    chunk,
    fragment,
    opening,
    request,
    seen,
    stream,
    text,
    whole,
)

PARIS, ROME = '{"city":"Paris"}', '{"city":"Rome"}'
WEATHER, CLOCK = ("weather", PARIS), ("time", "{}")


# ---------------------------------------------------------------- what needs no repair

GOOD: dict[str, list[Any]] = {
    "text": [ROLE, text("Hel"), text("lo"), STOP, TOTAL],
    "content null": [chunk({"role": "assistant", "content": None}), text("x"), STOP, TOTAL],
    "role with the first text": [chunk({"role": "assistant", "content": "x"}), STOP, TOTAL],
    "one call": [ROLE, opening(0, "call_a", "weather"), fragment(0, PARIS[:5]), fragment(0, PARIS[5:]), CALLS, TOTAL],
    "later deltas with empty id and name": [
        ROLE, opening(0, "call_a", "weather"),
        fragment(0, PARIS, id="", type="function"), CALLS, TOTAL,
    ],
    "interleaved calls": [
        ROLE, opening(0, "call_a", "weather"), opening(1, "call_b", "weather"),
        fragment(0, PARIS[:5]), fragment(1, ROME[:7]), fragment(0, PARIS[5:]), fragment(1, ROME[7:]), CALLS, TOTAL,
    ],
    "text after calls": [ROLE, opening(0, "call_a", "weather", PARIS), text("done"), CALLS, TOTAL],
    "reasoning": [ROLE, chunk({"reasoning_content": "hm"}), chunk({"reasoning_content": "m"}), text("x"), STOP, TOTAL],
    "state that holds nothing, before a call": [
        chunk({"role": "assistant", "content": "x", "reasoning_details": []}),
        opening(0, "call_a", "weather"), fragment(0, PARIS), CALLS, TOTAL,
    ],
    "refusal": [chunk({"role": "assistant", "content": None, "refusal": "no"}), STOP, TOTAL],
    "cut by the limit": [ROLE, opening(0, "call_a", "weather", '{"ci'), chunk(finish="length"), TOTAL],
    "unknown members": [
        chunk({"role": "assistant", "content": "x", "later": [1.10]}, service_tier="default", obfuscation="aB"),
        chunk(finish="stop", system_fingerprint="fp", usage=None), TOTAL,
    ],
    "logprobs": [ROLE, chunk(choices=[{"index": 0, "delta": {"content": "x"}, "logprobs": {"content": [1.0]},
                                       "finish_reason": None}]), STOP, TOTAL],
    "escapes": [ROLE, b'{"id":"chatcmpl-1", "object":"chat.completion.chunk","created":1700000000,"model":"m\\u00e9",'
                      b'"choices":[{"delta":{"content":"\\u00e9\\/\\u2028"},"index":0,"finish_reason":null}],"x":1.10}',
                STOP, TOTAL],
}  # fmt: skip


@each_row("chunks", GOOD.values(), ids=GOOD)
def test_frames_that_need_no_repair_are_shown_byte_for_byte(chunks: list[Any]) -> None:
    upstream = stream(*chunks)
    assert ask(upstream, usage=True).body == upstream
    assert ask(upstream).body == stream(*chunks[:-1]), "usage that nobody asked for is not shown"
    if "refusal" not in str(chunks):
        seen(upstream)


@each_row("chunks", GOOD.values(), ids=GOOD)
def test_comments_names_and_layout_of_the_framing_do_not_matter(chunks: list[Any]) -> None:
    upstream = stream(*chunks)
    noisy = upstream.replace(b"data: ", b": PROCESSING\r\n\r\nevent: message\nid: 7\ndata:").replace(b"\n", b"\r\n")
    assert ask(b": first\n\n" + noisy, usage=True).body == upstream
    assert ask(upstream.removesuffix(b"\n\n"), usage=True).body == upstream
    assert ask(stream(*chunks, done=False), usage=True).body == upstream, "a finish and no [DONE] is an end"


# ---------------------------------------------------------------- tool calls that need repair

#: name -> (chunks after the role, the calls the client must see)
DEVIATIONS: dict[str, tuple[list[Any], list[tuple[str, str]]]] = {
    "whole call in one chunk": ([opening(0, "call_a", "weather", PARIS)], [WEATHER]),
    "both calls in one chunk": (
        [chunk({"tool_calls": [
            {"index": 0, "id": "a", "type": "function", "function": {"name": "weather", "arguments": PARIS}},
            {"index": 1, "id": "b", "type": "function", "function": {"name": "time", "arguments": "{}"}}]})],
        [WEATHER, CLOCK],
    ),
    "Ollama: every parallel call on index 0": (
        [opening(0, "call_a", "weather", PARIS), opening(0, "call_b", "time", "{}")], [WEATHER, CLOCK],
    ),
    "Gemini's endpoint: no index": (
        [opening(None, "call_a", "weather", PARIS), opening(None, "call_b", "time", "{}")], [WEATHER, CLOCK],
    ),
    "indices from 1": ([opening(1, "call_a", "weather"), fragment(1, PARIS)], [WEATHER]),
    "a gap in the indices": (
        [opening(0, "call_a", "weather", PARIS), opening(2, "call_b", "time"), fragment(2, "{}")], [WEATHER, CLOCK],
    ),
    "descending indices": (
        [opening(1, "call_b", "time", "{}"), opening(0, "call_a", "weather", PARIS)], [CLOCK, WEATHER],
    ),
    "no id": ([opening(0, None, "weather"), fragment(0, PARIS)], [WEATHER]),
    "an empty id": ([opening(0, "", "weather", PARIS), opening(1, "", "time", "{}")], [WEATHER, CLOCK]),
    "no type": ([opening(0, "call_a", "weather", PARIS, type=None)], [WEATHER]),
    "another type": ([opening(0, "call_a", "weather", PARIS, type="tool")], [WEATHER]),
    "id and name in every delta": (
        [opening(0, "call_a", "weather", PARIS[:5]), opening(0, "call_a", "weather", PARIS[5:])], [WEATHER],
    ),
    "a new id in every delta": (
        [opening(0, "call_a", "weather"), fragment(0, PARIS[:5], id="call_b"), fragment(0, PARIS[5:], id="call_c")],
        [WEATHER],
    ),
    "one id for two calls": (
        [opening(0, "call_0", "weather", PARIS), opening(1, "call_0", "time", "{}")], [WEATHER, CLOCK],
    ),
    "the name later": (
        [opening(0, "call_a", None), chunk({"tool_calls": [{"index": 0, "function": {"name": "weather"}}]}),
         fragment(0, PARIS)],
        [WEATHER],
    ),
    "arguments before the name": (
        [opening(0, "call_a", None, PARIS[:4]), opening(0, "call_a", "weather", PARIS[4:])], [WEATHER],
    ),
    "neither index nor id at first": (
        [opening(None, None, "weather", None), chunk({"tool_calls": [{"id": "call_a"}]}), fragment(None, PARIS)],
        [WEATHER],
    ),
    "no index, and the name in every delta": (
        [opening(None, "call_a", "weather"), *(opening(None, None, "weather", part) for part in (PARIS[:5], PARIS[5:])),
         opening(None, "call_b", "time"), opening(None, None, "time", "{}")],
        [WEATHER, CLOCK],
    ),
    "neither index nor name at first": (
        [opening(None, "call_a", None, PARIS[:4]), opening(None, None, "weather", PARIS[4:])], [WEATHER],
    ),
    "a summary of the deltas at the end": (
        [opening(0, "call_a", "weather", PARIS),
         chunk(choices=[{"index": 0, "finish_reason": None, "delta": None, "message": {"content": "x", "tool_calls": [
             {"index": 0, "id": "call_a", "function": {"name": "weather", "arguments": PARIS}}]}}])],
        [WEATHER],
    ),
    "one call in place of a list": (
        [chunk({"tool_calls": {"index": 0, "id": "call_a", "type": "function",
                               "function": {"name": "weather", "arguments": PARIS}}})],
        [WEATHER],
    ),
    "NaN among the logprobs": (
        [opening(0, "call_a", "weather", PARIS) | {"logprobs": float("nan")}], [WEATHER],
    ),
    "a null error in every chunk": ([opening(0, "call_a", "weather", PARIS) | {"error": None}], [WEATHER]),
    "no arguments at all": ([opening(0, "call_a", "time", None)], [CLOCK]),
    "empty arguments": ([opening(0, "call_a", "time", ""), fragment(0, "")], [CLOCK]),
    "arguments null": (
        [chunk({"tool_calls": [{"index": 0, "id": "call_a", "type": "function",
                                "function": {"name": "time", "arguments": None}}]})],
        [CLOCK],
    ),
    "arguments as an object": (
        [opening(0, "call_a", "weather", {"city": "Paris"})], [("weather", '{"city": "Paris"}')],
    ),
    "an id and an index of other types": (
        [chunk({"tool_calls": [{"index": "0", "id": 17, "type": "function",
                                "function": {"name": "weather", "arguments": PARIS}}]})],
        [WEATHER],
    ),
    "two objects on one index": (
        [opening(0, "call_a", "weather", PARIS), fragment(0, ROME)], [WEATHER, ("weather", ROME)],
    ),
    "two objects in one fragment": (
        [opening(0, "call_a", "weather", PARIS + ROME)], [WEATHER, ("weather", ROME)],
    ),
    "a delta after the finish": (
        [opening(0, "call_a", "weather", PARIS[:5]), CALLS, fragment(0, PARIS[5:])], [WEATHER],
    ),
    "arguments that do not parse": ([opening(0, "call_a", "weather", '{"city": Par}')], [("weather", '{"city": Par}')]),
    "a whole message in place of a delta": (
        [chunk(choices=[{"index": 0, "finish_reason": None, "message": {
            "role": "assistant", "tool_calls": [{"id": "call_a", "type": "function",
                                                 "function": {"name": "weather", "arguments": PARIS}}]}}])],
        [WEATHER],
    ),
}  # fmt: skip


@each_row("finish", ["tool_calls", "stop", "end_turn", "tool_use", "function_call", "weird"])
@each_row(("chunks", "calls"), DEVIATIONS.values(), ids=DEVIATIONS)
def test_calls_a_strict_client_could_not_read(chunks: list[Any], calls: list[tuple[str, str]], finish: str) -> None:
    said = seen(stream(ROLE, *chunks, chunk(finish=finish), TOTAL))
    assert (said.asked, said.finish, said.usage) == (calls, "tool_calls", USAGE)
    assert len({id for id, _, _ in said.calls}) == len(calls)


@each_row(("chunks", "calls"), DEVIATIONS.values(), ids=DEVIATIONS)
def test_calls_without_a_finish(chunks: list[Any], calls: list[tuple[str, str]]) -> None:
    """[DONE] is the host's word that it is over; arguments that do not parse are then taken for a broken answer."""
    answer = ask(stream(ROLE, *[part for part in chunks if part is not CALLS], TOTAL), usage=True)
    said = read(answer.body, usage=b'"error"' not in answer.body)
    if calls[0][1] == '{"city": Par}':
        assert said.error is not None
        assert said.error["code"] == "upstream_truncated"
    else:
        assert (said.asked, said.finish) == (calls, "tool_calls")


# ---------------------------------------------------------------- the rest of the chunk


def without(name: str, of: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in of.items() if key != name}


HELLO = [text("Hel"), text("lo")]


@each_row(
    "chunks",
    [
        pytest.param([*HELLO, STOP, TOTAL], id="no role"),
        pytest.param([text("Hel"), chunk({"role": "assistant", "content": "lo"}), STOP, TOTAL], id="role later"),
        pytest.param([chunk({"role": "", "content": "Hello"}), STOP, TOTAL], id="role empty"),
        pytest.param([without("object", part) for part in (ROLE, *HELLO, STOP, TOTAL)], id="no object"),
        pytest.param([part | {"object": "x"} for part in (ROLE, *HELLO, STOP, TOTAL)], id="another object"),
        pytest.param([without("created", part) for part in (ROLE, *HELLO, STOP, TOTAL)], id="no created"),
        pytest.param([part | {"created": 1.7e9} for part in (ROLE, *HELLO, STOP, TOTAL)], id="created as a float"),
        pytest.param([ROLE, *(part | {"created": 1800000000} for part in HELLO), STOP, TOTAL], id="created changes"),
        pytest.param([without("model", part) for part in (ROLE, *HELLO, STOP, TOTAL)], id="no model"),
        pytest.param([without("id", part) for part in (ROLE, *HELLO, STOP, TOTAL)], id="no id"),
        pytest.param([part | {"id": ""} for part in (ROLE, *HELLO, STOP, TOTAL)], id="empty id"),
        pytest.param([part | {"id": f"c{n}"} for n, part in enumerate((ROLE, *HELLO, STOP, TOTAL))], id="id changes"),
        pytest.param([part | {"id": 5} for part in (ROLE, *HELLO, STOP, TOTAL)], id="id as a number"),
        pytest.param([ROLE, *HELLO, without("choices", chunk()), STOP, TOTAL], id="no choices"),
        pytest.param([ROLE, *HELLO, chunk(choices=None), STOP, TOTAL], id="choices null"),
        pytest.param([ROLE, *HELLO, STOP, without("choices", TOTAL)], id="usage without choices"),
        pytest.param([ROLE, *HELLO, STOP, TOTAL, chunk()], id="a chunk after usage"),
        pytest.param([ROLE, *HELLO, TOTAL, STOP], id="usage before the finish"),
        pytest.param([ROLE, *HELLO, chunk(finish="stop", usage=USAGE)], id="usage with the finish"),
        pytest.param([part | {"usage": USAGE} for part in (ROLE, *HELLO, STOP)], id="usage in every chunk"),
        pytest.param(
            [*(part | {"usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}}
               for part in (ROLE, *HELLO)), STOP, TOTAL],
            id="usage of zeros",
        ),
        pytest.param([*(part | {"usage": {}} for part in (ROLE, *HELLO)), STOP, TOTAL], id="usage empty"),
        pytest.param([ROLE, *HELLO, STOP, TOTAL, TOTAL], id="usage twice"),
        pytest.param([ROLE, *HELLO, STOP, STOP, TOTAL], id="finish twice"),
        pytest.param([ROLE, text("Hel"), STOP, text("lo"), TOTAL], id="text after the finish"),
        pytest.param([ROLE, text("Hel"), chunk({"content": "lo"}, "stop"), TOTAL], id="text with the finish"),
        pytest.param([ROLE, *HELLO, chunk({"content": ""}, "stop"), TOTAL], id="empty text with the finish"),
        pytest.param([chunk({"role": "assistant", "content": "Hello"}, "stop", usage=USAGE)], id="all in one chunk"),
        pytest.param([ROLE, *HELLO, TOTAL], id="no finish"),
        pytest.param([ROLE, *HELLO, chunk(finish="eos"), TOTAL], id="eos"),
        pytest.param([ROLE, *HELLO, chunk(finish="tool_calls"), TOTAL], id="tool_calls without calls"),
        pytest.param([ROLE, *HELLO, chunk(finish="bananas"), TOTAL], id="an unknown reason"),
        pytest.param([ROLE, chunk({"content": "Hello"}, ""), STOP, TOTAL], id="finish empty"),
        pytest.param([ROLE, *HELLO, chunk({"tool_calls": []}), STOP, TOTAL], id="empty tool_calls"),
        pytest.param([ROLE, *HELLO, chunk({"tool_calls": None}), STOP, TOTAL], id="tool_calls null"),
        pytest.param([ROLE, text([{"type": "text", "text": "Hel"}]), text(["lo"]), STOP, TOTAL], id="content a list"),
        pytest.param([ROLE, *HELLO, chunk(choices=[{"index": 1, "delta": {"content": "other"}}]), STOP, TOTAL],
                     id="another choice"),
        pytest.param([ROLE, *(chunk(choices=[{"delta": part["choices"][0]["delta"]}]) for part in HELLO), STOP, TOTAL],
                     id="no choice index, no finish member"),
        pytest.param([ROLE, *HELLO, chunk(choices=[{"index": 0, "finish_reason": "stop"}]), TOTAL], id="no delta"),
        pytest.param([ROLE, *HELLO, chunk(choices=[{"index": 0, "delta": None, "finish_reason": "stop"}]), TOTAL],
                     id="delta null"),
        pytest.param([b"", b" ", b": PROCESSING", b'"keep-alive"', b"ping", b'""', ROLE, *HELLO, STOP, TOTAL],
                     id="keep-alives in data"),
        pytest.param([chunk(choices=[], id="", model="", prompt_filter_results=[1]), ROLE, *HELLO, STOP, TOTAL],
                     id="Azure: prompt filter first"),
        pytest.param([ROLE, *HELLO, STOP, chunk(choices=[]), TOTAL], id="a chunk of nothing after the finish"),
        pytest.param([ROLE | {"error": None}, *HELLO, STOP | {"error": {}}, TOTAL], id="error without content"),
    ],
)  # fmt: skip
def test_text_a_strict_client_could_not_read(chunks: list[Any]) -> None:
    has_usage = any(isinstance(part, dict) and part.get("usage") for part in chunks)
    assert has_usage
    said = seen(stream(*chunks))
    assert (said.content, said.finish, said.usage, said.calls) == ("Hello", "stop", USAGE, [])
    assert seen(stream(*chunks), usage=False).content == "Hello"


@each_row(
    ("words", "finish"),
    [
        (["length"], "length"),
        (["max_tokens"], "length"),
        (["model_length"], "length"),
        (["stop", "length"], "length"),
        (["tool_calls", "length"], "length"),
        (["length", "tool_calls"], "length"),
        (["content_filter"], "content_filter"),
        (["safety"], "content_filter"),
    ],
)
def test_truncation_wins_over_calls(words: list[str], finish: str) -> None:
    finishes = [chunk(finish=word) for word in words]
    cut = seen(stream(ROLE, opening(0, "call_a", "weather", '{"ci'), *finishes, TOTAL))
    assert (cut.finish, cut.asked) == (finish, [("weather", '{"ci')])
    begun = seen(stream(ROLE, opening(0, "call_a", "weather", ""), *finishes, TOTAL))
    assert (begun.finish, begun.asked) == (finish, [("weather", "")]), "a call that was cut is never completed"


def test_unnamed_members_of_a_repaired_frame_are_kept() -> None:
    logprobs: dict[str, Any] = {"content": []}
    said = seen(stream(
        chunk(choices=[], id="", model="", prompt_filter_results=["P"]),
        chunk(choices=[{"delta": {"role": "assistant", "content": "x", "later": ["A"]}, "logprobs": logprobs}],
              system_fingerprint="fp"),
        opening(3, "call_a", "time", "", extra_content={"google": "G"}),
        chunk(choices=[{"index": 0, "delta": {}, "finish_reason": "stop", "content_filter_results": "F"}],
              service_tier="T"),
        chunk(choices=[], usage=USAGE | {"queue_time": 0.5}, x_groq="X"),
    ))  # fmt: skip
    joined = json.dumps(said.chunks)
    for member in ('"prompt_filter_results": ["P"]', '"later": ["A"]', '"logprobs": {"content": []}',
                   '"system_fingerprint": "fp"', '"extra_content": {"google": "G"}', '"content_filter_results": "F"',
                   '"service_tier": "T"', '"queue_time": 0.5', '"x_groq": "X"'):  # fmt: skip
        assert joined.count(member) == 1, member


@pytest.mark.parametrize("ids", [("call_a", "call_b"), (None, None), ("", ""), ("same", "same"), (1, 2), ("a_b", None)])
def test_unnamed_members_of_calls_stay_with_their_call(ids: tuple[Any, Any]) -> None:
    entries = [
        {"index": index, "id": id, "function": {"name": name, "arguments": "{}"}, "extra_content": name}
        for index, (id, name) in enumerate(zip(ids, ("weather", "time"), strict=True))
    ]
    deltas = seen(stream(ROLE, chunk({"tool_calls": entries}), CALLS, TOTAL)).chunks
    opened = [
        entry for part in deltas if part["choices"] for entry in part["choices"][0]["delta"].get("tool_calls", ())
    ]
    assert [(entry["function"]["name"], entry["extra_content"]) for entry in opened if "id" in entry] == [
        ("weather", "weather"),
        ("time", "time"),
    ]
    message = {"content": None, "tool_calls": entries}
    answered = json.loads(ask(whole(message), streamed=False).body)["choices"][0]["message"]["tool_calls"]
    assert [entry["extra_content"] for entry in answered] == ["weather", "time"]


def test_members_of_the_finish_survive_a_call_without_arguments() -> None:
    """The `{}` that completes the call goes out before the held finish, which is then written anew."""
    choice = {"index": 0, "delta": {}, "finish_reason": "tool_calls", "stop_reason": 5}
    finish = chunk(choices=[choice], service_tier="T")
    said = seen(stream(ROLE, opening(0, "call_a", "time"), finish, TOTAL))
    assert said.asked == [CLOCK]
    assert said.chunks[-2]["service_tier"] == "T"
    assert said.chunks[-2]["choices"][0]["stop_reason"] == 5


def test_thinking_parts_of_a_content_list() -> None:
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    said = seen(stream(ROLE, text([thinking]), text([{"type": "text", "text": "x"}]), STOP, TOTAL))
    assert (said.reasoning, said.content) == ("hm", "x")


def test_refusals_repaired() -> None:
    answer = ask(stream(chunk({"refusal": "I "}), chunk({"refusal": "won't"}), STOP, TOTAL))
    said = read(answer.body)
    assert (said.refusal, said.content, said.finish) == ("I won't", "", "stop")


def test_half_a_surrogate_pair_in_each_chunk() -> None:
    halves = [b'{"content": "\\ud83d"}', b'{"content": "\\ude00"}']
    upstream = [json.dumps(text("@")).encode().replace(b'{"content": "@"}', half) for half in halves]
    answer = ask(stream(ROLE, *upstream, STOP, TOTAL), usage=True)
    content = read(answer.body, usage=True).content
    assert content.encode("utf-16", "surrogatepass").decode("utf-16") == "\U0001f600"


# ---------------------------------------------------------------- usage

OTHERS = {"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 14}


@each_row(
    ("given", "shown"),
    [
        (USAGE, USAGE),
        (
            {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 22, "cost": 0.10,
             "completion_tokens_details": {"reasoning_tokens": 7}},
            {"prompt_tokens": 10, "completion_tokens": 12, "total_tokens": 22, "cost": 0.10,
             "completion_tokens_details": {"reasoning_tokens": 7},
             "prompt_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0}},
        ),
        (  # another total of the host's own
            {**USAGE, "total_tokens": 99, "cost": 0.10},
            {**USAGE, "cost": 0.10, "prompt_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
             "completion_tokens_details": {"reasoning_tokens": 0}},
        ),
        (
            {"prompt_tokens": 10, "completion_tokens": 5},
            {**USAGE, "prompt_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
             "completion_tokens_details": {"reasoning_tokens": 0}},
        ),
        (
            {"prompt_tokens": 10, "completion_tokens": 5, "prompt_cache_hit_tokens": 4, "prompt_cache_miss_tokens": 6},
            {**USAGE, "prompt_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 0},
             "completion_tokens_details": {"reasoning_tokens": 0}, "prompt_cache_hit_tokens": 4,
             "prompt_cache_miss_tokens": 6},
        ),
        (
            {"prompt_tokens": 10.0, "completion_tokens": 5.0, "total_tokens": 15.0},
            {**USAGE, "prompt_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
             "completion_tokens_details": {"reasoning_tokens": 0}},
        ),
        (
            None,
            {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0,
             "prompt_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
             "completion_tokens_details": {"reasoning_tokens": 0}},
        ),
        (
            "garbage",
            {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0,
             "prompt_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
             "completion_tokens_details": {"reasoning_tokens": 0}},
        ),
    ],
)  # fmt: skip
@each_row("with_finish", [False, True])
def test_usage_as_shown(given: Any, shown: dict[str, Any], with_finish: bool) -> None:
    last = [chunk(finish="stop", usage=given)] if with_finish else [STOP, chunk(choices=[], usage=given)]
    assert seen(stream(ROLE, text("x"), *last)).usage == shown


@pytest.mark.parametrize(
    ("given", "counts"),
    [
        (USAGE, (10, 5, 0, 0, 15)),
        (
            {"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 14,
             "prompt_tokens_details": {"cached_tokens": 4}, "completion_tokens_details": {"reasoning_tokens": 3}},
            (9, 5, 4, 3, 14),
        ),
        (  # xAI counts reasoning in the total only
            {"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 17,
             "completion_tokens_details": {"reasoning_tokens": 3}},
            (9, 8, 0, 3, 17),
        ),
        ({"prompt_tokens": 9, "completion_tokens": 5, "prompt_cache_hit_tokens": 4}, (9, 5, 4, 0, 14)),
        ({"prompt_tokens": 9, "prompt_tokens_details": None, "total_tokens": 9}, (9, 0, 0, 0, 9)),
        ({"prompt_tokens": 9.0, "completion_tokens": "5", "total_tokens": 14.0}, (9, 5, 0, 0, 14)),
        ({**OTHERS, "cached_tokens": 4}, (9, 5, 4, 0, 14)),  # Moonshot
        ({**OTHERS, "cache_read_input_tokens": 4}, (9, 5, 4, 0, 14)),  # LiteLLM, Databricks
        ({**OTHERS, "cached_tokens": 4, "prompt_tokens_details": {"cached_tokens": 3}}, (9, 5, 3, 0, 14)),
        ({"input_tokens": 9, "output_tokens": 5, "total_tokens": 14}, (9, 5, 0, 0, 14)),  # other APIs' names
        ({**OTHERS, "prompt_tokens_details": [], "completion_tokens_details": "x"}, (9, 5, 0, 0, 14)),
        ({**OTHERS, "prompt_tokens_details": {"cached_tokens": {}}}, (9, 5, 0, 0, 14)),
        ({**OTHERS, "prompt_tokens": -1, "total_tokens": 4}, (0, 5, 0, 0, 5)),
    ],
)  # fmt: skip
def test_usage_as_counted(given: dict[str, Any], counts: tuple[int, ...]) -> None:
    exchange = open_exchange(request())
    answer(exchange, [stream(ROLE, text("x"), STOP, chunk(choices=[], usage=given))])
    usage = exchange.figures.usage
    assert usage is not None
    assert counts == (usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.reasoning_tokens,
                      usage.total_tokens)  # fmt: skip


def test_payloads_reads_what_it_should() -> None:
    assert list(payloads(b": c\n\ndata: a\ndata: b\n\ndata: [DONE]\n\n")) == [b"a\nb", b"[DONE]"]


@pytest.mark.parametrize("door", ["chat_completions", "responses", "messages", "gemini"])
@pytest.mark.parametrize(
    "last",
    [
        {**chunk(), "choices": [{"index": 0, "delta": {}, "finish_reason": "stop", "usage": USAGE}]},  # Moonshot
        chunk(finish="stop", x_groq={"id": "req_1", "usage": {**USAGE, "queue_time": 0.1}}),
    ],
    ids=["in the choice", "beside it"],
)
def test_usage_in_another_place(door: str, last: dict[str, Any]) -> None:
    exchange = open_exchange(json.dumps({"model": "m", "stream": True, **REQUESTS[door]}).encode(), door=door)
    answer(exchange, [stream(ROLE, text("x"), last)])
    usage = exchange.figures.usage
    assert usage is not None
    assert (usage.input_tokens, usage.output_tokens) == (10, 5)


def test_the_last_usage_wins_over_that_in_another_place() -> None:
    early = {**chunk(), "choices": [{"index": 0, "delta": {}, "finish_reason": "stop", "usage": OTHERS}]}
    assert seen(stream(ROLE, text("x"), early, TOTAL)).usage == USAGE
    assert seen(stream(ROLE, text("x"), early)).usage == OTHERS
