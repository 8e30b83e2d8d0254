"""What the bindings of every engine offer: `_cpu_v2`, `_cpu_v3`, `_cpu_v4` and `_cuda` are alike.

Only the modules of this package that own a simulator call it. Errors arrive as `ValueError`,
`TypeError`, `MemoryError`, `RuntimeError` or `gpu_envs.errors.ResetNeeded`; the message names the
argument, what came and what would do.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from gpu_envs.known.outputs import Outputs

MACHINE: str  # "cpu" or "cuda"
INSTRUCTION_SET: str  # "x86-64-v2", "x86-64-v3", "x86-64-v4", "generic", "cuda", "cuda_ptx"

def use_results(type: type[Outputs]) -> None:
    """Hand over the named tuple that results come in; refused unless it names every output."""

def load(path: str) -> None:
    """Load a module, whose environments can be made from then on; again for the same: nothing."""

def describe(path: str) -> str:
    """Load a module; JSON list of its environments, see the end of this file."""

def device_count() -> int: ...
def device_name(device: int) -> str: ...
def device_problem() -> str:
    """Empty where a device can be used, else one line that says why not."""

def device_of(address: int) -> int:
    """Return the GPU that has an address; -1: none."""

def xla_versions() -> tuple[int, int]:
    """Return the oldest and newest version 0.N of XLA's interface that the handlers can be for."""

def xla_handlers(minor: int) -> dict[str, Any]:
    """Capsules of the handlers for XLA's custom calls, "step" and "reset", for version 0.minor."""

# Streams of a GPU by handle; on a CPU these do nothing.

def is_capturing(stream: int) -> bool:
    """Whether a stream is being captured into a CUDA graph."""

def follow(device: int, stream: int, other: int) -> None:
    """Let later work of a stream wait for what another one has so far.

    Refused where a capture has the one and not the other.
    """

def wait_for(device: int, stream: int, call: str) -> None:
    """Wait for all work of a stream, for the sake of `call`; refused while it is captured."""

def watch_stages(on: bool) -> None:
    """Turn the clocks around the stages of a step on, from zero, or off."""

def stage_seconds() -> list[tuple[str, float]]:
    """Every stage that ran since, with its seconds on all threads; empty on a GPU."""

# What a learner asks for (gpu_envs/train/fused.py); learning.hpp says what the keywords are.

class Drawing:
    def __init__(self, **what: Any) -> None: ...
    def __call__(self, t: int, outputs: int, value: int, stream: int) -> None:
        """Draw step t of a rollout and keep it there."""

class Losing:
    def __init__(self, **what: Any) -> None: ...
    def __call__(
        self,
        index: int,
        count: int,
        steps: int,
        outputs: int,
        value: int,
        known: int,
        counted: int,
        gradient: int,
        log_std_gradient: int,
        value_gradient: int,
        stats: int,
        stream: int,
    ) -> None:
        """Write the gradient of the loss by outputs and value, and what is reported of it."""

def tanh(at: int, count: int) -> None:
    """Replace float32 numbers in host memory by their hyperbolic tangents."""

def kernels_on_paper(
    id: str,
    num_worlds: int,
    architecture: int,
    processors: int,
    shared_limit: int,
    resident: Callable[[str, int, int, int, bool, int, int], int],
    **options: Any,
) -> str:
    """JSON list: kernels of a loaded module for GPUs, each in the block that suits it best.

    The GPU need not be there: `resident` says how many blocks a multiprocessor would hold, by
    environment (its mangled type), graph, launch, lanes, slab, threads and bytes of shared memory.
    """

class Addresses:
    """One address per field of `Outputs`, 0 for what is not wanted; made once, for many steps.

    An address needs the alignment of its elements; on a GPU rows are written 16 bytes at a time
    where address and size allow it.
    """

    def __init__(self, addresses: Sequence[int]) -> None: ...
    # Whether a step clears those rows of final_obs alone that `ended`, still of the step before,
    # marks: for arrays that hold zeros elsewhere. False: it clears them all.
    clear_ended: bool

