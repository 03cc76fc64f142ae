"""How models write tool calls as text: one row a format.

A row names the marks that open a block, the marks that close it (a block that turns out malformed is text up to there),
and a generator that reads what stands between. A new format is a row in FORMATS with its generator, a recording in
`tests/stream/text_calls/`, and nothing else; `docs/text-calls.md` shows how. A generator returns the calls of its block
or raises Malformed. It decides nothing: which names are known, and what arguments become, is its caller's business.

Sources: the chat templates of the models (Hermes 2 and 3, Qwen 2.5 to 3.5 and Qwen-Coder, Llama 3, Mistral 7B to
Small 3.2, DeepSeek R1, V3, V3.1, V3.2 and V4, GLM 4.5, Kimi K2, K3, MiniMax M2, M3, gpt-oss, Llama 4, LFM 2, OLMo 3,
Seed-OSS, LongCat, InternLM 2.5), and spellings seen in public reports of markup that servers leaked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from toolwire.stream.text_calls import token_formats as by_tokens
from toolwire.stream.text_calls import xml_formats
from toolwire.stream.text_calls.reader import BlockReader, Malformed, Marker, Steps, Written
from toolwire.stream.text_calls.token_formats import CALL_BEGIN, CALL_END, calls_in_json, tokens
from toolwire.stream.text_calls.xml_formats import PREFIX


@dataclass(frozen=True, slots=True)
class Format:
    """One way to write calls."""

    #: Its label in logs and metrics.
    name: str
    opens: Marker
    #: The closing marks. None: a block has no closing mark, and behind a malformed one all the rest is text.
    closes: Marker | None
    #: Reads a block behind its opening mark.
    read: Callable[[BlockReader], Steps[list[Written]]]


# ------------------------------------------------------------ <function=name> ... </function>

_FUNCTION = Marker(["<function="])
_FUNCTION_END = Marker(["</function>"])
_PARAMETER_END = Marker(["</parameter>"])
_PARAMETER_OR_END = Marker(["<parameter=", "</function>"])
_NAME_END = Marker([">"])


def _function(reader: BlockReader) -> Steps[list[Written]]:
    """`<function=f>{"a": 1}</function>`, or `<parameter=a>1</parameter>` in place of the JSON, or nothing."""
    name = yield from reader.name()
    yield from reader.expect(_NAME_END)
    yield from reader.space()
    if (yield from reader.next_char()) == "{":
        arguments = yield from reader.json()
        yield from reader.space()
        yield from reader.expect(_FUNCTION_END)
        return [Written(name, arguments)]
    tag = yield from reader.expect(_PARAMETER_OR_END)
    reader.begun = True
    parameters = []
    while tag == "<parameter=":
        parameter = yield from reader.name()
        yield from reader.expect(_NAME_END)
        text, tag = yield from _parameter(reader)
        parameters.append((parameter, text, None))
    return [Written(name, parameters=tuple(parameters))]


def _lone_function(reader: BlockReader) -> Steps[list[Written]]:
    """The same without `<tool_call>` before it. Qwen-Coder forgets that mark, and still writes the closing one."""
    calls = yield from _function(reader)
    reader.calls = calls
    yield from reader.space()
    yield from reader.mark(_TOOL_CALL_END)
    return calls


def _parameter(reader: BlockReader, next_or_end: Marker = _PARAMETER_OR_END) -> Steps[tuple[str, str]]:
    """A parameter's text and the tag after it. Its end tag may stand in its own text: the real one is followed by the
    next parameter or the function's end. The template puts one line break on either side of the text."""
    pieces = [(yield from reader.until(_PARAMETER_END))]
    while True:
        space = yield from reader.space()
        tag = yield from reader.mark(next_or_end)
        if tag is not None:
            return "".join(pieces).removeprefix("\n").removesuffix("\n"), tag
        pieces += ["</parameter>", space, (yield from reader.until(_PARAMETER_END))]


# ------------------------------------------------------------ <tool_call> ... </tool_call>

_TOOL_CALL = Marker(["<tool_call>", "<seed:tool_call>", "<longcat_tool_call>"])
_TOOL_CALL_END = Marker(["</tool_call>", "</seed:tool_call>", "</longcat_tool_call>", f"{PREFIX}</tool_call>"])


