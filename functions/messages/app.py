"""POST /messages and POST /messages/count_tokens: Anthropic's Messages, translated for whichever provider serves it."""

from typing import Any

from toolwire.shell.network.output import Answer
from toolwire.shell.serve.door import serve, warm_up

warm_up("messages", wires=("anthropic_messages",))


def handler(event: dict[str, Any], context: Any) -> Answer:
    """The answer as Head and bytes, in order: see `toolwire.shell.serve.door`."""
    return serve("messages", event, context)
