"""The evaluations of a run: their worlds, and what each side reaches there.

They have worlds and random numbers of their own, so that when and how often they are held changes
nothing of what is learned.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import torch
from torch import Tensor

from gpu_envs.train import evaluate, measured, worlds
from gpu_envs.train.config import Config
from gpu_envs.train.networks import Policy
from gpu_envs.train.ranks import Ranks
from gpu_envs.train.self_play import sides
from gpu_envs.train.told import EVALUATION, EVALUATION_LENGTH, column, measure_column

# At first evaluations may take more, since a short run has to notice its goal: so large a share of
# the time on top, until that is the time of so many evaluations.
_EARLY_SHARE, _EARLY_COUNT = 0.2, 3


class Trials:
    """Evaluates policies, on all ranks together.

    Args:
        config: The run.
        device: Where the worlds are.
        ranks: The processes of the run, each of which plays its share of the episodes.
    """

    def __init__(self, config: Config, device: str, ranks: Ranks) -> None:
        self.config, self.ranks = config, ranks
        self.episodes = max(config.evaluation_episodes, ranks.count)
        self.first, count = ranks.share(self.episodes)
        self.env = worlds.for_evaluation(config, device, count, self.first)
        names = self.env.agent_names
        self.sides = sides(names, config.learn)
        self.of_row = evaluate.rows_of(evaluate.agents_of(config, names), count, device)
        self.measure = measured.own(config, names)
        self.spent = self.lasted = 0.0  # seconds of all evaluations, and of the last one

    def __call__(self, policies: Sequence[Policy], update: int) -> dict[str, float]:
        """Play, and return what each side reaches."""
        begin, measure = time.perf_counter(), self.measure
        signs = measure.signs(self.env.num_worlds, self.env.device) if measure else None
        returns, lengths = evaluate.play(
            self.env,
            policies,
            self.of_row,
            seed=self.config.seed + update,
            is_sampled=self.config.sampled_evaluation,
            first=self.first,
            watch=signs,
        )
        results = {}
        for name, found in ((EVALUATION, returns), (EVALUATION_LENGTH, lengths)):
            means = self._means(found)
            for side, agents in self.sides.items():
                results[column(name, side)] = float(means[agents].mean())
        if measure and signs:
            found = measure.of(returns, lengths, signs).unsqueeze(1)
            results[measure_column(measure.facts["what"])] = float(self._means(found))
        self.lasted = time.perf_counter() - begin
        self.spent += self.lasted
        return results

    def is_due(self, updates: int, seconds: float) -> bool:
        """Whether it is time for the next, by the updates or the seconds of the run so far."""
        every, share = self.config.evaluation_every, self.config.evaluation_share
        if every > 0:
            return updates % every == 0
        allowed = share * seconds + min(_EARLY_SHARE * seconds, _EARLY_COUNT * self.lasted)
        # Clocks differ between ranks: the first one decides for all.
        return bool(self.ranks.agreed(share > 0 and self.spent + self.lasted <= allowed))

    def _means(self, found: Tensor) -> Tensor:
        """Return the mean over the worlds of all ranks, of each agent."""
        count = torch.tensor([float(len(found))], dtype=torch.float64, device=found.device)
        sums = self.ranks.sum(torch.cat((found.double().sum(0), count)))
        return sums[:-1] / sums[-1]
