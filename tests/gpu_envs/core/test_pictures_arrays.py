"""Observations that are pictures, through every interface: spaces, arrays, last ones, `out=`."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import api_test, parallel_api_test

import gpu_envs

GALLERY = Path(__file__).parents[2] / "kernels" / "envs" / "gallery.hpp"
SIZE = (20, 24)
KINDS = {"rgb": np.uint8, "depth": np.float32, "segmentation": np.uint16}
HIGHS = {"rgb": 255, "depth": np.inf, "segmentation": 65535}
OUTPUTS = {"rgb": "obs", "depth": "depth", "segmentation": "segmentation"}  # all three asked for
ALL = "rgb+depth+segmentation"
MARKED = ("ended", "final_obs", "final_depth", "final_segmentation")

pytestmark = pytest.mark.usefixtures("gallery")


def box(layer: str, last: bool = False) -> spaces.Box:
    channels = 3 if layer == "rgb" else 1
    shape = (*SIZE, channels) if last else (channels, *SIZE)
    return spaces.Box(0, HIGHS[layer], shape, KINDS[layer])


def course(simulator: gpu_envs.Simulator, steps: int = 24, **keywords: Any) -> list[Any]:
    """What some steps write, the last of episodes among them (they take 20 steps)."""
    simulator.reset(seed=3)
    rows = simulator.num_worlds, simulator.agents_per_world
    actions = np.random.default_rng(1).integers(0, 6, (steps, *rows))
    return [simulator.step(action, **keywords) for action in actions]


@pytest.mark.parametrize("channels", ["first", "last"])
@pytest.mark.parametrize("layer", KINDS)
def test_one_layer_is_a_box(make_vec, layer: str, channels: str) -> None:
    env = make_vec("Gallery-v0", 2, observation=layer, resolution=SIZE, channels=channels)
    space = box(layer, channels == "last")
    assert env.single_observation_space == space
    obs, _ = env.reset(seed=1)
    assert obs.shape == (4, *space.shape)
    assert obs.dtype == space.dtype
    assert obs.any()
    assert env.observation_space.contains(obs)
    named = make_vec("Gallery-v0", 2, observation=layer, resolution="20x24", channels=channels)
    assert np.array_equal(named.reset(seed=1)[0], obs)


def test_flat_is_what_the_environment_shows_by_itself_and_dict_the_same_by_layer(make_vec) -> None:
    plain = make_vec("Gallery-v0", 2, resolution=SIZE)
    by_layer = make_vec("Gallery-v0", 2, resolution=SIZE, observation="dict")
    assert plain.single_observation_space == box("rgb")
    assert by_layer.single_observation_space == spaces.Dict({"rgb": box("rgb")})
    obs, named = plain.reset(seed=5)[0], by_layer.reset(seed=5)[0]
    assert list(named) == ["rgb"]
    assert np.array_equal(named["rgb"], obs)
    usual = make_vec("Gallery-v0", 1)
    assert usual.single_observation_space == spaces.Box(0, 255, (3, 72, 128), np.uint8)
    assert usual.simulator.parameters["observation"] == "rgb"


@pytest.mark.parametrize("layers", ["rgb+depth", "segmentation+depth", ALL])
def test_several_layers_are_a_dict_of_the_outputs_themselves(make_vec, layers: str) -> None:
    names = layers.split("+")
    env = make_vec("Gallery-v0", 3, observation=layers, resolution=SIZE)
    assert env.single_observation_space == spaces.Dict({name: box(name) for name in names})
    alone = {name: make_vec("Gallery-v0", 3, observation=name, resolution=SIZE) for name in names}
    obs, _ = env.reset(seed=2)
    for name in names:
        assert np.array_equal(alone[name].reset(seed=2)[0], obs[name])
    ended = 0
    for _ in range(25):
        actions = env.action_space.sample()
        obs, *_, infos = env.step(actions)
        assert env.observation_space.contains(obs)
        assert set(infos["final_obs"]) == set(obs)
        ended += infos["_final_obs"].sum()
        for name in names:
            seen, *_, told = alone[name].step(actions)
            assert np.array_equal(seen, obs[name])
            assert np.array_equal(told["final_obs"], infos["final_obs"][name])
            assert not infos["final_obs"][name][~infos["_final_obs"]].any()
    assert ended
    results = env.simulator.step_arrays(actions, True)
    named = env.simulator.views.observed(results)
    first = "rgb" if "rgb" in names else "depth"
    assert all(named[n] is (results.obs if n == first else getattr(results, n)) for n in named)


@pytest.mark.parametrize("layers", ["rgb", "rgb+depth", ALL, "dict"])
def test_what_a_call_returned_can_be_written_again(make_simulator, layers: str) -> None:
    simulator = make_simulator("Gallery-v0", 3, observation=layers, resolution=SIZE)
    twin = make_simulator("Gallery-v0", 3, observation=layers, resolution=SIZE)
    before, _ = simulator.reset(seed=2), twin.reset(seed=2)
    actions = np.full((3, 2), 1)
    after, wanted = simulator.step(actions, out=before), twin.step(actions)
    for name in ("obs", "reward", "final_obs"):
        found, own = getattr(after, name), getattr(before, name)
        asked = getattr(wanted, name)
        if isinstance(asked, dict):
            assert all(found[k] is own[k] for k in asked)
            assert all(np.array_equal(found[k], asked[k]) for k in asked)
        else:
            assert found is own and np.array_equal(found, asked)


def test_the_single_environment_shows_what_the_batch_shows(make_vec) -> None:
    options: dict[str, Any] = {"observation": ALL, "resolution": SIZE, "visitors": 1}
    batch = make_vec("Gallery-v0", 2, **options)
    env = gymnasium.make("gpu_envs/Gallery-v0", **options)
    assert env.observation_space == batch.single_observation_space
    obs, _ = env.reset(seed=4)
    rows, _ = batch.reset(seed=[4, 4])
    for _ in range(5):
        assert env.observation_space.contains(obs)
        assert all(np.array_equal(obs[name], rows[name][0]) for name in rows)
        obs, *_ = env.step(5)
        rows, *_ = batch.step([5, 5])
    for kind in ("rgb", "depth", "dict"):
        made = gymnasium.make(
            "gpu_envs/Gallery-v0", observation=kind, resolution=(36, 36), visitors=1
        )
        check_env(made.unwrapped, skip_render_check=True)
    env.close()


@pytest.mark.parametrize("layers", ["rgb", "depth+segmentation"])
def test_pettingzoo_has_pictures_too(layers: str) -> None:
    options: dict[str, Any] = {"observation": layers, "resolution": SIZE}
    env = gpu_envs.parallel_env("Gallery-v0", **options)
    parallel_api_test(env, num_cycles=30)
    api_test(gpu_envs.aec_env("Gallery-v0", **options), num_cycles=30)
    batched = gpu_envs.batched_parallel_env("Gallery-v0", 2, device="cpu", **options)
    seen, _ = env.reset(seed=6)
    rows, _ = batched.reset(seed=[6, 6])
    for agent in env.agents:
        assert env.observation_space(agent) == batched.observation_space(agent)
        assert env.observation_space(agent).contains(seen[agent])
        if layers == "rgb":
            assert np.array_equal(rows[agent][1], seen[agent])
        else:
            assert all(np.array_equal(rows[agent][n][1], seen[agent][n]) for n in seen[agent])
    assert env.state_space.contains(env.state())
    assert env.state().dtype == KINDS[layers.split("+")[0]]
    *_, infos = batched.step(np.zeros((2, 2), int))
    last = infos["player_0"]["final_obs"]
    assert isinstance(last, dict) == (layers != "rgb")
    if layers == "rgb":
        assert batched.state().shape == (2, 2 * 3 * SIZE[0] * SIZE[1])
    else:
        with pytest.raises(ValueError, match=r"several layers leave no rows.*use one layer"):
            batched.state()
    batched.close()


@pytest.mark.parametrize("arrays", ["numpy", "torch"])
def test_out_takes_each_layer_by_the_name_of_its_output(make_simulator, arrays: str) -> None:
    if arrays == "torch":
        pytest.importorskip("torch")
    options = {"observation": ALL, "resolution": SIZE, "arrays": arrays}
    fresh = course(make_simulator("Gallery-v0", 3, **options))
    simulator = make_simulator("Gallery-v0", 3, **options)
    first = simulator.reset(seed=1).obs
    names = ["obs", "depth", "segmentation", "final_obs", "final_depth", "final_segmentation"]
    places = dict(
        zip(
            names,
            (*first.values(), *simulator.step(np.zeros((3, 2), int)).final_obs.values()),
            strict=True,
        )
    )
    results = course(simulator, out=places)
    assert results[-1].obs["rgb"] is places["obs"]
    assert results[-1].obs["depth"] is places["depth"]
    assert results[-1].final_obs["segmentation"] is places["final_segmentation"]
    for name in KINDS:
        assert np.array_equal(np.asarray(results[-1].obs[name]), np.asarray(fresh[-1].obs[name]))


@pytest.mark.parametrize("when", [3, 4])  # episodes end in step 3, so step 4 clears their rows
@pytest.mark.parametrize("away", [(), ("final_depth",), ("ended",), ("ended", "final_obs"), MARKED])
@pytest.mark.parametrize("arrays", ["numpy", "torch"])
def test_reused_arrays_hold_zeros_where_no_episode_ended(
    make_simulator, arrays: str, away: tuple[str, ...], when: int
) -> None:
    """Also after some of them once were the caller's."""
    if arrays == "torch":
        pytest.importorskip("torch")
    options = {"observation": ALL, "resolution": SIZE, "arrays": arrays, "max_episode_steps": 4}
    fresh = make_simulator("Gallery-v0", 3, **options)
    reused = make_simulator("Gallery-v0", 3, reuse=True, **options)
    kept = make_simulator("Gallery-v0", 3, **options)
    kept.reset(seed=0)
    spare = kept.step_arrays(np.zeros((3, 2), int), False)._asdict()
    fresh.reset(seed=8)
    reused.reset(seed=8)
    for step in range(12):
        actions = np.full((3, 2), step % 6)
        wanted = fresh.step_arrays(actions, False)
        out = {name: spare[name] for name in away} if away and step == when else None
        found = reused.step_arrays(actions, False, out)
        for name, array in wanted._asdict().items():
            if array is not None:
                held = np.asarray(getattr(found, name))
                assert np.array_equal(held, np.asarray(array)), (step, name)


