"""`role=` of make_vec and of gymnasium.make: rows of one role, whichever plays the others."""

from __future__ import annotations

import itertools
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

import gpu_envs

WORLDS = 4
SMALL: dict[str, dict[str, Any]] = {
    "Troupe-v0": {},
    "Band-v0": {},
    "TagGrid-v0": {"num_taggers": 3},
    "TagContinuous-v0": {"num_taggers": 2, "num_runners": 3},
    "SwarmTag-v0": {"chaser_count": 2, "runner_count": 3},
    "HideSeek-v0": {"hider_count": 2, "seeker_count": 2},
    "CovidEconomy-v0": {},
}
CASES = [
    ("Troupe-v0", "dancer"),
    ("Troupe-v0", "clown"),
    ("Band-v0", "drummer"),
    ("TagGrid-v0", "tagger"),
    ("TagGrid-v0", "runner"),
    ("TagContinuous-v0", "tagger"),
    ("SwarmTag-v0", "runner"),
    ("HideSeek-v0", "seeker"),
    ("CovidEconomy-v0", "planner"),
]
every_case = pytest.mark.parametrize(("name", "role"), CASES)

pytestmark = pytest.mark.usefixtures("troupe")


class Recorded:
    """Plays others by a rule, and keeps what it saw and did."""

    def __init__(self, roles: Any) -> None:
        self.spaces = {role.name: role.action_space for role in roles}
        self.seen: list[tuple[str, Any, Any]] = []
        self.last: dict[str, np.ndarray] = {}
        self.step = 0

    def __call__(self, role: str, obs: Any, mask: Any) -> np.ndarray:
        kept = None if mask is None else np.asarray(mask).copy()
        self.seen.append((role, np.asarray(obs).copy(), kept))
        self.step += 1
        space = self.spaces[role]
        space.seed(self.step)
        worlds, n = np.asarray(obs).shape[:2]
        drawn = np.array([[space.sample() for _ in range(n)] for _ in range(worlds)])
        if mask is not None:
            drawn = (np.asarray(mask) * (1 + np.arange(mask.shape[-1]))).argmax(-1)
        self.last[role] = drawn
        return drawn


def _own(env: gpu_envs.VectorEnv, infos: dict[str, Any], step: int) -> np.ndarray:
    env.action_space.seed(step)
    if "action_mask" in infos:
        mask = np.asarray(infos["action_mask"])
        return (mask * np.random.default_rng(step).uniform(0.1, 1, mask.shape)).argmax(-1)
    return env.action_space.sample()


def _play(env: gpu_envs.VectorEnv, steps: int = 30, seed: int = 6) -> list[Any]:
    obs, infos = env.reset(seed=seed)
    seen = [(np.array(obs), infos)]
    for step in range(steps):
        obs, *rest, infos = env.step(_own(env, infos, step))
        seen.append((np.array(obs), *map(np.array, rest), infos))
    return seen


def _assert_same(left: list[Any], right: list[Any]) -> None:
    for one, other in zip(left, right, strict=True):
        for mine, yours in zip(one[:-1], other[:-1], strict=True):
            assert np.array_equal(np.asarray(mine), np.asarray(yours))


