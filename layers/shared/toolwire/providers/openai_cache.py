"""Marks for the prompt cache on OpenAI's two wires: which models take them, and in which form."""

from __future__ import annotations

from toolwire.model.settings import Target
from toolwire.providers.openai_models import family_of
from toolwire.providers.profiles import Profile
from toolwire.rewrite.prompt_cache import CACHE_CONTROL, ON_CONTENT, CacheForm

#: The form at a host that passes Anthropic's marks on to the models that take them.
_ROUTED = CacheForm(CACHE_CONTROL, roles=ON_CONTENT.roles | {"assistant"}, most=4)


def openai_cache_form(target: Target, profile: Profile) -> CacheForm | None:
    """The form of marks for this host and model; None if they take none."""
    if profile.cache_control:
        return _ROUTED
    known = profile.cache_breakpoints and family_of(target.known_as).cache_breakpoints
    return ON_CONTENT if known else None
