"""Imports the functions as Lambda would. `toolwire.pages.paths` has the paths of each."""

from __future__ import annotations

import importlib.util
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from toolwire.pages.paths import served
from toolwire.shell.network.output import Answer

#: A Lambda handler: a proxy event and a context in, a generator out.
Handler = Callable[[dict[str, Any], Any], Answer]


#: The functions that are imported when the server starts. Each of the others is imported with its first request, in
#: some hundredths of a second: a client speaks one API, and each API takes 0.5 to 10 MB.
_AT_ONCE = ("catalog", "chat_completions")


def load_handlers(functions: Path) -> dict[str, Handler]:
    """The handler of each function by folder, from its `app.py`. Raises what the import raises."""
    folders = {folder for methods in served().values() for folder in methods.values()}
    paths = {folder: functions / folder / "app.py" for folder in sorted(folders)}
    return {folder: (_load if folder in _AT_ONCE else _loaded_later)(path, folder) for folder, path in paths.items()}


def _loaded_later(path: Path, folder: str) -> Handler:
    lock = threading.Lock()
    loaded: list[Handler] = []

    def handler(event: dict[str, Any], context: Any) -> Answer:
        if not loaded:
            with lock:
                if not loaded:
                    loaded.append(_load(path, folder))
        return loaded[0](event, context)

    return handler


def _load(path: Path, folder: str) -> Handler:
    # By path, and under a name of its own: on Lambda each of them is the only `app`.
    spec = importlib.util.spec_from_file_location(f"functions.{folder}.app", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"cannot load {path}")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    handler: Handler = module.handler
    return handler
