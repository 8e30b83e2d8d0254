"""Playing by hand: what is shown, what may be typed, opponents, parameters."""

from __future__ import annotations

import dataclasses
import io
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

import gpu_envs
from gpu_envs.__main__ import main
from gpu_envs.commands import play
from gpu_envs.players import policy_files
from gpu_envs.terminal import console

Played = Callable[..., str]


@pytest.fixture
def played(monkeypatch, capsys) -> Played:
    """Types lines into a game and returns what was printed."""

    def played(lines: str, *arguments: str) -> str:
        monkeypatch.setattr(sys, "stdin", io.StringIO(lines))
        assert main(["play", *arguments]) == 0
        return str(capsys.readouterr().out)

    return played


def _moves_of_others(shown: str) -> list[str]:
    lines = [line for line in shown.splitlines() if line.startswith("player_1: ")]
    return [line for line in lines if not line.startswith("player_1: reward")]


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


# Without text: fields


def test_actions_are_shown_by_name_and_key(played) -> None:
    assert "   0  left  (a)\n   1  right  (d)\n" in played("", "CartPole-v0", "--seed", "3")


@pytest.mark.usefixtures("gallery")
@pytest.mark.parametrize("layers", ["depth", "rgb+segmentation"])
def test_pictures_are_shown_by_layer(played, layers: str) -> None:
    options = ("--observation", layers, "--resolution", "3x4", "--seed", "3")
    shown = played("5\n", "Gallery-v0", *options)
    env = gpu_envs.parallel_env("Gallery-v0", observation=layers, resolution=(3, 4))
    seen = env.reset(seed=3)[0]["player_0"]
    for name, array in (seen if isinstance(seen, dict) else {layers: seen}).items():
        first = np.array2string(array, precision=4).splitlines()[0]
        assert any(line.startswith(name) and first in line for line in shown.splitlines())


def test_observation_is_shown_by_named_fields(played, troupe: str) -> None:
    shown = played("", troupe, "--seed", "3")
    env = gpu_envs.parallel_env(troupe)
    row = env.reset(seed=3)[0]["dancer_0"]["observation"]
    for name, value, unit in zip(("x", "strength", "tempo"), row, ("m", "", ""), strict=False):
        line = next(line for line in shown.splitlines() if line.startswith(f"{name} "))
        assert line.split() == [name, np.array2string(value, precision=4), *unit.split()]
    assert "others    [-1.1697 -0.24   -0.7882  0.    ] m\n" in shown


def test_episode_ends_with_its_score(played) -> None:
    shown = played("1\n" * 50, "CartPole-v0", "--seed", "3")
    env = gpu_envs.parallel_env("CartPole-v0")
    env.reset(seed=3)
    steps = 0
    while env.agents:
        env.step({"player_0": 1})
        steps += 1
    assert shown.splitlines()[-1] == f"over after {steps} steps; rewards in all: player_0 {steps}"
    assert shown.count("player_0: right, reward +1") == steps


def test_limit_cuts_short(played) -> None:
    shown = played("0\n1\n0\n", "CartPole-v0", "--max-episode-steps", "2")
    assert "cut short after 2 steps" in shown


@pytest.mark.parametrize(("typed", "steps"), [("", 0), ("q\n1\n", 0), ("1\n0\nq\n", 2)])
def test_q_and_the_end_of_input_quit(played, typed, steps) -> None:
    shown = played(typed, "CartPole-v0", "--seed", "1")
    assert shown.splitlines()[-1].startswith(f"quit after {steps} steps")


def test_interrupt_quits_with_the_score(monkeypatch, capsys) -> None:
    def interrupt(*_: object) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(play, "_read", interrupt)
    assert main(["play", "CartPole-v0"]) == 0
    assert "quit after 0 steps" in capsys.readouterr().out


@pytest.mark.parametrize("typed", ["2", "-1", "x", "1 1", "0.5"])
def test_what_is_no_action_is_asked_again(played, typed) -> None:
    shown = played(f"{typed}\n\n1\n", "CartPole-v0", "--seed", "1")
    assert f"'{typed}' is not an action" in shown
    assert "quit after 1 steps" in shown


def test_question_mark_helps(played) -> None:
    assert played("?\n", "CartPole-v0").count("q quits") == 2


def test_empty_line_shows_the_menu_again(played) -> None:
    assert played("\n \n", "CartPole-v0").count("   1  right  (d)") == 3


def test_end_shows_every_agent_where_there_is_no_text(played, troupe: str) -> None:
    shown = played("0\n", troupe, "--seed", "3", "--max-episode-steps", "1")
    end = shown[shown.rindex("dancer_0:\n") :]
    assert "dancer_1:\n" in end and "drummer_1:\n" in end


