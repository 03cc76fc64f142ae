"""The inspector in Chromium: what a person does with it, what a screen reader needs, and the pictures in docs/.

Skipped, and said so, where Playwright or Chromium is not installed (on Debian: apt-get install chromium).
`UPDATE_SCREENSHOTS=1` writes the pictures anew.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from local.handlers import load_handlers
from local.server import FUNCTIONS, LocalServer
from local.watch.exchanges import MOST_BYTES, Exchanges
from tests.door_requests import posted
from tests.gateway import gateway
from tests.local.serving import serving
from tests.local.test_recorder import BODIES
from toolwire.model.http import Head, UpstreamRequest

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

pytestmark = [pytest.mark.integration, pytest.mark.enable_socket]

DOCS = Path(__file__).parents[2] / "docs"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
#: What axe-core may find without a person being kept out.
HARMLESS = ("minor", "moderate")


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A running gateway, without its /v1."""
    with gateway(tmp_path_factory.mktemp("gateway")) as base:
        yield base.removesuffix("/v1")


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    if CHROMIUM is None:
        pytest.skip("there is no Chromium (on Debian: apt-get install chromium)")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def page(chromium: Any) -> Iterator[Page]:
    """A page in which nothing may fail unseen."""
    page = chromium.new_page(viewport={"width": 1280, "height": 860}, color_scheme="light")
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    page.on("request", lambda request: None if "127.0.0.1" in request.url else wrong.append(request.url))
    yield page
    page.close()
    assert wrong == []


def ask(url: str, door: str, **members: object) -> None:
    path, data = posted(door, {**BODIES[door], **members})
    request = urllib.request.Request(f"{url}/v1{path}", data, {"content-type": "application/json"})
    urllib.request.urlopen(request, timeout=20).read()


def begun(url: str, door: str, **members: object) -> subprocess.Popen[bytes]:
    """A request that goes on while the test looks."""
    path, data = posted(door, {**BODIES[door], **members})
    command = ["curl", "-sN", f"{url}/v1{path}", "-H", "content-type: application/json", "-d", data.decode()]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL)


def test_an_exchange_is_seen_live_opened_sent_elsewhere_and_copied(url: str, page: Page) -> None:
    page.goto(f"{url}/_toolwire/")
    page.wait_for_selector("#live:text-is('live')")
    slow = [{"role": "user", "content": "What is the weather in Paris and Oslo? [demo slow 400]"}]
    client = begun(url, "chat_completions", model="demo/openai", stream=True, messages=slow)
    try:
        line = page.locator("#lines tr", has_text="demo/openai").first
        line.wait_for()
        line.locator("text=running").wait_for()  # it is there before it is over
        line.locator("a").click()
        page.locator(".card", has_text="get_weather").first.wait_for()
        assert page.locator("#exchange[data-running]").count() == 1  # the card is there while it streams
        page.wait_for_selector("#exchange:not([data-running])")
    finally:
        client.wait(20)
    assert page.locator(".card .tag.good").count() == 2
    assert page.locator("table.timeline tbody tr").count() > 5

    first = page.url
    page.fill("#model", "demo/anthropic")
    page.click(".actions form button")
    page.wait_for_selector("h2:has-text('Beside the other')")
    page.wait_for_selector("#exchange:not([data-running])")
    assert page.url != first
    assert page.locator(".facts").inner_text().count("demo/anthropic") == 1

    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.click("[data-copy=curl]")
    page.wait_for_selector("button:has-text('Copied')")
    command = page.evaluate("navigator.clipboard.readText()")
    ran = subprocess.run(["sh", "-c", command], capture_output=True, timeout=30, check=True)
    assert b"get_weather" in ran.stdout


def test_what_a_reader_does_to_a_page_outlives_its_news(url: str, page: Page) -> None:
    """While the exchange runs: what is open, scrolled, typed and focused stays; what is selected is not replaced."""
    page.set_viewport_size({"width": 700, "height": 860})
    page.set_default_timeout(90_000)  # a page that is slow to read is looked at seldom
    text = "What is the weather in Paris and Oslo? [demo calls 50] [demo slow 250]" + " and a long line" * 40
    client = begun(
        url, "chat_completions", model="demo/openai", stream=True, messages=[{"role": "user", "content": text}]
    )
    try:
        page.goto(f"{url}/_toolwire/")
        page.locator("#lines tr", has_text="running").first.locator("a").click()
        rows = page.locator("table.timeline tbody tr")
        page.locator("summary").first.click()
        page.evaluate("document.querySelector('.sides pre').scrollLeft = 90")
        page.fill("#model", "demo/anthropic")
        page.locator("summary").nth(1).focus()
        before = rows.count()
        page.locator(f"table.timeline tbody tr:nth-child({before + 5})").wait_for(state="attached")
        assert page.locator("#exchange[data-running]").count() == 1
        assert page.locator("details").first.get_attribute("open") is not None
        assert page.locator("details").nth(1).get_attribute("open") is None
        assert page.evaluate("document.querySelector('.sides pre').scrollLeft") == 90
        assert page.input_value("#model") == "demo/anthropic"
        assert page.evaluate("document.activeElement.textContent") == "The client's request as a command"

        news: list[Route] = []
        page.route("**/body*", lambda route: news.append(route), times=1)
        while not news:
            page.wait_for_timeout(20)
        page.locator("h1").select_text()  # while the news is on its way
        before = rows.count()
        with page.expect_event("requestfinished", lambda request: "/body" in request.url):
            news[0].continue_()
        page.wait_for_timeout(700)
        assert rows.count() == before
        page.evaluate("getSelection().removeAllRanges()")
        page.locator(f"table.timeline tbody tr:nth-child({before + 1})").wait_for(state="attached")
    finally:
        client.kill()  # the exchange would go on for minutes
        client.wait(20)


