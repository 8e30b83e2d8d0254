"""What `agent=` and its partners refuse, and how they say it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpu_envs

Made = Callable[..., gpu_envs.VectorEnv]
FREE = {"layout": "cramped_room"}


def _tag(**options: Any) -> dict[str, Any]:
    return {"name": "TagGrid-v0", "num_taggers": 2, **options}


def _two(obs: Any, mask: Any) -> Any:
    return np.zeros(obs.shape[:2], int)


def _three(role: str, obs: Any, mask: Any) -> Any:
    return np.zeros(obs.shape[:2], int)


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        (
            _tag(agent="tager_0"),
            ValueError,
            r"unknown agent of TagGrid-v0 'tager_0'; did you mean 'tagger_0'\? .*runner_0, drawn",
        ),
        (
            _tag(agent=0),
            TypeError,
            r"agent must be the name of one agent of TagGrid-v0 \(tagger_0, tagger_1, runner_0\) "
            r"or 'drawn', got 0 of type int",
        ),
        (_tag(agent=["tagger_0"]), TypeError, "agent must be the name of one agent"),
        (_tag(agent=""), ValueError, "unknown agent of TagGrid-v0 ''"),
        (
            _tag(agent="tagger_0", role="runner"),
            TypeError,
            "role='runner' and agent='tagger_0' exclude each other",
        ),
        (_tag(others="noop"), TypeError, "others= needs role= or agent="),
        (_tag(agent="tagger_0", others="rndom"), ValueError, "did you mean 'random'"),
        (_tag(agent="tagger_0", others=3), TypeError, r"others= must be .* or a dict .*, got 3"),
        (_tag(agent="tagger_0", others={1, 2}), TypeError, r"others= must be .*got \{1, 2\}"),
        (
            _tag(agent="tagger_0", others=[]),
            ValueError,
            "others=: a pool needs at least one player, got an empty one",
        ),
        (_tag(agent="drawn", others={"runner": ()}), ValueError, "a pool needs at least one"),
        (
            _tag(agent="tagger_0", others=["noop", ["random"]]),
            TypeError,
            r"others= must be .*, got \['random'\]",
        ),
        (_tag(agent="tagger_0", others=["noop", "nop"]), ValueError, "did you mean 'noop'"),
        (
            _tag(agent="tagger_0", others={"tagger_2": "noop"}),
            ValueError,
            r"unknown role or agent in others= of TagGrid-v0 'tagger_2'; did you mean .*"
            r"\(valid: tagger, runner, tagger_0, tagger_1, runner_0\)",
        ),
        (
            _tag(agent="tagger_0", others={"tagger_0": "noop"}),
            ValueError,
            "others= names 'tagger_0', which is the agent= of this environment",
        ),
        (
            _tag(agent="tagger_0", num_taggers=1, others={"tagger": "noop"}),
            ValueError,
            "others= names 'tagger', whose only agent is 'tagger_0', which is the agent=",
        ),
        (
            _tag(agent="tagger_0", others=_two),
            TypeError,
            r"others=: the callable is called with \(role, obs, mask\), got _two\(obs",
        ),
        (
            _tag(agent="tagger_0", others={"tagger_1": _three}),
            TypeError,
            r"others= of 'tagger_1': the callable is called with \(obs, mask\), got _three",
        ),
        (
            _tag(agent="tagger_0", others={"runner": ["noop", _three]}),
            TypeError,
            r"others= of 'runner': the callable is called with \(obs, mask\), got _three",
        ),
        (
            _tag(agent="tagger_0", others="no/such.ckpt"),
            ValueError,
            "'no/such.ckpt' does not exist",
        ),
        (_tag(agent="tagger_0", others={"runner": "tests/"}), ValueError, "is a folder"),
        (_tag(agent="tagger_0", roles="split"), TypeError, "roles cannot be chosen for one role"),
        (
            {"name": "Overcooked-v0", "agent": "drawn", "others": "scripted"},
            ValueError,
            "others= scripted: Overcooked-v0 has no scripted player",
        ),
    ],
)
def test_what_cannot_be_made_says_why(make_vec: Made, options, kind, message) -> None:
    for one in (False, True):
        with pytest.raises(kind, match=message):
            if one:
                named = {key: value for key, value in options.items() if key != "name"}
                gpu_envs.Env(options["name"], **named)
            else:
                make_vec(num_envs=3, **options)


def test_one_agent_has_no_seat_to_exchange_and_no_partner(make_vec: Made) -> None:
    only = gpu_envs.Simulator("CartPole-v0", 1, device="cpu").agent_names[0]
    with pytest.raises(ValueError, match=f"CartPole-v0 has only one: {only}"):
        make_vec("CartPole-v0", 3, agent="drawn")
    with pytest.raises(
        ValueError, match=f"others= is for other agents: CartPole-v0 has only {only}"
    ):
        make_vec("CartPole-v0", 3, agent=only, others="noop")


def test_seats_of_unequal_agents_are_not_exchanged(make_vec: Made, troupe: str) -> None:
    message = (
        r"agent='drawn' exchanges seats, .* of Troupe-v0 have spaces of their own \(dancer, dr"
    )
    with pytest.raises(ValueError, match=message):
        make_vec(troupe, 3, agent="drawn")
    env = make_vec(troupe, 3, agent="drummer_1", others={"drummer_0": "noop"})
    assert env.reset(seed=1)[0].shape == (3, *env.single_observation_space.shape)
    env.step(np.zeros(3, int))


def test_partners_of_another_kitchen_or_game_are_refused(make_vec: Made, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="needs torch")
    from tests.gpu_envs.train import fresh

    path = fresh.write(tmp_path / "chef.ckpt", "Overcooked-v0", FREE)
    good = {"agent": "drawn", "others": ["random", path]}
    make_vec("Overcooked-v0", 3, **good).reset(seed=1)
    with pytest.raises(ValueError, match=r"chef.ckpt.*cramped_room.*coordination_ring"):
        make_vec("Overcooked-v0", 3, layout="coordination_ring", **good)
    with pytest.raises(ValueError, match=r"chef.ckpt.*TagGrid-v0"):
        make_vec("TagGrid-v0", 3, agent="tagger_0", others={"runner": path})
    damaged = tmp_path / "damaged.ckpt"
    damaged.write_bytes(path.read_bytes()[:100])
    with pytest.raises(ValueError, match=r"damaged\.ckpt"):
        make_vec("Overcooked-v0", 3, agent="drawn", others=damaged)


def test_answers_of_a_member_count_where_it_plays(make_vec: Made) -> None:
    def one(role: str, obs: Any, mask: Any) -> Any:
        return np.ones(obs.shape[:2], int)

    fine = 0
    for bad in range(8):

        def some(role: str, obs: Any, mask: Any, bad: int = bad) -> Any:
            return np.where(np.arange(8)[:, None] == bad, 99, np.zeros(obs.shape[:2], int))

        env = make_vec(**_tag(num_envs=8, agent="tagger_0", others=[some, one]))
        env.reset(seed=1)
        before = env.save()
        try:
            env.step(np.zeros(8, int))
            fine += 1
        except ValueError as problem:
            assert f"returned 99 for tagger_1 in world {bad}" in str(problem)
            assert env.save() == before
    assert 0 < fine < 8  # in some worlds the other member plays


@pytest.mark.parametrize("name", ["TagGrid-v0", "Hanabi-v0"])
@pytest.mark.parametrize("agent", [0, "drawn"])
def test_a_refused_step_moves_nobody(make_vec: Made, name: str, agent: Any) -> None:
    if agent == 0:
        agent = gpu_envs.Simulator(name, 1, device="cpu").agent_names[0]
    env = make_vec(name, 3, agent=agent, others=["random", "noop"])
    with pytest.raises(gpu_envs.ResetNeeded):
        env.step(np.zeros(3, int))
    env.reset(seed=1)
    before = env.save()
    for actions, message in (
        (np.full(3, 99), "99"),
        (np.zeros(4, int), "shape"),
        (np.zeros(3), "integers"),
        (None, "None"),
    ):
        with pytest.raises((ValueError, TypeError), match=message):
            env.step(actions)
    for worlds in ([True], [1, 2, 3], "abc"):
        with pytest.raises((ValueError, TypeError), match="worlds"):
            env.step(np.zeros(3, int), worlds=worlds)
    for bad in ({"reset_mask": [True]}, {"nonsense": 1}):
        with pytest.raises((ValueError, TypeError)):
            env.reset(options=bad)
    with pytest.raises(ValueError, match=r"out= is not possible with role= or agent="):
        env.step(np.zeros(3, int), out={})
    assert env.save() == before


def test_saves_of_other_seats_and_pools_are_refused_by_name(make_vec: Made) -> None:
    envs = [
        make_vec("Hanabi-v0", 3, agent="player_0"),
        make_vec("Hanabi-v0", 3, agent="player_1"),
        make_vec("Hanabi-v0", 3, agent="drawn"),
        make_vec("Hanabi-v0", 3, agent="player_0", others=["random", "random"]),
        make_vec("Hanabi-v0", 3, agent="player_0", others=["random", "random", "noop"]),
    ]
    for env in envs:
        env.reset(seed=1)
    saved = [env.save() for env in envs]
    for k, env in enumerate(envs):
        for j, data in enumerate(saved):
            if j != k:
                with pytest.raises(
                    ValueError, match=r"load: the save differs in other players: it"
                ):
                    env.load(data)
            assert env.save() == saved[k]
