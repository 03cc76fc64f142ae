"""Who may use the local gateway: holders of keys, and pages of the site that CORS_ORIGIN names."""

from __future__ import annotations

import hashlib
import http.client
import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.gateway import gateway as running_gateway
from toolwire.pages.paths import served
from toolwire.shell.access.key_records import KeyRecord, file_text

pytestmark = pytest.mark.enable_socket

ORIGIN = "https://app.example.com"
#: Planted in requests; nothing that the gateway prints or answers may have any of it.
GOOD, EXPIRED, REVOKED = (f"tw_12345678_planted{name}" for name in ("good", "expired", "revoked"))
PROMPT = "planted prompt"
BODY = json.dumps({"model": "demo/openai", "messages": [{"role": "user", "content": PROMPT}]})


def record(key: str, expires_at: int | None = None, **settings: object) -> KeyRecord:
    return KeyRecord(hashlib.sha256(key.encode()).hexdigest(), key[:11], "acme", 1, expires_at, settings)


class Gateway:
    """A running gateway and what it has printed."""

    def __init__(self, url: str, log: Path) -> None:
        self.url = url
        self._log = log

    def ask(
        self, method: str, path: str, headers: dict[str, str], body: str | None = None
    ) -> tuple[int, dict[str, str], str]:
        parts = urlsplit(self.url)
        with closing(http.client.HTTPConnection(parts.netloc, timeout=20)) as connection:
            connection.request(method, parts.path + path, body, {"content-type": "application/json", **headers})
            response = connection.getresponse()
            found = {name.lower(): value for name, value in response.getheaders()}
            return response.status, found, response.read().decode()

    def chat(self, headers: dict[str, str]) -> tuple[int, dict[str, str], str]:
        return self.ask("POST", "/chat/completions", headers, BODY)

    @property
    def printed(self) -> str:
        return self._log.read_text("utf-8", "replace")


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    """`make run` with a file of keys, for the pages of ORIGIN, at the most talkative level."""
    folder = tmp_path_factory.mktemp("access")
    file = folder / "keys.json"
    file.write_text(file_text([record(GOOD, models=["demo/openai"]), record(EXPIRED, expires_at=2)]))
    with pytest.MonkeyPatch.context() as env:
        env.setenv("KEYS_FILE", str(file))
        env.setenv("CORS_ORIGIN", ORIGIN)
        env.setenv("LOG_LEVEL", "DEBUG")
        with running_gateway(folder) as base:
            yield Gateway(base, folder / "gateway.log")


def test_a_good_key_is_let_in_by_either_header(gateway: Gateway) -> None:
    for headers in ({"authorization": f"Bearer {GOOD}"}, {"x-api-key": GOOD}):
        assert gateway.chat(headers)[0] == 200
        status, _, body = gateway.ask("GET", "/models", headers)
        assert status == 200
        assert [model["id"] for model in json.loads(body)["data"]] == ["demo/openai"]
    assert gateway.ask("GET", "/health", {})[0] == 200


REFUSED = {
    "no key": {},
    "an unknown key": {"authorization": "Bearer tw_12345678_plantedunknown"},
    "a revoked key": {"x-api-key": REVOKED},
    "an expired key": {"x-api-key": EXPIRED},
    "a good key in another header": {"key": GOOD, "cookie": f"key={GOOD}"},
    "a good key without its scheme": {"authorization": GOOD},
    "10 KB of a key": {"authorization": "Bearer " + GOOD * 400},
}


def test_a_key_where_the_fifth_door_has_it_stays_out_of_what_is_printed(gateway: Gateway) -> None:
    for headers, query in [({"x-goog-api-key": GOOD}, ""), ({}, f"?key={GOOD}")]:
        for path in ("/v1beta/models", "/v1beta/models/demo/openai"):
            assert gateway.ask("GET", path + query, headers)[0] == 200
        body = json.dumps({"contents": [{"parts": [{"text": "hi"}]}]})
        assert gateway.ask("POST", f"/models/demo/openai:generateContent{query}", headers, body)[0] == 200
    assert "planted" not in gateway.printed


def test_whoever_else_asks_is_refused_alike_and_nothing_of_it_is_printed(gateway: Gateway) -> None:
    answers = set()
    paths = {path: method for path, methods in served().items() for method in methods if path != "/health"}
    for path, headers in [(path, headers) for path in paths for headers in REFUSED.values()]:
        status, found, body = gateway.ask(paths[path], path, headers, BODY if paths[path] == "POST" else None)
        assert status == 401
        request_id = found.pop("x-request-id")
        assert found.pop("request-id") == request_id
        for name in ("date", "content-length"):
            found.pop(name, None)
        answers.add((path, body.replace(request_id, "ID"), tuple(sorted(found.items()))))
        assert "error" in json.loads(body)
        assert '"invalid_api_key"' in body

    assert len(answers) == len(paths), "one answer for each path, whatever was wrong"
    assert "planted" not in "".join(body for _, body, _ in answers)
    assert "invalid_api_key" in gateway.printed
    assert "planted" not in gateway.printed


# ---------------------------------------------------------------- browsers


def test_a_preflight(gateway: Gateway) -> None:
    asks = {"origin": ORIGIN, "access-control-request-method": "POST"}
    status, found, body = gateway.ask("OPTIONS", "/chat/completions", asks)

    assert (status, body) == (204, "")
    assert {name: value for name, value in found.items() if name.startswith("access-control-")} == {
        "access-control-allow-origin": ORIGIN,
        "access-control-expose-headers": "*",
        "access-control-allow-methods": "GET, POST, DELETE, OPTIONS",
        "access-control-allow-headers": "authorization, *",
        "access-control-max-age": "3600",
    }


@pytest.mark.parametrize(
    ("method", "path", "key", "status"),
    [
        ("POST", "/chat/completions", GOOD, 200),
        ("POST", "/chat/completions", "wrong", 401),
        ("GET", "/models", GOOD, 200),
        ("GET", "/nowhere", GOOD, 404),
        ("PUT", "/models", GOOD, 405),
    ],
)
def test_a_page_of_the_site_may_read_every_answer(
    gateway: Gateway, method: str, path: str, key: str, status: int
) -> None:
    body = BODY if method == "POST" else None
    got, found, _ = gateway.ask(method, path, {"origin": ORIGIN, "x-api-key": key}, body)

    assert got == status
    assert (found["access-control-allow-origin"], found["access-control-expose-headers"]) == (ORIGIN, "*")
    assert found["vary"] == "Origin"


def test_pages_of_other_sites_are_still_refused(gateway: Gateway) -> None:
    for origin in ("https://evil.example", "null", f"{ORIGIN}.evil.example"):
        status, found, _ = gateway.chat({"origin": origin, "x-api-key": GOOD})
        assert status == 403
        assert found["access-control-allow-origin"] == ORIGIN  # which is not theirs