def test_who_asks_for_no_last_pictures_gets_none(make_simulator) -> None:
    simulator = make_simulator("Gallery-v0", 2, observation="rgb+depth", outputs=["ended"])
    assert [n for n in simulator.layout.outputs._fields if simulator.layout.output(n)] == [
        *("obs", "reward", "terminated", "truncated", "ended", "depth")
    ]
    assert simulator.views.last(simulator.step_arrays(*reset_and_rest(simulator))) is None
    asked = make_simulator("Gallery-v0", 2, observation="rgb+depth", outputs=["final_depth"])
    assert asked.layout.output("final_obs") is not None  # all layers, or none


def reset_and_rest(simulator: gpu_envs.Simulator) -> tuple[Any, bool]:
    simulator.reset(seed=1)
    return np.zeros((simulator.num_worlds, simulator.agents_per_world), int), False


@pytest.mark.parametrize("mode", ["NextStep", "Disabled"])
def test_other_autoreset_modes_have_no_last_pictures(make_vec, mode: str) -> None:
    env = make_vec("Gallery-v0", 2, observation=ALL, resolution=SIZE, autoreset_mode=mode)
    env.reset(seed=1)
    *_, infos = env.step(env.action_space.sample())
    assert "final_obs" not in infos


def test_pictures_of_torch_have_the_types_of_numpy(make_simulator) -> None:
    torch = pytest.importorskip("torch")
    simulator = make_simulator("Gallery-v0", 2, observation=ALL, resolution=SIZE, arrays="torch")
    obs = simulator.reset(seed=1).obs
    assert obs["rgb"].dtype is torch.uint8
    assert obs["depth"].dtype is torch.float32
    assert obs["segmentation"].dtype is torch.uint16
    plain = make_simulator("Gallery-v0", 2, observation=ALL, resolution=SIZE).reset(seed=1).obs
    assert all(np.array_equal(obs[name].numpy(), plain[name]) for name in KINDS)
    assert np.array_equal(np.from_dlpack(obs["segmentation"]), plain["segmentation"])


