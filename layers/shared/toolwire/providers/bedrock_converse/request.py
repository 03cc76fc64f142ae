"""The request of Converse and ConverseStream.

https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import quote

from toolwire.framing import Framing
from toolwire.framing.aws_event_stream import CONTENT_TYPE, AwsEventStreamDecoder
from toolwire.model.errors import UpstreamError
from toolwire.model.http import Headers, UpstreamRequest, post_json
from toolwire.model.request import ChatRequest, ResponseFormat, ToolCallPart, ToolResultPart
from toolwire.model.settings import Target
from toolwire.model.source import replace
from toolwire.model.warnings import Warnings
from toolwire.providers import Decoder, Provider
from toolwire.providers.address import key_headers, url_of
from toolwire.providers.anthropic_messages.models import family_of as claude_of
from toolwire.providers.anthropic_messages.thinking_and_sampling import Settings, settle
from toolwire.providers.bedrock_converse.answer import ConverseDecoder
from toolwire.providers.bedrock_converse.errors import error_of
from toolwire.providers.bedrock_converse.messages import CONTENT, with_own_redacted, write_messages
from toolwire.providers.bedrock_converse.models import Family, family_of
from toolwire.providers.bedrock_converse.tools import SCHEMAS, instruction, with_known_tools, write_tools
from toolwire.providers.decoder_context import DecoderContext
from toolwire.providers.profiles import Profile
from toolwire.rewrite.alternating_turns import with_tool_turns_apart
from toolwire.rewrite.answer_format import with_enforced_format, with_format_in_words
from toolwire.rewrite.client_dialect import check_fields
from toolwire.rewrite.custom_tools import bridged
from toolwire.rewrite.history import with_legal_ids, with_results, with_trimmed_end, with_user_last
from toolwire.rewrite.images_and_files import with_carried_content
from toolwire.rewrite.prompt_cache import ON_BLOCKS, CacheForm
from toolwire.rewrite.stop_sequences import with_stops
from toolwire.rewrite.tool_names import WIRE_NAME, with_wire_names
from toolwire.wire import anthropic_messages
from toolwire.wire.bedrock_converse import DIALECT
from toolwire.wire.json import dump, write_object

if TYPE_CHECKING:
    from toolwire.providers.sent_tools import SentTool
    from toolwire.providers.token_count import Count


#: Effort of reasoning -> Amazon Nova's word for it; Nova has three.
_NOVA_EFFORTS = {"minimal": "low", "low": "low", "medium": "medium", "high": "high", "xhigh": "high", "max": "high"}

#: Stop sequences in one request.
_MOST_STOPS = 2_500


class BedrockConverse(Provider):
    """See `providers.Provider`. Requests are signed by the shell: a signature needs clock and environment."""

    dialect = DIALECT
    tool_name = WIRE_NAME
    schemas = SCHEMAS
    any_model = "anthropic.claude"

    def build_request(
        self,
        request: ChatRequest,
        target: Target,
        profile: Profile,
        credential: str | None,
    ) -> tuple[UpstreamRequest, Warnings]:
        body, streams, warnings = write_request(
            request, target, self.tool_names(target, profile), user_last=profile.user_last
        )
        return invocation(target, "converse-stream" if streams else "converse", body, credential, streams), warnings

    def tool_names(self, target: Target, profile: Profile) -> str:
        return profile.tool_name or family_of(target.known_as).tool_name or self.tool_name

    def shares_state(self, dialect: str, model: str) -> bool:
        """Claude's signatures are valid wherever Claude is served, says Anthropic. So clients of its own API see them
        unchanged. https://platform.claude.com/docs/en/build-with-claude/extended-thinking"""
        return dialect == anthropic_messages.DIALECT and re.search("claude", model.lower()) is not None

    def cache_form(self, target: Target, profile: Profile) -> CacheForm | None:  # noqa: ARG002
        family = family_of(target.known_as)
        return replace(ON_BLOCKS, tools=family.cache_points_in_tools) if family.cache_points else None

    def framing(self, content_type: str, start: bytes, *, asked: bool) -> Framing | None:
        return framing_of(content_type) or super().framing(content_type, start, asked=asked)

    def decoder(self, context: DecoderContext) -> Decoder:
        return ConverseDecoder(context)

    def sent_tools(self, body: bytes) -> list[SentTool]:
        from toolwire.providers.sent_tools import entries, member, sent_tool  # for few requests

        tools = entries(member(member(body, "toolConfig"), "tools"))
        return [sent_tool(tool, member(tool, "toolSpec"), "inputSchema", within="json") for tool in tools]

    def parse_error(self, status: int, headers: dict[str, str], body: bytes) -> UpstreamError:
        return error_of(status, headers, body)

    def count_request(self, request: UpstreamRequest) -> Count | None:
        from toolwire.providers.bedrock_converse.token_count import (
            count_request,  # for few requests: not at a cold start
        )

        return count_request(request)


