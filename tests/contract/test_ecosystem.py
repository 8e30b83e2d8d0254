"""What the libraries around these environments rely on: creation, seeds, spaces, results.

The life cycle is in test_life_cycle.py, tools, arrays and builds are in test_ecosystem_tools.py;
rendering, PettingZoo, other libraries' adapters and CUDA graphs are tested with those features.
"""

from __future__ import annotations

import importlib.metadata
import re
import textwrap
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.vector import AutoresetMode
from sizes import ALONE, CROWD, SMALL, TOGETHER

import gpu_envs

MODES = ("SameStep", "NextStep", "Disabled")
NAMES = list(gpu_envs.environments())
SINGLES = [name for name in NAMES if name not in TOGETHER]
EVERYWHERE = {"action_mask", "agent_active", "reward_parts", "state"}  # infos without a mask

every_environment = pytest.mark.parametrize("name", NAMES)
every_single = pytest.mark.parametrize("name", SINGLES)
every_mode = pytest.mark.parametrize("mode", MODES)


def _actions(env: Any, steps: int, seed: int = 0) -> np.ndarray:
    env.action_space.seed(seed)
    return np.array([env.action_space.sample() for _ in range(steps)])


def _legal(numbers: np.ndarray, infos: dict[str, Any]) -> np.ndarray:
    """Legal actions by number, counted around; the numbers themselves where all are legal."""
    if "action_mask" not in infos:
        return numbers
    legal = np.asarray(infos["action_mask"]) != 0
    wanted = numbers % legal.sum(axis=1)
    return ((legal.cumsum(axis=1) == wanted[:, np.newaxis] + 1) & legal).argmax(axis=1)


def _address(array: Any) -> int:
    return array.data_ptr() if hasattr(array, "data_ptr") else array.__array_interface__["data"][0]


def _leaves(infos: Any) -> list[Any]:
    if isinstance(infos, dict):
        return [leaf for value in infos.values() for leaf in _leaves(value)]
    return [infos]


# Registration and creation


@every_environment
def test_module_form_of_an_id_needs_no_import(run_python, name) -> None:
    program = (
        "import gymnasium\n"
        f"env = gymnasium.make_vec('gpu_envs:gpu_envs/{name}', num_envs=4, device='cpu')\n"
        "env.reset(seed=0)\n"
        "print(env.num_worlds)"
    )
    result = run_python(program)
    assert result.stdout.strip() == "4", result.stderr


def test_import_is_quick_and_loads_no_array_library(run_python) -> None:
    program = (
        "import sys, time, gymnasium, gymnasium.vector\n"
        "start = time.process_time()\n"  # not the clock's: others may have the cores
        "import gpu_envs\n"
        "print(time.process_time() - start)\n"
        "print({'torch', 'jax', 'cupy'} & set(sys.modules), 'gpu_envs.native' in sys.modules)"
    )
    seconds, loaded = run_python(program).stdout.splitlines()
    assert float(seconds) < 0.3
    assert loaded == "set() False"


@every_environment
def test_spec_survives_json_and_rebuilds_equal_settings(make_vec, name) -> None:
    env = make_vec(name, 3, autoreset_mode="NextStep", **CROWD.get(name, {}))
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
    env = make_vec(name, worlds, observation=observation, **CROWD.get(name, {}))
    rows = worlds * env.agents_per_world
    assert env.num_envs == rows
    obs, first_infos = env.reset(seed=0)
    *returned, infos = env.step(_actions(env, 1)[0])
    for known in (first_infos, infos):
        assert ("state" in known) == bool(gpu_envs.environments()[name]["state"])
        assert len(known.pop("state", range(worlds))) == worlds  # of the world: no row repeats it
    returned += [obs, first_infos, infos]
    assert all(len(leaf) == rows for item in returned for leaf in _leaves(item))


