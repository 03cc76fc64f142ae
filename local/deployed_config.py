"""Shows or fetches the configuration that a deployed stack runs with.

    python -m local.deployed_config --stack toolwire [--to toolwire.toml]

It is in the functions' layer (`ConfigSource=/opt/toolwire.toml`) or in a parameter of Systems Manager (`ssm:/name`).
Without `--to` it goes to standard output. An existing file is not overwritten. Exit status: 0, or 1 with what to do on
standard error.
"""

from __future__ import annotations

import argparse
import io
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

import httpx

from local.stack import PACKED_FILE, StackError, calling, stack_parameter, stack_resource

#: A layer has at most 50 MB.
_SECONDS = 120.0


def main(argv: Sequence[str]) -> int:
    """Shows or writes the document. Returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m local.deployed_config", description="A stack's configuration.")
    parser.add_argument("--stack", required=True)
    parser.add_argument("--to", type=Path, help="the file to write")
    arguments = parser.parse_args(argv)
    try:
        document = _document(arguments.stack)
        if arguments.to is None:
            print(document, end="")
        else:
            _write(arguments.to, document)
    except StackError as error:
        print(f"config: {error}", file=sys.stderr)
        return 1
    return 0


def _write(path: Path, document: str) -> None:
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(document)
    except FileExistsError:
        raise StackError(f"{path} is there already: move it away first, or compare it with `make config`") from None
    print(f"config: {path} is what the stack runs with", file=sys.stderr)


def _document(stack: str) -> str:
    source = stack_parameter(stack, "ConfigSource")
    if source == PACKED_FILE:
        return _from_layer(stack)
    if source.startswith("ssm:"):
        found = calling("ssm", "get_parameter", Name=source.removeprefix("ssm:"), WithDecryption=True)
        return str(found["Parameter"]["Value"])
    raise StackError(f"the stack {stack!r} runs without a document: every known provider as it is")


def _from_layer(stack: str) -> str:
    function = calling("lambda", "get_function_configuration", FunctionName=stack_resource(stack, "CatalogFunction"))
    name = PACKED_FILE.rpartition("/")[2]
    for layer in function.get("Layers", ()):
        version = calling("lambda", "get_layer_version_by_arn", Arn=layer["Arn"])
        with zipfile.ZipFile(io.BytesIO(_fetched(version["Content"]["Location"]))) as archive:
            if name in archive.namelist():
                return archive.read(name).decode()
    raise StackError(f"the layer of the stack {stack!r} has no {name}: it was deployed from a folder without one")


def _fetched(address: str) -> bytes:
    """The layer's archive, from the signed address that Lambda gives."""
    try:
        return httpx.get(address, timeout=_SECONDS).raise_for_status().content
    except httpx.HTTPError as error:
        raise StackError(f"the layer could not be fetched: {type(error).__name__}") from None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
