"""What an episode has come to, by name: `Measures` of an environment, in every face."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gpu_envs

SIZE: dict[str, Any] = {"resolution": "4x6", "observation": "rgb+numbers"}
WORLDS = 3


@pytest.fixture
def gallery_vec(gallery, make_vec) -> Any:
    def made(**options: Any) -> Any:
        return make_vec("Gallery-v0", WORLDS, device="cpu", visitors=2, **SIZE, **options)

    return made


def lengths(infos: dict[str, Any]) -> tuple[Any, Any]:
    return infos["episode_stats"]["l"], infos["_episode_stats"]


@pytest.mark.parametrize("mode", ["SameStep", "NextStep", "Disabled"])
def test_each_measure_is_an_info_where_an_episode_ended(gallery_vec, mode: str) -> None:
    env = gallery_vec(autoreset_mode=mode)
    env.reset(seed=2)
    assert "walked" not in env.reset(seed=2)[1]
    ends = 0
    for _ in range(20):
        infos = env.step(env.action_space.sample())[4]
        length, ended = lengths(infos)
        assert np.array_equal(infos["_walked"], ended) and np.array_equal(infos["_height"], ended)
        assert np.array_equal(infos["walked"][ended], length[ended].astype(np.float32))
        assert not infos["walked"][~ended].any() and not infos["height"][~ended].any()
        assert "measures" not in infos
        if mode == "SameStep":
            assert infos["final_info"]["walked"] is infos["walked"]
        ends += int(ended.sum())
    assert ends >= 2 * WORLDS


def test_rows_of_infos_have_them_too(gallery_vec) -> None:
    env = gallery_vec(infos="rows", autoreset_mode="NextStep")
    env.reset(seed=2)
    for _ in range(20):
        infos = env.step(env.action_space.sample())[4]
        assert infos["walked"].shape == infos["_walked"].shape == (2 * WORLDS,)
        assert np.array_equal(infos["walked"] > 0, infos["_walked"])


def test_they_may_be_left_out(gallery_vec) -> None:
    env = gallery_vec(outputs=())
    env.reset(seed=2)
    infos = env.step(env.action_space.sample())[4]
    assert not {"walked", "_walked", "height", "measures"} & set(infos)


def test_single_environments_tell_numbers(gallery) -> None:
    env = gpu_envs.Env("Gallery-v0", visitors=1, device="cpu", **SIZE)
    env.reset(seed=2)
    is_over, steps = False, 0
    while not is_over:
        *_, terminated, truncated, info = env.step(env.action_space.sample())
        is_over, steps = terminated or truncated, steps + 1
        assert ("walked" in info) == is_over
    assert info["walked"] == steps and isinstance(info["height"], float)
    env.close()


def test_agents_by_name_have_theirs(gallery) -> None:
    env = gpu_envs.ParallelEnv("Gallery-v0", visitors=2, device="cpu", **SIZE)
    env.reset(seed=2)
    ends = {}
    while env.agents:
        infos = env.step({agent: env.action_space(agent).sample() for agent in env.agents})[4]
        ends |= {agent: info for agent, info in infos.items() if "walked" in info}
    assert sorted(ends) == env.possible_agents
    assert all(info["walked"] == info["episode_stats"]["l"] for info in ends.values())
    env.close()


def test_last_numbers_are_those_of_a_world_that_goes_on(gallery, make_simulator) -> None:
    options: dict[str, Any] = {"visitors": 2, "device": "cpu", **SIZE}
    same = make_simulator("Gallery-v0", WORLDS, autoreset_mode="SameStep", **options)
    other = make_simulator("Gallery-v0", WORLDS, autoreset_mode="Disabled", **options)
    same.reset(seed=5), other.reset(seed=5)
    ended = np.zeros((WORLDS, 2), bool)
    for step in range(20):
        actions = same.sample_actions(seed=step)
        first, second = same.step(actions), other.step(actions)
        ended |= np.asarray(first.ended)
        if ended.any():
            break
    now = np.asarray(first.ended)
    assert now.any()
    assert np.array_equal(first.final_obs["gaze"][now], second.obs["gaze"][now])
    assert np.array_equal(first.final_obs["steps"][now], second.obs["steps"][now])
    assert not np.array_equal(first.obs["steps"][now], second.obs["steps"][now])
    saved = same.save()
    copy = make_simulator("Gallery-v0", WORLDS, autoreset_mode="SameStep", **options)
    copy.load(saved)
    seen, wanted = copy.observe().obs, same.observe().obs
    assert all(np.array_equal(seen[name], wanted[name]) for name in wanted)


# The fixture `troupe` takes the place of `gallery` from here on.


@pytest.mark.parametrize("arrays", ["numpy", "torch"])
def test_a_role_that_names_none_has_none(troupe, make_simulator, arrays: str) -> None:
    simulator = make_simulator("Troupe-v0", WORLDS, device="cpu", arrays=arrays, absence=0.0)
    assert [role.name for role in simulator.roles if role.measure_fields] == ["clown"]
    simulator.reset(seed=4)
    shape = tuple(simulator.layout.output("measures").shape)
    agents = simulator.agents_per_world
    assert shape == (WORLDS, agents, 2)
    poison = np.full(shape, 7, np.float32)
    if arrays == "torch":
        import torch

        poison = torch.from_numpy(poison)
    clown = next(role for role in simulator.roles if role.name == "clown").at
    told = 0
    for step in range(60):
        poison[:] = 7
        actions = simulator.sample_actions(seed=step)
        results = simulator.step(actions, out={"measures": poison})
        ended, rows = np.asarray(results.ended), np.asarray(poison)
        others = np.delete(np.arange(agents), np.arange(agents)[clown])
        assert not rows[:, others].any(), step
        assert not rows[:, clown][~ended[:, clown]].any()
        length = np.asarray(results.episode_length)[:, clown]
        told += int((rows[:, clown, 1][ended[:, clown]] == length[ended[:, clown]]).sum())
    assert told > 0


def test_padded_agents_have_the_row_of_measures(troupe, make_vec) -> None:
    env = make_vec("Troupe-v0", WORLDS, device="cpu")
    env.reset(seed=1)
    infos = env.step(env.action_space.sample())[4]
    assert infos["measures"].shape == (env.num_envs, 2)
    alone = make_vec("Troupe-v0", WORLDS, role="clown", others="random", device="cpu")
    alone.reset(seed=1)
    infos = alone.step(alone.action_space.sample())[4]
    assert infos["jokes_told"].shape == infos["_stayed"].shape == (WORLDS,)
