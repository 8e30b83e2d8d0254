"""Episodes in a page's world come out as in Python, by every policy that the repository keeps.

Both play the same worlds of the same seed, greedily or by the same draws, and must give the same
returns. Where two choices are as good as equal, rounding decides, and the episode is another one
from there: it is named and left out. Actions that are numbers differ by rounding at every step: the
page's are compared, and Python's taken in their place.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpu_envs

torch = pytest.importorskip("torch", reason="needs torch")

from gpu_envs.building import places, upkeep  # noqa: E402
from gpu_envs.known import registration  # noqa: E402
from gpu_envs.policies import saved  # noqa: E402
from gpu_envs.policies.distributions import Categorical  # noqa: E402
from gpu_envs.policies.noise import EVALUATION, Noise  # noqa: E402
from gpu_envs.policies.teams import Crowd, Crowds, Team  # noqa: E402
from tests.client.decisions import ROOT, SEED, TIE, farthest, made, node, observed, ties  # noqa: E402

FILES = sorted((ROOT / "trained").glob("*.ckpt"))
WORLDS = 20
MOST_TIES = 2  # episodes
NEAR = 2e-5  # between actions that are numbers
DECISIONS = 12_000  # of a file, about; the slow tests play whole episodes
STEPS = 8, 120  # fewest, most

pytestmark = [pytest.mark.web, pytest.mark.usefixtures("has_node", "one_thread")]

Array = np.ndarray[Any, Any]


@dataclass
class Episode:
    """What was done in a world until its episode was over, and what agents were given."""

    returns: Array  # (agents,)
    actions: Array  # (steps, words), of the engine
    free: Array  # whether rounding decides a word, like the actions; Python says it

    @property
    def steps(self) -> int:
        return len(self.actions)


class _Watched:
    """A policy that keeps what it said last."""

    def __init__(self, policy: Any) -> None:
        self.policy, self.memory_size = policy, policy.memory_size

    def __call__(self, *seen: Any) -> Any:
        said = self.policy(*seen)
        self.outputs = said[0]
        return said


def _crowd(path: Path, simulator: gpu_envs.Simulator, drawn: bool) -> Any:
    """Return what chooses the actions of all worlds, as the package's evaluations have it."""
    team = Team.load(path, simulator)
    policies: Any = [_Watched(policy) for policy in team.policies]
    rows = torch.tensor(team.of_agent).repeat(WORLDS)
    noise = Noise(SEED, EVALUATION, torch.device("cpu"))
    if simulator.kinds.is_one:
        return Crowd(policies, rows, team.kinds[0].actions, noise, 0, drawn)
    return Crowds(team.kinds, policies, rows, noise, 0, simulator.kinds, drawn)


def _python(path: Path, simulator: gpu_envs.Simulator, drawn: bool) -> list[Episode]:
    """Play an episode in each world by the package's policies."""
    crowd = _crowd(path, simulator, drawn)
    crowds = [crowd] if isinstance(crowd, Crowd) else crowd.crowds
    returns = np.zeros((WORLDS, simulator.agents_per_world))
    steps = np.zeros(WORLDS, int)
    actions: list[Array] = []
    free: list[Array] = []
    going = np.ones(WORLDS, bool)
    seen = simulator.reset_arrays(SEED, None, True)
    while going.any():
        chosen = crowd(observed(simulator, seen), seen.action_mask)
        actions.append(chosen.numpy().reshape(WORLDS, -1).copy())
        free.append(np.concatenate([_free(one) for one in crowds], 1))
        seen = simulator.step_arrays(chosen, True)
        returns[going] += seen.reward.view(WORLDS, -1).numpy()[going]
        steps += going
        going &= simulator.get("world.over").ravel() == 0
    both = np.stack(actions, 1), np.stack(free, 1)
    return [
        Episode(returns[world], *(one[world, : steps[world]] for one in both))
        for world in range(WORLDS)
    ]


