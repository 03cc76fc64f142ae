"""Access tokens of Microsoft Entra ID: what each kind of identity sends, and what is said where it fails."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.shell.access.cloud_tokens.clouds import Cloud
from toolwire.shell.access.cloud_tokens import Token, TokenError
from toolwire.shell.access.cloud_tokens.entra import mint

OPENAI = "https://res.openai.azure.com/openai/v1"
FOUNDRY = "https://res.services.ai.azure.com/anthropic"
SERVICES, FOUNDRY_SCOPE = "https://cognitiveservices.azure.com/.default", "https://ai.azure.com/.default"
CLIENT = {"AZURE_TENANT_ID": "tenant-1", "AZURE_CLIENT_ID": "client-1", "AZURE_CLIENT_SECRET": "s3cret~value"}
TOKEN_URL = "login.microsoftonline.com/tenant-1/oauth2/v2.0/token"
GIVEN = {"token_type": "Bearer", "expires_in": 3599, "access_token": "eyJ.minted"}
MACHINE = "169.254.169.254/metadata/identity/oauth2/token"


def minted(
    cloud: Cloud, env: dict[str, str], *, document: Any = None, scope: str | None = None, base: str = OPENAI
) -> Token:
    return mint(None if document is None else json.dumps(document).encode(), scope, base, env, cloud.ask)


@pytest.mark.parametrize(
    ("base", "scope", "asked"),
    [
        (OPENAI, None, SERVICES),
        (FOUNDRY, None, FOUNDRY_SCOPE),
        (OPENAI, "https://x.azure.us/.default", "https://x.azure.us/.default"),
    ],
)
def test_a_client_has_a_secret(base: str, scope: str | None, asked: str) -> None:
    cloud = Cloud({TOKEN_URL: GIVEN})
    assert minted(cloud, CLIENT, base=base, scope=scope) == Token("eyJ.minted", 3599)
    assert cloud.form() == {
        "grant_type": "client_credentials", "client_id": "client-1", "client_secret": "s3cret~value", "scope": asked,
    }  # fmt: skip


def test_a_document_has_the_same() -> None:
    cloud = Cloud({TOKEN_URL: GIVEN})
    minted(cloud, {}, document={"tenant_id": "tenant-1", "client_id": "other", "client_secret": "kept"})
    assert (cloud.form()["client_id"], cloud.form()["client_secret"]) == ("other", "kept")


def test_a_workload_has_a_token_that_it_exchanges(tmp_path: Path) -> None:
    """The file is read each time, since it is changed in its place."""
    cloud, file = Cloud({TOKEN_URL: GIVEN}), tmp_path / "token"
    env = {"AZURE_TENANT_ID": "tenant-1", "AZURE_CLIENT_ID": "client-1", "AZURE_FEDERATED_TOKEN_FILE": str(file)}
    for text in ("first", "second"):
        file.write_text(text + "\n")
        minted(cloud, env)
        form = cloud.form(-1)
        assert (form["client_assertion"], "client_secret" in form) == (text, False)
        assert form["client_assertion_type"] == "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"


def test_a_cloud_of_a_government_has_its_own_authority() -> None:
    cloud = Cloud({"login.microsoftonline.us/tenant-1/oauth2/v2.0/token": GIVEN})
    assert minted(cloud, CLIENT | {"AZURE_AUTHORITY_HOST": "https://login.microsoftonline.us/"}).value == "eyJ.minted"


@pytest.mark.parametrize("client", [None, "user-assigned"])
def test_an_app_has_a_managed_identity(client: str | None) -> None:
    until = int(time.time()) + 1200
    cloud = Cloud({"localhost:4141/msi/token": {"access_token": "eyJ.app", "expires_on": str(until)}})
    env = {"IDENTITY_ENDPOINT": "http://localhost:4141/msi/token", "IDENTITY_HEADER": "proof"}
    token = minted(cloud, env | ({"AZURE_CLIENT_ID": client} if client else {}))
    assert token.value == "eyJ.app"
    assert 1190 < token.seconds <= 1200
    asked = parse_qs(urlsplit(cloud.asked[0].url).query)
    assert asked.pop("client_id", [None]) == [client]
    assert asked == {"api-version": ["2019-08-01"], "resource": ["https://cognitiveservices.azure.com"]}
    assert cloud.asked[0].headers == (("x-identity-header", "proof"),)


def test_a_machine_has_a_managed_identity() -> None:
    cloud = Cloud({MACHINE: {"access_token": "eyJ.vm", "expires_in": "86399"}})
    assert minted(cloud, {}) == Token("eyJ.vm", 86399)
    assert cloud.asked[0].headers == (("metadata", "true"),)
    with pytest.raises(TokenError, match="AZURE_TENANT_ID is not set, and there is no managed identity here"):
        minted(Cloud({}), {})


WRONG_SECRET = (
    "AADSTS7000215: Invalid client secret provided. s3cret~value is not it.\r\nTrace ID: 1\r\nTimestamp: 2026-01-01"
)


@pytest.mark.parametrize(
    ("answers", "env", "words"),
    [
        ({TOKEN_URL: (401, {"error": "invalid_client", "error_description": WRONG_SECRET})}, CLIENT,
         r"login.microsoftonline.com answered 401 \(invalid_client: AADSTS7000215: .* \*\*\* is not it.\)$"),
        ({}, CLIENT, "login.microsoftonline.com could not be asked"),
        ({}, {"AZURE_TENANT_ID": "t", "AZURE_CLIENT_ID": "c"}, "has no `client_secret`"),
        ({}, {"AZURE_TENANT_ID": "t"}, "has no `client_id`"),
        ({}, {"AZURE_TENANT_ID": "t", "AZURE_CLIENT_ID": "c", "AZURE_FEDERATED_TOKEN_FILE": "/no"},
         "cannot be read"),
    ],
)  # fmt: skip
def test_what_fails_is_said_and_no_secret_with_it(answers: dict[str, Any], env: dict[str, str], words: str) -> None:
    with pytest.raises(TokenError, match=words) as caught:
        minted(Cloud(answers), env)
    assert "s3cret" not in str(caught.value)
