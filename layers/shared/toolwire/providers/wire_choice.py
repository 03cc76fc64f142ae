"""Chooses the wire for a model at a provider that has several."""

from __future__ import annotations

from dataclasses import replace

from toolwire.model.settings import Target
from toolwire.providers.openai_models import family_of
from toolwire.providers.profiles import PROFILES
from toolwire.wire import anthropic_messages, openai_responses


def wire_for(target: Target, dialect: str) -> Target:
    """The target with the wire that serves a client of this dialect best, unless the configuration names the wire.

    At a provider that has both of OpenAI's, a client of the Responses API keeps it (at Bedrock, for the models that
    have it), and every other client gets it for the models that need it. OpenAI refuses tools beside reasoning on the
    Chat wire since gpt-5.4 (`Family.needs_responses`). Claude at Bedrock is reached by its own API for a client of that
    API, else by Converse.
    """
    provider = target.provider
    if provider.wire_is_chosen:
        return target
    wire = None
    if provider.wire == "openai_chat" and provider.profile is not None:
        profile = PROFILES[provider.profile]
        keeps = dialect == openai_responses.DIALECT and not profile.responses_if_needed
        if profile.has_responses and (keeps or family_of(target.known_as).needs_responses):
            wire = "openai_responses"
    elif provider.wire == "bedrock_converse" and dialect == anthropic_messages.DIALECT and "claude" in target.known_as:
        wire = "bedrock_messages"
    return target if wire is None else replace(target, provider=replace(provider, wire=wire))
