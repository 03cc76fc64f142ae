"""Which path is whose, as the template has it; and one answer to what is not served, wherever it is asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from local.handlers import load_handlers
from tests.named_rows import each_row
from tests.template.cloudformation import ROOT, load
from toolwire.doors import DOORS, DoorRow, load_door
from toolwire.model.http import Head
from toolwire.pages.catalog import error_body
from toolwire.pages.paths import NoRoute, Route, path_of, refusal, render_error_at, resolve, served
from toolwire.shell.recording.replay import replay
from toolwire.shell.recording.scenario import Recording, Scenario
from toolwire.shell.serve.catalog import serve_catalog


@each_row(
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
        ("PUT", "/v1/models/demo/openai", NoRoute(("POST", "GET", "HEAD"))),
        ("POST", "/v1/models/demo/x:y", Route("/models/{id+}", "gemini", (("id", "demo/x:y"),))),
        ("POST", "/v1beta/models/m:f", Route("/v1beta/models/{id+}", "gemini", (("id", "m:f"),))),
        ("POST", "/v1/v1beta/models/m:f", Route("/v1beta/models/{id+}", "gemini", (("id", "m:f"),))),
        ("POST", "/v1alpha/models/m:f", Route("/v1alpha/models/{id+}", "gemini", (("id", "m:f"),))),
        (
            "POST",
            "/v1beta1/publishers/a/models/m:f",
            Route("/v1beta1/{id+}", "gemini", (("id", "publishers/a/models/m:f"),)),
        ),
        ("POST", "/v1/v1beta1/models/m:f", Route("/v1beta1/{id+}", "gemini", (("id", "models/m:f"),))),
        ("POST", "/v1/projects/p/x:f", Route("/projects/{id+}", "gemini", (("id", "p/x:f"),))),
        ("POST", "/projects/p/x:f", NoRoute()),
        ("GET", "/v1beta/models", Route("/v1beta/models", "catalog")),
        ("POST", "/v1beta/files", NoRoute()),
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
    monkeypatch.setitem(DOORS, "toy", DoorRow("tests.toys.toy.request", ("/toy/{model}/{verb}",)))

    named = (("model", "gpt-5"), ("verb", "ask"))
    assert resolve("POST", "/v1/toy/gpt-5/ask") == Route("/toy/{model}/{verb}", "toy", named)
    assert resolve("POST", "/v1/toy/gpt-5") == NoRoute()
    assert resolve("POST", "/v1/toy/a/b/ask") == NoRoute()


def test_the_template_routes_the_same() -> None:
    deployed: dict[str, dict[str, str]] = {}
    for resource in load()["Resources"].values():
        if resource["Type"] == "AWS::Serverless::Function":
            for event in resource["Properties"].get("Events", {}).values():
                route = event["Properties"]
                folder = Path(resource["Properties"]["CodeUri"]).name
                deployed.setdefault(route["Path"], {})[route["Method"].upper()] = folder

    assert {path: methods for path, methods in deployed.items() if not path.startswith("/v1/")} == served()
    for path, methods in deployed.items():
        for method, folder in methods.items():
            name = path.replace("{id+}", "a/b")
            found = resolve(method, f"/v1{name}")
            assert isinstance(found, Route)
            assert (found.resource, found.function) == (
                path.removeprefix("/v1") if path.startswith("/v1/") else path,
                folder,
            )


def test_every_function_has_a_folder() -> None:
    folders = {folder for methods in served().values() for folder in methods.values()}

    # The one more has every path, behind a function URL.
    assert folders | {"gateway"} == {path.parent.name for path in (ROOT / "functions").glob("*/app.py")}


def test_handlers_are_loaded_side_by_side(tmp_path: Path) -> None:
    folders = {folder for methods in served().values() for folder in methods.values()}
    for folder in folders:
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "app.py").write_text(f"def handler(event, context):\n    return '{folder}'\n")
    handlers = load_handlers(tmp_path)

    answers: dict[str, object] = {name: handler({}, None) for name, handler in handlers.items()}

    assert answers == {folder: folder for folder in folders}


def test_an_api_that_nobody_has_asked_for_takes_no_memory(tmp_path: Path) -> None:
    folders = {folder for methods in served().values() for folder in methods.values()}
    loads = "from pathlib import Path\nPath(__file__).with_name('loaded').touch(exist_ok=False)\n"
    app = f"{loads}def handler(event, context):\n    pass\n"
    for folder in folders:
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "app.py").write_text(app)

    handlers = load_handlers(tmp_path)

    assert {path.parent.name for path in tmp_path.glob("*/loaded")} == {"catalog", "chat_completions"}
    for folder in sorted(folders) * 2:  # with the first request, and then no more
        handlers[folder]({}, None)
        assert (tmp_path / folder / "loaded").exists()


# ---------------------------------------------------------------- what is not served

#: What is asked (method, the template's path, its parameters), and the status and the form of the answer.
NOT_SERVED = [
    ("GET", "/chat/completions", {}, 405, "chat_completions"),
    ("POST", "/{path+}", {"path": "embeddings"}, 404, "chat_completions"),
    ("DELETE", "/messages", {}, 405, "messages"),
    ("POST", "/{path+}", {"path": "messages/batches"}, 404, "messages"),
    ("PUT", "/responses/compact", {}, 405, "responses"),
    ("GET", "/responses", {}, 405, "responses"),
    ("GET", "/responses/{id}/cancel", {"id": "resp_1"}, 405, "responses"),
    ("POST", "/responses/{id}/input_items", {"id": "resp_1"}, 405, "responses"),
    ("POST", "/responses/{id}", {"id": "resp_1"}, 405, "responses"),
    ("GET", "/native/tools/check", {}, 405, "native"),
    ("POST", "/{path+}", {"path": "native"}, 404, "native"),
    ("PUT", "/models/{id+}", {"id": "a/chat"}, 405, None),
    ("PUT", "/v1beta/models/{id+}", {"id": "a:generateContent"}, 405, "gemini"),
    ("POST", "/{path+}", {"path": "v1beta/files"}, 404, "gemini"),
    ("GET", "/projects/{id+}", {"id": "p/locations/l/publishers/google/models/m"}, 405, "gemini"),
    ("POST", "/health", {}, 405, None),
    ("GET", "/{path+}", {"path": "nowhere"}, 404, None),
]


@each_row(("method", "resource", "parameters", "status", "door"), NOT_SERVED)
def test_what_is_not_served_is_answered_in_the_form_of_its_api(
    method: str, resource: str, parameters: dict[str, str], status: int, door: str | None
) -> None:
    """By the deployed function, in a replay, and by the two functions that the local server asks."""
    event = {
        "httpMethod": method, "resource": resource, "pathParameters": parameters, "body": "{}",
        "requestContext": {"requestId": "req-1"},
    }  # fmt: skip
    head, body = list(serve_catalog(event, None))
    assert isinstance(head, Head)
    replayed = replay(Scenario(event, Recording(200, {}, b"", "complete")))
    path = path_of(resource, parameters)
    error = refusal(method, path, {})

    assert (head.status, error.status) == (status, status)
    assert ("allow" in dict(head.headers)) == (status == 405)
    assert bytes(body) == replayed.body == render_error_at(path, error, "req-1")  # type: ignore[arg-type]
    assert head == replayed.head
    assert bytes(body) == (error_body(error, "req-1") if door is None else load_door(door).render_error(error, "req-1"))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "headers",
    [{"upgrade": "WebSocket", "connection": "Upgrade"}, {"sec-websocket-key": "x3JJHMbDL1EzLkh9GBhXDw=="}],
    ids=["as it is sent", "as API Gateway hands it on"],
)
def test_who_wants_a_websocket_is_told_to_send_a_request(headers: dict[str, str]) -> None:
    """426 is what Codex, which opens one at each start, goes on from without another try."""
    event = {
        "httpMethod": "GET", "resource": "/responses", "headers": headers, "requestContext": {"requestId": "req-1"},
    }  # fmt: skip
    head, body = list(serve_catalog(event, None))
    assert isinstance(head, Head)
    assert (head.status, dict(head.headers)["upgrade"]) == (426, "HTTP/1.1")
    assert b"send POST to the same URL" in bytes(body)  # type: ignore[arg-type]
    assert refusal("GET", "/v1/chat/completions", headers).status == 405


@pytest.mark.parametrize("path", ["/models", "/native/translate", "/messages/count_tokens"])
def test_what_is_served_without_an_exchange_cannot_be_replayed(path: str) -> None:
    (method,) = served()[path]
    event = {"httpMethod": method, "resource": path, "body": "{}", "requestContext": {"requestId": "req-1"}}
    with pytest.raises(ValueError, match="nothing to replay"):
        replay(Scenario(event, Recording(200, {}, b"", "complete")))
