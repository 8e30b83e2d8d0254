"""Other-Play: each agent under names of its own, which only the environment's header describes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="needs gpu_envs[train]")

import torch as t

from gpu_envs import Simulator
from gpu_envs.train import settings, worlds
from gpu_envs.train.config import make
from gpu_envs.train.other_play import Names
from gpu_envs.train.ppo import Trainer
from gpu_envs.train.ranks import Ranks
from tests.gpu_envs.train.small_runs import Half

GAME = {"preset": "small", "color_count": 3}
WORLDS, STEPS = 8, 24


def trainer_of(ranks: Ranks | None = None, count: int = WORLDS, **choices: Any) -> Trainer:
    choices = {"parameters": GAME, "rollout": STEPS, "minibatch": 32, "epochs": 1, **choices}
    choices = {"hidden": "8", "num_envs": WORLDS, "other_play": True, **choices}
    config, ranks = make("Hanabi-v0", **choices), ranks or Ranks("cpu")
    first = ranks.share(config.num_envs)[0]
    env = worlds.for_training(config, "cpu", count, first)
    trainer = Trainer(config, env, ranks, print)
    trainer.start()
    return trainer


def names_of(trainer: Trainer) -> Names:
    names = trainer.stepper.names
    assert names is not None  # Other-Play was chosen
    return names


@pytest.mark.parametrize(
    "choices",
    [
        {},
        {"memory": 4, "share": False},
        {"policies": "agent", "past_worlds": 0.5},
        {"decisions": "choice"},
    ],
    ids=str,
)
def test_what_is_stored_is_the_true_game_under_each_agents_names(
    choices: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The true moves are played again, and what is seen is renamed by the recorded names."""
    trainer = trainer_of(**choices)
    names, rollout = names_of(trainer), trainer.rollout
    used: list[tuple[t.Tensor, t.Tensor]] = []
    seen: list[t.Tensor] = []
    plain = names.true

    def true(action: t.Tensor) -> t.Tensor:
        used.append((names.of_row.clone(), plain(action)))
        seen.append(rollout.obs[min(len(used) - 1, len(rollout.obs) - 1)].clone())
        return used[-1][1]

    monkeypatch.setattr(names, "true", true)
    trainer._play()
    trainer.env.check()  # no move was illegal: masks are under the same names
    again = Simulator("Hanabi-v0", WORLDS, arrays="torch", **GAME)
    found, turned = again.reset(seed=trainer.config.seed), 0
    for step, (of_row, action) in enumerate(used):
        assert found.obs is not None and found.action_mask is not None
        assert rollout.mask is not None and found.agent_active is not None
        obs, mask = found.obs.flatten(0, 1), found.action_mask.flatten(0, 1)
        assert t.equal(seen[step], obs.gather(1, names.places[of_row]))
        assert t.equal(rollout.mask[step], mask.gather(1, names.actions[of_row]))
        turned += int((seen[step] != obs).any(1).sum())
        found = again.step(action.view(WORLDS, -1))
        assert t.equal(rollout.reward[step], found.reward.flatten())
        ended = rollout.ended[step]
        if ended.any():
            last = found.final_obs.flatten(0, 1)[ended]
            assert t.equal(
                rollout.final_obs[step][ended], last.gather(1, names.places[of_row[ended]])
            )
    assert turned > WORLDS and rollout.ended.any()


def test_names_are_drawn_for_each_agent_and_episode_and_change_at_ends_alone() -> None:
    trainer = trainer_of(count=256, num_envs=256)
    names = names_of(trainer)
    first = names.of_row.clone()
    pairs = first.view(-1, 2)
    assert first.bincount(minlength=6).min() > 50  # of 85 each
    assert 0.08 < float((pairs[:, 0] == pairs[:, 1]).float().mean()) < 0.27  # a sixth
    trainer._play()
    rows = trainer.rollout.ended.sum(0).view(-1, 2)[:, 0]
    assert t.equal(names.episode, 1 + rows)
    now = names.of_row.view(-1, 2)
    assert t.equal(now[rows == 0], pairs[rows == 0]) and not t.equal(now, pairs)
    over = t.zeros(256, dtype=t.bool)
    over[::2] = True
    before = now.clone()
    names.begin(over)
    assert t.equal(now[1::2], before[1::2]) and not t.equal(now[::2], before[::2])


def test_names_follow_from_seed_world_and_episode_however_worlds_are_shared() -> None:
    whole = names_of(trainer_of()).of_row
    half = names_of(trainer_of(Half(4, 4), 4)).of_row
    other = names_of(trainer_of(seed=2)).of_row
    assert t.equal(whole[8:], half) and not t.equal(whole, other)


def test_what_cannot_be_renamed_is_refused() -> None:
    config = make("CartPole-v0", num_envs=2, other_play=True)
    with pytest.raises(ValueError, match="--other-play: the header of CartPole-v0 describes no sy"):
        Trainer(config, worlds.for_training(config, "cpu", 2), Ranks("cpu"), print)
    with pytest.raises(ValueError, match="--other-play and --critic-state exclude each other"):
        trainer_of(critic_state=True, share=False)


def test_a_run_says_that_evaluations_play_by_the_true_names() -> None:
    found = settings.within(make("Hanabi-v0", other_play=True))
    assert "names by which agents play drawn in training, true in evaluations" in found
    assert not any("names" in line for line in settings.within(make("Hanabi-v0")))


def test_a_stage_after_another_may_leave_it_out(tmp_path: Path) -> None:
    first = trainer_of()
    first.iterate()
    second = trainer_of(other_play=False)
    second.take_over([learner.policy for learner in first.learners])
    assert second.stepper.names is None