@pytest.mark.parametrize(("given", "limit"), [({}, 200), ({"max_episode_steps": 7}, 7)])
def test_time_limit_truncates_at_exactly_its_step(make_vec, given, limit) -> None:
    env = make_vec("Micro-v0", 2, agent_count=1, work=0, **given)
    env.reset(seed=0)
    truncated = [env.step(np.zeros(2, int))[3].all() for _ in range(limit)]
    assert truncated == [False] * (limit - 1) + [True]


def test_time_limit_of_zero_never_truncates(make_vec) -> None:
    env = make_vec("Micro-v0", 2, agent_count=1, work=0, max_episode_steps=0)
    env.reset(seed=0)
    assert not any(env.step(np.zeros(2, int))[3].any() for _ in range(500))


@pytest.mark.parametrize("name", ["CartPole-v0", "CartPole64-v0"])
def test_balanced_pole_is_truncated_at_500(make_vec, name) -> None:
    env = make_vec(name, 8)
    obs, _ = env.reset(seed=0)
    rule = np.array([0.02, 0.05, 1.0, 0.3], np.float32)
    for step in range(1, 501):
        obs, reward, terminated, truncated, infos = env.step((obs @ rule > 0).astype(np.int64))
        assert truncated.all() == truncated.any() == (step == 500)
        assert not terminated.any()
        assert (reward == 1).all()
    assert infos["episode_stats"]["r"].tolist() == [500.0] * 8


VECTORISED = """
    import gymnasium, gpu_envs, numpy as np
    env = gymnasium.make_vec("gpu_envs/{name}", num_envs=2, **{options}, **{parameters})
    batch = gpu_envs.VectorEnv("{name}", 2, device="cpu", **{parameters})
    assert np.array_equal(env.reset(seed=3)[0], batch.reset(seed=[3, 4])[0])
    assert np.array_equal(env.step(a := env.action_space.sample())[0], batch.step(a)[0])
    env.close()
    print("equal")
"""


@every_single
@pytest.mark.parametrize("kind", ["sync", "fork", "spawn"])
def test_gymnasium_vectorises_the_single_form_into_the_same_rows(run_python, name, kind) -> None:
    options: dict[str, Any] = {"vectorization_mode": "sync" if kind == "sync" else "async"}
    if kind != "sync":
        options["vector_kwargs"] = {"context": kind}
    # In an interpreter of its own: this one may hold threads of other libraries, unfit to fork.
    program = textwrap.dedent(VECTORISED)
    result = run_python(program.format(name=name, options=options, parameters=ALONE.get(name, {})))
    assert result.stdout.strip() == "equal", result.stderr


@pytest.mark.parametrize("name", TOGETHER)
def test_single_form_of_a_game_for_several_says_what_to_use_instead(name) -> None:
    with pytest.raises(ValueError, match=rf"{name} has .* agents .* use .*make_vec"):
        gymnasium.make(f"gpu_envs/{name}")


def test_single_form_refuses_several_agents_where_one_is_possible() -> None:
    with pytest.raises(ValueError, match=r"player_count is 3, .* or pass player_count=1"):
        gymnasium.make("gpu_envs/Overcooked-v0", player_count=3)


@every_environment
def test_make_vec_gives_no_warning(run_python, name) -> None:
    program = (
        "import gymnasium, gpu_envs\n"
        f"env = gymnasium.make_vec('gpu_envs/{name}', num_envs=2, device='cpu')\n"
        "env.reset(seed=0); env.step(env.action_space.sample()); env.close(); print('quiet')"
    )
    result = run_python(program, "-W", "error")
    assert result.stdout.strip() == "quiet", result.stderr


@every_mode
def test_autoreset_mode_stands_in_the_metadata_of_its_instance(make_vec, mode) -> None:
    env, other = make_vec(autoreset_mode=mode), make_vec(autoreset_mode="SameStep")
    assert env.metadata["autoreset_mode"] is AutoresetMode(mode)
    assert other.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP


