"""Steps of some worlds: in parts they are whole steps, and who does not step stays as it is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gpu_envs
from gpu_envs.known.measures import sizes
from tests.contract.playing import (
    drawn,
    every_mode,
    every_setting,
    flat_bytes,
    layers,
    of_each,
    rows_of,
)

WORLDS = 21  # a whole block of the CPU's, and some more
STEPS = 12


def _spoiled(actions: np.ndarray, stepped: np.ndarray) -> np.ndarray:
    """Replace the actions of worlds that do not step by numbers out of range."""
    actions = actions.copy()
    actions[~stepped] = np.nan if actions.dtype.kind == "f" else np.iinfo(actions.dtype).min
    return actions


def _arrays(outputs: gpu_envs.Outputs) -> dict[str, Any]:
    return {n: of_each(a, np.array) for n, a in outputs._asdict().items() if a is not None}


def _same(left: Any, right: Any) -> bool:
    return flat_bytes(left) == flat_bytes(right)


def _check_left_out(
    simulator: Any, shown: dict[str, Any], before: dict[str, Any], over: np.ndarray
) -> None:
    """Compare what worlds show that did not step with what they showed before."""
    for output in simulator.layout.outputs:
        if output is None:
            continue
        array = shown[output.name]
        if not output.by_a_step:
            assert _same(array, before[output.name]), output.name
        elif output.name in ("terminated", "truncated"):
            assert not array[~over].any(), output.name
        else:
            assert not any(layer.any() for layer in layers(array).values()), output.name
    flags = shown["terminated"] | shown["truncated"]
    assert flags[over].any(axis=1).all()  # of an end


@pytest.mark.parametrize("ends", ["agent", "world"])
@every_mode
@every_setting
def test_parts_in_turn_are_whole_steps(make_simulator, name, profile, mode, ends) -> None:
    options = {**sizes(name, "small"), **profile, "autoreset_mode": mode, "ends": ends}
    whole, some = (
        make_simulator(name, WORLDS, max_episode_steps=5, **options, threads=threads)
        for threads in (1, 2)
    )
    for simulator in (whole, some):
        simulator.report_illegal(None)
        simulator.reset(seed=3)
    random = np.random.default_rng(4)
    for actions in drawn(whole, STEPS):
        first = random.random(WORLDS) < 0.5
        expected = _arrays(whole.step(actions))
        for stepped in (first, ~first):
            before, over = _arrays(some.observe()), some.get("world.over")[~stepped, 0] != 0
            outputs = _arrays(some.step(_spoiled(actions, stepped), worlds=stepped))
            for output, array in outputs.items():
                assert _same(rows_of(array, stepped), rows_of(expected[output], stepped)), output
            left_out, unchanged = (
                {output: rows_of(array, ~stepped) for output, array in shown.items()}
                for shown in (outputs, before)
            )
            _check_left_out(some, left_out, unchanged, over)
    assert whole.save() == some.save()
    if mode == "Disabled":  # all have ended
        frozen = _arrays(whole.step(actions))
        nobody = np.zeros(WORLDS, bool)
        outputs = _arrays(some.step(_spoiled(actions, nobody), worlds=nobody))
        for output in ("terminated", "truncated", "obs"):
            assert _same(outputs[output], frozen[output]), output
        some.step(actions, worlds=~nobody)
    assert whole._native.faults() == some._native.faults()
