"""Leaves out the sampling settings (`temperature`, `top_p`, ...) that reasoning models refuse, with a warning. Only for
clients of other APIs: a client of the host's own API is told by the host."""

from __future__ import annotations

from toolwire.model.request import ChatRequest
from toolwire.model.settings import Target
from toolwire.model.source import replace
from toolwire.model.warnings import Warnings
from toolwire.providers.openai_models import family_of, is_reasoning

#: Setting -> a model's default.
_UNASKED = {"temperature": 1.0, "top_p": 1.0, "frequency_penalty": 0.0, "presence_penalty": 0.0}


def with_known_sampling(request: ChatRequest, target: Target, warnings: Warnings) -> ChatRequest:
    """The request without the settings that its model refuses while it reasons; the same object if there are none. Each
    setting that is not the default is warned of. A model that always reasons has no stop sequences either."""
    family = family_of(target.known_as)
    if not is_reasoning(family, request.reasoning_effort):
        return request
    names = (*_UNASKED, "stop") if not family.can_rest else tuple(_UNASKED)
    given = [name for name in names if getattr(request.sampling, name) is not None]
    if not given:
        return request
    told = (name for name in given if getattr(request.sampling, name) not in (_UNASKED.get(name), ()))
    warnings.add(*(f"not_supported:{name}" for name in told))
    return replace(request, sampling=replace(request.sampling, **dict.fromkeys(given)))
