"""Applies the tool policy to a client's request, before it is written for a provider."""

from __future__ import annotations

from dataclasses import dataclass

from toolwire.model.request import ChatRequest, RequestOptions
from toolwire.model.settings import Tenant
from toolwire.model.source import replace
from toolwire.policy import ToolRules, check_request, read_body_options, read_options, rules_for, with_rules

#: The member of a Chat request that has its options, under the reference document 2api (7.3).
_BODY_OPTIONS = "request_options"

#: The options of a request without any.
_NOTHING_ASKED = RequestOptions()


@dataclass(frozen=True, slots=True)
class CheckedRequest:
    """A request that passed the policy, its rules, and the codes of the warnings about it."""

    request: ChatRequest
    rules: ToolRules
    warnings: tuple[str, ...]


def checked_request(door: str, request: ChatRequest, headers: dict[str, str], tenant: Tenant) -> CheckedRequest:
    """The request after the policy's checks. `door`: the door's name. Options in the body override those in headers.
    Raises RequestError for tools or options that are invalid or not allowed."""
    asked = read_options(headers)
    if tenant.contract_2api:
        request = _with_body_options(request)
    given = {name: getattr(request.options, name) for name in RequestOptions.__struct_fields__}
    said = {name: value for name, value in given.items() if value != getattr(_NOTHING_ASKED, name)}
    asked = replace(asked, **said)
    rules = rules_for(tenant, door, asked)
    request = with_rules(replace(request, options=asked) if asked != request.options else request, rules)
    return CheckedRequest(request, rules, tuple(check_request(request, rules)))


def _with_body_options(request: ChatRequest) -> ChatRequest:
    """The request with the options of its member `request_options`, which no provider is sent. Raises RequestError."""
    fields = request.fields
    raw = dict(fields.members).get(_BODY_OPTIONS) if fields is not None else None
    if fields is None or raw is None:
        return request
    kept = tuple(member for member in fields.members if member[0] != _BODY_OPTIONS)
    return replace(request, options=read_body_options(raw), fields=replace(fields, members=kept))
