"""Programs of other people that `peers` measures beside ours.

Which there are for an environment, and with what options, is data beside its header. All take
prepared random actions or draw legal ones, reset by themselves, and are stepped once per call, as a
learner would; what a program does not return (final observations, statistics) is its own choice and
is not added here. A world at a time in Python for references, with the observations of all agents.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import random
import tempfile
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np

from gpu_envs.benchmark import c_loop
from gpu_envs.benchmark.machine import cores
from gpu_envs.benchmark.points import Subject
from gpu_envs.benchmark.worlds import PREPARED

# Enough to hide the call, few enough to be compiled soon.
_JAX_STEPS = 16  # of one compiled call


class MissingError(Exception):
    """Why a peer cannot run here, in a few words."""


def require(package: str) -> Any:
    """Import a package that may be missing."""
    try:
        return importlib.import_module(package)
    except Exception as problem:  # a broken installation is as absent as a missing one
        reason = str(problem).splitlines()[0] if str(problem) else type(problem).__name__
        raise MissingError(f"{package} cannot be imported: {reason}") from problem


# ---- batches of worlds with two actions


def _actions(worlds: int, dtype: Any = np.int64) -> list[Any]:
    dice = np.random.default_rng(0)
    return [dice.integers(0, 2, worlds).astype(dtype) for _ in range(PREPARED)]


def _stepped(env: Any, worlds: int, actions: list[Any]) -> Subject:
    return Subject(lambda i: env.step(actions[i % PREPARED]), worlds, env.close)


def _gymnasium(worlds: int, *, id: str, mode: str) -> Subject:
    env = gymnasium.make_vec(id, num_envs=worlds, vectorization_mode=mode)
    env.reset(seed=0)
    return _stepped(env, worlds, _actions(worlds))


def _envpool(worlds: int, *, id: str, threads: int) -> Subject:
    make = require("envpool").make
    count = threads or cores()
    env = make(id, env_type="gymnasium", num_envs=worlds, num_threads=count, seed=0)
    env.reset()
    return _stepped(env, worlds, _actions(worlds, np.int32))


def _gymnax(worlds: int, *, id: str, steps: int) -> Subject:
    """`steps` 1: a call per step; more: that many steps inside one compiled loop."""
    jax = _jax()
    env, parameters = require("gymnax").make(id)
    each = jax.vmap(env.step, in_axes=(0, 0, 0, None))

    def advance(key: Any, state: Any, action: Any) -> Any:
        key, own = jax.random.split(key)
        # Observations, state, reward, one flag or two by version, and infos.
        obs, state, *rest, _ = each(jax.random.split(own, worlds), state, action, parameters)
        return key, state, (obs, *rest)

    def advance_many(key: Any, state: Any, action: Any) -> Any:
        def body(carry: Any, _: Any) -> Any:
            key, state, shown = advance(carry[0], carry[1], action)
            # Summed, so that the compiler cannot remove unused outputs.
            return (key, state), [array.sum() for array in shown]

        (key, state), sums = jax.lax.scan(body, (key, state), None, length=steps)
        return key, state, sums

    key = jax.random.PRNGKey(0)
    first = jax.vmap(env.reset, in_axes=(0, None))(jax.random.split(key, worlds), parameters)[1]
    actions = [jax.numpy.asarray(a) for a in _actions(worlds, np.int32)]
    run = jax.jit(advance if steps == 1 else advance_many)
    return _carried(run, [key, first], actions, worlds * steps)


def _carried(run: Any, held: list[Any], actions: list[Any], units: int) -> Subject:
    """Call a compiled function with its last results."""
    ready = require("jax").block_until_ready

    def step(i: int) -> None:
        *held[:], shown = run(*held, actions[i % len(actions)])
        # JAX returns before the work is done; a step counts when its results are there.
        ready(shown)

    return Subject(step, units, lambda: None)


def _jax() -> Any:
    """Import JAX for the CPU, whose results are compared with the CPU's."""
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    return require("jax")


# ---- several agents


