"""The life cycle of an episode, for every registered environment: ends, resets, modes, seeds.

Agent by agent, on an environment made for it: tests/kernels/engine/life_cycle_test.cpp. What
Python adds to it: tests/gpu_envs/faces/test_vector.py. Environments test their rules alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gpu_envs
from gpu_envs.known import measures
from gpu_envs.known.measures import sizes
from tests.contract.playing import (
    MODES,
    REGISTERED,
    by_row,
    drawn,
    every_setting,
    flat_bytes,
    layers,
    legal,
    of_each,
    rows_of,
    same,
    sampled,
    short,
)


@every_setting
def test_time_limit_cuts_whoever_is_left_at_exactly_its_step(make_simulator, name, profile) -> None:
    simulator = make_simulator(
        name, 6, autoreset_mode="Disabled", max_episode_steps=5, **sizes(name, "small"), **profile
    )
    simulator.reset(seed=1)
    over = np.zeros((6, simulator.agents_per_world), bool)
    for step, actions in enumerate(drawn(simulator, 5), start=1):
        outputs = simulator.step(actions)
        assert np.array_equal(outputs.truncated, ~over & (step == 5))
        over |= outputs.ended
    assert over.all()


@pytest.mark.parametrize(("given", "limit"), [({}, 200), ({"max_episode_steps": 0}, 500)])
def test_time_limit_is_that_of_the_description_and_zero_for_none(make_vec, given, limit) -> None:
    env = make_vec("Micro-v0", 2, agent_count=1, work=0, **given)
    env.reset(seed=0)
    truncated = [env.step(np.zeros(2, int))[3].all() for _ in range(limit)]
    assert truncated == [False] * (limit - 1) + [not given]


def _transitions(
    make_vec: Any, name: str, mode: str, steps: int, **profile: str
) -> list[list[tuple]]:
    """Play with actions that depend on row, real step and mask alone; fillers are left out."""
    env = make_vec(name, 6, autoreset_mode=mode, **short(name), **profile)
    rows = env.num_envs
    plan = sampled(env, steps, seed=1)
    taken = np.zeros(rows, int)
    lists: list[list[tuple]] = [[] for _ in range(rows)]
    obs, infos = env.reset(seed=4)
    over = np.zeros(rows, bool)
    for _ in range(4 * steps):
        if taken.min() >= steps:
            break
        actions = plan[np.minimum(taken, steps - 1), np.arange(rows)]
        before = obs
        obs, reward, terminated, truncated, infos = env.step(legal(actions, infos))
        done = terminated | truncated
        last = infos["final_obs"] if mode == "SameStep" else obs
        filler = over if mode == "NextStep" else np.zeros(rows, bool)
        for row in np.flatnonzero(~filler):
            lists[row].append(
                (
                    flat_bytes(rows_of(before, row)),
                    float(reward[row]),
                    flat_bytes(rows_of(last if done[row] else obs, row)),
                    bool(terminated[row]),
                    bool(truncated[row]),
                    *(float(infos["episode_stats"][key][row]) for key in ("r", "l")),
                )
            )
        taken += ~filler
        over = done
        if mode == "Disabled" and done.any():
            obs, infos = env.reset(options={"reset_mask": done})
    assert taken.min() >= steps  # every world went on
    env.check()  # which an illegal action fails
    return [transitions[:steps] for transitions in lists]


@every_setting
def test_modes_play_the_same_transitions_without_fillers(make_vec, name, profile) -> None:
    first, *others = (_transitions(make_vec, name, mode, 150, **profile) for mode in MODES)
    assert sum(t[3] or t[4] for row in first for t in row) > 6
    assert all(other == first for other in others)


@every_setting
def test_final_obs_and_statistics_stand_where_an_episode_ended(make_vec, name, profile) -> None:
    """The other modes have equal ones in both places: they play the same transitions."""
    env = make_vec(name, 6, **short(name), **profile)
    _, infos = env.reset(seed=4)
    total, length = np.zeros(env.num_envs), np.zeros(env.num_envs, int)
    for numbers in sampled(env, 100):
        obs, reward, terminated, truncated, infos = env.step(legal(numbers, infos))
        done, finals, sums = terminated | truncated, infos["final_obs"], infos["episode_stats"]
        spaces, shown, last = map(layers, (env.single_observation_space, obs, finals))
        assert spaces.keys() == shown.keys() == last.keys()
        for layer, space in spaces.items():
            assert last[layer].dtype == shown[layer].dtype == space.dtype
            assert last[layer].shape == shown[layer].shape
            assert not last[layer][~done].any()
        assert np.array_equal(infos["_final_obs"], done)
        assert np.array_equal(infos["_episode_stats"], done)
        total, length = total + reward, length + 1
        np.testing.assert_allclose(sums["r"], np.where(done, total, 0), rtol=1e-5, atol=1e-6)
        assert np.array_equal(sums["l"], np.where(done, length, 0))
        total[done] = length[done] = 0


@every_setting
def test_next_step_after_an_end_ignores_the_action_and_pays_nothing(
    make_vec, name, profile
) -> None:
    options = {"autoreset_mode": "NextStep", **short(name), **profile}
    one, other = make_vec(name, 5, **options), make_vec(name, 5, **options)
    _, infos = one.reset(seed=2)
    other.reset(seed=2)
    fillers = 0
    over = np.zeros(one.num_envs, bool)
    for numbers, others in zip(sampled(one, 200), sampled(one, 200, seed=1), strict=True):
        actions = legal(numbers, infos)
        changed = [b if filler else a for a, b, filler in zip(actions, others, over, strict=True)]
        left, right = one.step(actions), other.step(changed)
        assert all(same(a, b) for a, b in zip(left[:4], right[:4], strict=True))
        assert not left[1][over].any()
        assert not (left[2] | left[3])[over].any()
        fillers += over.sum()
        over, infos = left[2] | left[3], left[4]
    assert fillers > 10
    one.check()
    other.check()  # what a filler was given is not looked at


@every_setting
def test_disabled_freezes_a_finished_row_until_its_reset(make_vec, name, profile) -> None:
    env = make_vec(
        name, 3, autoreset_mode="Disabled", max_episode_steps=3, **sizes(name, "small"), **profile
    )
    _, infos = env.reset(seed=0)
    over, ignored = np.zeros(3, bool), 3  # of the step that comes after these
    for numbers in sampled(env, 3):
        ignored += over.sum()
        last = env.step(legal(numbers, infos))
        infos = last[4]
        over = (last[2] | last[3]).reshape(3, -1).all(axis=1)
    assert over.all()
    saved = env.simulator.save()
    frozen = env.step(sampled(env, 1)[0])  # not all legal: a frozen row ignores them
    assert same(frozen[0], last[0])
    assert np.array_equal(frozen[2], last[2])
    assert not frozen[1].any()
    assert np.array_equal(frozen[3], last[3])
    assert env.simulator.save() == saved
    with pytest.raises(gpu_envs.ResetNeeded, match=f"{ignored} steps"):
        env.check()
    _, infos = env.reset(options={"reset_mask": np.array([True, False, True])})
    stepped = env.step(legal(sampled(env, 1)[0], infos))
    over = (stepped[2] | stepped[3]).reshape(3, -1).all(axis=1)
    assert over[1]
    assert env.simulator.get("world.step")[[0, 2], 0].tolist() == [1, 1]
    if not measures.measures_of(name)["tests"].get("brief", False):
        assert over.tolist() == [False, True, False]


@every_setting
def test_masked_reset_changes_masked_worlds_alone(make_vec, name, profile) -> None:
    env = make_vec(name, 4, autoreset_mode="Disabled", **sizes(name, "crowd"), **profile)
    _, infos = env.reset(seed=0)
    for numbers in sampled(env, 5):
        obs, *_, infos = env.step(legal(numbers, infos))
    mask = np.array([True, False, False, True])
    columns = [field["name"] for field in REGISTERED[name]["columns"]]
    before = {column: env.simulator.get(column) for column in columns}
    options = {"reset_mask": mask.copy()}
    after, after_infos = env.reset(options=options)
    assert options.keys() == {"reset_mask"} and np.array_equal(options["reset_mask"], mask)
    rows = np.repeat(mask, env.agents_per_world)
    assert same(rows_of(after, ~rows), rows_of(obs, ~rows))
    pairs = zip(layers(after).values(), layers(obs).values(), strict=True)
    changed = [(new[rows] != old[rows]).reshape(mask.sum(), -1).any(axis=1) for new, old in pairs]
    assert np.any(changed, axis=0).all()
    for key in after_infos:
        kept = ~mask if key == "state" else ~rows
        assert np.array_equal(after_infos[key][kept], infos[key][kept]), key
    for column in columns:
        assert np.array_equal(env.simulator.get(column)[~mask], before[column][~mask]), column
    env.reset(options={"reset_mask": np.zeros(4, bool)})
    assert same(by_row(env.simulator.observe().obs), after)


@every_setting
def test_seed_repeats_its_episodes_and_no_seed_goes_on(make_vec, name, profile) -> None:
    env = make_vec(name, 3, **sizes(name, "small"), **profile)
    plan = sampled(env, 300)

    def course() -> list[bytes]:
        return [b"".join(map(flat_bytes, env.step(actions)[:4])) for actions in plan]

    start = env.reset(seed=8)[0]
    first = course()
    assert same(env.reset(seed=8)[0], start)
    assert course() == first
    alike = measures.measures_of(name)["tests"].get("alike", False)
    assert same(env.reset()[0], start) == alike
    assert course() != first
    by_world = of_each(env.reset(seed=[8, 9, 8])[0], lambda layer: layer.reshape(3, -1))
    one, other, again = (rows_of(by_world, world) for world in range(3))
    assert same(one, again)
    assert same(one, other) == alike


@every_setting
def test_start_of_an_episode_does_not_depend_on_what_was_played(make_vec, name, profile) -> None:
    env = make_vec(name, 3, autoreset_mode="Disabled", **sizes(name, "small"), **profile)
    starts = []
    for seed_of_actions in (0, 1):
        _, infos = env.reset(seed=8)
        for numbers in sampled(env, 4, seed=seed_of_actions):
            infos = env.step(legal(numbers, infos))[4]
        starts.append(env.reset()[0])
    assert same(*starts)
