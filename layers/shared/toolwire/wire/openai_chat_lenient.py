"""The slow path for Chat answers: chunks whose values have other types than OpenAI's.

Seen at hosts: `content` as a list of parts (Mistral, Databricks), of blocks as the Messages API has them, `arguments`
as an object (Mistral, Ollama), calls or their `function` as the text of their JSON, null among the calls, ids and
indices as numbers or strings, numbers as floats, a surrogate pair cut in two by a chunk boundary, NaN. All that can be
read is read. Arguments that are an object keep their text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from toolwire.wire.json import elements, members
from toolwire.wire.openai_chat import (
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
    return Chunk(
        id=text_of(top.get("id")),
        object=text_of(top.get("object")),
        created=number_of(top.get("created")),
        model=text_of(top.get("model")),
        choices=[_choice(choice) for choice in choices] if choices is not None else None,
        usage=msgspec.Raw(top.get("usage", b"")),
        error=msgspec.Raw(top.get("error", b"")),
    )


def _choice(raw: bytes) -> Choice:
    choice = members(raw)
    return Choice(
        index=number_of(choice.get("index")),
        delta=_delta(choice.get("delta")),
        message=_delta(choice.get("message")),
        finish_reason=text_of(choice.get("finish_reason")),
        native_finish_reason=text_of(choice.get("native_finish_reason")),
        text=text_of(choice.get("text")),
        error=msgspec.Raw(choice.get("error", b"")),
    )


def _listed(raw: bytes) -> list[bytes] | None:
    """The elements of a list, or the one object that a host sent without a list."""
    return elements(raw) if raw[:1] == b"[" else [raw] if raw[:1] == b"{" and members(raw) else None


def _delta(raw: bytes | None) -> Delta | None:
    if raw is None or raw[:1] != b"{":
        return None
    delta = members(raw)
    content, thinking = _content(delta.get("content"))
    calls = read_calls(delta.get("tool_calls", b""))
    known = {call.id for call in calls or () if call.id}  # a host may tell a call in both places
    blocks = [call for call in calls_in_parts(delta.get("content", b"")) if call.id not in known]
    said = Delta(
        role=text_of(delta.get("role")),
        content=content,
        refusal=text_of(delta.get("refusal")) or _refusal_in(delta.get("content", b"")),
        reasoning_content=reasoning_of(delta.get("reasoning_content")) or thinking,
        reasoning=reasoning_of(delta.get("reasoning")),
        reasoning_text=reasoning_of(delta.get("reasoning_text")),
        cot_summary=reasoning_of(delta.get("cot_summary")),
        thinking=reasoning_of(delta.get("thinking")),
        thinking_blocks=msgspec.Raw(delta.get("thinking_blocks", b"")),
        tool_calls=[*(calls or ()), *blocks] if blocks else calls,
        function_call=_function(delta.get("function_call", b"")),
        reasoning_details=msgspec.Raw(delta.get("reasoning_details", b"")),
    )
    left_out = _left_out(delta.get("content", b""))
    return OddDelta(**msgspec.structs.asdict(said), left_out=left_out) if left_out else said


def read_calls(raw: bytes) -> list[ToolCallDelta] | None:
    """The calls in a list, or the one call that a host sent without a list; either may be a text."""
    calls = _listed(_unquoted(raw))
    return [read_call(entry) for entry in calls if entry != b"null"] if calls is not None else None


def _unquoted(raw: bytes) -> bytes:
    """The JSON that a string holds; anything else as it is."""
    inner = (text_of(raw) or "").strip() if raw[:1] == b'"' else ""
    return inner.encode("utf-8", "surrogatepass") if inner[:1] in ("{", "[") else raw


def calls_in_parts(content: bytes) -> list[ToolCallDelta]:
    """The calls among the parts of a content: blocks as the Messages API has them."""
    return [read_call(part) for part, kind, _ in _parts(content) if kind in CALL_PARTS]


def _left_out(content: bytes) -> tuple[str, ...]:
    """The types of the parts of a content that have no text and are no calls."""
    odd = ((kind, found) for _, kind, found in _parts(content) if kind not in CALL_PARTS)
    return tuple(kind or "unknown" for kind, found in odd if not found.keys() & _READ)


def _refusal_in(content: bytes) -> str | None:
    """The refusals among the parts of a content."""
    return "".join(text_of(found.get("refusal")) or "" for _, _, found in _parts(content)) or None


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
    delta = ToolCallDelta(
        index=number_of(call.get("index")),
        id=text_of(call.get("id")),
        type=text_of(call["type"]) if "type" in call else "",
    )
    delta.extra_content = msgspec.Raw(call.get("extra_content", b""))
    delta.function = _function(_unquoted(call.get("function", b"")))
    delta.name, delta.arguments = text_of(call.get("name")), _arguments(call.get("arguments"))
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
    return FunctionDelta(text_of(function.get("name")), _arguments(function.get("arguments")), *names)


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
