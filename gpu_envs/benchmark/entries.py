"""The package's own ways to step: `Simulator` and `gymnasium.make_vec`, with each kind of array."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import gymnasium
import numpy as np

from gpu_envs.benchmark import memory
from gpu_envs.benchmark.clock import Call
from gpu_envs.benchmark.points import Case, Subject
from gpu_envs.benchmark.worlds import draw_valid
from gpu_envs.core.layout import Layout
from gpu_envs.core.simulator import Simulator
from gpu_envs.known import registration


def ways(on_gpu: bool, most: int, is_short: bool) -> Iterator[dict[str, Any]]:
    """List the ways to measure; for short steps, all that add a cost to them.

    Args:
        on_gpu: Whether it runs on a GPU.
        most: How many threads there are.
        is_short: One agent per world.
    """
    if on_gpu:
        for entry in ("Simulator", "make_vec") if is_short else ("Simulator",):
            for kind in ("fresh", "reuse"):
                for outputs in ("default", "lean") if is_short else ("default",):
                    yield {"entry": entry, "arrays": "torch", "memory": kind, "outputs": outputs}
        return
    for entry in ("Simulator", "make_vec") if is_short else ("Simulator",):
        plain = {"entry": entry, "arrays": "numpy", "memory": "fresh"}
        for threads in sorted({1, most}):
            for outputs in ("default", "lean") if is_short else ("default",):
                yield {**plain, "threads": threads, "outputs": outputs}
        kinds = [("numpy", kind) for kind in ("reuse", "out")]
        if memory.has("torch"):
            kinds += [("torch", kind) for kind in ("fresh", "reuse", "out")]
        for arrays, kind in kinds if is_short else kinds[:1]:
            yield {"entry": entry, "arrays": arrays, "memory": kind, "threads": 1}


def open_entry(case: Case, drawn: bool = False) -> Subject:
    """Make the environment through the package, and reset it."""
    keywords: dict[str, Any] = {
        "device": f"cuda:{memory.ordinal(True)}" if case.on_gpu else "cpu",
        "arrays": case.arrays,
        "threads": case.threads,
        "reuse": case.memory == "reuse",
        "outputs": () if case.outputs == "lean" else None,
        **({"roles": case.roles} if case.roles else {}),
        **case.parameters,
    }
    env: Any
    if case.entry == "make_vec":
        full_name = f"{registration.NAMESPACE}/{registration.find(case.name)['id']}"
        env = gymnasium.make_vec(full_name, num_envs=case.worlds, **keywords)
        simulator: Simulator = env.simulator
    else:
        env = simulator = Simulator(case.name, case.worlds, **keywords)
    last = [env.reset(seed=0)]
    if drawn and case.entry == "Simulator":

        def draw_and_step(_: int) -> None:
            last[0] = simulator.step(simulator.sample_actions(last[0].action_mask))

        return Subject(draw_and_step, case.worlds, env.close)
    actions = actions_for(simulator, case.arrays == "torch")
    out = _own_arrays(simulator.layout, case) if case.memory == "out" else None
    return Subject(_stepper(env.step, actions, out), case.worlds, env.close)


def actions_for(simulator: Simulator, as_tensors: bool = False) -> list[Any]:
    """Return prepared actions in the package's shape."""
    arrays = draw_valid(simulator.instance)
    if simulator.single_action_space is not None:
        rows = simulator.num_worlds * simulator.agents_per_world
        shape = (rows, *(simulator.single_action_space.shape or ()))
        arrays = [array.reshape(shape) for array in arrays]
    return (
        [memory.torch().from_numpy(a).to(simulator.device) for a in arrays]
        if as_tensors
        else arrays
    )


def _stepper(step: Callable[..., Any], actions: Sequence[Any], out: Any) -> Call:
    """Step with the prepared actions in turn, holding on to each result as a learner does."""
    count = len(actions)
    if out is None:
        return lambda i: step(actions[i % count])
    return lambda i: step(actions[i % count], out=out)


def _own_arrays(layout: Layout, case: Case) -> dict[str, Any]:
    flat = case.entry == "make_vec"
    outputs = [output for output in layout.outputs if output is not None]
    if case.arrays == "numpy":
        return {o.name: np.empty(o.view(flat), o.type) for o in outputs}
    torch, device = memory.torch(), "cuda" if case.on_gpu else "cpu"
    return {
        o.name: torch.empty(o.view(flat), dtype=getattr(torch, o.type), device=device)
        for o in outputs
    }
