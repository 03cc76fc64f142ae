"""POST /native/chat, /native/tools/check and /native/translate: the gateway's own API."""

from typing import Any

from toolwire.shell.network.output import Answer
from toolwire.shell.serve.door import warm_up
from toolwire.shell.serve.native import serve_native

warm_up("native", wires=("openai_chat",))


def handler(event: dict[str, Any], context: Any) -> Answer:
    """The answer as Head and bytes, in order: see `toolwire.shell.serve.native`."""
    return serve_native(event, context)
