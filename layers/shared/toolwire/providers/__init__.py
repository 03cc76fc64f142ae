"""The providers: the upstream protocols (wires), a folder each. A provider never imports a door.

How to add a wire:

1. `wire/<name>.py`: the typed shapes of the protocol, and `DIALECT`, its name.
2. `providers/<name>/`: `request.py` with a class that extends `Provider` and its object `PROVIDER`; beside it, with
   these names in every folder, `messages.py` (the history), `tools.py`, `answer.py` (the decoder), `errors.py`, and
   `models.py` if its model families differ. Its `__init__.py` says what is in it.
3. Its row in `WIRES`.

Nothing else in the gateway changes: the configuration takes the wire's name, and every door can use it at once.
Whatever else a wire needs is a member of `Provider` with a default: `framing`, if answers are no Server-Sent Events;
`sign`, if the credential depends on the whole request; `schemas`, if it does not take every tool's parameters; `lanes`,
if a door speaks it too; `cache_form`, if requests can mark a prefix for the prompt cache; `count_request`, if its hosts
count tokens; `compaction_request`, if they shorten histories.

A host that speaks a wire we have needs no code: a row in `hosts.py`, and one in `profiles.py` if it deviates.

What several wires share:

    hosts                   the hosts that work without any configuration
    profiles                how hosts and families of models deviate from their API
    wire_choice             chooses a model's wire, at providers with several
    address                 a request's URL, and the header with the credential
    refused_members         members of a request that a host of OpenAI's APIs has refused
    openai_models           what differs between models behind OpenAI's wires
    openai_tools            tools and `tool_choice` on OpenAI's wires
    openai_cache            marks for the prompt cache on OpenAI's wires
    reasoning_efforts       the effort of reasoning on OpenAI's wires
    reasoning_words         the same at hosts of the Chat wire with other members or words for it
    known_sampling          leaves out settings that reasoning models refuse
    user_and_model_turns    a history as turns that alternate
    decoder_context         what a decoder knows of the request
    alike_frames            decodes frames that differ from an earlier one in one string
    finish_words            the words of all hosts for why a turn ended
    upstream_errors         a refusal as one of our errors
    token_count             the tokens of a request, counted or estimated
    sent_tools              reads the tools of a built request back
"""

from __future__ import annotations

import re
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

from toolwire.framing import Frame, Framing
from toolwire.framing.sse import sse_framing
from toolwire.model.errors import UpstreamError
from toolwire.model.events import Batch
from toolwire.model.http import UpstreamRequest
from toolwire.model.request import ChatRequest
from toolwire.model.settings import Target
from toolwire.model.warnings import Warnings
from toolwire.providers.decoder_context import DecoderContext
from toolwire.providers.profiles import PROFILES, Profile, with_makers_rules

if TYPE_CHECKING:
    from toolwire.providers.sent_tools import SentTool
    from toolwire.providers.token_count import Count
    from toolwire.rewrite.prompt_cache import CacheForm
    from toolwire.schema.dialects import SchemaDialect


class Decoder(Protocol):
    """Decodes the frames of one answer to events. Every method raises UpstreamError for a failure that the provider
    reports or causes."""

    def decode(self, frame: Frame) -> Batch: ...

    def decode_json(self, body: bytes) -> Batch: ...

    def end(self) -> Batch:
        """The body is over. Raises UpstreamTruncated if the answer broke off."""


