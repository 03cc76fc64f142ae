"""Requests to AWS's own APIs, signed: Signature Version 4 by botocore's signer, with the credentials of this process
(`network/aws_credentials.py`). Neither boto3 nor a client is made."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from toolwire.model.errors import InternalError
from toolwire.model.http import UpstreamRequest
from toolwire.model.settings import ProviderConfig
from toolwire.providers.hosts import AwsScope, aws_scope
from toolwire.shell.network.aws_credentials import find_credentials

#: Errors of botocore's whose text says what to do, and nothing else: a profile that is not there, SSO that has expired.
_TOLD = frozenset({"ProfileNotFound", "SSOTokenLoadError", "TokenRetrievalError", "UnauthorizedSSOTokenError"})


def signed(request: UpstreamRequest, provider: ProviderConfig) -> UpstreamRequest:
    """The request with its signature, where the provider's credential is AWS's; else itself. Nothing of it may change
    afterwards. Raises InternalError (503, `credential_unavailable`) where this process has no AWS credentials."""
    scope = aws_scope(provider)
    return request if scope is None else signed_for(request, scope)


def signed_for(request: UpstreamRequest, scope: AwsScope) -> UpstreamRequest:
    """The request with its signature for this service and region. Raises InternalError as `signed` does."""
    from botocore.auth import SigV4Auth  # 60 ms, which only a function with such a provider pays
    from botocore.awsrequest import AWSRequest

    unsigned = AWSRequest(request.method, request.url, headers=dict(request.headers), data=request.body)
    SigV4Auth(_credentials(scope.profile), scope.service, scope.region).add_auth(unsigned)
    return replace(request, headers=tuple((name.lower(), value) for name, value in unsigned.headers.items()))


def _credentials(profile: str | None) -> Any:
    """The credentials as they are now, which do not change while a request is signed."""
    try:
        found = find_credentials(profile)
    except Exception as error:
        name = type(error).__name__
        raise _unavailable(
            str(error).rstrip(".") if name in _TOLD else f"botocore could not get any ({name})"
        ) from error
    if found is None:
        raise _unavailable(
            "there are none in the environment (AWS_ACCESS_KEY_ID), in a profile (AWS_PROFILE), or from a role"
        )
    return found


def _unavailable(why: str) -> InternalError:
    return InternalError(f"This gateway has no AWS credentials: {why}.", code="credential_unavailable", status=503)
