"""Requests to AWS's own APIs, signed: Signature Version 4 by botocore's signer, with the credentials of this process.

On Lambda these are the function's role, which the runtime puts into the environment. Elsewhere botocore looks where all
of AWS's tools look: the environment, a profile, SSO, the container's or the machine's role. They are refreshed by
botocore before they expire. Neither boto3 nor a client is made: botocore's session takes 0.1 s, and only where the
environment does not hold the credentials.
"""

from __future__ import annotations

import os
import threading
from dataclasses import replace
from functools import cache
from typing import Any

from toolwire.model.errors import InternalError
from toolwire.model.http import UpstreamRequest
from toolwire.model.settings import ProviderConfig
from toolwire.providers.hosts import aws_scope

#: One session at a time is asked for credentials: the first one may ask a server.
_lock = threading.Lock()


def signed(request: UpstreamRequest, provider: ProviderConfig) -> UpstreamRequest:
    """The request with its signature, where the provider's credential is AWS's; else itself. Nothing of it may change
    afterwards. Raises InternalError (503, `credential_unavailable`) where this process has no AWS credentials."""
    scope = aws_scope(provider)
    if scope is None:
        return request
    from botocore.auth import SigV4Auth  # 60 ms, which only a function with such a provider pays
    from botocore.awsrequest import AWSRequest

    unsigned = AWSRequest(request.method, request.url, headers=dict(request.headers), data=request.body)
    SigV4Auth(_credentials(scope.profile), scope.service, scope.region).add_auth(unsigned)
    return replace(request, headers=tuple((name.lower(), value) for name, value in unsigned.headers.items()))


def _credentials(profile: str | None) -> Any:
    """The credentials as they are now, which do not change while a request is signed."""
    from botocore.credentials import ReadOnlyCredentials

    key, secret = os.environ.get("AWS_ACCESS_KEY_ID"), os.environ.get("AWS_SECRET_ACCESS_KEY")
    if key and secret and profile is None:
        return ReadOnlyCredentials(key, secret, os.environ.get("AWS_SESSION_TOKEN"))
    try:
        with _lock:
            found = _session(profile).get_credentials()
            frozen = None if found is None else found.get_frozen_credentials()
    except Exception as error:
        raise _unavailable(f"botocore could not get any ({type(error).__name__})") from error
    if frozen is None:
        raise _unavailable("there are none in the environment, in a profile, or from a role")
    return frozen


@cache
def _session(profile: str | None) -> Any:
    import botocore.session

    return botocore.session.Session(profile=profile)


def _unavailable(why: str) -> InternalError:
    return InternalError(f"This gateway has no AWS credentials: {why}.", code="credential_unavailable", status=503)
