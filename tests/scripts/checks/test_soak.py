"""The soak finds what it watches for, and finds nothing in sound environments."""

from types import SimpleNamespace

import numpy as np
import pytest

import gpu_envs
from scripts.checks import soak

ID = "Micro-v0"


def game(player="random", **changes):
    case = soak.Case(ID, None, player, "SameStep", 3, 40_000)
    played = soak.Game(case)
    for name, value in changes.items():
        setattr(played, name, value)
    return played


def test_sound_environment_passes_and_leaves_the_same_hashes_each_time(tmp_path, capsys):
    rows = []
    for name in ("first.md", "second.md"):
        options = [ID, "--steps", "2e5", "--out", str(tmp_path / name)]
        assert soak.main(options) == 0
        lines = (tmp_path / name).read_text().splitlines()
        rows.append([line.rpartition("|")[0][-16:] for line in lines if line.startswith(f"| {ID}")])
        assert "Nothing was found." in lines
    assert len(set(rows[0])) == len(soak.PLAYERS)
    assert rows[0] == rows[1]
    assert capsys.readouterr().out.count(ID) == 2 * len(soak.PLAYERS)


def test_what_is_found_is_told_and_fails(monkeypatch, capsys):
    def fail(*_):
        raise soak.Found("planted")

    monkeypatch.setattr(soak, "check_faults", fail)
    assert soak.main([ID, "--steps", "1e4"]) == 1
    assert "planted" in capsys.readouterr().err


def results(simulator, **changes):
    found = simulator.reset(seed=1)._asdict() | changes
    return SimpleNamespace(**found)


@pytest.mark.parametrize("value", [np.nan, np.inf, -9.0])
def test_observation_that_may_not_be_is_found(value):
    simulator = gpu_envs.Simulator("CartPole-v0", 4, device="cpu")
    rows = simulator.reset(seed=1).obs.copy()
    soak.check_results(simulator, results(simulator, obs=rows))
    rows[2, 0, 0] = value
    with pytest.raises(soak.Found, match=r"obs.*\(2, 0, 0\), 1 in all"):
        soak.check_results(simulator, results(simulator, obs=rows))


def test_contradicting_flags_and_episodes_beyond_the_limit_are_found():
    simulator = gpu_envs.Simulator(ID, 2, device="cpu")
    flags = np.ones_like(simulator.reset(seed=1).terminated)
    with pytest.raises(soak.Found, match="and not ended"):
        soak.check_results(simulator, results(simulator, terminated=flags))
    lengths = np.full_like(simulator.reset(seed=1).episode_length, 1000)
    with pytest.raises(soak.Found, match="an episode of 1000 steps"):
        soak.check_results(simulator, results(simulator, episode_length=lengths))


def test_twin_that_plays_otherwise_is_found():
    played = game()
    played.play(np.inf)
    other = gpu_envs.Simulator(ID, played.simulator.num_worlds, device="cpu", max_episode_steps=5)
    other.load = lambda _: other.reset(seed=9)
    with pytest.raises(soak.Found, match="differs from that of a twin"):
        soak.check_twin(played.simulator, other, played.actions)


def test_memory_that_grows_is_found(monkeypatch):
    sizes = iter(range(0, 1 << 40, soak.MEMORY))
    monkeypatch.setattr(soak, "resident", lambda: next(sizes))
    with pytest.raises(soak.Found, match="memory grew by"):
        game().play(np.inf)


def test_greedy_player_repeats_what_led_away():
    batches = np.arange(soak.BATCHES)[:, None, None].repeat(2, axis=1)
    seen = iter([0, 1, 2, 1] * 9)

    def rows():
        far = next(seen)
        return np.array([[[far]], [[-far]]], np.float32)

    player = soak._greedy(batches, np.random.default_rng(0), rows)
    taken = [int(next(player)[0, 0]) for _ in range(16)]
    assert taken == [0] * 12 + [3] * 4  # the fourth look saw it come back


@pytest.mark.slow
def test_hundred_million_steps_find_nothing():
    share = 1e8 / len(gpu_envs.environments())
    assert soak.main(["--steps", str(share), "--minutes", "20"]) == 0
