"""GET /models and GET /health."""

from typing import Any

from toolwire.shell.network.output import Answer
from toolwire.shell.serve.catalog import serve_catalog


def handler(event: dict[str, Any], context: Any) -> Answer:
    """The answer as Head and bytes, in order."""
    return serve_catalog(event, context)
