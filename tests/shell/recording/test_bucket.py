"""A tenant's exchanges in a bucket of the operator's: on Lambda's runtime, in S3 as moto plays it, read by boto3."""

from __future__ import annotations

import io
import json
import signal
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from local.handlers import load_handlers
from local.server import LocalServer
from local.watch.exchanges import Exchanges
from tests.door_requests import function, question
from tests.local.serving import serving
from tests.local.test_reading import event_of
from tests.named_rows import named
from tests.shell.fake_runtime_api import FakeRuntimeApi
from tests.shell.recording.s3_in_moto import CREDENTIALS, REGION, s3
from tests.starter import Program, start
from toolwire.model.settings import Tenant
from toolwire.shell.recording import bucket as bucket_module
from toolwire.shell.recording.bucket import NotWrittenError, keep
from toolwire.shell.recording.exchange import SeenExchange
from toolwire.shell.recording.folder import expected_files
from toolwire.shell.recording.replay import replay
from toolwire.shell.recording.scenario import load_scenario
from toolwire.shell.recording.summarize import close
from toolwire.shell.serve import admission
from toolwire.shell.settings.configuration import load_settings

pytestmark = pytest.mark.enable_socket

FUNCTIONS = Path(__file__).parents[3] / "functions"
BUCKET = "our-recordings"
KEY = "tw_planted_client_key"
CITY = {"type": "object", "properties": {"location": {"type": "string"}}, "required": ["location"]}
QUESTION = "[demo slow 0] What is the weather in Paris and Oslo?"
REQUEST_ID = "c6af9ac6-7b61-11e6-9a41-93e8deadbeef"


@pytest.fixture(scope="module")
def address() -> Iterator[tuple[str, Any]]:
    with s3() as (url, client):
        client.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": REGION})
        yield url, client


def objects(client: Any) -> dict[str, bytes]:
    """What is in the bucket, which is empty then."""
    found = {}
    for it in client.list_objects_v2(Bucket=BUCKET).get("Contents", ()):
        found[it["Key"]] = client.get_object(Bucket=BUCKET, Key=it["Key"])["Body"].read()
        client.delete_object(Bucket=BUCKET, Key=it["Key"])
    return found


class Function:
    """A function's process, and the API that it polls."""

    def __init__(self, api: FakeRuntimeApi, process: Program, log: Path) -> None:
        self.api = api
        self._process, self._log = process, log

    def stop(self) -> str:
        """Ends the process and returns all it wrote."""
        self._process.send_signal(signal.SIGKILL)
        self._process.wait(10)
        return self._log.read_text("utf-8")


@contextmanager
def lambda_of(tmp_path: Path, url: str, record: str, **variables: str) -> Iterator[Function]:
    """The function of the Messages door on Lambda's runtime."""
    config = tmp_path / "toolwire.toml"
    config.write_text(f"[tenants.default]\n{record}\n")
    environment = {
        "LAMBDA_TASK_ROOT": str(FUNCTIONS / "messages"),
        "_HANDLER": "app.handler",
        "TOOLWIRE_CONFIG": str(config),
        "RECORDINGS_BUCKET": BUCKET,
        "AWS_ENDPOINT_URL_S3": url,
        "AWS_REGION": REGION,
        "STORE": "memory",
        **CREDENTIALS,
    }
    log = tmp_path / "function.log"
    with FakeRuntimeApi() as api, log.open("wb") as output:
        environment |= {"AWS_LAMBDA_RUNTIME_API": api.address, **variables}
        path = environment["LAMBDA_TASK_ROOT"]
        function = Function(api, start("tests.shell.lambda_runtime", env=environment, output=output, path=[path]), log)
        try:
            yield function
        finally:
            function.stop()


def ask(runtime: Function, stream: bool = True, script: str = "") -> Any:
    body = question("messages", f"{QUESTION} {script}".strip(), function("get_weather", CITY, "The weather"))
    event, _ = event_of("messages", {**body, "model": "demo/openai", "stream": stream}, **{"x-api-key": KEY})
    event["requestContext"]["requestId"] = REQUEST_ID
    return runtime.api.invoke(event)


def written(client: Any) -> dict[str, bytes]:
    """As soon as there is something: it is written behind the answer's end."""
    for _ in range(200):
        if found := objects(client):
            return found
        time.sleep(0.05)
    raise AssertionError("nothing was recorded")


def unpacked(data: bytes, place: Path) -> Path:
    zipfile.ZipFile(io.BytesIO(data)).extractall(place)
    return place / REQUEST_ID


def test_an_exchange_is_kept_and_replays(tmp_path: Path, address: tuple[str, Any]) -> None:
    """Of one function, which lives on whatever comes."""
    url, client = address
    with lambda_of(tmp_path, url, "record = true") as runtime:
        for script in ("", "[demo cut]", "[demo error 429]"):
            for stream in (True, False):
                with named((script, stream)):
                    answer = ask(runtime, stream, script)
                    judge_recording(written(client), answer.content, tmp_path / f"{script} {stream}")
        assert ask(runtime).complete


