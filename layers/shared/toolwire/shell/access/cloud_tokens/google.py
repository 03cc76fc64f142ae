"""Access tokens of Google Cloud.

The document is one of those that Google's own tools write: a service account's key ("service_account"), workload
identity federation ("external_account": a token of AWS or of any identity provider is exchanged, and no key is kept
anywhere), or a person's (`gcloud auth application-default login`, "authorized_user"). Without one: the file that
GOOGLE_APPLICATION_CREDENTIALS names, gcloud's own, or the metadata server of the machine.

https://cloud.google.com/docs/authentication/application-default-credentials
"""

from __future__ import annotations

import json
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from toolwire.model.errors import GatewayError
from toolwire.model.http import UpstreamRequest
from toolwire.providers.hosts import DEFAULT_REGION, AwsScope
from toolwire.shell.access.aws_signing import signed_for
from toolwire.shell.access.cloud_tokens.tokens import Ask, Token, TokenError, member_of, read_document, token_from

#: The widest scope; IAM decides what the token may do.
SCOPE = "https://www.googleapis.com/auth/cloud-platform"

_TOKEN_URL = "https://oauth2.googleapis.com/token"  # noqa: S105 - an address
_METADATA = "metadata.google.internal"
#: The seconds that a metadata server may take: if it exists, it answers at once.
_METADATA_SECONDS = 3.0

#: The lifetime that is asked for, in seconds: the longest that Google gives.
_LIFE = 3600

_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
_ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token"  # noqa: S105 - a type
_ASSERTION = "urn:ietf:params:oauth:grant-type:jwt-bearer"

#: The endpoint at which AWS names the identity that signed a request.
_IDENTITY_URL = "https://sts.{region}.amazonaws.com?Action=GetCallerIdentity&Version=2011-06-15"


def mint(document: bytes | None, scope: str | None, base_url: str, env: Mapping[str, str], ask: Ask) -> Token:  # noqa: ARG001
    """See `cloud_tokens.Mint`."""
    text = _file(env) if document is None else document
    scope = scope or SCOPE
    if text is None:
        return _of_metadata(env, ask)
    given = read_document(text)
    kind = given.get("type")
    if not isinstance(kind, str) or kind not in _KINDS:
        raise TokenError(f"its JSON document has none of these as `type`: {', '.join(_KINDS)}")
    return _KINDS[kind](given, scope, env, ask)


def _file(env: Mapping[str, str]) -> bytes | None:
    """The document at the places where Google's own tools look for it."""
    named = env.get("GOOGLE_APPLICATION_CREDENTIALS")
    folder = env.get("CLOUDSDK_CONFIG") or str(Path(env.get("HOME", "/")) / ".config" / "gcloud")
    path = Path(named or folder + "/application_default_credentials.json")
    try:
        return path.read_bytes()
    except OSError as error:
        if named:
            raise TokenError(f"GOOGLE_APPLICATION_CREDENTIALS: the file cannot be read ({error.strerror})") from error
        return None


# ---------------------------------------------------------------- a key


def _of_key(given: Mapping[str, Any], scope: str, env: Mapping[str, str], ask: Ask) -> Token:  # noqa: ARG001
    url = given.get("token_uri") or _TOKEN_URL
    now = int(time.time())
    claims = {"iss": member_of(given, "client_email"), "scope": scope, "aud": url, "iat": now, "exp": now + _LIFE}
    head = {"alg": "RS256", "typ": "JWT", "kid": given.get("private_key_id")}
    text = b".".join(_base64(json.dumps(part, separators=(",", ":")).encode()) for part in (head, claims))
    assertion = (text + b"." + _base64(_signature(member_of(given, "private_key"), text))).decode()
    return token_from(ask.form(url, {"grant_type": _ASSERTION, "assertion": assertion}, (assertion,)))


def _base64(data: bytes) -> bytes:
    return urlsafe_b64encode(data).rstrip(b"=")


def _signature(key: str, data: bytes) -> bytes:
    try:
        from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
        from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
        from cryptography.hazmat.primitives.hashes import SHA256
        from cryptography.hazmat.primitives.serialization import load_pem_private_key
    except ImportError:
        raise TokenError(
            "a service account's key signs by the package `cryptography`, which is not here: install it, build the "
            "layer with GOOGLE_KEYS=1, or use workload identity federation, which needs no key"
        ) from None
    try:
        private = load_pem_private_key(key.encode(), None)
        assert isinstance(private, RSAPrivateKey)
    except (ValueError, TypeError, AssertionError):
        raise TokenError("the `private_key` of its JSON document is no RSA key in PEM") from None
    return private.sign(data, PKCS1v15(), SHA256())