def test_all_of_it_works_with_the_keyboard(url: str, page: Page) -> None:
    ask(url, "messages", model="demo/gemini")
    page.goto(f"{url}/_toolwire/")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.closest('#lines') !== null"):
            break
    page.keyboard.press("Enter")
    page.wait_for_url("**/x/*")
    assert page.locator("h1").inner_text().startswith("POST /v1/messages")


@pytest.fixture(scope="module")
def busy() -> Iterator[tuple[str, Exchanges]]:
    """A server that has served 12,000 exchanges."""
    exchanges = Exchanges()
    with serving(LocalServer(("127.0.0.1", 0), load_handlers(FUNCTIONS), exchanges, inspects=True)) as server:
        for number in range(12_000):
            served(exchanges, number)
        yield server.url, exchanges


def served(exchanges: Exchanges, number: int) -> None:
    """An exchange as the server would watch it, without a gateway in between."""
    event = {
        "resource": "/chat/completions",
        "path": "/chat/completions",
        "httpMethod": "POST",
        "headers": {"content-type": "application/json"},
        "body": json.dumps(BODIES["chat_completions"]),
        "requestContext": {"requestId": f"request-{number}", "path": "/v1/chat/completions"},
    }
    with exchanges.watching(event) as seen:
        seen.upstream_request(UpstreamRequest("POST", "http://127.0.0.1:1/", (), b"y" * 1000, False))
        seen.upstream_data(b"z" * 1000)
        seen.left("sent_head", Head(200, ()))
        seen.wrote(b"z" * 1000)


def seconds(work: Callable[[], object]) -> float:
    began = time.monotonic()
    work()
    return time.monotonic() - began


def test_ten_thousand_exchanges_are_listed_filtered_and_scrolled(busy: tuple[str, Exchanges], page: Page) -> None:
    """Within a second each, of which most is the browser's, and with as many lines in the page as were asked for."""
    url, exchanges = busy
    assert exchanges.count == 10_000
    assert exchanges.size <= MOST_BYTES
    assert seconds(lambda: page.goto(f"{url}/_toolwire/")) < 2
    assert page.locator("#count").inner_text() == "10000"
    assert page.locator("#lines tr").count() == 100
    for clicks in range(2, 22):
        page.click("#older")
        page.locator(f"#lines tr:nth-child({clicks * 100})").wait_for(state="attached")
    last = page.locator("#lines tr").last
    assert seconds(last.scroll_into_view_if_needed) < 2
    assert last.get_attribute("id") == f"r-request-{12_000 - 2100}"
    assert seconds(lambda: page.goto(f"{url}/_toolwire/?outcome=request_error&from=9900")) < 2
    assert page.locator("#older").count() == 0


def test_a_page_stays_quick_while_hundreds_arrive(busy: tuple[str, Exchanges], page: Page) -> None:
    """The older lines that were asked for stay, the page holds no more than them and 500, and a click is answered."""
    url, exchanges = busy
    page.goto(f"{url}/_toolwire/")
    page.wait_for_selector("#live:text-is('live')")
    for clicks in range(2, 9):
        page.click("#older")
        page.locator(f"#lines tr:nth-child({clicks * 100})").wait_for(state="attached")
    for number in range(20_000, 21_500):
        served(exchanges, number)
    page.locator("#r-request-21499").wait_for(state="attached", timeout=5000)
    assert page.locator("#lines tr").count() == 800
    assert exchanges.size <= MOST_BYTES
    assert seconds(lambda: page.locator("#r-request-21499 a").click()) < 2
    assert page.locator("h1").inner_text().startswith("POST /v1/chat/completions")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_can_be_read_by_everybody(url: str, chromium: Any, scheme: str, tmp_path: Path) -> None:
    """axe-core finds nothing serious; the pictures are those of the documents."""
    from axe_playwright_python.sync_playwright import Axe

    axe = Axe()
    ask(url, "chat_completions", model="demo/gemini", stream=True, sead=4)
    ask(url, "messages", model="demo/openai", stream=True)
    page = chromium.new_page(viewport={"width": 1280, "height": 860}, color_scheme=scheme)
    folder = DOCS if os.environ.get("UPDATE_SCREENSHOTS") else tmp_path
    for name, path in {"list": "/", "exchange": "", "tools": "/tools", "conformance": "/conformance"}.items():
        if name == "exchange":
            page.goto(f"{url}/_toolwire/?door=messages")
            page.locator("#lines a").first.click()
        else:
            page.goto(f"{url}/_toolwire{path}")
        if name == "tools":
            page.click("form.check button")
        if name == "list":
            page.wait_for_selector("#live:text-is('live')")
        found = [
            (rule["id"], [node["html"] for node in rule["nodes"]])
            for rule in axe.run(page).response["violations"]
            if rule["impact"] not in HARMLESS
        ]
        assert found == [], name
        if name != "conformance":
            page.screenshot(path=str(folder / f"inspector-{name}-{scheme}.png"))
    page.close()
