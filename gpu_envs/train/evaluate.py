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
from gpu_envs.train.distributions import of_space
from gpu_envs.train.networks import Policy, RowShape
from gpu_envs.train.noise import EVALUATION, OPPONENTS, Noise
from gpu_envs.train.opponents import NOBODY, RandomPlayer
from gpu_envs.train.self_play import groups

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
        "config": config.facts(),
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
        for what, expected in outlook(simulator).items():
            if tree["outlook"][what] != expected:
                raise checkpoint.mismatch(path, what, tree["outlook"][what], expected)
        config, device = Config(**tree["config"]), torch.device(simulator.device)
        actions = of_space(simulator.single_action_space, device)
        team = cls([], [], tree)
        for state in policies_of(tree).values():
            policy = Policy(RowShape.of(simulator), actions, config).to(device)
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
        return _Together(self)

    def players(self) -> list[Callable[[Any, Any], Any]]:
        """Return for each agent what answers its observations, one after the other, by itself."""
        actions = self.policies[0].actions
        return [
            RandomPlayer(actions, agent) if k == NOBODY else _Player(self.policies[k])
            for agent, k in enumerate(self.of_agent)
        ]


class _Together:
    """All agents of one world, with their memories."""

    def __init__(self, team: Team) -> None:
        of_row = torch.tensor(team.of_agent)
        self.rows = [
            (policy, (of_row == k).nonzero().squeeze(-1)) for k, policy in enumerate(team.policies)
        ]
        self.others = (of_row == NOBODY).nonzero().squeeze(-1)
        self.actions, self.step, self.count = team.policies[0].actions, 0, len(of_row)
        self.noise = Noise(0, OPPONENTS, torch.device("cpu"))
        self.memories = [
            torch.zeros((len(at), p.memory_size)) if p.memory_size else None for p, at in self.rows
        ]

    @torch.no_grad()
    def __call__(self, observations: Any, mask: Any) -> Any:
        """Return the likeliest actions, as the environment takes them."""
        obs, legal = torch.as_tensor(observations), None if mask is None else torch.as_tensor(mask)
        action = torch.zeros((self.count, *self.actions.shape), dtype=self.actions.type)
        if len(self.others):
            number = torch.tensor(self.step)
            drawn = self.noise.uniform(number, 1, 0, self.count, self.actions.draws)[0]
            allowed = None if legal is None else legal[self.others]
            action[self.others] = self.actions.uniform(drawn[self.others], allowed)
        for k, (policy, at) in enumerate(self.rows):
            allowed = None if legal is None else legal[at]
            outputs, _, self.memories[k] = policy(obs[at], allowed, self.memories[k])
            action[at] = self.actions.likeliest(outputs)
        self.step += 1
        return self.actions.for_env(action).numpy()


class _Player:
    """One agent of one world, with its memory."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.memory = torch.zeros((1, policy.memory_size)) if policy.memory_size else None

    @torch.no_grad()
    def __call__(self, observation: Any, mask: Any) -> Any:
        """Return the likeliest action, as the environment takes it."""
        legal = None if mask is None else torch.as_tensor(mask)[None]
        obs = torch.as_tensor(observation)[None]
        outputs, _, self.memory = self.policy(obs, legal, self.memory)
        actions = self.policy.actions
        chosen = actions.for_env(actions.likeliest(outputs))[0].numpy()
        return chosen if actions.shape else int(chosen)


def policies_of(tree: Mapping[str, Any]) -> dict[str, Any]:
    """Return the states of the policies in a policy file or a run's checkpoint."""
    if tree["kind"] == "policy":
        found: dict[str, Any] = tree["policies"]
        return found
    return {learner["name"]: learner["policy"] for learner in tree["state"]["learners"]}


@torch.no_grad()
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
        watch: Takes the reward of each row, step by step; worlds that have ended go on.

    Returns:
        Return and length of each row's episode, shaped (worlds, agents).
    """
    device, rows = torch.device(env.device), env.num_envs
    first_row = first * env.agents_per_world
    obs, infos = env.reset(seed=seed)
    returns = torch.zeros(rows, device=device)
    lengths = torch.zeros(rows, dtype=torch.int32, device=device)
    waiting = torch.ones(rows, dtype=torch.bool, device=device)
    actions = policies[0].actions if policies else of_space(env.single_action_space, device)
    noise = Noise(seed, EVALUATION, device)
    parts = [(p, (of_row == k).nonzero().squeeze(-1)) for k, p in enumerate(policies)]
    parts = [(policy, at) for policy, at in parts if len(at)]
    others = (of_row == NOBODY).nonzero().squeeze(-1)
    is_drawn = is_sampled or len(others) > 0
    memories: list[Tensor | None] = [
        torch.zeros((len(at), p.memory_size), device=device) if p.memory_size else None
        for p, at in parts
    ]
    action = torch.zeros((rows, *actions.shape), dtype=actions.type, device=device)
    step = 0
    while step % _LOOK or waiting.any():
        mask = infos.get("action_mask")
        if is_drawn:
            number = torch.tensor(step, device=device)
            drawn = noise.uniform(number, 1, first_row, rows, actions.draws)[0]
        if len(others):
            action[others] = actions.uniform(drawn[others], None if mask is None else mask[others])
        for k, (policy, at) in enumerate(parts):
            legal = None if mask is None else mask[at]
            outputs, _, memories[k] = policy(obs[at], legal, memories[k])
            if is_sampled:
                action[at] = actions.sample(outputs, drawn[at])
            else:
                action[at] = actions.likeliest(outputs)
        obs, reward, _, _, infos = env.step(actions.for_env(action))
        if watch is not None:
            watch(reward)
        over = waiting & infos["_episode_stats"]
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
