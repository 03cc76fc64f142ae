"""Which models behind OpenAI's two wires can be told where a prefix for their prompt cache ends."""

from __future__ import annotations

from toolwire.model.settings import Target
from toolwire.providers.openai_models import family_of
from toolwire.providers.profiles import Profile
from toolwire.rewrite.prompt_cache import CACHE_CONTROL, ON_CONTENT, CacheForm

#: At a host that passes Anthropic's marks on to the models that have them.
_ROUTED = CacheForm(CACHE_CONTROL, roles=ON_CONTENT.roles | {"assistant"}, most=4)


def openai_cache_form(target: Target, profile: Profile) -> CacheForm | None:
    """How this host is told where a prefix ends; None where it takes no marks, or not for this model."""
    if profile.cache_control:
        return _ROUTED
    known = profile.cache_breakpoints and family_of(target.known_as).cache_breakpoints
    return ON_CONTENT if known else None
