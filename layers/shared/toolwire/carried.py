"""What a request holds that only its own dialect has words for, and what becomes of it at any other provider.

Knobs change likelihoods: left out, with a warning. Content is carried or refused.
"""

from __future__ import annotations

from toolwire.model.errors import RequestError
from toolwire.model.request import ChatRequest
from toolwire.model.settings import Target

#: Fields that nobody misses in the answer: accounting, storage and caching at the host the client had in mind.
_IGNORED = frozenset(
    {"metadata", "moderation", "prompt_cache_key", "prompt_cache_options", "safety_identifier", "service_tier", "store"}
) | {"user"}

#: Knobs.
_KNOBS = frozenset({"logit_bias", "logprobs", "top_logprobs", "verbosity"})

_FIXES = {
    "functions": "send `tools` instead",
    "function_call": "send `tool_choice` instead",
}


def check_fields(request: ChatRequest, target: Target) -> list[str]:
    """Warnings for the knobs a provider of another dialect does not get. Raises RequestError (`unsupported_parameter`)
    for a field that changes what the answer is."""
    warnings = []
    for name in request.dialect_fields:
        if name in _KNOBS:
            warnings.append(f"not_supported:{name}")
        elif name not in _IGNORED:
            fix = _FIXES.get(name, "leave it out, or use a provider that speaks this API")
            raise RequestError(
                f"`{name}` cannot be carried to {target.provider.name}: {fix}", param=name, code="unsupported_parameter"
            )
    return warnings
