"""What a person who plays is shown: the picture that the agent observes, or one that is drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from gpu_envs.faces.parallel import ParallelEnv
from gpu_envs.terminal import console, half_blocks

_LEAST = 8  # rows and columns of a picture that is drawn
_SAMPLES = 3  # along each side of a pixel: a terminal has few pixels
_TEXT_LINES = 2  # of the world's text: the last ones, below map and list of agents


class PlayerView(Protocol):
    """A picture of a world and lines of text, for the player of one agent."""

    line_count: int  # how many `lines` there are

    def begin(self) -> None:
        """Look at a world after its reset; raise ValueError for a view that it does not have."""

    def picture(self, observation: Any, rows: int, columns: int) -> half_blocks.Pixels:
        """Return a picture within the limits.

        Args:
            observation: What the agent observes.
            rows: Most rows of pixels.
            columns: Most columns of pixels.
        """

    def title(self) -> str:
        """Return what stands before the score."""

    def facts(self, observation: Any) -> str:
        """Return what stands behind the score."""

    def lines(self) -> list[str]:
        """Return the lines below the score."""


class ObservedView:
    """The picture that the agent observes, and the numbers beside it."""

    line_count = 0

    def __init__(self, env: ParallelEnv) -> None:
        self._layers = env.simulator.observation_fields
        self._is_last = env.simulator.parameters.get("channels") == "last"

    def begin(self) -> None:
        """Do nothing: every reset has an observation."""

    def picture(self, observation: Any, rows: int, columns: int) -> half_blocks.Pixels:
        """Return the observation, scaled by whole pixels."""
        picture = half_blocks.pixels(observation, self._layers, self._is_last)
        return half_blocks.fitted(picture, rows, columns)

    def title(self) -> str:
        """Return "": what is seen is the agent's own view."""
        return ""

    def facts(self, observation: Any) -> str:
        """Return the numbers of an observation that has some beside its picture."""
        if not isinstance(observation, Mapping):
            return ""
        found = {name: np.asarray(row) for name, row in observation.items()}
        return "".join(
            f"  {name} {' '.join(f'{x:.2f}' for x in row)}"
            for name, row in found.items()
            if row.ndim == 1
        )

    def lines(self) -> list[str]:
        """Return no lines."""
        return []


class DrawnView:
    """The picture that `render` draws, and the end of the world's text.

    Args:
        env: The world.
        agent: The agent that is played.
        view: A view of `render`; None for the scene's own, or from above where there are other
            agents. From above the agent has a ring, as far as the scene marks one.
    """

    line_count = _TEXT_LINES

    def __init__(self, env: ParallelEnv, agent: str, view: str | None) -> None:
        self._env, self._agent, self._view = env, agent, view
        self._number = env.possible_agents.index(agent)
        self._has_ring = False
        self._shape = (_LEAST, _LEAST)  # proportions

    def begin(self) -> None:
        """Find the view of a world after its reset."""
        if self._view in (None, "top") and len(self._env.possible_agents) > 1:
            try:
                self._draw(f"top:{self._number}", (_LEAST, _LEAST))
            except ValueError:  # a scene that marks no agents
                pass
            else:
                self._view, self._has_ring = f"top:{self._number}", True
        self._draw(self._view, (_LEAST, _LEAST))
        self._shape = self._env.simulator.picture_size()

    def _draw(self, view: str | None, size: tuple[int, int]) -> half_blocks.Pixels:
        return self._env.simulator.render(size=size, view=view, samples=_SAMPLES)

    def picture(self, observation: Any, rows: int, columns: int) -> half_blocks.Pixels:
        """Draw the world in the proportions that `render` gives it."""
        height, width = half_blocks.size_within(rows, columns, self._shape)
        drawn = self._draw(self._view, (max(_LEAST, height), max(_LEAST, width)))
        return half_blocks.fitted(drawn, rows, columns)

    def title(self) -> str:
        """Return the name of the agent among others."""
        if len(self._env.possible_agents) == 1:
            return ""
        return f"{self._agent}{' (ring)' if self._has_ring else ''}  "

    def facts(self, observation: Any) -> str:
        """Return the seed, by which the episode can be repeated."""
        return f"  seed {self._env.simulator.np_random_seed}"

    def lines(self) -> list[str]:
        """Return the end of the world's text, as the agent knows it."""
        text = console.plain(self._env.simulator.text(0, self._number))
        found = text.rstrip("\n").splitlines()[-_TEXT_LINES:]
        return found + [""] * (_TEXT_LINES - len(found))