def _open_spiel(worlds: int, *, name: str, **options: Any) -> Subject:
    """Play a card game: the observation vectors of all players after every move."""
    game = require("pyspiel").load_game(name, options)
    dice = random.Random(0)
    held = [game.new_initial_state()]

    def deal(state: Any) -> None:
        while state.is_chance_node():
            cards, odds = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(dice.choices(cards, odds)[0])

    def step(_: int) -> None:
        if held[0].is_terminal():
            held[0] = game.new_initial_state()
        state = held[0]
        deal(state)
        state.apply_action(dice.choice(state.legal_actions()))
        deal(state)
        if not state.is_terminal():
            for player in range(game.num_players()):
                state.observation_tensor(player)

    return Subject(step, 1, lambda: None)


def _overcooked_ai(worlds: int, *, layout: str, horizon: int) -> Subject:
    """Step the reference's rules and both lossless encodings."""
    actions = require("overcooked_ai_py.mdp.actions").Action.INDEX_TO_ACTION
    rules = require("overcooked_ai_py.mdp.overcooked_mdp").OvercookedGridworld
    world = rules.from_layout_name(layout)
    dice = random.Random(0)
    held = [world.get_standard_start_state(), 0]

    def step(_: int) -> None:
        if held[1] == horizon:
            held[:] = [world.get_standard_start_state(), 0]
        chosen = [dice.choice(actions), dice.choice(actions)]
        held[0], _infos = world.get_state_transition(held[0], chosen)
        held[1] += 1
        world.lossless_state_encoding(held[0], horizon=horizon)

    return Subject(step, 1, lambda: None)


def _jaxmarl(worlds: int, *, name: str, masked: bool = False, **options: Any) -> Subject:
    """Play a compiled batch, moves drawn from all, or where there are masks from the legal ones."""
    jax = _jax()
    if "layout" in options:
        layouts = require(f"jaxmarl.environments.{name}")
        options["layout"] = getattr(layouts, f"{name}_layouts")[options["layout"]]
    env = require("jaxmarl").make(name, **options)

    def choose(key: Any, agent: str, state: Any) -> Any:
        if not masked:
            return jax.random.randint(key, (), 0, env.action_space(agent).n)
        legal = env.get_legal_moves(state)[agent]
        return jax.random.categorical(key, jax.numpy.where(legal > 0, 0.0, -1e9))

    def one(key: Any, state: Any) -> Any:
        draw, own = jax.random.split(key)
        keys = zip(env.agents, jax.random.split(draw, env.num_agents), strict=True)
        chosen = {agent: choose(k, agent, state) for agent, k in keys}
        observations, state, rewards, *_ = env.step(own, state, chosen)
        return state, (observations, rewards)

    def many(key: Any, states: Any, _: Any) -> Any:
        def body(carry: Any, _: Any) -> Any:
            key, own = jax.random.split(carry[0])
            states, shown = jax.vmap(one)(jax.random.split(own, worlds), carry[1])
            return (key, states), [leaf.sum() for leaf in jax.tree_util.tree_leaves(shown)]

        (key, states), total = jax.lax.scan(body, (key, states), None, length=_JAX_STEPS)
        return key, states, total

    key = jax.random.PRNGKey(0)
    states = jax.jit(jax.vmap(env.reset))(jax.random.split(key, worlds))[1]
    return _carried(jax.jit(many), [key, states], [0], worlds * _JAX_STEPS)


def _jumanji(worlds: int, *, game: str, name: str, generator: str) -> Subject:
    """Play a compiled batch of one of Jumanji's games."""
    jax = _jax()
    home = f"jumanji.environments.{game}"
    levels = getattr(require(f"{home}.generator"), generator)()
    env = getattr(require(home), name)(generator=levels)
    env = require("jumanji.wrappers").AutoResetWrapper(env)
    choices = env.action_spec.num_values

    def many(key: Any, states: Any, _: Any) -> Any:
        def body(carry: Any, _: Any) -> Any:
            key, own = jax.random.split(carry[0])
            moves = jax.random.randint(own, (worlds,), 0, choices)
            states, shown = jax.vmap(env.step)(carry[1], moves)
            leaves = jax.tree_util.tree_leaves((shown.observation, shown.reward))
            return (key, states), [leaf.sum() for leaf in leaves]

        (key, states), total = jax.lax.scan(body, (key, states), None, length=_JAX_STEPS)
        return key, states, total

    key = jax.random.PRNGKey(0)
    states = jax.jit(jax.vmap(env.reset))(jax.random.split(key, worlds))[0]
    return _carried(jax.jit(many), [key, states], [0], worlds * _JAX_STEPS)


