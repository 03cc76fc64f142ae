"""The streaming runtime, started by the layer's own bootstrap, against a fake Runtime API."""

from __future__ import annotations

import inspect
import itertools
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from awslambdaric import bootstrap, lambda_runtime_client
from awslambdaric.lambda_config import LambdaConfigProvider
from awslambdaric.lambda_runtime_client import InvocationRequest, LambdaRuntimeClient
from awslambdaric.lambda_runtime_exception import FaultException
from awslambdaric.lambda_runtime_marshaller import LambdaMarshaller

from tests.shell import streaming_handlers
from tests.shell.fake_runtime_api import FakeRuntimeApi
from toolwire.shell.serve.runtime import MARKER, StreamingMarshaller

pytestmark = pytest.mark.enable_socket

LAYER = Path(__file__).parents[3] / "layers" / "shared"


class Runtime:
    """A runtime process and the API it polls."""

    def __init__(self, api: FakeRuntimeApi, process: subprocess.Popen[str]) -> None:
        self.api = api
        self._process = process

    def invoke(self, do: str, **event: object) -> Any:
        return self.api.invoke({"do": do, **event})

    def stop(self) -> str:
        """Ends the process and returns all it wrote."""
        self._process.kill()
        return self._process.communicate(timeout=10)[0]


