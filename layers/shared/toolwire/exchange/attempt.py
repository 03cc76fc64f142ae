"""One attempt to have a request answered: the request to one target, with what the provider gave in earlier turns."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from toolwire.conversation import NOTHING_FOUND, Found, restored
from toolwire.doors.typed_json import too_deep
from toolwire.exchange.prepare import ClientRequest
from toolwire.exchange.profile_lessons import REASONING_WANTED, Lesson, is_about_members, lessons, taught
from toolwire.model.errors import GatewayError
from toolwire.model.http import UpstreamRequest
from toolwire.model.request import ChatRequest
from toolwire.model.settings import Target
from toolwire.model.source import replace
from toolwire.model.warnings import Warnings
from toolwire.providers import Provider, load_provider, profile_of
from toolwire.providers.decoder_context import DecoderContext
from toolwire.providers.profiles import Profile
from toolwire.rewrite.client_dialect import check_server_tools, without_server_tool_items
from toolwire.rewrite.deferred_tools import with_found_tools
from toolwire.rewrite.history import check_results, with_call_names, without_silent_turns
from toolwire.rewrite.prompt_cache import with_cache_marks
from toolwire.rewrite.property_names import Names, with_replaced_names
from toolwire.rewrite.tool_names import wire_name
from toolwire.rewrite.unread_members import unread_members
from toolwire.schema.dialects import SchemaDialect, replaced_names

#: What is shorter is no secret but a word ("ollama", "EMPTY") that a host's message may well contain.
_SECRET_CHARS = 12

#: What a refusal says that is about the state in a history.
_ABOUT_STATE = re.compile(r"signature|thinking|thought|reasoning|encrypted", re.IGNORECASE)

#: What a refusal says that misses the reasoning of earlier turns (Moonshot, and hosts of its models).
_WANTS_REASONING = re.compile(
    r"reasoning[_ ]content\b.*\b(missing|required|must|lacks?)\b|\b(missing|must|requires?)\b.*reasoning[_ ]content",
    re.IGNORECASE,
)


#: The statuses of refusals that can be mended: 500 where a template refuses a history, 404 where an aggregator has no
#: host that reads images.
_REFUSED = (400, 404, 422, 500)

#: What a refusal says that is about the names of betas in a header.
_ABOUT_BETAS = re.compile(r"\bbeta`? (flag|header)", re.IGNORECASE)

#: How the names of headers end that name betas.
_BETAS = "-beta"


@dataclass(frozen=True, slots=True)
class Attempt:
    """A request that is ready to be sent. `warnings`: what could not be carried as it was."""

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
    #: Tool, as the client calls it -> the provider's names for parameters whose own it refuses -> these.
    parameter_names: Names
    #: What the host's refusals have told, each of which has changed the request.
    lessons: tuple[Lesson, ...]
    _client: ClientRequest = field(repr=False)
    _credential: str | None = field(repr=False)
    _found: Found = field(repr=False)
    _with_state: bool = field(repr=False)

    def signed(self, request: UpstreamRequest, now: float) -> UpstreamRequest:
        """A request to this provider as it is sent, its last header set: see `Provider.sign`. `now` is in seconds since
        1970."""
        return self.provider.sign(request, self._credential, now)

    def mended(self, status: int | None, refusal: GatewayError) -> Mended | None:
        """What to send in place of a request that was refused with this status for what the gateway, or the client's
        headers, have put into it; None for any other refusal. Raises RequestError."""
        if status not in _REFUSED:
            return None
        for lesson in lessons(refusal, self.profile, same_dialect=self.same_dialect):
            if (attempt := self.taught(lesson)) is not self:
                return Mended(attempt)
        if status != 400:
            return None
        if not is_about_members(refusal) and self._lacks_reasoning(refusal):
            return Mended(self._again(REASONING_WANTED))
        if self.has_state and _ABOUT_STATE.search(refusal.message):
            return Mended(self._again(with_state=False), "state_refused")
        if self._refuses_betas(refusal):
            return Mended(self._without_betas(), "betas_refused")
        return None

    def taught(self, lesson: Lesson) -> Attempt:
        """The attempt with what a refusal has told of the host; itself where that does not change the request. Raises
        RequestError."""
        again = self._again(lesson)
        return self if again.upstream_request.body == self.upstream_request.body else again

    def _lacks_reasoning(self, refusal: GatewayError) -> bool:
        """Whether the provider wants the reasoning of earlier turns, which it was not sent, or sent empty."""
        profile = self.profile
        was_sent = profile.reasoning_back is None or (profile.reasoning_required and profile.lost_reasoning)
        return _WANTS_REASONING.search(refusal.message) is not None and not was_sent

    def _refuses_betas(self, refusal: GatewayError) -> bool:
        """Whether the provider has refused a beta that the client named."""
        named = any(name.endswith(_BETAS) for name, _ in self._client.request.headers)
        about = _ABOUT_BETAS.search(refusal.message) is not None
        return about and named and self.same_dialect and self.provider.refuses_betas(self.target)

    def _without_betas(self) -> Attempt:
        request = self._client.request
        headers = tuple((name, value) for name, value in request.headers if not name.endswith(_BETAS))
        return replace(self, _client=replace(self._client, request=replace(request, headers=headers)))._again()

    def _again(self, *more: Lesson, with_state: bool = True) -> Attempt:
        """The request once more, with what refusals have told of the host."""
        return prepare_attempt(
            self._client,
            self.target,
            self._credential,
            self._found,
            with_state=with_state and self._with_state,
            lessons=(*self.lessons, *more),
        )

    def decoder_context(self, warn: Callable[[str], None]) -> DecoderContext:
        """What the decoder of the answer knows of the request. `warn` takes the codes of its warnings."""
        tools = (tool.name for tool in self._client.request.tools if tool.kind != "opaque")
        return DecoderContext(
            frozenset(wire_name(name, self.provider.tool_name) for name in tools), warn, self.profile.placeholders
        )

    def without_secret(self, error: GatewayError) -> GatewayError:
        """The error as a client may see it, should the provider have repeated our credential."""
        if self._credential and len(self._credential) >= _SECRET_CHARS:
            return error.without(self._credential)
        return error


class Mended(NamedTuple):
    """An attempt in place of one that was refused, and the warning that says what was changed; "" where its own do."""

    attempt: Attempt
    warning: str = ""


def prepare_attempt(
    client: ClientRequest,
    target: Target,
    credential: str | None,
    found: Found = NOTHING_FOUND,
    *,
    with_state: bool = True,
    lessons: tuple[Lesson, ...] = (),
) -> Attempt:
    """The client's request as this target takes it. `found`: what the store had of `conversation.wanted`. `lessons`:
    what the host's refusals have told. Raises RequestError for what the provider cannot take."""
    request = client.request
    provider, profile = load_provider(target.provider.wire), taught(profile_of(target), lessons)
    same_dialect = client.door.dialect in provider.lanes
    if not (same_dialect and provider.judges_results):
        check_results(request)
    warnings = Warnings(request.notes)
    given = request
    names: Names = {}
    if not same_dialect:
        check_server_tools(request, target)
        warnings.add(*unread_members(request))
        given = with_call_names(request, warnings)
        given = with_cache_marks(given, provider.cache_form(target, profile), warnings)
        given = with_found_tools(without_server_tool_items(given, warnings))
        names = _parameter_names(request, provider.schemas)
        wire_names = {tool: {own: wire for wire, own in known.items()} for tool, known in names.items()}
        given = with_replaced_names(given, wire_names)
    shares_state = provider.shares_state(client.door.dialect, target.known_as)
    turn = restored(given, found, target, shares_state=shares_state, with_state=with_state)
    sent = without_silent_turns(turn.request, warnings, own=client.door.dialect if same_dialect else None)
    try:
        built, more = provider.build_request(sent, target, profile, credential)
    except RecursionError:
        raise too_deep() from None
    return Attempt(
        target=target,
        provider=provider,
        profile=profile,
        same_dialect=same_dialect,
        shares_state=shares_state,
        upstream_request=built,
        warnings=(*warnings, *turn.warnings, *more, *(lesson.warning for lesson in lessons if lesson.warning)),
        has_state=turn.has_state,
        parameter_names=names,
        lessons=lessons,
        _client=client,
        _credential=credential,
        _found=found,
        _with_state=with_state,
    )


def _parameter_names(request: ChatRequest, schemas: SchemaDialect | None) -> Names:
    """See `Attempt.parameter_names`."""
    mode = request.options.schema_mode
    functions = (tool for tool in request.tools if tool.kind == "function")
    return {tool.name: names for tool in functions if (names := replaced_names(tool, schemas, mode))}
