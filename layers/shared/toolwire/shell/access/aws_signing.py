"""Signs requests to AWS's own APIs with the credentials of this process (`network/aws_credentials.py`), without
boto3."""

from __future__ import annotations

from toolwire.model.errors import InternalError
from toolwire.model.http import UpstreamRequest
from toolwire.model.settings import ProviderConfig
from toolwire.providers.hosts import AwsScope, aws_scope
from toolwire.shell.network import sigv4
from toolwire.shell.network.aws_credentials import CredentialsError, find_credentials


def signed(request: UpstreamRequest, provider: ProviderConfig) -> UpstreamRequest:
    """The request with its signature, if the provider's credential is AWS's; else the same object. Nothing of it may
    change afterwards. Raises InternalError (503, `credential_unavailable`) if this process has no AWS credentials."""
    scope = aws_scope(provider)
    return request if scope is None else signed_for(request, scope)


def signed_for(request: UpstreamRequest, scope: AwsScope) -> UpstreamRequest:
    """The request with its signature for this service and region. Raises InternalError as `signed` does."""
    return sigv4.signed(request, _credentials(scope.profile), scope.service, scope.region)


def _credentials(profile: str | None) -> sigv4.Credentials:
    try:
        found = find_credentials(profile)
    except CredentialsError as error:
        raise _unavailable(str(error)) from error
    if found is None:
        raise _unavailable(
            "there are none in the environment (AWS_ACCESS_KEY_ID), in a profile (AWS_PROFILE), or from a role"
        )
    return found


def _unavailable(why: str) -> InternalError:
    return InternalError(f"This gateway has no AWS credentials: {why}.", code="credential_unavailable", status=503)
