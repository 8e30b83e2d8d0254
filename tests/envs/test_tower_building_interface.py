"""TowerBuilding through the public interface: spaces, infos, states, pictures, same bytes, page."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from gymnasium import spaces
from tower_rooms import DARK_GREY, GAME, GROUND, PARTS, SHORT, Room
from voxel_worlds import HEAD_SIZES, TINY, check_same_bytes, random_actions

import gpu_envs
from gpu_envs.known import registration

Vec = Callable[..., gpu_envs.VectorEnv]

# Numbers in the state: time, the game's own; and for each agent, its body and what it has done.
TIME, OWN, AGENT = 2, 2, 14
SMALL = {"length_high": 12, "width_high": 12}

# ---- interface


def test_spaces_are_those_of_megaverse(make_vec: Vec) -> None:
    env = make_vec(GAME, 1)
    assert env.single_observation_space == spaces.Box(0, 255, (3, 72, 128), np.uint8)
    assert env.single_action_space == spaces.MultiDiscrete(HEAD_SIZES)
    obs, _ = env.reset(seed=1)
    assert env.observation_space.contains(obs)
    assert make_vec(GAME, 1, actions="flat").single_action_space == spaces.Discrete(324)


@pytest.mark.parametrize("agents", [1, 3])
def test_infos_have_the_parts_of_rewards_and_the_objective_of_ended_episodes(
    make_vec: Vec, agents: int
) -> None:
    options = {**TINY, **SHORT, "agent_count": agents, "episode_seconds": 1}
    env = make_vec(GAME, 2, **options)
    _, infos = env.reset(seed=1)
    assert len(infos["state"]) in (2, 2 * agents)
    idle = np.zeros((2 * agents, 6), int)
    for step in range(1, 16):
        _, rewards, terminated, truncated, infos = env.step(idle)
        assert tuple(infos["reward_parts"]) == PARTS
        assert sum(infos["reward_parts"].values()).tolist() == rewards.tolist()
        assert terminated.tolist() == [step == 15] * (2 * agents)
        assert not truncated.any()
        assert infos["_true_objective"].tolist() == [step == 15] * (2 * agents)
        assert infos["true_objective"].tolist() == [0.0] * (2 * agents)


def test_every_agent_is_told_the_height_of_the_tower(make_vec: Vec) -> None:
    layout = GROUND + "zone 5 4 1 5 4 1; box 5 4 1; agent 5.5 3.5 1; agent 9.5 3.5 1; seconds 0.2"
    env = make_vec(GAME, 1, agent_count=2, **TINY)
    env.reset(seed=1, options={"layout": layout})
    for hand in (1, 1, 0):
        actions = np.zeros((2, 6), int)
        actions[0, 5] = hand
        *_, infos = env.step(actions)
    assert infos["true_objective"].tolist() == [1.0, 1.0]


def test_max_episode_steps_cuts_before_the_clock_and_is_a_truncation(make_simulator) -> None:
    options = {**TINY, **SHORT, "episode_seconds": 1, "max_episode_steps": 7}
    simulator = make_simulator(GAME, 1, **options)
    simulator.reset(seed=1)
    ends = [simulator.step(np.zeros((1, 1, 6), int)) for _ in range(7)]
    assert [bool(end.truncated.item()) for end in ends] == [False] * 6 + [True]
    assert not any(end.terminated.any() for end in ends)


def test_state_is_what_the_columns_say(make_simulator) -> None:
    simulator = make_simulator(GAME, 3, agent_count=2, **SMALL, **TINY)
    simulator.reset(seed=4)
    for actions in random_actions(np.random.default_rng(0), 90, 3, 2):
        state = simulator.step(actions).state.astype(np.float64)
    get = simulator.get
    left = 1 - get("site.passed")[:, 0] / get("site.length")[:, 0]
    assert np.allclose(state[:, 0], left, atol=1e-6)
    assert not state[:, 1].any()
    assert (state[:, 2] == get("site.highest")[:, 0]).all()
    assert np.allclose(state[:, 3], 0.05 * get("site.worth")[:, 0], atol=1e-5)
    agents = state[:, TIME + OWN :][:, : 2 * AGENT].reshape(3, 2, AGENT)
    assert (agents[..., :3] == get("agents.position")[:, :2]).all()
    assert (agents[..., 11] == get("agents.carries")[:, :2]).all()
    assert (agents[..., 12] == get("agents.picked")[:, :2]).all()
    assert (agents[..., 13] == get("agents.visited")[:, :2]).all()
    things = state[:, TIME + OWN + 2 * AGENT :]
    crates = things[:, : 96 * 5].reshape(3, 96, 5)
    there = np.arange(96) < get("crates.count")
    assert (crates[..., 0] == there).all()
    assert (crates[there][:, 4] == get("crates.carrier")[there]).all()
    standing = there & (get("crates.carrier") < 0)
    assert (crates[standing][:, 1:4] == get("crates.cell")[standing] + 0.5).all()
    marks = things[:, 96 * 5 :][:, : 8 * 8].reshape(3, 8, 8)
    assert (marks[:, 0, :2] == (1, 2)).all()
    assert (marks[:, 0, 2:5] == get("marks.low")[:, 0]).all()
    assert (marks[:, 0, 5:8] == get("marks.high")[:, 0]).all()
    statics = things[:, 96 * 5 + 8 * 8 :].reshape(3, 24, 7)
    assert (statics[..., :3] == get("statics.low")).all()
    assert (statics[..., 3:6] == get("statics.high")).all()


def test_forms_of_petting_zoo_play_what_the_simulator_plays(make_simulator) -> None:
    options = {"resolution": "5x9", "agent_count": 3, "episode_seconds": 1, **SHORT}
    simulator = make_simulator(GAME, 1, autoreset_mode="Disabled", **options)
    parallel = gpu_envs.parallel_env(GAME, device="cpu", **options)
    aec = gpu_envs.aec_env(GAME, device="cpu", **options)
    simulator.reset(seed=7)
    for env in (parallel, aec):
        env.reset(seed=7)
    names = [f"player_{k}" for k in range(3)]
    assert parallel.possible_agents == aec.possible_agents == names
    for step, actions in enumerate(random_actions(np.random.default_rng(0), 15, 1, 3)):
        wanted = simulator.step(actions)
        found = parallel.step(dict(zip(names, actions[0], strict=True)))
        for row in actions[0]:
            aec.step(row)
        for k, name in enumerate(names):
            assert found[0][name].tobytes() == wanted.obs[0, k].tobytes()
            assert found[1][name] == wanted.reward[0, k]
            assert found[2][name] == (step == 14)
        assert parallel.state().tobytes() == wanted.state[0].tobytes()
        assert aec.state().tobytes() == wanted.state[0].tobytes()
    assert {found[4][name]["true_objective"] for name in names} == {0.0}
    for env in (parallel, aec):
        env.close()


# ---- pictures


def test_zone_box_and_carried_box_have_their_colours(make_simulator) -> None:
    layout = GROUND + "zone 4 6 1 8 9 1; box 5 4 1; agent 6 2.5 1"
    options = {"resolution": "72x128", "observation": "rgb+segmentation", "look_limit": 0.5}
    room = Room(make_simulator, layout, **options)

    def colours_of(solid: int) -> set[tuple[int, ...]]:
        """Return the colours of a solid, each scaled to its brightest channel."""
        obs = room.last.obs
        pixels = np.moveaxis(obs["rgb"][0, 0], 0, -1)[:-1]
        seen = pixels[obs["segmentation"][0, 0, 0, :-1] == solid].astype(float)
        assert len(seen) > 20
        return {tuple(np.round(10 * p / p.max()).astype(int)) for p in seen if p.max() > 20}

    zone, box = 2, 3
    assert colours_of(zone) == {(10, 10, 10)}
    assert (DARK_GREY >> 16 & 255) / 255 == pytest.approx(1 / 3)
    blue = (0xAD / 0xE6, 0xD8 / 0xE6, 1)
    assert tuple(round(10 * k) for k in blue) in colours_of(box)
    room.stand(5.5, 3.5)
    room.act("i")
    assert room.get("agents.carries") == 0
    room.act("d", 3)
    assert tuple(round(10 * k) for k in blue) in colours_of(box)


def test_floor_of_a_drawn_room_is_brighter_than_its_zone(make_simulator) -> None:
    simulator = make_simulator(GAME, 50, **TINY)
    simulator.reset(seed=3)
    floors = simulator.get("statics.colour")[:, :12]
    lowest = simulator.get("statics.high")[:, :12, 2] == 1
    assert (floors[lowest] != DARK_GREY).all()
    assert (simulator.get("marks.kind")[:, 0] == 2).all()


def test_text_shows_the_zone_and_the_height(make_simulator) -> None:
    layout = GROUND + "zone 5 7 1 6 8 1; box 5 4 1; agent 5.5 3.5 1"
    text = Room(make_simulator, layout).simulator.text(0)
    assert "= the building zone" in text
    assert "height 0" in text
    assert any("==" in line for line in text.splitlines())


# ---- determinism


def test_same_seed_gives_the_same_bytes_alone_in_a_batch_and_after_a_save(make_simulator) -> None:
    steps = random_actions(np.random.default_rng(0), 600, 6, 2)
    options = {**SMALL, **SHORT, "episode_seconds": 5}
    ends, pictures = check_same_bytes(make_simulator, GAME, steps, 240, **options)
    assert ends >= 8
    assert pictures > 350


# ---- the page


def test_the_page_has_the_defaults_of_the_game() -> None:
    page = (Path(__file__).parents[2] / "docs" / "tower_building.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.*?) \| (.*) \| (.*) \|$", page, re.MULTILINE)
    given = {p["name"]: p["default"] for p in registration.find(GAME)["parameters"]}
    seen = set()
    for names, middle, last in rows:
        listed = re.findall(r"`(\w+)`", names)
        if len(listed) == 2 and listed[1] == "_high":
            listed[1] = listed[0].replace("_low", "_high")
        # Rewards have their default in the second column.
        column = last if re.fullmatch(r"[\d., to]+", last) else middle
        values = [float(v) for v in re.findall(r"[\d.]+", column)]
        assert [float(given[name]) for name in listed] == pytest.approx(values), names
        seen |= set(listed)
    rest = {"observation", "resolution", "channels", "hfov", "supersample"}
    assert set(given) - seen == rest
