"""A page's policies say what the package's say, for every file that the repository keeps.

Outputs and values are compared with those of the same network in double precision, beside which the
package's own single precision has a larger error than a page: a page sums in doubles.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpu_envs

torch = pytest.importorskip("torch", reason="needs torch")

from gpu_envs.policies import agent_kinds, checkpoint, saved  # noqa: E402
from gpu_envs.policies.agent_kinds import KINDS_APART  # noqa: E402
from gpu_envs.policies.distributions import Categorical  # noqa: E402
from gpu_envs.policies.networks import Policy  # noqa: E402
from gpu_envs.policies.noise import EVALUATION, Noise  # noqa: E402
from gpu_envs.policies.options import PolicyOptions  # noqa: E402
from gpu_envs.policies.sharing import groups, role_of_policy  # noqa: E402
from gpu_envs.policies.teams import NOBODY, Team  # noqa: E402
from tests.client.decisions import (  # noqa: E402
    ROOT,
    SEED,
    TIE,
    exact,
    farthest,
    made,
    node,
    observed,
    take_doubles,
    ties,
)

# One of those with weights of half precision too.
LADDER = sorted((ROOT / "trained").glob("self_play/*/ladder/*.ckpt"))
FILES = [*sorted((ROOT / "trained").glob("*.ckpt")), *LADDER[-1:]]
NEAR = 1e-5  # to exact outputs and values, times the larger of 1 and their size
ALIKE = 5e-5  # to those of the package, whose memories gather errors of single precision
EPISODE = 40  # steps, so that memories are cleared on the way
DECISIONS = 600  # of a file, about
STEPS = 4, 300  # fewest, most

pytestmark = [pytest.mark.web, pytest.mark.usefixtures("has_node", "one_thread")]


@pytest.fixture(autouse=True)
def _double_tanh(monkeypatch: pytest.MonkeyPatch) -> None:
    take_doubles(monkeypatch)


# ---- what Python says


class _Side:
    """The rows of one kind that one policy plays, or chance."""

    def __init__(
        self, kind: Any, number: int, policy: Any, members: list[int], worlds: int
    ) -> None:
        self.kind, self.number, self.policy = kind, number, policy
        within = [agent - kind.first for agent in members]
        self.at = torch.tensor([w * kind.count + k for w in range(worlds) for k in within])
        self.worlds = torch.arange(worlds).repeat_interleave(len(members))
        self.agents = torch.tensor(members).repeat(worlds)
        size = policy.memory_size if policy is not None else 0
        self.memory = torch.zeros(len(self.at), size) if size else None
        self.exact = None if policy is None else exact(policy)
        self.exact_memory = torch.zeros(len(self.at), size).double() if size else None

    def forget(self, begins: Any) -> None:
        """Clear the memories of rows where an episode begins."""
        lost = begins[self.worlds, self.agents]
        for memory in (self.memory, self.exact_memory):
            if memory is not None:
                memory[lost] = 0

    def say(self, rows: Any, state: Any) -> tuple[Any, Any, Any, Any]:
        """Return outputs and values, of single precision and exact ones."""
        state = state[self.worlds].float() if self.policy.sees_state else None
        plain, value, self.memory = self.policy.plain(rows, self.memory, state)
        outputs, exact, memory = self.exact.plain(rows, self.exact_memory, state)
        self.exact_memory = None if memory is None else memory.double()
        return plain, self.policy.real(value), outputs, self.exact.real(exact)


def _sides(team: Team, worlds: int) -> list[_Side]:
    found = []
    for kind in team.kinds:
        own = range(kind.first, kind.first + kind.count)
        for number in [*range(len(team.policies)), NOBODY]:
            members = [agent for agent in own if team.of_agent[agent] == number]
            policy = None if number == NOBODY else team.policies[number]
            if members:
                found.append(_Side(kind, number, policy, members, worlds))
    return found


class _Recorded:
    """A play by a file's policies: what was seen at each step, and what they said."""

    def __init__(
        self, path: Path, simulator: gpu_envs.Simulator, steps: int, sampled: bool
    ) -> None:
        self.simulator, self.steps, self.sampled = simulator, steps, sampled
        self.team = Team.load(path, simulator)
        self.worlds, self.agents = simulator.num_worlds, simulator.agents_per_world
        self.sides = _sides(self.team, self.worlds)
        self.noise = Noise(SEED, EVALUATION, torch.device("cpu"))
        fields = [field.name for field in simulator.observation_fields]
        beside = simulator.instance.get("numbers", 0)
        several = bool(simulator.instance.get("pictures")) and len(fields) > 1
        self.layers = ("obs", *fields[1 : len(fields) - beside]) if several else ("obs",)
        self.layers += ("numbers",) if several and beside else ()
        self.seen: list[dict[str, np.ndarray[Any, Any]]] = []
        self.said: list[dict[str, Any]] = []
        with torch.no_grad():
            self._play()

    def _play(self) -> None:
        simulator = self.simulator
        results = simulator.reset_arrays(SEED, None, True)
        has_turns = simulator.instance["turns"]
        begins = torch.zeros(self.worlds, self.agents, dtype=torch.bool)
        for step in range(self.steps):
            seen = {name: getattr(results, name) for name in self.layers}
            seen["begins"] = begins.to(torch.uint8)
            if results.action_mask is not None:
                seen["mask"] = results.action_mask.view(torch.int8)
            if results.state is not None:
                seen["state"] = results.state.float()
            self.seen.append({name: array.numpy().copy() for name, array in seen.items()})
            actions = self._say(step, results, begins)
            results = simulator.step_arrays(actions, True)
            lost = results.terminated | results.truncated
            if results.agent_active is not None and not has_turns:
                lost = lost | ~results.agent_active
            begins = lost.view(self.worlds, self.agents).clone()

    def _say(self, step: int, results: Any, begins: Any) -> Any:
        simulator, layout = self.simulator, self.simulator.kinds
        kinds = self.team.kinds
        if layout.is_one:
            rows = [observed(simulator, results)]
            masks = [results.action_mask]
        else:
            rows = layout.observations.own_rows(results.obs, [kind.row[0] for kind in kinds])
            masks = [None] * len(kinds)
            if layout.masks is not None:
                masks = layout.masks.own_rows(results.action_mask, [k.choices or 0 for k in kinds])
        shapes = [(self.worlds * kind.count, *kind.actions.shape) for kind in kinds]
        greedy = [torch.zeros(s, dtype=k.actions.type) for s, k in zip(shapes, kinds, strict=True)]
        drawn = [one.clone() for one in greedy]
        said: list[dict[str, Any]] = []
        for side in self.sides:
            kind, at = side.kind, side.at
            draws = self.noise.uniform(
                torch.tensor(step),
                1,
                kind.number * KINDS_APART,
                shapes[kind.number][0],
                kind.actions.draws,
            )[0][at]
            mask = None if kind.choices is None else masks[kind.number][at]
            if side.policy is None:
                greedy[kind.number][at] = drawn[kind.number][at] = kind.actions.uniform(draws, mask)
                continue
            side.forget(begins)
            plain, value, *exact = side.say(rows[kind.number][at], results.state)
            outputs = side.policy._normalised(plain, mask)
            greedy[kind.number][at] = kind.actions.likeliest(outputs)
            drawn[kind.number][at] = kind.actions.sample(outputs, draws)
            part = {"plain": plain, "value": value, "outputs": outputs, "draws": draws}
            part |= {"exact_plain": exact[0], "exact_value": exact[1]}
            said.append({name: array.numpy().copy() for name, array in part.items()})
        greedy, drawn = (
            [kind.actions.for_env(one) for kind, one in zip(kinds, both, strict=True)]
            for both in (greedy, drawn)
        )
        self.said.append(
            {"sides": said, "greedy": self._joined(greedy), "drawn": self._joined(drawn)}
        )
        chosen = drawn if self.sampled else greedy
        if layout.is_one:
            return chosen[0]
        parts = [one.view(self.worlds, -1, *one.shape[1:]) for one in chosen]
        if layout.is_split:
            return {kind.name: part for kind, part in zip(kinds, parts, strict=True)}
        return torch.cat(parts, 1)

    def _joined(self, parts: list[Any]) -> np.ndarray[Any, Any]:
        """Return actions as the words of the engine lie."""
        if self.simulator.kinds.is_split:
            return np.concatenate([part.numpy().ravel() for part in parts])
        return np.concatenate([p.numpy().reshape(self.worlds, -1) for p in parts], 1).ravel()


