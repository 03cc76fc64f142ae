"""The local routing table says what the template says."""

from __future__ import annotations

from pathlib import Path

import pytest

from local.routes import ROUTES, NoRoute, Route, load_handlers, resolve
from tests.template.cloudformation import ROOT, load


@pytest.mark.parametrize(
    ("method", "path", "expected"),
    [
        ("POST", "/v1/chat/completions", Route("/chat/completions", "chat_completions")),
        ("POST", "/v1/native/tools/check", Route("/native/tools/check", "native")),
        ("GET", "/v1/models", Route("/models", "catalog")),
        ("HEAD", "/v1/models", Route("/models", "catalog")),
        ("GET", "/health", Route("/health", "catalog")),
        ("GET", "/v1/health", Route("/health", "catalog")),
        ("HEAD", "/", Route("/health", "catalog")),
        ("POST", "/", NoRoute()),
        ("POST", "/v1/messages", Route("/messages", "messages")),
        ("POST", "/v1/messages/count_tokens", Route("/messages/count_tokens", "messages")),
        ("GET", "/models", NoRoute()),
        ("GET", "/v1models", NoRoute()),
        ("GET", "/v1/models/", Route("/models", "catalog")),
        ("GET", "/v1/models/demo/openai", Route("/models/{id+}", "catalog", (("id", "demo/openai"),))),
        ("GET", "/v1/models/demo%2Fopenai", Route("/models/{id+}", "catalog", (("id", "demo%2Fopenai"),))),
        ("POST", "/v1/models/demo/openai", NoRoute(("GET", "HEAD"))),
        ("POST", "/v1/messages/", Route("/messages", "messages")),
        ("POST", "//v1/messages", Route("/messages", "messages")),
        ("POST", "/v1//messages", Route("/messages", "messages")),
        ("POST", "/v1/v1/messages", Route("/messages", "messages")),
        ("POST", "/v1/v1/v1/chat/completions/", Route("/chat/completions", "chat_completions")),
        ("GET", "/health/", Route("/health", "catalog")),
        ("POST", "/messages", NoRoute()),
        ("POST", "/anthropic/v1/messages", NoRoute()),
        ("GET", "/v1/health/models/x", NoRoute()),
        ("PUT", "/v1/models", NoRoute(("GET", "HEAD"))),
        ("GET", "/v1/chat/completions", NoRoute(("POST",))),
    ],
)
def test_resolve(method: str, path: str, expected: Route | NoRoute) -> None:
    assert resolve(method, path) == expected


def test_a_new_path_with_parameters_is_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ROUTES, "/toy/{model}/{verb}", {"POST": "toy"})

    named = (("model", "gpt-5"), ("verb", "ask"))
    assert resolve("POST", "/v1/toy/gpt-5/ask") == Route("/toy/{model}/{verb}", "toy", named)
    assert resolve("POST", "/v1/toy/gpt-5") == NoRoute()
    assert resolve("POST", "/v1/toy/a/b/ask") == NoRoute()


def test_the_template_routes_the_same() -> None:
    deployed: dict[str, dict[str, str]] = {}
    for resource in load()["Resources"].values():
        if resource["Type"] == "AWS::Serverless::Function":
            for event in resource["Properties"]["Events"].values():
                route = event["Properties"]
                folder = Path(resource["Properties"]["CodeUri"]).name
                deployed.setdefault(route["Path"], {})[route["Method"].upper()] = folder

    assert {path: methods for path, methods in deployed.items() if not path.startswith("/v1/")} == ROUTES
    for path, methods in deployed.items():
        for method, folder in methods.items():
            name = path.replace("{id+}", "a/b")
            found = resolve(method, f"/v1{name}")
            assert isinstance(found, Route)
            assert (found.resource, found.function) == (path.removeprefix("/v1"), folder)


def test_every_function_has_a_folder() -> None:
    folders = {folder for methods in ROUTES.values() for folder in methods.values()}

    assert folders == {path.parent.name for path in (ROOT / "functions").glob("*/app.py")}


def test_handlers_are_loaded_side_by_side(tmp_path: Path) -> None:
    folders = {folder for methods in ROUTES.values() for folder in methods.values()}
    for folder in folders:
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "app.py").write_text(f"def handler(event, context):\n    return '{folder}'\n")
    handlers = load_handlers(tmp_path)

    answers: dict[str, object] = {name: handler({}, None) for name, handler in handlers.items()}

    assert answers == {folder: folder for folder in folders}
