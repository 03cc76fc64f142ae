"""Formats whose marks are a model's special tokens, or nothing but marks around JSON: the generators behind the rows of
`formats.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec

from toolwire.stream.text_calls.reader import BlockReader, Malformed, Marker, Steps, Written
from toolwire.wire.json import elements, members


def tokens(word: str) -> Marker:
    """A special token: with the full-width bar and the low block of DeepSeek's vocabulary, and as hosts rewrite it."""
    spelled = [word.replace(" ", joint) for joint in ("\u2581", "_", " ")]
    return Marker(f"<{bar}{text}{bar}>" for bar in ("\uff5c", "|") for text in spelled)


CALL_BEGIN, CALL_END = tokens("tool call begin"), tokens("tool call end")

# ------------------------------------------------------------ JSON between two marks

#: The members that may hold a name, and arguments.
_NAMES, _ARGUMENTS = ("name", "tool_name"), ("arguments", "parameters")


def calls_in_json(raw: str) -> list[Written]:
    """The calls of an object `{"name", "arguments" or "parameters"}`, or of an array of them. The arguments keep their
    text. Raises Malformed."""
    try:
        # Only names are needed apart; where a model writes an id, too, ours takes its place.
        objects = [members(one) for one in (elements(raw.encode()) if raw[0] == "[" else [raw.encode()])]
        return [_one(each) for each in objects]
    except (ValueError, StopIteration, RecursionError):
        raise Malformed from None


def _one(call: dict[str, bytes]) -> Written:
    name = msgspec.json.decode(next(call[each] for each in _NAMES if each in call), type=str)
    arguments = next((call[each] for each in _ARGUMENTS if each in call), b"null")
    return Written(name, None if arguments == b"null" else arguments.decode())


#: What opens and what closes a block of nothing but such JSON: LM Studio for models without a format of their own,
#: Nemotron, Hunyuan, Jamba and MiniMax M1, Granite 3 and Phi 4, Command A and R, InternLM 2.5.
JSON_MARKS: tuple[tuple[Marker, Marker], ...] = (
    (Marker(["[TOOL_REQUEST]"]), Marker(["[END_TOOL_REQUEST]"])),
    (Marker(["<TOOLCALL>"]), Marker(["</TOOLCALL>"])),
    (Marker(["<tool_calls>"]), Marker(["</tool_calls>"])),
    (Marker(["<|tool_call|>"]), Marker(["<|/tool_call|>", "<|end_of_text|>", "<|end|>"])),
    (Marker(["<|START_ACTION|>"]), Marker(["<|END_ACTION|>"])),
    (Marker(["<|action_start|>"]), Marker(["<|action_end|>"])),
)
#: What stands behind the opening mark of InternLM, before a call; before code, there is another word.
_PLUGIN = Marker(["<|plugin|>"])


def json_in(closes: Marker) -> Callable[[BlockReader], Steps[list[Written]]]:
    """A block of JSON, one value or several. Its end mark is a special token in some, which servers take away."""

    def read(reader: BlockReader) -> Steps[list[Written]]:
        calls: list[Written] = []
        yield from reader.space()
        yield from reader.mark(_PLUGIN)
        while True:
            yield from reader.space()
            if (yield from reader.mark(closes)) is not None:
                return calls
            if reader.calls is not None and (yield from reader.next_char()) not in "{[":
                return calls
            reader.calls = None
            calls = calls + calls_in_json((yield from reader.json()))
            if closes.spellings[0].startswith("<|"):
                reader.calls = calls

    return read


# ------------------------------------------------------------ Kimi K2

SECTION_BEGIN = Marker(["<|tool_calls_section_begin|>", "<|tool_call_section_begin|>"])
SECTION_END = Marker(["<|tool_calls_section_end|>", "<|tool_call_section_end|>"])
KIMI_CALL = Marker(["<|tool_call_begin|>"])
_ARGUMENT_BEGIN = Marker(["<|tool_call_argument_begin|>"])


def kimi_section(reader: BlockReader) -> Steps[list[Written]]:
    """A section of calls; what ends it may be missing."""
    calls: list[Written] = []
    while True:
        yield from reader.space()
        if (yield from reader.mark(SECTION_END)) is not None:
            return calls
        if (yield from reader.mark(KIMI_CALL)) is None:
            if calls:
                return calls
            raise Malformed
        reader.calls = None
        calls = [*calls, (yield from _kimi(reader))]
        reader.calls = calls


def kimi_call(reader: BlockReader) -> Steps[list[Written]]:
    """A call without a section around it: a server has taken its mark away, maybe that at its end, too."""
    calls = [(yield from _kimi(reader))]
    reader.calls = calls
    yield from reader.space()
    yield from reader.mark(SECTION_END)
    return calls


