"""Calls in text, format by format: what becomes a call, what stays text, and that no cut changes it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.named_rows import each_row
from tests.stream.text_calls.text_call_answers import RECORDINGS, Said, batches, said, whole
from toolwire.model.events import FinishReason
from toolwire.model.request import Tool
from toolwire.stream.text_calls.formats import FORMATS, OPENS
from toolwire.stream.text_calls.scanner import TextCallScanner

HERMES = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "A"}}\n</tool_call>'
CALL = ("get_weather", '{"city": "A"}')


def test_every_format_has_a_recording() -> None:
    assert {json.loads(path.read_text())["format"] for path in RECORDINGS} == {row.name for row in FORMATS}


def test_no_mark_is_the_beginning_of_another() -> None:
    for row in FORMATS:
        for marker in filter(None, (row.opens, row.closes, OPENS)):
            texts = marker.spellings
            assert not [(a, b) for a in texts for b in texts if a != b and b.startswith(a)]
    assert len(OPENS.spellings) == sum(len(row.opens.spellings) for row in FORMATS)


@pytest.mark.parametrize("step", [3, pytest.param(1, marks=pytest.mark.integration)])
@each_row("path", RECORDINGS, ids=lambda path: path.stem)
def test_recordings(path: Path, step: int) -> None:
    """Whole, a character at a time, and cut in two: in `make test` at each third character."""
    recording = json.loads(path.read_text())
    expected = Said(recording["text"], tuple(map(tuple, recording["calls"])), "tool_calls")
    text = "".join(recording["pieces"])
    assert said(batches(recording["pieces"])) == expected
    assert whole(text) == expected
    assert said(batches(list(text))) == expected
    for at in range(1, len(text), step):
        assert said(batches([text[:at], text[at:]])) == expected, at


#: What becomes of a text: what is left of it, and the calls.
FOUND: dict[str, tuple[str, str, list[tuple[str, str]]]] = {
    "text before, between and after": (f"A {HERMES}\nB {HERMES} C", "A B C", [CALL, CALL]),
    "the arguments keep their text": (
        '<function=now>{"n": 1234567890123456789, "x": 1.10, "s":"\\u00e9 \\/ </function>" }</function>',
        "",
        [("now", '{"n": 1234567890123456789, "x": 1.10, "s":"\\u00e9 \\/ </function>" }')],
    ),
    "no arguments": ("<function=now></function>", "", [("now", "{}")]),
    "no arguments in JSON": ('<tool_call>{"name": "now"}</tool_call>', "", [("now", "{}")]),
    "arguments null": ('<tool_call>{"name": "now", "arguments": null}</tool_call>', "", [("now", "{}")]),
    "arguments under their other name": (
        '<tool_call>{"name": "now", "parameters": {"a": 1}}</tool_call>',
        "",
        [("now", '{"a": 1}')],
    ),
    "arguments written as a string": (
        '<tool_call>{"name": "now", "arguments": "{\\"a\\": 1.10}"}</tool_call>',
        "",
        [("now", '{"a": 1.10}')],
    ),
    "several calls in one tag": (
        '<tool_call>{"name": "now"}\n{"name": "now", "arguments": {"a": 1}}</tool_call>',
        "",
        [("now", "{}"), ("now", '{"a": 1}')],
    ),
    "an array in one tag": ('<tool_call>[{"name": "now"}, {"name": "now"}]</tool_call>', "", [("now", "{}")] * 2),
    "several functions in one tag": (
        "<tool_call><function=now></function>\n<function=now></function></tool_call>",
        "",
        [("now", "{}")] * 2,
    ),
    "marks within strings": (
        '<tool_call>{"name": "now", "arguments": {"s": "</tool_call><function=now></function> \\" }"}}</tool_call>.',
        ".",
        [("now", '{"s": "</tool_call><function=now></function> \\" }"}')],
    ),
    "an end tag within a parameter": (
        "<function=now><parameter=a>x </parameter> y</parameter></function>",
        "",
        [("now", '{"a":"x </parameter> y"}')],
    ),
    "behind a quotation that has ended": (f'He said "go"{HERMES}', 'He said "go"', [CALL]),
    "behind code that has ended": (f"Run `ls`. {HERMES}", "Run `ls`. ", [CALL]),
    "behind a fence that has ended": (f"```sh\nls\n```\n{HERMES}", "```sh\nls\n```\n", [CALL]),
    "behind code within a line that looks like a fence": (f"```ls```\n{HERMES}", "```ls```\n", [CALL]),
    "behind a backtick of the line before": (f"It`s there.\n{HERMES}", "It`s there.\n", [CALL]),
    "behind a tag that is only named": (f"The <tool_call> tag:\n{HERMES}", "The <tool_call> tag:\n", [CALL]),
    "behind a tag that is only named, quoted": (
        f"The `<tool_call>` tag:\n{HERMES}",
        "The `<tool_call>` tag:\n",
        [CALL],
    ),
    "behind a quoted line that names the tag": (f"> <tool_call>\n\n{HERMES}", "> <tool_call>\n\n", [CALL]),
    "a custom tool's input": (
        '<function=apply_patch>{"input": "*** Begin\\nx"}</function>',
        "",
        [("apply_patch", "*** Begin\nx")],
    ),
    "a name with a namespace": (HERMES.replace('"get_', '"functions.get_'), "", [CALL]),
    "arguments with types of their own": (
        '<|open|>call tool="get_weather" index="1"<|sep|><|open|>argument key="days" type="number"<|sep|>2'
        '<|close|>argument<|sep|><|open|>argument key="place" type="object"<|sep|>{"lat": 1.10}<|close|>argument<|sep|>'
        '<|open|>argument key="a&quot;b" type="boolean"<|sep|>true<|close|>argument<|sep|><|close|>call<|sep|>',
        "",
        [("get_weather", '{"days":2,"place":{"lat": 1.10},"a\\"b":true}')],
    ),
    "an argument that is not of its type": (
        '<|open|>call tool="get_weather" index="1"<|sep|><|open|>argument key="days" type="number"<|sep|>two'
        "<|close|>argument<|sep|><|close|>call<|sep|>",
        "",
        [("get_weather", '{"days":"two"}')],
    ),
    "elements within elements": (
        ']<]minimax[>[<invoke name="get_weather">]<]minimax[>[<days>2]<]minimax[>[</days>]<]minimax[>[<tags>'
        "]<]minimax[>[<item>a <b>]<]minimax[>[</item>]<]minimax[>[<item>7]<]minimax[>[</item>]<]minimax[>[</tags>"
        "]<]minimax[>[<place>]<]minimax[>[<lat>1.10]<]minimax[>[</lat>]<]minimax[>[</place>]<]minimax[>[</invoke>",
        "",
        [("get_weather", '{"days":2,"tags":["a <b>","7"],"place":{"lat":1.10}}')],
    ),
    "an element without elements": (
        ']<]minimax[>[<invoke name="get_weather">]<]minimax[>[<tags>]<]minimax[>[</tags>]<]minimax[>[</invoke>',
        "",
        [("get_weather", '{"tags":[]}')],
    ),
    "harmony, and text behind it": (
        "<|channel|>commentary to=functions.now<|message|>{} <|call|> Done.",
        "Done.",
        [("now", "{}")],
    ),
    "a turn that calls nothing": (
        f"<|start|>assistant<|channel|>final<|message|>Hi {HERMES}",
        "<|start|>assistant<|channel|>final<|message|>Hi ",
        [CALL],
    ),
    "Llama, and text behind it": (
        '<|python_tag|>{"name": "now", "parameters": {}}; then I wait',
        "; then I wait",
        [("now", "{}")],
    ),
    "a section that does not end": (
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.now:0<|tool_call_argument_begin|>{}<|tool_call_end|>",
        "",
        [("now", "{}")],
    ),
    "several sections": (
        2
        * (
            "<|tool_call_section_begin|><|tool_call_begin|>functions.now:0<|tool_call_argument_begin|>{}"
            "<|tool_call_end|><|tool_call_section_end|>\n"
        ),
        "",
        [("now", "{}")] * 2,
    ),
    "behind a block that is malformed": (
        f'<tool_call>{{"name": oops}}</tool_call> {HERMES}',
        '<tool_call>{"name": oops}</tool_call> ',
        [CALL],
    ),
}


@each_row("name", FOUND)
def test_found(name: str) -> None:
    text, left, calls = FOUND[name]
    expected = Said(left, tuple(calls), "tool_calls")
    assert whole(text) == expected
    assert said(batches(list(text))) == expected


#: What stays text, byte for byte.
LEFT = {
    "an unknown name": '<tool_call>{"name": "rm", "arguments": {}}</tool_call>',
    "an unknown name, with a known call in its text": (
        '<tool_call>{"name": "rm", "arguments": {"s": "<function=now></function>"}}</tool_call>'
    ),
    "an unknown function": '<function=rm>{"s": "<function=now></function>"}</function>',
    "one unknown name of two in a block": '<tool_call>{"name": "now"}{"name": "rm"}</tool_call>',
    "one unknown name of two in an array": '[TOOL_CALLS][{"name": "now"}, {"name": "rm"}]',
    "never ended": '<tool_call>{"name": "now"}',
    "never ended, with a whole call in its text": '<tool_call>{"name": "now", "s": "<function=now></function>',
    "ended in the mark": "Then <tool_",
    "no name": '<tool_call>{"arguments": {}}</tool_call>',
    "a name that is no string": '<tool_call>{"name": 1}</tool_call>',
    "no JSON": "<tool_call>{'name': 'now'}</tool_call>",
    "no JSON, with a call in its text": '<tool_call>{oops " } <function=now></function>"</tool_call>',
    "arguments that are no object": '<tool_call>{"name": "now", "arguments": [1]}</tool_call>',
    "arguments that are a plain string": '<tool_call>{"name": "now", "arguments": "go"}</tool_call>',
    "a parameter twice": "<function=now><parameter=a>1</parameter><parameter=a>2</parameter></function>",
    "a parameter that is no JSON and says it is": (
        '<｜DSML｜invoke name="now"><｜DSML｜parameter name="a" string="false">x</｜DSML｜parameter></｜DSML｜invoke>'
    ),
    "elements that do not close": ']<]minimax[>[<invoke name="now">]<]minimax[>[<a>x]<]minimax[>[</invoke> y',
    "an element twice": (
        ']<]minimax[>[<invoke name="now">]<]minimax[>[<a>1]<]minimax[>[</a>]<]minimax[>[<a>2]<]minimax[>[</a>'
        "]<]minimax[>[</invoke>"
    ),
    "a custom tool with two members": '<function=apply_patch>{"a": "x", "b": "y"}</function>',
    "another mark at the end": "<function=now>{}</tool_call>",
    "a block without a call": "<tool_call>\n</tool_call>\nand on",
    "fenced": f"For example:\n```xml\n{HERMES}\n```\n",
    "fenced with waves": f"~~~\n{HERMES}\n~~~",
    "fenced in a list": f"1. so:\n   ```\n   {HERMES}\n   ```",
    "fenced, never ended": f"```\n{HERMES}",
    "fenced, with a shorter fence inside": f"````\n```\n{HERMES}\n````",
    "fenced, with another fence inside": f"~~~\n```\n{HERMES}\n~~~",
    "fenced, with a line inside that closes nothing": f"```\n```sh\n{HERMES}\n```",
    "fenced behind a tag that is only named": f"So: <tool_call>\n```\n{HERMES}\n```",
    "behind a fence in its own line": f"~~~ {HERMES}",
    "in backticks": f"Write `{HERMES}`.",
    "in double backticks": f"Write `` ` {HERMES} ``.",
    "in a quoted line": '> <tool_call>{"name": "now"}</tool_call>',
    "in quotation marks": f'Write "{HERMES}" to call.',
    "in curly quotation marks": f"Write \u201c{HERMES}\u201d.",
    "a whole block in quotation marks": '"<tool_call>\n<function=now></function></tool_call>"',
    "the mark of Mistral in a text": "The token [TOOL_CALLS] comes first, then now{}.",
    "Mistral's array, malformed": '[TOOL_CALLS][{"name": now}] [TOOL_CALLS]now{}',
    "Mistral's name without arguments": "[TOOL_CALLS]now",
    "an inequality": "a <b and c< d, [x] <function f>",
}


@each_row("name", LEFT)
def test_left_as_text(name: str) -> None:
    text = LEFT[name]
    assert whole(text) == Said(text)
    assert said(batches(list(text))) == Said(text)
    for at in range(1, len(text)):
        assert said(batches([text[:at], text[at:]])) == Said(text), at


#: A parameter as it is written -> its JSON, by what the tool's schema says.
TYPED = [
    ("city", "Paris", '"Paris"'),
    ("city", "12", '"12"'),
    ("city", "null", '"null"'),
    ("city", ' "x" ', '" \\"x\\" "'),
    ("city", "\nParis\n", '"Paris"'),
    ("city", "\n\nParis\n\n", '"\\nParis\\n"'),
    ("days", " 3\n", "3"),
    ("days", "1234567890123456789012", "1234567890123456789012"),
    ("days", "3.0", "3.0"),
    ("days", "3.5", '"3.5"'),
    ("days", "three", '"three"'),
    ("exact", "1.10", "1.10"),
    ("exact", "2", "2"),
    ("metric", "true", "true"),
    ("metric", "False", "false"),
    ("metric", "yes", '"yes"'),
    ("tags", '["a", "b"]', '["a", "b"]'),
    ("tags", "a, b", '"a, b"'),
    ("place", '{"lat": 1.10}', '{"lat": 1.10}'),
    ("loop", "1", '"1"'),
    ("unit", "C", '"C"'),
    ("level", "2", "2"),
    ("note", "null", "null"),
    ("note", "1", '"1"'),
    ("limit", "5", "5"),
    ("limit", "null", "null"),
    ("anything", "1", '"1"'),
    ("undeclared", "1", '"1"'),
]


@each_row(("name", "written", "value"), TYPED)
def test_parameters_have_the_type_of_the_schema(name: str, written: str, value: str) -> None:
    text = f"<function=get_weather><parameter={name}>{written}</parameter></function>"
    assert whole(text).calls == (("get_weather", f'{{"{name}":{value}}}'),)


@pytest.mark.parametrize(
    ("given", "finish"), [("stop", "tool_calls"), ("length", "length"), ("content_filter", "content_filter")]
)
def test_the_finish(given: FinishReason, finish: FinishReason) -> None:
    assert whole(f"A {HERMES}", given) == Said("A ", (CALL,), finish)
    assert said(batches(["A ", HERMES], given)) == Said("A ", (CALL,), finish)


@each_row("at", range(1, len(HERMES)))
def test_a_call_that_the_output_limit_cuts_is_text(at: int) -> None:
    assert said(batches(["A ", HERMES[:at]], "length")) == Said("A " + HERMES[:at], (), "length")


@pytest.mark.parametrize("text", ["A <tool_call> B", "\n \n", "<", '<function=now>{"a": "b'])
def test_without_tools_nothing_is_found(text: str) -> None:
    assert whole(text, tools=()) == Said(text)


def test_what_cannot_be_a_name_is_not_waited_for() -> None:
    text = "<function=" + "a" * 200
    assert TextCallScanner({}).feed(text) == text


def test_deep_nesting_is_text() -> None:
    deep = "[" * 200_000 + "]" * 200_000
    text = f'<tool_call>{{"name": "now", "arguments": {{"a": {deep}}}}}</tool_call>'
    assert whole(text) == Said(text)


def test_a_schema_of_another_kind_is_no_schema() -> None:
    tools = [Tool("now", None, b"true"), Tool("f", None, b'{"properties": 1}')]
    text = "<function=now><parameter=a>1</parameter></function><function=f><parameter=a>1</parameter></function>"
    assert whole(text, tools=tools).calls == (("now", '{"a":"1"}'), ("f", '{"a":"1"}'))


def test_a_long_call_in_small_pieces_is_read_once() -> None:
    value = "x" * 400_000 + "</tool_call>" * 1_000
    text = f'<tool_call>{{"name": "now", "arguments": {{"a": "{value}"}}}}</tool_call>'
    pieces = [text[at : at + 8] for at in range(0, len(text), 8)]
    assert said(batches(pieces)).calls == (("now", f'{{"a": "{value}"}}'),)


def test_many_marks_in_one_piece_are_read_once() -> None:
    text = "<tool_call>{" * 20_000 + "<tool_call> " * 20_000
    assert whole(text) == Said(text)
