"""Requests to AWS are signed as a server of AWS checks them, with the credentials that are there."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.shell.access.sigv4_judge import fault_of
from toolwire.model.errors import InternalError
from toolwire.model.http import UpstreamRequest, post_json
from toolwire.model.settings import ProviderConfig
from toolwire.providers.hosts import AwsScope, aws_scope
from toolwire.shell.access import aws_signing
from toolwire.shell.network.aws_credentials import forget_credentials

KEY, SECRET = "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
ADDRESS = "https://bedrock-runtime.eu-west-1.amazonaws.com"
BEDROCK = ProviderConfig("bedrock", "bedrock_converse", ADDRESS, "aws")
MODELS = ("amazon.nova-lite-v1%3A0", "arn%3Aaws%3Abedrock%3Aeu-west-1%3A123%3Ainference-profile%2Feu.x", "plain")


def unsigned(model: str = MODELS[0], body: bytes = b'{"messages":[]}') -> UpstreamRequest:
    url = f"{ADDRESS}/model/{model}/converse-stream"
    return post_json(url, body, stream=True, headers=(("x-toolwire-hop", "1"),))


def judged(request: UpstreamRequest, **changed: Any) -> str | None:
    given = {"method": request.method, "url": request.url, "headers": dict(request.headers), "body": request.body}
    return fault_of(**(given | changed), secret=SECRET, region="eu-west-1", service="bedrock")


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.delenv("AWS_SESSION_TOKEN", raising=False)


@pytest.mark.usefixtures("keys")
@pytest.mark.parametrize("model", MODELS)
def test_the_signature_is_right(model: str) -> None:
    assert judged(aws_signing.signed(unsigned(model), BEDROCK)) is None


@pytest.mark.usefixtures("keys")
def test_a_roles_token_is_signed_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SESSION_TOKEN", "IQoJb3JpZ2luX2VjEXAMPLE")
    request = aws_signing.signed(unsigned(), BEDROCK)
    assert dict(request.headers)["x-amz-security-token"] == "IQoJb3JpZ2luX2VjEXAMPLE"
    assert judged(request) is None


@pytest.mark.usefixtures("keys")
def test_any_change_is_noticed() -> None:
    request = aws_signing.signed(unsigned(), BEDROCK)
    headers = dict(request.headers)
    assert judged(request, body=request.body + b" ") == "the signature does not match"
    assert judged(request, url=request.url.replace("stream", "strean")) == "the signature does not match"
    assert judged(request, headers=headers | {"content-type": "text/plain"}) == "the signature does not match"
    assert judged(request, method="PUT") == "the signature does not match"
    assert judged(unsigned()) == "no signature"


@pytest.mark.usefixtures("keys")
def test_a_request_to_anybody_else_is_left_as_it_is() -> None:
    request = unsigned()
    assert aws_signing.signed(request, replace(BEDROCK, credential="none")) is request
    assert aws_signing.signed(request, replace(BEDROCK, credential="env:AWS_BEARER_TOKEN_BEDROCK")) is request


GOV = "https://bedrock-runtime-fips.us-gov-west-1.amazonaws.com/openai/v1"
VPC = "https://vpce-1-ab.bedrock-runtime.eu-central-1.vpce.amazonaws.com"


@pytest.mark.parametrize(
    ("address", "region", "scope"),
    [
        (ADDRESS, None, AwsScope("bedrock", "eu-west-1")),
        (ADDRESS, "us-east-1", AwsScope("bedrock", "us-east-1")),
        (GOV, None, AwsScope("bedrock", "us-gov-west-1")),
        (VPC, None, AwsScope("bedrock", "eu-central-1")),
        ("https://bedrock-mantle.us-west-2.api.aws/anthropic", None, AwsScope("bedrock-mantle", "us-west-2")),
        ("http://127.0.0.1:9000", None, AwsScope("bedrock", "us-east-1")),
        ("http://127.0.0.1:9000", "ap-south-1", AwsScope("bedrock", "ap-south-1")),
    ],
)
def test_what_a_request_is_signed_for(address: str, region: str | None, scope: AwsScope) -> None:
    assert aws_scope(replace(BEDROCK, base_url=address, region=region)) == scope
    named = replace(BEDROCK, base_url=address, region=region, credential="aws:work")
    assert aws_scope(named) == replace(scope, profile="work")


def test_credentials_of_a_profile(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "of-somebody-else")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "of-somebody-else")
    file = tmp_path / "credentials"
    file.write_text(f"[work]\naws_access_key_id = {KEY}\naws_secret_access_key = {SECRET}\n")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(file))
    forget_credentials()
    request = aws_signing.signed(unsigned(), replace(BEDROCK, credential="aws:work"))
    assert judged(request) is None


@pytest.mark.parametrize(
    ("profile", "words"),
    [
        (None, r"AWS_ACCESS_KEY_ID.*AWS_PROFILE.*role\.$"),
        ("absent", r"The config profile \(absent\) could not be found\.$"),
    ],
)
def test_without_credentials_the_error_says_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any, profile: str | None, words: str
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "absent"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    forget_credentials()
    with pytest.raises(InternalError, match=f"no AWS credentials: .*{words}") as caught:
        aws_signing.signed(unsigned(), replace(BEDROCK, credential=f"aws:{profile}" if profile else "aws"))
    assert (caught.value.status, caught.value.code) == (503, "credential_unavailable")
