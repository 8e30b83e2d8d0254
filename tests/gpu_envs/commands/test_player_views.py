"""Playing from above: the picture of the world, the player's agent in it, keys of numbers."""

from __future__ import annotations

import re
import sys
from typing import Any

import numpy as np
import pytest
from shown import Play, Player

from gpu_envs import Simulator
from gpu_envs.__main__ import main
from gpu_envs.commands.action_keys import Heads
from gpu_envs.known.fields import Field

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs terminals of Unix")
FLOCK = ("--agent-count", "6", "--sector-count", "4")


def _drawn(player: Player, name: str, view: str, **parameters: Any) -> Any:
    """Return what `render` draws of the first state, as large as the picture on the screen."""
    simulator = Simulator(name, 1, **parameters)
    simulator.reset(seed=3)
    size = player.screen.pixels().shape[:2]
    return simulator.render(size=size, view=view, samples=3)


def _status(player: Player, name: str) -> str:
    return next(line for line in player.screen.text().splitlines() if line.startswith(name))


# What is shown


@pytest.mark.parametrize("agent", [0, 4])
def test_hide_seek_is_shown_from_above_with_a_ring_around_ones_own(play: Play, agent: int) -> None:
    player = play("--pace", "keys", "--agent", str(agent), name="HideSeek-v0", lines=30)
    player.wait_for("q quits")
    text = player.screen.text()
    name = ["hider_0", "seeker_1"][agent > 0]
    assert f"{name} (ring)  reward 0  time 0.0 s  steps 0  seed 3" in text
    assert "preparation: seekers are frozen for 95 more steps" in text
    assert "a left  d right  s back  w ahead  l turn right  j turn left  e grab  r lock" in text
    seen = player.screen.pixels()
    assert np.array_equal(seen, _drawn(player, "HideSeek-v0", f"top:{agent}"))
    assert not np.array_equal(seen, _drawn(player, "HideSeek-v0", "top"))
    player.type("W")  # waits for the next key
    player.type("r")
    player.wait_for("steps 1 ")
    player.type("q")
    ended = player.end()
    assert "quit after 1 steps" in ended.screen.text() and ended.status == 0


def test_a_narrow_terminal_has_keys_by_head(play: Play) -> None:
    player = play("--pace", "keys", name="HideSeek-v0", columns=60)
    player.wait_for("q quits")
    assert "ad x  sw y  lj turn  e grab  r lock" in player.screen.text()
    player.type("q")
    player.end()


def test_a_tiny_terminal_has_a_picture(play: Play) -> None:
    player = play("--pace", "keys", name="TagContinuous-v0", lines=4, columns=12)
    player.wait_for("runner_0")
    assert player.screen.pixels().shape == (2, 2, 3)
    player.type("q")
    assert player.end().status == 0


def test_the_world_moves_by_itself_and_pauses(play: Play) -> None:
    player = play("--agent", "3", name="TagContinuous-v0")
    player.wait_for("steps 3 ")
    player.type("p")
    player.wait_for("paused")
    step = int(re.search(r"steps (\d+)  paused", player.screen.text())[1])  # type: ignore[index]
    assert f"step {step} of 100" in player.screen.text()
    player.type(".")
    player.wait_for(f"steps {step + 1}  paused")
    player.type("q")
    assert "quit after" in player.end().screen.text()


def test_the_last_reward_and_the_end_are_shown(play: Play) -> None:
    # A runner two lengths before a tagger that cannot miss it.
    start = "tagger 5 5 0; runner 5 5.05 0; runner 1 9 0"
    options = ("--num-runners", "2", "--start", start, "--agent", "1", "--pace", "keys")
    player = play(*options, "--tagging-distance", "0.3", name="TagContinuous-v0")
    player.wait_for("runner_1 (ring)")
    player.type(".")
    ended = player.end()
    assert "over after 1 steps; rewards in all: tagger_0 1, runner_1 -1" in ended.screen.text()


def test_keys_of_numbers_choose_their_ends(play: Play) -> None:
    player = play("--pace", "keys", *FLOCK, name="Flocking-v0")
    player.wait_for("d right  a left  s brake  w speed up")
    simulator = Simulator("Flocking-v0", 1, agent_count=6, sector_count=4)
    simulator.reset(seed=3)
    first = simulator.get("agents.heading")[0, 0]
    for keys, turned in (("a", 0.025), ("d", 0.0), (".", 0.0), ("d", -0.025)):
        player.type(keys)
        degrees = (np.degrees(first) + 180 * turned) % 360
        player.wait_for(f"heading {degrees:.0f} degrees")
    player.wait_for("steps 4 ")
    player.type("q")
    player.end()


def test_one_number_moves_in_real_time(play: Play) -> None:
    player = play(name="CartPoleContinuous-v0")
    player.wait_for("a left  d right")
    player.wait_for(lambda shown: not shown.modes["?1049"])  # the pole falls
    assert ": player_0 " in player.end().screen.text()


