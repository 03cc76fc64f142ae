"""The URL of a request to a target, and the header with its credential: as configured, else as the wire has them. Every
wire builds its requests by these functions."""

from __future__ import annotations

from urllib.parse import quote, urlencode, urlsplit

from toolwire.model.http import Headers, endpoint
from toolwire.model.settings import ProviderConfig, Target

#: Kinds of credentials that are minted: short-lived access tokens of a cloud. See `shell/access/cloud_tokens`.
MINTED = frozenset({"entra", "google"})

#: Ends of the names of hosts that take their own keys as a bearer token, although their API has another header.
_BEARER_HOSTS = (".amazonaws.com", ".api.aws", "aiplatform.googleapis.com", ".rep.googleapis.com")

#: Hosts that take a key in the header `api-key` where OpenAI's API has a bearer token.
_AZURE_HOSTS = (".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com")

_BEARER = "authorization"


def url_of(target: Target, path: str, query: str = "") -> str:
    """The URL of a path at the target's provider. `{model}` in the base URL stands for the model. The caller must have
    quoted what a client wrote in `path`."""
    provider = target.provider
    base_url = provider.base_url.replace("{model}", quote(target.model, safe=""))
    if provider.api_version is not None:
        query = "&".join(filter(None, (query, urlencode({"api-version": provider.api_version}))))
    return endpoint(base_url, path, query)


def below(url: str, path: str) -> str:
    """The URL with `path` appended to its own path, in front of its query."""
    address, mark, query = url.partition("?")
    return address + path + mark + query


def key_headers(provider: ProviderConfig, credential: str | None, own: str) -> Headers:
    """The header that carries the credential; none without one. `own` is the name of the API's own header for a key:
    "authorization" for a bearer token."""
    if not credential:
        return ()
    name = provider.key_header or _header(provider, own)
    return ((name, f"Bearer {credential}" if name == _BEARER else credential),)


def _header(provider: ProviderConfig, own: str) -> str:
    host = urlsplit(provider.base_url).hostname or ""
    if provider.credential.partition(":")[0] in MINTED or host.endswith(_BEARER_HOSTS):
        return _BEARER
    return "api-key" if own == _BEARER and host.endswith(_AZURE_HOSTS) else own
