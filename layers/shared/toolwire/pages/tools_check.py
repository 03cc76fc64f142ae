"""POST /native/tools/check: which providers take a set of tools, how they would be sent, and what is refused.

There is no second set of rules here. A request with the tools passes the same checks as every request, and is prepared
for each provider as it would be sent there (`prepare_attempt`). The answer reports what these steps refuse, and how the
tools they would send differ from the client's. Each refused tool is replaced by one that every provider takes, and the
rest is tried again, so that one answer names all faults.

Pure: a request and targets in, bytes out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar

from toolwire.doors import Door
from toolwire.doors.native.errors import error_object
from toolwire.exchange.attempt import prepare_attempt
from toolwire.exchange.prepare import ClientRequest
from toolwire.model.errors import RequestError
from toolwire.model.http import HttpRequest
from toolwire.model.request import ChatRequest, Tool
from toolwire.model.settings import Target, Tenant
from toolwire.model.source import replace
from toolwire.model.warnings import Warnings
from toolwire.policy.checked_request import checked_request
from toolwire.providers.sent_tools import SentTool
from toolwire.rewrite.tool_names import wire_name
from toolwire.schema.dialects import SCHEMA_REDUCED
from toolwire.schema.tree import escaped, parse
from toolwire.wire.json import dump, write_array, write_object

#: The most refusals for one provider, and the most differences for one tool.
_MOST_REFUSALS, _MOST_CHANGES = 64, 64

_TOOL_PATH = re.compile(r"tools\[([0-9]+)\]")
_LOOSENED = re.compile(SCHEMA_REDUCED + r":tools\[([0-9]+)\]")
_HARMLESS = b'{"type":"object","properties":{}}'

T = TypeVar("T")

#: One change of one tool.
_Change = dict[str, object]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A model to check: by the client's name for it, or an ordinary model of a provider (`name` None). One that cannot
    be reached has a `refusal` in place of a target."""

    name: str | None
    target: Target | None
    refusal: RequestError | None = None


def report(
    door: Door,
    request: ChatRequest,
    headers: dict[str, str],
    tenant: Tenant,
    candidates: Sequence[Candidate],
    warnings: tuple[str, ...] = (),
) -> bytes:
    """The answer, as JSON. `headers` are the request's, which may hold options. `warnings`: codes, of its reading."""
    if tenant.allowlist is not None:  # the stand-ins for refused tools are allowed
        tenant = replace(tenant, allowlist=(*tenant.allowlist, *map(_stand_in, range(len(request.tools)))))
    passed, refused = _all_refusals(request, lambda it: checked_request(door.name, it, headers, tenant))
    client = None
    if passed is not None:
        http = HttpRequest("POST", "", headers, b"")
        client = ClientRequest(door, http, tenant, passed.request, passed.rules, passed.warnings)
    known = {number for error in refused if (number := _number(error)) is not None}
    verdicts = [_verdict(candidate, request, client, known, bool(refused)) for candidate in candidates]
    return write_object(
        [
            ("object", b'"tools.check"'),
            ("tools", dump(len(request.tools))),
            ("refused", _errors(refused, request)),
            ("warnings", _warnings((*warnings, *(client.warnings if client else ())))),
            ("providers", write_array(verdicts)),
        ]
    )


def _verdict(
    candidate: Candidate, request: ChatRequest, client: ClientRequest | None, known: set[int], is_refused: bool
) -> bytes:
    """What one provider makes of the tools. `request` has all of them. `client` has those that the gateway itself
    takes; it is None where the gateway takes no such request. If it refuses anything, `is_refused` is true, and `known`
    holds the places of the refused tools."""
    target, refused = candidate.target, [candidate.refusal] if candidate.refusal else []
    changes: list[_Change] = []
    warnings: tuple[str, ...] = ()
    sent: list[SentTool] = []
    if target is not None and client is not None:
        attempt, refused = _all_refusals(
            client.request, lambda it: prepare_attempt(replace(client, request=it), target, None)
        )
        absent = known | {number for error in refused if (number := _number(error)) is not None}
        if attempt is not None:
            provider, warnings = attempt.provider, attempt.warnings
            tools = provider.sent_tools(attempt.upstream_request.body)
            sent = [tool for tool in tools if tool.name not in map(_stand_in, absent)]
            changes = list(_changes(request, attempt.tool_names, sent, absent, warnings))
    return write_object(
        [
            ("provider", dump(target.provider.name if target else None)),
            ("wire", dump(target.provider.wire if target else None)),
            ("model", dump(candidate.name)),
            ("accepted", dump(not refused and not is_refused)),
            ("refused", _errors(refused, request)),
            ("changes", dump(changes)),
            ("warnings", _warnings(warnings)),
            ("sent", write_array(tool.raw for tool in sent)),
        ]
    )


