"""Whether a provider would take a request of ours: the types of the vendor's own SDK know all of it."""

from __future__ import annotations

import base64
import json
import warnings
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import botocore.session
from anthropic.types.message_create_params import MessageCreateParamsBase
from botocore.validate import ParamValidator
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


def bedrock_converse(body: bytes) -> None:
    """Fails unless botocore's model of the API knows the request."""
    report = ParamValidator().validate({"modelId": "m", **with_blobs(json.loads(body))}, _converse_input())
    assert not report.has_errors(), report.generate_report()


def bedrock_messages(body: bytes) -> None:
    """Fails unless it is a request of Anthropic's API in Bedrock's frame."""
    request = json.loads(body)
    assert request.pop("anthropic_version") == "bedrock-2023-05-31"
    assert request.keys().isdisjoint({"model", "stream"})
    assert isinstance(request.pop("anthropic_beta", []), list)
    anthropic_messages(json.dumps({"model": "m", **request}).encode())


def with_blobs(value: Any) -> Any:
    """A Converse body as boto3's caller writes it: what travels as base64 is bytes."""
    if isinstance(value, list):
        return [with_blobs(inner) for inner in value]
    if not isinstance(value, dict):
        return value
    blobs = ("bytes", "redactedContent")
    return {
        name: base64.b64decode(inner) if name in blobs and isinstance(inner, str) else with_blobs(inner)
        for name, inner in value.items()
    }


@cache
def _converse_input() -> Any:
    model = botocore.session.Session().get_service_model("bedrock-runtime")
    return model.operation_model("ConverseStream").input_shape


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
    "bedrock_converse": bedrock_converse,
    "bedrock_messages": bedrock_messages,
}
