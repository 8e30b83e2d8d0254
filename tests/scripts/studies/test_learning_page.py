"""docs/learning.md is what the kept runs give, for every environment with something to learn."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="needs gpu_envs[train]")
pytest.importorskip("matplotlib", reason="needs gpu_envs[train]")
pytest.importorskip("rich", reason="needs gpu_envs[train]")

from gpu_envs.known import registration
from gpu_envs.train import curves
from scripts.studies import learning
from scripts.studies import learning_page as page

ROOT = Path(__file__).resolve().parents[3]
ROWS = page.rows(learning.tasks(), ROOT)


HOW = {"variant": ["size=3"], "actions": "sampled", "differences": ["size 2 there"]}
PLAYED = {"played": {**HOW, "sides": {"": 2}, "measured": ""}, "is_kept": True}


def a_task(bar: str = "least", limit: float = 4, **more: float) -> page.Task:
    found = {"mean": 5.0, "error": 0.25}
    run = {"seed": 1, "steps": 2_000_000, "seconds": 90.0, "episodes": 1000, "machine": "M"}
    run |= {"commands": ["scripts/train X-v0 --seed 1"], "trained": found}
    run |= {"random": {"mean": 1.0, "error": 0.5}}
    data = {"id": "X-v0", "who": "agents", "what": "score", bar: limit, **copy.deepcopy(PLAYED)}
    other = {**run, "seed": 2, "trained": {"mean": 3.0, "error": 0.25}}
    return page.Task("x", data, [run, other])


# ---- what is kept


def test_the_page_and_its_pictures_are_those_of_the_runs() -> None:
    wanted = page.files(ROWS, ROOT)
    for path, content in wanted.items():
        assert path.read_text(encoding="utf-8") == content, f"run scripts/train --table: {path}"
    pictures = set((ROOT / page.PICTURES).glob("*.svg"))
    assert pictures == set(wanted) - {ROOT / page.PAGE}


def test_every_environment_with_something_to_learn_has_its_rows() -> None:
    assert {row.name for row in ROWS} == set(learning.tasks())
    ours = set(registration.shipped())
    without = {
        "Micro-v0",  # there is nothing to win
        "Sokoban-v0",  # not studied yet
    }
    assert {row.data["id"] for row in ROWS} == ours - without


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_runs_are_small_and_say_where_they_come_from(row: page.Task) -> None:
    for run in row.runs:
        folder = page.runs_of(ROOT) / row.name / str(run["seed"])
        assert {path.name for path in folder.iterdir()} == {"curve.csv", "facts.json"}
        rows = curves.read(folder / "curve.csv")
        assert 1 < len(rows) <= page.MOST_ROWS
        assert rows[-1]["steps"] <= run["steps"]
        assert all(told.startswith(f"scripts/train {row.data['id']} ") for told in run["commands"])
        assert run["random"] == row.runs[0]["random"]  # the same episodes
    assert (ROOT / page.PICTURES / f"{row.name}.svg").stat().st_size < 30_000


# ---- how it is made


def test_a_bar_is_judged_by_the_seed_that_is_furthest_from_it() -> None:
    for bar, limit, expected in (
        ("least", 3, True), ("least", 3.5, False), ("most", 5, True), ("most", 4, False),
        ("times", 3, True), ("times", 4, False),
    ):  # fmt: skip
        task = a_task(bar, limit)
        assert task.is_reached() == expected
        assert task.verdict().endswith("reached" if expected else "missed")


def test_scores_have_three_digits_and_errors_one() -> None:
    for mean, error, expected in (
        (500.0, 0.0, "500"), (14.321, 0.52, "14.3 +- 0.5"), (9.9261, 0.0021, "9.926 +- 0.002"),
        (0.0077, 1.6e-5, "0.00770 +- 0.00002"), (0.0, 0.0, "0"), (-2.345, 0.1, "-2.35 +- 0.10"),
    ):  # fmt: skip
        assert page.score({"mean": mean, "error": error}) == expected


def test_a_task_without_a_bar_has_a_dash_and_a_page_to_read(tmp_path: Path) -> None:
    data = {"id": "X-v0", "who": "all", "what": "score", "page": {"what": "them", "at": "x.md"}}
    data |= PLAYED
    task = page.Task("x", data, a_task().runs)
    assert task.is_reached() and task.bar() == "-"
    assert task.verdict() == "x, score: 5.00, 3.00"
    text = page.text([task])
    assert "| - | - |\n" in text and text.endswith("Read more: [them](x.md).\n")


def test_who_plays_beside_has_rows_and_a_second_measure_a_column() -> None:
    task = a_task()
    known = {"mean": 4.0, "error": 0.0, "also": 7.0}
    runs = [{**run, "trained": {**run["trained"], "also": 8.0}} for run in task.runs]
    runs[0] |= {"random": known, "beside": [{"who": "a rule", **known}]}
    data = {**task.data, "also": {"what": "cost", "measure": "return"}}
    lines = list(page._section(page.Task("x", data, runs)))
    assert "| seed | steps | seconds | score | cost | machine |" in lines
    assert "| 1 | 2.00 M | 90 | 5.00 +- 0.25 | 8.00 | M |" in lines
    assert "| a rule | - | - | 4.00 | 7.00 | - |" in lines


def test_a_row_names_its_variant_and_the_command_that_prints_its_number() -> None:
    task = a_task()
    task.runs[0]["commands"] = ["scripts/train X-v0 --out runs/learning/x/1"]
    lines = "\n".join(page._section(task)).replace(" \\\n  ", "")
    assert "Variant: `size=3`. Actions: sampled.\n" in lines and "measured: size 2 there." in lines
    how = "--sampled --task x --episodes 1000 --seed 99 --device cpu\n```"
    assert "policies of seed 1 are kept. This prints their 5.00 +- 0.25:" in lines
    assert f"python -m gpu_envs evaluate X-v0 --policy trained {how}" in lines
    other = page.Task("x", {**task.data, "is_kept": False}, task.runs)
    lines = "\n".join(page._section(other)).replace(" \\\n  ", "")
    assert f"evaluate runs/learning/x/1/best.ckpt {how}" in lines


def test_the_default_levels_have_a_row_of_their_own() -> None:
    (task,) = (row for row in ROWS if row.name == "obstacles")
    text = page.text([task])
    (line,) = (x for x in text.splitlines() if x.startswith("|") and "agents, the default" in x)
    assert "height_high" not in line and "platform_count_high" not in line and "sampled" in line
    (one,) = (one for run in task.runs for one in run.get("elsewhere", ()))
    assert page.score(one["trained"]) in line and page.score(one["random"]) in line
    assert "--platform-count-high 2 --height-high 3" in text


def test_opponents_have_a_curve_each(tmp_path: Path) -> None:
    names = ("evaluation/return_hider", "evaluation/return_seeker")
    rows = [{"steps": k, "seconds": k, names[0]: -k, names[1]: 2 * k} for k in (0, 5, 9)]
    page.keep(tmp_path, {}, rows)
    found = page._points(tmp_path)
    assert found == {"hider": [(0, 0), (5, -5), (9, -9)], "seeker": [(0, 0), (5, 10), (9, 18)]}


def labels(task: page.Task, root: Path) -> list[str]:
    """Return the legend of a task's picture, whose seeds have a curve of each side."""
    for run in task.runs:
        sides = [f"_{side}" * bool(side) for side in task.data["played"]["sides"]]
        rows = [{"steps": k, "seconds": k, **{page.RETURN + s: k for s in sides}} for k in (1, 2)]
        page.keep(page.runs_of(root) / task.name / str(run["seed"]), run, rows)
    found = re.findall('text-anchor="start">(.*?)<', page._picture(task, root))
    return [str(label) for label in found]


