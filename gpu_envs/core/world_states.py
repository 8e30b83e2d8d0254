"""The state of a simulator's worlds: columns by name, saves, copies of worlds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gpu_envs import errors
from gpu_envs.core import columns, faults, saves
from gpu_envs.core.streams import Streams
from gpu_envs.core.varying import VaryingParameters

if TYPE_CHECKING:
    from gpu_envs.core.pictures import Traces


class WorldStates(VaryingParameters):
    """The part of `Simulator` that reads and writes what the worlds hold."""

    name: str
    num_worlds: int
    instance: dict[str, Any]
    changes: int  # of the worlds, but for steps
    _native: Any
    _streams: Streams
    _traces: Traces
    _is_ready: bool
    _is_written: bool
    _step: Callable[..., Any]
    _step_numpy: Callable[..., Any]

    @property
    def is_closed(self) -> bool:
        """Whether `close` was called."""
        return isinstance(self._native, faults.Closed)

    @property
    def is_ready(self) -> bool:
        """Whether the worlds have begun: a reset or a load came first."""
        return self._is_ready

    def get(self, column: str) -> np.ndarray[Any, Any]:
        """Return a copy of a described column, (worlds, rows, ...)."""
        common = None if self.is_closed else self._common_column(column)
        if common is not None:
            return common
        self._check_column(column)
        self._streams.settle("get()")
        values: np.ndarray[Any, Any] = self._native.get_column(column)
        return values

    def assets(self) -> dict[str, np.ndarray[Any, Any]]:
        """Return copies of the arrays that all worlds share and no rule writes, by name.

        Levels, maps, houses: numbers, or rows whose fields have names. {} where there are none.
        """
        found: dict[str, np.ndarray[Any, Any]] = self._native.assets()
        return found

    def set(self, column: str, values: object, worlds: Sequence[int] | None = None) -> None:
        """Write a column of all worlds or of `worlds`, or nothing of it.

        Values that the column's type cannot hold are refused (259 or 2.9 for a byte, NaN and
        infinity for a float), and so are those outside of its range, `low` and `high` in
        `instance["columns"]`. A float that stands there already may stay: what `get` returned
        can be written back where it is finite.

        Args:
            column: Its name.
            values: Broadcast to (worlds, rows, ...).
            worlds: Numbers of the worlds that are written; None for all.
        """
        self._check_column(column)
        self._streams.settle("set()")
        current = self._native.get_column(column)
        chosen = self._chosen(worlds)
        full = columns.values_for(column, values, current, chosen)
        self._native.set_column(column, full, chosen)
        self._is_written = True
        self.changes += 1

    def save(self, worlds: object = None) -> bytes:
        """Return the state of worlds; loads on any machine.

        Args:
            worlds: Their numbers, in the order in which they are saved; None for all.
        """
        self._require_ready("save")
        chosen = self._chosen(worlds)
        self._streams.settle("save()")
        data: bytes = self._native.save(chosen)
        return data

    def load(self, data: bytes, worlds: object = None) -> None:
        """Continue from a save of the same environment, parameters, mode and time limit.

        Nothing is written unless all of it can be: a whole number outside of its column's range is
        refused as well.

        Args:
            data: What `save` returned.
            worlds: Numbers of the worlds that are written, as many as the save has, in its order; a
                save of one world is written into each. None: all, of a save of as many.
        """
        if not isinstance(data, bytes | bytearray | memoryview):
            raise TypeError(f"data must be bytes, got {type(data).__name__}")
        data = bytes(data)
        chosen = self._chosen(worlds)
        if chosen is not None and len(set(chosen)) < self.num_worlds:
            self._require_ready("load(worlds=)")
        saves.refuse_players(data)
        self._streams.settle("load()")
        self._native.load(data, chosen)
        self._traces.clear(chosen)
        self.changes += 1
        self._set_ready()

    def copy_worlds(self, src: object, dst: object, *, reseed: bool = False) -> None:
        """Copy worlds over others; a copy has the future of its source.

        Args:
            src: Numbers of the worlds that are copied, one for each destination, or one for all.
            dst: Numbers of the worlds that are written, each once, and none of them a source.
            reseed: Copies have random numbers of their own from then on.
        """
        self._require_ready("copy_worlds")
        source, destination = self.copied(src, dst)
        has_own_future = errors.flag(reseed, "reseed")
        self._streams.settle("copy_worlds()")
        self._native.copy_worlds(source, destination, has_own_future)
        self._traces.copy(source, destination)
        self.changes += 1

    def copied(self, src: object, dst: object) -> tuple[list[int], list[int]]:
        """Return sources and destinations of a copy, as many of each."""
        source = columns.world_numbers(src, "src", self.num_worlds)
        destination = columns.world_numbers(dst, "dst", self.num_worlds)
        if len(source) == 1:
            source *= len(destination)
        if len(source) != len(destination):
            raise ValueError(f"dst must be as long as src ({len(source)}), got {len(destination)}")
        return source, destination

    def _chosen(self, worlds: object) -> list[int] | None:
        """Return the numbers of chosen worlds; None: all."""
        return None if worlds is None else columns.world_numbers(worlds, "worlds", self.num_worlds)

    def _require_ready(self, call: str) -> None:
        if not self._is_ready and not self.is_closed:
            raise errors.ResetNeeded(f"{self.name}: call reset() before {call}()")

    def _set_ready(self) -> None:
        if not self._is_ready:
            self._is_ready = True
            self._step = self._native.step
            self._step_numpy = getattr(self._native, "step_numpy", faults.refuse_unready)

    def _check_column(self, column: str) -> None:
        if not self.is_closed:
            names = [field["name"] for field in self.instance["columns"]]
            if not isinstance(column, str) or column not in names:
                whole = f"`python -m gpu_envs info {self.name}`"
                raise ValueError(errors.unknown(f"column of {self.name}", column, names, whole))
