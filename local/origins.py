"""Refuses requests of other sites' web pages."""

from __future__ import annotations

import os
from contextlib import suppress
from urllib.parse import urlsplit

from local.http import RefusedError, RequestHead
from toolwire.shell.serve.cors import cors_origin


def check_origin(head: RequestHead) -> None:
    """Raises RefusedError for a request that another site's page sends through its reader's browser: without a key, any
    page could spend the credentials in this process's environment. Browsers send the page's origin with every POST;
    other clients do not, and apps have their own schemes (`vscode-webview://...`). CORS_ORIGIN admits a site."""
    origin = head.fields.get("origin", "")
    if cors_origin(os.environ) in (origin, "*"):
        return
    if origin != "null" and not origin.startswith(("http://", "https://")):
        return
    with suppress(ValueError):  # no URL: nothing of ours
        if urlsplit(origin).hostname in ("localhost", "127.0.0.1", "::1"):
            return
    message = "Pages of other sites may not use this gateway, unless CORS_ORIGIN names theirs."
    raise RefusedError(message, 403, "access_denied")
