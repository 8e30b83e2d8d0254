"""Playing by an agent's eyes: what is drawn, keys, levels that are won, the terminal's return."""

from __future__ import annotations

import io
import signal
import sys
from typing import Any

import numpy as np
import pytest
from shown import BLOCK, Ended, Play, Player, Shown, pixels_of, rgb

import gpu_envs
from gpu_envs.__main__ import main
from gpu_envs.commands import agent_view
from gpu_envs.commands import play as play_module
from gpu_envs.commands.action_keys import Heads, Pressed
from gpu_envs.known.fields import Field
from gpu_envs.terminal import half_blocks, screen

NAME = "ObstaclesEasy-v0"
# Ahead over lava, then to the right, where the pad is at the edge.
LEVEL = (
    "floor 0 0 0 4 9 0; floor 5 5 0 9 9 0; lava 0 4 1 4 5 1; pad 7 5 1 9 9 2; "
    "agent 2.5 1.5 1 yaw 0; seconds 20"
)
RUN, JUMP, AWAY, TURN = "w" * 5, "W ", "w" * 7, "l" * 7
WAY = RUN + JUMP + AWAY + TURN + "w" * 25
CORRIDOR = "floor 0 0 0 4 15 0; pad 0 9 1 4 15 2; agent 2.5 1.5 1 yaw 0; seconds 600"

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs terminals of Unix")


def _is_restored(ended: Ended) -> bool:
    modes = ended.screen.modes
    return ended.mode_after == ended.mode_before and modes == {"?25": True, "?1049": False}


def _seen(options: dict[str, Any], keys: str = "", **parameters: Any) -> Any:
    """Return the colours that an agent sees after some keys, a step for each."""
    env = gpu_envs.parallel_env(NAME, **parameters)
    observations, _ = env.reset(seed=3, options=options)
    heads = agent_view.heads_of(env)
    assert heads is not None
    for key in keys:
        observations = env.step({"player_0": heads.row([heads.keys[key]])})[0]
    return np.moveaxis(observations["player_0"], 0, -1)


# Drawing


@pytest.mark.parametrize("rows", [4, 5])
def test_half_blocks_are_the_pixels(rows: int) -> None:
    picture = np.random.default_rng(1).integers(0, 256, (rows, 7, 3)).astype(np.uint8)
    picture[:, 2:4] = picture[0, 0]  # neighbours of one colour
    drawn = pixels_of(half_blocks.lines(picture, half_blocks.TRUE))
    assert np.array_equal(drawn[:rows], picture)
    assert not drawn[rows:].any()


def test_colours_of_256_are_the_nearest() -> None:
    picture = np.random.default_rng(2).integers(0, 256, (6, 9, 3)).astype(np.uint8)
    picture[0] = 118  # a grey that the cube does not have
    drawn = pixels_of(half_blocks.lines(picture, half_blocks.INDEXED)).astype(int)
    known = np.array([rgb(code) for code in range(16, 256)])
    far = ((known - picture[..., np.newaxis, :].astype(int)) ** 2).sum(-1).min(-1)
    assert np.array_equal(((drawn - picture) ** 2).sum(-1), far)
    assert (drawn[0] == 118).all()


def test_shades_have_no_escapes_and_grow_with_light() -> None:
    ramp = np.linspace(0, 255, 10).astype(np.uint8)
    lines = half_blocks.lines(np.stack([np.tile(ramp, (2, 1))] * 3, axis=-1), half_blocks.NONE)
    assert lines == [" .:-=+*#%@"]


def _layer(name: str, kind: str, values: Any) -> tuple[Field, Any]:
    array = np.asarray(values, kind)
    return Field(name, kind, array.shape), array


def test_colours_come_first_and_what_has_none_is_grey() -> None:
    color = _layer("rgb", "uint8", np.arange(24).reshape(3, 2, 4))
    depth = _layer("depth", "float32", [[[1, 3], [2, np.inf]]])
    kinds = _layer("segmentation", "uint16", [[[0], [4]], [[8], [8]]])
    both = {"depth": depth[1], "rgb": color[1]}
    drawn = half_blocks.pixels(both, [depth[0], color[0]], False)
    assert np.array_equal(drawn, np.moveaxis(color[1], 0, -1))
    assert half_blocks.pixels(depth[1], [depth[0]], False)[..., 0].tolist() == [[85, 255], [170, 0]]
    grey = half_blocks.pixels(kinds[1], [kinds[0]], True)
    assert grey[..., 1].tolist() == [[0, 128], [255, 255]]


