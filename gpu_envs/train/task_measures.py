"""Measures of a task beside the return: hiders seen, soups, points, runners tagged.

Which measures an environment has is data beside its header (`measures` of `training` in
docs/measures.md); here is what the measures mean.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from gpu_envs.known import suites
from gpu_envs.policies.sharing import groups
from gpu_envs.train.config import Config

Facts = Mapping[str, Any]

OBJECTIVE = "true_objective"


@dataclass(frozen=True)
class Played:
    """Results of the measured agents: an episode per world, (worlds, agents)."""

    returns: Tensor
    lengths: Tensor
    rewarded: Tensor  # steps with a reward
    positive: Tensor  # of them
    penalised: Tensor  # of them, those with the penalty
    last: Tensor  # what the environment says where an episode ends


# For each world. Any other name is one of the environment's own measures of an episode's end.
MEASURES: dict[str, Callable[[Played], Tensor]] = {
    "return": lambda played: played.returns.sum(1),
    "mean return": lambda played: played.returns.mean(1),
    "reward per step": lambda played: (played.returns / played.lengths).mean(1),
    "share of positive rewards": lambda played: played.positive.sum(1) / played.rewarded.sum(1),
    "objective": lambda played: played.last.mean(1),
    "share penalised": lambda played: (played.penalised > 0).double().mean(1),
}


class Signs:
    """Counts steps of each row: with a reward, with a positive one, with the game's penalty.

    A penalty is added to the other reward, and only that other one counts as rewarded or positive.
    Also keeps one of the infos that an environment writes at the end of an episode.
    """

    def __init__(
        self, rows: int, penalty: float, device: str = "cpu", info: str = OBJECTIVE
    ) -> None:
        self.penalty, self.counts = penalty, torch.zeros(3, rows, device=torch.device(device))
        self.info, self.last = info, torch.zeros(rows, device=self.counts.device)

    def __call__(self, reward: Tensor) -> None:
        """Take the rewards of one step."""
        is_penalised = reward < -self.penalty / 2
        other = reward.where(~is_penalised, reward + self.penalty)
        self.counts += torch.stack([other != 0, other > 0, is_penalised])

    def note(self, infos: Mapping[str, Any], over: Tensor) -> None:
        """Take the info of rows whose episode ends in this step."""
        if self.info in infos:
            self.last = self.last.where(~over, infos[self.info].flatten())


class Measure:
    """A measure, for worlds of these agents.

    Args:
        facts: As beside the header.
        names: Of the agents of a world.
    """

    def __init__(self, facts: Facts, names: Sequence[str]) -> None:
        self.facts, self.agents = facts, len(names)
        self.members = groups("role", names)[facts["role"]] if "role" in facts else slice(None)

    def signs(self, worlds: int, device: str) -> Signs:
        """Return what watches the rewards of new episodes."""
        measure = self.facts["measure"]
        info = OBJECTIVE if measure in MEASURES else measure
        return Signs(worlds * self.agents, self.facts.get("penalty", math.inf), device, info)

    def of(self, returns: Tensor, lengths: Tensor, signs: Signs) -> Tensor:
        """Return the measure of each world."""
        last = signs.last.view(-1, self.agents)
        parts = (returns, lengths, *signs.counts.view(3, -1, self.agents), last)
        played = Played(*(part[:, self.members] for part in parts))
        measured = MEASURES.get(self.facts["measure"], MEASURES["objective"])
        found: Tensor = measured(played) / self.facts.get("per", 1)
        return found


class Watch:
    """Watches the rewards of new episodes for some measures.

    Args:
        measures: What is measured.
        worlds: How many worlds there are.
        device: Where their rewards are.
    """

    def __init__(self, measures: Sequence[Measure], worlds: int, device: str) -> None:
        self.pairs = [(measure, measure.signs(worlds, device)) for measure in measures]

    def __call__(self, reward: Tensor) -> None:
        """Take the rewards of one step."""
        for _, signs in self.pairs:
            signs(reward)

    def note(self, infos: Mapping[str, Any], over: Tensor) -> None:
        """Take the infos of rows whose episode ends in this step."""
        for _, signs in self.pairs:
            signs.note(infos, over)

    def found(self, returns: Tensor, lengths: Tensor) -> dict[str, Tensor]:
        """Return each measure by its words, for each world."""
        return {m.facts["what"]: m.of(returns, lengths, signs) for m, signs in self.pairs}


def own(config: Config, names: Sequence[str]) -> list[Measure]:
    """Return the measures of a run's environment that hold for its agents and its rewards."""
    chosen = {**config.parameters, **config.evaluation_parameters}
    usual = {p["name"]: p["default"] for p in suites.described(config.env)["parameters"]}
    roles, found = (None, *groups("role", names)), []
    for facts in suites.training_of(config.env).get("measures", ()):
        changed = [n for n in facts.get("unless", ()) if chosen.get(n, usual[n]) != usual[n]]
        if facts.get("role") in roles and not changed:
            found.append(Measure(facts, names))
    return found
