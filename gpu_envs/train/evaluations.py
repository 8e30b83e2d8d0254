"""The evaluations of a run: their worlds, and the results of each side.

They have worlds and random numbers of their own, so that their times and number do not change what
is learned.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Sequence

import torch
from torch import Tensor

from gpu_envs.known import suites
from gpu_envs.policies import teams
from gpu_envs.policies.networks import Policy
from gpu_envs.policies.sharing import sides
from gpu_envs.train import evaluate, task_measures, worlds
from gpu_envs.train.columns import (
    EVALUATION,
    EVALUATION_EPISODES,
    EVALUATION_LENGTH,
    column,
    measure_column,
)
from gpu_envs.train.config import Config
from gpu_envs.train.ranks import Ranks

# A run whose evaluations are spaced by their share of the time first plays _FEW episodes, to
# estimate the time of all of them; all are played where that fits in half of the share.
_FEW = 8
_FIRST_PART = 0.5
_LEAST = 1.0  # [s] that the first evaluation may take at least


class Trials:
    """Evaluates policies, on all ranks together.

    Args:
        config: The run.
        device: The device of the worlds.
        ranks: The processes of the run, each of which plays its share of the episodes.
    """

    def __init__(self, config: Config, device: str, ranks: Ranks) -> None:
        self.config, self.ranks = config, ranks
        self.episodes = max(config.evaluation_episodes, ranks.count)
        self.few = max(_FEW, worlds.fewest(config))
        self.is_suite = suites.is_suite(config.env)
        self.device = device
        self.env = self._worlds(self.episodes)
        self.of_agent = teams.agents_of(config, self.env.agent_names)
        self.sides = sides(self.env.agent_names, config.learn)
        self.measures = task_measures.own(config, self.env.agent_names)
        turns = self.env.simulator.instance["turns"]
        self._acting = 1 if turns else self.env.agents_per_world  # agents that decide in a step
        self.spent = 0.0  # seconds of all evaluations
        self.lasted = 0.0  # seconds of a whole one: of the last, or as the first few episodes say
        self.played = 0  # episodes of the last evaluation

    def _worlds(self, episodes: int) -> worlds.Worlds:
        """Return this rank's share of the worlds for `episodes` episodes."""
        first, count = self.ranks.share(episodes)
        worlds.require_enough("--evaluation-episodes", self.config, count)
        chosen = self.config.parameters | self.config.evaluation_parameters
        with worlds.defaults_named(self.config, chosen, "parameters", "evaluation"):
            return worlds.for_evaluation(self.config, self.device, count, first)

    @property
    def is_by_share(self) -> bool:
        """Whether evaluations are spaced by the time they take."""
        return self.config.evaluation_every == 0 and self.config.evaluation_share > 0

    def first(self, policies: Sequence[Policy]) -> dict[str, float]:
        """Play before the first update: a few episodes, or all where these fit in the share.

        Where evaluations are not spaced by their share, all are played, or none if time runs out.

        Returns:
            The results of each side; {} where a few episodes take longer than allowed.
        """
        few = self.few * self.ranks.count
        if not self.is_by_share or self.episodes < 2 * few:
            found = self._play(policies, 0, self.episodes, self.allowed())
            self.lasted *= 1 if found else 2  # a guess where not all were over
            return found
        found = self._play(policies, 0, few, self.allowed())
        rate = self._first_steps(policies, self.episodes) / self._first_steps(policies, few)
        self.lasted *= rate * (1 if found else 2)  # a guess where not all were over
        length = max((v for k, v in found.items() if k.startswith(EVALUATION_LENGTH)), default=0)
        share = _FIRST_PART * self.config.evaluation_share
        steps = self.config.total_steps / self._acting  # of worlds
        is_short = self.episodes * length <= share * steps
        is_short &= self.lasted <= self.allowed()
        return self(policies, 0) if self.ranks.agreed(bool(found) and is_short) else found

    def allowed(self) -> float:
        """Return the seconds that the first evaluation may take."""
        share = self.config.evaluation_share if self.is_by_share else 1.0
        return max(_LEAST, _FIRST_PART * share * (self.config.time_limit or math.inf))

    def last(self, policies: Sequence[Policy], update: int) -> dict[str, float]:
        """Play at the end."""
        return self._play(policies, update, self.ranks.agreed(self._at_end()))

    def last_takes(self) -> float:
        """Return the seconds to reserve for the end."""
        return self.lasted * self._at_end() / self.episodes

    def _at_end(self) -> int:
        """Return the episodes at the end: a few where all would take half of the time limit."""
        few = self.few * self.ranks.count
        is_long = 0 < self.config.time_limit < 2 * self.lasted
        return few if is_long and self.episodes >= 2 * few else self.episodes

    def __call__(self, policies: Sequence[Policy], update: int) -> dict[str, float]:
        """Play all episodes, and return the results of each side."""
        return self._play(policies, update, self.episodes)

    def _first_steps(self, policies: Sequence[Policy], episodes: int) -> float:
        """Return the seconds that the first steps of `episodes` episodes take."""
        lasted, played = self.lasted, self.played
        self._play(policies, 0, episodes, -math.inf)
        taken, self.lasted, self.played = self.lasted, lasted, played
        return taken

    def _play(
        self, policies: Sequence[Policy], update: int, episodes: int, allowed: float = math.inf
    ) -> dict[str, float]:
        """Play `episodes` episodes; return {} where that takes more than `allowed` seconds."""
        is_whole = episodes == self.episodes
        env = self.env if is_whole else self._worlds(episodes)
        begin = time.perf_counter()
        found = self._results(env, policies, update, episodes, begin + allowed)
        self.lasted = time.perf_counter() - begin
        self.spent += self.lasted
        self.played = episodes if found else 0
        if not is_whole:
            env.close()
        return found

    def _results(
        self,
        env: worlds.Worlds,
        policies: Sequence[Policy],
        update: int,
        episodes: int,
        until: float,
    ) -> dict[str, float]:
        watch, played = None, None
        if self.measures:
            watch = task_measures.Watch(self.measures, env.num_worlds, env.device)
        with contextlib.suppress(evaluate.OutOfTime):
            played = evaluate.play(
                env,
                policies,
                evaluate.rows_of(self.of_agent, env.num_worlds, self.device),
                seed=self.config.seed + update,
                is_sampled=self.config.sampled_evaluation,
                first=self.ranks.share(episodes)[0],
                watch=watch,
                until=until,
            )
        if self.ranks.lowest(0 if played is None else 1) == 0 or played is None:
            return {}
        results = {}
        games = {measure.facts["what"]: measure.facts.get("game") for measure in self.measures}
        for name, found in zip((EVALUATION, EVALUATION_LENGTH), played, strict=True):
            means = self._means(found)
            for side, members in self.sides.items():
                results[column(name, side)] = float(means[members].mean())
        for what, found in watch.found(*played).items() if watch else ():
            own = found[env.worlds_of(games[what])].unsqueeze(1)
            results[measure_column(what)] = float(self._means(own))
        if self.is_suite:  # each game counts once, however many worlds it has
            returns = [
                results[measure_column(what)]
                for what, game in games.items()
                if what == f"return in {game}"
            ]
            results[EVALUATION] = sum(returns) / len(returns)
        results[EVALUATION_EPISODES] = float(episodes)
        return results

    def is_due(self, updates: int, seconds: float) -> bool:
        """Whether it is time for the next, by the updates or the seconds of the run so far.

        One that would end after the time limit, with the last one behind it, is left out.
        """
        every, share = self.config.evaluation_every, self.config.evaluation_share
        limit = self.config.time_limit or math.inf
        if every > 0:
            is_wanted = updates % every == 0
        else:
            is_wanted = share > 0 and self.spent + self.lasted <= share * seconds
        is_wanted &= seconds + self.lasted + self.last_takes() <= limit
        # Clocks differ between ranks: the first one decides for all.
        return bool(self.ranks.agreed(is_wanted))

    def _means(self, found: Tensor) -> Tensor:
        """Return the mean over the worlds of all ranks, of each agent."""
        count = torch.tensor([float(len(found))], dtype=torch.float64, device=found.device)
        sums = self.ranks.sum(torch.cat((found.double().sum(0), count)))
        return sums[:-1] / sums[-1]
