"""The providers: the upstream protocols (wires), a folder each. A provider never imports a door.

How to add a wire:

1. `wire/<name>.py`: the typed shapes of the protocol, and `DIALECT`, its name.
2. `providers/<name>/`: `request.py` with a class that extends `Provider` and its object `PROVIDER`; beside it, with
   these names in every folder, `messages.py` (the history), `tools.py`, `answer.py` (the decoder), `errors.py`, and
   `models.py` if its model families differ. Its `__init__.py` says what is in it.
3. Its row in `WIRES`.

Nothing else in the gateway changes: the configuration takes the wire's name, and every door can use it at once. What a
wire needs beside that is behind `Provider`, as members with a default: `framing`, if answers are no Server-Sent Events;
`sign`, if the credential depends on the whole request; `schemas`, if it does not take every tool's parameters; `lanes`,
if a door speaks it, too; `cache_form`, if it can be told what to keep in a prompt cache; `count_request`, if its hosts
count tokens; `compaction_request`, if they shorten histories.

A host that speaks a wire we have is no code at all: a row in `hosts.py`, and one in `profiles.py` if it deviates.

What several wires share:

    hosts                   the hosts that work without any configuration
    profiles                what a host or a family of models does otherwise
    wire_choice             which of a provider's wires a model is reached by
    address                 a request's URL, and the header with the credential
    openai_models           what differs between models behind OpenAI's wires
    openai_tools            tools and `tool_choice` on OpenAI's wires
    openai_cache            marks for the prompt cache on OpenAI's wires
    reasoning_efforts       the effort of reasoning on OpenAI's wires
    reasoning_words         how a host of the Chat wire is told it, where that is by other members or words
    known_sampling          leaves out settings that reasoning models refuse
    user_and_model_turns    a history as turns that alternate
    decoder_context         what a decoder knows of the request
    alike_frames            decodes frames that differ from an earlier one in one string
    finish_words            why a turn ended, in any host's words
    upstream_errors         a refusal as one of our errors
    token_count             the tokens of a request, counted or estimated
    sent_tools              the tools of a request that was built, read back
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
    """One answer's frames to events. Every method raises UpstreamError for what the provider reports or breaks."""

    def decode(self, frame: Frame) -> Batch: ...

    def decode_json(self, body: bytes) -> Batch: ...

    def end(self) -> Batch:
        """The body is over. Raises UpstreamTruncated if the answer broke off."""


class Provider(Protocol):
    """One wire. A class that extends this inherits the defaults and must define the rest."""

    dialect: str
    #: The tool names that its API takes, as a regular expression; see `tool_names`.
    tool_name: str
    #: What it takes as a tool's parameters; None: everything as it is.
    schemas: SchemaDialect | None = None
    #: The dialects of the doors whose clients' own bytes may pass: their requests, their answers and their call ids.
    lanes: frozenset[str] = frozenset()
    #: Whether, in a lane, the host decides itself about results without a call: it knows more than the history says
    #: (compacted turns, what is stored there), and its clients mend a history by its words.
    judges_results: bool = False
    #: Whether hosts of this wire serve models that write calls as text: see `Profile.recovers_text_calls`.
    may_write_calls_as_text: bool = False
    #: How the headers of its answers begin that a client of the same API is shown.
    shown_headers: tuple[str, ...] = ()
    #: A model that stands for any of the wire's, where only a model's name tells what it takes.
    any_model: str = "any"

    def build_request(
        self, request: ChatRequest, target: Target, profile: Profile, credential: str | None
    ) -> tuple[UpstreamRequest, Warnings]:
        """The HTTP request, and the codes of warnings about what could not be carried as it was. Raises RequestError
        for what this provider cannot take."""

    def tool_names(self, target: Target, profile: Profile) -> str:  # noqa: ARG002
        """The tool names that this target takes, as a regular expression; others are mapped and restored."""
        return profile.tool_name or self.tool_name

    def sign(self, request: UpstreamRequest, credential: str | None, now: float) -> UpstreamRequest:  # noqa: ARG002
        """The request as it is sent: nothing in it changes after this. `now` is in seconds since 1970. A wire whose
        credential is a header has put it there already, and the default changes nothing."""
        return request

    def framing(self, content_type: str, start: bytes, *, asked: bool) -> Framing | None:
        """What cuts an answer into frames, None for one document. `content_type` is in lower case. `start` is how the
        body begins: nothing while only the head is there; asked again with its first bytes after a None. `asked`:
        whether a stream was asked for. The default knows Server-Sent Events."""
        return sse_framing(content_type, start, asked=asked)

    def decoder(self, context: DecoderContext) -> Decoder:
        """The decoder of one answer to a request of which it knows this."""

    def parse_error(self, status: int, headers: dict[str, str], body: bytes) -> UpstreamError:
        """An answer with an error status."""

    def shares_state(self, dialect: str, model: str) -> bool:  # noqa: ARG002
        """Whether clients that speak `dialect` hold the signatures of this model as it made them, and bring them back
        so. Where not, a signature is shown with a mark of its origin. The default: in a lane."""
        return dialect in self.lanes

    def cache_form(self, target: Target, profile: Profile) -> CacheForm | None:  # noqa: ARG002
        """How the model's prompt cache is told where a prefix ends; None where it is not."""
        return None

    def refuses_betas(self, target: Target) -> bool:  # noqa: ARG002
        """Whether the host refuses a whole request for a beta that it has not: it is sent once more without any."""
        return False

    def sent_tools(self, body: bytes) -> list[SentTool]:
        """The tools in a body of `build_request`, read back."""

    def count_request(self, request: UpstreamRequest) -> Count | None:  # noqa: ARG002
        """How a host is asked for the tokens of `request`, which was built for a whole answer; None where it cannot
        be."""
        return None

    def compaction_request(self, request: UpstreamRequest) -> UpstreamRequest | None:  # noqa: ARG002
        """How a host is asked for a shorter history in place of an answer to `request`; None where it cannot be."""
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
    """The profile of a configured provider. One that names none has that of the known host at its address; at any other
    address it is a plain compatible host. Where hosts serve others' models, the rules of its model hold, too."""
    name = target.provider.profile or _profile_at(target.provider.base_url)
    return with_makers_rules(PROFILES[name], target.known_as)


@lru_cache(maxsize=64)
def _profile_at(base_url: str) -> str:
    from toolwire.providers.hosts import HOSTS, OTHER_ADDRESSES

    address = base_url.rstrip("/").replace("//localhost", "//127.0.0.1")
    others = (profile for pattern, profile in OTHER_ADDRESSES if re.fullmatch(pattern, address))
    known = (host.profile for host in HOSTS if host.profile and address.startswith(host.base_url))
    return next(others, None) or next(known, "compatible")