def _tool_call(reader: BlockReader) -> Steps[list[Written]]:
    """Hermes: `{"name": ..., "arguments": {...}}`, one or several; Granite 3.1: an array, which needs no end;
    Qwen-Coder: `<function=...>` blocks; or nothing, which is what a server leaves that has taken the call out."""
    calls: list[Written] = []
    while True:
        yield from reader.space()
        if (opening := (yield from reader.next_char())) in "{[":
            reader.calls = None
            calls = calls + calls_in_json((yield from reader.json()))
            reader.calls = calls if opening == "[" else None
        elif (yield from reader.mark(_FUNCTION)) is not None:
            reader.begun, reader.calls = True, None
            calls = calls + (yield from _function(reader))
        elif (
            yield from reader.mark(xml_formats.PREFIXED_INVOKE)
        ) is not None:  # its own prefix before the block is lost
            calls = [*calls, (yield from xml_formats.prefixed_invoke(reader))]
        elif not calls and (yield from reader.next_char()) != "<":
            return [(yield from _glm(reader))]
        else:
            yield from reader.expect(_TOOL_CALL_END)
            return calls


_TOOL_SEP = Marker(["<tool_sep>"])  # Hunyuan 3
_ARG_KEY, _ARG_KEY_END = (Marker([f"<{slash}arg_key>", f"<{slash}longcat_arg_key>"]) for slash in ("", "/"))
_ARG_VALUE, _ARG_VALUE_END = (Marker([f"<{slash}arg_value>", f"<{slash}longcat_arg_value>"]) for slash in ("", "/"))


def _glm(reader: BlockReader) -> Steps[Written]:
    """`NAME`, then pairs of `<arg_key>` and `<arg_value>`; or nothing but the name."""
    name = yield from reader.name()
    yield from reader.mark(_TOOL_SEP)
    parameters: list[tuple[str, str, bool | None]] = []
    while True:
        yield from reader.space()
        if (yield from reader.mark(_ARG_KEY)) is None:
            yield from reader.expect(_TOOL_CALL_END)
            return Written(name, parameters=tuple(parameters))
        reader.begun = True
        key = yield from reader.until(_ARG_KEY_END)
        yield from reader.space()
        yield from reader.expect(_ARG_VALUE)
        parameters.append((key.strip(), (yield from reader.until(_ARG_VALUE_END)), None))


# ------------------------------------------------------------ [TOOL_CALLS]

_ARGS = Marker(["[ARGS]", "[CALL_ID]"])
_ARGS_ONLY = Marker(["[ARGS]"])


def _mistral(reader: BlockReader) -> Steps[list[Written]]:
    """Up to tokenizer v7 a JSON array of calls, from v11 on `name{...}`, with `[ARGS]` before the arguments and maybe
    `[CALL_ID]` and an id before that; each call has its own mark."""
    yield from reader.space()
    if (yield from reader.next_char()) in "{[":
        return calls_in_json((yield from reader.json()))
    name = yield from reader.name()
    yield from reader.space()
    if (yield from reader.next_char()) == "[":
        if (yield from reader.expect(_ARGS)) == "[CALL_ID]":
            yield from reader.name()
            yield from reader.expect(_ARGS_ONLY)
        yield from reader.space()
    if (yield from reader.next_char()) != "{":
        raise Malformed
    return [Written(name, (yield from reader.json()))]


# ------------------------------------------------------------ DeepSeek R1, V3, V3.1


_CALLS_BEGIN, _CALLS_END = tokens("tool calls begin"), tokens("tool calls end")
_SEPARATOR = tokens("tool sep")
_FENCE_BEGIN, _FENCE_END = Marker(["```json"]), Marker(["```"])


def _deepseek(reader: BlockReader) -> Steps[list[Written]]:
    """`name SEP {...}` (V3.1), or `function SEP name` and the arguments in a fence (R1, V3)."""
    calls: list[Written] = []
    while True:
        yield from reader.space()
        if (yield from reader.mark(_CALLS_END)) is not None:
            return calls
        yield from reader.expect(CALL_BEGIN)
        reader.begun = True
        yield from reader.space()
        name = yield from reader.name()
        yield from reader.space()
        yield from reader.expect(_SEPARATOR)
        yield from reader.space()
        fenced = (yield from reader.next_char()) != "{"
        if fenced:
            name = yield from reader.name()
            yield from reader.space()
            yield from reader.expect(_FENCE_BEGIN)
            yield from reader.space()
        calls.append(Written(name, (yield from reader.json())))
        yield from reader.space()
        if fenced:
            yield from reader.expect(_FENCE_END)
            yield from reader.space()
        yield from reader.expect(CALL_END)


