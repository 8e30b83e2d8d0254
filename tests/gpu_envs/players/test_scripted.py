"""The player beside a header: where it is found, what it sees, and who asks it."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import gpu_envs
from gpu_envs.__main__ import main
from gpu_envs.players import scripted
from gpu_envs.players.scripted import Game, Scripted, Seen


class Recorder:
    """A player that stands still and notes what it is told."""

    made: list[Recorder]

    def __init__(self, game: Game, **choices: Any) -> None:
        self.game, self.choices = game, choices
        self.begun: list[list[int]] = []
        self.seen: list[Seen] = []
        self.made.append(self)

    def begin(self, worlds: list[int]) -> None:
        self.begun.append(worlds)

    def __call__(self, seen: Seen) -> np.ndarray:
        self.seen.append(seen)
        shape = self.game.action_space.shape
        return np.zeros((self.game.worlds, len(self.game.agents), *shape), np.int64)


@pytest.fixture
def recorders(monkeypatch: pytest.MonkeyPatch) -> list[Recorder]:
    """Every environment has a recorder as its player."""
    Recorder.made = []
    monkeypatch.setattr(scripted, "required", lambda *_: Path("nowhere_player.py"))
    monkeypatch.setattr(scripted, "module_of", lambda _: SimpleNamespace(Player=Recorder))
    return Recorder.made


def test_player_lies_beside_the_header_or_beside_that_of_its_family() -> None:
    own, form = (scripted.file_of(name) for name in ("CartPole-v0", "CartPoleContinuous"))
    assert own is not None and own == form and own.name == "cartpole_player.py"
    assert scripted.file_of("Micro-v0") is None


def test_missing_player_is_named_with_those_that_exist(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = str(tmp_path / "a.png")
    assert main(["render", "TagContinuous-v0", "--policy", "scripted", "--out", out]) == 2
    told = capsys.readouterr().err
    assert "--policy scripted: TagContinuous-v0 has no scripted player" in told
    assert "<name>_player.py" in told and "CartPole-v0" in told
    with pytest.raises(ValueError, match=r"others= scripted: TagContinuous-v0 has no scripted"):
        gpu_envs.VectorEnv("TagContinuous-v0", 2, role="tagger", others="scripted")


def test_every_command_asks_the_player(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    pytest.importorskip("torch", reason="needs torch")
    told = ["evaluate", "CartPole-v0", "--policy", "scripted", "--episodes", "5"]
    assert main([*told, "--against", "random"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "CartPole-v0: 5 episodes on cpu, scripted actions, seed 1"
    assert lines[2].split() == ["scripted", *(["500.000", "0.000"] + 3 * ["500.000"]), "500.0"]
    assert lines[3].split()[0] == "random" and float(lines[3].split()[1]) < 100
    drawn = []
    for policy in ("scripted", "random"):
        out = tmp_path / "a.png"
        told = ["render", "CartPole-v0", "--size", "48x32", "--seed", "3", "--step", "200"]
        status = main([*told, "--policy", policy, "--out", str(out)])
        drawn.append(status)
    assert drawn == [0, 2]  # at random the episode has ended by then


def test_play_lets_it_choose_for_the_others(
    recorders: list[Recorder], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("0 0\n" * 3))
    assert main(["play", "TagContinuous-v0", "--policy", "scripted", "--seed", "1"]) == 0
    asked = [len(player.seen) for player in recorders]
    assert asked == [3] * len(recorders) and len(recorders) > 1  # once a step, not by each agent


def test_installed_package_has_its_players(package, tmp_path: Path) -> None:
    out = tmp_path / "a.png"
    told = ("render", "CartPole-v0", "--policy", "scripted", "--step", "300")
    played = package.command(*told, "--size", "48x32", "--out", str(out))
    assert played.returncode == 0, played.stderr
    assert out.exists()
    program = "from gpu_envs.players.scripted import file_of; print(file_of('CartPole-v0'))"
    where = package.root / "gpu_envs/kernels/envs/cartpole/cartpole_player.py"
    assert package.run(program).stdout.strip() == str(where)


@pytest.mark.parametrize("mode", ["SameStep", "NextStep", "Disabled"])
def test_player_is_told_where_episodes_begin(
    make_simulator, recorders: list[Recorder], mode: str
) -> None:
    simulator = make_simulator("Micro-v0", 3, max_episode_steps=4, autoreset_mode=mode)
    player = Scripted(simulator, simulator.roles[0], first=7)
    assert recorders[0].choices == {"first": 7}
    outputs = simulator.reset(seed=1)
    for step in range(10):
        if step == 2:
            outputs = simulator.reset(mask=np.array([False, True, False]))
        outputs = simulator.step(player.see(outputs))
    begun = recorders[0].begun
    assert begun[:2] == [[0, 1, 2], [1]]
    wanted = {"SameStep": [[0, 2], [1], [0, 2]], "NextStep": [[0, 2], [1], [0, 2]], "Disabled": []}
    assert begun[2:] == wanted[mode][: len(begun) - 2]
    assert len(begun) > 3 or mode == "Disabled"


def test_player_sees_the_state_by_name(make_simulator, recorders: list[Recorder]) -> None:
    simulator = make_simulator("HideSeek-v0", 2)
    role = simulator.roles[1]
    player = Scripted(simulator, role)
    outputs = simulator.reset(seed=1)
    actions = player.see(outputs)
    assert actions.shape == (2, role.count, *role.action_space.shape)
    seen = recorders[0].seen[0]
    assert recorders[0].game.numbers == tuple(role.numbers)
    assert np.array_equal(seen.obs, np.asarray(outputs.obs)[:, role.at])
    described = simulator.instance["state"]
    assert list(seen.state) == [field["name"] for field in described]
    first = described[0]
    size = int(np.prod(first["shape"] or [1]))
    whole = np.asarray(outputs.state)[:, :size]
    assert np.array_equal(seen.state[first["name"]].reshape(2, -1), whole)


def test_others_may_be_the_scripted_player_even_where_no_state_is_asked_for(
    make_vec, recorders: list[Recorder]
) -> None:
    env = make_vec("HideSeek-v0", 2, role="hider", others="scripted", outputs=["obs"])
    _, infos = env.reset(seed=1)
    env.step(env.action_space.sample())
    assert "state" not in infos
    (player,) = recorders
    assert player.game.role == "seeker" and player.begun == [[0, 1]]
    assert player.seen[0].state and len(player.seen) == 1


def test_actions_of_another_shape_are_refused(
    make_simulator, recorders: list[Recorder], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Recorder, "__call__", lambda *_: np.zeros(3, np.int64))
    simulator = make_simulator("Micro-v0", 3)
    player = Scripted(simulator, simulator.roles[0])
    with pytest.raises(ValueError, match=r"player of Micro-v0 returned actions of shape \(3,\)"):
        player.see(simulator.reset(seed=1))
