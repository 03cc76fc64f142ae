"""Properties of the recovery, over answers made of everything that could confuse it."""

from __future__ import annotations

import json
import re
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from tests.stream.text_calls.text_call_answers import TOOLS, Said, batches, only, recovery, said, whole
from toolwire.stream.text_calls.formats import OPENS
from toolwire.stream.text_calls.scanner import TextCallScanner

#: Pieces of markup, whole and broken, of all formats, and of Markdown.
_FRAGMENTS = [
    "<function=now>", "<function=rm>", "<function=get_weather>", "</function>", "<parameter=city>", "</parameter>",
    "<tool_call>", "</tool_call>", "[TOOL_CALLS]", "[ARGS]", "[CALL_ID]", "now", "get_weather", "rm", "{}", "[", "]",
    '{"name": "now"}', '{"name": "rm"}', '{"name": "now", "arguments": {"a": "', '"}}', '[{"name": "now"}]', "{", "}",
    "<｜tool▁calls▁begin｜>", "<｜tool▁call▁begin｜>", "<｜tool▁sep｜>", "<｜tool▁call▁end｜>", "<｜tool▁calls▁end｜>",
    "<｜DSML｜tool_calls>", '<｜DSML｜invoke name="', 'now">', '<｜DSML｜parameter name="a" string="true">',
    "</｜DSML｜parameter>", "</｜DSML｜invoke>", "</｜DSML｜tool_calls>",
    "<|channel|>commentary to=", "<|start|>assistant", " to=now", "<|constrain|>json", "<|message|>", "<|call|>",
    "<|end|>", "<|python_tag|>", "; ", "<|tool_calls_section_begin|>", "<|tool_call_begin|>", "functions.now:0",
    "<|tool_call_argument_begin|>", "<|tool_call_end|>", "<|tool_calls_section_end|>", "<|tool_call>", "call:now{",
    'a:<|"|>', '<|"|>}', "<tool_call|>", "[TOOL_REQUEST]", "[END_TOOL_REQUEST]", "<|tool_call|>", "<TOOLCALL>",
    "<|open|>", "<|close|>", "<|sep|>", "tools", 'call tool="now"', "response", "]<]minimax[>[", "]<]", "<tool_sep>",
    "</TOOLCALL>", "<minimax:tool_call>", '<invoke name="', '<parameter name="', "</invoke>", "</minimax:tool_call>",
    "`", "``", "```", "~~~", "\n", "\n\n", " ", "> ", '"', " \"", "\\", "'", "a", "Text. ", "é", "<", "</", "｜", "😀",
]  # fmt: skip
_WHOLE = [
    '<tool_call>\n{"name": "now", "arguments": {"a": 1.10}}\n</tool_call>',
    "<function=get_weather>\n<parameter=city>\nA\n</parameter>\n</function>",
    '[TOOL_CALLS]now{"a": "```"}',
    '<｜DSML｜invoke name="now"></｜DSML｜invoke>',
    "<|channel|>commentary to=functions.now <|constrain|>json<|message|>{}",
    '<|python_tag|>{"name": "now"}',
    "<|tool_call_begin|>functions.now:0<|tool_call_argument_begin|>{}<|tool_call_end|>",
    '<|tool_call>call:now{a:<|"|>{<|"|>}<tool_call|>',
    '[TOOL_REQUEST]{"name": "now"}[END_TOOL_REQUEST]',
    '<|open|>tools<|sep|><|open|>call tool="now" index="1"<|sep|><|close|>call<|sep|><|close|>tools<|sep|>',
    ']<]minimax[>[<tool_call>]<]minimax[>[<invoke name="now">]<]minimax[>[</invoke>]<]minimax[>[</tool_call>',
    '<|tool_call|>[{"name": "now"}]',
]
ANSWERS = st.lists(st.sampled_from(_FRAGMENTS) | st.sampled_from(_WHOLE), max_size=14).map("".join)


@st.composite
def pieces(draw: st.DrawFn, text: str) -> list[str]:
    cuts = sorted(draw(st.sets(st.integers(1, max(1, len(text) - 1)), max_size=8)))
    return [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True) if a < b or not text]


@given(st.data())
def test_any_split_gives_the_same_result(data: st.DataObject) -> None:
    text = data.draw(ANSWERS)
    expected = whole(text)
    assert said(batches(data.draw(pieces(text)) or [""])) == expected
    assert said(batches(list(text) or [""])) == expected


@given(st.text(st.sampled_from(" \n") | st.characters()), st.data())
def test_text_without_a_mark_is_untouched(text: str, data: st.DataObject) -> None:
    text = re.sub(r"[<\[\]◁]", "(", text)
    taken, scanner = recovery(), TextCallScanner({})
    parts = data.draw(pieces(text)) or [""]
    for batch in batches(parts):
        assert only(taken.take(batch)) is batch
    for part in parts:
        assert scanner.feed(part) is part


@given(st.data())
def test_held_text_outside_a_block_is_no_longer_than_a_mark(data: st.DataObject) -> None:
    text = data.draw(ANSWERS)
    scanner = TextCallScanner({})
    shown = given = 0
    for piece in data.draw(pieces(text)):
        shown += len(scanner.feed(piece))
        given += len(piece)
        assert scanner.inside or scanner.held == 0
        if not scanner.inside and not scanner.calls and "<tool_call>" not in text:  # an emptied tag waits for its text
            assert given - shown <= OPENS.longest
    scanner.end(has_structure=False)


