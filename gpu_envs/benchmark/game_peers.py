"""Other people's implementations of the games, stepped with random legal moves.

A world at a time in Python for the references (their own observations of all agents included), a
compiled batch for JaxMARL. All are optional.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from typing import Any

from gpu_envs.benchmark.subjects import Subject

_JAX_WORLDS = 1024
_JAX_STEPS = 16  # of one compiled call

Require = Callable[[str], Any]


def open_spiel_hanabi(require: Require) -> Subject:
    """Play OpenSpiel's Hanabi: two players, both observation vectors after every move."""
    pyspiel = require("pyspiel")
    game = pyspiel.load_game("hanabi", {"players": 2})
    dice = random.Random(0)
    held = [game.new_initial_state()]

    def step(_: int) -> None:
        state = held[0]
        if state.is_terminal():
            state = held[0] = game.new_initial_state()
        while state.is_chance_node():
            cards, odds = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(dice.choices(cards, odds)[0])
        state.apply_action(dice.choice(state.legal_actions()))
        while state.is_chance_node():
            cards, odds = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(dice.choices(cards, odds)[0])
        if not state.is_terminal():
            state.observation_tensor(0)
            state.observation_tensor(1)

    return Subject(step, 1, lambda: None)


def overcooked_ai(require: Require) -> Subject:
    """Step the reference's rules and both lossless encodings."""
    actions = require("overcooked_ai_py.mdp.actions").Action.INDEX_TO_ACTION
    rules = require("overcooked_ai_py.mdp.overcooked_mdp").OvercookedGridworld
    world = rules.from_layout_name("cramped_room")
    dice = random.Random(0)
    held = [world.get_standard_start_state(), 0]

    def step(_: int) -> None:
        if held[1] == 400:
            held[:] = [world.get_standard_start_state(), 0]
        chosen = [dice.choice(actions), dice.choice(actions)]
        held[0], _infos = world.get_state_transition(held[0], chosen)
        held[1] += 1
        world.lossless_state_encoding(held[0], horizon=400)

    return Subject(step, 1, lambda: None)


def jaxmarl_hanabi(require: Require) -> Subject:
    """Play JaxMARL's Hanabi in a compiled batch, moves drawn from its legal ones."""
    jax, env = _jaxmarl(require, "hanabi", num_agents=2)

    def choose(key: Any, state: Any) -> Any:
        legal = env.get_legal_moves(state)
        keys = jax.random.split(key, env.num_agents)
        return {
            agent: jax.random.categorical(k, jax.numpy.where(legal[agent] > 0, 0.0, -1e9))
            for agent, k in zip(env.agents, keys, strict=True)
        }

    return _jax_subject(jax, env, choose)


def jaxmarl_overcooked(require: Require) -> Subject:
    """Step JaxMARL's Overcooked in a compiled batch."""
    layouts = require("jaxmarl.environments.overcooked").overcooked_layouts
    jax, env = _jaxmarl(require, "overcooked", layout=layouts["cramped_room"], max_steps=400)

    def choose(key: Any, _state: Any) -> Any:
        keys = jax.random.split(key, env.num_agents)
        return {
            agent: jax.random.randint(k, (), 0, 6)
            for agent, k in zip(env.agents, keys, strict=True)
        }

    return _jax_subject(jax, env, choose)


def _jaxmarl(require: Require, name: str, **options: Any) -> tuple[Any, Any]:
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    jax = require("jax")
    return jax, require("jaxmarl").make(name, **options)


def _jax_subject(jax: Any, env: Any, choose: Callable[[Any, Any], Any]) -> Subject:
    def one(key: Any, state: Any) -> Any:
        draw, own = jax.random.split(key)
        observations, state, rewards, *_ = env.step(own, state, choose(draw, state))
        return state, (observations, rewards)

    def many(key: Any, states: Any) -> Any:
        def body(carry: Any, _: Any) -> Any:
            key, states = carry
            key, own = jax.random.split(key)
            states, shown = jax.vmap(one)(jax.random.split(own, _JAX_WORLDS), states)
            total = [leaf.sum() for leaf in jax.tree_util.tree_leaves(shown)]
            return (key, states), total

        return jax.lax.scan(body, (key, states), None, length=_JAX_STEPS)

    run = jax.jit(many)
    key = jax.random.PRNGKey(0)
    states = jax.jit(jax.vmap(env.reset))(jax.random.split(key, _JAX_WORLDS))[1]
    held = [key, states]

    def step(_: int) -> None:
        (held[0], held[1]), shown = run(held[0], held[1])
        jax.block_until_ready(shown)

    step(0)
    return Subject(step, _JAX_WORLDS * _JAX_STEPS, lambda: None)