# ------------------------------------------------------------ DeepSeek V3.2, V4: DSML

_BARS = ("\uff5c", "\uff5c\uff5c", "|", "||", "\u2016")
_BLOCKS = ("tool_calls>", "function_calls>", "calls>", "tool_use>")


def _dsml(slash: str, *words: str) -> Marker:
    """A tag. Seen beside the documented single full-width bar: two bars, other bars, a space before the word."""
    return Marker(f"<{slash}{bar}DSML{bar}{gap}{word}" for bar in _BARS for gap in ("", " ") for word in words)


_DSML_OPENS, _DSML_CLOSES = _dsml("", *_BLOCKS), _dsml("/", *_BLOCKS)
_DSML_INVOKE, _DSML_INVOKE_END = _dsml("", 'invoke name="'), _dsml("/", "invoke>")
_DSML_PARAMETER, _DSML_PARAMETER_END = _dsml("", 'parameter name="'), _dsml("/", "parameter>")
_DSML_TYPES = {'">': None, '" string="true">': True, '" string="false">': False}
_DSML_TYPE, _QUOTE_END = Marker(_DSML_TYPES), Marker(['">'])


def _deepseek_dsml(reader: BlockReader) -> Steps[list[Written]]:
    """A block of invocations."""
    calls: list[Written] = []
    while True:
        yield from reader.space()
        if (yield from reader.mark(_DSML_CLOSES)) is not None:
            return calls
        yield from reader.expect(_DSML_INVOKE)
        calls.append((yield from _invocation(reader)))


def _lone_invocation(reader: BlockReader) -> Steps[list[Written]]:
    """An invocation without a block around it, as some answers have it."""
    return [(yield from _invocation(reader))]


def _invocation(reader: BlockReader) -> Steps[Written]:
    """Parameters that say whether they are strings; the others are JSON."""
    reader.begun = True
    name = yield from reader.name()
    yield from reader.expect(_QUOTE_END)
    parameters: list[tuple[str, str, bool | None]] = []
    while True:
        yield from reader.space()
        if (yield from reader.mark(_DSML_PARAMETER)) is None:
            yield from reader.expect(_DSML_INVOKE_END)
            return Written(name, parameters=tuple(parameters))
        parameter = yield from reader.name()
        kind = _DSML_TYPES[(yield from reader.expect(_DSML_TYPE))]
        parameters.append((parameter, (yield from reader.until(_DSML_PARAMETER_END)), kind))


# ------------------------------------------------------------ [f(a="x")] (Llama 4, LFM 2)

_PYTHONIC_MARKS = (
    (Marker(["<|python_start|>"]), Marker(["<|python_end|>"])),
    (Marker(["<|tool_call_start|>"]), Marker(["<|tool_call_end|>"])),
)


def _pythonic(closes: Marker) -> Callable[[BlockReader], Steps[list[Written]]]:
    """Calls as Python has them."""

    def read(reader: BlockReader) -> Steps[list[Written]]:
        yield from reader.space()
        yield from reader.next_char()
        reader.begun = True
        written = yield from reader.until(closes)
        from toolwire.stream.text_calls.python_calls import python_calls  # for few models: not at a cold start

        return python_calls(written)

    return read


# ------------------------------------------------------------ <invoke name="..."> in a block (Claude, MiniMax)

_INVOKE, _INVOKE_END = Marker(['<invoke name="']), Marker(["</invoke>"])
_NAMED_PARAMETER_OR_END = Marker(['<parameter name="', "</invoke>"])


def _invokes(closes: Marker) -> Callable[[BlockReader], Steps[list[Written]]]:
    """A block of `<invoke name="f"><parameter name="a">1</parameter></invoke>`; OLMo 3 writes Python's calls in it."""

    def read(reader: BlockReader) -> Steps[list[Written]]:
        calls: list[Written] = []
        while True:
            yield from reader.space()
            if (yield from reader.mark(closes)) is not None:
                return calls
            if not calls and (yield from reader.next_char()) != "<":
                return (yield from _pythonic(closes)(reader))
            yield from reader.expect(_INVOKE)
            calls.append((yield from _invoke(reader)))

    return read


