"""The streaming Lambda runtime: AWS's own `awslambdaric`, changed to post an answer while it is produced.

The managed Python runtime takes a return value only. Here a handler that is a generator (its `Head` first, then bytes)
is posted as a chunked body over a connection of its own, with the prelude that API Gateway reads; everything else
(logs, tracebacks, X-Ray, SnapStart) stays awslambdaric's. It is pinned exactly, because what we override is private;
`tests/shell/serve/test_runtime.py` names each attribute. The `bootstrap` beside this package starts `main`.

Protocol: "Building a custom runtime" in the Lambda developer guide, section "Implementing response streaming".
"""

from __future__ import annotations

import base64
import json
import os
import socket
from collections.abc import Generator
from typing import Any

from awslambdaric import bootstrap
from awslambdaric.lambda_config import LambdaConfigProvider
from awslambdaric.lambda_runtime_client import InvocationRequest, LambdaRuntimeClient
from awslambdaric.lambda_runtime_exception import FaultException
from awslambdaric.lambda_runtime_marshaller import LambdaMarshaller

from toolwire.model.errors import ClientGone
from toolwire.model.http import Head, Headers
from toolwire.shell.network.output import Answer, Output, bound_sends, chunk, deliver, is_there, stack_of
from toolwire.shell.serve.cors import cors_headers
from toolwire.shell.telemetry.log import logger

#: The content type that marks a body with a prelude. Function URLs need it, and API Gateway too, by its documentation.
#: In case it does harm there, TOOLWIRE_STREAM_MARKER=off leaves it out.
MARKER = "application/vnd.awslambda.http-integration-response"
#: Ends the prelude: exactly eight NULs.
PRELUDE_END = b"\0" * 8

ERROR_TYPE = "Lambda-Runtime-Function-Error-Type"
ERROR_BODY = "Lambda-Runtime-Function-Error-Body"

#: The marshaller's result for an answer that it has posted already.
STREAMED = object()


class ResponsePost:
    """The POST that carries one invocation's answer to the Runtime API, as a `Carrier`."""

    #: On Lambda the other end is the Runtime API, which does not say when the client hangs up.
    reaches_client = False

    def __init__(self, api_address: str, invocation: InvocationRequest, *, marker: bool) -> None:
        self.connection: socket.socket | None = None
        self._address = api_address
        self._invocation = invocation
        self._marker = marker

    def connect(self) -> socket.socket:
        host, _, port = self._address.rpartition(":")
        self.connection = socket.create_connection((host, int(port)))
        bound_sends(self.connection)
        return self.connection

    def listen(self) -> bool:
        assert self.connection is not None
        return is_there(self.connection)

    def head(self, head: Head, length: int | None) -> bytes:  # noqa: ARG002 - always chunked, as Lambda asks
        lines = [
            f"POST /2018-06-01/runtime/invocation/{self._invocation.invoke_id}/response HTTP/1.1",
            f"Host: {self._address}",
            "Lambda-Runtime-Function-Response-Mode: streaming",
            f"Content-Type: {MARKER if self._marker else 'application/octet-stream'}",
            "Transfer-Encoding: chunked",
            f"Trailer: {ERROR_TYPE}, {ERROR_BODY}",
            "Connection: close",
        ]
        if self._invocation.invocation_id:
            lines.append(f"Lambda-Runtime-Invocation-Id: {self._invocation.invocation_id}")
        return "\r\n".join([*lines, "\r\n"]).encode() + chunk(prelude(head)) + chunk(PRELUDE_END)

    def frame(self, data: bytes) -> bytes:
        return chunk(data)

    def end(self, failure: BaseException | None) -> bytes:
        if failure is None:
            return b"0\r\n\r\n"
        body = base64.b64encode(json.dumps(describe(failure)).encode()).decode()
        return f"0\r\n{ERROR_TYPE}: {type(failure).__name__}\r\n{ERROR_BODY}: {body}\r\n\r\n".encode()

    def read_reply(self) -> int | None:
        """The Runtime API's status, once it has the whole answer; None if it hung up. Unbounded, as Lambda is."""
        if self.connection is None:
            return None
        with self.connection.makefile("rb") as reply:
            status = reply.readline(1024).split()
        return int(status[1]) if len(status) > 1 and status[1].isdigit() else None

    def close(self) -> None:
        if self.connection is not None:
            self.connection.close()


