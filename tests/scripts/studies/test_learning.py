"""learning.py measures what the data beside the headers names, and that is learned."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch", reason="needs gpu_envs[train]")
pytest.importorskip("matplotlib", reason="needs gpu_envs[train]")
pytest.importorskip("rich", reason="needs gpu_envs[train]")

from gpu_envs import environments
from gpu_envs.known import measures
from gpu_envs.policies import saved
from gpu_envs.train import columns, command, config, curves, task_measures
from scripts.studies import learning
from scripts.studies import learning_page as page

TASKS = learning.tasks()


@pytest.mark.parametrize("task", TASKS)
def test_every_task_can_be_trained_and_has_one_bar_or_a_page(task: str) -> None:
    for line in learning.stages(TASKS[task], 1, Path("x"), 1):
        name, choices = command.parse(line)
        made = config.make(name, **choices)
        assert made.env == TASKS[task]["id"]
        assert (made.device, made.threads) == ("cpu", 1)
    assert Path(made.out) == Path("x")
    own = {field["name"] for field in environments()[made.env].get("measures", ())}
    assert TASKS[task]["measure"] in {*task_measures.MEASURES, *own} and TASKS[task]["what"]
    bars = {"times", "least", "most"} & set(TASKS[task])
    assert len(bars) == 1 or (not bars and "page" in TASKS[task])


def test_stages_share_the_time_and_begin_where_the_last_one_ended() -> None:
    first, second = learning.stages(TASKS["hanabi"], 2, Path("x"), 10)
    for line in (first, second):
        assert line[line.index("--time-limit") + 1] == "300"
    assert "--keep-score" in first and "--init" not in first
    assert second[second.index("--init") + 1] == "x/stage_1/checkpoint.ckpt"
    assert first[first.index("--out") + 1] == "x/stage_1"


def test_stages_of_different_length_have_the_time_of_their_steps() -> None:
    parts = [{"total_steps": 1}, {"total_steps": 3}]
    task = {"id": "CartPole-v0", "options": {"total_steps": 4}, "stages": parts}
    lines = learning.stages(task, 2, Path("x"), 10)
    assert [line[line.index("--time-limit") + 1] for line in lines] == ["150", "450"]


@pytest.mark.parametrize(("returns", "wanted"), [([5, 9], [5]), ([3, 9], [3, 9]), ([3, 1], [3, 1])])
def test_a_seed_that_stays_low_is_trained_once_more_and_the_better_one_kept(
    returns: list[float], wanted: list[float], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[list[str]] = []

    def run(told: list[str]) -> int:
        given.append(told)
        table = curves.Table(Path(told[told.index("--out") + 1]) / "curve.csv")
        table.file.path.parent.mkdir(parents=True, exist_ok=True)
        for step, reached in ((10, 99.0), (20, returns[len(given) - 1]), (30, float("nan"))):
            table.add({"steps": step, "seconds": step, "evaluation/return": reached})
        (table.file.path.parent / "best.ckpt").touch()
        return 0

    monkeypatch.setattr(learning.run, "main", run)
    stale = tmp_path / "x" / "2" / "again" / "best.ckpt"  # of an earlier run
    stale.parent.mkdir(parents=True)
    stale.touch()
    task = {"id": "CartPole-v0", "options": {}, "again": 5}
    learning.train(task, 2, tmp_path / "x" / "2", 10)
    assert [returns[k] for k in range(len(given))] == wanted
    assert [told[told.index("--seed") + 1] for told in given] == ["2", "1002"][: len(wanted)]
    assert all(told[told.index("--time-limit") + 1] == "300" for told in given)
    kept, where = learning.made(task, 2, tmp_path / "x" / "2")[0]
    assert learning.evaluated(task, where) == max(wanted)
    assert kept == (1002 if wanted == [3, 9] else 2)
    order = learning.Order(None, None, tmp_path, tmp_path, True)
    facts = learning._facts("x", task, 2, 10, order)
    assert facts.get("again") == (1002 if len(wanted) == 2 else None)
    assert facts["steps"] == 30 * len(wanted) and len(facts["commands"]) == len(wanted)
    assert facts["commands"][-1].endswith("/again" if len(wanted) == 2 else "x/2")


@pytest.mark.parametrize(
    ("task", "sides", "measured"),
    [
        ("cartpole", {"": 1}, ""),  # the sum of one agent
        ("hanabi", {"": 2}, ""),
        ("covid_economy", {"governor": 51, "planner": 1}, "planner"),
        ("tag_grid", {"": 4}, ""),  # of the taggers, who learn
        ("tag", {"": 2}, None),  # the sum of two
        ("hiders", {"": 3}, None),  # what seekers see
        ("self_play", {"hider": 3, "seeker": 2}, None),
    ],
)
def test_whose_mean_return_is_measured(
    task: str, sides: dict[str, int], measured: str | None
) -> None:
    played = TASKS[task]["played"]
    assert (played["sides"], played["measured"]) == (sides, measured)


def test_a_swarm_at_random_has_the_company_of_an_even_one() -> None:
    # 1,023 others, each worth the integral of exp(-5 D / R) over the disc of R = 0.1, which is
    # 2 pi (R / 5)^2 (1 - 6 exp(-5)) = 0.002412; those that touch, in pi 0.005^2, cost 1 instead.
    even = 1023 * (0.002412 - 2 * 3.1416 * 0.005**2)
    found = learning.measured(TASKS["flocking"], None, 2, 5)["mean"]
    assert found == pytest.approx(even, rel=0.05)


def test_hiders_at_random_are_seen_in_about_half_of_the_steps() -> None:
    found = learning.measured(TASKS["hiders"], None, 64, 5)
    assert 0.35 < found["mean"] < 0.70 and 0.01 < found["error"] < 0.1
    assert 0 <= found["penalised"] < 0.05


def test_a_second_measure_is_another_one() -> None:
    found = learning.measured(TASKS["flee"], None, 32, 5)
    assert found["also"] > 3.0 > 1.0 > found["mean"]  # how far one could flee


@pytest.mark.parametrize("task", ["cartpole", "cartpole_continuous", "tag_grid"])
def test_scripted_policies_do_better_than_chance(task: str) -> None:
    chance = learning.measured(TASKS[task], None, 20, 5)["mean"]
    who = {"scripted": TASKS[task]["scripted"]}
    assert learning.measured(TASKS[task], who, 20, 5)["mean"] > 1.2 * chance


def test_who_plays_beside_the_learned_reaches_what_is_known_of_it() -> None:
    task = TASKS["covid_economy"]
    found = [learning.measured(task, one, 2, 5) for one in task["beside"]]
    # Open all the time, at 7, from 9 to 5, and the real policies: specified and published totals.
    assert [one["mean"] for one in found[1:]] == pytest.approx(
        [183.81, 349.28, 360.06, 349.06], abs=0.05
    )
    assert found[2]["also"] == pytest.approx(17861, abs=1)
    assert not any(one["error"] for one in found)


def test_a_cart_that_is_always_pushed_one_way_falls_at_once() -> None:
    for action in (0, 1):
        found = learning.measured(TASKS["cartpole"], {"action": action}, 200, 5)
        assert 9.0 < found["mean"] < 9.7  # steps; Gymnasium's own CartPole: 9.35


def test_an_action_that_nobody_can_take_is_refused() -> None:
    with pytest.raises(ValueError, match=r"action=2 is not in Discrete\(2\)"):
        learning.measured(TASKS["cartpole"], {"action": 2}, 2, 5)


@pytest.mark.parametrize("ways", [{}, {"action": 0, "scripted": {}}])
def test_who_plays_beside_has_one_way_of_playing(ways: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="cartpole: beside: 'somebody' needs either scripted or"):
        learning.require_one_way("cartpole", {"beside": [{"who": "somebody", **ways}]})


def test_a_row_is_trained_measured_and_kept(tmp_path: Path) -> None:
    words = ["cartpole", "--seeds", "3", "--minutes", "0.5", "--episodes", "20"]
    words += ["--out", str(tmp_path / "out"), "--root", str(tmp_path)]
    assert learning.main(words) == 0
    (row,) = page.rows(TASKS, tmp_path)
    (facts,) = row.runs
    assert facts["seed"] == 3 and facts["steps"] > 5000 and facts["episodes"] == 20
    assert facts["random"]["mean"] < 60 < 400 < facts["trained"]["mean"]
    assert facts["commands"][0].endswith("--time-limit 30 --out runs/learning/cartpole/3")
    assert (tmp_path / page.PAGE).read_text(encoding="utf-8") == page.text([row])
    kept = saved.read(tmp_path / "trained" / "CartPole-v0.ckpt")["config"]
    assert kept["hidden"] == "64,64" and not {"out", "goal", "device"} & set(kept)


def test_stages_make_one_curve(tmp_path: Path) -> None:
    for folder, steps in (("stage_1", (10, 20)), (".", (10, 30))):
        table = curves.Table(tmp_path / folder / "curve.csv")
        table.file.path.parent.mkdir(exist_ok=True)
        for step in steps:
            table.add({"steps": step, "seconds": step / 10})
    joined = learning.curve({"stages": [{}, {}]}, tmp_path)
    assert [row["steps"] for row in joined] == [10, 20, 30, 50]
    assert [row["seconds"] for row in joined] == [1, 2, 3, 5]


def test_tasks_are_named_by_themselves_or_by_their_environment(capsys) -> None:
    assert learning._chosen(["hiders"]) == ["hiders"]
    wanted = ["self_play", "seekers", "hiders", "tag_grid"]
    assert learning._chosen(["HideSeek", "tag_grid"]) == wanted
    assert learning.main(["Micro-v0"]) == 2
    assert "nothing to learn" in capsys.readouterr().err
    assert measures.measures_of("Micro-v0")["learning"] == {}


@pytest.mark.slow
@pytest.mark.parametrize("task", ["flocking", "seekers"])
def test_what_is_trained_reaches_its_bar(task: str, tmp_path: Path) -> None:
    out = ["--out", str(tmp_path / "out"), "--root", str(tmp_path)]
    assert learning.main([task, "--minutes", "5", *out]) == 0


@pytest.mark.slow
@pytest.mark.parametrize("profile", ["port", "fixed", "openai"])
def test_seekers_learn_in_every_profile(profile: str, tmp_path: Path) -> None:
    few = ["--total-steps", "1500000", "--evaluation-every", "10"]
    learning.train(TASKS["seekers"], 1, tmp_path, 2, ["--profile", profile, *few])
    rows = curves.measured(curves.read(tmp_path / "curve.csv"), "steps", columns.TRAINING)[1]
    assert max(rows) > rows[0] + 20  # of 145 paid steps; the first episodes are still at random
