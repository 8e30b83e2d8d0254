"""Gymnasium's vector interface: the exact return values of the three modes, infos, attributes."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import gpu_envs

ACTIONS = np.array([0, 1, 0, 1])
STATS = {"episode_stats", "_episode_stats"}
FINAL = {"final_obs", "_final_obs", "final_info", "_final_info"}


def _equal(left: Any, right: Any) -> bool:
    return np.array_equal(np.asarray(left), np.asarray(right))


# The three modes. World 1 ends at the second step; its columns say what its last observation is.


def _until_end(make_vec, tip_over, mode: str, **options: Any) -> tuple[Any, Any, np.ndarray]:
    env = make_vec(autoreset_mode=mode, **options)
    env.reset(seed=5)
    env.step(ACTIONS)
    tip_over(env, 1)
    twin = make_vec(autoreset_mode="Disabled")
    twin.reset(seed=5)
    twin.step(ACTIONS)
    tip_over(twin, 1)
    last = twin.step(ACTIONS)[0]
    return env, env.step(ACTIONS), last


def test_same_step_returns_the_next_episode_and_keeps_the_last_observation(
    make_vec, tip_over
) -> None:
    env, (obs, reward, terminated, truncated, infos), last = _until_end(
        make_vec, tip_over, "SameStep"
    )
    done = [False, True, False, False]
    assert set(infos) == STATS | FINAL
    assert _equal(obs[[0, 2, 3]], last[[0, 2, 3]])
    assert (np.abs(obs[1]) <= 0.05).all()
    assert reward.tolist() == [1, 1, 1, 1]
    assert terminated.tolist() == done
    assert truncated.tolist() == [False] * 4
    assert _equal(infos["final_obs"], np.where(np.array(done)[:, None], last, 0))
    for mask in ("_final_obs", "_final_info", "_episode_stats"):
        assert infos[mask].tolist() == done
    for stats in (infos["episode_stats"], infos["final_info"]["episode"]):
        assert stats["r"].tolist() == [0, 2, 0, 0]
        assert stats["l"].tolist() == [0, 2, 0, 0]
    assert infos["final_info"]["_episode"].tolist() == done
    # The following step is an ordinary one.
    following = env.step(ACTIONS)
    assert following[1].tolist() == [1, 1, 1, 1]
    assert not following[2].any()
    assert not _equal(following[0][1], obs[1])
    assert not following[4]["_final_obs"].any()
    assert not following[4]["final_obs"].any()


def test_next_step_returns_the_last_observation_and_then_a_filler(make_vec, tip_over) -> None:
    env, (obs, reward, terminated, truncated, infos), last = _until_end(
        make_vec, tip_over, "NextStep"
    )
    assert set(infos) == STATS
    assert _equal(obs, last)
    assert reward.tolist() == [1, 1, 1, 1]
    assert terminated.tolist() == [False, True, False, False]
    assert not truncated.any()
    assert infos["_episode_stats"].tolist() == [False, True, False, False]
    assert infos["episode_stats"]["r"].tolist() == [0, 2, 0, 0]
    obs, reward, terminated, truncated, infos = env.step(ACTIONS)
    assert (np.abs(obs[1]) <= 0.05).all()
    assert reward.tolist() == [1, 0, 1, 1]
    assert not terminated.any()
    assert not truncated.any()
    assert not infos["_episode_stats"].any()
    assert env.step(ACTIONS)[1].tolist() == [1, 1, 1, 1]


def test_disabled_freezes_the_row_until_it_is_reset(make_vec, tip_over) -> None:
    env, (obs, reward, terminated, truncated, infos), last = _until_end(
        make_vec, tip_over, "Disabled"
    )
    assert set(infos) == STATS
    assert _equal(obs, last)
    assert reward.tolist() == [1, 1, 1, 1]
    assert terminated.tolist() == [False, True, False, False]
    assert infos["episode_stats"]["l"].tolist() == [0, 2, 0, 0]
    frozen = env.step(ACTIONS)
    assert _equal(frozen[0][1], last[1])
    assert frozen[1].tolist() == [1, 0, 1, 1]
    assert frozen[2].tolist() == [False, True, False, False]
    assert not frozen[4]["_episode_stats"].any()
    obs, infos = env.reset(options={"reset_mask": terminated | truncated})
    assert infos == {}
    assert (np.abs(obs[1]) <= 0.05).all()
    assert _equal(obs[[0, 2, 3]], frozen[0][[0, 2, 3]])
    assert env.step(ACTIONS)[1].tolist() == [1, 1, 1, 1]
    with pytest.raises(gpu_envs.ResetNeeded):
        env.check()


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_mode_is_a_member_or_its_value(make_vec, mode) -> None:
    for given in (mode, mode.value):
        env = make_vec(autoreset_mode=given)
        assert env.autoreset_mode is env.metadata["autoreset_mode"] is mode


def test_dtypes_of_everything_returned(make_vec) -> None:
    env = make_vec()
    obs, _ = env.reset(seed=0)
    assert obs.dtype == np.float32
    obs, reward, terminated, truncated, infos = env.step(ACTIONS)
    assert obs.dtype == reward.dtype == infos["final_obs"].dtype == np.float32
    assert terminated.dtype == truncated.dtype == infos["_final_obs"].dtype == np.bool_
    assert infos["episode_stats"]["r"].dtype == np.float32
    assert infos["episode_stats"]["l"].dtype == np.int32


def test_dict_observations_come_everywhere(make_vec) -> None:
    env = make_vec(observation="dict")
    obs, _ = env.reset(seed=0)
    assert obs in env.observation_space
    obs, *_, infos = env.step(ACTIONS)
    names = ["x", "velocity", "angle", "spin"]
    assert list(obs) == list(infos["final_obs"]) == names
    assert obs in env.observation_space
    flat = make_vec()
    flat.reset(seed=0)
    rows = flat.step(ACTIONS)[0]
    assert _equal(np.concatenate([obs[name] for name in names], axis=-1), rows)


def test_outputs_of_several_agents_join_the_infos(make_vec) -> None:
    """Shapes, types and values in every library: tests/contract/test_many_agents.py."""
    hanabi, overcooked = make_vec("Hanabi-v0"), make_vec("Overcooked-v0")
    _, infos = hanabi.reset(seed=0)
    assert set(infos) == {"action_mask", "agent_active", "state"}
    assert set(infos) < set(hanabi.step(infos["action_mask"].argmax(axis=1))[4])
    _, infos = overcooked.reset(seed=0)
    assert set(infos) == {"agent_active", "state"}
    parts = overcooked.step(np.full(8, 4))[4]["reward_parts"]
    assert {key: part.tolist() for key, part in parts.items()} == {
        "sparse": [0.0] * 8,
        "shaped": [0.0] * 8,
    }


def test_lean_outputs_leave_their_infos_out(make_vec) -> None:
    env = make_vec(outputs=())
    env.reset(seed=0)
    assert env.step(ACTIONS)[4] == {}
    env = make_vec(outputs=["final_obs"])
    env.reset(seed=0)
    assert set(env.step(ACTIONS)[4]) == {"final_obs", "_final_obs"}


def test_batched_spaces_are_made_on_demand(make_vec) -> None:
    env = make_vec(num_envs=8)
    assert "observation_space" not in vars(env)
    assert env.observation_space.shape == (8, 4)
    assert env.observation_space is env.observation_space
    assert env.action_space == gymnasium.spaces.MultiDiscrete([2] * 8)
    env.action_space.seed(3)
    env.reset(seed=0)
    env.step(env.action_space.sample())


def test_seed_of_the_system_is_readable(make_vec) -> None:
    env, twin = make_vec(), make_vec()
    obs, _ = env.reset()
    seed = env.np_random_seed
    assert isinstance(seed, int)
    assert _equal(twin.reset(seed=seed)[0], obs)


def test_generator_follows_the_seed(make_vec) -> None:
    env, twin = make_vec(), make_vec()
    env.reset(seed=11)
    twin.reset(seed=11)
    assert env.np_random_seed == 11
    assert env.np_random.random() == twin.np_random.random()
    env.reset()
    assert env.np_random_seed == 11
    env.reset(seed=[1, 2, 3, 4])
    assert env.np_random_seed == (1, 2, 3, 4)


def test_row_indices_are_accepted_as_mask(make_vec) -> None:
    env = make_vec()
    env.reset(seed=0)
    before = env.step(ACTIONS)[0]
    after, _ = env.reset(options={"env_idx": [0, 2]})
    assert (before != after).any(axis=1).tolist() == [True, False, True, False]


def test_out_serves_reset_too(make_vec) -> None:
    env = make_vec()
    mine = np.zeros((4, 4), np.float32)
    obs, _ = env.reset(seed=0, out={"obs": mine})
    assert obs is mine
    assert mine.any()


def test_attributes_are_called_read_and_set_per_row(make_vec) -> None:
    env = make_vec()
    assert env.autoreset_mode is AutoresetMode.SAME_STEP
    assert env.call("device") == env.get_attr("device") == ("cpu",) * 4
    assert env.call("render") == (None,) * 4
    env.set_attr("render_mode", [None] * 4)
    assert env.get_attr("render_mode") == (None,) * 4
    with pytest.raises(ValueError, match="values must have 4 entries, got 2"):
        env.set_attr("render_mode", [None, None])
    with pytest.raises(ValueError, match="values must be equal"):
        env.set_attr("render_mode", ["ansi", None, None, None])
    with pytest.raises(AttributeError, match="nothing"):
        env.get_attr("nothing")


def test_spec_can_be_set_and_render_without_a_mode_warns(make_vec, troupe: str) -> None:
    env = make_vec()
    assert env.spec is not None
    env.spec = None
    assert env.spec is None
    assert env.render_mode is None
    with pytest.warns(UserWarning, match=r'make_vec\("gpu_envs/CartPole-v0", render_mode="rgb_arr'):
        assert env.render() is None
    with pytest.warns(UserWarning, match=f"of {troupe} needs a render mode: it has none"):
        assert make_vec(troupe, 1, role="dancer").render() is None


def test_metadata_belongs_to_the_instance(make_vec) -> None:
    one, other = make_vec(), make_vec()
    one.metadata["render_fps"] = 1
    assert other.metadata["render_fps"] != 1
    assert gpu_envs.VectorEnv.metadata == {}


def test_infos_by_row_stay_in_their_library(make_vec, torch) -> None:
    env = make_vec("Overcooked-v0", 3, arrays="torch", infos="rows")
    plain = make_vec("Overcooked-v0", 3)
    infos, expected = env.reset(seed=0)[1], plain.reset(seed=0)[1]
    assert infos["state"].shape == (6, 522)
    for row in range(6):
        assert (infos["state"][row].numpy() == expected["state"][row // 2]).all()
    infos = env.step(torch.zeros(6, dtype=torch.int64))[4]
    assert infos["episode_length"].dtype == torch.int32
    assert {"reward_sparse", "reward_shaped", "_episode_return"} < infos.keys()
    with pytest.raises(ValueError, match="infos must be 'nested' or 'rows', got 'flat'"):
        make_vec(infos="flat")
