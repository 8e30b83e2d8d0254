"""Tianshou's vector environment over `gpu_envs.VectorEnv`: NumPy arrays, one row per agent.

Tianshou resets the rows that ended by their numbers, so the worlds wait for it (Disabled). On a GPU
a step waits for it and copies to the host: Tianshou's buffers are NumPy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import spaces

from gpu_envs import errors
from gpu_envs.core.autoreset import AutoresetMode
from gpu_envs.faces.vector import VectorEnv
from gpu_envs.integrations import padding
from gpu_envs.known import extras

try:
    from tianshou.data import Batch
    from tianshou.env import BaseVectorEnv
except ModuleNotFoundError as problem:
    raise extras.adapter_needs("tianshou", problem) from problem

NDArray = np.ndarray[Any, Any]
Rows = int | Sequence[int] | NDArray | None

_FIXED = ("autoreset_mode", "final_rows", "outputs", "reuse")


class TianshouVectorEnv(BaseVectorEnv):
    """A batch of worlds as Tianshou's collectors want it; `len` counts rows.

    Where the environment has an action mask, an observation is a `Batch` of `obs` and `mask`, which
    Tianshou's value-based algorithms (DQN and its kin) follow.

    A collector that gathers whole episodes steps fewer and fewer rows. A step here moves all
    worlds; those that were left out have to be reset before they are stepped again, as collectors
    do, and raise `RuntimeError` otherwise.

    Args:
        name: Id of the environment, with or without "gpu_envs/".
        num_envs: How many worlds; the batch has a row for each agent of each.
        **keywords: Those of `VectorEnv` and the environment's parameters.
    """

    # Without the base constructor, whose workers hold one environment each.
    def __init__(self, name: str, num_envs: int = 1, **keywords: Any) -> None:
        errors.refuse(_FIXED, keywords, "Tianshou: its collectors decide it")
        self.env = VectorEnv(name, num_envs, autoreset_mode=AutoresetMode.DISABLED, **keywords)
        self.env.simulator.report_illegal(None)  # every step checks
        self.env_num = self.env.num_envs
        self.is_async = self.is_closed = False
        self._seed: int | None = None
        self._is_lost = np.zeros(self.env_num, np.bool_)  # moved by steps that left them out
        self._choices = padding.choices(self.env.simulator)
        space = self.env.single_action_space
        kind = space.dtype if isinstance(space, spaces.Box) else np.int64
        self._idle = np.zeros((self.env_num, *(space.shape or ())), kind)

    def step(self, action: Any, id: Rows = None) -> tuple[Any, NDArray, NDArray, NDArray, NDArray]:
        """Step the rows `id`, in that order; default all.

        Returns:
            Observations, rewards, terminations, truncations and infos of these rows.
        """
        rows = self._numbers(id)
        if self._is_lost[rows].any():
            raise RuntimeError(
                f"reset rows {rows[self._is_lost[rows]].tolist()} before stepping them: their "
                "worlds moved on in a step that left these rows out"
            )
        self._is_lost |= self._left_out(rows)
        actions = self._idle.copy()
        actions[rows] = action
        obs, reward, terminated, truncated, infos = self.env.step(actions)
        reward, terminated, truncated = _host(reward), _host(terminated), _host(truncated)
        self.env.check()
        abandoned = (terminated | truncated) & self._is_lost
        if abandoned.any():  # ended worlds are reset first, or the next step would be a fault
            self.env.reset(options={"reset_mask": abandoned})
        seen = self._observed(obs, infos)[rows]
        return seen, reward[rows], terminated[rows], truncated[rows], _numbered(rows)

    def reset(
        self, env_id: Rows = None, *, seed: int | None = None, options: Any = None
    ) -> tuple[Any, NDArray]:
        """Begin new episodes in the rows `env_id`, default all; their observations and infos.

        Args:
            env_id: Row numbers; all rows of a world or none.
            seed: For the whole batch: worlds differ by themselves. Default that of `seed`, once.
            options: The environment's own options, for this call only, and parameters that can
                change, which stay.
        """
        rows = self._numbers(env_id)
        request = dict(options or {})
        if len(rows) < self.env_num:
            request["reset_mask"] = ~self._left_out(rows)
        elif seed is None:
            seed, self._seed = self._seed, None
        obs, infos = self.env.reset(seed=seed, options=request)
        self._is_lost[rows] = False
        return self._observed(obs, infos)[rows], _numbered(rows)

    def seed(self, seed: int | None = None) -> list[list[int] | None]:
        """Seed the next reset of all rows."""
        self._seed = seed
        return [None if seed is None else [seed]] * self.env_num

    def render(self, **kwargs: Any) -> list[Any]:
        """Draw nothing."""
        return []

    def close(self) -> None:
        """Release the simulator; a second call does nothing."""
        self.env.close()
        self.is_closed = True

    def get_env_attr(self, key: str, id: Rows = None) -> list[Any]:
        """Return an attribute, or a parameter of each row's world; the spaces of a row."""
        rows = self._numbers(id).tolist()
        if key == "action_space":
            return [self.env.single_action_space] * len(rows)
        if key == "observation_space":
            return [self._row_space()] * len(rows)
        values = self.env.get_attr(key)
        return [values[row] for row in rows]

    def set_env_attr(self, key: str, value: Any, id: Rows = None) -> None:
        """Set an attribute that all rows share, or a parameter; see `VectorEnv.set_attr`."""
        if id is not None:
            raise ValueError(f"id must be None: the rows of a batch share {key}")
        self.env.set_attr(key, value)

    def _row_space(self) -> spaces.Space[Any]:
        space, actions = self.env.single_observation_space, self.env.single_action_space
        if not padding.has_masks(self.env):
            return space
        assert isinstance(actions, spaces.Discrete)  # the only ones with masks
        return spaces.Dict({"obs": space, "mask": spaces.MultiBinary(int(actions.n))})

    def _observed(self, obs: Any, infos: dict[str, Any]) -> Any:
        if isinstance(obs, dict):
            rows: Any = Batch({key: _host(field) for key, field in obs.items()})
        else:
            rows = _host(obs)
        mask = infos.get("action_mask")
        if mask is None:
            return rows
        return Batch(obs=rows, mask=padding.filled(_host(mask).astype(np.bool_), self._choices))

    def _numbers(self, rows: Rows) -> NDArray:
        return np.arange(self.env_num) if rows is None else np.atleast_1d(np.asarray(rows))

    def _left_out(self, rows: NDArray) -> NDArray:
        """Mask of the rows that are not in `rows`, which has all rows of a world or none."""
        mask = np.ones(self.env_num, np.bool_)
        mask[rows] = False
        worlds = mask.reshape(self.env.num_worlds, -1)
        if (worlds != worlds[:, :1]).any():
            raise ValueError(
                f"rows must be whole worlds of {self.env.agents_per_world} agents, got "
                f"{rows.tolist()}: collect a multiple of that many episodes, and leave ends= at "
                "'world'"
            )
        return mask


def _host(array: Any) -> NDArray:
    fetched: NDArray = array if isinstance(array, np.ndarray) else array.cpu().numpy()
    return fetched


def _numbered(rows: NDArray) -> NDArray:
    """Infos, which Tianshou keeps per transition: only the entries that it reads."""
    return np.array([{"env_id": row} for row in rows.tolist()], dtype=object)
