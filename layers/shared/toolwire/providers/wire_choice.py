"""Which wire a model is reached by, at a provider that has several."""

from __future__ import annotations

from dataclasses import replace
from fnmatch import fnmatchcase

from toolwire.model.settings import Target
from toolwire.providers.profiles import PROFILES
from toolwire.wire.openai_responses import DIALECT


def wire_for(target: Target, dialect: str) -> Target:
    """The target by the wire that serves a client of this dialect best: at a provider that has both of OpenAI's, a
    client of the Responses API keeps it, and every other client gets it for the models that need it. OpenAI refuses
    tools beside reasoning on the Chat wire since gpt-5.4 (`Profile.responses_models`)."""
    provider = target.provider
    models = PROFILES[provider.profile].responses_models if provider.profile is not None else frozenset()
    if provider.wire != "openai_chat" or provider.wire_is_chosen or not models:
        return target
    if dialect != DIALECT and not any(fnmatchcase(target.model, pattern) for pattern in models):
        return target
    return replace(target, provider=replace(provider, wire="openai_responses"))
