"""Fixtures of the client's tests."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from scripts.web.frames import served
from tests.client.decisions import ROOT
from tests.client.visits import SITE, Page, environments


@pytest.fixture(scope="session")
def has_node() -> None:
    """Skips where no node is."""
    ran = subprocess.run(["scripts/web/node", "--version"], cwd=ROOT, capture_output=True)
    if ran.returncode:
        pytest.skip("needs node 20 or newer: type scripts/setup web")


@pytest.fixture
def one_thread() -> Iterator[None]:
    """One thread of torch: threads that wait for each other cost more than such networks."""
    torch = pytest.importorskip("torch", reason="needs torch")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The address at which the site is served."""
    if not environments():
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


@pytest.fixture
def page(browser: Any, address: str) -> Iterator[Page]:
    made = Page(browser, address)
    yield made
    made.context.close()
