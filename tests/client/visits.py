"""A page of the site in a browser, as tests visit it."""

from __future__ import annotations

import base64
import hashlib
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import numpy as np

SITE = Path(__file__).parents[2] / "build" / "site"
WAIT = 60_000  # milliseconds for what takes long on a busy machine
MOST_TABS = 500

Record = np.ndarray[Any, Any]


def environments() -> list[dict[str, Any]]:
    """Return what the site says of its environments; nothing where there is no site."""
    file = SITE / "environments.json"
    found: list[dict[str, Any]] = json.loads(file.read_text()) if file.exists() else []
    return found


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
        # Not a screenshot: a browser under load scales the same pixels in more than one way.
        pixels = canvas.evaluate("one => one.toDataURL()")
        return hashlib.sha256(pixels.encode()).hexdigest()

    def restart(self) -> None:
        """Make the same world again, and see its first picture."""
        self.pause()
        self.changed(self.button("Restart").click)
        self.wait_for_steps(0)

    def changed(self, does: Callable[[], object]) -> None:
        """Do something, and wait until another picture is drawn."""
        canvas = self.tab.locator("canvas.picture")
        before = canvas.get_attribute("data-pictures")
        does()
        self.until(lambda: canvas.get_attribute("data-pictures") != before)

    def open_all(self) -> None:
        """Open all parts of the page."""
        self.tab.evaluate(
            "for (const part of document.querySelectorAll('details')) part.open = true"
        )

    def record(self) -> Record:
        """Save the episode, and return what the file has: a row of each step's actions."""
        self.open_all()
        with self.tab.expect_download() as download:
            self.button("Save the episode").click()
        file = json.loads(Path(download.value.path()).read_text())
        kind = np.float32 if file["isFloat"] else np.int32
        actions = np.frombuffer(base64.b64decode(file["actions"]), kind)
        return actions.reshape(-1, file["words"])

    def share(self) -> dict[str, str]:
        """Ask for a link, and return the words in it."""
        self.open_all()
        link = self.tab.get_by_label("link to this step")
        self.button("Copy a link to this step").click()
        self.until(lambda: "#" in link.input_value())
        return dict(parse_qsl(urlsplit(link.input_value()).fragment))

    def tab_to(self, control: Any) -> None:
        """Press Tab until a control has the focus."""
        for _ in range(MOST_TABS):
            if control.evaluate("one => one === document.activeElement"):
                return
            self.tab.keyboard.press("Tab")
        raise AssertionError(f"Tab does not reach {control}")
