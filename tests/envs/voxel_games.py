"""What the tests of every voxel game check: interface, refusals, room, columns set to anything.

Functions named `..._test` make a test of a game from its table of cases.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from voxel_worlds import (
    HEAD_SIZES,
    TINY,
    Array,
    Make,
    Meetings,
    Pair,
    Playground,
    outputs_of,
    random_actions,
)

import gpu_envs
from gpu_envs import Simulator
from gpu_envs.known import registration

Vec = Callable[..., gpu_envs.VectorEnv]
Test = Callable[..., None]
Cases = list[tuple[dict[str, Any], str]]

# ---- what is refused


def pair_fixture(game: str, options: dict[str, Any]) -> Any:
    """A fixture of a module: two simulators that must be alike after all its tests."""

    @pytest.fixture(scope="module")
    def pair() -> Iterator[Pair]:
        both = Pair(game, options)
        yield both
        both.check()
        both.close()

    return pair


def refused_parameters_test(game: str, cases: Cases) -> Test:
    @pytest.mark.parametrize(("parameters", "message"), cases)
    def test(make_simulator: Make, parameters: dict[str, Any], message: str) -> None:
        with pytest.raises(ValueError, match=message):
            make_simulator(game, 2, **parameters)

    return test


def refused_layouts_test(cases: list[tuple[str, str]]) -> Test:
    @pytest.mark.parametrize(("layout", "message"), cases)
    def test(pair: Pair, layout: str, message: str) -> None:
        given = {"layout": layout}
        pair.refuses(lambda s: s.reset(options=given), ValueError, f"layout: {message}")

    return test


def played_layouts_test(game: str, layouts: dict[str, str], options: dict[str, Any]) -> Test:
    @pytest.mark.parametrize("layout", layouts.values(), ids=layouts)
    def test(make_simulator: Make, layout: str) -> None:
        simulator = make_simulator(game, 2, strict=True, **options)
        simulator.reset(seed=1, options={"layout": layout})
        for _ in range(60):
            assert np.isfinite(simulator.step(np.full((2, 1, 6), 1)).state).all()
        simulator.check()

    return test


def check_saves_are_refused(pair: Pair, others: Iterable[Simulator]) -> None:
    """Saves of other simulators, one that is cut off, and one of no bytes."""
    for simulator in others:
        simulator.reset(seed=1)
        data = simulator.save()
        pair.refuses(lambda s, data=data: s.load(data), ValueError, "save")
    pair.refuses(lambda s: s.load(s.save()[:-1]), ValueError, "save")
    pair.refuses(lambda s: s.load(b""), ValueError, "save")


def check_agents_in_one_another_are_refused(
    simulator: Simulator, layout: str, first: str, others: Iterable[str]
) -> None:
    """Two agents, the first at one place, the second at each of `others`."""
    before = simulator.reset(seed=1).obs.tobytes()
    for second in others:
        both = f"{layout}agent {first}; agent {second}"
        with pytest.raises(ValueError, match="agent 1 is inside of agent 0"):
            simulator.reset(options={"layout": both})
    with pytest.raises(ValueError, match="1 agents, but agent_count=2"):
        simulator.reset(options={"layout": f"{layout}agent {first}"})
    assert simulator.observe().obs.tobytes() == before


# ---- interface


def check_spaces(make_vec: Vec, game: str) -> None:
    env = make_vec(game, 1)
    assert env.single_observation_space == spaces.Box(0, 255, (3, 72, 128), np.uint8)
    assert env.single_action_space == spaces.MultiDiscrete(HEAD_SIZES)
    obs, _ = env.reset(seed=1)
    assert obs.shape == (1, 3, 72, 128)
    assert env.observation_space.contains(obs)
    assert make_vec(game, 1, actions="flat").single_action_space == spaces.Discrete(324)


def check_infos(env: gpu_envs.VectorEnv, parts: tuple[str, ...], layout: str = "") -> None:
    """Two worlds of idle agents, whose episodes have 15 steps."""
    _, infos = env.reset(seed=1, options={"layout": layout} if layout else None)
    assert len(infos["state"]) in (2, env.num_envs)
    idle = np.zeros((env.num_envs, 6), int)
    for step in range(1, 16):
        _, rewards, terminated, truncated, infos = env.step(idle)
        assert tuple(infos["reward_parts"]) == parts
        assert sum(infos["reward_parts"].values()).tolist() == rewards.tolist()
        assert terminated.tolist() == [step == 15] * env.num_envs
        assert not truncated.any()
        assert infos["_true_objective"].tolist() == [step == 15] * env.num_envs
        assert infos["true_objective"].tolist() == [0.0] * env.num_envs


def check_truncation(make: Make, game: str, **options: Any) -> None:
    """`max_episode_steps` of 7 cuts episodes of 15 steps."""
    simulator = make(game, 1, max_episode_steps=7, episode_seconds=1, **TINY, **options)
    simulator.reset(seed=1)
    ends = [simulator.step(np.zeros((1, 1, 6), int)) for _ in range(7)]
    assert [bool(end.truncated.item()) for end in ends] == [False] * 6 + [True]
    assert not any(end.terminated.any() for end in ends)


def played_state(simulator: Simulator, steps: int) -> Array:
    """The state after a reset and random actions, in 64 bits."""
    simulator.reset(seed=4)
    shape = (steps, simulator.num_worlds, simulator.agents_per_world)
    for actions in random_actions(np.random.default_rng(0), *shape):
        state = simulator.step(actions).state
    return np.asarray(state.astype(np.float64))


def check_time_and_bodies(
    simulator: Simulator, state: Array, row: str, numbers: int, columns: int
) -> tuple[Array, Array]:
    """Check state against the time in table `row` and the bodies of two agents.

    `numbers` of the game itself stand between them; an agent has `columns`. Return the agents'
    columns, and what follows them.
    """
    get = simulator.get
    left = 1 - get(f"{row}.passed")[:, 0] / get(f"{row}.length")[:, 0]
    assert np.allclose(state[:, 0], left, atol=1e-6)
    assert (state[:, 1] == get(f"{row}.solved")[:, 0]).all()
    first = 2 + numbers
    agents = state[:, first : first + 2 * columns].reshape(len(state), 2, columns)
    assert (agents[..., :3] == get("agents.position")[:, :2]).all()
    assert (agents[..., 3:5] == get("agents.velocity")[:, :2]).all()
    assert (agents[..., 5] == get("agents.climb")[:, :2]).all()
    yaw = get("agents.yaw")[:, :2]
    assert np.allclose(agents[..., 6], np.cos(yaw), atol=1e-6)
    assert np.allclose(agents[..., 7], np.sin(yaw), atol=1e-6)
    assert (agents[..., 8] == get("agents.pitch")[:, :2]).all()
    assert (agents[..., 11] == get("agents.carries")[:, :2]).all()
    return agents, state[:, first + 2 * columns :]


def check_crates(simulator: Simulator, crates: Array) -> Array:
    """Check the crates in a state, (worlds, rows, columns); return which rows there are."""
    get = simulator.get
    there = np.arange(crates.shape[1]) < get("crates.count")
    assert (crates[..., 0] == there).all() and not crates[~there].any()
    assert (crates[there][:, 4] == get("crates.carrier")[there]).all()
    standing = there & (get("crates.carrier") < 0)
    assert (crates[standing][:, 1:4] == get("crates.cell")[standing] + 0.5).all()
    return np.asarray(there)


def check_petting_zoo(make: Make, game: str, **options: Any) -> None:
    """Three idle or active agents of 15 steps: all forms show the bytes of the simulator."""
    options = {"resolution": "5x9", "agent_count": 3, "episode_seconds": 1, **options}
    simulator = make(game, 1, autoreset_mode="Disabled", **options)
    parallel = gpu_envs.parallel_env(game, device="cpu", **options)
    batch = gpu_envs.batched_parallel_env(
        game, 2, device="cpu", autoreset_mode="Disabled", **options
    )
    aec = gpu_envs.aec_env(game, device="cpu", **options)
    simulator.reset(seed=7)
    for env in (parallel, batch, aec):
        env.reset(seed=7)
    names = [f"player_{k}" for k in range(3)]
    assert parallel.possible_agents == batch.agents == aec.possible_agents == names
    assert parallel.observation_space("player_0") == spaces.Box(0, 255, (3, 5, 9), np.uint8)
    assert parallel.action_space("player_2") == spaces.MultiDiscrete(HEAD_SIZES)
    for step, actions in enumerate(random_actions(np.random.default_rng(0), 15, 1, 3)):
        wanted = simulator.step(actions)
        by_name = dict(zip(names, actions[0], strict=True))
        found = parallel.step(by_name)
        many = batch.step({name: np.stack([row, row]) for name, row in by_name.items()})
        for row in actions[0]:
            aec.step(row)
        for k, name in enumerate(names):
            assert found[0][name].tobytes() == wanted.obs[0, k].tobytes()
            assert many[0][name][0].tobytes() == wanted.obs[0, k].tobytes()
            assert found[1][name] == wanted.reward[0, k]
            assert found[2][name] == bool(many[2][name][0]) == (step == 14)
            assert not found[3][name]
        assert parallel.state().tobytes() == wanted.state[0].tobytes()
        assert aec.state().tobytes() == wanted.state[0].tobytes()
    assert parallel.agents == []
    assert {found[4][name]["true_objective"] for name in names} == {0.0}
    for env in (parallel, batch, aec):
        env.close()


VIEW = {"observation", "resolution", "channels", "hfov", "supersample"}


def listed_parameters(cell: str) -> list[str]:
    """The parameters that a page's cell names; `x_low` may be followed by `_high`."""
    names = re.findall(r"`(\w+)`", cell)
    if len(names) == 2 and names[1] == "_high":
        names[1] = names[0].replace("_low", "_high")
    return names


