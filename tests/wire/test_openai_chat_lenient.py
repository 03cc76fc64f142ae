"""Chat chunks whose values have other types than OpenAI's: whatever can be read is read."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.named_rows import each_row
from toolwire.wire import openai_chat_lenient
from toolwire.wire.lenient_values import readable
from toolwire.wire.openai_chat import Choice, Chunk, CustomDelta, Delta, FunctionDelta, ToolCallDelta, chunk_decoder


def read(raw: bytes | str) -> Chunk:
    return openai_chat_lenient.read(readable(raw.encode() if isinstance(raw, str) else raw))


def delta(members: str) -> Delta:
    """The delta with these members."""
    choices = read('{"choices":[{"delta":{' + members + "}}]}").choices
    assert choices is not None
    assert choices[0].delta is not None
    return choices[0].delta


def call(raw: str) -> ToolCallDelta:
    calls = delta(f'"tool_calls":[{raw}]').tool_calls
    assert calls is not None
    return calls[0]


# ------------------------------------------------------------ the whole


@each_row(
    ("raw", "chunk"),
    [
        ("{}", Chunk()),
        ('{"choices":null}', Chunk()),
        ('{"choices":{}}', Chunk()),
        ('{"choices":[]}', Chunk(choices=[])),
        (
            '{"id":17,"object":"x","created":1.9,"model":null}',
            Chunk(id="17", object="x", created=1),
        ),
        ('{"created":"1700000000"}', Chunk(created=1_700_000_000)),
        ('{"created":"today"}', Chunk()),
        ('{"created":{}}', Chunk()),
        ('{"usage":{"a":1.0},"error":"no"}', Chunk(usage=msgspec.Raw(b'{"a":1.0}'), error=msgspec.Raw(b'"no"'))),
        ('{"choices":[{"index":"0","finish_reason":null}]}', Chunk(choices=[Choice(index=0)])),
        ('{"choices":[{"index":1.0,"delta":null}]}', Chunk(choices=[Choice(index=1)])),
        ('{"choices":[{"delta":"x","finish_reason":"stop"}]}', Chunk(choices=[Choice(finish_reason="stop")])),
        ('{"choices":[{"message":{"content":7}}]}', Chunk(choices=[Choice(message=Delta(content="7"))])),
    ],
)
def test_chunks(raw: str, chunk: Chunk) -> None:
    assert read(raw) == chunk


@each_row(
    "raw",
    ["", "null", "[]", '"x"', "data", "{", '{"choices":[1]}', '{"choices":[{"delta":{"tool_calls":["x"]}}]}',
     '{"choices":[{"delta":{"content":[{"type":"text"]}}]}', '{"created":' + "9" * 5000 + "}",
     '{"a":' + "[" * 100_000 + "]" * 100_000 + "}"],
    ids=lambda raw: raw[:30],
)  # fmt: skip
def test_what_cannot_be_read_is_a_value_error(raw: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        read(raw)


# ------------------------------------------------------------ text


@each_row(
    ("content", "text", "thinking"),
    [
        ("null", None, None),
        ('""', "", None),
        ('"x"', "x", None),
        ("5", "5", None),
        ("[]", "", None),
        ('["a","b"]', "ab", None),
        ('[{"type":"text","text":"a"},{"type":"text","text":"b"}]', "ab", None),
        ('[{"type":"reference","reference_ids":[1]},{"type":"text","text":"a"}]', "a", None),
        ('[{"type":"thinking","thinking":[{"type":"text","text":"hm"},{"type":"text","text":"."}]}]', "", "hm."),
        ('[{"type":"thinking","thinking":"hm"},{"type":"text","text":"so"}]', "so", "hm"),
        ('[{"type":"thinking","thinking":[]}]', "", None),
        ('[{"type":"text","text":null}]', "", None),
    ],
)
def test_content_may_be_a_list_of_parts(content: str, text: str | None, thinking: str | None) -> None:
    read = delta(f'"content":{content}')

    assert (read.content, read.reasoning_content) == (text, thinking)


def test_reasoning_in_its_own_field_wins() -> None:
    read = delta('"content":[{"type":"thinking","thinking":"a"}],"reasoning_content":"b","reasoning":"c"')

    assert (read.reasoning_content, read.reasoning) == ("b", "c")


@pytest.mark.parametrize("field", ["role", "content", "refusal", "reasoning_content", "reasoning"])
def test_half_a_surrogate_pair_waits_for_the_other_half(field: str) -> None:
    halves = [getattr(delta(f'"{field}":"{half}"'), field) for half in ("a\\ud83d", "\\ude00b")]

    assert halves == ["a\ud83d", "\ude00b"]


@pytest.mark.parametrize("text", ["\\ud83d\\ude00", "\\u00e9", '\\"\\\\\\n', "\\\\ud83d", "é😀", "\\u005cud83d"])
def test_other_escapes_are_as_they_were(text: str) -> None:
    raw = b'{"choices":[{"delta":{"content":"%s"}}]}' % text.encode()

    assert readable(raw) == raw
    assert read(raw) == chunk_decoder.decode(raw)


# ------------------------------------------------------------ calls


@each_row(
    ("raw", "expected"),
    [
        ("{}", ToolCallDelta()),
        ('{"index":"1","id":7,"type":null}', ToolCallDelta(index=1, id="7", type=None)),
        ('{"index":1.0}', ToolCallDelta(index=1)),
        ('{"index":"one"}', ToolCallDelta()),
        ('{"index":-1}', ToolCallDelta(index=-1)),
        ('{"function":null}', ToolCallDelta()),
        ('{"function":"f"}', ToolCallDelta()),
        ('{"function":{"name":"f"}}', ToolCallDelta(function=FunctionDelta("f"))),
        ('{"function":{"arguments":null}}', ToolCallDelta(function=FunctionDelta())),
        ('{"function":{"arguments":"{\\"a\\""}}', ToolCallDelta(function=FunctionDelta(None, '{"a"'))),
        ('{"custom":{"name":"f","input":"x"}}', ToolCallDelta(custom=CustomDelta("f", "x"))),
        ('{"custom":{"name":"f","input":{"a":1}}}', ToolCallDelta(custom=CustomDelta("f", '{"a":1}'))),
    ],
)
def test_calls(raw: str, expected: ToolCallDelta) -> None:
    assert call(raw) == expected


@pytest.mark.parametrize(
    "arguments",
    [
        "{}",
        '{ "b" : 1.10 , "a":12345678901234567890 }',
        '{"a":"é😀\\u00e9\\ud83d\\ude00"}',
        '{"a":[1,{"b":null}]}',
        "[1]",
        "true",
    ],
)
def test_arguments_given_as_a_value_stay_the_text_they_were(arguments: str) -> None:
    function = call('{"function":{"name":"f","arguments":' + arguments + "}}").function

    assert function is not None
    assert function.arguments == arguments


def test_half_a_surrogate_pair_in_an_arguments_object_is_kept() -> None:
    function = call('{"function":{"arguments":{"a":"\\ud83d"}}}').function

    assert function is not None
    assert function.arguments == '{"a":"\ud83d"}'


def test_several_calls_keep_their_order() -> None:
    calls = delta('"tool_calls":[{"index":"1"},{"index":0}]').tool_calls

    assert [entry.index for entry in calls or ()] == [1, 0]


def test_calls_that_are_no_list_are_none() -> None:
    assert delta('"tool_calls":{},"content":"x"') == Delta(content="x")


# ------------------------------------------------------------ properties


TEXT = st.none() | st.text(max_size=5)
NUMBER = st.none() | st.integers(-(2**63), 2**63 - 1)
CALLS = st.fixed_dictionaries(
    {"index": NUMBER, "id": TEXT, "type": TEXT},
    optional={
        "function": st.none() | st.fixed_dictionaries({"name": TEXT, "arguments": TEXT}),
        "custom": st.none() | st.fixed_dictionaries({"name": TEXT, "input": TEXT}),
    },
)
DELTAS = st.none() | st.fixed_dictionaries(
    {},
    optional={
        "role": TEXT,
        "content": TEXT,
        "refusal": TEXT,
        "reasoning_content": TEXT.map(lambda text: text or None),  # of "" it makes None, which says as little
        "reasoning": TEXT,
        "tool_calls": st.none() | st.lists(CALLS, max_size=2),
    },
)
CHUNKS = st.fixed_dictionaries(
    {"id": TEXT, "object": TEXT, "created": NUMBER, "model": TEXT},
    optional={
        "choices": st.none()
        | st.lists(st.fixed_dictionaries({"index": NUMBER, "finish_reason": TEXT, "delta": DELTAS}), max_size=2),
        "usage": st.none() | st.dictionaries(TEXT.filter(bool), NUMBER, max_size=2),
        "service_tier": TEXT,
    },
)


#: Texts that are there and empty.
_SAYS_NOTHING = {
    "content": "",
    "refusal": "",
    "tool_calls": [{"index": 0, "id": "", "type": "", "function": {"name": "", "arguments": ""}}],
}
_NO_CHUNK = {"id": "", "object": "", "created": 0, "model": ""}


@given(CHUNKS)
@example({**_NO_CHUNK, "choices": [{"index": 0, "finish_reason": "", "delta": _SAYS_NOTHING}]})
def test_what_the_fast_path_reads_is_read_the_same(chunk: dict[str, Any]) -> None:
    raw = msgspec.json.encode(chunk)

    assert read(raw) == chunk_decoder.decode(raw)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2)
    | st.dictionaries(
        st.sampled_from(["id", "choices", "delta", "message", "index", "content", "thinking", "tool_calls", "function",
                         "arguments", "name", "text", "usage", "created"]),
        inner, max_size=4,
    ),
    max_leaves=12,
)  # fmt: skip


@given(ANYTHING)
def test_any_json_is_read_or_a_value_error(value: Any) -> None:
    with contextlib.suppress(ValueError):
        assert isinstance(read(json.dumps(value)), Chunk)
