"""The inspector's pages, by path.

/_toolwire/                       the list; /_toolwire/news is its stream of new lines
/_toolwire/x/ID                   one exchange; /body is its content alone, /event.zip its event folder
/_toolwire/x/ID/again  (POST)     the same conversation at another model
/_toolwire/tools                  what providers make of tools
/_toolwire/conversation           what is kept of a conversation; POST deletes it: `local.conversation`
/_toolwire/conformance            docs/conformance.md
/_toolwire/static/                style and script
"""

from __future__ import annotations

import json
import re
import threading
import time
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

from markupsafe import Markup

from local.event import LocalContext
from local.handlers import Handler
from local.inspector import exchange as view
from local.inspector.conversation import as_json
from local.inspector.guard import check
from local.inspector.listing import FILTERS, PAGE, choices, chosen, line
from local.inspector.page import Page, Verbatim, html, redirect, static_file, templates
from local.inspector.requests import client_body, client_command, pretty, provider_command, side_by_side
from local.resend import ask_again, rows, with_model
from local.watch.exchanges import Exchanges
from local.watch.reading import Reading, read
from toolwire.doors import DOORS
from toolwire.model.errors import GatewayError, RequestError
from toolwire.model.http import Head
from toolwire.model.warnings import explain
from toolwire.pages.paths import resolve
from toolwire.providers.hosts import DEMO, DEMO_MODELS
from toolwire.shell.recording.exchange import SeenExchange
from toolwire.shell.recording.folder import can_be_replayed, packed
from toolwire.shell.recording.summarize import summary
from toolwire.shell.settings.current import current_settings

#: The path of the inspector.
ROOT = "/_toolwire"
#: The most bytes of a form.
FORM_BYTES = 4_500_000
#: The seconds between two keep-alives of the stream of news.
NEWS_SECONDS = 10.0
#: The seconds for which news are gathered before they are sent.
_NEWS_PAUSE = 0.1

_CONFORMANCE = Path(__file__).parents[2] / "docs" / "conformance.md"
_STATIC = {"style.css": "text/css", "page.js": "text/javascript"}

_SCROLLED = '<div class="scroll" tabindex="0" role="region" aria-label="Table">'

_EXAMPLE_TOOLS = """[
  {"type": "function", "function": {
    "name": "get_weather",
    "description": "The current weather of a city",
    "parameters": {
      "type": "object",
      "properties": {"city": {"type": "string", "minLength": 2}, "unit": {"enum": ["celsius", "fahrenheit"]}},
      "required": ["city"]
    }}}
]"""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request for a page. `fields`: its headers, names in lower case."""

    method: str
    target: str
    fields: Mapping[str, str]
    client: str
    body: bytes = b""

    @property
    def path(self) -> str:
        """The path below the inspector's."""
        return self.target.partition("?")[0].removeprefix(ROOT)

    @property
    def query(self) -> dict[str, str]:
        """The query's values."""
        return dict(parse_qsl(self.target.partition("?")[2]))

    @property
    def form(self) -> dict[str, str]:
        """The values of a form that was sent."""
        return dict(parse_qsl(self.body.decode("utf-8", "replace"), keep_blank_values=True))


