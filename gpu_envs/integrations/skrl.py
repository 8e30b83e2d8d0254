"""skrl's interface of many agents over many worlds: tensors in and out, on the device.

Environments of one agent, and agents as rows of one batch, need nothing from here: skrl's own
`wrap_env` takes `gpu_envs.VectorEnv`. This is for IPPO and MAPPO, which want agents by name.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import Space, spaces

from gpu_envs.faces.batched_parallel import BatchedParallelEnv
from gpu_envs.known import extras

try:
    import torch
    from skrl import config
    from skrl.envs.wrappers.torch import MultiAgentEnvWrapper
    from skrl.utils.spaces.torch import (
        flatten_tensorized_space,
        tensorize_space,
        unflatten_tensorized_space,
    )
except ModuleNotFoundError as problem:
    raise extras.adapter_needs("skrl", problem) from problem

Tensors = dict[str, torch.Tensor]


class SkrlMultiAgentEnv(MultiAgentEnvWrapper):
    """Many worlds of one environment by agents, with the shapes that skrl's agents expect.

    Observations and states are float32 rows (worlds, size), rewards and flags (worlds, 1). Worlds
    restart by themselves, so only the first call of `reset` starts them. An agent that has ended
    before its world keeps its place, with zeros.

    With group="role" what skrl takes for an agent is a role: `possible_agents` are roles, and each
    has a row for each of its agents, (worlds x agents, size), so that all of them share one policy
    and one optimiser. A memory of a role has `rows[role]` as its `num_envs`.

    Args:
        name: Id of the environment, with or without "gpu_envs/".
        num_envs: How many worlds.
        device: "auto", "cpu", "cuda" or "cuda:<n>".
        group: "agent", or "role".
        masks: Whether observations of roles that have an action mask are a `Dict` of "action_mask"
            and "observation", flattened as skrl flattens all of them.
        **keywords: Those of `BatchedParallelEnv` but `arrays` and `autoreset_mode`, and the
            environment's parameters.
    """

    def __init__(
        self,
        name: str,
        num_envs: int = 1,
        *,
        device: str = "auto",
        group: str = "agent",
        masks: bool = False,
        **keywords: Any,
    ) -> None:
        fixed = {"device": device, "arrays": "torch", "autoreset_mode": "SameStep", "group": group}
        env = BatchedParallelEnv(name, num_envs, **fixed, **keywords)
        super().__init__(env)
        self._keys = list(env.groups)
        self.rows = {key: env.num_envs * len(agents) for key, agents in env.groups.items()}
        self._seen = dict(env.observation_spaces)
        masked = {key for role in env.roles if role.has_mask for key in (role.name, *role.agents)}
        self._masked = [key for key in self._keys if masks and key in masked]
        for key in self._masked:
            self._seen[key] = _with_mask(env.observation_spaces[key], env.action_spaces[key])
        self._last: tuple[Tensors, dict[str, Any]] | None = None

    @property
    def possible_agents(self) -> list[str]:
        """Names of all agents, or of the roles."""
        return self._keys

    @property
    def agents(self) -> list[str]:
        """Names of all agents, or of the roles; none of them ever leaves."""
        return self._keys

    @property
    def num_agents(self) -> int:
        """How many there are."""
        return len(self._keys)

    @property
    def max_num_agents(self) -> int:
        """How many there are."""
        return len(self._keys)

    @property
    def observation_spaces(self) -> dict[str, Space[Any]]:
        """Space of one row of each agent, or role."""
        return self._seen

    def reset(self) -> tuple[Tensors, dict[str, Any]]:
        """Begin all worlds in the first call, from skrl's seed; then return what was seen last."""
        if self._last is None:
            observations, infos = self._env.reset(seed=config.torch.key)
            self._last = self._rows(observations, infos), infos
        return self._last

    def step(self, actions: Tensors) -> tuple[Tensors, Tensors, Tensors, Tensors, dict[str, Any]]:
        """Run one step of every world."""
        shaped = {}
        for agent, action in actions.items():
            space = self.action_spaces[agent]
            shape = (self.rows[agent], *space.shape)  # Discrete: (rows,), where skrl has a column
            shaped[agent] = unflatten_tensorized_space(space, action).detach().reshape(shape)
        observations, rewards, terminated, truncated, infos = self._env.step(shaped)
        self._last = self._rows(observations, infos), infos
        reward, end, cut = (
            {agent: row.reshape(-1, 1) for agent, row in by_agent.items()}
            for by_agent in (rewards, terminated, truncated)
        )
        return self._last[0], reward, end, cut, infos

    def state(self) -> Tensors:
        """Return the state of the world, equal for all agents, as MAPPO wants it."""
        state = self._env.state().reshape(self.num_envs, -1).float()
        repeats = {key: rows // self.num_envs for key, rows in self.rows.items()}
        return {k: state.repeat_interleave(n, 0) if n > 1 else state for k, n in repeats.items()}

    def render(self, *args: Any, **kwargs: Any) -> None:
        """Draw nothing: trainers call this in every step unless they are headless."""

    def close(self) -> None:
        """Release the simulator."""
        self._env.close()

    def _rows(self, observations: dict[str, Any], infos: dict[str, Any]) -> Tensors:
        rows = {}
        for agent, seen in observations.items():
            if self._env.group == "role":
                seen = _merged(seen)
            if agent in self._masked:
                mask = infos[agent]["action_mask"].reshape(self.rows[agent], -1)
                # A distribution needs a legal action, also where actions are ignored.
                mask = mask | (mask == 0).all(-1, keepdim=True)
                seen = {"action_mask": mask, "observation": seen}
            shaped = tensorize_space(self.observation_spaces[agent], seen)
            rows[agent] = flatten_tensorized_space(shaped).float()
        return rows


def _with_mask(seen: Space[Any], actions: Space[Any]) -> spaces.Dict:
    assert isinstance(actions, spaces.Discrete)  # the only ones with masks
    mask = spaces.Box(0, 1, (int(actions.n),), np.int8)
    return spaces.Dict({"action_mask": mask, "observation": seen})


def _merged(array: Any) -> Any:
    """Return (worlds, n, ...) as rows, (worlds * n, ...)."""
    if isinstance(array, dict):
        return {name: _merged(part) for name, part in array.items()}
    return array.reshape(-1, *array.shape[2:])
