"""What players keep of a world, `others=`, is saved, loaded and copied with it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpu_envs
from gpu_envs.core import saves
from tests.gpu_envs.players.test_other_players import _loosen

WORLDS = 4
LIMIT = 9  # steps of an episode, so that several end
MODES = ["SameStep", "NextStep", "Disabled"]
TAG: dict[str, Any] = {"num_taggers": 2, "max_episode_steps": LIMIT}
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "chance": ("TagGrid-v0", {"role": "tagger", "others": "random", **TAG}),
    "chance of floats": ("SwarmTag-v0", {"role": "chaser", "chaser_count": 2, "runner_count": 3}),
    "chance of masks": ("CovidEconomy-v0", {"role": "planner", "max_episode_steps": LIMIT}),
    "script": (
        "HideSeek-v0",
        {"role": "seeker", "others": "scripted", "hider_count": 2, "max_episode_steps": 20},
    ),
    "memory": ("TagGrid-v0", {"role": "tagger", "others": "FILE", **TAG}),
}
every_case = pytest.mark.parametrize("case", CASES)
every_mode = pytest.mark.parametrize("mode", MODES)

Made = Callable[..., gpu_envs.VectorEnv]


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of recurrent policies whose answers depend on what they remember."""
    pytest.importorskip("torch", reason="needs torch")
    from tests.gpu_envs.train import fresh

    path = tmp_path_factory.mktemp("policy") / "tag.ckpt"
    choices = {"policies": "role", "memory": 5, "hidden": "8"}
    fresh.write(path, "TagGrid-v0", {"num_taggers": 2}, **choices)
    _loosen(path)
    return path


@pytest.fixture
def make(make_vec: Made, policy: Path) -> Made:
    """Make the environment of a case."""

    def made(case: str, worlds: int = WORLDS, **form: Any) -> gpu_envs.VectorEnv:
        name, options = CASES[case]
        if options.get("others") == "FILE":
            options = {**options, "others": policy}
        return make_vec(name, worlds, **{**options, **form})

    return made


def _actions(env: gpu_envs.VectorEnv, step: int) -> np.ndarray:
    """Draw actions from the number of the step alone, equal ones in each world."""
    space, agents = env.single_action_space, env.agents_per_world
    space.seed(step)
    drawn = np.array([space.sample() for _ in range(agents)] * env.num_worlds)
    return 0 * drawn if env.simulator.name == "CovidEconomy-v0" else drawn  # 0 is always legal


def _moves(env: gpu_envs.VectorEnv) -> list[np.ndarray]:
    """Keep the actions of all agents, as the simulator gets them, from now on."""
    taken: list[np.ndarray] = []
    step_arrays = env.simulator.step_arrays

    def watched(actions: Any, *rest: Any) -> Any:
        taken.append(np.array(actions))
        return step_arrays(actions, *rest)

    env.simulator.step_arrays = watched  # type: ignore[method-assign]
    return taken


def _play(env: gpu_envs.VectorEnv, steps: range) -> list[Any]:
    """Return what steps return, and what the players keep after each."""
    seen, others = [], env._rows.others  # type: ignore[union-attr]
    for step in steps:
        results = env.step(_actions(env, step))[:4]
        kept = [
            rows
            for one in others.kept(list(range(env.num_worlds))).values()
            for rows in one.rows.values()
        ]
        seen.append(tuple(map(np.array, (*results, *kept))))
        if env.autoreset_mode.value == "Disabled":
            over = (seen[-1][2] | seen[-1][3]).reshape(env.num_worlds, -1).all(1)
            if over.any():
                env.reset(options={"reset_mask": over})
    return seen


def _same(left: Any, right: Any) -> bool:
    return all(
        mine.tobytes() == yours.tobytes()
        for one, two in zip(left, right, strict=True)
        for mine, yours in zip(one, two, strict=True)
    )


