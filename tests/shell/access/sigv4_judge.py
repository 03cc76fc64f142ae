"""Signature Version 4 as a server checks it, written from AWS's own description of it, apart from botocore.

https://docs.aws.amazon.com/IAM/latest/UserGuide/create-signed-request.html
"""

from __future__ import annotations

import hashlib
import hmac
import re
from urllib.parse import parse_qsl, quote, urlsplit

_AUTHORIZATION = re.compile(
    r"AWS4-HMAC-SHA256 Credential=[^/]+/"
    r"(?P<scope>(?P<day>\d{8})/(?P<region>[^/]+)/(?P<service>[^/]+)/aws4_request)"
    r", SignedHeaders=(?P<headers>[^,]+), Signature=(?P<signature>[0-9a-f]{64})"
)


def fault_of(
    method: str, url: str, headers: dict[str, str], body: bytes, *, secret: str, region: str, service: str
) -> str | None:
    """Why the server refuses the request; None if it is signed as it must be. Header names are in lower case."""
    said = _AUTHORIZATION.fullmatch(headers.get("authorization", ""))
    if said is None:
        return "no signature"
    if (said["region"], said["service"]) != (region, service):
        return f"signed for {said['service']} in {said['region']}"
    names = said["headers"].split(";")
    for name in ("host", "x-amz-date", *(["x-amz-security-token"] if "x-amz-security-token" in headers else [])):
        if name not in names:
            return f"{name} is not signed"
    address = urlsplit(url)
    present = {"host": address.netloc, **headers}
    absent = [name for name in names if name not in present]
    if absent:
        return f"{absent[0]} is signed and was not sent"
    date = headers["x-amz-date"]
    canonical = "\n".join(
        (
            method,
            quote(address.path, safe="/-_.~"),  # every service but S3 encodes the path once more
            "&".join(f"{quote(k, safe='-_.~')}={quote(v, safe='-_.~')}" for k, v in sorted(parse_qsl(address.query))),
            *(f"{name}:{' '.join(present[name].split())}" for name in names),
            "",
            said["headers"],
            hashlib.sha256(body).hexdigest(),
        )
    )
    text = "\n".join(("AWS4-HMAC-SHA256", date, said["scope"], hashlib.sha256(canonical.encode()).hexdigest()))
    key = b"AWS4" + secret.encode()
    for step in (date[:8], region, service, "aws4_request"):
        key = hmac.digest(key, step.encode(), "sha256")
    right = hmac.digest(key, text.encode(), "sha256").hex()
    return None if hmac.compare_digest(right, said["signature"]) else "the signature does not match"
