"""The Gemini wire: generateContent and streamGenerateContent, on Google's Gemini API and on Vertex AI.

The two hosts speak the same and differ in address and credential. What differs between models is in
`models.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import quote

from toolwire.model.errors import RequestError, UpstreamError
from toolwire.model.http import UpstreamRequest, post_json
from toolwire.model.request import ChatRequest, RequestFields, Sampling
from toolwire.model.settings import Target
from toolwire.model.source import replace
from toolwire.model.warnings import Warnings
from toolwire.providers import Decoder, Provider
from toolwire.providers.address import key_headers, url_of
from toolwire.providers.decoder_context import DecoderContext
from toolwire.providers.gemini.answer import GeminiDecoder
from toolwire.providers.gemini.errors import error_from_body
from toolwire.providers.gemini.messages import HistoryWriter, content_rules
from toolwire.providers.gemini.models import Family, family_of, thinking
from toolwire.providers.gemini.same_dialect_request import (
    has_own_history,
    joined,
    own_members,
    with_own_ids,
)
from toolwire.providers.gemini.tools import SCHEMAS, calling_config, write_declarations
from toolwire.providers.profiles import Profile
from toolwire.providers.upstream_errors import retry_after_of
from toolwire.rewrite.answer_format import with_format_in_words
from toolwire.rewrite.client_dialect import check_fields
from toolwire.rewrite.custom_tools import bridged
from toolwire.rewrite.history import with_legal_ids, with_results, with_user_last
from toolwire.rewrite.images_and_files import with_carried_content
from toolwire.rewrite.stop_sequences import with_stops
from toolwire.rewrite.tool_names import with_wire_names
from toolwire.wire.gemini import DIALECT
from toolwire.wire.json import dump, write_array, write_object

if TYPE_CHECKING:
    from toolwire.providers.sent_tools import SentTool
    from toolwire.providers.token_count import Count

#: Google's own rule allows 128 characters today; models that are still served allow 64.
_TOOL_NAME = r"[A-Za-z_][A-Za-z0-9_.:-]{0,63}"

#: Stop sequences in one request.
_MOST_STOPS = 5
#: `seed` is a 32-bit number.
_SEEDS = range(-(1 << 31), 1 << 31)

#: Prefixes of a model's name that are its collection in the path. A name without one is in `models/`.
_COLLECTIONS = ("models/", "tunedModels/")


class Gemini(Provider):
    """See `providers.Provider`."""

    dialect = DIALECT
    tool_name = _TOOL_NAME
    schemas = SCHEMAS
    lanes = frozenset({DIALECT})
    judges_results = True
    any_model = "gemini"

    def build_request(
        self,
        request: ChatRequest,
        target: Target,
        profile: Profile,
        credential: str | None,
    ) -> tuple[UpstreamRequest, Warnings]:
        family = family_of(target.known_as)
        fields = request.fields_in(DIALECT)
        if fields is not None:
            members, warnings = _same_api(request, fields, target, family)
        else:
            members, warnings = _translated(request, target, family, profile, self.tool_names(target, profile))
        body = write_object(members)
        key = key_headers(target.provider, credential, "x-goog-api-key")
        url = _url(target, request.stream)
        return post_json(url, body, stream=request.stream, headers=key), warnings

    def decoder(self, context: DecoderContext) -> Decoder:
        return GeminiDecoder(context)

    def sent_tools(self, body: bytes) -> list[SentTool]:
        from toolwire.providers.sent_tools import entries, member, sent_tool  # for few requests

        config = member(member(body, "toolConfig"), "functionCallingConfig")
        forced = bytes(member(config, "mode") or b"") in (b'"VALIDATED"', b'"ANY"')
        sets = [entries(member(entry, "functionDeclarations")) for entry in entries(member(body, "tools"))]
        return [sent_tool(tool, None, "parametersJsonSchema", is_forced=forced) for tools in sets for tool in tools]

    def parse_error(self, status: int, headers: dict[str, str], body: bytes) -> UpstreamError:
        return error_from_body(body, status, retry_after_of(headers))

    def count_request(self, request: UpstreamRequest) -> Count:
        from toolwire.providers.gemini.token_count import count_request  # for few requests: not at a cold start

        return count_request(request)


PROVIDER = Gemini()


def _url(target: Target, stream: bool) -> str:
    """The URL. The model's name comes from the client, so it is quoted as one segment of the path."""
    collection = next((name for name in _COLLECTIONS if target.model.startswith(name)), "models/")
    name = quote(target.model.removeprefix(collection), safe="")
    method, query = ("streamGenerateContent", "alt=sse") if stream else ("generateContent", "")
    return url_of(target, f"/{collection}{name}:{method}", query)