def test_attributes_that_tools_read_exist(make_vec) -> None:
    env = make_vec()
    assert env.autoreset_mode is AutoresetMode.SAME_STEP
    assert env.device == "cpu"
    assert env.call("render") == (None,) * 4
    env.set_attr("note", 1)
    assert env.get_attr("note") == (1,) * 4


@pytest.mark.parametrize("mode", [*AutoresetMode, *MODES])
def test_autoreset_mode_is_taken_as_member_or_string(make_vec, mode) -> None:
    assert make_vec(autoreset_mode=mode).autoreset_mode in (mode, AutoresetMode(mode))


@pytest.mark.parametrize("mode", ["same_step", "SAME_STEP", 0, None, True])
def test_autoreset_mode_of_another_kind_lists_the_valid_ones(make_vec, mode) -> None:
    with pytest.raises(ValueError, match="'NextStep', 'SameStep', 'Disabled'"):
        make_vec(autoreset_mode=mode)


@every_environment
def test_unknown_render_mode_and_keyword_list_the_valid_ones(make_vec, name) -> None:
    with pytest.raises(ValueError, match=r"render_mode .* must be one of: None"):
        make_vec(name, render_mode="video")
    parameters = [field["name"] for field in gpu_envs.environments()[name]["parameters"]]
    with pytest.raises(TypeError, match=f"unknown keyword .*valid: {', '.join(parameters)}"):
        make_vec(name, speed=3)


def test_package_declares_its_bounds_of_gymnasium() -> None:
    try:
        declared = "\n".join(importlib.metadata.requires("gpu_envs") or [])
    except importlib.metadata.PackageNotFoundError:  # runs from a source tree
        declared = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    bounds = re.search(r"gymnasium\s*([<>=.,\d]+)", declared)
    assert bounds is not None
    assert {">=0.29.1", "<2"} <= set(bounds.group(1).split(","))


# Vector semantics


def _transitions(make_vec: Any, name: str, mode: str, real_steps: int) -> list[list[tuple]]:
    """Play with actions that depend on row, real step and mask alone; fillers are left out."""
    env = make_vec(name, 6, autoreset_mode=mode, **SMALL.get(name, {}), **_short(name))
    rows = env.num_envs
    plan = _actions(env, real_steps, seed=1)
    taken = np.zeros(rows, int)
    lists: list[list[tuple]] = [[] for _ in range(rows)]
    obs, infos = env.reset(seed=4)
    over = np.zeros(rows, bool)
    while taken.min() < real_steps:
        actions = plan[np.minimum(taken, real_steps - 1), np.arange(rows)]
        before = obs
        obs, reward, terminated, truncated, infos = env.step(_legal(actions, infos))
        done = terminated | truncated
        last = infos["final_obs"] if mode == "SameStep" else obs
        filler = over if mode == "NextStep" else np.zeros(rows, bool)
        for row in np.flatnonzero(~filler):
            end = last[row] if done[row] else obs[row]
            lists[row].append(
                (
                    before[row].tobytes(),
                    float(reward[row]),
                    end.tobytes(),
                    bool(terminated[row]),
                    bool(truncated[row]),
                )
            )
        taken += ~filler
        over = done
        if mode == "Disabled" and done.any():
            obs, infos = env.reset(options={"reset_mask": done})
    env.check()  # which an illegal action fails
    return [transitions[:real_steps] for transitions in lists]


def _short(name: str) -> dict[str, int]:
    return {"max_episode_steps": 23} if name in SMALL else {}


@every_environment
def test_action_after_an_end_is_ignored_by_next_step_and_pays_nothing(make_vec, name) -> None:
    options = {"autoreset_mode": "NextStep", **SMALL.get(name, {}), **_short(name)}
    one, other = make_vec(name, 5, **options), make_vec(name, 5, **options)
    _, infos = one.reset(seed=2)
    other.reset(seed=2)
    fillers = 0
    over = np.zeros(one.num_envs, bool)
    for numbers, others in zip(_actions(one, 200), _actions(one, 200, seed=1), strict=True):
        actions = _legal(numbers, infos)
        changed = [b if filler else a for a, b, filler in zip(actions, others, over, strict=True)]
        left, right = one.step(actions), other.step(changed)
        assert all(np.array_equal(a, b) for a, b in zip(left[:4], right[:4], strict=True))
        assert not left[1][over].any()
        assert not (left[2] | left[3])[over].any()
        fillers += over.sum()
        over, infos = left[2] | left[3], left[4]
    assert fillers > 10
    one.check()
    other.check()  # what a filler was given is not looked at


