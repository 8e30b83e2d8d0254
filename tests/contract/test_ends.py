"""When rows are flagged as done whose agents end before their world, or are absent: `ends=`.

With ends="world", the default of batches of rows, a row is flagged where its next observation is of
another episode, and nowhere else; with ends="agent" it is flagged where its own agent ends. Both
forms of every output, on every executor: tests/kernels/ends.hpp.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.wrappers import vector as wrappers

import gpu_envs
from gpu_envs.known.measures import sizes
from tests.contract.playing import MODES, REGISTERED
from tests.contract.rows import EARLY, Chance, Episodes

WORLDS, STEPS = 5, 90
CROWDS = [name for name, description in REGISTERED.items() if description["agents"] != "1"]
SETTINGS = {name: {"max_episode_steps": 23, **sizes(name, "crowd")} for name in CROWDS} | EARLY
# Where all agents end with their world, one mode shows as much as three.
CASES = [(name, mode) for name in SETTINGS for mode in (MODES if name in EARLY else MODES[:1])]
# Rows of one role, of agents some of which end early or are absent.
ROLES = [
    ("TagContinuous-v0", "runner"),
    ("Troupe-v0", "dancer"),
    ("Troupe-v0", "clown"),
    ("Band-v0", "dancer"),
    ("Band-v0", "clown"),
]
every_mode = pytest.mark.parametrize("mode", MODES)
every_early = pytest.mark.parametrize("name", EARLY)
counts_right = pytest.mark.skipif(
    tuple(map(int, gymnasium.__version__.split(".")[:2])) < (1, 4),
    reason="Gymnasium's statistics are wrong in SameStep before 1.4",
)

pytestmark = pytest.mark.usefixtures("troupe")


class Game:
    """Plays a batch of rows, and Gymnasium's statistics beside it."""

    def __init__(self, env: gpu_envs.VectorEnv, mode: str) -> None:
        self.env, self.mode = env, mode
        self._counted: Any = wrappers.RecordEpisodeStatistics(env)
        self._chance = Chance(env.single_action_space)
        self.obs, self.infos = self._counted.reset(seed=3)
        self._episodes = Episodes(env)
        self.flagged = np.zeros(env.num_envs, bool)

    def step(self) -> None:
        """Run one step; worlds that wait for a reset are reset before it."""
        if self.mode == "Disabled" and self.flagged.any():
            self._reset()
        mask = self.infos.get("action_mask")
        actions = self._chance(self.env.num_envs, mask)
        self.obs, self.reward, *flags, self.infos = self._counted.step(actions)
        self.terminated, self.truncated = flags
        self.flagged = self.terminated | self.truncated
        self.changed = self._episodes.changed()

    def _reset(self) -> None:
        self.obs, self.infos = self._counted.reset(options={"reset_mask": self.flagged.copy()})
        assert np.array_equal(self._episodes.changed(), self.flagged)

    def judge_statistics(self) -> None:
        """Hold the environment's statistics to Gymnasium's, where there are any."""
        has_any = self.infos["_episode_stats"]
        assert not (has_any & ~self.flagged).any()
        for key in ("r", "l"):
            own = self.infos["episode_stats"][key]
            assert not own[~has_any].any()
            if has_any.any():
                expected = self.infos["episode"][key][has_any]
                np.testing.assert_allclose(own[has_any], expected, rtol=1e-5, atol=1e-6)


def judge_rows(env: gpu_envs.VectorEnv, mode: str, steps: int = STEPS) -> tuple[int, int]:
    """Play, and return how many flags came with a row's own end, and how many without."""
    game, before = Game(env, mode), np.zeros(env.num_envs, bool)
    own = others = 0
    was_active = game.infos["agent_active"]
    for _ in range(steps):
        game.step()
        if mode == "SameStep":
            assert np.array_equal(game.flagged, game.changed)
        elif mode == "NextStep":
            assert np.array_equal(before, game.changed)
        else:
            over = env.simulator.get("world.over").ravel().repeat(env.agents_per_world)
            assert np.array_equal(game.flagged, over != 0) and not game.changed.any()
        game.judge_statistics()
        if mode == "Disabled" and before.any():  # reset before this step
            was_active = was_active | before
        own += (game.flagged & was_active).sum()
        others += (game.flagged & ~was_active).sum()
        before, was_active = game.flagged, game.infos["agent_active"]
    return int(own), int(others)


@counts_right
@pytest.mark.parametrize(("name", "mode"), CASES)
def test_a_row_is_flagged_where_its_next_episode_begins_and_nowhere_else(
    make_vec, name, mode
) -> None:
    own, others = judge_rows(make_vec(name, WORLDS, autoreset_mode=mode, **SETTINGS[name]), mode)
    assert own > 0
    assert others > 0 or name not in EARLY


