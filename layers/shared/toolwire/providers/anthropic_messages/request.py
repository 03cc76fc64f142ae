"""Anthropic Messages as an upstream: Claude, and the hosts that speak its protocol."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from toolwire.model.errors import UpstreamError
from toolwire.model.http import Headers, UpstreamRequest, post_json
from toolwire.model.request import ChatRequest, RequestFields, ResponseFormat, ToolChoice
from toolwire.model.settings import Target
from toolwire.model.source import replace
from toolwire.model.warnings import Warnings
from toolwire.providers import Decoder, Provider
from toolwire.providers.address import key_headers, url_of
from toolwire.providers.anthropic_messages.answer import MessagesDecoder
from toolwire.providers.anthropic_messages.cloud import is_published, prediction
from toolwire.providers.anthropic_messages.errors import error_from_body
from toolwire.providers.anthropic_messages.messages import CONTENT, write_messages
from toolwire.providers.anthropic_messages.models import Family, family_at
from toolwire.providers.anthropic_messages.same_dialect_request import (
    check_thread,
    own_headers,
    own_members,
    with_own_instructions,
    with_signed_thinking,
    without_refused,
)
from toolwire.providers.anthropic_messages.thinking_and_sampling import Settings, settle, without_lost_thinking
from toolwire.providers.anthropic_messages.tools import SCHEMAS, with_bare_tools, with_tools, write_tool_choice
from toolwire.providers.decoder_context import DecoderContext
from toolwire.providers.profiles import Profile
from toolwire.providers.upstream_errors import retry_after_of
from toolwire.rewrite.answer_format import with_enforced_format, with_format_in_words
from toolwire.rewrite.client_dialect import check_fields
from toolwire.rewrite.custom_tools import bridged
from toolwire.rewrite.history import with_legal_ids, with_results, with_trimmed_end, with_user_last
from toolwire.rewrite.images_and_files import with_carried_content
from toolwire.rewrite.prompt_cache import ON_BLOCKS, CacheForm
from toolwire.rewrite.stop_sequences import with_stops
from toolwire.rewrite.tool_names import with_wire_names
from toolwire.wire.anthropic_messages import DIALECT
from toolwire.wire.json import dump, write_array, write_object

if TYPE_CHECKING:
    from toolwire.providers.sent_tools import SentTool
    from toolwire.providers.token_count import Count

#: Tool names the API accepts.
_TOOL_NAME = r"[A-Za-z0-9_-]{1,128}"
#: The call ids that the API accepts, and the length of an id that replaces another.
_CALL_ID = r"[A-Za-z0-9_-]{1,64}"
_CALL_ID_LENGTH = 40


#: Members that other hosts of the API do not know (Bedrock, Vertex AI, Foundry, Fireworks, proxies; Claude Code sends
#: them): see `Provider.newer_members`.
_NEWER = (
    "allowed_callers", "cache_control", "context_management", "defer_loading", "diagnostics", "eager_input_streaming",
    "fallbacks", "input_examples", "metadata", "output_config", "service_tier", "speed", "strict",
)  # fmt: skip


class AnthropicMessages(Provider):
    """See `providers.Provider`."""

    dialect = DIALECT
    tool_name = _TOOL_NAME
    schemas = SCHEMAS
    lanes = frozenset({DIALECT})
    judges_results = True
    may_write_calls_as_text = True
    any_model = "claude"
    shown_headers = ("anthropic-ratelimit-",)

    def build_request(
        self,
        request: ChatRequest,
        target: Target,
        profile: Profile,
        credential: str | None,
    ) -> tuple[UpstreamRequest, Warnings]:
        family, told = self.family(target), Warnings()
        names = self.tool_names(target, profile)
        fields = request.fields_in(DIALECT)
        family = family if profile.system_messages else replace(family, system_messages=False)
        if fields is not None:
            request = request if profile.system_messages else with_own_instructions(request)
            if profile.schemas == "bare" and self.refuses_betas(target):
                request = with_bare_tools(request, target, told)
            if profile.user_last and self.refuses_betas(target):
                request = with_user_last(request, told)
            members, own, warnings = _same_api(request, fields, target, family, profile, names)
        else:
            members, own, warnings = _translated(request, target, family, profile, names)
        warnings.add(*told)
        return self.posted(target, members, own, credential, warnings, stream=request.stream), warnings

    def family(self, target: Target) -> Family:
        """The model's family, as this host serves it."""
        return family_at(target.known_as, target.provider.base_url)

    def posted(
        self,
        target: Target,
        members: Iterable[tuple[str, bytes]],
        own: Headers,
        credential: str | None,
        warnings: Warnings,
        *,
        stream: bool,
    ) -> UpstreamRequest:
        """The HTTP request with these members of the body and these headers of the API. A cloud that serves the API in
        its own frame overrides this."""
        key = key_headers(target.provider, credential, "x-api-key")
        if is_published(target):
            return prediction(target, members, own, key, warnings, stream=stream)
        url = url_of(target, "/v1/messages")
        return post_json(url, write_object(members), stream=stream, headers=(*own, *key))

    def cache_form(self, target: Target, profile: Profile) -> CacheForm:  # noqa: ARG002
        return ON_BLOCKS

    def refuses_betas(self, target: Target) -> bool:
        """True for hosts other than Anthropic's own, which leaves an unknown beta to the client."""
        return not (urlsplit(target.provider.base_url).hostname or "").endswith("anthropic.com")

    def newer_members(self, target: Target) -> tuple[str, ...]:
        return _NEWER if self.refuses_betas(target) else ()

    def decoder(self, context: DecoderContext) -> Decoder:
        return MessagesDecoder(context)

    def sent_tools(self, body: bytes) -> list[SentTool]:
        from toolwire.providers.sent_tools import entries, member, sent_tool  # for few requests

        return [sent_tool(tool, None, "input_schema") for tool in entries(member(body, "tools"))]

    def parse_error(self, status: int, headers: dict[str, str], body: bytes) -> UpstreamError:
        return error_from_body(body, status, retry_after_of(headers))

    def count_request(self, request: UpstreamRequest) -> Count | None:
        from toolwire.providers.anthropic_messages.token_count import (
            count_request,  # for few requests: not at a cold start
        )

        return count_request(request)