# Views that are chosen


def test_keys_of_one_head_are_played_by_text_unless_a_view_is_chosen(play: Play) -> None:
    player = play(name="Overcooked-v0")
    player.wait_for("interact  (space)")
    player = play("--view", "top", name="Overcooked-v0")
    player.wait_for("steps 2 ")
    text = player.screen.text()
    assert "player_0 (ring)" in text and "score 0 for 0 soups" in text and "p pauses" in text
    player.type("q")
    player.end()


def test_real_time_chooses_a_picture(play: Play) -> None:
    player = play("--pace", "time", name="TagGrid-v0")
    player.wait_for("tagger_0 (ring)")
    player.type("q")
    player.end()


@pytest.mark.parametrize("options", [("--view", "text"), ("--agent", "all")])
def test_text_can_be_chosen_and_is_for_all(play: Play, options: tuple[str, ...]) -> None:
    player = play(*options, name="HideSeek-v0")
    player.wait_for("hider_0>")
    assert "\x1b[?1049h" not in player.written
    player.type("q\n")
    player.end()


def test_eyes_of_an_agent_can_be_drawn(play: Play) -> None:
    player = play("--view", "agent:1", "--pace", "keys", name="HideSeek-v0")
    player.wait_for("hider_0  reward")
    assert np.array_equal(player.screen.pixels(), _drawn(player, "HideSeek-v0", "agent:1"))
    player.type("q")
    player.end()


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        (
            "HideSeek-v0",
            ("--view", "eyes"),
            "what agents of HideSeek-v0 observe here is not a pict",
        ),
        ("HideSeek-v0", ("--view", "below"), "view must be 'perspective', 'top', 'both'"),
        ("Hanabi-v0", ("--pace", "time"), "the actions of Hanabi-v0 have no keys to play by"),
        ("Hanabi-v0", ("--view", "top"), "the actions of Hanabi-v0 have no keys to play by"),
        (
            "HideSeek-v0",
            ("--view", "top", "--agent", "all"),
            "a terminal shows what one agent sees",
        ),
    ],
)
def test_views_that_cannot_be_are_refused(play: Play, name, options, message) -> None:
    ended = play(*options, name=name, columns=120).end()
    assert message in ended.screen.text() and ended.status == 2


# The others


def test_the_screen_says_how_to_get_trained_opponents(play: Play) -> None:
    player = play("--pace", "keys", name="TagContinuous-v0", columns=100)
    player.wait_for("others: random, --opponent trained")
    player.type("q")
    player.end()
    player = play("--pace", "keys", name="CartPoleContinuous-v0", columns=100)
    player.wait_for("q quits")
    assert "others" not in player.screen.text()
    player.type("q")
    player.end()


def test_trained_opponents_play(play: Play) -> None:
    pytest.importorskip("torch", reason="needs torch")
    pytest.importorskip("gpu_envs.train.evaluate", reason="needs gpu_envs[train]")
    player = play("--pace", "keys", "--opponent", "trained", name="TagContinuous-v0", columns=100)
    player.wait_for("q quits")
    assert "others" not in player.screen.text()
    player.type("..")
    player.wait_for("steps 2 ")
    player.type("q")
    assert player.end().status == 0


# Heads of numbers


def test_a_number_has_three_places() -> None:
    described = [
        Field("turn", "float32", (2,), -1, 0.5),
        Field("drive", "float32", low=0.25, high=2),
    ]
    names = ["right", "on", "left", "dive", "level", "climb", "slow", "cruise", "fast"]
    heads = Heads(described, names, ["d", ".", "a", "", ".", "i", "", "", "w"])
    assert heads.row([]).tolist() == [0, 0, 0.25]
    assert heads.read("a,dive,fast").tolist() == [0.5, -1, 2]
    assert heads.read("iw").tolist() == [0, 0.5, 2]
    assert heads.row([]).dtype == np.float32
    assert heads.lines() == [
        "turn: -1 right (d), 0 on, 0.5 left (a)",
        "turn: -1 dive, 0 level, 0.5 climb (i)",
        "drive: 0.25 slow, 0.25 cruise, 2 fast (w)",
    ]


def test_keys_are_named_without_strengths_that_all_have() -> None:
    described = [Field("x", "int32", choices=3), Field("y", "int32", choices=2)]
    names = ["left 1", "none", "right 1", "raise 0", "raise 1"]
    heads = Heads(described, names, ["a", ".", "d", "0", "1"])
    assert heads.short(60) == "a left 1  d right 1  0 raise 0  1 raise 1"  # else two were equal
    heads = Heads(described[:1], names[:3], ["a", ".", "d"])
    assert heads.short(60) == "a left  d right"


def test_mistakes_without_a_terminal_are_one_line(capsys) -> None:
    assert main(["play", "HideSeek-v0", "--view", "top"]) == 2
    assert capsys.readouterr().err == "error: --view top needs a terminal\n"
