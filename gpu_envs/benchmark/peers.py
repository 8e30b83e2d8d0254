"""Other people's implementations of the same task, measured beside ours in the same run.

Each peer is optional: a missing one is reported with its reason. All take prepared random actions,
reset by themselves, and are stepped once per call, as a learner would; what a peer does not return
(final observations, statistics) is its own choice and is not added here.
"""

from __future__ import annotations

import ctypes
import importlib
import os
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from gpu_envs.benchmark import game_peers, swarm_peers
from gpu_envs.benchmark.clock import Call
from gpu_envs.benchmark.machine import cores
from gpu_envs.benchmark.subjects import PREPARED, Subject

_LOOP = Path(__file__).parents[2] / "tests" / "oracles" / "cartpole_loop.c"
_SCANNED = 64  # steps per call of a peer that runs many steps in one


class MissingError(Exception):
    """Why a peer cannot run here, in a few words."""


@dataclass(frozen=True, slots=True)
class Peer:
    """A peer, the largest batch worth trying, and whether it uses all threads."""

    name: str
    open: Callable[[int], Subject]
    most_worlds: int
    threaded: bool = False


def _require(package: str) -> Any:
    try:
        return importlib.import_module(package)
    except Exception as problem:  # a broken installation is as absent as a missing one
        reason = str(problem).splitlines()[0] if str(problem) else type(problem).__name__
        raise MissingError(f"{package} cannot be imported: {reason}") from problem


def _actions(worlds: int, dtype: Any = np.int64) -> list[Any]:
    random = np.random.default_rng(0)
    return [random.integers(0, 2, worlds).astype(dtype) for _ in range(PREPARED)]


def _in_turn(step: Callable[[Any], object], actions: list[Any]) -> Call:
    return lambda i: step(actions[i % PREPARED])


def _warmed(subject: Subject) -> Subject:
    for i in range(4):
        subject.step(i)
    return subject


def _gymnasium(mode: str) -> Callable[[int], Subject]:
    def open_peer(worlds: int) -> Subject:
        env = gymnasium.make_vec("CartPole-v1", num_envs=worlds, vectorization_mode=mode)
        env.reset(seed=0)
        return _warmed(Subject(_in_turn(env.step, _actions(worlds)), worlds, env.close))

    return open_peer


def _envpool(threads: int) -> Callable[[int], Subject]:
    def open_peer(worlds: int) -> Subject:
        envpool = _require("envpool")
        env = envpool.make(
            "CartPole-v1", env_type="gymnasium", num_envs=worlds, num_threads=threads, seed=0
        )
        env.reset()
        return _warmed(Subject(_in_turn(env.step, _actions(worlds, np.int32)), worlds, env.close))

    return open_peer


def _gymnax(worlds: int, steps: int) -> Subject:
    """`steps` 1: a call per step; more: that many steps inside one compiled loop."""
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    jax = _require("jax")
    gymnax = _require("gymnax")
    env, parameters = gymnax.make("CartPole-v1")
    each = jax.vmap(env.step, in_axes=(0, 0, 0, None))

    def advance(key: Any, state: Any, action: Any) -> Any:
        key, own = jax.random.split(key)
        # Observations, state, reward, one flag or two by version, and infos.
        obs, state, *rest, _ = each(jax.random.split(own, worlds), state, action, parameters)
        return key, state, (obs, *rest)

    def advance_many(key: Any, state: Any, action: Any) -> Any:
        def body(carry: Any, _: Any) -> Any:
            key, state, shown = advance(carry[0], carry[1], action)
            return (key, state), [array.sum() for array in shown]

        (key, state), sums = jax.lax.scan(body, (key, state), None, length=steps)
        return key, state, sums

    run = jax.jit(advance if steps == 1 else advance_many)
    reset = jax.vmap(env.reset, in_axes=(0, None))
    key = jax.random.PRNGKey(0)
    held = [key, reset(jax.random.split(key, worlds), parameters)[1]]
    actions = [jax.numpy.asarray(a) for a in _actions(worlds, np.int32)]

    def step(i: int) -> None:
        held[0], held[1], shown = run(held[0], held[1], actions[i % PREPARED])
        jax.block_until_ready(shown)

    return _warmed(Subject(step, worlds * steps, lambda: None))


