"""Serves one client request, from proxy event to answer. Each door's function runs it.

All that can be refused is refused before anything is sent upstream (`admission.py`). Then the exchange decides what the
client sees, and this module only carries bytes between it and the sockets. The generator that `serve` returns yields
one Head and then bytes. If the Output has sent a head by itself (with a keep-alive while the upstream was silent), it
yields no Head.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from importlib import import_module
from typing import Any

from toolwire.doors import Compaction, Door, load_door
from toolwire.exchange.actions import Action, carried_out
from toolwire.exchange.exchange import Exchange
from toolwire.model.errors import ClientGone, UpstreamError
from toolwire.model.http import Head, id_headers
from toolwire.model.settings import SettingsError
from toolwire.model.warnings import HEADER, Warnings
from toolwire.providers import WIRES
from toolwire.shell.access import credentials
from toolwire.shell.network.output import DOCUMENT_COMMIT_SECONDS, Answer, current_output
from toolwire.shell.network.proxy_event import IGNORED, error_head, http_request, is_proxy_event, request_id
from toolwire.shell.network.upstream import upstream
from toolwire.shell.serve import failures
from toolwire.shell.serve.admission import open_exchange
from toolwire.shell.serve.attempts import Preparation, go_on
from toolwire.shell.serve.signed_request import signed_request
from toolwire.shell.settings.current import current_settings
from toolwire.shell.store.current import current_store
from toolwire.shell.store.ids_and_state import remember
from toolwire.shell.store.store import WARM_SECONDS
from toolwire.shell.telemetry import observe
from toolwire.shell.telemetry.log import logger
from toolwire.shell.telemetry.request_record import RequestRecord, session_id
from toolwire.shell.telemetry.spans import trace_headers

#: The seconds of the invocation that are reserved for the error to the client when time is up.
RESERVE_SECONDS = 5.0

#: The seconds that a host may take to end its body after the answer's end, so that its connection can be used again.
LINGER_SECONDS = 1.0

#: The seconds for an answer if the invocation has no known limit.
DEFAULT_SECONDS = 600.0


def warm_up(door_name: str, wires: Iterable[str]) -> None:
    """Prepares, while a function starts, what its first request would otherwise wait for."""
    settings = None
    with suppress(SettingsError):  # the first request is answered with it, and it is logged
        settings = current_settings()
    load_door(door_name)
    for wire in wires:
        import_module(WIRES[wire])
    upstream()
    observe.get_ready()
    if settings is not None and (settings.keys_table or settings.rates_table) is not None:
        from toolwire.shell.network import aws

        aws.warm("dynamodb", wait=WARM_SECONDS)  # counting has one second, so its client must be ready


def serve(door_name: str, event: Any, context: Any) -> Answer:
    """The answer to one proxy event. Closing the generator closes the upstream."""
    if not is_proxy_event(event):
        logger().debug("ignored an invocation that is no client's request")
        yield from IGNORED
        return
    record = RequestRecord(request_id(event, context), door_name)
    door = load_door(door_name)
    try:
        yield from _answer(door, event, context, record)
    except (ClientGone, GeneratorExit):
        record.outcome = "client_gone"
        raise
    except BaseException:
        record.outcome = "internal_error"
        raise
    finally:
        observe.finish(record)


def _answer(door: Door, event: dict[str, Any], context: Any, record: RequestRecord) -> Iterator[Head | bytes]:
    """The exchange's answer, the count of its request's tokens, or the door's error."""
    try:
        request = http_request(event)
        record.trace_headers = trace_headers(request.headers)
        record.session = session_id(map(request.headers.get, door.conversation_headers))
        exchange, preparation = open_exchange(door, request, seconds_left(context), record, event)
        document = _counted(door.count_renderer(request), exchange, preparation, record)
        document = document or _compacted(door.compaction(request), exchange, preparation, record)
    except Exception as failure:  # noqa: BLE001 - a request is answered, whatever happens
        error = failures.shown(failure, record.request_id)
        record.failed(error)
        head = error_head(error, "application/json", record.request_id)
        document = head, door.render_error(error, record.request_id)
    if document is None:
        yield from _relay(exchange, preparation, record)
        return
    head, body = document
    record.status = head.status
    yield head
    record.byte_sent()
    yield body


