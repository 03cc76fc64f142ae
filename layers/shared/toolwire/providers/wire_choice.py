"""Which wire a model is reached by, at a provider that has several."""

from __future__ import annotations

from dataclasses import replace

from toolwire.model.settings import Target
from toolwire.providers.openai_models import family_of
from toolwire.providers.profiles import PROFILES
from toolwire.wire.openai_responses import DIALECT


def wire_for(target: Target, dialect: str) -> Target:
    """The target by the wire that serves a client of this dialect best: at a provider that has both of OpenAI's, a
    client of the Responses API keeps it, and every other client gets it for the models that need it. OpenAI refuses
    tools beside reasoning on the Chat wire since gpt-5.4 (`Family.needs_responses`)."""
    provider = target.provider
    has_both = provider.profile is not None and PROFILES[provider.profile].has_responses
    if provider.wire != "openai_chat" or provider.wire_is_chosen or not has_both:
        return target
    if dialect != DIALECT and not family_of(target.model).needs_responses:
        return target
    return replace(target, provider=replace(provider, wire="openai_responses"))
