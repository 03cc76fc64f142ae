"""The AWS credentials of this process, and its region.

On Lambda the runtime puts both into the environment: the function's role. Elsewhere botocore looks where all of AWS's
tools look: the environment, a profile, SSO, the container's or the machine's role; it refreshes them in time.
botocore's session takes 0.1 s, so there is none where the environment has what is asked for.
"""

from __future__ import annotations

import os
import threading
from functools import cache
from typing import Any

#: One session at a time is asked for credentials: the first one may ask a server.
_lock = threading.Lock()


def find_credentials(profile: str | None = None) -> Any:
    """The credentials as they are now (botocore's ReadOnlyCredentials), which do not change while a request is signed;
    None where there are none. Raises botocore's errors."""
    from botocore.credentials import ReadOnlyCredentials

    key, secret = os.environ.get("AWS_ACCESS_KEY_ID"), os.environ.get("AWS_SECRET_ACCESS_KEY")
    if key and secret and profile is None:
        return ReadOnlyCredentials(key, secret, os.environ.get("AWS_SESSION_TOKEN"))
    with _lock:
        found = _session(profile).get_credentials()
        return None if found is None else found.get_frozen_credentials()


def find_region() -> str | None:
    """The region that is named in the environment or in the profile. Raises botocore's errors."""
    named = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    if named:
        return named
    with _lock:
        return _session(None).get_config_variable("region")  # type: ignore[no-any-return]


def prepare() -> None:
    """Makes the session that looks for credentials, which takes 0.1 s, and asks it for none."""
    with _lock:
        _session(None)


def forget_credentials() -> None:
    """Drops the sessions: the environment they were made in has changed."""
    _session.cache_clear()


@cache
def _session(profile: str | None) -> Any:
    import botocore.session

    return botocore.session.Session(profile=profile)
