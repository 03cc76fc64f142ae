"""Handles fields and content that only the client's dialect has, in a request to a provider of another dialect.

Fields that only tune the answer are left out, with a warning. Content is translated or refused.
"""

from __future__ import annotations

from typing import Any

from toolwire.model.errors import RequestError
from toolwire.model.map_request import map_messages, map_parts
from toolwire.model.request import (
    ChatRequest,
    Message,
    OpaquePart,
    Part,
    ReasoningPart,
    Role,
    Tool,
    ToolReferencePart,
    ToolResultPart,
)
from toolwire.model.settings import Target
from toolwire.model.source import raw_in, replace
from toolwire.model.warnings import Warnings, named_warning
from toolwire.rewrite.prompt_cache import marks_of
from toolwire.wire.member_names import NOTHING_ASKED
from toolwire.wire.server_tools import is_accounting_part, is_reasoning_part, is_server_tool_part, is_toolset

#: Fields without effect on the answer: accounting, storage, caching and speed at the host of the client's API.
_IGNORED = frozenset(
    {"metadata", "moderation", "prompt_cache_key", "prompt_cache_options", "safety_identifier", "service_tier", "store"}
) | {
    "access_programs", "cache_control", "client_metadata", "container", "diagnostics", "include", "prediction",
    "prompt_cache_retention", "speed", "user",
}  # fmt: skip

#: Fields that tune the answer, and services of the host of the client's API.
_KNOBS = frozenset({"context_management", "logit_bias", "logprobs", "mcp_servers", "top_logprobs", "verbosity"}) | {
    "generationConfig.responseMimeType",
    "image",
    "max_tool_calls",
    "toolConfig.functionCallingConfig.mode",
    "truncation",
}

#: Anthropic's code for what a thread cannot be combined with; its SDKs go on without one then.
NO_THREADS = "thread_unsupported_request"

#: Warning: a tool that only hosts of another dialect can run was left out.
_SERVER_TOOLS = "not_supported:server_tools"

_EFFORTS = "send none, minimal, low, medium, high, xhigh or max"

_FIXES = {
    "reasoning_effort": _EFFORTS,
    "reasoning.effort": _EFFORTS,
    "max_tokens": "0 only warms the cache of the API it belongs to; send at least 1",
    "thinking.type": "send adaptive, between_tools, disabled or enabled",
    "output_config.effort": "send low, medium, high, xhigh or max",
    "tool_choice.type": "send auto, any, tool or none",
    "previous_response_id": "send the whole history in `input`, or have answers kept (the setting `keep_answers`)",
    "cachedContent": "send what the cache holds: the system text, the contents and the tools",
    "conversation": "nothing is stored here, so send the whole history in `input`",
    "item_reference": "send the item itself, or have answers kept (the setting `keep_answers`)",
}

#: The API's own code, on which its clients send the whole history.
_CODES = {"previous_response_id": "previous_response_not_found"}


def check_fields(request: ChatRequest, target: Target) -> Warnings:
    """The warnings for members that a provider of another dialect does not get. Raises RequestError
    (`unsupported_parameter`, most often) for a field that changes the kind of answer."""
    _check_choice(request, target)
    warnings = Warnings()
    members = dict(request.fields.members) if request.fields is not None else {}
    if "thread" in request.dialect_fields:
        raise no_threads(target)
    for name in request.dialect_fields:
        if name in (*_KNOBS, *_IGNORED) and members.get(name) == NOTHING_ASKED.get(name, b""):
            continue
        if name in _KNOBS:
            warnings.add(f"not_supported:{name}")
        elif name in _IGNORED:
            warnings.add(f"ignored:{name}")
        elif name.startswith("tool_choice (") and _has_own_choice(request):
            warnings.add(_SERVER_TOOLS)
        else:
            path, _, kind = name.rstrip(")").partition(" (")  # an item, or a part of one: "input[3] (item_reference)"
            fix = _FIXES.get(kind or name, "leave it out, or use a provider that speaks this API")
            what = f"`{path}` ({kind})" if kind else f"`{name}`"
            code = _CODES.get(name, "unsupported_parameter")
            raise RequestError(f"{what} cannot be carried to {target.provider.name}: {fix}", param=path, code=code)
    return warnings


def _has_own_choice(request: ChatRequest) -> bool:
    """Whether the choice can be kept without the tools of another dialect's hosts that it names: a function is in the
    allowed set too, or the model may answer without any."""
    choice = request.tool_choice
    return choice is not None and (choice.mode == "none" or bool(choice.names))


def no_threads(target: Target) -> RequestError:
    """The error that tells a client of Anthropic's API that the host keeps no threads."""
    return RequestError(
        f"`thread` cannot be carried to {target.provider.name}: send the full conversation without it",
        code=NO_THREADS,
        features=("thread",),
    )


