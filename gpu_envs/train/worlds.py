"""The worlds of a run: those it learns in, and those it is evaluated in."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from gpu_envs import errors
from gpu_envs.core import options
from gpu_envs.core.mixed import MixedSimulator
from gpu_envs.core.simulator import Simulator
from gpu_envs.faces.infos import infos_of, parts_by_name
from gpu_envs.known import fields, suites
from gpu_envs.known.outputs import FINAL_LAYERS, LAYERS, OUTPUTS, Outputs
from gpu_envs.policies.layered import Layered
from gpu_envs.policies.options import flag_of
from gpu_envs.train import varying
from gpu_envs.train.config import Config

FIRST_WORLD = 2**31  # number of the first world, beyond those of training
# The outputs that every training reads.
_READ = (
    *LAYERS,
    *("reward", "terminated", "truncated", "ended", "episode_return", "episode_length"),
    *("action_mask", "agent_active"),
)
# Steps of an episode where the environment has no limit: more than one has that ends by itself.
_LIMIT = 100_000


def cores() -> int:
    """Return how many cores this process has, shared with the other ranks on its machine."""
    ranks = int(os.environ.get("LOCAL_WORLD_SIZE", "1"))
    return max(1, len(os.sched_getaffinity(0)) // ranks)


class Worlds:
    """A batch of worlds as the trainer steps them, whatever kinds of agents they have.

    Where all agents are of one kind, arrays have a row for each agent of each world. Where there
    are several, observations and masks come kind after kind, each with rows of its own length, and
    actions are taken by kind. An agent is flagged in the step of its own end.

    Args:
        name: Id of the environment.
        worlds: How many worlds.
        **keywords: Those of `Simulator`.
    """

    def __init__(self, name: str, worlds: int, **keywords: Any) -> None:
        count = errors.whole(worlds, "num_envs", 1, options.WORLD_LIMIT)
        self.simulator: Any = _simulator(name, count, keywords)
        simulator = self.simulator
        self.num_worlds, self.agents_per_world = simulator.num_worlds, simulator.agents_per_world
        self.num_envs = self.num_worlds * self.agents_per_world
        self.agent_names, self.device = simulator.agent_names[:], simulator.device
        self.single_action_space = simulator.single_action_space  # None where each kind has its own
        self._infos = infos_of(simulator.layout)
        self.outputs = Outputs()  # of the last call

    def reset(self, *, seed: Any = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        """Begin new episodes."""
        results = self.outputs = self.simulator.reset_arrays(seed, options, True)
        return self._seen(results), self._shown(results, self._infos.always)

    def step(self, actions: Any, worlds: Any = None) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Run one step of every world, or of those in a mask."""
        results = self.outputs = self.simulator.step_arrays(actions, True, worlds=worlds)
        infos = self._shown(results, self._infos.always + self._infos.of_ends)
        infos["episode_stats"] = {"r": results.episode_return, "l": results.episode_length}
        infos["_episode_stats"] = results.ended
        if infos.pop("measures", None) is not None:
            infos |= parts_by_name(results.measures, self.simulator.measure_fields)
        flags = results.terminated, results.truncated
        return self._seen(results), results.reward, *flags, infos

    def _seen(self, results: Outputs) -> Any:
        views = self.simulator.views
        return results.obs if views is None else Layered(views.observed(results))

    @staticmethod
    def _shown(results: Outputs, names: Sequence[str]) -> dict[str, Any]:
        return {name: getattr(results, name) for name in names}

    def stages(self, first: int, total: int, count: int) -> Any:
        """Return the number of each world among `count` groups, which are spread over all worlds.

        Args:
            first: Number of this rank's first world.
            total: Worlds of all ranks.
            count: How many groups there are.
        """
        if not isinstance(self.simulator, MixedSimulator):
            return (first + np.arange(self.num_worlds)) * count // total
        sizes = [part.simulator.num_worlds for part in self.simulator.parts]
        return np.concatenate([np.arange(size) * count // size for size in sizes])

    def worlds_of(self, game: str | None) -> slice:
        """Return which worlds are those of a game of a suite; None for all."""
        if game is None:
            return slice(None)
        found: slice = next(part.worlds for part in self.simulator.parts if part.game == game)
        return found

    def check(self) -> None:
        """Raise for faults in the worlds since the last check."""
        self.simulator.check()

    def close(self) -> None:
        """Release the simulator."""
        self.simulator.close()


def _simulator(name: str, worlds: int, keywords: Mapping[str, Any]) -> Simulator | MixedSimulator:
    """Return the simulator of an environment, or of all games of a suite."""
    if not suites.is_suite(name):
        return Simulator(name, worlds, roles="split", **keywords)
    return MixedSimulator(suites.games_of(name), worlds, name=name, **keywords)


def fewest(config: Config) -> int:
    """Return how few worlds a run can have: one of each game of a suite."""
    return len(suites.games_of(config.env)) if suites.is_suite(config.env) else 1


def _require_suited(config: Config, worlds: int) -> None:
    """Refuse options that a suite has not."""
    if not suites.is_suite(config.env):
        if config.reward_scales:
            raise ValueError(f"--reward-scales is for suites: {config.env} is one environment")
        return
    for flag, value in (
        ("--reward-weights", config.reward_weights),
        ("--critic-state", config.critic_state),
        ("--other-play", config.other_play),
    ):
        if value:
            raise ValueError(f"{flag} is for one environment: {config.env} is a suite")
    require_enough("--num-envs", config, worlds)


def require_enough(flag: str, config: Config, worlds: int) -> None:
    """Refuse fewer worlds of this rank than a suite has games."""
    least = fewest(config)
    if worlds < least:
        raise ValueError(
            f"{flag} must be at least {least} for each rank, a world for each game of "
            f"{config.env}, got {worlds}"
        )


@contextlib.contextmanager
def defaults_named(config: Config, chosen: Mapping[str, Any], *parts: str) -> Iterator[None]:
    """Mark values in an error that are defaults of training, since the user did not type them.

    Args:
        config: The run.
        chosen: The parameters of its worlds.
        parts: Where their defaults are: "parameters", and "evaluation" for evaluations.
    """
    training = suites.training_of(config.env)
    usual = {name: v for part in parts for name, v in training.get(part, {}).items()}
    try:
        yield
    except ValueError as problem:
        line = str(problem)
        alike = [n for n, v in usual.items() if n in chosen and chosen[n] == v]
        named = [n for n in alike if re.search(rf"\b{n}\b", line)]
        if not named:
            raise
        raise ValueError(line + "".join(_way_out(n, chosen[n], parts) for n in named)) from None


def _way_out(name: str, value: Any, parts: tuple[str, ...]) -> str:
    what, option = "training", f"{flag_of(name)} VALUE"
    if "evaluation" in parts:
        what, option = "evaluations", f"--evaluate-with {name}=VALUE"
    return f"; {name}={fields.spelt(value)} is the default of {what}: {option} replaces it"


def for_training(config: Config, device: str, worlds: int, first: int = 0) -> Worlds:
    """Return the worlds of a rollout, which write only the outputs that the trainer reads."""
    _require_suited(config, worlds)
    described = fields.read(suites.described(config.env)["parameters"])
    parameters: dict[str, Any] = config.parameters | varying.keywords(config.varying, described)
    with defaults_named(config, parameters, "parameters"):
        one = Worlds(config.env, fewest(config), device="cpu", **parameters)
    with defaults_named(config, config.parameters, "parameters"):
        varying.Schedules(config.varying, described).check(one.simulator)
    read = set(_READ) | ({"reward_parts"} if config.reward_weights else set())
    if config.critic_state:
        read.add("state")
    if not config.finite:
        read |= set(FINAL_LAYERS)
    names = [n for n in OUTPUTS if one.simulator.layout.output(n) is not None and n in read]
    if "state" in names:  # for the value of a truncated episode's last state
        names.append("final_state")
    one.close()
    return Worlds(
        config.env,
        worlds,
        first_world=first,
        level_count=config.level_count,
        outputs=names,
        final_rows="keep",  # rows in which no episode ended are not read
        threads=cores(),
        device=device,
        arrays="torch",
        **parameters,
    )


def for_evaluation(
    config: Config, device: str, worlds: int, first: int = 0, level_count: int = 0
) -> Worlds:
    """Return the worlds in which a run is evaluated.

    Args:
        config: The run.
        device: Where they live.
        worlds: How many.
        first: Number of the first one, among those of evaluations.
        level_count: Of fixed levels, such as those of training; 0: episodes begin as any level.
    """
    keywords: dict[str, Any] = {**config.parameters, **config.evaluation_parameters}
    keywords |= {"device": device, "arrays": "torch", "reuse": True, "threads": cores()}
    keywords |= {"first_world": FIRST_WORLD + first, "level_count": level_count}
    env = Worlds(config.env, worlds, **keywords)
    if env.simulator.max_episode_steps:
        return env
    env.close()
    keywords["max_episode_steps"] = _LIMIT
    return Worlds(config.env, worlds, **keywords)
