"""The AWS credentials of this process, and its region.

On Lambda the runtime puts those of the function's role into the environment. Elsewhere botocore looks where all of
AWS's tools look: the environment, a profile, SSO, the container's or the machine's role; it refreshes them in time.
botocore's session takes 0.2 s, so botocore is not imported if the environment has the credentials.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from toolwire.shell.network.sigv4 import Credentials

#: Held while a session is asked for credentials, since the first question may ask a server.
_lock = threading.Lock()

#: botocore's errors whose text only says what to do: a missing profile, an expired SSO session.
_TOLD = frozenset({"ProfileNotFound", "SSOTokenLoadError", "TokenRetrievalError", "UnauthorizedSSOTokenError"})


class CredentialsError(Exception):
    """botocore found no credentials, or no region, at the configured place. `code` is the name of its error."""

    def __init__(self, error: Exception) -> None:
        self.code = type(error).__name__
        told = self.code in _TOLD
        super().__init__(str(error).rstrip(".") if told else f"botocore could not get any ({self.code})")


def find_credentials(profile: str | None = None) -> Credentials | None:
    """The current credentials; None if there are none. Raises CredentialsError."""
    key, secret = os.environ.get("AWS_ACCESS_KEY_ID"), os.environ.get("AWS_SECRET_ACCESS_KEY")
    if key and secret and profile is None:
        return Credentials(key, secret, os.environ.get("AWS_SESSION_TOKEN"))
    with _lock, _renamed():
        found = _session(profile).get_credentials()
        if found is None:
            return None
        now = found.get_frozen_credentials()
        return Credentials(now.access_key, now.secret_key, now.token)


def find_region() -> str | None:
    """The region that is named in the environment or in the profile. Raises CredentialsError."""
    named = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    if named:
        return named
    with _lock, _renamed():
        return _session(None).get_config_variable("region")  # type: ignore[no-any-return]


def prepare() -> None:
    """Makes the session that looks for credentials, which takes 0.2 s, without looking for any."""
    with _lock:
        _session(None)


def forget_credentials() -> None:
    """Drops the sessions, since the environment has changed."""
    _session.cache_clear()


@cache
def _session(profile: str | None) -> Any:
    import botocore.session

    return botocore.session.Session(profile=profile)


@contextmanager
def _renamed() -> Iterator[None]:
    """Turns every error of botocore's into CredentialsError: a server that it asks may answer anything."""
    try:
        yield
    except Exception as error:
        raise CredentialsError(error) from error
