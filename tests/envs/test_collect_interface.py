"""Collect through the public interface: spaces, infos, states, pictures, same bytes, page."""

from __future__ import annotations

import numpy as np
import pytest
from collect_lands import GAME, GROUND, PARTS, SHORT, SIDE, Land
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
from voxel_pictures import LAYERS, layers, rgb_of
from voxel_worlds import TINY, check_same_bytes, random_actions

SMALL = {"side_high": 12}


def test_spaces_are_those_of_megaverse(make_vec: Vec) -> None:
    check_spaces(make_vec, GAME)


@pytest.mark.parametrize("agents", [1, 3])
def test_infos_have_the_parts_of_rewards_and_the_objective_of_ended_episodes(
    make_vec: Vec, agents: int
) -> None:
    places = "".join(f"agent {3 * k + 1.5} 2 1; " for k in range(agents))
    env = make_vec(GAME, 2, agent_count=agents, **TINY)
    check_infos(env, PARTS, GROUND + "diamond 18 18 1; " + places + "seconds 1")


def test_max_episode_steps_cuts_before_the_clock_and_is_a_truncation(make_simulator) -> None:
    check_truncation(make_simulator, GAME, **SHORT)


def test_forms_of_petting_zoo_play_what_the_simulator_plays(make_simulator) -> None:
    check_petting_zoo(make_simulator, GAME, **SHORT)


def test_state_is_what_the_columns_say(make_simulator) -> None:
    simulator = make_simulator(GAME, 3, agent_count=2, **SMALL, **TINY)
    state = played_state(simulator, 60)
    _, things = check_time_and_bodies(simulator, state, "land", 1, 12)
    get = simulator.get
    assert (state[:, 2] == get("land.good_left")[:, 0]).all()
    check_crates(simulator, things[:, : 80 * 5].reshape(3, 80, 5))
    diamonds = things[:, 80 * 5 :][:, : 96 * 4].reshape(3, 96, 4)
    there = np.arange(96) < get("diamonds.count")
    sign = np.where(get("diamonds.colour") == 0xFF0000, -1, 1) * get("diamonds.left")
    assert (diamonds[..., 0][there] == sign[there]).all() and not diamonds[~there].any()
    assert (diamonds[there][:, 1:] == get("diamonds.cell")[there]).all()
    assert {-1, 0, 1} >= set(sign[there].tolist()) >= {-1, 1}
    rest = things[:, 80 * 5 + 96 * 4 :]
    statics = rest[:, : 24 * 7].reshape(3, 24, 7)
    assert (statics[..., 3:6] == get("statics.high")).all()
    columns = rest[:, 24 * 7 :].reshape(3, SIDE, SIDE)
    assert (columns == get("columns.height").reshape(3, SIDE, SIDE)).all()


def test_diamonds_and_hills_have_their_colours_and_the_taken_is_gone(make_simulator) -> None:
    things = "hill 3 9 8 9 3; diamond 5 6 1; diamond 7 6 1 red; agent 5.5 4.2 1"
    layout = GROUND + "diamond 18 18 1; " + things
    land = Land(make_simulator, layout, resolution="72x128", **LAYERS)

    def seen(colour: int) -> int:
        """Count pixels that are this colour, in any light."""
        wanted = rgb_of(colour)
        pixels = layers(land)[0].reshape(-1, 3).astype(float)
        light = pixels @ wanted / (wanted @ wanted)
        off = np.abs(pixels - light[:, None] * wanted).max(axis=1)
        return int(((off < 1.6) & (light > 0.25)).sum())

    green, red, hill = 0x3BB372, 0xFF0000, 0xCCFFCC
    assert min(seen(green), seen(red)) > 20
    assert seen(hill) > 300
    before = seen(green)
    land.act("f", 7)
    assert land.total[0].tolist() == [1, 0, 0, 0]
    land.act("b", 12)
    assert seen(green) < before / 2


def test_text_shows_heights_and_what_is_left(make_simulator) -> None:
    land = Land(make_simulator, GROUND + "hill 3 3 5 5 4; diamond 9 9 1; agent 1.5 1.5 1")
    text = land.simulator.text(0)
    assert "1 diamonds to collect" in text
    assert any("444" in line for line in text.splitlines())


def test_same_seed_gives_the_same_bytes_alone_in_a_batch_and_after_a_save(make_simulator) -> None:
    steps = random_actions(np.random.default_rng(0), 1000, 6, 2)
    options = {**SMALL, **SHORT, "episode_seconds": 5}
    ends, pictures = check_same_bytes(make_simulator, GAME, steps, 400, **options)
    assert ends >= 12
    assert pictures > 500


def test_the_page_has_the_defaults_of_the_game() -> None:
    check_page(GAME, "collect.md")
