"""The checks of other libraries that compatibility.py runs: their own checkers and wrappers.

Each is a function that is registered with `@check`; it gets an id and raises if the library is not
content. Nothing here trains, and no environment is named: the registry describes them.
"""

from __future__ import annotations

import contextlib
import copy
import pickle
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium.wrappers import vector as wrappers

import gpu_envs
from gpu_envs.known.measures import sizes

LIBRARIES = {  # import name: name of the distribution
    "gymnasium": "gymnasium",
    "pettingzoo": "pettingzoo",
    "stable_baselines3": "stable-baselines3",
    "torchrl": "torchrl",
    "supersuit": "SuperSuit",
    "moviepy": "moviepy",
}
STEPS = 40  # of each check that plays itself
WORLDS = 3
MODES = ("SameStep", "NextStep", "Disabled")


Row = Callable[[str], None]


class NotFor(Exception):
    """A check is not meant for an environment; the message is one word or two."""


@dataclass(frozen=True)
class Check:
    """One row of the table."""

    library: str
    label: str
    run: Row
    remedy: str = ""  # of what is known to fail, and why it does


CHECKS: list[Check] = []


ROWS = 'these infos have a dictionary, or a row per world: `infos="rows"`'
NO_DICTS = "SuperSuit takes no Dict, which observations with a mask are in PettingZoo"


def check(library: str, label: str, remedy: str = "") -> Callable[[Row], Row]:
    """Register a function as a row of the table."""

    def register(run: Row) -> Row:
        CHECKS.append(Check(library, label, run, remedy))
        return run

    return register


# Making and playing


def crowd(name: str) -> dict[str, Any]:
    """Return parameters of a world of several agents; small where worlds are large by themselves.

    Empty, and so the environment as it is by default, for most.
    """
    return sizes(name, "small") if sizes(name, "few") else {}


def single(name: str, **options: Any) -> gymnasium.Env[Any, Any]:
    """Make a single environment, where the environment can have one agent."""
    try:
        return gymnasium.make(f"gpu_envs/{name}", **sizes(name, "alone"), **options)
    except ValueError as problem:
        if "gymnasium.Env has one agent" in str(problem):
            raise NotFor("several agents") from None
        raise


def batch(name: str, mode: str = "SameStep", **options: Any) -> Any:
    """Make a batch of few worlds with short episodes."""
    keywords = {"device": "cpu", "autoreset_mode": mode, "max_episode_steps": 15}
    return gymnasium.make_vec(f"gpu_envs/{name}", WORLDS, **keywords, **crowd(name), **options)


def parallel(name: str, **options: Any) -> gpu_envs.ParallelEnv:
    """Make a world with PettingZoo's parallel interface."""
    return gpu_envs.parallel_env(name, max_cycles=15, **crowd(name), **options)


def play(env: Any, source: Any = None) -> None:
    """Play a batch with random actions, legal where the infos or `source` have masks."""
    inner = env.unwrapped
    inner.action_space.seed(0)
    infos = env.reset(seed=0)[1]
    for _ in range(STEPS):
        actions = legal(inner.action_space.sample(), inner.single_action_space, infos)
        _, _, terminated, truncated, infos = env.step(actions)
        ended = np.asarray(terminated) | np.asarray(truncated)
        if inner.metadata["autoreset_mode"].value == "Disabled" and ended.any():
            worlds = ended.reshape(inner.num_worlds, -1).all(1)
            rows = worlds.repeat(inner.agents_per_world)
            infos = env.reset(options={"reset_mask": rows})[1]
    env.close()


def legal(actions: Any, space: Any, infos: Any) -> Any:
    """Return the lowest legal action where a mask is given and something is legal."""
    mask = infos.get("action_mask") if isinstance(infos, dict) else None
    if mask is None or not isinstance(space, gymnasium.spaces.Discrete):
        return actions
    return np.asarray(mask).argmax(-1).reshape(np.shape(actions))


# Gymnasium


@check("gymnasium", "`check_env`")
def check_single(name: str) -> None:
    """Gymnasium's checker over a single environment."""
    from gymnasium.utils.env_checker import check_env

    check_env(single(name).unwrapped)


