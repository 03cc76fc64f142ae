"""The tool policy: one enforcement point, on the neutral form, so that no door and no provider can go around it.

    rules.py         `ToolRules`: what holds for one request, from its tenant, its door and its own options
    options.py       what a client may ask of the gateway in `x-toolwire-*` headers
    definitions.py   the request: tools, tool_choice, the allowlist
    answers.py       the answer, while it streams: calls, their arguments, whether tool_choice was kept
    arguments.py     whether one call's arguments are what its tool's schema allows

Tools come from clients and calls from models: both are hostile input, counted before anything is built from them.
"""

from toolwire.policy.answers import AnswerLimits, AnswerPolicy
from toolwire.policy.definitions import check_request, measure
from toolwire.policy.options import read_body_options, read_options
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
