"""The slow path for Chat answers: chunks whose values have other types than OpenAI's.

Seen at hosts: `content` as a list of parts (Mistral, Databricks), of blocks as the Messages API has them, `arguments`
as an object (Mistral, Ollama), calls or their `function` as the text of their JSON, calls in other places and in other
APIs' words, null among the calls, ids and indices as numbers or strings, numbers as floats, a surrogate pair cut in two
by a chunk boundary, NaN. All that can be read is read. Arguments that are an object keep their text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from toolwire.wire.json import elements, members
from toolwire.wire.openai_chat import (
    CALL_LISTS,
    CALL_PARTS,
    REASONING_PARTS,
    Choice,
    Chunk,
    CustomDelta,
    Delta,
    FunctionDelta,
    ToolCallDelta,
)

#: An escape in a JSON text: a whole surrogate pair, a half of one (group 1), or any other.
_ESCAPE = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u([dD][89a-fA-F][0-9a-fA-F]{2})|\\.", re.DOTALL
)

#: Members of a delta or a message that are its content: OpenAI's, and Snowflake's beside it.
_CONTENTS = ("content", "content_list")
#: The object around a call, where it is not `function`: in a part of a content, or in the words of Bedrock and Gemini.
_AROUND_CALL = ("tool_use", "tool_call", "function_call", "toolUse", "functionCall")
#: What a call's id and name are called: by OpenAI, Snowflake, Cohere, Bedrock, and the AI SDK.
_IDS = ("id", "call_id", "tool_call_id", "tool_use_id", "toolUseId", "toolCallId")
_NAMES = ("name", "tool_name", "toolName")

#: Members of an object that is reasoning.
_REASONING = ("text", "content", "thinking", "summary")
#: Members of a part of a content that are reasoning.
_THINKING = ("thinking", "summary", "reasoning")
#: Members of a part of a content that are read.
_READ = frozenset({"text", "refusal", *_THINKING})


class OddDelta(Delta):
    """A delta that was read here. `left_out`: the types of the parts of its content that it has no words for."""

    left_out: tuple[str, ...] = ()


def readable(raw: bytes) -> bytes:
    """The document in a form that msgspec can split. msgspec refuses an escaped half of a surrogate pair even in values
    that it skips, so each becomes the three bytes that Python's `surrogatepass` writes."""
    return _ESCAPE.sub(
        lambda match: chr(int(match[1], 16)).encode("utf-8", "surrogatepass") if match[1] else match[0], raw
    )


def repaired(raw: bytes) -> bytes:
    """The document with two faults of hosts repaired: NaN and Infinity (in logprobs) become null, and control
    characters in strings are escaped. Raises ValueError if it still is no JSON."""
    return json.dumps(json.loads(raw, strict=False, parse_constant=lambda _: None)).encode()


def read(raw: bytes) -> Chunk:
    """The chunk or answer in a `readable` document. Raises ValueError if it is no JSON object (msgspec's errors are
    ValueErrors) or no UTF-8."""
    raw.decode("utf-8", "surrogatepass")
    top = members(raw)
    choices = _listed(top.get("choices", b"null"))
    beside = _calls_in_lists(top)
    return Chunk(
        id=text_of(top.get("id")),
        object=text_of(top.get("object")),
        created=number_of(top.get("created")),
        model=text_of(top.get("model")),
        choices=[_choice(choice, () if at else beside) for at, choice in enumerate(choices)]
        if choices is not None
        else None,
        usage=msgspec.Raw(top.get("usage", b"")),
        error=msgspec.Raw(top.get("error", b"")),
        x_groq=msgspec.Raw(top.get("x_groq", b"")),
    )


def _choice(raw: bytes, beside: Sequence[ToolCallDelta]) -> Choice:
    """`beside`: the calls that stand beside the list of choices."""
    choice = members(raw)
    said = Choice(
        index=number_of(choice.get("index")),
        delta=_delta(choice.get("delta")),
        message=_delta(choice.get("message")),
        finish_reason=text_of(choice.get("finish_reason")),
        native_finish_reason=text_of(choice.get("native_finish_reason")),
        text=text_of(choice.get("text")),
        error=msgspec.Raw(choice.get("error", b"")),
    )
    beside = [*_calls_in_lists(choice), *beside]
    if beside and said.delta is None and said.message is None:
        said.delta = Delta(tool_calls=beside)
    elif beside:
        delta = said.delta or said.message
        assert delta is not None
        delta.tool_calls = _with_others(delta.tool_calls, beside)
    return said


