"""PPO in one file, for environments with one discrete action (Schulman et al. 2017).

Every agent of every world is a learner, and all share one policy. The simulator writes each step
straight into the storage of a rollout (`out=`), on the device where the policy runs, so that a
rollout copies nothing and never waits for the device. A world begins its next episode in the step
that ends one (SameStep); where an episode was cut short, the value of its last observation is added
to its last reward. Two runs with the same options on the same machine are equal.

Where the environment has an action mask, nobody ever chooses what it forbids, in training and in
evaluation.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

import torch
from gymnasium.spaces import Discrete, flatdim
from matplotlib.figure import Figure
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from torch import Tensor, nn

from gpu_envs import VectorEnv, errors, registration

ROLLOUT = 64  # steps of every world between two updates
EPOCHS, MINIBATCH = 8, 512  # passes over a rollout, samples of a gradient step
LEARNING_RATE = 1e-3  # of Adam; falls linearly to zero over --total-steps
GAMMA, LAMBDA, CLIP = 0.99, 0.95, 0.2  # discount, advantage trace, bound of probability ratios
ILLEGAL = -1e9  # logit of an action that the mask forbids: its probability is zero
EVALUATION_EPISODES, EVALUATION_EVERY = 100, 5  # updates

# ---- the command line


class Parser(argparse.ArgumentParser):
    """Errors are one line."""

    def error(self, message: str) -> NoReturn:
        """Print the line and leave."""
        self.exit(2, f"error: {message}\n")


def at_least(low: int, kind: type[int] | type[float] = int) -> Callable[[str], float]:
    """Return what reads a number from the command line."""

    def number(text: str) -> float:  # argparse's message: "invalid number value"
        value = kind(text)
        if not value >= low:
            raise argparse.ArgumentTypeError(f"must be at least {low}, got {text}")
        return value

    return number


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = Parser(
        prog="python -m gpu_envs.train",
        allow_abbrev=False,
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
        description="Train an agent by PPO until its mean return over 100 episodes reaches the "
        "environment's reward threshold. Writes checkpoint.pt, curve.csv and curve.png.",
    )
    add = parser.add_argument
    add("env", help="id of the environment, such as CartPole-v0")
    add("--num-envs", type=at_least(1), default=64, help="worlds that run at once")
    add("--seed", type=at_least(0), default=1, help="seed of worlds, weights and samples")
    add("--total-steps", type=at_least(1), default=2_000_000, help="at most so many, per agent")
    add("--time-limit", type=at_least(0, float), default=0.0, help="in seconds; 0 for none")
    add("--device", default="auto", help="auto (a GPU where there is one), cpu, cuda, cuda:<n>")
    add("--out", default="runs/<env>/<seed>", help="folder for the results")
    options, rest = parser.parse_known_args(argv)
    if rest:
        names = ["--" + name.replace("_", "-") for name in vars(options) if name != "env"]
        parser.error(errors.unknown("option", rest[0], names))
    return options


# ---- the policy


class Policy(nn.Module):
    """An actor and a critic with two hidden layers each."""

    def __init__(self, observation_size: int, action_count: int) -> None:
        super().__init__()
        # Small last weights: the first policy is nearly uniform, the first values nearly zero.
        self.actor = network(observation_size, action_count, 0.01)
        self.critic = network(observation_size, 1, 0.1)

    def forward(self, obs: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Return the log-probability of every action, and the value; a mask is 0 for illegal."""
        rows = obs.flatten(1).float()
        logits = self.actor(rows)
        if mask is not None:
            logits = logits.masked_fill(mask == 0, ILLEGAL)
        return logits.log_softmax(-1), self.critic(rows).squeeze(-1)


def network(inputs: int, outputs: int, last_gain: float) -> nn.Sequential:
    """Return layers with orthogonal weights."""
    layers = [nn.Linear(inputs, 64), nn.Linear(64, 64), nn.Linear(64, outputs)]
    for layer, gain in zip(layers, (2**0.5, 2**0.5, last_gain), strict=True):
        nn.init.orthogonal_(layer.weight, gain)
        nn.init.zeros_(layer.bias)
    return nn.Sequential(layers[0], nn.Tanh(), layers[1], nn.Tanh(), layers[2])


# ---- PPO