@every_environment
def test_final_obs_of_same_step_is_what_next_step_returns(make_vec, name) -> None:
    env = make_vec(name, 6, **SMALL.get(name, {}), **_short(name))
    _, infos = env.reset(seed=4)
    for numbers in _actions(env, 100):
        obs, _, terminated, truncated, infos = env.step(_legal(numbers, infos))
        assert infos["final_obs"].dtype == obs.dtype == env.single_observation_space.dtype
        assert infos["final_obs"].shape == obs.shape
        assert np.array_equal(infos["_final_obs"], terminated | truncated)
        assert not infos["final_obs"][~infos["_final_obs"]].any()
    same = _transitions(make_vec, name, "SameStep", 150)
    following = _transitions(make_vec, name, "NextStep", 150)
    assert [[t[2] for t in row] for row in same] == [[t[2] for t in row] for row in following]


@every_environment
@pytest.mark.parametrize("kind", ["numpy", "list", "torch"])
def test_masked_reset_changes_masked_worlds_alone(make_vec, name, kind) -> None:
    env = make_vec(name, 4, autoreset_mode="Disabled", **CROWD.get(name, {}))
    _, infos = env.reset(seed=0)
    for numbers in _actions(env, 5):
        obs, *_, infos = env.step(_legal(numbers, infos))
    mask: Any = [True, False, False, True]
    if kind == "torch":
        mask = pytest.importorskip("torch").tensor(mask)
    elif kind == "numpy":
        mask = np.array(mask)
    columns = [field["name"] for field in gpu_envs.environments()[name]["columns"]]
    before = {column: env.simulator.get(column) for column in columns}
    options = {"reset_mask": mask}
    after, after_infos = env.reset(options=options)
    assert options == {"reset_mask": mask}
    rows = np.repeat(np.asarray(mask), env.agents_per_world)
    assert np.array_equal(after[~rows], obs[~rows])
    assert (after[rows] != obs[rows]).reshape(rows.sum(), -1).any(axis=1).all()
    for key in after_infos:
        kept = [1, 2] if key == "state" else ~rows
        assert np.array_equal(after_infos[key][kept], infos[key][kept]), key
    for column in columns:
        assert np.array_equal(env.simulator.get(column)[[1, 2]], before[column][[1, 2]])
    env.reset(options={"reset_mask": np.zeros(4, bool)})
    assert np.array_equal(env.simulator.observe().obs.reshape(after.shape), after)


@every_environment
def test_step_of_a_finished_row_freezes_it_until_a_reset(make_vec, name) -> None:
    env = make_vec(name, 3, autoreset_mode="Disabled", max_episode_steps=3, **SMALL.get(name, {}))
    _, infos = env.reset(seed=0)
    over, ignored = np.zeros(3, bool), 3  # of the step that comes after these
    for numbers in _actions(env, 3):
        ignored += over.sum()
        last = env.step(_legal(numbers, infos))
        infos = last[4]
        over = (last[2] | last[3]).reshape(3, -1).all(axis=1)
    assert over.all()
    saved = env.simulator.save()
    frozen = env.step(_actions(env, 1)[0])  # not all legal: a frozen row ignores them
    assert np.array_equal(frozen[0], last[0])
    assert np.array_equal(frozen[2], last[2])
    assert not frozen[1].any()
    assert np.array_equal(frozen[3], last[3])
    assert env.simulator.save() == saved
    with pytest.raises(gpu_envs.ResetNeeded, match=f"{ignored} steps"):
        env.check()