def _listed(raw: bytes) -> list[bytes] | None:
    """The elements of a list, or the one object that a host sent without a list."""
    return elements(raw) if raw[:1] == b"[" else [raw] if raw[:1] == b"{" and members(raw) else None


def _delta(raw: bytes | None) -> Delta | None:
    if raw is None or raw[:1] != b"{":
        return None
    delta = members(raw)
    contents = [delta[name] for name in _CONTENTS if name in delta]
    kind = text_of(delta.get("type"))  # Snowflake's parts of a stream have none of their own
    content, thinking = next((told for told in map(_content, contents) if any(told)), _content(delta.get("content")))
    calls = read_calls(delta.get("tool_calls", b""))
    said = Delta(
        role=text_of(delta.get("role")),
        content=content,
        refusal=(refusal := text_of(delta.get("refusal"))) or "".join(map(_refusals_in, contents)) or refusal,
        reasoning_content=reasoning_of(delta.get("reasoning_content")) or thinking,
        reasoning=reasoning_of(delta.get("reasoning")),
        reasoning_text=reasoning_of(delta.get("reasoning_text")),
        cot_summary=reasoning_of(delta.get("cot_summary")),
        thinking=reasoning_of(delta.get("thinking")),
        thinking_blocks=msgspec.Raw(delta.get("thinking_blocks", b"")),
        tool_calls=_with_others(calls, read_calls(delta.get("toolCalls", b"")) or ()),
        function_call=_function(delta.get("function_call", b"")),
        reasoning_details=msgspec.Raw(delta.get("reasoning_details", b"")),
        reasoning_opaque=text_of(delta.get("reasoning_opaque")),
    )
    for given in contents:
        said.tool_calls = _with_others(said.tool_calls, calls_in_parts(given, kind))
    left_out = tuple(odd for given in contents for odd in _left_out(given, kind))
    return OddDelta(**msgspec.structs.asdict(said), left_out=left_out) if left_out else said


def _calls_in_lists(found: dict[str, bytes]) -> list[ToolCallDelta]:
    """The calls in members that hold a list of them."""
    return [call for name in CALL_LISTS for call in read_calls(found.get(name, b"")) or ()]


def _with_others(calls: list[ToolCallDelta] | None, others: Sequence[ToolCallDelta]) -> list[ToolCallDelta] | None:
    """The calls with those that another place tells: a host may tell a call in both."""
    known = {call.id for call in calls or () if call.id}
    new = [call for call in others if call.id not in known]
    return [*(calls or ()), *new] if new else calls


def read_calls(raw: bytes) -> list[ToolCallDelta] | None:
    """The calls in a list, or the one call that a host sent without a list; either may be a text."""
    calls = _listed(_unquoted(raw))
    return [read_call(entry) for entry in calls if entry != b"null"] if calls is not None else None


def _unquoted(raw: bytes) -> bytes:
    """The JSON that a string holds; anything else as it is."""
    inner = (text_of(raw) or "").strip() if raw[:1] == b'"' else ""
    return inner.encode("utf-8", "surrogatepass") if inner[:1] in ("{", "[") else raw


def calls_in_parts(content: bytes, kind: str | None = None) -> list[ToolCallDelta]:
    """The calls among the parts of a content: blocks as other APIs have them. `kind`: the type of parts without one."""
    return [read_call(part) for part, own, found in _parts(content) if _is_call(own or kind, found)]


def _is_call(kind: str | None, found: dict[str, bytes]) -> bool:
    """Whether a part is a call: by its type, or, without one, by the object in it."""
    return kind in CALL_PARTS if kind else any(found.get(name, b"")[:1] == b"{" for name in _AROUND_CALL)


def _left_out(content: bytes, kind: str | None) -> tuple[str, ...]:
    """The types of the parts of a content that have no text and are no calls."""
    odd = ((own or kind, found) for _, own, found in _parts(content) if not _is_call(own or kind, found))
    return tuple(kind or "unknown" for kind, found in odd if not found.keys() & _READ)


def _refusals_in(content: bytes) -> str:
    """The refusals among the parts of a content."""
    return "".join(text_of(found.get("refusal")) or "" for _, _, found in _parts(content))


