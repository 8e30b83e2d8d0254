"""TagGrid: recorded games, scripted chasers, and what random play looks like."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import gpu_envs
from gpu_envs import Simulator
from gpu_envs.players import scripted

STAY, UP = 0, 3
towards = scripted.beside("TagGrid-v0").towards

Make = Callable[..., Simulator]
Array = np.ndarray[Any, Any]

FORMS = pytest.mark.parametrize("full", [True, False])


def congruential() -> Iterator[int]:
    """The generator of the recorded games: s <- (1103515245 s + 12345) mod 2^31 from s = 1."""
    state = 1
    while True:
        state = (1103515245 * state + 12345) % 2**31
        yield state // 65536


def lay(simulator: Simulator, *cells: tuple[int, int]) -> None:
    """Puts the agents of every world, the runner last, on cells."""
    for axis, name in enumerate(("agents.x", "agents.y")):
        values = simulator.get(name)
        values[:, : len(cells)] = [cell[axis] for cell in cells]
        simulator.set(name, values)


def places(simulator: Simulator) -> Array:
    """x and y of every agent: (worlds, agents, 2)."""
    columns = [simulator.get(name) for name in ("agents.x", "agents.y")]
    return np.stack(columns, axis=-1)[:, : simulator.agents_per_world]


def seen(outputs: Any) -> Array:
    """What a step showed before any world was reset."""
    ended = outputs.ended[..., None]
    return np.where(ended, outputs.final_obs, outputs.obs)


def random_ways(simulator: Simulator, random: np.random.Generator) -> Array:
    return random.integers(0, 5, (simulator.num_worlds, simulator.agents_per_world))


# ---- games, steps and starts


def test_draws_are_those_of_the_recorded_games() -> None:
    numbers = congruential()
    assert [next(numbers) % 5 for _ in range(12)] == [3, 3, 3, 0, 1, 2, 0, 4, 2, 1, 4, 2]


@pytest.mark.parametrize(("full", "total"), [(True, 17463.5), (False, 4954.5)])
def test_game_equals_the_recorded_one(make_simulator: Make, full: bool, total: float) -> None:
    simulator = make_simulator(
        "TagGrid-v0",
        1,
        num_taggers=4,
        grid_length=4,
        max_episode_steps=20,
        use_full_observation=full,
        autoreset_mode="SameStep",
    )
    simulator.reset(seed=0)
    numbers, returns, sight, lengths = congruential(), np.zeros(5), 0.0, []
    for _ in range(500):
        outputs = simulator.step(np.array([[next(numbers) % 5 for _ in range(5)]]))
        returns += outputs.reward[0]
        sight += seen(outputs).astype(np.float64).sum()
        if outputs.ended[0, 0]:
            lengths.append(int(outputs.episode_length[0, 0]))
    assert returns == pytest.approx([241.25, 240.35, 240.65, 240.05, -58.45], abs=1e-4)
    assert len(lengths) == 38
    assert lengths[:12] == [20, 20, 4, 20, 6, 3, 17, 20, 20, 3, 8, 5]
    assert sight == pytest.approx(total, abs=1e-2)


@pytest.mark.parametrize("agents", [2, 5, 9, 33, 1000])
def test_rows_have_their_length_and_bounds(make_simulator: Make, agents: int) -> None:
    random = np.random.default_rng(3)
    for full, length in ((True, 4 * agents + 1), (False, 6)):
        simulator = make_simulator(
            "TagGrid-v0",
            2,
            num_taggers=agents - 1,
            grid_length=7,
            max_episode_steps=5,
            use_full_observation=full,
        )
        assert simulator.reset(seed=3).obs.shape == (2, agents, length)
        for _ in range(7):
            outputs = simulator.step(random_ways(simulator, random))
            for rows in (outputs.obs, outputs.final_obs):
                assert rows.min() >= 0 and rows.max() <= 1
        if full:
            selves = outputs.obs[..., 3 * agents : 4 * agents]
            assert (selves == np.eye(agents)).all()


@pytest.mark.parametrize(("length", "middle"), [(10, 5), (5, 2), (1, 0)])
def test_default_start_has_taggers_in_the_middle_and_the_runner_in_a_corner(
    make_simulator: Make, length: int, middle: int
) -> None:
    simulator = make_simulator("TagGrid-v0", 3, num_taggers=4, grid_length=length)
    simulator.reset(seed=0)
    assert (places(simulator)[:, :4] == middle).all()
    assert (places(simulator)[:, 4] == 0).all()


@FORMS
@pytest.mark.parametrize("agents", [1024, 1025])
def test_rows_of_large_worlds_show_all_agents(
    make_simulator: Make, agents: int, full: bool
) -> None:
    simulator = make_simulator(
        "TagGrid-v0", 1, num_taggers=agents - 1, grid_length=40, use_full_observation=full
    )
    simulator.reset(seed=0)
    outputs = simulator.step(random_ways(simulator, np.random.default_rng(10)))
    at = places(simulator)[0].astype(np.float32) / np.float32(40)
    if full:
        assert (outputs.obs[0, :, :agents] == at[:, 0]).all()
        assert (outputs.obs[0, :, agents : 2 * agents] == at[:, 1]).all()
        assert (outputs.obs[0, :, 2 * agents : 3 * agents] == [0.0] * (agents - 1) + [1.0]).all()
        assert (outputs.obs[0, :, 3 * agents : -1] == np.eye(agents)).all()
    else:
        assert (outputs.obs[0, :, :2] == at).all()
        assert (outputs.obs[0, :-1, 2:4] == at[-1]).all()


def test_two_thousand_worlds_of_a_thousand_agents_are_paid(make_simulator: Make) -> None:
    simulator = make_simulator(
        "TagGrid-v0", 2000, num_taggers=999, use_full_observation=False, outputs=()
    )
    simulator.reset(seed=0)
    outputs = simulator.step(np.zeros((2000, 1000), np.uint8))
    assert (outputs.reward[:, :-1] == np.float32(-0.01)).all()
    assert (outputs.reward[:, -1] == np.float32(0.01)).all()


def test_random_play_lasts_and_pays_as_in_the_reference(make_simulator: Make) -> None:
    games = 20_000
    simulator = make_simulator(
        "TagGrid-v0",
        games,
        num_taggers=4,
        grid_length=4,
        max_episode_steps=20,
        autoreset_mode="Disabled",
    )
    simulator.reset(seed=11)
    random = np.random.default_rng(11)
    lengths, tagged, returns = np.zeros(games), np.zeros(games, bool), np.zeros(games)
    for _ in range(20):
        outputs = simulator.step(random_ways(simulator, random))
        now = outputs.ended[:, 4]
        lengths[now] = outputs.episode_length[now, 4]
        tagged[now] = outputs.terminated[now, 4]
        returns[now] = outputs.episode_return[now, 4]
    assert (lengths > 0).all()
    # Four standard errors around what the reference was measured to do.
    assert lengths.mean() == pytest.approx(10.76, abs=4 * 0.04)
    assert tagged.mean() == pytest.approx(0.822, abs=4 * 0.0027)
    assert returns.mean() == pytest.approx(-1.80, abs=4 * 0.008)


def test_starts_are_drawn_from_the_rows_of_the_pool(make_simulator: Make) -> None:
    simulator = make_simulator(
        "TagGrid-v0", 500, num_taggers=4, grid_length=30, reset_pool_size=7, max_episode_steps=1
    )
    simulator.reset(seed=12)
    starts = [places(simulator)]
    for _ in range(4):
        simulator.step(np.zeros((500, 5), np.int64))
        starts.append(places(simulator))
    rows = np.concatenate(starts).reshape(-1, 10)
    pool = np.unique(rows, axis=0)
    assert len(pool) == 7  # x and y of all agents come from one row, and every row occurs
    taggers = pool.reshape(7, 5, 2)[:, :4]
    assert taggers.min() >= 1 and taggers.max() <= 29
    assert (pool.reshape(7, 5, 2)[:, 4] == 0).all()
    assert len(np.unique(taggers[..., 0])) > 7 and len(np.unique(taggers[..., 1])) > 7
    counts = np.array([(rows == row).all(axis=1).sum() for row in pool])
    assert np.abs(counts / len(rows) - 1 / 7).max() < 0.04
    twin = make_simulator("TagGrid-v0", 3, num_taggers=4, grid_length=30, reset_pool_size=7)
    twin.reset(seed=12)
    assert all((pool == start).all(axis=1).any() for start in places(twin).reshape(-1, 10))
    twin.reset(seed=13)
    assert not any((pool == start).all(axis=1).any() for start in places(twin).reshape(-1, 10))


def test_coordinates_of_a_pool_are_uniform(make_simulator: Make) -> None:
    simulator = make_simulator(
        "TagGrid-v0",
        4,
        num_taggers=4000,
        grid_length=9,
        reset_pool_size=1,
        reset_pool_low=2,
        reset_pool_high=6,
        use_full_observation=False,
    )
    simulator.reset(seed=1)
    at = places(simulator)
    assert (at == at[0]).all()
    for axis in range(2):
        counts = np.bincount(at[0, :-1, axis], minlength=10)
        assert (counts[[0, 1, 7, 8, 9]] == 0).all()
        assert np.abs(counts[2:7] - 800).max() < 4 * 26
    assert abs(np.corrcoef(at[0, :-1].T)[0, 1]) < 4 / np.sqrt(4000)


# ---- players


def chase(simulator: Simulator) -> Array:
    """Every tagger steps towards the runner, along the axis on which it is farther."""
    at = places(simulator)
    return towards(at[:, -1:] - at)


@pytest.mark.parametrize("taggers", [1, 4, 20])
def test_chasers_tag_a_runner_that_stands_still(make_simulator: Make, taggers: int) -> None:
    simulator = make_simulator(
        "TagGrid-v0", 8, num_taggers=taggers, grid_length=20, autoreset_mode="SameStep"
    )
    simulator.reset(seed=0)
    for step in range(1, 21):  # from (10, 10) to (0, 0)
        outputs = simulator.step(chase(simulator))
        assert (outputs.terminated == (step == 20)).all()
    assert outputs.episode_return[:, 0] == pytest.approx(10 - 0.19, abs=1e-5)
    assert outputs.episode_return[:, -1] == pytest.approx(-2 + 0.19, abs=1e-5)


def test_taggers_who_stay_never_tag_and_run_out_of_time(make_simulator: Make) -> None:
    simulator = make_simulator("TagGrid-v0", 8, num_taggers=4, autoreset_mode="SameStep")
    simulator.reset(seed=0)
    for step in range(1, 101):
        outputs = simulator.step(np.zeros((8, 5), np.int64))
        assert (outputs.truncated == (step == 100)).all() and not outputs.terminated.any()
    assert (outputs.final_obs[..., -1] == 1).all()
    assert outputs.episode_return[:, 0] == pytest.approx(-1.0, abs=1e-5)
    assert outputs.episode_return[:, -1] == pytest.approx(1.0, abs=1e-5)


def test_chasers_tag_a_random_runner_more_often_than_random_ones(make_simulator: Make) -> None:
    tagged = {}
    for cunning in (True, False):
        simulator = make_simulator(
            "TagGrid-v0", 200, num_taggers=2, grid_length=12, autoreset_mode="Disabled"
        )
        simulator.reset(seed=0)
        random = np.random.default_rng(1)
        for _ in range(100):
            ways = random_ways(simulator, random)
            if cunning:
                ways[:, :-1] = chase(simulator)[:, :-1]
            outputs = simulator.step(ways)
        tagged[cunning] = outputs.terminated[:, 0].mean()
    assert tagged[True] > 0.95 and tagged[True] > 1.5 * tagged[False]


# ---- names, interfaces, refusals


def test_agents_are_named_by_role(make_simulator: Make) -> None:
    assert make_simulator("TagGrid-v0", 1, num_taggers=3).agent_names == [
        "tagger_0",
        "tagger_1",
        "tagger_2",
        "runner_0",
    ]
    env = gpu_envs.parallel_env("TagGrid-v0", num_taggers=3, device="cpu")
    observations, _ = env.reset(seed=0)
    assert env.possible_agents[-1] == "runner_0" and set(observations) == set(env.agents)
    while env.agents:
        _, rewards, terminated, truncated, _ = env.step(dict.fromkeys(env.agents, STAY))
        assert rewards["runner_0"] == np.float32(0.01) and rewards["tagger_1"] == np.float32(-0.01)
    assert all(truncated.values()) and not any(terminated.values())
    env.close()


@FORMS
def test_fields_of_a_row_show_places_types_and_time(make_simulator: Make, full: bool) -> None:
    simulator = make_simulator(
        "TagGrid-v0",
        1,
        num_taggers=2,
        use_full_observation=full,
        max_episode_steps=8,
        observation="dict",
    )
    simulator.reset(seed=0)
    lay(simulator, (1, 2), (3, 4), (6, 7))
    parts = simulator.step(np.zeros((1, 3), np.int64)).obs
    of_all = {"x": [0.1, 0.3, 0.6], "y": [0.2, 0.4, 0.7], "type": [0, 0, 1], "self": [0, 0, 1]}
    nearest = {"own": [0.6, 0.7], "other": [0.3, 0.4], "type": 1}
    expected: dict[str, Any] = {**(of_all if full else nearest), "time": 0.125}
    assert list(parts) == list(expected)
    for name, values in expected.items():
        assert (parts[name][0, 2] == np.array(values, np.float32)).all()


ONE = {"num_taggers": 1}


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"num_taggers": 0}, "num_taggers"),
        ({"num_taggers": -3}, "num_taggers"),
        ({"grid_length": 0}, "grid_length"),
        ({"grid_length": 40_000}, "in 1 to 32767"),
        ({"wall_hit_penalty": float("nan")}, "wall_hit_penalty"),
        ({"starting_location_x": "1,2", **ONE}, "_y has 0 numbers, and there are 2 agents"),
        (
            {"starting_location_x": "1,11", "starting_location_y": "0,0", **ONE},
            "starting_location_x: '11' is not a whole number from 0 to grid_length=10",
        ),
        ({"starting_location_x": "1,-2", "starting_location_y": "0,0", **ONE}, "'-2'"),
        (
            {"starting_location_x": "1", "starting_location_y": "1", "num_taggers": 64},
            "starting_location_x has 1 numbers, and there are 65 agents",
        ),
        (
            {
                "starting_location_x": "1,2",
                "starting_location_y": "1,2",
                "reset_pool_size": 3,
                **ONE,
            },
            "give one of them",
        ),
        (
            {"reset_pool_size": 3, "grid_length": 1},
            "reset_pool_low=1 must be at most",
        ),
        ({"reset_pool_size": 4, "reset_pool_low": 8, "reset_pool_high": 7}, "reset_pool_low=8"),
    ],
)
def test_bad_parameters_are_refused(
    make_simulator: Make, parameters: dict[str, Any], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        make_simulator("TagGrid-v0", 1, **parameters)


def test_more_agents_than_cells_share_them(make_simulator: Make) -> None:
    simulator = make_simulator("TagGrid-v0", 2, num_taggers=50, grid_length=1)
    simulator.reset(seed=0)
    outputs = simulator.step(np.zeros((2, 51), np.int64))
    assert outputs.terminated.all()  # the middle of four cells is the corner


def test_too_many_agents_for_the_memory_say_so(make_simulator: Make) -> None:
    with pytest.raises(MemoryError):
        make_simulator("TagGrid-v0", 1000, num_taggers=200_000).reset(seed=0)


def test_given_starts_begin_every_episode(make_simulator: Make) -> None:
    simulator = make_simulator(
        "TagGrid-v0",
        2,
        num_taggers=2,
        starting_location_x="3, 4, 10",
        starting_location_y="0 1 2",
        max_episode_steps=2,
    )
    assert simulator.parameters["starting_location_x"] == "3,4,10"
    simulator.reset(seed=0)
    for _ in range(3):
        assert (places(simulator) == [(3, 0), (4, 1), (10, 2)]).all()
        simulator.step(np.full((2, 3), UP))
        simulator.step(np.full((2, 3), UP))
