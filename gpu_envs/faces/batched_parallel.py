"""The parallel interface over many worlds: dictionaries by agent, or by role, of arrays by world.

Not a `pettingzoo.ParallelEnv`: PettingZoo's contract wants plain truth values and agents that
leave, which a batch cannot have. Names, spaces and numbers are those of `parallel`: world 0 of a
batch is the one world there, for the same seed.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from gpu_envs import errors
from gpu_envs.core import copies, layout, libraries, options
from gpu_envs.core.autoreset import AutoresetMode
from gpu_envs.core.roles import Parts, Role, as_seen
from gpu_envs.core.simulator import Simulator
from gpu_envs.faces.agent_spaces import AgentSpaces
from gpu_envs.faces.infos import at_ends, infos_of, parts_by_name
from gpu_envs.faces.states import States
from gpu_envs.known.outputs import Outputs

Arrays = dict[str, Any]


@options.documented(but=("roles",))
class BatchedParallelEnv(States, AgentSpaces):
    """Many worlds of one environment, by agents.

    All values are arrays whose first axis is the world, in the library and on the device asked
    for, and views of what the simulator wrote: nothing is copied, nothing waits for the device.
    Only with arrays="jax" an agent's part is a copy: JAX's arrays have no views. `agents` never
    shrinks: an agent that has ended before its world keeps its place, with zeros, and
    infos[agent]["agent_active"] is False. Observations stay plain arrays where there is an action
    mask; it is infos[agent]["action_mask"].

    With group="role" every dictionary is by role instead: arrays are (worlds, n, ...), with the
    agents of the role along the second axis (views where they stand beside each other), and spaces
    are those of one agent. `groups` says which agents each key stands for.

    Args:
        name: Id of the environment, with or without "gpu_envs/".
        num_envs: How many worlds.
        group: "agent", or "role".
        (options): Each field of `Options` (core/options.py) is a keyword; `help` lists them.
        **keywords: The environment's own parameters (`python -m gpu_envs info ID`).
    """

    def __init__(
        self, name: str, num_envs: int = 1, *, group: str = "agent", **keywords: Any
    ) -> None:
        self._make_again = partial(type(self), name, num_envs, group=group, **keywords)
        if not isinstance(group, str) or group not in ("agent", "role"):
            raise ValueError(f"group must be 'agent' or 'role', got {group!r}")
        worlds = errors.whole(num_envs, "num_envs", 1, options.WORLD_LIMIT)
        errors.refuse(("roles",), keywords, "an interface in which each has its own space")
        self.simulator = simulator = Simulator(name, worlds, roles="split", **keywords)
        self.name = simulator.name
        self.num_envs = simulator.num_worlds
        self.device = simulator.device
        self.autoreset_mode = simulator.autoreset_mode
        self.metadata = {
            "name": self.name.lower().replace("-v", "_v"),
            "autoreset_mode": self.autoreset_mode,
        }
        self.possible_agents = simulator.named_agents()
        self.agents = self.possible_agents[:]
        self.num_agents = self.max_num_agents = len(self.agents)
        self.group, self.roles = group, simulator.roles
        self.groups: dict[str, tuple[str, ...]] = {agent: (agent,) for agent in self.agents}
        if group == "role":
            self.groups = {role.name: role.agents for role in self.roles}
        self._parts = Parts(simulator, by=group)
        known = {key: role for role in self.roles for key in (role.name, *role.agents)}
        self._role_of = known
        self.observation_spaces = {key: known[key].observation_space for key in self.groups}
        self.action_spaces = {key: known[key].action_space for key in self.groups}
        self._infos = infos_of(simulator.layout, but=("state",))
        self._is_same_step = self.autoreset_mode is AutoresetMode.SAME_STEP
        self._last: Outputs | None = None

    def state(self) -> Any:
        """Return the states, (worlds, S), as the last call wrote them, or as they were changed.

        Where the environment has none, or `outputs` leaves it out: the observations of all agents,
        a copy where their roles have spaces of their own.
        """
        if self._last is None:
            self._last = self._observed()
        if self._last.state is not None:
            return self._last.state
        if isinstance(self._last.obs, dict):
            has_state = bool(self.simulator.instance["state"])
            ask = "add it to outputs=, or " if has_state else ""
            what, instead = "observation='dict' leaves", "observation='flat'"
            if self.simulator.observation == "flat":
                what, instead = "several layers leave", "one layer"
            raise ValueError(
                f"state() of {self.name}: no state was written, and {what} no rows to return "
                f"instead: {ask}use {instead}"
            )
        rows = self.simulator.kinds.observations.rows_by_world(self._last.obs)
        if len(rows) == 1:
            return rows[0]
        library = "jax.numpy" if self.simulator.arrays == "jax" else self.simulator.arrays
        return libraries.require(library).concatenate(rows, 1)

    def reset(
        self,
        *,
        seed: int | Sequence[int] | None = None,
        options: Mapping[str, Any] | None = None,
        out: Mapping[str, Any] | None = None,
        stream: object = None,
    ) -> tuple[Arrays, dict[str, Arrays]]:
        """Begin new episodes in all worlds, or in those of `options["reset_mask"]`.

        Args:
            seed: An int for the batch, or a list with one per world; None continues the random
                streams.
            options: `reset_mask` (bool per world), the environment's own options, and parameters
                that can change, which stay.
            out: As in `step`.
            stream: As in `step`.

        Returns:
            Observations and infos, by agent or by role.
        """
        return self._begun(self.simulator.reset(seed=seed, options=options, out=out, stream=stream))

    def observe(self) -> tuple[Arrays, dict[str, Arrays]]:
        """Return observations and infos again, as `reset` does; of use after a load or a change."""
        return self._begun(self.simulator.observe())

    def _states(self) -> Simulator:
        return self.simulator

    def _take_over(self) -> None:
        self._last = None

    def _begun(self, outputs: Outputs) -> tuple[Arrays, dict[str, Arrays]]:
        self._last = outputs
        parts = self._parts_by_key(outputs)
        infos = {key: self._shown(part, self._infos.always) for key, part in parts.items()}
        return {key: part.obs for key, part in parts.items()}, infos

    def step(
        self,
        actions: Any,
        *,
        out: Mapping[str, Any] | None = None,
        stream: object = None,
        worlds: object = None,
    ) -> tuple[Arrays, Arrays, Arrays, Arrays, dict[str, Arrays]]:
        """Run one step of every world, or of some.

        Args:
            actions: By agent, an array with one per world, or by role, (worlds, n); or one array
                for all, (worlds, agents), which saves stacking them.
            out: Arrays to write into by output name, shaped (worlds, agents, ...); outputs that are
                not named are fresh.
            stream: CUDA stream to enqueue on; default the array library's current one. It waits for
                the current stream first, and that one for it afterwards.
            worlds: Which worlds step, a bool or uint8 per world; None for all. The others stay as
                they are, and their actions may be anything (`Simulator.step`).

        Returns:
            Observations, rewards, terminations, truncations and infos, by agent or by role.
        """
        if isinstance(actions, Mapping):
            if self.simulator.is_closed:
                self.simulator.check()  # raises
            if self.group == "agent":
                actions = self._stacked_by_role(actions)
        outputs = self.simulator.step(actions, out=out, stream=stream, worlds=worlds)
        self._last = outputs
        parts = self._parts_by_key(outputs)
        infos = {key: self._info(part, self._role_of[key]) for key, part in parts.items()}
        obs, reward, terminated, truncated = (
            {key: getattr(part, name) for key, part in parts.items()}
            for name in ("obs", "reward", "terminated", "truncated")
        )
        return obs, reward, terminated, truncated, infos

    def check(self) -> None:
        """Raise for faults in the worlds since the last check."""
        self.simulator.check()

    def close(self) -> None:
        """Release the simulator; a second call does nothing."""
        self.simulator.close()

    def _observed(self) -> Outputs:
        try:
            return self.simulator.observe()
        except errors.ResetNeeded as problem:
            raise errors.ResetNeeded(f"{self.name}: call reset() before state()") from problem

    def _parts_by_key(self, outputs: Outputs) -> dict[str, Outputs]:
        return {
            key: as_seen(self.simulator, self._role_of[key], self._parts.part(key, outputs))
            for key in self.groups
        }

    @staticmethod
    def _shown(part: Outputs, names: Sequence[str]) -> Arrays:
        pairs = ((name, getattr(part, name)) for name in names)
        return {name: array for name, array in pairs if array is not None}  # some have no mask

    def _info(self, part: Outputs, role: Role) -> Arrays:
        info = self._shown(part, self._infos.always)
        if part.episode_return is not None:
            info["episode_stats"] = {"r": part.episode_return, "l": part.episode_length}
            info["_episode_stats"] = part.ended
        for name in self._infos.of_steps:
            info[name] = getattr(part, name)
        ends = at_ends(self._infos.of_ends, functools.partial(getattr, part), role.measure_fields)
        for name, array in ends.items():
            info[name], info[f"_{name}"] = array, part.ended
        if self._is_same_step and part.final_obs is not None:
            info["final_obs"], info["_final_obs"] = part.final_obs, part.ended
        if part.reward_parts is not None:
            info["reward_parts"] = parts_by_name(part.reward_parts, role.reward_fields)
        return info

    def _stacked_by_role(self, actions: Mapping[str, Any]) -> dict[str, Any]:
        if set(actions) != set(self.agents):
            raise ValueError(f"actions must have exactly {self.agents}, got {list(actions)}")
        there = [role for role in self.roles if role.count]
        return {role.name: self._stacked(actions, role.agents, role) for role in there}

    def _stacked(self, actions: Mapping[str, Any], agents: Sequence[str], role: Role) -> Any:
        """Stack the actions of agents into one array of the simulator's library."""
        given = [actions[agent] for agent in agents]
        try:
            if all(hasattr(array, "is_cuda") for array in given):
                return libraries.require("torch").stack(given, 1)
            if self.simulator.arrays == "jax":
                return libraries.require("jax.numpy").stack(given, 1)
            if self.device != "cpu" and all(hasattr(a, "__cuda_array_interface__") for a in given):
                return libraries.require("cupy").stack(given, 1)
            return np.stack([_host(array, role) for array in given], 1)
        except (ValueError, TypeError, RuntimeError) as problem:
            shapes = ", ".join(map(_shape_of, given))
            raise ValueError(
                f"actions must be arrays of one kind, each ({self.num_envs},) or "
                f"({self.num_envs}, k), got {shapes}"
            ) from problem

    def __reduce__(self) -> copies.Recipe:
        """Return a function and its arguments that make another one; refused after a reset."""
        simulator = self.simulator
        return copies.recipe(self, self._make_again, simulator.has_begun, simulator.is_closed)

    def __repr__(self) -> str:
        """Return name, size and device."""
        size = layout.size_in_words(self.num_envs, self.num_agents)
        return f"<BatchedParallelEnv {self.name}: {size} on {self.device}>"


def _shape_of(array: Any) -> str:
    shape = getattr(array, "shape", None)
    return type(array).__name__ if shape is None else str(tuple(shape))


def _host(array: Any, role: Role) -> np.ndarray[Any, Any]:
    """Return integers as those of the action space: int64 and uint64 stacked are float64."""
    host = np.asarray(array)
    kind = role.action_space.dtype
    is_whole = host.dtype.kind in "iu" and np.dtype(kind).kind in "iu"
    return host.astype(kind, copy=False) if is_whole else host


def batched_parallel_env(name: str, num_envs: int = 1, **keywords: Any) -> BatchedParallelEnv:
    """Make many worlds of any environment, by agents.

    Args:
        name: Id of the environment, with or without "gpu_envs/".
        num_envs: How many worlds.
        **keywords: Those of `BatchedParallelEnv` and the environment's parameters.
    """
    return BatchedParallelEnv(name, num_envs, **keywords)
