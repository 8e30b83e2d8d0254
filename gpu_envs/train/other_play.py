"""Other-Play (Hu, Lerer, Peysakhovich, Foerster 2020): agents that cannot agree on names.

Each agent plays under names of its own, of what it sees and does (the colours of cards), drawn in
each episode from the symmetries that the environment's header describes. So conventions that go by
a name do not pay, and policies that never met understand each other better.
"""

from __future__ import annotations

import torch
from torch import Tensor

from gpu_envs.core.simulator import Simulator
from gpu_envs.policies.noise import SYMMETRIES, Noise
from gpu_envs.policies.options import flag_of
from gpu_envs.train.config import Config
from gpu_envs.train.rollout import Rollout

FLAG = flag_of("other_play")


class Names:
    """The names under which each agent of each world plays its episode.

    What a row sees is renamed in place, and what it does is kept as it chose it.

    Args:
        config: The run.
        simulator: The worlds.
        rollout: Of all agents.
        first_row: Number of the first row among those of all ranks.
    """

    def __init__(
        self, config: Config, simulator: Simulator, rollout: Rollout, first_row: int
    ) -> None:
        found = simulator.symmetries()
        if found is None:
            raise ValueError(f"{FLAG}: the header of {simulator.name} describes no symmetries")
        if config.critic_state:
            raise ValueError(
                f"{FLAG} and --critic-state exclude each other: the state has no names"
            )
        if (
            rollout.views is not None
            or not simulator.kinds.is_one
            or rollout.kind.row != found.observation.shape[1:]
        ):
            raise ValueError(f"{FLAG} needs agents of one kind, and a number for each bit they see")
        device = rollout.device
        self.places = torch.tensor(found.observation, device=device)
        self.actions = torch.tensor(found.actions, device=device)
        self.agents, self.first_row = rollout.agents, first_row
        self.noise = Noise(config.seed, SYMMETRIES, device)
        self.episode = torch.zeros(simulator.num_worlds, dtype=torch.int64, device=device)
        self.of_row = torch.zeros(rollout.rows, dtype=torch.int64, device=device)

    def begin(self, worlds: Tensor) -> None:
        """Draw names of the episodes that begin in these worlds, given as flags."""
        self.episode += worlds
        self.draw()

    def draw(self) -> None:
        """Draw the names of the present episodes; they follow from seed, row and episode."""
        episode = self.episode.repeat_interleave(self.agents)
        drawn = self.noise.at_steps(episode, self.first_row)
        self.of_row.copy_((drawn * len(self.actions)).long())

    def show(self, obs: Tensor | None, mask: Tensor | None = None) -> None:
        """Rename observations and masks of all rows, in place."""
        if obs is not None:
            obs.copy_(obs.gather(1, self.places[self.of_row]))
        if mask is not None:
            mask.copy_(mask.gather(1, self.actions[self.of_row]))

    def true(self, action: Tensor) -> Tensor:
        """Return the actions by their true names."""
        return self.actions[self.of_row, action]
