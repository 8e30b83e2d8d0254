"""A bonus for what was rarely seen: random network distillation (Burda et al. 2018).

A network with fixed random weights maps observations to features, and a second one learns to
predict them. Where it errs, little like it was seen before. The bonus of a step is the error at the
observation behind it, by its running mean and deviation: it is zero in the mean, so that an episode
gains nothing by its length. It is added to rewards before advantages are computed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from gpu_envs.policies.encoders import encoder
from gpu_envs.policies.layered import Rows
from gpu_envs.policies.layers import RowShape, linear
from gpu_envs.policies.networks import Inputs, Scale
from gpu_envs.policies.noise import NOVELTY, Noise
from gpu_envs.train import optimiser
from gpu_envs.train.config import Config
from gpu_envs.train.ranks import Ranks

_FEATURES = 64
_RATE = 1e-4  # of learning, as in the paper
_SHARE = 4  # one of this number of observations is learned from, as in the paper
_FAR = 5.0  # limit of normalised observations [deviations], as in the paper
_SCALE_MEMORY = 0.99  # of the running scale of errors, per update
_LOOKS = 4  # steps of a rollout that statistics of observations see


class _Features(nn.Module):
    """An encoder, hidden layers, and a layer to the features."""

    def __init__(self, shape: RowShape, config: Config, hidden: int) -> None:
        super().__init__()
        self.encoder = encoder(shape, config)
        width: int = self.encoder.outputs  # type: ignore[assignment]  # all encoders have it
        self.hidden = nn.ModuleList(linear(width, width, 2**0.5) for _ in range(hidden))
        self.last = linear(width, _FEATURES, 1.0)

    def forward(self, rows: Tensor) -> Tensor:
        """Return the features of observations."""
        x = self.encoder(rows)
        for layer in self.hidden:
            x = torch.relu(layer(x))
        found: Tensor = self.last(x)
        return found


class Novelty:
    """How new observations are to one learner.

    Args:
        shape: Of the observations.
        config: The run, as the learner has it.
        ranks: The processes of the run.
        device: Where the networks run.
    """

    def __init__(self, shape: RowShape, config: Config, ranks: Ranks, device: torch.device) -> None:
        self.shape, self.config, self.ranks, self.device = shape, config, ranks, device
        self.inputs = Inputs(sum(shape.sizes)).to(device)
        self.target = _Features(shape, config, 0).to(device).requires_grad_(False)
        self.predictor = _Features(shape, config, 1).to(device)
        self.flat = optimiser.Flat(list(self.predictor.parameters()))
        slow = dataclasses.replace(config, learning_rate=_RATE, optimizer="adam", weight_decay=0.0)
        self.optimiser = optimiser.make(slow, self.flat)
        self.scale = Scale().to(device)
        self.weight = 0.0
        self.mean = float("nan")  # error of the last rollout
        self.has_looked = False

    def set(self, fraction: float) -> None:
        """Set the weight for a fraction of the run."""
        first, last = self.config.novelty, self.config.novelty_end
        self.weight = first if last != last else first + (last - first) * fraction

    def _error(self, obs: Rows) -> Tensor:
        rows: Tensor = self.inputs(self.shape.flat(obs, 1)).clamp(-_FAR, _FAR)
        error: Tensor = (self.predictor(rows) - self.target(rows)).square().mean(-1)
        return error

    @torch.no_grad()
    def bonus(self, obs: Rows, counted: Tensor) -> Tensor:
        """Return the bonus of each observation (steps, rows); 0 where it is not counted."""
        if not self.has_looked:
            self.look(obs)
        error = torch.stack([self._error(step) for step in obs]) * counted
        sums = [counted.double(), error.double(), error.double().square()]
        found = self.ranks.sum(torch.stack([part.sum() for part in sums]))
        self.mean = float(found[1] / found[0].clamp(min=1))
        self.scale.update(found, _SCALE_MEMORY)
        return (error - self.scale.mean) / self.scale.deviation * counted * self.weight

    @torch.no_grad()
    def look(self, obs: Rows) -> None:
        """Add the observations of some steps of a rollout to their statistics."""
        self.has_looked = True
        for step in obs[:: max(1, len(obs) // _LOOKS)]:
            self.inputs.look(self.shape.flat(step, 1), self.ranks.sum)

    def improve(self, obs: Rows, update: int) -> None:
        """Learn to predict a part of the observations (steps, rows): they are less new then."""
        steps, rows = obs.shape[:2]
        count = max(1, self.ranks.lowest(steps * rows) // _SHARE)
        noise = Noise(self.config.seed, NOVELTY, self.device)
        order = noise.order(update, steps * rows, self.ranks.rank)[:count]
        every, size = obs.flatten(0, 1), max(1, self.config.minibatch // self.ranks.count)
        for chosen in torch.split(order, size):
            self.flat.gradient.zero_()
            self._error(every[chosen]).mean().backward()  # type: ignore[no-untyped-call]
            if self.ranks.count > 1:
                self.ranks.sum(self.flat.gradient).div_(self.ranks.count)
            self.optimiser.step()
        self.look(obs)

    def _parts(self) -> dict[str, Any]:
        names = ("inputs", "target", "predictor", "scale", "optimiser")
        return {name: getattr(self, name) for name in names}

    def state(self) -> dict[str, Any]:
        """Return the state for a checkpoint."""
        return {name: part.state_dict() for name, part in self._parts().items()}

    def load(self, state: Mapping[str, Any]) -> None:
        """Restore a checkpoint's state."""
        for name, part in self._parts().items():
            part.load_state_dict(state[name])
        self.has_looked = True
