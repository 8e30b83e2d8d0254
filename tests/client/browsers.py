"""Firefox, for tests of pages; Chromium is a fixture (conftest.py)."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest


@contextmanager
def firefox() -> Iterator[Any]:
    """Start Firefox, driven by WebDriver BiDi; skips where one of them is not there."""
    pytest.importorskip("websockets.sync.client", reason="needs `scripts/setup browsers`")
    from scripts.web import bidi

    program = shutil.which("firefox-esr") or shutil.which("firefox")
    if program is None:
        pytest.skip("needs Firefox (Debian: apt install firefox-esr)")
    with bidi.firefox(program) as started:
        yield started
