"""Evaluation: saved policies, one against another, and what they reach.

A policy file holds weights, the choices that shape the networks, and what the environment looked
like; nothing in it is code. `python -m gpu_envs evaluate FILE [--against FILE]` plays it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from gpu_envs import registration
from gpu_envs.simulator import Simulator
from gpu_envs.split import Split
from gpu_envs.train import checkpoint, kinds
from gpu_envs.train.config import Config
from gpu_envs.train.distributions import Distribution, of_space
from gpu_envs.train.kinds import KINDS_APART, Kind
from gpu_envs.train.layers import RowShape
from gpu_envs.train.networks import Policy
from gpu_envs.train.noise import EVALUATION, OPPONENTS, Noise
from gpu_envs.train.opponents import NOBODY
from gpu_envs.train.self_play import groups, role_of_policy
from gpu_envs.train.worlds import Worlds

_LOOK = 16  # steps between two looks at whether all episodes are over: a look waits for the device


class OutOfTime(Exception):
    """Not all episodes were over in the time that they may take."""


def outlook(simulator: Simulator) -> dict[str, Any]:
    """Return what a policy has to fit: the fields it sees and the actions it takes."""
    facts = {"environment": simulator.name, "agents": simulator.agents_per_world}
    found = kinds.of(simulator, torch.device("cpu"))
    seen = [{"observation": _fields_of(kind.shape), "actions": str(kind.space)} for kind in found]
    if not kinds.has_own_tables(simulator):
        return facts | seen[0]
    return facts | {
        "roles": {
            kind.name: {"agents": kind.count, **own} for kind, own in zip(found, seen, strict=True)
        }
    }


def _fields_of(shape: RowShape) -> dict[str, list[int]]:
    return dict(zip(shape.names, map(list, shape.shapes), strict=True))


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
    checkpoint.require_finite(path, policies_of(tree), "policy")
    return tree


def require_alike(path: Path, tree: Mapping[str, Any], simulator: Simulator) -> None:
    """Refuse policies that do not fit a simulator; the message names parameters that differ."""
    try:
        checkpoint.require(path, tree["outlook"], outlook(simulator))
    except checkpoint.CheckpointError as problem:
        config = tree["config"]
        trained, here = _differing(config["parameters"], simulator)
        if config["env"] != simulator.name or not trained:
            raise
        raise checkpoint.CheckpointError(
            f"{path}: was trained with {trained}, this environment has {here}; a policy plays "
            f"only what it was trained for ({str(problem).partition(': ')[2]})"
        ) from problem


def _differing(trained: Mapping[str, Any], simulator: Simulator) -> tuple[str, str]:
    """Return in words the parameters of a training that a simulator has otherwise; "" for none."""
    described = registration.find(simulator.name)["parameters"]
    defaults = {field["name"]: field["default"] for field in described}
    pairs = [(n, trained.get(n, defaults.get(n)), v) for n, v in simulator.parameters.items()]
    changed = [(name, before, now) for name, before, now in pairs if before != now]
    before = ", ".join(f"{name}={value!r}" for name, value, _ in changed)
    return before, ", ".join(f"{name}={value!r}" for name, _, value in changed)


@dataclass
class Team:
    """Policies for all agents of a world."""

    policies: list[Policy]
    of_agent: list[int]  # the number of each agent's policy; NOBODY: acts at random
    facts: dict[str, Any]
    kinds: Sequence[Kind] = ()  # of agents; empty where they are all one
    actions: Distribution | None = None  # of all agents, where there are neither kinds nor policies

    @classmethod
    def load(cls, path: Path, simulator: Simulator) -> Team:
        """Read a policy file, or a run's checkpoint, for an environment like its own."""
        tree = read(path)
        require_alike(path, tree, simulator)
        config, device = Config(**tree["config"]), torch.device(simulator.device)
        numbers = agents_of(config, simulator.agent_names)
        found = kinds.of(simulator, device)
        kind_of, team = kinds.of_agents(found), cls([], numbers, tree, found)
        for number, (name, state) in enumerate(policies_of(tree).items()):
            kind = found[kind_of[numbers.index(number)]]
            own = config.of_role(role_of_policy(config, name))
            policy = Policy(kind.shape, kind.actions, own).to(device)
            policy.load_state_dict(state)
            team.policies.append(policy.requires_grad_(False))
        return team

    @classmethod
    def at_random(cls, simulator: Simulator) -> Team:
        """Return the team without policies."""
        device, nobody = torch.device(simulator.device), [NOBODY] * simulator.agents_per_world
        if kinds.has_own_tables(simulator):
            return cls([], nobody, {}, kinds.of(simulator, device))
        # Chance looks at nothing: what agents see may be more than a policy takes.
        return cls([], nobody, {}, actions=of_space(simulator.single_action_space, device))

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
        chosen = range(len(self.of_agent))[agents]
        of_row, noise = torch.tensor(self.of_agent), Noise(0, OPPONENTS, torch.device("cpu"))
        first = agents.start or 0
        crowd: Callable[[Any, Any], Any]
        own = [kind for kind in self.kinds if first in range(kind.first, kind.first + kind.count)]
        if len(self.kinds) > 1 and len(chosen) > 1:
            crowd = _Crowds(self.kinds, self.policies, of_row, noise, 0, None)
        else:
            actions = own[0].actions if own else self.actions or self.policies[0].actions
            crowd = _Crowd(self.policies, of_row[agents], actions, noise, first)

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