class Inspector:
    """The pages about one server's exchanges. `handlers` answer requests that are sent again, as the server's do."""

    def __init__(self, exchanges: Exchanges, handlers: Mapping[str, Handler], url: str) -> None:
        self._exchanges, self._handlers, self._url = exchanges, handlers, url

    def page(self, asked: Asked) -> Page:
        """The answer to a request below `ROOT`. Raises RequestError for a request that `guard` refuses."""
        check(asked.method, asked.fields, asked.client)
        try:
            return self._page(asked)
        except RequestError as error:
            return html(error.status, "problem.html", here="", message=error.message)

    def _page(self, asked: Asked) -> Page:
        parts = [part for part in asked.path.split("/") if part]
        match asked.method, parts:
            case "GET", []:
                return self._list(asked)
            case "GET", ["news"]:
                return self._news(asked)
            case "GET", ["static", name] if name in _STATIC:
                return Page(200, f"{_STATIC[name]}; charset=utf-8", static_file(name))
            case "GET", ["tools"]:
                return html(200, "tools.html", **_tools_values("chat_completions", _EXAMPLE_TOOLS))
            case "POST", ["tools"]:
                return self._check_tools(asked.form)
            case method, ["conversation"]:
                forgets = method == "POST"
                return Page(200, "application/json", as_json(asked.form if forgets else asked.query, forgets=forgets))
            case "GET", ["conformance"]:
                return _conformance()
            case "GET", ["x", request_id]:
                return self._exchange(asked, self._seen(request_id), "exchange.html")
            case "GET", ["x", request_id, "body"]:
                return self._exchange(asked, self._seen(request_id), "exchange_body.html")
            case "GET", ["x", request_id, "event.zip"]:
                return _event_folder(self._seen(request_id))
            case "POST", ["x", request_id, "again"]:
                return self._again(self._seen(request_id), asked.form)
        raise RequestError("There is no such page.", status=404)

    def _seen(self, request_id: str) -> SeenExchange:
        seen = self._exchanges.get(request_id)
        if seen is None:
            message = (
                "This exchange is not held any more: only the latest are. INSPECT_MB=64 holds more, RECORD=folder all."
            )
            raise RequestError(message, status=404)
        return seen

    # ------------------------------------------------------------ the list

    def _list(self, asked: Asked) -> Page:
        query = asked.query
        version = self._exchanges.version
        lines = self._exchanges.lines()
        wanted = {name: query.get(name, "") for name in FILTERS}
        found = chosen(lines, wanted)
        held = self._exchanges.held
        start = int(query["from"]) if query.get("from", "").isdecimal() else 0
        rest = {name: value for name, value in wanted.items() if value} | {"from": str(start + PAGE)}
        return html(
            200,
            "list.html",
            here=f"{ROOT}/",
            lines=[line(one, has_page=one.request_id in held) for one in found[start : start + PAGE]],
            total=len(found),
            version=version,
            filters=FILTERS,
            choices=choices(lines),
            wanted=wanted,
            is_filtered=any(wanted.values()),
            is_older=start > 0,
            older=f"{ROOT}/?{urlencode(rest)}" if len(found) > start + PAGE else "",
            example=_example(self._url),
        )

    def _news(self, asked: Asked) -> Page:
        since = asked.query.get("since", "")
        return Page(200, "text/event-stream", b"", news=self._told(int(since) if since.isdecimal() else 0))

    def _told(self, since: int) -> Iterator[bytes]:
        """Yields new and changed lines without end; a comment as keep-alive if there are none."""
        template = templates().get_template("line.html")
        yield b": here\n\n"
        while True:
            since, changed = self._exchanges.changes(since, NEWS_SECONDS)
            if not changed:
                yield b": still here\n\n"
                continue
            lines = [{"id": one.request_id, "html": template.render(line=line(one))} for one in changed]
            news = {"total": self._exchanges.count, "lines": lines}
            yield b"data: " + json.dumps(news).encode() + b"\n\n"
            time.sleep(_NEWS_PAUSE)

    # ------------------------------------------------------------ one exchange

    def _exchange(self, asked: Asked, seen: SeenExchange, template: str) -> Page:
        of, reading = summary(seen), read(seen)
        body = client_body(seen.event)
        attempts = []
        for request in seen.asked:
            left, right = side_by_side(body, request.body)
            attempts.append(
                {
                    "method": request.method,
                    "url": request.url,
                    "left": left,
                    "right": right,
                    "command": Verbatim(provider_command(request)),
                }
            )
        marks, total = view.ticks(seen)
        rows_shown, is_all = view.timeline(reading)
        page = html(
            200,
            template,
            here="",
            line=line(of),
            error=None if seen.error is None else _error(seen),
            warnings={code: explain(code) for code in of.warnings},
            beside=self._beside(reading, asked.query.get("beside")),
            models=_models(),
            suggested=of.model,
            replayable=seen.over and can_be_replayed(seen),
            ticks=marks,
            total=total,
            calls=view.calls(reading, self._exchanges.later_than(seen)),
            text=view.answer_text(reading),
            unread=reading.failed,
            attempts=attempts,
            client=pretty(body),
            command=Verbatim(client_command(seen.event, self._url, seen.path)),
            conversation=view.conversation(seen),
            rows=rows_shown,
            is_all=is_all,
        )
        return Page(page.status, page.kind, page.body, (("x-running", "1" if of.seconds is None else "0"),))

    def _beside(self, reading: Reading, other_id: str | None) -> dict[str, Any] | None:
        other = self._exchanges.get(other_id) if other_id else None
        if other is None:
            return None
        before, after = rows(other), rows(reading.seen)
        for label, of in ((before, read(other)), (after, reading)):
            label["text"] = view.answer_text(of)
            label["arguments"] = "\n".join(call.arguments for call in view.calls(of, ()))
        table = [(label, before[label], after[label]) for label in before if before[label] or after[label]]
        return {"id": other.request_id, "rows": table}

    def _again(self, seen: SeenExchange, form: Mapping[str, str]) -> Page:
        """Sends the conversation to another model, and redirects to the new exchange."""
        event = with_model(seen.event_with_key(), form.get("model", "").strip())
        route = resolve(event["httpMethod"], event["requestContext"]["path"])
        handler = self._handlers.get(getattr(route, "function", ""))
        if handler is None:
            raise RequestError("Nothing was asked here that could be asked again.", status=404)
        began = threading.Event()
        thread = threading.Thread(target=_run, args=(event, handler, self._exchanges, began), daemon=True)
        thread.start()
        began.wait(5)
        new = quote(event["requestContext"]["requestId"])
        return redirect(f"{ROOT}/x/{new}?beside={quote(seen.request_id)}")

    # ------------------------------------------------------------ tools

    def _check_tools(self, form: Mapping[str, str]) -> Page:
        door, text = form.get("door", "chat_completions"), form.get("tools", "")
        values = _tools_values(door, text)
        try:
            tools = json.loads(text)
        except ValueError as error:
            return html(200, "tools.html", **values | {"error": f"This is no JSON: {error}."})
        status, answer = self._ask("native", "/native/tools/check", {"door": door, "tools": tools})
        if status != 200:
            return html(200, "tools.html", **values | {"error": answer["error"]["message"]})
        return html(200, "tools.html", **values | {"report": answer})

    def _ask(self, function: str, path: str, body: object) -> tuple[int, Any]:
        """The gateway's answer to a request of the inspector."""
        request_id = str(uuid.uuid4())
        event = {
            "resource": path,
            "path": path,
            "httpMethod": "POST",
            "headers": {"content-type": "application/json"},
            "body": json.dumps(body),
            "isBase64Encoded": False,
            "requestContext": {"requestId": request_id, "path": f"/v1{path}"},
        }
        head, pieces = Head(500, ()), []
        for item in self._handlers[function](event, LocalContext(function, request_id, 60.0)):
            if isinstance(item, Head):
                head = item
            else:
                pieces.append(item)
        return head.status, json.loads(b"".join(pieces))