def test_a_picture_names_seeds_and_who_else_reaches_the_same_return(tmp_path: Path) -> None:
    task = a_task("times", 4)
    task.runs[0]["scripted"] = {"mean": 6.0, "error": 0.0}
    task.runs[1]["again"] = 1002
    wanted = ["seed 1", "seed 2 (again)", "random", "scripted", "to be reached"]
    assert labels(task, tmp_path) == wanted
    assert page._levels(task) == {"random": 1, "scripted": 6, "to be reached": 4}
    task.data["played"]["measured"] = None  # something else is measured
    assert labels(task, tmp_path) == wanted[:2]


def test_a_picture_names_sides(tmp_path: Path) -> None:
    task = a_task()
    task.data["played"] |= {"sides": {"governor": 3, "planner": 1}, "measured": "planner"}
    assert labels(task, tmp_path) == [
        "governors, seed 1", "planner, seed 1", "governors, seed 2", "planner, seed 2",
        "planner, random", "planner, to be reached",
    ]  # fmt: skip


def test_a_seed_that_was_trained_twice_says_so() -> None:
    task = a_task()
    task.runs[1]["again"] = 1002
    text = page.text([task])
    assert "| 2, again as 1002 | 2.00 M |" in text and "| 1, 2 (again) |" in text


def test_a_missed_bar_is_said_in_the_table() -> None:
    text = page.text([a_task("least", 3.5)])
    (line,) = [line for line in text.splitlines() if line.startswith("| `X-v0`")]
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    assert cells[2:4] == ["`size=3`", "sampled"]
    del cells[2:4]
    assert cells[3:7] == ["1, 2", "1.5", "5.00 +- 0.25, 3.00 +- 0.25", "4.00"]
    assert cells[7:] == ["1.00 +- 0.50", "-", "at least 3.5: missed", "-"]
    assert "(#x-v0-agents)" in line and "\n## X-v0: agents\n" in text


def test_curves_are_thinned_to_evaluations(tmp_path: Path) -> None:
    nan = float("nan")
    rows = [
        {"steps": k, "seconds": k / 2, "evaluation/return": nan if k % 3 else k, "x": 1}
        for k in range(1000)
    ]
    page.keep(tmp_path / "1", {"seed": 1}, rows)
    kept = curves.read(tmp_path / "1" / "curve.csv")
    assert len(kept) == page.MOST_ROWS and "x" not in kept[0]
    assert (kept[0]["steps"], kept[-1]["steps"]) == (0, 999)
    assert all(row["evaluation/return"] == row["steps"] for row in kept)
    assert json.loads((tmp_path / "1" / "facts.json").read_text()) == {"seed": 1}


def test_long_commands_are_folded_before_options() -> None:
    told = "scripts/train X-v0 " + " ".join(f"--option-{k} {k}" for k in range(20))
    lines = list(page._folded(told))
    assert len(lines) > 2 and max(map(len, lines)) <= 100
    assert " ".join(line.rstrip("\\").strip() for line in lines) == told
