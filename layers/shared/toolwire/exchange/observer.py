"""The interface of those that watch an exchange: logs, a replay, a recorder."""

from __future__ import annotations

from toolwire.framing import Frame
from toolwire.model.errors import GatewayError
from toolwire.model.events import Batch
from toolwire.model.http import Head, HttpRequest, UpstreamRequest


class Observer:
    """Is told what crosses an exchange, and cannot change it. A class may leave out any method."""

    #: Whether it wants `frame`, `batch` and `sent`, which come for every token of a stream.
    follows_tokens = True

    def client_request(self, request: HttpRequest) -> None:
        """The client's request, after it was found valid. Its headers hold the client's key."""

    def upstream_request(self, request: UpstreamRequest) -> None:
        """The request of each attempt. Its headers hold the credential."""

    def upstream_head(self, status: int, headers: dict[str, str]) -> None:
        """The status and headers of the provider's answer."""

    def upstream_data(self, data: bytes) -> None:
        """Some bytes of the provider's body, as they came."""

    def upstream_end(self, error: GatewayError | None) -> None:
        """The provider's body is over, or broke off with `error`."""

    def frame(self, frame: Frame) -> None:
        """A frame of the provider's stream, before it is decoded."""

    def batch(self, batch: Batch) -> None:
        """A batch that the client is shown, before the door writes it."""

    def sent(self, what: Head | bytes) -> None:
        """A head or bytes that the client is sent. The early head, which is sent while the upstream is silent, is not
        reported."""


class _Nobody(Observer):
    """Ignores everything."""

    follows_tokens = False


#: Stands for an observer where there is none.
NOBODY = _Nobody()
