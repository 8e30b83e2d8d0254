"""Saves, columns and copies of worlds, as methods of every environment.

They are those of the simulator, and where `others=` plays they include what the players keep of
each world: memories, and where they are in their random numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gpu_envs.core.simulator import Simulator
from gpu_envs.players.role_rows import RoleRows, simulator_of


class States:
    """The part of an environment that reads and writes what its worlds hold.

    The next step continues from what was loaded, written or copied; `observe` shows it before.
    Wrappers that count steps, or sum rewards, are not told.
    """

    def _states(self) -> Simulator | RoleRows:
        """Return what holds the worlds."""
        raise NotImplementedError

    def _take_over(self) -> None:
        """Drop what was known of worlds that have changed."""

    def save(self, worlds: object = None) -> bytes:
        """Return the state of worlds; loads on any machine.

        Args:
            worlds: Their numbers (not those of rows), in the order in which they are saved; None
                for all.
        """
        return self._states().save(worlds)

    def load(self, data: bytes, worlds: object = None) -> None:
        """Continue from a save, or refuse it before anything is written.

        Environment, parameters, autoreset mode and time limit must be the same, and so must who
        plays the other roles; in a save of a simulator alone players start over.

        Args:
            data: What `save` returned.
            worlds: Numbers of the worlds (not rows) that are written, as many as the save has, in
                its order; a save of one world is written into each. None: all, of a save of as
                many.
        """
        self._states().load(data, worlds)
        self._take_over()

    def get(self, column: str) -> np.ndarray[Any, Any]:
        """Return a copy of a column of the state, (worlds, rows, ...); `info ID` lists them."""
        return self._states().get(column)

    def set(self, column: str, values: object, worlds: Sequence[int] | None = None) -> None:
        """Write a column of the state in all worlds or in some, or nothing of it.

        Args:
            column: Its name.
            values: Broadcast to (worlds, rows, ...).
            worlds: Numbers of the worlds that are written; None for all.
        """
        self._states().set(column, values, worlds)
        self._take_over()

    def set_parameters(self, *, worlds: Sequence[int] | None = None, **values: Any) -> None:
        """Change parameters of the environment, between two steps; `info ID` says when it acts.

        Args:
            worlds: Numbers of the worlds that are changed; None for all.
            **values: Parameters by name: a number, an array with one per world, or a range such as
                `gpu_envs.uniform(0.5, 2)`, which every reset draws from. The last two, and
                `worlds`, are for parameters of which each world has a value of its own: those that
                were given as an array or a range, or are named in `varies=`.
        """
        simulator_of(self._states()).set_parameters(worlds=worlds, **values)

    def copy_worlds(self, src: object, dst: object, *, reseed: bool = False) -> None:
        """Copy worlds over others; a copy has the future of its source.

        Args:
            src: Numbers of the worlds that are copied, one for each destination, or one for all.
            dst: Numbers of the worlds that are written, each once, and none of them a source.
            reseed: Copies have random numbers of their own from then on.
        """
        self._states().copy_worlds(src, dst, reseed=reseed)
        self._take_over()