class Simulator:
    def __init__(
        self,
        id: str,
        num_worlds: int,  # at most 2**31 - 64
        *,
        first_world: int = 0,
        # Levels of which each episode draws one; level k is what world k begins with, seed 0.
        level_count: int = 0,
        first_level: int = 0,
        autoreset_mode: str = "SameStep",
        ends: str = "agent",  # "world": no flag at an agent's own end, one for all with the world's
        max_episode_steps: int = -1,  # -1: the header's, 0: none
        threads: int = 0,
        actions: str = "own",  # "flat": one number for all categories, the last field the quickest
        dtype: str = "own",  # of observations: "own", "uint8", "float32", "bits"
        # Rows of all agents side by side, "padded" to the longest, or "split", role after role;
        # "own": padded where all roles have rows of one type.
        roles: str = "own",
        final_rows: str = "zero",  # of final_obs where no episode ended; "keep": as they are
        device: int = 0,
        parameters: Mapping[str, bool | int | float | str] = ...,
        varies: Sequence[str] = ...,  # names of parameters that each world has of its own
        changes: Mapping[str, tuple[str, Sequence[float]]] = ...,  # of these, as set_parameters
        data_files: tuple[Mapping[str, tuple[str, str]], str] = ...,  # native.DataFiles
        # Those that `allocate` and `step_numpy` make; default: all that exist. Names of outputs
        # that this environment lacks are passed over; what is always written, and the mask that
        # others need, is added.
        outputs: Sequence[str] = ...,
        tile: int = 0,
        crew: int = 0,
        lanes: int = 0,
        schedule: str = "own",
        block: int = 0,
        dependent_launch: bool = True,
    ) -> None: ...
    instance: str  # JSON, see the end of this file
    outputs: list[str]  # that are written
    memory_bytes: int
    record_bytes: int
    allocations: int  # blocks of output memory ever taken from the system
    def step(self, actions: int, action_type: str, addresses: Addresses, stream: int) -> None:
        """Run one step with actions at an address.

        `action_type` is int64, int32 or uint8 for categories, float32 or float64 for numbers.
        """

    # A step of the worlds whose byte is not 0, of the bytes at an address, one per world.
    def step_some(
        self, actions: int, action_type: str, addresses: Addresses, stream: int, worlds: int
    ) -> None: ...
    def reset(
        self,
        seeds: int | Sequence[int] | None,
        mask: int,  # address of one byte per world, 0 for all worlds
        options: Mapping[str, Any],
        addresses: Addresses,
        stream: int,
        changes: Mapping[str, tuple[str, Sequence[float]]] = ...,  # as set_parameters takes them
        worlds: Sequence[int] | None = ...,  # those of the mask
    ) -> None: ...
    def observe(self, addresses: Addresses, stream: int) -> None: ...
    # CPU only: fresh NumPy arrays over the engine's pool, None for outputs that do not exist or
    # were not asked for. `flat` shapes them (worlds * agents, ...), otherwise (worlds, agents,
    # ...); `state` is (worlds, S) in both.
    def allocate(self, flat: bool) -> tuple[Addresses, Outputs]: ...
    # Actions as a C-contiguous array, (worlds, agents[, k]) or (worlds * agents[, k]); an action of
    # one number has no axis k.
    def step_numpy(self, actions: np.ndarray, flat: bool) -> Outputs: ...
    def step_some_numpy(self, actions: np.ndarray, flat: bool, worlds: int) -> Outputs: ...
    # What stands below has happened when it returns. On a GPU it waits for the default stream
    # alone: `wait_for` the streams of other calls first.
    def read_records(self, first: int, count: int) -> bytes: ...
    def write_records(self, first: int, data: bytes) -> None: ...
    def copy_worlds(
        self, source: Sequence[int], destination: Sequence[int], reseed: bool
    ) -> None: ...
    def assets(self) -> dict[str, np.ndarray]:
        """Return copies of the arrays that all worlds share, by name."""

    def get_column(self, name: str) -> np.ndarray:
        """Return a copy, (worlds, rows, ...)."""

    def set_column(self, name: str, values: np.ndarray, worlds: Sequence[int] | None) -> None: ...
    def set_parameters(
        self, changes: Mapping[str, tuple[str, Sequence[float]]], worlds: Sequence[int] | None
    ) -> None:
        """Set parameters that may differ by world, all of them or none.

        A law and its numbers by name: "given" one number, or one for each of `worlds`; "uniform"
        and "log_uniform" low and high, "normal" these, mean and standard deviation, "choice" the
        values.
        """

    def faults(self) -> dict[str, Any]:
        """Return and clear what went wrong.

        Keys: bad_actions, first_bad_world, first_bad_agent, illegal_actions, first_illegal_world,
        first_illegal_agent, frozen_steps, lost_views, first_lost_world, first_lost_agent, tables (a
        list of dicts with name, dropped, needed, capacity).
        """

    def action_names(self) -> list[str]:
        """What the environment calls its actions; empty where it says nothing."""

    def action_keys(self) -> list[str]:
        """The key of each action for a person who plays, "" for none; empty without keys."""

    def symmetries(self) -> list[tuple[list[int], list[int]]]:
        """Other names of what is seen and done: true places of the observation, true actions."""

    def text(self, world: int, viewer: int) -> str:
        """One world as text with ANSI colours, as agent `viewer` knows it, -1: whole (CPU)."""

    def reading(self, world: int) -> list[float]:
        """What a world's charts say now: episode, step, a number per curve; [] of none (CPU)."""

    def render(
        self,
        world: int,
        height: int,
        width: int,
        view: str,
        samples: int,
        past: np.ndarray,
    ) -> np.ndarray:
        """One world as a picture, uint8 (height, width, 3); view "" is the scene's own (CPU).

        `past` (readings, numbers) is what its charts said before.
        """

    def picture_size(self, world: int) -> tuple[int, int]:
        """Rows and columns of a picture of one world where nobody chooses them (CPU)."""

    def sample_actions(self, mask: int, seed: int, to: int, stream: int) -> None:
        """Draw legal actions of all rows into int32 or float32 at `to`; `mask` 0 allows all.

        The simulator numbers its draws, one per word of an action and per split role; a replay of a
        captured draw counts too.
        """

    def set_illegal_report(self, report: Callable[[int], object] | None) -> None:
        """Call `report` once, with their number, after the first step with illegal actions (CPU).

        Illegal actions that `faults` has returned before are not counted. None: no report.
        """

    def save(self, worlds: Sequence[int] | None = None) -> bytes: ...
    def load(self, data: bytes, worlds: Sequence[int] | None = None) -> None: ...
    def golden(
        self,
        steps: int,
        seed: int,
        clear_ended: bool = False,
        in_a_row: int = 1,
        parts: int = 1,
    ) -> tuple[str, str]:
        """Record hash and output hash of a run of random actions (tests/golden).

        `clear_ended` of the addresses comes to the same hashes, and so does any number of calls
        `in_a_row`, between which nothing else is enqueued, and steps that are taken in `parts`
        calls, each of which steps some worlds.
        """

    def open_session(self) -> tuple[int, int]:
        """Return the number by which programs of XLA find it, and the calls so far."""

    def program_resets(self) -> int:
        """Return how many resets programs of XLA have made."""

    def close(self) -> None:
        """Free everything; a second call does nothing. Every other call raises afterwards."""

