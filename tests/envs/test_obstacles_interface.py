"""Obstacle courses through the public interface: spaces, infos, states, PettingZoo, same bytes."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from obstacles_courses import BOTH, PARTS, SHORT, Course
from voxel_games import (
    VIEW,
    Vec,
    check_infos,
    check_petting_zoo,
    check_seeds_and_episodes_differ,
    check_spaces,
    check_time_and_bodies,
    check_truncation,
    listed_parameters,
    played_state,
)
from voxel_worlds import GROUND, TINY, check_same_bytes, random_actions
from voxel_worlds import HEAD_SIZES as HEADS

from gpu_envs.known import registration

# Numbers in the state: time; and for each agent, its body and what it reached.
TIME, AGENT = 2, 14


# ---- interface


@BOTH
def test_spaces_are_those_of_megaverse(make_vec: Vec, name: str) -> None:
    check_spaces(make_vec, name)


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
    check_infos(make_vec("ObstaclesEasy-v0", 2, **options), PARTS)


def test_max_episode_steps_cuts_before_the_clock_and_is_a_truncation(make_simulator) -> None:
    check_truncation(make_simulator, "ObstaclesEasy-v0", **SHORT)


@BOTH
def test_state_is_what_the_columns_say(make_simulator, name: str) -> None:
    simulator = make_simulator(name, 3, agent_count=2, **TINY)
    get = simulator.get
    state = played_state(simulator, 60)
    _, things = check_time_and_bodies(simulator, state, "course", 0, AGENT)
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
    check_petting_zoo(make_simulator, "ObstaclesEasy-v0", **SHORT)


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
    check_seeds_and_episodes_differ(make_simulator, "ObstaclesEasy-v0")


# ---- the page


def test_the_page_has_the_defaults_of_both_courses() -> None:
    page = Path(__file__).parents[2] / "docs" / "obstacles.md"
    rows = re.findall(r"^\| (`.*?) \| .* \| (.*) \| (.*) \|$", page.read_text(), re.MULTILINE)
    told: dict[str, set[str]] = {"ObstaclesEasy-v0": set(), "ObstaclesHard-v0": set()}
    for names, *columns in rows:
        listed = listed_parameters(names)
        for (env_id, seen), column in zip(told.items(), columns, strict=True):
            values = [float(v) for v in re.findall(r"[\d.]+", column)] or [1.0]
            values = values if len(values) == len(listed) else values * len(listed)
            given = {p["name"]: p["default"] for p in registration.find(env_id)["parameters"]}
            assert [float(given[name]) for name in listed] == pytest.approx(values), (env_id, names)
            seen |= set(listed)
    rest = VIEW | {"team_spirit"}
    for env_id, seen in told.items():
        every = {p["name"] for p in registration.find(env_id)["parameters"]}
        assert every - seen - rest == {f"{key}_reward" for key in PARTS}
