"""The slow path for Chat answers: chunks whose values have other types than OpenAI's.

Seen at hosts: `content` as a list of parts (Mistral, Databricks), of blocks as the Messages API has them, `arguments`
as an object (Mistral, Ollama), calls or their `function` as the text of their JSON, calls in other places and in other
APIs' words, null among the calls, ids and indices as numbers or strings, numbers as floats, a surrogate pair cut in two
by a chunk boundary, NaN. All that can be read is read. Arguments that are an object keep their text.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from toolwire.wire.json import members
from toolwire.wire.lenient_calls import calls_in_parts, function_of, is_call, read_calls
from toolwire.wire.lenient_values import (
    THINKING,
    content_of,
    listed,
    number_of,
    parts_of,
    reasoning_of,
    text_of,
)
from toolwire.wire.openai_chat import CALL_LISTS, Choice, Chunk, Delta, ToolCallDelta

#: Members of a delta or a message that are its content: OpenAI's, and Snowflake's beside it.
_CONTENTS = ("content", "content_list")

#: Members of a part of a content that are read.
_READ = frozenset({"text", "refusal", *THINKING})


class OddDelta(Delta):
    """A delta that was read here. `left_out`: the types of the parts of its content that it has no words for."""

    left_out: tuple[str, ...] = ()


def read(raw: bytes) -> Chunk:
    """The chunk or answer in a `readable` document. Raises ValueError if it is no JSON object (msgspec's errors are
    ValueErrors) or no UTF-8."""
    raw.decode("utf-8", "surrogatepass")
    top = members(raw)
    choices = listed(top.get("choices", b"null"))
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
        usage=msgspec.Raw(choice.get("usage", b"")),
    )
    beside = [*_calls_in_lists(choice), *beside]
    if beside and said.delta is None and said.message is None:
        said.delta = Delta(tool_calls=beside)
    elif beside:
        delta = said.delta or said.message
        assert delta is not None
        delta.tool_calls = _with_others(delta.tool_calls, beside)
    return said


def _delta(raw: bytes | None) -> Delta | None:
    if raw is None or raw[:1] != b"{":
        return None
    delta = members(raw)
    contents = [delta[name] for name in _CONTENTS if name in delta]
    kind = text_of(delta.get("type"))  # Snowflake's parts of a stream have none of their own
    content, thinking = next(
        (told for told in map(content_of, contents) if any(told)), content_of(delta.get("content"))
    )
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
        function_call=function_of(delta.get("function_call", b"")),
        reasoning_details=msgspec.Raw(delta.get("reasoning_details", b"")),
        reasoning_opaque=text_of(delta.get("reasoning_opaque")),
        images=msgspec.Raw(delta.get("images", b"")),
        audio=msgspec.Raw(delta.get("audio", b"")),
        annotations=msgspec.Raw(delta.get("annotations", b"")),
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


def _left_out(content: bytes, kind: str | None) -> tuple[str, ...]:
    """The types of the parts of a content that have no text and are no calls."""
    odd = ((own or kind, found) for _, own, found in parts_of(content) if not is_call(own or kind, found))
    return tuple(kind or "unknown" for kind, found in odd if not found.keys() & _READ)


def _refusals_in(content: bytes) -> str:
    """The refusals among the parts of a content."""
    return "".join(text_of(found.get("refusal")) or "" for _, _, found in parts_of(content))