class _Crowds:
    """Who answers the rows of several kinds of agents, each of them a crowd of its own.

    Args:
        found: The kinds.
        policies: Who plays.
        of_row: The number of the policy of each row of all kinds, agents of a world side by side.
        noise: Where draws come from.
        first_world: Number of the first world among those that draw.
        split: Where the kinds' parts lie in what is observed; None for rows as long as the longest.
        is_sampled: Draw all actions, instead of taking the likeliest.
    """

    def __init__(
        self,
        found: Sequence[Kind],
        policies: Sequence[Policy],
        of_row: Tensor,
        noise: Noise,
        first_world: int,
        split: Split | None,
        is_sampled: bool = False,
    ) -> None:
        agents = sum(kind.count for kind in found)
        self.kinds, self.split = found, split
        self.worlds = worlds = len(of_row) // agents
        by_agent = of_row.view(worlds, agents)
        self.crowds = [
            _Crowd(
                *(policies, kind.rows(by_agent), kind.actions, noise),
                first_row=first_world * kind.count + kind.number * KINDS_APART,
                is_sampled=is_sampled,
            )
            for kind in found
        ]

    def __call__(self, obs: Tensor, mask: Tensor | None) -> Any:
        """Return the actions of all kinds: by role, or of all rows where these are padded."""
        seen = zip(self._parts(obs, False), self._parts(mask, True), strict=True)
        taken = [
            crowd(rows, None if kind.choices is None else legal)
            for kind, crowd, (rows, legal) in zip(self.kinds, self.crowds, seen, strict=True)
        ]
        of_worlds = [
            actions.view(self.worlds, kind.count, *actions.shape[1:])
            for kind, actions in zip(self.kinds, taken, strict=True)
        ]
        if self.split is None:
            return torch.cat(of_worlds, 1).flatten(0, 1)
        return {kind.name: part for kind, part in zip(self.kinds, of_worlds, strict=True)}

    def _parts(self, array: Any, is_mask: bool) -> list[Any]:
        """Return the rows of each kind, of its own length."""
        if array is None:
            return [None for _ in self.kinds]
        if self.split is not None:
            parts = self.split.masks if is_mask else self.split.observations
            return [part.flatten(0, 1) for part in self.split.views(array, parts).values()]
        of_worlds = array.view(self.worlds, -1, array.shape[-1])
        sizes = [kind.choices if is_mask else kind.row[0] for kind in self.kinds]
        return [k.rows(of_worlds)[:, :n] for k, n in zip(self.kinds, sizes, strict=True)]


def policies_of(tree: Mapping[str, Any]) -> dict[str, Any]:
    """Return the states of the policies in a policy file or a run's checkpoint."""
    if tree["kind"] == "policy":
        found: dict[str, Any] = tree["policies"]
        return found
    return {learner["name"]: learner["policy"] for learner in tree["state"]["learners"]}


def play(
    env: Worlds,
    policies: Sequence[Policy],
    of_row: Tensor,
    *,
    seed: int,
    is_sampled: bool = False,
    first: int = 0,
    watch: Callable[[Tensor], None] | None = None,
    until: float = math.inf,
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
        until: Time of `time.perf_counter` after which `OutOfTime` is raised, at the next look.

    Returns:
        Return and length of each row's episode, shaped (worlds, agents).
    """
    device = torch.device(env.device)
    noise = Noise(seed, EVALUATION, device)
    crowd: Callable[[Any, Any], Any]
    if kinds.has_own_tables(env.simulator):
        found = kinds.of(env.simulator, device)
        split = env.simulator.split
        crowd = _Crowds(found, policies, of_row, noise, first, split, is_sampled)
    else:
        actions = policies[0].actions if policies else of_space(env.single_action_space, device)
        first_row = first * env.agents_per_world
        crowd = _Crowd(policies, of_row, actions, noise, first_row, is_sampled)
    obs, infos = env.reset(seed=seed)
    returns = torch.zeros(env.num_envs, device=device)
    lengths = torch.zeros(env.num_envs, dtype=torch.int32, device=device)
    waiting = torch.ones(env.num_envs, dtype=torch.bool, device=device)
    if not env.simulator.instance["turns"]:
        active = infos.get("agent_active")  # who is not there at all has no episode that ends
        waiting = waiting if active is None else active.flatten().clone()
    step, note = 0, getattr(watch, "note", None)
    while step % _LOOK or waiting.any():
        if step and step % _LOOK == 0 and time.perf_counter() > until:
            raise OutOfTime
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
