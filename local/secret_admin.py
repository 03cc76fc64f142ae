"""Stores a provider's credential in the Secrets Manager. It is read from standard input, so that no shell remembers it.

    python -m local.secret_admin openai --stack toolwire < key.txt

The secret's name is the stack's SecretPrefix and the provider's name, where a deployed gateway looks. The same command
replaces it; running functions use the new one within five minutes. A JSON document from which a cloud's access tokens
are minted may take the place of a key.
"""

from __future__ import annotations

import argparse
import getpass
import json
import re
import sys
from collections.abc import Sequence

from local.stack import StackError, calling, secret_prefix, stack_parameter
from toolwire.shell.network import aws

_PROVIDER = re.compile(r"[a-z0-9][a-z0-9._-]*")
#: A valid key: see shell/access/credentials.py.
_CREDENTIAL = re.compile(r"[!-~]+")


def store(prefix: str, provider: str, credential: str, kms_key: str = "") -> str:
    """Creates or replaces the secret of a provider and returns its name. Raises StackError."""
    name = f"{prefix}{provider}"
    try:
        aws.call("secretsmanager", "put_secret_value", SecretId=name, SecretString=credential)
    except aws.AwsError as error:
        if error.code != "ResourceNotFoundException":
            raise StackError(str(error)) from None
        key = {"KmsKeyId": kms_key} if kms_key else {}
        calling("secretsmanager", "create_secret", Name=name, SecretString=credential, **key)
    return name


def main(argv: Sequence[str]) -> int:
    """Stores one credential. Returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m local.secret_admin", description="A provider's credential.")
    parser.add_argument("provider", help="the provider's name, as in provider/model")
    parser.add_argument("--stack", required=True, help="the CloudFormation stack that is to use it")
    arguments = parser.parse_args(argv)
    if not _PROVIDER.fullmatch(arguments.provider):
        print("secret: a provider's name is made of a-z, 0-9, '.', '_' and '-'", file=sys.stderr)
        return 1
    credential = _read().strip()
    if not _is_cloud_document(credential) and (credential[:1] == "{" or not _CREDENTIAL.fullmatch(credential)):
        print("secret: standard input must hold the provider's key alone, on one line", file=sys.stderr)
        return 1
    try:
        prefix = secret_prefix(arguments.stack)
        name = store(prefix, arguments.provider, credential, stack_parameter(arguments.stack, "KmsKeyArn"))
    except StackError as error:
        print(f"secret: {error}", file=sys.stderr)
        return 1
    print(f"secret: {name} is stored; the gateway uses it within five minutes")
    return 0


def _is_cloud_document(text: str) -> bool:
    """Whether it is a document from which access tokens are minted: see `toolwire/shell/access/cloud_tokens`."""
    try:
        document = json.loads(text)
    except ValueError:
        return False
    return isinstance(document, dict) and bool(document.keys() & {"type", "tenant_id"})


def _read() -> str:
    return getpass.getpass("The provider's key: ") if sys.stdin.isatty() else sys.stdin.read()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