# ---- what the page says


def _asked(path: Path, recorded: _Recorded, folder: Path) -> tuple[np.ndarray[Any, Any], str]:
    """Return what node wrote, and the milliseconds of a step."""
    arrays: dict[str, Any] = {}
    size = 0
    for name, array in recorded.seen[0].items():
        arrays[name] = {"type": str(array.dtype), "at": size, "length": array.size}
        size += -(-array.nbytes // 8) * 8
    parts = []
    for seen in recorded.seen:
        for array in seen.values():
            parts.append(array.tobytes() + bytes(-array.nbytes % 8))
    (folder / "data").write_bytes(b"".join(parts))
    task = {
        "policy": str(path),
        "instance": recorded.simulator.instance,
        "data": str(folder / "data"),
        "bytes": size,
        "steps": recorded.steps,
        "seed": SEED,
        "out": str(folder / "out"),
        "layers": list(recorded.layers),
        "arrays": arrays,
    }
    said = node("act.mjs", task, folder)
    return np.fromfile(folder / "out", np.float32), said


def _compare(path: Path, recorded: _Recorded, folder: Path) -> str:
    """Compare all that node says, and return what to report in a line."""
    out, spent = _asked(path, recorded, folder)
    place, near, decisions = 0, 0, 0
    worst = dict.fromkeys(("plain", "value", "exact_plain", "exact_value"), 0.0)

    def take(like: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        nonlocal place
        place += like.size
        found = out[place - like.size : place]
        return (found if like.dtype == np.float32 else found.view(np.int32)).reshape(like.shape)

    sides = [side for side in recorded.sides if side.policy is not None]
    for said in recorded.said:
        for part in said["sides"]:
            for what in ("plain", "value"):
                found = take(part[what])
                for name in (what, f"exact_{what}"):
                    worst[name] = max(worst[name], farthest(found, part[name]))
            decisions += len(part["value"])
        for name in ("greedy", "drawn"):
            expected = said[name]
            found = take(expected)
            if expected.dtype == np.float32:
                assert farthest(found, expected) <= 2 * NEAR, (path.name, name)
                continue
            free = np.zeros(expected.shape, bool)  # where rounding may decide
            for side, part in zip(sides, said["sides"], strict=True):
                assert isinstance(side.kind.actions, Categorical)
                free[_words(recorded, side)] = ties(side.kind.actions, part)[name == "drawn"] < TIE
            differs = found != expected
            near += int(differs.sum())
            assert not (differs & ~free).any(), (path.name, name, np.nonzero(differs & ~free))
    assert place == out.size
    assert max(worst["exact_plain"], worst["exact_value"]) <= NEAR, (path.name, worst)
    assert max(worst.values()) <= ALIKE, (path.name, worst)
    return (
        f"{path.stem}: {decisions} decisions; outputs {worst['plain']:.1e} from the package's, "
        f"{worst['exact_plain']:.1e} from exact ones, values {worst['value']:.1e} and "
        f"{worst['exact_value']:.1e}; {near} choices apart by rounding; {spent} ms a step"
    )


def _words(recorded: _Recorded, side: _Side) -> np.ndarray[Any, Any]:
    """Return where the words of a side's rows lie, (rows, words)."""
    words = side.kind.actions.draws
    if recorded.simulator.kinds.is_split:
        begin = recorded.simulator.instance["parts"][side.kind.number]["begin"]
        first = begin + side.at.numpy() * words
    else:
        first = (side.worlds * recorded.agents + side.agents).numpy() * words
    return first[:, None] + np.arange(words)


def _steps(path: Path, simulator: gpu_envs.Simulator) -> int:
    """Return the steps after which a file's policies have made enough decisions."""
    team = Team.load(path, simulator)
    acting = simulator.num_worlds * sum(number != NOBODY for number in team.of_agent)
    return min(max(DECISIONS // acting, STEPS[0]), STEPS[1])


def _made(make: Callable[..., Any], config: Mapping[str, Any], **options: Any) -> Any:
    options = {"max_episode_steps": EPISODE, **options}
    return made(make, config, autoreset_mode="SameStep", **options)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_page_says_what_python_says(
    path: Path, tmp_path: Path, make_simulator: Callable[..., gpu_envs.Simulator]
) -> None:
    tree = saved.read(path)
    agents = tree["outlook"]["agents"]
    worlds = 1 if agents > 100 else 2
    simulator = _made(make_simulator, tree["config"], num_worlds=worlds, max_episode_steps=EPISODE)
    sampled = tree["config"].get("sampled_evaluation", False)
    recorded = _Recorded(path, simulator, _steps(path, simulator), sampled)
    print(_compare(path, recorded, tmp_path))


def test_roles_whose_rows_are_split(
    tmp_path: Path, make_simulator: Callable[..., gpu_envs.Simulator]
) -> None:
    path = ROOT / "trained" / "CovidEconomy-v0.ckpt"
    config = saved.read(path)["config"]
    simulator = _made(make_simulator, config, num_worlds=2, roles="split", max_episode_steps=8)
    print(_compare(path, _Recorded(path, simulator, 12, True), tmp_path))


def test_the_checkpoint_of_a_whole_run(
    tmp_path: Path, make_simulator: Callable[..., gpu_envs.Simulator]
) -> None:
    tree = saved.read(ROOT / "trained" / "CartPole-v0.ckpt")
    learner = {"name": "all", "policy": tree["policies"]["all"], "counts": torch.arange(3)}
    run = {
        "kind": "run",
        "outlook": tree["outlook"],
        "config": tree["config"] | {"total_steps": 5, "num_envs": 3, "learning_rate": 0.1},
        "state": {"learners": [learner], "worlds": b"not read"},
    }
    path = tmp_path / "checkpoint.ckpt"
    checkpoint.save(path, run)
    simulator = _made(make_simulator, tree["config"], num_worlds=2)
    print(_compare(path, _Recorded(path, simulator, 5, False), tmp_path))


# ---- networks that no kept file has

PICTURE = {"resolution": "18x34", "channels": "first"}
LARGE = {"resolution": "40x44", "channels": "last"}
ROOM = {"house_count": 1, "rooms_low": 1, "rooms_high": 1}
NETWORKS: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "attention": (
        "HideSeek-v0",
        {},
        {"encoder": "attention", "hidden": "30,32", "normalize_observations": True, "share": True},
    ),
    "attention_with_memory": (
        "HideSeek-v0",
        {"hider_count": 2},
        {"encoder": "attention", "activation": "relu", "memory": 24, "policies": "agent"},
    ),
    "cnn": ("Overcooked-v0", {}, {"encoder": "cnn", "hidden": "32", "activation": "relu"}),
    "cnn_of_fields": ("Hanabi-v0", {"color_count": 2}, {"encoder": "cnn", "hidden": "32,16"}),
    "large_cnn": ("ObstaclesEasy-v0", LARGE, {"encoder": "cnn", "hidden": "32", "memory": 8}),
    "cnn_with_channels_first": ("ObstaclesEasy-v0", PICTURE, {"encoder": "cnn", "hidden": "16"}),
    "patches": ("ObstaclesEasy-v0", PICTURE, {"encoder": "patches", "hidden": "32,32"}),
    "residual": (
        "ObstaclesEasy-v0",
        LARGE,
        {
            "encoder": "residual",
            "hidden": "32",
            "activation": "relu",
            "memory": 16,
            "memory_norm": True,
        },
    ),
    "residual_with_channels_first": (
        "ObstaclesEasy-v0",
        PICTURE,
        {"encoder": "residual", "hidden": "32", "normalize_observations": True},
    ),
    "state": (
        "HideSeek-v0",
        {},
        {"critic_state": True, "memory": 16, "normalize_observations": True, "policies": "role"},
    ),
    "several_layers": (
        "PointGoalNav-v0",
        {**ROOM, "observation": "depth+rgb+numbers", "resolution": "12x20"},
        {"encoder": "patches", "memory": 8, "hidden": "16"},
    ),
    "layers_last": (
        "PointGoalNav-v0",
        {**ROOM, "observation": "rgb+depth", "resolution": "9x14", "channels": "last"},
        {"encoder": "residual", "hidden": "16", "normalize_observations": True},
    ),
    "numbers_beside": (
        "Flee-v0",
        {**ROOM, "observation": "depth+numbers", "resolution": "8x8"},
        {"encoder": "cnn", "hidden": "16"},
    ),
    "blind_beside_numbers": (
        "Explore-v0",
        {**ROOM, "observation": "depth+numbers", "resolution": "8x8"},
        {"encoder": "patches", "hidden": "16", "blind": True},
    ),
    "blind": ("CartPoleContinuous-v0", {}, {"blind": True, "memory": 8, "hidden": "8"}),
    "roles": (
        "HideSeek-v0",
        {},
        {
            "policies": "role",
            "roles": {"seeker": {"hidden": "16", "memory": 8, "encoder": "attention"}},
        },
    ),
}


def _write(path: Path, simulator: gpu_envs.Simulator, options: PolicyOptions) -> None:
    """Write a file of policies with random weights."""
    torch.manual_seed(3)
    kinds = agent_kinds.kinds_of(simulator, torch.device("cpu"))
    seen = simulator.reset_arrays(1, None, True)
    policies = {}
    for name in groups(options.policies, simulator.agent_names, options.learn):
        own = options.of_role(role_of_policy(options, name))
        policy = Policy(kinds[0].shape, kinds[0].actions, own)
        with torch.no_grad():
            for parameter in policy.parameters():
                parameter.add_(0.1 * torch.randn_like(parameter))
            state = None if seen.state is None else seen.state.float()
            policy.look(observed(simulator, seen), state, lambda sums: sums)
            policy.scale.mean.fill_(0.5)
            policy.scale.deviation.fill_(2.5)
        policies[name] = policy
    saved.save(path, options, simulator, policies, {"steps": 0, "score": float("nan")})


@pytest.mark.parametrize("name", NETWORKS)
def test_networks_that_no_kept_file_has(
    name: str, tmp_path: Path, make_simulator: Callable[..., gpu_envs.Simulator]
) -> None:
    id, parameters, own = NETWORKS[name]
    config = {"env": id, "parameters": parameters}
    simulator = _made(make_simulator, config, num_worlds=2)
    options = PolicyOptions(**config, **own)
    path = tmp_path / f"{name}.ckpt"
    _write(path, simulator, options)
    recorded = _Recorded(path, simulator, 50 // simulator.agents_per_world, True)
    print(_compare(path, recorded, tmp_path))
