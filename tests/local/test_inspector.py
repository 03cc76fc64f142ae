"""The inspector at /_toolwire/: who may look, what is shown, and what is not."""

from __future__ import annotations

import http.client
import io
import json
import re
import shlex
import subprocess
import time
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urljoin, urlsplit

import pytest

from local.handlers import load_handlers
from local.inspector.guard import check
from local.inspector.listing import choices, chosen
from local.server import FUNCTIONS, LocalServer
from local.watch.exchanges import Exchanges
from local.watch.watching import Watching
from tests.door_requests import posted
from tests.local.serving import serving
from tests.local.test_recorder import BODIES, CITY, KEY, WEATHER
from toolwire.doors import DOORS
from toolwire.model.errors import RequestError
from toolwire.model.http import UpstreamRequest
from toolwire.model.settings import SettingsError
from toolwire.shell.recording.exchange import MOST_EXCHANGE_BYTES, SeenExchange
from toolwire.shell.recording.folder import expected_files, scenario_of
from toolwire.shell.recording.replay import replay
from toolwire.shell.recording.scenario import load_scenario

pytestmark = pytest.mark.enable_socket

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&"


@dataclass(frozen=True, slots=True)
class Browser:
    """What a browser sends to an inspector, without one."""

    port: int
    exchanges: Exchanges

    def ask(self, method: str, path: str, body: str | None = None, **fields: str) -> tuple[int, dict[str, str], bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        headers = {"host": f"127.0.0.1:{self.port}", **{name.replace("_", "-"): it for name, it in fields.items()}}
        try:
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            return response.status, {name.lower(): it for name, it in response.getheaders()}, response.read()
        finally:
            connection.close()

    def get(self, path: str) -> str:
        status, _, body = self.ask("GET", path)
        assert status == 200, body
        return body.decode().replace("<wbr>", "")  # where a line may end

    def post(self, path: str, **form: str) -> tuple[int, dict[str, str], str]:
        kind = "application/x-www-form-urlencoded"
        origin = f"http://127.0.0.1:{self.port}"
        status, headers, body = self.ask("POST", path, urlencode(form), origin=origin, content_type=kind)
        return status, headers, body.decode()

    def chat(self, path: str, body: object) -> str:
        """Asks the gateway, and gives the id of the exchange once it is over."""
        _, headers, _ = self.ask(
            "POST", path, json.dumps(body), authorization=f"Bearer {KEY}", content_type="application/json"
        )
        return self.over(headers["x-request-id"])

    def asked(self, door: str, body: dict[str, Any]) -> str:
        """The same, for a request of a door's client."""
        path, content = posted(door, body)
        return self.chat(f"/v1{path}", json.loads(content))

    def over(self, request_id: str) -> str:
        for _ in range(500):
            seen = self.exchanges.get(request_id)
            if seen is not None and seen.over:
                return request_id
            time.sleep(0.01)
        raise AssertionError("it does not end")


@pytest.fixture
def browser() -> Iterator[Browser]:
    exchanges = Exchanges()
    with serving(LocalServer(("127.0.0.1", 0), load_handlers(FUNCTIONS), exchanges, inspects=True)) as server:
        yield Browser(server.server_address[1], exchanges)


def text_of(page: str) -> str:
    """The text of a page, without its tags."""
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", page)))


class TestGuard:
    LOCAL = "127.0.0.1:8080"

    @pytest.mark.parametrize(
        ("method", "client", "fields", "may"),
        [
            ("GET", "127.0.0.1", {"host": "127.0.0.1:8080"}, True),
            ("GET", "127.0.0.1", {"host": "localhost:8080"}, True),
            ("GET", "::1", {"host": "[::1]:8080"}, True),
            ("GET", "::ffff:127.0.0.1", {"host": "localhost"}, True),
            ("GET", "127.0.0.1", {"host": "localhost:8080", "sec-fetch-site": "same-origin"}, True),
            ("GET", "127.0.0.1", {"host": "localhost:8080", "sec-fetch-site": "none"}, True),
            ("POST", "127.0.0.1", {"host": LOCAL, "origin": "http://127.0.0.1:8080"}, True),
            # another machine, also behind a name of ours
            ("GET", "192.0.2.1", {"host": "localhost:8080"}, False),
            ("GET", "::ffff:192.0.2.1", {"host": "localhost:8080"}, False),
            ("GET", "not an address", {"host": "localhost:8080"}, False),
            # DNS rebinding: a name of the attacker's that leads here
            ("GET", "127.0.0.1", {"host": "attacker.example:8080"}, False),
            ("GET", "127.0.0.1", {"host": "localhost.attacker.example"}, False),
            ("GET", "127.0.0.1", {"host": "127.0.0.1@attacker.example"}, False),
            ("GET", "127.0.0.1", {"host": "attacker.example@127.0.0.1"}, False),
            ("GET", "127.0.0.1", {"host": "["}, False),
            ("GET", "127.0.0.1", {}, False),
            # another page, another program's page on this machine too
            ("GET", "127.0.0.1", {"host": LOCAL, "origin": "https://attacker.example"}, False),
            ("POST", "127.0.0.1", {"host": LOCAL, "origin": "http://localhost:3000"}, False),
            ("POST", "127.0.0.1", {"host": LOCAL, "origin": "null"}, False),
            ("POST", "127.0.0.1", {"host": LOCAL, "origin": "http://localhost:8080"}, False),
            ("POST", "127.0.0.1", {"host": LOCAL}, False),
            ("GET", "127.0.0.1", {"host": LOCAL, "sec-fetch-site": "cross-site"}, False),
            ("GET", "127.0.0.1", {"host": LOCAL, "sec-fetch-site": "same-site"}, False),
        ],
    )
    def test_who_may_look(self, method: str, client: str, fields: dict[str, str], may: bool) -> None:
        if may:
            check(method, fields, client)
            return
        with pytest.raises(RequestError) as caught:
            check(method, fields, client)
        assert (caught.value.status, caught.value.code) == (403, "access_denied")

    @pytest.mark.parametrize("path", ["/_toolwire", "/_toolwire/", "/_toolwire/news", "/_toolwire/x/1/event.zip"])
    def test_the_server_asks(self, browser: Browser, path: str) -> None:
        assert browser.ask("GET", path, host="attacker.example")[0] == 403
        assert browser.ask("GET", path, origin="https://attacker.example")[0] == 403
        assert browser.exchanges.lines() == []

    def test_pages_are_closed_to_every_other_site(self, browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("CORS_ORIGIN", "https://app.example")
        _, headers, _ = browser.ask("GET", "/_toolwire/")

        assert not [name for name in headers if name.startswith("access-control")]
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"

    def test_nothing_is_there_unless_it_was_asked_for(self) -> None:
        with serving(LocalServer(("127.0.0.1", 0), load_handlers(FUNCTIONS))) as server:
            assert Browser(server.server_address[1], Exchanges()).ask("GET", "/_toolwire/")[0] == 404

    def test_no_page_asks_for_anything_from_elsewhere(self) -> None:
        folder = Path("local/inspector")
        files = [*folder.glob("templates/*"), *folder.glob("static/*")]
        assert len(files) > 5
        for path in files:
            found = re.findall(r"""(?:https?:)?//[\w.-]+\.\w+|@import|style=""", path.read_text())
            assert found == [], path


class TestPages:
    @pytest.mark.parametrize("model", ["openai", "anthropic", "gemini", "responses", "bedrock"])
    @pytest.mark.parametrize("door", DOORS)
    def test_an_exchange_of_every_kind(self, browser: Browser, door: str, model: str) -> None:
        body = BODIES[door]
        request_id = browser.asked(door, {**body, "model": f"demo/{model}", "stream": True})
        text = text_of(browser.get(f"/_toolwire/x/{request_id}"))

        assert text.count("as its schema asks") == 2
        assert "get_weather" in text
        assert '"location"' in text
        assert "ToolCallStart(" in text
        assert f"demo/{model}" in text
        assert "What is the weather in Paris and Oslo?" in text
        assert KEY not in text

    def test_what_went_wrong_is_shown_with_the_field(self, browser: Browser) -> None:
        request_id = browser.chat("/v1/chat/completions", {"model": "opnai/x", "messages": [{"role": "user"}]})
        page = text_of(browser.get(f"/_toolwire/x/{request_id}"))

        assert "No provider was asked." in page
        assert 'class="note error"' in browser.get(f"/_toolwire/x/{request_id}")

    def test_unknown_paths_are_lines_too(self, browser: Browser) -> None:
        browser.ask("POST", "/chat/completions", "{}", content_type="application/json")
        page = browser.get("/_toolwire/")

        assert "POST /chat/completions" in page
        assert "not_found" in page

    def test_a_result_is_shown_with_its_call_when_it_comes(self, browser: Browser) -> None:
        body = BODIES["chat_completions"]
        request_id = browser.asked("chat_completions", {**body, "model": "demo/gemini"})
        seen = browser.exchanges.get(request_id)
        assert seen is not None
        answer = json.loads(b"".join(note.what for note in seen.notes if note.kind == "sent"))
        message = answer["choices"][0]["message"]
        results = [
            {"role": "tool", "tool_call_id": call["id"], "content": f"{number} degrees"}
            for number, call in enumerate(message["tool_calls"], 12)
        ]
        later = browser.asked(
            "chat_completions", {**body, "model": "demo/gemini", "messages": [*body["messages"], message, *results]}
        )
        first, second = (text_of(browser.get(f"/_toolwire/x/{one}")) for one in (request_id, later))

        assert "12 degrees" in first
        assert "13 degrees" in first
        assert "the provider's state is kept" in first
        assert "at the provider" in second

    def test_nothing_that_was_said_becomes_part_of_the_page(self, browser: Browser) -> None:
        tool = {**WEATHER, "description": HOSTILE}
        body = {
            "model": HOSTILE,
            "messages": [{"role": "user", "content": HOSTILE}],
            "tools": [{"type": "function", "function": tool}],
        }
        refused = browser.chat("/v1/chat/completions", body)
        answered = browser.chat("/v1/chat/completions", {**body, "model": "demo/anthropic", HOSTILE: 1})
        browser.ask("GET", "/" + "x<script>alert(1)</script>")
        pages = [browser.get(f"/_toolwire/x/{one}") for one in (refused, answered)]
        pages += [browser.get("/_toolwire/"), browser.get("/_toolwire/?tool=%3Cscript%3Ealert(1)%3C/script%3E")]
        pages.append(browser.post("/_toolwire/tools", door=HOSTILE, tools=json.dumps([HOSTILE, tool]))[2])

        for page in pages:
            assert "<script>alert" not in page
            assert "<img" not in page

    @pytest.mark.parametrize("hidden", ["\u202e", "\u2066", "\u200b", "\ufeff", "\x1b", "\x00", "\U000e0041"])
    def test_what_cannot_be_seen_is_shown(self, browser: Browser, hidden: str) -> None:
        """Directions and tags make a text read as another one; a command that is copied has them as they were."""
        body = BODIES["chat_completions"]
        said = [{"role": "user", "content": f"before{hidden}after"}]
        request_id = browser.asked("chat_completions", {**body, "model": "demo/openai", "tools": [], "messages": said})
        page = browser.get(f"/_toolwire/x/{request_id}")
        escape = f"\\u{ord(hidden):04x}" if ord(hidden) < 0x10000 else f"\\U{ord(hidden):08x}"

        assert f"before{escape}after" in page.partition("The conversation so far")[2]
        assert hidden not in re.sub(r'<pre class="code" id="curl.*?</pre>', "", page, flags=re.DOTALL)

    def test_only_what_can_be_opened_is_a_link(self, browser: Browser) -> None:
        small = {**BODIES["chat_completions"], "model": "demo/openai"}
        text = [{"role": "user", "content": "x" * 4_300_000}]
        first = browser.asked("chat_completions", {**small, "messages": text})
        for _ in range(3):
            last = browser.asked("chat_completions", small)
        page = browser.get("/_toolwire/")

        assert browser.exchanges.get(first) is None
        assert f'id="r-{first}"' in page
        assert f'href="/_toolwire/x/{first}"' not in page
        assert f'href="/_toolwire/x/{last}"' in page
        assert "INSPECT_MB" in browser.ask("GET", f"/_toolwire/x/{first}")[2].decode()

    def test_the_list_is_narrowed_down(self, browser: Browser) -> None:
        body = BODIES["chat_completions"]
        browser.asked("chat_completions", {**body, "model": "demo/gemini", "sead": 4})
        browser.asked("chat_completions", {**body, "model": "nowhere/x"})
        body = BODIES["messages"]
        browser.asked("messages", {**body, "model": "demo/openai", "tools": []})
        lines = browser.exchanges.lines()
        known = choices(lines)

        assert known["door"] == ["chat_completions", "messages"]
        assert known["tool"] == ["get_weather"]
        assert "unknown_field" in known["warning"]
        assert "model_not_found" in known["outcome"]
        assert [one.door for one in chosen(lines, {"door": "messages"})] == ["messages"]
        assert [one.model for one in chosen(lines, {"outcome": "model_not_found"})] == ["nowhere/x"]
        assert [one.model for one in chosen(lines, {"warning": "unknown_field", "door": ""})] == ["demo/gemini"]
        assert chosen(lines, {"warning": "unknown_field", "door": "messages"}) == []
        assert "nowhere/x" not in browser.get("/_toolwire/?provider=demo").partition("<tbody")[2]

    def test_what_is_held_no_more_says_so(self, browser: Browser) -> None:
        status, _, body = browser.ask("GET", "/_toolwire/x/nothing")

        assert status == 404
        assert b"RECORD=" in body
        assert browser.ask("GET", "/_toolwire/nothing")[0] == 404
        assert browser.ask("GET", "/_toolwire/static/..%2Fsite.py")[0] == 404

    def test_every_link_leads_somewhere(self, browser: Browser) -> None:
        first = browser.asked("chat_completions", {**BODIES["chat_completions"], "model": "demo/gemini"})
        browser.asked("messages", {**BODIES["messages"], "model": "nowhere/x"})
        missing = browser.ask("GET", "/_toolwire/x/nothing")[2].decode()
        pages = [browser.get(f"/_toolwire/{path}") for path in ("", "tools", "conformance", f"x/{first}")]
        found = {link for page in (*pages, missing) for link in re.findall(r'(?:href|src)="([^"]*)"', page)}
        found = {urljoin("/_toolwire/", link) for link in found if not link.startswith(("#", "https:", "data:"))}

        assert len(found) > 6
        assert [link for link in sorted(found) if browser.ask("GET", link)[0] != 200] == []

    def test_long_arguments_do_not_stretch_the_timeline(self, browser: Browser) -> None:
        said = [{"role": "user", "content": '[demo call get_weather {"city": "' + "x" * 3000 + '"}]'}]
        asked = browser.asked(
            "chat_completions", {**BODIES["chat_completions"], "model": "demo/openai", "messages": said}
        )
        page = browser.get(f"/_toolwire/x/{asked}")
        timeline = page.partition("<h2>Timeline</h2>")[2]

        assert '<code class="long" tabindex="0">' in timeline
        assert not re.search(r"<code>[^<]{1000}", timeline)

    def test_the_conformance_page_is_the_document(self, browser: Browser) -> None:
        assert "<table>" in browser.get("/_toolwire/conformance")


class TestTools:
    def test_each_provider_says_what_it_makes_of_them(self, browser: Browser) -> None:
        tools = [{"type": "function", "function": {"name": "a.b", "parameters": CITY}}]
        status, _, page = browser.post("/_toolwire/tools", door="chat_completions", tools=json.dumps(tools))

        assert status == 200
        text = text_of(page)
        assert "anthropic anthropic_messages" in text
        assert "renamed to" in text

    @pytest.mark.parametrize(("tools", "says"), [("[", "This is no JSON"), ("{}", "tools"), ("[1]", "tools")])
    def test_what_is_wrong_is_said_and_the_text_stays(self, browser: Browser, tools: str, says: str) -> None:
        _, _, page = browser.post("/_toolwire/tools", door="chat_completions", tools=tools)

        assert says in text_of(page)
        assert tools in page


class TestDoing:
    @pytest.mark.parametrize("door", DOORS)
    def test_the_same_conversation_is_sent_to_another_provider(self, browser: Browser, door: str) -> None:
        body = BODIES[door]
        first = browser.asked(door, {**body, "model": "demo/openai", "stream": True})
        status, headers, _ = browser.post(f"/_toolwire/x/{first}/again", model="demo/anthropic")
        assert status == 303
        place = headers["location"]
        second = browser.over(urlsplit(place).path.rpartition("/")[2])
        text = text_of(browser.get(place))

        assert second != first
        assert "Beside the other" in text
        assert "demo/openai demo/anthropic" in text
        assert "get_weather, get_weather get_weather, get_weather" in text

    def test_the_command_asks_the_same(self, browser: Browser) -> None:
        body = BODIES["messages"]
        body = {**body, "model": "demo/gemini", "system": 'It\'s "quoted" $HOME `date` \\ \n end'}
        request_id = browser.asked("messages", body)
        page = browser.get(f"/_toolwire/x/{request_id}")
        found = re.search(r'<pre class="code" id="curl"[^>]*><code>(.*?)</code>', page, re.DOTALL)
        assert found is not None
        command = unescape(found[1])
        assert KEY not in command
        assert 'Bearer $KEY"' in command
        words = shlex.split(command)
        assert json.loads(words[words.index("--data-binary") + 1]) == body

        ran = subprocess.run(["sh", "-c", command], capture_output=True, timeout=20, check=True)
        assert json.loads(ran.stdout)["stop_reason"] == "tool_use"

    def test_a_model_that_stands_in_the_path(self, browser: Browser) -> None:
        """Gemini's API: sent to another provider, copied, and replayed."""
        body = {
            "contents": [{"role": "user", "parts": [{"text": "What is the weather in Paris and Oslo?"}]}],
            "tools": [{"functionDeclarations": [{"name": "get_weather", "parametersJsonSchema": CITY}]}],
        }
        first = browser.chat("/v1beta/models/demo/openai:streamGenerateContent?alt=sse", body)
        page = browser.get(f"/_toolwire/x/{first}")
        found = re.search(r'<pre class="code" id="curl"[^>]*><code>(.*?)</code>', page, re.DOTALL)
        assert found is not None
        ran = subprocess.run(["sh", "-c", unescape(found[1])], capture_output=True, timeout=20, check=True)
        assert ran.stdout.count(b"functionCall") == 2
        assert ran.stdout.startswith(b"data: ")
        assert "/v1/v1beta" not in page + browser.get("/_toolwire/")

        _, headers, _ = browser.post(f"/_toolwire/x/{first}/again", model="demo/anthropic")
        second = browser.over(urlsplit(headers["location"]).path.rpartition("/")[2])
        seen = browser.exchanges.get(second)
        assert seen is not None
        assert [(target.provider.name, target.model) for target in seen.targets] == [("demo", "anthropic")]
        sent = b"".join(note.what for note in seen.notes if note.kind == "sent")
        assert expected_files(replay(scenario_of(seen)))["expected.sse"] == sent

    def test_the_folder_that_is_downloaded_replays(self, browser: Browser, tmp_path: Path) -> None:
        body = BODIES["responses"]
        request_id = browser.asked("responses", {**body, "model": "demo/openai", "stream": True})
        status, headers, packed = browser.ask("GET", f"/_toolwire/x/{request_id}/event.zip")
        assert (status, headers["content-type"]) == (200, "application/zip")
        zipfile.ZipFile(io.BytesIO(packed)).extractall(tmp_path)
        folder = tmp_path / request_id

        expected = {path.name: path.read_bytes() for path in folder.glob("expected.*")}
        assert expected_files(replay(load_scenario(folder))) == expected
        assert KEY.encode() not in b"".join(path.read_bytes() for path in folder.iterdir())

    def test_news_come_as_lines(self, browser: Browser) -> None:
        body = BODIES["chat_completions"]
        connection = http.client.HTTPConnection("127.0.0.1", browser.port, timeout=20)
        connection.request("GET", "/_toolwire/news?since=0", headers={"host": f"127.0.0.1:{browser.port}"})
        stream = connection.getresponse()
        assert stream.getheader("content-type") == "text/event-stream"
        request_id = browser.asked("chat_completions", {**body, "model": "demo/openai"})
        html = ""
        while "get_weather ×2" not in html:
            line = stream.readline()
            if line.startswith(b"data: "):
                news = json.loads(line[6:])
                html = "".join(one["html"] for one in news["lines"] if one["id"] == request_id)
        assert news["total"] == 1
        connection.close()


def event(number: int, body: str = "{}") -> dict[str, object]:
    context = {"requestId": f"request-{number}", "path": "/v1/chat/completions"}
    return {
        "httpMethod": "POST",
        "headers": {},
        "body": body,
        "requestContext": context,
        "resource": "/chat/completions",
    }


class TestMemory:
    def test_ten_thousand_exchanges(self) -> None:
        """Lines of the latest, bytes of fewer, and the list within a second."""
        exchanges = Exchanges(most_lines=10_000, most_bytes=8 << 20)
        for number in range(12_000):
            with exchanges.watching(event(number)) as seen:
                seen.upstream_request(UpstreamRequest("POST", "http://x/", (), b"y" * 1000, False))
                seen.upstream_data(b"z" * 1000)
        assert exchanges.size <= 8 << 20
        assert len(exchanges.lines()) == 10_000
        assert exchanges.lines()[0].request_id == "request-11999"
        assert exchanges.get("request-11999") is not None
        assert exchanges.get("request-2001") is None

    def test_the_latest_is_kept_however_large_it_is(self) -> None:
        exchanges = Exchanges(most_bytes=100_000)
        for number in range(5):
            with exchanges.watching(event(number)) as seen:
                seen.upstream_data(b"z" * 300_000)
        assert [exchanges.get(f"request-{number}") is not None for number in range(5)] == [False] * 4 + [True]

    @pytest.mark.parametrize("most", [3_000_000, 8 << 20])
    def test_a_large_one_clears_no_list(self, most: int) -> None:
        """Neither while it runs, nor when it is over, nor when the next ones come: then it goes first."""
        exchanges = Exchanges(most_bytes=most)
        small = [f"request-{number}" for number in range(20)]
        for number in range(20):
            with exchanges.watching(event(number)) as seen:
                seen.upstream_data(b"z" * 30_000)
        with exchanges.watching(event(100)) as seen:
            seen.upstream_data(b"z" * (20 << 20))
            seen.upstream_request(UpstreamRequest("POST", "http://x/", (), b"", False))
            assert all(map(exchanges.get, small))
        assert all(map(exchanges.get, small))
        assert exchanges.get("request-100") is not None
        for number in range(200, 203):
            with exchanges.watching(event(number)):
                pass
        assert all(map(exchanges.get, small))
        assert exchanges.get("request-100") is None
        assert exchanges.size <= most

    @pytest.mark.parametrize("text", ["0", "-1", "4097", "8.5", "8MB", "²"])
    def test_its_memory_is_a_number_of_megabytes(self, text: str) -> None:
        with pytest.raises(SettingsError, match="INSPECT_MB"):
            Watching.of({"INSPECT_MB": text}, is_terminal=False)

    @pytest.mark.parametrize(
        ("name", "text"), [("INSPECT", "maybe"), ("REDACT", "names"), ("LOG_FORMAT", "xml"), ("LOG_FORMAT", "jsonl")]
    )
    def test_a_word_that_means_nothing_is_refused(self, name: str, text: str) -> None:
        with pytest.raises(SettingsError, match=f"{name}: write"):
            Watching.of({name: text}, is_terminal=False)

    @pytest.mark.parametrize("off", ["0", "false", "no", "OFF"])
    def test_it_is_off_by_any_word_for_it(self, off: str) -> None:
        assert not Watching.of({"INSPECT": off}, is_terminal=False).inspects

    def test_its_memory_can_be_set(self) -> None:
        for megabytes, kept in ((1, False), (16, True)):
            exchanges = Watching.of({"INSPECT_MB": str(megabytes)}, is_terminal=False).exchanges
            assert exchanges is not None
            for number in range(2):
                with exchanges.watching(event(number)) as seen:
                    seen.upstream_data(b"z" * (1 << 20))
            assert (exchanges.get("request-0") is not None) == kept

    def test_one_that_is_too_large_is_cut_and_said_not_to_replay(self) -> None:
        exchanges = Exchanges()
        with exchanges.watching(event(1)) as seen:
            for _ in range(40):
                seen.upstream_data(b"z" * (1 << 20))
        assert seen.cut
        assert seen.size <= MOST_EXCHANGE_BYTES + (2 << 20)

    def test_a_running_exchange_is_never_dropped(self) -> None:
        exchanges = Exchanges(most_bytes=1000)
        with exchanges.watching(event(1)):
            for number in range(2, 50):
                with exchanges.watching(event(number)):
                    pass
            assert exchanges.get("request-1") is not None
            assert exchanges.running == 1
        assert exchanges.running == 0

    def test_listeners_hear_of_the_beginning_and_the_end(self) -> None:
        exchanges = Exchanges()
        heard: list[bool] = []

        def listener(seen: SeenExchange) -> None:
            heard.append(seen.over)

        exchanges.listen(listener)
        with exchanges.watching(event(1)):
            pass
        exchanges.forget(listener)
        with exchanges.watching(event(2)):
            pass
        assert heard == [False, True]
