"""POST /responses: the API of OpenAI's Responses, translated for whichever provider serves the model. Beside it POST
/responses/compact."""

from typing import Any

from toolwire.shell.serve.door import serve, warm_up
from toolwire.shell.serve.output import Answer

warm_up("responses", wires=("openai_responses",))


def handler(event: dict[str, Any], context: Any) -> Answer:
    """The answer as Head and bytes, in order: see `toolwire.shell.serve.door`."""
    return serve("responses", event, context)