# Games with text, names and masks


def test_news_name_ones_own_move_and_a_shared_reward_once(played) -> None:
    shown = played("5\n" * 4, "Hanabi-v0", "--seed", "0", "--max-life-tokens", "30")
    assert "player_0: play card 0" in shown
    paid = [line for line in shown.splitlines() if "reward +" in line]
    assert paid and all(line.startswith("all: reward +") for line in paid)


def test_hanabi_shows_what_the_player_knows(played) -> None:
    shown = played("", "Hanabi-v0", "--seed", "0")
    env = gpu_envs.parallel_env("Hanabi-v0")
    _, infos = env.reset(seed=0)
    assert console.plain(env.simulator.text(0, 0)).rstrip() in shown
    assert "\x1b" not in shown
    names = env.simulator.action_names()
    menu = [line.strip() for line in shown.splitlines()]
    for action, legal in enumerate(infos["player_0"]["action_mask"]):
        assert (f"{action}  {names[action]}" in menu) == bool(legal)


def test_hanabi_takes_numbers_and_names_and_refuses_illegal_moves(played) -> None:
    shown = played("0\nplay card 0\n6\n", "Hanabi-v0", "--seed", "0")
    assert "discard card 0 is not legal now" in shown
    assert len(_moves_of_others(shown)) == 2
    assert "quit after 4 steps" in shown


def test_people_at_one_keyboard_are_asked_in_turn(played) -> None:
    options = ("--agent", "all", "--player-count", "3", "--max-life-tokens", "9")
    shown = played("5\n5\n5\n", "Hanabi-v0", *options)
    prompts = [line.partition(">")[0] for line in shown.splitlines() if "> " in line[:12]]
    asked = [prompt for prompt in prompts if prompt.startswith("player_")]
    assert asked[:4] == ["player_0", "player_1", "player_2", "player_0"]


def test_the_seat_can_be_chosen(played) -> None:
    shown = played("5\n", "Hanabi-v0", "--agent", "1", "--seed", "4")
    assert "player 1 (you)" in shown
    assert shown.index("player_0: ") < shown.index("player_1> ")


def test_keys_are_typed_as_lines_where_stdin_is_no_terminal(played) -> None:
    shown = played("w\n \ninteract\n4\n", "Overcooked-v0", "--layout", "coordination_ring")
    assert "interact  (space)" in shown
    assert "quit after 4 steps" in shown


@pytest.mark.parametrize("typed", ["space", " space ", " ", " w ", "w"])
def test_keys_are_typed_by_name_and_with_blanks(played, typed) -> None:
    shown = played(f"{typed}\n", "Overcooked-v0")
    assert "is not an action" not in shown
    assert "quit after 1 steps" in shown


def test_keys_alone_do_on_a_terminal(monkeypatch, capsys) -> None:
    keys = iter(["w", " ", "x", "3", "?", ""])
    monkeypatch.setattr(sys, "stdin", _Terminal())
    monkeypatch.setattr(console, "read_key", lambda: next(keys))
    assert main(["play", "Overcooked-v0", "--agent", "0"]) == 0
    shown = capsys.readouterr().out
    assert "Press the key or the digit" in shown
    assert "'x' is not an action" in shown
    assert "quit after 3 steps" in shown


def test_random_opponents_follow_the_seed(played) -> None:
    left, right, other = (
        played("4\n" * 30, "Overcooked-v0", "--seed", seed) for seed in ("5", "5", "6")
    )
    assert left == right != other