def _counted(
    render: Callable[[int], bytes] | None, exchange: Exchange, preparation: Preparation, record: RequestRecord
) -> tuple[Head, bytes] | None:
    """The answer to a request that only counts its tokens; None for any other. Raises GatewayError."""
    if render is None:
        return None
    from toolwire.shell.serve.count_tokens import count_tokens  # few requests ask for it

    with preparation.question(exchange.attempt.target):
        tokens, warnings = count_tokens(exchange, preparation.expires, record)
    return _document_head(exchange, warnings, record), render(tokens)


def _compacted(
    shown: Compaction | None, exchange: Exchange, preparation: Preparation, record: RequestRecord
) -> tuple[Head, bytes] | None:
    """The answer to a request for a shorter history; None for any other. Raises GatewayError."""
    if shown is None:
        return None
    from toolwire.shell.serve.compaction import compact  # few requests ask for it

    with preparation.question(exchange.attempt.target):
        body = compact(shown, exchange, preparation.expires, record)
    return _document_head(exchange, exchange.figures.warnings, record), body


def _document_head(exchange: Exchange, warnings: Warnings, record: RequestRecord) -> Head:
    headers = ((HEADER, warnings.header()),) if warnings else ()
    fields = (("content-type", "application/json"), *id_headers(record.request_id), *headers, *exchange.answer_headers)
    return Head(200, fields)


def _relay(exchange: Exchange, preparation: Preparation, record: RequestRecord) -> Iterator[Head | bytes]:
    """Sends the exchange's requests and carries the answer, until either side ends it."""
    output = current_output.get()
    if output is not None:
        commit_seconds = None if exchange.client.request.stream else DOCUMENT_COMMIT_SECONDS
        output.on_silence(exchange.early_head(), exchange.keep_alive, commit_seconds)
    try:
        while exchange.unanswered:
            if exchange.following is not None:
                yield from _sent(exchange, go_on(exchange, preparation, record), record)
            else:
                yield from _asked(exchange, preparation, record)
                preparation.ended(exchange)
    except ClientGone:
        raise
    except Exception as failure:
        error = failures.shown(failure, record.request_id)
        record.failed(error)
        ending = exchange.fail(error)
        if not ending:
            raise  # it has said its last word already: the runner must not make that look like a proper end
        yield from _sent(exchange, ending, record)


def _asked(exchange: Exchange, preparation: Preparation, record: RequestRecord) -> Iterator[Head | bytes]:
    """Sends the exchange's request and carries its answer, to its end or until it fails."""
    try:
        yield from _carried(exchange, preparation, record)
    except UpstreamError as broken:
        yield from _sent(exchange, exchange.receive_end(broken), record)


def _carried(exchange: Exchange, preparation: Preparation, record: RequestRecord) -> Iterator[Head | bytes]:
    """Sends the exchange's request and carries the answer to its end. Raises UpstreamError."""
    request = signed_request(exchange, exchange.upstream_request)
    warm = current_store().warm if record.tools else None  # the answer may have calls, whose ids are stored
    limits = preparation.limits(exchange.attempt.target)
    name = exchange.attempt.target.provider.name
    with upstream().send(
        request, expires=preparation.expires, limits=limits, while_waiting=warm, provider=name
    ) as answer:
        if answer.status == 401:
            credentials.refused(exchange.attempt.target.provider)
        asked = exchange.answer
        yield from _sent(exchange, exchange.receive_head(answer.status, answer.headers), record)
        for data in answer.chunks():
            yield from _sent(exchange, exchange.receive_data(data), record)
            if exchange.answer is not asked or asked.error is not None:  # another attempt follows, or it failed
                return  # closes the upstream: the rest would be paid for and dropped
            if exchange.answer.over:
                answer.expire_within(LINGER_SECONDS)
        yield from _sent(exchange, exchange.receive_end(), record)


def _sent(exchange: Exchange, actions: Iterable[Action], record: RequestRecord) -> Iterator[Head | bytes]:
    """Carries out the exchange's actions: yields the head, unless one was sent already, and bytes."""
    for action in carried_out(exchange, actions, lambda items: remember(items, record)):
        if exchange.answer.finished:
            record.charge_calls()  # before the answer ends: the next request may come at once
        if isinstance(action, Head):
            output = current_output.get()
            if output is None or not output.head_sent:
                record.status = action.status
                yield action
        else:
            record.status = record.status or 200  # a keep-alive has sent it
            record.byte_sent()
            yield action.data


def seconds_left(context: Any) -> float:
    """The seconds that the answer may take."""
    remaining = getattr(context, "get_remaining_time_in_millis", None)
    return DEFAULT_SECONDS if remaining is None else float(remaining()) / 1000 - RESERVE_SECONDS