def test_pictures_fit_their_room() -> None:
    picture = np.arange(3 * 4 * 3, dtype=np.uint8).reshape(3, 4, 3)
    assert np.array_equal(half_blocks.fitted(picture, 7, 9), picture.repeat(2, 0).repeat(2, 1))
    assert np.array_equal(half_blocks.fitted(picture, 3, 4), picture)
    assert half_blocks.fitted(np.zeros((72, 128, 3), np.uint8), 42, 80).shape == (42, 74, 3)
    assert half_blocks.fitted(np.zeros((72, 128, 3), np.uint8), 100, 60).shape == (34, 60, 3)
    assert half_blocks.size_within(2, 1, (72, 128)) == (2, 1)


def test_colours_follow_the_terminal(monkeypatch) -> None:
    class Terminal(io.TextIOWrapper):
        def isatty(self) -> bool:
            return True

    wide, narrow = Terminal(io.BytesIO(), "utf-8"), Terminal(io.BytesIO(), "ascii")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLORTERM", "truecolor")
    assert (half_blocks.colors(wide), half_blocks.colors(narrow)) == (
        half_blocks.TRUE,
        half_blocks.NONE,
    )
    monkeypatch.delenv("COLORTERM")
    assert half_blocks.colors(wide) == half_blocks.INDEXED
    monkeypatch.setenv("TERM", "xterm-direct")
    assert half_blocks.colors(wide) == half_blocks.TRUE
    monkeypatch.setenv("NO_COLOR", "1")
    assert half_blocks.colors(wide) == half_blocks.NONE


# Keys


@pytest.fixture
def heads() -> Heads:
    described = [Field("move", "int32", choices=3), Field("jump", "int32", choices=2)]
    names = ["stay", "forward", "go back", "no jump", "jump"]
    return Heads(described, names, ["", "w", "s", "", " "])


def test_the_heads_of_an_environment_have_their_keys() -> None:
    env = gpu_envs.parallel_env(NAME)
    found = agent_view.heads_of(env)
    assert found is not None
    keys = {"w": 0, "s": 0, "a": 1, "d": 1, "j": 2, "l": 2, "i": 3, "k": 3, " ": 4, "e": 5}
    assert {key: head for key, (head, _) in found.keys.items()} == keys
    assert found.titles == ["move", "strafe", "turn", "gaze", "jump", "interact"]


def test_the_point_is_what_a_head_does_by_itself() -> None:
    heads = agent_view.heads_of(gpu_envs.parallel_env("HideSeek-v0"))
    assert heads is not None
    assert heads.row([]).tolist() == [5, 5, 5, 0, 0]
    assert heads.read("w,grab").tolist() == [5, 10, 5, 1, 0]
    assert "." not in heads.keys


def test_keys_of_what_a_terminal_sends() -> None:
    typed = b"w \x1b[A\x1bOD\x1b\xc3\xa9\x1b[15~\x04"
    assert screen.keys_of(typed) == ["w", " ", "up", "left", "\x1b", "\u00e9", "\x1b", ""]


def test_a_press_lasts_and_a_deed_does_not(heads: Heads) -> None:
    pressed = Pressed(heads, 3)
    assert [pressed.press(key) for key in ("w", " ", "x", "q")] == ["key", "key", "", ""]
    taken = [pressed.take().tolist() for _ in range(4)]
    assert taken == [[1, 1], [1, 0], [1, 0], [0, 0]]


def test_repeats_keep_a_head_and_the_last_key_has_it(heads: Heads) -> None:
    pressed = Pressed(heads, 2)
    taken = []
    for keys in ("w", "", "w", "", "s", "", ""):
        for key in keys:
            pressed.press(key)
        taken.append(int(pressed.take()[0]))
    assert taken == [1, 1, 1, 1, 2, 2, 0]


def test_shift_makes_a_press_of_one_tick(heads: Heads) -> None:
    pressed = Pressed(heads, 3)
    assert pressed.press("W") == "shifted"
    assert [int(pressed.take()[0]) for _ in range(2)] == [1, 0]


@pytest.mark.parametrize(
    ("typed", "action"),
    [
        ("forward", [1, 0]),
        ("go back, jump", [2, 1]),
        ("w", [1, 0]),
        ("s ", [2, 0]),
        ("w,space", [1, 1]),
        ("no jump", [0, 0]),
        ("fly", None),
        ("", None),
    ],
)
def test_actions_are_typed_as_names_and_keys(heads: Heads, typed: str, action: Any) -> None:
    read = heads.read(typed)
    assert (read if read is None else read.tolist()) == action