@every_case
@pytest.mark.parametrize("arrays", ["numpy", "torch", "jax"])
@pytest.mark.parametrize("mode", ["SameStep", "NextStep"])
def test_rows_of_a_role_are_those_of_the_whole_batch(make_vec, name, role, arrays, mode) -> None:
    pytest.importorskip(arrays)
    options = {**SMALL[name], "autoreset_mode": mode, "max_episode_steps": 12}
    of_rows = {**options, "ends": "world"}  # the default of rows, and not of agents by name
    twin = gpu_envs.batched_parallel_env(name, WORLDS, group="role", device="cpu", **of_rows)
    others = Recorded(twin.roles)
    env = make_vec(name, WORLDS, role=role, others=others, arrays=arrays, **options)
    mine = next(r for r in twin.roles if r.name == role)
    assert env.num_envs == WORLDS * mine.count
    assert (env.num_worlds, env.agents_per_world) == (WORLDS, mine.count)
    assert env.agent_names == list(mine.agents)
    assert env.single_observation_space == mine.observation_space
    assert env.single_action_space == mine.action_space
    obs, infos = env.reset(seed=8)
    whole = twin.reset(seed=8)
    for step in range(30):
        rows = np.asarray(whole[0][role])
        assert np.array_equal(np.asarray(obs), rows.reshape(-1, *rows.shape[2:]))
        theirs = whole[-1][role]
        for key in ("action_mask", "agent_active", "final_obs", "_final_obs", "_episode_stats"):
            assert (key in infos) == (key in theirs), key
            if key in infos:
                part = theirs[key].reshape(env.num_envs, *theirs[key].shape[2:])
                assert np.array_equal(np.asarray(infos[key]), part), key
        actions = _own(env, infos, step)
        before = whole[0]
        others.seen.clear()
        obs, reward, terminated, truncated, infos = env.step(actions)
        for other, seen, mask in others.seen:
            assert np.array_equal(seen, before[other])
            known = whole[-1][other].get("action_mask")
            assert (mask is None) == (known is None)
            assert mask is None or np.array_equal(mask, known)
        assert {o for o, *_ in others.seen} == {r.name for r in twin.roles} - {role}
        shape = (WORLDS, mine.count, *actions.shape[1:])
        whole = twin.step({role: actions.reshape(shape), **others.last})
        for row, part in zip((reward, terminated, truncated), whole[1:4], strict=True):
            assert np.array_equal(np.asarray(row), part[role].ravel())
    twin.close()


@every_case
def test_infos_are_those_of_the_vector_interface_without_role(make_vec, name, role) -> None:
    env = make_vec(name, WORLDS, role=role, max_episode_steps=9, **SMALL[name])
    for *_, infos in _play(env, 12)[1:]:
        assert infos["final_info"]["episode"]["l"].shape == (env.num_envs,)
        assert infos["agent_active"].shape == (env.num_envs,)
        if "state" in infos:
            assert len(infos["state"]) == WORLDS
    assert env.observation_space.shape == (env.num_envs, *env.single_observation_space.shape)
    assert repr(env).startswith(f"<VectorEnv {name} as {role}: 4 worlds x ")


def test_rows_of_infos_repeat_the_state_for_the_role(make_vec) -> None:
    env = make_vec("HideSeek-v0", WORLDS, role="seeker", infos="rows", **SMALL["HideSeek-v0"])
    infos = _play(env, 3)[-1][-1]
    assert infos["state"].shape[0] == env.num_envs == 8
    assert infos["episode_return"].shape == (8,)


def test_fields_of_a_role_come_by_name(make_vec) -> None:
    seen = {}

    def others(role: str, obs: Any, mask: Any) -> np.ndarray:
        seen[role] = obs
        return np.zeros(obs[next(iter(obs))].shape[:2], int)

    env = make_vec("TagGrid-v0", WORLDS, role="tagger", observation="dict", others=others)
    observations, _ = env.reset(seed=0)
    flat = make_vec("TagGrid-v0", WORLDS, role="tagger").reset(seed=0)[0]
    parts = [part.reshape(len(flat), -1) for part in observations.values()]
    assert np.array_equal(np.concatenate(parts, 1), flat)
    infos = env.step(np.zeros(env.num_envs, int))[-1]
    assert infos["final_obs"].keys() == seen["runner"].keys() == observations.keys()
    assert all(view.shape[:2] == (WORLDS, 1) for view in seen["runner"].values())


# Resets


