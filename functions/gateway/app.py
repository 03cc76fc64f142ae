"""Every path of the other functions, behind a function URL (parameter FunctionUrl)."""

from typing import Any

from toolwire.shell.serve.door import warm_up
from toolwire.shell.serve.function_url import serve_function_url
from toolwire.shell.serve.output import Answer

warm_up("chat", wires=("openai_chat",))


def handler(event: dict[str, Any], context: Any) -> Answer:
    """The answer as Head and bytes, in order: see `toolwire.shell.serve.function_url`."""
    return serve_function_url(event, context)