def judge_recording(found: dict[str, bytes], answer: bytes, place: Path) -> None:
    ((name, data),) = found.items()
    assert name == f"recordings/default/{time.strftime('%Y-%m-%d', time.gmtime())}/{REQUEST_ID}.zip"
    folder = unpacked(data, place)
    expected = {path.name: path.read_bytes() for path in folder.glob("expected.*")}
    assert answer in expected.values()
    assert expected_files(replay(load_scenario(folder))) == expected
    everything = b"".join(path.read_bytes() for path in folder.iterdir())
    assert QUESTION.encode() in everything
    assert not [it for it in (KEY, *CREDENTIALS.values()) if it.encode() in everything]


def test_without_its_words(tmp_path: Path, address: tuple[str, Any]) -> None:
    url, client = address
    with lambda_of(tmp_path, url, 'record = "redacted"') as runtime:
        assert b"Paris" in ask(runtime).content
        ((_, data),) = written(client).items()

    folder = unpacked(data, tmp_path)
    everything = b"".join(path.read_bytes() for path in folder.iterdir())
    assert b"Paris" not in everything
    assert b"get_weather" in everything
    expected = {path.name: path.read_bytes() for path in folder.glob("expected.*")}
    assert expected_files(replay(load_scenario(folder))) == expected


@pytest.mark.parametrize(
    ("record", "bucket"),
    [("", BUCKET), ("record = false", BUCKET), ("record = true", "")],
    ids=["unset", "off", "none"],
)
def test_it_is_off_unless_both_are_asked_for(
    tmp_path: Path, address: tuple[str, Any], record: str, bucket: str
) -> None:
    url, client = address
    with lambda_of(tmp_path, url, record, RECORDINGS_BUCKET=bucket) as runtime:
        assert ask(runtime).complete
        assert ask(runtime).complete
        assert "recorded" not in runtime.stop()
    assert objects(client) == {}


@pytest.mark.parametrize(
    ("problem", "variables"),
    [
        ("S3 answered 404 NoSuchBucket", {"RECORDINGS_BUCKET": "nobodys"}),
        ("S3 answered 403 SignatureDoesNotMatch", {"AWS_SECRET_ACCESS_KEY": "another"}),
        ("S3 was not reached: upstream_unreachable", {"AWS_ENDPOINT_URL_S3": "http://127.0.0.1:9"}),
    ],
)
def test_a_failure_is_a_line_of_the_log(
    tmp_path: Path, address: tuple[str, Any], problem: str, variables: dict[str, str]
) -> None:
    url, client = address
    with lambda_of(tmp_path, url, "record = true", **variables) as runtime:
        first, second = ask(runtime), ask(runtime)
        lines = [json.loads(line) for line in runtime.stop().splitlines() if line.startswith('{"level')]

    assert first.complete
    assert first.content.endswith(second.content[-60:])
    (told, *_) = (line for line in lines if line["message"] == "an exchange was not recorded")
    assert (told["problem"], told["request_id"], told["level"]) == (problem, REQUEST_ID, "WARNING")
    assert objects(client) == {}


def test_the_invocation_is_not_outlived(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolwire.shell.recording.folder.can_be_replayed", lambda seen: True)
    monkeypatch.setattr("toolwire.shell.recording.folder.packed", lambda seen, redact: b"")
    monkeypatch.setattr(bucket_module, "upstream", lambda: pytest.fail("nothing may be sent"))
    seen = SeenExchange(event_of("messages", {})[0], lambda _: None)
    close(seen)
    with pytest.raises(NotWrittenError, match="no time left"):
        keep(seen, BUCKET, Tenant(), time.monotonic() - 1)


@pytest.mark.parametrize(
    ("bucket", "region", "host"),
    [
        ("ours", "eu-west-1", "https://ours.s3.eu-west-1.amazonaws.com"),
        ("our.s", "eu-west-1", "https://s3.eu-west-1.amazonaws.com/our.s"),
        ("ours", "cn-north-1", "https://ours.s3.cn-north-1.amazonaws.com.cn"),
    ],
)
def test_where_a_bucket_is(monkeypatch: pytest.MonkeyPatch, bucket: str, region: str, host: str) -> None:
    for name in ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"):
        monkeypatch.delenv(name, raising=False)
    assert bucket_module._address(bucket, region) == host


@pytest.mark.parametrize("watched", [True, False])
def test_the_local_server_does_it_too(
    tmp_path: Path, address: tuple[str, Any], monkeypatch: pytest.MonkeyPatch, watched: bool
) -> None:
    """In a container, say: with its inspector, and without."""
    url, client = address
    for name, value in {"AWS_ENDPOINT_URL_S3": url, "AWS_REGION": REGION, **CREDENTIALS}.items():
        monkeypatch.setenv(name, value)
    env = {"TOOLWIRE_CONFIG": "x", "RECORDINGS_BUCKET": BUCKET}
    settings = load_settings(env, lambda place: "[tenants.default]\nrecord = true\n")
    monkeypatch.setattr(admission, "current_settings", lambda: settings)
    exchanges = Exchanges() if watched else None
    body = question("messages", QUESTION, function("get_weather", CITY)) | {"model": "demo/openai"}
    with serving(LocalServer(("127.0.0.1", 0), load_handlers(FUNCTIONS), exchanges)) as server:
        answer = httpx.post(f"{server.url}/v1/messages", json=body, timeout=20)
        ((name, data),) = written(client).items()
    request_id = answer.headers["request-id"]
    assert name.endswith(f"/{request_id}.zip")
    zipfile.ZipFile(io.BytesIO(data)).extractall(tmp_path)
    assert (tmp_path / request_id / "expected.body.json").read_bytes() == answer.content