@every_case
@every_mode
@pytest.mark.parametrize("after", [6, LIMIT, LIMIT + 1])  # in an episode, at its end, behind it
def test_a_save_has_the_players_future(make: Made, case: str, mode: str, after: int) -> None:
    first, twin, second = (make(case, autoreset_mode=mode) for _ in range(3))
    for env in (first, twin):
        env.reset(seed=4)
        _play(env, range(after))
    data, steps = first.save(), range(after, after + 25)
    expected = _play(twin, steps)
    assert _same(_play(first, steps), expected)  # a save changes nothing
    first.load(data)
    assert _same(_play(first, steps), expected)
    second.load(data)  # was never reset
    assert _same(_play(second, steps), expected)
    assert second.save() == first.save()


@every_case
@every_mode
def test_a_fork_has_the_players_of_its_source(make: Made, case: str, mode: str) -> None:
    env = make(case, autoreset_mode=mode)
    env.reset(seed=4)
    moves = _moves(env)
    for at in (5, LIMIT, 4):  # within an episode, and when it has just ended
        _play(env, range(at))
        env.copy_worlds(1, [0, 3])
        moves.clear()
        for _, _, _, _, *kept in _play(env, range(25)):
            for rows in kept:  # a row of a matrix product may round unlike another
                assert np.allclose(rows[[0, 3]], rows[1], atol=1e-5)
        for move in moves:
            by_world = move.reshape(WORLDS, -1) if move.ndim > 1 else _by_world(env, move)
            assert (by_world[[0, 3]] == by_world[1]).all()
    if case.startswith("chance"):
        assert any((_by_world(env, move)[2] != _by_world(env, move)[1]).any() for move in moves)


def _by_world(env: gpu_envs.VectorEnv, whole: np.ndarray) -> np.ndarray:
    """Return the actions of all roles by world, of one array role after role."""
    if whole.ndim > 1:
        return whole.reshape(env.num_worlds, -1)
    words = len(whole) // env.num_worlds
    parts, begin = [], 0
    for role in env.simulator.roles:
        length = role.count * max(1, int(np.prod(role.action_space.shape or ())))
        end = begin + length * env.num_worlds
        parts.append(whole[begin:end].reshape(env.num_worlds, length))
        begin = end
    assert sum(part.shape[1] for part in parts) == words
    return np.concatenate(parts, 1)


@every_case
def test_a_world_takes_its_players_into_any_batch(make: Made, case: str) -> None:
    alone, batch = make(case, 1, first_world=2), make(case)
    alone.reset(seed=4)
    _play(alone, range(5))
    batch.reset(seed=8)
    _play(batch, range(3))
    batch.load(alone.save(), worlds=[0, 2])
    batch.load(batch.save(worlds=[2]), worlds=[3, 1])
    agents = batch.agents_per_world
    for step in range(5, 25):
        own = _actions(alone, step)
        theirs = np.concatenate([own] * WORLDS)
        one, many = alone.step(own), batch.step(theirs)
        for mine, yours in zip(one[:4], many[:4], strict=True):
            for world in (1, 3):
                assert np.array_equal(mine, yours[world * agents : (world + 1) * agents])


def test_reseeded_forks_meet_other_partners(make: Made) -> None:
    env = make("chance", autoreset_mode="Disabled")
    env.reset(seed=4)
    env.copy_worlds(1, [0, 2, 3], reseed=True)
    data, moves = env.save(), _moves(env)
    for _ in range(6):
        env.step(_actions(env, 0))
    first = np.array([_by_world(env, move) for move in moves])
    assert len({first[:, world].tobytes() for world in range(WORLDS)}) == WORLDS
    env.load(data)
    moves.clear()
    for _ in range(6):
        env.step(_actions(env, 0))
    assert np.array_equal(first, [_by_world(env, move) for move in moves])


def test_worlds_that_are_not_named_keep_their_players(make: Made) -> None:
    for case in CASES:
        env, twin = make(case), make(case)
        for one in (env, twin):
            one.reset(seed=4)
            _play(one, range(LIMIT))  # of some players an episode has just ended
        one_world = make(case, 1)
        one_world.reset(seed=9)
        env.load(one_world.save(), worlds=[2])
        agents = env.agents_per_world
        rest = np.repeat([True, True, False, True], agents)
        for ours, theirs in zip(*(_play(one, range(5, 12)) for one in (env, twin)), strict=True):
            for mine, yours in zip(ours[:4], theirs[:4], strict=True):
                assert np.array_equal(mine[rest], yours[rest])
            for mine, yours in zip(ours[4:], theirs[4:], strict=True):
                assert np.array_equal(mine[[0, 1, 3]], yours[[0, 1, 3]])


