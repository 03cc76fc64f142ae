"""Keeps exchanges in a bucket of the operator's (RECORDINGS_BUCKET), for tenants with `record`: each as its event
folder, packed, at `recordings/<tenant>/<day>/<request id>.zip`.

It is written when the client has its whole answer, so no client waits for it, in the remaining time of the invocation.
A failure is logged. The request to S3 is signed and sent by our own HTTP client; `network/aws_json.py` says why.
"""

from __future__ import annotations

import os
import re
import time
from functools import partial
from typing import Any
from urllib.parse import quote

from toolwire.model.admitted import Admitted
from toolwire.model.errors import GatewayError
from toolwire.model.http import UpstreamRequest
from toolwire.model.settings import Tenant
from toolwire.shell.network.aws_credentials import CredentialsError, find_credentials, find_region
from toolwire.shell.network.aws_json import domain_of
from toolwire.shell.network.output import current_output
from toolwire.shell.network.sigv4 import signed
from toolwire.shell.network.upstream import upstream
from toolwire.shell.recording.exchange import SeenExchange
from toolwire.shell.recording.summarize import close, summary
from toolwire.shell.telemetry import observe
from toolwire.shell.telemetry.log import logger

#: The prefix of each object's key: the functions may write nowhere else.
PREFIX = "recordings/"

#: Seconds that writing may take.
_WRITE_SECONDS = 10.0
#: The most bytes of S3's answer that are read.
_ANSWER_BYTES = 1 << 16

_CODE = re.compile(rb"<Code>(\w{1,64})</Code>")


class NotWrittenError(Exception):
    """An exchange could not be written to the bucket."""


def begin(event: dict[str, Any], admitted: Admitted, seconds: float) -> None:
    """Watches the request of this context, and writes it when it is over. The answer must be there in `seconds`, which
    end before the invocation does."""
    output = current_output.get()
    if output is None:  # without an Output nothing tells when the client has its answer
        return
    watch = observe.current_watch.get()
    seen = watch if isinstance(watch, SeenExchange) else SeenExchange(event, lambda _: None)
    if seen is not watch:
        observe.current_watch.set(seen)
        output.audience = seen
    bucket = admitted.settings.recordings_bucket
    assert bucket is not None
    output.afterwards = partial(_over, seen, bucket, admitted.tenant, time.monotonic() + seconds)


def _over(seen: SeenExchange, bucket: str, tenant: Tenant, ends_at: float) -> None:
    """Called when the client has its answer. Raises nothing."""
    if not seen.over:
        observe.current_watch.set(None)
        close(seen)
    try:
        keep(seen, bucket, tenant, ends_at)
    except NotWrittenError as error:
        problem = str(error)
    except Exception as failure:  # noqa: BLE001 - the client has its answer, whatever happens here
        problem = type(failure).__name__  # its text may quote the request
    else:
        return
    logger().warning("an exchange was not recorded", request_id=seen.request_id, problem=problem)


def keep(seen: SeenExchange, bucket: str, tenant: Tenant, ends_at: float) -> None:
    """Writes an exchange that is over, before this moment of `time.monotonic`. Raises NotWrittenError, and what a bug
    raises."""
    from toolwire.shell.recording.folder import can_be_replayed, packed  # imports a replay, and with it every API

    if not can_be_replayed(seen):
        raise NotWrittenError("it is too large, or was answered without an exchange")
    body = packed(seen, redact=tenant.record == "redacted")
    day = summary(seen).began_at.strftime("%Y-%m-%d")
    key = f"{PREFIX}{quote(tenant.name, safe='')}/{day}/{quote(seen.request_id, safe='')}.zip"
    expires = min(ends_at, time.monotonic() + _WRITE_SECONDS)
    if expires <= time.monotonic():
        raise NotWrittenError("the invocation had no time left")
    try:
        response = upstream().send(_put(bucket, key, body), expires=expires)
        answer = response.read(_ANSWER_BYTES)
    except GatewayError as error:
        raise NotWrittenError(f"S3 was not reached: {error.code}") from error
    if response.status != 200:
        code = _CODE.search(answer)
        raise NotWrittenError(f"S3 answered {response.status} {code[1].decode() if code else ''}".rstrip())


def _put(bucket: str, key: str, body: bytes) -> UpstreamRequest:
    """The signed request that writes an object. Raises NotWrittenError."""
    try:
        region, credentials = find_region(), find_credentials()
    except CredentialsError as error:
        raise NotWrittenError(f"there are no AWS credentials: {error}") from error
    if not region or credentials is None:
        raise NotWrittenError("there is no AWS region" if not region else "there are no AWS credentials")
    # The key is quoted as S3 decodes it: a tenant's "%2F" is a name with a slash, not a folder more.
    url = f"{_address(bucket, region)}/{quote(key)}"
    unsigned = UpstreamRequest("PUT", url, (("content-type", "application/zip"),), body, stream=False)
    return signed(unsigned, credentials, "s3", region)


def _address(bucket: str, region: str) -> str:
    """The bucket's URL. The bucket's name is in the host, unless an endpoint is set, or the name has dots, which no
    certificate covers."""
    named = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    if named:
        return f"{named.rstrip('/')}/{bucket}"
    host = f"s3.{region}.{domain_of(region)}"
    return f"https://{host}/{bucket}" if "." in bucket else f"https://{bucket}.{host}"
