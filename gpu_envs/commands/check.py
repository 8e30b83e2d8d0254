"""`python -m gpu_envs check ID`: checks the promises that every environment must keep.

For ids of the package the tests hold this and more; this command is for ids of a user's own. Each
check is a function below; the first line of its docstring is the promise. It returns what it looked
at, or raises `Broken` with the first violation. Everything runs on the CPU.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import gymnasium
import numpy as np

from gpu_envs import errors
from gpu_envs.core.simulator import Simulator
from gpu_envs.known import registration
from gpu_envs.known.measures import sizes
from gpu_envs.known.outputs import OUTPUTS, Outputs
from gpu_envs.terminal import flags

_LIMIT = 23  # steps of an episode, so that several end
_THREADS = (1, 2, 5)

Array = np.ndarray[Any, Any]


class Broken(Exception):
    """A broken promise, with the first place that shows it."""


class NotFor(Exception):
    """A check that does not apply to this environment; the message is the reason."""


@dataclass
class Case:
    """The environment to check, and the number of steps."""

    name: str
    worlds: int = 9
    steps: int = 60
    seed: int = 1
    parameters: dict[str, Any] = field(default_factory=dict)

    def make(self, worlds: int = 0, **options: Any) -> Simulator:
        """Make a simulator on the CPU, of small worlds and short episodes."""
        given = {"device": "cpu", "max_episode_steps": _LIMIT, **self.parameters, **options}
        return Simulator(self.name, worlds or self.worlds, **given)

    def play(self, simulator: Simulator, steps: int, seed: int = 0) -> Iterator[tuple[Any, Any]]:
        """Yield legal random actions and their outputs."""
        outputs = simulator.observe()
        for _ in range(steps):
            actions = simulator.sample_actions(outputs.action_mask, seed=self.seed + seed)
            outputs = simulator.step(actions)
            yield actions, outputs


def _same(first: Outputs, second: Outputs, where: str, rows: Any = slice(None)) -> None:
    for name in OUTPUTS:
        one, two = getattr(first, name), getattr(second, name)
        if one is not None and one[rows].tobytes() != two.tobytes():
            raise Broken(f"`{name}` differs {where}")


def repeats(case: Case) -> str:
    """One seed gives one run, with any number of threads."""
    batch, *others = (case.make(threads=count) for count in (_THREADS[0], *_THREADS))
    for simulator in (batch, *others):
        simulator.reset(seed=case.seed)
    for step, (actions, expected) in enumerate(case.play(batch, case.steps)):
        for other, threads in zip(others, _THREADS, strict=True):
            _same(expected, other.step(actions), f"with {threads} threads at step {step}")
    return f"{case.steps} steps of {case.worlds} worlds with {_THREADS} threads"


def alone(case: Case) -> str:
    """A world has the same bits alone and in a batch."""
    last = case.worlds - 1
    batch, single = case.make(), case.make(1, first_world=last)
    for simulator in (batch, single):
        simulator.reset(seed=case.seed)
    for step, (actions, expected) in enumerate(case.play(batch, case.steps)):
        found = single.step(actions[last:])
        _same(expected, found, f"in world {last} alone at step {step}", slice(last, None))
    return f"world {last} over {case.steps} steps"


def saves(case: Case) -> str:
    """A save that is loaded elsewhere goes on as the run that it was taken from."""
    first, second = case.make(), case.make()
    first.reset(seed=case.seed)
    half = case.steps // 2
    for _ in case.play(first, half):
        pass
    second.load(first.save())
    _same(first.observe(), second.observe(), "right after loading")
    for step, (actions, expected) in enumerate(case.play(first, half, seed=1)):
        _same(expected, second.step(actions), f"{step + 1} steps after loading")
    if first.save() != second.save():
        raise Broken("the saves differ at the end, though all outputs are equal")
    return f"a save after {half} steps, {half} steps on"


def copies(case: Case) -> str:
    """A copy of a world has the future of its source."""
    simulator = case.make(3)
    simulator.reset(seed=case.seed)
    for _ in case.play(simulator, 5):
        pass
    simulator.copy_worlds([0], [1])
    outputs = simulator.observe()
    for step in range(case.steps):
        actions = simulator.sample_actions(outputs.action_mask, seed=case.seed)
        actions[1] = actions[0]
        outputs = simulator.step(actions)
        for name in OUTPUTS:
            value = getattr(outputs, name)
            if value is not None and value[0].tobytes() != value[1].tobytes():
                raise Broken(f"`{name}` of the copy differs {step + 1} steps later")
    return f"{case.steps} steps after copy_worlds"


def numbers(case: Case) -> str:
    """Outputs are finite, observations within their bounds, and episodes end."""
    simulator = case.make()
    simulator.reset(seed=case.seed)
    space, ends = simulator.single_observation_space, 0
    for step, (_, outputs) in enumerate(case.play(simulator, case.steps)):
        for name in OUTPUTS:
            value = getattr(outputs, name)
            if value is not None and value.dtype.kind == "f" and not np.isfinite(value).all():
                raise Broken(f"`{name}` is NaN or infinite at step {step}{_place(value)}")
        if isinstance(space, gymnasium.spaces.Box):
            _check_bounds(space, outputs, f"at step {step}")
        ends += int(np.count_nonzero(outputs.ended)) if outputs.ended is not None else 0
    simulator.check()
    if not ends and case.steps > _LIMIT:
        raise Broken(f"no episode ended in {case.steps} steps, with a limit of {_LIMIT}")
    return f"{case.steps} steps, {ends} ends of agents"


def _place(value: Array) -> str:
    world, *rest = np.argwhere(~np.isfinite(value))[0]
    return f", world {world}, element {list(map(int, rest))}"


def _check_bounds(space: gymnasium.spaces.Box, outputs: Outputs, when: str) -> None:
    """Compare the observations of active agents with their bounds."""
    there = slice(None) if outputs.agent_active is None else outputs.agent_active != 0
    rows = outputs.obs[there]
    wrong = (rows < space.low) | (rows > space.high)
    if wrong.any():
        _, *element = np.argwhere(wrong.reshape(-1, *space.shape))[0]
        at = tuple(map(int, element))
        raise Broken(
            f"`obs` has {rows[wrong][0]} {when} at element {list(at)}, whose bounds are "
            f"{space.low[at]} and {space.high[at]}"
        )


def columns(case: Case) -> str:
    """Each column can be read and written back, and holds what its description allows."""
    simulator = case.make()
    simulator.reset(seed=case.seed)
    for _ in case.play(simulator, min(5, case.steps)):
        pass
    before, described = simulator.save(), simulator.instance["columns"]
    for column in described:
        values = simulator.get(column["name"])
        for bound, wrong in (("low", np.less), ("high", np.greater)):
            limit = column.get(bound)
            if limit is not None and wrong(values, limit).any():
                raise Broken(f"column {column['name']!r} passes its bound {bound}={limit}")
        simulator.set(column["name"], values)
    if simulator.save() != before:
        raise Broken("a column that was read and written back has changed the save")
    return f"{len(described)} columns"


def gymnasium_api(case: Case) -> str:
    """Gymnasium's own `check_env` is content."""
    from gymnasium.utils.env_checker import check_env

    if case.make(1).agents_per_world != 1:
        raise NotFor("several agents")
    env = gymnasium.make(f"{registration.NAMESPACE}/{case.name}", **_single(case))
    check_env(env.unwrapped, skip_render_check=True)
    env.close()
    return "gymnasium.make"


