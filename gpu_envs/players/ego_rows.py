"""The rows of one agent among partners: `agent=` of `make_vec` and of `make`.

The ego has a row in each world, and `others` play all other agents. With agent="drawn" its seat is
another one in each episode. Where agents take turns, a step lasts from a turn of the ego to its
next: partners move inside, in steps of the simulator of those worlds that wait for the ego.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gpu_envs.core import roles
from gpu_envs.core.autoreset import AutoresetMode
from gpu_envs.core.libraries import require
from gpu_envs.core.resets import MASKS, ResetOptions
from gpu_envs.core.role_actions import to_library
from gpu_envs.core.simulator import Simulator
from gpu_envs.known.fields import read as read_fields
from gpu_envs.known.outputs import Outputs
from gpu_envs.players.lots import Lots
from gpu_envs.players.other_players import Idle, Others
from gpu_envs.players.partners import DRAWN, ego_of, partners_of
from gpu_envs.players.player import Keeper, Seen
from gpu_envs.players.role_rows import RoleRows
from gpu_envs.players.scripted import host

Array = np.ndarray[Any, Any]

_SEATS = -1  # purpose of the draws of seats; those of pools are not negative
_MOST_PASSED = 100  # episodes in a row that end before the ego's first turn
_SUMMED = ("reward", "reward_parts")


class EgoRows(RoleRows):
    """The rows of one agent: its actions go in, its outputs come out.

    The arguments are those of `RoleRows`, with the name of the agent in place of the role's.
    """

    def _choose(self, agent: Any, others: object, first_world: int) -> None:
        simulator = self.simulator
        number = ego_of(simulator, agent)
        parts, players = partners_of(simulator, number, others, first_world)
        self._lots: Lots | None = None
        more: dict[str, Keeper] = {}
        if number is None:
            everyone = range(simulator.agents_per_world)
            mine = roles.some_of(simulator, simulator.roles[0], everyone, DRAWN)
            self.role = replace(mine, count=1, agents=(DRAWN,))
            more["seats"] = self._lots = Lots(simulator, len(everyone), _SEATS)
        else:
            whole = next(role for role in simulator.roles if number in role.numbers)
            self.role = mine = roles.some_of(simulator, whole, [number], agent)
        self._has_turns = bool(simulator.instance["turns"])
        if self._has_turns:
            more["rewards"] = self._earned = Earned(simulator)
            self._idle = Idle(simulator, self.role)
        self.others = Others(players, more)
        self._lay_out([mine, *parts])
        worlds = simulator.num_worlds
        self._worlds, self._every = np.arange(worlds), np.ones(worlds, np.bool_)
        self._seats = np.full(worlds, number or 0)  # of the ego in the last step
        written = [output for output in simulator.layout.outputs if output is not None]
        self._of_steps = [output.name for output in written if output.by_a_step]
        described = simulator.instance["outputs"]
        self._of_agents = {n for n, output in described.items() if output["per_agent"]}

    def step_arrays(
        self,
        actions: object,
        flat: bool,
        out: object = None,
        stream: object = None,
        worlds: object = None,
    ) -> Outputs:
        """Run one step of the ego, in all worlds or in some."""
        if not self._has_turns:
            return super().step_arrays(actions, flat, out, stream, worlds)
        own, stepped = self._read(actions, out, stream, worlds)
        chosen = self._every if stepped is None else host(stepped)
        tally = Tally(self._earned, chosen & ~self._over())
        self._play_some(own, chosen, stream, tally)
        self._advance(chosen, stream, tally)
        tally.finish()
        told = {name: self._given(rows) for name, rows in tally.rows.items()}
        return self._by_row(self._own(self._now)._replace(**told))

    def reset_arrays(
        self, seed: object, options: ResetOptions, flat: bool, out: Any = None, stream: Any = None
    ) -> Outputs:
        """Reset as `RoleRows` does; partners who are on turn before the ego move."""
        if not self._has_turns:
            return super().reset_arrays(seed, options, flat, out, stream)
        options, worlds = self._chosen(options)
        super().reset_arrays(seed, options, flat, out, stream)
        tally = Tally(self._earned, ~self._every)
        chosen = self._every if worlds is None else worlds
        self._advance(chosen, stream, tally)
        own = {name: value for name, value in options.items() if name not in MASKS}
        while (over := chosen & self._over()).any():  # the ego has had no turn
            super().reset_arrays(None, own | {"reset_mask": over}, flat, None, stream)
            self._advance(over, stream, tally)
        return self._rows(self._shown(self._now))

    def observe_arrays(self, flat: bool, out: object = None, stream: object = None) -> Outputs:
        """Return the observation of the ego again."""
        super().observe_arrays(flat, out, stream)
        return self._rows(self._shown(self._now))

    def _observed(self) -> Outputs:
        """Observe; where a partner is on turn, in worlds that came from elsewhere, it moves."""
        self._last = super()._observed()
        if self._lots is not None:
            self._lots.refresh()
        if self._has_turns:
            told = Tally(self._earned, ~self._every)
            told.is_told[:] = True
            self._advance(self._every, None, told)
        return self._now

    @property
    def _now(self) -> Outputs:
        """What the simulator returned last."""
        assert self._last is not None  # a step, reset or observation has returned
        return self._last

    # Seats

    def _play(self, own: Any, stepped: Any, stream: object) -> Outputs:
        if self._lots is None:
            return super()._play(own, stepped, stream)
        self._seats = self._lots.drawn.copy()
        results = super()._play(own, stepped, stream)
        self._lots.refresh()
        return results

    def _write(self, own: Any) -> None:
        if self._lots is None:
            super()._write(own)
        else:
            self._actions.write(DRAWN, own[:, 0], self._at(self._lots.drawn))

    def _own(self, outputs: Outputs) -> Outputs:
        part = super()._own(outputs)
        if self._lots is None:
            return part
        before, now = self._at(self._seats), self._at(self._lots.drawn)
        taken = {
            name: array[before if name in self._of_steps else now][:, None]
            for name, array in part._asdict().items()
            if array is not None and name in self._of_agents
        }
        return part._replace(**taken)

    def _at(self, seats: Array) -> tuple[Any, Any]:
        """Return places of an agent of each world."""
        return to_library(self._worlds, self.simulator), to_library(seats, self.simulator)

    # Turns

    def _play_some(self, own: Any, worlds: Array, stream: object, tally: Tally) -> None:
        stepped = None if worlds.all() else to_library(worlds, self.simulator)
        told = self._some(self._play(own, stepped, stream), self._of_steps)
        tally.add({name: host(getattr(told, name)) for name in self._of_steps}, worlds)

    def _some(self, outputs: Outputs, names: Sequence[str]) -> Outputs:
        """Return some outputs of the ego, None for the others."""
        return self._own(Outputs(**{name: getattr(outputs, name) for name in names}))

    def _advance(self, worlds: Array, stream: object, tally: Tally) -> None:
        """Let partners play in some worlds until the ego is on turn, or its episode is over.

        An episode that ends before the ego's first turn is passed over.
        """
        while (waits := worlds & self._waits(tally)).any():
            seen = self._some(self._now, ("action_mask",))
            idle = self._idle(Seen(seen, None, seen.action_mask))
            self._play_some(idle, waits, stream, tally)
            if tally.passed.max() > _MOST_PASSED:
                raise RuntimeError(
                    f"agent={self.role.name!r} of {self.simulator.name} has no turn: "
                    f"{_MOST_PASSED} episodes of world {tally.passed.argmax()} ended before its "
                    "first one"
                )

    def _waits(self, tally: Tally) -> Array:
        """Return in which worlds the ego is not on turn, and its next turn is still to come."""
        seats = self._seats if self._lots is None else self._lots.drawn
        is_on_turn = host(self._now.agent_active)[self._worlds, seats] != 0
        comes = ~self._over()
        if self.simulator.autoreset_mode is AutoresetMode.NEXT_STEP:
            comes |= ~tally.is_told
        waits: Array = comes & ~is_on_turn
        return waits

    def _over(self) -> Array:
        """Return which worlds rest after their end."""
        if self.simulator.autoreset_mode is AutoresetMode.SAME_STEP:
            return ~self._every
        over: Array = self.simulator.get("world.over")[:, 0] != 0
        return over

    def _given(self, array: Array) -> Any:
        """Return an array of host memory in the library of outputs."""
        library = self.simulator.arrays
        if library == "numpy":
            return array
        if library == "jax":
            return require("jax.numpy").asarray(array)
        if library == "torch":
            return require("torch").from_numpy(array).to(self.simulator.device)
        return to_library(array, self.simulator)


class Earned(Keeper):
    """Rewards of the ego since the last step that reported them: before its first turn."""

    who = "rewards of a turn"

    def __init__(self, simulator: Simulator) -> None:
        super().__init__(simulator)
        worlds = simulator.num_worlds
        parts = sum(field.size for field in simulator.reward_fields)
        self.kept = {
            "reward": np.zeros((worlds, 1), np.float32),
            "reward_parts": np.zeros((worlds, 1, parts), np.float32),
        }

    def begin(self, seed: int | Sequence[int] | None, worlds: Any) -> None:
        """Forget what was earned before a reset."""
        for array in self.kept.values():
            array[slice(None) if worlds is None else worlds] = 0


class Tally:
    """What the simulator's steps within one step of the ego come to, in host memory.

    Args:
        earned: Where rewards are summed; what is earned before a first turn is paid with it.
        moves: Worlds in which the ego moves.
    """

    def __init__(self, earned: Earned, moves: Array) -> None:
        self._earned, self._moves = earned, moves.copy()
        self.rows: dict[str, Array] = {}  # outputs of the step, by name
        self.is_told = np.zeros(len(moves), np.bool_)  # in which worlds the end is among them
        self.passed = np.zeros(len(moves), np.int64)  # episodes that ended without a turn

    def add(self, rows: dict[str, Array], stepped: Array) -> None:
        """Add a step of the simulator.

        Args:
            rows: The ego's outputs of this step.
            stepped: Which worlds stepped.
        """
        for name, earned in self._earned.kept.items():
            if name in rows:
                earned += rows[name]
        if not self.rows:
            self.rows = {name: array.copy() for name, array in rows.items()}
            self.rows |= {n: np.zeros_like(rows[n]) for n in _SUMMED if n in rows}
        ended = stepped & (rows["terminated"] | rows["truncated"])[:, 0].astype(bool)
        told = ended & self._moves
        if told.any():
            for name, array in rows.items():
                self.rows[name][told] = array[told]
            self._pay(told)
        self.is_told |= told
        self.passed += ended & ~self._moves
        self._moves &= ~ended
        self._earned.begin(None, ended)

    def finish(self) -> None:
        """Pay what was earned in episodes that go on."""
        self._pay(self._moves)
        self._earned.begin(None, self._moves)

    def _pay(self, worlds: Array) -> None:
        for name in _SUMMED:
            if name in self.rows:
                self.rows[name][worlds] = self._earned.kept[name][worlds]


def make_rows(
    name: str,
    worlds: int,
    role: str | None,
    agent: str | None,
    others: object,
    keywords: Mapping[str, Any],
) -> RoleRows:
    """Make the rows of one role, or of one agent."""
    if role is None:
        assert agent is not None  # else the rows are those of a simulator
        return EgoRows(name, worlds, agent, others, keywords)
    if agent is not None:
        raise TypeError(
            f"role={role!r} and agent={agent!r} exclude each other: a role has rows for all of its "
            "agents, an agent for itself alone"
        )
    return RoleRows(name, worlds, role, others, keywords)


def make_single_row(
    name: str, role: str | None, agent: str | None, others: object, keywords: Mapping[str, Any]
) -> RoleRows:
    """Make the one row of an agent, or of a role that one agent has, in one world."""
    rows = make_rows(name, 1, role, agent, others, keywords)
    if rows.role.count == 1:
        return rows
    rows.simulator.close()
    count = f"{role}_count"
    known = [field.name for field in read_fields(rows.simulator.instance["parameters"])]
    remedy = f", or pass {count}=1" if count in known else ""
    raise ValueError(
        f"role={role!r} of {rows.simulator.name} has {rows.role.count} agents, gymnasium.Env one: "
        f"use gymnasium.make_vec with role={role!r} or gpu_envs.parallel_env{remedy}"
    )
