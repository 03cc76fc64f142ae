"""The tool policy. It is enforced in one place, on the neutral form, so no door and no provider can bypass it.

    rules              `ToolRules`: the policy of one request, from its tenant, its door and its own options
    request_options    a client's options for the gateway, from `x-toolwire-*` headers
    definitions        checks a request: tools, tool_choice, the allowlist
    checked_request    these three, over a client's request
    answers            checks an answer while it streams: calls, their arguments, tool_choice
    arguments          checks one call's arguments against its tool's schema
    argument_repair    repairs such arguments, where that is asked for

Tools come from clients and calls from models. Both may be hostile: they are counted before anything is built from them.
"""

from toolwire.policy.answers import AnswerLimits, AnswerPolicy
from toolwire.policy.definitions import check_request, measure
from toolwire.policy.request_options import read_body_options, read_options
from toolwire.policy.rules import ToolRules, rules_for, with_rules

__all__ = [
    "AnswerLimits",
    "AnswerPolicy",
    "ToolRules",
    "check_request",
    "measure",
    "read_body_options",
    "read_options",
    "rules_for",
    "with_rules",
]