PROVIDER = BedrockConverse()


def invocation(target: Target, operation: str, body: bytes, credential: str | None, streams: bool) -> UpstreamRequest:
    """The request to an operation on a model. In the path, the slashes of an ARN are escaped."""
    key = key_headers(target.provider, credential, "authorization")
    url = url_of(target, f"/model/{quote(target.model, safe='')}/{operation}")
    sent = post_json(url, body, stream=streams, headers=key)
    return replace(sent, headers=tuple(_accepts_events(sent.headers))) if streams else sent


def _accepts_events(headers: Headers) -> Iterator[tuple[str, str]]:
    for name, value in headers:
        yield name, CONTENT_TYPE if name == "accept" else value


def framing_of(content_type: str) -> Framing | None:
    """The framing of an AWS event stream, if the content type (in lower case) says so; else None."""
    return AwsEventStreamDecoder() if content_type.startswith(CONTENT_TYPE) else None


def write_request(
    request: ChatRequest, target: Target, names: str, *, user_last: bool = False
) -> tuple[bytes, bool, Warnings]:
    """Returns the body, whether its answer is streamed, and the warnings. `user_last`: whether a history that ends with
    the assistant was refused. Raises RequestError for what this provider cannot take."""
    family = family_of(target.known_as)
    warnings = check_fields(request, target)
    if not family.pattern and target.known_as.startswith("arn:"):
        warnings.add("model_not_said")
    request = with_stops(request, warnings, most=_MOST_STOPS, takes=str.strip)
    if not family.structured_output or request.response_format == ResponseFormat("json_object"):
        request = with_format_in_words(request, warnings)
    else:
        request = with_enforced_format(request, warnings)
    request = with_carried_content(
        with_own_redacted(bridged(request, warnings)), CONTENT, target.provider.name, warnings
    )
    request = with_known_tools(request, target, family, warnings)
    request = with_results(with_wire_names(request, names), warnings)
    request = request if family.mixed_turns else with_tool_turns_apart(request, warnings)
    claude = settle(request, claude_of(target.known_as)) if family.reasoning == "claude" else None
    if user_last:
        request = with_user_last(request, warnings)
    if claude is not None:
        request = replace(request, tool_choice=None) if claude.frees_choice else request
        if claude.thinks or not claude_of(target.known_as).prefill:
            request = with_user_last(request, warnings)
        else:
            request = with_trimmed_end(request, warnings)
    request = with_legal_ids(request, family.call_id, family.call_id_length)
    has_tool_blocks = any(isinstance(part, ToolCallPart | ToolResultPart) for m in request.messages for part in m.parts)
    body = write_object(_members(request, target, family, claude, warnings, has_tool_blocks=has_tool_blocks))
    streams = request.stream and (family.streams_tools or not (request.tools or has_tool_blocks))
    return body, streams, warnings


