"""The site in Firefox: `make browsers`."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.client import browsers
from tests.client.visits import environments

WAIT = 120.0  # seconds for what takes long on a busy machine
STEPS = 30

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def firefox() -> Iterator[Any]:
    with browsers.firefox() as started:
        yield started


@pytest.fixture
def tab(firefox: Any) -> Iterator[Any]:
    opened = firefox.open()
    yield opened
    opened.close()


def _steps(tab: Any) -> int:
    """Return the steps since the seed that a page tells of; -1 where there is no world yet."""
    _, _, words = "".join(tab.texts(".facts")).partition(";")
    return int(words.split()[0]) if words else -1


def _until_steps(tab: Any, least: int) -> None:
    def are_done() -> bool:
        assert not any(tab.texts(".problem")), tab.texts(".problem")
        return _steps(tab) >= least

    tab.until(are_done, WAIT)


def _hashes(row: str) -> dict[str, list[str]]:
    """Return the hashes that a row of the check shows: `here` and `recorded`."""
    lines = [line.split() for line in row.splitlines()]
    return {words[0]: words[1:] for words in lines if words and words[0] in ("here", "recorded")}


@pytest.mark.parametrize("one", environments(), ids=lambda one: one["id"])
def test_an_environment_plays_and_gives_the_recorded_bits(
    tab: Any, address: str, one: dict[str, Any]
) -> None:
    tab.go(f"{address}/{one['page']}")
    _until_steps(tab, 0)
    tab.choose("select[aria-label=speed]", "16")
    _until_steps(tab, STEPS)
    tab.press("button", "Pause")
    time.sleep(1)
    stopped = _steps(tab)
    time.sleep(1)
    assert _steps(tab) == stopped
    tab.press("summary", "The same bits")
    tab.press("button", "Check the bits")
    cases = len(one["golden"])
    tab.until(lambda: len(tab.texts(".bits > div")) == cases, WAIT)
    for line, row in zip(one["golden"], tab.texts(".bits > div"), strict=True):
        wanted = [word.strip() for word in line.split("|")[-2:]]
        assert _hashes(row) == {"here": wanted, "recorded": wanted}
    assert not any(tab.texts(".problem"))
    own = (address, "blob:", "data:")
    assert [url for url in tab.requests if not url.startswith(own)] == []
    assert tab.complaints == []
