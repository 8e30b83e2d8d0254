"""The reward that is learned from: the environment's own, or its parts with weights that change."""

from __future__ import annotations

import re

import torch
from torch import Tensor

from gpu_envs import errors
from gpu_envs.simulator import Simulator
from gpu_envs.train.config import Config

_NUMBER = r"-?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?"
_RULE = re.compile(rf"(\w+)=({_NUMBER})(?:\.\.({_NUMBER})@({_NUMBER}))?")


class Rewards:
    """Weights of reward parts, kept on the device: `name=1` or `name=1..0@0.5`."""

    def __init__(self, config: Config, simulator: Simulator, device: torch.device) -> None:
        names = simulator.reward_parts
        self.rules: list[tuple[float, float, float]] = [(1.0, 1.0, 1.0) for _ in names]
        self.weights = torch.ones(len(names), device=device)
        for text in config.reward_weights.replace(",", " ").split():
            found = _RULE.fullmatch(text)
            if found is None:
                raise ValueError(
                    "--reward-weights must be like 'sparse=1 shaped=1..0@0.5' (from 1 to 0 in half "
                    f"of the run), got {text!r}"
                )
            name, first, last, until = found.groups()
            if name not in names:
                what = f"reward part of {simulator.name} (--reward-weights)"
                raise ValueError(errors.unknown(what, name, names))
            end = float(until or 1)
            if end <= 0:
                raise ValueError(f"--reward-weights: the end of {text!r} must be above 0")
            self.rules[names.index(name)] = (float(first), float(last or first), end)

    def set(self, fraction: float) -> None:
        """Set the weights for a fraction of the run."""
        for k, (first, last, end) in enumerate(self.rules):
            self.weights[k].fill_(first + (last - first) * min(fraction / end, 1.0))

    def of(self, reward: Tensor, parts: Tensor | None) -> Tensor:
        """Return a new array with the reward of each step and row."""
        return reward.clone() if parts is None else (parts * self.weights).sum(-1)
