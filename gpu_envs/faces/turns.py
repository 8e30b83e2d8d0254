"""PettingZoo's turn-by-turn interface (AEC) over one world of a game of turns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pettingzoo
from pettingzoo.utils import parallel_to_aec

from gpu_envs import errors
from gpu_envs.errors import ResetNeeded
from gpu_envs.faces.parallel import ParallelEnv
from gpu_envs.faces.world import World
from gpu_envs.known import registration


class TurnEnv(World, pettingzoo.AECEnv):  # type: ignore[misc]  # PettingZoo is untyped
    """One world of a game in which one agent at a time acts: each step is a move of its player.

    `max_cycles` counts moves. What the arguments are, `World` says; observations, masks and infos
    are those of `ParallelEnv`.
    """

    def __init__(self, name: str, **keywords: Any) -> None:
        super().__init__(name, **keywords)
        if not self.description.get("turns"):
            raise ValueError(
                f"all agents of {self.name} act at once: use gpu_envs.parallel_env, or "
                "gpu_envs.aec_env, which converts it"
            )
        self.metadata["is_parallelizable"] = False  # PettingZoo's conversion makes every agent move
        self.agent_selection = self.possible_agents[0]
        self.rewards: dict[str, float] = {}
        self.terminations: dict[str, bool] = {}
        self.truncations: dict[str, bool] = {}
        self.infos: dict[str, dict[str, Any]] = {}
        self._cumulative_rewards: dict[str, float] = {}

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Begin a new game; seed and options as in `ParallelEnv.reset`."""
        self._begin(seed, options)
        self._start()

    def _take_over(self) -> None:
        super()._take_over()
        if self._rows:
            self._start()

    def _start(self) -> None:
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self._skip_agent_selection = None  # of PettingZoo's _was_dead_step
        self._update_infos()
        self.agent_selection = self._on_turn()

    def observe(self, agent: str) -> Any:
        """Return the observation of an agent, also in the turn of another one."""
        self._require_reset("observe")
        if not isinstance(agent, str) or agent not in self.possible_agents:
            raise ValueError(errors.unknown(f"agent of {self.name}", agent, self.possible_agents))
        return self._observation(self.possible_agents.index(agent))

    def step(self, action: Any) -> None:
        """Make the move of `agent_selection`; None once it has ended."""
        self._require_reset("step")
        agent = self.agent_selection
        if agent in self.agents and (self.terminations[agent] or self.truncations[agent]):
            self._was_dead_step(action)
            return
        if not self.agents:
            raise ResetNeeded(f"{self.name}: no agent is left: call reset()")
        if action is None:
            raise ValueError(f"it is the turn of {agent}: None is only for agents that have ended")
        self._cumulative_rewards[agent] = 0.0
        offenders = self._move({self.possible_agents.index(agent): action})
        live = {self.possible_agents.index(agent): agent for agent in self.agents}
        self.rewards, self.terminations, self.truncations = self._results(live, offenders)
        self._update_infos()
        self.agent_selection = self._on_turn()
        self._accumulate_rewards()
        self._deads_step_first()
        self._check_strict()

    def _update_infos(self) -> None:
        self.infos = {agent: self._info(self.possible_agents.index(agent)) for agent in self.agents}

    def _on_turn(self) -> str:
        return self.possible_agents[int(self._rows["agent_active"].argmax())]


def aec_env(name: str, **keywords: Any) -> Any:
    """Make one world of any environment with PettingZoo's AEC interface.

    A game of turns is a `TurnEnv`; where agents act at once, PettingZoo's own conversion of the
    `ParallelEnv` asks them one after the other.

    Args:
        name: Id of the environment, with or without "gpu_envs/".
        **keywords: Those of `ParallelEnv` and the environment's parameters.
    """
    if registration.find(name).get("turns"):
        return TurnEnv(name, **keywords)
    return parallel_to_aec(ParallelEnv(name, **keywords))
