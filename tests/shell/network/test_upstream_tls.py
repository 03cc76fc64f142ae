"""TLS to the upstreams, and the proxies it may have to go through. Certificates are verified in these tests too."""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections.abc import Iterator

import pytest

from tests.closed_port import closed_port
from tests.shell.certificates import Authority
from tests.shell.misbehaving_upstream import MisbehavingUpstream, Reset, Send, Stall, StartTls, Step, answer, chunk, cut
from tests.shell.upstream_client import WatchedOutput, ask, client, fetch, post, soon
from toolwire.model.errors import UpstreamError, UpstreamTimeout, UpstreamTruncated
from toolwire.model.http import UpstreamRequest
from toolwire.model.settings import SettingsError
from toolwire.shell.network.transfer import Timeouts
from toolwire.shell.network.upstream import Upstream, tls_context

pytestmark = pytest.mark.enable_socket

BODY = b'data: {"a":1}\n\n'
WHOLE = answer(BODY, BODY)
HEAD = WHOLE[: WHOLE.index(b"\r\n\r\n") + 4]


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("certificates"))


@pytest.fixture
def tls_server(authority: Authority) -> Iterator[MisbehavingUpstream]:
    with MisbehavingUpstream(authority.server_context("127.0.0.1")) as started:
        yield started


def test_tls(tls_server: MisbehavingUpstream, authority: Authority) -> None:
    large = b"x" * 300_000
    tls_server.script([Send(answer(large))], [Send(answer(BODY), pieces=1000)])
    tls_server.script(cut(WHOLE, len(HEAD) + 9, Reset()), [Send(HEAD), Stall()])

    with client(Timeouts(idle=0.2), authority.client_context()) as upstream:
        assert fetch(upstream, post(tls_server.url, body=b"y" * 3_000_000)) == large
        assert ask(upstream, tls_server) == BODY
        with pytest.raises(UpstreamTruncated):
            ask(upstream, tls_server)
        with pytest.raises(UpstreamTimeout, match="sent nothing more"):
            ask(upstream, tls_server)
        assert ask(upstream, tls_server) == b""

    assert [request.connection for request in tls_server.requests] == [1, 1, 1, 2, 3]
    assert len(tls_server.requests[0].body) == 3_000_000


def test_the_output_waits_under_tls(
    tls_server: MisbehavingUpstream, authority: Authority, output: WatchedOutput
) -> None:
    more = threading.Event()
    tls_server.script([Send(HEAD + chunk(b"1") + chunk(b"2" * 30_000)), Stall(more), Send(b"0\r\n\r\n")])

    with (
        client(tls=authority.client_context()) as upstream,
        upstream.send(post(tls_server.url), expires=soon()) as response,
    ):
        chunks = response.chunks()
        first = next(chunks)
        time.sleep(0.3)  # the rest of what was sent has arrived
        waits = output.waits
        threading.Timer(0.05, more.set).start()
        assert first + b"".join(chunks) == b"1" + b"2" * 30_000
        assert output.waits == waits + 1


def test_records_that_have_arrived_are_read_together(tls_server: MisbehavingUpstream, authority: Authority) -> None:
    begun = threading.Event()
    tls_server.script([Send(HEAD), Stall(begun), Send(chunk(b"12345") * 20 + b"0\r\n\r\n", pieces=20)])

    with (
        client(tls=authority.client_context()) as upstream,
        upstream.send(post(tls_server.url), expires=soon()) as response,
    ):
        begun.set()
        time.sleep(0.3)  # every record has arrived
        assert list(response.chunks()) == [b"12345" * 20]


@pytest.mark.parametrize(
    ("trusted", "name", "why"),
    [
        (False, "127.0.0.1", "self-signed certificate in certificate chain"),
        (True, "127.0.0.2", "IP address mismatch"),
    ],
)
def test_a_certificate_that_does_not_hold(authority: Authority, trusted: bool, name: str, why: str) -> None:
    tls = authority.client_context() if trusted else None

    with MisbehavingUpstream(authority.server_context(name)) as server, client(tls=tls) as upstream:
        with pytest.raises(UpstreamError, match=f"could not be reached: TLS failed: .*{why}") as caught:
            ask(upstream, server)

        assert caught.value.code == "upstream_unreachable"
        assert server.requests == []
        assert server.wait_for_open(0)
        assert upstream.open_connections == 0


def test_a_server_that_never_shakes_hands(impatient: Upstream) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"https://127.0.0.1:{listener.getsockname()[1]}/"
        with pytest.raises(UpstreamTimeout, match=r"could not be connected to within 0.2 s"):
            fetch(impatient, UpstreamRequest("POST", url, (), b"{}", True))


