"""RLlib's env runner over `gpu_envs.VectorEnv`: NumPy arrays on the CPU, one row per agent.

RLlib steps any Gymnasium vector environment, so nothing of a step is here; what it cannot know by
itself is: that only NextStep gives it true episodes, that rows are worlds times agents, and which
worlds each of its runners owns. Every row is an episode of its own, of one shared policy.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpu_envs import errors, extras
from gpu_envs.autoreset import AutoresetMode
from gpu_envs.vector import VectorEnv

try:
    from ray.rllib.algorithms.algorithm_config import AlgorithmConfig
    from ray.rllib.env.single_agent_env_runner import SingleAgentEnvRunner
except ModuleNotFoundError as problem:
    raise extras.adapter_needs("'ray[rllib]'", problem) from problem

_FIXED = ("arrays", "autoreset_mode", "num_envs", "reuse")


def configure(config: AlgorithmConfig, name: str, **keywords: Any) -> AlgorithmConfig:
    """Set the configuration of an algorithm up for an environment, and return it.

    The rows of each runner are said by `config.env_runners(num_envs_per_env_runner=...)`: worlds
    times agents, a multiple of the agents of a world.

    Args:
        config: Of an algorithm of RLlib's new API stack, such as `PPOConfig()`.
        name: Id of the environment, with or without "gpu_envs/".
        **keywords: Those of `VectorEnv` and the environment's parameters. `device` is "cpu" unless
            given, and `outputs` is empty: RLlib keeps statistics itself, and takes every info apart
            row by row.
    """
    errors.refuse(_FIXED, keywords, "RLlib: its env runner decides it")
    given = {"name": name, "device": "cpu", "outputs": (), **keywords}
    config = config.environment(Rows, env_config=given)
    return config.env_runners(env_runner_cls=EnvRunner, gym_env_vectorize_mode="vector_entry_point")


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
                "RLlib has to make this environment by gpu_envs.integrations.rllib.EnvRunner with "
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
    probe.close()
    if rows % agents:
        raise ValueError(
            f"num_envs_per_env_runner must be a multiple of {agents}, the agents in a world of "
            f"{name}, got {rows}"
        )
    return rows // agents