@every_case
def test_players_begin_anew_in_a_save_of_a_simulator(make: Made, case: str) -> None:
    env = make(case)
    env.reset(seed=4)
    _play(env, range(5))
    plain = env.simulator.save()
    futures = []
    for _ in range(2):
        env.load(plain)
        futures.append(_play(env, range(5, 12)))
        _play(env, range(3))
    assert _same(*futures)
    fresh = make(case)
    fresh.load(plain)
    assert _same(_play(fresh, range(5, 12)), futures[0])


def test_a_column_is_written_between_steps_without_a_trace_in_players(make: Made) -> None:
    env, twin = make("memory"), make("memory")
    for one in (env, twin):
        one.reset(seed=4)
    for step in range(30):
        env.set("world.step", env.get("world.step"))
        actions = _actions(twin, step)
        assert np.array_equal(env.step(actions)[0], twin.step(actions)[0])


def test_one_world_of_a_role_is_saved(policy: Path) -> None:
    first, second = (
        gpu_envs.Env("TagGrid-v0", role="runner", others=policy, num_taggers=2) for _ in range(2)
    )
    first.reset(seed=1)
    for step in range(4):
        first.step(step % 5)
    data = first.save()
    expected = [first.step(step % 5)[0] for step in range(12)]
    second.load(data)
    assert np.array_equal(second.observe()[0], second.observe()[0])
    assert np.array_equal([second.step(step % 5)[0] for step in range(12)], expected)
    for env in (first, second):
        env.close()


@pytest.mark.parametrize("arrays", ["torch", "jax"])
@pytest.mark.parametrize("case", ["chance", "memory"])
def test_saves_go_from_library_to_library(make: Made, case: str, arrays: str) -> None:
    pytest.importorskip(arrays)
    first, second = make(case), make(case, arrays=arrays)
    first.reset(seed=4)
    _play(first, range(5))
    second.load(first.save())
    assert second.save() == first.save()
    second.copy_worlds(0, [1, 2, 3])
    for step in range(12):
        actions = _actions(first, step)
        obs = np.asarray(second.step(actions)[0])
        assert (obs.reshape(WORLDS, -1) == obs.reshape(WORLDS, -1)[0]).all()


# What is refused


