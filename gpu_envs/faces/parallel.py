"""PettingZoo's parallel interface over one world; `batched_parallel` has the one over many."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pettingzoo

from gpu_envs.errors import ResetNeeded
from gpu_envs.faces.world import World

Dicts = tuple[
    dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]
]


class ParallelEnv(World, pettingzoo.ParallelEnv):  # type: ignore[misc]  # PettingZoo is untyped
    """One world in which all agents act at once, exactly as PettingZoo defines it.

    Agents are "player_0", "player_1", ... Where the environment has an action mask, observations
    are {"observation": ..., "action_mask": int8}, and infos[agent]["action_mask"] is the same. An
    agent leaves `agents` in the step in which it ends; all leave when the world does, and with
    ends="world" none before. In games of turns all agents stay, those who wait have their one idle
    action or none and may be left out, and infos[agent]["agent_active"] says who is on turn.

    `max_cycles` is honoured as an argument; assigning the attribute later changes nothing. What
    the arguments are, `World` says.
    """

    def reset(
        self, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Begin a new episode.

        Args:
            seed: A Python int in [0, 2^64); None continues the random stream.
            options: The environment's own options, for this call only, and parameters that can
                change, which stay; others raise a warning.

        Returns:
            Observations and infos by agent.
        """
        self._begin(seed, options)
        return self._seen()

    def observe(self) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Return observations and infos again, as `reset` does; of use after a load or a change."""
        self._require_reset("observe")
        return self._seen()

    def _seen(self) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        numbers = {self._number_of[agent]: agent for agent in self.agents}
        observations = {agent: self._observation(i) for i, agent in numbers.items()}
        return observations, {agent: self._info(i) for i, agent in numbers.items()}

    def step(self, actions: Mapping[str, Any]) -> Dicts:
        """Run one step.

        Args:
            actions: One for each agent in `agents`; who waits for its turn may be left out (in a
                game that gives them an idle action, anything else is illegal), as may an agent that
                has ended and stays (`ends="world"`), and what agents want that have left is
                ignored.

        Returns:
            Observations, rewards, terminations, truncations and infos of the agents that acted.
        """
        if self.simulator.is_closed:
            self.simulator.check()  # raises
        self._require_reset("step")
        if not self.agents:
            if isinstance(actions, Mapping) and not actions:
                return {}, {}, {}, {}, {}  # as PettingZoo's own games and its wrappers have it
            raise ResetNeeded(f"{self.name}: no agent is left: call reset()")
        live = {self._number_of[agent]: agent for agent in self.agents}
        offenders = self._move(self._by_number(actions, live))
        rewards, terminations, truncations = self._results(live, offenders)
        self.agents = [a for a in self.agents if not (terminations[a] or truncations[a])]
        observations = {agent: self._observation(i) for i, agent in live.items()}
        infos = {agent: self._info(i) for i, agent in live.items()}
        self._check_strict()
        return observations, rewards, terminations, truncations, infos

    def _by_number(self, actions: Mapping[str, Any], live: Mapping[int, str]) -> dict[int, Any]:
        if not isinstance(actions, Mapping):
            raise TypeError(f"actions must be a dict by agent, got {type(actions).__name__}")
        for agent in actions:
            if agent not in self.action_spaces:
                raise ValueError(f"actions: no agent {agent!r} among {self.possible_agents}")
        given = {i: a for i, agent in live.items() if (a := actions.get(agent)) is not None}
        active = self._rows.get("agent_active")
        for i in live.keys() - given.keys():
            if active is None or active[i]:
                raise ValueError(f"actions: agent {live[i]!r} is missing")
        return given


def parallel_env(name: str, **keywords: Any) -> ParallelEnv:
    """Make one world of any environment with PettingZoo's parallel interface.

    Args:
        name: Id of the environment, with or without "gpu_envs/".
        **keywords: Those of `ParallelEnv` and the environment's parameters.
    """
    return ParallelEnv(name, **keywords)
