"""The reward of a learner: the environment's own, or its parts with weights that change."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from typing import Any

import torch
from torch import Tensor

from gpu_envs import errors
from gpu_envs.train.config import Config

_NUMBER = r"-?(?:\d+(?:\.\d+)?|\.\d+)(?:e[+-]?\d+)?"  # no point at the end: dots follow
_RULE = re.compile(rf"(\w+)=({_NUMBER})(?:\.\.({_NUMBER})@({_NUMBER}))?")


class Rewards:
    """Weights of the reward parts of one kind of agents, kept on the device.

    Args:
        config: The run, whose `reward_weights` are like `name=1` or `name=1..0@0.5`.
        names: Names of the parts that this kind has.
        known: Names of the parts of any kind; others are refused.
        who: The environment, for the message.
        device: The device of rewards.
        scale: What the reward of each row is multiplied by; None for 1.
    """

    def __init__(
        self,
        config: Config,
        names: Sequence[str],
        known: Collection[str],
        who: str,
        device: torch.device,
        scale: Tensor | None = None,
    ) -> None:
        self.scale = scale
        self.rules: list[tuple[float, float, float]] = [(1.0, 1.0, 1.0) for _ in names]
        self.weights = torch.ones(len(names), device=device)
        seen: set[str] = set()
        for text in config.reward_weights.replace(",", " ").split():
            name, rule = _read(text)
            if name not in known:
                what = f"reward part of {who} (--reward-weights)"
                raise ValueError(errors.unknown(what, name, known))
            if name in seen:
                raise ValueError(f"--reward-weights names {name!r} more than once")
            seen.add(name)
            if name in names:
                self.rules[list(names).index(name)] = rule

    def set(self, fraction: float) -> None:
        """Set the weights for a fraction of the run."""
        for k, (first, last, end) in enumerate(self.rules):
            self.weights[k].fill_(first + (last - first) * min(fraction / end, 1.0))

    def of(self, reward: Tensor, parts: Tensor | None) -> Tensor:
        """Return a new array with the reward of each step and row."""
        found = reward.clone() if parts is None else (parts * self.weights).sum(-1)
        return found if self.scale is None else found * self.scale


def scales_of(config: Config, simulator: Any, device: torch.device) -> Tensor | None:
    """Return what the rewards of each row of a suite are multiplied by, None for 1."""
    if not config.reward_scales:
        return None
    scale = torch.ones(simulator.num_worlds * simulator.agents_per_world, device=device)
    rows = {part.game: part.rows for part in simulator.parts}
    seen: set[str] = set()
    for text in config.reward_scales.replace(",", " ").split():
        game, sign, number = text.partition("=")
        if not sign or re.fullmatch(_NUMBER, number) is None:
            raise ValueError(f"--reward-scales must be like 'Collect-v0=0.5', got {text!r}")
        if not math.isfinite(float(number)):
            raise ValueError(f"--reward-scales: the number of {text!r} is too large")
        if game in seen:
            raise ValueError(f"--reward-scales names {game!r} more than once")
        seen.add(game)
        if game not in rows:
            raise ValueError(errors.unknown(f"game of {config.env} (--reward-scales)", game, rows))
        scale[rows[game]] = float(number)
    return scale


def _read(text: str) -> tuple[str, tuple[float, float, float]]:
    """Return the name of a part, its first and last weight, and when it has the last one."""
    found = _RULE.fullmatch(text)
    if found is None:
        raise ValueError(
            "--reward-weights must be like 'sparse=1 shaped=1..0@0.5' (from 1 to 0 in half "
            f"of the run), got {text!r}"
        )
    name, first, last, until = found.groups()
    rule = (float(first), float(last or first), float(until or 1))
    if not all(map(math.isfinite, rule)):
        raise ValueError(f"--reward-weights: a number of {text!r} is too large")
    if rule[2] <= 0:
        raise ValueError(f"--reward-weights: the end of {text!r} must be above 0")
    return name, rule
