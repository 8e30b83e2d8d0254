"""Cross-play: each of some policies in the first seat, with each of them in the others.

All pairs play the same episodes. The diagonal of the matrix is self-play; the mean of all other
pairs says how well policies do with partners that they never met.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gpu_envs.policies.sharing import groups
from gpu_envs.policies.teams import NOBODY, Team
from gpu_envs.train import evaluate
from gpu_envs.train.worlds import Worlds

Array = np.ndarray[Any, np.dtype[np.float64]]
JSON, PICTURE = "cross_play.json", "cross_play.png"
_INCH = 0.75  # of a cell of the picture


@dataclass(frozen=True)
class Seats:
    """The two seats of a world: the first agent and all others, or the first role and all others.

    What is measured is the mean return of all agents, or of the first of several roles: a mean
    over opponents says nothing.
    """

    first: str
    others: str
    of_first: tuple[int, ...]  # agents
    measured: tuple[int, ...]

    @classmethod
    def of(cls, names: Sequence[str]) -> Seats:
        """Return the seats of agents by their names."""
        if len(names) < 2:
            raise ValueError("--cross-play needs an environment with several agents")
        roles = groups("role", names)
        if len(roles) > 1:
            first, *rest = roles
            others = rest[0] if len(rest) == 1 else "the other roles"
            return cls(first, others, tuple(roles[first]), tuple(roles[first]))
        others = names[1] if len(names) == 2 else f"the other {len(names) - 1} agents"
        return cls(names[0], others, (0,), tuple(range(len(names))))


@dataclass(frozen=True)
class Matrix:
    """Returns of all pairs."""

    seats: Seats
    labels: list[str]
    returns: Array  # (policy in the first seat, policy in the others, episode)

    @property
    def mean(self) -> Array:
        """Mean returns."""
        found: Array = self.returns.mean(2)
        return found

    @property
    def error(self) -> Array:
        """Standard errors of the means, over episodes."""
        found: Array = _error(self.returns)
        return found

    def self_play(self) -> tuple[float, float]:
        """Return the mean of the diagonal and its standard error over episodes."""
        return self._over(np.eye(len(self.labels), dtype=bool))

    def cross_play(self) -> tuple[float, float]:
        """Return the mean of all other pairs and its standard error over episodes."""
        return self._over(~np.eye(len(self.labels), dtype=bool))

    def _over(self, pairs: Any) -> tuple[float, float]:
        of_episode = self.returns[pairs].mean(0)
        return float(of_episode.mean()), float(_error(of_episode))

    def rows(self) -> list[list[str]]:
        """Return the table: who has the first seat by rows, who the others by columns."""
        head = [f"{self.seats.first}, with {self.seats.others}:", *self.labels]
        cells = [
            [_shown(*cell) for cell in zip(means, errors, strict=True)]
            for means, errors in zip(self.mean, self.error, strict=True)
        ]
        return [head, *([label, *row] for label, row in zip(self.labels, cells, strict=True))]

    def lines(self) -> list[str]:
        """Return the two scores in words."""
        return [
            f"self-play, the diagonal: {_shown(*self.self_play())}",
            f"cross-play, all other pairs: {_shown(*self.cross_play())}",
        ]

    def facts(self) -> dict[str, Any]:
        """Return plain values for a file."""
        own, other = self.self_play(), self.cross_play()
        return {
            "first_seat": self.seats.first,
            "other_seats": self.seats.others,
            "mean": self.mean.tolist(),
            "error": self.error.tolist(),
            "self_play": {"mean": own[0], "error": own[1]},
            "cross_play": {"mean": other[0], "error": other[1]},
        }


def _error(returns: Array) -> Any:
    count = returns.shape[-1]
    return returns.std(-1, ddof=1) / count**0.5 if count > 1 else np.zeros(returns.shape[:-1])


def _shown(mean: float, error: float) -> str:
    return f"{mean:.3f} +- {error:.3f}"


def play(
    env: Worlds, teams: Sequence[Team], labels: Sequence[str], *, seed: int, is_sampled: bool
) -> Matrix:
    """Let every policy meet every other in both seats, an episode in each world.

    Args:
        env: The worlds.
        teams: Policies for all agents, of one file or word each.
        labels: How they are called.
        seed: Seed of the worlds, the same for all pairs, and of the draws.
        is_sampled: Draw actions, instead of taking the likeliest.
    """
    seats = Seats.of(env.agent_names)
    returns = np.zeros((len(teams), len(teams), env.num_worlds))
    for i, first in enumerate(teams):
        for j, other in enumerate(teams):
            policies, of_agent = _seated(seats, first, other)
            of_row = evaluate.rows_of(of_agent, env.num_worlds, env.device)
            found, _ = evaluate.play(env, policies, of_row, seed=seed, is_sampled=is_sampled)
            returns[i, j] = found[:, list(seats.measured)].double().mean(1).cpu().numpy()
    return Matrix(seats, list(labels), returns)


def _seated(seats: Seats, first: Team, other: Team) -> tuple[list[Any], list[int]]:
    """Return the policies of a pair, and the number of each agent's."""
    if first is other:
        return first.policies, first.of_agent
    shift = len(first.policies)
    theirs = [NOBODY if k == NOBODY else shift + k for k in other.of_agent]
    own = [
        first.of_agent[agent] if agent in seats.of_first else theirs[agent]
        for agent in range(len(theirs))
    ]
    return [*first.policies, *other.policies], own


def draw(
    figure: Any, axes: Any, matrix: Matrix, title: str, ends: tuple[float, float] | None = None
) -> None:
    """Draw a matrix of mean returns, with its numbers, into axes of a figure.

    Args:
        figure: The figure.
        axes: A part of it.
        matrix: What is drawn.
        title: Its title.
        ends: The returns at the ends of the colours; None: its own least and greatest.
    """
    means = matrix.mean
    low, high = ends or (means.min(), means.max())
    shown = axes.imshow(means, cmap="viridis", vmin=low, vmax=high)
    places = range(len(matrix.labels))
    axes.set_xticks(places, matrix.labels, fontsize=8)
    axes.set_yticks(places, matrix.labels, fontsize=8)
    axes.set(xlabel=matrix.seats.others, ylabel=matrix.seats.first, title=title)
    for (row, column), mean in np.ndenumerate(means):
        colour = "black" if mean > (low + high) / 2 else "white"
        axes.text(column, row, f"{mean:.3g}", ha="center", va="center", fontsize=8, color=colour)
    figure.colorbar(shown, ax=axes, label="mean return")


def write(matrix: Matrix, facts: dict[str, Any], folder: Path) -> list[Path]:
    """Write matrix and facts as JSON, and the picture; return where."""
    from matplotlib.figure import Figure

    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps({**facts, **matrix.facts()}, indent=1)
    (folder / JSON).write_text(text + "\n", encoding="utf-8")
    wide = max(4.0, 2 + _INCH * len(matrix.labels))
    figure = Figure(figsize=(wide + 1, wide), layout="constrained")
    draw(figure, figure.subplots(), matrix, f"{facts['environment']}, cross-play")
    figure.savefig(folder / PICTURE, dpi=120)
    return [folder / JSON, folder / PICTURE]