@counts_right
@every_mode
@pytest.mark.parametrize(("name", "role"), ROLES)
def test_rows_of_a_role_are_flagged_so_too(make_vec, name, role, mode) -> None:
    settings = EARLY.get(name, EARLY["Troupe-v0"])
    env = make_vec(name, WORLDS, autoreset_mode=mode, role=role, **settings)
    own, others = judge_rows(env, mode)
    assert own + others > 0 and others > 0


@every_early
def test_last_observations_are_those_of_worlds_that_wait_for_a_reset(make_vec, name) -> None:
    options = SETTINGS[name]
    env = make_vec(name, WORLDS, **options)
    waiting = make_vec(name, WORLDS, autoreset_mode="Disabled", **options)
    chance, episodes = Chance(env.single_action_space), None
    (_, infos), _ = env.reset(seed=3), waiting.reset(seed=3)
    episodes = Episodes(env)
    zero = kept = absent = 0
    for _ in range(STEPS):
        actions = chance(env.num_envs, infos.get("action_mask"))
        (*_, terminated, truncated, infos), (last, *_) = env.step(actions), waiting.step(actions)
        done, ended, final = terminated | truncated, infos["_final_obs"], infos["final_obs"]
        assert np.array_equal(final[done], last[done]) and not final[~ended].any()
        assert np.array_equal(done, episodes.changed())
        assert terminated[done & ~ended].all() and not truncated[done & ~ended].any()
        zero += (ended & ~final.any(axis=1)).sum()
        kept += (ended & final.any(axis=1)).sum()
        absent += (done & ~ended).sum()
        if done.any():
            waiting.reset(options={"reset_mask": done})
    assert zero > 0 and kept > 0
    assert (absent > 0) == (name == "Troupe-v0")


@every_early
@every_mode
def test_forms_differ_only_in_flags_and_statistics(make_simulator, name, mode) -> None:
    one, other = (
        make_simulator(name, WORLDS, ends=ends, autoreset_mode=mode, **SETTINGS[name])
        for ends in ("agent", "world")
    )
    chance = Chance(one.single_action_space)
    pair = [one.reset(seed=3), other.reset(seed=3)]
    is_equal = []
    for _ in range(60):
        for key in ("obs", "reward", "action_mask", "agent_active", "state", "reward_parts"):
            assert np.array_equal(*(np.asarray(getattr(each, key)) for each in pair)), key
        is_equal.append(np.array_equal(pair[0].terminated, pair[1].terminated))
        mask = pair[0].action_mask
        rows = WORLDS * one.agents_per_world
        drawn = chance(rows, None if mask is None else mask.reshape(rows, -1))
        actions = drawn.reshape(WORLDS, one.agents_per_world, *drawn.shape[1:])
        pair = [one.step(actions), other.step(actions)]
    assert not all(is_equal)
    assert one.save() == other.save()
    other.load(one.save())  # a save of the one form goes on in the other


@counts_right
@every_early
@every_mode
def test_by_agents_a_row_is_flagged_once_and_at_its_own_end(make_simulator, name, mode) -> None:
    simulator = make_simulator(name, WORLDS, autoreset_mode=mode, **SETTINGS[name])
    assert simulator.ends == "agent"  # the default here
    chance, agents = Chance(simulator.single_action_space), simulator.agents_per_world
    outputs = simulator.reset(seed=3)
    episode, early = simulator.get("world.episode"), 0
    for _ in range(STEPS):
        mask, active = outputs.action_mask, outputs.agent_active
        drawn = chance(WORLDS * agents, None if mask is None else mask.reshape(WORLDS * agents, -1))
        outputs = simulator.step(drawn.reshape(WORLDS, agents, *drawn.shape[1:]))
        flagged, now = outputs.terminated | outputs.truncated, simulator.get("world.episode")
        if mode == "Disabled":  # frozen worlds repeat their flags
            flagged = flagged & active.any(axis=1, keepdims=True)
        anew = (now != episode) & (mode == "SameStep")
        assert np.array_equal(flagged, active & (anew | ~outputs.agent_active))
        assert np.array_equal(outputs.ended, flagged)
        assert not outputs.episode_length[~flagged].any()
        early += (flagged & ~flagged.all(axis=1, keepdims=True)).sum()
        over = simulator.get("world.over").ravel() != 0
        if mode == "Disabled" and over.any():
            outputs = simulator.reset(mask=over)
            now = simulator.get("world.episode")
        episode = now
    assert early > 0


@pytest.mark.parametrize("ends", ["row", None, 1, "World"])
def test_a_form_that_does_not_exist_is_refused(make_vec, ends) -> None:
    with pytest.raises(ValueError, match=r"ends must be 'agent' or 'world', got "):
        make_vec("TagContinuous-v0", ends=ends)
