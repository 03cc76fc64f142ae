"""The functions that answer, imported as Lambda would import them. Which path is whose: `toolwire.pages.paths`."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

from toolwire.pages.paths import served
from toolwire.shell.serve.output import Answer

#: A Lambda handler: a proxy event and a context in, a generator out.
Handler = Callable[[dict[str, Any], Any], Answer]


def load_handlers(functions: Path) -> dict[str, Handler]:
    """Imports each function's `app.py` and returns its handler by folder. Raises what the import raises."""
    folders = {folder for methods in served().values() for folder in methods.values()}
    return {folder: _load(functions / folder / "app.py", folder) for folder in sorted(folders)}


def _load(path: Path, folder: str) -> Handler:
    # By path, and under a name of its own: on Lambda each of them is the only `app`.
    spec = importlib.util.spec_from_file_location(f"functions.{folder}.app", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"cannot load {path}")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    handler: Handler = module.handler
    return handler