# describe() is a JSON list of
#   {"id": "CartPole-v0", "doc": str, "max_episode_steps": 500 or 0, "reward_threshold": 475.0 or
#    null, "agents": "1" or the name of the parameter that counts them, "parameters": [FIELD...],
#    "reset_options": [FIELD...], "action": [FIELD...], "observation": [FIELD...],
#    "state": [FIELD...], "reward_parts": [FIELD...], "action_mask": bool, "turns": bool (one agent
#    at a time acts), "text": bool (there is a view for terminals), "scene": bool (it can be
#    drawn), "render_fps": steps per second of its own time, where it has one, "pictures": true
#    where observations are pictures, with a field for each layer, "columns": [FIELD...],
#    "roles": [ROLE...] where it declares roles}
# with FIELD =
#   {"name", "type": dtype name, "shape": [int...], "low": number or null, "high": number or null,
#    "choices": int or null, "names": [str...] of the choices of a parameter, "default": value or
#    null, "unit": str, "doc": str}
# where choices counts the categories of a discrete field, a null bound is unbounded, and bounds are
# inclusive, and ROLE =
#   {"name", "first": its first agent, "count": of its agents, "choices": int or null, "masked":
#    bool, "elements": of a row of its observations, "mask_elements", "action": [FIELD...],
#    "observation": [FIELD...], and where it has them "reward_parts": [FIELD...], "pictures": true}
# The environment's own "action" and "observation" are then those of padded rows.
#
# Simulator.instance is the object of that one environment with
#   {"num_worlds", "agents_per_world", "agent_names": [str...], "autoreset_mode", "time_limit",
#    "record_bytes", "packed": bool (observations are bits), "layout": hex str, "tier": int,
#    "assets": hex str where it has assets, "role_form": "padded" or "split" where it declares
#    roles, "parts": [PART...],
#    "outputs": {name: {"type", "shape": (worlds, agents, ...) or (worlds, ...), "per_agent": bool,
#    "by_a_step": bool (nothing after a reset), "where_ended": bool (only in rows that ended)}},
#    "values": resolved parameters}
# with a PART for each role, or one with the name "player" where there are no roles:
#   {"role", "first", "count", "begin": word of its first action, "is_float": bool (its actions),
#    "outputs": {name: {"type", "shape" of a row, "begin": byte of its first row}}}
# Both begins are 0 where the rows of all roles lie side by side.
