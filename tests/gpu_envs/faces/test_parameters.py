"""Parameters that differ by world or change, through every interface."""

from __future__ import annotations

import warnings

import gymnasium
import numpy as np
import pytest

import gpu_envs

ID = "gpu_envs/CartPole-v0"


def test_make_vec_takes_arrays_ranges_and_numbers() -> None:
    env = gymnasium.make_vec(
        ID, 3, mass=np.array([0.5, 1, 2]), length=gpu_envs.uniform(0.3, 0.6), force=12, device="cpu"
    )
    env.reset(seed=1)
    lengths = env.unwrapped.get("world.length")[:, 0]
    assert env.unwrapped.get("world.mass")[:, 0].tolist() == [0.5, 1, 2]
    assert len(set(lengths.tolist())) == 3
    assert ((lengths >= 0.3) & (lengths <= 0.6)).all()
    for _ in range(60):
        env.step(np.zeros(3, int))
    assert env.unwrapped.get("world.mass")[:, 0].tolist() == [0.5, 1, 2]
    assert not np.array_equal(env.unwrapped.get("world.length")[:, 0], lengths)
    env.close()


def test_attributes_set_and_show_parameters(make_vec) -> None:
    env = make_vec(num_envs=3, varies=("mass",))
    env.reset(seed=0)
    env.set_attr("mass", [1.0, 2.0, 3.0])
    assert env.get_attr("mass") == (1.0, 2.0, 3.0)
    env.set_attr("force", 5)
    assert env.get_attr("force") == (5.0,) * 3
    env.set_attr("gravity", [3, 3, 3])
    assert env.get_attr("gravity") == (3.0,) * 3
    with pytest.raises(ValueError, match="one value for all worlds"):
        env.set_attr("force", [1, 2, 3])
    with pytest.raises(ValueError, match="values must have 3 entries"):
        env.set_attr("mass", [1, 2])


def test_a_change_acts_in_the_next_step(make_vec) -> None:
    env, other = make_vec(num_envs=2, varies=("force",)), make_vec(num_envs=2, force=3)
    env.reset(seed=4)
    other.reset(seed=4)
    env.set_parameters(force=3)
    actions = np.ones(2, int)
    assert np.array_equal(env.step(actions)[0], other.step(actions)[0])
    env.set_parameters(force=[3, 30], worlds=[0, 1])
    ours, theirs = env.step(actions)[0], other.step(actions)[0]
    assert np.array_equal(ours[0], theirs[0])
    assert not np.array_equal(ours[1], theirs[1])


def test_options_of_a_reset_set_parameters_of_the_worlds_that_it_resets(make_vec) -> None:
    env = make_vec(num_envs=3, mass=[1, 2, 3])
    env.reset(seed=0)
    env.reset(options={"mass": [7, 8, 9], "reset_mask": np.array([False, True, False])})
    assert env.get("world.mass")[:, 0].tolist() == [1, 8, 3]
    env.reset(options={"mass": gpu_envs.uniform(4, 5)})
    assert ((env.get("world.mass") >= 4) & (env.get("world.mass") <= 5)).all()


def test_one_world_has_ranges_and_attributes_too() -> None:
    env = gymnasium.make(ID, mass=gpu_envs.uniform(0.5, 2), force=8)
    env.reset(seed=3)
    first = env.get_wrapper_attr("mass")
    assert 0.5 <= first <= 2
    env.reset()
    assert env.get_wrapper_attr("mass") != first
    env.set_wrapper_attr("force", 3)
    assert env.get_wrapper_attr("force") == 3
    env.reset(options={"mass": 1.5})
    assert env.get_wrapper_attr("mass") == 1.5
    env.close()


def test_gymnasiums_own_batch_of_single_environments_sets_parameters() -> None:
    env = gymnasium.vector.SyncVectorEnv([lambda: gymnasium.make(ID, device="cpu")] * 2)
    env.reset(seed=0)
    env.set_attr("mass", [1.5, 2.5])
    assert env.get_attr("mass") == (1.5, 2.5)
    env.close()


def test_copies_of_an_environment_have_its_ranges(make_vec) -> None:
    import copy
    import pickle

    env = make_vec(num_envs=2, mass=gpu_envs.uniform(1, 2), length=np.array([0.4, 0.6]))
    for other in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        env.reset(seed=5)
        other.reset(seed=5)
        for name in ("mass", "length"):
            assert env.get_attr(name) == other.get_attr(name)
        other.close()


@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
def test_torch_arrays_are_parameters(make_vec, mode) -> None:
    torch = pytest.importorskip("torch")
    env = make_vec(num_envs=2, autoreset_mode=mode, arrays="torch", mass=torch.tensor([1.5, 2.5]))
    env.reset(seed=0)
    assert env.get_attr("mass") == (1.5, 2.5)
    env.set_parameters(mass=torch.tensor([2.0, 3.0], dtype=torch.float64))
    assert env.get_attr("mass") == (2.0, 3.0)


@pytest.mark.parametrize("make", ["parallel_env", "aec_env"])
@pytest.mark.parametrize("varies", [(), ("gravity",)])
def test_options_of_pettingzoos_resets_set_parameters(make, varies) -> None:
    pytest.importorskip("pettingzoo")
    env = getattr(gpu_envs, make)("HideSeek-v0", varies=varies)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env.reset(seed=1, options={"gravity": 3})
        env.reset()
    assert env.unwrapped.get("world.gravity").tolist() == [[3]]
    with pytest.warns(UserWarning, match="did you mean 'gravity'"):
        env.reset(options={"gravty": 4})
    env.close()
