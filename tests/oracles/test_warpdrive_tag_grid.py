"""TagGrid in lock-step with WarpDrive's own NumPy class, PyPI rl-warp-drive 2.7.1.

Its class computes in double precision; every number is compared as the float32 that it rounds to,
exactly. Taggers chase with noise in half of the games, so that runners are caught in large and
small worlds; in the other half everybody moves at random.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gpu_envs import Simulator

reference = pytest.importorskip(
    "example_envs.tag_gridworld.tag_gridworld",
    reason="needs rl-warp-drive==2.7.1 (pip install --no-deps rl-warp-drive==2.7.1 gym==0.26.2 "
    "gym-notices)",
)

Make = Callable[..., Simulator]
Array = np.ndarray[Any, Any]

LENGTH = 100  # of an episode, at most
WAYS = np.array([(0, 0), (1, 0), (-1, 0), (0, 1), (0, -1)])
# Agents, games, largest coordinate: everybody meets on 10 x 10 cells, hardly anybody on 101 x 101.
SIZES = [(5, 100, 10), (5, 100, 100), (12, 20, 23), (110, 2, 25)]
FORMS = pytest.mark.parametrize("full", [True, False])


def cells(env: Any) -> Array:
    """x and y of every agent: (agents, 2)."""
    state = env.global_state
    return np.stack([state[name][env.timestep] for name in ("loc_x", "loc_y")], axis=-1)


def ways(env: Any, cunning: bool, random: np.random.Generator) -> Array:
    """Random steps; cunning taggers mostly step towards the runner, which mostly flees."""
    drawn = random.integers(0, 5, env.num_agents)
    if not cunning:
        return drawn
    at = cells(env)
    after = np.abs(at[:, None] + WAYS - at[-1]).sum(axis=-1)
    nearest = np.abs(at[-1] + WAYS[:, None] - at[:-1]).sum(axis=-1).min(axis=1)
    wise = np.append(after[:-1].argmin(axis=1), nearest.argmax())
    return np.where(random.random(env.num_agents) < 0.7, wise, drawn)


def rows(by_agent: dict[int, Any]) -> Array:
    """What the reference returns of every agent, in float32."""
    return np.array([by_agent[agent] for agent in range(len(by_agent))]).astype(np.float32)


def assert_games_equal(
    make: Make, games: int, agents: int, random: np.random.Generator, **options: Any
) -> tuple[int, int]:
    """Plays that many games side by side; how many steps, and how many ended with a tag."""
    parameters = {"num_taggers": agents - 1, **options}
    starts = {k: options[k] for k in options if k.startswith("starting")}
    texts = {k: ",".join(map(str, values)) for k, values in starts.items()}
    ours = make(
        "TagGrid-v0",
        games,
        autoreset_mode="Disabled",
        max_episode_steps=LENGTH,
        **(parameters | texts),
    )
    theirs = [
        reference.TagGridWorld(episode_length=LENGTH, **(parameters | starts)) for _ in range(games)
    ]
    shown = ours.reset(seed=0).obs
    for game, env in enumerate(theirs):
        assert (shown[game] == rows(env.reset())).all()
    running, steps, tags = list(range(games)), 0, 0
    while running:
        actions = np.zeros((games, agents), np.int64)
        for game in running:
            actions[game] = ways(theirs[game], game % 2 == 0, random)
        outputs = ours.step(actions)
        at = np.stack([ours.get("agents.x"), ours.get("agents.y")], axis=-1)[:, :agents]
        for game in list(running):
            env = theirs[game]
            views, rewards, done, _ = env.step(dict(enumerate(actions[game])))
            steps += 1
            assert (outputs.obs[game] == rows(views)).all()
            assert (outputs.reward[game] == rows(rewards)).all()
            assert (at[game] == cells(env)).all()
            ended = bool(done["__all__"])
            assert (outputs.ended[game] == ended).all()
            assert (outputs.truncated[game] == (env.timestep == LENGTH)).all()
            if ended:
                running.remove(game)
                tags += int(outputs.terminated[game, 0])
    return steps, tags


@FORMS
@pytest.mark.parametrize(("agents", "games", "length"), SIZES)
def test_every_step_equals_the_reference(
    make_simulator: Make, agents: int, games: int, length: int, full: bool
) -> None:
    random = np.random.default_rng(agents + length)
    steps, tags = assert_games_equal(
        make_simulator, games, agents, random, grid_length=length, use_full_observation=full
    )
    assert steps >= games
    if length < 100:
        assert tags > 0


@FORMS
def test_rewards_and_starts_of_ones_own_equal_the_reference(
    make_simulator: Make, full: bool
) -> None:
    random = np.random.default_rng(7)
    for _ in range(10):
        agents, length = int(random.integers(2, 9)), int(random.integers(2, 15))
        starts = {
            f"starting_location_{axis}": random.integers(0, length + 1, agents) for axis in "xy"
        }
        prices = {
            name: float(np.round(random.uniform(0, 3), 3))
            for name in (
                "wall_hit_penalty",
                "tag_reward_for_tagger",
                "tag_penalty_for_runner",
                "step_cost_for_tagger",
            )
        }
        assert_games_equal(
            make_simulator,
            4,
            agents,
            random,
            grid_length=length,
            use_full_observation=full,
            **starts,
            **prices,
        )
