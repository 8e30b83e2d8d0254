"""The table of planted faults in docs/checks.md; it needs no nvcc."""

from __future__ import annotations

from gpu_envs.building import places
from tests.ptx.plants import ALL

HEADING = "## Faults planted into device code"


def test_the_page_has_all_faults() -> None:
    """Add or change a row where this fails: `| fault | found by |`."""
    text = (places.kernels().parent / "docs" / "checks.md").read_text(encoding="utf-8")
    section = text.partition(f"{HEADING}\n")[2].partition("\n## ")[0]
    rows = [line.strip("| ").split(" | ") for line in section.splitlines() if line[:1] == "|"]
    assert rows[2:] == [[plant.title, plant.found] for plant in ALL]


def test_titles_are_unique() -> None:
    titles = [plant.title for plant in ALL]
    assert len({*titles}) == len(titles)
