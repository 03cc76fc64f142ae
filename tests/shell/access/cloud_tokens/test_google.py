"""Access tokens of Google Cloud: what each kind of credentials sends, and what is said where it fails."""

from __future__ import annotations

import json
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from google.auth import jwt

from tests.shell.access.cloud_tokens.clouds import Cloud
from tests.shell.access.sigv4_judge import fault_of
from toolwire.shell.access.cloud_tokens import Token, TokenError
from toolwire.shell.access.cloud_tokens.google import SCOPE, mint

HOST = "https://europe-west4-aiplatform.googleapis.com/v1/projects/p/locations/europe-west4/publishers/google"
KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
PEM = KEY.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
PUBLIC = KEY.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)

TOKEN_URL = "oauth2.googleapis.com/token"
ACCOUNT = {
    "type": "service_account", "client_email": "gw@p.iam.gserviceaccount.com", "private_key": PEM,
    "private_key_id": "kid1", "token_uri": f"https://{TOKEN_URL}",
}  # fmt: skip
AUDIENCE = "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/pool/providers/aws"
AWS_ACCOUNT = {
    "type": "external_account", "audience": AUDIENCE, "token_url": "https://sts.googleapis.com/v1/token",
    "subject_token_type": "urn:ietf:params:aws:token-type:aws4_request",
    "credential_source": {
        "environment_id": "aws1",
        "regional_cred_verification_url": "https://sts.{region}.amazonaws.com?Action=GetCallerIdentity&Version=2011-06-15",
    },
}  # fmt: skip
IMPERSONATION = "iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/gw@p:generateAccessToken"
SECRET = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
GIVEN = {"access_token": "ya29.minted", "expires_in": 3599, "token_type": "Bearer"}


def minted(cloud: Cloud, document: Any, env: dict[str, str] | None = None, scope: str | None = None) -> Token:
    text = None if document is None else json.dumps(document).encode()
    return mint(text, scope, HOST, env or {}, cloud.ask)


def test_a_service_accounts_key_signs_an_assertion() -> None:
    cloud = Cloud({TOKEN_URL: GIVEN})
    assert minted(cloud, ACCOUNT) == Token("ya29.minted", 3599)
    assert (cloud.asked[0].method, cloud.asked[0].url) == ("POST", f"https://{TOKEN_URL}")
    form = cloud.form()
    assert form["grant_type"] == "urn:ietf:params:oauth:grant-type:jwt-bearer"
    decode: Any = jwt.decode
    claims = decode(form["assertion"], certs={"kid1": PUBLIC}, audience=ACCOUNT["token_uri"])
    assert (claims["iss"], claims["scope"]) == (ACCOUNT["client_email"], SCOPE)
    assert claims["exp"] - claims["iat"] == 3600
    assert abs(claims["iat"] - time.time()) < 5


def test_a_key_without_the_package_that_signs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.asymmetric.padding", None)
    with pytest.raises(TokenError, match="GOOGLE_KEYS=1, or use workload identity federation"):
        minted(Cloud({}), ACCOUNT)


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    env = {"AWS_ACCESS_KEY_ID": "AKID", "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_SESSION_TOKEN": "session"}
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    return env | {"AWS_REGION": "eu-west-1"}


def test_a_role_of_aws_is_exchanged(aws: dict[str, str]) -> None:
    """Google gets a request that AWS would answer, and nothing else; no key is kept anywhere."""
    cloud = Cloud({"sts.googleapis.com/v1/token": GIVEN})
    assert minted(cloud, AWS_ACCOUNT, aws) == Token("ya29.minted", 3599)
    form = cloud.form()
    assert form["audience"] == AUDIENCE
    assert (form["grant_type"], form["scope"]) == ("urn:ietf:params:oauth:grant-type:token-exchange", SCOPE)
    assert form["subject_token_type"] == AWS_ACCOUNT["subject_token_type"]
    subject = json.loads(unquote(form["subject_token"]))
    headers = {pair["key"].lower(): pair["value"] for pair in subject["headers"]}
    assert (headers.pop("host"), headers["x-goog-cloud-target-resource"]) == ("sts.eu-west-1.amazonaws.com", AUDIENCE)
    assert headers["x-amz-security-token"] == "session"
    url = subject["url"].replace("amazonaws.com?", "amazonaws.com/?")
    assert fault_of(subject["method"], url, headers, b"", secret=SECRET, region="eu-west-1", service="sts") is None
    assert SECRET not in form["subject_token"]


def test_a_service_account_may_be_impersonated(aws: dict[str, str]) -> None:
    until = datetime.now(UTC) + timedelta(seconds=1800)
    answer = {"accessToken": "ya29.account", "expireTime": until.strftime("%Y-%m-%dT%H:%M:%SZ")}
    cloud = Cloud({"sts.googleapis.com/v1/token": GIVEN, IMPERSONATION: answer})
    document = AWS_ACCOUNT | {"service_account_impersonation_url": f"https://{IMPERSONATION}"}
    token = minted(cloud, document, aws, scope="https://scope.example/one")
    assert token.value == "ya29.account"
    assert 1790 < token.seconds <= 1800
    assert cloud.form()["scope"] == SCOPE
    second = cloud.asked[1]
    assert ("authorization", "Bearer ya29.minted") in second.headers
    assert json.loads(second.body) == {"scope": ["https://scope.example/one"], "lifetime": "3600s"}


