"""Who looks at an exchange: logs, a replay, a recorder."""

from __future__ import annotations

from toolwire.framing import Frame
from toolwire.model.errors import GatewayError
from toolwire.model.events import Batch
from toolwire.model.http import Head, HttpRequest, UpstreamRequest


class Observer:
    """Sees what crosses an exchange, as it does; nothing it does changes that. Each method may be left out."""

    #: Whether it wants `frame`, `batch` and `sent`, which come for every token of a stream.
    follows_tokens = True

    def client_request(self, request: HttpRequest) -> None:
        """What was asked, once it was found to be valid. Its headers hold the client's key."""

    def upstream_request(self, request: UpstreamRequest) -> None:
        """What is sent to a provider, for each attempt. Its headers hold the credential."""

    def upstream_head(self, status: int, headers: dict[str, str]) -> None:
        """How the provider begins to answer."""

    def upstream_data(self, data: bytes) -> None:
        """Some bytes of the provider's body, as they came."""

    def upstream_end(self, error: GatewayError | None) -> None:
        """The provider's body is over, or broke off with `error`."""

    def frame(self, frame: Frame) -> None:
        """A frame of the provider's stream, before it is decoded."""

    def batch(self, batch: Batch) -> None:
        """What the client is shown, before the door writes it."""

    def sent(self, what: Head | bytes) -> None:
        """What the client is sent. A head that was committed for a silent upstream is not seen."""


class _Nobody(Observer):
    """Looks at nothing."""

    follows_tokens = False


#: In the place of an observer, where there is none.
NOBODY = _Nobody()