def pettingzoo_api(case: Case) -> str:
    """PettingZoo's own `parallel_api_test` is content."""
    from pettingzoo.test import parallel_api_test

    from gpu_envs.faces.parallel import parallel_env

    env = parallel_env(case.name, max_cycles=_LIMIT, **_single(case))
    with contextlib.redirect_stdout(io.StringIO()):  # it prints that it has passed
        parallel_api_test(env, num_cycles=100)
    return "parallel_env, 100 cycles"


def _single(case: Case) -> dict[str, Any]:
    return {"device": "cpu", **case.parameters}


CHECKS: tuple[Callable[[Case], str], ...] = (
    repeats,
    alone,
    saves,
    copies,
    numbers,
    columns,
    gymnasium_api,
    pettingzoo_api,
)


def run(case: Case) -> list[tuple[str, str, str]]:
    """Run every check; return (result, promise, details) of each."""
    found = []
    for check in CHECKS:
        promise = str(check.__doc__).splitlines()[0]
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # advice of libraries is not part of the promise
                found.append(("ok", promise, check(case)))
        except NotFor as problem:
            found.append(("-", promise, str(problem)))
        except (Broken, AssertionError, *errors.TROUBLE) as problem:
            found.append(("FAIL", promise, str(problem) or type(problem).__name__))
    return found


def _parser() -> flags.Parser:
    parser = flags.Parser(
        prog="python -m gpu_envs check",
        description="Check that an environment, also of a header of yours, keeps what every "
        "environment promises: the same bits alone, in a batch and with any number of threads, "
        "after a save and in a copy; finite numbers within their bounds; the interfaces of "
        "Gymnasium and PettingZoo. The exit status is 1 where something fails.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    add = parser.add_argument
    add("id", help="environment, such as MyTask-v0")
    add("--worlds", type=int, default=Case.worlds, metavar="N", help="worlds of a batch")
    add("--steps", type=int, default=Case.steps, metavar="N", help="steps of each check")
    add("--seed", type=int, default=Case.seed, metavar="N", help="seed of worlds and actions")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    parser = _parser()
    given = parser.parse_args(argv)
    try:
        name = str(registration.find(given.id)["id"])
        for option, least in (("worlds", 2), ("steps", 2), ("seed", 0)):
            errors.whole(getattr(given, option), f"--{option}", least, 1 << 20)
        case = Case(name, given.worlds, given.steps, given.seed, sizes(name, "few"))
        case.make(1).close()
    except errors.TROUBLE as problem:
        parser.error(str(problem))
    rows = run(case)
    for state, promise, seen in rows:
        print(f"{state:<4}  {promise}\n      {seen}")
    failed = sum(state == "FAIL" for state, _, _ in rows)
    print(f"{name}: {f'{failed} of {len(rows)} checks failed' if failed else 'nothing is wrong'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
