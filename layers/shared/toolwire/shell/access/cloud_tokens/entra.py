"""Access tokens of Microsoft Entra ID.

The document has `tenant_id`, `client_id` and `client_secret`. Without one the variables that Azure's own tools read:
AZURE_TENANT_ID, AZURE_CLIENT_ID, and AZURE_CLIENT_SECRET or AZURE_FEDERATED_TOKEN_FILE (workload identity); where there
is no tenant, the managed identity of the machine or the app, of which AZURE_CLIENT_ID may name one.

https://learn.microsoft.com/entra/identity-platform/v2-oauth2-client-creds-grant-flow
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from toolwire.shell.access.cloud_tokens.tokens import Ask, Token, TokenError, member_of, read_document, token_from

#: The scopes of a token: for Azure's AI services, and for Foundry's addresses.
SCOPE, FOUNDRY_SCOPE = "https://cognitiveservices.azure.com/.default", "https://ai.azure.com/.default"
_FOUNDRY = ".services.ai.azure.com"

_AUTHORITY = "https://login.microsoftonline.com"
_ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

#: The address for the identity of a virtual machine, and the seconds it may take: if it exists, it answers at once.
_MACHINE = "http://169.254.169.254/metadata/identity/oauth2/token"
_MACHINE_SECONDS = 3.0


def mint(document: bytes | None, scope: str | None, base_url: str, env: Mapping[str, str], ask: Ask) -> Token:
    """See `cloud_tokens.Mint`."""
    if scope is None:
        scope = FOUNDRY_SCOPE if (urlsplit(base_url).hostname or "").endswith(_FOUNDRY) else SCOPE
    if document is not None:
        return _of_client(read_document(document), scope, env, ask)
    given = {name: env.get(f"AZURE_{name.upper()}") for name in ("tenant_id", "client_id", "client_secret")}
    if given["tenant_id"]:
        return _of_client(given, scope, env, ask)
    return _of_identity(scope.removesuffix("/.default"), given["client_id"], env, ask)


def _of_client(given: Mapping[str, Any], scope: str, env: Mapping[str, str], ask: Ask) -> Token:
    """An app's access token, asked for with its secret or with the token of an issuer that it trusts."""
    fields = {"grant_type": "client_credentials", "client_id": member_of(given, "client_id"), "scope": scope}
    path = env.get("AZURE_FEDERATED_TOKEN_FILE")
    if given.get("client_secret") or not path:
        fields["client_secret"] = proof = member_of(given, "client_secret")
    else:
        try:
            proof = Path(path).read_text("utf-8").strip()  # each time: the file is replaced from outside
        except OSError as error:
            raise TokenError(f"AZURE_FEDERATED_TOKEN_FILE: the file cannot be read ({error.strerror})") from error
        fields |= {"client_assertion_type": _ASSERTION, "client_assertion": proof}
    authority = (env.get("AZURE_AUTHORITY_HOST") or _AUTHORITY).rstrip("/")
    url = f"{authority}/{quote(member_of(given, 'tenant_id'), safe='')}/oauth2/v2.0/token"
    return token_from(ask.form(url, fields, (proof,)))


def _of_identity(resource: str, client_id: str | None, env: Mapping[str, str], ask: Ask) -> Token:
    """The token of a managed identity: that of the app, function or container, else that of the machine."""
    chosen = {"client_id": client_id} if client_id else {}
    if endpoint := env.get("IDENTITY_ENDPOINT"):
        url = f"{endpoint}?{urlencode({'api-version': '2019-08-01', 'resource': resource, **chosen})}"
        answer = ask.get(url, {"x-identity-header": env.get("IDENTITY_HEADER", "")})
    else:
        url = f"{_MACHINE}?{urlencode({'api-version': '2018-02-01', 'resource': resource, **chosen})}"
        try:
            answer = ask.get(url, {"metadata": "true"}, seconds=_MACHINE_SECONDS)
        except TokenError as error:
            raise TokenError(f"AZURE_TENANT_ID is not set, and there is no managed identity here: {error}") from error
    until = str(answer.get("expires_on", ""))
    left = {"expires_in": float(until) - time.time()} if until.isdigit() else {}
    return token_from({**answer, **left})
