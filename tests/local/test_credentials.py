"""What is kept of headers, addresses and events: everything but credentials."""

from __future__ import annotations

import json

import pytest

from toolwire.shell.recording.credentials import NOT_KEPT, blotted, kept_event, kept_headers, kept_url, secrets_of

SECRET = "sk-planted-0123456789"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("authorization", f"Bearer {SECRET}"),
        ("Authorization", f"AWS4-HMAC-SHA256 Credential={SECRET}"),
        ("x-api-key", SECRET),
        ("api-key", SECRET),
        ("x-goog-api-key", SECRET),
        ("ocp-apim-subscription-key", SECRET),
        ("x-amz-security-token", SECRET),
        ("proxy-authorization", f"Basic {SECRET}"),
        ("cookie", f"session={SECRET}"),
        ("set-cookie", f"session={SECRET}"),
        ("anthropic-api-key", SECRET),
        ("openai-token", SECRET),
        ("x-anything-that-nobody-knows", SECRET),
    ],
)
def test_a_header_is_kept_only_if_it_is_known_to_be_harmless(name: str, value: str) -> None:
    assert kept_headers([(name, value)]) == [(name, NOT_KEPT)]
    event = kept_event({"headers": {name: value}, "multiValueHeaders": {name: [value, value]}})
    assert SECRET not in json.dumps(event)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("content-type", "application/json"),
        ("User-Agent", "agent/1"),
        ("anthropic-version", "2023-06-01"),
        ("anthropic-beta", "some-beta"),
        ("x-stainless-lang", "python"),
        ("x-toolwire-schema-mode", "lossy"),
        ("x-ratelimit-remaining-tokens", "5"),
        ("retry-after", "1"),
    ],
)
def test_harmless_ones_are_kept(name: str, value: str) -> None:
    assert kept_headers([(name, value)]) == [(name, value)]


@pytest.mark.parametrize(
    ("url", "kept"),
    [
        ("https://host/v1/models?key=sk-planted", "https://host/v1/models?key=%28not+kept%29"),
        ("https://host/v1?alt=sse&api-version=1", "https://host/v1?alt=sse&api-version=1"),
        ("https://user:sk-planted@host:8443/v1", "https://host:8443/v1"),
        ("http://127.0.0.1:8000/v1", "http://127.0.0.1:8000/v1"),
    ],
)
def test_addresses(url: str, kept: str) -> None:
    assert kept_url(url) == kept


def test_keys_in_a_query_of_the_client() -> None:
    event = kept_event(
        {
            "queryStringParameters": {"key": SECRET, "alt": "sse"},
            "multiValueQueryStringParameters": {"key": [SECRET], "alt": ["sse"]},
        }
    )

    assert SECRET not in json.dumps(event)
    assert event["queryStringParameters"]["alt"] == "sse"


def test_what_a_provider_repeats_is_blotted_out_and_words_are_not() -> None:
    headers = [("authorization", f"Bearer {SECRET}"), ("x-api-key", "none"), ("x-kind", "function")]
    data = f'{{"type":"function","message":"none of {SECRET}"}}'.encode()

    assert blotted(data, secrets_of(headers)) == b'{"type":"function","message":"none of ***"}'
    assert blotted(b"a?key=" + SECRET.encode(), secrets_of([], f"https://h/?key={SECRET}")) == b"a?key=***"