class Rollout:
    """Storage for ROLLOUT steps of all rows; `slots[t]` says where step t is written."""

    def __init__(self, obs: Tensor, infos: dict[str, Any]) -> None:
        def empty(dtype: torch.dtype, length: int = ROLLOUT, shape: Any = obs.shape[:1]) -> Tensor:
            return torch.empty((length, *shape), dtype=dtype, device=obs.device)

        self.obs = empty(obs.dtype, ROLLOUT + 1, obs.shape)  # obs[t] is what action[t] answers
        self.active = empty(torch.bool, ROLLOUT + 1)  # False: an agent that waits for its world
        self.arrays = {"final_obs": empty(obs.dtype, ROLLOUT, obs.shape)}
        self.arrays |= {name: empty(torch.float) for name in ("reward", "episode_return")}
        self.arrays |= {name: empty(torch.bool) for name in ("terminated", "truncated", "ended")}
        self.action, self.log_prob, self.value = map(empty, (torch.int64, torch.float, torch.float))
        written = self.arrays | {"obs": self.obs[1:]}
        self.mask: Tensor | None = None  # mask[t] belongs to obs[t]
        if "action_mask" in infos:  # who waits for a turn has one action: only the critic learns
            first = infos["action_mask"]
            self.mask = empty(first.dtype, ROLLOUT + 1, first.shape)
            self.mask[-1] = first
            written["action_mask"] = self.mask[1:]
        elif "agent_active" in infos:
            written["agent_active"] = self.active[1:]
        self.slots = [{n: array[t] for n, array in written.items()} for t in range(ROLLOUT)]
        self.obs[-1], self.active[:] = obs, True

    @torch.no_grad()
    def collect(self, env: VectorEnv, policy: Policy) -> None:
        """Play on from where the last rollout ended."""
        self.obs[0], self.active[0] = self.obs[-1], self.active[-1]
        if self.mask is not None:
            self.mask[0] = self.mask[-1]
        for t, slot in enumerate(self.slots):
            mask = None if self.mask is None else self.mask[t]
            log_probs, self.value[t] = policy(self.obs[t], mask)
            action = self.action[t] = log_probs.exp().multinomial(1).squeeze(-1)
            self.log_prob[t] = log_probs.gather(-1, action.unsqueeze(-1)).squeeze(-1)
            env.step(action, out=slot)

    @torch.no_grad()
    def advantages(self, policy: Policy) -> Tensor:
        """Return generalised advantage estimates (Schulman et al. 2016)."""
        reward, ended = self.arrays["reward"], self.arrays["ended"]
        cut = self.arrays["truncated"] & ~self.arrays["terminated"]
        reward[cut] += GAMMA * policy(self.arrays["final_obs"][cut])[1]
        next_value, total = policy(self.obs[-1])[1], torch.zeros_like(self.value[0])
        result = torch.empty_like(self.value)
        for t in reversed(range(ROLLOUT)):
            discount = GAMMA * (~ended[t]).float()
            total = reward[t] + discount * (next_value + LAMBDA * total) - self.value[t]
            result[t], next_value = total, self.value[t]
        return result


