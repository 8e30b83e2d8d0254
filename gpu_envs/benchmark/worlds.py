"""A native simulator with outputs and random actions in memory of its own.

It is the loop without the package's Python around it: what benchmarks measure first, and what the
checks on a GPU compare. Needs no Gymnasium.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np

from gpu_envs.benchmark import memory
from gpu_envs.core.kind_layout import KindLayout
from gpu_envs.known.outputs import OUTPUTS

LEAN = ("obs", "reward", "terminated", "truncated")
PREPARED = 8  # arrays of actions, taken in turn


class Slot:
    """Memory for one step's outputs: raw bytes, zero at first."""

    def __init__(self, module: Any, outputs: dict[str, int], on_gpu: bool) -> None:
        self.on_gpu = on_gpu
        self.buffers = {name: memory.zeros(size, on_gpu) for name, size in outputs.items()}
        places = [
            memory.address(self.buffers[name]) if name in self.buffers else 0 for name in OUTPUTS
        ]
        self.addresses = module.Addresses(places)
        self.addresses.clear_ended = True  # as with `reuse=`: only steps write here

    def differing(self, other: Slot) -> list[str]:
        """The names of outputs that differ, compared on their device."""
        pairs = {name: (buffer, other.buffers[name]) for name, buffer in self.buffers.items()}
        return [name for name, pair in pairs.items() if not memory.are_equal(*pair)]

    def read(self) -> dict[str, bytes]:
        """Copy every output to the host."""
        return {name: memory.on_host(buffer).tobytes() for name, buffer in self.buffers.items()}


def output_bytes(facts: dict[str, Any]) -> dict[str, int]:
    """Bytes of each output of an instance."""
    return {
        name: int(np.prod(field["shape"], dtype=np.int64)) * np.dtype(field["type"]).itemsize
        for name, field in facts["outputs"].items()
    }


def draw_actions(fields: list[dict[str, Any]], rows: int, count: int = PREPARED) -> list[Any]:
    """Draw `count` valid arrays of actions, the same ones everywhere: int64 choices or float32."""
    random = np.random.default_rng(0)
    sizes = [int(np.prod(field["shape"], dtype=int)) for field in fields]
    shape = (rows, sum(sizes))
    if fields[0]["choices"]:
        most = np.repeat([field["choices"] for field in fields], sizes)
        return [random.integers(0, most, shape) for _ in range(count)]
    ends = (("low", -1.0), ("high", 1.0))  # where a number has no bounds, small ones
    given = ([end if f[key] is None else f[key] for f in fields] for key, end in ends)
    low, high = (np.repeat(np.clip(bounds, -1, 1), sizes) for bounds in given)
    return [random.uniform(low, high, shape).astype(np.float32) for _ in range(count)]


def draw_valid(facts: dict[str, Any], count: int = PREPARED) -> list[Any]:
    """Draw `count` arrays of actions in the form that an instance reads, each within its kind."""
    layout, arrays = KindLayout(facts), []
    described = [role["action"] for role in facts.get("roles") or [facts]]
    pairs = zip(described, layout, strict=True)
    drawn = [draw_actions(fields, layout.worlds * kind.count, count) for fields, kind in pairs]
    for parts in zip(*drawn, strict=True):
        whole = np.zeros(layout.actions.shape, layout.action_form.dtype)
        for place, part in zip(layout.actions.all_parts(whole), parts, strict=True):
            by_bits = layout.is_mixed and part.dtype.kind == "f"
            place.view(part.dtype if by_bits else whole.dtype)[...] = part.reshape(place.shape)
        arrays.append(whole)
    return arrays


class Run:
    """A batch of worlds.

    Args:
        module: Bindings of an engine, with the environment's module loaded.
        name: Id of the environment.
        worlds: How many.
        outputs: "default" for all that exist but `parameters`, "lean" for the required ones, else
            one more.
        prepared: How many arrays of actions.
        drawn: Draw actions natively at every step instead, legal ones.
        options: Of the native simulator.
    """

    def __init__(
        self,
        module: Any,
        name: str,
        worlds: int,
        *,
        outputs: str = "default",
        prepared: int = PREPARED,
        drawn: bool = False,
        **options: Any,
    ) -> None:
        self.module, self.worlds = module, worlds
        self.on_gpu: bool = module.MACHINE == "cuda"
        self.simulator = module.Simulator(name, worlds, **options)
        self.facts: dict[str, Any] = json.loads(self.simulator.instance)
        self.units: int = worlds * self.facts["agents_per_world"]
        kept = (*LEAN, outputs, *(["action_mask"] if drawn else []))
        sizes = output_bytes(self.facts)
        usual = {o: n for o, n in sizes.items() if o != "parameters"}  # which few ask for
        self.outputs = (
            usual if outputs == "default" else {o: n for o, n in sizes.items() if o in kept}
        )
        self.slot, self.drawn = self.new_slot(), drawn
        if drawn:
            self.action_type, self.actions = "int32", [memory.zeros(4 * self.units, self.on_gpu)]
            return
        arrays = draw_valid(self.facts, prepared)
        self.action_type = str(arrays[0].dtype)
        self.actions = [memory.on_device(a) if self.on_gpu else a for a in arrays]

    def new_slot(self) -> Slot:
        """Make memory for one more step's outputs."""
        return Slot(self.module, self.outputs, self.on_gpu)

    def reset(self, seed: int) -> None:
        """Reset all worlds."""
        self.simulator.reset(seed, 0, {}, self.slot.addresses, memory.stream(self.on_gpu))

    def step(self, actions: Any, slot: Slot | None = None) -> None:
        """Enqueue one step on the current stream."""
        self.simulator.step(
            memory.address(actions),
            self.action_type,
            (slot or self.slot).addresses,
            memory.stream(self.on_gpu),
        )

    def drawer(self) -> Callable[[int], None]:
        """The native function that draws legal actions for the next step."""
        mask = self.slot.buffers.get("action_mask")
        legal = 0 if mask is None else memory.address(mask)
        to, draw = memory.address(self.actions[0]), self.simulator.sample_actions
        on = memory.stream(self.on_gpu)

        return lambda _: draw(legal, 0, to, on)

    def stepper(self) -> Callable[[int], None]:
        """A step with the least Python around it, on the stream that is current now."""
        places, count = [memory.address(a) for a in self.actions], len(self.actions)
        step, kind, to = self.simulator.step, self.action_type, self.slot.addresses
        on = memory.stream(self.on_gpu)
        if not self.drawn:
            return lambda i: step(places[i % count], kind, to, on)
        draw, place = self.drawer(), places[0]

        def call(i: int) -> None:
            draw(i)
            step(place, kind, to, on)

        return call

    def records(self) -> bytes:
        """All records, in canonical order."""
        memory.synchronize(self.on_gpu)
        found: bytes = self.simulator.read_records(0, self.worlds)
        return found

    def close(self) -> None:
        """Free the simulator; the outputs go with this object."""
        memory.synchronize(self.on_gpu)
        self.simulator.close()