def _warpdrive(
    worlds: int, *, module: str, name: str, choices: list[int], **options: Any
) -> Subject:
    """Play one of WarpDrive's NumPy classes with full observations."""
    env = getattr(require(f"example_envs.{module}"), name)(episode_length=100, seed=1, **options)
    env.reset()
    shape = (PREPARED, env.num_agents, len(choices))
    drawn = np.random.default_rng(0).integers(0, choices, shape).tolist()
    rows = [[tuple(row) if len(row) > 1 else row[0] for row in rows] for rows in drawn]
    # Made before the clock runs: the program wants a dictionary per step.
    actions = [dict(enumerate(row)) for row in rows]

    def step(i: int) -> None:
        if env.step(actions[i % PREPARED])[2]["__all__"]:
            env.reset()

    return Subject(step, 1, lambda: None)


def _floxs(worlds: int, *, agents: int) -> Subject:
    """Step floxs's flock, compiled for the CPU."""
    jax = _jax()
    generator = require("floxs.flock.generator").RandomGenerator(num_boids=agents)
    env = require("floxs.flock").Flock(generator=generator)
    drawn = np.random.default_rng(0).uniform(-1, 1, (PREPARED, agents, 2))
    actions = [jax.numpy.asarray(array, dtype="float32") for array in drawn]
    first = jax.jit(env.reset)(jax.random.PRNGKey(0))[0]
    return _carried(jax.jit(env.step), [first], actions, 1)


def _covid_numpy(worlds: int, *, source: str, episode: int) -> Subject:
    """Step our plain transcription of the COVID-19 economy, with the rows of all agents."""
    path = c_loop.ROOT / source
    if not path.exists():
        raise MissingError(f"its source {path.name} comes with the source tree only")
    spec = importlib.util.spec_from_file_location("covid_numpy", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    world = module.Oracle(max_episode_steps=episode)
    dice = np.random.default_rng(0)
    drawn = [(dice.integers(0, 11, 51), int(dice.integers(0, 21))) for _ in range(PREPARED)]

    def step(i: int) -> None:
        if world.t == episode:
            world.reset()
        world.step(*drawn[i % PREPARED])
        world.rows(), world.masks()

    return Subject(step, 1, lambda: None)


def _vizdoom(worlds: int, *, scenario: str, resolution: str) -> Subject:
    """Play one game of VizDoom, drawn without a window, a button at a time."""
    vizdoom = require("vizdoom")
    game = vizdoom.DoomGame()
    game.load_config(os.path.join(vizdoom.scenarios_path, scenario))
    game.set_screen_resolution(getattr(vizdoom.ScreenResolution, resolution))
    game.set_window_visible(False)
    settings = tempfile.TemporaryDirectory()  # it writes a settings file into the working folder
    game.set_doom_config_path(os.path.join(settings.name, "vizdoom.ini"))
    game.init()
    buttons = len(game.get_available_buttons())
    actions = [[int(k == pressed) for k in range(buttons)] for pressed in range(buttons)]
    dice = random.Random(0)
    game.new_episode()

    def step(_: int) -> None:
        if game.is_episode_finished():
            game.new_episode()
        assert game.get_state().screen_buffer.size > 0
        game.make_action(dice.choice(actions))

    def close() -> None:
        game.close()
        settings.cleanup()

    return Subject(step, 1, close)


PROGRAMS: dict[str, Callable[..., Subject]] = {
    "c_loop": c_loop.open_loop,
    "covid_numpy": _covid_numpy,
    "envpool": _envpool,
    "floxs": _floxs,
    "gymnasium": _gymnasium,
    "gymnax": _gymnax,
    "jaxmarl": _jaxmarl,
    "jumanji": _jumanji,
    "open_spiel": _open_spiel,
    "overcooked_ai": _overcooked_ai,
    "vizdoom": _vizdoom,
    "warpdrive": _warpdrive,
}
