"""What roles, groups and `others=` refuse, and how they say it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

import gpu_envs

WORLDS = 3
pytestmark = pytest.mark.usefixtures("troupe")


def _vec(name: str = "Troupe-v0", **options: Any) -> gpu_envs.VectorEnv:
    env = gymnasium.make_vec(f"gpu_envs/{name}", num_envs=WORLDS, device="cpu", **options)
    assert isinstance(env, gpu_envs.VectorEnv)
    return env


def _one(name: str, **options: Any) -> Any:
    return gymnasium.make(f"gpu_envs/{name}", **options)


def _batch(name: str = "Troupe-v0", **options: Any) -> gpu_envs.BatchedParallelEnv:
    return gpu_envs.batched_parallel_env(name, WORLDS, device="cpu", **options)


# What cannot be made


@pytest.mark.parametrize(
    ("make", "kind", "message"),
    [
        (lambda: _vec(role="danser"), ValueError, r"unknown role of Troupe-v0 'danser'; did you"),
        (
            lambda: _vec(role=3),
            TypeError,
            r"role must be the name of one role of Troupe-v0 \(dancer, drummer, clown\), got 3 of",
        ),
        (lambda: _vec(role=np.array(["dancer", "clown"])), TypeError, "got array.*of type ndarray"),
        (lambda: _one("HideSeek-v0", role=np.ones(2)), TypeError, "role must be the name of one"),
        (lambda: _vec("HideSeek-v0", role="hiders"), ValueError, "did you mean 'hider'"),
        (lambda: _vec("CartPole-v0", role="pole"), ValueError, r"unknown role.*valid: player"),
        (lambda: _one("HideSeek-v0", role="finder"), ValueError, "unknown role of HideSeek-v0"),
        (
            lambda: _vec("SwarmTag-v0", role="chaser", chaser_count=0),
            ValueError,
            r"unknown role of SwarmTag-v0 'chaser' \(valid: runner\)",
        ),
        (lambda: _vec(others="random"), TypeError, "others= needs role="),
        (lambda: _one("CartPole-v0", others="noop"), TypeError, "others= needs role="),
        (
            lambda: _vec("CartPole-v0", role="player", others="noop"),
            ValueError,
            "others= is for other roles: CartPole-v0 has only player",
        ),
        (lambda: _vec(role="dancer", others="rndom"), ValueError, "did you mean 'random'"),
        (lambda: _vec(role="dancer", others=""), ValueError, "others= must be 'random', 'noop'"),
        (lambda: _vec(role="dancer", others=3), TypeError, r"others= must be .* got 3"),
        (
            lambda: _vec(role="dancer", others=[["noop"]]),
            TypeError,
            r"others= must be .*\['noop'\]",
        ),
        (lambda: _vec(role="dancer", others=[]), ValueError, "a pool needs at least one player"),
        (
            lambda: _vec(role="dancer", others={"clown": {"x": "noop"}}),
            TypeError,
            "others= must be",
        ),
        (
            lambda: _vec(role="dancer", others={"drumer": "noop"}),
            ValueError,
            r"unknown role in others= of Troupe-v0 'drumer'; did you mean 'drummer'\?",
        ),
        (
            lambda: _vec(role="dancer", others={"dancer": "noop"}),
            ValueError,
            "others= names 'dancer', which is the role= of this environment",
        ),
        (lambda: _vec(role="dancer", roles="split"), TypeError, "roles cannot be chosen for one"),
        (lambda: _vec(roles="split"), ValueError, r"roles='split' gives rows of different lengths"),
        (lambda: _batch(roles="padded"), TypeError, "roles cannot be chosen"),
        (
            lambda: gpu_envs.parallel_env("Troupe-v0", roles="padded"),
            TypeError,
            "roles cannot be chosen",
        ),
        (lambda: _batch(group="roles"), ValueError, "group must be 'agent' or 'role'"),
        (lambda: _batch(group=None), ValueError, "group must be 'agent' or 'role'"),
        (lambda: _vec("Band-v0"), ValueError, r"rows of Band-v0 cannot be padded.*use.* role="),
        (
            lambda: gpu_envs.parallel_env("Troupe-v0", role="dancer"),
            TypeError,
            "unexpected keyword argument 'role'",
        ),
        (lambda: _batch(observation="dict"), ValueError, "'dict' is not offered for the roles"),
    ],
)
def test_what_cannot_be_made_says_why(make: Callable[[], Any], kind, message) -> None:
    with pytest.raises(kind, match=message):
        make()


def test_agents_of_the_single_environment_are_still_told_apart() -> None:
    with pytest.raises(ValueError, match=r"gymnasium\.make_vec or gpu_envs\.parallel_env"):
        _one("TagGrid-v0")


# Files of policies


def test_files_that_are_none_and_policies_that_do_not_fit(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="needs torch")
    from tests.gpu_envs.train import fresh

    with pytest.raises(ValueError, match=r"others=: the file 'runs/best\.ckpt' does not exist"):
        _vec("TagGrid-v0", role="tagger", others="runs/best.ckpt")
    with pytest.raises(ValueError, match=r"others=: '.*' is a folder: name a file in it"):
        _vec("TagGrid-v0", role="tagger", others=tmp_path)
    rubbish = tmp_path / "rubbish.ckpt"
    rubbish.write_bytes(b"nothing of the kind")
    with pytest.raises(ValueError, match=r"rubbish\.ckpt"):
        _vec("TagGrid-v0", role="tagger", others=rubbish)
    path = fresh.write(tmp_path / "three.ckpt", "TagGrid-v0", {"num_taggers": 3})
    with pytest.raises(
        ValueError,
        match=r"three\.ckpt: was trained with num_taggers=3, this environment has num_taggers=5; .*"
        r"\(was saved for agents 4, expected 6\)",
    ):
        _vec("TagGrid-v0", role="tagger", others=path, num_taggers=5)
    with pytest.raises(ValueError, match=r"was saved for environment 'TagGrid-v0'"):
        _vec("HideSeek-v0", role="hider", others=path)
    half = fresh.write(tmp_path / "half.ckpt", "TagGrid-v0", {"num_taggers": 3}, learn="tagger")
    with pytest.raises(ValueError, match=r"half\.ckpt has no policy for role 'runner'"):
        _vec("TagGrid-v0", role="tagger", others=half, num_taggers=3)


def test_policies_that_the_repository_does_not_keep(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("gpu_envs.players.policy_files.folder", lambda: tmp_path)
    with pytest.raises(ValueError, match="has no policy of TagGrid-v0"):
        _vec("TagGrid-v0", role="tagger", others="trained")


# Answers of functions


def _answered(name: str, answer: Callable[[Any, Any], Any], role: str, theirs: str) -> None:
    others = {theirs: answer}
    env = _vec(name, role=role, others=others)
    env.reset(seed=0)
    try:
        space = env.action_space
        zeros = np.zeros(space.shape, space.dtype)
        env.step(zeros)
    finally:
        env.close()


def _bad_move(obs: Any, mask: Any) -> np.ndarray:
    """Move left twice: the second time the mask of every dancer forbids it."""
    return np.ones(obs.shape[:2], int)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (
            lambda obs, mask: np.zeros(4, int),
            r"'drummer' returned a bad value: .*shape.*got \(4,\)",
        ),
        (
            lambda obs, mask: np.zeros((3, 2, 1), int),
            r"'drummer' returned a bad value: .*\(3, 2, 1\)",
        ),
        (lambda obs, mask: np.zeros((3, 2)), r"'drummer' returned a bad value: .*must be integers"),
        (lambda obs, mask: None, r"'drummer' returned a bad value: .*array or a list, got None"),
        (lambda obs, mask: "left", r"'drummer' returned a bad value: .*array or a list, got str"),
        (lambda obs, mask: [[1, 2], [3]], r"'drummer' returned a bad value: .*ragged list"),
        (lambda obs, mask: np.full((3, 2), None), r"'drummer' returned a bad value"),
        (lambda obs, mask: {"drummer": 1}, r"'drummer' returned a bad value: .*got dict"),
        (
            lambda obs, mask: np.array([[0, 0], [0, 5], [0, 0]]),
            r"'drummer' returned 5 for drummer_1 in world 1: the role has Discrete\(5\)",
        ),
        (
            lambda obs, mask: np.array([[0, 0], [0, 0], [-1, 0]]),
            r"'drummer' returned -1 for drummer_0 in world 2",
        ),
        (
            lambda obs, mask: np.full((3, 2), 2**63, np.uint64),
            r"'drummer' returned a bad value: .*too large",
        ),
    ],
)
def test_answers_that_are_no_actions_name_role_world_and_agent(answer, message) -> None:
    with pytest.raises(ValueError, match=f"others= of role {message}"):
        _answered("Troupe-v0", answer, "dancer", "drummer")


@pytest.mark.parametrize(
    ("beats", "message"),
    [
        ([0.5, np.nan], r"returned \[0\.5, nan\] for drummer_0 in world 0: the role has Box"),
        ([1.5, 0.0], r"returned \[1\.5, 0\.0\] for drummer_0 in world 0"),
        ([0.5, -2.0], r"returned \[0\.5, -2\.0\] for drummer_0 in world 0"),
    ],
)
def test_numbers_out_of_bounds_are_no_actions(beats, message) -> None:
    def drum(obs: Any, mask: Any) -> np.ndarray:
        return np.broadcast_to(np.array(beats, np.float32), (WORLDS, 2, 2))

    with pytest.raises(ValueError, match=message):
        _answered("Band-v0", drum, "clown", "drummer")
    with pytest.raises(ValueError, match=r"must be floats"):
        _answered("Band-v0", lambda obs, mask: np.zeros((3, 2, 2), int), "clown", "drummer")


def test_several_categories_are_checked_one_by_one() -> None:
    def dance(obs: Any, mask: Any) -> np.ndarray:
        assert mask is None
        moves = np.zeros((WORLDS, 3, 2), int)
        moves[2, 1] = [2, 4]
        return moves

    with pytest.raises(ValueError, match=r"returned \[2, 4\] for dancer_1 in world 2: .*Multi"):
        _answered("Band-v0", dance, "drummer", "dancer")


def test_forbidden_actions_say_what_is_allowed() -> None:
    env = _vec(role="drummer", others={"dancer": _bad_move, "clown": "noop"})
    env.reset(seed=0)
    env.step(np.zeros(env.num_envs, int))
    message = r"'dancer' returned 1 for dancer_0 in world 0: its action mask allows \[0, 2\]"
    with pytest.raises(ValueError, match=message):
        env.step(np.zeros(env.num_envs, int))
    env.close()


# Calls


def test_actions_of_the_own_role_are_checked_as_ever() -> None:
    env = _vec(role="dancer", others="noop")
    with pytest.raises(gpu_envs.ResetNeeded):
        env.step(np.zeros(9, int))
    env.reset(seed=0)
    with pytest.raises(ValueError, match=r"\(9,\) or \(3, 3\) \(3 worlds x 3 agents = 9 rows\)"):
        env.step(np.zeros(18, int))
    with pytest.raises(TypeError, match="must be integers"):
        env.step(np.zeros(9))
    with pytest.raises(ValueError, match="world 0, dancer_0: 7 is not one of 0 to 2"):
        env.step(np.full(9, 7))
    env.step(np.zeros(9, int))
    env.close()


@pytest.mark.parametrize("call", ["step", "reset"])
def test_out_is_refused_and_says_what_there_is(call) -> None:
    env = _vec(role="dancer")
    env.reset(seed=0)
    out = {"reward": np.zeros(9, np.float32)}
    with pytest.raises(ValueError, match=r"out= is not possible with role=.*reuse=True"):
        env.reset(out=out) if call == "reset" else env.step(np.zeros(9, int), out=out)
    env.close()


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        (
            {"dancer": np.zeros((3, 3), int)},
            "role 'drummer' of .* is missing",
        ),
        (
            {"dancer": 0, "drummer": 0, "clown": 0, "singer": 0},
            "unknown role in actions 'singer'",
        ),
        (
            {"dancer": np.zeros((3, 2), int), "drummer": 0, "clown": 0},
            r"role 'dancer': actions must have shape",
        ),
        (
            {
                "dancer": np.zeros((3, 3), int),
                "drummer": np.zeros((3, 2)),
                "clown": np.zeros((3, 1), int),
            },
            r"role 'drummer': actions must be integers",
        ),
    ],
)
def test_bad_actions_by_role_name_the_role(actions, message) -> None:
    env = _batch(group="role")
    env.reset(seed=0)
    with pytest.raises((ValueError, TypeError), match=message):
        env.step(actions)
    env.close()


def test_bad_actions_by_agent_name_the_shapes() -> None:
    env = _batch()
    env.reset(seed=0)
    actions = {agent: np.zeros(WORLDS, int) for agent in env.agents}
    with pytest.raises(ValueError, match="exactly"):
        env.step({agent: actions[agent] for agent in env.agents[1:]})
    with pytest.raises(ValueError, match=r"got \(3,\), \(4,\)"):
        env.step(actions | {"drummer_1": np.zeros(4, int)})
    env.close()


def test_actions_of_another_role_are_no_actions_of_an_agent() -> None:
    env = gpu_envs.parallel_env("Troupe-v0", illegal="raise", absence=0)
    env.reset(seed=0)
    actions = dict.fromkeys(env.agents, 0)
    with pytest.raises(ValueError, match=r"clown_0"):
        env.step(actions | {"clown_0": 3})
    with pytest.raises(ValueError, match=r"action of dancer_1 must be one of Discrete\(3\)"):
        env.step(actions | {"dancer_1": [0, 1]})
    env.step(actions | {"dancer_1": 1})
    with pytest.raises(ValueError, match=r"action 1 of dancer_1 is illegal.*\[0, 2\]"):
        env.step(actions | {"dancer_1": 1})
    env.close()
