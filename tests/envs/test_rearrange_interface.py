"""Rearrange through the public interface: spaces, infos, states, pictures, same bytes, page."""

from __future__ import annotations

import numpy as np
import pytest
from rearrange_rooms import GAME, PARTS, Room
from voxel_games import (
    Vec,
    check_crates,
    check_infos,
    check_page,
    check_petting_zoo,
    check_spaces,
    check_time_and_bodies,
    check_truncation,
    played_state,
)
from voxel_worlds import TINY, check_same_bytes, random_actions

OBJECT = 10  # numbers of each in the state


def test_spaces_are_those_of_megaverse(make_vec: Vec) -> None:
    check_spaces(make_vec, GAME)


@pytest.mark.parametrize("agents", [1, 3])
def test_infos_have_the_parts_of_rewards_and_the_objective_of_ended_episodes(
    make_vec: Vec, agents: int
) -> None:
    check_infos(make_vec(GAME, 2, agent_count=agents, episode_seconds=1, **TINY), PARTS)


def test_max_episode_steps_cuts_before_the_clock_and_is_a_truncation(make_simulator) -> None:
    check_truncation(make_simulator, GAME)


def test_forms_of_petting_zoo_play_what_the_simulator_plays(make_simulator) -> None:
    check_petting_zoo(make_simulator, GAME)


def test_state_is_what_the_columns_say(make_simulator) -> None:
    simulator = make_simulator(GAME, 3, agent_count=2, **TINY)
    state = played_state(simulator, 60)
    _, things = check_time_and_bodies(simulator, state, "task", 2, 12)
    get = simulator.get
    assert (state[:, 2] == get("task.object_count")[:, 0]).all()
    assert (state[:, 3] == get("task.best")[:, 0]).all()
    objects = things[:, : 18 * OBJECT].reshape(3, 18, OBJECT)
    there = check_crates(simulator, objects)
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


def test_text_shows_pedestals_objects_and_what_is_in_place(make_simulator) -> None:
    things = "object ball green 0 0 0 at 2 1 0; object drum red 1 0 0; agent 9.5 2.5 1.5"
    text = Room(make_simulator, things).simulator.text(0)
    rows = [line for line in text.splitlines() if "bb" in line]
    assert rows == ["#0111bb1001111b100#"]  # the model's two, and the drum in place
    assert "at best 1 of 2 in place" in text


def test_same_seed_gives_the_same_bytes_alone_in_a_batch_and_after_a_save(make_simulator) -> None:
    steps = random_actions(np.random.default_rng(0), 1000, 6, 2)
    ends, pictures = check_same_bytes(make_simulator, GAME, steps, 400, episode_seconds=5)
    assert ends >= 13
    assert pictures > 500


def test_the_page_has_the_defaults_of_the_game() -> None:
    check_page(GAME, "rearrange.md", all_of="9")
