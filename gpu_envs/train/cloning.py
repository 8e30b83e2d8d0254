"""Behaviour cloning: policies learn to act as in a data set, before PPO goes on from there.

A policy learns from the games of the agents that it plays: the actions' likelihood is raised where
there was a choice, and the critic learns the discounted returns that followed. Every twentieth game
is held out; what share of its actions the policy would take is told after each pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from torch import Tensor

from gpu_envs import errors
from gpu_envs.policies.distributions import Categorical
from gpu_envs.policies.layered import Layered, Rows, joined
from gpu_envs.policies.networks import Policy
from gpu_envs.policies.options import flag_of
from gpu_envs.policies.sharing import groups
from gpu_envs.train.data.games import Track
from gpu_envs.train.data.minari_files import DataSet
from gpu_envs.train.learner import Learner
from gpu_envs.train.ppo import Trainer

_HELD_OUT = 20  # every n-th game
_MINIBATCH = 256  # samples of a gradient step, where --minibatch is not less
_LOOK = 1 << 16  # rows of observations at once, for their statistics


@dataclass
class _Piece:
    """Steps of one agent in a row: a whole episode, or a part of one where there is memory."""

    obs: Rows
    action: Tensor
    mask: Tensor | None
    weight: Tensor  # 1 where there was a choice
    target: Tensor  # of the critic, in the units of rewards
    side_by_side: int = 0  # pieces, of which the rows are one step after the other; 0: no order


class _Lessons:
    """What one policy learns from, and what is held out."""

    def __init__(self, learner: Learner) -> None:
        self.learner = learner
        self.kind = learner.rollout.kind
        self.learned: list[_Piece] = []
        self.held_out: list[_Piece] = []

    def add(self, track: Track, *, is_held_out: bool) -> None:
        """Add an episode."""
        config, memory = self.learner.config, self.learner.policy.memory_size
        whole = self._piece(track)
        kept = self.held_out if is_held_out else self.learned
        if not memory:
            at = whole.weight.nonzero().squeeze(-1)
            kept.append(_cut(whole, at))
            return
        steps = torch.arange(len(whole.weight), device=whole.weight.device)
        kept += [_cut(whole, at) for at in torch.split(steps, config.rollout)]

    def gather(self) -> None:
        """Join episodes whose order does not matter."""
        if not self.learner.policy.memory_size:
            self.learned = [_joined(self.learned)]
            self.held_out = [_joined(self.held_out)] if self.held_out else []

    def _piece(self, track: Track) -> _Piece:
        ends = track.terminations | track.truncations
        count = int(ends.argmax()) + 1 if ends.any() else len(ends)  # all may go on to the last end
        seen, device = track.observations, self.learner.device
        if isinstance(seen, Mapping):
            obs: Rows = Layered({n: torch.from_numpy(part[:count]) for n, part in seen.items()})
        else:
            obs = torch.from_numpy(seen[:count])
        mask = track.infos.get("action_mask")
        weight = np.ones(count, np.float32)
        if "agent_active" in track.infos:
            weight *= track.infos["agent_active"][:count]
        if mask is not None:
            weight *= self._has_choice(mask[:count])
        action = torch.from_numpy(track.actions[:count]).to(device)
        return _Piece(
            _on(obs, device),
            self.kind.actions.stored(action),
            None if mask is None else torch.from_numpy(mask[:count]).to(device),
            torch.from_numpy(weight).to(device),
            torch.from_numpy(_returns(track.rewards[:count], self.learner.config.gamma)).to(device),
        )

    def _has_choice(self, mask: Any) -> Any:
        counts = getattr(self.kind.actions, "counts", (mask.shape[-1],))
        heads = np.split(mask != 0, np.cumsum(counts)[:-1], -1)
        return np.any([head.sum(-1) > 1 for head in heads], 0)


def _cut(piece: _Piece, at: Tensor) -> _Piece:
    mask = None if piece.mask is None else piece.mask[at]
    return _Piece(piece.obs[at], piece.action[at], mask, piece.weight[at], piece.target[at])


def _on(obs: Rows, device: torch.device) -> Rows:
    if isinstance(obs, Layered):
        return Layered({name: part.to(device) for name, part in obs.parts.items()})
    return obs.to(device)


def _returns(rewards: Any, gamma: float) -> Any:
    """Return the discounted sums of what follows, as if nothing came after the end."""
    found = np.zeros(len(rewards), np.float32)
    later = 0.0
    for step in reversed(range(len(rewards))):
        later = float(rewards[step]) + gamma * later
        found[step] = later
    return found


def clone(trainer: Trainer, data: DataSet, say: Callable[[str], None]) -> None:
    """Let the policies of a run imitate a data set.

    Args:
        trainer: Of the run.
        data: The data set.
        say: Called with a line for the user.
    """
    config = trainer.config
    _require_alike(trainer, data, say)
    of_agent = _learners_of(trainer)
    lessons = {learner.name: _Lessons(learner) for learner in trainer.learners}
    for game in data.games():
        for agent, track in game.tracks.items():
            name = of_agent.get(agent)
            if name is not None:
                is_held_out = game.number % _HELD_OUT == _HELD_OUT - 1
                lessons[name].add(track, is_held_out=is_held_out)
    choices = {
        name: sum(int(piece.weight.sum()) for piece in one.learned) for name, one in lessons.items()
    }
    for name, rows in choices.items():
        if not rows:
            raise ValueError(
                f"--clone: {data.name!r} has no choices of {name}; --learn ROLE trains one role"
            )
    for name, one in lessons.items():
        rows = choices[name]
        one.gather()
        say(f"cloning {name}: {rows:,} choices of {data.name}")
        _learn(one, config.clone_epochs, config.seed, say)


def _learners_of(trainer: Trainer) -> dict[str, str]:
    """Return the name of the learner of each agent that has one."""
    config, env = trainer.config, trainer.env
    names = env.simulator.named_agents()
    found = groups(config.policies, names, config.learn)
    return {names[agent]: name for name, agents in found.items() for agent in agents}


def _require_alike(trainer: Trainer, data: DataSet, say: Callable[[str], None]) -> None:
    """Refuse a data set that does not fit the run; say where its parameters differ."""
    config, simulator = trainer.config, trainer.env.simulator
    recorded = data.facts["environment"]
    if recorded != config.env:
        raise ValueError(f"--clone: {data.name!r} was recorded in {recorded}, not in {config.env}")
    seen, done = data.minari.observation_space, data.minari.action_space
    for role in simulator.roles:
        pairs = (
            [(seen, done)]
            if not data.is_together
            else [(seen[agent], done[agent]) for agent in role.agents if agent in seen.spaces]
        )
        if data.facts["role"] not in ("", role.name):
            continue
        for pair in pairs[:1]:
            own = (role.observation_space, role.action_space)
            if pair != own:
                raise ValueError(
                    f"--clone: {data.name!r} has observations {_short(pair[0])} and actions "
                    f"{_short(pair[1])}, {role.name} of this run {_short(own[0])} and "
                    f"{_short(own[1])}"
                )
    there = {**data.facts["parameters"], **data.facts["varying"]}
    here = {**config.parameters, **config.varying}
    apart = sorted(n for n in {*there, *here} if there.get(n) != here.get(n))
    if apart:
        words = [
            f"{flag_of(n)} {there.get(n, 'by default')} there, {here.get(n, 'by default')} here"
            for n in apart
        ]
        say(f"{data.name} was recorded with other parameters: {errors.listed(words)}")


def _short(space: Any) -> str:
    """Return a space in a line: of a Box its shape and type."""
    if isinstance(space, spaces.Dict):
        return f"Dict({', '.join(f'{n}: {_short(part)}' for n, part in space.spaces.items())})"
    return f"Box{space.shape} of {space.dtype}" if isinstance(space, spaces.Box) else str(space)


# ---- learning


def _learn(lessons: _Lessons, epochs: int, seed: int, say: Callable[[str], None]) -> None:
    learner, pieces = lessons.learner, lessons.learned
    policy, config = learner.policy, learner.config
    _look(policy, pieces)
    targets = torch.cat([piece.target for piece in pieces]).double()
    if config.normalize_values:
        sums = torch.stack((torch.ones_like(targets), targets, targets.square())).sum(1)
        policy.scale.update(sums, 0.0)
    adam = torch.optim.Adam(learner.parameters, lr=config.learning_rate)
    draws = np.random.default_rng(seed)
    for epoch in range(epochs):
        adam.param_groups[0]["lr"] = config.learning_rate * (1 - epoch / epochs)
        losses = []
        for batch in _batches(lessons, pieces, draws):
            loss, _ = _loss(policy, batch, config.value_weight)
            for weight in learner.parameters:
                if weight.grad is not None:
                    weight.grad.zero_()
            torch.autograd.backward(loss)
            torch.nn.utils.clip_grad_norm_(learner.parameters, config.max_grad_norm)
            adam.step()
            losses.append(float(loss.detach()))
        say(f"  pass {epoch + 1} of {epochs}: loss {np.mean(losses):.4f}{_told(lessons)}")


def _look(policy: Policy, pieces: list[_Piece]) -> None:
    """Update the statistics of observations by those of the data set."""
    if policy.inputs is None:
        return
    rows = joined([piece.obs for piece in pieces])
    for begin in range(0, len(rows), _LOOK):
        policy.look(rows[begin : begin + _LOOK], None, lambda sums: sums)


def _batches(lessons: _Lessons, pieces: list[_Piece], draws: Any) -> Iterator[_Piece]:
    """Yield minibatches in a drawn order: rows, or with memory pieces side by side."""
    config = lessons.learner.config
    size = min(config.minibatch, _MINIBATCH)
    if not lessons.learner.policy.memory_size:
        (whole,) = pieces
        order = torch.from_numpy(draws.permutation(len(whole.weight))).to(whole.weight.device)
        for at in torch.split(order, size):
            yield _cut(whole, at)
        return
    side_by_side = max(1, size // config.rollout)
    order = draws.permutation(len(pieces))
    for begin in range(0, len(order), side_by_side):
        yield _padded([pieces[k] for k in order[begin : begin + side_by_side]])


def _joined(pieces: list[_Piece]) -> _Piece:
    masks = [piece.mask for piece in pieces if piece.mask is not None]
    return _Piece(
        joined([piece.obs for piece in pieces]),
        torch.cat([piece.action for piece in pieces]),
        torch.cat(masks) if masks else None,
        torch.cat([piece.weight for piece in pieces]),
        torch.cat([piece.target for piece in pieces]),
    )


def _padded(pieces: list[_Piece]) -> _Piece:
    """Return pieces as (steps, pieces, ...); their ends are repeated, and weigh nothing."""
    length = max(len(piece.weight) for piece in pieces)
    ats = [torch.arange(length).clamp(max=len(piece.weight) - 1) for piece in pieces]
    whole = _joined([_cut(p, at.to(p.weight.device)) for p, at in zip(pieces, ats, strict=True)])
    for k, piece in enumerate(pieces):
        whole.weight[k * length + len(piece.weight) : (k + 1) * length] = 0
    # From piece after piece to step after step.
    turn = torch.arange(length * len(pieces)).view(len(pieces), length).t().reshape(-1)
    return replace(_cut(whole, turn.to(whole.weight.device)), side_by_side=len(pieces))


def _loss(policy: Policy, batch: _Piece, value_weight: float) -> tuple[Tensor, Tensor]:
    """Return the loss, and how many of the choices the policy would take."""
    actions = policy.actions
    if policy.memory_size:
        outputs, value = _through_memory(policy, batch)
    else:
        outputs, value, _ = policy.plain(batch.obs)
    outputs = policy._normalised(outputs, batch.mask)
    weight = batch.weight / batch.weight.sum().clamp(min=1)
    loss = -(actions.log_prob(outputs, batch.action) * weight).sum()
    if not policy.sees_state and value_weight:
        target = (batch.target - policy.scale.mean) / policy.scale.deviation
        loss = loss + value_weight * 0.5 * ((value - target).square() * weight).sum()
    alike = actions.likeliest(outputs) == batch.action
    alike = alike if alike.dim() == 1 else alike.all(-1)
    return loss, (alike * batch.weight).sum()


def _through_memory(policy: Policy, batch: _Piece) -> tuple[Tensor, Tensor]:
    """Return outputs and values of pieces side by side, each from an empty memory on."""
    shape = (-1, batch.side_by_side)
    if isinstance(batch.obs, Layered):
        obs: Rows = Layered({n: _apart(part, shape) for n, part in batch.obs.parts.items()})
    else:
        obs = _apart(batch.obs, shape)
    begins = _apart(torch.zeros_like(batch.weight, dtype=torch.bool), shape)
    memory = batch.weight.new_zeros((batch.side_by_side, policy.memory_size))
    outputs, value = policy.sequence(obs, memory, begins)
    return outputs.flatten(0, 1), value.flatten(0, 1)


def _apart(rows: Tensor, shape: tuple[int, int]) -> Tensor:
    return rows.reshape(*shape, *rows.shape[1:])


def _told(lessons: _Lessons) -> str:
    """Return the share of held-out choices that the policy would make."""
    if not lessons.held_out:
        return ""
    policy, sums = lessons.learner.policy, torch.zeros(3)
    with torch.no_grad():
        for batch in _batches(lessons, lessons.held_out, np.random.default_rng(0)):
            loss, alike = _loss(policy, batch, 0.0)
            count = batch.weight.sum()
            sums += torch.stack((count, loss * count, alike)).cpu()
    count, loss, alike = sums.tolist()
    told = f"; held out: loss {loss / max(count, 1):.4f}"
    is_choice = isinstance(policy.actions, Categorical)
    return f"{told}, {100 * alike / max(count, 1):.1f} % of actions" if is_choice else told