# ---------------------------------------------------------------- refusals


def _all_refusals(request: ChatRequest, attempt: Callable[[ChatRequest], T]) -> tuple[T | None, list[RequestError]]:
    """Calls `attempt`, each time without the tool that it refused, until it passes. Returns its result (None: it never
    passed) and all refusals."""
    refused: list[RequestError] = []
    replaced: set[int] = set()
    while True:
        try:
            return attempt(request), refused
        except RequestError as error:
            number = _number(error)
            if number not in replaced:
                refused.append(error)
            if number is None or number in replaced or len(refused) == _MOST_REFUSALS:
                return None, refused
            replaced.add(number)
            request = _without(request, number)


def _number(error: RequestError) -> int | None:
    """The index in `tools` of the tool that an error is about; None if it is about no tool."""
    found = _TOOL_PATH.match(error.param or "")
    return int(found[1]) if found else None


def _stand_in(number: int) -> str:
    """The name of the tool that stands for a refused one."""
    return f"refused_tool_{number}"


def _without(request: ChatRequest, number: int) -> ChatRequest:
    """The request with a harmless tool in place of this one, so that the others keep their indexes."""
    tools = list(request.tools)
    harmless = Tool(_stand_in(number), "Stands for a tool that was refused.", _HARMLESS)
    old, tools[number] = tools[number], harmless
    choice = request.tool_choice
    if choice is not None and old.name in (choice.names or ()):
        choice = None
    return replace(request, tools=tuple(tools), tool_choice=choice, fields=None)


def _errors(refused: Sequence[RequestError], request: ChatRequest) -> bytes:
    found = []
    for error in refused:
        number = _number(error)
        tool = request.tools[number].name if number is not None and number < len(request.tools) else None
        found.append(error_object(error) | {"tool": tool})
    return dump(found)


def _warnings(codes: Iterable[str]) -> bytes:
    return dump(Warnings(codes).explained())


# ---------------------------------------------------------------- changes


def _changes(
    request: ChatRequest, names: str, sent: Sequence[SentTool], absent: set[int], warnings: Iterable[str]
) -> Iterator[_Change]:
    """How each tool that is taken differs from what the client wrote. `names` is the provider's rule for names;
    `warnings` tell where a schema lost something."""
    loosened = {found[1] for warning in warnings if (found := _LOOSENED.match(warning))}
    by_name = {tool.name: tool for tool in sent}
    for number, tool in enumerate(request.tools):
        if number in absent:
            continue
        name = wire_name(tool.name, names) if tool.kind != "opaque" else tool.name
        about: _Change = {"tool": tool.name, "path": f"tools[{number}]"}
        if name not in by_name:
            yield about | {"change": "left_out"}
            continue
        there = by_name[name]
        if name != tool.name:
            yield about | {"change": "renamed", "to": name}
        if tool.strict and not there.is_strict:
            yield about | {"change": "strict_dropped"}
        if tool.description and not there.is_described:
            yield about | {"change": "description_dropped"}
        if tool.kind == "function" and tool.parameters is not None:
            how = "schema_loosened" if str(number) in loosened else "schema_converted"
            yield from _schema_changes(tool.parameters, there, about, how)


def _schema_changes(parameters: bytes, there: SentTool, about: _Change, how: str) -> Iterator[_Change]:
    if there.parameters is None:
        yield about | {"change": "schema_left_out"}
        return
    found = list(islice(_differences(parse(parameters), there.parameters, ""), _MOST_CHANGES))
    if found:
        yield about | {"change": how, "differences": found}


def _differences(before: Any, after: Any, pointer: str) -> Iterator[dict[str, str]]:
    """The differences of two schemas, as JSON pointers. `parse` has kept their numbers as they are written."""
    if isinstance(before, dict) and isinstance(after, dict):
        for name in before | after:
            place = f"{pointer}/{escaped(name)}"
            if name not in after:
                yield {"path": place, "difference": "removed"}
            elif name not in before:
                yield {"path": place, "difference": "added"}
            else:
                yield from _differences(before[name], after[name], place)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for number, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from _differences(old, new, f"{pointer}/{number}")
    elif dump(before) != dump(after):
        yield {"path": pointer, "difference": "changed"}
