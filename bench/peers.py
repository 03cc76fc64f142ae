"""Other gateways, installed outside this repository and started in front of the scripted upstream.

Each is what its registry has under a fixed version, with the settings that its documentation gives for one worker and
little logging. Nothing of them is changed.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.client import BenchError, Endpoint

#: Where they are installed.
HOME = Path(os.environ.get("PEERS_DIR") or Path.home() / ".cache" / "toolwire-peers")

#: What is asked of a gateway in place of a provider's key.
_KEY = "bench"


@dataclass(frozen=True, slots=True)
class Peer:
    """Another gateway. `packages` are npm's if `is_node`, else pip's. `settings` writes its
    configuration into a folder; `command` is what runs it there, from (its installation, the folder, its port)."""

    name: str
    packages: tuple[str, ...]
    settings: Callable[[Path, str, int], None]
    command: Callable[[Path, Path, int], Sequence[str]]
    #: The APIs (`Endpoint.door`) that it carries to a Chat Completions host -> the model to ask for there.
    models: Mapping[str, str]
    variables: Mapping[str, str]
    headers: Callable[[str], tuple[str, ...]] = lambda upstream: ()  # noqa: ARG005 - most need none
    is_node: bool = False
    #: npm: versions of what it depends on that work, where the newest do not.
    overrides: Mapping[str, str] | None = None

    @property
    def folder(self) -> Path:
        """Its installation."""
        return HOME / self.name.lower().replace(" ", "-")

    @property
    def version(self) -> str:
        """For the page."""
        return ", ".join(self.packages) + "".join(
            f" with {name} {wanted}" for name, wanted in (self.overrides or {}).items()
        )

    def install(self) -> None:
        """Installs it, unless this very version is there. Raises CalledProcessError."""
        stamp = self.folder / "installed"
        if stamp.exists() and stamp.read_text() == self.version:
            return
        print(f"installing {self.version} ...", file=sys.stderr, flush=True)
        self.folder.mkdir(parents=True, exist_ok=True)
        if self.is_node:
            wanted = dict(package.rsplit("@", 1) for package in self.packages)
            package = {"private": True, "dependencies": wanted, "overrides": dict(self.overrides or {})}
            (self.folder / "package.json").write_text(json.dumps(package))
            _run(["npm", "install", "--silent", "--no-audit", "--no-fund"], self.folder)
        else:
            _run([sys.executable, "-m", "venv", str(self.folder)], self.folder)
            _run([str(self.folder / "bin" / "pip"), "install", "--quiet", *self.packages], self.folder)
        stamp.write_text(self.version)

    def endpoint(self, port: int, door: str, upstream_url: str) -> Endpoint:
        """Where it answers, for one API."""
        return Endpoint(f"http://127.0.0.1:{port}/v1", self.models[door], self.headers(upstream_url), door)


def _run(command: Sequence[str], folder: Path) -> None:
    subprocess.run(command, cwd=folder, check=True, stdin=subprocess.DEVNULL, stdout=sys.stderr)


def free_port() -> int:
    """A port that nobody listens at now, for programs that have to be told one."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def awaited(port: int, is_running: Callable[[], bool], seconds: float = 300.0) -> None:
    """Returns as soon as something listens at the port. Raises BenchError."""
    ends = time.monotonic() + seconds
    while time.monotonic() < ends and is_running():
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise BenchError(f"nothing listens at port {port}")


# ---------------------------------------------------------------- how each is configured


def _litellm(folder: Path, upstream: str, port: int) -> None:  # noqa: ARG001 - its port is in its command
    # A client of the Messages API is led to the host's Responses API, unless it is a compatible one.
    named = {"scripted": "openai/scripted", "compatible": "hosted_vllm/scripted"}
    models = [
        {"model_name": name, "litellm_params": {"model": model, "api_base": upstream, "api_key": _KEY}}
        for name, model in named.items()
    ]
    # YAML has JSON in it.
    (folder / "config.yaml").write_text(json.dumps({"model_list": models}))


def _rosetta(folder: Path, upstream: str, port: int) -> None:
    server = {"host": "127.0.0.1", "port": port, "open_on_no_keys": True}
    providers = {"openai_chat": {"api_key": _KEY, "base_url": upstream}}
    document = {"providers": providers, "models": {"scripted": "openai_chat"}, "server": server}
    (folder / "config.jsonc").write_text(json.dumps(document))


def _router(folder: Path, upstream: str, port: int) -> None:
    provider = {
        "name": "bench",
        "api_base_url": f"{upstream}/chat/completions",
        "api_key": _KEY,
        "models": ["scripted"],
    }
    document = {
        "HOST": "127.0.0.1",
        "PORT": port,
        "LOG": False,
        "Providers": [provider],
        "Router": {"default": "bench,scripted"},
    }
    (folder / ".claude-code-router").mkdir(exist_ok=True)
    (folder / ".claude-code-router" / "config.json").write_text(json.dumps(document))


def _nothing(folder: Path, upstream: str, port: int) -> None:
    """Portkey is told where to by each request."""


PEERS = (
    Peer(
        "LiteLLM",
        ("litellm[proxy]==1.108.7",),
        _litellm,
        lambda home, folder, port: [
            str(home / "bin" / "litellm"), "--config", str(folder / "config.yaml"),
            "--host", "127.0.0.1", "--port", str(port),
        ],
        {"chat_completions": "scripted", "messages": "compatible"},
        {
            "LITELLM_LOG": "ERROR",
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            "LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY": "true",  # ours asks for no key here either
        },
    ),
    Peer(
        "Portkey",
        ("@portkey-ai/gateway@1.15.2",),
        _nothing,
        lambda home, folder, port: [  # noqa: ARG005
            "node", str(home / "node_modules" / "@portkey-ai" / "gateway" / "build" / "start-server.js"),
            "--headless", f"--port={port}",
        ],
        {"chat_completions": "scripted"},
        {"NODE_ENV": "production"},
        lambda upstream: ("x-portkey-provider: openai", f"x-portkey-custom-host: {upstream}"),
        is_node=True,
        overrides={"@hono/node-server": "1.13.5"},
    ),
    Peer(
        "LLM-Rosetta",
        ("llm-rosetta[gateway]==0.13.0",),
        _rosetta,
        lambda home, folder, port: [  # noqa: ARG005
            str(home / "bin" / "llm-rosetta-gateway"), "--config", str(folder / "config.jsonc"),
            "--no-banner", "--log-level", "error",
        ],
        {"chat_completions": "scripted", "messages": "scripted"},
        {},
    ),
    Peer(
        "claude-code-router",
        ("@musistudio/claude-code-router@2.0.0",),
        _router,
        lambda home, folder, port: [  # noqa: ARG005
            "node", str(home / "node_modules" / "@musistudio" / "claude-code-router" / "dist" / "cli.js"), "start",
        ],
        {"messages": "bench,scripted"},
        {"NODE_ENV": "production"},
        is_node=True,
    ),
)  # fmt: skip