@check("gymnasium", '`check_env`, `observation="dict"`')
def check_single_dict(name: str) -> None:
    """The same with observations by name."""
    from gymnasium.utils.env_checker import check_env

    check_env(single(name, observation="dict").unwrapped)


@check("gymnasium", "copies and pickles of `make` and `make_vec`")
def check_copies(name: str) -> None:
    """What was not used yet can be copied and pickled."""
    made = [batch(name)]
    with contextlib.suppress(NotFor):
        made.append(single(name))
    for env in made:
        first = env.reset  # bound before anything begins
        for twin in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
            np.testing.assert_equal(twin.reset(seed=1)[0], twin.reset(seed=1)[0])
            twin.close()
        first(seed=1)
        env.close()


@check("gymnasium", "`SyncVectorEnv` over `make`")
def check_sync(name: str) -> None:
    """Gymnasium's own vectoriser over single environments."""
    single(name).close()
    env = gymnasium.make_vec(
        f"gpu_envs/{name}", WORLDS, vectorization_mode="sync", **sizes(name, "alone")
    )
    env.reset(seed=0)
    for _ in range(STEPS):
        env.step(env.action_space.sample())
    env.close()


@check("gymnasium", "`make_vec`: results in their spaces, three modes")
def check_spaces(name: str) -> None:
    """What a batch returns is in the spaces that it names."""
    for mode in MODES:
        env = batch(name, mode)
        observation, _ = env.reset(seed=0)
        assert observation in env.observation_space
        observation, reward, *flags, _ = env.step(env.action_space.sample())
        assert observation in env.observation_space
        assert reward.shape == (env.num_envs,)
        assert all(flag.shape == reward.shape and flag.dtype == bool for flag in flags)
        env.close()


@check(
    "gymnasium",
    "`benchmark_vector_step`, three modes",
    "in Disabled it resets the rows that ended, but a world resets as a whole",
)
def check_benchmark(name: str) -> None:
    """Gymnasium's only helper that drives a batch."""
    from gymnasium.utils.performance import benchmark_vector_step

    for mode in MODES:
        assert benchmark_vector_step(batch(name, mode), target_duration=0.2, seed=0) > 0


@check("gymnasium", "statistics, normalisation and flattening over `make`")
def check_single_wrappers(name: str) -> None:
    """Gymnasium's wrappers of single environments, over each other."""
    env = single(name, observation="dict")
    for wrap in (
        gymnasium.wrappers.RecordEpisodeStatistics,
        gymnasium.wrappers.FlattenObservation,
        gymnasium.wrappers.NormalizeObservation,
        gymnasium.wrappers.NormalizeReward,
    ):
        env = wrap(env)
    env.reset(seed=0)
    for _ in range(STEPS):
        _, _, terminated, truncated, _ = env.step(env.action_space.sample())
        if terminated or truncated:
            env.reset()
    env.close()


def over_modes(
    label: str,
    wrap: Callable[[Any], Any],
    modes: Sequence[str],
    remedy: str = "",
    **options: Any,
) -> None:
    """Register a wrapper of Gymnasium's, to be played in some modes."""

    @check("gymnasium", label, remedy)
    def run(name: str) -> None:
        for mode in modes:
            play(wrap(batch(name, mode, **options)))


def to_torch(env: Any) -> Any:
    """Convert the arrays of a batch to tensors."""
    import torch

    return wrappers.ArrayConversion(env, env_xp=np, target_xp=torch)


over_modes("`RecordEpisodeStatistics`, three modes", wrappers.RecordEpisodeStatistics, MODES)
over_modes(
    '`DictInfoToList`, three modes, `infos="rows"`', wrappers.DictInfoToList, MODES, infos="rows"
)
over_modes("`DictInfoToList`, three modes", wrappers.DictInfoToList, MODES, ROWS)
over_modes("`ArrayConversion` to torch, three modes", to_torch, MODES)
over_modes("`NormalizeObservation`, NextStep", wrappers.NormalizeObservation, ["NextStep"])
over_modes("`NormalizeReward`, three modes", wrappers.NormalizeReward, MODES)
over_modes("`FlattenObservation`, NextStep, Disabled", wrappers.FlattenObservation, MODES[1:])
over_modes(
    '`FlattenObservation`, NextStep, `observation="dict"`',
    wrappers.FlattenObservation,
    ["NextStep"],
    "fields of roles with spaces of their own differ, so their rows are flat",
    observation="dict",
)


