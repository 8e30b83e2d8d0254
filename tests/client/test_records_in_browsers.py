"""What a native process saved is drawn in browsers to the same bytes: `make browsers`."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import gpu_envs
from scripts.web.frames import served
from tests.client import browsers, saved
from tests.client.visits import SITE, environments

HERE = Path(__file__).parent
WAIT = 120.0  # seconds for what takes long on a busy machine
PAGE = """<!doctype html>
<meta charset="utf-8" />
<link rel="icon" href="data:," />
<body>
  <script type="module" src="draw_page.js"></script>
</body>
"""

pytestmark = pytest.mark.browser


def _by_chromium(browser: Any, url: str) -> str:
    tab = browser.new_page()
    tab.goto(url)
    shown = str(tab.locator("output").inner_text(timeout=1000 * WAIT))
    tab.close()
    return shown


def _by_firefox(firefox: Any, url: str) -> str:
    tab = firefox.open()
    tab.go(url)
    tab.until(lambda: tab.texts("output") != [], WAIT)
    (shown,) = tab.texts("output")
    tab.close()
    return str(shown)


@pytest.fixture(scope="module", params=["chromium", "firefox"])
def shown(request: pytest.FixtureRequest) -> Iterator[Callable[[str], str]]:
    """Opens a page in a browser, and returns what its script says."""
    if request.param == "chromium":
        browser = request.getfixturevalue("browser")
        yield lambda url: _by_chromium(browser, url)
    else:
        with browsers.firefox() as started:
            yield lambda url: _by_firefox(started, url)


def _fill(folder: Path, one: dict[str, Any], state: bytes) -> None:
    """Put a page that draws a state beside the client and the modules of the site."""
    for name in ("client", "modules", "data"):
        (folder / name).symlink_to(SITE / name)
    tests = folder / "tests" / "client"
    tests.mkdir(parents=True)
    for script in ("drawing.js", "draw_page.js"):
        shutil.copy(HERE / script, tests)
    data = [{"name": file["name"], "url": f"../../{file['url']}"} for file in one["data"]]
    task = {**saved.task(one["id"]), "module": f"../../{one['module']['url']}", "data": data}
    (tests / "task.json").write_text(json.dumps(task))
    (tests / "state").write_bytes(state)
    (tests / "index.html").write_text(PAGE)


@pytest.mark.filterwarnings("ignore:.*actions were illegal")
@pytest.mark.parametrize("one", environments(), ids=lambda one: one["id"])
def test_a_saved_state_is_drawn_to_the_same_bytes(
    shown: Callable[[str], str],
    one: dict[str, Any],
    tmp_path: Path,
    make_simulator: Callable[..., gpu_envs.Simulator],
) -> None:
    wanted = saved.expected(saved.played(make_simulator, one["id"]))
    _fill(tmp_path, one, wanted["state"])
    hashes = {name: hashlib.sha256(data).hexdigest() for name, data in wanted.items()}
    with served(tmp_path) as address:
        assert shown(f"{address}/tests/client/") == json.dumps(hashes, separators=(",", ":"))
