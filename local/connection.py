"""One client's connection to the local server: request after request, in HTTP or, after an upgrade, in a WebSocket.

Each request becomes the event that API Gateway would make of it.
"""

from __future__ import annotations

import math
import os
import socket
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from local.event import LocalContext, proxy_event
from local.handlers import Handler
from local.http import HttpAnswer, RefusedError, RequestHead, RequestReader, check_length, linger, set_up
from local.origins import check_origin
from toolwire.doors.responses.errors import is_websocket
from toolwire.model.errors import ClientGone, GatewayError
from toolwire.model.http import Head, Headers
from toolwire.model.limits import BODY_BYTES
from toolwire.pages.paths import NoRoute, Route, refusal, render_error_at, resolve
from toolwire.shell.network.output import Output, deliver, stack_of
from toolwire.shell.network.proxy_event import error_head
from toolwire.shell.random_text import new_uuid
from toolwire.shell.serve.cors import PREFLIGHT, cors_headers, cors_origin

if TYPE_CHECKING:
    from local.responses_socket import ResponsesSocket, SocketAnswer
    from local.watch.exchanges import Exchanges

#: The seconds that an invocation may take: the template's default for StreamTimeoutSeconds.
FUNCTION_SECONDS = 600.0
#: The seconds that a connection may be silent while a request is awaited or read.
IDLE_SECONDS = 120.0

#: The path of the inspector's pages.
INSPECTOR = "/_toolwire"


class Server(Protocol):
    """The part of the server that a connection uses: see `local.server.LocalServer`."""

    handlers: Mapping[str, Handler]
    exchanges: Exchanges | None
    inspects: bool
    stops_at: float

    @property
    def url(self) -> str: ...

    def mark(self, connection: socket.socket, *, busy: bool) -> None: ...


