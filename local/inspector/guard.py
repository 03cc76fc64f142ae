"""Who may look at exchanges: a browser on this machine, at a page of ours.

A page of another site cannot read what it may not ask for, but it can make its reader's browser ask: by a name of its
own that leads to this machine (DNS rebinding), by a form, or as a frame. So the address of the client, the name in
Host, the origin, and what the browser says of the site that asks must all be this machine's.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from urllib.parse import urlsplit

from toolwire.model.errors import RequestError
from toolwire.model.http import Headers

#: Headers of every page. Nothing but our own style, script and connections: no page can be made to tell.
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
    """Raises RequestError (403) for who may not look. `fields`: the request's headers, names in lower case."""
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