@pytest.mark.parametrize("key", ["worlds", "rows", "env_idx"])
def test_masked_resets_are_of_worlds_or_of_the_roles_rows(make_vec, key) -> None:
    env = make_vec("TagGrid-v0", WORLDS, role="tagger", autoreset_mode="Disabled", num_taggers=3)
    env.reset(seed=0)
    for step in range(3):
        before = env.step(np.full(12, step))[0]
    worlds = np.array([False, True, False, True])
    rows = {"worlds": worlds, "rows": np.repeat(worlds, 3), "env_idx": [3, 4, 5, 9, 10, 11]}[key]
    name = "env_idx" if key == "env_idx" else "reset_mask"
    options = {name: rows}
    after, _ = env.reset(options=options)
    assert options == {name: rows}
    changed = (before != after).reshape(WORLDS, -1).any(1)
    assert changed.tolist() == worlds.tolist()


def test_what_the_padded_space_draws_is_played_and_told(make_vec) -> None:
    env = make_vec("Troupe-v0", WORLDS)
    env.reset(seed=0)
    env.check()
    env.action_space.seed(0)
    env.step(np.where(np.arange(env.num_envs) % 6 == 0, 4, 0))  # a drummer's, for a dancer
    with pytest.raises(ValueError, match=r"4 actions were illegal .* of agent 0 in world 0"):
        env.check()
    for _ in range(30):
        env.step(env.action_space.sample())
    with pytest.raises(ValueError, match="world 1, dancer_0: 5 is not one of 0 to 4"):
        env.step(np.where(np.arange(env.num_envs) == 6, 5, 0))


def test_masks_that_split_a_world_are_refused(make_vec) -> None:
    env = make_vec("TagGrid-v0", WORLDS, role="tagger", num_taggers=3)
    env.reset(seed=0)
    mask = np.zeros(12, bool)
    mask[0] = True
    with pytest.raises(ValueError, match="must be equal for the 3 rows of a world"):
        env.reset(options={"reset_mask": mask})


@every_case
def test_same_seed_is_the_same_play_against_chance(make_vec, name, role) -> None:
    envs = [make_vec(name, WORLDS, role=role, threads=t, **SMALL[name]) for t in (1, 2)]
    plays = [_play(env) for env in envs]
    _assert_same(*plays)
    _assert_same(plays[0], _play(envs[0]))  # and again after a seeded reset
    assert any(
        not np.array_equal(a[0], b[0])
        for a, b in zip(plays[0], _play(envs[0], seed=7), strict=True)
    )


def test_world_of_a_batch_is_the_world_alone(make_vec) -> None:
    whole = make_vec("TagGrid-v0", 5, role="tagger", num_taggers=2)
    part = make_vec("TagGrid-v0", 2, role="tagger", num_taggers=2, first_world=3)
    lone = make_vec("TagGrid-v0", 1, role="tagger", num_taggers=2)
    shown = [whole.reset(seed=3)[0], part.reset(seed=3)[0]]
    for step in range(40):
        assert np.array_equal(shown[0][6:], shown[1])
        actions = np.random.default_rng(step).integers(0, 5, 10)
        shown = [whole.step(actions)[0], part.step(actions[6:])[0]]
    left, right = whole.reset(seed=[5, 6, 7, 8, 9])[0], lone.reset(seed=8)[0]
    for step in range(40):
        assert np.array_equal(left[6:8], right)
        actions = np.random.default_rng(step).integers(0, 5, 10)
        left, right = whole.step(actions)[0], lone.step(actions[6:8])[0]


def test_worlds_that_were_loaded_go_on_without_a_reset(make_vec) -> None:
    options = {"role": "tagger", "num_taggers": 3, "others": "noop"}
    env, twin = (make_vec("TagGrid-v0", WORLDS, **options) for _ in range(2))
    with pytest.raises(gpu_envs.ResetNeeded, match="reset"):
        twin.step([0] * 12)
    env.reset(seed=0)
    for step in range(3):
        env.step(np.full(12, step))
    twin.simulator.load(env.simulator.save())
    for step in range(5):
        assert np.array_equal(env.step(np.full(12, step))[0], twin.step(np.full(12, step))[0])


