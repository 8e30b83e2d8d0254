"""What the libraries around these environments rely on: creation, seeds, spaces, results.

The life cycle is in test_life_cycle.py, tools, arrays and builds are in test_ecosystem_tools.py;
rendering, PettingZoo, other libraries' adapters and CUDA graphs are tested with those features.
"""

from __future__ import annotations

import importlib.metadata
import re
import textwrap
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.vector import AutoresetMode

import gpu_envs
from gpu_envs.core.options import KEYWORDS
from gpu_envs.known.measures import sizes
from tests.contract.playing import (
    NAMES,
    REGISTERED,
    ROOT,
    SINGLES,
    TOGETHER,
    every_environment,
    every_mode,
    every_single,
    leaves,
    legal,
    rows_of,
    same,
    sampled,
)


def _skip_dicts_of_roles(name: str, observation: str) -> None:
    if observation == "dict" and gpu_envs.environments()[name].get("roles"):
        pytest.skip("fields of roles differ, so that their rows are flat")


EVERYWHERE = {"action_mask", "agent_active", "reward_parts", "state"}  # infos without a mask


# Registration and creation


MADE = """
    import gymnasium
    made = [gymnasium.make_vec("gpu_envs:gpu_envs/" + n, num_envs=4, device="cpu") for n in {names}]
    import gpu_envs
    made += [gymnasium.make_vec("gpu_envs/" + n, num_envs=4, device="cpu") for n in {names}]
    for env in made:
        _, infos = env.reset(seed=0)
        actions = 0 * env.action_space.sample()
        env.step(infos["action_mask"].argmax(-1) if "action_mask" in infos else actions)
        env.close()
    print(set(env.num_worlds for env in made), len(made))
"""


def test_make_vec_gives_no_warning_and_its_module_form_needs_no_import(run_python) -> None:
    result = run_python(textwrap.dedent(MADE.format(names=NAMES)), "-W", "error")
    assert result.stdout.strip() == f"{{4}} {2 * len(NAMES)}", result.stderr


def test_import_is_quick_and_loads_no_array_library(run_python) -> None:
    program = (
        "import sys, time, gymnasium, gymnasium.vector\n"
        "start = time.process_time()\n"  # not the clock's: others may have the cores
        "import gpu_envs\n"
        "print(time.process_time() - start)\n"
        "print({'torch', 'jax', 'cupy'} & set(sys.modules), 'gpu_envs.known.native' in sys.modules)"
    )
    seconds, loaded = run_python(program).stdout.splitlines()
    assert float(seconds) < 0.3
    assert loaded == "set() False"


@every_environment
def test_spec_survives_json_and_rebuilds_equal_settings(make_vec, name) -> None:
    env = make_vec(name, 3, autoreset_mode="NextStep", **sizes(name, "crowd"))
    assert EnvSpec.from_json(env.spec.to_json()) == env.spec
    again = gymnasium.make_vec(env.spec)
    assert again.num_envs == env.num_envs
    assert again.unwrapped.autoreset_mode is AutoresetMode.NEXT_STEP
    assert again.unwrapped.simulator.parameters == env.simulator.parameters
    again.close()


@every_environment
@pytest.mark.parametrize("worlds", [1, 3, 1024])
@pytest.mark.parametrize("observation", ["flat", "dict"])
def test_results_have_a_row_per_agent_of_every_world(make_vec, name, worlds, observation) -> None:
    _skip_dicts_of_roles(name, observation)
    env = make_vec(name, worlds, observation=observation, **sizes(name, "crowd"))
    rows = worlds * env.agents_per_world
    assert env.num_envs == rows
    obs, first_infos = env.reset(seed=0)
    *returned, infos = env.step(sampled(env, 1)[0])
    for known in (first_infos, infos):
        assert ("state" in known) == bool(REGISTERED[name]["state"])
        assert len(known.pop("state", range(worlds))) == worlds  # of the world: no row repeats it
    returned += [obs, first_infos, infos]
    assert all(len(leaf) == rows for item in returned for leaf in leaves(item))


VECTORISED = """
    import gymnasium, gpu_envs, numpy as np
    def same(left, right):
        if isinstance(left, dict) and isinstance(right, dict):
            return left.keys() == right.keys() and all(same(left[k], right[k]) for k in left)
        return np.array_equal(left, right)
    for name, parameters in {parameters}.items():
        env = gymnasium.make_vec("gpu_envs/" + name, num_envs=2, **{options}, **parameters)
        form = {{**parameters, "autoreset_mode": "NextStep"}}  # as Gymnasium resets them
        batch = gpu_envs.VectorEnv(name, 2, device="cpu", **form)
        assert same(env.reset(seed=3)[0], batch.reset(seed=[3, 4])[0]), name
        assert same(env.step(a := env.action_space.sample())[0], batch.step(a)[0]), name
        env.close()
    print("equal")
"""


