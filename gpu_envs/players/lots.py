"""Numbers that are drawn for each world when an episode begins, and players chosen by them.

A number is a function of the seed, of the world and of the episode, which the simulator keeps. It
stays until the world's next episode, also in copies that have random numbers of their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces

from gpu_envs.core.libraries import require
from gpu_envs.core.role_actions import to_library
from gpu_envs.core.roles import Role
from gpu_envs.core.simulator import Simulator
from gpu_envs.known.outputs import Outputs
from gpu_envs.players.player import (
    AGENT,
    GOLDEN,
    SECOND,
    STEP,
    Keeper,
    Player,
    Seen,
    even,
    mixed,
    signed,
)

_EPISODE = "episode"  # of the kept number


class Lots(Keeper):
    """A number below `count` for each world, in `drawn`.

    Args:
        simulator: Whose worlds they are.
        count: How many numbers there are.
        purpose: Draws for different purposes are independent.
    """

    def __init__(self, simulator: Simulator, count: int, purpose: int) -> None:
        super().__init__(simulator)
        self._count, self._purpose = count, signed(purpose * AGENT)
        worlds = simulator.num_worlds
        self.kept = {"drawn": np.zeros(worlds, np.int64), _EPISODE: np.zeros(worlds, np.int64)}
        self.who = f"one of {count}"
        self._changes, self._of_worlds = -1, np.zeros(worlds, np.int64)

    @property
    def drawn(self) -> Any:
        """The number of each world, in host memory."""
        return self.kept["drawn"]

    def begin(self, seed: int | Sequence[int] | None, worlds: Any) -> None:
        """Draw in worlds that were reset."""
        every = np.ones(self._simulator.num_worlds, np.bool_)
        self._draw(every if worlds is None else worlds, self._column(_EPISODE))

    def note(self, outputs: Outputs) -> None:
        """Draw where another episode has begun."""
        self.refresh()

    def refresh(self) -> None:
        """Draw where another episode has begun."""
        episodes = self._column(_EPISODE)
        began = episodes != self.kept[_EPISODE]
        if began.any():
            self._draw(began, episodes)

    def _draw(self, worlds: Any, episodes: Any) -> None:
        now = episodes[worlds]
        bits = mixed(self._streams()[worlds] + (now + 1) * signed(STEP))
        self.kept["drawn"][worlds] = even(bits, self._count)
        self.kept[_EPISODE][worlds] = now

    def _streams(self) -> Any:
        """Return a number of each world, of its seed and its own number, which no step changes."""
        if self._changes != self._simulator.changes:
            self._changes = self._simulator.changes
            seed = self._column("seed_low") | self._column("seed_high") << 32
            bits = mixed(seed * signed(GOLDEN) + self._purpose)
            self._of_worlds = mixed(bits + (self._column("identity") + 1) * signed(SECOND))
        return self._of_worlds

    def _column(self, name: str) -> Any:
        return self._simulator.get(f"world.{name}")[:, 0].astype(np.int64)


class Pool(Player):
    """Players of whom one plays in each world, until the world's next episode.

    Members are asked for all worlds, as long as they play in one, and keep what they keep where
    they do not play.

    Args:
        simulator: What they play in.
        role: Their agents.
        members: Who may play.
        purpose: Of the draws.
    """

    def __init__(
        self, simulator: Simulator, role: Role, members: Sequence[Player], purpose: int
    ) -> None:
        super().__init__(simulator)
        self._members, self._lots = members, Lots(simulator, len(members), purpose)
        self._type = "float32" if isinstance(role.action_space, spaces.Box) else "int64"
        self.kept = self._lots.kept
        whos = [member.who for member in members]
        self.who = f"{self._lots.who} ({', '.join(who or '-' for who in whos)})"

    def begin(self, seed: int | Sequence[int] | None, worlds: Any) -> None:
        """Let members begin, and draw who plays."""
        self._lots.begin(seed, worlds)
        for member in self._members:
            member.begin(seed, worlds)

    def note(self, outputs: Outputs) -> None:
        """Let all members note it."""
        self._lots.refresh()
        for member in self._members:
            member.note(outputs)

    def __call__(self, seen: Seen) -> Any:
        """Return the actions of who plays in each world."""
        self._lots.refresh()
        drawn, chosen = self._lots.drawn, None
        for k, member in enumerate(self._members):
            plays = drawn == k
            if not plays.any():
                member.note(seen.outputs)
                continue
            own = to_library(plays, self._simulator)
            answer = member(
                seen._replace(stepped=own if seen.stepped is None else own & seen.stepped)
            )
            answer = _copied(answer, self._type)
            if chosen is None:
                chosen = answer
            else:
                chosen[own] = answer[own]
        return chosen

    def rows(self, worlds: list[int]) -> dict[str, Any]:
        """Return who plays, and what members keep."""
        found = super().rows(worlds)
        for k, member in enumerate(self._members):
            if member.who:
                found |= {f"{k}.{name}": rows for name, rows in member.rows(worlds).items()}
        return found

    def put(self, worlds: list[int], rows: Mapping[str, Any]) -> None:
        """Write what `rows` returned."""
        super().put(worlds, {name: array for name, array in rows.items() if "." not in name})
        for k, member in enumerate(self._members):
            if member.who:
                own = {n: array for n, array in rows.items() if n.startswith(f"{k}.")}
                member.put(worlds, {n.partition(".")[2]: array for n, array in own.items()})

    def copy(self, sources: list[int], destinations: list[int]) -> None:
        """Let copies have who plays, and what members keep."""
        self._lots.copy(sources, destinations)
        for member in self._members:
            member.copy(sources, destinations)

    def reseed(self, worlds: list[int]) -> None:
        """Give members draws of their own; who plays stays."""
        for member in self._members:
            member.reseed(worlds)


def _copied(actions: Any, kind: str) -> Any:
    """Return a copy of actions in one type, whichever library they are of."""
    if hasattr(actions, "astype"):
        return actions.astype(kind)
    return actions.to(getattr(require("torch"), kind), copy=True)