def test_terminals_get_colors(monkeypatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    screen = _Terminal()
    monkeypatch.setattr(sys, "stdin", io.StringIO("q\n"))
    monkeypatch.setattr(sys, "stdout", screen)
    assert main(["play", "Overcooked-v0"]) == 0
    assert "\x1b[" in screen.getvalue()


# Saved policies


@pytest.fixture
def checkpoint(tmp_path) -> Callable[..., str]:
    pytest.importorskip("torch", reason="needs torch")
    pytest.importorskip("gpu_envs.train.evaluate", reason="needs gpu_envs[train]")
    from tests.gpu_envs.train import fresh

    def checkpoint(name: str, memory: int = 0, **parameters: int) -> str:
        return str(fresh.write(tmp_path / "best.ckpt", name, parameters, memory=memory))

    return checkpoint


@pytest.mark.parametrize("memory", [0, 8])
def test_saved_policy_plays_legal_moves(played, checkpoint, memory: int) -> None:
    path = checkpoint("Hanabi-v0", memory, max_life_tokens=30)
    arguments = ("Hanabi-v0", "--policy", path, "--seed", "2")  # with the file's parameters
    shown = played("5\n" * 9, *arguments)
    assert len(_moves_of_others(shown)) == 9
    assert shown == played("5\n" * 9, *arguments)
    assert shown == played("5\n" * 9, "Hanabi-v0", "--opponent", path, "--seed", "2")


@pytest.mark.parametrize("memory", [0, 8])
def test_a_team_that_is_asked_at_once_plays_as_its_players_do(checkpoint, memory: int) -> None:
    path = Path(checkpoint("TagContinuous-v0", memory))
    env = gpu_envs.parallel_env("TagContinuous-v0")
    observations, _ = env.reset(seed=3)
    choose = play.saved_policy(env, path)
    players = dict(zip(env.agents, policy_files.team(path, env.simulator).players(), strict=True))
    for _ in range(6):
        one_by_one = {agent: players[agent](observations[agent], None) for agent in env.agents}
        actions = {agent: choose(agent, observations[agent], None) for agent in env.agents}
        assert all(np.array_equal(actions[agent], one_by_one[agent]) for agent in env.agents)
        observations = env.step(actions)[0]


def test_random_actions_are_others_in_each_step() -> None:
    env = gpu_envs.parallel_env("Flocking-v0", agent_count=5, sector_count=4)
    env.reset(seed=3)
    choose, drawn = play.random_policy(env, 5), []
    for _ in range(3):
        actions = {agent: choose(agent, None, None) for agent in env.agents}
        assert all(action in env.action_space(agent) for agent, action in actions.items())
        drawn += actions.values()
        env.step(actions)
    assert np.unique(drawn).size == 3 * 5 * 2


def test_policy_that_does_not_fit_is_refused(checkpoint, capsys) -> None:
    path = checkpoint("CartPole-v0")
    assert main(["play", "Hanabi-v0", "--policy", path]) == 2
    message = capsys.readouterr().err
    assert "was saved for environment 'CartPole-v0', expected 'Hanabi-v0'" in message
    path = checkpoint("Hanabi-v0", rank_count=4)
    assert main(["play", "Hanabi-v0", "--policy", path, "--rank-count", "5"]) == 2
    message = capsys.readouterr().err
    assert "was saved for observation" in message


def test_files_that_are_no_policies_are_refused(tmp_path, capsys) -> None:
    pytest.importorskip("torch", reason="needs torch")
    path = tmp_path / "notes.txt"
    path.write_text("not a policy")
    assert main(["play", "CartPole-v0", "--policy", str(path)]) == 2
    message = capsys.readouterr().err
    assert "is not a checkpoint of gpu_envs" in message
    assert message.count("\n") == 1


# The command line


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["CartPol-v0"], "did you mean 'CartPole-v0'"),
        (["CartPole-v0", "--agent", "1"], "--agent must be all or a number below 1"),
        (["CartPole-v0", "--agent", "me"], "--agent must be all"),
        (["CartPole-v0", "--seed", "-1"], "--seed must be between"),
        (
            ["CartPole-v0", "--policy", "nobody"],
            "--policy must be random, trained, scripted or a file",
        ),
        (["Micro-v0", "--agent-count", "0"], "'agent_count' must be in"),
        (["CartPole-v0", "--max-episode-steps", "-4"], "max_episode_steps must be between"),
    ],
)
def test_mistakes_are_one_line(capsys, arguments, message) -> None:
    assert main(["play", *arguments]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert message in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--seed", "3", "CartPole-v0"],
        ["CartPole-v0", "--speed", "3"],
        ["CartPole-v0", "--sutton-barto-reward", "perhaps"],
        ["Micro-v0", "--agent-count", "two"],
    ],
)
def test_wrong_usage_exits_with_help(capsys, arguments) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["play", *arguments])
    assert caught.value.code == 2
    assert "usage: python -m gpu_envs play ID" in capsys.readouterr().err


@pytest.mark.parametrize("name", gpu_envs.environments())
def test_help_lists_the_environments_parameters(capsys, name) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["play", name, "--help"])
    assert caught.value.code == 0
    printed = capsys.readouterr().out
    for field in gpu_envs.environments()[name]["parameters"]:
        assert f"--{field['name'].replace('_', '-')} " in printed


def test_module_can_be_run() -> None:
    result = subprocess.run(
        [sys.executable, "-m", "gpu_envs", "play", "CartPole-v0", "--seed", "1"],
        input="0\n1\n",
        capture_output=True,
        text=True,
        check=False,
    )
    assert "quit after 2 steps" in result.stdout, result.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="pipes break otherwise there")
