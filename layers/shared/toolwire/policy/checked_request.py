"""Applies the tool policy to a client's request, before it is translated."""

from __future__ import annotations

from dataclasses import dataclass, replace

from toolwire.model.request import ChatRequest, RequestOptions
from toolwire.model.settings import Tenant
from toolwire.policy import ToolRules, check_request, read_options, rules_for, with_rules

#: The options of a request that asks nothing of the gateway.
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
    given = {name: getattr(request.options, name) for name in RequestOptions.__slots__}
    said = {name: value for name, value in given.items() if value != getattr(_NOTHING_ASKED, name)}
    asked = replace(asked, **said)
    rules = rules_for(tenant, door, asked)
    request = with_rules(replace(request, options=asked) if asked != request.options else request, rules)
    return CheckedRequest(request, rules, tuple(check_request(request, rules)))
