"""Whether a provider would take a request of ours: the types of the vendor's own SDK know all of it."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterable
from typing import Any

from anthropic.types.message_create_params import MessageCreateParamsBase
from openai.types.chat.completion_create_params import CompletionCreateParamsBase
from openai.types.responses.response_create_params import ResponseCreateParamsBase
from pydantic import TypeAdapter

with warnings.catch_warnings():  # what it imports imports what is deprecated
    warnings.simplefilter("ignore")
    from google.genai import types

_ANTHROPIC: TypeAdapter[Any] = TypeAdapter(MessageCreateParamsBase)
_OPENAI: TypeAdapter[Any] = TypeAdapter(CompletionCreateParamsBase)
_RESPONSES: TypeAdapter[Any] = TypeAdapter(ResponseCreateParamsBase)


def openai_chat(body: bytes) -> None:
    """Fails unless openai-python knows the request."""
    _check_typed(_OPENAI, CompletionCreateParamsBase.__annotations__, json.loads(body))


def openai_responses(body: bytes) -> None:
    """Fails unless openai-python knows the request."""
    _check_typed(_RESPONSES, ResponseCreateParamsBase.__annotations__, json.loads(body))


def anthropic_messages(body: bytes) -> None:
    """Fails unless anthropic-python knows the request."""
    _check_typed(_ANTHROPIC, MessageCreateParamsBase.__annotations__, json.loads(body))


def gemini(body: bytes) -> None:
    """Fails unless google-genai knows the request: its models refuse members that they do not name."""
    request = json.loads(body)
    for content in [*request.pop("contents"), request.pop("systemInstruction", {})]:
        types.Content.model_validate(content)
    for tool in request.pop("tools", ()):
        types.Tool.model_validate(tool)
    types.ToolConfig.model_validate(request.pop("toolConfig", {}))
    types.GenerationConfig.model_validate(request.pop("generationConfig", {}))
    assert request == {}


def _check_typed(adapter: TypeAdapter[Any], names: Iterable[str], request: dict[str, Any]) -> None:
    request.pop("stream", None)  # it is what divides the request's types in two
    assert request.keys() <= set(names)
    _drain(adapter.validate_python(request))


def _drain(value: Any) -> None:
    """Looks at everything: what the types call iterable, pydantic checks only then."""
    if isinstance(value, dict):
        value = value.values()
    if not isinstance(value, str | bytes) and hasattr(value, "__iter__"):
        for inner in value:
            _drain(inner)


#: Wire -> the judge of requests.
VENDORS: dict[str, Callable[[bytes], None]] = {
    "openai_chat": openai_chat,
    "openai_responses": openai_responses,
    "anthropic_messages": anthropic_messages,
    "gemini": gemini,
}