def _kimi(reader: BlockReader) -> Steps[Written]:
    """An id that holds the name, and the arguments."""
    yield from reader.space()
    name = yield from reader.name()
    yield from reader.space()
    yield from reader.expect(_ARGUMENT_BEGIN)
    yield from reader.space()
    arguments = yield from reader.json()
    yield from reader.space()
    yield from reader.expect(CALL_END)
    return Written(name, arguments)


# ------------------------------------------------------------ harmony (gpt-oss)

RECIPIENT = Marker(["<|channel|>commentary to=", "<|channel|>analysis to="])
TURN = Marker(["<|start|>assistant"])
HARMONY_END = Marker(["<|call|>", "<|end|>", "<|return|>"])
_TO = Marker(["to="])
_CHANNEL = Marker(["<|channel|>commentary", "<|channel|>analysis"])
_CONSTRAIN, _MESSAGE = Marker(["<|constrain|>"]), Marker(["<|message|>"])


def harmony(reader: BlockReader) -> Steps[list[Written]]:
    """A message to a tool: its name, maybe the kind of its content, and the arguments. Servers take the token behind
    the arguments away, or leave it."""
    name = yield from reader.name()
    return (yield from _message(reader, name))


def harmony_turn(reader: BlockReader) -> Steps[list[Written]]:
    """The same with the beginning of its turn, which may name the tool before the channel."""
    yield from reader.space()
    if (yield from reader.mark(RECIPIENT)) is not None:
        return (yield from harmony(reader))
    yield from reader.expect(_TO)
    name = yield from reader.name()
    yield from reader.space()
    yield from reader.mark(_CHANNEL)
    return (yield from _message(reader, name))


def _message(reader: BlockReader, name: str) -> Steps[list[Written]]:
    yield from reader.space()
    if (yield from reader.mark(_CONSTRAIN)) is not None or (yield from reader.next_char()) != "<":
        yield from reader.name()
        yield from reader.space()
    yield from reader.expect(_MESSAGE)
    yield from reader.space()
    reader.calls = [Written(name, (yield from reader.json()))]
    yield from reader.space()
    yield from reader.mark(HARMONY_END)
    return reader.calls


# ------------------------------------------------------------ Llama 3

PYTHON_TAG = Marker(["<|python_tag|>"])
PYTHON_END = Marker(["<|eom_id|>", "<|eot_id|>"])
_NEXT_CALL = Marker(["; {", ";{", ";\n{"])


def llama(reader: BlockReader) -> Steps[list[Written]]:
    """Calls as JSON, with semicolons between them. Behind the same tag Llama writes code, which is no call."""
    calls: list[Written] = []
    while True:
        yield from reader.space()
        calls = calls + calls_in_json((yield from reader.json()))
        reader.calls = calls
        yield from reader.space()
        if (yield from reader.mark(_NEXT_CALL)) is None:
            yield from reader.mark(PYTHON_END)
            return calls
        reader.at -= 1
        reader.calls = None


# ------------------------------------------------------------ Gemma 4, FunctionGemma

GEMMA_CALL = Marker(["<|tool_call>", "<start_function_call>"])
GEMMA_END = Marker(["<tool_call|>", "<end_function_call>"])
_CALL = Marker(["call:"])
#: What stands in the arguments, which are JSON but for their keys and what delimits a string.
_PIECE = re.compile(
    r"\s*(?:(?P<quote><\|\"\|>|<escape>)(?P<text>.*?)(?P=quote)|(?P<key>[^\s{}\[\],:<>\"]+)\s*:"
    r"|(?P<json>\"(?:[^\"\\]|\\.)*\"|[{}\[\],:]|-?\d[\d.eE+-]*|true|false|null))\s*",
    re.DOTALL,
)


def gemma(reader: BlockReader) -> Steps[list[Written]]:
    """`call:NAME{key:<|"|>text<|"|>,other:1}`."""
    yield from reader.expect(_CALL)
    reader.begun = True
    name = yield from reader.name()
    return [Written(name, _as_json((yield from reader.until(GEMMA_END))))]


def _as_json(written: str) -> str:
    """The arguments as JSON text; numbers keep their digits."""
    pieces, at = [], 0
    while at < len(written):
        match = _PIECE.match(written, at)
        if match is None:
            raise Malformed
        at = match.end()
        if match["quote"]:
            pieces.append(msgspec.json.encode(match["text"]).decode())
        elif match["key"]:
            pieces.append(msgspec.json.encode(match["key"]).decode() + ":")
        else:
            pieces.append(match["json"])
    return "".join(pieces)
