"""What every face of an environment does when it is closed, copied, pickled or dropped.

A face is what a user holds: the simulator, batches of rows (of all agents, of one role), the single
environment, the forms of PettingZoo. Faces that need another library are tested beside it.
"""

from __future__ import annotations

import copy
import gc
import pickle
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import gymnasium
import numpy as np
import pytest

import gpu_envs

PICTURES = {"resolution": "5x7", "observation": "rgb+depth"}
pytestmark = pytest.mark.usefixtures("troupe")


@dataclass
class Face:
    """How to make a face, and calls of it; `kind` is what messages call it."""

    kind: str
    make: Callable[[], Any]
    step: Callable[[Any], Any]
    calls: dict[str, Callable[[Any], Any]] = field(default_factory=dict)


def _vec(name: str, **options: Any) -> Any:
    return gymnasium.make_vec(f"gpu_envs/{name}", num_envs=3, device="cpu", **options)


def _zeros(env: Any) -> Any:
    return env.step(0 * env.action_space.sample())


def _of_agents(env: Any) -> Any:
    return env.step(dict.fromkeys(env.possible_agents, 0))


def _of_batch(env: Any) -> Any:
    return env.step({key: np.zeros(3, int) for key in env.possible_agents})


SIMULATOR = {
    "step": lambda s: s.step(np.zeros((5, 2), np.int64)),
    "reset": lambda s: s.reset(),
    "reset with a seed": lambda s: s.reset(seed=0),
    "observe": lambda s: s.observe(),
    "save": lambda s: s.save(),
    "load": lambda s: s.load(b""),
    "copy_worlds": lambda s: s.copy_worlds([0], [1]),
    "get": lambda s: s.get("world.step"),
    "set": lambda s: s.set("world.step", 0),
    "check": lambda s: s.check(),
    "memory_bytes": lambda s: s.memory_bytes,
}
RESET = {"reset": lambda env: env.reset(), "reset with a seed": lambda env: env.reset(seed=0)}
VECTOR = RESET | {"check": lambda env: env.check()}
NOTHING = {"step of nothing": lambda env: env.step({})}

FACES = {
    "simulator": Face(
        "a Simulator",
        lambda: gpu_envs.Simulator(
            "Micro-v0", 5, device="cpu", first_world=3, max_episode_steps=7, agent_count=2
        ),
        SIMULATOR["step"],
        SIMULATOR,
    ),
    "rows": Face(
        "a VectorEnv",
        lambda: _vec("CartPole-v0", autoreset_mode="NextStep", max_episode_steps=5),
        _zeros,
        VECTOR,
    ),
    "rows of flat actions": Face(
        "a VectorEnv", lambda: _vec("ObstaclesEasy-v0", actions="flat", **PICTURES), _zeros, VECTOR
    ),
    "rows of a role": Face(
        "a VectorEnv",
        lambda: _vec("TagGrid-v0", role="tagger", others="noop", num_taggers=3),
        _zeros,
        VECTOR,
    ),
    "single": Face(
        "an Env",
        lambda: gpu_envs.Env("CartPole-v0", sutton_barto_reward=True, max_episode_steps=5),
        lambda env: env.step(0),
        RESET,
    ),
    "made single": Face(
        "an Env",
        lambda: gpu_envs.make("CartPole-v0", sutton_barto_reward=True),
        lambda env: env.step(0),
        RESET,
    ),
    "parallel": Face(
        "a ParallelEnv",
        lambda: gpu_envs.parallel_env("Micro-v0", max_cycles=9, agent_count=3),
        _of_agents,
        RESET | NOTHING,
    ),
    "parallel of roles": Face(
        "a ParallelEnv", lambda: gpu_envs.parallel_env("Troupe-v0"), _of_agents, RESET | NOTHING
    ),
    "batched": Face(
        "a BatchedParallelEnv",
        lambda: gpu_envs.batched_parallel_env("Overcooked-v0", 3, device="cpu"),
        _of_batch,
        RESET | NOTHING,
    ),
    "turns": Face("", lambda: gpu_envs.aec_env("Hanabi-v0"), lambda env: env.step(0), RESET),
}
every_face = pytest.mark.parametrize("face", FACES.values(), ids=FACES)
WAYS = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda it: pickle.loads(pickle.dumps(it)),
}
# A form of turns is PettingZoo's; a shallow copy of what Gymnasium has wrapped shares the inside.
every_copy = pytest.mark.parametrize(
    ("face", "duplicate"),
    [
        pytest.param(face, duplicate, id=f"{name}-{way}")
        for name, face in FACES.items()
        for way, duplicate in WAYS.items()
        if face.kind and (name, way) != ("made single", "copy")
    ],
)


