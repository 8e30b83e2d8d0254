"""The parallel interface over many worlds: shapes, views, masks, resets, libraries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pettingzoo
import pytest
from gymnasium.vector import AutoresetMode

import gpu_envs

Make = Callable[..., gpu_envs.BatchedParallelEnv]


@pytest.fixture
def make(request: pytest.FixtureRequest) -> Make:
    """Makes batches on the CPU, and closes them; three worlds of Micro by default."""

    def make(name: str = "Micro-v0", num_envs: int = 3, **options: Any) -> Any:
        if name == "Micro-v0":
            options = {"agent_count": 2, "work": 1, **options}
        env = gpu_envs.batched_parallel_env(name, num_envs, **{"device": "cpu", **options})
        request.addfinalizer(env.close)
        return env

    return make


def _actions(env: gpu_envs.BatchedParallelEnv, seed: int = 0) -> np.ndarray:
    random = np.random.default_rng(seed)
    count = int(env.action_space("player_0").n)
    return random.integers(0, count, (env.num_envs, env.num_agents))


def _address(array: Any) -> int:
    return array.data_ptr() if hasattr(array, "data_ptr") else array.__array_interface__["data"][0]


def test_names_and_sizes(make) -> None:
    env = make()
    assert not isinstance(env, pettingzoo.ParallelEnv)
    assert (env.num_envs, env.num_agents, env.max_num_agents) == (3, 2, 2)
    assert env.agents == env.possible_agents == ["player_0", "player_1"]
    assert env.device == "cpu"
    assert env.autoreset_mode is AutoresetMode.SAME_STEP
    assert env.metadata == {"name": "micro_v0", "autoreset_mode": AutoresetMode.SAME_STEP}
    assert env.observation_space("player_0") is env.observation_space("player_0")
    assert env.action_space("player_1") is env.action_space("player_1")
    assert repr(env) == "<BatchedParallelEnv Micro-v0: 3 worlds x 2 agents = 6 rows on cpu>"


def test_values_have_a_world_axis(make) -> None:
    env = make()
    observations, infos = env.reset(seed=0)
    assert list(observations) == list(infos) == env.agents
    assert {array.shape for array in observations.values()} == {(3, 4)}
    *results, infos = env.step(_actions(env))
    for part in results:
        assert {array.shape[:1] for array in part.values()} == {(3,)}
    stats = infos["player_1"]["episode_stats"]
    assert stats["r"].shape == stats["l"].shape == infos["player_1"]["_episode_stats"].shape == (3,)


@pytest.mark.parametrize("arrays", ["numpy", "torch"])
def test_values_are_views_of_one_output(make, arrays) -> None:
    pytest.importorskip(arrays)
    env = make(arrays=arrays, reuse=True)
    env.reset(seed=0)
    observations, rewards, *_ = env.step(_actions(env))
    own = env.simulator.observe()
    size = own.obs[0, 0].nbytes
    starts = [_address(observations[agent]) for agent in env.agents]
    assert starts == [_address(own.obs), _address(own.obs) + size]
    assert _address(rewards["player_1"]) - _address(rewards["player_0"]) == 4


def test_actions_by_agent_equal_one_array(make) -> None:
    left, right = make(), make()
    left.reset(seed=1)
    right.reset(seed=1)
    for step in range(20):
        actions = _actions(left, step)
        by_agent = {agent: actions[:, i] for i, agent in enumerate(left.agents)}
        one, other = left.step(actions), right.step(by_agent)
        for mine, yours in zip(one[:4], other[:4], strict=True):
            assert all(np.array_equal(mine[agent], yours[agent]) for agent in left.agents)


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        ({"player_0": np.zeros(3, int)}, "exactly"),
        ({"player_0": np.zeros(3, int), "player_9": np.zeros(3, int)}, "exactly"),
        ({"player_0": np.zeros(2, int), "player_1": np.zeros(2, int)}, r"got \(2, 2\)"),
        ({"player_0": np.zeros(3), "player_1": np.zeros(3)}, "must be integers"),
        (np.full((3, 2), 9), "actions"),
    ],
)
def test_bad_actions_are_refused(make, actions, message) -> None:
    env = make()
    env.reset(seed=0)
    with pytest.raises((ValueError, TypeError), match=message):
        env.step(actions)


def test_libraries_agree(make, torch) -> None:
    pytest.importorskip("jax", reason="needs jax")
    import jax.numpy as jnp

    envs = {library: make(arrays=library) for library in ("numpy", "torch", "jax")}
    convert = {"numpy": np.asarray, "torch": torch.as_tensor, "jax": jnp.asarray}
    seen = {library: env.reset(seed=2)[0] for library, env in envs.items()}
    for step in range(5):
        actions = _actions(envs["numpy"], step)
        wanted = seen["numpy"]["player_1"]
        for library, env in envs.items():
            assert np.array_equal(np.asarray(seen[library]["player_1"]), wanted)
            columns = {a: convert[library](actions[:, i]) for i, a in enumerate(env.agents)}
            seen[library] = env.step(columns)[0]
    assert isinstance(seen["torch"]["player_0"], torch.Tensor)


@pytest.mark.parametrize("mode", ["SameStep", "NextStep", "Disabled"])
def test_agents_never_leave_and_final_observations_belong_to_same_step(make, mode) -> None:
    env = make(autoreset_mode=mode, max_episode_steps=4)
    env.reset(seed=0)
    for step in range(1, 5):
        observations, _, _, truncations, infos = env.step(_actions(env, step))
        assert truncations["player_0"].all() == (step == 4)
        assert env.agents == env.possible_agents
    final = [infos[agent].get("final_obs") for agent in env.agents]
    if mode == "SameStep":
        assert infos["player_0"]["_final_obs"].all()
        assert not np.array_equal(final[0], observations["player_0"])
    else:
        assert final == [None, None]
    assert infos["player_0"]["episode_stats"]["l"].tolist() == [4, 4, 4]


def test_masked_reset_and_unknown_options(make) -> None:
    env = make(autoreset_mode="Disabled")
    before, _ = env.reset(seed=0)
    after, _ = env.reset(options={"reset_mask": np.array([False, True, False])})
    changed = (before["player_0"] != after["player_0"]).any(axis=1)
    assert changed.tolist() == [False, True, False]
    with pytest.raises(ValueError, match="unknown reset option"):
        env.reset(options={"speed": 1})


def test_out_is_written(make) -> None:
    env = make()
    env.reset(seed=0)
    rewards = np.empty((3, 2), np.float32)
    assert np.shares_memory(
        env.step(_actions(env), out={"reward": rewards})[1]["player_1"], rewards
    )


def test_dictionary_observations(make) -> None:
    env = make("CartPole-v0", observation="dict")
    observations, _ = env.reset(seed=0)
    assert list(observations["player_0"]) == ["x", "velocity", "angle", "spin"]
    assert observations["player_0"]["x"].shape == (3, 1)
    infos = env.step(np.zeros((3, 1), int))[4]
    assert infos["player_0"]["final_obs"]["spin"].shape == (3, 1)


def test_first_world_names_the_same_worlds(make) -> None:
    whole, part = make(num_envs=5), make(num_envs=2, first_world=3)
    left, right = whole.reset(seed=8)[0], part.reset(seed=8)[0]
    assert all(np.array_equal(left[agent][3:], right[agent]) for agent in whole.agents)


def test_state_without_a_state_is_all_observations(make) -> None:
    env = make()
    with pytest.raises(gpu_envs.ResetNeeded):
        env.state()
    observations, _ = env.reset(seed=0)
    state = env.state()
    assert np.array_equal(state, np.concatenate(list(observations.values()), axis=1))
    assert np.shares_memory(state, observations["player_0"])
    assert state[0] in env.state_space
    env = make(observation="dict")
    env.reset(seed=0)
    with pytest.raises(ValueError, match=r"no state was written.*use observation='flat'"):
        env.state()


def test_masks_activity_and_state_are_arrays(make) -> None:
    env = make("Hanabi-v0", player_count=3)
    observations, infos = env.reset(seed=0)
    assert env.state().shape == (3, *env.state_space.shape)
    for _ in range(30):
        assert observations["player_1"][0] in env.observation_space("player_1")
        assert env.state()[0] in env.state_space
        active = np.stack([infos[agent]["agent_active"] for agent in env.agents])
        assert (active.sum(axis=0) == 1).all()
        masks = {agent: infos[agent]["action_mask"] for agent in env.agents}
        assert masks["player_0"].dtype == np.int8
        observations, *_, infos = env.step({a: mask.argmax(1) for a, mask in masks.items()})
    env.check()


def test_strict_batches_name_the_offender(make) -> None:
    env = make("Hanabi-v0", strict=True)
    env.reset(seed=0)
    with pytest.raises(ValueError, match=r"illegal.*agent 0 in world 0"):
        env.step(np.zeros((3, 2), int))


def test_reward_parts_come_by_name(make) -> None:
    env = make("Overcooked-v0")
    env.reset(seed=0)
    parts = env.step(np.full((3, 2), 4))[4]["player_1"]["reward_parts"]
    assert {name: array.shape for name, array in parts.items()} == {"sparse": (3,), "shaped": (3,)}


@pytest.mark.gpu
def test_device_arrays_are_stacked_on_the_device(on_gpu, make) -> None:
    env, host = make(device="cuda", arrays=on_gpu.name), make()
    observations, _ = env.reset(seed=0)
    host.reset(seed=0)
    actions = _actions(host)
    columns = {a: on_gpu.to_gpu(actions[:, i]) for i, a in enumerate(env.agents)}
    observations = env.step(columns)[0]
    wanted = host.step(actions)[0]
    for agent in env.agents:
        assert on_gpu.is_there(observations[agent])
        assert np.array_equal(on_gpu.to_host(observations[agent]), wanted[agent])


@pytest.mark.parametrize("arrays", ["numpy", "torch", "jax"])
def test_actions_of_different_lengths_are_refused_with_their_shapes(make, arrays) -> None:
    library = pytest.importorskip("jax.numpy" if arrays == "jax" else arrays)
    env = make(arrays=arrays)
    env.reset(seed=0)
    kind = {"dtype": library.int32}
    with pytest.raises(ValueError, match=r"actions must be .*each \(3,\).*got \(3,\), \(2,\)"):
        env.step({"player_0": library.zeros(3, **kind), "player_1": library.zeros(2, **kind)})


def test_integers_of_different_kinds_go_together(make) -> None:
    env, twin = make(), make()
    for batch in (env, twin):
        batch.reset(seed=0)
    mixed = {"player_0": np.array([1, 2, 3], np.uint64), "player_1": np.array([1, 0, 1])}
    rewards = env.step(mixed)[1]
    expected = twin.step(np.array([[1, 1], [2, 0], [3, 1]]))[1]
    assert all(np.array_equal(rewards[agent], expected[agent]) for agent in env.agents)


def test_state_that_was_left_out_says_how_to_have_it(make) -> None:
    env = make("Hanabi-v0", observation="dict", outputs=["action_mask"])
    env.reset(seed=0)
    with pytest.raises(ValueError, match=r"add it to outputs=, or use observation='flat'"):
        env.state()
