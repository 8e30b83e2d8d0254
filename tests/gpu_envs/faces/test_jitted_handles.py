"""`VectorEnv.xla`: handles, who else uses the worlds, and how programs and processes end."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

pytest.importorskip("jax", reason="needs jax")
import jax
import jax.numpy as jnp

import gpu_envs
from tests.gpu_envs.faces.jit_cases import NAME, Make, actions_of, environments, refused, wait


@pytest.fixture
def make() -> Iterator[Make]:
    with environments() as made:
        yield made


# ---- handles


def test_a_handle_is_good_for_one_call(make: Make) -> None:
    env = make()
    handle, reset, step = env.xla()
    row = actions_of(1)[0]
    following, _ = jax.jit(step)(handle, row)
    before = env.simulator.save()
    refused(lambda: jax.jit(step)(handle, row), "this handle was used before")
    refused(lambda: reset(handle), "this handle was used before")
    assert env.simulator.save() == before
    jax.block_until_ready(step(following, row))


@pytest.mark.parametrize("change", ["step", "reset", "set", "load", "set_parameters", "copy"])
def test_a_change_in_python_makes_handles_old(make: Make, change: str) -> None:
    env = make(varies=["gravity"])
    save = env.simulator.save()
    handle, _, step = env.xla()
    simulator = env.simulator
    {
        "step": lambda: env.step(actions_of(1)[0]),
        "reset": lambda: env.reset(),
        "set": lambda: simulator.set("cart.angle", np.zeros((4, 1), np.float32)),
        "load": lambda: simulator.load(save),
        "set_parameters": lambda: simulator.set_parameters(gravity=9.0),
        "copy": lambda: simulator.copy_worlds([0], [1]),
    }[change]()
    refused(lambda: step(handle, actions_of(1)[0]), "stepped or changed in Python")
    jax.block_until_ready(step(env.xla()[0], actions_of(1)[0]))


def test_reading_in_python_does_not(make: Make) -> None:
    env = make()
    handle, _, step = env.xla()
    env.simulator.save(), env.simulator.get("cart.angle"), env.observe(), env.check()
    jax.block_until_ready(step(handle, actions_of(1)[0]))


def test_what_python_refuses_does_not(make: Make) -> None:
    env = make()
    handle, _, step = env.xla()
    for call in (
        lambda: env.step([5, 0, 0, 0]),
        lambda: env.step(np.zeros(7, np.int32)),
        lambda: env.reset(seed=-1),
        lambda: env.simulator.set("cart.angle", np.full((4, 1), np.nan)),
        lambda: env.simulator.load(b"nothing"),
    ):
        with pytest.raises((ValueError, TypeError)):
            call()
    jax.block_until_ready(step(handle, actions_of(1)[0]))


def test_readers_do_not_disturb_a_program(make: Make) -> None:
    env = make(256)
    handle, _, step = env.xla()
    action = jnp.zeros(256, jnp.int32)
    run = jax.jit(lambda h: jax.lax.fori_loop(0, 5000, lambda _, h: step(h, action)[0], h))
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(wait(run(handle))))
    thread.start()
    reads = 0
    while thread.is_alive():
        try:
            reads += env.simulator.memory_bytes > 0
        except RuntimeError as problem:
            assert "in use by another thread" in str(problem)
    thread.join()
    assert found and found[0][1] == 5000 and reads > 0


def test_worlds_are_freed_without_a_collection(make: Make) -> None:
    env = gpu_envs.make_vec(NAME, 4, device="cpu")
    env.reset(seed=1)
    functions = env.xla()
    assert env.xla()[1:] == functions[1:]  # the same ones, so programs are compiled once
    simulator = weakref.ref(env.unwrapped.simulator)
    gc.collect()
    gc.disable()
    try:
        del env, functions
        assert simulator() is None
    finally:
        gc.enable()


def test_charts_begin_again_with_a_reset_by_a_program(make: Make) -> None:
    name = "CovidEconomy-v0"
    plain, env = make(1, name), make(1, name)
    for each in (plain, env):
        for _ in range(3):
            each.simulator.note()
    _, reset, _ = env.xla()
    jax.block_until_ready(reset(env.xla()[0], seed=7))
    plain.reset(seed=7)
    size = {"size": (90, 160)}
    assert np.array_equal(env.simulator.render(0, **size), plain.simulator.render(0, **size))


@pytest.mark.parametrize(
    ("handle", "message"),
    [
        (jnp.array([0, 0, 0], jnp.uint32), "no environment of this process has this handle"),
        (jnp.array([2**32 - 1, 0, 0], jnp.uint32), "no environment of this process"),
        (jnp.zeros(3, jnp.int32), "three words of uint32"),
        (jnp.zeros(2, jnp.uint32), "three words of uint32"),
        (jnp.zeros(0, jnp.uint32), "three words of uint32"),
    ],
)
def test_what_is_no_handle_is_refused(make: Make, handle: Any, message: str) -> None:
    _, reset, step = make().xla()
    refused(lambda: step(handle, actions_of(1)[0]), message)
    refused(lambda: reset(handle), message)


def test_a_handle_of_other_worlds_is_refused(make: Make) -> None:
    _, _, step = make(4).xla()
    other = make(8).xla()[0]
    refused(lambda: step(other, actions_of(1)[0]), "made for another environment")
    overcooked = make(4, "Overcooked-v0").xla()[0]
    refused(lambda: step(overcooked, actions_of(1)[0]), "made for another environment")


def test_as_many_numbers_in_another_shape_are_not_mixed_up(make: Make) -> None:
    first, last = (make(1, "ObstaclesEasy-v0", channels=where) for where in ("first", "last"))
    _, _, step = first.xla()
    actions = np.zeros(first.action_space.shape, np.int32)
    refused(lambda: step(last.xla()[0], actions), "'obs' has other shapes there")
    jax.block_until_ready(step(first.xla()[0], actions))


def test_outputs_of_one_shape_and_other_names_are_not_mixed_up(make: Make) -> None:
    one, other = (make(2, "Overcooked-v0", outputs=[o]) for o in ("ended", "agent_active"))
    _, _, step = one.xla()
    handle = other.xla()[0]
    refused(lambda: step(handle, np.zeros(4, np.int32)), r"outputs are .*ended, not .*agent_active")


def test_a_closed_environment_is_refused(make: Make) -> None:
    env = make()
    handle, _, step = env.xla()
    jax.block_until_ready(step(handle, actions_of(1)[0])[0])
    env.close()
    refused(lambda: jax.jit(step)(handle, actions_of(1)[0]), "no environment of this process")
    with pytest.raises(RuntimeError, match="closed"):
        env.xla()


def test_functions_keep_their_worlds(make: Make) -> None:
    handle, _, step = gpu_envs.make_vec(NAME, 4, device="cpu"), None, None
    handle.reset(seed=1)
    handle, _, step = handle.xla()
    gc.collect()
    jax.block_until_ready(step(handle, actions_of(1)[0]))


# ---- threads, processes and ends


def test_a_program_runs_while_python_does(make: Make) -> None:
    env, other = make(256), make(256)
    handle, _, step = env.xla()
    action = jnp.zeros(256, jnp.int32)
    run = jax.jit(
        lambda handle: jax.lax.fori_loop(0, 3000, lambda _, h: step(h, action)[0], handle)
    )
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(wait(run(handle))))
    thread.start()
    steps = 0
    while thread.is_alive():
        other.step(np.zeros(256, np.int32))
        steps += 1
    thread.join()
    assert len(found) == 1 and steps > 0


END = """
import os, sys, threading, time, jax, jax.numpy as jnp, numpy as np, gpu_envs
env = gpu_envs.make_vec("CartPole-v0", 512, device="cpu")
env.reset(seed=1)
handle, reset, step = env.xla()
action = jnp.zeros(512, jnp.int32)
run = jax.jit(lambda h, n: jax.lax.fori_loop(0, n, lambda _, h: step(h, action)[0], h))
handle = run(handle, 10)
goes_on = threading.Thread(target=lambda: np.asarray(run(handle, 300_000)))
goes_on.start()
time.sleep(0.1)
assert goes_on.is_alive()
"""


@pytest.mark.parametrize(
    "ending",
    [
        "",
        "del env, step, reset; import gc; gc.collect(); jax.clear_caches()",
        "try: env.close()\nexcept RuntimeError as problem: assert 'in use' in str(problem)",
        """
import signal
threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    time.sleep(5)  # a join that is interrupted takes a thread for one that has ended
except KeyboardInterrupt:
    pass
""",
        """
import warnings
warnings.simplefilter("ignore")  # JAX says that it does not like forks
child = os.fork()
if child == 0:
    env.close()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
""",
    ],
    ids=["end", "freed", "closed", "interrupt", "fork"],
)
def test_a_process_ends_while_a_program_runs(run_python, ending: str) -> None:
    ran = run_python(END + ending + "\nprint('ended')", JAX_PLATFORMS="cpu")
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.strip() == "ended"