def _parts(content: bytes) -> Iterator[tuple[bytes, str | None, dict[str, bytes]]]:
    """The objects among the parts of a content, each with its type and its members."""
    for part in (_listed(content) or ()) if content[:1] in (b"[", b"{") else ():
        if part[:1] == b"{":
            found = members(part)
            yield part, text_of(found.get("type")), found


def read_call(raw: bytes) -> ToolCallDelta:
    """The call in an entry of `tool_calls`, or in what another API has for one. Raises ValueError."""
    call = members(raw)
    custom = call.get("custom", b"null")
    index, call_id = number_of(call.get("index")), _first(call, _IDS)
    within = next((call[name] for name in _AROUND_CALL if call.get(name, b"")[:1] == b"{"), None)
    if within is not None:
        delta = read_call(within)
        delta.id = delta.id or call_id
        delta.index = index if delta.index is None else delta.index
        return delta
    delta = ToolCallDelta(index, call_id, text_of(call["type"]) if "type" in call else "")
    for state in ("extra_content", "provider_specific_fields"):
        setattr(delta, state, msgspec.Raw(call.get(state, b"")))
    delta.function = _function(_unquoted(call.get("function", b"")))
    delta.name, delta.arguments = _first(call, _NAMES), _arguments(call.get("arguments"))
    for name in ("parameters", "input", "args"):
        setattr(delta, name, msgspec.Raw(call.get(name, b"")))
    if custom[:1] == b"{":
        inner = members(custom)
        delta.custom = CustomDelta(text_of(inner.get("name")), text_of(inner.get("input")))
    return delta


def _function(raw: bytes) -> FunctionDelta | None:
    if raw[:1] != b"{":
        return None
    function = members(raw)
    names = (msgspec.Raw(function.get(name, b"")) for name in ("parameters", "input", "args"))
    return FunctionDelta(_first(function, _NAMES), _arguments(function.get("arguments")), *names)


def _first(found: dict[str, bytes], names: Sequence[str]) -> str | None:
    """The first of these members that says something, or else is there."""
    told = [text for name in names if (text := text_of(found.get(name))) is not None]
    return next(filter(None, told), told[0] if told else None)


def _arguments(raw: bytes | None) -> str | None:
    """Arguments as text; an empty list, as PHP writes an empty object, is none."""
    return None if raw is not None and raw[:1] == b"[" and not raw[1:-1].strip() else text_of(raw)


def _content(raw: bytes | None) -> tuple[str | None, str | None]:
    """The text and the thinking of a content, which may be a list of parts with thinking parts (Mistral, Databricks),
    or one part without a list."""
    if raw is None or raw[:1] not in (b"[", b"{"):
        return text_of(raw), None
    text: list[str] = []
    thinking: list[str] = []
    for element in elements(raw) if raw[:1] == b"[" else [raw]:
        if element[:1] == b'"':
            text.append(text_of(element) or "")
            continue
        part = members(element)
        inner = next((part[name] for name in _THINKING if name in part), None)
        if inner is None and text_of(part.get("type")) in REASONING_PARTS:
            inner = part.get("text")
        if inner is not None:
            thinking.append(reasoning_of(inner) or "")
        else:
            text.append(text_of(part.get("text")) or "")
    return "".join(text), "".join(thinking) or None


def reasoning_of(raw: bytes | None) -> str | None:
    """The text of reasoning, which may be in parts, or in an object. Another value is a flag, and no text."""
    if raw is None or raw[:1] not in (b"[", b"{"):
        return text_of(raw) if raw is not None and raw[:1] == b'"' else None
    found = members(raw) if raw[:1] == b"{" else {"content": raw}
    inner = next((found[name] for name in _REASONING if name in found), None)
    if inner is None:
        return text_of(raw) if found else None
    text, thinking = _content(inner)
    return (thinking or "") + (text or "")


def text_of(raw: bytes | None) -> str | None:
    """A string; any other value but null as its own JSON text."""
    if raw is None or raw == b"null":
        return None
    text = raw.decode("utf-8", "surrogatepass")  # of half a surrogate pair the other half is in the next chunk
    return str(json.loads(text, strict=False)) if raw[:1] == b'"' else text


def number_of(raw: bytes | None) -> int | None:
    """A whole number, which may be written as a string; None for a value that is none."""
    value: Any = json.loads(raw) if raw is not None else None
    if isinstance(value, str) and value.isdecimal():
        value = int(value)
    return int(value) if isinstance(value, int | float) else None
