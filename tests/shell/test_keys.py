"""The key of a request."""

import hashlib

import pytest

from toolwire.model.errors import RequestError
from toolwire.model.settings import Settings, Tenant
from toolwire.shell.keys import authenticate

TENANT = Tenant(name="default")
OPEN = Settings(providers={}, tenant=TENANT)
LOCKED = Settings(providers={}, tenant=TENANT, key_sha256=hashlib.sha256(b"tw-secret").hexdigest())
SHUT = Settings(providers={}, tenant=TENANT, require_key=True)


@pytest.mark.parametrize(
    "headers",
    [
        {"authorization": "Bearer tw-secret"},
        {"authorization": "bearer  tw-secret "},
        {"x-api-key": "tw-secret"},
        {"authorization": "Bearer other", "x-api-key": "tw-secret"},
        {"authorization": "Basic other", "x-api-key": "tw-secret"},
    ],
)
def test_the_key_is_taken_from_either_header(headers: dict[str, str]) -> None:
    assert authenticate(headers, LOCKED) is TENANT


@pytest.mark.parametrize(
    ("headers", "says"),
    [
        ({}, "missing"),
        ({"authorization": ""}, "missing"),
        ({"authorization": "Bearer "}, "missing"),
        ({"authorization": "tw-secret"}, "missing"),
        ({"authorization": "Basic tw-secret"}, "missing"),
        ({"authorization": "Bearer tw-secre"}, "not valid"),
        ({"x-api-key": LOCKED.key_sha256 or ""}, "not valid"),
        ({"x-api-key": "\ud800"}, "not valid"),
    ],
)
def test_without_the_key_it_is_401(headers: dict[str, str], says: str) -> None:
    with pytest.raises(RequestError, match=says) as caught:
        authenticate(headers, LOCKED)

    error = caught.value
    assert (error.status, error.code, error.retry) == (401, "invalid_api_key", False)
    assert "tw-secre" not in error.message


def test_everybody_is_let_in_where_no_key_is_configured_nor_required() -> None:
    assert authenticate({"authorization": "Bearer whatever"}, OPEN) is TENANT
    assert authenticate({}, OPEN) is TENANT


@pytest.mark.parametrize("headers", [{}, {"authorization": "Bearer whatever"}])
def test_nobody_is_let_in_where_a_key_is_required_and_none_configured(headers: dict[str, str]) -> None:
    with pytest.raises(RequestError, match="KEY_SHA256") as caught:
        authenticate(headers, SHUT)
    assert caught.value.status == 401
