"""`VectorEnv.compiled`: tokens, who else uses the worlds, infos, and other processes."""

from __future__ import annotations

import gc
import os
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="needs torch")
import torch

import gpu_envs
from tests.gpu_envs.faces.compile_cases import (
    EAGER,
    NAME,
    Make,
    actions_of,
    environments,
    refused,
)


@pytest.fixture
def make() -> Iterator[Make]:
    with environments() as made:
        yield made


# ---- tokens


def test_a_copy_of_a_token_is_good_for_the_same_call(make: Make) -> None:
    env = make()
    token, reset, step = env.compiled()
    program = torch.compile(step, **EAGER)
    row = actions_of(1)[0]
    old = token.clone()
    following, _ = program(token, row)
    assert following is token and token[1] == old[1] + 1
    before = env.simulator.save()
    for call in (step, program):
        refused(lambda call=call: call(old, row), "this token is a copy from before the last call")
    refused(lambda: reset(old), "this token is a copy from before the last call")
    assert env.simulator.save() == before
    program(token, row)


def test_of_two_tokens_one_is_good(make: Make) -> None:
    env = make()
    first, _, step = env.compiled()
    second, _, _ = env.compiled()
    row = actions_of(1)[0]
    step(second, row)
    refused(lambda: step(first, row), "this token is a copy")

    def both(one: Any, other: Any) -> None:
        step(one, row)
        step(other, row)

    refused(lambda: torch.compile(both, **EAGER)(second, second.clone()), "this token is a copy")


def test_a_program_runs_again_with_the_token_that_it_changed(make: Make) -> None:
    env = make()
    token, _, step = env.compiled()
    program = torch.compile(step, **EAGER)
    for _ in range(3):
        program(token, actions_of(1)[0])
    assert token[1] == 3


@pytest.mark.parametrize("change", ["step", "reset", "set", "load", "set_parameters", "copy"])
def test_a_change_in_python_makes_tokens_old(make: Make, change: str) -> None:
    env = make(varies=["gravity"])
    save = env.simulator.save()
    token, _, step = env.compiled()
    simulator = env.simulator
    {
        "step": lambda: env.step(actions_of(1)[0]),
        "reset": lambda: env.reset(),
        "set": lambda: simulator.set("cart.angle", np.zeros((4, 1), np.float32)),
        "load": lambda: simulator.load(save),
        "set_parameters": lambda: simulator.set_parameters(gravity=9.0),
        "copy": lambda: simulator.copy_worlds([0], [1]),
    }[change]()
    refused(lambda: step(token, actions_of(1)[0]), "stepped or changed elsewhere")
    step(env.compiled()[0], actions_of(1)[0])


def test_a_step_by_jax_makes_tokens_old(make: Make, jax: Any) -> None:
    env = make()
    token, _, step = env.compiled()
    handle, _, jitted = env.xla()
    jax.block_until_ready(jitted(handle, actions_of(1)[0].numpy()))
    refused(lambda: step(token, actions_of(1)[0]), "stepped or changed elsewhere")
    step(env.compiled()[0], actions_of(1)[0])


def test_reading_in_python_does_not(make: Make) -> None:
    env = make()
    token, _, step = env.compiled()
    env.simulator.save(), env.simulator.get("cart.angle"), env.observe(), env.check()
    step(token, actions_of(1)[0])


def test_refused_calls_do_not(make: Make) -> None:
    env = make()
    token, _, step = env.compiled()
    for call in (
        lambda: env.step([5, 0, 0, 0]),
        lambda: env.step(np.zeros(7, np.int32)),
        lambda: env.reset(seed=-1),
        lambda: env.simulator.load(b"nothing"),
        lambda: step(token, torch.tensor([5, 0, 0, 0])),
        lambda: step(token, torch.zeros(7)),
    ):
        with pytest.raises((ValueError, TypeError)):
            call()
    step(token, actions_of(1)[0])


@pytest.mark.parametrize(
    ("token", "message"),
    [
        (torch.tensor([0, 0]), "no environment of this process has this token"),
        (torch.tensor([2**40, 0]), "no environment of this process has this token"),
        (torch.tensor([0, 0], dtype=torch.int32), "a token is two int64 on the CPU"),
        (torch.tensor([0]), "a token is two int64 on the CPU"),
        (torch.zeros(0), "a token is two int64 on the CPU"),
    ],
)
def test_other_tensors_are_refused(make: Make, token: Any, message: str) -> None:
    _, reset, step = make().compiled()
    for call in (
        lambda: step(token, actions_of(1)[0]),
        lambda: reset(token),
        lambda: torch.compile(step, **EAGER)(token, actions_of(1)[0]),
    ):
        refused(call, message)