# PettingZoo


@check("pettingzoo", "`parallel_api_test`")
def check_parallel(name: str) -> None:
    """PettingZoo's test of the parallel interface."""
    from pettingzoo.test import parallel_api_test

    parallel_api_test(parallel(name), num_cycles=STEPS)


@check("pettingzoo", "`parallel_seed_test`")
def check_parallel_seed(name: str) -> None:
    """PettingZoo's test of seeds."""
    from pettingzoo.test import parallel_seed_test

    parallel_seed_test(lambda: parallel(name))


@check("pettingzoo", "`api_test` of `aec_env`")
def check_turns(name: str) -> None:
    """PettingZoo's test of the turn-by-turn interface: ours, or its own conversion."""
    from pettingzoo.test import api_test

    api_test(gpu_envs.aec_env(name, max_cycles=15, **crowd(name)), num_cycles=STEPS)


@check("pettingzoo", "`seed_test` of `aec_env`")
def check_turns_seed(name: str) -> None:
    """PettingZoo's test of seeds over that."""
    from pettingzoo.test import seed_test

    seed_test(lambda: gpu_envs.aec_env(name, max_cycles=15, **crowd(name)), num_cycles=STEPS)


@check("pettingzoo", "`state_test`")
def check_state(name: str) -> None:
    """PettingZoo's test of `state()`."""
    from pettingzoo.test.state_test import state_test

    world = parallel(name)
    turns = gpu_envs.aec_env(name, max_cycles=15, **crowd(name))
    turns.reset(seed=0)
    state_test(turns, world)


# Stable-Baselines3


@check("stable_baselines3", "`check_env`")
def check_sb3(name: str) -> None:
    """Stable-Baselines3's checker over a single environment."""
    from stable_baselines3.common.env_checker import check_env

    check_env(single(name).unwrapped)


@check("stable_baselines3", '`check_env`, `observation="dict"`')
def check_sb3_dict(name: str) -> None:
    """The same with observations by name."""
    from stable_baselines3.common.env_checker import check_env

    check_env(single(name, observation="dict").unwrapped)


def sb3_batch(name: str, wrap: str) -> None:
    """Play a batch behind a wrapper of Stable-Baselines3's."""
    from stable_baselines3.common import vec_env

    from gpu_envs.integrations.stable_baselines3 import SB3VecEnv

    inner = SB3VecEnv(name, WORLDS, device="cpu", max_episode_steps=15, **crowd(name))
    env = getattr(vec_env, wrap)(inner)
    env.seed(0)
    env.reset()
    for _ in range(STEPS):
        actions = np.stack([env.action_space.sample() for _ in range(env.num_envs)])
        if env.has_attr("action_masks"):
            actions = np.asarray(env.env_method("action_masks")).argmax(-1)
        env.step(actions)
    env.close()


@check("stable_baselines3", "`SB3VecEnv` in `VecMonitor`")
def check_monitor(name: str) -> None:
    """Statistics of episodes."""
    sb3_batch(name, "VecMonitor")


@check("stable_baselines3", "`SB3VecEnv` in `VecCheckNan`")
def check_nan(name: str) -> None:
    """Observations and rewards have no NaN."""
    sb3_batch(name, "VecCheckNan")


@check("stable_baselines3", "`SB3VecEnv` in `VecNormalize`")
def check_normalize(name: str) -> None:
    """Running means of observations and rewards."""
    sb3_batch(name, "VecNormalize")


# TorchRL


def specs(make: Callable[[], Any]) -> None:
    """Run TorchRL's checker of specs, which plays a rollout."""
    from torchrl.envs import check_env_specs

    env = make()
    check_env_specs(env, seed=0)
    env.close()


@check("torchrl", "`check_env_specs` of `GymEnv`")
def check_gym_env(name: str) -> None:
    """TorchRL's own way to make a single environment."""
    from torchrl.envs import GymEnv

    single(name).close()
    specs(lambda: GymEnv(f"gpu_envs/{name}", **sizes(name, "alone")))


