"""Decisions that are far apart: advantages over the gaps, and rows that nobody asks."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch", reason="needs gpu_envs[train]")

import torch as t
from gymnasium.spaces import MultiDiscrete

from gpu_envs.policies.distributions import of_space
from gpu_envs.train import ppo, worlds
from gpu_envs.train.config import make
from gpu_envs.train.decisions import far_advantages
from gpu_envs.train.ppo import Trainer
from gpu_envs.train.ranks import Ranks
from gpu_envs.train.rollout import Rollout, _sums
from tests.gpu_envs.train.random_rollouts import in_many_sizes, random_rollout

# Products of fewer rows round differently, and Adam's first steps are as long for small slopes.
ROUNDING = 2e-3
SMALL: dict[str, Any] = {"rollout": 20, "minibatch": 64, "epochs": 2, "hidden": "16"}


def longest_gap(decides: Any, ended: Any) -> int:
    """Return the steps of the longest way from one decision to the next in any row."""
    longest = 0
    for row in range(ended.shape[1]):
        last = None
        for step in range(len(decides)):
            if decides[step, row]:
                longest = max(longest, step - (step if last is None else last))
                last = step
            if step < len(ended) and ended[step, row]:
                last = None
    return longest


def plain(
    reward: Any, value: Any, decides: Any, ended: Any, gamma: float, trace: float
) -> tuple[t.Tensor, t.Tensor]:
    """Follow each decision of each row to the next, as the text says it."""
    steps, rows = reward.shape
    gap = longest_gap(decides, ended)
    result, known = t.zeros(steps, rows, dtype=t.float64), t.zeros(steps, rows, dtype=t.bool)
    for row in range(rows):
        for step in reversed(range(steps)):
            if not decides[step, row]:
                continue
            total, discount, at, beyond = 0.0, 1.0, step, 0.0
            while True:
                total += discount * float(reward[at, row])
                discount *= gamma
                if ended[at, row]:
                    known[step, row] = True
                    break
                at += 1
                if decides[at, row]:
                    known[step, row] = step + gap <= steps or bool(ended[step:, row].any())
                    total += discount * float(value[at, row])
                    beyond = float(result[at, row]) if at < steps else 0.0
                    break
                if at == steps:
                    break
            surprise = total - float(value[step, row]) + discount * trace * beyond
            result[step, row] = surprise if known[step, row] else 0.0
    return result, known


@in_many_sizes
def test_far_advantages_follow_each_decision(steps: int, share: float, gamma: float) -> None:
    reward, value, decides, ended = random_rollout(steps, share)
    found, known = far_advantages(reward, value, decides, ended, gamma, 0.8)
    wanted, wanted_known = plain(reward, value, decides, ended, gamma, 0.8)
    assert t.equal(known, wanted_known)
    assert t.allclose(found.double(), wanted, atol=1e-5)


def test_a_reward_of_k_steps_later_is_discounted_k_times() -> None:
    reward = t.tensor([[0.0], [0.0], [8.0], [0.0]])
    decides = t.tensor([[1], [0], [0], [0], [1]], dtype=t.bool)
    value, ended = t.tensor([[1.0], [9.0], [9.0], [9.0], [16.0]]), t.zeros(4, 1, dtype=t.bool)
    found, known = far_advantages(reward, value, decides, ended, 0.5, 0.9)
    assert known[:, 0].tolist() == [True, False, False, False]
    assert float(found[0]) == 8 / 4 + 16 / 16 - 1


def test_without_gaps_and_where_nothing_counts_less_both_ways_agree() -> None:
    t.manual_seed(3)
    reward, value, ended = t.randn(9, 7), t.randn(10, 7), t.rand(9, 7) < 0.1
    ended[-1] = True  # near an end of the rollout alone nothing would be known
    every = t.ones(10, 7, dtype=t.bool)
    for decides, gamma in ((every, 0.9), (t.rand(10, 7) < 0.3, 1.0)):
        found, known = far_advantages(reward, value, decides, ended, gamma, 0.8)
        wanted, wanted_known = ppo.advantages(reward, value, decides, ended, gamma, 0.8)
        assert t.equal(known, wanted_known)
        assert t.allclose(found[known], wanted[known], atol=1e-5)


@pytest.mark.parametrize("ends", [False, True])
def test_what_is_known_near_the_end_is_not_up_to_the_last_action(ends: bool) -> None:
    """One action decides again in the next step, the other waits for 5, as a cooldown does."""
    known = []
    for waits in (1, 5):
        decides, ended = t.zeros(13, 2, dtype=t.bool), t.zeros(12, 2, dtype=t.bool)
        decides[[0, 5, 10], 0] = True  # somebody waits
        decides[[0, 5, 6, 7, 8, 9, 10], 1] = True
        decides[10 + 1 :, 1] = waits == 1
        ended[-1] = ends
        value, reward = t.randn(13, 2), t.randn(12, 2)
        known.append(far_advantages(reward, value, decides, ended, 0.9, 0.8)[1])
    one, other = known
    assert t.equal(one[:11], other[:11])
    assert one[:, 1].nonzero().flatten().tolist() == ([0, *range(5, 12)] if ends else [0, 5, 6, 7])


# ---- who is asked


def trainer_of(env: str, count: int = 16, *, asks_all: bool = False, **choices: Any) -> Trainer:
    config = make(env, num_envs=count, **{**SMALL, "decisions": "choice", **choices})
    with pytest.MonkeyPatch.context() as patch:
        if asks_all:
            patch.setattr("gpu_envs.train.rollout.keeps_few", lambda *_: False)
        trainer = Trainer(config, worlds.for_training(config, "cpu", count), Ranks("cpu"), print)
    trainer.start()
    return trainer


def test_rows_without_a_choice_do_the_only_thing_they_can() -> None:
    trainer = trainer_of("Hanabi-v0", parameters={"preset": "very_small"})
    trainer.iterate()
    trainer.env.check()  # nothing illegal was ever played
    r, learner = trainer.rollout, trainer.learners[0]
    free = r.active & (r.mask.sum(-1) > 1)
    assert t.equal(r.decides, free) and 0.1 < free.float().mean() < 0.6
    assert t.equal(learner.samples, free[:-1].flatten().nonzero().squeeze(-1))
    forced = r.active[:-1] & ~free[:-1]
    legal = r.mask[:-1].gather(-1, r.action.unsqueeze(-1)).squeeze(-1)
    assert (legal[forced] == 1).all() and (legal[free[:-1]] == 1).all()
    assert not learner.known[~free[:-1]].any()


@pytest.mark.parametrize("env", ["Hanabi-v0", "Troupe-v0"])
def test_asking_few_learns_what_asking_all_learns(env: str, troupe: str) -> None:
    choices: dict[str, Any] = {"parameters": {"preset": "very_small"}}
    if env == troupe:
        choices = {"policies": "role", "gamma": "0.9,dancer=0.8", "finite": True}
    few = trainer_of(env, **choices)
    every = trainer_of(env, asks_all=True, **choices)
    assert few.rollout.keeps_few and not every.rollout.keeps_few
    few.iterate()
    every.iterate()
    for one, other in zip(few.learners, every.learners, strict=True):
        assert t.equal(one.known, other.known) and one.known.any()
        at = one.known
        for name in ("action", "log_prob", "value"):
            mine, theirs = getattr(one.rollout, name)[at], getattr(other.rollout, name)[at]
            assert t.allclose(mine, theirs, atol=1e-5), name
        index = at.flatten().nonzero().squeeze(-1)
        assert t.equal(one._observed(index), other._observed(index))
        assert t.allclose(one.advantage[at], other.advantage[at], atol=1e-4)
        for mine, theirs in zip(one.parameters, other.parameters, strict=True):
            assert t.allclose(mine, theirs, atol=ROUNDING)


def test_what_few_saw_is_all_that_is_kept() -> None:
    few = trainer_of("Hanabi-v0", parameters={"preset": "very_small"})
    few.iterate()
    assert len(few.rollout.obs) == 1
    assert len(few.learners[0].kept) == int(few.rollout.decides[:-1].sum())
    memory = trainer_of("Hanabi-v0", parameters={"preset": "very_small"}, memory=4)
    assert not memory.rollout.keeps_few  # which sees every step
    results = memory.iterate()
    r = memory.rollout
    choices = r.active[:-1] & (r.mask[:-1].sum(-1) > 1)
    assert not memory.learners[0].known[~choices].any() and results["charts/samples"] > 0


def test_a_rollout_that_is_too_short_to_learn_from_is_told_once(
    troupe: str, capsys: pytest.CaptureFixture[str]
) -> None:
    trainer = trainer_of(troupe, policies="role", rollout=1, parameters={"absence": 1.0})
    trainer.iterate()
    trainer.iterate()
    told = capsys.readouterr().out
    assert told.count("warning: in --rollout 1 nobody of clown came") == 1


def test_a_rank_with_nothing_to_learn_from_is_told_of_though_others_have(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    trainer = trainer_of("Hanabi-v0", parameters={"preset": "very_small"})
    monkeypatch.setattr(trainer.ranks, "lowest", lambda _: 0)
    assert trainer.iterate()["charts/samples"] > 0
    assert "nothing was learned there" in capsys.readouterr().out


def test_a_mask_of_several_heads_counts_each_of_them() -> None:
    actions = of_space(MultiDiscrete([2, 3]), t.device("cpu"))
    mask = t.tensor([[1, 0, 0, 0, 1], [0, 1, 0, 1, 0], [0, 1, 1, 0, 1], [0, 0, 0, 0, 0]])
    legal = mask.float() @ _sums(actions)
    assert legal[:, 0].tolist() == [2, 2, 3, 0]  # of two heads: no choice, none, one, not there
    assert legal[:2, 1:].tolist() == [[0, 2], [1, 1]]


# ---- an end that is one


@pytest.mark.parametrize(
    ("choices", "is_warned"), [({}, True), ({"finite": True}, False), ({"decisions": "all"}, False)]
)
def test_a_critic_that_is_asked_where_nobody_chooses_is_told_of(
    choices: dict[str, Any], is_warned: bool, troupe: str, capsys: pytest.CaptureFixture[str]
) -> None:
    trainer_of(troupe, policies="role", **choices)
    assert ("--finite leaves it out" in capsys.readouterr().out) is is_warned


@pytest.mark.parametrize("finite", [False, True])
def test_what_follows_a_time_limit_counts_or_does_not(finite: bool) -> None:
    config = make("Micro-v0", num_envs=4, rollout=10, minibatch=40, finite=finite, gamma=0.5)
    config.parameters.update({"max_episode_steps": 5})
    trainer = Trainer(config, worlds.for_training(config, "cpu", 4), Ranks("cpu"), print)
    trainer.start()
    trainer._play()
    r, learner = trainer.rollout, trainer.learners[0]
    assert isinstance(r, Rollout) and (r.final_obs is None) is finite
    with t.no_grad():
        learner.policy.critic.bias.fill_(3.0)
        reward, value = r.reward.clone(), t.zeros(r.length + 1, r.rows)
        learner.values(value, reward)
    cut = r.truncated & r.ended
    assert cut.any() and value[-1].abs().min() > 0
    assert t.equal(reward, r.reward) if finite else (reward[cut] > r.reward[cut] + 1).all()
