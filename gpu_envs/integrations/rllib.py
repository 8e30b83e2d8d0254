"""RLlib's env runner over `gpu_envs.VectorEnv`: NumPy arrays on the CPU, one row per agent.

RLlib steps any Gymnasium vector environment, so nothing of a step is here; what it cannot know by
itself is: that only NextStep gives it true episodes, that rows are worlds times agents, and which
worlds each of its runners owns. Every row is an episode of its own, of one shared policy. With a
policy for each role, or agent, RLlib's multi-agent runner plays whole worlds: `rllib_roles`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from gpu_envs import errors
from gpu_envs.core.autoreset import AutoresetMode
from gpu_envs.faces.vector import VectorEnv
from gpu_envs.known import extras

try:
    from ray.rllib.algorithms.algorithm_config import AlgorithmConfig
    from ray.rllib.algorithms.ppo import PPOConfig
    from ray.rllib.callbacks.utils import make_callback
    from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
    from ray.rllib.core.rl_module.rl_module import RLModuleSpec
    from ray.rllib.env.multi_agent_env_runner import MultiAgentEnvRunner
    from ray.rllib.env.single_agent_env_runner import SingleAgentEnvRunner
    from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule

    from gpu_envs.integrations import rllib_roles
except ModuleNotFoundError as problem:
    raise extras.adapter_needs("'ray[rllib]'", problem) from problem

_FIXED = ("arrays", "autoreset_mode", "num_envs", "reuse")


def configure(
    config: AlgorithmConfig, name: str, *, policies: str = "shared", **keywords: Any
) -> AlgorithmConfig:
    """Set the configuration of an algorithm up for an environment, and return it.

    The rows of each runner are said by `config.env_runners(num_envs_per_env_runner=...)`: worlds
    times agents, a multiple of the agents of a world. With policies by role or agent it counts
    worlds.

    Args:
        config: Of an algorithm of RLlib's new API stack, such as `PPOConfig()`.
        name: Id of the environment, with or without "gpu_envs/".
        policies: "shared" for one policy of all rows; "role" or "agent" for one of each, with
            spaces of its own, in RLlib's multi-agent episodes. PPO's policies follow action masks.
        **keywords: Those of `VectorEnv` and the environment's parameters. `device` is "cpu" unless
            given, and `outputs` is empty: RLlib keeps statistics itself, and takes every info apart
            row by row.
    """
    errors.refuse(_FIXED, keywords, "RLlib: its env runner decides it")
    given = {"name": name, "device": "cpu", "outputs": (), **keywords}
    if policies != "shared":
        return _configure_agents(config, policies, given)
    config = config.environment(Rows, env_config=given)
    return config.env_runners(env_runner_cls=EnvRunner, gym_env_vectorize_mode="vector_entry_point")


def _configure_agents(
    config: AlgorithmConfig, policies: str, given: dict[str, Any]
) -> AlgorithmConfig:
    if policies not in ("role", "agent"):
        raise ValueError(f"policies must be 'shared', 'role' or 'agent', got {policies!r}")
    probe = rllib_roles.Worlds({**given, "num_envs": 1, "runner": 0})
    roles = [role for role in probe.simulator.roles if role.count]
    probe.close()
    by_agent = {a: r.name if policies == "role" else a for r in roles for a in r.agents}
    config = config.environment(rllib_roles.Worlds, env_config=given)
    config = config.env_runners(env_runner_cls=AgentsRunner)
    config = config.multi_agent(
        policies=set(by_agent.values()),
        policy_mapping_fn=partial(rllib_roles.policy_of, policies=by_agent),
    )
    masked = {by_agent[agent] for role in roles if role.has_mask for agent in role.agents}
    if not masked or not isinstance(config, PPOConfig):
        return config
    modules = {
        policy: RLModuleSpec(module_class=ActionMaskingTorchRLModule)
        if policy in masked
        else RLModuleSpec()
        for policy in by_agent.values()
    }
    return config.rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs=modules))


class AgentsRunner(MultiAgentEnvRunner):
    """RLlib's multi-agent runner, with worlds of its own, all in one batch."""

    def make_env(self) -> None:
        """Make the batch of this runner's worlds."""
        made: rllib_roles.Worlds | None = getattr(self, "env", None)
        if made is not None:
            made.close()
        size = {"num_envs": self.config.num_envs_per_env_runner, "runner": self.worker_index or 0}
        context = {**self.config.env_config, **size}
        self.env = worlds = rllib_roles.Worlds(context)
        self.num_envs = worlds.num_envs
        self._needs_initial_reset = True
        make_callback(
            "on_environment_created",
            callbacks_objects=self._callbacks,
            callbacks_functions=self.config.callbacks_on_environment_created,
            kwargs={
                "env_runner": self,
                "metrics_logger": self.metrics,
                "env": worlds,
                "env_context": context,
            },
        )


class EnvRunner(SingleAgentEnvRunner):
    """RLlib's env runner, with worlds of its own: those after the worlds of runner k - 1.

    RLlib seeds runner k with seed + k, so runner 2 of seed 1 and runner 1 of seed 2 would play the
    same worlds: runs of neighbouring seeds would not be independent. The creator alone cannot
    prevent it: for a batch RLlib hands it a plain dictionary, without the runner's number.
    """

    def make_env(self) -> None:
        """Make the environment, with the runner's number among its settings."""
        given = self.config.env_config
        self.config.env_config = {**given, "runner": self.worker_index or 0}
        try:
            super().make_env()
        finally:
            self.config.env_config = given


class Rows(VectorEnv):
    """The worlds of one runner, where `num_envs` asks for rows, as RLlib counts.

    Args:
        env_config: `name`, `num_envs`, the number of the `runner`, and the keywords of `VectorEnv`.
    """

    def __init__(self, env_config: Mapping[str, Any]) -> None:
        keywords = {"first_world": 0, **env_config}
        name, rows, runner = (keywords.pop(key, None) for key in ("name", "num_envs", "runner"))
        if rows is None or runner is None:
            raise ValueError(
                "RLlib must make this environment with gpu_envs.integrations.rllib.EnvRunner and "
                "gym_env_vectorize_mode='vector_entry_point': use configure()"
            )
        keywords |= {"arrays": "numpy", "autoreset_mode": AutoresetMode.NEXT_STEP}
        worlds = _worlds(name, rows, keywords)
        keywords["first_world"] += runner * worlds
        super().__init__(name, worlds, **keywords)


def _worlds(name: str, rows: int, keywords: Mapping[str, Any]) -> int:
    """Return how many worlds have `rows` rows; parameters decide how many agents a world has."""
    probe = VectorEnv(name, 1, **keywords)
    agents = probe.agents_per_world
    counts = {each.choices for each in probe.simulator.roles if each.count}
    probe.close()
    if probe.role is None and len(counts) > 1:
        raise ValueError(
            f"roles of {name} have different actions, and RLlib's shared policy ignores masks: "
            "use configure(..., policies='role'), or role= for the rows of one role"
        )
    if rows % agents:
        raise ValueError(
            f"num_envs_per_env_runner must be a multiple of {agents}, the agents in a world of "
            f"{name}, got {rows}"
        )
    return rows // agents