def test_saves_and_copies_show_the_same(make_simulator) -> None:
    options = {"observation": "depth+rgb", "resolution": SIZE}
    simulator = make_simulator("Gallery-v0", 2, **options)
    assert simulator.parameters["observation"] == "rgb+depth"
    course(simulator, 5)
    other = make_simulator("Gallery-v0", 2, **options)
    other.load(simulator.save())
    seen, again = simulator.observe().obs, other.observe().obs
    assert all(np.array_equal(seen[name], again[name]) for name in seen)


def test_row_infos_have_each_layer_where_torchrl_looks(make_vec) -> None:
    env = make_vec("Gallery-v0", 2, observation="rgb+depth", resolution=SIZE, infos="rows")
    env.reset(seed=1)
    *_, infos = env.step(env.action_space.sample())
    assert {"rgb", "depth"} <= set(infos["final_info"])


INSTALLED = """
import gymnasium, gpu_envs

env = gymnasium.make_vec("gpu_envs/Gallery-v0", 2, device="cpu", observation="rgb+segmentation")
obs, _ = env.reset(seed=1)
print({name: (array.shape, str(array.dtype), bool(array.any())) for name, array in obs.items()})
"""


def test_installed_package_builds_pictures(package) -> None:
    done = package.command("build", str(GALLERY))
    assert done.returncode == 0, done.stderr
    seen = package.run(INSTALLED)
    assert seen.returncode == 0, seen.stderr
    colours, numbers = ((4, 3, 72, 128), "uint8", True), ((4, 1, 72, 128), "uint16", True)
    assert ast.literal_eval(seen.stdout) == {"rgb": colours, "segmentation": numbers}
