"""Installs one server into a folder of its own, starts it, and asks for its tools."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from threading import Timer
from typing import IO, Any, NamedTuple

from tests.mcp_servers.servers import Server

_INSTALL_SECONDS, _ANSWER_SECONDS = 300, 60
_PROTOCOL = "2025-06-18"


class Declared(NamedTuple):
    """A tool as a server declares it: its schema is raw JSON."""

    name: str
    description: str | None
    schema: bytes


class Listing(NamedTuple):
    """A server's version and tools, or why there are none."""

    version: str
    tools: tuple[Declared, ...]
    fault: str | None = None


def listing_of(server: Server, folder: Path) -> Listing:
    """Installs and starts the server; it is ended again whatever happens."""
    try:
        arguments, version = _installed(server, folder)
    except (subprocess.SubprocessError, OSError, LookupError) as error:
        return Listing("", (), f"not installed: {type(error).__name__}")
    environment = {**os.environ, "HOME": str(folder), "PYTHONPATH": str(folder), **server.environment}
    try:
        return Listing(version, started_and_asked([*arguments, *server.arguments], environment, folder))
    except (ValueError, LookupError, OSError) as error:
        return Listing(version, (), f"no answer: {type(error).__name__}")


def started_and_asked(command: list[str], environment: dict[str, str], folder: Path) -> tuple[Declared, ...]:
    """The tools of the server that this command starts in the folder; it is ended again. Raises ValueError, LookupError
    or OSError where it does not answer."""
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
            env=environment, cwd=folder, start_new_session=True,
        )  # fmt: skip
        timer = Timer(_ANSWER_SECONDS, _ended, (process,))
        timer.start()
        try:
            return tuple(_tools(process))
        finally:
            timer.cancel()
            _ended(process)
            for pipe in (process.stdin, process.stdout):
                assert pipe is not None
                with suppress(OSError):  # what was not read any more
                    pipe.close()


def _ended(process: subprocess.Popen[bytes]) -> None:
    """Ends the process, and those that it started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    process.wait()


def _installed(server: Server, folder: Path) -> tuple[list[str], str]:
    """The command, and the version that is there."""
    if server.kind == "npm":
        run = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(folder)]
        subprocess.run([*run, server.package], check=True, capture_output=True, timeout=_INSTALL_SECONDS)
        about = json.loads((folder / "node_modules" / server.package / "package.json").read_text("utf-8"))
        commands = about["bin"] if isinstance(about["bin"], dict) else {"it": about["bin"]}
        name = server.command or (server.package.rpartition("/")[2])
        script = commands.get(name) or next(iter(commands.values()))
        return ["node", str(folder / "node_modules" / server.package / script)], about["version"]
    run = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target", str(folder)]
    subprocess.run([*run, server.package], check=True, capture_output=True, timeout=_INSTALL_SECONDS)
    command = folder / "bin" / (server.command or server.package)
    if not command.exists():
        raise LookupError(command.name)
    stem = server.package.replace("-", "_").lower()
    found = [path.name for path in folder.glob("*.dist-info") if path.name.lower().startswith(stem + "-")]
    return [sys.executable, str(command)], found[0].removesuffix(".dist-info").rpartition("-")[2] if found else ""


def _tools(process: subprocess.Popen[bytes]) -> Iterator[Declared]:
    """Raises ValueError or LookupError where the server does not answer."""
    assert process.stdin is not None
    assert process.stdout is not None
    about = {"name": "toolwire", "version": "1"}
    hello = {"protocolVersion": _PROTOCOL, "capabilities": {}, "clientInfo": about}
    _asked(process.stdin, process.stdout, 1, "initialize", hello)
    _say(process.stdin, {"method": "notifications/initialized"})
    cursor: dict[str, Any] = {}
    for page in range(2, 50):
        result = _asked(process.stdin, process.stdout, page, "tools/list", cursor)
        for tool in result["tools"]:
            yield Declared(tool["name"], tool.get("description"), json.dumps(tool["inputSchema"]).encode())
        if not result.get("nextCursor"):
            return
        cursor = {"cursor": result["nextCursor"]}


def _asked(given: IO[bytes], answers: IO[bytes], number: int, method: str, params: dict[str, Any]) -> dict[str, Any]:
    _say(given, {"id": number, "method": method, "params": params})
    for line in answers:
        try:
            message = json.loads(line)
        except ValueError:  # a greeting
            continue
        if isinstance(message, dict) and message.get("id") == number and "method" not in message:
            result: dict[str, Any] = message["result"]
            return result
    raise LookupError("the server has ended")


def _say(given: IO[bytes], message: dict[str, Any]) -> None:
    given.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    given.flush()