@st.composite
def segments(draw: st.DrawFn) -> tuple[str, Said]:
    """A text made of plain text, calls of all formats, and blocks that are none, and what must become of it."""
    text = left = ""
    calls: list[tuple[str, str]] = []
    for _ in range(draw(st.integers(1, 6))):
        name = draw(st.sampled_from(["now", "get_weather", "rm"]))
        values: dict[str, object] = draw(
            st.dictionaries(st.sampled_from("abc"), st.text() | st.integers() | st.sampled_from(_FRAGMENTS))
        )
        block, arguments = draw(st.sampled_from(_WRITERS))(name, values)
        before, after = draw(
            st.sampled_from([("", ""), ("Text. ", "more\n"), ("x\n\n", "(y) "), ('("', '") '), ("`", "`\n")])
        )
        text += before + block + after
        if name == "rm" or before in ('("', "`"):
            left += before + block + after
        else:
            left += before + after
            calls.append((name, arguments))
    return text, Said(left, tuple(calls), "tool_calls" if calls else "stop")


def _hermes(name: str, values: dict[str, object]) -> tuple[str, str]:
    arguments = json.dumps(values, indent=1)
    return f'<tool_call>\n{{"name": "{name}", "arguments": {arguments}}}\n</tool_call>', arguments


def _tag(name: str, values: dict[str, object]) -> tuple[str, str]:
    arguments = json.dumps(values, ensure_ascii=False)
    return f"<function={name}>{arguments}</function>", arguments


def _mistral(name: str, values: dict[str, object]) -> tuple[str, str]:
    arguments = json.dumps(values)
    return f"[TOOL_CALLS] {name}[ARGS]{arguments}", arguments


def _deepseek(name: str, values: dict[str, object]) -> tuple[str, str]:
    arguments = json.dumps(values)
    call = f"<|tool_call_begin|>function<|tool_sep|>{name}\n```json\n{arguments}\n```<|tool_call_end|>"
    return f"<|tool_calls_begin|>{call}\n<|tool_calls_end|>", arguments


def _dsml(name: str, values: dict[str, object]) -> tuple[str, str]:
    texts = {key: str(value).replace("</", "<") for key, value in values.items()}
    tags = [f'<|DSML|parameter name="{key}" string="true">{text}</|DSML|parameter>' for key, text in texts.items()]
    arguments = json.dumps(texts, ensure_ascii=False, separators=(",", ":"))
    block = f'<|DSML|tool_calls>\n<|DSML|invoke name="{name}">{"".join(tags)}</|DSML|invoke>\n</|DSML|tool_calls>'
    return block, arguments


def _kimi(name: str, values: dict[str, object]) -> tuple[str, str]:
    arguments = json.dumps(values)
    call = f"<|tool_call_begin|>functions.{name}:3<|tool_call_argument_begin|>{arguments}<|tool_call_end|>"
    return f"<|tool_calls_section_begin|>{call}<|tool_calls_section_end|>", arguments


def _harmony(name: str, values: dict[str, object]) -> tuple[str, str]:
    arguments = json.dumps(values)
    return f"<|start|>assistant<|channel|>commentary to={name} json<|message|>{arguments}<|call|>", arguments


def _llama(name: str, values: dict[str, object]) -> tuple[str, str]:
    arguments = json.dumps(values)
    return f'<|python_tag|>{{"name": "{name}", "parameters": {arguments}}}<|eom_id|>', arguments


def _gemma(name: str, values: dict[str, object]) -> tuple[str, str]:
    texts = {key: str(value).replace("<", "(") for key, value in values.items()}
    pairs = ",".join(f'{key}:<|"|>{text}<|"|>' for key, text in texts.items())
    return f"<|tool_call>call:{name}{{{pairs}}}<tool_call|>", json.dumps(texts)


def _lm_studio(name: str, values: dict[str, object]) -> tuple[str, str]:
    arguments = json.dumps(values)
    return f'[TOOL_REQUEST]{{"name": "{name}", "arguments": {arguments}}}[END_TOOL_REQUEST]', arguments


_WRITERS = [_hermes, _tag, _mistral, _deepseek, _dsml, _kimi, _harmony, _llama, _gemma, _lm_studio]


@given(segments(), st.data())
def test_every_call_is_one_call_or_stays_text(written: tuple[str, Said], data: st.DataObject) -> None:
    text, expected = written
    result = said(batches(data.draw(pieces(text)) or [""]))
    assert replace(result, calls=()) == replace(expected, calls=())
    assert [name for name, _ in result.calls] == [name for name, _ in expected.calls]
    for (_, arguments), (_, wanted) in zip(result.calls, expected.calls, strict=True):
        assert arguments == wanted or json.loads(arguments) == json.loads(wanted)  # escapes of built ones may differ


@given(ANSWERS)
def test_without_known_tools_everything_is_text(text: str) -> None:
    assert whole(text, tools=[]) == Said(text)


@given(ANSWERS)
def test_what_is_left_is_the_text_without_whole_blocks(text: str) -> None:
    result = whole(text)
    kept = iter(text)
    assert all(char in kept for char in result.text)  # in order, nothing invented
    assert result.calls or result.text == text
    assert {name for name, _ in result.calls} <= {tool.name for tool in TOOLS}
    assert all(isinstance(json.loads(arguments), dict) for _, arguments in result.calls)
