#!/usr/bin/env python3
"""PPO in one file and one `jax.jit`: rollouts, updates and the test of success run without Python.

    pip install jax
    python examples/ppo_in_one_jit.py                    # CartPole to 475, in seconds
    python examples/ppo_in_one_jit.py --env TagGrid-v0 --goal inf --steps 2000000

Worlds of `env.xla()` are a handle that goes into each step and comes out of it, so the training is
one program: a `while_loop` of updates, in each a `scan` of steps. Actions have to be one category.
JAX alone is needed: the network and Adam are 30 lines.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

import gpu_envs

Step = Callable[[Any, Any], tuple[Any, tuple[Any, ...]]]


class Settings(NamedTuple):
    """What training is done with."""

    rollout: int = 32
    epochs: int = 4
    minibatches: int = 4
    width: int = 64
    rate: float = 1e-3
    gamma: float = 0.99
    trace: float = 0.95
    clip: float = 0.2
    entropy: float = 0.01
    value: float = 0.5
    norm: float = 0.5  # longest gradient
    memory: float = 0.9  # of the mean return, per update


class Run(NamedTuple):
    """All that changes in training."""

    handle: Any  # the worlds
    obs: Any
    weights: Any
    moments: Any  # of Adam
    key: Any
    updates: Any
    score: Any  # running mean of episodes' returns
    ended: Any  # episodes in it, as a sum that fades


# ---- the network


def made(key: Any, sizes: list[int], gain: float) -> list[tuple[Any, Any]]:
    """Return orthogonal layers, the last one scaled by `gain`."""
    layers = []
    for k, (rows, columns) in enumerate(pairwise(sizes)):
        key, own = jax.random.split(key)
        scale = gain if k == len(sizes) - 2 else math.sqrt(2)
        weight = jax.nn.initializers.orthogonal(scale)(own, (rows, columns))
        layers.append((weight, jnp.zeros(columns)))
    return layers


def through(layers: list[tuple[Any, Any]], x: Any) -> Any:
    """Return the outputs of layers with tanh between them."""
    for weight, bias in layers[:-1]:
        x = jnp.tanh(x @ weight + bias)
    return x @ layers[-1][0] + layers[-1][1]


def adam(weights: Any, moments: Any, slopes: Any, count: Any, settings: Settings) -> Any:
    """Return the weights and moments after a step."""
    length = jnp.sqrt(sum(jnp.sum(g**2) for g in jax.tree.leaves(slopes)))
    slopes = jax.tree.map(lambda g: g * jnp.minimum(1, settings.norm / (length + 1e-8)), slopes)
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, moments[0], slopes)
    second = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g**2, moments[1], slopes)
    scale = settings.rate * jnp.sqrt(1 - 0.999**count) / (1 - 0.9**count)
    weights = jax.tree.map(
        lambda w, m, v: w - scale * m / (jnp.sqrt(v) + 1e-5), weights, first, second
    )
    return weights, (first, second)


# ---- an update


def rolled(run: Run, step: Step, settings: Settings) -> tuple[Run, Any]:
    """Play some steps; return what happened in them."""

    def one(state: Any, key: Any) -> tuple[Any, Any]:
        handle, obs, score, ended = state
        logits = through(run.weights["actor"], obs)
        action = jax.random.categorical(key, logits)
        chance = jax.nn.log_softmax(logits)[jnp.arange(len(action)), action]
        value = through(run.weights["critic"], obs)[:, 0]
        handle, (after, reward, terminated, truncated, infos) = step(handle, action)
        over = infos["_episode_stats"]
        count, total = over.sum(), jnp.where(over, infos["episode_stats"]["r"], 0).sum()
        score, ended = score + total, ended + count
        # Behind a time limit the world goes on: its value there is added to the last reward.
        last = through(run.weights["critic"], flat(infos["final_obs"]))[:, 0]
        reward = reward + settings.gamma * jnp.where(truncated & ~terminated, last, 0.0)
        done = terminated | truncated
        return (handle, flat(after), score, ended), (obs, action, chance, value, reward, done)

    key, own = jax.random.split(run.key)
    fade = settings.memory
    start = (run.handle, run.obs, fade * run.score, fade * run.ended)
    end, played = jax.lax.scan(one, start, jax.random.split(own, settings.rollout))
    handle, obs, score, ended = end
    return run._replace(handle=handle, obs=obs, key=key, score=score, ended=ended), played


def advantages(run: Run, played: Any, settings: Settings) -> tuple[Any, Any]:
    """Return advantages and the critic's targets (generalised advantage estimation)."""
    _, _, _, values, rewards, dones = played
    following = through(run.weights["critic"], run.obs)[:, 0]

    def back(state: Any, at: Any) -> tuple[Any, Any]:
        advantage, after = state
        value, reward, done = at
        kept = settings.gamma * (1.0 - done)
        advantage = reward + kept * after - value + kept * settings.trace * advantage
        return (advantage, value), advantage

    begin = (jnp.zeros_like(following), following)
    _, found = jax.lax.scan(back, begin, (values, rewards, dones), reverse=True)
    return found, found + values


