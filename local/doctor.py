"""Finds what keeps the gateway on this machine from working. Writes a line for each problem, with the fix.

    python -m local.doctor [--port 8080] [--yes]

It changes nothing and shows no credential. Hosts are asked without a credential, so it costs nothing. It makes a tool
call to an alias of the configuration only with `--yes`, or if the user at the terminal agrees. Exit status: 1 when
something is wrong.
"""

from __future__ import annotations

import argparse
import email.utils
import json
import logging
import os
import re
import shutil
import socket
import sys
import time
import uuid
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Literal
from urllib.parse import SplitResult, urlsplit

import httpx

from local.banner import is_ready
from local.ports import free_port
from local.resend import CLIENT_KEYS, ask_again
from local.watch.exchanges import Exchanges
from toolwire import __version__
from toolwire.model.settings import ProviderConfig, Settings, SettingsError
from toolwire.providers.hosts import DEMO, DEMO_MODELS
from toolwire.shell.recording.summarize import summary
from toolwire.shell.serve.door import serve
from toolwire.shell.settings.configuration import load_settings
from toolwire.shell.store.current import open_store
from toolwire.shell.telemetry.log import logger

#: The seconds that a host may take to answer.
_HOST_SECONDS = 5.0
#: The most seconds by which the clock may be wrong: AWS refuses signatures beyond five minutes.
_CLOCK_SECONDS = 120.0

#: Addresses of clouds, which list their models elsewhere.
_CLOUDS = re.compile(r"\.(amazonaws\.com|api\.aws|azure\.com|googleapis\.com)/")

Verdict = Literal["ok", "note", "FAIL"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report. `fix`: what to do."""

    verdict: Verdict
    what: str
    detail: str
    fix: str = ""

    def __str__(self) -> str:
        fix = f". {self.fix}" if self.fix else ""
        return f"{self.verdict:<5} {self.what:<24} {self.detail}{fix}"


def versions() -> Iterator[Finding]:
    """This program, and what runs it."""
    found = ".".join(map(str, sys.version_info[:3]))
    yield Finding("ok", "versions", f"toolwire {__version__}, Python {found}")
    locks = Path("requirements/run.txt"), Path(".venv/run.stamp")
    if all(path.exists() for path in locks) and locks[0].stat().st_mtime > locks[1].stat().st_mtime:
        yield Finding(
            "note", "environment", "older than requirements/run.txt", "Run any make target to bring it up to date"
        )
    if shutil.which("curl") is None:
        yield Finding("note", "curl", "is not installed", "Commands that are shown to copy need it")


def configuration(env: Mapping[str, str], own: Collection[str] = ()) -> tuple[Settings | None, list[Finding]]:
    """The settings, and the findings about them. `own`: base URLs of the gateway."""
    place = env.get("TOOLWIRE_CONFIG") or "no document: the known hosts"
    try:
        settings = load_settings(env, own=own)
    except SettingsError as error:
        return None, [Finding("FAIL", "configuration", str(error))]
    found = [Finding("ok", "configuration", f"{place}; {_counted(len(settings.aliases), 'alias')}")]
    keys = settings.keys_file
    if keys is not None and not Path(keys).exists():
        found.append(Finding("FAIL", "client keys", f"{keys} is not there", "Make one: make key TENANT=me"))
    try:
        found.append(Finding("ok", "store", open_store(env).name))
    except SettingsError as error:
        found.append(Finding("FAIL", "store", str(error)))
    return settings, found


def port(number: int) -> Finding:
    """The finding about the port: whether the gateway listens there, or could."""
    if free_port("127.0.0.1", number, 1) is not None:
        return Finding("ok", "port", f"{number} is free")
    try:
        answer = httpx.get(f"http://127.0.0.1:{number}/health", timeout=2, trust_env=False).json()
        if isinstance(answer, dict) and "version" in answer:
            return Finding("ok", "port", f"{number}: a gateway of version {answer['version']} listens there")
    except (httpx.HTTPError, ValueError):
        pass
    other = free_port("127.0.0.1", number + 1)
    return Finding("FAIL", "port", f"{number} is taken by another program", f"make run PORT={other}")


def provider(config: ProviderConfig, env: Mapping[str, str], now: Callable[[], float] = time.time) -> list[Finding]:
    """The finding about a host: whether it has its key and can be reached."""
    what = f"provider {config.name}"
    address = urlsplit(config.base_url)
    if not is_ready(config, env):
        return []
    try:
        # Any answer shows that the host is there, also that it wants a key.
        answer = httpx.get(_models_url(config), timeout=_HOST_SECONDS, follow_redirects=False)
    except httpx.HTTPError as error:
        if config.credential == "none" and _is_off(address):
            return [Finding("note", what, f"nothing listens at {address.netloc}", "Start it if you want it")]
        reason = f"{config.base_url} cannot be reached: {type(error).__name__}: {error}"
        return [Finding("FAIL", what, reason, "Check base_url, the network, and HTTPS_PROXY")]
    found = [Finding("ok", what, f"answers at {address.netloc}")]
    if answer.status_code == HTTPStatus.NOT_FOUND:
        lacks = f"answers at {address.netloc}, but has no {answer.url.path}"
        found = [Finding("note", what, lacks, "Is its base_url right? Mostly it ends in /v1")]
    told = email.utils.parsedate_to_datetime(answer.headers["date"]) if "date" in answer.headers else None
    if told is not None and (off := abs(told.timestamp() - now())) > _CLOCK_SECONDS:
        found.append(
            Finding("FAIL", "clock", f"differs from {address.hostname} by {off:.0f} s", "Set it: signatures need it")
        )
    return found


#: Wire -> the path below the base URL where its hosts mostly list their models.
_MODELS = {"openai_chat": "/models", "openai_responses": "/models", "anthropic_messages": "/v1/models"}


def _models_url(config: ProviderConfig) -> str:
    """The URL to ask a host for. One with a deployment or a cloud's project in it has no list of models."""
    known = config.wire in _MODELS and "{model}" not in config.base_url and not _CLOUDS.search(config.base_url)
    return config.base_url + (_MODELS[config.wire] if known else "")


def _is_off(address: SplitResult) -> bool:
    """Whether nothing listens at this address of this machine. (A running server may fail in other ways, as at TLS.)"""
    if address.hostname not in ("127.0.0.1", "localhost", "::1"):
        return False
    try:
        socket.create_connection((address.hostname, address.port or 80), timeout=1).close()
    except OSError:
        return True
    return False


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}es"


