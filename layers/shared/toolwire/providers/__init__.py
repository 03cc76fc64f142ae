"""The providers: the upstream protocols (wires), one module each. A provider never imports a door.

How to add a wire: write `wire/<name>.py` (typed shapes) and `providers/<name>.py` with a `PROVIDER` object of the
protocol below, then add its row to `WIRES`. `build_request` turns the neutral request into one HTTP request, `decoder`
the answer's frames (or its JSON) into neutral events, `parse_error` an error status into an UpstreamError. Nothing else
in the gateway changes: every door can use it at once. A host that speaks a wire we have is no code at all: a row in
`hosts.py`, and one in `profiles.py` if it deviates.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, Protocol

from toolwire.framing.sse import Frame
from toolwire.model.errors import UpstreamError
from toolwire.model.events import Batch
from toolwire.model.http import UpstreamRequest
from toolwire.model.request import ChatRequest
from toolwire.model.settings import Target
from toolwire.providers.profiles import PROFILES, Profile


class Decoder(Protocol):
    """One answer's frames to events. Every method raises UpstreamError for what the provider reports or breaks."""

    def decode(self, frame: Frame) -> Batch: ...

    def decode_json(self, body: bytes) -> Batch: ...

    def end(self) -> Batch:
        """The body is over. Raises UpstreamTruncated if the answer broke off."""


class Provider(Protocol):
    """One wire."""

    dialect: str
    #: The tool names it takes, as a regular expression; others are mapped and restored.
    tool_name: str
    #: How the headers of its answers begin that a client of the same API is shown.
    shown_headers: tuple[str, ...]

    def build_request(
        self, request: ChatRequest, target: Target, profile: Profile, credential: str | None
    ) -> tuple[UpstreamRequest, list[str]]:
        """The HTTP request, and the codes of warnings about what could not be carried as it was. Raises RequestError
        for what this provider cannot take."""

    def decoder(self) -> Decoder: ...

    def without_source(self, batch: Batch) -> Batch:
        """The batch with its unnamed members read from its source, and the source dropped."""

    def parse_error(self, status: int, headers: dict[str, str], body: bytes) -> UpstreamError:
        """An answer with an error status."""


#: wire -> module with a `PROVIDER`.
WIRES = {
    "openai_chat": "toolwire.providers.openai_chat.request",
    "openai_responses": "toolwire.providers.openai_responses.request",
    "anthropic_messages": "toolwire.providers.anthropic_messages.request",
    "gemini": "toolwire.providers.gemini.request",
}


def load_provider(wire: str) -> Provider:
    provider: Any = import_module(WIRES[wire]).PROVIDER
    return provider  # type: ignore[no-any-return]


def profile_of(target: Target) -> Profile:
    """The profile of a configured provider; an unnamed one is a plain compatible host."""
    return PROFILES[target.provider.profile or "compatible"]
