"""compatibility.py fills its table: with what passes, why not, and what is not there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from scripts.checks import compatibility, library_checks

SCRIPT = Path(compatibility.__file__)


def _cells(text: str) -> dict[str, list[str]]:
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    return {row[1]: row[2:] for row in rows}


@pytest.mark.parametrize("library", compatibility.LIBRARIES)
def test_checks_of_a_library_run_over_one_environment(library) -> None:
    pytest.importorskip(library)
    rows = [row for row in compatibility.CHECKS if row.library == library]
    cells = _cells(compatibility.table(["CartPole-v0"], rows))
    assert cells.pop("check") == ["CartPole"]
    assert len(cells) == len(rows)
    for row in rows:
        known = ["passes"] if row.remedy != library_checks.ROWS else ["passes", "AttributeError"]
        assert cells[row.label][0] in known, row.label


def _refuse(name: str) -> None:
    raise ValueError(f"{name} has no `wheels`\nat all")


def _skip(name: str) -> None:
    raise compatibility.NotFor("several agents")


def test_reasons_stand_in_the_cells_and_below() -> None:
    rows = [
        compatibility.Check("gymnasium", "`drive`", _refuse, "buy some"),
        compatibility.Check("gymnasium", "`alone`", _skip),
        compatibility.Check("gymnasium", "`nothing`", lambda name: None),
        compatibility.Check("a_library_of_nobody", "`absent`", _refuse),
    ]
    text = compatibility.table(["CartPole-v0", "Micro-v0"], rows)
    assert _cells(text) == {
        "check": ["CartPole", "Micro"],
        "`drive`": ["ValueError"] * 2,
        "`alone`": ["several agents"] * 2,
        "`nothing`": ["passes"] * 2,
        "`absent`": ["-"] * 2,
    }
    assert "- `drive`, ValueError (Micro-v0): `Micro-v0 has no 'wheels'`; buy some" in text


def test_command_writes_a_page_with_versions(tmp_path) -> None:
    out = tmp_path / "page.md"
    arguments = ["CartPole-v0", "--library", "pettingzoo", "--out", str(out)]
    result = subprocess.run([sys.executable, SCRIPT, *arguments], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    page = out.read_text(encoding="utf-8")
    assert "`scripts/checks/compatibility.py CartPole-v0 --library pettingzoo --out " in " ".join(
        page.split()
    )
    assert "gymnasium 1." in page
    assert _cells(page)["`parallel_api_test`"] == ["passes"]
    result = subprocess.run(
        [sys.executable, SCRIPT, "CartPol-v0"], capture_output=True, text=True, check=False
    )
    assert result.returncode == 2
    assert "did you mean 'CartPole-v0'" in result.stderr
