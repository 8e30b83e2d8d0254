"""PPO (Schulman et al. 2017), and A2C as the case of one plain step.

Read from top to bottom: advantages, a learner (one policy, its optimiser and its loss), and the
trainer's loop over rollout and update. What a rollout stores is in `rollout`.

The simulator writes each step straight into the rollout (`out=`), on the device where the policies
run; nothing is copied and nothing waits for the device until an update asks how many samples there
are. On a GPU a rollout is one CUDA graph and a gradient step another.

A row is one agent of one world. It *decides* in the steps in which it is active: a transition runs
from one decision of a row to its next, and the rewards between them are summed, so that who waits
for a turn learns from what the others bring about. Where an episode was cut short, the value of its
last observation is added to its last reward. The last decision of a row that waits when the rollout
ends is left out: what it led to is not known yet.
"""

from __future__ import annotations

import contextlib
import functools
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from gpu_envs import VectorEnv
from gpu_envs.train import by_role, optimiser
from gpu_envs.train.config import Config, flag_of
from gpu_envs.train.distributions import Distribution, of_space
from gpu_envs.train.fused import Drawing, Losing, Space, follow
from gpu_envs.train.graphs import Captured
from gpu_envs.train.layers import RowShape
from gpu_envs.train.networks import Policy
from gpu_envs.train.noise import ACTIONS, OTHERS, SHUFFLES, Noise
from gpu_envs.train.ranks import Ranks
from gpu_envs.train.rewards import Rewards
from gpu_envs.train.rollout import Rollout
from gpu_envs.train.self_play import Past, Seats, groups, role_of_policy, sides
from gpu_envs.train.told import TRAINING, TRAINING_LENGTH, column

LOSSES = ("policy_loss", "value_loss", "entropy", "approx_kl", "clipfrac")
_SCALE_MEMORY = 0.99  # of the running scale of values, per update

# ---- advantages


