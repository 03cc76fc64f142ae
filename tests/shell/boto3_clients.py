"""boto3's clients for what moto plays: it sees the requests of botocore alone."""

from __future__ import annotations

from typing import Any

from toolwire.shell.network import aws
from toolwire.shell.network.aws_boto3 import boto3_client


def use_boto3(service: str) -> Any:
    """Has this process call the service through boto3, and gives the client, for what a test does itself."""
    made = boto3_client(service)
    aws.use(service, made)
    return made.boto3