def _members(
    request: ChatRequest,
    target: Target,
    family: Family,
    claude: Settings | None,
    warnings: Warnings,
    *,
    has_tool_blocks: bool,
) -> Iterator[tuple[str, bytes]]:
    """`claude`: the settings of a model that takes Claude's."""
    history = write_messages(request, family, instruction(request, has_tool_blocks=has_tool_blocks))
    tools = write_tools(request, target, family, warnings, has_tool_blocks=has_tool_blocks)
    warnings.add(*history.warnings)
    if history.system is not None:
        yield "system", history.system
    yield "messages", history.messages
    if tools is not None:
        yield "toolConfig", tools
    additional: dict[str, object] = {}
    if claude is not None:
        warnings.add(*claude.warnings)
        inference: dict[str, object] = {"maxTokens": claude.max_tokens} if request.max_tokens or claude.thinks else {}
        inference |= {_INFERENCE[name]: value for name, value in claude.sampling.items() if name in _INFERENCE}
        additional |= {name: value for name, value in claude.sampling.items() if name not in _INFERENCE}
        additional |= {"thinking": claude.thinking} if claude.thinking is not None else {}
        additional |= {"output_config": {"effort": claude.effort}} if claude.effort is not None else {}
        additional |= _claude_choice(request, tools is not None)
    else:
        inference = _inference(request, warnings)
        if request.parallel_tool_calls is False and tools is not None:
            warnings.add("not_supported:parallel_tool_calls")
        additional |= _additional(request, family, warnings)
    if request.sampling.stop:
        inference["stopSequences"] = request.sampling.stop
    if inference:
        yield "inferenceConfig", dump(inference)
    if (output := _output_format(request)) is not None:
        yield "outputConfig", output
    if additional:
        yield "additionalModelRequestFields", dump(additional)


_INFERENCE = {"temperature": "temperature", "top_p": "topP"}


def _inference(request: ChatRequest, warnings: Warnings) -> dict[str, object]:
    """The settings that every model has. The highest `temperature` there is 1."""
    sampling = request.sampling
    given: dict[str, object] = {"maxTokens": request.max_tokens} if request.max_tokens is not None else {}
    if sampling.temperature is not None:
        given["temperature"] = min(sampling.temperature, 1)
        if sampling.temperature > 1:
            warnings.add("temperature_clamped")
    if sampling.top_p is not None:
        given["topP"] = sampling.top_p
    for name in ("seed", "frequency_penalty", "presence_penalty"):
        if sampling.asks(name):
            warnings.add(f"not_supported:{name}")
    return given


def _additional(request: ChatRequest, family: Family, warnings: Warnings) -> dict[str, object]:
    """What a family other than Claude takes beside the API's own members."""
    fields: dict[str, object] = {}
    if request.sampling.top_k is not None:
        if family.top_k:
            fields["top_k"] = request.sampling.top_k
        else:
            warnings.add("not_supported:top_k")
    effort = request.reasoning_effort
    if effort in (None, "none"):
        return fields
    if family.reasoning == "nova":
        told = _NOVA_EFFORTS[effort]
        fields["reasoningConfig"] = {"type": "enabled", "maxReasoningEffort": told}
    elif family.reasoning == "effort":
        told = "high" if effort in ("high", "xhigh", "max") else "low" if effort == "minimal" else effort
        fields["reasoning_effort"] = told
    else:
        warnings.add("not_supported:reasoning_effort")
        return fields
    if told != effort:
        warnings.add("reasoning_effort_changed")
    return fields


def _claude_choice(request: ChatRequest, has_tools: bool) -> dict[str, object]:
    """Claude's own `tool_choice`, which says whether calls may be parallel: `toolConfig` has no member for that."""
    if request.parallel_tool_calls is not False or not has_tools:
        return {}
    choice = request.tool_choice
    if choice is not None and choice.mode == "none":
        return {}
    form: dict[str, object] = {"type": "auto" if choice is None or choice.mode == "auto" else "any"}
    if choice is not None and choice.named and choice.names:
        form = {"type": "tool", "name": choice.names[0]}
    return {"tool_choice": form | {"disable_parallel_tool_use": True}}


def _output_format(request: ChatRequest) -> bytes | None:
    """The schema of the answer, which the API takes as text."""
    shape = request.response_format
    if shape is None or shape.kind == "text":
        return None
    schema = {"schema": (shape.schema or b"{}").decode(), **({"name": shape.name} if shape.name else {})}
    return dump({"textFormat": {"type": "json_schema", "structure": {"jsonSchema": schema}}})
