"""POST /responses: the API of OpenAI's Responses, translated for whichever provider serves the model."""

from typing import Any

from toolwire.shell.output import Answer
from toolwire.shell.serve import prepare, serve

prepare("responses", wires=("openai_chat",))


def handler(event: dict[str, Any], context: Any) -> Answer:
    """The answer as Head and bytes, in order: see `toolwire.shell.serve`."""
    return serve("responses", event, context)
