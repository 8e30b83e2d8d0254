"""The bonus for what was rarely seen: what gets it, what it adds up to, and what it is refused."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch", reason="needs gpu_envs[train]")

import torch as t

from gpu_envs.policies.layers import RowShape
from gpu_envs.train import ppo, worlds
from gpu_envs.train.config import make
from gpu_envs.train.novelty import Novelty
from gpu_envs.train.ranks import Ranks

SHAPE = RowShape(("numbers",), ((6,),), 1.0)
CPU = t.device("cpu")


def novelty(**choices: Any) -> Novelty:
    config = make("CartPole-v0", novelty=1.0, minibatch=64, **choices)
    t.manual_seed(1)
    found = Novelty(SHAPE, config, Ranks("cpu"), CPU)
    found.set(0.0)
    return found


def near(place: float, seed: int, steps: int = 8) -> t.Tensor:
    """Return observations around a place."""
    noise = t.randn(steps, 32, 6, generator=t.Generator().manual_seed(seed))
    return place + 0.3 * noise


def everywhere(obs: t.Tensor) -> t.Tensor:
    return t.ones(obs.shape[:2], dtype=t.bool)


def test_what_was_never_seen_gets_more_than_what_was_learned() -> None:
    one = novelty()
    both = t.cat((near(-1.0, 1), near(1.0, 2)))
    one.bonus(both, everywhere(both))  # statistics of observations have seen both
    for update in range(300):
        seen = near(-1.0, 10 + update)
        one.improve(seen, update)
    found = one.bonus(t.cat((near(-1.0, 5), near(1.0, 6))), everywhere(both))
    assert found[:8].max() < found[8:].min()


def test_the_bonus_is_zero_in_the_mean_and_of_deviation_one() -> None:
    one = novelty()
    obs = near(0.0, 3, steps=64)
    found = one.bonus(obs, everywhere(obs))
    assert found.mean().abs() < 1e-3
    assert found.std() == pytest.approx(1.0, abs=0.01)
    assert one.bonus(obs, everywhere(obs))[3, 5] == pytest.approx(float(found[3, 5]), abs=1e-4)


def test_what_is_not_counted_gets_nothing_and_changes_no_scale() -> None:
    obs = near(0.0, 3, steps=16)
    counted = everywhere(obs)
    counted[4:, :7] = False
    strange = obs.clone()
    strange[4:, :7] = 1e6
    one, other = novelty(), novelty()
    for each in (one, other):
        each.look(obs)
    found, beside = one.bonus(obs, counted), other.bonus(strange, counted)
    assert (found[4:, :7] == 0).all()
    assert t.equal(found, beside)


def test_the_weight_moves_in_a_straight_line() -> None:
    one = novelty(novelty_end=0.2)
    obs = near(0.0, 3)
    whole = one.bonus(obs, everywhere(obs))
    one.set(0.5)
    assert one.weight == pytest.approx(0.6)
    assert t.allclose(one.bonus(obs, everywhere(obs)), 0.6 * whole, atol=1e-4)


def _trainer(env: str, **choices: Any) -> ppo.Trainer:
    small: dict[str, Any] = {"num_envs": 8, "rollout": 8, "minibatch": 32, "epochs": 1}
    config = make(env, **small, hidden="8", **choices)
    batch = worlds.for_training(config, "cpu", config.num_envs)
    trainer = ppo.Trainer(config, batch, Ranks("cpu"), print)
    trainer.start()
    return trainer


def test_rewards_of_a_rollout_get_it_but_for_last_steps() -> None:
    trainer = _trainer("CartPole-v0", novelty=0.5)
    for _ in range(4):
        results = trainer.iterate()
    assert results["charts/novelty"] > 0
    learner, rollout = trainer.learners[0], trainer.rollout
    rollout.ended[2, 3] = True
    reward = rollout.reward.clone()
    learner.reward_novelty(reward)
    bonus = reward - rollout.reward
    assert bonus[2, 3] == 0
    assert (bonus[~rollout.ended] != 0).all()
    trainer.env.close()


def test_each_policy_has_its_own() -> None:
    trainer = _trainer("TagGrid-v0", policies="role", novelty={"": 0.0, "tagger": 0.1})
    results = trainer.iterate()
    taggers, runners = trainer.learners
    assert taggers.novelty is not None and runners.novelty is None
    assert results["charts/tagger/novelty"] > 0
    reward = trainer.rollouts[0].reward.clone()
    taggers.reward_novelty(reward)
    changed = (reward != trainer.rollouts[0].reward).any(0)
    assert changed.any()
    assert not changed[runners.rows].any()
    trainer.env.close()


def test_without_a_weight_nothing_is_made() -> None:
    trainer = _trainer("CartPole-v0")
    assert trainer.learners[0].novelty is None
    assert "charts/novelty" not in trainer.iterate()
    assert trainer.learners[0].state()["novelty"] is None
    trainer.env.close()


def test_rows_without_a_choice_are_not_looked_at() -> None:
    with pytest.raises(ValueError, match="--novelty needs --decisions all"):
        make("Hanabi-v0", decisions="choice", novelty=0.1)
