"""`others=`: who plays the roles that are not the learner's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium.spaces import Box

import gpu_envs
from gpu_envs.players import policy_files
from gpu_envs.players.other_players import _range

WORLDS = 6

pytestmark = pytest.mark.usefixtures("troupe")


def _beats(env: gpu_envs.VectorEnv) -> np.ndarray:
    """Strengths of the drummers' last beats, (worlds, 2): a quarter for each number."""
    return env.simulator.get("drummers.strength")


# Functions


def test_function_of_all_roles_is_told_which(make_vec) -> None:
    asked = []

    def others(role: str, obs: Any, mask: Any) -> np.ndarray:
        asked.append((role, obs.shape, mask.shape))
        return np.full(obs.shape[:2], 4 if role == "drummer" else 0)

    env = make_vec("Troupe-v0", WORLDS, role="dancer", others=others)
    env.reset(seed=0)
    env.step(np.zeros(env.num_envs, int))
    assert asked == [("drummer", (6, 2, 9), (6, 2, 5)), ("clown", (6, 1, 2), (6, 1, 2))]
    assert (_beats(env) == 1).all()


def test_what_others_do_is_felt(make_vec) -> None:
    """Dancers are paid for moving to the drums: silence pays nothing, the loudest most."""
    rewards = {}
    for name, beat in (("silent", 0), ("soft", 1), ("loud", 4)):

        def drum(obs: Any, mask: Any, beat: int = beat) -> np.ndarray:
            return np.full(obs.shape[:2], beat)

        env = make_vec(
            "Troupe-v0", WORLDS, role="dancer", others={"drummer": drum, "clown": "noop"}
        )
        env.reset(seed=0)
        rewards[name] = env.step(np.ones(env.num_envs, int))[1]
    assert (rewards["silent"] < rewards["soft"]).all()
    assert (rewards["soft"] < rewards["loud"]).all()


def test_function_of_each_role_sees_that_role_alone(make_vec) -> None:
    def drum(obs: Any, mask: Any) -> np.ndarray:
        return (np.arange(2) + 1) * np.ones((len(obs), 1), int)

    env = make_vec("Troupe-v0", WORLDS, role="clown", others={"drummer": drum, "dancer": "noop"})
    env.reset(seed=0)
    env.step(np.zeros(WORLDS, int))
    assert np.array_equal(_beats(env), np.tile([0.25, 0.5], (WORLDS, 1)))


@pytest.mark.parametrize("arrays", ["numpy", "torch", "jax"])
@pytest.mark.parametrize("answer", ["numpy", "torch", "jax", "list"])
def test_answers_may_be_of_any_library(make_vec, arrays, answer) -> None:
    pytest.importorskip(arrays)
    library: Any = None if answer == "list" else pytest.importorskip(answer)
    library = library.numpy if answer == "jax" else library

    def drum(obs: Any, mask: Any) -> Any:
        assert type(obs).__module__.partition(".")[0].startswith(("numpy", "torch", "jax"))
        beats = [[3, 1]] * len(obs)
        return beats if library is None else library.asarray(beats)

    env = make_vec("Troupe-v0", WORLDS, role="dancer", others={"drummer": drum}, arrays=arrays)
    env.reset(seed=0)
    env.step(np.zeros(env.num_envs, int))
    assert np.array_equal(_beats(env), np.tile([0.75, 0.25], (WORLDS, 1)))


def test_answers_may_be_by_row(make_vec) -> None:
    def drum(obs: Any, mask: Any) -> Any:
        return np.arange(obs.shape[0] * obs.shape[1]) % 5

    env = make_vec("Troupe-v0", WORLDS, role="dancer", others={"drummer": drum})
    env.reset(seed=0)
    env.step(np.zeros(env.num_envs, int))
    assert np.array_equal(_beats(env), (np.arange(12) % 5 * 0.25).reshape(6, 2))


def test_troubles_inside_a_function_are_its_own(make_vec) -> None:
    def broken(role: str, obs: Any, mask: Any) -> Any:
        raise ZeroDivisionError("mine")

    env = make_vec("TagGrid-v0", WORLDS, role="tagger", others=broken)
    env.reset(seed=0)
    with pytest.raises(ZeroDivisionError, match="mine"):
        env.step(np.zeros(env.num_envs, int))


# Chance and idleness


