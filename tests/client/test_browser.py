"""The site in Chromium, as a visitor uses it: `make browsers`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.client.visits import SITE, WAIT, Page, environments

pytestmark = pytest.mark.browser


def test_the_gallery_has_every_environment_and_one_lives_where_it_is_pointed_at(page: Page) -> None:
    page.open("index.html")
    cards = page.tab.locator(".card")
    cards.first.wait_for(timeout=WAIT)
    assert cards.count() == len(environments())
    cards.nth(0).hover()
    page.tab.locator(".frame canvas").wait_for(timeout=WAIT)
    cards.nth(1).hover()
    page.tab.wait_for_timeout(2000)
    assert cards.nth(0).locator("canvas").count() == 0
    assert page.tab.locator(".frame canvas").count() <= 1
    assert page.wrong == []


@pytest.mark.parametrize("one", environments(), ids=lambda one: one["id"])
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


def _altered(body: bytes) -> bytes:
    middle = len(body) // 2
    return body[:middle] + bytes([body[middle] ^ 1]) + body[middle + 1 :]


def _cut(body: bytes) -> bytes:
    return body[: len(body) // 2]


def _answer(page: Page, file: str, damage: Callable[[bytes], bytes]) -> None:
    """Answer with a damaged file of the site."""
    body = damage((SITE / file).read_bytes())
    page.tab.route(f"**/{file}", lambda route: route.fulfill(body=body))


@pytest.mark.parametrize("damage", [_altered, _cut])
def test_a_damaged_module_is_not_started(page: Page, damage: Callable[[bytes], bytes]) -> None:
    _answer(page, "modules/cartpole.wasm", damage)
    page.open("docs/environments/CartPole-v0.html")
    page.tab.locator(".problem:visible").wait_for(timeout=WAIT)
    assert "damaged" in page.told()
    page.button("Play").click()
    page.tab.wait_for_timeout(1000)
    assert page.tab.locator("canvas.picture").get_attribute("data-pictures") is None


@pytest.mark.parametrize("damage", [_altered, _cut])
def test_a_world_plays_at_random_where_its_policy_is_damaged(
    page: Page, damage: Callable[[bytes], bytes]
) -> None:
    _answer(page, "policies/CartPole-v0.ckpt", damage)
    page.open("docs/environments/CartPole-v0.html")
    page.wait_for_steps(30, 10**6)
    assert "damaged" in page.told()
    assert page.tab.get_by_label("player (1)", exact=True).input_value() == "random"
    assert page.wrong == []


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
