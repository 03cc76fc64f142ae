"""The request of the toy wire."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import quote

from tests.toys.toy_wire.answer import DIALECT, NetstringDecoder, ToyDecoder, error_from
from toolwire.framing import Framing
from toolwire.model.errors import UpstreamError
from toolwire.model.http import UpstreamRequest, endpoint, post_json
from toolwire.model.request import ChatRequest, Message, TextPart, ToolCallPart, ToolResultPart
from toolwire.model.settings import Target
from toolwire.model.warnings import Warnings
from toolwire.providers import Provider
from toolwire.providers.decoder_context import DecoderContext
from toolwire.providers.profiles import Profile
from toolwire.providers.sent_tools import SentTool, entries, member, sent_tool
from toolwire.rewrite.history import with_results
from toolwire.rewrite.tool_names import WIRE_NAME, with_wire_names
from toolwire.wire.json import dump, write_array, write_object

STREAM_TYPE = "application/x-netstrings"


class ToyWire(Provider):
    """See `providers.Provider`."""

    dialect = DIALECT
    tool_name = WIRE_NAME

    def build_request(
        self,
        request: ChatRequest,
        target: Target,
        profile: Profile,
        credential: str | None,
    ) -> tuple[UpstreamRequest, Warnings]:
        warnings = Warnings()
        request = with_results(with_wire_names(request, self.tool_name), warnings)
        path = f"/models/{quote(target.model, safe='')}/talk"
        url = endpoint(target.provider.base_url, path, f"version=2&streams={int(request.stream)}")
        tools = [
            write_object([("name", dump(tool.name)), ("takes", tool.parameters or b"{}")]) for tool in request.tools
        ]
        turns = [dump(said) for message in request.messages for said in _said(message)]
        body = write_object([("turns", write_array(turns)), ("tools", write_array(tools))])
        return post_json(url, body, stream=request.stream), warnings

    def sign(self, request: UpstreamRequest, credential: str | None, now: float) -> UpstreamRequest:
        seal = signature(request, credential or "", int(now))
        return replace(request, headers=(*request.headers, ("x-toy-date", str(int(now))), ("x-toy-signature", seal)))

    def framing(self, content_type: str, start: bytes, *, asked: bool) -> Framing | None:
        return NetstringDecoder() if content_type == STREAM_TYPE else None

    def decoder(self, context: DecoderContext) -> ToyDecoder:
        return ToyDecoder()

    def sent_tools(self, body: bytes) -> list[SentTool]:
        return [sent_tool(tool, None, "takes") for tool in entries(member(body, "tools"))]

    def parse_error(self, status: int, headers: dict[str, str], body: bytes) -> UpstreamError:
        return error_from(body, status)


def signature(request: UpstreamRequest, secret: str, now: int) -> str:
    """Over all that is sent: method, URL, headers and body."""
    headers = "".join(f"{name}: {value}\n" for name, value in sorted(request.headers))
    signed = f"{now}\n{request.method} {request.url}\n{headers}\n".encode() + request.body
    return hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()


def _said(message: Message) -> Iterator[list[str]]:
    for part in message.parts:
        match part:
            case TextPart():
                yield [message.role, part.text]
            case ToolCallPart():
                yield ["call", part.id, part.name, part.arguments]
            case ToolResultPart():
                yield ["result", part.tool_call_id, *(p.text for p in part.content if isinstance(p, TextPart))]
            case _:
                raise AssertionError(f"no test sends {part}")


PROVIDER = ToyWire()