def test_chance_is_legal_even_and_differs(make_vec) -> None:
    """Dancers may not make the same move twice: whoever does is counted by `check`."""
    env = make_vec("Troupe-v0", 200, role="drummer", autoreset_mode="SameStep")
    env.reset(seed=0)
    moves = []
    for _ in range(12):
        env.step(np.zeros(env.num_envs, int))
        moves.append(env.simulator.get("dancers.last")[:, :3])
    env.check()
    firsts = np.bincount(moves[0].ravel(), minlength=3) / 600
    assert (np.abs(firsts - 1 / 3) < 0.08).all()
    assert len(np.unique(moves[0], axis=0)) == 27  # agents and worlds do not copy each other
    assert (moves[0] != moves[1]).any()
    after_left = moves[1][moves[0] == 1]
    assert not (after_left == 1).any()
    assert 0.4 < (after_left == 2).mean() < 0.6


def test_numbers_of_chance_fill_their_bounds(make_vec) -> None:
    env = make_vec("Band-v0", 300, role="clown")
    env.reset(seed=0)
    env.step(np.zeros(300, int))
    beats = _beats(env)  # half of a number in [0, 1) and of the size of one in [-1, 1)
    assert 0 < beats.min() < 0.05
    assert 0.95 < beats.max() < 1
    assert abs(beats.mean() - 0.5) < 0.03
    assert abs(np.corrcoef(beats.T)[0, 1]) < 0.15


def test_numbers_of_chance_without_bounds_stay_small() -> None:
    low, high = np.array([-2, -np.inf, 5, -np.inf], "f4"), np.array([2, 3, np.inf, np.inf], "f4")
    least, most = _range(Box(low, high))
    assert least.tolist() == [-2, 2, 5, -1]
    assert most.tolist() == [2, 3, 6, 1]


def test_categories_of_chance_are_all_drawn(make_vec) -> None:
    env = make_vec("HideSeek-v0", 50, role="seeker", others="random")
    seen = []
    step_arrays = env.simulator.step_arrays

    def watched(actions: Any, *rest: Any) -> Any:
        seen.append(np.array(actions[:, :3]))
        return step_arrays(actions, *rest)

    env.simulator.step_arrays = watched
    env.reset(seed=0)
    for _ in range(5):
        env.step(env.action_space.sample())
    drawn = np.concatenate(seen).reshape(-1, 5)
    for column, count in zip(drawn.T, env.single_action_space.nvec, strict=True):
        assert sorted(set(column)) == list(range(count))


def test_the_idle_do_nothing(make_vec) -> None:
    env = make_vec("Troupe-v0", WORLDS, role="clown", others="noop")
    env.reset(seed=0)
    places = env.simulator.get("dancers.x")
    for _ in range(4):
        env.step(np.zeros(WORLDS, int))
        assert not _beats(env).any()
    assert np.array_equal(env.simulator.get("dancers.x"), places)


def test_the_idle_stay_in_the_middle_of_numbers(make_vec) -> None:
    env = make_vec("Band-v0", WORLDS, role="clown", others="noop")
    env.reset(seed=0)
    env.step(np.zeros(WORLDS, int))
    assert (_beats(env) == 0.25).all()  # of 0.5 in [0, 1], and 0 in [-1, 1]
    swarm = make_vec("SwarmTag-v0", 2, role="chaser", others="noop", runner_count=4, chaser_count=2)
    assert isinstance(swarm.single_action_space, Box)
    swarm.reset(seed=0)
    swarm.step(np.zeros(swarm.action_space.shape, np.float32))


def test_roles_left_out_of_a_dict_play_at_random(make_vec) -> None:
    plays = []
    for others in (None, "random", {}, {"drummer": "random"}):
        env = make_vec("Troupe-v0", WORLDS, role="dancer", others=others)
        env.reset(seed=1)
        env.step(np.zeros(env.num_envs, int))
        plays.append(_beats(env))
    assert plays[0].any()
    assert all(np.array_equal(play, plays[0]) for play in plays)


# Saved policies


@pytest.fixture
def fresh() -> Any:
    pytest.importorskip("torch", reason="needs torch")
    from tests.gpu_envs.train import fresh

    return fresh


def _policy_moves(path: Path, simulator: gpu_envs.Simulator) -> Any:
    """What plays the file's policies in the trainer's own way: one world, its own memory."""
    return policy_files.team(path, simulator).together()


OPTIONS: dict[str, Any] = {"num_taggers": 2, "max_episode_steps": 9}


