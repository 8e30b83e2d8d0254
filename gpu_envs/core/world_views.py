"""Views of a simulator for people: names of agents and actions, worlds as text or pictures."""

from __future__ import annotations

from typing import Any

from gpu_envs import errors
from gpu_envs.core import pictures, symmetries
from gpu_envs.core.world_states import WorldStates


class WorldViews(WorldStates):
    """The part of `Simulator` that looks at single worlds."""

    device: str
    agents_per_world: int
    agent_names: list[str]
    max_episode_steps: int
    _mirror: pictures.Mirror | None = None
    _program_resets = 0  # that the traces know of

    def action_names(self) -> list[str]:
        """Return the names of the actions; empty where the environment gives none."""
        return list(self._native.action_names())

    def action_keys(self) -> list[str]:
        """Return the key of each action for playing by hand, "" for none; empty without keys."""
        return list(self._native.action_keys())

    def symmetries(self) -> symmetries.Symmetries | None:
        """Return other names of what is seen and done; None where the environment has none."""
        return symmetries.read(self._native.symmetries())

    def named_agents(self) -> list[str]:
        """Return the agents' names; raise where there are too many to name."""
        if len(self.agent_names) != self.agents_per_world:
            raise ValueError(
                f"the {self.agents_per_world} agents of a world of {self.name} have no names: "
                "beyond 2**20 use the vector interface, which numbers them"
            )
        return self.agent_names[:]

    def text(self, world: int = 0, viewer: int = -1) -> str:
        """Return one world as text with ANSI colours; "" where the environment has no such view.

        Args:
            world: Which one.
            viewer: The agent whose knowledge is shown; -1 shows everything.
        """
        self._require_ready("text")
        number = errors.whole(world, "world", 0, self.num_worlds - 1)
        eyes = errors.whole(viewer, "viewer", -1, self.agents_per_world - 1)
        return str(self._native.text(number, eyes))

    def render(
        self,
        world: int = 0,
        *,
        size: tuple[int, int] | None = None,
        view: str | None = None,
        samples: int = 2,
    ) -> pictures.Picture:
        """Return a picture of one world, uint8 of shape (rows, columns, 3).

        Charts show what they said whenever the world was drawn, or `note` was called, since its
        episode began.

        Args:
            world: Which one.
            size: Rows and columns; None for the environment's own.
            view: "perspective", "top", "both", "top:<number>" (with a ring around that agent),
                "agent:<number>"; None for the environment's own.
            samples: Along each side of a pixel, 1 to 8: more make smoother edges.
        """
        source, number = self._looked_at(world)
        rows, columns = pictures.checked_size(size) or source.picture_size(number)
        chosen = pictures.checked_view(view)
        smooth = errors.whole(samples, "samples", 1, 8)
        past = self._traces.add(world, source.reading(number))
        picture: pictures.Picture = source.render(number, rows, columns, chosen or "", smooth, past)
        return picture

    def note(self, world: int = 0) -> None:
        """Keep the present values of a world's charts, for later pictures."""
        source, number = self._looked_at(world)
        self._traces.add(world, source.reading(number))

    def picture_size(self, world: int = 0) -> tuple[int, int]:
        """Return rows and columns of a picture of one world where nobody chooses them."""
        source, number = self._looked_at(world)
        rows, columns = source.picture_size(number)
        return rows, columns

    def _looked_at(self, world: int) -> tuple[Any, int]:
        """Return a native simulator in host memory that has a world, and its number there."""
        self._require_ready("render")
        if not self.instance["scene"]:
            raise ValueError(pictures.lack(self.instance))
        number = errors.whole(world, "world", 0, self.num_worlds - 1)
        if self.device == "cpu":
            if (resets := self._native.program_resets()) != self._program_resets:
                self._program_resets = resets
                self._traces.clear()  # as after a reset in Python
            return self._native, number
        self._streams.settle("render()")
        if self._mirror is None:
            values, limit = self.instance["values"], self.max_episode_steps
            self._mirror = pictures.Mirror(
                self.name, values, limit, self.instance["layout"], self.varies
            )
        return self._mirror.show(self._native, number), 0

    def _read_parameters(self) -> None:
        super()._read_parameters()
        if self._mirror is not None:  # has those from before
            self._mirror.close()
            self._mirror = None
