"""Who asks: the key of a request, compared by its SHA-256. The key itself is kept nowhere."""

from __future__ import annotations

import hashlib
import hmac

from toolwire.model.errors import RequestError
from toolwire.model.settings import Settings, Tenant


def authenticate(headers: dict[str, str], settings: Settings) -> Tenant:
    """The tenant that a request's headers (names in lower case) speak for.

    A configured key is always asked for, as `Authorization: Bearer` or `x-api-key`. Without one everybody is let in,
    unless the settings require a key: then nobody is.
    Raises RequestError (401, `invalid_api_key`).
    """
    if settings.key_sha256 is None:
        if settings.require_key:
            raise _refused("This gateway asks for a key but none is configured: set KEY_SHA256 to the SHA-256 of one.")
        return settings.tenant
    presented = _presented(headers)
    if not presented:
        raise _refused("A key is missing: send it as 'Authorization: Bearer KEY' or 'x-api-key: KEY'.")
    matches = [hmac.compare_digest(_sha256(key), settings.key_sha256) for key in presented]
    if not any(matches):
        raise _refused("The key is not valid for this gateway.")
    return settings.tenant


def _presented(headers: dict[str, str]) -> list[str]:
    """The keys in a request's headers: clients send either header, a few send both."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    bearer = token.strip() if scheme.lower() == "bearer" else ""
    return [key for key in (bearer, headers.get("x-api-key", "").strip()) if key]


def _sha256(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def _refused(message: str) -> RequestError:
    return RequestError(message, status=401, code="invalid_api_key")