def test_a_head_has_one_category_at_a_time(heads: Heads) -> None:
    with pytest.raises(ValueError, match="move is chosen twice"):
        heads.read("w,s")


# Levels that are won


def test_a_level_is_won_by_keys(play: Play) -> None:
    player = play("--pace", "keys", "--option", f"layout={LEVEL}")
    player.wait_for("steps 0")
    assert "ws move" in player.screen.text() and "space jump" in player.screen.text()
    options = {"layout": LEVEL}
    before = player.screen.pixels()
    assert np.array_equal(before, _seen(options, resolution=before.shape[:2]))
    player.type(RUN)
    player.wait_for(f"steps {len(RUN)}")
    after = _seen(options, RUN, resolution=before.shape[:2])
    assert np.array_equal(player.screen.pixels(), after) and not np.array_equal(before, after)
    player.type(WAY[len(RUN) :])
    ended = player.end()
    last = ended.screen.text().strip().splitlines()[-1]
    assert last == "over after 40 steps, solved; rewards in all: player_0 6"
    assert ended.status == 0 and _is_restored(ended)


def test_a_level_is_won_as_time_passes(play: Play) -> None:
    player = play("--option", f"layout={CORRIDOR}")
    player.wait_for("steps 1")

    def is_over(shown: Shown) -> bool:
        if shown.modes["?1049"]:
            player.type("w")  # as a keyboard repeats
        return not shown.modes["?1049"]

    player.wait_for(is_over)
    ended = player.end()
    assert ", solved; rewards in all: player_0 6" in ended.screen.text()
    assert ended.status == 0 and _is_restored(ended)


ROOM = ("--house-count", "1", "--rooms-low", "1", "--rooms-high", "1")


def test_plain_actions_are_a_step_for_each_key(play: Play) -> None:
    player = play(*ROOM, name="PointGoalNav-v0")
    player.wait_for("steps 0")
    text = player.screen.text()
    assert "space stop  up forward  left turn left" in text and "pointgoal " in text
    assert "p pauses" not in text and "." not in text.splitlines()[-1]  # nothing means to wait
    before = player.screen.pixels()
    player.type(".x")
    player.type("\x1b[D\x1b[A")
    player.wait_for("steps 2")
    assert not np.array_equal(player.screen.pixels(), before)
    player.type(" ")
    ended = player.end()
    assert "over after 3 steps; rewards in all" in ended.screen.text()
    assert ended.status == 0 and _is_restored(ended)


def test_plain_actions_have_no_real_time(play: Play) -> None:
    ended = play(*ROOM, "--pace", "time", name="PointGoalNav-v0").end()
    assert "no action of PointGoalNav-v0 means to wait: use --pace keys" in ended.screen.text()
    assert ended.status == 2


def test_an_episode_that_runs_out_is_not_solved(play: Play) -> None:
    player = play("--pace", "keys", "--option", f"layout={CORRIDOR}; seconds 0.2")
    player.wait_for("steps 0")
    player.type("..x.")
    assert "over after 3 steps, not solved; rewards" in player.end().screen.text()


def test_time_stands_still_while_paused(play: Play) -> None:
    player = play("--option", f"layout={CORRIDOR}")
    player.wait_for("steps 2")
    player.type("p")
    player.wait_for("paused")
    status = next(line for line in player.screen.text().splitlines() if "paused" in line)
    steps = int(status.split()[-2])
    player.type("..")
    player.wait_for(f"steps {steps + 2}  paused")
    player.type("p")
    player.wait_for(lambda shown: "paused" not in shown.text())
    player.wait_for(f"steps {steps + 4}")
    player.type("q")
    assert "quit after" in player.end().screen.text()


def test_others_play_and_any_agent_can_be_played(play: Play) -> None:
    seen = []
    for agent in ("0", "1"):
        player = play("--pace", "keys", "--agent-count", "2", "--agent", agent)
        player.wait_for("steps 0")
        seen.append(player.screen.pixels())
        player.type("w.")
        player.wait_for("steps 2")
        player.type("q")
        assert "player_0 0, player_1 0" in player.end().screen.text()
    assert not np.array_equal(*seen)