def check_page(game: str, name: str, all_of: str = "all") -> None:
    """The page's tables have the defaults of all parameters but those of the view.

    Rewards have their default in the second column. Where it says "all", it means `all_of`.
    """
    page = (Path(__file__).parents[2] / "docs" / name).read_text(encoding="utf-8")
    given = {p["name"]: p["default"] for p in registration.find(game)["parameters"]}
    seen = set()
    for names, *columns in re.findall(r"^\| (`.*?) \| (.*) \| (.*) \|$", page, re.MULTILINE):
        listed = listed_parameters(names)
        middle, last = (column.replace("all", all_of) for column in columns)
        column = last if re.fullmatch(r"[\d., to]+", last) else middle
        values = [float(v) for v in re.findall(r"-?[\d.]+", column)]
        assert [float(given[each]) for each in listed] == pytest.approx(values), names
        seen |= set(listed)
    assert set(given) - seen == VIEW


def check_seeds_and_episodes_differ(make: Make, game: str) -> None:
    simulator = make(game, 1, **TINY)
    assert len({simulator.reset(seed=k).state.tobytes() for k in range(20)}) == 20
    assert len({simulator.reset().state.tobytes() for _ in range(20)}) == 20


# ---- ends, teams


def check_success(place: Playground) -> None:
    """Agent 0 walks ahead: it succeeds, is paid 6, and four steps later the episode ends."""
    rewards = []
    while not place.is_over:
        place.act("f")
        rewards.append(float(place.paid[0]))
        assert len(rewards) < 20
    assert rewards[-5:] == [6.0, 0.0, 0.0, 0.0, 0.0]
    assert not any(rewards[:-5])
    assert place.last.true_objective.tolist() == [[1.0]]
    assert place.last.episode_return.tolist() == [[6.0]]
    assert not place.last.truncated.any()


