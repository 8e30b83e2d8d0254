"""`set_attr`, `call` and `get_attr`: what has an effect works, everything else is refused."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest

import gpu_envs

REFUSED = [
    ("sutton_barto_reward", "make the environment with sutton_barto_reward=..."),
    ("max_episode_steps", "make the environment with max_episode_steps=..."),
    ("render_size", "make the environment with render_size=..."),
    ("low", r"pass it to a reset, reset\(options=\{'low': ...\}\)"),
    ("cart.x", r"simulator.set\('cart.x', values\)"),
    ("angle", r"simulator.set\('cart.angle', values\)"),
    ("sutton_bart_reward", "did you mean 'sutton_barto_reward'"),
    ("note", "CartPole-v0 has no attribute 'note' to be set"),
    ("num_envs", "no attribute 'num_envs' to be set"),
]


@pytest.mark.parametrize(("name", "message"), REFUSED)
def test_setting_what_nothing_reads_is_refused_with_what_sets_it(make_vec, name, message) -> None:
    env = make_vec()
    before = getattr(env, name, None)
    for values in (1, [1] * env.num_envs):
        with pytest.raises(AttributeError, match=message):
            env.set_attr(name, values)
    assert getattr(env, name, None) is before
    single = gymnasium.make("gpu_envs/CartPole-v0").unwrapped
    with pytest.raises(AttributeError, match=message):
        single.set_wrapper_attr(name, 1)


def test_assignment_hides_no_parameter(make_vec) -> None:
    batch, single = make_vec(varies=("mass",)), gpu_envs.make("CartPole-v0").unwrapped
    for env in (batch, single):
        with pytest.raises(AttributeError, match=r"'mass' of CartPole-v0 .* set_parameters\(mass="):
            env.mass = 5
        with pytest.raises(AttributeError, match="make the environment with sutton_barto_reward"):
            env.sutton_barto_reward = True
        env.reset(seed=0)
        assert (env.get("world.mass") == 1).all()
        env.note, env.metadata = 7, {"note": 7}  # as any other attribute
        assert env.note == 7
    assert batch.get_attr("mass") == (1.0,) * 4 and single.get_wrapper_attr("mass") == 1


def test_an_attribute_goes_before_a_parameter_of_its_name(make_vec, monkeypatch) -> None:
    batch, single = make_vec(num_envs=2), gpu_envs.make("CartPole-v0").unwrapped
    for env in (batch, single):
        monkeypatch.setattr(type(env), "mass", 5, raising=False)
    assert batch.get_attr("mass") == (5, 5) and single.get_wrapper_attr("mass") == 5


def test_wrappers_keep_attributes_of_their_own_but_shadow_no_parameter() -> None:
    env = gymnasium.make("gpu_envs/CartPole-v0")
    env.set_wrapper_attr("note", 7)
    assert env.get_wrapper_attr("note") == 7 and not hasattr(env.unwrapped, "note")
    with pytest.raises(AttributeError, match="make the environment with sutton_barto_reward"):
        env.set_wrapper_attr("sutton_barto_reward", True)


def test_data_of_gymnasiums_base_class_can_be_set(make_vec) -> None:
    env = make_vec()
    env.set_attr("render_mode", ["rgb_array"] * 4)
    env.reset(seed=0)
    assert env.render()[0].ndim == 3
    with pytest.raises(ValueError, match=r"render_mode of CartPole-v0 must be one of"):
        env.set_attr("render_mode", "rgb")
    with pytest.raises(TypeError, match="name must be a str, got 3"):
        env.set_attr(3, 1)
    generator = np.random.default_rng(0)
    env.set_attr("np_random", generator)
    assert env.np_random is generator


MISFITS = ["single_action_space", "observation_space", "metadata", "np_random", "spec"]


@pytest.mark.parametrize("name", MISFITS)
def test_data_of_another_type_is_refused(make_vec, name) -> None:
    env = make_vec()
    before = getattr(env, name)
    with pytest.raises(TypeError, match=f"{name} must be a .*, got 'nonsense' of type str"):
        env.set_attr(name, "nonsense")
    single = gymnasium.make("gpu_envs/CartPole-v0").unwrapped
    with pytest.raises(TypeError, match="metadata must be a dict, got 3 of type int"):
        single.set_wrapper_attr("metadata", 3)
    assert getattr(env, name) is before
    env.set_attr(name, before)


def test_arrays_per_row_are_compared_as_a_whole(make_vec) -> None:
    env = make_vec(num_envs=2)
    for other in (np.ones(2), np.zeros(3)):
        with pytest.raises(ValueError, match="values must be equal"):
            env.set_attr("metadata", [np.zeros(2), other])
    with pytest.raises(TypeError, match="metadata must be a dict"):
        env.set_attr("metadata", [np.zeros(2), np.zeros(2)])


def test_gymnasiums_own_batch_sets_the_render_mode_of_single_environments() -> None:
    env = gymnasium.vector.SyncVectorEnv([lambda: gpu_envs.make("CartPole-v0").unwrapped] * 2)
    env.set_attr("render_mode", "rgb_array")
    assert env.get_attr("render_mode") == ("rgb_array",) * 2
    with pytest.raises(AttributeError, match="make the environment with sutton_barto_reward"):
        env.set_attr("sutton_barto_reward", True)
    env.close()


def test_call_repeats_a_result_and_takes_no_arguments_for_attributes(make_vec) -> None:
    env = make_vec(num_envs=2)
    reset: tuple[Any, ...] = env.call("reset", seed=1)  # (obs, infos), once per row
    assert len(reset) == 2 and all(len(result) == 2 for result in reset)
    alone = make_vec(num_envs=1)
    assert alone.call("agent_names") == alone.get_attr("agent_names") == (alone.agent_names,)
    with pytest.raises(TypeError, match="'device' is not a method of CartPole-v0"):
        env.call("device", 3)
