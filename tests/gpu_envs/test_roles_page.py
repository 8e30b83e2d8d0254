"""docs/roles.md: its examples run, and its numbers of padding are those of the package."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "roles.md"
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def test_page_has_examples() -> None:
    assert len(EXAMPLES) == 8


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_examples_run(number, capsys) -> None:
    exec(compile(EXAMPLES[number], f"{PAGE.name}, example {number + 1}", "exec"), {})
    assert capsys.readouterr().out.strip()


def test_cost_of_padding_is_what_the_page_says(make_simulator) -> None:
    text = PAGE.read_text(encoding="utf-8")
    told = re.search(r"About ([\d,]+) bytes padded and ([\d,]+) by role", text)
    assert told is not None
    for form, number in zip(("padded", "split"), told.groups(), strict=True):
        simulator = make_simulator("CovidEconomy-v0", 64, roles=form, outputs=["action_mask"])
        outputs = [output for output in simulator.layout.outputs if output is not None]
        bytes_a_world = sum(output.nbytes for output in outputs) / 64
        assert abs(bytes_a_world / int(number.replace(",", "")) - 1) < 0.02