def backward_sums(keep: Tensor, add: Tensor) -> Tensor:
    """Return x with x[t] = keep[t] x[t + 1] + add[t] and nothing behind the end.

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
    # Beyond step t: the value of the next decision, whether there is one or an end, and the rewards
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


# ---- one learner


@dataclass(frozen=True)
class Stage:
    """What all learners of a run share, and what they draw by."""

    config: Config
    ranks: Ranks
    rollout: Rollout
    shape: RowShape
    actions: Distribution
    space: Space
    clock: Tensor  # number of the update, on the device: captured graphs read it
    first_row: int  # of this process among those of all

    def drawing(
        self, rows: Tensor | None, policy: Policy | None, *, is_own: bool = False
    ) -> Drawing:
        """Return what draws for some rows; chance alone draws anew in every step."""
        hold = 1 if policy is None else self.config.hold_noise
        stream = OTHERS if hold != self.config.hold_noise else ACTIONS
        noise = Noise(self.config.seed, stream, self.rollout.device)
        where = (self.clock, self.first_row)
        return Drawing(
            self.space, self.rollout, rows, policy, noise, *where, hold=hold, is_own=is_own
        )


class Learner:
    """One policy with its optimiser, and the rows that it plays and learns from.

    Args:
        name: Of its role.
        rows: Its rows; None for all.
        past: Those of its rows that an earlier version of it plays; None for none.
        stage: Where it plays.
    """

    def __init__(self, name: str, rows: Tensor | None, past: Past | None, stage: Stage) -> None:
        self.name, self.rows, self.past, self.rollout = name, rows, past, stage.rollout
        self.actions, self.ranks = stage.actions, stage.ranks
        self.config = stage.config.of_role(role_of_policy(stage.config, name))
        rollout, config = self.rollout, self.config
        self.device = device = rollout.device

        def new() -> Policy:
            return Policy(stage.shape, stage.actions, config).to(device)

        self.policy = new()
        # Before anything has the addresses of its parameters.
        self.parameters = list(self.policy.parameters())
        self.flat = optimiser.Flat(self.parameters)
        self.optimiser = optimiser.make(config, self.flat)
        self.draw = stage.drawing(rows, self.policy, is_own=True)
        if past is not None:
            past.policy = new().requires_grad_(False)
            at = past.positions if rows is None else rows[past.positions]
            past.draw = stage.drawing(at, past.policy)
        every = torch.arange(rollout.rows, device=device)
        self.worlds = (every if rows is None else rows) // rollout.agents
        self.advantage, self.target = rollout.array(torch.float), rollout.array(torch.float)
        self.known = rollout.array(torch.bool)  # what is learned from
        self.entropy_weight = torch.zeros((), device=device)
        self.losses = torch.zeros(len(LOSSES), device=device)  # sums over the update's steps
        self.gradient_steps = 0  # of the update
        self.lose = Losing(
            *(stage.space, rollout, self.policy, self.advantage, self.target, self.known),
            self.entropy_weight,
            config,
        )

    def set(self, fraction: float) -> None:
        """Set what changes over a run, for a fraction of it."""
        first, last = self.config.entropy, self.config.entropy_end
        self.optimiser.rate.fill_(optimiser.learning_rate(self.config, fraction))
        self.entropy_weight.fill_(first if last != last else first + (last - first) * fraction)

    def precision(self) -> contextlib.AbstractContextManager[Any]:
        """Return the context in which networks are evaluated."""
        if self.config.precision == "bf16":
            return torch.autocast(self.device.type, torch.bfloat16)
        return contextlib.nullcontext()

    def act(self, t: int) -> None:
        """Decide step t."""
        rows, rollout = self.rows, self.rollout
        obs, memory = rollout.steps[t]
        if rows is not None:
            obs, memory = obs[rows], None if memory is None else memory[rows]
        memory = self._own(memory)
        with self.precision():
            outputs, value, after = self.policy.plain(obs, memory, rollout.states(t, self.worlds))
        self.draw(t, outputs, value)
        if self.past is not None:
            after = self.past.act(t, obs, memory, after)
        if after is None:
            return
        later = self._own(rollout.steps[t + 1][1])
        assert later is not None  # or there would be nothing to remember
        if rows is None:
            later.copy_(after)
        else:
            later[rows] = after

    def _own(self, memory: Tensor | None) -> Tensor | None:
        """Return the part of memories that the policy has: other roles may remember more."""
        size = self.policy.memory_size
        if memory is None or size == memory.shape[-1]:
            return memory
        return memory[..., :size] if size else None

    @torch.no_grad()
    def values(self, value: Tensor, reward: Tensor) -> None:
        """Fill in the values behind the rollout, and add those behind episodes cut short."""
        rollout, rows = self.rollout, slice(None) if self.rows is None else self.rows
        obs, memory = rollout.steps[-1]
        memory = self._own(None if memory is None else memory[rows])
        with self.precision():
            state = rollout.states(-1, self.worlds)
            value[-1, rows] = self.policy.value(obs[rows], memory, state)
        cut = rollout.truncated & ~rollout.terminated & rollout.ended
        if self.rows is not None:
            cut = cut & torch.zeros_like(cut).index_fill_(1, self.rows, True)
        step, row = cut.nonzero(as_tuple=True)
        if not len(step):
            return
        memory, state = None, rollout.last_states(step, row // rollout.agents)
        if (
            self.policy.memory_size and rollout.memory is not None
        ):  # what was remembered when the last observation came
            before = self._own(rollout.memory[step, row])
            memory = self.policy.plain(rollout.obs[step, row], before)[2]
        with self.precision():
            last = self.policy.value(rollout.final_obs[step, row], memory, state)
        reward[step, row] += self.config.gamma * last

    def improve(self, advantage: Tensor, known: Tensor, value: Tensor, update: int) -> int:
        """Learn from the rollout; return how many samples there were, over all ranks."""
        config, target = self.config, advantage + value
        if self.rows is not None:
            known = known & torch.zeros_like(known).index_fill_(1, self.rows, True)
        if self.past is not None:
            known = known & self.past.learns
        weight = known.double()
        squares = [weight, weight * advantage, weight * advantage**2]
        squares += [weight * target, weight * target**2]
        sums = self.ranks.sum(torch.stack([part.sum() for part in squares]))
        if config.normalize_advantages:
            mean, square = sums[1:3] / sums[0].clamp(min=1)
            deviation = (square - mean.square()).clamp(min=0).sqrt()
            advantage = ((advantage - mean) / (deviation + 1e-8)).float()
        if config.normalize_values:
            self.policy.scale.update(sums[[0, 3, 4]], _SCALE_MEMORY)
        self.advantage.copy_(advantage)
        self.target.copy_((target - self.policy.scale.mean) / self.policy.scale.deviation)
        self.known.copy_(known)
        self.losses.zero_()
        self.gradient_steps = 0
        for index in self._minibatches(known, update):
            self.step(index)
            self.gradient_steps += 1
        if config.normalize_observations:  # behind the steps, which go by what the rollout saw
            state = self.rollout.state
            state = None if state is None else state[:-1].flatten(0, 1)
            self.policy.look(self.rollout.obs[:-1][known], state, self.ranks.sum)
        return int(sums[0])

    def _minibatches(self, known: Tensor, update: int) -> Any:
        """Yield the numbers of samples, or with a memory of rows, in random order each epoch."""
        config, length = self.config, self.rollout.length
        if self.policy.memory_size:
            samples = known.any(0).nonzero().squeeze(-1)
        else:
            samples = known.flatten().nonzero().squeeze(-1)
        count = self.ranks.lowest(len(samples))
        if count == 0:
            return
        size = config.minibatch // self.ranks.count
        size = max(1, size // length if self.policy.memory_size else size)
        epochs, size = (1, count) if config.is_a2c else (config.epochs, min(size, count))
        shuffles = Noise(config.seed, SHUFFLES, self.device)
        for epoch in range(epochs):
            order = shuffles.order(update * epochs + epoch, len(samples), self.ranks.rank)
            # All minibatches are of one size: the last one is filled up with the first samples.
            order = torch.cat((order[:count], order[: -count % size]))
            for chosen in torch.split(order, size):
                yield samples[chosen]

    def step(self, index: Tensor) -> None:
        """Take one gradient step; captured in two parts, for ranks meet between them."""
        self.gradient(index)
        if self.ranks.count > 1:
            self.ranks.sum(self.flat.gradient).div_(self.ranks.count)
        self.apply()

    def gradient(self, index: Tensor) -> None:
        """Put the gradient of the loss on some samples into the parameters."""
        r = self.rollout
        self.flat.gradient.zero_()
        counted, state = None, None
        with self.precision():
            memory = None if r.memory is None else self._own(r.memory[0])
            if memory is None:
                obs = r.obs[: r.length].flatten(0, 1).index_select(0, index)
                if r.state is not None:
                    state = r.state[: r.length].flatten(0, 1)[index // r.agents]
                outputs, value, back = self._traced(obs, state)
            else:
                obs, begins = r.obs[: r.length, index], r.begins[: r.length, index]
                if r.state is not None:
                    state = r.state[: r.length, index // r.agents]
                outputs, value = self.policy.sequence(obs, memory[index], begins, state)
                back = functools.partial(follow, outputs, value)
                counted = self.known[:, index].sum(dtype=torch.float)
        gradient, slope, losses = self.lose(index, outputs, value, counted)
        back(gradient, slope)
        self.losses += losses

    def _traced(
        self, obs: Tensor, state: Tensor | None
    ) -> tuple[Tensor, Tensor, Callable[[Tensor, Tensor], None]]:
        if self.policy.is_traced and self.config.precision != "bf16":
            return self.policy.traced(obs, state)
        outputs, value, _ = self.policy.plain(obs, None, state)
        return outputs, value, functools.partial(follow, outputs, value)

    def apply(self) -> None:
        """Move the parameters along their gradients."""
        if self.config.max_grad_norm > 0:
            gradient = self.flat.gradient
            size = torch.linalg.vector_norm(gradient)
            gradient.mul_((self.config.max_grad_norm / (size + 1e-6)).clamp_(max=1))
        self.optimiser.step()

    def state(self) -> dict[str, Any]:
        """Return what a checkpoint keeps."""
        past = None if self.past is None else self.past.state()
        return {
            "name": self.name,
            "policy": self.policy.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "past": past,
        }

    def load(self, state: Mapping[str, Any]) -> None:
        """Continue from what a checkpoint kept."""
        self.policy.load_state_dict(state["policy"])
        self.optimiser.load_state_dict(state["optimiser"])
        if self.past is not None:
            self.past.load(state["past"])


# ---- rollout, update, and again


class Trainer:
    """The worlds of this process, the learners that play in them, and their loop.

    Args:
        config: The run.
        env: The worlds of this process, in SameStep mode, with torch arrays.
        ranks: The processes of the run.
        say: Takes a line for the user.
    """

    def __init__(
        self, config: Config, env: VectorEnv, ranks: Ranks, say: Callable[[str], None]
    ) -> None:
        self.config, self.env, self.ranks = config, env, ranks
        self.device = torch.device(env.device)
        actions = self.actions = of_space(env.single_action_space, self.device)
        torch.manual_seed(config.seed)  # of the weights alone: the same on every rank
        self.rollout = Rollout(env, actions, config)
        self.clock = torch.zeros((), dtype=torch.int64, device=self.device)  # updates, for graphs
        stage = Stage(
            *(config, ranks, self.rollout, RowShape.of(env.simulator), actions),
            space=Space(env.simulator, actions, self.device),
            clock=self.clock,
            first_row=ranks.share(config.num_envs)[0] * env.agents_per_world,
        )
        by_role.check_roles(config.roles, groups("role", env.agent_names), flag_of)
        seats = Seats(config, env, self.device, stage.first_row)
        self.learners = [Learner(*seat, stage) for seat in seats.learners()]
        chance = seats.without_policy()
        self.others = None if chance is None else stage.drawing(chance, None)
        self.sides = {
            side: torch.tensor(agents, device=self.device)
            for side, agents in sides(env.agent_names, config.learn).items()
        }
        self.learned = torch.zeros(self.rollout.rows, dtype=torch.bool, device=self.device)
        for learner in self.learners:
            part = slice(None) if learner.rows is None else learner.rows
            self.learned[part] = True if learner.past is None else learner.past.learns[part]
        self.rewards = Rewards(config, env.simulator, self.device)
        self.updates = self.steps = 0
        self.began = 0  # update before which all worlds began at once
        limit = env.simulator.max_episode_steps
        self.starts = math.ceil(limit / config.rollout) if config.stagger else 1
        if config.stagger and not limit:
            raise ValueError("--stagger needs an environment with a time limit (max_episode_steps)")
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

    def start(self) -> None:
        """Begin the first episodes."""
        r = self.rollout
        r.start(*self.env.reset(seed=self.config.seed))
        for learner in self.learners:  # so that the first rollout is normalised too
            rows = slice(None) if learner.rows is None else learner.rows
            state = None if r.state is None else r.state[-1]
            learner.policy.look(r.obs[-1, rows], state, self.ranks.sum)

    def stagger(self) -> None:
        """Let a part of the worlds begin anew, before each rollout of the first episodes.

        Else worlds whose episodes are equally long would all be at the same step for good, and
        every update would know one part of an episode.
        """
        number = self.updates - self.began
        if not 0 < number < self.starts:
            return
        r, first = self.rollout, self.ranks.share(self.config.num_envs)[0]
        world = first + torch.arange(self.env.num_worlds)
        mask = world * self.starts // self.config.num_envs == number
        if not mask.any():
            return
        r.start(*self.env.reset(options={"reset_mask": mask.to(self.device)}))
        if r.memory is not None:
            rows = mask.to(self.device).repeat_interleave(r.agents)
            r.gone &= ~rows
            r.begins[-1] |= rows
            r.memory[-1].masked_fill_(rows.unsqueeze(-1), 0)

    def time_simulation(self) -> None:
        """Take the simulator's share of a rollout: on a GPU a rollout cannot be looked into.

        The worlds are to begin, or to be loaded, afterwards.
        """
        step, rollout = self.env.simulator.step_arrays, self.rollout
        self.env.reset(seed=self.config.seed)
        action = rollout.taken[0]
        for _ in range(2):  # the first time loads kernels
            begin = self._now()
            for slot in rollout.slots:
                step(action, True, slot)
            self.simulation = self._now() - begin
        with contextlib.suppress(ValueError, RuntimeError):
            self.env.check()  # forgets what these actions did wrong

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

    def iterate(self) -> dict[str, float]:
        """Play a rollout and learn from it; return what there is to report."""
        begin, simulated = self._now(), self.seconds["simulation"]
        self.stagger()
        fraction = min(self.steps / self.config.total_steps, 1.0)
        self.rewards.set(fraction)
        for learner in self.learners:
            learner.set(fraction)
            if learner.past is not None:
                learner.past.choose(learner.policy, self.updates)
        self._play()
        middle = self._now()
        self.seconds["simulation"] += self.simulation
        samples = self._learn()
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
        rollout, step, clock = self.rollout, self.env.simulator.step_arrays, time.perf_counter
        rollout.turn()
        simulation = 0.0
        for t in range(rollout.length):
            for learner in self.learners:
                learner.act(t)
            if self.others is not None:
                self.others(t)
            begin = clock()
            step(rollout.taken[t], True, rollout.slots[t])
            simulation += clock() - begin
            if rollout.memory is not None:
                rollout.remember(t)
        if self.device.type == "cpu":
            self.seconds["simulation"] += simulation

    def _learn(self) -> list[int]:
        r = self.rollout
        with torch.no_grad():
            reward = self.rewards.of(r.reward, r.parts)
            value = torch.cat((r.value, torch.zeros_like(r.value[:1])))
            for learner in self.learners:
                learner.values(value, reward)
            decides = torch.ones_like(value, dtype=torch.bool) if r.active is None else r.active
            ways = {(x.config.gamma, x.config.gae_lambda) for x in self.learners}
            found = {way: advantages(reward, value, decides, r.ended, *way) for way in ways}
        return [
            x.improve(*found[x.config.gamma, x.config.gae_lambda], value[:-1], self.updates)
            for x in self.learners
        ]

    def _rates(self, fraction: float) -> dict[str, float]:
        """Return what changes over a run: of each role where they have options of their own."""
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
        return results

    def _episodes(self) -> dict[str, float]:
        """Return what the episodes that ended came to for those who learn, side by side."""
        r = self.rollout
        counted = r.ended.double() * self.learned
        sums = torch.stack([(counted * part).sum(0) for part in (1, r.returns, r.lengths)])
        by_agent = sums.view(3, -1, r.agents).sum(1)
        by_side = torch.stack([by_agent[:, agents].sum(1) for agents in self.sides.values()], 1)
        results = {}
        for side, found in zip(self.sides, self.ranks.sum(by_side).T.tolist(), strict=True):
            episodes, total, steps = found
            many = episodes or float("nan")
            results[column(TRAINING, side)] = total / many
            results[column(TRAINING_LENGTH, side)] = steps / many
        return results

    # What a checkpoint keeps.

    def state(self) -> dict[str, Any] | None:
        """Return everything that decides how the run goes on; None on all ranks but the first."""
        r = self.rollout
        gone = r.gone.cpu().numpy().tobytes()
        memory = b"" if r.memory is None else r.memory[-1].cpu().numpy().tobytes()
        begins = r.begins[-1].cpu().numpy().tobytes()
        parts = (self.env.simulator.save(), gone, memory, begins)
        gathered = [self.ranks.gather(part) for part in parts]
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
        """Go on from there; False where the worlds begin anew, for another number of ranks."""
        self.updates, self.steps = state["updates"], state["steps"]
        self.began = state.get("began", 0)  # older checkpoints say nothing
        self.clock.fill_(self.updates)
        for learner, kept in zip(self.learners, state["learners"], strict=True):
            learner.load(kept)
        if len(state["worlds"]) != self.ranks.count:
            self.rollout.start(*self.env.reset(seed=self.config.seed + self.updates))
            self.began = self.updates
            return False
        worlds, gone, memory, begins = state["worlds"][self.ranks.rank]
        self.env.simulator.load(worlds)
        seen, r = self.env.simulator.observe(), self.rollout
        infos = {"action_mask": seen.action_mask, "agent_active": seen.agent_active}
        flat = {n: None if a is None else a.flatten(0, 1) for n, a in infos.items()}
        flat["state"] = seen.state
        r.start(seen.obs.flatten(0, 1), flat)
        for array, data in ((r.gone, gone), (r.begins[-1], begins), (r.memory, memory)):
            if array is not None:
                place = array[-1] if array is r.memory else array
                kept = torch.frombuffer(bytearray(data), dtype=place.dtype)
                place.copy_(kept.view(place.shape))
        return True