def _invoke(reader: BlockReader) -> Steps[Written]:
    reader.begun = True
    name = yield from reader.name()
    yield from reader.expect(_QUOTE_END)
    yield from reader.space()
    parameters: list[tuple[str, str, bool | None]] = []
    tag = yield from reader.expect(_NAMED_PARAMETER_OR_END)
    while tag != "</invoke>":
        parameter = yield from reader.name()
        yield from reader.expect(_QUOTE_END)
        text, tag = yield from _parameter(reader, _NAMED_PARAMETER_OR_END)
        parameters.append((parameter, text, None))
    return Written(name, parameters=tuple(parameters))


_MINIMAX, _MINIMAX_END = Marker(["<minimax:tool_call>"]), Marker(["</minimax:tool_call>"])
_FUNCTION_CALLS, _FUNCTION_CALLS_END = Marker(["<function_calls>"]), Marker(["</function_calls>"])


FORMATS: tuple[Format, ...] = (
    Format("function_tag", _FUNCTION, _FUNCTION_END, _lone_function),
    Format("tool_call_tag", _TOOL_CALL, _TOOL_CALL_END, _tool_call),
    Format("mistral", Marker(["[TOOL_CALLS]"]), None, _mistral),
    Format("deepseek", _CALLS_BEGIN, _CALLS_END, _deepseek),
    Format("deepseek_dsml", _DSML_OPENS, _DSML_CLOSES, _deepseek_dsml),
    Format("deepseek_dsml", _DSML_INVOKE, _DSML_INVOKE_END, _lone_invocation),
    Format("kimi", by_tokens.SECTION_BEGIN, by_tokens.SECTION_END, by_tokens.kimi_section),
    Format("kimi", by_tokens.KIMI_CALL, CALL_END, by_tokens.kimi_call),
    Format("harmony", by_tokens.RECIPIENT, by_tokens.HARMONY_END, by_tokens.harmony),
    Format("harmony", by_tokens.TURN, by_tokens.HARMONY_END, by_tokens.harmony_turn),
    Format("python_tag", by_tokens.PYTHON_TAG, by_tokens.PYTHON_END, by_tokens.llama),
    Format("gemma", by_tokens.GEMMA_CALL, by_tokens.GEMMA_END, by_tokens.gemma),
    *(Format("pythonic", opens, closes, _pythonic(closes)) for opens, closes in _PYTHONIC_MARKS),
    Format("minimax", _MINIMAX, _MINIMAX_END, _invokes(_MINIMAX_END)),
    Format("minimax_m3", xml_formats.PREFIXED, xml_formats.PREFIXED_END, xml_formats.prefixed),
    Format("minimax_m3", xml_formats.PREFIXED_INVOKE, xml_formats.PREFIXED_INVOKE_END, xml_formats.lone_prefixed),
    Format("kimi_k3", xml_formats.TOOLS, xml_formats.TOOLS_END, xml_formats.tools),
    Format("kimi_k3", xml_formats.CALL, xml_formats.CALL_CLOSE, xml_formats.lone_call),
    Format("function_calls", _FUNCTION_CALLS, _FUNCTION_CALLS_END, _invokes(_FUNCTION_CALLS_END)),
    *(Format("json_in_marks", opens, closes, by_tokens.json_in(closes)) for opens, closes in by_tokens.JSON_MARKS),
)

#: The tags between which a model thinks in its text, where its server has no parser for them.
THOUGHT_OPENS = Marker(
    ["<think>", "<thinking>", "<thought>", "<reasoning>", "[THINK]", "◁think▷", "<mm:think>", "<|open|>think<|sep|>"]
)
THOUGHT_CLOSES = Marker(
    ["</think>", "</thinking>", "</thought>", "</reasoning>", "[/THINK]", "◁/think▷", "</mm:think>",
     "<|close|>think<|sep|>"]
)  # fmt: skip

#: The opening marks of all formats, and whose each spelling is.
OPENS = Marker(text for row in FORMATS for text in row.opens.spellings)
FORMAT_OF: dict[str, Format] = {text: row for row in FORMATS for text in row.opens.spellings}