def _run(event: dict[str, Any], handler: Handler, exchanges: Exchanges, began: threading.Event) -> None:
    request_id = event["requestContext"]["requestId"]

    def listener(seen: SeenExchange) -> None:
        if seen.request_id == request_id:
            began.set()

    exchanges.listen(listener)
    try:
        ask_again(event, handler, exchanges)
    finally:
        exchanges.forget(listener)


def _error(seen: SeenExchange) -> dict[str, Any]:
    error = seen.error
    assert isinstance(error, GatewayError)
    message = seen.without_credentials(error.message.encode("utf-8", "replace")).decode("utf-8", "replace")
    return {"code": error.code, "param": error.param, "message": message}


def _event_folder(seen: SeenExchange) -> Page:
    """The event folder, as a zip file."""
    if not seen.over or not can_be_replayed(seen):
        raise RequestError("This exchange cannot be replayed: nobody was let in, or it is not over.", status=404)
    name = f'attachment; filename="{seen.request_id}.zip"'
    return Page(200, "application/zip", packed(seen), (("content-disposition", name),))


def _conformance() -> Page:
    """The conformance table, from its document."""
    from markdown_it import MarkdownIt

    text = (
        _CONFORMANCE.read_text("utf-8") if _CONFORMANCE.exists() else "It is not there: `make conformance` writes it."
    )
    body = MarkdownIt("commonmark", {"html": False}).enable("table").render(text)
    body = re.sub(r'<a href="(?!https:)[^"]*">(.*?)</a>', r"\1", body)  # the other documents are not served here
    body = body.replace("<table>", f"{_SCROLLED}<table>").replace("</table>", "</table></div>")  # they are wide
    return html(200, "document.html", here=f"{ROOT}/conformance", title="Conformance", body=Markup(body))  # noqa: S704 - ours


def _tools_values(door: str, tools: str) -> dict[str, Any]:
    doors = [name for name in DOORS if name != "catalog"]
    return {
        "here": f"{ROOT}/tools",
        "doors": doors,
        "door": door,
        "tools": Verbatim(tools),
        "report": None,
        "error": "",
    }


def _models() -> list[str]:
    """The models that a conversation can be sent to: configured names, and prefixes of providers."""
    settings = current_settings()
    demo = [f"{DEMO}/{name}" for name in DEMO_MODELS] if settings.enable_demo else []
    aliases = [alias for alias in settings.aliases if "*" not in alias]
    return [*aliases, *demo, *(f"{name}/" for name in settings.providers)]


def _example(url: str) -> str:
    return (
        f"curl -N {url}/v1/chat/completions -H 'content-type: application/json' -d '"
        '{"model": "demo/openai", "stream": true, "messages": [{"role": "user", "content": "Hello"}]}\''
    )