@every_environment
def test_modes_play_the_same_transitions_without_fillers(make_vec, name) -> None:
    first, *others = (_transitions(make_vec, name, mode, 150) for mode in MODES)
    assert sum(t[3] or t[4] for row in first for t in row) > 6
    assert all(other == first for other in others)


@every_environment
def test_seed_repeats_its_episodes_and_no_seed_goes_on(make_vec, name) -> None:
    env = make_vec(name, 3, **SMALL.get(name, {}))
    plan = _actions(env, 1000)

    def course() -> list[bytes]:
        return [b"".join(a.tobytes() for a in env.step(actions)[:4]) for actions in plan]

    start = env.reset(seed=8)[0]
    first = course()
    assert np.array_equal(env.reset(seed=8)[0], start)
    assert course() == first
    assert not np.array_equal(env.reset()[0], start)
    assert course() != first


CHOSEN = (0, 1, 511, 1023)  # of 1024 worlds


@every_environment
def test_row_of_a_batch_equals_its_world_alone(make_vec, name) -> None:
    options = SMALL.get(name, {})
    batch = make_vec(name, 1024, **options)
    agents = batch.agents_per_world
    places = [slice(agents * i, agents * (i + 1)) for i in CHOSEN]
    alone = [make_vec(name, 1, first_world=i, **options) for i in CHOSEN]
    rows, infos = batch.reset(seed=5)
    for place, world in zip(places, alone, strict=True):
        assert np.array_equal(world.reset(seed=5)[0], rows[place])
    for numbers in _actions(batch, 60):
        actions = _legal(numbers, infos)
        *stepped, infos = batch.step(actions)
        for place, world in zip(places, alone, strict=True):
            given = world.step(actions[place])
            assert all(np.array_equal(a, b[place]) for a, b in zip(given[:4], stepped, strict=True))


@every_single
def test_row_of_a_list_of_seeds_equals_the_single_environment(make_vec, name) -> None:
    options = ALONE.get(name, {})
    batch = make_vec(name, 1024, **options)
    seeds = [(7 * i) % 1000 for i in range(1024)]
    rows, _ = batch.reset(seed=seeds)
    singles = [gpu_envs.Env(name, **options) for _ in CHOSEN]
    for i, single in zip(CHOSEN, singles, strict=True):
        assert np.array_equal(single.reset(seed=seeds[i])[0], rows[i])
    over = [False] * len(CHOSEN)
    for actions in _actions(batch, 60):
        stepped = batch.step(actions)
        for k, i in enumerate(CHOSEN):
            if not over[k]:
                obs, reward, terminated, truncated, _ = singles[k].step(actions[i])
                over[k] = terminated or truncated
                last = stepped[4]["final_obs"] if over[k] else stepped[0]
                assert np.array_equal(obs, last[i])
                assert (reward, terminated, truncated) == tuple(a[i] for a in stepped[1:4])


@every_environment
def test_results_do_not_depend_on_num_envs(make_vec, name) -> None:
    small, large = (make_vec(name, n, **SMALL.get(name, {})) for n in (8, 4096))
    rows = small.num_envs
    first, infos = large.reset(seed=1)
    assert np.array_equal(small.reset(seed=1)[0], first[:rows])
    steps = 25 if name == "HideSeek-v0" else 100  # 4,096 of its worlds take 0.3 s
    for numbers in _actions(large, steps):
        actions = _legal(numbers, infos)
        *right, infos = large.step(actions)
        left = small.step(actions[:rows])[:4]
        assert all(np.array_equal(a, b[:rows]) for a, b in zip(left, right, strict=True))


@pytest.mark.parametrize(
    ("seed", "error"),
    [
        (np.int64(3), TypeError),
        (3.0, TypeError),
        (True, TypeError),
        ([1, 2, 3, None], TypeError),
        (-1, ValueError),
        (2**64, ValueError),
        ([1, 2], ValueError),
    ],
)
def test_garbage_seeds_are_refused(make_vec, seed, error) -> None:
    with pytest.raises(error, match="seed"):
        make_vec().reset(seed=seed)


