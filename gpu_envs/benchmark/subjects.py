"""Makes what is measured: a simulator or vector environment with its actions prepared."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import gymnasium
import numpy as np

from gpu_envs import registration
from gpu_envs.benchmark.clock import Call
from gpu_envs.layout import Layout
from gpu_envs.simulator import Simulator

PREPARED = 8  # arrays of actions, taken in turn
LEAN = ()  # observations, rewards and flags alone: what is always written
_WARM_STEPS = 64  # until worlds of one agent no longer end their episodes together
_WARM_CROWD_STEPS = 4


@dataclass(frozen=True, slots=True)
class Choice:
    """How an environment is stepped."""

    entry: str = "Simulator"  # or "make_vec"
    arrays: str = "numpy"
    memory: str = "fresh"  # or "reuse", "out"
    lean: bool = False
    threads: int | None = None  # None: all
    parameters: dict[str, Any] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """The choice in words, for a table."""
        threads = "all threads" if self.threads is None else f"{self.threads} thread"
        outputs = "lean" if self.lean else "default"
        memory = "out=" if self.memory == "out" else self.memory
        return f"{self.entry}.step, {threads}, {outputs}, {self.arrays} {memory}"


@dataclass(slots=True)
class Subject:
    """Something that steps `units` worlds, or agents, per call."""

    step: Call
    units: int
    close: Callable[[], object]
    simulator: Simulator | None = None


def has_torch() -> bool:
    """Whether torch is installed."""
    return importlib.util.find_spec("torch") is not None


def prepared_actions(space: gymnasium.Space[Any], rows: int, count: int = PREPARED) -> list[Any]:
    """Draw valid actions for `rows` agents: int64 where the action is a choice, else float32."""
    random = np.random.default_rng(0)
    if isinstance(space, gymnasium.spaces.Discrete):
        return [random.integers(0, space.n, rows) for _ in range(count)]
    if isinstance(space, gymnasium.spaces.MultiDiscrete):
        shape = (rows, *space.nvec.shape)
        return [random.integers(0, space.nvec, shape) for _ in range(count)]
    if isinstance(space, gymnasium.spaces.Box):
        shape = (rows, *space.shape)
        low, high = np.clip(space.low, -10, 10), np.clip(space.high, -10, 10)
        return [random.uniform(low, high, shape).astype(np.float32) for _ in range(count)]
    raise ValueError(f"there is no benchmark for actions of {space}")


def open_subject(name: str, worlds: int, choice: Choice, device: str = "cpu") -> Subject:
    """Make the environment, reset it, and step it until its worlds have spread out."""
    keywords: dict[str, Any] = {
        "device": device,
        "arrays": choice.arrays,
        "threads": choice.threads,
        "reuse": choice.memory == "reuse",
        "outputs": LEAN if choice.lean else None,
        **choice.parameters,
    }
    env: Any
    if choice.entry == "make_vec":
        env = gymnasium.make_vec(
            f"{registration.NAMESPACE}/{registration.find(name)['id']}", num_envs=worlds, **keywords
        )
        simulator: Simulator = env.simulator
    else:
        env = simulator = Simulator(name, worlds, **keywords)
    env.reset(seed=0)
    rows = worlds * simulator.agents_per_world
    actions = prepared_actions(simulator.single_action_space, rows)
    if choice.arrays == "torch":
        torch = importlib.import_module("torch")
        actions = [torch.from_numpy(a).to(simulator.device) for a in actions]
    out = None
    if choice.memory == "out":
        out = _own_arrays(simulator.layout, choice, simulator.device)
    step = _stepper(env.step, actions, out)
    for i in range(_WARM_STEPS if rows == worlds else _WARM_CROWD_STEPS):
        step(i)
    return Subject(step, worlds, env.close, simulator)


def _stepper(step: Callable[..., Any], actions: Sequence[Any], out: Any) -> Call:
    """Step with the prepared actions in turn, holding on to each result as a learner does."""
    last = len(actions) - 1
    assert last & (last + 1) == 0  # a power of two, so that a mask takes turns
    if out is None:
        return lambda i: step(actions[i & last])
    return lambda i: step(actions[i & last], out=out)


def _own_arrays(layout: Layout, choice: Choice, device: str) -> dict[str, Any]:
    flat = choice.entry == "make_vec"
    outputs = [output for output in layout.outputs if output is not None]
    if choice.arrays == "numpy":
        return {o.name: np.empty(o.view(flat), o.type) for o in outputs}
    torch = importlib.import_module("torch")
    return {
        o.name: torch.empty(o.view(flat), dtype=getattr(torch, o.type), device=device)
        for o in outputs
    }


def ends_per_step(subject: Subject, steps: int = 32) -> float:
    """Share of worlds whose episode ends in a step."""
    ended = 0.0
    for i in range(steps):
        result: Any = subject.step(i)
        ended += float((result.terminated | result.truncated)[:, 0].sum())
    return ended / steps / subject.units