def test_a_plain_server_on_a_tls_address(upstream: Upstream) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def refuse() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
                connection.recv(65536)

        threading.Thread(target=refuse, daemon=True).start()
        url = f"https://127.0.0.1:{listener.getsockname()[1]}/"
        with pytest.raises(UpstreamError, match=r"TLS failed: the other side speaks no TLS; .* http://") as caught:
            fetch(upstream, UpstreamRequest("POST", url, (), b"{}", True))

    assert caught.value.code == "upstream_unreachable"


# Proxies


def test_https_goes_through_a_proxy(
    server: MisbehavingUpstream, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", server.url.replace("//", "//user:p%40ss@"))
    tunnel: list[Step] = [Send(b"HTTP/1.1 200 OK\r\n\r\n"), StartTls(authority.server_context("10.0.0.1"))]
    server.script(tunnel, [Send(WHOLE)], [Reset()], tunnel, [Send(WHOLE)])

    with client(tls=authority.client_context()) as upstream:
        assert fetch(upstream, post("https://10.0.0.1:8443")) == BODY * 2
        assert fetch(upstream, post("https://10.0.0.1:8443")) == BODY * 2

    assert [request.connection for request in server.requests] == [1, 1, 1, 2, 2]
    assert server.requests[0].head[0] == "CONNECT 10.0.0.1:8443 HTTP/1.1"
    assert server.requests[0].headers["proxy-authorization"] == "Basic dXNlcjpwQHNz"
    assert "authorization" not in server.requests[0].headers
    assert server.requests[1].headers["authorization"] == "Bearer sk-secret"
    assert "proxy-authorization" not in server.requests[1].headers


def test_a_proxy_that_refuses(server: MisbehavingUpstream, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", server.url)
    server.script([Send(answer(status="407 Proxy Authentication Required", framing="length"))])

    with (
        client() as upstream,
        pytest.raises(
            UpstreamError, match=r"10.0.0.1 could not be reached: the proxy .* \(HTTPS_PROXY\): 407 Proxy Auth"
        ),
    ):
        fetch(upstream, post("https://10.0.0.1"))


def test_a_proxy_that_is_down_is_named_without_its_password(monkeypatch: pytest.MonkeyPatch) -> None:
    with closed_port() as port:
        monkeypatch.setenv("HTTPS_PROXY", f"http://user:secret@127.0.0.1:{port}")

        with client() as upstream, pytest.raises(UpstreamError) as caught:
            fetch(upstream, post("https://10.0.0.1"))

    said = f"10.0.0.1 could not be reached: the proxy 127.0.0.1:{port} (HTTPS_PROXY): Connection refused."
    assert caught.value.message.endswith(said)


@pytest.mark.parametrize("exempt", ["127.0.0.1", "*", "example.com, 127.0.0.1", ".0.0.1"])
def test_no_proxy(
    tls_server: MisbehavingUpstream, authority: Authority, monkeypatch: pytest.MonkeyPatch, exempt: str
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("NO_PROXY", exempt)

    with client(tls=authority.client_context()) as upstream:
        assert ask(upstream, tls_server) == b""


def test_plain_http_is_not_proxied(server: MisbehavingUpstream, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")

    with client() as upstream:
        assert ask(upstream, server) == b""


@pytest.mark.parametrize(
    "proxy", ["socks5://user:secret@127.0.0.1:1", "127.0.0.1:8080", "http://user:secret@:80", "http://user:secret/@h:1"]
)
def test_a_proxy_must_be_http(monkeypatch: pytest.MonkeyPatch, proxy: str) -> None:
    monkeypatch.setenv("HTTPS_PROXY", proxy)

    with pytest.raises(ValueError, match="HTTPS_PROXY must be an http:// URL") as caught:
        Upstream(tls=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT))

    assert "secret" not in str(caught.value)


# Certificates of the platform


def test_a_bundle_that_is_not_there_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "/nowhere/ca.pem")

    with pytest.raises(SettingsError, match=r"SSL_CERT_FILE: '/nowhere/ca\.pem' cannot be read"):
        tls_context()


@pytest.mark.parametrize(
    ("names", "hashed"), [(["ca-bundle.crt"], False), (["002c0b4f.0", "ca.pem"], True), ([], False)]
)
def test_authorities_come_from_a_hashed_directory_if_there_is_one(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, names: list[str], hashed: bool
) -> None:
    directory = tmp_path_factory.mktemp("authorities")
    for name in names:
        (directory / name).touch()
    nowhere = str(directory / "nowhere")
    paths = ssl.DefaultVerifyPaths(nowhere, str(directory), "SSL_CERT_FILE", nowhere, "SSL_CERT_DIR", nowhere)
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.setattr(ssl, "get_default_verify_paths", lambda: paths)
    monkeypatch.setattr("toolwire.shell.network.upstream._HASHED_DIRECTORIES", ())

    context = tls_context()

    assert context.verify_mode == ssl.CERT_REQUIRED
    assert context.check_hostname
    # A directory is read when a certificate is needed, a bundle at once.
    assert (context.cert_store_stats()["x509_ca"] == 0) == hashed
