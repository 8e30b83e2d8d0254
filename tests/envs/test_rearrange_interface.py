"""Rearrange through the public interface: spaces, infos, states, pictures, same bytes, page."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from gymnasium import spaces
from rearrange_rooms import GAME, PARTS, Room
from voxel_worlds import HEAD_SIZES, TINY, check_same_bytes, random_actions

import gpu_envs
from gpu_envs.known import registration

Vec = Callable[..., gpu_envs.VectorEnv]
TIME, OWN, AGENT, OBJECT = 2, 2, 12, 10


def test_spaces_are_those_of_megaverse(make_vec: Vec) -> None:
    env = make_vec(GAME, 1)
    assert env.single_observation_space == spaces.Box(0, 255, (3, 72, 128), np.uint8)
    assert env.single_action_space == spaces.MultiDiscrete(HEAD_SIZES)
    obs, _ = env.reset(seed=1)
    assert env.observation_space.contains(obs)


@pytest.mark.parametrize("agents", [1, 3])
def test_infos_have_the_parts_of_rewards_and_the_objective_of_ended_episodes(
    make_vec: Vec, agents: int
) -> None:
    env = make_vec(GAME, 2, agent_count=agents, episode_seconds=1, **TINY)
    env.reset(seed=1)
    for step in range(1, 16):
        _, rewards, terminated, truncated, infos = env.step(np.zeros((2 * agents, 6), int))
        assert tuple(infos["reward_parts"]) == PARTS
        assert sum(infos["reward_parts"].values()).tolist() == rewards.tolist()
        assert terminated.tolist() == [step == 15] * (2 * agents)
        assert not truncated.any()
        assert infos["_true_objective"].tolist() == [step == 15] * (2 * agents)


def test_state_is_what_the_columns_say(make_simulator) -> None:
    simulator = make_simulator(GAME, 3, agent_count=2, **TINY)
    simulator.reset(seed=4)
    for actions in random_actions(np.random.default_rng(0), 60, 3, 2):
        state = simulator.step(actions).state.astype(np.float64)
    get = simulator.get
    left = 1 - get("task.passed")[:, 0] / get("task.length")[:, 0]
    assert np.allclose(state[:, 0], left, atol=1e-6)
    assert (state[:, 1] == get("task.solved")[:, 0]).all()
    assert (state[:, 2] == get("task.object_count")[:, 0]).all()
    assert (state[:, 3] == get("task.best")[:, 0]).all()
    agents = state[:, TIME + OWN :][:, : 2 * AGENT].reshape(3, 2, AGENT)
    assert (agents[..., :3] == get("agents.position")[:, :2]).all()
    assert (agents[..., 11] == get("agents.carries")[:, :2]).all()
    things = state[:, TIME + OWN + 2 * AGENT :]
    objects = things[:, : 18 * OBJECT].reshape(3, 18, OBJECT)
    there = np.arange(18) < get("crates.count")
    assert (objects[..., 0] == there).all() and not objects[~there].any()
    standing = there & (get("crates.carrier") < 0)
    assert (objects[standing][:, 1:4] == get("crates.cell")[standing] + 0.5).all()
    assert (objects[there][:, 4] == get("crates.carrier")[there]).all()
    assert (objects[there][:, 5] == get("crates.form")[there]).all()
    assert (objects[there][:, 9] == get("crates.fixed")[there]).all()
    colour = get("crates.colour")[there]
    for k, shift in enumerate((16, 8, 0)):
        channel = (colour >> shift & 255) / 255
        assert objects[there][:, 6 + k] == pytest.approx(channel, abs=1e-5)
    statics = things[:, 18 * OBJECT :].reshape(3, 16, 7)
    assert (statics[..., :3] == get("statics.low")).all()


# Shapes, and how many pixels of 72 x 128 they cover, seen head-on by about two metres and a half.
SEEN = {"block": (320, 700), "ball": (200, 480), "pill": (140, 420), "drum": (220, 620)}


@pytest.mark.parametrize("shape", SEEN)
def test_shapes_are_seen_in_their_colours_and_sizes(make_simulator, shape: str) -> None:
    layout = f"object {shape} violet 0 0 0 at 0 0 0; object block grey 1 0 0 at -2 2 0; "
    options = {"resolution": "72x128", "observation": "rgb+segmentation"}
    room = Room(make_simulator, layout + "agent 13.5 6 2", **options)
    obs = room.last.obs
    pixels = np.moveaxis(obs["rgb"][0, 0], 0, -1)[:-1].reshape(-1, 3).astype(float)
    violet = np.array([0xD4, 0x68, 0xEE]) / 0xEE
    light = pixels.max(axis=1, keepdims=True)
    is_violet = (np.abs(pixels - light * violet).max(axis=1) < 2.5) & (light[:, 0] > 40)
    least, most = SEEN[shape]
    assert least < is_violet.sum() < most
    solids = obs["segmentation"][0, 0, 0, :-1].ravel()
    assert len(np.unique(solids[is_violet])) == 1


def test_carried_object_is_seen_smaller(make_simulator) -> None:
    layout = "object ball violet 0 0 0 at 0 -2 0; object block grey 1 0 0; agent 13.5 5.4 2"
    options = {"resolution": "72x128", "observation": "segmentation", "look_limit": 0.6}
    room = Room(make_simulator, layout, **options)
    before = room.last.obs.ravel()
    room.act("i")
    assert room.is_held(0)
    room.act("d", 3)
    ball = np.setdiff1d(np.unique(before), [0])
    assert len(ball) > 1
    assert np.isin(room.last.obs, ball).any()


def test_same_seed_gives_the_same_bytes_alone_in_a_batch_and_after_a_save(make_simulator) -> None:
    steps = random_actions(np.random.default_rng(0), 600, 6, 2)
    ends, pictures = check_same_bytes(make_simulator, GAME, steps, 240, episode_seconds=5)
    assert ends >= 8
    assert pictures > 300


def test_the_page_has_the_defaults_of_the_game() -> None:
    page = (Path(__file__).parents[2] / "docs" / "rearrange.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.*?) \| (.*) \| (.*) \|$", page, re.MULTILINE)
    given = {p["name"]: p["default"] for p in registration.find(GAME)["parameters"]}
    seen = set()
    for names, middle, last in rows:
        listed = re.findall(r"`(\w+)`", names)
        if len(listed) == 2 and listed[1] == "_high":
            listed[1] = listed[0].replace("_low", "_high")
        # Rewards have their default in the second column; there are 9 objects at most.
        column = (last if re.match(r"\d", last) else middle).replace("all", "9")
        values = [float(v) for v in re.findall(r"[\d.]+", column)]
        assert [float(given[name]) for name in listed] == pytest.approx(values), names
        seen |= set(listed)
    rest = {"observation", "resolution", "channels", "hfov", "supersample", "team_spirit"}
    assert set(given) - seen == rest