@contextmanager
def started(handler: str = "handler", **env: str) -> Iterator[Runtime]:
    """The runtime as Lambda starts it: through the wrapper, whose argument is the interpreter."""
    environment = {
        "_HANDLER": f"streaming_handlers.{handler}",
        "LAMBDA_TASK_ROOT": str(Path(__file__).parents[1]),
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(LAYER),
        **env,
    }
    with FakeRuntimeApi() as api:
        process = subprocess.Popen(
            [str(LAYER / "bootstrap"), sys.executable, "/var/runtime/bootstrap.py"],
            env={**environment, "AWS_LAMBDA_RUNTIME_API": api.address},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        runtime = Runtime(api, process)
        try:
            yield runtime
        finally:
            runtime.stop()


@pytest.fixture(scope="module")
def _shared() -> Iterator[Runtime]:
    with started() as runtime:
        yield runtime


@pytest.fixture
def runtime(_shared: Runtime) -> Iterator[Runtime]:
    """One process for all tests that leave it as they found it; each of them shows that it lives on."""
    yield _shared
    assert _shared.invoke("stream").complete


class TestStreaming:
    def test_prelude_then_body(self, runtime: Runtime) -> None:
        posted = runtime.invoke("stream")

        assert posted.kind == "response"
        assert posted.complete
        assert posted.headers["lambda-runtime-function-response-mode"] == "streaming"
        assert posted.headers["content-type"] == MARKER
        assert posted.headers["trailer"] == "Lambda-Runtime-Function-Error-Type, Lambda-Runtime-Function-Error-Body"
        assert posted.headers["lambda-runtime-invocation-id"].endswith("-attempt")
        assert posted.prelude == {
            "statusCode": 200,
            "headers": {"content-type": "text/event-stream", "x-request-id": "r1"},
        }
        assert posted.content == b"data: 0\n\ndata: 1\n\n"
        assert posted.trailers == {}

    def test_repeated_headers_are_kept(self, runtime: Runtime) -> None:
        prelude = runtime.invoke("repeat header").prelude

        assert prelude["statusCode"] == 201
        assert prelude["multiValueHeaders"] == {"set-cookie": ["a", "b"]}

    def test_chunks_arrive_as_they_are_produced(self, runtime: Runtime) -> None:
        posted = runtime.invoke("stream", count=4, pause=0.06)

        times = [moment for moment, data in posted.chunks if data.startswith(b"data")]
        gaps = [after - before for before, after in itertools.pairwise(times)]
        assert len(gaps) == 3
        assert all(0.03 < gap < 1.0 for gap in gaps)

    def test_what_comes_together_leaves_together(self, runtime: Runtime) -> None:
        posted = runtime.invoke("stream", count=50)

        assert sum(data.startswith(b"data") for _, data in posted.chunks) == 1

    def test_the_context_is_lambdas_own(self, runtime: Runtime) -> None:
        content = runtime.invoke("context", count=0).content

        assert content.startswith(b'["invoke-')
        assert content.endswith(b"true]")


class TestFailures:
    def test_before_the_first_byte_it_is_an_error_of_the_invocation(self, runtime: Runtime) -> None:
        posted = runtime.invoke("fail early")

        assert posted.kind == "error"
        assert b'"errorType": "LookupError"' in posted.body
        assert b"streaming_handlers.py" in posted.body
        assert b"secret" not in posted.body

    def test_a_head_that_has_not_left_is_taken_back(self, runtime: Runtime) -> None:
        assert runtime.invoke("fail with a buffered head").kind == "error"

    def test_after_it_the_trailers_say_so(self, runtime: Runtime) -> None:
        posted = runtime.invoke("fail late")

        assert posted.kind == "response"
        assert posted.content == b"data: 0\n\ndata: 1\n\n"
        assert posted.trailers["lambda-runtime-function-error-type"] == "LookupError"
        assert posted.trailer_error["errorType"] == "LookupError"
        assert any("streaming_handlers.py" in line for line in posted.trailer_error["stackTrace"])
        assert "secret" not in str(posted.trailer_error)

    def test_an_event_that_asks_for_no_http_answer_gets_an_empty_one(self, runtime: Runtime) -> None:
        posted = runtime.invoke("nothing")

        assert (posted.kind, posted.body) == ("response", b"{}")

    def test_an_api_that_hangs_up_stops_the_handler_and_not_the_runtime(self) -> None:
        with started() as runtime:
            runtime.api.break_after = 20_000
            assert not runtime.invoke("endless").complete
            runtime.api.break_after = None
            assert runtime.invoke("stream").complete
            written = runtime.stop()

        assert "handler: client gone" in written
        assert "closed the response before its end" in written

    def test_a_refused_response_is_logged_and_survived(self) -> None:
        with started(AWS_LAMBDA_LOG_FORMAT="JSON") as runtime:
            runtime.api.reply_status = 400
            runtime.invoke("stream")
            runtime.api.reply_status = 202
            assert runtime.invoke("fail late").trailers
            assert runtime.invoke("fail early").kind == "error"
            written = runtime.stop()

        assert "answered 400 to a streamed response" in written
        assert "the handler failed after its first byte" in written
        assert "LookupError" in written
        assert "secret" not in written

    def test_an_import_that_fails_is_an_error_of_the_start(self) -> None:
        with started(FAIL_AT_IMPORT="1") as runtime:
            assert b"Runtime.ImportModuleError" in runtime.api.init_error().body

    def test_managed_instances_are_refused_in_words(self) -> None:
        with started(AWS_LAMBDA_MAX_CONCURRENCY="4") as runtime:
            runtime._process.wait(timeout=10)
            assert "AWS_LAMBDA_MAX_CONCURRENCY" in runtime.stop()


class TestOtherWays:
    def test_a_handler_that_is_no_generator_answers_as_ever(self) -> None:
        with started("plain") as runtime:
            assert runtime.invoke("x").body == b'{"plain": "x"}'

    def test_the_marker_can_be_left_out(self) -> None:
        with started(TOOLWIRE_STREAM_MARKER="off") as runtime:
            assert runtime.invoke("stream").headers["content-type"] == "application/octet-stream"

    def test_an_os_only_runtime_finds_python_itself(self) -> None:
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        environment = {"PATH": path, "PYTHONPATH": str(LAYER), "_HANDLER": "x.y", "AWS_LAMBDA_MAX_CONCURRENCY": "1"}
        environment["AWS_LAMBDA_RUNTIME_API"] = "127.0.0.1:9"
        run = subprocess.run([LAYER / "bootstrap"], env=environment, capture_output=True, text=True, timeout=20)

        assert "not supported" in run.stderr

    def test_sam_local_gets_an_ordinary_proxy_answer(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("AWS_SAM_LOCAL", "true")
        marshaller = StreamingMarshaller("127.0.0.1:9")

        body, content_type = marshaller.marshal_response(streaming_handlers.handler({"do": "stream"}, None))

        assert content_type == "application/json"
        assert '"statusCode": 200' in body
        assert '"body": "data: 0\\n\\ndata: 1\\n\\n"' in body
        with pytest.raises(FaultException) as failure:
            marshaller.marshal_response(streaming_handlers.handler({"do": "fail late"}, None))
        assert failure.value.exception_type == "LookupError"


class TestPinnedRuntimeClient:
    """What we override or call of awslambdaric has no promise of staying. Each name is here, with what we rely on."""

    def test_version(self) -> None:
        assert version("awslambdaric") == "4.2.2"

    @pytest.mark.parametrize(
        ("function", "parameters"),
        [
            (LambdaRuntimeClient.__init__, ["self", "lambda_runtime_address", "use_thread_for_polling_next"]),
            (LambdaRuntimeClient.wait_next_invocation, ["self"]),
            (
                LambdaRuntimeClient.post_invocation_result,
                ["self", "invoke_id", "result_data", "content_type", "invocation_id"],
            ),
            (LambdaMarshaller.__init__, ["self"]),
            (LambdaMarshaller.marshal_response, ["self", "response"]),
            (FaultException.__init__, ["self", "exception_type", "msg", "trace"]),
            (LambdaConfigProvider.__init__, ["self", "args", "environ"]),
            (bootstrap.run, ["handler", "lambda_runtime_client"]),
        ],
        ids=lambda value: getattr(value, "__qualname__", None),
    )
    def test_signatures(self, function: Any, parameters: list[str]) -> None:
        assert list(inspect.signature(function).parameters) == parameters

    def test_the_marshaller_is_an_attribute_of_the_client(self) -> None:
        assert isinstance(LambdaRuntimeClient.marshaller, LambdaMarshaller)

    def test_the_loop_marshals_where_errors_are_caught_and_posts_after(self) -> None:
        source = inspect.getsource(bootstrap.handle_event_request)
        order = [
            "try:",
            "marshaller.marshal_response",
            "except FaultException",
            "except Exception",
            "post_invocation_result",
        ]

        assert [source.index(step) for step in order] == sorted(source.index(step) for step in order)

    def test_an_invocation_has_both_ids(self) -> None:
        source = inspect.getsource(lambda_runtime_client.BaseLambdaRuntimeClient.wait_next_invocation)

        assert "invoke_id=" in source
        assert "invocation_id=" in source
        assert InvocationRequest(invoke_id="i", invocation_id=None).invoke_id == "i"

    @pytest.mark.parametrize("name", ["handler", "api_address", "use_thread_polling", "is_multi_concurrent"])
    def test_configuration(self, name: str) -> None:
        assert isinstance(getattr(LambdaConfigProvider, name), property)


WRAPPER = """#!/bin/bash
# As ADOT's /opt/otel-instrument does it: a handler of its own in front, and then the command it was given.
export ORIG_HANDLER=$_HANDLER
export _HANDLER=otel_wrapper.lambda_handler
export PYTHONPATH="{here}:$PYTHONPATH"
exec python3 -c 'import os, sys; os.execl(sys.argv[1], *sys.argv[1:])' "$@"
"""
WRAPPED = """
import importlib, os
module, name = os.environ["ORIG_HANDLER"].rsplit(".", 1)
handler = getattr(importlib.import_module(module), name)

def lambda_handler(event, context):
    print("instrumented", flush=True)
    return handler(event, context)
"""


def test_another_wrapper_goes_first(tmp_path: Path) -> None:
    wrapper = tmp_path / "otel-instrument"
    wrapper.write_text(WRAPPER.format(here=tmp_path))
    wrapper.chmod(0o755)
    (tmp_path / "otel_wrapper.py").write_text(WRAPPED)
    with started(TOOLWIRE_EXEC_WRAPPER=str(wrapper)) as runtime:
        posted = runtime.invoke("stream")
        assert posted.headers["lambda-runtime-function-response-mode"] == "streaming"
        assert posted.content == b"data: 0\n\ndata: 1\n\n"
        assert "instrumented" in runtime.stop()