def check_success_in_the_last_step(place: Playground) -> None:
    """Agent 0 succeeds in step 3, which is the last one."""
    place.act("f", 2)
    assert not place.total.any()
    place.act("f")
    assert place.paid.tolist() == [6.0]
    assert place.is_over
    assert place.last.true_objective.tolist() == [[1.0]]


def check_everybody_ends_at_once(make: Make, game: str, **options: Any) -> None:
    """Four agents, in episodes that have 15 steps whatever they do."""
    simulator = make(game, 8, agent_count=4, episode_seconds=1, **TINY, **options)
    simulator.reset(seed=1)
    random = np.random.default_rng(1)
    for step in range(1, 46):
        ended = simulator.step(random_actions(random, 8, 4)).terminated
        assert (ended == (step % 15 == 0)).all()


def check_agents_never_pass_through(
    make: Make, game: str, agents: int, steps: int = 150, **options: Any
) -> None:
    simulator = make(game, 40, agent_count=agents, **TINY, **options)
    simulator.reset(seed=agents)
    homes = simulator.get("agents.home")[:, :agents]
    assert all(len(np.unique(world, axis=0)) == agents for world in homes)
    meetings = Meetings(simulator)
    meetings.play(steps)
    meetings.check()


# ---- room in tables


def most_rows(
    make: Make, game: str, worlds: int, times: int, tables: Iterable[str], **options: Any
) -> list[int]:
    """Reset worlds many times; return the most rows of each table, which an overflow raises at."""
    simulator = make(game, worlds, resolution="1x1", outputs=[], **options)
    most = dict.fromkeys(tables, 0)
    for k in range(times):
        simulator.reset(seed=5 if k == 0 else None)
        simulator.check()
        for table in most:
            most[table] = max(most[table], int(simulator.get(f"{table}.count").max()))
    assert (simulator.get("world.episode") == times - 1).all()
    return list(most.values())


