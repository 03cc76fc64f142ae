"""POST /chat/completions: the API of OpenAI's Chat Completions, translated for whichever provider serves the model."""

from typing import Any

from toolwire.shell.network.output import Answer
from toolwire.shell.serve.door import serve, warm_up

warm_up("chat_completions", wires=("openai_chat",))


def handler(event: dict[str, Any], context: Any) -> Answer:
    """The answer as Head and bytes, in order: see `toolwire.shell.serve.door`."""
    return serve("chat_completions", event, context)