def test_a_policy_sees_the_pictures_it_has_learned_from(play: Play, tmp_path) -> None:
    pytest.importorskip("torch", reason="needs torch")
    pytest.importorskip("gpu_envs.train.evaluate", reason="needs gpu_envs[train]")
    from tests.gpu_envs.train import fresh

    parameters = {"agent_count": 2, "resolution": "36x64"}
    path = fresh.write(tmp_path / "best.ckpt", NAME, parameters)
    player = play("--pace", "keys", "--opponent", str(path))
    player.wait_for("q quits")
    assert player.screen.pixels().shape == (36, 64, 3)
    player.type("w")
    player.wait_for("steps 1")
    player.type("q")
    assert "player_1 0" in player.end().screen.text()


# The terminal


@pytest.mark.parametrize(
    ("lines", "columns", "shape"),
    [(24, 80, (42, 74)), (12, 80, (18, 32)), (40, 30, (16, 30)), (4, 9, (2, 3)), (0, 0, (42, 74))],
)
def test_the_picture_fills_the_terminal(play: Play, lines, columns, shape) -> None:
    player = play("--pace", "keys", lines=lines, columns=columns)
    player.wait_for("rewar")
    player.wait_for("q quit")
    assert player.screen.pixels().shape == (*shape, 3)
    player.type("q")
    assert player.end().status == 0


def test_the_picture_follows_a_terminal_that_is_resized(play: Play) -> None:
    player = play("--pace", "keys")
    player.wait_for("q quits")
    player.resize(12, 40)
    player.wait_for("q quits")
    assert player.screen.pixels().shape == (18, 31, 3)
    player.type("q")
    assert player.end().status == 0


def test_a_resolution_that_is_given_holds(play: Play) -> None:
    player = play("--pace", "keys", "--resolution", "9x16", "--option", f"layout={LEVEL}")
    player.wait_for("q quits")
    own = _seen({"layout": LEVEL}, resolution=(9, 16))
    assert np.array_equal(player.screen.pixels(), own.repeat(4, 0).repeat(4, 1))
    player.type("q")
    player.end()


@pytest.mark.parametrize("layers", ["depth", "segmentation"])
def test_layers_without_colours_are_grey(play: Play, layers: str) -> None:
    player = play("--pace", "keys", "--observation", layers)
    player.wait_for("q quits")
    pixels = player.screen.pixels()
    assert pixels.any() and (pixels == pixels[..., :1]).all()
    player.type("q")
    player.end()


def test_no_color_has_shades(play: Play) -> None:
    player = play("--pace", "keys", NO_COLOR="1")
    player.wait_for("q quits")
    assert BLOCK not in player.written and "\x1b[38" not in player.written
    assert any(shade in player.screen.text() for shade in ("==", "++", "**"))
    player.type("q")
    assert _is_restored(player.end())


def test_what_stays_is_not_sent_again(play: Play) -> None:
    player = play("--pace", "keys", "--option", f"layout={LEVEL}")
    player.wait_for("steps 0")
    first = len(player.written)
    player.type(".")
    player.wait_for("steps 1")
    assert len(player.written) - first < first / 4
    player.type("q")
    player.end()


@pytest.mark.parametrize("keys", ["q", "\x04", "\x03"])
def test_the_terminal_is_given_back_to_who_quits(play: Play, keys: str) -> None:
    player = play()
    player.wait_for("q quits")
    assert player.screen.modes == {"?25": False, "?1049": True}
    player.type(keys)
    ended = player.end()
    assert "quit after" in ended.screen.text()
    assert ended.status == 0 and _is_restored(ended)


def test_the_terminal_is_given_back_to_who_terminates(play: Play) -> None:
    player = play()
    player.wait_for("q quits")
    player.process.send_signal(signal.SIGTERM)
    ended = player.end()
    assert ended.status == 128 + signal.SIGTERM and _is_restored(ended)


def test_the_terminal_is_given_back_while_the_game_is_stopped(play: Play) -> None:
    # A process that nobody could continue is not stopped, so that this one goes on at once.
    player = play("--pace", "keys")
    player.wait_for("q quits")
    player.type("\x1a")
    player.wait_for(lambda _: player.written.count("\x1b[?1049h") == 2)
    assert player.written.count("\x1b[?1049l") == 1
    player.wait_for("q quits")
    player.type("q")
    assert _is_restored(player.end())


