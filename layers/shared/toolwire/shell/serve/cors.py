"""The headers that let web pages of one origin read the gateway's answers. Only browsers need them.

    CORS_ORIGIN   https://app.example.com, or "*" for the pages of every origin; unset: of none

A page sends its key in a header, never in a cookie, so that "*" opens nothing that the key does not protect.
"""

from __future__ import annotations

from collections.abc import Mapping

from toolwire.model.http import Headers

#: The headers of the answer to a preflight. "*" means every header except Authorization, which must be named.
PREFLIGHT: Headers = (
    ("access-control-allow-methods", "GET, POST, DELETE, OPTIONS"),
    ("access-control-allow-headers", "authorization, *"),
    ("access-control-max-age", "3600"),
)


def cors_origin(env: Mapping[str, str]) -> str | None:
    """The origin whose pages may use the gateway; None: no page."""
    return env.get("CORS_ORIGIN", "").strip() or None


def cors_headers(env: Mapping[str, str]) -> Headers:
    """The headers of every answer."""
    origin = cors_origin(env)
    if origin is None:
        return ()
    # A page may read all headers of an answer: ids, warnings, rates, when to try again.
    allowed: Headers = (("access-control-allow-origin", origin), ("access-control-expose-headers", "*"))
    return allowed if origin == "*" else (*allowed, ("vary", "Origin"))
