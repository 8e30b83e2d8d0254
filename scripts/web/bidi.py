"""Drive a Firefox that is on this machine by WebDriver BiDi, which it serves on a port of its own.

The protocol is the W3C's (https://www.w3.org/TR/webdriver-bidi): this has what tests of pages need.
"""

from __future__ import annotations

import itertools
import json
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

START = 120.0  # seconds for a browser to begin, and to end
ANSWER = 120.0  # seconds for an answer
# A browser that is busy answers no pings, and is on this machine.
_PATIENT: dict[str, Any] = {"max_size": None, "ping_interval": None, "proxy": None}
_PORT = "WebDriverBiDiServer.json"  # which Firefox writes into its profile
_LOGGED, _ASKED = "log.entryAdded", "network.beforeRequestSent"
_SANDBOX = "tests"  # where code runs beside a page: it sees the elements, and no policy forbids it


class BidiError(Exception):
    """The browser refused a command, or did not answer."""


class Firefox:
    """A browser and the connection to it."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection
        self.numbers = itertools.count(1)
        self.tabs: dict[str, Tab] = {}
        self.ask("session.new", capabilities={})
        self.ask("session.subscribe", events=[_LOGGED, _ASKED])

    def ask(self, method: str, **given: Any) -> dict[str, Any]:
        """Send a command, and return its result; events that come before it are told to tabs."""
        number = next(self.numbers)
        self.connection.send(json.dumps({"id": number, "method": method, "params": given}))
        while True:
            try:
                message = json.loads(self.connection.recv(ANSWER))
            except TimeoutError as problem:
                raise BidiError(f"no answer to {method} within {ANSWER:.0f} s") from problem
            if message["type"] == "event":
                self._tell(message["method"], message["params"])
            elif message.get("id") == number:
                if message["type"] == "error":
                    raise BidiError(f"{method}: {message['error']}: {message['message']}")
                found: dict[str, Any] = message["result"]
                return found

    def _tell(self, method: str, event: dict[str, Any]) -> None:
        context = event["source"].get("context") if method == _LOGGED else event["context"]
        tab = self.tabs.get(context)
        if tab is None:
            return
        if method == _ASKED:
            tab.requests.append(event["request"]["url"])
        elif event["level"] in ("warn", "error"):
            tab.complaints.append(event["text"])

    def open(self, width: int = 1280, height: int = 900) -> Tab:
        """Open a tab."""
        tab = Tab(self, self.ask("browsingContext.create", type="tab")["context"])
        self.tabs[tab.context] = tab
        tab.ask("browsingContext.setViewport", viewport={"width": width, "height": height})
        return tab


class Tab:
    """A tab, what was requested for it, and the warnings and errors of its console."""

    def __init__(self, firefox: Firefox, context: str) -> None:
        self.firefox = firefox
        self.context = context
        self.requests: list[str] = []
        self.complaints: list[str] = []

    def ask(self, method: str, **given: Any) -> dict[str, Any]:
        """Send a command about this tab."""
        return self.firefox.ask(method, context=self.context, **given)

    def go(self, url: str) -> None:
        """Load a page with all that its text names."""
        self.ask("browsingContext.navigate", url=url, wait="complete")

    def call(self, function: str, *texts: str) -> Any:
        """Call a function of ECMAScript beside the page; it returns a text, a number or nothing."""
        found = self.firefox.ask(
            "script.callFunction",
            functionDeclaration=function,
            arguments=[{"type": "string", "value": text} for text in texts],
            target={"context": self.context, "sandbox": _SANDBOX},
            awaitPromise=True,
        )
        if found["type"] == "exception":
            raise BidiError(found["exceptionDetails"]["text"])
        return found["result"].get("value")

    def texts(self, selector: str) -> list[str]:
        """Return what can be read in the elements of a selector; nothing of hidden ones."""
        found: list[str] = json.loads(self.call(_TEXTS, selector))
        return found

    def press(self, selector: str, text: str) -> None:
        """Click the middle of the one element of a selector that has this text."""
        at = self.call(_MIDDLE, selector, text)
        if at is None:
            raise BidiError(f"nothing at '{selector}' says '{text}'")
        x, y = json.loads(at)
        actions: list[dict[str, Any]] = [
            {"type": "pointerMove", "x": x, "y": y},
            {"type": "pointerDown", "button": 0},
            {"type": "pointerUp", "button": 0},
        ]
        mouse = {"type": "pointer", "id": "mouse", "actions": actions}
        self.ask("input.performActions", actions=[mouse])

    def choose(self, selector: str, value: str) -> None:
        """Choose a value of the list of a selector."""
        self.call(_CHOOSE, selector, value)

    def until(self, holds: Callable[[], bool], seconds: float) -> None:
        """Wait until something holds."""
        end = time.monotonic() + seconds
        while not holds():
            if time.monotonic() > end:
                raise BidiError(f"still not so after {seconds:.0f} s; {self.complaints}")
            time.sleep(0.1)

    def close(self) -> None:
        """Close the tab."""
        del self.firefox.tabs[self.context]
        self.ask("browsingContext.close")


_TEXTS = """
(selector) => {
  const all = [...document.querySelectorAll(selector)];
  return JSON.stringify(all.map((one) => (one.checkVisibility() ? one.innerText : "")));
}
"""

_CHOOSE = """
(selector, value) => {
  const list = document.querySelector(selector);
  list.value = value;
  list.dispatchEvent(new Event("change", { bubbles: true }));
}
"""

_MIDDLE = """
(selector, text) => {
  const all = [...document.querySelectorAll(selector)];
  const found = all.filter((element) => element.innerText.trim() === text);
  if (found.length !== 1) return null;
  found[0].scrollIntoView({ block: "center", behavior: "instant" });
  const { left, top, width, height } = found[0].getBoundingClientRect();
  return JSON.stringify([Math.floor(left + width / 2), Math.floor(top + height / 2)]);
}
"""


@contextmanager
def firefox(program: str) -> Iterator[Firefox]:
    """Start Firefox without a window and with a profile of its own, and end it afterwards."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        words = [program, "--headless", "--remote-debugging-port", "0", "--profile", profile]
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            address = _address(process, Path(profile))
            with connect(address, **_PATIENT) as connection:
                started = Firefox(connection)
                yield started
                started.ask("browser.close")
            process.wait(START)
        finally:
            process.kill()
            process.wait()


def _address(process: subprocess.Popen[bytes], profile: Path) -> str:
    """Wait until Firefox has said on which port it listens."""
    end = time.monotonic() + START
    while process.poll() is None and time.monotonic() < end:
        try:
            found = json.loads((profile / _PORT).read_text())
            return f"ws://{found['ws_host']}:{found['ws_port']}/session"
        except (FileNotFoundError, json.JSONDecodeError):
            time.sleep(0.1)
    raise BidiError("Firefox did not begin to listen")