@every_environment
@pytest.mark.parametrize("observation", ["flat", "dict"])
def test_observations_lie_in_their_space(make_vec, name, observation) -> None:
    env = make_vec(name, 4, observation=observation, **CROWD.get(name, {}))
    obs, infos = env.reset(seed=0)
    assert obs in env.observation_space
    space = env.observation_space
    for numbers in _actions(env, 10_000 if observation == "flat" else 200):
        obs, *_, infos = env.step(_legal(numbers, infos))
        assert obs in space
        ended = infos["_final_obs"]
        if ended.any():
            finals = infos["final_obs"]
            for row in np.flatnonzero(ended):
                one = (
                    finals[row]
                    if observation == "flat"
                    else {key: np.asarray(value[row]) for key, value in finals.items()}
                )
                assert one in env.single_observation_space


@every_environment
@pytest.mark.parametrize("arrays", ["numpy", "torch"])
def test_results_that_are_kept_never_change(make_vec, name, arrays) -> None:
    pytest.importorskip(arrays)
    env = make_vec(name, 3, arrays=arrays, **CROWD.get(name, {}))
    env.reset(seed=0)
    kept = [env.step(actions) for actions in _actions(env, 40)]
    copies = [[np.asarray(leaf).copy() for part in step for leaf in _leaves(part)] for step in kept]
    for actions in _actions(env, 40, seed=1):
        env.step(actions)
    for step, copy in zip(kept, copies, strict=True):
        leaves = [leaf for part in step for leaf in _leaves(part)]
        assert all(np.array_equal(a, b) for a, b in zip(leaves, copy, strict=True))


@pytest.mark.parametrize("arrays", ["numpy", "torch"])
def test_reuse_hands_the_same_arrays_out_again(make_vec, arrays) -> None:
    pytest.importorskip(arrays)
    env = make_vec(arrays=arrays, reuse=True)
    obs, _ = env.reset(seed=0)
    before = np.asarray(obs).copy()
    after, *_ = env.step([0, 1, 0, 1])
    assert _address(after) == _address(obs)
    assert not np.array_equal(obs, before)


@every_environment
def test_writing_into_results_changes_no_simulation(make_vec, name) -> None:
    plain, edited = (make_vec(name, 3, **CROWD.get(name, {})) for _ in range(2))
    _, infos = plain.reset(seed=0)
    edited.reset(seed=0)
    for numbers in _actions(plain, 60):
        actions = _legal(numbers, infos)
        left, right = plain.step(actions), edited.step(actions)
        infos = left[4]
        assert all(np.array_equal(a, b) for a, b in zip(left[:4], right[:4], strict=True))
        for part in right:
            for leaf in _leaves(part):
                leaf[...] = 1


@pytest.mark.parametrize(
    ("actions", "error", "message"),
    [
        (np.zeros(3, int), ValueError, r"\(4,\).*got \(3,\)"),
        (np.zeros(4), TypeError, "int64.*got float64"),
    ],
)
def test_bad_actions_name_expected_and_actual(make_vec, actions, error, message) -> None:
    env = make_vec()
    env.reset(seed=0)
    with pytest.raises(error, match=f"actions must .*{message}"):
        env.step(actions)


@every_environment
@every_mode
def test_infos_are_arrays_with_masks(make_vec, name, mode) -> None:
    env = make_vec(name, 3, autoreset_mode=mode, **CROWD.get(name, {}))
    _, first_infos = env.reset(seed=0)
    infos = env.step(_actions(env, 1)[0])[4]

    def look(entries: dict[str, Any], covered: bool) -> None:
        for key, value in entries.items():
            assert isinstance(value, dict | np.ndarray), key
            own = f"_{key}" in entries or key in EVERYWHERE
            assert covered or own or key.startswith("_"), key
            if isinstance(value, dict):
                look(value, own)

    look(infos, covered=False)
    look(first_infos, covered=False)


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
