"""Roles whose spaces differ: a policy each, rows of their own length, files that play."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="needs gpu_envs[train]")
pytest.importorskip("matplotlib", reason="needs gpu_envs[train]")
pytest.importorskip("rich", reason="needs gpu_envs[train]")

import torch as t
from gymnasium.spaces import MultiDiscrete

import gpu_envs
from gpu_envs.core.simulator import Simulator
from gpu_envs.known.fields import Field
from gpu_envs.policies import agent_kinds, checkpoint, saved, teams
from gpu_envs.train import evaluate, match, ppo, run, worlds
from gpu_envs.train.config import make
from gpu_envs.train.ppo import Trainer
from gpu_envs.train.ranks import Ranks
from tests.gpu_envs.train.small_runs import BY_ROLE, Half

pytestmark = pytest.mark.usefixtures("troupe")

CPU = t.device("cpu")


def train(folder: Path, env: str, *words: str) -> dict[str, Any]:
    """Train, and return the state of the checkpoint."""
    assert run.main([env, *BY_ROLE, *words, "--out", str(folder)]) == 0
    state: dict[str, Any] = checkpoint.load(folder / "checkpoint.ckpt")["state"]
    return state


def same(left: Any, right: Any) -> bool:
    """Compare trees bit for bit."""
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(same(left[k], right[k]) for k in left)
    if isinstance(left, list):
        return len(left) == len(right) and all(map(same, left, right))
    return t.equal(left, right) if isinstance(left, t.Tensor) else bool(left == right)


def trainer_of(env: str, count: int = 8, ranks: Ranks | None = None, **choices: Any) -> Trainer:
    small = {"rollout": 30, "minibatch": 64, "epochs": 2, "policies": "role"}
    config = make(env, num_envs=64 if ranks else count, **{**small, **choices})
    first = 0 if ranks is None else ranks.share(64)[0]
    env_ = worlds.for_training(config, "cpu", count, first)
    trainer = Trainer(config, env_, ranks or Ranks("cpu"), print)
    trainer.start()
    return trainer


# ---- rollouts


def test_kinds_are_the_same_however_rows_lie() -> None:
    split, padded = (Simulator("Troupe-v0", 2, device="cpu", roles=r) for r in ("split", "padded"))
    for simulator in (split, padded):
        found = agent_kinds.kinds_of(simulator, CPU)
        assert [kind.name for kind in found] == ["dancer", "drummer", "clown"]
        assert [(kind.first, kind.count) for kind in found] == [(0, 3), (3, 2), (5, 1)]
        assert [kind.row for kind in found] == [(7,), (9,), (2,)]
        assert [kind.actions.outputs for kind in found] == [3, 5, 2]
    assert saved.outlook(split) == saved.outlook(padded)
    (shared,) = agent_kinds.kinds_of(Simulator("Hanabi-v0", 2, device="cpu"), CPU)
    assert shared.name == "" and shared.count == 2 and shared.choices is not None


@pytest.mark.parametrize("env", ["Troupe-v0", "Band-v0"])
def test_rollouts_hold_what_the_simulator_says_of_each_role(env: str) -> None:
    trainer = trainer_of(env, memory=4)
    twin = Simulator(env, 8, device="cpu", arrays="torch", roles="split")
    seen = twin.reset(seed=trainer.config.seed)
    for _ in range(2):
        trainer._play()
        for step in range(trainer.rollout.length):
            for role, r in zip(twin.roles, trainer.rollouts, strict=True):
                assert t.equal(r.obs[step], twin.by_role(seen.obs)[role.name].flatten(0, 1))
            actions = {
                r.kind.name: r.taken[step].view(8, r.agents, *r.taken[step].shape[1:])
                for r in trainer.rollouts
            }
            seen = twin.step(actions)
            for r in trainer.rollouts:
                for name in ("reward", "terminated", "truncated", "ended"):
                    told = getattr(seen, name)[:, r.kind.first : r.kind.first + r.agents]
                    assert t.equal(getattr(r, name)[step], told.flatten()), name
                assert t.equal(r.active[step + 1], r.kind.rows(seen.agent_active))
        trainer.clock += 1
    sizes = [r.obs[0].numel() for r in trainer.rollouts]
    assert sizes == [8 * 3 * 7, 8 * 2 * 9, 8 * 1 * 2]  # and nothing is padded
    trainer.env.check() if env == "Troupe-v0" else None  # of Band-v0 masks say nothing


def test_memories_last_until_all_kinds_have_ended_though_one_is_absent() -> None:
    trainer = trainer_of("Troupe-v0", memory=4)
    stepper = trainer.stepper
    assert stepper.whole is not None
    trainer._play()
    ended = stepper.whole.small["ended"].view(30, 8, 6)
    active = stepper.whole.active.view(31, 8, 6)
    assert not active[0, :, 5].all()  # some worlds have no clown
    gone = ~active[0]
    for step in range(30):
        gone = gone | ended[step]
        over = gone.all(1)
        for r in trainer.rollouts:
            assert t.equal(r.begins[step + 1], over.repeat_interleave(r.agents))
            assert not r.memory[step + 1][r.begins[step + 1]].any()
        gone = t.where(over[:, None], ~active[step + 1], gone)
    assert t.equal(stepper.gone, gone.flatten()) and any(r.begins.any() for r in trainer.rollouts)


def test_memories_do_not_wait_for_an_agent_that_is_not_there() -> None:
    config = make("TagContinuous-v0", num_envs=2, rollout=4, memory=4)
    trainer = Trainer(config, worlds.for_training(config, "cpu", 2), Ranks("cpu"), print)
    trainer.start()
    r = trainer.rollout
    assert r.active is not None
    r.active[:] = True
    r.active[:, 0] = False
    trainer.stepper.begin()
    r.ended[0, 1 : r.agents] = True  # all others of the first world
    trainer.stepper.end(0)
    assert r.begins[1].tolist() == [True] * r.agents + [False] * r.agents
    assert trainer.stepper.gone.nonzero().flatten().tolist() == [
        0
    ]  # nor is it there in the next episode


@pytest.mark.parametrize("decisions", ["all", "choice"])
def test_a_second_rank_s_rows_are_the_rest_of_one_process_s(decisions: str) -> None:
    whole = trainer_of("Troupe-v0", 64, Half(0, 64), decisions=decisions)
    whole._play()
    for first in (0, 32):
        half = trainer_of("Troupe-v0", 32, Half(first, 32), decisions=decisions)
        half._play()
        for mine, everyone in zip(half.rollouts, whole.rollouts, strict=True):
            rows = slice(first * mine.agents, (first + 32) * mine.agents)
            for name in ("action", "reward", "ended"):
                assert t.equal(getattr(mine, name), getattr(everyone, name)[:, rows]), name
            assert t.allclose(mine.value, everyone.value[:, rows], atol=1e-5)


@pytest.mark.parametrize("apart", [True, False])
def test_kinds_draw_apart(apart: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not apart:
        monkeypatch.setattr(ppo, "KINDS_APART", 0)
    trainer = trainer_of("Band-v0", 16, learn="clown")
    trainer._play()
    dancers, drummers, _ = trainer.rollouts
    drummed = (drummers.bounded[:, :, 0] * 3).long()
    danced = dancers.action[:, : drummers.rows, 0]
    assert (drummed == danced).double().mean() < 0.5 if apart else t.equal(drummed, danced)


def test_only_the_kind_that_remembers_has_room_for_it() -> None:
    trainer = trainer_of("Troupe-v0", memory="drummer=4", decisions="choice")
    dancers, drummers, clowns = trainer.rollouts
    assert drummers.memory is not None and drummers.memory.shape[-1] == 4
    assert dancers.memory is None and clowns.memory is None
    assert dancers.keeps_few and not drummers.keeps_few
    trainer.iterate()


def test_a_mask_of_several_categories_has_all_their_numbers() -> None:
    simulator = Simulator("Troupe-v0", 2, device="cpu")
    first, *others = simulator.kinds
    heads = Field("jump", "int32", choices=2), Field("turn", "int32", choices=3)
    first = dataclasses.replace(first, action_fields=heads, mask_elements=5)
    simulator.kinds.kinds = (first, *others)
    found = agent_kinds.kinds_of(simulator, CPU)[0]
    assert found.choices == 5 and found.space == MultiDiscrete([2, 3])


# ---- learning


@pytest.mark.parametrize(
    ("env", "words"),
    [
        ("Troupe-v0", "--memory 4"),
        ("Troupe-v0", "--decisions choice --finite true --hidden 16,drummer=8"),
        ("Band-v0", "--memory drummer=4 --entropy 0.01,clown=0.1"),
    ],
)
def test_a_run_is_resumed_to_the_bit(env: str, words: str, tmp_path: Path) -> None:
    told = [*words.split(), "--schedule", "constant"]
    whole = train(tmp_path / "whole", env, *told, "--total-steps", "2304")
    train(tmp_path / "parts", env, *told, "--total-steps", "768")
    assert same(train(tmp_path / "parts", env, "--resume", "--total-steps", "2304"), whole)
    assert [learner["name"] for learner in whole["learners"]] == ["dancer", "drummer", "clown"]


def test_dancers_learn_in_a_short_training(tmp_path: Path) -> None:
    train(tmp_path, "Troupe-v0", "--decisions", "choice", "--total-steps", "40000")
    env = worlds.Worlds("Troupe-v0", 100, device="cpu", arrays="torch", reuse=True)
    returns = {}
    for name in ("trained", "random"):
        team = teams.Team.at_random(env.simulator)
        if name == "trained":
            team = teams.Team.load(tmp_path / "best.ckpt", env.simulator)
        rows = evaluate.rows_of(team.of_agent, 100, "cpu")
        returns[name] = evaluate.play(env, team.policies, rows, seed=5)[0].mean(0)
    assert returns["trained"][:3].mean() > 1.5 * returns["random"][:3].mean()
    assert returns["trained"][3:5].mean() > 1.5 * returns["random"][3:5].mean()
    env.close()


def test_one_policy_for_all_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    told = ["Troupe-v0", "--device", "cpu", "--policies", "shared", "--out", str(tmp_path)]
    assert run.main(told) == 2
    assert "--policies must be role or agent" in capsys.readouterr().err


# ---- what plays


def test_agents_that_are_never_there_have_no_episode_to_wait_for() -> None:
    env = worlds.Worlds("Troupe-v0", 4, device="cpu", arrays="torch", absence=1.0)
    rows = evaluate.rows_of([-1] * 6, 4, "cpu")
    returns, lengths = evaluate.play(env, [], rows, seed=1)
    assert (lengths[:, :5] > 0).all() and not lengths[:, 5].any() and not returns[:, 5].any()
    env.close()


def test_a_file_plays_rows_of_every_form(tmp_path: Path, capsys: Any) -> None:
    train(tmp_path, "Troupe-v0", "--memory", "dancer=4", "--total-steps", "768")
    file = tmp_path / "best.ckpt"
    padded = gpu_envs.VectorEnv("Troupe-v0", 1, device="cpu")
    together = teams.Team.load(file, padded.simulator).together()
    players = teams.Team.load(file, padded.simulator).players()
    parallel = gpu_envs.parallel_env("Troupe-v0", device="cpu")
    obs, infos = padded.reset(seed=3)
    alone, _ = parallel.reset(seed=3)
    for _ in range(5):
        actions = together(obs, infos["action_mask"])
        for number, agent in enumerate(parallel.agents):
            seen = alone[agent]
            said = players[number](seen["observation"], seen["action_mask"])
            assert said == actions[number], agent
        obs, _, _, _, infos = padded.step(actions)
        alone, _, _, _, _ = parallel.step(
            {agent: int(actions[k]) for k, agent in enumerate(parallel.possible_agents)}
        )
        if len(parallel.agents) < 6:
            break
    padded.check()
    assert match.main([str(file), "--episodes", "5", "--against", "random"]) == 0
    lines = capsys.readouterr().out
    assert "FILE as dancer" in lines and "random as clown" in lines


def test_a_file_plays_the_others(tmp_path: Path) -> None:
    train(tmp_path, "Troupe-v0", "--total-steps", "768")
    others = {"drummer": str(tmp_path / "best.ckpt"), "clown": "random"}
    env = gpu_envs.VectorEnv("Troupe-v0", 3, device="cpu", role="dancer", others=others)
    env.reset(seed=1)
    for _ in range(5):
        _, _, _, _, infos = env.step(np.zeros(9, np.int64))
        assert infos["action_mask"].shape == (9, 3)
    env.check()
    env.close()
