"""Records what floxs computes in the states of states.py, for tests/oracles/test_floxs.py.

    pip install floxs==0.1.1 jax==0.4.38 jaxlib==0.4.38 jumanji==1.1.2 esquilax==2.1.0 \\
        chex==0.1.90 gymnasium numpy matplotlib PyYAML
    python tests/oracles/swarms/record.py

writes floxs.npz beside this file: views and rewards of states laid out at random, and trajectories
of 300 steps.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from floxs.flock import env as flock
from floxs.flock import generator as flock_generator
from floxs.flock.types import State as FlockState
from floxs.predator_prey import env as tag
from floxs.predator_prey import generator as tag_generator
from floxs.predator_prey.types import Actions
from floxs.predator_prey.types import State as TagState
from jumanji.environments.swarms.common.types import AgentState
from states import (
    BIRDS,
    PREDATORS,
    PREY,
    RECORDING,
    SAMPLES,
    STEPS,
    State,
    actions,
    flock_states,
    tag_states,
)


def agents_of(state: State, chosen: slice = slice(None)) -> AgentState:
    return AgentState(
        pos=jnp.asarray(state.position[chosen]),
        heading=jnp.asarray(state.heading[chosen]),
        speed=jnp.asarray(state.speed[chosen]),
    )


def columns(*kinds: AgentState) -> np.ndarray:
    """x, y, heading, speed of all agents."""
    parts = [jnp.column_stack([kind.pos, kind.heading, kind.speed]) for kind in kinds]
    return np.concatenate([np.asarray(part) for part in parts])


def record_flock() -> dict[str, np.ndarray]:
    env = flock.Flock(generator=flock_generator.RandomGenerator(num_boids=BIRDS))
    see, pay = jax.jit(env._observation_fn), jax.jit(env._reward_fn)
    step = jax.jit(env.step)
    states = [FlockState(boids=agents_of(state)) for state in flock_states()]
    sampled: list[tuple[Any, ...]] = []
    state = FlockState(boids=agents_of(flock_states()[0]))
    for t in range(1, STEPS + 1):
        state, timestep = step(state, jnp.asarray(actions(t, BIRDS)))
        if t in SAMPLES:
            filled = (np.asarray(timestep.observation.views) >= 0).sum(-1)
            sampled.append((columns(state.boids), np.asarray(timestep.reward), filled))
    return {
        "flock_views": np.stack([np.asarray(see(s)) for s in states]),
        "flock_rewards": np.stack([np.asarray(pay(s)) for s in states]),
        "flock_path": np.stack([s[0] for s in sampled]),
        "flock_path_rewards": np.stack([s[1] for s in sampled]),
        "flock_path_filled": np.stack([s[2] for s in sampled]).astype(np.int16),
    }


def tag_state(state: State) -> TagState:
    return TagState(
        predators=agents_of(state, slice(PREDATORS)), prey=agents_of(state, slice(PREDATORS, None))
    )


def joined(rewards: Any) -> np.ndarray:
    return np.concatenate([np.asarray(rewards.predators), np.asarray(rewards.prey)])


def record_tag() -> dict[str, np.ndarray]:
    generator = tag_generator.RandomGenerator(num_predators=PREDATORS, num_prey=PREY)
    env = tag.PredatorPrey(generator=generator)
    see, pay, step = jax.jit(env._observation_fn), jax.jit(env._reward_fn), jax.jit(env.step)
    states = [tag_state(state) for state in tag_states()]
    sampled: list[tuple[Any, ...]] = []
    state = tag_state(tag_states()[0])
    for t in range(1, STEPS + 1):
        played = jnp.asarray(actions(t, PREDATORS + PREY))
        state, timestep = step(
            state, Actions(predators=played[:PREDATORS], prey=played[PREDATORS:])
        )
        if t in SAMPLES:
            seen = np.concatenate(
                [timestep.observation.predator_views, timestep.observation.prey_views]
            )
            sampled.append(
                (columns(state.predators, state.prey), joined(timestep.reward), (seen >= 0).sum(-1))
            )
    return {
        "tag_views": np.stack([np.concatenate([np.asarray(v) for v in see(s)]) for s in states]),
        "tag_rewards": np.stack([joined(pay(s)) for s in states]),
        "tag_path": np.stack([s[0] for s in sampled]),
        "tag_path_rewards": np.stack([s[1] for s in sampled]),
        "tag_path_filled": np.stack([s[2] for s in sampled]).astype(np.int16),
    }


if __name__ == "__main__":
    np.savez_compressed(RECORDING, **record_flock(), **record_tag())
    print(f"{RECORDING}: {RECORDING.stat().st_size} bytes")