def test_reader_that_leaves_is_no_error() -> None:
    command = [sys.executable, "-m", "gpu_envs", "play", "CartPole-v0", "--seed", "1"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.stdout.close()
        process.stdout = None
        _, errors = process.communicate("0\n1\n" * 50, timeout=60)
    assert errors == ""
    assert process.returncode == 0


def test_help_spells_values_as_they_are_typed(capsys) -> None:
    with pytest.raises(SystemExit):
        main(["play", "Overcooked-v0", "--help"])
    printed = " ".join(capsys.readouterr().out.split())
    assert "--player-count 0..40" in printed
    assert "--extra-starts true|false" in printed
    assert "default false" in printed
    assert "else all; default ''" in printed


# Other kinds of actions


def _menu(space: spaces.Space[Any]) -> play.Menu:
    env = gpu_envs.parallel_env("CartPole-v0")
    return play.Menu(env, dataclasses.replace(env.simulator.roles[0], action_space=space))


def test_several_numbers_make_an_action() -> None:
    menu = _menu(spaces.MultiDiscrete([3, 4]))
    assert "2 numbers" in menu.help()
    assert menu.action("2 3", None).tolist() == [2, 3]
    assert menu.action("0, 1", None).tolist() == [0, 1]
    for wrong in ("2 4", "1", "1 x", "", "0.5 1"):
        with pytest.raises(ValueError, match="is not an action"):
            menu.action(wrong, None)
    menu = _menu(spaces.Box(-1, 1, (2,), np.float32))
    assert menu.action("-0.5 1", None).tolist() == [-0.5, 1]
    with pytest.raises(ValueError, match="is not an action"):
        menu.action("2 0", None)


def test_a_number_makes_an_action(played) -> None:
    shown = played("?\n0.5\n-2\nnan\n-1\n", "CartPoleContinuous-v0", "--seed", "1")
    assert "Type a number, or names or keys with commas between, and Enter" in shown
    assert "force: -1 left (a), 0 no force, 1 right (d)" in shown
    assert shown.count("is not an action") == 2
    assert "player_0: [0.5], reward +1" in shown and "quit after 2 steps" in shown


def test_a_crowd_ends_with_the_score_of_people_and_a_mean(played) -> None:
    options = ["--agent-count", "40", "--sector-count", "4", "--max-episode-steps", "1"]
    last = played("0 0\n0\n", "Flocking-v0", *options).strip().splitlines()[-1]
    assert "player_0 " in last and "mean of all 40: " in last and "player_1" not in last


def test_how_many_numbers_an_action_has_is_said(played) -> None:
    shown = played("0\n", "Flocking-v0", "--agent-count", "4")
    assert "'0' is not an action: 2 numbers, or names or keys with commas between" in shown


def test_numbers_are_typed_as_names_and_keys(played) -> None:
    shown = played("left, speed up\nds\n0.5 -0.25\nfast\n", "Flocking-v0", "--agent-count", "4")
    assert "rotation: -1 right (d), 0 straight on, 1 left (a)" in shown
    for told in ("[1. 1.]", "[-1. -1.]", "[ 0.5  -0.25]"):
        assert f"player_0: {told}" in shown
    assert "'fast' is not an action" in shown and "quit after 3 steps" in shown


def test_forces_are_typed_as_names_and_keys(played) -> None:
    shown = played("ahead 5, grab\nwl\n5 5 5 0 0\n", "HideSeek-v0", "--seed", "3")
    assert "turn: 0 turn right 5 (l)" in shown
    for told in ("[ 5 10  5  1  0]", "[ 5 10  0  0  0]", "[5 5 5 0 0]"):
        assert f"hider_0: {told}" in shown


# Agents of different kinds


def test_each_role_is_shown_and_asked_in_its_own_words(troupe, played) -> None:
    options = ("--agent", "all", "--seed", "1", "--absence", "0")
    shown = played("1\n1\n2\n4\n3\n1\n1\n2\nq\n", troupe, *options)
    assert "0 to 2: 0 rests, 1 and 2 go left and right" in shown
    assert "0 to 4: how hard" in shown
    assert "0 to 1: 1 tells a joke" in shown
    for agent, told in (("dancer_0", 1), ("drummer_1", 3), ("clown_0", 1)):
        assert f"\n{agent}: {told}" in shown
    assert "others " in shown and "beats " in shown and "jokes " in shown
    assert "1 is not legal now" in shown
    assert "quit after 1 steps" in shown


def test_numbers_and_categories_are_typed_by_role(troupe, played) -> None:
    options = ("--seed", "1", "--absence", "1", "--max-episode-steps", "1")
    shown = played("0.5 -1\n", "Band-v0", "--agent", "4", *options)
    assert "left: 0 to 1  of the left hand" in shown
    assert "drummer_1: [ 0.5 -1. ]" in shown and "cut short after 1 steps" in shown
    assert "'0' is not an action: 2 numbers are wanted" in played(
        "0\n", "Band-v0", "--agent", "0", *options
    )
