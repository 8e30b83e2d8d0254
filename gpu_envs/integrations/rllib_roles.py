"""Many worlds by agents for RLlib's multi-agent runner, in one batch: dictionaries by agent.

RLlib's own batches of multi-agent environments are single ones side by side, each seeded with a
number more: world 2 of runner 1 would be world 1 of runner 2. Here one simulator has all worlds of
a runner, and a step of RLlib's is a step of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import Space, spaces
from ray.rllib.env.multi_agent_env import MultiAgentEnv
from ray.rllib.env.vector.vector_multi_agent_env import VectorMultiAgentEnv

from gpu_envs import errors
from gpu_envs.core.autoreset import AutoresetMode
from gpu_envs.core.roles import Parts, Role, as_seen
from gpu_envs.core.simulator import Simulator
from gpu_envs.known.outputs import Outputs

ByAgent = dict[str, Any]
SEEN, MASK = "observations", "action_mask"  # as RLlib's module for masks reads them
_ALL = "__all__"


class OneWorld(MultiAgentEnv):
    """The part of a single environment of a batch that RLlib reads: its agents and spaces."""

    def __init__(self, observations: Mapping[str, Any], actions: Mapping[str, Any]) -> None:
        self.possible_agents = self.agents = list(observations)
        self.observation_spaces, self.action_spaces = dict(observations), dict(actions)
        super().__init__()


class Worlds(VectorMultiAgentEnv):
    """The worlds of one runner, by agents.

    An agent has an observation while it takes part; in games of turns when it is its turn.
    Where its role has an action mask, the observation is a dictionary of "observations" and
    "action_mask". A world that is over begins a new episode in the next step.

    Args:
        env_config: `name`, `num_envs` worlds, the number of the `runner`, and the keywords of
            `Simulator`.
    """

    def __init__(self, env_config: Mapping[str, Any]) -> None:
        super().__init__()
        keywords = {"first_world": 0, **env_config}
        name, worlds, runner = (keywords.pop(key, None) for key in ("name", "num_envs", "runner"))
        if worlds is None or runner is None:
            raise ValueError(
                "RLlib must make this environment with gpu_envs.integrations.rllib.AgentsRunner: "
                "use configure(..., policies='role')"
            )
        keywords["first_world"] += runner * worlds
        self.simulator = simulator = _simulator(name, worlds, keywords)
        self.num_envs = worlds
        self.metadata = {"autoreset_mode": AutoresetMode.NEXT_STEP}
        self._roles = [role for role in simulator.roles if role.count]
        self._parts = Parts(simulator)
        simulator.named_agents()  # raises where there are too many to name
        self.single_observation_spaces = {a: _seen(r) for r in self._roles for a in r.agents}
        self.single_action_spaces = {a: r.action_space for r in self._roles for a in r.agents}
        self.single_observation_space = spaces.Dict(self.single_observation_spaces)
        self.single_action_space = spaces.Dict(self.single_action_spaces)
        world = OneWorld(self.single_observation_spaces, self.single_action_spaces)
        self.envs = [world] * worlds
        self._has_turns = bool(simulator.instance["turns"])
        self._is_over = np.zeros(worlds, np.bool_)
        self._left = np.zeros((worlds, simulator.agents_per_world), np.bool_)
        self._idle = {role.name: _idle(role, worlds) for role in self._roles}

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[list[ByAgent], list[ByAgent]]:
        """Begin new episodes in all worlds."""
        outputs = self.simulator.reset(seed=seed, options=options)
        self._is_over[:], self._left[:] = False, ~self._there(outputs)
        return self._observed(outputs, self._acting(outputs)), self._nothing()

    def step(self, actions: Sequence[Mapping[str, Any]]) -> tuple[list[ByAgent], ...]:
        """Run one step of every world; those that are over begin a new episode."""
        chosen = {}
        for role in self._roles:
            array = self._idle[role.name].copy()
            for world, of_world in enumerate(actions):
                for k, agent in enumerate(role.agents):
                    if agent in of_world:
                        array[world, k] = of_world[agent]
            chosen[role.name] = array
        outputs = self.simulator.step(chosen)
        began, were_there = self._is_over, ~self._left
        ended = outputs.terminated | outputs.truncated
        self._left |= ended
        self._left[began] = ~self._there(outputs)[began]
        were_there[began] = ~self._left[began]
        self._is_over = self._left.all(1) & ~began
        last = ended | (self._is_over[:, None] & were_there)  # also of agents that wait for a turn
        observed = self._observed(outputs, self._acting(outputs) | (last & were_there))
        rewards = self._by_agent(outputs.reward, were_there, float)
        return observed, rewards, *self._flags(outputs, were_there), self._nothing()

    def close_extras(self, **kwargs: Any) -> None:
        """Release the simulator."""
        self.simulator.close()

    def _acting(self, outputs: Outputs) -> Any:
        """Return which agents act in the next step: bool, (worlds, agents)."""
        active = outputs.agent_active
        return np.ones_like(self._left) if active is None else active

    def _there(self, outputs: Outputs) -> Any:
        """Return which agents take part in an episode that has just begun."""
        return np.ones_like(self._left) if self._has_turns else self._acting(outputs)

    def _flags(self, outputs: Outputs, there: Any) -> tuple[list[ByAgent], list[ByAgent]]:
        """Return which agents are done.

        RLlib treats a world as terminated if all agents are named as done, even if they were
        truncated: then only "__all__" is set.
        """
        is_cut = self._is_over & outputs.truncated.any(1)
        truncated = outputs.truncated & ~self._is_over[:, None]
        flags = []
        for said, whole in (
            (outputs.terminated, self._is_over & ~is_cut),
            (truncated, is_cut),
        ):
            by_agent = self._by_agent(said, said & there, bool)
            for one, is_whole in zip(by_agent, whole.tolist(), strict=True):
                one[_ALL] = is_whole
            flags.append(by_agent)
        return flags[0], flags[1]

    def _observed(self, outputs: Outputs, seen: Any) -> list[ByAgent]:
        observed: list[ByAgent] = self._nothing()
        for role in self._roles:
            part = as_seen(self.simulator, role, self._parts.part(role.name, outputs))
            if part.action_mask is not None:  # agents that wait for a turn may have one action
                self._idle[role.name] = part.action_mask.argmax(-1)
            for world, k in np.argwhere(seen[:, role.at]).tolist():
                row = _row(part.obs, world, k)
                if part.action_mask is not None:
                    row = {SEEN: row, MASK: _mask(part.action_mask[world, k])}
                observed[world][role.agents[k]] = row
        return observed

    def _by_agent(self, array: Any, chosen: Any, kind: type) -> list[ByAgent]:
        found: list[ByAgent] = self._nothing()
        for role in self._roles:
            part, here = array[:, role.at], chosen[:, role.at]
            for world, k in np.argwhere(here).tolist():
                found[world][role.agents[k]] = kind(part[world, k])
        return found

    def _nothing(self) -> list[ByAgent]:
        return [{} for _ in range(self.num_envs)]


def policy_of(agent: str, episode: Any = None, *, policies: Mapping[str, str], **_: Any) -> str:
    """Return the policy of an agent, as RLlib's `policy_mapping_fn` does."""
    return policies[agent]


