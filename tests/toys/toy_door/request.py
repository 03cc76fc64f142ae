"""The request of the toy door: POST /toy/{model}:ask and /toy/{model}:hear, with `{"turns": [...], "tools": [...]}`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from tests.toys.toy_door.answer import ToyEncoder, render_response
from toolwire.doors import AnswerContext, Door, KeyPlaces, StreamEncoder
from toolwire.doors.limit_headers import RateLimit
from toolwire.model.errors import GatewayError, RequestError
from toolwire.model.events import Batch
from toolwire.model.http import Headers, HttpRequest
from toolwire.model.request import ChatRequest, Message, Part, TextPart, Tool, ToolCallPart, ToolResultPart
from toolwire.model.response import ChatResponse
from toolwire.wire.json import dump, write_object


class _Tool(msgspec.Struct):
    name: str
    takes: msgspec.Raw


class _Body(msgspec.Struct):
    turns: list[list[str]]
    tools: list[_Tool] = []


class ToyDoor(Door):
    """See `doors.Door`."""

    name = "toy"
    dialect = "toy_door"
    call_id = r"(?!)"
    response_prefix = "toy-"
    key_places = KeyPlaces(headers=(), query=("key",))

    def parse_request(self, request: HttpRequest) -> ChatRequest:
        model, _, verb = request.parameters["action"].rpartition(":")
        if verb not in ("ask", "hear"):
            raise RequestError(f"the path ends with :ask or :hear, not with :{verb}", status=404, code="not_found")
        body = msgspec.json.decode(request.body, type=_Body)
        return ChatRequest(
            model=model,
            messages=tuple(Message(*_turn(*turn)) for turn in body.turns),
            tools=tuple(Tool(tool.name, parameters=bytes(tool.takes)) for tool in body.tools),
            stream=verb == "hear",
            include_usage=True,
        )

    def sample_request(self, tools: Iterable[tuple[str, bytes]]) -> HttpRequest:
        body = write_object([("turns", b'[["user","?"]]'), *tools])
        return HttpRequest("POST", "/toy/{action}", {}, body, {"action": "any:ask"})

    def stream_encoder(self, request: ChatRequest, context: AnswerContext) -> StreamEncoder:
        return ToyEncoder()

    def render_response(self, response: ChatResponse, batch: Batch, context: AnswerContext) -> bytes:
        return render_response(response)

    def render_error(self, error: GatewayError, request_id: str) -> bytes:
        return dump({"oops": error.message, "code": error.code, "about": request_id})

    def limit_headers(self, limits: Iterable[RateLimit]) -> Headers:
        return tuple((f"x-toy-left-{rate.name}", str(rate.remaining)) for rate in limits)


def _turn(role: str, *said: str) -> tuple[Any, tuple[Part, ...]]:
    match role:
        case "call":
            return "assistant", (ToolCallPart(said[0], said[1], said[2]),)
        case "result":
            return "tool", (ToolResultPart(said[0], (TextPart(said[1]),)),)
        case _:
            return role, (TextPart(said[0]),)


DOOR = ToyDoor()