class Provider(Protocol):
    """One wire. A class that extends this inherits the defaults and must define the rest."""

    dialect: str
    #: The tool names that its API takes, as a regular expression; see `tool_names`.
    tool_name: str
    #: The rules for a tool's parameters; None: it takes every schema as it is.
    schemas: SchemaDialect | None = None
    #: The dialects that it speaks itself: clients of these doors keep their own bytes, in requests, answers and call
    #: ids.
    lanes: frozenset[str] = frozenset()
    #: Whether, in a lane, results without a call are left to the host. It knows more than the history (compacted turns,
    #: stored items), and its clients mend a history by its errors.
    judges_results: bool = False
    #: Whether hosts of this wire serve models that write calls as text: see `Profile.recovers_text_calls`.
    may_write_calls_as_text: bool = False
    #: The prefixes of the response headers that a client of the same API is shown.
    shown_headers: tuple[str, ...] = ()
    #: The name of an ordinary model, for checks of tools that name no model.
    any_model: str = "any"

    def build_request(
        self, request: ChatRequest, target: Target, profile: Profile, credential: str | None
    ) -> tuple[UpstreamRequest, Warnings]:
        """Builds the HTTP request. Returns it with the warnings about what could not be carried as the client wrote it.
        Raises RequestError for what this provider cannot take."""

    def tool_names(self, target: Target, profile: Profile) -> str:  # noqa: ARG002
        """The tool names that this target takes, as a regular expression; others are mapped and restored."""
        return profile.tool_name or self.tool_name

    def sign(self, request: UpstreamRequest, credential: str | None, now: float) -> UpstreamRequest:  # noqa: ARG002
        """Seals the complete request: nothing in it changes after this. `now` is in seconds since 1970. The default
        changes nothing, for wires whose credential is a header."""
        return request

    def framing(self, content_type: str, start: bytes, *, asked: bool) -> Framing | None:
        """The framing of an answer; None for one document. `content_type` is in lower case. `start` is the beginning of
        the body: first it is empty, and after a None the method is called again with the first bytes. `asked`: whether
        the request asked for a stream. The default knows Server-Sent Events."""
        return sse_framing(content_type, start, asked=asked)

    def decoder(self, context: DecoderContext) -> Decoder:
        """The decoder of one answer. `context`: what it knows of the request."""

    def parse_error(self, status: int, headers: dict[str, str], body: bytes) -> UpstreamError:
        """The error for an answer with an error status."""

    def shares_state(self, dialect: str, model: str) -> bool:  # noqa: ARG002
        """Whether clients that speak `dialect` see the signatures of this model unchanged, and send them back so. Other
        clients see them with a mark of their origin. The default: only clients in a lane."""
        return dialect in self.lanes

    def cache_form(self, target: Target, profile: Profile) -> CacheForm | None:  # noqa: ARG002
        """The form in which a request marks the end of a prefix for the model's prompt cache; None if it cannot."""
        return None

    def refuses_betas(self, target: Target) -> bool:  # noqa: ARG002
        """Whether the host refuses a request for an unknown beta. The request is then sent once more without any
        betas."""
        return False

    def newer_members(self, target: Target) -> tuple[str, ...]:  # noqa: ARG002
        """The members of its API, and of its tools, that the host may not know, and without which a request means the
        same or is only served worse. A request that is refused for one is sent once more without it."""
        return ()

    def sent_tools(self, body: bytes) -> list[SentTool]:
        """Reads the tools back from a body of `build_request`."""

    def count_request(self, request: UpstreamRequest) -> Count | None:  # noqa: ARG002
        """The request that asks the host for the number of tokens of `request`, which was built for a whole answer;
        None if the host does not count."""
        return None

    def compaction_request(self, request: UpstreamRequest) -> UpstreamRequest | None:  # noqa: ARG002
        """The request that asks the host for a shorter history in place of an answer to `request`; None if the host
        makes none."""
        return None


#: wire -> module with a `PROVIDER`.
WIRES = {
    "openai_chat": "toolwire.providers.openai_chat.request",
    "openai_responses": "toolwire.providers.openai_responses.request",
    "anthropic_messages": "toolwire.providers.anthropic_messages.request",
    "bedrock_converse": "toolwire.providers.bedrock_converse.request",
    "bedrock_messages": "toolwire.providers.bedrock_messages.request",
    "gemini": "toolwire.providers.gemini.request",
}


def load_provider(wire: str) -> Provider:
    """The provider of a key of `WIRES`."""
    provider: Any = import_module(WIRES[wire]).PROVIDER
    return provider  # type: ignore[no-any-return]


def profile_of(target: Target) -> Profile:
    """The profile of a configured provider. If the provider names none, it is the profile of the known host at its
    address, else `compatible`. At hosts that serve other makers' models, the rules of the model's maker are added."""
    name = target.provider.profile or _profile_at(target.provider.base_url)
    return with_makers_rules(PROFILES[name], target.known_as)


@lru_cache(maxsize=64)
def _profile_at(base_url: str) -> str:
    from toolwire.providers.hosts import HOSTS, OTHER_ADDRESSES

    address = base_url.rstrip("/").replace("//localhost", "//127.0.0.1")
    others = (profile for pattern, profile in OTHER_ADDRESSES if re.fullmatch(pattern, address))
    known = (host.profile for host in HOSTS if host.profile and address.startswith(host.base_url))
    return next(others, None) or next(known, "compatible")