def check_server_tools(request: ChatRequest, target: Target) -> None:
    """Raises RequestError (`unsupported_tool`) if only hosts of another dialect can run any of the tools: the model
    would invent their results. A toolset is always refused, since its calls also name the set."""
    forbidden = request.tool_choice is not None and request.tool_choice.mode == "none"
    for number, tool in enumerate(request.tools):
        if tool.kind == "opaque" and is_toolset(tool.name):
            raise _not_there(tool, number, target, "declare its tools one by one")
    if request.tools and not forbidden and all(tool.kind == "opaque" for tool in request.tools):
        raise _not_there(
            request.tools[0],
            0,
            target,
            "and the request has no other: declare a function of your own, or use a provider that has it",
        )


def _not_there(tool: Tool, number: int, target: Target, fix: str) -> RequestError:
    place = tool.place(number)
    return RequestError(
        f"`{place}`: {target.provider.name} does not have the tool {tool.name[:128]!r}: {fix}",
        code="unsupported_tool",
        param=place,
    )


def _check_choice(request: ChatRequest, target: Target) -> None:
    """Raises RequestError if a call is required and only tools of another dialect's hosts are allowed."""
    choice = request.tool_choice
    if choice is None or choice.mode != "required" or not choice.names:
        return
    services = {tool.name for tool in request.tools if tool.kind == "opaque"}
    if services.issuperset(choice.names):
        raise _no_tool_left(target)


def _no_tool_left(target: Target) -> RequestError:
    return RequestError(
        f"tool_choice asks for a tool call, but {target.provider.name} has none of the tools that it may be",
        code="unsupported_tool",
        param="tool_choice",
    )


def without_dialect(request: ChatRequest, dialect: str) -> ChatRequest:
    """The request for a writer of `dialect`. If the client speaks another dialect, its bytes and the members that only
    its dialect has are left out. Marks for the prompt cache stay, since they have the wire's form already; so does the
    definition of a custom tool."""
    if request.fields is None or request.fields.dialect == dialect:
        return request
    messages = (replace(message, parts=tuple(map(_plain, message.parts)), extra=()) for message in request.messages)
    tools = (replace(tool, extra=()) if tool.kind == "function" else tool for tool in request.tools)
    return replace(request, messages=tuple(messages), tools=tuple(tools))


def _plain(part: Any) -> Any:
    if type(part) is ToolResultPart:
        return replace(part, content=tuple(map(_plain, part.content)), extra=marks_of(part.extra))
    return replace(part, extra=marks_of(part.extra))


def without_server_tools(request: ChatRequest, dialect: str, target: Target, warnings: Warnings) -> ChatRequest:
    """The request without the tools that only another dialect's hosts can run, with a warning if there were any. Raises
    RequestError (`unsupported_tool`) if `tool_choice` can then not be met."""
    gone = {tool.name for tool in request.tools if _is_foreign(tool, dialect)}
    if not gone:
        return request
    warnings.add(_SERVER_TOOLS)
    kept = tuple(tool for tool in request.tools if not _is_foreign(tool, dialect))
    if not kept and request.tool_choice is not None and request.tool_choice.mode == "required":
        raise _no_tool_left(target)
    if not kept:
        return replace(request, tools=(), tool_choice=None, parallel_tool_calls=None)
    return replace(request, tools=kept)


def without_server_tool_items(request: ChatRequest, warnings: Warnings) -> ChatRequest:
    """The request without items of its history that only another dialect's hosts can read: those of their server tools,
    their billing, and their own kinds. A warning names each kind."""

    def without_left(part: Part, role: Role) -> Part | None:
        code = _left(part, role)
        if code:
            warnings.add(code)
        return None if code else part

    def own(message: Message) -> Message | None:
        kept = map_parts(message, lambda part: without_left(part, message.role))
        return kept if kept.parts or kept is message else None

    return map_messages(request, own)


def without_unsigned_reasoning(request: ChatRequest) -> ChatRequest:
    """The request without unsigned reasoning; the same object if it has none."""

    def signed(part: Part) -> Part | None:
        return None if _is_unsigned(part) else part

    return map_messages(request, lambda message: map_parts(message, signed))


def _is_unsigned(part: Part) -> bool:
    return type(part) is ReasoningPart and not part.signature


def _left(part: Part, role: Role) -> str:
    """The warning for a part that only its own dialect's hosts can read; "" for any other part. A user's content is
    never left out."""
    if type(part) is ToolReferencePart and role == "assistant":
        return "unknown_field:tool_reference"
    if type(part) is not OpaquePart:
        return ""
    if is_accounting_part(part.dialect, part.kind):
        return f"ignored:{part.kind}"
    if is_server_tool_part(part.dialect, part.kind):
        return _SERVER_TOOLS
    if role != "assistant" or is_reasoning_part(part.dialect, part.kind):
        return ""
    return named_warning("unknown_field", part.kind)


def _is_foreign(tool: Tool, dialect: str) -> bool:
    return tool.kind == "opaque" and raw_in(tool, dialect) is None
