"""Every path of the other functions, behind a function URL (parameter FunctionUrl)."""

from typing import Any

from toolwire.shell.network.output import Answer
from toolwire.shell.serve.door import warm_up
from toolwire.shell.serve.function_url import serve_function_url

warm_up("chat_completions", wires=("openai_chat",))


def handler(event: dict[str, Any], context: Any) -> Answer:
    """The answer as Head and bytes, in order: see `toolwire.shell.serve.function_url`."""
    return serve_function_url(event, context)
