"""The site in Chromium, as a visitor uses it: `make browsers`."""

from __future__ import annotations

import hashlib
import json
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from scripts.web.frames import served

ROOT = Path(__file__).parents[2]
SITE = ROOT / "build" / "site"
WAIT = 60_000  # milliseconds for what takes long on a busy machine
STEPS = 200

pytestmark = pytest.mark.browser


def _environments() -> list[dict[str, Any]]:
    file = SITE / "environments.json"
    found: list[dict[str, Any]] = json.loads(file.read_text()) if file.exists() else []
    return found


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The address at which the site is served."""
    if not _environments():
        pytest.skip("needs a site: make docs")
    with served(SITE) as found:
        yield found


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    sync = pytest.importorskip("playwright.sync_api")
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("needs Chromium (Debian and Ubuntu: apt install chromium)")
    with sync.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield started
        started.close()


class Page:
    """A page, and everything that went wrong on it."""

    def __init__(self, browser: Any, address: str, **context: Any) -> None:
        self.address = address
        self.context = browser.new_context(viewport={"width": 1280, "height": 900}, **context)
        self.tab = self.context.new_page()
        self.wrong: list[str] = []
        self.tab.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.tab.on("console", self._said)
        self.tab.on("request", self._asked)

    def _said(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.wrong.append(message.text)

    def _asked(self, request: Any) -> None:
        if not request.url.startswith((self.address, "blob:", "data:")):
            self.wrong.append(f"asked for {request.url}")

    def open(self, path: str) -> None:
        self.tab.goto(f"{self.address}/{path}", timeout=WAIT)

    def until(self, holds: Callable[[], bool]) -> None:
        """Wait for something; the page's policy forbids to look from within, by text as code."""
        end = time.monotonic() + WAIT / 1000
        while not holds():
            assert time.monotonic() < end, self.told() or self.wrong
            self.tab.wait_for_timeout(50)

    def told(self) -> str:
        """What the page says of its problems."""
        return " ".join(self.tab.locator(".problem:visible").all_inner_texts())

    def facts(self) -> str:
        found = self.tab.locator(".facts")
        return str(found.inner_text()) if found.count() else ""

    def wait_for_world(self) -> None:
        self.until(lambda: "steps since" in self.facts())

    def wait_for_steps(self, low: int, high: int | None = None) -> None:
        self.until(lambda: low <= self.steps() <= (low if high is None else high))

    def button(self, name: str) -> Any:
        return self.tab.get_by_role("button", name=name, exact=True)

    def pause(self) -> None:
        if self.button("Pause").count():
            self.button("Pause").click()

    def steps(self) -> int:
        _, _, words = self.facts().partition(";")
        return int(words.split()[0]) if words else -1

    def go_to(self, step: int) -> str:
        """Go to a recorded step, and return a hash of its picture."""
        self.tab.get_by_role("slider", name="step of the record").fill(str(step))
        self.wait_for_steps(step)
        return self.picture()

    def picture(self) -> str:
        """Return a hash of the picture, once it is the best one of the present step."""
        canvas = self.tab.locator("canvas.picture")

        def is_best() -> bool:
            shown = canvas.get_attribute("data-steps"), canvas.get_attribute("data-best")
            return shown == (str(self.steps()), "true")

        self.until(is_best)
        return hashlib.sha256(canvas.screenshot()).hexdigest()


@pytest.fixture
def page(browser: Any, address: str) -> Iterator[Page]:
    made = Page(browser, address)
    yield made
    made.context.close()


def test_the_gallery_has_every_environment_and_one_lives_where_it_is_pointed_at(page: Page) -> None:
    page.open("index.html")
    cards = page.tab.locator(".card")
    cards.first.wait_for(timeout=WAIT)
    assert cards.count() == len(_environments())
    cards.nth(0).hover()
    page.tab.locator(".frame canvas").wait_for(timeout=WAIT)
    cards.nth(1).hover()
    page.tab.wait_for_timeout(2000)
    assert cards.nth(0).locator("canvas").count() == 0
    assert page.tab.locator(".frame canvas").count() <= 1
    assert page.wrong == []