@pytest.mark.parametrize(
    ("memory", "mode", "arrays"),
    [
        (0, "SameStep", "numpy"),
        (5, "SameStep", "numpy"),
        (5, "SameStep", "torch"),
        (5, "SameStep", "jax"),
        (5, "NextStep", "numpy"),
        (5, "Disabled", "torch"),
    ],
)
def test_saved_policy_plays_as_by_itself(make_vec, fresh, tmp_path, memory, mode, arrays) -> None:
    """Each world's policy restarts with each episode, whatever the world beside it does."""
    pytest.importorskip(arrays)
    choices = {"policies": "role", "memory": memory, "hidden": "8"}
    path = fresh.write(tmp_path / "tag.ckpt", "TagGrid-v0", {"num_taggers": 2}, **choices)
    _loosen(path)
    env = make_vec(
        "TagGrid-v0", 3, role="tagger", others=path, autoreset_mode=mode, arrays=arrays, **OPTIONS
    )
    taken: list[np.ndarray] = []
    step_arrays = env.simulator.step_arrays

    def watched(actions: Any, *rest: Any) -> Any:
        taken.append(np.array(actions[:, 2]))
        return step_arrays(actions, *rest)

    env.simulator.step_arrays = watched
    env.reset(seed=2)
    whole = env.simulator.observe().obs
    players = [_policy_moves(path, env.simulator) for _ in range(3)]
    waiting = np.zeros(3, bool)
    for step in range(32):
        actions = np.random.default_rng(step).integers(0, 5, 6)
        expected = [
            int(play(np.array(np.asarray(whole[w])), None)[2]) for w, play in enumerate(players)
        ]
        terminated, truncated = env.step(actions)[2:4]
        assert (taken[-1] == expected)[~waiting].all()
        over = (np.asarray(terminated) | np.asarray(truncated)).reshape(3, 2).all(1)
        again = over if mode == "SameStep" else waiting if mode == "NextStep" else over & False
        waiting = over if mode == "NextStep" else waiting
        if mode == "Disabled" and over.any():
            env.reset(options={"reset_mask": over})
            again = over
        whole = env.simulator.observe().obs
        for world in np.flatnonzero(again):
            players[world] = _policy_moves(path, env.simulator)
    assert len(np.unique(np.concatenate(taken))) > 1


def _loosen(path: Path) -> None:
    """Make the policies' weights large: their answers depend on what they see and remember."""
    import torch

    from gpu_envs.policies import checkpoint

    tree, generator = checkpoint.load(path), torch.Generator().manual_seed(1)
    for state in tree["policies"].values():
        for name in [name for name in state if "weight" in name]:
            state[name] = 3 * torch.randn(state[name].shape, generator=generator)
    checkpoint.save(path, tree)


def test_trained_policies_of_the_repository_play(make_vec, fresh, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(policy_files, "folder", lambda: tmp_path)
    fresh.write(tmp_path / "TagGrid-v0.ckpt", "TagGrid-v0", policies="role")
    for others in ("trained", {"runner": "trained"}, str(tmp_path / "TagGrid-v0.ckpt")):
        env = make_vec("TagGrid-v0", 3, role="tagger", others=others)
        env.reset(seed=0)
        env.step(np.zeros(env.num_envs, int))


def test_same_seed_is_the_same_play_against_a_memory(make_vec, fresh, tmp_path) -> None:
    path = fresh.write(tmp_path / "tag.ckpt", "TagGrid-v0", {"num_taggers": 2}, memory=4)
    _loosen(path)
    env = make_vec("TagGrid-v0", 3, role="tagger", others=path, **OPTIONS)
    plays = []
    for _ in range(2):
        env.reset(seed=3)
        plays.append([env.step(np.full(6, step % 5))[0] for step in range(20)])
    assert np.array_equal(*plays)


def test_a_refused_step_does_not_move_the_other_roles(make_vec) -> None:
    env, twin = (
        make_vec("TagContinuous-v0", 3, role="runner", num_taggers=2, num_runners=2)
        for _ in range(2)
    )
    env.reset(seed=3)
    twin.reset(seed=3)
    actions = np.full((env.num_envs, 2), 4)
    for step in range(6):
        if step % 2:
            with pytest.raises(ValueError, match="99"):
                env.step(np.full_like(actions, 99))
        ours, theirs = env.step(actions), twin.step(actions)
        assert all(np.array_equal(a, b) for a, b in zip(ours[:4], theirs[:4], strict=True))