def compile_loop(folder: Path, flags: tuple[str, ...] = ()) -> ctypes.CDLL:
    """Compile the plain C loop with `cc -O3` and load it."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        raise MissingError("there is no C compiler")
    if not _LOOP.exists():
        raise MissingError(f"its source {_LOOP.name} comes with the source tree only")
    library = folder / f"loop{''.join(flags).replace('=', '-')}.so"
    command = [compiler, "-O3", *flags, "-shared", "-fPIC", "-o", str(library), str(_LOOP), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise MissingError(f"its compilation failed: {(done.stderr.splitlines() or ['?'])[0]}")
    loop = ctypes.CDLL(str(library))
    loop.world_bytes.restype = ctypes.c_int64
    return loop


def _c_loop(*flags: str) -> Callable[[int], Subject]:
    def open_peer(worlds: int) -> Subject:
        with tempfile.TemporaryDirectory() as folder:
            loop = compile_loop(Path(folder), flags)
        memory = np.zeros(worlds * loop.world_bytes(), np.uint8)
        outputs = (
            np.empty((worlds, 4), np.float32),
            np.empty(worlds, np.float32),
            np.empty(worlds, np.uint8),
            np.empty(worlds, np.uint8),
        )
        pointers = [ctypes.c_void_p(array.ctypes.data) for array in outputs]
        state, count = ctypes.c_void_p(memory.ctypes.data), ctypes.c_int64(worlds)
        loop.reset_all(state, count, ctypes.c_uint32(0), pointers[0])
        actions = _actions(worlds)
        places = [ctypes.c_void_p(array.ctypes.data) for array in actions]
        kept = (memory, outputs, actions)

        def step(i: int, kept: object = kept) -> None:
            loop.step_all(state, count, places[i % PREPARED], *pointers)

        subject = Subject(step, worlds, lambda: None)
        for i in range(64):
            step(i)
        return subject

    return open_peer


_CARTPOLE = (
    Peer("C loop, cc -O3", _c_loop(), 1 << 20),
    Peer("C loop, cc -O3 -march=native", _c_loop("-march=native"), 1 << 20),
    Peer("Gymnasium SyncVectorEnv", _gymnasium("sync"), 4096),
    Peer("Gymnasium NumPy vector class", _gymnasium("vector_entry_point"), 1 << 20),
    Peer("EnvPool, 1 thread", _envpool(1), 1 << 16),
    Peer(f"EnvPool, {cores()} threads", _envpool(cores()), 1 << 16, threaded=True),
    Peer("gymnax (jax CPU), a call per step", lambda n: _gymnax(n, 1), 1 << 20, threaded=True),
    Peer(
        f"gymnax (jax CPU), {_SCANNED} steps per call",
        lambda n: _gymnax(n, _SCANNED),
        1 << 16,
        threaded=True,
    ),
)
_HANABI = (
    Peer("OpenSpiel, Python, one core", lambda _: game_peers.open_spiel_hanabi(_require), 1),
    Peer(
        "JaxMARL (jax CPU), compiled",
        lambda _: game_peers.jaxmarl_hanabi(_require),
        1024,
        threaded=True,
    ),
)
_OVERCOOKED = (
    Peer("overcooked-ai, Python, one core", lambda _: game_peers.overcooked_ai(_require), 1),
    Peer(
        "JaxMARL (jax CPU), compiled",
        lambda _: game_peers.jaxmarl_overcooked(_require),
        1024,
        threaded=True,
    ),
)
# Their names end as the forms of gpu_envs.benchmark.herds are called.
_TAG_GRID = (
    Peer(
        "WarpDrive, NumPy: 5 agents, full observation",
        lambda _: swarm_peers.warpdrive_grid(_require, 4),
        1,
    ),
    Peer(
        "WarpDrive, NumPy: 1,000 agents, full observation",
        lambda _: swarm_peers.warpdrive_grid(_require, 999),
        1,
    ),
)
_TAG_CONTINUOUS = (
    Peer(
        "WarpDrive, NumPy: 5 agents, full observation",
        lambda _: swarm_peers.warpdrive_square(_require, 1, 4),
        1,
    ),
    Peer(
        "WarpDrive, NumPy: 1,000 agents, full observation",
        lambda _: swarm_peers.warpdrive_square(_require, 100, 900),
        1,
    ),
)
_FLOCKING = (
    Peer(
        "floxs (jax CPU), compiled: 1,024 agents",
        lambda _: swarm_peers.floxs_flock(_require, 1024),
        1,
        threaded=True,
    ),
)
PEERS = {
    "CartPole-v0": _CARTPOLE,
    "Hanabi-v0": _HANABI,
    "Overcooked-v0": _OVERCOOKED,
    "TagGrid-v0": _TAG_GRID,
    "TagContinuous-v0": _TAG_CONTINUOUS,
    "Flocking-v0": _FLOCKING,
}


def open_quietly(peer: Peer, worlds: int) -> Subject:
    """Open a peer; whatever goes wrong in it becomes a `MissingError` of one line."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return peer.open(worlds)
        except MissingError:
            raise
        except Exception as problem:  # a peer's failure must not end our run
            text = (str(problem).splitlines() or [""])[0]
            raise MissingError(f"it failed with {type(problem).__name__}: {text}") from problem