@pytest.fixture
def made() -> Iterator[Callable[[Face], Any]]:
    """Makes faces, and closes them."""
    faces: list[Any] = []

    def make(face: Face) -> Any:
        faces.append(face.make())
        return faces[-1]

    yield make
    for each in faces:
        each.close()


def _same(first: Any, second: Any) -> None:
    """Compare results: arrays, and dictionaries and tuples of them."""
    if isinstance(first, dict):
        assert first.keys() == second.keys()
        for key in first:
            _same(first[key], second[key])
    elif isinstance(first, tuple | list):
        assert len(first) == len(second)
        for left, right in zip(first, second, strict=True):
            _same(left, right)
    else:
        assert np.array_equal(first, second)


def _simulator(env: Any) -> gpu_envs.Simulator:
    whole = getattr(env, "unwrapped", env)
    return getattr(whole, "simulator", whole)


# ---- closing


@every_face
def test_use_after_close_is_refused_and_closing_twice_is_not(face: Face) -> None:
    env = face.make()
    env.reset(seed=0)
    simulator, name = _simulator(env), _simulator(env).name
    env.close()
    env.close()
    assert simulator.is_closed and "closed" in repr(simulator)
    for what, call in ({"step": face.step} | face.calls).items():
        with pytest.raises(RuntimeError, match=f"{name} is closed"):
            call(env)
            pytest.fail(f"{what} was served")
    if isinstance(env, gpu_envs.VectorEnv):
        assert env.closed


def test_a_block_closes_its_environment() -> None:
    with gpu_envs.Env("CartPole-v0") as env:
        env.reset(seed=0)
        simulator = env.simulator
    assert simulator.is_closed and repr(env) == "<Env CartPole-v0>"


def test_what_was_never_reset_can_be_closed(made: Callable[[Face], Any]) -> None:
    for face in FACES.values():
        made(face).close()


# ---- copies


@every_copy
def test_copies_of_what_has_not_begun_are_equal_and_their_own(
    face: Face, duplicate: Callable[[Any], Any], made: Callable[[Face], Any]
) -> None:
    env = made(face)
    spaces = [getattr(env, "action_space", None), getattr(env, "single_action_space", None)]
    for space in spaces:
        if isinstance(space, gymnasium.Space):
            space.seed(7)
    twin = duplicate(env)
    assert _simulator(twin).parameters == _simulator(env).parameters
    assert _simulator(twin).max_episode_steps == _simulator(env).max_episode_steps
    for name in ("spec", "autoreset_mode", "max_cycles", "role"):
        assert getattr(twin, name, None) == getattr(env, name, None), name
    if isinstance(spaces[0], gymnasium.Space):
        _same(twin.action_space.sample(), env.action_space.sample())
    results, others = env.reset(seed=1), twin.reset(seed=1)
    _same(getattr(results, "obs", results), getattr(others, "obs", others))
    steps = [face.step(env), face.step(twin)]
    _same(*(getattr(step, "obs", step) for step in steps))
    env.close()
    face.step(twin)
    twin.close()


@every_copy
def test_copies_of_what_has_begun_or_is_closed_are_refused_with_advice(
    face: Face, duplicate: Callable[[Any], Any], made: Callable[[Face], Any]
) -> None:
    env = made(face)
    env.reset(seed=0)
    owner = "" if face.kind == "a Simulator" else r"simulator\."
    advice = rf"cannot pickle or copy {face.kind} that has begun.*{owner}save\(\) and .*load\(\)"
    with pytest.raises(TypeError, match=advice):
        duplicate(env)
    env.close()
    kind = face.kind.split()[1]
    with pytest.raises(TypeError, match=f"cannot pickle or copy a closed {kind}: make another"):
        duplicate(env)


def test_a_simulator_has_begun_with_a_column_or_a_draw_too(make_simulator: Any) -> None:
    for begin in (lambda s: s.set("cart.x", 0.5), lambda s: s.sample_actions()):
        simulator = make_simulator()
        begin(simulator)
        with pytest.raises(TypeError, match="cannot pickle or copy a Simulator that has begun"):
            copy.copy(simulator)


# ---- the end


@every_face
def test_what_is_dropped_is_freed_at_once(face: Face) -> None:
    env = face.make()
    env.reset(seed=0)
    face.step(env)
    references = [weakref.ref(env), weakref.ref(_simulator(env))]
    gc.disable()
    try:
        del env
        assert [reference() for reference in references] == [None, None]
    finally:
        gc.enable()