@pytest.mark.parametrize("change", ["load", "copy_worlds", "set", "reset"])
def test_others_see_worlds_as_they_were_changed(make_vec, change) -> None:
    seen: list[Any] = []

    def watch(obs: Any, mask: Any) -> Any:
        seen.append((np.array(obs), np.array(mask)))
        return mask.argmax(-1)

    others = {"dancer": watch, "clown": "noop"}
    env = make_vec("Troupe-v0", WORLDS, role="drummer", others=others)
    simulator = env.simulator
    env.reset(seed=0)
    for _ in range(3):
        env.step(np.zeros(env.num_envs, int))
    saved = simulator.save()
    for _ in range(2):
        env.step(np.full(env.num_envs, 4))
    if change == "load":
        simulator.load(saved)
    elif change == "copy_worlds":
        simulator.copy_worlds([0], [2], reseed=False)
    elif change == "set":
        simulator.set("dancers.strength", 0.75)
    else:
        simulator.reset(seed=9)
    whole = simulator.observe()
    env.step(np.zeros(env.num_envs, int))
    for array, shown in zip((whole.obs, whole.action_mask), seen[-1], strict=True):
        assert np.array_equal(simulator.by_role(array)["dancer"][..., : shown.shape[-1]], shown)
    if change == "load":
        env.reset()  # goes on, whatever was loaded
        env.step(np.zeros(env.num_envs, int))


def test_others_see_the_worlds_after_a_strict_step_that_raised(make_vec) -> None:
    seen: list[Any] = []

    def watch(obs: Any, mask: Any) -> Any:
        seen.append(np.array(obs))
        return np.zeros(obs.shape[:2], int)

    others = {"drummer": watch, "clown": "noop"}
    env = make_vec("Troupe-v0", WORLDS, role="dancer", others=others, strict=True)
    env.reset(seed=0)
    env.step(np.ones(env.num_envs, int))
    with pytest.raises(ValueError, match="illegal"):
        env.step(np.ones(env.num_envs, int))  # nobody moves the same way twice
    whole = env.simulator.by_role(np.array(env.simulator.observe().obs))["drummer"]
    assert not np.array_equal(whole, seen[-1])
    env.step(np.zeros(env.num_envs, int))
    assert np.array_equal(whole, seen[-1])


# The interface around it


def test_reused_arrays_hold_the_same(make_vec) -> None:
    options = {"role": "tagger", "num_taggers": 3}
    plays = [_play(make_vec("TagGrid-v0", WORLDS, reuse=reuse, **options)) for reuse in (0, 1)]
    _assert_same(*plays)


@pytest.mark.parametrize("name", ["TagGrid-v0", "Troupe-v0"])
def test_outputs_that_others_need_stay_hidden(make_vec, name) -> None:
    role = "tagger" if name == "TagGrid-v0" else "dancer"
    env = make_vec(name, WORLDS, role=role, outputs=[], **SMALL[name])
    _, infos = env.reset(seed=0)
    assert infos == {}
    for _ in range(3):
        infos = env.step(np.zeros(env.num_envs, int))[-1]
    assert infos == {}
    assert env.simulator.layout.output("agent_active") is not None
    _assert_same(
        [row[:1] + row[-1:] for row in _play_zeros(env)],
        [
            row[:1] + row[-1:]
            for row in _play_zeros(make_vec(name, WORLDS, role=role, **SMALL[name]))
        ],
    )


def _play_zeros(env: gpu_envs.VectorEnv) -> list[Any]:
    seen = [env.reset(seed=1)]
    return seen + [env.step(np.zeros(env.num_envs, int)) for _ in range(5)]


def test_spec_makes_the_same_again() -> None:
    env = gymnasium.make_vec("gpu_envs/TagGrid-v0", num_envs=2, role="runner", others="noop")
    again = gymnasium.make_vec(env.spec)
    assert again.unwrapped.num_envs == env.num_envs == 2
    assert again.unwrapped.role.name == "runner"
    env.close()
    again.close()


