"""TowerBuilding through the public interface: spaces, infos, states, pictures, same bytes, page."""

from __future__ import annotations

import numpy as np
import pytest
from tower_rooms import DARK_GREY, GAME, GROUND, PARTS, SHORT, Room
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

SMALL = {"length_high": 12, "width_high": 12}

# ---- interface


def test_spaces_are_those_of_megaverse(make_vec: Vec) -> None:
    check_spaces(make_vec, GAME)


@pytest.mark.parametrize("agents", [1, 3])
def test_infos_have_the_parts_of_rewards_and_the_objective_of_ended_episodes(
    make_vec: Vec, agents: int
) -> None:
    options = {**TINY, **SHORT, "agent_count": agents, "episode_seconds": 1}
    check_infos(make_vec(GAME, 2, **options), PARTS)


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
    check_truncation(make_simulator, GAME, **SHORT)


def test_state_is_what_the_columns_say(make_simulator) -> None:
    simulator = make_simulator(GAME, 3, agent_count=2, **SMALL, **TINY)
    state = played_state(simulator, 90)
    agents, things = check_time_and_bodies(simulator, state, "site", 2, 14)
    get = simulator.get
    assert not state[:, 1].any()
    assert (state[:, 2] == get("site.highest")[:, 0]).all()
    assert np.allclose(state[:, 3], 0.05 * get("site.worth")[:, 0], atol=1e-5)
    assert (agents[..., 12] == get("agents.picked")[:, :2]).all()
    assert (agents[..., 13] == get("agents.visited")[:, :2]).all()
    check_crates(simulator, things[:, : 96 * 5].reshape(3, 96, 5))
    marks = things[:, 96 * 5 :][:, : 8 * 8].reshape(3, 8, 8)
    assert (marks[:, 0, :2] == (1, 2)).all()
    assert (marks[:, 0, 2:5] == get("marks.low")[:, 0]).all()
    assert (marks[:, 0, 5:8] == get("marks.high")[:, 0]).all()
    statics = things[:, 96 * 5 + 8 * 8 :].reshape(3, 24, 7)
    assert (statics[..., :3] == get("statics.low")).all()
    assert (statics[..., 3:6] == get("statics.high")).all()


def test_forms_of_petting_zoo_play_what_the_simulator_plays(make_simulator) -> None:
    check_petting_zoo(make_simulator, GAME, **SHORT)


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
    steps = random_actions(np.random.default_rng(0), 1000, 6, 2)
    options = {**SMALL, **SHORT, "episode_seconds": 5}
    ends, pictures = check_same_bytes(make_simulator, GAME, steps, 400, **options)
    assert ends >= 13
    assert pictures > 580


# ---- the page


def test_the_page_has_the_defaults_of_the_game() -> None:
    check_page(GAME, "tower_building.md")