def loss(weights: Any, batch: Any, settings: Settings) -> Any:
    """Return PPO's loss of a minibatch."""
    obs, action, before, advantage, target = batch
    logits = jax.nn.log_softmax(through(weights["actor"], obs))
    chance = logits[jnp.arange(len(action)), action]
    advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
    ratio = jnp.exp(chance - before)
    clipped = jnp.clip(ratio, 1 - settings.clip, 1 + settings.clip)
    gain = jnp.minimum(ratio * advantage, clipped * advantage).mean()
    spread = -(jnp.exp(logits) * logits).sum(-1).mean()
    error = jnp.square(through(weights["critic"], obs)[:, 0] - target).mean()
    return -gain + settings.value * error - settings.entropy * spread


def updated(run: Run, step: Step, settings: Settings) -> Run:
    """Play and learn once."""
    run, played = rolled(run, step, settings)
    found, targets = advantages(run, played, settings)
    rows = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), (*played[:3], found, targets))
    count = len(rows[1])

    def one(state: Any, order: Any) -> tuple[Any, None]:
        weights, moments, steps = state
        batch = jax.tree.map(lambda x: x[order], rows)
        slopes = jax.grad(loss)(weights, batch, settings)
        weights, moments = adam(weights, moments, slopes, steps + 1, settings)
        return (weights, moments, steps + 1), None

    key, own = jax.random.split(run.key)
    orders = jax.vmap(lambda k: jax.random.permutation(k, count))(
        jax.random.split(own, settings.epochs)
    ).reshape(settings.epochs * settings.minibatches, -1)
    steps = run.updates * len(orders)
    (weights, moments, _), _ = jax.lax.scan(one, (run.weights, run.moments, steps), orders)
    return run._replace(weights=weights, moments=moments, key=key, updates=run.updates + 1)


# ---- a training


def flat(obs: Any) -> Any:
    """Return rows of floats."""
    return obs.reshape(len(obs), -1).astype(jnp.float32)


def begun(handle: Any, obs: Any, actions: int, seed: int, settings: Settings) -> Run:
    """Return the beginning of a training."""
    key, actor, critic = jax.random.split(jax.random.key(seed), 3)
    size, width = flat(obs).shape[1], settings.width
    weights = {
        "actor": made(actor, [size, width, width, actions], 0.01),
        "critic": made(critic, [size, width, width, 1], 1.0),
    }
    none = jax.tree.map(jnp.zeros_like, weights)
    zero = jnp.float32(0)
    return Run(handle, flat(obs), weights, (none, none), key, jnp.int32(0), zero, zero)


@partial(jax.jit, static_argnums=(1, 2, 3, 4))
def trained(run: Run, step: Step, settings: Settings, most: int, goal: float) -> Run:
    """Train for `most` updates, or until the mean return reaches the goal."""

    def goes_on(run: Run) -> Any:
        known = run.ended > 20
        reached = known & (run.score >= goal * run.ended)
        return (run.updates < most) & ~reached

    return jax.lax.while_loop(goes_on, lambda run: updated(run, step, settings), run)


def main() -> None:
    """Train, and print how it went."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--env", default="CartPole-v0", help="(default CartPole-v0)")
    parser.add_argument("--worlds", type=int, default=64, help="(default 64)")
    parser.add_argument("--steps", type=int, default=2_000_000, help="at most (default 2000000)")
    parser.add_argument("--goal", type=float, default=475.0, help="mean return (default 475)")
    parser.add_argument("--seed", type=int, default=1, help="(default 1)")
    given = parser.parse_args()
    env = gpu_envs.make_vec(given.env, given.worlds, device="cpu")
    obs, _ = env.reset(seed=given.seed)
    handle, _, step = env.xla()
    settings = Settings()
    run = begun(handle, jnp.asarray(obs), int(env.single_action_space.n), given.seed, settings)
    most = given.steps // (settings.rollout * env.num_envs)
    train = trained.lower(run, step, settings, most, given.goal).compile()
    start = time.perf_counter()
    run = jax.block_until_ready(train(run))
    seconds = time.perf_counter() - start
    steps = int(run.updates) * settings.rollout * env.num_envs
    score = float(run.score / jnp.maximum(run.ended, 1e-8))
    print(
        f"mean return {score:.0f} after {steps:,} steps, {seconds:.1f} s: {steps / seconds:,.0f}/s"
    )


if __name__ == "__main__":
    main()