def test_disabled_autoreset_is_kept(make_vec) -> None:
    env = make_vec(
        "Troupe-v0", WORLDS, role="drummer", autoreset_mode="Disabled", max_episode_steps=4
    )
    assert env.autoreset_mode is AutoresetMode.DISABLED
    env.reset(seed=0)
    for step in range(1, 7):
        _, reward, _, truncated, infos = env.step(np.ones(env.num_envs, int))
        assert truncated.all() == (step >= 4)
        assert "final_obs" not in infos
    assert not reward.any()
    with pytest.raises(gpu_envs.ResetNeeded):
        env.check()


# One row


@pytest.mark.parametrize("others", ["random", "noop"])
@pytest.mark.parametrize(
    ("name", "role", "options"),
    [
        ("TagGrid-v0", "runner", {}),
        ("TagContinuous-v0", "tagger", {"num_taggers": 1, "num_runners": 3}),
        ("SwarmTag-v0", "chaser", {"chaser_count": 1, "runner_count": 4}),
        ("HideSeek-v0", "hider", {"hider_count": 1}),
        ("Troupe-v0", "dancer", {"dancer_count": 1}),
        ("Band-v0", "drummer", {"drummer_count": 1}),
        ("CovidEconomy-v0", "planner", {}),
    ],
)
@pytest.mark.filterwarnings("ignore::UserWarning")  # of bounds that are infinite
def test_single_environment_of_a_role_passes_gymnasiums_checks(name, role, options, others) -> None:
    env = gymnasium.make(f"gpu_envs/{name}", role=role, others=others, **options)
    check_env(env.unwrapped, skip_render_check=True)
    env.close()


def test_single_environment_is_the_batch_of_one_world(make_vec) -> None:
    env = gymnasium.make("gpu_envs/TagGrid-v0", role="runner")
    batch = make_vec("TagGrid-v0", 1, role="runner", autoreset_mode="Disabled")
    shown = [env.reset(seed=4), batch.reset(seed=4)]
    for step in range(60):
        assert np.array_equal(shown[0][0], shown[1][0][0])
        one, many = env.step(step % 5), batch.step([step % 5])
        assert [one[k] for k in (1, 2, 3)] == [many[k][0] for k in (1, 2, 3)]
        shown = [one, many]
        if one[2] or one[3]:
            break
    assert step > 3
    env.close()


@pytest.mark.parametrize("absence", [0, 1])
def test_single_episode_of_an_absent_agent_ends_with_its_world(absence) -> None:
    env = gymnasium.make(
        "gpu_envs/Troupe-v0", role="clown", absence=absence, others="noop"
    ).unwrapped
    _, info = env.reset(seed=0)
    assert bool(info["agent_active"]) == (not absence)
    lengths = []
    for _ in range(2):
        for step in itertools.count(1):
            observation, reward, terminated, truncated, info = env.step(0)
            if absence:
                assert not observation.any()
                assert (reward, terminated) == (0, False)
            if truncated:
                lengths.append(step)
                break
        env.reset()
    assert lengths == [25, 25]
    env.close()


def test_role_of_several_agents_is_no_single_environment() -> None:
    with pytest.raises(ValueError, match=r"'hider' of HideSeek-v0 has 3 agents.*hider_count=1"):
        gymnasium.make("gpu_envs/HideSeek-v0", role="hider")
    with pytest.raises(ValueError, match=r"'drummer' of Troupe-v0 has 2 agents.*make_vec"):
        gymnasium.make("gpu_envs/Troupe-v0", role="drummer")


def test_a_float_that_rounds_to_a_bound_is_played_once(make_vec) -> None:
    env = make_vec("SwarmTag-v0", WORLDS, role="chaser", **SMALL["SwarmTag-v0"])
    env.reset(seed=1)
    env.step(np.full(env.action_space.shape, 1 + 1e-9))
    assert (env.simulator.get("world.step") == 1).all()
    with pytest.raises(ValueError, match="action"):
        env.step(np.full(env.action_space.shape, 1.5))
    assert (env.simulator.get("world.step") == 1).all()
