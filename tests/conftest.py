"""What holds for every test: no network but loopback, no environment of the machine, properties that repeat exactly.

A run of everything also fails if a test that docs/reference-coverage.md names did not run.
"""

from __future__ import annotations

import functools
import gc
import os
import signal
import ssl
import sys
from collections.abc import Iterator

import certifi
import hypothesis
import pytest
import pytest_socket
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants

from tests.left_out import left_out
from tests.named_tests import NamedTests, named_tests
from tests.worker_reports import tell_less

#: Variables that would change what the gateway, boto3 or an SDK does. Removed before any test module is imported.
#: TOOLWIRE_SHARED, which tests/reference.py reads, only says where reference data lies.
_ENVIRONMENT = ("AWS_", "TOOLWIRE_", "OPENAI_", "POWERTOOLS_")
_ENVIRONMENT_SUFFIXES = ("_API_KEY", "_BASE_URL", "_PROXY", "_proxy")
_ENVIRONMENT_NAMES = (
    "KEY_SHA256",
    "REQUIRE_KEY",
    "ENABLE_DEMO",
    "LOG_LEVEL",
    "STORE",
    "STORE_TABLE",
    "STATE_TTL_DAYS",
    "KEYS_TABLE",
    "KEYS_FILE",
    "RATES_TABLE",
    "SECRET_PREFIX",
    "CORS_ORIGIN",
)

#: Where a test marked `enable_socket` may connect to.
_LOOPBACK = ["127.0.0.1", "::1", "localhost"]

#: Their addresses, so that they are looked up once.
_ADDRESSES: dict[str, set[str]] = {}


def _clean_environment() -> None:
    for name in list(os.environ):
        if name == "TOOLWIRE_SHARED":
            continue
        if name.startswith(_ENVIRONMENT) or name.endswith(_ENVIRONMENT_SUFFIXES) or name in _ENVIRONMENT_NAMES:
            del os.environ[name]


def _read_roots_once() -> None:
    """A client of httpx or of an SDK reads the public authorities anew, for 15 to 30 ms: certifi's, or the machine's
    own. No test speaks TLS with those, so that all clients of a worker may have one context of them."""
    make = ssl.create_default_context
    with_roots = functools.cache(make)
    bundles = {certifi.where(), os.environ.get("SSL_CERT_FILE")}

    @functools.wraps(make)
    def shared(*args: object, **kwargs: object) -> ssl.SSLContext:
        said = {name: value for name, value in kwargs.items() if value is not None}
        of_roots = not args and said.keys() == {"cafile"} and said["cafile"] in bundles
        return with_roots(**said) if of_roots else make(*args, **kwargs)  # type: ignore[arg-type]

    ssl.create_default_context = shared


def _draw_the_same_everywhere() -> None:
    """Hypothesis also draws the constants of the modules that are imported yet: other ones in each worker, and to read
    them takes each some seconds. `make integration` draws them."""
    local_constants = providers._get_local_constants

    def constants() -> Constants:
        quick = hypothesis.settings.get_current_profile_name() == "quick"
        return providers._local_constants if quick else local_constants()

    providers._get_local_constants = constants


_clean_environment()
_read_roots_once()
_draw_the_same_everywhere()

# A shell starts a background job with Ctrl-C ignored, and programs started by tests would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Derandomised: a run repeats exactly, and a failure is not a matter of luck. `make integration` looks further.
hypothesis.settings.register_profile("quick", derandomize=True, deadline=None, database=None, max_examples=10)
hypothesis.settings.register_profile("thorough", parent=hypothesis.settings.get_profile("quick"), max_examples=500)
hypothesis.settings.load_profile("quick")


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown() -> None:
    """What failed in one test is not passed over in the next. A fixture for each test would cost more than this."""
    if (module := sys.modules.get("toolwire.shell.network.breaker")) is not None:
        module._breaker.cache_clear()


def pytest_sessionfinish() -> None:
    """The connections that this process's gateway keeps for its next request are closed: there is none."""
    module = sys.modules.get("toolwire.shell.network.upstream")
    if module is not None and module.upstream.cache_info().currsize:
        module.upstream().close()


def pytest_addoption(parser: pytest.Parser) -> None:
    """`pytest tests/matrix --update-golden` rewrites the golden files, for a look at the difference before a commit."""
    parser.addoption("--update-golden", action="store_true", help="rewrite golden files and examples in docs")


def pytest_configure(config: pytest.Config) -> None:
    from toolwire.demo import server  # not before the environment is clean

    server.PACE_SECONDS = 0.0  # a test that needs the time between two pieces says so: [demo slow 20]
    config.pluginmanager.register(NamedTests(config, named_tests()), "named-tests")
    tell_less(config)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """`enable_socket` opens the loopback interface, not the internet; without the mark no socket opens at all."""
    if item.get_closest_marker("enable_socket"):
        pytest_socket.socket_allow_hosts(_LOOPBACK, allow_unix_socket=True, resolution_cache=_ADDRESSES)


@pytest.fixture
def fresh_clients(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """boto3 clients of this test's own environment, in which nothing of the machine's is left."""
    from toolwire.shell.network import aws

    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, os.devnull)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    aws.forget_clients()
    yield
    aws.forget_clients()


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(
    collector: pytest.Module | pytest.Class, name: str, obj: object
) -> pytest.Item | pytest.Collector | list[pytest.Item | pytest.Collector] | None:
    return left_out(collector, name, obj)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Collected tests all stay: to look for garbage among them takes a third of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish() -> None:
    """The tests themselves are some million objects, which the collector would search again and again."""
    gc.freeze()
    gc.set_threshold(50_000)  # what a test makes is mostly gone before: 700 allocations are a small JSON document
