"""POST /native/chat, /native/tools/check and /native/translate: the gateway's own API."""

from typing import Any

from toolwire.shell.output import Answer
from toolwire.shell.serve import prepare
from toolwire.shell.serve_native import serve_native

prepare("native", wires=("openai_chat",))


def handler(event: dict[str, Any], context: Any) -> Answer:
    """The answer as Head and bytes, in order: see `toolwire.shell.serve_native`."""
    return serve_native(event, context)
