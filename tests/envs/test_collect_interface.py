"""Collect through the public interface: spaces, infos, states, pictures, same bytes, page."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from collect_lands import GAME, GROUND, PARTS, SHORT, SIDE, Land
from gymnasium import spaces
from voxel_worlds import HEAD_SIZES, TINY, check_same_bytes, random_actions

import gpu_envs
from gpu_envs.known import registration

Vec = Callable[..., gpu_envs.VectorEnv]
TIME, OWN, AGENT = 2, 1, 12
SMALL = {"side_high": 12}


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
    layout = GROUND + "diamond 18 18 1; " + "".join(f"agent {3 * k + 1.5} 2 1; " for k in range(3))
    layout = "agent ".join(layout.split("agent ")[: agents + 1])
    env = make_vec(GAME, 2, agent_count=agents, **TINY)
    env.reset(seed=1, options={"layout": layout + "seconds 1"})
    for step in range(1, 16):
        _, rewards, terminated, truncated, infos = env.step(np.zeros((2 * agents, 6), int))
        assert tuple(infos["reward_parts"]) == PARTS
        assert sum(infos["reward_parts"].values()).tolist() == rewards.tolist()
        assert terminated.tolist() == [step == 15] * (2 * agents)
        assert not truncated.any()
        assert infos["_true_objective"].tolist() == [step == 15] * (2 * agents)


def test_state_is_what_the_columns_say(make_simulator) -> None:
    simulator = make_simulator(GAME, 3, agent_count=2, **SMALL, **TINY)
    simulator.reset(seed=4)
    for actions in random_actions(np.random.default_rng(0), 60, 3, 2):
        state = simulator.step(actions).state.astype(np.float64)
    get = simulator.get
    left = 1 - get("land.passed")[:, 0] / get("land.length")[:, 0]
    assert np.allclose(state[:, 0], left, atol=1e-6)
    assert (state[:, 1] == get("land.solved")[:, 0]).all()
    assert (state[:, 2] == get("land.good_left")[:, 0]).all()
    agents = state[:, TIME + OWN :][:, : 2 * AGENT].reshape(3, 2, AGENT)
    assert (agents[..., :3] == get("agents.position")[:, :2]).all()
    things = state[:, TIME + OWN + 2 * AGENT :]
    crates = things[:, : 80 * 5].reshape(3, 80, 5)
    assert (crates[..., 0] == (np.arange(80) < get("crates.count"))).all()
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
    options = {"resolution": "72x128", "observation": "rgb+segmentation"}
    land = Land(make_simulator, GROUND + "diamond 18 18 1; " + things, **options)

    def seen(colour: int) -> int:
        """Count pixels that are this colour, in any light."""
        wanted = np.array([colour >> 16, colour >> 8 & 255, colour & 255], float)
        pixels = np.moveaxis(land.last.obs["rgb"][0, 0], 0, -1)[:-1].reshape(-1, 3).astype(float)
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
    steps = random_actions(np.random.default_rng(0), 500, 6, 2)
    options = {**SMALL, **SHORT, "episode_seconds": 5}
    ends, pictures = check_same_bytes(make_simulator, GAME, steps, 240, **options)
    assert ends >= 6
    assert pictures > 250


def test_the_page_has_the_defaults_of_the_game() -> None:
    page = (Path(__file__).parents[2] / "docs" / "collect.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.*?) \| (.*) \| (.*) \|$", page, re.MULTILINE)
    given = {p["name"]: p["default"] for p in registration.find(GAME)["parameters"]}
    seen = set()
    for names, middle, last in rows:
        listed = re.findall(r"`(\w+)`", names)
        if len(listed) == 2 and listed[1] == "_high":
            listed[1] = listed[0].replace("_low", "_high")
        # Rewards have their default in the second column.
        column = last if re.fullmatch(r"[\d., to]+", last) else middle
        values = [float(v) for v in re.findall(r"-?[\d.]+", column)]
        assert [float(given[name]) for name in listed] == pytest.approx(values), names
        seen |= set(listed)
    rest = {"observation", "resolution", "channels", "hfov", "supersample", "team_spirit"}
    assert set(given) - seen == rest