def check_random_play(simulator: Simulator) -> None:
    """Play at random: state stays finite, and no table overflows."""
    shape = (60, simulator.num_worlds, simulator.agents_per_world)
    for actions in random_actions(np.random.default_rng(1), *shape):
        assert np.isfinite(simulator.step(actions).state).all()
    simulator.check()


# Walls that cut a floor of 91 x 91 cells into more pieces than any game has room for.
LATTICE = "floor 0 0 0 90 90 0" + "".join(
    f"; wall {k} 0 0 {k} 90 2; wall 0 {k} 0 90 {k} 2" for k in range(3, 47, 4)
)


def check_lost_pieces_are_reported(place: Playground, capacity: int) -> None:
    """The lattice's lost pieces are reported once, and the world can be reset."""
    simulator = place.simulator
    pattern = (
        rf"{simulator.name}: table 'statics' dropped \d+ rows: its capacity is {capacity} and "
        r"\d+ would"
    )
    with pytest.raises(RuntimeError, match=pattern):
        simulator.check()
    simulator.check()


def check_strict_step_reports_lost_pieces(make: Make, game: str, layout: str) -> None:
    strict = make(game, 1, strict=True, **TINY)
    strict.reset(seed=1, options={"layout": layout})
    with pytest.raises(RuntimeError, match="table 'statics'"):
        strict.step(np.zeros((1, 1, 6), int))


# ---- columns that are set to anything


def hostile_columns_test(game: str, cases: list[dict[str, float]], layout: str, head: int) -> Test:
    """A test that sets columns of world 1 of three; all use word 1 of `head`."""

    @pytest.mark.parametrize("columns", cases, ids=str)
    def test(make_simulator: Make, columns: dict[str, float]) -> None:
        """Worlds beside it do not change by a bit, and its save loads."""
        options = {"agent_count": 2, "autoreset_mode": "Disabled", **TINY}
        touched, plain = (make_simulator(game, 3, **options) for _ in range(2))
        for simulator in (touched, plain):
            simulator.reset(seed=1, options={"layout": layout})
            simulator.step(np.tile([0, 0, 0, 0, 0, 1], (3, 2, 1)))
        for column, value in columns.items():
            touched.set(column, value, worlds=[1])
        for actions in random_actions(np.random.default_rng(1), 12, 3, 2):
            actions[..., head] = 1
            first, second = touched.step(actions), plain.step(actions)
            for world in (0, 2):
                assert outputs_of(first, world) == outputs_of(second, world)
            assert not np.isnan(first.reward).any()
        again = make_simulator(game, 3, **options)
        again.load(touched.save())
        assert again.save() == touched.save()

    return test


def refused_values_test(game: str, cases: list[tuple[str, int]]) -> Test:
    @pytest.mark.parametrize(("column", "value"), cases)
    def test(make_simulator: Make, column: str, value: int) -> None:
        simulator = make_simulator(game, 2, **TINY)
        simulator.reset(seed=1)
        before = simulator.save()
        with pytest.raises(ValueError, match=column):
            simulator.set(column, value)
        assert simulator.save() == before

    return test
