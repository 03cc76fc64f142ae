"""POST /models/{model}:generateContent, :streamGenerateContent and :countTokens, there and under /v1beta: Gemini's API,
translated for whichever provider serves it."""

from typing import Any

from toolwire.shell.network.output import Answer
from toolwire.shell.serve.door import serve, warm_up

warm_up("gemini", wires=("gemini",))


def handler(event: dict[str, Any], context: Any) -> Answer:
    """The answer as Head and bytes, in order: see `toolwire.shell.serve.door`."""
    return serve("gemini", event, context)
