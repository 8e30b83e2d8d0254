"""PPO (Schulman et al. 2017), and A2C as its special case with one plain step.

Read from top to bottom: advantages, and the trainer's loop over rollout and update. One policy, its
optimiser and its loss are in `learner`, what a rollout stores in `rollout`.

The simulator writes each step straight into the rollout (`out=`), on the device where the policies
run; nothing is copied and nothing waits for the device until an update asks how many samples there
are. On a GPU a rollout is one CUDA graph and a gradient step another.

A row is one agent of one world. It *decides* in the steps in which it is active: a transition runs
from one decision of a row to its next, and the rewards between them are summed, so that who waits
for a turn learns from what the others bring about. Where an episode was cut short, the value of its
last observation is added to its last reward. The last decision of a row that waits when the rollout
ends is left out: what it led to is not known yet. With `--decisions choice` a row decides where its
mask leaves a choice (`decisions`).
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from gpu_envs.known.fields import read as read_fields
from gpu_envs.policies import agent_kinds, agent_map
from gpu_envs.policies.agent_kinds import KINDS_APART
from gpu_envs.policies.networks import Policy
from gpu_envs.policies.options import flag_of
from gpu_envs.policies.sharing import groups, sides
from gpu_envs.train import by_role, optimiser, varying
from gpu_envs.train.columns import TRAINING, TRAINING_LENGTH, column
from gpu_envs.train.config import Config
from gpu_envs.train.decisions import far_advantages
from gpu_envs.train.fused import Space
from gpu_envs.train.graphs import Captured
from gpu_envs.train.learner import LOSSES, Learner, Stage
from gpu_envs.train.other_play import Names
from gpu_envs.train.ranks import Ranks
from gpu_envs.train.rewards import Rewards, scales_of
from gpu_envs.train.rollout import Rollout
from gpu_envs.train.self_play import Seats
from gpu_envs.train.stepping import Stepper
from gpu_envs.train.worlds import Worlds

# ---- advantages


def backward_sums(keep: Tensor, add: Tensor) -> Tensor:
    """Return x with x[t] = keep[t] x[t + 1] + add[t], and 0 after the end.

    In log2(T) rounds, each joining twice as many steps, instead of T small ones.
    """
    reach, length = 1, len(add)
    while reach < length:
        add = torch.cat((add[:-reach] + keep[:-reach] * add[reach:], add[-reach:]))
        keep = torch.cat((keep[:-reach] * keep[reach:], torch.zeros_like(keep[-reach:])))
        reach *= 2
    return add


def advantages(
    reward: Tensor, value: Tensor, decides: Tensor, ended: Tensor, gamma: float, trace: float
) -> tuple[Tensor, Tensor]:
    """Return generalised advantage estimates (Schulman et al. 2016), and which are known.

    Args:
        reward: Of each step (T, rows).
        value: Of what each decision saw, with one step more (T + 1, rows).
        decides: Whether a row decides there (T + 1, rows).
        ended: Whether the row's episode ended with the step (T, rows).
        gamma: The discount from one decision to the next.
        trace: Lambda.
    """
    goes_on, next_decides = ~ended, decides[1:]
    waits = (goes_on & ~next_decides).float()
    arrives = (goes_on & next_decides).float()
    # After step t: the value of the next decision, whether there is one or an end, and the rewards
    # until then.
    later = torch.zeros_like(reward)
    later[:-1] = reward[1:]
    coming = torch.stack((arrives * value[1:], (ended | next_decides).float(), waits * later), -1)
    next_value, known, pending = backward_sums(waits.unsqueeze(-1), coming).unbind(-1)
    now = decides[:-1]
    is_known = now & (known > 0)
    surprise = reward + pending + gamma * next_value - value[:-1]
    keep = goes_on * torch.where(now, gamma * trace * known, torch.ones_like(known))
    return backward_sums(keep, is_known * surprise), is_known


# ---- rollout, update, and again


class Trainer:
    """The worlds of this process, the learners that play in them, and their loop.

    Args:
        config: The run.
        env: The worlds of this process, in SameStep mode, with torch arrays.
        ranks: The processes of the run.
        say: Called with a line for the user.
    """

    def __init__(
        self, config: Config, env: Worlds, ranks: Ranks, say: Callable[[str], None]
    ) -> None:
        self.config, self.env, self.ranks = config, env, ranks
        self.say, self.has_warned = say, False
        self.device = torch.device(env.device)
        torch.manual_seed(config.seed)  # for weights only: the same on every rank
        self.kinds = agent_kinds.kinds_of(env.simulator, self.device, env.single_action_space)
        self.rollouts = [Rollout(env, kind, config) for kind in self.kinds]
        self.rollout, self.actions = self.rollouts[0], self.kinds[0].actions  # of the first
        self.stepper = Stepper(env, self.rollouts, self._names())
        self.clock = torch.zeros((), dtype=torch.int64, device=self.device)  # updates, for graphs
        self._seat_learners()
        known = dict.fromkeys(name for kind in self.kinds for name in kind.parts)
        scale = scales_of(config, env.simulator, self.device)
        self.rewards = [
            Rewards(config, kind.parts, known, env.simulator.name, self.device, scale)
            for kind in self.kinds
        ]
        described = read_fields(env.simulator.instance["parameters"])
        self.schedules = varying.Schedules(config.varying, described)
        self.updates = self.steps = 0
        self.began = 0  # update before which all worlds began at once
        limit = env.simulator.max_episode_steps
        self.starts = math.ceil(limit / config.rollout) if config.stagger else 1
        if config.stagger and not limit:
            raise ValueError("--stagger needs an environment with a time limit (max_episode_steps)")
        _warn_of_guesses(config, limit, say)
        # Agents that decide in a step: in games of turns one of each world.
        acting = 1 if env.simulator.instance["turns"] else env.agents_per_world
        self.steps_per_update = config.rollout * config.num_envs * acting
        self.seconds = {"simulation": 0.0, "inference": 0.0, "learning": 0.0}
        self.simulation = 0.0  # seconds of a rollout, where they cannot be taken as it goes

        def captured(function: Callable[..., None]) -> Captured:
            return Captured(function, self.device, is_on=config.graphs, say=say)

        self._play = captured(self._play_steps)
        for learner in self.learners:
            learner.gradient = captured(learner.gradient)  # type: ignore[assignment, method-assign]
            learner.apply = captured(learner.apply)  # type: ignore[method-assign]

    def _names(self) -> Names | None:
        """Return the names under which agents play, None where they are the true ones."""
        if not self.config.other_play:
            return None
        first_world = self.ranks.share(self.config.num_envs)[0]
        first_row = first_world * self.env.agents_per_world
        return Names(self.config, self.env.simulator, self.rollout, first_row)

    def _seat_learners(self) -> None:
        """Make the learners, those who play beside them, and what says which rows are learned."""
        config, env = self.config, self.env
        first_world = self.ranks.share(config.num_envs)[0]
        stages = [self._stage(rollout, first_world) for rollout in self.rollouts]
        sharing = config.policies if agent_map.is_map(config.policies) else "role"
        by_role.check_roles(config.roles, groups(sharing, env.agent_names), flag_of)
        counts = [kind.count for kind in self.kinds]
        seats = Seats(config, env, self.device, first_world, counts)
        self.learners = [
            Learner(name, rows, past, stages[kind]) for name, kind, rows, past in seats.learners()
        ]
        chance = [(seats.without_policy(k), stage) for k, stage in enumerate(stages)]
        self.others = [stage.drawing(x, None) for x, stage in chance if x is not None]
        self.sides = {
            side: torch.tensor(agents, device=self.device)
            for side, agents in sides(env.agent_names, config.learn).items()
        }
        self.learned = [torch.zeros_like(r.ended[0]) for r in self.rollouts]
        for learner in self.learners:
            part = slice(None) if learner.rows is None else learner.rows
            is_own = True if learner.past is None else learner.past.learns[part]
            self.learned[learner.rollout.kind.number][part] = is_own

    def _stage(self, rollout: Rollout, first_world: int) -> Stage:
        kind = rollout.kind
        return Stage(
            *(self.config, self.ranks, rollout, kind),
            space=Space(kind.actions, self.device),
            clock=self.clock,
            # The row numbers of kinds are far apart, so that their draws differ.
            first_row=first_world * kind.count + kind.number * KINDS_APART,
        )

    def _begin(self, seed: int) -> None:
        every = torch.ones(self.env.num_worlds, dtype=torch.bool, device=self.device)
        self.stepper.start(*self.env.reset(seed=seed), every)
        self.stepper.begin()

    def start(self) -> None:
        """Begin the first episodes."""
        self._begin(self.config.seed)
        for learner in self.learners:  # so that the first rollout is normalised too
            r, rows = learner.rollout, slice(None) if learner.rows is None else learner.rows
            state = None if r.state is None else r.state[-1]
            learner.policy.look(r.obs[-1, rows], state, self.ranks.sum)

    def stagger(self) -> None:
        """Reset a part of the worlds before each rollout of the first episodes.

        Otherwise worlds whose episodes have one length would stay in step with each other, and
        every update would see one part of an episode only.
        """
        number = self.updates - self.began
        if not 0 < number < self.starts:
            return
        first = self.ranks.share(self.config.num_envs)[0]
        stages = self.env.stages(first, self.config.num_envs, self.starts)
        mask = torch.from_numpy(stages == number)
        if not mask.any():
            return
        mask = mask.to(self.device)
        self.stepper.start(*self.env.reset(options={"reset_mask": mask}), mask)
        self.stepper.forget(mask)

    def time_simulation(self) -> None:
        """Measure the simulator's share of a rollout; a captured one cannot be timed in parts.

        The worlds must be reset, or loaded, afterwards.
        """
        self.env.reset(seed=self.config.seed)
        for _ in range(2):  # the first time loads kernels
            begin = self._now()
            for t in range(self.rollout.length):
                self.stepper.step(t)
            self.simulation = self._now() - begin
        with contextlib.suppress(ValueError, RuntimeError):
            self.env.check()  # clears the faults of these actions

    def take_over(self, policies: Sequence[Policy]) -> None:
        """Begin with the weights of saved policies."""
        count = len(self.learners)
        if len(policies) != count:
            raise ValueError(f"--init has {len(policies)} policies, this run has {count}")
        for learner, policy in zip(self.learners, policies, strict=True):
            try:
                learner.policy.load_state_dict(policy.state_dict())
            except RuntimeError as problem:
                raise ValueError("--init has networks of another kind or size") from problem

    def fraction(self) -> float:
        """Return how much of the run is done, from 0 to 1."""
        steps, last = self.steps, self.config.total_steps
        return steps / last if steps < last else 1.0

    def iterate(self) -> dict[str, float]:
        """Play a rollout and learn from it; return the values to report."""
        begin, simulated = self._now(), self.seconds["simulation"]
        self.stagger()
        fraction = self.fraction()
        for rewards in self.rewards:
            rewards.set(fraction)
        self.schedules.set(self.env.simulator, fraction)
        for learner in self.learners:
            learner.set(fraction)
            if learner.past is not None:
                learner.past.choose(learner.policy, self.updates)
        self._play()
        middle = self._now()
        self.seconds["simulation"] += self.simulation
        samples = self._learn()
        self._warn()
        self.updates += 1
        self.clock += 1
        self.steps += self.steps_per_update
        results = self._results(samples) | self._rates(fraction)
        end = self._now()
        self.seconds["inference"] += middle - begin - (self.seconds["simulation"] - simulated)
        self.seconds["learning"] += end - middle
        return results

    @torch.no_grad()
    def _play_steps(self) -> None:
        clock, simulation = time.perf_counter, 0.0
        few = [rollout for rollout in self.rollouts if rollout.keeps_few]
        self.stepper.turn()
        for t in range(self.rollout.length):
            for rollout in few:
                rollout.look(t)
            for learner in self.learners:
                learner.act(t)
            for others in self.others:
                others(t)
            begin = clock()
            self.stepper.step(t)
            simulation += clock() - begin
            self.stepper.end(t)
        for rollout in few:
            rollout.look(self.rollout.length)
        self.stepper.finish()
        if self.device.type == "cpu":
            self.seconds["simulation"] += simulation

    def _learn(self) -> list[int]:
        is_choice = self.config.decisions == "choice"
        estimate = far_advantages if is_choice else advantages
        learned = []
        for r in self.rollouts:
            own = [learner for learner in self.learners if learner.rollout is r]
            if not own:
                continue
            with torch.no_grad():
                reward = self.rewards[r.kind.number].of(r.reward, r.parts)
                value = torch.cat((r.value, torch.zeros_like(r.value[:1])))
                for learner in own:
                    learner.values(value, reward)
                    learner.reward_novelty(reward)
                decides = r.decisions(is_choice)
                ways = {(x.config.gamma, x.config.gae_lambda) for x in own}
                found = {way: estimate(reward, value, decides, r.ended, *way) for way in ways}
            learned += [(x, *found[x.config.gamma, x.config.gae_lambda], value) for x in own]
        return [
            learner.improve(gain, known, value[:-1], self.updates)
            for learner, gain, known, value in learned
        ]

    def _warn(self) -> None:
        """Warn once of a learner without samples, whose choices may be too far apart.

        All ranks take the same number of gradient steps: none if one of them has no samples.
        """
        idle = [learner.name for learner in self.learners if learner.gradient_steps == 0]
        if self.config.decisions == "choice" and idle and not self.has_warned:
            self.has_warned = True
            self.say(
                f"warning: in --rollout {self.config.rollout} nobody of {', '.join(idle)} came "
                "from one choice to the next, and nothing was learned there; a longer rollout "
                "has both"
            )

    def _rates(self, fraction: float) -> dict[str, float]:
        """Return the values that change over a run, by role where roles have their own options."""
        if not self.config.roles:
            return {"charts/learning_rate": optimiser.learning_rate(self.config, fraction)}
        found = {}
        for x in self.learners:
            found[f"charts/{x.name}/learning_rate"] = float(x.optimiser.rate)
            found[f"charts/{x.name}/entropy_weight"] = float(x.entropy_weight)
        return found

    def _now(self) -> float:
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)
        return time.perf_counter()

    def _results(self, samples: list[int]) -> dict[str, float]:
        results, many = self._episodes(), len(self.learners) > 1
        for learner, count in zip(self.learners, samples, strict=True):
            prefix, nan = (f"{learner.name}/" if many else ""), float("nan")
            losses = self.ranks.sum(learner.losses.double()).tolist()
            times = learner.gradient_steps * self.ranks.count
            for name, loss in zip(LOSSES, losses, strict=True):
                results[f"losses/{prefix}{name}"] = loss / times if times else nan
            results[f"charts/{prefix}samples"] = count
            if learner.novelty is not None:
                results[f"charts/{prefix}novelty"] = learner.novelty.mean
        return results

    def _episodes(self) -> dict[str, float]:
        """Return the results of ended episodes for the learning sides, side by side."""
        parts = []
        for r, learned in zip(self.rollouts, self.learned, strict=True):
            counted = r.ended.double() * learned
            sums = torch.stack([(counted * part).sum(0) for part in (1, r.returns, r.lengths)])
            parts.append(sums.view(3, -1, r.agents).sum(1))
        by_agent = torch.cat(parts, 1)
        by_side = torch.stack([by_agent[:, agents].sum(1) for agents in self.sides.values()], 1)
        results = {}
        for side, found in zip(self.sides, self.ranks.sum(by_side).T.tolist(), strict=True):
            episodes, total, steps = found
            many = episodes or float("nan")
            results[column(TRAINING, side)] = total / many
            results[column(TRAINING_LENGTH, side)] = steps / many
        return results

    # The state in a checkpoint.

    def state(self) -> dict[str, Any] | None:
        """Return the full state of the run; None on all ranks but the first."""
        parts = [b"".join(_bytes(array) for array in part) for part in self._kept()]
        gathered = [self.ranks.gather(part) for part in (self.env.simulator.save(), *parts)]
        if gathered[0] is None:
            return None
        return {
            "updates": self.updates,
            "steps": self.steps,
            "began": self.began,
            "learners": [learner.state() for learner in self.learners],
            "worlds": [list(part) for part in zip(*gathered, strict=True)],
        }

    def load(self, state: Mapping[str, Any]) -> bool:
        """Restore a state; False where another number of ranks makes the worlds start over."""
        self.updates, self.steps = state["updates"], state["steps"]
        self.began = state.get("began", 0)  # missing in older checkpoints
        self.clock.fill_(self.updates)
        for learner, kept in zip(self.learners, state["learners"], strict=True):
            learner.load(kept)
        if len(state["worlds"]) != self.ranks.count:
            self._begin(self.config.seed + self.updates)
            self.began = self.updates
            return False
        worlds, *parts = state["worlds"][self.ranks.rank]
        self.env.simulator.load(worlds)
        for arrays, data in zip(self._kept(), parts, strict=True):
            begin = 0
            for place in arrays:
                end = begin + place.numel() * place.element_size()
                kept = torch.frombuffer(bytearray(data[begin:end]), dtype=place.dtype)
                place.copy_(kept.view(place.shape))
                begin = end
        self.stepper.resume()
        return True

    def _kept(self) -> list[list[Tensor]]:
        """Return the rollouts' state in a checkpoint: who has ended, memories, and names."""
        memories = [r.memory[-1] for r in self.rollouts if r.memory is not None]
        kept = [[self.stepper.gone], memories, [r.begins[-1] for r in self.rollouts]]
        names = self.stepper.names
        return kept if names is None else [*kept, [names.episode]]


def _bytes(array: Tensor) -> bytes:
    data: bytes = array.cpu().numpy().tobytes()
    return data


def _warn_of_guesses(config: Config, limit: int, say: Callable[[str], None]) -> None:
    """Say where the critic is asked for values that it was never taught."""
    if config.decisions == "choice" and limit and not config.finite:
        say(
            "warning: --decisions choice teaches the critic at choices alone, and an episode "
            f"cut short (max_episode_steps={limit}) may end at none: what would follow is a "
            "guess there; --finite leaves it out"
        )