def _free(crowd: Any) -> Array:
    """Return whether rounding decides what was chosen last, (worlds, words)."""
    actions, rows = crowd.actions, len(crowd.action)
    found = np.zeros((rows, actions.draws), bool)
    if not isinstance(actions, Categorical):
        return found[:, : actions.draws // 2].reshape(WORLDS, -1)
    number = torch.tensor(crowd.step - 1)
    draws = crowd.noise.uniform(number, 1, crowd.first_row, rows, actions.draws)[0].numpy()
    for policy, at in crowd.parts:
        side = {"outputs": policy.outputs.numpy(), "draws": draws[at]}
        found[at] = ties(actions, side)[crowd.is_sampled] < TIE
    others = crowd.others  # act at random; none of these files has such agents with masks
    if len(others):
        outputs = actions.normalised(torch.zeros(len(others), actions.outputs), None)
        side = {"outputs": outputs.numpy(), "draws": draws[others]}
        found[others] = ties(actions, side)[1] < TIE
    return found.reshape(WORLDS, -1)


def _page(
    path: Path, simulator: gpu_envs.Simulator, python: list[Episode], drawn: bool, folder: Path
) -> list[Episode]:
    """Play the same episodes in a page's world."""
    config = saved.read(path)["config"]
    parameters = {**config["parameters"], **config.get("evaluation_parameters", {})}
    parameters.pop("max_episode_steps", None)
    place = {"id": config["env"], "parameters": parameters, "seed": SEED, "drawn": drawn}
    task = {
        "stem": registration.home(config["env"]).stem,
        "policy": str(path),
        "place": place | {"limit": simulator.max_episode_steps},
        "worlds": WORLDS,
        "out": str(folder / "out"),
    }
    if python[0].actions.dtype == np.float32:
        np.concatenate([one.actions for one in python]).tofile(folder / "numbers")
        task["numbers"] = str(folder / "numbers")
    told = json.loads(node("play.mjs", task, folder))
    words = np.fromfile(folder / "out", np.int32).reshape(sum(one["steps"] for one in told), -1)
    ends = np.cumsum([one["steps"] for one in told])
    return [
        Episode(np.array(one["returns"]), words[end - one["steps"] : end], np.zeros(0, bool))
        for one, end in zip(told, ends, strict=True)
    ]


def _tie(python: Episode, page: Episode) -> int | None:
    """Compare an episode, and return the step from which rounding made it another one."""
    both = min(python.steps, page.steps)
    if python.actions.dtype == np.float32:
        assert farthest(page.actions.view(np.float32)[:both], python.actions[:both]) <= NEAR
    else:
        differs = python.actions[:both] != page.actions[:both]
        if differs.any():
            step = int(differs.any(1).argmax())
            assert not (differs[step] & ~python.free[step]).any(), f"another choice at step {step}"
            return step
    assert python.steps == page.steps
    assert np.array_equal(python.returns, page.returns)
    return None


def _compare(path: Path, simulator: gpu_envs.Simulator, drawn: bool, folder: Path) -> None:
    python = _python(path, simulator, drawn)
    page = _page(path, simulator, python, drawn, folder)
    tied = []
    for world, pair in enumerate(zip(python, page, strict=True)):
        step = _tie(*pair)
        if step is not None:
            tied.append((world, step))
    steps = [one.steps for one in python]
    returns = np.concatenate([one.returns for one in python])
    print(
        f"{path.stem}, {'drawn' if drawn else 'greedy'}: {min(steps)} to {max(steps)} steps, mean "
        f"return {returns.mean():.3f}; episodes left out for a tie, (world, step): {tied or 'none'}"
    )
    assert len(tied) <= MOST_TIES, tied


CASES = [
    pytest.param(path, drawn, id=f"{path.stem}-{'drawn' if drawn else 'greedy'}")
    for path in FILES
    for drawn in (False, True)
    if not drawn or saved.read(path)["config"].get("sampled_evaluation", False)
]


def _limit(path: Path) -> int:
    """Return the steps of episodes after which a file has made enough decisions."""
    wanted: int = DECISIONS // (WORLDS * saved.read(path)["outlook"]["agents"])
    return min(max(wanted, STEPS[0]), STEPS[1])


def _made(make: Callable[..., Any], path: Path, **options: Any) -> Any:
    config = saved.read(path)["config"]
    stem = registration.home(config["env"]).stem
    if not upkeep.is_current(places.module_file(stem, places.WASM), places.WASM):
        pytest.skip(f"needs `python -m gpu_envs build --target wasm {config['env']}`")
    return made(make, config, num_worlds=WORLDS, autoreset_mode="Disabled", **options)


@pytest.mark.parametrize(("path", "drawn"), CASES)
def test_short_episodes_come_out_as_in_python(
    path: Path, drawn: bool, tmp_path: Path, make_simulator: Callable[..., gpu_envs.Simulator]
) -> None:
    simulator = _made(make_simulator, path, max_episode_steps=_limit(path))
    _compare(path, simulator, drawn, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(("path", "drawn"), CASES)
def test_whole_episodes_come_out_as_in_python(
    path: Path, drawn: bool, tmp_path: Path, make_simulator: Callable[..., gpu_envs.Simulator]
) -> None:
    _compare(path, _made(make_simulator, path), drawn, tmp_path)