# ---------------------------------------------------------------- a person


def _of_person(given: Mapping[str, Any], scope: str, env: Mapping[str, str], ask: Ask) -> Token:  # noqa: ARG001
    names = ("client_id", "client_secret", "refresh_token")
    fields = {name: member_of(given, name) for name in names}
    return token_from(ask.form(_TOKEN_URL, {"grant_type": "refresh_token", **fields}, tuple(fields.values())))


# ---------------------------------------------------------------- workload identity federation


def _of_federation(given: Mapping[str, Any], scope: str, env: Mapping[str, str], ask: Ask) -> Token:
    audience = member_of(given, "audience")
    source = given.get("credential_source")
    if not isinstance(source, Mapping):
        raise TokenError("its JSON document has no `credential_source`")
    subject = _subject(source, audience, env, ask)
    impersonated = given.get("service_account_impersonation_url")
    fields = {
        "grant_type": _EXCHANGE,
        "audience": audience,
        "scope": SCOPE if impersonated else scope,
        "requested_token_type": _ACCESS_TOKEN,
        "subject_token_type": member_of(given, "subject_token_type"),
        "subject_token": subject,
    }
    token = token_from(ask.form(member_of(given, "token_url"), fields, (subject,)))
    if not impersonated:
        return token
    answer = ask.json(impersonated, {"scope": [scope], "lifetime": f"{_LIFE}s"}, token.value)
    return Token(token_from(answer, "accessToken").value, _until(answer.get("expireTime")))


def _until(moment: object) -> float:
    """Seconds until a moment as RFC 3339 writes it."""
    try:
        return max(datetime.fromisoformat(str(moment).replace("Z", "+00:00")).timestamp() - time.time(), 0.0)
    except ValueError:
        return float(_LIFE)


def _subject(source: Mapping[str, Any], audience: str, env: Mapping[str, str], ask: Ask) -> str:
    """The token to exchange for Google's: from a file, from a server, or a signed request with which AWS can name our
    identity."""
    if str(source.get("environment_id", "")).startswith("aws"):
        return _of_aws(str(source.get("regional_cred_verification_url") or _IDENTITY_URL), audience, env)
    headers = source.get("headers")
    if isinstance(path := source.get("file"), str):
        try:
            found = Path(path).read_bytes()
        except OSError as error:
            raise TokenError(f"the file of `credential_source` cannot be read ({error.strerror})") from error
    elif isinstance(url := source.get("url"), str):
        found = ask.text(url, headers if isinstance(headers, Mapping) else {})
    else:
        raise TokenError("its `credential_source` is none of AWS, a file and a URL")
    form = source.get("format")
    if isinstance(form, Mapping) and form.get("type") == "json":
        return member_of(read_document(found), str(form.get("subject_token_field_name")))
    return found.decode("utf-8", "replace").strip()


def _of_aws(url: str, audience: str, env: Mapping[str, str]) -> str:
    """A signed request that is not sent: Google sends it to AWS, which names its identity."""
    region = env.get("AWS_REGION") or env.get("AWS_DEFAULT_REGION") or DEFAULT_REGION
    target = (("x-goog-cloud-target-resource", audience),)
    unsigned = UpstreamRequest("POST", url.replace("{region}", region), target, b"", stream=False)
    try:
        request = signed_for(unsigned, AwsScope("sts", region))
    except GatewayError as error:
        raise TokenError(error.message) from error
    host = ("host", urlsplit(request.url).netloc)
    headers = [{"key": name, "value": value} for name, value in (*request.headers, host)]
    return quote(json.dumps({"url": request.url, "method": request.method, "headers": headers}, separators=(",", ":")))


# ---------------------------------------------------------------- the machine's own


def _of_metadata(env: Mapping[str, str], ask: Ask) -> Token:
    host = env.get("GCE_METADATA_HOST") or _METADATA
    url = f"http://{host}/computeMetadata/v1/instance/service-accounts/default/token"
    try:
        return token_from(ask.get(url, {"metadata-flavor": "Google"}, seconds=_METADATA_SECONDS))
    except TokenError as error:
        raise TokenError(
            "GOOGLE_APPLICATION_CREDENTIALS is not set, gcloud has left no credentials, and there is no metadata "
            f"server here: {error}"
        ) from error


_KINDS: dict[str, Callable[[Mapping[str, Any], str, Mapping[str, str], Ask], Token]] = {
    "service_account": _of_key,
    "external_account": _of_federation,
    "authorized_user": _of_person,
}
