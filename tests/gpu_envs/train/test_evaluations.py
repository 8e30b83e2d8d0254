"""What a run reaches, role by role, and what follows where roles learn against each other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="needs gpu_envs[train]")
pytest.importorskip("matplotlib", reason="needs gpu_envs[train]")
pytest.importorskip("rich", reason="needs gpu_envs[train]")

import torch as t

from gpu_envs import VectorEnv
from gpu_envs.policies import checkpoint, saved
from gpu_envs.policies.sharing import sides
from gpu_envs.train import curves, evaluate, run
from gpu_envs.train.config import make
from gpu_envs.train.evaluations import Trials
from gpu_envs.train.ppo import Trainer
from gpu_envs.train.ranks import Ranks

ONE = Ranks("cpu")
TAG = ("TagGrid-v0", "--num-envs", "4", "--rollout", "8", "--hidden", "4", "--tensorboard", "false")
TAG += ("--evaluation-episodes", "4", "--device", "cpu", "--total-steps", "512")


def train(folder: Path, *arguments: str) -> list[curves.Row]:
    assert run.main([*arguments, "--out", str(folder)]) == 0
    return curves.read(folder / "curve.csv")


def test_sides_are_the_roles_that_learn() -> None:
    names = ["hider_0", "seeker_0", "seeker_1"]
    assert sides(names) == {"hider": [0], "seeker": [1, 2]}
    assert sides(names, "seeker") == {"": [1, 2]}
    assert sides(["player_0", "player_1"]) == {"": [0, 1]}


# ---- training


@pytest.mark.parametrize("policies", ["shared", "role", "agent"])
@pytest.mark.parametrize("past", [0.0, 0.5])
def test_returns_of_training_are_those_of_each_role(policies: str, past: float) -> None:
    small = {"rollout": 64, "minibatch": 64, "epochs": 1, "hidden": "4", "num_envs": 4}
    config = make("TagGrid-v0", policies=policies, past_worlds=past, **small)
    env = VectorEnv("TagGrid-v0", 4, device="cpu", arrays="torch", max_episode_steps=20)
    trainer = Trainer(config, env, ONE, print)
    trainer.start()
    results, r = trainer.iterate(), trainer.rollout
    learns = t.ones(r.rows, dtype=t.bool)
    for learner in trainer.learners:
        if learner.past is not None:
            rows = t.arange(r.rows) if learner.rows is None else learner.rows
            learns[rows[learner.past.positions]] = False
    assert bool(learns.all()) is (past == 0)
    for role, agents in sides(env.agent_names).items():
        mask = (r.ended & learns).view(64, 4, r.agents)[:, :, agents]
        for name, found in (("return", r.returns), ("length", r.lengths)):
            wanted = found.view(64, 4, r.agents)[:, :, agents][mask].double().mean()
            assert results[f"charts/episodic_{name}_{role}"] == pytest.approx(float(wanted))
    assert "charts/episodic_return" not in results
    env.close()


def test_teammates_have_one_return_whoever_plays_them() -> None:
    config = make("Overcooked-v0", policies="agent", num_envs=2, rollout=8, hidden="4")
    env = VectorEnv("Overcooked-v0", 2, device="cpu", arrays="torch", max_episode_steps=5)
    trainer = Trainer(config, env, ONE, print)
    trainer.start()
    names = [name for name in trainer.iterate() if "episodic" in name]
    assert names == ["charts/episodic_return", "charts/episodic_length"]
    env.close()


# ---- evaluations


def test_each_role_is_evaluated_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    def play(env: VectorEnv, *_: Any, **__: Any) -> Any:
        worlds = t.arange(env.num_worlds).unsqueeze(1)
        returns = worlds * 10 + t.arange(env.agents_per_world)
        return returns, returns + 1

    monkeypatch.setattr(evaluate, "play", play)
    config = make("TagGrid-v0", evaluation_episodes=2)
    found = Trials(config, "cpu", ONE)([], 3)
    names = Trials(config, "cpu", ONE).env.agent_names
    runner = names.index("runner_0")
    taggers = [k for k in range(len(names)) if k != runner]
    assert found == {
        "evaluation/return_tagger": pytest.approx(5 + sum(taggers) / len(taggers)),
        "evaluation/return_runner": 5 + runner,
        "evaluation/length_tagger": pytest.approx(6 + sum(taggers) / len(taggers)),
        "evaluation/length_runner": 6 + runner,
        "evaluation/tagged": 0.0,
        "evaluation/episodes": 2,
    }
    config = make("TagGrid-v0", evaluation_episodes=2, learn="runner")
    found = Trials(config, "cpu", ONE)([], 3)
    assert found.pop("evaluation/tagged") == 0 and found.pop("evaluation/episodes") == 2
    assert found == {"evaluation/return": 5 + runner, "evaluation/length": 6 + runner}


def test_evaluations_take_their_share_of_the_time() -> None:
    trials = Trials(make("CartPole-v0", evaluation_episodes=1, evaluation_every=0), "cpu", ONE)
    trials.spent = trials.lasted = 1.0

    def first(seconds: float) -> float:
        return next(k for k in range(10_000) if trials.is_due(1, seconds + k / 10)) / 10 + seconds

    assert first(0.0) == pytest.approx(2 / 0.1, abs=0.1)  # from the beginning
    trials.spent = 99.0
    assert first(500.0) == pytest.approx(100 / 0.1, abs=0.1)
    none = make("CartPole-v0", evaluation_episodes=1, evaluation_every=0, evaluation_share=0.0)
    assert not Trials(none, "cpu", ONE).is_due(1, 1e9)


def test_evaluations_may_be_counted_in_updates() -> None:
    trials = Trials(make("CartPole-v0", evaluation_episodes=1, evaluation_every=3), "cpu", ONE)
    trials.spent = 1e9
    assert [k for k in range(1, 10) if trials.is_due(k, 1.0)] == [3, 6, 9]


def test_the_first_rank_decides_by_its_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    ranks = Ranks("cpu")
    trials = Trials(make("CartPole-v0", evaluation_episodes=1, evaluation_every=0), "cpu", ranks)
    asked: list[int] = []
    monkeypatch.setattr(ranks, "agreed", lambda number: bool(asked.append(number)) or 1)
    trials.spent = trials.lasted = 1e9
    assert trials.is_due(1, 1.0) and asked == [0]


@pytest.mark.parametrize("policies", ["shared", "role"])
def test_opponents_have_a_column_each_and_the_last_policies_are_kept(
    tmp_path: Path, policies: str, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = train(tmp_path, *TAG, "--policies", policies, "--evaluation-every", "2")
    assert {"evaluation/return_tagger", "evaluation/return_runner"} < rows[-1].keys()
    assert {"charts/episodic_return_tagger", "charts/episodic_return_runner"} < rows[-1].keys()
    assert "evaluation/return" not in rows[-1] and "charts/episodic_return" not in rows[-1]
    out = capsys.readouterr().out
    assert (
        "evaluation tagger " in out
        and "episodes: tagger " in out
        and " runner " in out
        and ", tagged " in out
    )
    assert "best.ckpt holds these policies, the last ones" in out
    best, last = (checkpoint.load(tmp_path / f"{n}.ckpt") for n in ("best", "checkpoint"))
    assert best["steps"] == last["state"]["steps"] == rows[-1]["steps"]
    kept = saved.policies_of(best)
    for name, state in saved.policies_of(last).items():
        assert all(t.equal(kept[name][key], state[key]) for key in state)


def test_opponents_have_no_goal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run.main([*TAG, "--goal", "3", "--out", str(tmp_path)]) == 2
    line = capsys.readouterr().err
    assert line.startswith("error: --goal must be inf where several roles learn (")
    assert "--learn ROLE" in line and line.count("\n") == 1
    most = ("--total-steps", "100000")
    rows = train(tmp_path, *TAG, *most, "--goal", "-100", "--learn", "runner")
    assert rows[-1]["steps"] == 0  # untrained play reaches it


def test_an_environments_own_threshold_is_none_for_opponents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gpu_envs.known import registration
    from gpu_envs.train.session import Session

    for learn, goal in (("", float("inf")), ("runner", -50.0)):
        config = make("TagGrid-v0", learn=learn, num_envs=2, out=str(tmp_path))
        with monkeypatch.context() as patched:
            patched.setitem(registration.find("TagGrid-v0"), "reward_threshold", -50.0)
            assert Session(config, None).goal == goal
