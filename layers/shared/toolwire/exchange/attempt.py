"""One attempt at an answer: the client's request as one target is sent it, with that provider's ids and state of
earlier turns."""

from __future__ import annotations

from dataclasses import dataclass, field

from toolwire.conversation import NOTHING_FOUND, Found, restored
from toolwire.doors.typed_json import too_deep
from toolwire.exchange.prepare import ClientRequest
from toolwire.exchange.profile_lessons import Lesson, taught
from toolwire.model.errors import GatewayError
from toolwire.model.http import UpstreamRequest
from toolwire.model.request import ChatRequest
from toolwire.model.settings import Target
from toolwire.model.warnings import Warnings
from toolwire.providers import Provider, load_provider, profile_of
from toolwire.providers.decoder_context import DecoderContext
from toolwire.providers.profiles import Profile
from toolwire.rewrite.client_dialect import check_server_tools, without_server_tool_items
from toolwire.rewrite.deferred_tools import with_found_tools
from toolwire.rewrite.history import check_results, with_call_names, without_blank_texts, without_silent_turns
from toolwire.rewrite.output_limit import with_known_output
from toolwire.rewrite.prompt_cache import with_cache_marks
from toolwire.rewrite.property_names import Names, with_replaced_names
from toolwire.rewrite.refused_settings import without_refused_settings
from toolwire.rewrite.tool_names import wire_name
from toolwire.rewrite.unread_members import unread_members
from toolwire.rewrite.unseen_images import without_earlier_images
from toolwire.schema.dialects import SchemaDialect, replaced_names

#: A shorter credential is no secret but a placeholder ("ollama", "EMPTY"), which a host's message may well contain.
_SECRET_CHARS = 12


@dataclass(frozen=True, slots=True)
class Given:
    """The input of `prepare_again`. `mending` changes some of it to make another attempt."""

    client: ClientRequest
    target: Target
    credential: str | None = field(repr=False)
    #: What the store had of `conversation.wanted`.
    found: Found
    #: Whether the provider is sent its own state of earlier turns.
    with_state: bool = True
    #: What earlier refusals have shown of the host. Each lesson has changed the request.
    lessons: tuple[Lesson, ...] = ()
    #: Warnings for what was left out because the host refused it.
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Attempt:
    """A request that is ready to be sent, and its target. `warnings`: codes for what could not be carried as the client
    wrote it."""

    target: Target
    provider: Provider
    profile: Profile
    #: Whether the client speaks the provider's own API.
    same_dialect: bool
    #: Whether the client holds the provider's state as it is: see `Provider.shares_state`.
    shares_state: bool
    upstream_request: UpstreamRequest
    warnings: tuple[str, ...]
    #: Whether some of the provider's own state is in it.
    has_state: bool
    #: A tool's name, as the client wrote it -> the parameter names that the provider is sent -> the client's own, which
    #: the provider refuses.
    parameter_names: Names
    given: Given = field(repr=False)

    @property
    def tool_names(self) -> str:
        """The tool names that the target takes: see `Provider.tool_names`."""
        return self.provider.tool_names(self.target, self.profile)

    @property
    def sent_names(self) -> frozenset[str]:
        """The names of the request's tools, as the provider is sent them."""
        tools = (tool.name for tool in self.given.client.request.tools if tool.kind != "opaque")
        return frozenset(wire_name(name, self.tool_names) for name in tools)

    def signed(self, request: UpstreamRequest, now: float) -> UpstreamRequest:
        """The request with the provider's seal (`Provider.sign`). Its other headers must be complete. `now` is in
        seconds since 1970."""
        return self.provider.sign(request, self.given.credential, now)

    def decoder_context(self, warnings: Warnings) -> DecoderContext:
        """What the decoder of the answer knows of the request. It adds to `warnings`."""
        return DecoderContext(
            self.sent_names,
            warnings,
            self.profile.placeholders,
            self.profile.tagged_reasoning and not self.same_dialect,  # its own clients get the text as it came
        )

    def without_secret(self, error: GatewayError) -> GatewayError:
        """The error as a client may see it: without our credential, should the provider have quoted it."""
        credential = self.given.credential
        return error.without(credential) if credential and len(credential) >= _SECRET_CHARS else error


def prepare_attempt(
    client: ClientRequest, target: Target, credential: str | None, found: Found = NOTHING_FOUND
) -> Attempt:
    """The client's request as this target takes it. `found`: what the store had of `conversation.wanted`. Raises
    RequestError for what the provider cannot take."""
    return prepare_again(Given(client, target, credential, found))


def prepare_again(given: Given) -> Attempt:
    """The attempt that `given` makes. Raises RequestError for what the provider cannot take."""
    client, target, request = given.client, given.target, given.client.request
    provider, profile = load_provider(target.provider.wire), taught(profile_of(target), given.lessons)
    same_dialect = client.door.dialect in provider.lanes
    if not (same_dialect and provider.judges_results):
        check_results(request)
    warnings = Warnings(request.warnings)
    sent = request
    names: Names = {}
    if not same_dialect:
        check_server_tools(request, target)
        warnings.add(*unread_members(request))
        sent = with_call_names(request, warnings)
        sent = with_cache_marks(sent, provider.cache_form(target, profile), warnings)
        sent = with_found_tools(without_server_tool_items(sent, warnings))
        sent = without_refused_settings(sent, profile.refuses, warnings)
        names = _parameter_names(request, provider.schemas)
        wire_names = {tool: {own: wire for wire, own in known.items()} for tool, known in names.items()}
        sent = with_replaced_names(sent, wire_names)
    shares_state = provider.shares_state(client.door.dialect, target.known_as)
    turn = restored(sent, given.found, target, shares_state=shares_state, with_state=given.with_state)
    sent = without_silent_turns(turn.request, warnings, own=client.door.dialect if same_dialect else None)
    sent = _as_refusals_told(sent, profile, warnings)
    if not (same_dialect and profile.documented_ids):  # at the API's own host, its client decides
        sent = with_known_output(sent, profile.most_output, warnings)
    try:
        built, more = provider.build_request(sent, target, profile, given.credential)
    except RecursionError:
        raise too_deep() from None
    of_lessons = (lesson.warning for lesson in given.lessons if lesson.warning)
    return Attempt(
        target=target,
        provider=provider,
        profile=profile,
        same_dialect=same_dialect,
        shares_state=shares_state,
        upstream_request=built,
        warnings=(*warnings, *turn.warnings, *more, *of_lessons, *given.left_out),
        has_state=turn.has_state,
        parameter_names=names,
        given=given,
    )


def _as_refusals_told(request: ChatRequest, profile: Profile, warnings: Warnings) -> ChatRequest:
    """The request without what the host has refused in a history, also that of a client of its own API: nobody can take
    it out of a conversation again."""
    if not profile.tool_references:
        request = with_found_tools(request)
    if not profile.sees_images:
        request = without_earlier_images(request, warnings)
    if not profile.fetches_images:
        request = without_earlier_images(request, warnings, by_address=True)
    return request if profile.empty_content else without_blank_texts(request, warnings)


def _parameter_names(request: ChatRequest, schemas: SchemaDialect | None) -> Names:
    """See `Attempt.parameter_names`."""
    mode = request.options.schema_mode
    functions = (tool for tool in request.tools if tool.kind == "function")
    return {tool.name: names for tool in functions if (names := replaced_names(tool, schemas, mode))}
