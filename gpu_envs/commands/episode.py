"""One episode with human players: choices of the other agents, rewards and the end."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from gpu_envs.faces.parallel import ParallelEnv

Choose = Callable[[str, Any, Any], Any]  # agent, observation, action mask or None -> action


class Episode:
    """A world after its reset, and the scores of its agents."""

    def __init__(self, env: ParallelEnv, choose: Choose) -> None:
        self.env, self.choose = env, choose
        self.scores = dict.fromkeys(env.possible_agents, 0.0)
        self.steps = 0
        self.objectives: dict[str, float] = {}  # of agents that have ended
        self.observations: dict[str, Any] = {}
        self.infos: dict[str, dict[str, Any]] = {}
        self._is_cut = False

    def begin(self, seed: int | None, options: Mapping[str, Any] | None) -> None:
        """Reset the world; refuse one whose tables are too small."""
        self.observations, self.infos = self.env.reset(seed=seed, options=options)
        self.env.simulator.check()

    def chosen(self, agent: str) -> Any:
        """Return the action of an agent that is not played by hand."""
        mask = self.infos[agent].get("action_mask")
        return self.choose(agent, seen(self.observations[agent]), mask)

    def step(self, actions: Mapping[str, Any]) -> dict[str, float]:
        """Run a step and return its rewards."""
        results = self.env.step(actions)
        self.observations, rewards, terminations, truncations, self.infos = results
        self.steps += 1
        for agent, reward in rewards.items():
            self.scores[agent] += reward
            if "true_objective" in self.infos[agent]:
                self.objectives[agent] = self.infos[agent]["true_objective"]
        self._is_cut = any(truncations.values()) and not any(terminations.values())
        return rewards

    def ending(self) -> str:
        """Return how it has ended."""
        return "cut short" if self._is_cut else "over"

    def outcome(self, people: Collection[str]) -> str:
        """Return the objective of the people as ", solved"; "" where the environment has none."""
        reached = [self.objectives[agent] for agent in people if agent in self.objectives]
        if not reached:
            return ""
        if all(objective in (0, 1) for objective in reached):
            return ", solved" if all(reached) else ", not solved"
        return f", true objective {sum(reached) / len(reached):g}"


def seen(observation: Any) -> Any:
    """Return an observation without its mask."""
    has_mask = isinstance(observation, dict) and "action_mask" in observation
    return observation["observation"] if has_mask else observation
