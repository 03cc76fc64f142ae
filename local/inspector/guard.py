"""Admits only a browser on this machine, with a page of the inspector.

A page of another site can make its reader's browser send a request here: by a name of its own that leads to this
machine (DNS rebinding), by a form, or as a frame. So the client's address, the name in Host, the origin, and the
browser's header about the asking site must all be this machine's.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from urllib.parse import urlsplit

from toolwire.model.errors import RequestError
from toolwire.model.http import Headers

#: The headers of every page. They allow only our own style, script and connections, so that a page cannot send its
#: content elsewhere.
HEADERS: Headers = (
    (
        "content-security-policy",
        "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; "
        "form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    ),
    ("cross-origin-resource-policy", "same-origin"),
    ("cross-origin-opener-policy", "same-origin"),
    ("referrer-policy", "same-origin"),  # with none, forms have the origin `null`
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("cache-control", "no-store"),
)


def check(method: str, fields: Mapping[str, str], client: str) -> None:
    """Raises RequestError (403) for a request that is not admitted. `fields`: its headers, names in lower case."""
    if not _is_loopback(client):
        raise _refused("the inspector answers this machine only")
    host = fields.get("host", "")
    if not _is_local(host):
        raise _refused("the inspector answers to localhost, 127.0.0.1 and [::1] only")
    origin = fields.get("origin")
    if origin is not None and origin != f"http://{host}":
        raise _refused("the inspector answers its own pages only")
    if fields.get("sec-fetch-site", "none") not in ("same-origin", "none"):
        raise _refused("the inspector answers its own pages only")
    if method == "POST" and origin is None:
        raise _refused("the inspector's forms are sent by its own pages only")


def _refused(reason: str) -> RequestError:
    return RequestError(f"Not here: {reason}.", status=403, code="access_denied")


def _is_loopback(address: str) -> bool:
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    mapped = getattr(ip, "ipv4_mapped", None)
    return (mapped or ip).is_loopback


def _is_local(host: str) -> bool:
    """Whether the name in Host is this machine's own."""
    try:
        return "@" not in host and urlsplit(f"//{host}").hostname in ("localhost", "127.0.0.1", "::1")
    except ValueError:
        return False
