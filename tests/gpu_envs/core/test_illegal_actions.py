"""Actions that the mask forbids: one warning a simulator, counts in `check`, an error if strict."""

from __future__ import annotations

import gc
import warnings
import weakref
from functools import partial
from typing import Any

import numpy as np
import pytest

import gpu_envs

NAME = "Hanabi-v0"
ILLEGAL = np.zeros((4, 2), np.int64)  # a player on turn may discard only when a token was spent


def vector(actions: Any = ILLEGAL, **keywords: Any) -> Any:
    env = gpu_envs.make_vec(NAME, 4, **keywords)
    env.reset(seed=1)
    return env, lambda: env.step(actions.reshape(8))


def simulator(**keywords: Any) -> Any:
    made = gpu_envs.Simulator(NAME, 4, **keywords)
    made.reset(seed=1)
    return made, lambda: made.step(ILLEGAL)


def into_arrays(**keywords: Any) -> Any:
    env = gpu_envs.make_vec(NAME, 4, **keywords)
    env.reset(seed=1)
    out = {"reward": np.zeros(8, np.float32)}
    return env, lambda: env.step(ILLEGAL.reshape(8), out=out)


def parallel(**keywords: Any) -> Any:
    env = gpu_envs.parallel_env(NAME, **keywords)
    env.reset(seed=1)
    return env, lambda: env.step(dict.fromkeys(env.agents, 0))


def batched(**keywords: Any) -> Any:
    env = gpu_envs.batched_parallel_env(NAME, 4, **keywords)
    env.reset(seed=1)
    return env, lambda: env.step(dict.fromkeys(env.agents, ILLEGAL[:, 0]))


def in_turns(**keywords: Any) -> Any:
    env = gpu_envs.aec_env(NAME, **keywords)
    env.reset(seed=1)
    return env, lambda: env.step(0)


def one_role(**keywords: Any) -> Any:
    env = gpu_envs.make_vec("CovidEconomy-v0", 4, role="planner", **keywords)
    env.reset(seed=1)
    env.step([5] * 4)
    return env, lambda: env.step([5] * 4)  # the planner decides every 90 days


FACES = [
    pytest.param(vector, {}, id="vector"),
    pytest.param(vector, {"arrays": "torch"}, id="torch"),
    pytest.param(vector, {"reuse": True}, id="reuse"),
    pytest.param(vector, {"infos": "rows"}, id="rows"),
    pytest.param(simulator, {}, id="simulator"),
    pytest.param(into_arrays, {}, id="out"),
    pytest.param(parallel, {}, id="parallel"),
    pytest.param(batched, {}, id="batched"),
    pytest.param(in_turns, {}, id="turns"),
    pytest.param(one_role, {}, id="role"),
]


@pytest.mark.parametrize(("face", "keywords"), FACES)
def test_the_first_illegal_action_warns_once_at_the_callers_line(face, keywords) -> None:
    env, step = face(**keywords)
    name = "CovidEconomy-v0" if face is one_role else NAME
    with pytest.warns(UserWarning) as found:
        step()
    (warning,) = found
    text = str(warning.message)
    for part in (f"{name}: ", "illegal and", "infos['action_mask']", "strict=True"):
        assert part in text
    assert warning.filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        if face is not in_turns and face is not parallel:
            step()
    with pytest.raises(ValueError, match="illegal and replaced"):  # all that were counted
        env.check()
    with pytest.warns(UserWarning, match="1 action was illegal|[0-9] actions were illegal"):
        face(**keywords)[1]()  # another simulator warns too


@pytest.mark.parametrize(("face", "keywords"), FACES)
def test_strict_raises_without_a_warning(face, keywords) -> None:
    _, step = face(strict=True, **keywords)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match="illegal and replaced"):
            step()


def test_a_check_before_the_first_illegal_action_changes_nothing() -> None:
    made, step = simulator()
    made.check()
    with pytest.warns(UserWarning, match="infos"):
        step()


def test_a_report_counts_from_when_it_was_given() -> None:
    made, step = simulator()
    made.report_illegal(None)
    step()
    told: list[int] = []
    made.report_illegal(told.append)
    made.step(made.observe().action_mask.argmax(-1))
    assert told == []
    step()
    assert len(told) == 1 and told[0] > 0


def test_a_closed_simulator_lets_go_of_its_report() -> None:
    made, _ = simulator()
    owner = type("Owner", (), {})()
    owner.simulator = made
    made.report_illegal(partial(print, owner))
    seen = weakref.ref(owner)
    made.close()
    del made, owner
    gc.collect()
    assert seen() is None


def test_legal_actions_do_not_warn() -> None:
    made = gpu_envs.Simulator(NAME, 4)
    results = made.reset(seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(30):
            results = made.step(made.sample_actions(results.action_mask))
        made.check()


def test_a_warning_that_is_an_error_leaves_the_simulator_usable() -> None:
    made, step = simulator()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning):
            step()
        twin, step_of_twin = simulator()
        with pytest.raises(UserWarning):
            step_of_twin()
        assert made.save() == twin.save()
        made.step(made.observe().action_mask.argmax(-1))


def test_adapters_that_check_every_step_raise_without_a_warning() -> None:
    adapters = pytest.importorskip("gpu_envs.integrations.stable_baselines3")
    env = adapters.SB3VecEnv(NAME, 4)
    with pytest.raises(gpu_envs.ResetNeeded, match=r"call reset\(\) before action_masks"):
        env.action_masks()
    env.seed(1)
    env.reset()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match="illegal and replaced"):
            env.step(ILLEGAL.reshape(8))