def _simulator(name: str, worlds: int, keywords: Mapping[str, Any]) -> Simulator:
    why = "RLlib: use policies='role'"
    errors.refuse(("role", "others", "roles"), keywords, why)
    wanted = {"arrays": "numpy", "autoreset_mode": AutoresetMode.NEXT_STEP, **keywords}
    wanted["roles"] = "split"
    simulator = Simulator(name, worlds, **wanted)
    needed = [n for n in ("action_mask", "agent_active") if n in simulator.instance["outputs"]]
    if all(simulator.layout.output(n) is not None for n in needed):
        return simulator
    simulator.close()
    return Simulator(name, worlds, **{**wanted, "outputs": [*wanted["outputs"], *needed]})


def _seen(role: Role) -> Space[Any]:
    if not role.has_mask:
        return role.observation_space
    mask = spaces.Box(0, 1, (role.choices,), np.float32)
    return spaces.Dict({MASK: mask, SEEN: role.observation_space})


def _mask(mask: Any) -> Any:
    """Return a mask in floats; one that allows nothing, where nothing matters, allows all."""
    return (mask if mask.any() else np.ones_like(mask)).astype(np.float32)


def _row(batch: Any, world: int, k: int) -> Any:
    if isinstance(batch, dict):
        return {name: part[world, k].copy() for name, part in batch.items()}
    return batch[world, k].copy()


def _idle(role: Role, worlds: int) -> np.ndarray[Any, Any]:
    """Return actions for agents without a choice, which are ignored."""
    space = role.action_space
    row = np.zeros(space.shape or (), space.dtype)
    if isinstance(space, spaces.Box):
        row = np.clip(row, space.low, space.high)
    idle: np.ndarray[Any, Any] = np.broadcast_to(row, (worlds, role.count, *row.shape)).copy()
    return idle