@pytest.mark.parametrize("kind", ["sync", "fork", "spawn"])
def test_gymnasium_vectorises_the_single_form_into_the_same_rows(run_python, kind) -> None:
    options: dict[str, Any] = {"vectorization_mode": "sync" if kind == "sync" else "async"}
    if kind != "sync":
        options["vector_kwargs"] = {"context": kind}
    # How processes begin is the same for all: the first and the last show it.
    names = SINGLES if kind == "sync" else [SINGLES[0], SINGLES[-1]]
    parameters = {name: sizes(name, "alone") for name in names}
    # In an interpreter of its own: this one may hold threads of other libraries, unfit to fork.
    program = textwrap.dedent(VECTORISED).format(parameters=parameters, options=options)
    result = run_python(program)
    assert result.stdout.strip() == "equal", result.stderr


@pytest.mark.parametrize("name", TOGETHER)
def test_single_form_of_a_game_for_several_says_what_to_use_instead(name) -> None:
    with pytest.raises(ValueError, match=rf"{name} has .* agents .* use .*make_vec"):
        gymnasium.make(f"gpu_envs/{name}")


def test_single_form_refuses_several_agents_where_one_is_possible() -> None:
    with pytest.raises(ValueError, match=r"player_count is 3, .* or pass player_count=1"):
        gymnasium.make("gpu_envs/Overcooked-v0", player_count=3)


@every_environment
def test_unknown_render_mode_and_keyword_list_the_valid_ones(make_vec, name) -> None:
    with pytest.raises(ValueError, match=r"render_mode .* must be one of: None"):
        make_vec(name, render_mode="video")
    known = [field["name"] for field in REGISTERED[name]["parameters"]]
    with pytest.raises(TypeError, match=r"argument 'speed'.*valid: ") as raised:
        make_vec(name, speed=3)
    shown = str(raised.value).partition("valid: ")[2].removesuffix(")").split(" and ")[0]
    assert set(shown.split(", ")) <= {*known, *KEYWORDS}


def test_package_declares_its_bounds_of_gymnasium() -> None:
    try:
        declared = "\n".join(importlib.metadata.requires("gpu_envs") or [])
    except importlib.metadata.PackageNotFoundError:  # runs from a source tree
        declared = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    bounds = re.search(r"gymnasium\s*([<>=.,\d]+)", declared)
    assert bounds is not None
    assert {">=0.29.1", "<2"} <= set(bounds.group(1).split(","))


# Vector semantics


@every_environment
def test_rows_of_a_large_batch_equal_those_of_small_ones(make_vec, name) -> None:
    options = sizes(name, "small")
    batch = make_vec(name, 1024, **options)
    rows, infos = batch.reset(seed=5)
    parts = []
    for first, count in ((0, 8), (511, 1), (1023, 1)):
        part = make_vec(name, count, first_world=first, **options)
        start = first * batch.agents_per_world
        parts.append((slice(start, start + part.num_envs), part))
        assert same(part.reset(seed=5)[0], rows_of(rows, parts[-1][0]))
    for numbers in sampled(batch, 30):
        actions = legal(numbers, infos)
        *stepped, infos = batch.step(actions)
        for place, part in parts:
            given = part.step(actions[place])
            assert all(same(a, rows_of(b, place)) for a, b in zip(given[:4], stepped, strict=True))


CHOSEN = (0, 1, 511, 1023)  # of 1024 worlds


@every_single
def test_row_of_a_list_of_seeds_equals_the_single_environment(make_vec, name) -> None:
    options = sizes(name, "alone")
    batch = make_vec(name, 1024, **options)
    seeds = [(7 * i) % 1000 for i in range(1024)]
    rows, _ = batch.reset(seed=seeds)
    singles = [gpu_envs.Env(name, **options) for _ in CHOSEN]
    for i, single in zip(CHOSEN, singles, strict=True):
        assert same(single.reset(seed=seeds[i])[0], rows_of(rows, i))
    over = [False] * len(CHOSEN)
    for actions in sampled(batch, 30):
        stepped = batch.step(actions)
        for k, i in enumerate(CHOSEN):
            if not over[k]:
                obs, reward, terminated, truncated, _ = singles[k].step(actions[i])
                over[k] = terminated or truncated
                last = stepped[4]["final_obs"] if over[k] else stepped[0]
                assert same(obs, rows_of(last, i))
                assert (reward, terminated, truncated) == tuple(a[i] for a in stepped[1:4])


@every_environment
@pytest.mark.parametrize("observation", ["flat", "dict"])
def test_observations_lie_in_their_space(make_vec, name, observation) -> None:
    _skip_dicts_of_roles(name, observation)
    env = make_vec(name, 4, observation=observation, **sizes(name, "crowd"))
    obs, infos = env.reset(seed=0)
    assert obs in env.observation_space
    space = env.observation_space
    # Play for long: scripts/checks/soak. Here a few episodes, and all that a row can be made of.
    for numbers in sampled(env, 1_500 if observation == "flat" else 150):
        obs, *_, infos = env.step(legal(numbers, infos))
        assert obs in space
        ended = infos["_final_obs"]
        if ended.any():
            finals = infos["final_obs"]
            for row in np.flatnonzero(ended):
                assert rows_of(finals, row) in env.single_observation_space


