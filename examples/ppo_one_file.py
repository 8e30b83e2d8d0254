"""PPO (Schulman et al. 2017) in one file, to read and to change: one policy, one plain loop.

    python examples/ppo_one_file.py CartPole-v0
    python examples/ppo_one_file.py TagGrid-v0 num_taggers=4 grid_length=20 --goal inf
    python examples/ppo_one_file.py Hanabi-v0 preset=very_small --num-envs 256 --entropy 0.05

It needs PyTorch and an environment whose actions are Discrete. Every agent of every world is a row
of the batch and all rows share the policy, so several agents need no code of their own. Three
things are easily done wrong, and their lines are marked:

    [end]    An observation that comes with the end of an episode is the first of the next one
             (SameStep). Where a time limit cut the episode short, what was still to come is worth
             something: the value of the last observation, which is in infos["final_obs"].
    [mask]   Where the environment says which actions are legal, the others get no probability,
             when actions are drawn and again when their probability is looked up.
    [turn]   An agent that waits for its turn, or that has left before its world ended, decides
             nothing: such rows teach the critic and not the policy.
"""

from __future__ import annotations

import argparse
import ast
import time
from typing import Any

import torch
from torch import Tensor, nn
from torch.distributions import Categorical

import gpu_envs

EVALUATED = 100  # worlds of an evaluation, an episode each


class Networks(nn.Module):
    """The policy and the critic, which share nothing."""

    def __init__(self, inputs: int, actions: int, hidden: int) -> None:
        super().__init__()
        self.policy = self.layers(inputs, hidden, actions, 0.01)
        self.critic = self.layers(inputs, hidden, 1, 1.0)

    @staticmethod
    def layers(inputs: int, hidden: int, outputs: int, last_gain: float) -> nn.Sequential:
        """Return two hidden layers and one of outputs."""
        sizes = ((inputs, hidden, 2**0.5), (hidden, hidden, 2**0.5), (hidden, outputs, last_gain))
        parts: list[nn.Module] = []
        for size, more, gain in sizes:
            parts += [nn.Linear(size, more), nn.Tanh()]
            nn.init.orthogonal_(parts[-2].weight, gain)  # type: ignore[arg-type]
            nn.init.zeros_(parts[-2].bias)  # type: ignore[arg-type]
        return nn.Sequential(*parts[:-1])

    def actions(self, obs: Tensor, mask: Tensor | None) -> Categorical:
        """Return how likely each action is."""
        logits = self.policy(obs)
        if mask is not None:
            logits = logits.masked_fill(mask == 0, -1e9)  # [mask]
        return Categorical(logits=logits)

    def value(self, obs: Tensor) -> Tensor:
        """Return what is still to come, discounted."""
        return self.critic(obs).squeeze(-1)


def plain(obs: Tensor) -> Tensor:
    """Return observations, whatever their type and shape, as rows of floats."""
    return obs.flatten(1).float()


def make(options: argparse.Namespace, num_envs: int, first_world: int = 0) -> Any:
    """Make a batch of worlds whose arrays are tensors."""
    return gpu_envs.make_vec(
        options.env,
        num_envs,
        device=options.device,
        arrays="torch",
        first_world=first_world,
        **dict(options.parameters),
    )


@torch.no_grad()
def advantages(
    rewards: Tensor, values: Tensor, dones: Tensor, after: Tensor, gamma: float, trace: float
) -> Tensor:
    """Return generalised advantages (Schulman et al. 2016), a line per step, a column per row.

    `dones` is 1 where an episode ended with the step, `after` the value behind the last one.
    """
    found, later = torch.zeros_like(rewards), torch.zeros_like(after)
    for t in reversed(range(len(rewards))):
        goes_on = 1 - dones[t]  # else the observation behind the step is another episode's
        surprise = rewards[t] + gamma * goes_on * after - values[t]
        later = surprise + gamma * trace * goes_on * later
        found[t], after = later, values[t]
    return found


def loss(
    networks: Networks, batch: list[Tensor], mask: Tensor | None, options: argparse.Namespace
) -> Tensor:
    """Return what a gradient step makes smaller, of some samples."""
    obs, action, old, advantage, target, decided = batch
    count = decided.sum().clamp(min=1)
    mean = (advantage * decided).sum() / count
    deviation = ((advantage - mean).square() * decided).sum().div(count).sqrt()
    advantage = (advantage - mean) / (deviation + 1e-8) * decided  # [turn]
    actions = networks.actions(obs, mask)
    ratio = (actions.log_prob(action) - old).exp()
    clipped = ratio.clamp(1 - options.clip, 1 + options.clip)
    gain = torch.minimum(ratio * advantage, clipped * advantage).sum() / count
    entropy = (actions.entropy() * decided).sum() / count
    critic = (networks.value(obs) - target).square().mean()
    return 0.5 * critic - gain - options.entropy * entropy


def learn(networks: Networks, adam: Any, rollout: list[Tensor], masks: Any, options: Any) -> None:
    """Go through the samples of a rollout `epochs` times, by gradient steps on minibatches."""
    batch = [a.flatten(0, 1) for a in rollout]
    for _ in range(options.epochs):
        order = torch.randperm(len(batch[0]), device=batch[0].device)
        for chosen in order.split(options.minibatch):
            mask = None if masks is None else masks.flatten(0, 1)[chosen]
            adam.zero_grad()
            loss(networks, [a[chosen] for a in batch], mask, options).backward()
            nn.utils.clip_grad_norm_(networks.parameters(), 0.5)
            adam.step()