def test_the_terminal_is_given_back_after_a_crash() -> None:
    program = (
        "from gpu_envs import __main__\n"
        "from gpu_envs.commands import agent_view\n"
        "def move(_): raise RuntimeError('stumbled')\n"
        "agent_view.Live._move = move\n"
        f"__main__.main(['play', {NAME!r}])"
    )
    ended = Player(["-c", program]).end()
    assert "RuntimeError: stumbled" in ended.screen.text()
    assert ended.status == 1 and _is_restored(ended)


# Without a terminal, and mistakes


def test_lines_are_typed_where_stdin_is_no_terminal(monkeypatch, capsys) -> None:
    typed = "w\nforward\nforward, turn left\n1 0 0 0 1 0\nw,s\nfly\n?\nq\n"
    monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
    assert main(["play", NAME, "--seed", "3", "--option", f"layout={CORRIDOR}"]) == 0
    shown = capsys.readouterr().out
    assert "Type 6 numbers, or names or keys with commas between, and Enter" in shown
    assert "move: 0 stay, 1 forward (w), 2 backward (s)" in shown
    assert "jump: 0 no jump, 1 jump (space)" in shown
    assert "agent 0 (you) in cell" in shown
    assert "move is chosen twice" in shown and "'fly' is not an action" in shown
    assert "quit after 4 steps" in shown


def test_the_same_keys_win_the_level_in_lines(monkeypatch, capsys) -> None:
    lines = WAY.replace(JUMP, "").replace("w", "w\n").replace("l", "l\n")
    lines = lines[: 2 * len(RUN)] + "w,space\n" + lines[2 * len(RUN) :]
    monkeypatch.setattr(sys, "stdin", io.StringIO(lines))
    assert main(["play", NAME, "--seed", "3", "--option", f"layout={LEVEL}"]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == "over after 40 steps, solved; rewards in all: player_0 6"


# Floors of which later ones leave more pieces than there is room for.
PATCHWORK = "floor 0 0 0 9 9 0; agent 4 4 1" + "".join(
    f"; wall {2 * x} {2 * y} 0 {2 * x} {2 * y} 0" for x in range(5) for y in range(4)
)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([NAME, "--pace", "time"], "--pace time needs a terminal, for pictures that move"),
        ([NAME, "--view", "eyes"], "--view eyes needs a terminal"),
        ([NAME, "--option", "layout"], "--option must be NAME=VALUE, got 'layout'"),
        ([NAME, "--option", "layuot=x"], "unknown reset option 'layuot'; did you mean 'layout'?"),
        ([NAME, "--option", "layout=lake 1"], "unknown thing"),
        ([NAME, "--option", f"layout={PATCHWORK}"], "table 'statics' dropped"),
    ],
)
def test_mistakes_are_one_line(capsys, arguments, message) -> None:
    assert main(["play", *arguments]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ") and message in error and error.count("\n") == 1


def test_all_agents_are_too_many_for_one_pair_of_eyes(play: Play) -> None:
    ended = play("--agent", "all").end()
    assert "--agent all: a terminal shows what one agent sees" in ended.screen.text()
    assert ended.status == 2


def test_actions_without_keys_are_typed_in_lines(monkeypatch) -> None:
    monkeypatch.setattr("gpu_envs.commands.agent_view.has_terminal", lambda: True)
    monkeypatch.setattr("gpu_envs.commands.agent_view.resolution", lambda _: {"resolution": "3x4"})
    assert isinstance(play_module._made([NAME])[1], agent_view.Live)
    monkeypatch.setattr("gpu_envs.core.simulator.Simulator.action_keys", lambda _: [])
    assert isinstance(play_module._made([NAME])[1], play_module.Game)
    with pytest.raises(ValueError, match="have no keys to play by"):
        play_module._made([NAME, "--pace", "time"])


def test_help_says_how_to_pace(capsys) -> None:
    with pytest.raises(SystemExit):
        main(["play", NAME, "--help"])
    printed = " ".join(capsys.readouterr().out.split())
    assert "--pace {time,keys}" in printed and "--option NAME=VALUE" in printed


def test_dumb_terminals_are_typed_to_in_lines(play: Play) -> None:
    player = play(TERM="dumb")
    player.wait_for("player_0>")
    player.type("q\n")
    assert "\x1b[?1049h" not in player.end().written


def test_a_small_terminal_scrolls() -> None:
    small = Shown(2, 3)
    small.feed("ab\r\ncdef")
    assert small.text() == "cde\nf"