@every_environment
@pytest.mark.parametrize("arrays", ["numpy", "torch"])
def test_results_that_are_kept_never_change(make_vec, name, arrays) -> None:
    pytest.importorskip(arrays)
    env = make_vec(name, 3, arrays=arrays, **sizes(name, "crowd"))
    env.reset(seed=0)
    kept = [env.step(actions) for actions in sampled(env, 40)]
    copies = [[np.asarray(leaf).copy() for part in step for leaf in leaves(part)] for step in kept]
    for actions in sampled(env, 40, seed=1):
        env.step(actions)
    for step, copy in zip(kept, copies, strict=True):
        now = [leaf for part in step for leaf in leaves(part)]
        assert all(np.array_equal(a, b) for a, b in zip(now, copy, strict=True))


@every_environment
@pytest.mark.parametrize("arrays", ["numpy", "torch"])
def test_writing_into_results_changes_no_simulation(make_vec, name, arrays) -> None:
    pytest.importorskip(arrays)
    plain, edited = (make_vec(name, 3, arrays=arrays, **sizes(name, "crowd")) for _ in range(2))
    _, infos = plain.reset(seed=0)
    edited.reset(seed=0)
    for numbers in sampled(plain, 60):
        actions = legal(numbers, infos)
        left, right = plain.step(actions), edited.step(actions)
        infos = left[4]
        assert all(same(a, b) for a, b in zip(left[:4], right[:4], strict=True))
        for part in right:
            for leaf in leaves(part):
                leaf[...] = 1


@every_environment
@every_mode
def test_infos_are_arrays_with_masks(make_vec, name, mode) -> None:
    env = make_vec(name, 3, autoreset_mode=mode, **sizes(name, "crowd"))
    _, first_infos = env.reset(seed=0)
    infos = env.step(sampled(env, 1)[0])[4]

    def look(entries: dict[str, Any], covered: bool) -> None:
        for key, value in entries.items():
            assert isinstance(value, dict | np.ndarray), key
            own = f"_{key}" in entries or key in EVERYWHERE
            assert covered or own or key.startswith("_"), key
            if isinstance(value, dict):
                look(value, own)

    look(infos, covered=False)
    look(first_infos, covered=False)


@every_environment
@every_mode
def test_infos_by_row_have_a_row_per_row_and_say_the_same(make_vec, name, mode) -> None:
    options = {"autoreset_mode": mode, "max_episode_steps": 2, **sizes(name, "crowd")}
    env, twin = make_vec(name, 3, infos="rows", **options), make_vec(name, 3, **options)
    listing = gymnasium.wrappers.vector.DictInfoToList(env)
    nested = [twin.reset(seed=0)[1]]
    listed = [listing.reset(seed=0)[1]]
    for actions in sampled(env, 2):
        nested.append(twin.step(actions)[4])
        listed.append(listing.step(actions)[4])
    agents, nobody = env.agents_per_world, np.zeros(env.num_envs, bool)
    is_dict = isinstance(env.single_observation_space, gymnasium.spaces.Dict)
    nesting = {"final_info", "final_obs"} if is_dict else {"final_info"}
    for infos, rows in zip(nested, listed, strict=True):
        assert len(rows) == env.num_envs
        for row, one in enumerate(rows):
            for key in {"action_mask", "agent_active", "state"} & infos.keys():
                where = row // agents if key == "state" else row
                assert np.array_equal(one[key], infos[key][where]), key
            for part, values in infos.get("reward_parts", {}).items():
                assert one[f"reward_{part}"] == values[row]
            assert not any(isinstance(one[key], dict) for key in one.keys() - nesting)
            assert ("final_obs" in one) == infos.get("_final_obs", nobody)[row]
            if "final_obs" in one:
                assert same(one["final_obs"], rows_of(infos["final_obs"], row))
            if infos.get("_episode_stats", nobody)[row]:
                stats = {key: values[row] for key, values in infos["episode_stats"].items()}
                assert stats == {"r": one["episode_return"], "l": one["episode_length"]}
            else:
                assert "episode_return" not in one


MEMORY = """
    import gc, numpy as np, gpu_envs
    def resident():
        for line in open("/proc/self/status"):
            if line.startswith("VmRSS"):
                return int(line.split()[1]) / 1024
    env = gpu_envs.VectorEnv("CartPole-v0", 64, device="cpu")
    env.reset(seed=0)
    actions = np.zeros(64, int)
    for _ in range(500):
        env.step(actions)
    start = resident()
    for _ in range(10_000):
        env.step(actions)
    growth = resident() - start
    assert growth < 2, growth
    for _ in range(3):  # blocks beyond 32 MiB, which malloc hands back at once
        big = gpu_envs.VectorEnv("CartPole-v0", 1_000_000, device="cpu")
        big.reset(seed=0)
        peak = resident()
        del big
    freed = peak - resident()
    assert freed > 45, (peak, freed)
    assert resident() - start < 10, resident() - start
    env.close()
    env.close()
    print("steady")
"""


def test_memory_is_steady_over_steps_and_freed_afterwards(run_python) -> None:
    result = run_python(textwrap.dedent(MEMORY))
    assert result.stdout.strip() == "steady", result.stderr
