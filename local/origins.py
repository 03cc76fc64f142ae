"""Which web pages may use the local server."""

from __future__ import annotations

import os
from contextlib import suppress
from urllib.parse import urlsplit

from local.http import RefusedError, RequestHead
from toolwire.shell.serve.cors import cors_origin


def check_origin(head: RequestHead) -> None:
    """Raises RefusedError for what the page of another site sends through its reader's browser: where no key is asked
    for, any page could spend the credentials in this process's environment. Browsers name the page's origin with every
    POST; no other client does, and apps (`vscode-webview://...`) have schemes of their own. CORS_ORIGIN lets a site
    in."""
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
