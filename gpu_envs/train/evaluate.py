"""Evaluation: saved policies, one against another, and what they reach.

A policy file holds weights, the choices that shape the networks, and what the environment looked
like; nothing in it is code. `python -m gpu_envs evaluate FILE [--against FILE]` plays it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from gpu_envs import VectorEnv
from gpu_envs.simulator import Simulator
from gpu_envs.train import checkpoint
from gpu_envs.train.config import Config
from gpu_envs.train.distributions import Distribution, of_space
from gpu_envs.train.layers import RowShape
from gpu_envs.train.networks import Policy
from gpu_envs.train.noise import EVALUATION, OPPONENTS, Noise
from gpu_envs.train.opponents import NOBODY
from gpu_envs.train.self_play import groups, role_of_policy

_LOOK = 16  # steps between two looks at whether all episodes are over: a look waits for the device


def outlook(simulator: Simulator) -> dict[str, Any]:
    """Return what a policy has to fit: the fields it sees and the actions it takes."""
    shape = RowShape.of(simulator)
    return {
        "environment": simulator.name,
        "agents": simulator.agents_per_world,
        "observation": dict(zip(shape.names, map(list, shape.shapes), strict=True)),
        "actions": str(simulator.single_action_space),
    }


def save(
    path: Path,
    config: Config,
    simulator: Simulator,
    policies: Mapping[str, Policy],
    facts: Mapping[str, Any],
) -> None:
    """Write a policy file."""
    tree = {
        "kind": "policy",
        "outlook": outlook(simulator),
        "config": config.shaping(),  # no more, or a file would end with an option that goes
        "policies": {name: policy.state_dict() for name, policy in policies.items()},
        **facts,
    }
    checkpoint.save(path, tree)


def read(path: Path) -> dict[str, Any]:
    """Return what a policy file, or a run's checkpoint, holds."""
    tree = checkpoint.load(path)
    if tree.get("kind") not in ("policy", "run"):
        raise checkpoint.CheckpointError(f"{path}: holds no policies of the trainer")
    unknown = tree["config"].keys() - {field.name for field in fields(Config)}
    if unknown:
        raise checkpoint.CheckpointError(
            f"{path}: was saved with options that this gpu_envs does not have "
            f"({', '.join(sorted(unknown))}): use the gpu_envs that saved it"
        )
    return tree


@dataclass
class Team:
    """Policies for all agents of a world."""

    policies: list[Policy]
    of_agent: list[int]  # the number of each agent's policy; NOBODY: acts at random
    facts: dict[str, Any]

    @classmethod
    def load(cls, path: Path, simulator: Simulator) -> Team:
        """Read a policy file, or a run's checkpoint, for an environment like its own."""
        tree = read(path)
        checkpoint.require(path, tree["outlook"], outlook(simulator))
        config, device = Config(**tree["config"]), torch.device(simulator.device)
        actions = of_space(simulator.single_action_space, device)
        team = cls([], [], tree)
        for name, state in policies_of(tree).items():
            own = config.of_role(role_of_policy(config, name))
            policy = Policy(RowShape.of(simulator), actions, own).to(device)
            policy.load_state_dict(state)
            team.policies.append(policy.requires_grad_(False))
        team.of_agent = agents_of(config, simulator.agent_names)
        return team

    @classmethod
    def at_random(cls, simulator: Simulator) -> Team:
        """Return the team without policies."""
        return cls([], [NOBODY] * simulator.agents_per_world, {})

    def together(self) -> Callable[[Any, Any], Any]:
        """Return what answers the observations of all agents of one world at once."""
        return self._answering(slice(None))

    def players(self) -> list[Callable[[Any, Any], Any]]:
        """Return for each agent what answers its observations, one after the other, by itself."""
        return [self._alone(agent) for agent in range(len(self.of_agent))]

    def _alone(self, agent: int) -> Callable[[Any, Any], Any]:
        answer = self._answering(slice(agent, agent + 1))

        def choose(observation: Any, mask: Any) -> Any:
            chosen = answer(np.asarray(observation)[None], None if mask is None else mask[None])[0]
            return chosen if chosen.shape else int(chosen)

        return choose

    def _answering(self, agents: slice) -> Callable[[Any, Any], Any]:
        """Return what answers some agents of one world, as the environment takes it."""
        of_row, noise = (
            torch.tensor(self.of_agent)[agents],
            Noise(0, OPPONENTS, torch.device("cpu")),
        )
        actions, first = self.policies[0].actions, agents.start or 0
        crowd = _Crowd(self.policies, of_row, actions, noise, first)

        def answer(observations: Any, masks: Any) -> Any:
            legal = None if masks is None else torch.as_tensor(masks)
            return crowd(torch.as_tensor(observations), legal).numpy().copy()

        return answer


