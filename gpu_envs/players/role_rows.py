"""One role's rows of a batch: `role=` of `make_vec` and of `gymnasium.make`.

It takes the place of a simulator in `vector` and `single`: it takes the actions of one role's
agents, lets `others` play the rest, and returns only the outputs of that role, by row.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from gpu_envs import errors
from gpu_envs.core import columns, device_arrays, faults, layout, resets, roles, saves
from gpu_envs.core.resets import ResetOptions
from gpu_envs.core.role_actions import RoleActions, RoleReader, to_library
from gpu_envs.core.simulator import Simulator
from gpu_envs.known.outputs import OUTPUTS, Outputs
from gpu_envs.players.other_players import needed, others_of_roles
from gpu_envs.players.player import Seen


def refuse_role_options(others: object, keywords: Mapping[str, Any]) -> None:
    """Refuse arguments that need `role=` or `agent=`, where neither is given."""
    if others is not None:
        raise TypeError("others= needs role= or agent=: without it you control all agents")
    if keywords.get("roles", "padded") != "padded":
        raise ValueError(
            f"roles={keywords['roles']!r} gives rows of different lengths: use role= for "
            "rows of one role, or gpu_envs.batched_parallel_env"
        )


def hidden_outputs(rows: Simulator | RoleRows) -> Collection[str]:
    """Return the names of outputs that are written but not returned."""
    if not isinstance(rows, RoleRows):
        return ()
    return (*rows.hidden, *(() if rows.role.has_mask else ("action_mask",)))


def simulator_of(rows: Simulator | RoleRows) -> Simulator:
    """Return the simulator of rows, which may be that simulator themselves."""
    return rows.simulator if isinstance(rows, RoleRows) else rows


class RoleRows:
    """The rows of one role: its actions go in, its outputs come out.

    Args:
        name: Id of the environment.
        worlds: How many worlds.
        role: Name of the role.
        others: The players of the other roles.
        keywords: Those of `Simulator`.
    """

    def __init__(
        self, name: str, worlds: int, role: str, others: object, keywords: Mapping[str, Any]
    ) -> None:
        read = needed(others)
        self.simulator = simulator = _simulator(name, worlds, read, keywords)
        try:
            self._choose(role, others, keywords.get("first_world", 0))
        except Exception:
            simulator.close()
            raise
        self.agents_per_world = self.role.count
        self.agent_names = list(self.role.agents)
        self.single_observation_space = self.role.observation_space
        self.single_action_space = self.role.action_space
        self.views, self.reward_fields = self.role.views, self.role.reward_fields
        self.measure_fields = self.role.measure_fields
        wanted = layout.checked_names(keywords.get("outputs"))
        self.hidden = () if wanted is None else tuple(n for n in read if n not in wanted)
        self._reader = RoleReader(simulator, self.role, simulator.num_worlds)
        described = simulator.instance["outputs"]
        self._by_agent = [
            n in described and (described[n]["per_agent"] or len(described[n]["shape"]) == 1)
            for n in OUTPUTS
        ]
        self._last: Outputs | None = None  # what the others see next; None: to be asked
        self._changes, self._has_begun = simulator.changes, False
        worlds = simulator.num_worlds
        self._masks = resets.MaskReader(worlds, self.role.count, ("cpu", 0), lambda a: (0, a))

    def _choose(self, role: str, others: object, first_world: int) -> None:
        """Choose who plays, and where their arrays lie."""
        simulator = self.simulator
        self.role = roles.find_role(simulator.roles, role, simulator.name)
        if self.role.count == 0:
            raise ValueError(f"role={role!r}: no agent of {simulator.name} has it here")
        self.others = others_of_roles(simulator, self.role, others, first_world)
        self._lay_out(simulator.roles)

    def _lay_out(self, all_roles: Sequence[roles.Role]) -> None:
        """Plan the parts of outputs and actions, by the names of roles."""
        self._views = {role.name: role.views for role in all_roles}
        self._parts = roles.Parts(self.simulator, given=all_roles)
        self._actions = RoleActions(self.simulator, self.simulator.kinds, all_roles)

    def step_arrays(
        self,
        actions: object,
        flat: bool,
        out: object = None,
        stream: object = None,
        worlds: object = None,
    ) -> Outputs:
        """Run one step, of all worlds or of some, with the actions of the other roles' players."""
        own, stepped = self._read(actions, out, stream, worlds)
        return self._rows(self._play(own, stepped, stream))

    def _read(
        self, actions: object, out: object, stream: object, worlds: object
    ) -> tuple[Any, Any]:
        """Return the actions of this role, and which worlds step, None for all."""
        _refuse_out(out)
        if self.simulator.is_closed:
            self.simulator.check()  # raises
        stepped = None if worlds is None else self._stepped(worlds)
        if self._last is None or self._changes != self.simulator.changes:
            self._last = self._loaded()
        own = self._reader.read(actions)
        if self.simulator.device == "cpu" and self._is_bad(own, stepped):
            # Refused before any player is asked: players count the steps that they played.
            self._write(own)
            self.simulator.step_arrays(self._actions.whole, False, None, stream, stepped)
            raise ValueError(f"actions of role {self.role.name!r} are not in its action space")
        return own, stepped

    def _write(self, own: Any) -> None:
        self._actions.write(self.role.name, own)

    def _play(self, own: Any, stepped: Any, stream: object) -> Outputs:
        """Ask the players, and step."""
        assert self._last is not None  # since `_read`, or a reset
        for name, player in self.others.players.items():
            self._actions.write(name, player(self._seen(name, self._last, stepped)))
        self._write(own)
        self._last = None  # a strict step raises when it is done
        whole = self._actions.whole
        self._last = results = self.simulator.step_arrays(whole, False, None, stream, stepped)
        return results

    def reset_arrays(
        self, seed: object, options: ResetOptions, flat: bool, out: Any = None, stream: Any = None
    ) -> Outputs:
        """Reset as the simulator does; masks are of worlds, or of this role's rows."""
        _refuse_out(out)
        options, worlds = self._chosen(options)
        last = self._last if self._changes == self.simulator.changes else None
        results = self.simulator.reset_arrays(seed, options, False, None, stream)
        if last is not None and worlds is not None:  # the outputs of the other worlds
            for name, player in self.others.players.items():
                player.note(self._parts.part(name, last))
        if seed is None and not self._has_begun:
            seed = self.simulator.np_random_seed or 0
        self._begin(resets.checked_seed(seed, self.simulator.num_worlds), worlds)
        self._last = self._shown(results)
        return self._rows(self._last)

    def _stepped(self, worlds: object) -> Any:
        """Return the mask of a step as a bool per world, in the library of the players."""
        if self.simulator.device != "cpu" and device_arrays.has(worlds):
            return self._masks.by_world(resets.STEP_MASK, worlds)
        return to_library(self._masks.on_host(resets.STEP_MASK, worlds), self.simulator)

    def _is_bad(self, own: Any, stepped: Any) -> bool:
        is_bad = self._reader.out_of_range(own)
        return bool((is_bad if stepped is None else is_bad[stepped]).any())

    def _begin(self, seed: Any, worlds: Any) -> None:
        self.others.begin(seed, worlds)
        self._changes, self._has_begun = self.simulator.changes, True

    def _shown(self, results: Outputs) -> Outputs:
        """Drop the outputs that only a step writes."""
        pairs = zip(self.simulator.layout.outputs, results, strict=True)
        return Outputs._make(
            None if output is None or output.by_a_step else array for output, array in pairs
        )

    def observe_arrays(self, flat: bool, out: object = None, stream: object = None) -> Outputs:
        """Return the observation of this role's rows again."""
        _refuse_out(out)
        self._settle()
        self._last = self._observed()
        return self._rows(self._last)

    def _loaded(self) -> Outputs:
        """Return the outputs of worlds after a load or a change; raise before the first reset."""
        try:
            return self._observed()
        except errors.ResetNeeded:
            faults.refuse_unready()

    def _observed(self) -> Outputs:
        shown = self.simulator.observe_arrays(False)
        self._require_begun()
        self._changes = self.simulator.changes
        return shown

    def _require_begun(self) -> None:
        if not self._has_begun:  # the worlds began without the players
            self._begin(0, None)

    # The state of worlds, with that of the players in them

    def get(self, column: str) -> np.ndarray[Any, Any]:
        """Return a copy of a column of the state, as `Simulator.get`."""
        return self.simulator.get(column)

    def set(self, column: str, values: object, worlds: Sequence[int] | None = None) -> None:
        """Write a column of the state, as `Simulator.set`."""
        self._settle()
        self.simulator.set(column, values, worlds)
        self._last = None

    def save(self, worlds: object = None) -> bytes:
        """Return the state of worlds, and what the players keep of them."""
        saved = self.simulator.save(worlds)
        self._settle()
        self._require_begun()
        kept = self.others.kept(self._numbers(worlds))
        return saves.joined(saved, kept) if kept else saved

    def load(self, data: bytes, worlds: object = None) -> None:
        """Continue from a save, as `Simulator.load`; in one without players they start over."""
        if not isinstance(data, bytes | bytearray | memoryview):
            raise TypeError(f"data must be bytes, got {type(data).__name__}")
        saved, count, kept = saves.split(bytes(data))
        every, chosen = self.simulator.num_worlds, self._numbers(worlds)
        self._settle()
        if not self._has_begun:
            self.others.begin(0, None)
        before = self.others.rows(chosen)
        try:
            # Else the simulator refuses the number of worlds.
            if kept is not None and count in (len(chosen), 1 if worlds is not None else every):
                self.others.check(kept)
                self.others.put(chosen, {role: one.rows for role, one in kept.items()})
            self.simulator.load(saved, worlds)
        except Exception:
            self.others.put(chosen, before)
            raise
        is_chosen = np.zeros(every, np.bool_)
        is_chosen[chosen] = True
        self.others.begin(0, is_chosen, but=kept or ())
        self._last, self._has_begun = None, True

    def copy_worlds(self, src: object, dst: object, *, reseed: bool = False) -> None:
        """Copy worlds over others, as `Simulator.copy_worlds`, and what the players keep."""
        sources, destinations = self.simulator.copied(src, dst)
        self._settle()
        self.simulator.copy_worlds(sources, destinations, reseed=reseed)
        self._require_begun()
        self.others.copy(sources, destinations, reseed)
        self._last = None

    def _numbers(self, worlds: object) -> list[int]:
        every = self.simulator.num_worlds
        named = range(every) if worlds is None else worlds
        return columns.world_numbers(named, "worlds", every)

    def _settle(self) -> None:
        """Let the players note the last step, so that what they keep is that of the worlds now."""
        if self._last is not None and self._changes == self.simulator.changes:
            for name, player in self.others.players.items():
                player.note(self._parts.part(name, self._last))
            self._last = self._shown(self._last)

    @property
    def is_over(self) -> bool:
        """Whether no agent of the only world is active; an absent one shows nowhere else."""
        active = None if self._last is None else self._last.agent_active
        return active is not None and not bool(active.any())

    def _chosen(self, options: Any) -> tuple[dict[str, Any], Any]:
        """Return options with the mask of rows turned into one of worlds, and that mask or None."""
        chosen = dict(resets.checked_options(options))
        named = [key for key in resets.MASKS if chosen.get(key) is not None]
        if len(named) != 1:  # the simulator refuses two of them
            return chosen, None
        worlds = self._masks.on_host(named[0], chosen.pop(named[0]))
        return chosen | {"reset_mask": worlds}, worlds

    def _seen(self, name: str, outputs: Outputs, stepped: Any) -> Seen:
        part = self._parts.part(name, outputs)
        views = self._views[name]
        shown = part.obs if views is None else views.observed(part)
        return Seen(part, shown, part.action_mask, stepped)

    def _own(self, outputs: Outputs) -> Outputs:
        """Return the part of this role, (worlds, n, ...)."""
        return self._parts.part(self.role.name, outputs)

    def _rows(self, outputs: Outputs) -> Outputs:
        return self._by_row(self._own(outputs))

    def _by_row(self, part: Outputs) -> Outputs:
        rows = self.simulator.num_worlds * self.role.count
        flat = Outputs._make(
            array.reshape(rows, *array.shape[2:]) if by_agent and array is not None else array
            for array, by_agent in zip(part, self._by_agent, strict=True)
        )
        return flat._replace(**dict.fromkeys(self.hidden)) if self.hidden else flat


def _simulator(
    name: str, worlds: int, needed: Collection[str], keywords: Mapping[str, Any]
) -> Simulator:
    """Make a simulator that also writes the outputs that players of other roles need."""
    errors.refuse(("roles",), keywords, "one role or agent, whose rows are not padded")
    keywords = {**keywords, "roles": "split"}
    simulator = Simulator(name, worlds, **keywords)
    existing, written = simulator.instance["outputs"], simulator.layout.output
    lacking = [name for name in needed if name in existing and written(name) is None]
    if not lacking:
        return simulator
    simulator.close()
    outputs = [*keywords["outputs"], *lacking]
    return Simulator(name, worlds, **{**keywords, "outputs": outputs})


def _refuse_out(out: object) -> None:
    if out is not None:
        raise ValueError(
            "out= is not possible with role= or agent=: the simulator writes the rows of all roles "
            "together; use batched_parallel_env(..., group='role'), or reuse=True"
        )
