"""A request from a client of the same API: its own bytes, member by member, except the model and what had to change.

The client gets the API's own refusals, by whose words it retries. So the client's settings are not touched. Only what
the gateway itself has changed (ids, names, state of another origin, tools that a policy took out) is written anew. The
client's headers of the API go with the request.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from toolwire.model.http import Headers
from toolwire.model.map_request import same_if_unchanged
from toolwire.model.request import (
    INSTRUCTIONS,
    ChatRequest,
    Message,
    OpaquePart,
    Part,
    ReasoningPart,
    RequestFields,
    TextPart,
    Tool,
)
from toolwire.model.settings import Target
from toolwire.model.source import raw_in, replace
from toolwire.model.warnings import Warnings
from toolwire.providers.anthropic_messages.messages import write_messages
from toolwire.providers.anthropic_messages.models import Family, is_platform
from toolwire.providers.anthropic_messages.thinking_and_sampling import SAMPLING_VERSION, VERSION, lacks_thinking
from toolwire.providers.anthropic_messages.tools import write_tool_choice
from toolwire.rewrite.client_dialect import no_threads, without_unsigned_reasoning
from toolwire.wire.anthropic_messages import BILLING, DIALECT
from toolwire.wire.json import dump, elements, members, write_array, write_object

_SAMPLING = ("temperature", "top_p", "top_k")


def own_headers(request: ChatRequest, fields: RequestFields) -> Headers:
    """The client's headers of the API. If it named no version, one that knows the request's members is added."""
    names = {name for name, _ in request.headers}
    if "anthropic-version" in names:
        return request.headers
    sampled = any(name in _SAMPLING for name, _ in fields.members)
    return (("anthropic-version", SAMPLING_VERSION if sampled else VERSION), *request.headers)


def check_thread(fields: RequestFields, target: Target) -> None:
    """Raises RequestError for a request that continues a thread at a host that is not known to keep threads. Such a
    request holds only the newest messages, and a host that merely speaks the protocol might ignore the member. The
    client then sends all messages."""
    thread = dict(fields.members).get("thread", b"")
    goes_on = thread[:1] == b"{" and members(thread).get("type") == b'"continue"'
    if goes_on and not is_platform(target.provider.base_url):
        raise no_threads(target)


def with_signed_thinking(request: ChatRequest, family: Family) -> ChatRequest:
    """The request without unsigned thinking. It is another provider's, which this client was shown earlier, and
    families that sign their own refuse it."""
    return without_unsigned_reasoning(request) if family.signs_thinking else request


def with_own_instructions(request: ChatRequest) -> ChatRequest:
    """The request with the system messages of its history to be written anew, for a host that refuses the role; and
    with the user's turn in front of each, which it becomes a part of."""
    messages = request.messages
    told = [_is_own_instruction(message) for message in messages]
    anew = (here or behind for here, behind in zip(told, [*told[1:], False], strict=True))
    kept = same_if_unchanged(messages, (replace(m) if of else m for m, of in zip(messages, anew, strict=True)))
    return request if kept is messages else replace(request, messages=kept)


def _is_own_instruction(message: Message) -> bool:
    """Whether a message is one of the history with the role "system", and not the system text."""
    raw = raw_in(message, DIALECT) if message.role in INSTRUCTIONS else None
    return raw is not None and raw[:1] == b"{"


def own_members(
    request: ChatRequest,
    fields: RequestFields,
    model: str,
    family: Family,
    warnings: Warnings,
) -> Iterator[tuple[str, bytes]]:
    """The members in the client's order."""
    parsed = fields.parsed
    history = write_messages(request, family)
    warnings.add(*history.warnings)
    for name, raw in fields.members:
        value: bytes | None = raw
        match name:
            case "model":
                value = dump(model)
            case "max_tokens":
                value = raw if request.max_tokens == parsed.max_tokens else dump(request.max_tokens)
            case "messages":
                value = history.messages
            case "system" if not family.signs_thinking:
                value = _without_billing(request, raw, warnings)
            case "tools":
                value = _tools(request, raw) if request.tools else None
            case "tool_choice":
                same = request.tool_choice is parsed.tool_choice and request.tools is parsed.tools
                value = raw if same else write_tool_choice(request)
            case "thinking":
                value = _thinking(request, raw, family, warnings)
            case _:
                pass
        if value is not None:
            yield name, value


def without_refused(
    pairs: Iterable[tuple[str, bytes]], refused: frozenset[str], warnings: Warnings
) -> Iterator[tuple[str, bytes]]:
    """The members, without those that the host has refused, also within tools. A member that gives the form of the
    answer is never left out."""
    for name, raw in pairs:
        if name in refused and not (name == "output_config" and b'"format"' in raw):
            warnings.add(f"not_supported:{name}")
        elif name == "tools" and raw[:1] == b"[":
            yield name, write_array(_known(tool, refused, warnings) for tool in elements(raw))
        else:
            yield name, raw


def _known(tool: bytes, refused: frozenset[str], warnings: Warnings) -> bytes:
    given = members(tool)
    if refused.isdisjoint(given):
        return tool
    warnings.add(*(f"not_supported:{name}" for name in given if name in refused))
    return write_object((name, value) for name, value in given.items() if name not in refused)


def _without_billing(request: ChatRequest, raw: bytes, warnings: Warnings) -> bytes | None:
    """The system text for a host that is not Anthropic's: without Claude Code's billing line. That line differs in
    every request, so nothing behind it would be found in a prompt cache."""
    parts = request.messages[0].parts if request.messages and request.messages[0].role == "system" else ()
    kept = [part for part in parts if not (type(part) is OpaquePart and part.kind == BILLING)]
    if len(kept) == len(parts):
        return raw
    warnings.add(f"ignored:{BILLING}")
    if raw[:1] == b'"' or not kept:
        return dump(kept[0].text) if kept and type(kept[0]) is TextPart else None
    return write_array(raw_in(part, DIALECT) or _text(part) for part in kept)


def _text(part: Part) -> bytes:
    """The rest of a text that began with the line."""
    text = part.text if type(part) is TextPart else ""
    return write_object([("type", b'"text"'), ("text", dump(text)), *part.extra])


def _tools(request: ChatRequest, raw: bytes) -> bytes:
    assert request.fields is not None
    return raw if request.tools is request.fields.parsed.tools else write_array(map(_tool, request.tools))


def _tool(tool: Tool) -> bytes:
    raw = raw_in(tool, DIALECT)
    if raw is not None:
        return raw
    named = [("name", dump(tool.name))]
    named += [("description", dump(tool.description))] if tool.description is not None else []
    named += [("input_schema", tool.parameters)] if tool.parameters is not None else []
    named += [("strict", dump(tool.strict))] if tool.strict is not None else []
    return write_object([*named, *tool.extra])


def _thinking(request: ChatRequest, raw: bytes, family: Family, warnings: Warnings) -> bytes | None:
    """The `thinking` member. It stays as the client wrote it, unless the turn to continue has lost its thinking (it was
    of another origin, or the API has refused it): there the API refuses thinking by a budget."""
    assert request.fields is not None
    parsed = request.fields.parsed
    lost = _state(request) != _state(parsed) and lacks_thinking(request)
    if not lost or family.off is None or members(raw).get("type") != b'"enabled"':
        return raw
    warnings.add("reasoning_turned_off")
    return dump({"type": family.off})


def _state(request: ChatRequest) -> int:
    """How many parts of the history are thinking."""
    return sum(
        type(part) is ReasoningPart or (type(part) is OpaquePart and part.kind == "redacted_thinking")
        for message in request.messages
        for part in message.parts
    )