PROVIDER = AnthropicMessages()


def _same_api(
    request: ChatRequest, fields: RequestFields, target: Target, family: Family, profile: Profile, names: str
) -> tuple[Iterator[tuple[str, bytes]], Headers, Warnings]:
    """Members of the body, headers, and warnings for a client of this API. The members add to the warnings. Raises
    RequestError for a thread that the host lacks."""
    check_thread(fields, target)
    warnings = Warnings()
    named = with_wire_names(request, names)
    request = with_signed_thinking(named, family)
    if request is not named:
        warnings.add("state_left_out")
    request = with_legal_ids(with_results(request, warnings), _CALL_ID, _CALL_ID_LENGTH)
    members = own_members(request, fields, target.model, family, warnings)
    if profile.thinking_required and PROVIDER.refuses_betas(target):  # at its own host, the client decides
        members = without_lost_thinking(request, members, warnings)
    if profile.refuses:
        members = without_refused(members, profile.refuses, warnings)
    return members, own_headers(request, fields), warnings


def _translated(
    request: ChatRequest, target: Target, family: Family, profile: Profile, names: str
) -> tuple[Iterator[tuple[str, bytes]], Headers, Warnings]:
    """Members of the body, headers, and warnings for a client of any other API. The members add to the warnings."""
    warnings = check_fields(request, target)
    request = with_stops(request, warnings, takes=str.strip)
    if not family.structured_output or request.response_format == ResponseFormat("json_object"):
        request = with_format_in_words(request, warnings)
    else:
        request = with_enforced_format(request, warnings)
    request = with_carried_content(bridged(request, warnings), CONTENT, target.provider.name, warnings)
    request, tools = with_tools(with_wire_names(request, names), target, family, profile, warnings)
    settings = settle(request, family)
    if settings.frees_choice:
        request = replace(request, tool_choice=ToolChoice("auto"))
    request = with_results(request, warnings)
    if settings.thinks or not family.prefill or profile.user_last:
        request = with_user_last(request, warnings)
    else:
        request = with_trimmed_end(request, warnings)
    request = with_legal_ids(request, _CALL_ID, _CALL_ID_LENGTH)
    members = _members(request, target, family, settings, tools, warnings)
    if profile.thinking_required:
        members = without_lost_thinking(request, members, warnings)
    return members, (("anthropic-version", settings.version),), warnings


# ---------------------------------------------------------------- the body


def _members(
    request: ChatRequest, target: Target, family: Family, settings: Settings, tools: list[bytes], warnings: Warnings
) -> Iterator[tuple[str, bytes]]:
    history = write_messages(request, family)
    warnings.add(*history.warnings)
    yield "model", dump(target.model)
    yield "max_tokens", dump(settings.max_tokens)
    if history.system is not None:
        yield "system", history.system
    if tools:
        yield "tools", write_array(tools)
    if (choice := write_tool_choice(request)) is not None:
        yield "tool_choice", choice
    yield "messages", history.messages
    if settings.thinking is not None:
        yield "thinking", dump(settings.thinking)
    output = [("effort", dump(settings.effort))] if settings.effort is not None else []
    if (shape := _answer_format(request)) is not None:
        output.append(("format", shape))
    if output:
        yield "output_config", write_object(output)
    if request.sampling.stop:
        yield "stop_sequences", dump(request.sampling.stop)
    for name, value in settings.sampling.items():
        yield name, dump(value)
    if request.stream:
        yield "stream", b"true"
    warnings.add(*settings.warnings)


def _answer_format(request: ChatRequest) -> bytes | None:
    """The schema of the answer."""
    shape = request.response_format
    if shape is None or shape.kind == "text":
        return None
    return write_object([("type", b'"json_schema"'), ("schema", shape.schema or b"{}")])