@pytest.mark.parametrize("one", _environments(), ids=lambda one: one["id"])
def test_an_environment_as_a_visitor_uses_it(page: Page, one: dict[str, Any]) -> None:
    page.open(one["page"])
    page.wait_for_world()
    page.tab.get_by_label("speed", exact=True).select_option("16")
    page.wait_for_steps(30, 10**6)
    page.pause()
    page.tab.wait_for_timeout(500)
    stopped = page.steps()
    page.tab.wait_for_timeout(700)
    assert page.steps() == stopped
    begin, later = page.go_to(0), page.go_to(30)
    assert begin != later
    assert page.go_to(0) == begin and page.go_to(30) == later
    page.button("Restart").click()
    page.wait_for_steps(0)
    assert page.picture() == begin
    page.tab.get_by_text("The same bits", exact=True).click()
    page.button("Check the bits").click()
    rows = page.tab.locator(".bits > div")
    page.until(lambda: rows.count() == len(one["golden"]))
    assert page.tab.locator(".bits .differs").count() == 0
    assert page.tab.locator(".problem:visible").count() == 0
    assert page.wrong == []


def test_keys_play_while_the_picture_has_the_focus(page: Page) -> None:
    page.open("docs/environments/CartPole-v0.html")
    page.wait_for_world()
    page.pause()
    page.button("Restart").click()
    page.wait_for_steps(0)
    page.button("Play by hand").click()
    page.button("Play").click()
    page.tab.locator("canvas.picture").focus()
    page.tab.keyboard.down("d")
    page.until(lambda: "over" in page.facts())
    page.tab.keyboard.up("d")
    page.pause()
    # Pushed to one side only, a pole falls within a dozen steps.
    assert int(page.tab.locator(".facts").inner_text().split()[1].rstrip(";,")) < 15
    assert page.wrong == []


def test_a_link_brings_back_its_step(page: Page, browser: Any, address: str) -> None:
    page.open("docs/hide_seek.html#id=HideSeek-v0&seed=5&steps=40")
    page.wait_for_steps(40)
    other = Page(browser, address)
    other.open("docs/hide_seek.html#id=HideSeek-v0&seed=5&steps=40")
    other.wait_for_steps(40)
    assert other.picture() == page.picture()
    other.context.close()
    assert page.wrong == []


@pytest.mark.parametrize(
    "hash", ["id=Chess-v0", "id=HideSeek-v0&steps=9e9", "x=%ff", "id=HideSeek-v0&p.%00=1"]
)
def test_a_bad_link_is_a_sentence_on_the_page(page: Page, hash: str) -> None:
    page.open(f"docs/hide_seek.html#{hash}")
    page.tab.locator(".problem:visible").wait_for(timeout=WAIT)
    assert page.tab.locator(".problem:visible").inner_text().endswith(".")


def test_a_damaged_module_is_not_started(page: Page) -> None:
    def damage(route: Any) -> None:
        body = bytearray((SITE / "modules/cartpole.wasm").read_bytes())
        body[len(body) // 2] ^= 1
        route.fulfill(body=bytes(body))

    page.tab.route("**/cartpole.wasm", damage)
    page.open("docs/environments/CartPole-v0.html")
    problem = page.tab.locator(".problem:visible")
    problem.wait_for(timeout=WAIT)
    assert "damaged" in problem.inner_text()


def test_nothing_moves_by_itself_where_motion_is_not_wanted(browser: Any, address: str) -> None:
    page = Page(browser, address, reduced_motion="reduce")
    page.open("docs/environments/CartPole-v0.html")
    page.wait_for_world()
    page.tab.wait_for_timeout(1500)
    assert page.steps() == 0
    page.context.close()


_RIGHT_END = """
Math.max(
  ...[...document.querySelectorAll(".ge-page *")].map((one) => one.getBoundingClientRect().right),
)
"""


def test_a_page_is_read_on_a_narrow_screen(browser: Any, address: str) -> None:
    page = Page(browser, address)
    page.tab.set_viewport_size({"width": 360, "height": 740})
    page.open("docs/hide_seek.html")
    page.wait_for_world()
    assert page.tab.evaluate(_RIGHT_END) <= 362
    page.context.close()


def test_a_page_from_a_folder_names_the_command_that_serves_it(browser: Any) -> None:
    context = browser.new_context()
    tab = context.new_page()
    tab.goto((SITE / "index.html").as_uri())
    tab.locator(".problem").wait_for()
    assert "python -m http.server" in tab.locator(".problem").inner_text()
    context.close()
