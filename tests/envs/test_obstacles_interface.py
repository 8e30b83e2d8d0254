"""Obstacle courses through the public interface: spaces, infos, states, PettingZoo, same bytes."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from gymnasium import spaces
from obstacles_courses import BOTH, PARTS, SHORT, Course
from voxel_worlds import GROUND, TINY, check_same_bytes, random_actions
from voxel_worlds import HEAD_SIZES as HEADS

import gpu_envs
from gpu_envs.known import registration

Vec = Callable[..., gpu_envs.VectorEnv]

# Numbers in the state: time; and for each agent, its body and what it reached.
TIME, AGENT = 2, 14


def drawn(simulator: gpu_envs.Simulator, steps: int, seed: int = 0) -> np.ndarray:
    shape = (steps, simulator.num_worlds, simulator.agents_per_world)
    return random_actions(np.random.default_rng(seed), *shape)


# ---- interface


@BOTH
def test_spaces_are_those_of_megaverse(make_vec: Vec, name: str) -> None:
    env = make_vec(name, 1)
    assert env.single_observation_space == spaces.Box(0, 255, (3, 72, 128), np.uint8)
    assert env.single_action_space == spaces.MultiDiscrete(HEADS)
    obs, _ = env.reset(seed=1)
    assert obs.shape == (1, 3, 72, 128)
    assert env.observation_space.contains(obs)
    assert make_vec(name, 1, actions="flat").single_action_space == spaces.Discrete(324)


def test_flat_actions_count_through_the_heads_and_the_last_is_the_quickest(make_simulator) -> None:
    heads = make_simulator("ObstaclesEasy-v0", 324, **TINY)
    flat = make_simulator("ObstaclesEasy-v0", 324, actions="flat", **TINY)
    for simulator in (heads, flat):
        simulator.reset(seed=1)
        simulator.copy_worlds([0] * 323, range(1, 324))
    numbers = np.arange(324)
    combined = np.stack(np.unravel_index(numbers, HEADS), axis=-1)
    for _ in range(12):  # they land, jump and walk
        flat.step(numbers[:, np.newaxis])
        heads.step(combined[:, np.newaxis])
    assert flat.get("agents.position").tobytes() == heads.get("agents.position").tobytes()
    assert flat.get("agents.yaw").tobytes() == heads.get("agents.yaw").tobytes()
    assert len(np.unique(heads.get("agents.position")[:, 0], axis=0)) > 27


def test_names_of_actions_are_those_of_the_heads_in_order(make_simulator) -> None:
    names = make_simulator("ObstaclesEasy-v0", 1, **TINY).action_names()
    assert len(names) == sum(HEADS)
    assert names[1:3] == ["forward", "backward"]
    assert names[4:6] == ["strafe left", "strafe right"]
    assert names[7:9] == ["turn left", "turn right"]


@pytest.mark.parametrize("agents", [1, 3])
def test_infos_have_the_parts_of_rewards_and_the_true_objective_of_ended_episodes(
    make_vec: Vec, agents: int
) -> None:
    options = {**TINY, **SHORT, "agent_count": agents, "episode_seconds": 1}
    env = make_vec("ObstaclesEasy-v0", 2, **options)
    _, infos = env.reset(seed=1)
    idle = np.zeros((2 * agents, 6), int)
    for step in range(1, 16):
        _, rewards, terminated, truncated, infos = env.step(idle)
        assert tuple(infos["reward_parts"]) == PARTS
        assert sum(infos["reward_parts"].values()).tolist() == rewards.tolist()
        assert terminated.tolist() == [step == 15] * (2 * agents)
        assert not truncated.any()
        assert infos["_true_objective"].tolist() == [step == 15] * (2 * agents)
        assert infos["true_objective"].tolist() == [0.0] * (2 * agents)


def test_max_episode_steps_cuts_before_the_clock_and_is_a_truncation(make_simulator) -> None:
    options = {**TINY, **SHORT, "episode_seconds": 1, "max_episode_steps": 7}
    simulator = make_simulator("ObstaclesEasy-v0", 1, **options)
    simulator.reset(seed=1)
    ends = [simulator.step(np.zeros((1, 1, 6), int)) for _ in range(7)]
    assert [bool(end.truncated.item()) for end in ends] == [False] * 6 + [True]
    assert not any(end.terminated.any() for end in ends)


@BOTH
def test_state_is_what_the_columns_say(make_simulator, name: str) -> None:
    simulator = make_simulator(name, 3, agent_count=2, **TINY)
    simulator.reset(seed=4)
    for actions in drawn(simulator, 60):
        state = simulator.step(actions).state.astype(np.float64)
    get = simulator.get
    left = 1 - get("course.passed")[:, 0] / get("course.length")[:, 0]
    assert np.allclose(state[:, 0], left, atol=1e-6)
    assert (state[:, 1] == get("course.solved")[:, 0]).all()
    agents = state[:, TIME : TIME + 2 * AGENT].reshape(3, 2, AGENT)
    assert (agents[..., :3] == get("agents.position")[:, :2]).all()
    assert (agents[..., 3:5] == get("agents.velocity")[:, :2]).all()
    assert (agents[..., 5] == get("agents.climb")[:, :2]).all()
    yaw = get("agents.yaw")[:, :2]
    assert np.allclose(agents[..., 6], np.cos(yaw), atol=1e-6)
    assert np.allclose(agents[..., 7], np.sin(yaw), atol=1e-6)
    assert (agents[..., 8] == get("agents.pitch")[:, :2]).all()
    assert (agents[..., 11] == get("agents.carries")[:, :2]).all()
    things = state[:, TIME + 2 * AGENT :]
    for table, columns in (("crates", 5), ("diamonds", 4), ("marks", 8), ("statics", 7)):
        shape = {"crates": "cell", "diamonds": "cell", "marks": "low", "statics": "low"}[table]
        corners = get(f"{table}.{shape}")
        rows = corners.shape[1]
        part = things[:, : rows * columns].reshape(3, rows, columns)
        things = things[:, rows * columns :]
        there = np.arange(rows) < get(f"{table}.count")
        assert not part[~there].any()
        first = {"crates": 1, "diamonds": 1, "marks": 2, "statics": 0}[table]
        shown = part[..., first : first + 3]
        if table == "crates":
            there &= get("crates.carrier") < 0
            shown = shown - 0.5
        assert there.any()
        assert (shown[there] == corners[there]).all()
    assert things.shape[1] == 0


def test_state_follows_a_box_that_is_carried(make_simulator) -> None:
    course = Course(make_simulator, GROUND + "box 5 4 1; agent 5.5 3.5 1")
    row = TIME + AGENT
    assert course.last.state[0, row : row + 5].tolist() == [1, 5.5, 4.5, 1.5, -1]
    state = course.act("i").state[0]
    # A metre ahead of the eyes, 0.74 m below them.
    assert np.allclose(state[row : row + 5], [1, 5.5, 4.5, 1.315 + 1 - 0.74, 0], atol=1e-5)
    assert state[TIME + 10 : TIME + 12].tolist() == [1, 0]


def test_forms_of_petting_zoo_play_what_the_simulator_plays(make_simulator) -> None:
    options = {"resolution": "5x9", "agent_count": 3, "episode_seconds": 1, **SHORT}
    simulator = make_simulator("ObstaclesEasy-v0", 1, autoreset_mode="Disabled", **options)
    parallel = gpu_envs.parallel_env("ObstaclesEasy-v0", device="cpu", **options)
    batch = gpu_envs.batched_parallel_env(
        "ObstaclesEasy-v0", 2, device="cpu", autoreset_mode="Disabled", **options
    )
    aec = gpu_envs.aec_env("ObstaclesEasy-v0", device="cpu", **options)
    simulator.reset(seed=7)
    for env in (parallel, batch, aec):
        env.reset(seed=7)
    names = [f"player_{k}" for k in range(3)]
    assert parallel.possible_agents == batch.agents == aec.possible_agents == names
    assert parallel.observation_space("player_0") == spaces.Box(0, 255, (3, 5, 9), np.uint8)
    assert parallel.action_space("player_2") == spaces.MultiDiscrete(HEADS)
    for step, actions in enumerate(drawn(simulator, 15)):
        wanted = simulator.step(actions)
        by_name = dict(zip(names, actions[0], strict=True))
        found = parallel.step(by_name)
        many = batch.step({name: np.stack([row, row]) for name, row in by_name.items()})
        for row in actions[0]:
            aec.step(row)
        for k, name in enumerate(names):
            assert found[0][name].tobytes() == wanted.obs[0, k].tobytes()
            assert many[0][name][0].tobytes() == wanted.obs[0, k].tobytes()
            assert found[1][name] == wanted.reward[0, k]
            assert found[2][name] == bool(many[2][name][0]) == (step == 14)
            assert not found[3][name]
        assert parallel.state().tobytes() == wanted.state[0].tobytes()
        assert aec.state().tobytes() == wanted.state[0].tobytes()
    assert parallel.agents == []
    assert {found[4][name]["true_objective"] for name in names} == {0.0}
    for env in (parallel, batch, aec):
        env.close()


# ---- determinism


@BOTH
def test_same_seed_gives_the_same_bytes_alone_in_a_batch_and_after_a_save(
    make_simulator, name: str
) -> None:
    steps = random_actions(np.random.default_rng(0), 1000, 6, 2)
    ends, pictures = check_same_bytes(make_simulator, name, steps, 440, episode_seconds=5, **SHORT)
    assert ends >= 13
    assert pictures > 600


def test_seeds_differ(make_simulator) -> None:
    simulator = make_simulator("ObstaclesEasy-v0", 1, **TINY)
    assert len({simulator.reset(seed=k).state.tobytes() for k in range(20)}) == 20


# ---- the page


def test_the_page_has_the_defaults_of_both_courses() -> None:
    page = Path(__file__).parents[2] / "docs" / "obstacles.md"
    rows = re.findall(r"^\| (`.*?) \| .* \| (.*) \| (.*) \|$", page.read_text(), re.MULTILINE)
    told: dict[str, set[str]] = {"ObstaclesEasy-v0": set(), "ObstaclesHard-v0": set()}
    for names, *columns in rows:
        listed = re.findall(r"`(\w+)`", names)
        if len(listed) == 2 and listed[1] == "_high":
            listed[1] = listed[0].replace("_low", "_high")
        for (env_id, seen), column in zip(told.items(), columns, strict=True):
            values = [float(v) for v in re.findall(r"[\d.]+", column)] or [1.0]
            values = values if len(values) == len(listed) else values * len(listed)
            given = {p["name"]: p["default"] for p in registration.find(env_id)["parameters"]}
            assert [float(given[name]) for name in listed] == pytest.approx(values), (env_id, names)
            seen |= set(listed)
    rest = {"observation", "resolution", "channels", "hfov", "supersample", "team_spirit"}
    for env_id, seen in told.items():
        every = {p["name"] for p in registration.find(env_id)["parameters"]}
        assert every - seen - rest == {f"{key}_reward" for key in PARTS}
