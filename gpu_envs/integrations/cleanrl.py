"""Batches of worlds with the infos of Gymnasium 0.29, which CleanRL's scripts read.

Gymnasium 1.0 renamed and reshaped them. This is for scripts that keep their loop; one that works on
device tensors reads the infos of `gpu_envs.VectorEnv` itself.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from gpu_envs.faces import vector
from gpu_envs.integrations.host import fetch

_NEWER = ("final_obs", "final_info", "episode_stats")


class VectorEnv(vector.VectorEnv):
    """A `gpu_envs.VectorEnv` that returns NumPy arrays, and infos of ended rows as in 0.29.

    Then infos hold `final_observation`, an object array of last observations or None,
    `final_info`, one of `{"episode": {"r", "l", "t"}}` or None, and their masks with a leading
    underscore.

    An action that the environment's mask forbids raises `ValueError`.

    Args:
        name: Id of the environment, with or without "gpu_envs/".
        num_envs: How many worlds; they must have one agent, for a row each.
        **keywords: Those of `gpu_envs.VectorEnv` but `autoreset_mode`, and the environment's
            parameters.
    """

    def __init__(self, name: str, num_envs: int = 1, **keywords: Any) -> None:
        super().__init__(name, num_envs, autoreset_mode="SameStep", **keywords)
        if self.agents_per_world != 1:
            agents = self.agents_per_world
            self.close()
            raise ValueError(f"CleanRL needs one agent per world, {name} has {agents}")
        self.simulator.report_illegal(None)  # every step checks
        self._start = time.perf_counter()

    def reset(self, **keywords: Any) -> tuple[Any, dict[str, Any]]:
        """Begin new episodes; arguments as in `gpu_envs.VectorEnv.reset`."""
        obs, infos = super().reset(**keywords)
        obs, infos = fetch(self.device, obs, infos)
        return obs, infos

    def step(
        self,
        actions: Any,
        *,
        out: Mapping[str, Any] | None = None,
        stream: object = None,
        worlds: object = None,
    ) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Run one step of every world, or of some."""
        results = super().step(actions, out=out, stream=stream, worlds=worlds)
        *arrays, infos = fetch(self.device, *results)
        self.check()
        obs, reward, terminated, truncated = arrays
        stats, ended = infos["episode_stats"], infos["_episode_stats"]
        kept = {key: value for key, value in infos.items() if key.lstrip("_") not in _NEWER}
        if ended.any():
            kept |= self._ended(infos["final_obs"], stats, ended)
        return obs, reward, terminated, truncated, kept

    def _ended(
        self, last: Any, stats: dict[str, Any], ended: np.ndarray[Any, Any]
    ) -> dict[str, Any]:
        observations = np.full(self.num_envs, None, dtype=object)
        infos = observations.copy()
        elapsed = np.array([round(time.perf_counter() - self._start, 6)], np.float32)
        for row in ended.nonzero()[0].tolist():
            observations[row] = _row(last, row)
            numbers = {key: stats[key][row : row + 1] for key in ("r", "l")}
            infos[row] = {"episode": numbers | {"t": elapsed}}
        return {
            "final_observation": observations,
            "_final_observation": ended,
            "final_info": infos,
            "_final_info": ended,
        }


def _row(batch: Any, row: int) -> Any:
    if isinstance(batch, dict):
        return {key: values[row] for key, values in batch.items()}
    return batch[row]
