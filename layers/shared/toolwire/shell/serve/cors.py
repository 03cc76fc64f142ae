"""What lets the web pages of one origin read the gateway's answers. Browsers ask for it; nobody else does.

    CORS_ORIGIN   https://app.example.com, or "*" for the pages of every origin; unset: of none

A page sends its key in a header of its own, never a cookie, so "*" gives away nothing that the key does not guard.
"""

from __future__ import annotations

from collections.abc import Mapping

from toolwire.model.http import Headers

#: What a preflight is told. "*" is every header but Authorization, which has to be named.
PREFLIGHT: Headers = (
    ("access-control-allow-methods", "GET, POST, DELETE, OPTIONS"),
    ("access-control-allow-headers", "authorization, *"),
    ("access-control-max-age", "3600"),
)


def cors_origin(env: Mapping[str, str]) -> str | None:
    """The origin whose pages may use the gateway; None: no page."""
    return env.get("CORS_ORIGIN", "").strip() or None


def cors_headers(env: Mapping[str, str]) -> Headers:
    """The headers that every answer bears."""
    origin = cors_origin(env)
    if origin is None:
        return ()
    # All of an answer's headers may be read: ids, warnings, rates, when to try again.
    allowed: Headers = (("access-control-allow-origin", origin), ("access-control-expose-headers", "*"))
    return allowed if origin == "*" else (*allowed, ("vary", "Origin"))
