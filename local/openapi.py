"""The native API's OpenAPI document, made from its models: `make openapi` writes docs/openapi.json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import models_json_schema

from local import answer_models as answers
from toolwire import __version__
from toolwire.doors.native import request_models as requests

PAGE = Path(__file__).parents[1] / "docs" / "openapi.json"

_REF = "#/components/schemas/{model}"

#: Path -> summary, request, answer.
_ROUTES = {
    "/native/chat": ("One assistant turn, streamed or as JSON", requests.ChatRequest, answers.ChatResponse),
    "/native/tools/check": (
        "Which providers take a set of tools, and what becomes of it",
        requests.ToolsCheckRequest,
        answers.ToolsCheckResponse,
    ),
    "/native/translate": (
        "The request that a provider would be sent, not sent",
        requests.TranslateRequest,
        answers.TranslateResponse,
    ),
}


def document() -> dict[str, Any]:
    """The document, as JSON values."""
    inputs = [route[1] for route in _ROUTES.values()]
    outputs = [*(route[2] for route in _ROUTES.values()), answers.ErrorResponse]
    wanted: list[Any] = [(model, "validation") for model in (*inputs, *outputs)]
    names, definitions = models_json_schema(wanted, ref_template=_REF)
    schemas: dict[str, Any] = definitions["$defs"]
    event = TypeAdapter(answers.Event).json_schema(ref_template=_REF)
    schemas |= event.pop("$defs") | {"Event": event}
    refs = {model: names[model, "validation"] for model, _ in wanted}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "toolwire native API",
            "version": __version__,
            "description": "Tool calling whose arguments are JSON objects, with any provider behind it.",
        },
        "servers": [{"url": "http://127.0.0.1:8080/v1"}],
        "security": [{"bearer": []}, {"x-api-key": []}],
        "paths": {path: {"post": _operation(path, *route, refs)} for path, route in _ROUTES.items()},
        "components": {
            "schemas": dict(sorted(schemas.items())),
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer"},
                "x-api-key": {"type": "apiKey", "in": "header", "name": "x-api-key"},
            },
        },
    }


def _operation(path: str, summary: str, request: Any, answer: Any, refs: dict[Any, Any]) -> dict[str, Any]:
    content: dict[str, Any] = {"application/json": {"schema": refs[answer]}}
    if path == "/native/chat":
        content["text/event-stream"] = {
            "schema": {
                "type": "string",
                "description": "With `stream: true`: server-sent events, each named by its `type`. See `Event`.",
            }
        }
    failed = {"description": "An error", "content": {"application/json": {"schema": refs[answers.ErrorResponse]}}}
    return {
        "summary": summary,
        "operationId": path.removeprefix("/").replace("/", "_"),
        "requestBody": {"required": True, "content": {"application/json": {"schema": refs[request]}}},
        "responses": {"200": {"description": "The answer", "content": content}, "default": failed},
    }


def text() -> str:
    """The document as it stands in the file."""
    return json.dumps(document(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    PAGE.write_text(text(), encoding="utf-8")
