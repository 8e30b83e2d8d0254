"""A plugin of pytest that writes what each test took to a file, line by line, as soon as it ended.

Usage: pytest -p scripts.checks.pytest_times --times FILE

What a run found that was ended half-way stands there.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest


class Took(NamedTuple):
    """The seconds of a part of one test: its set-up, itself or what comes after it."""

    test: str
    seconds: float
    failed: str  # what pytest says of a failure

    @property
    def file(self) -> str:
        """The file of the test."""
        return self.test.partition("::")[0]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    parser.addoption("--times", metavar="FILE", help="write what each test took")


def pytest_configure(config: pytest.Config) -> None:
    """Write in the process that hears of all tests, not in those that run them."""
    file = config.getoption("--times")
    if file and not hasattr(config, "workerinput"):  # as pytest-xdist marks those
        config.pluginmanager.register(_Writer(Path(file)), "times")


class _Writer:
    def __init__(self, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        self._file = file.open("w", encoding="utf-8")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Write a line."""
        failed = f"{report.nodeid}\n{report.longreprtext}" if report.failed else ""
        took = Took(report.nodeid, report.duration, failed)
        self._file.write(json.dumps(took) + "\n")
        self._file.flush()


def read(file: Path) -> Iterator[Took]:
    """Yield what was written, without a last line that is not whole."""
    lines: Iterable[str] = file.read_text(encoding="utf-8").splitlines() if file.exists() else ()
    for line in lines:
        try:
            yield Took(*json.loads(line))
        except ValueError:
            return