def tool_call(model: str) -> Finding:
    """Makes one tool call, through the whole gateway."""
    tool = {"name": "get_weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}
    body = {
        "model": model,
        "messages": [{"role": "user", "content": "What is the weather in Oslo? Use the tool."}],
        "tools": [{"type": "function", "function": tool}],
    }
    context = {"requestId": str(uuid.uuid4()), "path": "/v1/chat/completions"}
    event = {
        "resource": "/chat/completions",
        "httpMethod": "POST",
        "headers": {"content-type": "application/json"},
        "body": json.dumps(body),
        "isBase64Encoded": False,
        "requestContext": context,
    }
    seen = ask_again(event, partial(serve, "chat_completions"), Exchanges())
    line = summary(seen)
    if seen.error is not None:
        return Finding("FAIL", f"call {model}", f"{seen.error.message} ({seen.error.code})")
    if not line.calls:
        return Finding("note", f"call {model}", "answered without a tool call", "The model may not know tools")
    return Finding("ok", f"call {model}", f"called {line.calls[0]} in {line.seconds or 0:.2f} s")


def examine(env: Mapping[str, str], number: int, agrees: Callable[[str], bool]) -> Iterator[Finding]:
    """Makes all findings, in order. `agrees` is called before a request that costs something."""
    yield from versions()
    settings, found = configuration(env, (f"http://127.0.0.1:{number}",))
    yield from found
    yield port(number)
    if settings is None:
        return
    with ThreadPoolExecutor(8) as pool:
        for lines in pool.map(lambda config: provider(config, env), settings.providers.values()):
            yield from lines
    lacking = [config.name for config in settings.providers.values() if not is_ready(config, env)]
    if lacking:
        yield Finding("note", "without a key", ", ".join(lacking), "make providers names their variables")
    if settings.enable_demo:
        for name in DEMO_MODELS:
            yield tool_call(f"{DEMO}/{name}")
    for alias, target in settings.aliases.items():
        if "*" not in alias and agrees(f"A tool call to {alias} ({target}) costs a few tokens. Make it?"):
            yield tool_call(alias)


def _asks(question: str) -> bool:
    return sys.stdin.isatty() and input(f"{question} [y/N] ").strip().lower() in ("y", "yes")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m local.doctor", description="Looks for what is wrong.")
    parser.add_argument("--port", type=int, default=8080, help="the port of `make run` (default: %(default)s)")
    parser.add_argument("--yes", action="store_true", help="make the tool calls that cost something without asking")
    options = parser.parse_args(arguments)
    env = dict(os.environ)
    for name in CLIENT_KEYS:  # this command needs no client's key
        os.environ.pop(name, None)
    log = logger().lines
    before = log.level
    log.setLevel(logging.CRITICAL)
    is_well = True
    try:
        for finding in examine(env, options.port, (lambda question: True) if options.yes else _asks):  # noqa: ARG005
            print(finding, flush=True)
            is_well = is_well and finding.verdict != "FAIL"
    finally:
        log.setLevel(before)
    return 0 if is_well else 1


if __name__ == "__main__":
    sys.exit(main())