def update(policy: Policy, optimiser: torch.optim.Optimizer, rollout: Rollout) -> None:
    """Improve the policy on one rollout."""
    advantages = rollout.advantages(policy)
    samples = rollout.active[:-1].flatten().nonzero().squeeze(-1)
    batch = (rollout.obs[:-1], rollout.action, rollout.log_prob, advantages, rollout.value)
    obs, action, old_log_prob, gain, value = (part.flatten(0, 1)[samples] for part in batch)
    mask = None if rollout.mask is None else rollout.mask[:-1].flatten(0, 1)[samples]
    parts = -(-len(samples) // MINIBATCH)
    for _ in range(EPOCHS):
        for chosen in torch.randperm(len(samples), device=obs.device).chunk(parts):
            log_probs, values = policy(obs[chosen], None if mask is None else mask[chosen])
            log_prob = log_probs.gather(-1, action[chosen].unsqueeze(-1)).squeeze(-1)
            ratio = (log_prob - old_log_prob[chosen]).exp()
            scaled = (gain[chosen] - gain[chosen].mean()) / (gain[chosen].std(correction=0) + 1e-8)
            clipped = ratio.clamp(1 - CLIP, 1 + CLIP) * scaled
            policy_loss = -torch.minimum(ratio * scaled, clipped).mean()
            value_loss = (values - value[chosen] - gain[chosen]).square().mean()
            optimiser.zero_grad()
            (policy_loss + 0.5 * value_loss).backward()
            nn.utils.clip_grad_norm_(policy.parameters(), 0.5)
            optimiser.step()


@torch.no_grad()
def evaluate(env: VectorEnv, policy: Policy) -> float:
    """Play a new episode in every row by the likeliest actions; return the mean return."""
    obs, infos = env.reset()
    returns = torch.zeros(env.num_envs, device=obs.device)
    waiting = torch.ones(env.num_envs, dtype=torch.bool, device=obs.device)
    step = 0
    while step % 16 or waiting.any():  # a look at a result waits for the device: not every step
        action = policy(obs, infos.get("action_mask"))[0].argmax(-1)
        obs, *_, infos = env.step(action)
        first = waiting & infos["_episode_stats"]
        returns = torch.where(first, infos["episode_stats"]["r"], returns)
        waiting &= ~first
        step += 1
    return float(returns.mean())


# ---- results and the run


def load(checkpoint: Path) -> tuple[Policy, dict[str, Any]]:
    """Return the policy of a checkpoint, and what else it says."""
    facts = torch.load(checkpoint, map_location="cpu", weights_only=True)
    state = facts.pop("policy")
    policy = Policy(state["actor.0.weight"].shape[1], len(state["actor.4.bias"]))
    policy.load_state_dict(state)
    return policy, facts


def write_curve(folder: Path, rows: list[Any], title: str, threshold: float | None) -> None:
    """Write curve.csv and curve.png; NaN is what was not measured."""
    lines = [",".join(rows[0])]
    lines += [",".join("" if v != v else f"{v:.7g}" for v in row.values()) for row in rows]
    (folder / "curve.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.add_subplot()
    for name, style in (("training", "-"), ("evaluation", "o")):
        points = [(row["steps"], row[name]) for row in rows if row[name] == row[name]]
        axes.plot([x for x, _ in points], [y for _, y in points], style, label=name)
    if threshold is not None:
        axes.axhline(threshold, color="gray", linestyle="--", linewidth=1, label="threshold")
    axes.set(title=title, xlabel="steps", ylabel="mean return of an episode")
    axes.legend(loc="lower right")
    figure.savefig(folder / "curve.png", dpi=120)


def train(env: VectorEnv, test_env: VectorEnv, options: argparse.Namespace, folder: Path) -> None:
    """Train until the threshold, the last step, the time limit or Ctrl-C; write the results."""
    name, seed, total = env.simulator.name, options.seed, options.total_steps
    threshold = registration.find(name)["reward_threshold"]
    torch.manual_seed(seed)
    obs, infos = env.reset(seed=seed)
    test_env.reset(seed=seed)
    policy = Policy(obs[0].numel(), flatdim(env.single_action_space)).to(obs.device)
    optimiser = torch.optim.Adam(policy.parameters(), eps=1e-5, fused=True)
    rollout = Rollout(obs, infos)
    console = Console(highlight=False, soft_wrap=True)
    goal = threshold or "none"
    console.print(f"{name}, seed {seed}, {env.num_envs} learners on {env.device}; goal {goal}")
    columns = (BarColumn(20), TextColumn("{task.description}"), TimeElapsedColumn())
    bar = Progress(*columns, console=console, disable=not sys.stdout.isatty())
    task = bar.add_task("begins", total=total)
    rows: list[dict[str, float]] = []
    steps, training, score, best, is_last = 0, math.nan, math.nan, -math.inf, False
    begin = time.perf_counter()
    try:
        with bar:
            while not is_last:
                optimiser.param_groups[0]["lr"] = LEARNING_RATE * (1 - steps / total)
                rollout.collect(env, policy)
                update(policy, optimiser, rollout)
                steps += ROLLOUT * env.num_envs
                seconds = time.perf_counter() - begin
                ended, returns = rollout.arrays["ended"], rollout.arrays["episode_return"]
                training = float(returns[ended].mean()) if ended.any() else training
                row = {"steps": steps, "seconds": seconds, "training": training}
                rows.append(row | {"evaluation": math.nan})
                is_last = steps >= total or 0 < options.time_limit <= seconds
                if is_last or len(rows) % EVALUATION_EVERY == 0:
                    rows[-1]["evaluation"] = score = evaluate(test_env, policy)
                    is_last |= threshold is not None and score >= threshold
                    if score >= best:
                        best, facts = score, {"env": name, "seed": seed, "evaluation": score}
                        state = {"policy": policy.state_dict()}
                        torch.save(facts | state, folder / "checkpoint.pt")
                text = f"{steps:,} steps, {steps / seconds:,.0f}/s, return {training:.1f}"
                text = f"{text}, evaluation {score:.1f}".replace("nan", "-")
                bar.update(task, description=text, completed=total if is_last else steps)
                if bar.disable and rows[-1]["evaluation"] == score:
                    console.print(f"{text}, {seconds:.1f} s")
    except KeyboardInterrupt:
        console.print("interrupted")
    console.print(f"training time {time.perf_counter() - begin:.1f} s, {steps:,} steps")
    if best > -math.inf:
        console.print(f"mean return over {test_env.num_envs} evaluation episodes: {best:.1f}")
    if rows:
        write_curve(folder, rows, f"{name}, seed {seed}", threshold)
        console.print(f"results are in {folder}")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    options = parse(argv)
    torch.set_num_threads(1)  # layers this small only lose by more
    try:
        entry = registration.find(options.env)
        keywords: dict[str, Any] = {"device": options.device, "arrays": "torch"}
        env = VectorEnv(entry["id"], options.num_envs, **keywords)
        if not isinstance(env.single_action_space, Discrete):
            raise ValueError(
                f"{entry['id']}: this trainer knows only Discrete actions, not "
                f"{env.single_action_space}"
            )
        # Worlds that training never has, and a limit where the environment has none.
        worlds = -(-EVALUATION_EPISODES // env.agents_per_world)
        keywords |= {"first_world": 2**31, "max_episode_steps": entry["max_episode_steps"] or 1000}
        test_env = VectorEnv(entry["id"], worlds, reuse=True, **keywords)
        errors.whole(options.seed, "--seed", 0, 2**64 - 1)
        out = options.out.replace("<env>", entry["id"]).replace("<seed>", str(options.seed))
        folder = Path(out)
        folder.mkdir(parents=True, exist_ok=True)
    except (ValueError, TypeError, RuntimeError, ImportError, MemoryError, OSError) as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 2
    train(env, test_env, options, folder)
    return 0