class StreamingMarshaller(LambdaMarshaller):  # type: ignore[misc]  # awslambdaric has no types
    """Turns a handler's result into the posted body. It posts a generator itself, while that runs.

    awslambdaric calls it in a `try` whose `except` logs and posts an error. That is right for a failure before the
    first byte. After that, the error is written in the trailers of the answer.
    """

    def __init__(self, api_address: str) -> None:
        super().__init__()
        self.invocation: InvocationRequest | None = None
        self._api_address = api_address
        self._marker = os.environ.get("TOOLWIRE_STREAM_MARKER") != "off"
        self._cors = cors_headers(os.environ)
        self._buffered = "AWS_SAM_LOCAL" in os.environ  # sam local cannot stream, and sets this

    def marshal_response(self, response: Any) -> tuple[Any, str]:
        if not isinstance(response, Generator):
            return super().marshal_response(response)  # type: ignore[no-any-return]
        try:
            answered = self._collect(response) if self._buffered else self._stream(response)
        except Exception as failure:  # noqa: BLE001 - raised again, without its message, which awslambdaric would log
            raise FaultException(type(failure).__name__, UNTOLD, stack_of(failure)) from None
        return (STREAMED, "") if answered is STREAMED else super().marshal_response(answered)

    def _stream(self, answer: Answer) -> object:
        post = ResponsePost(self._api_address, self.invocation, marker=self._marker)
        output = Output(post, headers=self._cors)
        try:
            deliver(answer, output)
            if not output.head_sent:
                return {}  # an event that is not a proxy event: no HTTP answer is expected
            output.finish()
            self._check(post)
        except ClientGone:
            logger().warning("the Runtime API closed the response before its end")
        except Exception as failure:
            if not output.begun:
                raise
            logger().error("the handler failed after its first byte", **describe(failure))
            self._fail(output, post, failure)
        finally:
            post.close()
            output.ended()
        return STREAMED

    def _fail(self, output: Output, post: ResponsePost, failure: Exception) -> None:
        try:
            output.finish(failure)
            self._check(post)
        except ClientGone:
            logger().warning("the Runtime API closed the response before its trailers")

    def _check(self, post: ResponsePost) -> None:
        try:
            status = post.read_reply()
        except OSError:
            status = None
        if status != 202:
            logger().warning(f"the Runtime API answered {status} to a streamed response")

    def _collect(self, answer: Answer) -> dict[str, Any]:
        """The answer as API Gateway's ordinary proxy response. Without an Output: nothing can be sent early."""
        head: Head | None = None
        body = []
        for item in answer:
            if isinstance(item, Head):
                head = item
            else:
                body.append(item)
        if head is None:
            return {}
        text = b"".join(body).decode()
        return {**head_fields(head), "body": text, "isBase64Encoded": False}


class StreamingClient(LambdaRuntimeClient):  # type: ignore[misc]
    """awslambdaric's client. It tells its marshaller the next invocation, and does not post an answer twice."""

    def __init__(self, api_address: str, use_thread_for_polling_next: bool = False) -> None:
        super().__init__(api_address, use_thread_for_polling_next)
        self.marshaller = StreamingMarshaller(api_address)

    def wait_next_invocation(self) -> InvocationRequest:
        self.marshaller.invocation = super().wait_next_invocation()
        return self.marshaller.invocation

    def post_invocation_result(
        self,
        invoke_id: str,
        result_data: Any,
        content_type: str = "application/json",
        invocation_id: str | None = None,
    ) -> None:
        if result_data is not STREAMED:
            super().post_invocation_result(invoke_id, result_data, content_type, invocation_id)


#: The message in place of an error's own one.
UNTOLD = "the handler failed; its message is withheld because it may quote the request"


def describe(failure: BaseException) -> dict[str, Any]:
    """An error in Lambda's form, without its message."""
    return {"errorMessage": UNTOLD, "errorType": type(failure).__name__, "stackTrace": stack_of(failure)}


def prelude(head: Head) -> bytes:
    """The JSON that API Gateway reads status and headers from."""
    return json.dumps(head_fields(head), separators=(",", ":")).encode()


def head_fields(head: Head) -> dict[str, Any]:
    """Status and headers in the form that the prelude and the proxy response share."""
    fields: dict[str, Any] = {"statusCode": head.status, "headers": dict(head.headers)}
    if len(fields["headers"]) < len(head.headers):
        fields["multiValueHeaders"] = _by_name(head.headers)
    return fields


def _by_name(headers: Headers) -> dict[str, list[str]]:
    values: dict[str, list[str]] = {}
    for name, value in headers:
        values.setdefault(name, []).append(value)
    return {name: many for name, many in values.items() if len(many) > 1}


def main() -> None:
    """Serves invocations until the process ends. Lambda's environment configures it: _HANDLER,
    AWS_LAMBDA_RUNTIME_API."""
    config = LambdaConfigProvider(["toolwire", os.environ["_HANDLER"]])
    if config.is_multi_concurrent:
        raise SystemExit("toolwire: Lambda Managed Instances (AWS_LAMBDA_MAX_CONCURRENCY) are not supported")
    if os.environ.get("AWS_LAMBDA_INITIALIZATION_TYPE") == "snap-start":
        from toolwire.shell.serve.snapstart import register_hooks

        register_hooks()
    bootstrap.run(config.handler, StreamingClient(config.api_address, config.use_thread_polling))
