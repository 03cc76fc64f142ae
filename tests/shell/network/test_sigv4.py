"""Our signatures are botocore's, for whatever is sent, and are right for what really goes out."""

from __future__ import annotations

import calendar
import time
from typing import Any
from unittest import mock

import pytest
from botocore.auth import S3SigV4Auth, SigV4Auth
from botocore.awsrequest import AWSRequest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.shell.access.sigv4_judge import fault_of
from toolwire.model.http import UpstreamRequest
from toolwire.shell.network.sigv4 import Credentials, signed
from toolwire.shell.network.upstream import host_header

NOW = 1_796_000_000.7
KEYS = Credentials("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")
ROLE = Credentials("ASIAEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "IQoJb3JpZ2luX2VjEXAMPLE//////////w==")
MODEL = "https://bedrock-runtime.eu-west-1.amazonaws.com/model/amazon.nova-lite-v1%3A0/converse-stream"

CHARACTERS = "abcXYZ019-_.~%:+$,;@!*'()="
paths = st.lists(st.sampled_from(["", ".", "..", "%2F", "%3A0", "a%20b"]) | st.text(CHARACTERS, max_size=6)).map(
    lambda segments: "/" + "/".join(segments)
)
pairs = st.text(CHARACTERS, min_size=1, max_size=4).flatmap(
    lambda pair: st.sampled_from(["", f"{pair}", f"{pair}=", f"a={pair}", f"a%20b={pair}", f"A={pair}"])
)
hosts = st.sampled_from(["dynamodb.eu-west-1.amazonaws.com", "127.0.0.1:8000", "B.S3.amazonaws.com", "[::1]:9000"])
headers = st.lists(
    st.tuples(
        st.sampled_from(
            ["Content-Type", "x-amz-target", "X-Amz-Date", "Authorization", "user-agent", "traceparent", "x-a", "x-a-b"]
        ),
        st.text("aB9/ ;=", max_size=12).map(str.strip),
    ),
    max_size=6,
    unique_by=lambda header: header[0],
)


def by_botocore(request: UpstreamRequest, credentials: Credentials, service: str) -> dict[str, str]:
    """The headers that botocore sends."""
    unsigned: Any = AWSRequest(request.method, request.url, headers=dict(request.headers), data=request.body)
    kind: Any = S3SigV4Auth if service == "s3" else SigV4Auth
    moment = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(NOW))
    with mock.patch("botocore.auth.get_current_datetime") as clock:
        clock.return_value.strftime.return_value = moment
        kind(credentials, service, "eu-west-1").add_auth(unsigned)
    return {name.lower(): value for name, value in unsigned.headers.items()}


@given(
    st.sampled_from(["GET", "POST", "PUT"]),
    st.sampled_from(["http://", "https://"]),
    hosts,
    paths,
    st.lists(pairs, max_size=4).map("&".join),
    headers,
    st.binary(max_size=40),
    st.sampled_from([KEYS, ROLE]),
    st.sampled_from(["bedrock", "dynamodb", "s3"]),
)
@example("POST", "https://", "h.amazonaws.com", "/model/a%3A0/../b//c/", "a=2&a=1&A=", [], b"{}", ROLE, "bedrock")
@example("PUT", "https://", "h.amazonaws.com", "/x/../y//a%2520b", "", [("x-a", "1   2")], b"", KEYS, "s3")
def test_a_signature_is_botocores(
    method: str,
    scheme: str,
    host: str,
    path: str,
    query: str,
    headers: list[tuple[str, str]],
    body: bytes,
    credentials: Credentials,
    service: str,
) -> None:
    url = f"{scheme}{host}{path}" + (f"?{query}" if query else "")
    request = UpstreamRequest(method, url, tuple(headers), body, stream=False)
    ours = signed(request, credentials, service, "eu-west-1", now=NOW)
    assert dict(ours.headers) == by_botocore(request, credentials, service)
    assert len(ours.headers) == len(dict(ours.headers))
    assert (ours.method, ours.url, ours.body) == (method, url, body)


@pytest.mark.parametrize(
    "url", ["https://vpce-1.dynamodb.eu-west-1.vpce.amazonaws.com:443/", "http://localhost:80/", MODEL]
)
def test_what_is_signed_is_what_is_sent(url: str) -> None:
    """A port that is the scheme's own stands in `host` where the address has it; botocore signs the host without."""
    request = signed(UpstreamRequest("POST", url, (), b"{}", stream=False), ROLE, "dynamodb", "eu-west-1")
    sent = dict(request.headers) | {"host": host_header(url)}
    judged = fault_of("POST", url, sent, b"{}", secret=ROLE.secret_key, region="eu-west-1", service="dynamodb")
    assert judged is None


def test_a_request_is_signed_anew() -> None:
    """As for another attempt, later and with other credentials: nothing of the first signature is left."""
    request = UpstreamRequest("POST", MODEL, (("content-type", "application/json"),), b"{}", stream=True)
    first = signed(request, ROLE, "bedrock", "eu-west-1", now=NOW)
    assert signed(first, KEYS, "bedrock", "eu-west-1", now=NOW + 60) == signed(
        request, KEYS, "bedrock", "eu-west-1", now=NOW + 60
    )


def test_the_moment_is_now() -> None:
    request = signed(UpstreamRequest("POST", MODEL, (), b"", stream=False), KEYS, "bedrock", "eu-west-1")
    moment = calendar.timegm(time.strptime(dict(request.headers)["x-amz-date"], "%Y%m%dT%H%M%SZ"))
    assert abs(moment - time.time()) < 60
