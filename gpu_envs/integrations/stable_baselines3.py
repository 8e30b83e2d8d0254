"""Stable-Baselines3's `VecEnv` over `gpu_envs.VectorEnv`: NumPy arrays, one row per agent.

Episode statistics and action masks come from the simulator, so `VecMonitor` and `ActionMasker` are
not needed. On a GPU a step waits for it and copies to the host: Stable-Baselines3 takes only NumPy.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import Wrapper

from gpu_envs import errors
from gpu_envs.core import resets
from gpu_envs.core.autoreset import AutoresetMode
from gpu_envs.faces.vector import VectorEnv
from gpu_envs.integrations import padding
from gpu_envs.integrations.host import fetch
from gpu_envs.known import extras

try:
    from stable_baselines3.common.monitor import Monitor
    from stable_baselines3.common.vec_env import VecEnv
    from stable_baselines3.common.vec_env.base_vec_env import (
        VecEnvIndices,
        VecEnvObs,
        VecEnvStepReturn,
    )
except ModuleNotFoundError as problem:
    raise extras.adapter_needs("stable-baselines3", problem) from problem

_MASKS = "action_masks"  # MaskablePPO looks for a method of this name
_NEEDED = ("final_obs", "episode_return", "episode_length")


class SB3VecEnv(VecEnv):
    """A batch of worlds as Stable-Baselines3 and sb3-contrib want it.

    An action that the environment's mask forbids raises `ValueError` in `step`, since the stored
    action would not be the played one. So masked games, and all games of turns, need MaskablePPO.

    Rows of a world are done in one step, when it is over; one whose agent ended earlier shows zeros
    until then (`ends=` of `VectorEnv`).

    `infos` holds the last step's infos of `VectorEnv` (`reward_parts`, `state`, ...), batched;
    what `step` returns has entries only for rows that ended.

    Args:
        name: Id of the environment, with or without "gpu_envs/", or a `VectorEnv` to use.
        num_envs: How many worlds; the batch has a row for each agent of each.
        **keywords: Those of `VectorEnv` and the environment's parameters.
    """

    def __init__(self, name: str | VectorEnv, num_envs: int = 1, **keywords: Any) -> None:
        if isinstance(name, VectorEnv):
            if num_envs != 1 or keywords:
                raise TypeError("a VectorEnv has num_envs and keywords of its own: pass neither")
            self.env = name
        else:
            self.env = VectorEnv(name, num_envs, **keywords)
        _require_usable(self.env)
        self.env.simulator.report_illegal(None)  # every step checks
        self._choices = padding.choices(self.env.simulator)
        self.infos: dict[str, Any] = {}
        self._actions: Any = None
        self._start = time.time()
        spaces = (self.env.single_observation_space, self.env.single_action_space)
        super().__init__(self.env.num_envs, *spaces)
        self._unended: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]

    def reset(self) -> VecEnvObs:
        """Begin new episodes everywhere, from the seed given to `seed` or PPO, once."""
        options = self._options[0]
        if any(other != options for other in self._options):
            raise ValueError("options must be equal for all rows: one call resets all worlds")
        obs, self.infos = self.env.reset(seed=self._seeds[0], options=options)
        self._reset_seeds()
        self._reset_options()
        result: VecEnvObs = self._fetch(obs)[0]
        return result

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Set the seed of the next reset; None draws one."""
        if seed is not None:
            seed = errors.whole(seed, "seed", 0, resets.SEED_LIMIT - 1 - self.num_envs)
        seeds: Sequence[int | None] = super().seed(seed)
        return seeds

    def set_options(self, options: list[dict[str, Any]] | dict[str, Any] | None = None) -> None:
        """Set the options of the next reset: a dict, or a list with an equal one per row."""
        rows = options if isinstance(options, list) else [{} if options is None else options]
        if isinstance(options, list) and len(rows) != self.num_envs:
            raise ValueError(f"options must have {self.num_envs} entries, got {len(rows)}")
        for row in rows:
            resets.checked_options(row)
        super().set_options(options)

    def step_async(self, actions: np.ndarray) -> None:
        """Keep the actions for `step_wait`."""
        self._actions = actions

    def step_wait(self) -> VecEnvStepReturn:
        """Run one step of every world; rows that ended show their next episode already."""
        obs, reward, terminated, truncated, self.infos = self.env.step(self._actions)
        obs, reward, terminated, truncated = self._fetch(obs, reward, terminated, truncated)
        self.env.check()
        dones = terminated | truncated
        infos = self._unended.copy()
        rows = dones.nonzero()[0]
        if len(rows):
            self._describe_ended(infos, rows, (truncated & ~terminated)[rows])
        return obs, reward, dones, infos

    def _describe_ended(
        self, infos: list[dict[str, Any]], rows: np.ndarray[Any, Any], is_cut: np.ndarray[Any, Any]
    ) -> None:
        stats, played = self.infos["episode_stats"], self.infos["_episode_stats"]
        final, *told = self._fetch(self.infos["final_obs"], stats["r"], stats["l"], played)
        if isinstance(final, dict):
            columns = [(key, values[rows]) for key, values in final.items()]
            last = [{key: values[k] for key, values in columns} for k in range(len(rows))]
        else:
            last = list(final[rows])
        elapsed = round(time.time() - self._start, 6)
        ended = (rows, last, is_cut, *(numbers[rows] for numbers in told))
        lists = [part if isinstance(part, list) else part.tolist() for part in ended]
        for row, obs, cut, total, length, has_played in zip(*lists, strict=True):
            infos[row] = {"terminal_observation": obs, "TimeLimit.truncated": cut}
            if has_played:  # an agent that was absent has no episode
                infos[row]["episode"] = {"r": total, "l": length, "t": elapsed}

    def action_masks(self) -> np.ndarray[Any, Any]:
        """Return the legal actions of each row: bool, (rows, actions)."""
        if not self._has_masks():
            raise AttributeError(f"{self.env.simulator.name} has no action mask")
        if not self.infos:
            raise errors.ResetNeeded(
                f"{self.env.simulator.name}: call reset() before action_masks()"
            )
        masks: np.ndarray[Any, Any] = self._fetch(self.infos["action_mask"])[0].astype(bool)
        return padding.filled(masks, self._choices)

    def _has_masks(self) -> bool:
        return padding.has_masks(self.env)

    def _fetch(self, *values: Any) -> list[Any]:
        return fetch(self.env.device, *values)

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """Return an attribute of the `VectorEnv`, or a parameter of each row's world, per row."""
        _check_name(attr_name)
        rows = self._get_indices(indices)
        if attr_name == _MASKS and self._has_masks():
            return [self.action_masks for _ in rows]
        values = self.env.get_attr(attr_name)
        return [values[row] for row in rows]

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """Set an attribute that all rows share, or a parameter; see `VectorEnv.set_attr`."""
        if len(set(self._get_indices(indices))) != self.num_envs:
            raise ValueError(
                f"{attr_name} cannot be set for some rows: they share attributes; "
                "set_parameters(worlds=...) of env sets parameters of some worlds"
            )
        self.env.set_attr(attr_name, value)

    def env_method(
        self,
        method_name: str,
        *method_args: Any,
        indices: VecEnvIndices = None,
        **method_kwargs: Any,
    ) -> list[Any]:
        """Call a method of the `VectorEnv` once and return its result per row."""
        _check_name(method_name)
        rows = list(self._get_indices(indices))
        if method_name == _MASKS:
            return list(self.action_masks()[rows])
        values = self.env.call(method_name, *method_args, **method_kwargs)
        return [values[row] for row in rows]

    def env_is_wrapped(
        self, wrapper_class: type[Wrapper[Any, Any, Any, Any]], indices: VecEnvIndices = None
    ) -> list[bool]:
        """Answer yes for `Monitor`, whose statistics of true episodes the infos have."""
        return [wrapper_class is Monitor for _ in self._get_indices(indices)]

    def get_images(self) -> Sequence[np.ndarray | None]:
        """Return a picture per row, where the environment draws pictures."""
        frames: Any = self.env.render()  # None: draws nothing
        return [] if frames is None else list(frames)

    def close(self) -> None:
        """Release the simulator."""
        self.env.close()


def _check_name(name: object) -> None:
    if not isinstance(name, str):
        what = errors.shown(name)
        raise TypeError(f"name must be a str, got {what} of type {type(name).__name__}")


def _require_usable(env: VectorEnv) -> None:
    simulator = env.simulator
    if simulator.reuse:
        raise ValueError("reuse must be False: Stable-Baselines3 keeps observations over a step")
    if simulator.arrays not in ("numpy", "torch"):
        raise ValueError(f"arrays must be 'numpy' or 'torch', got {simulator.arrays!r}")
    if simulator.autoreset_mode is not AutoresetMode.SAME_STEP:
        mode = simulator.autoreset_mode.value
        raise ValueError(f"autoreset_mode must be 'SameStep', got {mode!r}")
    missing = [name for name in _NEEDED if simulator.layout.output(name) is None]
    if missing:
        raise ValueError(f"outputs must include {', '.join(missing)}")
