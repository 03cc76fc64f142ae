"""POST /responses/compact: what Codex asks where it takes the provider for OpenAI, and has no other way for.

Only OpenAI can read what its compaction makes. So the answer says what makes Codex write its summary itself.
"""

from __future__ import annotations

from typing import Any

from toolwire.doors.responses.errors import no_compaction, render_error
from toolwire.model.http import Headers, HttpRequest
from toolwire.shell.access.keys import authenticate
from toolwire.shell.serve import observe
from toolwire.shell.serve.document import serve_document
from toolwire.shell.serve.output import Answer
from toolwire.shell.serve.proxy_event import is_proxy_event, resource
from toolwire.shell.settings.configuration import current_settings


def is_compact(event: Any) -> bool:
    """Whether an event is for this module: the function has two paths."""
    return is_proxy_event(event) and resource(event) == "/responses/compact"


def serve_compact(event: Any, context: Any) -> Answer:
    """The answer to one proxy event: a Head, then the body."""
    yield from serve_document("responses", event, context, _refuse, render_error)


def _refuse(request: HttpRequest, record: observe.RequestRecord) -> tuple[bytes, Headers]:
    record.tenant = authenticate(request, current_settings()).name
    raise no_compaction()
