"""The tool policy of one request, from the tenant's settings, the door's defaults and the request's own options.

A request's options override its tenant's defaults. Limits, the allowlist and the handling of an ignored tool_choice
can be set by the tenant alone. Source of the defaults: the 2api reference document, sections 5.1 and 7.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from toolwire.model.limits import PRESET_AGENTS, Limits
from toolwire.model.request import ChatRequest, RequestOptions
from toolwire.model.settings import Tenant
from toolwire.model.source import replace

#: The door that keeps to the limits and errors of the reference document.
_NATIVE = "native"
#: The options of a request that sets none.
_SILENT = RequestOptions()


@dataclass(frozen=True, slots=True)
class ToolRules:
    """The policy of one request. The defaults are those of a tenant without settings, on every door but the native."""

    limits: Limits = PRESET_AGENTS
    #: Names of tools that may be declared and called; None: every tool.
    allowed: frozenset[str] | None = None
    #: Whether a tool that is not allowed is refused; else it is a warning.
    refuses_others: bool = True
    validate_tool_arguments: Literal["off", "annotate", "reject"] = "off"
    schema_mode: Literal["convert", "reject", "lossy"] = "convert"
    repair_arguments: bool = False
    #: Whether strict tools beside parallel calls are refused; else they are a warning.
    refuses_strict_parallel: bool = False
    #: Whether an answer that does not keep to tool_choice is an error; else it is a warning.
    insists_on_choice: bool = False
    #: Whether a Responses client gets the reference document's events and their order.
    extended_events: bool = False
    #: Whether the door keeps to the whole contract of the reference document 2api.
    contract_2api: bool = False


def rules_for(tenant: Tenant, door: str, options: RequestOptions = _SILENT) -> ToolRules:
    """The rules for a request of this tenant at this door (its name)."""
    native = door == _NATIVE
    has_list = tenant.allowlist is not None and tenant.allowlist_mode != "off"
    unkept = tenant.tool_choice_not_honored or ("error" if native else "warn")
    return ToolRules(
        limits=tenant.native_limits if native else tenant.limits,
        allowed=frozenset(tenant.allowlist or ()) if has_list else None,
        refuses_others=tenant.allowlist_mode == "enforce",
        validate_tool_arguments=options.validate_tool_arguments or tenant.validate_tool_arguments,
        schema_mode=options.schema_mode or tenant.schema_mode or ("reject" if native else "convert"),
        repair_arguments=tenant.repair_arguments if options.repair_arguments is None else options.repair_arguments,
        refuses_strict_parallel=tenant.strict_parallel == "reject",
        insists_on_choice=unkept == "error",
        extended_events=tenant.events == "extended" if options.extended_events is None else options.extended_events,
        contract_2api=tenant.contract_2api,
    )


def with_rules(request: ChatRequest, rules: ToolRules) -> ChatRequest:
    """The request with the effective options in `request.options`. The providers' writers get the
    request and no rules: they read `schema_mode` there."""
    options = replace(
        request.options,
        validate_tool_arguments=rules.validate_tool_arguments,
        schema_mode=rules.schema_mode,
        repair_arguments=rules.repair_arguments or request.options.repair_arguments,
        extended_events=rules.extended_events or request.options.extended_events,
        contract_2api=rules.contract_2api,
    )
    return request if options == request.options else replace(request, options=options)
