"""What an answer tells a browser."""

import pytest

from toolwire.shell.serve.cors import cors_headers, cors_origin


@pytest.mark.parametrize(
    ("env", "headers"),
    [
        ({}, {}),
        ({"CORS_ORIGIN": " "}, {}),
        ({"CORS_ORIGIN": "*"}, {"access-control-allow-origin": "*", "access-control-expose-headers": "*"}),
        (
            {"CORS_ORIGIN": "https://a.example "},
            {
                "access-control-allow-origin": "https://a.example",
                "access-control-expose-headers": "*",
                "vary": "Origin",
            },
        ),
    ],
)
def test_headers(env: dict[str, str], headers: dict[str, str]) -> None:
    assert dict(cors_headers(env)) == headers
    assert cors_origin(env) == headers.get("access-control-allow-origin")
