"""POST /responses: the API of OpenAI's Responses, translated for whichever provider serves the model. Beside it POST
/responses/compact, and GET and DELETE /responses/{id}."""

from typing import Any

from toolwire.shell.network.output import Answer
from toolwire.shell.serve.door import serve, warm_up
from toolwire.shell.serve.kept_answers import is_about_kept, serve_kept_answer

warm_up("responses", wires=("openai_responses",))


def handler(event: dict[str, Any], context: Any) -> Answer:
    """The answer as Head and bytes, in order: see `toolwire.shell.serve.door`."""
    return serve_kept_answer(event, context) if is_about_kept(event) else serve("responses", event, context)
