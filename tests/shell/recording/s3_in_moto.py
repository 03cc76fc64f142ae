"""S3 as moto plays it, at an address that another process can reach. It judges each signature, as S3 would: moto does
not."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import boto3
import requests
from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import ReadOnlyCredentials
from moto import mock_aws

REGION = "eu-central-1"
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "AKIAPLANTED", "AWS_SECRET_ACCESS_KEY": "planted/aws+secret"}
ADDRESS = f"https://s3.{REGION}.amazonaws.com"


@contextmanager
def s3() -> Iterator[tuple[str, Any]]:
    """The address, and a client of boto3's."""
    with mock_aws(config={"core": {"mock_credentials": True, "reset_boto3_session": True}}):
        server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", boto3.client("s3", region_name=REGION)
        finally:
            server.shutdown()
            server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args: object) -> None:
        pass

    def do_PUT(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.headers["authorization"] != self._signature(body):
            self._answer(403, b"<Error><Code>SignatureDoesNotMatch</Code></Error>")
            return
        kept = {name: value for name, value in self.headers.items() if name.lower() != "host"}
        answer = requests.put(ADDRESS + self.path, data=body, headers=kept, timeout=10)
        self._answer(answer.status_code, answer.content)

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _signature(self, body: bytes) -> str:
        """The header that the owner of the key would send with these headers and this body."""
        found = re.search(r"SignedHeaders=([a-z0-9;-]+)", self.headers["authorization"])
        assert found is not None
        names = found[1].split(";")
        assert "host" in names
        headers = {name: self.headers[name] for name in names if name != "host"}
        signed = AWSRequest("PUT", f"http://{self.headers['host']}{self.path}", headers=headers, data=body)
        signed.context["timestamp"] = self.headers["x-amz-date"]
        auth = S3SigV4Auth(ReadOnlyCredentials(*CREDENTIALS.values(), None), "s3", REGION)
        canonical = auth.canonical_request(signed)
        signature = auth.signature(auth.string_to_sign(signed, canonical), signed)
        scope = auth.scope(signed)
        return f"AWS4-HMAC-SHA256 Credential={scope}, SignedHeaders={found[1]}, Signature={signature}"
