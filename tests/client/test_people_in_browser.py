"""What people do on the site's pages: play by hand, choose parameters, use the keyboard alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

import pytest

import gpu_envs
from gpu_envs.commands.action_keys import Heads
from tests.client.visits import MOST_TABS, Page, Record, environments

SEED = 3
HELD = 3  # steps for which a key is held
SLID = 20  # steps that are played with sliders at an end

pytestmark = pytest.mark.browser

each = pytest.mark.parametrize("one", environments(), ids=lambda one: one["id"])


def _open(page: Page, one: dict[str, Any]) -> None:
    """Open a page at a world that stands still at its first step."""
    page.open(f"{one['page']}#id={one['id']}&seed={SEED}")
    page.wait_for_world()
    page.picture()


# ---- by hand


def _played(page: Page, acts: Callable[[], object]) -> Record:
    """Play from the beginning while something is done, and return the record."""
    page.restart()
    page.button("Play").click()
    acts()
    page.pause()
    return page.record()


def _hold(page: Page, keys: Iterable[str]) -> list[int]:
    """Hold one key after the other while the picture has the focus; return the steps then."""
    page.tab.locator("canvas.picture").focus()
    ends = []
    for key in keys:
        page.tab.keyboard.down(key)
        page.wait_for_steps(page.steps() + HELD, 10**6)
        ends.append(page.steps())
        page.tab.keyboard.up(key)
    return ends


def _presses(page: Page, heads: Heads) -> None:
    """Press every key, and compare with the same game without."""
    ends: list[int] = []
    acted = _played(page, lambda: ends.extend(_hold(page, heads.keys)))
    for key, (head, category) in heads.keys.items():
        assert category in acted[:, head], key
    looks = ends[0], ends[-1]  # the first key may do what is done without, the last ones undo it
    pictures = [page.go_to(step) for step in looks]
    _played(page, lambda: page.wait_for_steps(ends[-1], 10**6))
    assert [page.go_to(step) for step in looks] != pictures


def _slides(page: Page, highs: list[float | None]) -> None:
    """Pull all sliders to their upper end, and compare with the same game without."""
    _played(page, lambda: page.wait_for_steps(SLID, 10**6))
    picture = page.go_to(SLID)
    for slider in page.tab.locator(".deeds input").all():
        slider.press("End")
    acted = _played(page, lambda: page.wait_for_steps(SLID, 10**6))
    assert (acted[:, : len(highs)] == highs).all()
    assert page.go_to(SLID) != picture


def _choose(page: Page, number: int, heads: Heads) -> str:
    """Choose from a list at the first step, and return a hash of the next picture."""
    page.restart()
    button = page.tab.locator(".deeds button").nth(number)
    button.wait_for()
    name = button.inner_text()
    button.click()
    page.wait_for_steps(1)
    assert page.record()[0, 0] == heads.names[name][1]
    return page.picture()


@each
def test_what_people_do_by_hand_is_recorded_and_shows(
    page: Page, one: dict[str, Any], make_simulator: Callable[..., gpu_envs.Simulator]
) -> None:
    _open(page, one)
    page.button("Play by hand").click()
    page.tab.locator(".deeds input, .deeds button").first.wait_for()
    simulator = make_simulator(one["id"], 1)
    fields = simulator.action_fields
    heads = Heads(fields, simulator.action_names(), simulator.action_keys())
    if simulator.kinds.action_form.is_float:
        _slides(page, [field.high for field in fields])
    elif heads.keys:
        _presses(page, heads)
    else:
        assert _choose(page, 0, heads) != _choose(page, -1, heads)
    assert page.wrong == []


# ---- parameters

# A field of each environment that shows in its first picture, and a value that is not its default.
FIELDS: dict[str, tuple[str, float]] = {
    "CartPole-v0": ("high", 2),
    "CartPole64-v0": ("high", 2),
    "CartPoleContinuous-v0": ("high", 2),
    "Collect-v0": ("agent_count", 3),
    "CovidEconomy-v0": ("subsidy_levels", 3),
    "Flocking-v0": ("agent_count", 40),
    "Hanabi-v0": ("player_count", 3),
    "HexExplore-v0": ("agent_count", 3),
    "HexMemory-v0": ("agent_count", 3),
    "HideSeek-v0": ("seeker_count", 4),
    "Micro-v0": ("agent_count", 3),
    "ObstaclesEasy-v0": ("agent_count", 3),
    "ObstaclesHard-v0": ("agent_count", 3),
    "Overcooked-v0": ("player_count", 1),
    "Rearrange-v0": ("agent_count", 3),
    "Sokoban-v0": ("agent_count", 3),
    "SokobanGrid-v0": ("level", 3),
    "SwarmTag-v0": ("runner_count", 40),
    "TagContinuous-v0": ("num_taggers", 5),
    "TagGrid-v0": ("num_taggers", 5),
    "TowerBuilding-v0": ("agent_count", 3),
}


def test_every_environment_has_a_field_that_is_tried() -> None:
    assert {one["id"] for one in environments()} <= FIELDS.keys()


@each
def test_a_field_of_the_form_makes_another_world_and_stands_in_the_link(
    page: Page, one: dict[str, Any]
) -> None:
    name, value = FIELDS[one["id"]]
    _open(page, one)
    first = page.picture()
    page.open_all()
    page.tab.locator(".form").get_by_label(name, exact=True).fill(str(value))
    page.changed(page.button("Make the world").click)
    other = page.picture()
    assert other != first
    words = page.share()
    assert f"{value}" in (words.get(f"p.{name}"), words.get(f"o.{name}"))
    page.tab.reload()
    page.wait_for_world()
    assert page.picture() == other
    assert page.wrong == []


# ---- the keyboard alone

_FOCUSABLE = "a[href], button, input, select, textarea, summary, [tabindex]"
# How Playwright writes a control that has a name; a summary's is its text.
_NAMED = re.compile(r"""- '?(\w+ "[^"]|text: \S)""")
# Mark what a person could focus, in the order of the page, and count it.
_MARK = f"""
[...document.querySelectorAll(".ge-page :is({_FOCUSABLE})")]
  .filter((one) => !one.disabled && one.checkVisibility())
  .map((one, k) => one.setAttribute("data-number", k)).length
"""