def over_batches(label: str, remedy: str, mode: str, **options: Any) -> None:
    """Register TorchRL's wrapper over a batch."""

    @check("torchrl", f"`check_env_specs` of `GymWrapper(make_vec)`, {label}", remedy)
    def run(name: str) -> None:
        from torchrl.envs import GymWrapper

        specs(lambda: GymWrapper(batch(name, mode, **options)))


over_batches("SameStep", ROWS, "SameStep")
over_batches('SameStep, `infos="rows"`', "", "SameStep", infos="rows")
over_batches("Disabled", "", "Disabled")


@check("torchrl", "`check_env_specs` of our `TorchRLEnv`")
def check_torchrl_env(name: str) -> None:
    """The adapter of this package."""
    from gpu_envs.integrations.torchrl import TorchRLEnv

    specs(lambda: TorchRLEnv(name, WORLDS, max_episode_steps=15, **crowd(name)))


@check(
    "torchrl",
    "`check_env_specs` of `PettingZooWrapper`",
    "TorchRL fails where a mask is in the observation and in the infos: `TorchRLEnv`",
)
def check_pettingzoo_wrapper(name: str) -> None:
    """TorchRL's wrapper over PettingZoo's interface."""
    from torchrl.envs import PettingZooWrapper

    specs(lambda: PettingZooWrapper(parallel(name)))


# SuperSuit


def over_agents(label: str, wrap: Callable[[Any, Any], Any]) -> None:
    """Register a wrapper of SuperSuit's, held to PettingZoo's test."""

    @check("supersuit", label, NO_DICTS)
    def run(name: str) -> None:
        import supersuit
        from pettingzoo.test import parallel_api_test

        parallel_api_test(wrap(supersuit, parallel(name)), num_cycles=STEPS)


over_agents("`black_death_v3`", lambda suit, env: suit.black_death_v3(env))
over_agents("`dtype_v0`", lambda suit, env: suit.dtype_v0(env, np.float32))
over_agents("`flatten_v0`", lambda suit, env: suit.flatten_v0(env))
over_agents("`frame_stack_v1`", lambda suit, env: suit.frame_stack_v1(suit.flatten_v0(env), 3))
over_agents("`agent_indicator_v0`", lambda suit, env: suit.agent_indicator_v0(suit.flatten_v0(env)))
over_agents("`pad_observations_v0`", lambda suit, env: suit.pad_observations_v0(env))
over_agents("`clip_reward_v0`", lambda suit, env: suit.clip_reward_v0(env))
over_agents("`sticky_actions_v0`", lambda suit, env: suit.sticky_actions_v0(env, 0.25))


@check("supersuit", "`pettingzoo_env_to_vec_env_v1`, `concat_vec_envs_v1`", NO_DICTS)
def check_concat(name: str) -> None:
    """Agents as rows, and copies of the world beside each other."""
    import supersuit

    env = supersuit.pettingzoo_env_to_vec_env_v1(supersuit.black_death_v3(parallel(name)))
    rows = supersuit.concat_vec_envs_v1(env, 2, base_class="gymnasium")
    rows.reset(seed=0)
    for _ in range(STEPS):
        rows.step(np.stack([rows.action_space.sample() for _ in range(rows.num_envs)]))
    rows.close()


@check("supersuit", "`gym_vec_env_v0` over `make`")
def check_gym_vec_env(name: str) -> None:
    """SuperSuit's vectoriser over a single environment."""
    import supersuit

    rows = supersuit.gym_vec_env_v0(single(name), 2)
    rows.reset(seed=0)
    for _ in range(STEPS):
        rows.step(rows.action_space.sample())
    rows.close()


# moviepy


@check("moviepy", "Gymnasium's `RecordVideo`, three modes")
def check_films(name: str) -> None:
    """A film of each episode of the first row, where the environment has pictures."""
    if "rgb_array" not in batch(name).metadata["render_modes"]:
        raise NotFor("no pictures")
    for mode in MODES:
        with tempfile.TemporaryDirectory() as folder:
            env = batch(name, mode, render_mode="rgb_array", render_size=(36, 64))
            play(wrappers.RecordVideo(env, folder, episode_trigger=lambda episode: episode < 2))
            films = sorted(file.name for file in Path(folder).iterdir())
            assert films == ["rl-video-episode-0.mp4", "rl-video-episode-1.mp4"]
