"""skrl's interface of many agents over many worlds: tensors in and out, on the device.

Environments of one agent, and agents as rows of one batch, need nothing from here: skrl's own
`wrap_env` takes `gpu_envs.VectorEnv`. This is for IPPO and MAPPO, which want agents by name.
"""

from __future__ import annotations

from typing import Any

from gpu_envs import extras
from gpu_envs.batched_parallel import BatchedParallelEnv

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
    begin anew by themselves, so `reset` begins them only once. An agent that has ended before its
    world keeps its place, with zeros.

    Args:
        name: Id of the environment, with or without "gpu_envs/".
        num_envs: How many worlds.
        device: "auto", "cpu", "cuda" or "cuda:<n>".
        **keywords: Those of `BatchedParallelEnv` but `arrays` and `autoreset_mode`, and the
            environment's parameters.
    """

    def __init__(
        self, name: str, num_envs: int = 1, *, device: str = "auto", **keywords: Any
    ) -> None:
        super().__init__(
            BatchedParallelEnv(
                name, num_envs, device=device, arrays="torch", autoreset_mode="SameStep", **keywords
            )
        )
        self._last: tuple[Tensors, dict[str, Any]] | None = None

    def reset(self) -> tuple[Tensors, dict[str, Any]]:
        """Begin all worlds in the first call, from skrl's seed; then return what was seen last."""
        if self._last is None:
            observations, infos = self._env.reset(seed=config.torch.key)
            self._last = self._rows(observations), infos
        return self._last

    def step(self, actions: Tensors) -> tuple[Tensors, Tensors, Tensors, Tensors, dict[str, Any]]:
        """Run one step of every world."""
        shaped = {}
        for agent, action in actions.items():
            space = self.action_spaces[agent]
            shape = (self.num_envs, *space.shape)  # Discrete: (worlds,), where skrl has a column
            shaped[agent] = unflatten_tensorized_space(space, action).detach().reshape(shape)
        observations, rewards, terminated, truncated, infos = self._env.step(shaped)
        self._last = self._rows(observations), infos
        reward, end, cut = (
            {agent: row.reshape(-1, 1) for agent, row in by_agent.items()}
            for by_agent in (rewards, terminated, truncated)
        )
        return self._last[0], reward, end, cut, infos

    def state(self) -> Tensors:
        """Return what the whole world is, the same for all agents, as MAPPO wants it."""
        state = self._env.state().reshape(self.num_envs, -1).float()
        return dict.fromkeys(self.possible_agents, state)

    def render(self, *args: Any, **kwargs: Any) -> None:
        """Draw nothing: trainers call this in every step unless they are headless."""

    def close(self) -> None:
        """Release the simulator."""
        self._env.close()

    def _rows(self, observations: dict[str, Any]) -> Tensors:
        rows = {}
        for agent, seen in observations.items():
            shaped = tensorize_space(self.observation_spaces[agent], seen)
            rows[agent] = flatten_tensorized_space(shaped).float()
        return rows