@each
def test_tab_reaches_every_control_and_each_has_a_name(page: Page, one: dict[str, Any]) -> None:
    _open(page, one)
    page.button("Play by hand").click()
    page.open_all()
    count = page.tab.evaluate(_MARK)
    assert count > 20
    page.tab.evaluate("document.body.tabIndex = -1; document.body.focus()")  # the top of the page
    reached: list[int] = []
    for _ in range(MOST_TABS):
        page.tab.keyboard.press("Tab")
        number = page.tab.evaluate("document.activeElement.dataset.number ?? ''")
        reached += [int(number)] if number else []
        if len(reached) == count:
            break
    assert sorted(reached) == list(range(count))
    order = [
        page.tab.locator("canvas.picture"),
        page.button("Play"),
        page.button("Step"),
        page.tab.get_by_label("seed", exact=True),
        page.button("Make the world"),
    ]
    places = [reached.index(int(control.get_attribute("data-number"))) for control in order]
    assert places == sorted(places)
    for number in range(count):
        said = page.tab.locator(f"[data-number='{number}']").aria_snapshot()
        assert _NAMED.match(said), said


@pytest.mark.parametrize("id", ["CartPole-v0", "HideSeek-v0", "Hanabi-v0"])
def test_a_world_is_played_by_keys_alone(page: Page, id: str) -> None:
    (one,) = (one for one in environments() if one["id"] == id)
    _open(page, one)
    press, first = page.tab.keyboard.press, page.picture()
    page.tab_to(page.button("Step"))
    press("Enter")
    page.wait_for_steps(1)
    press("Space")
    page.wait_for_steps(2)
    page.tab_to(page.button("Play"))
    press("Enter")
    page.wait_for_steps(4, 10**6)
    press("Enter")  # the same button pauses
    page.button("Play").wait_for()
    stopped = page.steps()
    page.tab.wait_for_timeout(1500)
    assert page.steps() == stopped
    seed = page.tab.get_by_label("seed", exact=True)
    page.tab_to(seed)
    press("ArrowUp")
    page.changed(lambda: press("Enter"))
    page.wait_for_steps(0)
    assert seed.input_value() == str(SEED + 1)
    assert page.picture() != first
    assert page.wrong == []