class _Crowd:
    """Who answers all rows at once: some policies with their memories, and chance.

    Args:
        policies: Who plays.
        of_row: The number of each row's policy; NOBODY acts at random.
        actions: What can be done.
        noise: Where draws come from.
        first_row: Number of the first row among those that draw.
        is_sampled: Draw all actions, instead of taking the likeliest.
    """

    def __init__(
        self,
        policies: Sequence[Policy],
        of_row: Tensor,
        actions: Distribution,
        noise: Noise,
        first_row: int = 0,
        is_sampled: bool = False,
    ) -> None:
        parts = [(policy, (of_row == k).nonzero().squeeze(-1)) for k, policy in enumerate(policies)]
        self.parts = [(policy, at) for policy, at in parts if len(at)]
        self.others = (of_row == NOBODY).nonzero().squeeze(-1)
        self.actions, self.noise, self.first_row = actions, noise, first_row
        self.is_sampled, self.is_drawn = is_sampled, is_sampled or len(self.others) > 0
        self.memories = [
            torch.zeros((len(at), p.memory_size), device=of_row.device) if p.memory_size else None
            for p, at in self.parts
        ]
        shape = (len(of_row), *actions.shape)
        self.action = torch.zeros(shape, dtype=actions.type, device=of_row.device)
        self.step = 0

    @torch.no_grad()
    def __call__(self, obs: Tensor, mask: Tensor | None) -> Tensor:
        """Return the actions of all rows, as the environment takes them, until the next."""
        rows, actions = len(self.action), self.actions
        if self.is_drawn:
            number = torch.tensor(self.step, device=self.action.device)
            drawn = self.noise.uniform(number, 1, self.first_row, rows, actions.draws)[0]
        if len(self.others):
            legal = None if mask is None else mask[self.others]
            self.action[self.others] = actions.uniform(drawn[self.others], legal)
        for k, (policy, at) in enumerate(self.parts):
            legal = None if mask is None else mask[at]
            outputs, _, self.memories[k] = policy(obs[at], legal, self.memories[k])
            if self.is_sampled:
                self.action[at] = actions.sample(outputs, drawn[at])
            else:
                self.action[at] = actions.likeliest(outputs)
        self.step += 1
        return actions.for_env(self.action)


def policies_of(tree: Mapping[str, Any]) -> dict[str, Any]:
    """Return the states of the policies in a policy file or a run's checkpoint."""
    if tree["kind"] == "policy":
        found: dict[str, Any] = tree["policies"]
        return found
    return {learner["name"]: learner["policy"] for learner in tree["state"]["learners"]}


def play(
    env: VectorEnv,
    policies: Sequence[Policy],
    of_row: Tensor,
    *,
    seed: int,
    is_sampled: bool = False,
    first: int = 0,
    watch: Callable[[Tensor], None] | None = None,
) -> tuple[Tensor, Tensor]:
    """Play one episode in every world.

    Args:
        env: The worlds.
        policies: Who plays.
        of_row: The number of each row's policy; NOBODY acts at random.
        seed: Of the worlds, and of the draws.
        is_sampled: Draw actions, instead of taking the likeliest.
        first: Number of the first world, as in `worlds.for_evaluation`.
        watch: Takes the reward of each row, step by step; 0 once its episode is over. If it has a
            `note`, that takes the objectives of rows whose episode ends.

    Returns:
        Return and length of each row's episode, shaped (worlds, agents).
    """
    device = torch.device(env.device)
    actions = policies[0].actions if policies else of_space(env.single_action_space, device)
    noise = Noise(seed, EVALUATION, device)
    crowd = _Crowd(policies, of_row, actions, noise, first * env.agents_per_world, is_sampled)
    obs, infos = env.reset(seed=seed)
    returns = torch.zeros(env.num_envs, device=device)
    lengths = torch.zeros(env.num_envs, dtype=torch.int32, device=device)
    waiting = torch.ones(env.num_envs, dtype=torch.bool, device=device)
    step, note = 0, getattr(watch, "note", None)
    while step % _LOOK or waiting.any():
        obs, reward, _, _, infos = env.step(crowd(obs, infos.get("action_mask")))
        if watch is not None:
            watch(reward.where(waiting, 0))
        over = waiting & infos["_episode_stats"]
        if note is not None and "true_objective" in infos:
            note(infos["true_objective"], over)
        returns = torch.where(over, infos["episode_stats"]["r"], returns)
        lengths = torch.where(over, infos["episode_stats"]["l"], lengths)
        waiting &= ~over
        step += 1
    shape = (env.num_worlds, env.agents_per_world)
    return returns.view(shape), lengths.view(shape)


def agents_of(config: Config, names: Sequence[str]) -> list[int]:
    """Return the number of each agent's policy, NOBODY where it has none."""
    numbers = [NOBODY] * len(names)
    for k, members in enumerate(groups(config.policies, names, config.learn).values()):
        for agent in members:
            numbers[agent] = k
    return numbers


def rows_of(of_agent: Sequence[int], worlds: int, device: str) -> Tensor:
    """Return the number of each row's policy, the same in every world."""
    return torch.tensor(np.tile(of_agent, worlds), device=torch.device(device))