@torch.no_grad()
def evaluate(networks: Networks, env: Any, most_steps: int = 10_000) -> float:
    """Play an episode in every row by the likeliest actions; return the mean of their returns."""
    obs, infos = env.reset(seed=1)
    returns = torch.zeros(env.num_envs, device=env.device)
    over = torch.zeros(env.num_envs, dtype=torch.bool, device=env.device)
    for _ in range(most_steps):
        likeliest = networks.actions(plain(obs), infos.get("action_mask")).probs.argmax(-1)
        obs, _, _, _, infos = env.step(likeliest)
        ended = infos["_episode_stats"] & ~over  # of each row its first episode alone
        returns[ended] = infos["episode_stats"]["r"][ended]
        over |= ended
        if over.all():
            return float(returns.mean())
    raise SystemExit(f"an episode of {env} takes more than {most_steps} steps")


def main(arguments: list[str] | None = None) -> float:
    """Train until an evaluation reaches the goal; return the last one."""
    options = parsed(arguments)
    torch.manual_seed(options.seed)
    env = make(options, options.num_envs)
    judged = make(options, EVALUATED, first_world=1 << 24)  # other worlds than those of training
    if not hasattr(env.single_action_space, "n"):
        raise SystemExit(f"{options.env}: this file knows Discrete actions alone")
    steps, rows, device = options.rollout, env.num_envs, torch.device(env.device)
    obs, infos = env.reset(seed=options.seed)
    obs = plain(obs)
    networks = Networks(obs.shape[1], int(env.single_action_space.n), options.hidden).to(device)
    adam = torch.optim.Adam(networks.parameters(), lr=options.learning_rate, eps=1e-5)
    updates = max(1, options.total_steps // (steps * rows))
    begin, score = time.perf_counter(), float("nan")

    # What a rollout holds: a line per step, a column per row.
    seen = torch.zeros((steps, rows, obs.shape[1]), device=device)
    drawn = torch.zeros((steps, rows), dtype=torch.int64, device=device)
    logs, rewards, values, dones, decides = torch.zeros((5, steps, rows), device=device)
    masks = None
    if "action_mask" in infos:
        masks = torch.zeros((steps, *infos["action_mask"].shape), dtype=torch.int8, device=device)

    for update in range(updates):
        adam.param_groups[0]["lr"] = options.learning_rate * (1 - update / updates)

        # ---- play
        for t in range(steps):
            mask = infos.get("action_mask")
            with torch.no_grad():
                actions = networks.actions(obs, mask)
                drawn[t] = actions.sample()
                logs[t], values[t] = actions.log_prob(drawn[t]), networks.value(obs)
            seen[t], decides[t] = obs, infos.get("agent_active", torch.ones(rows, device=device))
            if masks is not None:
                masks[t] = mask
            obs, reward, terminated, truncated, infos = env.step(drawn[t])
            obs, rewards[t], dones[t] = plain(obs), reward, terminated | truncated
            cut = truncated & ~terminated
            if cut.any():
                with torch.no_grad():  # [end]
                    beyond = networks.value(plain(infos["final_obs"][cut]))
                rewards[t, cut] += options.gamma * beyond

        # ---- learn
        after = networks.value(obs)
        gains = advantages(rewards, values, dones, after, options.gamma, options.trace)
        learn(networks, adam, [seen, drawn, logs, gains, gains + values, decides], masks, options)

        # ---- tell
        if (update + 1) % options.evaluation_every == 0 or update + 1 == updates:
            score = evaluate(networks, judged)
            played, took = (update + 1) * steps * rows, time.perf_counter() - begin
            print(f"{played:>11,} steps  {took:7.1f} s  mean return {score:.2f}", flush=True)
            if score >= options.goal:
                break
    env.close()
    judged.close()
    return score


def parameter(text: str) -> tuple[str, Any]:
    """Read NAME=VALUE, a parameter of the environment."""
    name, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"write NAME=VALUE, not {text!r}")
    try:
        return name, ast.literal_eval(value)
    except (SyntaxError, ValueError):
        return name, {"true": True, "false": False}.get(value, value)


def parsed(arguments: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("env")
    parser.add_argument("parameters", nargs="*", type=parameter, metavar="NAME=VALUE")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--num-envs", type=int, default=32)
    parser.add_argument("--total-steps", type=int, default=500_000, help="of all rows")
    parser.add_argument("--goal", type=float, default=475.0, help="mean return to stop at")
    parser.add_argument("--evaluation-every", type=int, default=10, help="updates")
    parser.add_argument("--rollout", type=int, default=32, help="steps of a row per update")
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--minibatch", type=int, default=256)
    parser.add_argument("--learning-rate", type=float, default=2e-3)
    parser.add_argument("--hidden", type=int, default=64)
    parser.add_argument("--gamma", type=float, default=0.99)
    parser.add_argument("--trace", type=float, default=0.95, help="lambda of the advantages")
    parser.add_argument("--clip", type=float, default=0.2)
    parser.add_argument("--entropy", type=float, default=0.0)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    torch.set_num_threads(1)  # networks this small are slower on several
    main()
