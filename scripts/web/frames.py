"""Measure the site in Chromium: pictures a second, the wait for the first one, and bytes.

`make docs` builds the site; Chromium has to be on this machine, without other work.
"""

from __future__ import annotations

import argparse
import functools
import gzip
import http.server
import json
import shutil
import socketserver
import statistics
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 6.0  # of a measurement
NAVIGATIONS = 5

# Page, parameters of a link (None: what a page begins with), and pictures a second that are wanted.
CASES = (
    ("HideSeek-v0", None, 30),
    ("CartPole-v0", None, 50),
    ("ObstaclesEasy-v0", None, 15),
    ("Flocking-v0", {"agent_count": 16000}, 15),
    ("HideSeek-v0", {"hider_count": 20, "seeker_count": 20}, 15),
)


class _Quiet(http.server.SimpleHTTPRequestHandler):
    # As other servers do: a connection is kept for further files, and no packet waits to be full.
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder on this machine, and give its address."""
    handler = functools.partial(_Quiet, directory=str(folder))
    with socketserver.ThreadingTCPServer(("localhost", 0), handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://localhost:{server.server_address[1]}"
        server.shutdown()


_DRAWN = "canvas.picture[data-pictures]"


def _state(tab: Any) -> tuple[float, ...]:
    """Return seconds of play, pictures, steps and width of a page's picture."""
    names = ("data-last", "data-lingered", "data-pictures", "data-steps", "width")
    now, lingered, *rest = (float(tab.locator(_DRAWN).get_attribute(name)) for name in names)
    return ((now - lingered) / 1000, *rest)


def rates(tab: Any, url: str) -> dict[str, float]:
    """Return pictures and steps a second of a page that plays, less the rests after episodes."""
    tab.goto(url)
    tab.wait_for_selector(_DRAWN)
    if tab.get_by_role("button", name="Play", exact=True).count():
        tab.get_by_role("button", name="Play", exact=True).click()
    tab.wait_for_timeout(4000)  # the size of pictures settles
    begin = _state(tab)
    tab.wait_for_timeout(1000 * SECONDS)
    end = _state(tab)
    seconds = end[0] - begin[0]
    steps = (end[2] - begin[2]) / seconds
    return {"pictures": (end[1] - begin[1]) / seconds, "steps": steps, "width": end[3]}


def first_picture(browser: Any, url: str) -> float:
    """Return the median of seconds from navigation to the first picture, each with a cold cache."""
    found = []
    for _ in range(NAVIGATIONS):
        context = browser.new_context()
        tab = context.new_page()
        tab.goto(url)
        tab.wait_for_selector(_DRAWN)
        found.append(float(tab.locator(_DRAWN).get_attribute("data-first")))
        context.close()
    return statistics.median(found) / 1000


def packed(path: Path) -> int:
    """Return the bytes of a file as a server sends it."""
    return len(gzip.compress(path.read_bytes(), 9))


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--site", type=Path, default=ROOT / "build" / "site")
    chosen = parser.parse_args()
    from playwright.sync_api import sync_playwright

    environments = {
        one["id"]: one for one in json.loads((chosen.site / "environments.json").read_text())
    }
    with served(chosen.site) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        print(f"{'environment':36} {'wanted':>8} {'pict./s':>8} {'steps/s':>8} {'width':>6}")
        for name, parameters, wanted in CASES:
            url = f"{address}/{environments[name]['page']}"
            if parameters:
                words = {"id": name, **{f"p.{k}": v for k, v in parameters.items()}}
                url += f"#{urlencode(words)}"
            context = browser.new_context(viewport={"width": 1280, "height": 900})
            found = rates(context.new_page(), url)
            context.close()
            shown = name + "".join(f" {k}={v}" for k, v in (parameters or {}).items())
            numbers = f"{found['pictures']:8.1f} {found['steps']:8.1f} {found['width']:6.0f}"
            print(f"{shown:36} {wanted:8} {numbers}")
        for name in ("CartPole-v0", "HideSeek-v0"):
            seconds = first_picture(browser, f"{address}/{environments[name]['page']}")
            print(f"{name}: {seconds:.2f} s to the first picture")
        browser.close()
    for one in environments.values():
        files = [one["module"], *one["data"], *(policy["file"] for policy in one["policies"])]
        sizes = [packed(chosen.site / file["url"]) for file in files]
        print(f"{one['id']:24} module {sizes[0] / 1000:6.0f} KB, all {sum(sizes) / 1000:6.0f} KB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
