"""TagContinuous in lock-step with its reference, the NumPy class of PyPI rl-warp-drive 2.7.1.

What rounding alone decides is left out of the configurations: increments and turns are exact in
binary (a speed that reaches a limit resets the acceleration; its levels are made in float32 where
ours are in float64), headings lie off the axes, and walls cost nothing (a cosine of a quarter turn
is not zero). Who is nearest, among agents whose
distances differ by less than TIE, may differ: the reference compares roots, we compare squares.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from gpu_envs import Simulator

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    reference = pytest.importorskip(
        "example_envs.tag_continuous.tag_continuous",
        reason="needs rl-warp-drive==2.7.1 (pip install --no-deps rl-warp-drive==2.7.1 "
        "gym==0.26.2 gym-notices==0.1.0)",
    )

Make = Callable[..., Simulator]
Array = NDArray[Any]

NEAR = 1e-4  # of states and observations after 100 steps in float32
TIE = 1e-4  # of distances
STEPS = 100
COLUMNS = {
    "x": "loc_x",
    "y": "loc_y",
    "speed": "speed",
    "heading": "direction",
    "acceleration": "acceleration",
}


def configuration(random: np.random.Generator, taggers: int, runners: int) -> dict[str, Any]:
    """Draw parameters that both sides take."""
    levels = int(random.choice([3, 5, 9]))  # steps of 1/8, 1/16 and 1/32, from -1/8 to 1/8
    right, left = (int(count) for count in random.integers(1, 8, 2))
    turn = float(random.choice([0.125, 0.25, 0.375]))
    return {
        "num_taggers": taggers,
        "num_runners": runners,
        "grid_length": float(random.choice([4, 8, 20])),
        "max_speed": float(random.choice([0.5, 1, 1.5])),
        "skill_level_runner": float(random.choice([0.5, 1, 1.5])),
        "skill_level_tagger": float(random.choice([1, 1.25, 2])),
        "max_acceleration": 0.125,
        "min_acceleration": -0.125,
        "num_acceleration_levels": levels,
        "max_turn": turn * left,
        "min_turn": -turn * right,
        "num_turn_levels": left + right + 1,
        "use_full_observation": bool(random.integers(2)),
        "num_other_agents_observed": int(random.integers(1, min(taggers + runners, 20) + 1)),
        "tagging_distance": float(random.choice([0, 0.01, 0.05, 0.1])),
        "tag_reward_for_tagger": 10.0,
        "tag_penalty_for_runner": -5.0,
        "step_penalty_for_tagger": -0.0625,
        "step_reward_for_runner": 0.125,
        "end_of_game_reward_for_runner": 2.0,
        "runner_exits_game_after_tagged": bool(random.integers(4)),
    }


class Pair:
    """The reference, and our world with the same agents at the same places."""

    def __init__(self, make: Make, random: np.random.Generator, taggers: int, runners: int) -> None:
        self.settings = configuration(random, taggers, runners)
        self.count = n = taggers + runners
        side = self.settings["grid_length"]
        place = random.uniform(0, side, (2, n)).astype(np.float32)
        heading = random.uniform(0, 2 * np.pi, n).astype(np.float32)
        self.theirs = reference.TagContinuous(
            episode_length=STEPS,
            starting_location_x=place[0],
            starting_location_y=place[1],
            starting_directions=heading,
            seed=int(random.integers(2**31)),
            **self.settings,
        )
        self.theirs_obs = self.theirs.reset()
        self.ours = make(
            "TagContinuous-v0",
            1,
            autoreset_mode="Disabled",
            max_episode_steps=STEPS,
            **self.settings,
        )
        self.ours.reset(seed=1)
        self.tagger = np.array([self.theirs.agent_type[agent] for agent in range(n)])
        for name, values in (
            *(("x", place[0]), ("y", place[1]), ("heading", heading)),
            ("tagger", self.tagger),
        ):
            column = self.ours.get(f"agents.{name}")
            column[0, :n] = values
            self.ours.set(f"agents.{name}", column)
        self.ours_obs = self.ours.observe().obs[0]

    def column(self, name: str) -> Array:
        return self.ours.get(f"agents.{name}")[0, : self.count]

    def play(self, random: np.random.Generator) -> int:
        """Play an episode; return how many tags there were."""
        seen, tags = np.ones(self.count), 0
        self.check_observations(seen, 0)
        most = [self.settings["num_acceleration_levels"], self.settings["num_turn_levels"]]
        for step in range(1, STEPS + 1):
            drawn = random.integers(0, np.array(most) + 1, (self.count, 2)).astype(np.int32)
            self.theirs_obs, rewards, done, _ = self.theirs.step(
                {agent: tuple(drawn[agent]) for agent in range(self.count)}
            )
            out = self.ours.step(drawn[None])
            self.ours_obs = out.obs[0]
            for name, theirs in COLUMNS.items():
                np.testing.assert_allclose(
                    self.column(name), self.theirs.global_state[theirs][step], atol=NEAR
                )
            in_game = self.theirs.still_in_the_game
            np.testing.assert_array_equal(self.column("in_game"), in_game)
            theirs_reward = [float(rewards[agent]) for agent in range(self.count)]
            np.testing.assert_allclose(out.reward[0], theirs_reward, atol=1e-5)
            self.check_observations(seen, step)
            tags += sum(reward < -4 for reward in theirs_reward)
            seen = in_game.astype(float)
            over = out.terminated[0] | out.truncated[0]
            assert bool(over[self.tagger == 1].all()) == done["__all__"]
            if done["__all__"]:
                break
        return tags

    def check_observations(self, seen: Array, step: int) -> None:
        """Compare what all agents see; to who has left we show nothing at all."""
        theirs = np.stack([self.theirs_obs[agent] for agent in range(self.count)])
        theirs = np.where(seen[:, None] == 0, 0, theirs)
        close = np.abs(theirs - self.ours_obs) <= NEAR
        for agent in np.flatnonzero(~close.all(axis=1)):
            assert not self.settings["use_full_observation"], (step, agent)
            self.check_ties(int(agent), seen, theirs[agent])

    def check_ties(self, agent: int, seen: Array, theirs: Array) -> None:
        """Other neighbours are right where they are as far away, place by place."""
        scale = self.settings["grid_length"] * np.sqrt(2)
        far = [
            np.hypot(*row[:-1].reshape(7, -1)[:2].astype(np.float64)) * scale
            for row in (theirs, self.ours_obs[agent])
        ]
        np.testing.assert_allclose(far[0], far[1], atol=TIE, err_msg=f"agent {agent}")
        mine = self.ours_obs[agent][:-1].reshape(7, -1)
        x, y = self.column("x"), self.column("y")
        distance = np.hypot(x - x[agent], y - y[agent])
        distance[(seen == 0) | (np.arange(self.count) == agent)] = np.inf
        nearest = np.sort(distance)[: mine.shape[1]]
        nearest = np.where(np.isfinite(nearest), nearest, 0)
        np.testing.assert_allclose(far[1][: len(nearest)], nearest, atol=TIE)


@pytest.mark.parametrize(
    ("taggers", "runners", "episodes"), [(1, 4, 40), (3, 2, 60), (2, 10, 20), (10, 100, 2)]
)
def test_episodes_equal_those_of_warpdrive(
    make_simulator: Make, taggers: int, runners: int, episodes: int
) -> None:
    random, tags = np.random.default_rng(taggers), 0
    for _ in range(episodes):
        pair = Pair(make_simulator, random, taggers, runners)
        tags += pair.play(random)
        pair.ours.close()
    assert tags > episodes


def test_random_configurations_equal_those_of_warpdrive(make_simulator: Make) -> None:
    random = np.random.default_rng(26)
    for _ in range(100):
        taggers, runners = (int(count) for count in random.integers(1, 7, 2))
        pair = Pair(make_simulator, random, taggers, runners)
        pair.play(random)
        pair.ours.close()