def _damaged(data: bytes) -> dict[str, bytes]:
    """Return what is not a save, by what is wrong with it."""
    length = int.from_bytes(data[8:16], "little")
    header = json.loads(data[16 : 16 + length])

    def told(
        change: Callable[[dict[str, Any]], None], body: bytes = data[16 + length : -16]
    ) -> bytes:
        """Return an intact save whose header says something else."""
        other = json.loads(json.dumps(header))
        change(other)
        text = json.dumps(other).encode()
        whole = data[:8] + len(text).to_bytes(8, "little") + text + body
        return whole + hashlib.blake2b(whole, digest_size=16).digest()

    def array(number: int, value: Any) -> bytes:
        def change(other: dict[str, Any]) -> None:
            next(iter(other["players"].values()))["arrays"][0][number] = value

        return told(change)

    flipped = bytearray(data)
    flipped[len(data) // 2] ^= 4
    return {
        "empty": b"",
        "magic alone": data[:8],
        "half of it": data[: len(data) // 2],
        "less one": data[:-1],
        "more": data + b"\0",
        "a bit": bytes(flipped),
        "no players": told(lambda other: other.pop("players")),
        "players that are a list": told(lambda other: other.update(players=[1])),
        "no length": told(lambda other: other.pop("save")),
        "a length below zero": told(lambda other: other.update(save=-5)),
        "a length beyond its end": told(lambda other: other.update(save=10**9)),
        "another player": told(
            lambda other: other["players"].update(runner={"who": "x", "arrays": []})
        ),
        "another role": told(
            lambda other: other["players"].update(x={"who": "random", "arrays": []})
        ),
        "objects": array(1, "|O"),
        "text for a type": array(1, "nonsense"),
        "a type of another size": array(1, "<i2"),
        "a type as long": array(1, "<f8"),
        "a shape": array(2, [2]),
        "a shape below zero": array(2, [-1]),
        "a huge shape": array(2, [2**62]),
        "a name": array(0, "nonsense"),
        "rows that lack": told(lambda other: None, data[16 + length : -24]),
        "rows too many": told(lambda other: None, data[16 + length : -16] + bytes(8)),
        "header of text": data[:8] + (3).to_bytes(8, "little") + data[16:],
    }


DAMAGES = list(
    _damaged(saves.joined(b"", {"runner": saves.Kept("random", {"draws": np.zeros(0)})}))
)


@pytest.mark.parametrize("what", DAMAGES)
@pytest.mark.parametrize("case", ["chance", "script", "memory"])
def test_broken_saves_are_refused_and_nothing_is_written(make: Made, case: str, what: str) -> None:
    env = make(case)
    env.reset(seed=4)
    _play(env, range(3))
    good = env.save()
    broken = _damaged(good)[what]
    with pytest.raises(ValueError, match=r"load: "):
        env.load(broken)
    with pytest.raises(ValueError, match=r"load: "):
        env.load(broken, worlds=[2, 0, 1, 3])
    assert env.save() == good
    env.load(good)


@pytest.mark.parametrize(
    ("worlds", "error", "message"),
    [
        (None, ValueError, "load: the save differs in worlds: it has 2, this simulator 4"),
        ([1], ValueError, "load: the save has 2 worlds and worlds= names 1"),
        ([], ValueError, "load: the save has 2 worlds and worlds= names 0"),
        ([1, 1], ValueError, "load: world 1 is named twice"),
        ([1, 4], ValueError, r"worlds must be in \[0, 4\)"),
        ("x", TypeError, "worlds must be a list of world numbers"),
    ],
)
@pytest.mark.parametrize("case", ["chance", "script", "memory"])
def test_players_stay_where_worlds_are_refused(make: Made, case, worlds, error, message) -> None:
    two, env = make(case, 2), make(case)
    for seed, one in enumerate((two, env)):
        one.reset(seed=seed)
        _play(one, range(3 + seed))
    before = env.save()
    with pytest.raises(error, match=message):
        env.load(two.save(), worlds=worlds)
    assert env.save() == before
    for bad in ((0, [1, 1]), ([0, 1], [1]), (0, [0]), (4, [0]), ("a", [0])):
        with pytest.raises((ValueError, TypeError)):
            env.copy_worlds(*bad)
    assert env.save() == before


def test_saves_of_other_players_are_refused_by_name(make: Made, policy: Path, tmp_path) -> None:
    other = tmp_path / "other.ckpt"
    other.write_bytes(policy.read_bytes())
    _loosen_again(other)
    envs = {
        "random": make("chance"),
        "policies": make("memory"),
        "other policies": make("memory", others=other),
        "noop": make("chance", others="noop"),
    }
    for env in envs.values():
        env.reset(seed=4)
    data = {who: env.save() for who, env in envs.items()}
    message = r"load: the save differs in other players: it has runner: random, this .* runner: pol"
    with pytest.raises(ValueError, match=message):
        envs["policies"].load(data["random"])
    for who in ("random", "other policies", "noop"):
        before = envs[who].save()
        with pytest.raises(ValueError, match="differs in other players: it has runner: policies"):
            envs[who].load(data["policies"])
        assert envs[who].save() == before
    assert data["noop"] == envs["noop"].simulator.save()  # such players keep nothing
    envs["random"].load(data["noop"])
    with pytest.raises(ValueError, match=r"other players.*others="):
        envs["random"].simulator.load(data["random"])


def _loosen_again(path: Path) -> None:
    import torch

    from gpu_envs.policies import checkpoint

    tree = checkpoint.load(path)
    for state in tree["policies"].values():
        for name in [name for name in state if "weight" in name]:
            state[name] = torch.ones_like(state[name])
    checkpoint.save(path, tree)


def test_no_save_of_players_unpickles(make: Made, monkeypatch) -> None:
    import pickle

    env = make("script")
    env.reset(seed=4)
    data = env.save()
    for name in ("load", "loads", "Unpickler"):
        monkeypatch.setattr(pickle, name, None)
    env.load(data)
