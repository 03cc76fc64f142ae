"""Serves the native API's three routes. POST /native/chat is served like every door; the other two ask no provider."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from toolwire.doors import DOORS, Door, load_door
from toolwire.doors.native.errors import render_error
from toolwire.doors.native.reader import read
from toolwire.doors.native.request_models import ToolsCheckRequest, TranslateRequest
from toolwire.exchange.attempt import prepare_attempt
from toolwire.exchange.exchange import Exchange
from toolwire.exchange.prepare import prepare, target_of, with_whole_characters
from toolwire.exchange.routing import check_door, check_model, may_use
from toolwire.model.admitted import Admitted
from toolwire.model.errors import RequestError
from toolwire.model.http import Headers, HttpRequest
from toolwire.model.settings import Settings, Target, Tenant
from toolwire.pages.tools_check import Candidate, report
from toolwire.pages.translate import show
from toolwire.providers import load_provider
from toolwire.providers.wire_choice import wire_for
from toolwire.shell.network.output import Answer
from toolwire.shell.network.proxy_event import is_proxy_event, resource
from toolwire.shell.serve.admission import admit_client, with_earlier_turns
from toolwire.shell.serve.door import serve
from toolwire.shell.serve.json_endpoint import serve_document
from toolwire.shell.store.ids_and_state import recall
from toolwire.shell.telemetry.request_record import RequestRecord
from toolwire.wire.json import dump

_CHAT, _CHECK, _TRANSLATE = "/native/chat", "/native/tools/check", "/native/translate"

#: The names in a path.
_NAMES = re.compile(r"{(\w+)\+?}")


def serve_native(event: Any, context: Any) -> Answer:
    """The answer to one proxy event: a Head, then bytes."""
    if not is_proxy_event(event) or resource(event) not in (_CHECK, _TRANSLATE):
        yield from serve("native", event, context)
        return
    yield from serve_document("native", event, context, _body, render_error)


def _body(request: HttpRequest, record: RequestRecord) -> tuple[bytes, Headers]:
    """The answer's body, and its headers about the tenant's rates. The request counts, although no provider is
    asked."""
    admitted = admit_client(load_door("native"), request, record)
    readable, warnings = with_whole_characters(request)
    page = _check_tools if request.path == _CHECK else _translate
    return page(readable, warnings, admitted, record), admitted.rate_headers


# ---------------------------------------------------------------- tools/check


def _check_tools(request: HttpRequest, warnings: tuple[str, ...], admitted: Admitted, record: RequestRecord) -> bytes:
    settings, tenant = admitted.settings, admitted.tenant
    asked = read(request.body, ToolsCheckRequest, frozenset({"tools", "tool_choice"}))
    door = _door(asked.door)
    check_door(tenant, door.name)
    members = [("tools", bytes(asked.tools))]
    if asked.tool_choice is not None:
        members.append(("tool_choice", bytes(asked.tool_choice)))
    if asked.parallel_tool_calls is not None:
        members.append(("parallel_tool_calls", dump(asked.parallel_tool_calls)))
    sample = door.sample_request(members)
    chat = door.parse_request(replace(sample, headers=request.headers))
    record.tools = len(chat.tools)
    candidates = list(_candidates(asked.models, door, settings, tenant))
    return report(door, chat, request.headers, tenant, candidates, warnings)


def _candidates(models: list[str] | None, door: Door, settings: Settings, tenant: Tenant) -> Iterator[Candidate]:
    """The models that the request names; if it names none, an ordinary model of each provider that the tenant may
    use."""
    for name in models or ():
        try:
            target = target_of(name, door.dialect, settings)
            check_model(tenant, name, target)
            yield Candidate(name, target)
        except RequestError as error:
            yield Candidate(name, None, error)
    if models is None:
        for provider in settings.providers.values():
            target = wire_for(Target(provider, load_provider(provider.wire).any_model), door.dialect)
            if may_use(tenant, target.model, target):
                yield Candidate(None, target)


# ---------------------------------------------------------------- translate


def _translate(request: HttpRequest, warnings: tuple[str, ...], admitted: Admitted, record: RequestRecord) -> bytes:
    asked = read(request.body, TranslateRequest, frozenset({"body"}))
    door = _door(asked.door)
    path = DOORS[door.name].paths[0]
    parameters = asked.parameters or {}
    if absent := next((name for name in _NAMES.findall(path) if not parameters.get(name)), None):
        message = f"`parameters.{absent}` is required: what stands for it in this door's path, {path}"
        raise RequestError(message, param=f"parameters.{absent}", code="missing_required_parameter")
    translated = HttpRequest("POST", path, request.headers, bytes(asked.body), parameters)
    settings, tenant = admitted.settings, admitted.tenant
    client, target = prepare(door, translated, settings, tenant, partial(with_earlier_turns, door, tenant, record))
    client = replace(client, warnings=(*warnings, *client.warnings))
    # No credential: nothing is sent, and the answer must not show one.
    attempt = prepare_attempt(client, target, None, recall(client, record))
    return show(Exchange(client, attempt, request_id=record.request_id, now=time.time, new_id="0".__mul__))


def _door(name: str) -> Door:
    if name not in DOORS:
        message = f"The door {name!r} is not built in this version; built are: {', '.join(DOORS)}."
        raise RequestError(message, param="door", code="invalid_value")
    return load_door(name)