def test_a_token_of_other_worlds_is_refused(make: Make) -> None:
    _, _, step = make(4).compiled()
    eight, overcooked = make(8), make(2, "Overcooked-v0")
    for other in (eight, overcooked):
        token = other.compiled()[0]
        refused(lambda token=token: step(token, actions_of(1)[0]), "of another environment")


def test_outputs_of_one_shape_and_other_names_are_not_mixed_up(make: Make) -> None:
    one = make(2, "Overcooked-v0", outputs=["ended"])
    other = make(2, "Overcooked-v0", outputs=["agent_active"])
    shapes = [[(o.rows, o.type) for o in env.simulator.written] for env in (one, other)]
    assert shapes[0] == shapes[1]
    _, _, step = one.compiled()
    token = other.compiled()[0]
    refused(lambda: step(token, torch.zeros(4, dtype=torch.int64)), "of another environment")


def test_a_closed_environment_is_refused(make: Make) -> None:
    env = make()
    token, _, step = env.compiled()
    program = torch.compile(step, **EAGER)
    program(token, actions_of(1)[0])
    env.close()
    refused(lambda: program(token, actions_of(1)[0]), "CartPole-v0 is closed")
    with pytest.raises(RuntimeError, match="closed"):
        env.compiled()


def test_an_environment_that_is_gone_is_refused(make: Make) -> None:
    step = make().compiled()[2]
    env = gpu_envs.make_vec(NAME, 4, device="cpu", arrays="torch")
    env.reset(seed=1)
    token = env.compiled()[0]
    del env
    gc.collect()
    refused(lambda: step(token, actions_of(1)[0]), "no environment of this process")


def test_functions_keep_their_worlds(make: Make) -> None:
    env = gpu_envs.make_vec(NAME, 4, device="cpu", arrays="torch")
    env.reset(seed=1)
    token, _, step = env.compiled()
    del env
    gc.collect()
    step(token, actions_of(1)[0])


def test_worlds_are_freed_without_a_collection(make: Make) -> None:
    env = gpu_envs.make_vec(NAME, 4, device="cpu", arrays="torch")
    env.reset(seed=1)
    token, reset, step = env.compiled()
    assert env.compiled()[1:] == (reset, step)  # the same ones, so programs are compiled once
    step(token, actions_of(1)[0])
    simulator = weakref.ref(env.unwrapped.simulator)
    gc.collect()
    gc.disable()
    try:
        del env, reset, step
        assert simulator() is None
    finally:
        gc.enable()


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_asks_again(make: Make) -> None:
    env = make()
    token, _, step = env.compiled()
    row = actions_of(1)[0]
    child = os.fork()
    if child == 0:
        code = 1
        try:
            step(token, row)
        except ValueError as problem:
            code = 2 if "no environment of this process" in str(problem) else 3
        try:
            step(env.compiled()[0], row)
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 2
    step(token, row)


# ---- what steps tell, in all forms


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("HideSeek-v0", {"observation": "dict"}),
        ("HideSeek-v0", {"infos": "rows"}),
        ("Overcooked-v0", {"infos": "rows", "outputs": ["reward_parts", "state"]}),
        ("Hanabi-v0", {"autoreset_mode": "Disabled"}),
        ("ObstaclesEasy-v0", {"observation": "dict", "infos": "rows"}),
        ("CovidEconomy-v0", {}),
        (NAME, {"reuse": True}),
        (NAME, {"outputs": []}),
        ("CartPole64-v0", {}),
    ],
)
@pytest.mark.filterwarnings("ignore:.*were illegal")
def test_infos_and_spaces_in_all_forms(make: Make, name: str, options: dict[str, Any]) -> None:
    plain, env = make(2, name, **options), make(2, name, **options)
    token, reset, step = env.compiled()
    env.action_space.seed(1)
    actions = torch.as_tensor(env.action_space.sample())

    @torch.compile(**EAGER)
    def run(token: Any, actions: Any) -> Any:
        token, begun = reset(token, seed=3)
        token, first = step(token, actions)
        token, second = step(token, actions)
        return begun, first, second

    found = run(token, actions)
    for own, call in zip(
        found,
        (lambda: plain.reset(seed=3), lambda: plain.step(actions), lambda: plain.step(actions)),
        strict=True,
    ):
        torch.testing.assert_close(own, call(), rtol=0, atol=0, equal_nan=True)
    assert env.simulator.save() == plain.simulator.save()