@pytest.mark.parametrize("kind", ["text", "json"])
@pytest.mark.parametrize("place", ["file", "url"])
def test_a_token_of_any_other_identity_provider_is_exchanged(tmp_path: Path, place: str, kind: str) -> None:
    text = b"oidc-token\n" if kind == "text" else b'{"id_token":"oidc-token"}'
    (tmp_path / "token").write_bytes(text)
    cloud = Cloud({"sts.googleapis.com/v1/token": GIVEN, "169.254.1.1/token": (200, text)})
    source: dict[str, Any] = {"file": str(tmp_path / "token")}
    if place == "url":
        source = {"url": "http://169.254.1.1/token", "headers": {"metadata": "True"}}
    if kind == "json":
        source["format"] = {"type": "json", "subject_token_field_name": "id_token"}
    minted(
        cloud, AWS_ACCOUNT | {"credential_source": source, "subject_token_type": "urn:ietf:params:oauth:token-type:jwt"}
    )
    assert cloud.form(-1)["subject_token"] == "oidc-token"
    assert place == "file" or cloud.asked[0].headers == (("metadata", "True"),)


def test_what_gcloud_has_left_is_found(tmp_path: Path) -> None:
    person = {"type": "authorized_user", "client_id": "c", "client_secret": "s", "refresh_token": "r"}
    (tmp_path / "application_default_credentials.json").write_text(json.dumps(person))
    cloud = Cloud({TOKEN_URL: GIVEN})
    minted(cloud, None, {"CLOUDSDK_CONFIG": str(tmp_path)})
    assert cloud.form() == {"grant_type": "refresh_token", "client_id": "c", "client_secret": "s", "refresh_token": "r"}


def test_a_named_file_comes_first(tmp_path: Path) -> None:
    (tmp_path / "key.json").write_text(json.dumps(ACCOUNT))
    cloud = Cloud({TOKEN_URL: GIVEN})
    env = {"GOOGLE_APPLICATION_CREDENTIALS": str(tmp_path / "key.json"), "CLOUDSDK_CONFIG": str(tmp_path)}
    assert minted(cloud, None, env).value == "ya29.minted"
    with pytest.raises(TokenError, match="GOOGLE_APPLICATION_CREDENTIALS: the file cannot be read"):
        minted(cloud, None, {"GOOGLE_APPLICATION_CREDENTIALS": str(tmp_path / "none.json")})


def test_a_machine_of_googles_has_a_metadata_server(tmp_path: Path) -> None:
    path = "computeMetadata/v1/instance/service-accounts/default/token"
    env = {"CLOUDSDK_CONFIG": str(tmp_path)}
    cloud = Cloud({f"metadata.google.internal/{path}": GIVEN})
    assert minted(cloud, None, env).value == "ya29.minted"
    assert cloud.asked[0].headers == (("metadata-flavor", "Google"),)
    with pytest.raises(TokenError, match=r"GOOGLE_APPLICATION_CREDENTIALS is not set, .*no metadata server here"):
        minted(Cloud({}), None, env)


REFUSALS = [
    ({TOKEN_URL: (400, {"error": "invalid_grant", "error_description": "Invalid JWT Signature."})}, ACCOUNT,
     r"oauth2.googleapis.com answered 400 \(invalid_grant: Invalid JWT Signature.\)"),
    ({TOKEN_URL: (503, b"<html>")}, ACCOUNT, "oauth2.googleapis.com answered 503"),
    ({TOKEN_URL: {"token_type": "Bearer"}}, ACCOUNT, "the answer has no `access_token`"),
    ({TOKEN_URL: (200, b"<html>")}, ACCOUNT, "something that is no JSON object"),
    ({}, ACCOUNT, r"oauth2.googleapis.com could not be asked \(upstream_timeout\)"),
    ({}, ACCOUNT | {"private_key": "no key"}, "is no RSA key in PEM"),
    ({}, {"type": "service_account"}, "has no `client_email`"),
    ({}, {"type": "gdch_service_account"}, "none of these as `type`: service_account, external_account"),
    ({}, AWS_ACCOUNT | {"credential_source": {"executable": {"command": "rm"}}}, "none of AWS, a file and a URL"),
    ({}, AWS_ACCOUNT | {"credential_source": {"file": "/no/such/file"}}, "cannot be read"),
]  # fmt: skip


@pytest.mark.parametrize(("answers", "document", "words"), REFUSALS)
def test_what_fails_is_said_and_no_secret_with_it(
    answers: dict[str, Any], document: dict[str, Any], words: str
) -> None:
    with pytest.raises(TokenError, match=words) as caught:
        minted(Cloud(answers), document)
    assert PEM[60:90] not in str(caught.value)


def test_a_refusal_that_repeats_the_secret_does_not_tell_it() -> None:
    cloud = Cloud({TOKEN_URL: GIVEN})
    minted(cloud, ACCOUNT)
    said = cloud.form()["assertion"]

    class Repeating(Cloud):
        def _send(self, request: Any, seconds: float) -> tuple[int, bytes]:
            sent = dict(pair.split("=") for pair in request.body.decode().split("&"))["assertion"]
            return 400, json.dumps({"error": "invalid_grant", "error_description": f"bad {sent}"}).encode()

    with pytest.raises(TokenError) as caught:
        minted(Repeating({}), ACCOUNT)
    assert "bad ***" in str(caught.value)
    assert said[:20] not in str(caught.value)