class Connection:
    """One client's connection: request after request."""

    def __init__(self, server: Server, connection: socket.socket, client: str) -> None:
        self._server = server
        self._socket = connection
        self._client = client
        self._reader = RequestReader(connection)
        self._websocket: ResponsesSocket | None = None

    def serve(self) -> None:
        """Answers requests until either side ends the connection."""
        try:
            set_up(self._socket, IDLE_SECONDS)
            while self._serve_one() and self._server.stops_at == math.inf:
                self._server.mark(self._socket, busy=False)
        except (OSError, ClientGone):
            pass  # the client hung up; there is nobody to tell

    def _serve_one(self) -> bool:
        """Serves one request. Returns whether another one may follow."""
        if self._websocket is not None:
            return self._serve_message(self._websocket)
        head = None
        try:
            head = self._reader.head()
            if head is None:
                return False
            self._server.mark(self._socket, busy=True)
            if self._server.inspects and _is_inspectors(head):
                return self._inspect(head)
            check_origin(head)
            if _asks_for_socket(head):
                from local.responses_socket import ResponsesSocket  # its library is 4 MB, which few clients need

                self._websocket = ResponsesSocket(self._socket, head)
                return True
            route = resolve(head.method, _path(head))
            body = self._read_body(head, route)
        except GatewayError as refused:
            return self._refuse(head, refused, last=True)  # what is left of the request cannot be told from the next
        if isinstance(route, NoRoute):
            if head.method == "OPTIONS" and route.allow and cors_origin(os.environ):
                return self._send(head, Head(204, PREFLIGHT))
            return self._refuse(head, refusal(head.method, _path(head), head.fields))
        return self._invoke(head, route, body)

    def _serve_message(self, websocket: ResponsesSocket) -> bool:
        """Answers one message of a WebSocket. Returns whether another one may follow."""
        message = websocket.receive()
        if message is None:
            return False
        self._server.mark(self._socket, busy=True)
        try:
            body = websocket.request(message)
        except GatewayError as refused:
            return self._refuse(websocket.head, refused)
        return websocket.is_open if body is None else self._invoke(websocket.head, websocket.route, body)

    def _inspect(self, head: RequestHead) -> bool:
        """Sends a page of the inspector. Raises GatewayError for a client that may not see it."""
        from local.inspector.site import FORM_BYTES, Asked, Inspector  # templates take a tenth of a second

        assert self._server.exchanges is not None
        body = self._reader.body(head, FORM_BYTES)
        method = "GET" if head.method == "HEAD" else head.method
        asked = Asked(method, head.target, head.fields, self._client, bytes(body))
        try:
            page = Inspector(self._server.exchanges, self._server.handlers, self._server.url).page(asked)
        except GatewayError:
            raise
        except Exception as failure:  # noqa: BLE001 - a page that cannot be made is no reason to hang up
            report(failure, "of the inspector")
            raise RefusedError("The inspector failed. The log says where.", 500, "internal_error") from None
        if page.news is None:
            return self._send(head, page.head, page.body, headers=())  # CORS_ORIGIN's site gets the gateway, not this
        self._server.mark(self._socket, busy=False)  # nothing to wait for when the server stops
        output = Output(HttpAnswer(self._socket, head, last=True))
        output.start(page.head)
        for piece in page.news:
            output.write(piece)
            output.flush()
        return False

    def _read_body(self, head: RequestHead, route: Route | NoRoute) -> bytearray:
        if head.awaits_continue:
            if isinstance(route, NoRoute):
                raise refusal(head.method, _path(head), head.fields)
            check_length(head, BODY_BYTES)
            self._socket.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        return self._reader.body(head, BODY_BYTES)

    def _invoke(self, head: RequestHead, route: Route, body: bytearray) -> bool:
        request_id = new_uuid()
        event = proxy_event(head, route, body, request_id=request_id, client=self._client)
        context = LocalContext(route.function, request_id, FUNCTION_SECONDS)
        answer = self._carrier(head)
        handler = self._server.handlers[route.function]
        output = Output(answer, headers=cors_headers(os.environ))
        exchanges = self._server.exchanges
        seen = output.audience = None if exchanges is None else exchanges.begin(event, _path(head))
        try:
            return self._answer(head, answer, output, handler, event, context)
        finally:
            if exchanges is not None and seen is not None:
                exchanges.end(seen)
            output.ended()

    def _answer(
        self,
        head: RequestHead,
        answer: HttpAnswer | SocketAnswer,
        output: Output,
        handler: Handler,
        event: dict[str, Any],
        context: LocalContext,
    ) -> bool:
        request_id = context.aws_request_id
        output.stops_at = lambda: self._server.stops_at
        try:
            deliver(handler(event, context), output)
            if not output.head_sent:
                raise RuntimeError("the handler gave no answer")
            output.finish()
        except ClientGone:
            return False
        except Exception as failure:  # noqa: BLE001 - whatever it is, the client must not take it for an answer
            report(failure, request_id)
            if not output.begun:
                refused = RefusedError("The gateway failed. Its log says where.", 500, "internal_error")
                return self._refuse(head, refused, request_id=request_id)
            output.finish(failure)
        return answer.keeps_open

    def _refuse(
        self, head: RequestHead | None, refused: GatewayError, *, last: bool = False, request_id: str | None = None
    ) -> bool:
        """Sends an error of the server's own. `last`: the request was not read to its end, so the connection ends."""
        is_ours = request_id is None  # else it is a handler's, which is watched already
        request_id = request_id or new_uuid()
        body = render_error_at("" if head is None else _path(head), refused, request_id)
        if is_ours and head is not None and self._server.exchanges is not None and not _is_inspectors(head):
            self._server.exchanges.refused(head.method, _path(head), head.headers, request_id, refused)
        keeps_open = self._send(head, error_head(refused, "application/json", request_id), body, last=last)
        if last:
            linger(self._socket)
        return keeps_open

    def _send(
        self,
        head: RequestHead | None,
        answered: Head,
        body: bytes = b"",
        *,
        last: bool = False,
        headers: Headers | None = None,
    ) -> bool:
        """Sends a whole answer of the server's own. `headers`: additional ones; None: those for the pages of
        CORS_ORIGIN. Returns whether another request may follow."""
        answer = self._carrier(head, last=last)
        output = Output(answer, headers=cors_headers(os.environ) if headers is None else headers)
        output.start(answered)
        output.write(body)
        output.finish()
        return answer.keeps_open

    def _carrier(self, head: RequestHead | None, *, last: bool = False) -> HttpAnswer | SocketAnswer:
        """The carrier of the answer to a request."""
        return HttpAnswer(self._socket, head, last=last) if self._websocket is None else self._websocket.answer()


def _is_inspectors(head: RequestHead) -> bool:
    return head.target.startswith(INSPECTOR) and f"{_path(head)}/".startswith(f"{INSPECTOR}/")


def _asks_for_socket(head: RequestHead) -> bool:
    """Whether the request asks for a WebSocket at a path that has one."""
    if head.method != "GET" or not is_websocket(head.fields):
        return False
    route = resolve("POST", _path(head))
    return isinstance(route, Route) and route.resource == "/responses"


def _path(head: RequestHead) -> str:
    return head.target.partition("?")[0]


def report(failure: BaseException, request_id: str) -> None:
    """Writes the place where a handler failed to stderr, without the error's message, which may quote the request."""
    lines = [f"request {request_id}: the handler failed with {type(failure).__name__}", *stack_of(failure)]
    print("\n  ".join(lines), file=sys.stderr, flush=True)