# ---------------------------------------------------------------- the body


def _same_api(
    request: ChatRequest, fields: RequestFields, target: Target, family: Family
) -> tuple[list[tuple[str, bytes]], Warnings]:
    """The members for a client of this API, and warnings."""
    warnings = Warnings()
    if has_own_history(request, fields):
        return list(own_members(request, fields, joined(request, fields))), warnings
    writable = _with_writable_content(with_own_ids(request), target, family, warnings)
    writer = HistoryWriter(_paired(writable, warnings), family)
    members = list(own_members(request, fields, dict(writer.members())))
    warnings.add(*writer.warnings)
    return members, warnings


def _translated(
    request: ChatRequest, target: Target, family: Family, profile: Profile, names: str
) -> tuple[list[tuple[str, bytes]], Warnings]:
    """The members for a client of another API, and warnings. Raises RequestError for what cannot be carried."""
    warnings = check_fields(request, target)
    request = with_stops(request, warnings, most=_MOST_STOPS)
    if (request.tools and not family.json_with_tools) or not profile.json_schema:
        request = with_format_in_words(request, warnings)
    request = with_wire_names(_with_writable_content(request, target, family, warnings), names)
    request = _paired(request, warnings)
    if not family.prefill or profile.user_last:
        request = with_user_last(request, warnings)
    return list(_members(request, target, family, profile, warnings)), warnings


def _with_writable_content(request: ChatRequest, target: Target, family: Family, warnings: Warnings) -> ChatRequest:
    """The request with tools and content of kinds that `HistoryWriter` can write."""
    return with_carried_content(bridged(request, warnings), content_rules(family), target.provider.name, warnings)


def _paired(request: ChatRequest, warnings: Warnings) -> ChatRequest:
    """The request with a result for each call, and each id used once. Ids are not sent; `HistoryWriter` matches results
    by them."""
    return with_legal_ids(with_results(request, warnings), r"(?s).+", 40)


def _members(
    request: ChatRequest, target: Target, family: Family, profile: Profile, warnings: Warnings
) -> Iterator[tuple[str, bytes]]:
    """The request's members. Those that change least come first, for the prompt cache."""
    writer = HistoryWriter(request, family)
    yield from writer.members()
    warnings.add(*writer.warnings)
    declarations, is_strict = write_declarations(request, target, profile, warnings)
    if declarations:
        yield "tools", write_array([write_object([("functionDeclarations", write_array(declarations))])])
        config = calling_config(request.tool_choice, is_strict)
        if config is not None:
            yield "toolConfig", dump({"functionCallingConfig": config})
        if request.parallel_tool_calls is False:
            warnings.add("not_supported:parallel_tool_calls")
    elif request.tool_choice is not None and request.tool_choice.mode == "required":
        raise RequestError(
            f"`tool_choice` asks for a call, but none of `tools` can be sent to {target.provider.name}: "
            "declare a function",
            param="tools",
            code="unsupported_tool",
        )
    settings = list(_generation(request, family, warnings))
    if settings:
        yield "generationConfig", write_object(settings)


_PENALTIES = ("frequency_penalty", "presence_penalty")


def _generation(request: ChatRequest, family: Family, warnings: Warnings) -> Iterator[tuple[str, bytes]]:
    if request.max_tokens is not None:
        yield "maxOutputTokens", dump(request.max_tokens)
    yield from _sampling(request.sampling, family, warnings)
    shape = request.response_format
    if shape is not None and shape.kind != "text":
        yield "responseMimeType", b'"application/json"'
        if shape.schema is not None:
            yield "responseJsonSchema", shape.schema
    if request.reasoning_effort is not None:
        config, exact = thinking(family, request.reasoning_effort)
        if not exact:
            warnings.add("not_supported:reasoning_effort")
        if config is not None:
            yield "thinkingConfig", dump(config)


def _sampling(sampling: Sampling, family: Family, warnings: Warnings) -> Iterator[tuple[str, bytes]]:
    if not family.penalties:
        given = {name: getattr(sampling, name) for name in _PENALTIES}
        warnings.add(*(f"not_supported:{name}" for name, value in given.items() if value))
        sampling = replace(sampling, **dict.fromkeys(_PENALTIES))
    seed = sampling.seed
    if seed is not None and seed not in _SEEDS:
        warnings.add("not_supported:seed")
        seed = None
    for name, value in (
        ("temperature", sampling.temperature),
        ("topP", sampling.top_p),
        ("topK", sampling.top_k),
        ("stopSequences", sampling.stop or None),
        ("seed", seed),
        ("presencePenalty", sampling.presence_penalty),
        ("frequencyPenalty", sampling.frequency_penalty),
    ):
        if value is not None:
            yield name, dump(value)
