"""PPO in one file, for environments with one discrete action (Schulman et al. 2017).

Every agent of every world is one learner and all share a policy. The simulator writes each step
straight into the rollout's storage (`out=`), on the device where the policy runs, so a rollout copies
nothing and never waits for the device. Worlds begin their next episode within the step that ends one
(SameStep); where an episode was cut short, the value of its last observation is added to the reward.

Reading order: options, policy, rollout, update, evaluation, what is written, the loop.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, NoReturn

import torch
from gymnasium.spaces import Discrete
from matplotlib.figure import Figure
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from torch import Tensor, nn

from gpu_envs import VectorEnv, errors, registration

# ---- options


def option(default: Any, text: str, low: float | None = None) -> Any:
    """Declare a field of `Settings` that is an option of the command line."""
    return field(default=default, metadata={"help": text, "low": low})


@dataclass
class Settings:
    """Everything that can be chosen; the name of an option is that of its field, with dashes."""

    env: str
    num_envs: int = option(64, "worlds that run at once", 1)
    seed: int = option(1, "seed of the worlds, the policy and the order of samples", 0)
    total_steps: int = option(2_000_000, "stop after so many steps, counted per agent", 1)
    time_limit: float = option(0.0, "stop after so many seconds of training; 0: no limit", 0)
    threshold: float = option(
        float("nan"), "stop when an evaluation reaches this mean return [the environment's own]"
    )
    device: str = option("auto", "auto, cpu, cuda or cuda:<n>; auto takes a GPU when there is one")
    out: str = option("", "folder for checkpoint.pt, curve.csv and curve.png [runs/<env>/<seed>]")
    rollout: int = option(64, "steps of every world between two updates", 1)
    epochs: int = option(8, "passes over a rollout in an update", 1)
    minibatch: int = option(512, "samples per gradient step", 1)
    learning_rate: float = option(1e-3, "of Adam; falls linearly to zero over total-steps", 0)
    gamma: float = option(0.99, "discount per step", 0)
    trace: float = option(0.95, "lambda of the generalised advantage estimate", 0)
    clip: float = option(0.2, "how far an update may move a probability ratio from 1", 0)
    entropy: float = option(0.0, "weight of the entropy bonus", 0)
    eval_interval: int = option(10, "updates between two evaluations", 1)
    eval_episodes: int = option(100, "episodes of an evaluation", 1)
    parameters: dict[str, Any] = field(default_factory=dict)


class Parser(argparse.ArgumentParser):
    """Errors are one line."""

    def error(self, message: str) -> NoReturn:
        """Print the line and leave."""
        self.exit(2, f"error: {message}\n")


def parse(argv: Sequence[str] | None) -> Settings:
    """Read the command line."""
    parser = Parser(
        prog="python -m gpu_envs.train",
        allow_abbrev=False,
        description="Train an agent by PPO; stops when the mean return of an evaluation reaches the "
        "environment's reward threshold. Writes a checkpoint and the learning curve.",
    )
    parser.add_argument("env", help="id of the environment, such as CartPole-v0")
    names = ["--set", "--help"]
    for f in fields(Settings):
        if "help" in f.metadata:
            shown = "" if f.metadata["help"].endswith("]") else " [%(default)s]"
            names.append("--" + f.name.replace("_", "-"))
            parser.add_argument(
                names[-1],
                type=type(f.default),
                default=f.default,
                metavar=type(f.default).__name__.upper(),
                help=f.metadata["help"] + shown,
            )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a parameter of the environment (python -m gpu_envs info ID lists them); repeatable",
    )
    given, rest = parser.parse_known_args(argv)
    if rest:
        parser.error(errors.unknown("option", rest[0].partition("=")[0], names))
    for f in fields(Settings):
        low = f.metadata.get("low")
        if low is not None and not getattr(given, f.name) >= low:
            name = f.name.replace("_", "-")
            parser.error(f"--{name} must be at least {low}, got {getattr(given, f.name)}")
    values = vars(given)
    values["parameters"] = dict(parameter(parser, text) for text in values.pop("set"))
    return Settings(**values)


def parameter(parser: Parser, text: str) -> tuple[str, Any]:
    """Split `name=value`; numbers, true and false are what they look like, the rest is text."""
    name, equals, value = text.partition("=")
    if not (name and equals):
        parser.error(f"--set takes NAME=VALUE, got {text!r}")
    try:
        return name, json.loads(value)
    except json.JSONDecodeError:
        return name, value


# ---- policy


class Policy(nn.Module):
    """An actor and a critic of two hidden layers over normalised observations."""

    mean: Tensor
    variance: Tensor
    count: Tensor

    def __init__(self, observation_size: int, action_count: int) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(observation_size))
        self.register_buffer("variance", torch.ones(observation_size))
        self.register_buffer("count", torch.zeros(()))
        # Small last weights: the first policy is nearly uniform, the first values nearly zero.
        self.actor = network(observation_size, action_count, 0.01)
        self.critic = network(observation_size, 1, 0.1)

    def normal(self, obs: Tensor) -> Tensor:
        """Scale observations to zero mean and unit variance."""
        flat = obs.flatten(1).float()
        return ((flat - self.mean) * (self.variance + 1e-8).rsqrt()).clamp(-10, 10)

    def forward(self, obs: Tensor) -> tuple[Tensor, Tensor]:
        """Return the log-probability of every action, and the value."""
        x = self.normal(obs)
        return self.actor(x).log_softmax(-1), self.critic(x).squeeze(-1)

    def value(self, obs: Tensor) -> Tensor:
        """Return the value alone."""
        value: Tensor = self.critic(self.normal(obs)).squeeze(-1)
        return value

    def observe(self, obs: Tensor) -> None:
        """Take a batch into the running mean and variance (Chan, Golub and LeVeque 1979)."""
        flat = obs.flatten(1).float()
        total = self.count + len(flat)
        shift = flat.mean(0) - self.mean
        squares = self.variance * self.count + flat.var(0, unbiased=False) * len(flat)
        self.variance.copy_((squares + shift**2 * self.count * len(flat) / total) / total)
        self.mean += shift * len(flat) / total
        self.count.copy_(total)


def network(inputs: int, outputs: int, last_gain: float) -> nn.Sequential:
    """Return layers with orthogonal weights."""
    layers = [nn.Linear(inputs, 64), nn.Linear(64, 64), nn.Linear(64, outputs)]
    for layer, gain in zip(layers, (2**0.5, 2**0.5, last_gain), strict=True):
        nn.init.orthogonal_(layer.weight, gain)
        nn.init.zeros_(layer.bias)
    return nn.Sequential(layers[0], nn.Tanh(), layers[1], nn.Tanh(), layers[2])


# ---- rollout


class Rollout:
    """Storage for some steps of all rows; `slots[t]` names where step t is written."""

    def __init__(self, env: VectorEnv, steps: int, infos: dict[str, Any], obs: Tensor) -> None:
        def empty(length: int, shape: Sequence[int], dtype: torch.dtype) -> Tensor:
            return torch.empty((length, *shape), dtype=dtype, device=obs.device)

        rows = (env.num_envs,)
        self.obs = empty(steps + 1, obs.shape, obs.dtype)  # obs[t] is what action t answers
        self.obs[0] = obs
        self.final_obs = empty(steps, obs.shape, obs.dtype)
        self.reward, self.log_prob, self.value, self.episode_return = (
            empty(steps, rows, torch.float32) for _ in range(4)
        )
        self.terminated, self.truncated, self.ended = (
            empty(steps, rows, torch.bool) for _ in range(3)
        )
        self.action = empty(steps, rows, torch.int64)
        # Agents that have ended before their world wait: their rows are no samples.
        self.active = torch.ones((steps + 1, *rows), dtype=torch.bool, device=obs.device)
        written = ("reward", "terminated", "truncated", "final_obs", "ended", "episode_return")
        self.slots = []
        for t in range(steps):
            slot = {name: getattr(self, name)[t] for name in written}
            slot["obs"] = self.obs[t + 1]
            if "agent_active" in infos:
                slot["agent_active"] = self.active[t + 1]
            self.slots.append(slot)

    @torch.no_grad()
    def collect(self, env: VectorEnv, policy: Policy) -> None:
        """Play on from the last observation."""
        for t, slot in enumerate(self.slots):
            log_probs, self.value[t] = policy(self.obs[t])
            action = self.action[t] = log_probs.exp().multinomial(1).squeeze(-1)
            self.log_prob[t] = log_probs.gather(-1, action.unsqueeze(-1)).squeeze(-1)
            env.step(action, out=slot)

    @torch.no_grad()
    def advantages(self, policy: Policy, gamma: float, trace: float) -> Tensor:
        """Return generalised advantage estimates (Schulman et al. 2016)."""
        cut = self.truncated & ~self.terminated
        self.reward[cut] += gamma * policy.value(self.final_obs[cut])
        goes_on = (~self.ended).float()
        next_value, running = policy.value(self.obs[-1]), torch.zeros_like(self.value[0])
        result = torch.empty_like(self.value)
        for t in reversed(range(len(self.slots))):
            surprise = self.reward[t] + gamma * goes_on[t] * next_value - self.value[t]
            running = surprise + gamma * trace * goes_on[t] * running
            result[t], next_value = running, self.value[t]
        return result

    def carry_over(self) -> None:
        """Begin the next rollout where this one ends."""
        self.obs[0] = self.obs[-1]
        self.active[0] = self.active[-1]


# ---- update


def update(
    policy: Policy, optimiser: torch.optim.Optimizer, rollout: Rollout, settings: Settings
) -> float:
    """Improve the policy on one rollout and return its entropy."""
    advantages = rollout.advantages(policy, settings.gamma, settings.trace)
    samples = rollout.active[:-1].flatten().nonzero().squeeze(-1)
    targets = (advantages + rollout.value).flatten()[samples]
    advantages = advantages.flatten()[samples]
    obs, action = rollout.obs[:-1].flatten(0, 1)[samples], rollout.action.flatten()[samples]
    old_log_prob = rollout.log_prob.flatten()[samples]
    entropy = torch.zeros(())
    for _ in range(settings.epochs):
        for chosen in torch.randperm(len(samples), device=obs.device).split(settings.minibatch):
            log_probs, values = policy(obs[chosen])
            log_prob = log_probs.gather(-1, action[chosen].unsqueeze(-1)).squeeze(-1)
            ratio = (log_prob - old_log_prob[chosen]).exp()
            gain = advantages[chosen]
            gain = (gain - gain.mean()) / (gain.std(unbiased=False) + 1e-8)
            clipped = ratio.clamp(1 - settings.clip, 1 + settings.clip)
            policy_loss = -torch.minimum(ratio * gain, clipped * gain).mean()
            value_loss = (values - targets[chosen]).square().mean()
            entropy = -(log_probs.exp() * log_probs).sum(-1).mean()
            optimiser.zero_grad()
            (policy_loss + 0.5 * value_loss - settings.entropy * entropy).backward()
            nn.utils.clip_grad_norm_(policy.parameters(), 0.5)
            optimiser.step()
    # After the update, so that a rollout is played and learned from with the same scale.
    policy.observe(obs)
    return float(entropy)


# ---- evaluation


@torch.no_grad()
def evaluate(env: VectorEnv, policy: Policy) -> float:
    """Play a fresh episode in every row, taking the likeliest action; return the mean return."""
    obs, _ = env.reset()
    returns = torch.zeros(env.num_envs, device=obs.device)
    waiting = torch.ones(env.num_envs, dtype=torch.bool, device=obs.device)
    step = 0
    while step % 16 or waiting.any():  # looking at a result waits for the device: not every step
        log_probs, _ = policy(obs)
        obs, *_, infos = env.step(log_probs.argmax(-1))
        first = waiting & infos["_episode_stats"]
        returns = torch.where(first, infos["episode_stats"]["r"], returns)
        waiting &= ~first
        step += 1
    return float(returns.mean())


# ---- what is written


def save(path: Path, policy: Policy, env: VectorEnv, settings: Settings, score: float) -> None:
    """Write the weights, and what is needed to know them again, as plain tensors and numbers."""
    facts = {"env": env.simulator.name, "parameters": env.simulator.parameters}
    state = policy.state_dict()
    torch.save({"policy": state, **facts, "seed": settings.seed, "evaluation": score}, path)


def load(path: Path) -> tuple[Policy, dict[str, Any]]:
    """Return the policy of a checkpoint, and the rest of what it holds."""
    facts = torch.load(path, map_location="cpu", weights_only=True)
    state = facts.pop("policy")
    policy = Policy(state["mean"].numel(), state["actor.4.bias"].numel())
    policy.load_state_dict(state)
    return policy, facts


Row = dict[str, float]


def write_curve(folder: Path, rows: Sequence[Row], title: str, threshold: float | None) -> None:
    """Write the learning curve as curve.csv and curve.png."""
    if not rows:
        return
    with open(folder / "curve.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows({k: f"{v:.6g}" if v == v else "" for k, v in row.items()} for row in rows)
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.add_subplot()
    for name, style, label in (
        ("mean_return", {"linewidth": 1.5}, "episodes that ended in training"),
        ("evaluation", {"marker": "o", "linestyle": "none"}, "evaluation (likeliest action)"),
    ):
        points = [(row["steps"], row[name]) for row in rows if row[name] == row[name]]
        axes.plot(*zip(*points, strict=True) if points else ([], []), label=label, **style)
    if threshold is not None:
        axes.axhline(threshold, color="gray", linestyle="--", linewidth=1, label="threshold")
    axes.set(title=title, xlabel="steps", ylabel="mean return")
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(folder / "curve.png", dpi=120)


class Display:
    """A progress bar on a terminal, a line per evaluation elsewhere."""

    def __init__(self, total: int) -> None:
        console = Console(highlight=False, soft_wrap=True)
        self.print = console.print
        columns = (BarColumn(30), TextColumn("{task.description}"), TimeElapsedColumn())
        self._bar = Progress(*columns, console=console, disable=not console.is_terminal)
        self._task = self._bar.add_task("", total=total)
        self._is_bar = console.is_terminal

    def __enter__(self) -> Display:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def show(self, row: Row, evaluation: float, is_last: bool) -> None:
        """Show where the training stands."""
        speed = row["steps"] / row["seconds"]
        text = f"{row['steps']:>9,.0f} steps, {speed:>7,.0f}/s, return {row['mean_return']:6.1f}"
        if evaluation == evaluation:
            text += f", evaluation {evaluation:6.1f}"
        if self._is_bar:
            total = row["steps"] if is_last else None
            self._bar.update(self._task, description=text, completed=row["steps"], total=total)
        elif row["evaluation"] == row["evaluation"]:
            self.print(f"{text}, {row['seconds']:5.1f} s")


# ---- the loop


def make_env(settings: Settings, worlds: int, **options: Any) -> VectorEnv:
    """Make one batch of the environment."""
    return VectorEnv(
        settings.env,
        worlds,
        device=settings.device,
        arrays="torch",
        **options,
        **settings.parameters,
    )


def train(settings: Settings) -> int:
    """Train; return the exit status."""
    description = registration.find(settings.env)
    env = make_env(settings, settings.num_envs)
    if not isinstance(env.single_action_space, Discrete) or description["action_mask"]:
        raise ValueError(
            f"this trainer needs one discrete action without a mask, and an action of "
            f"{env.simulator.name} is {env.single_action_space}"
        )
    # Worlds with numbers that no training world has; a limit where the environment has none.
    test_env = make_env(
        settings,
        -(-settings.eval_episodes // env.agents_per_world),
        first_world=2**31,
        reuse=True,
        max_episode_steps=description["max_episode_steps"] or 1000,
    )
    threshold = description["reward_threshold"]
    if settings.threshold == settings.threshold:
        threshold = settings.threshold
    folder = Path(settings.out or f"runs/{env.simulator.name}/{settings.seed}")
    folder.mkdir(parents=True, exist_ok=True)

    torch.manual_seed(settings.seed)
    obs, infos = env.reset(seed=settings.seed)
    test_env.reset(seed=settings.seed)
    policy = Policy(obs[0].numel(), int(env.single_action_space.n)).to(obs.device)
    optimiser = torch.optim.Adam(policy.parameters(), eps=1e-5, fused=True)
    rollout = Rollout(env, settings.rollout, infos, obs)

    name = f"{env.simulator.name}, seed {settings.seed}"
    display = Display(settings.total_steps)
    goal = "no threshold" if threshold is None else f"until the mean return is {threshold:g}"
    display.print(f"{name}: {env.num_envs} learners on {env.device}, {goal}")
    rows: list[Row] = []
    best = evaluation = float("nan")
    steps, is_last, begin = 0, False, time.perf_counter()
    with display:
        while not is_last:
            try:
                rate = settings.learning_rate * max(0.0, 1 - steps / settings.total_steps)
                for group in optimiser.param_groups:
                    group["lr"] = rate
                rollout.collect(env, policy)
                entropy = update(policy, optimiser, rollout, settings)
            except KeyboardInterrupt:
                display.print("interrupted: writing what there is")
                break
            steps += settings.rollout * env.num_envs
            seconds = time.perf_counter() - begin
            is_last = steps >= settings.total_steps or 0 < settings.time_limit <= seconds
            row = {"steps": steps, "seconds": seconds, "episodes": int(rollout.ended.sum())}
            row["mean_return"] = float(rollout.episode_return[rollout.ended].mean())
            row |= {"entropy": entropy, "evaluation": float("nan")}
            if is_last or (len(rows) + 1) % settings.eval_interval == 0:
                row["evaluation"] = evaluation = evaluate(test_env, policy)
                is_last = is_last or (threshold is not None and evaluation >= threshold)
                if not best >= evaluation:
                    best = evaluation
                    save(folder / "checkpoint.pt", policy, env, settings, evaluation)
            row["seconds"] = time.perf_counter() - begin
            rows.append(row)
            display.show(row, evaluation, is_last)
            rollout.carry_over()
    seconds = time.perf_counter() - begin
    write_curve(folder, rows, name, threshold)
    env.close()
    test_env.close()
    display.print(f"training time {seconds:.1f} s, {steps:,} steps")
    display.print(f"best mean return over {test_env.num_envs} evaluation episodes: {best:.1f}")
    display.print(f"checkpoint.pt, curve.csv and curve.png are in {folder}")
    return 0


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    settings = parse(argv)
    torch.set_num_threads(1)  # layers this small only lose by more
    try:
        return train(settings)
    except (ValueError, TypeError, RuntimeError, ImportError, MemoryError, OSError) as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 2
