"""Several games in one batch: the bits of each alone, saves, masks, parameters, refusals."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import gpu_envs
from gpu_envs import MixedSimulator, Simulator
from gpu_envs.core import mixed_saves

COLLECT, EASY, SOKOBAN = "Collect-v0", "ObstaclesEasy-v0", "Sokoban-v0"
GAMES = (EASY, COLLECT, SOKOBAN)
SMALL = {"resolution": "4x6", "device": "cpu", "threads": 1}
SHORT = {"episode_seconds": 1.0}
OF_ONE = {COLLECT: {"diamond_seconds": 0.0}, EASY: {"platform_seconds": 0.0, "box_seconds": 0.0}}
WORLDS = 7  # 3, 2 and 2 of the games
Make = Callable[..., MixedSimulator]


@pytest.fixture
def make_mixed() -> Iterator[Make]:
    made = []

    def make(num_worlds: int = WORLDS, games: Any = None, **keywords: Any) -> MixedSimulator:
        chosen = {game: OF_ONE.get(game, {}) for game in GAMES} if games is None else games
        mixed = MixedSimulator(chosen, num_worlds, **{**SMALL, **SHORT, **keywords})
        made.append(mixed)
        return mixed

    yield make
    for mixed in made:
        mixed.close()


def alone(make_simulator: Any, mixed: MixedSimulator, **keywords: Any) -> list[Simulator]:
    """Return a simulator of each game alone."""
    return [
        make_simulator(
            part.game,
            part.simulator.num_worlds,
            **{**SMALL, **SHORT, **OF_ONE.get(part.game, {}), **keywords},
        )
        for part in mixed.parts
    ]


def actions_of(mixed: MixedSimulator, steps: int) -> Any:
    random = np.random.default_rng(5)
    shape = (steps, mixed.num_worlds, mixed.agents_per_world, 6)
    return random.integers(0, (3, 3, 3, 3, 2, 2), shape).astype(np.int32)


def require_alike(mixed: MixedSimulator, results: Any, part: Any, one: Any) -> None:
    for output, array in zip(mixed.layout.outputs, results, strict=True):
        if output is not None and array is not None:
            own = getattr(one, output.name)
            assert np.array_equal(array[part.worlds], own), (part.game, output.name)


@pytest.mark.parametrize("mode", ["SameStep", "NextStep"])
@pytest.mark.parametrize("reuse", [False, True])
def test_games_play_as_they_do_alone(
    make_mixed: Make, make_simulator: Any, mode: str, reuse: bool
) -> None:
    keywords: dict[str, Any] = {"agent_count": 2, "autoreset_mode": mode, "reuse": reuse}
    mixed = make_mixed(**keywords)
    others = alone(make_simulator, mixed, **keywords)
    results = mixed.reset(seed=3)
    for part, other in zip(mixed.parts, others, strict=True):
        require_alike(mixed, results, part, other.reset(seed=3))
    for actions in actions_of(mixed, 40):
        results = mixed.step(actions)
        for part, other in zip(mixed.parts, others, strict=True):
            one = other.step(actions[part.worlds])
            require_alike(mixed, results, part, one)
            for name in ("state", "reward_parts"):
                assert np.array_equal(mixed.own[part.game][name], getattr(one, name))
    assert results.ended.shape == (WORLDS, 2)
    mixed.check()


def test_several_layers_come_as_a_dict(make_mixed: Make) -> None:
    mixed = make_mixed(observation="rgb+depth")
    seen = mixed.reset(seed=1).obs
    assert sorted(seen) == ["depth", "rgb"]
    assert seen["rgb"].shape == (WORLDS, 1, 3, 4, 6)
    assert seen["depth"][:, 0].any((1, 2, 3)).all()


def test_worlds_are_shared_out(make_mixed: Make) -> None:
    assert make_mixed(7).game_of_world.tolist() == [0, 0, 0, 1, 1, 2, 2]
    assert make_mixed(3).game_of_world.tolist() == [0, 1, 2]
    mixed = make_mixed(7, shares=(1, 4, 2))
    assert mixed.game_of_world.tolist() == [0, 1, 1, 1, 1, 2, 2]
    assert [mixed.part_of(world).game for world in (0, 1, 4, 5)] == [
        EASY,
        COLLECT,
        COLLECT,
        SOKOBAN,
    ]


def test_arrays_of_the_caller_are_written_or_those_of_the_batch(make_mixed: Make) -> None:
    mixed = make_mixed()
    mixed.reset(seed=1)
    reward = np.full((WORLDS, 1), 9, np.float32)
    results = mixed.step(actions_of(mixed, 1)[0], out={"reward": reward})
    assert results.reward is reward
    assert (reward != 9).all()
    reused = make_mixed(reuse=True)
    assert reused.reset(seed=1).obs is reused.step(actions_of(reused, 1)[0]).obs
    every = actions_of(mixed, 4)
    for step, out in enumerate(({"reward": reward}, {}, {"reward": reward}, {})):
        reward.fill(9)
        own, wanted = reused.step(every[step], out=out), mixed.step(every[step])
        assert (own.reward is reward) == bool(out)
        for name in ("obs", "reward", "ended"):
            assert np.array_equal(getattr(own, name), getattr(wanted, name)), (step, name)
    fresh = mixed.step(actions_of(mixed, 1)[0])
    assert fresh.obs is not mixed.step(actions_of(mixed, 1)[0]).obs


def test_masked_steps_and_resets_are_those_of_each_game(make_mixed: Make) -> None:
    mixed, other = make_mixed(agent_count=2), make_mixed(agent_count=2)
    mixed.reset(seed=2)
    other.reset(seed=2)
    half = np.arange(WORLDS) % 2 == 0
    for actions in actions_of(mixed, 6):
        whole = mixed.step(actions)
        other.step(actions, worlds=half)
        halves = other.step(actions, worlds=np.repeat(~half, 2))  # by row
        assert np.array_equal(whole.obs[~half], halves.obs[~half])
        assert not halves.reward[half].any()
    before = mixed.observe().obs.copy()
    after = mixed.reset(mask=half).obs
    assert np.array_equal(after[~half], before[~half])
    assert (after[half] != before[half]).any((1, 2, 3, 4)).all()


def test_saves_go_on_in_another_batch(make_mixed: Make) -> None:
    mixed, other = make_mixed(), make_mixed()
    mixed.reset(seed=4)
    actions = actions_of(mixed, 20)
    for k in range(10):
        mixed.step(actions[k])
    data = mixed.save()
    other.load(data)
    for k in range(10, 20):
        assert np.array_equal(mixed.step(actions[k]).obs, other.step(actions[k]).obs)
    some = mixed.save(worlds=[1, 2, 5])  # two of the first game, one of the last
    other.load(some, worlds=[0, 1, 6])
    seen, own = other.observe().obs, mixed.observe().obs
    assert np.array_equal(seen[[0, 1, 6]], own[[1, 2, 5]])


def test_copies_stay_within_a_game(make_mixed: Make) -> None:
    mixed = make_mixed()
    mixed.reset(seed=4)
    mixed.copy_worlds([0, 3], [2, 4])
    seen = mixed.observe().obs
    assert np.array_equal(seen[[0, 3]], seen[[2, 4]])
    with pytest.raises(ValueError, match="world 0 is of ObstaclesEasy-v0 and world 3 of Collect"):
        mixed.copy_worlds([0], [3])


def test_wrong_saves_change_nothing(make_mixed: Make) -> None:
    mixed = make_mixed()
    mixed.reset(seed=4)
    before = mixed.save()
    for change, message in (
        (lambda data: data[:-1], "damaged"),
        (lambda data: data[:40] + b"?" + data[41:], "damaged"),
        (lambda _: mixed.games[COLLECT].save(), "not a save of several games"),
        (lambda _: b"", "not a save of several games"),
        (lambda _: make_and_save(make_mixed, agent_count=2), "agent_count"),
        (lambda _: make_and_save(make_mixed, games=(COLLECT, SOKOBAN)), "has worlds of Collect-v0"),
    ):
        with pytest.raises(ValueError, match=message):
            mixed.load(change(before))
        assert mixed.save() == before
    # The last game refuses what the first two have taken.
    other = make_mixed(shares=(3, 2, 2))
    other.reset(seed=9)
    parts = {part.game: part.simulator.save() for part in other.parts}
    parts[SOKOBAN] = make_and_save(make_mixed, games=(SOKOBAN,), num_worlds=1)
    with pytest.raises(ValueError, match="load"):
        mixed.load(mixed_saves.joined(parts))
    assert mixed.save() == before
    with pytest.raises(TypeError, match="data must be bytes"):
        mixed.load("text")  # type: ignore[arg-type]


def make_and_save(make_mixed: Make, **keywords: Any) -> bytes:
    mixed = make_mixed(keywords.pop("num_worlds", WORLDS), **keywords)
    mixed.reset(seed=1)
    return mixed.save()


def test_parameters_change_in_all_games_or_in_one(make_mixed: Make) -> None:
    mixed = make_mixed(varies=["team_spirit"])
    mixed.set_parameters(team_spirit=0.5)
    values = [one.get("world.team_spirit")[:, 0].tolist() for one in mixed.games.values()]
    assert values == [[0.5] * 3, [0.5] * 2, [0.5] * 2]
    mixed.set_parameters(team_spirit=np.arange(WORLDS) / 10)
    values = [one.get("world.team_spirit")[:, 0].tolist() for one in mixed.games.values()]
    assert np.allclose(np.concatenate(values), np.arange(WORLDS) / 10)
    mixed.set_parameters(worlds=[6, 0], team_spirit=[1.0, 0.75])
    assert mixed.games[SOKOBAN].get("world.team_spirit")[1, 0] == 1
    assert mixed.games[EASY].get("world.team_spirit")[0, 0] == 0.75
    mixed.games[COLLECT].set_parameters(good_reward=3.0)
    with pytest.raises(TypeError, match=r"unknown parameter of ObstaclesEasy-v0 'good_reward'"):
        mixed.set_parameters(good_reward=3.0)


def test_options_of_a_reset_may_be_those_of_one_game(make_mixed: Make) -> None:
    mixed = make_mixed()
    mixed.reset(seed=1, options={SOKOBAN: {"level": 5, "symmetry": 0}})
    assert mixed.games[SOKOBAN].get("task.level")[:, 0].tolist() == [5, 5]
    with pytest.raises(ValueError, match="level"):
        mixed.reset(options={"level": 5})


def test_actions_are_drawn_for_each_game(make_mixed: Make) -> None:
    mixed = make_mixed(60, agent_count=2)
    mixed.reset(seed=1)
    actions = mixed.sample_actions(seed=3)
    assert actions.shape == (60, 2, 6)
    assert not np.array_equal(actions[:20], actions[20:40])
    assert set(np.unique(actions)) == {0, 1, 2}
    own = np.zeros_like(actions)
    assert mixed.sample_actions(seed=3, out=own) is own
    mixed.step(own)


def test_torch_gets_the_same(make_mixed: Make, torch: Any) -> None:
    mixed, other = make_mixed(arrays="torch"), make_mixed()
    assert torch.equal(mixed.reset(seed=2).obs, torch.from_numpy(other.reset(seed=2).obs))
    for actions in actions_of(mixed, 20):
        one, two = mixed.step(torch.from_numpy(actions)), other.step(actions)
        assert torch.equal(one.obs, torch.from_numpy(two.obs))
        assert torch.equal(one.reward, torch.from_numpy(two.reward))


@pytest.mark.parametrize(
    ("games", "keywords", "message"),
    [
        ((), {}, "games must be one id or more"),
        ((EASY, EASY), {}, "each once"),
        (EASY, {}, "games must be ids"),
        ((EASY, "Nothing-v0"), {}, "Nothing"),
        (
            (EASY, "HideSeek-v0"),
            {"resolution": None},
            "space of HideSeek-v0 differs.*: Box of shape .176,., float32 against",
        ),
        (GAMES, {"num_worlds": 2}, "num_worlds must be"),
        (GAMES, {"num_worlds": 7, "shares": (3, 4)}, "shares must have a number of worlds"),
        (GAMES, {"num_worlds": 7, "shares": (3, 4, 0)}, "shares must be"),
        (GAMES, {"num_worlds": 7, "shares": (3, 3, 3)}, "7 in all"),
        (GAMES, {"arrays": "jax"}, "arrays='jax' is not offered"),
        ({EASY: {"agent_count": 2}, COLLECT: {}}, {}, "number of agents of Collect-v0 differs"),
        ({EASY: {"resolution": "5x6"}, COLLECT: {}}, {}, "observation space of Collect-v0 differs"),
        ({EASY: {"actions": "flat"}, COLLECT: {}}, {}, "action space of Collect-v0 differs"),
        (GAMES, {"good_reward": 1.0}, "good_reward"),
    ],
)
def test_games_that_do_not_go_together_are_refused(
    games: Any, keywords: dict[str, Any], message: str
) -> None:
    given = {k: v for k, v in {**SMALL, "num_worlds": 6, **keywords}.items() if v is not None}
    with pytest.raises((ValueError, TypeError), match=message):
        MixedSimulator(games, **given)


def test_calls_with_arrays_of_another_size_are_refused(make_mixed: Make) -> None:
    mixed = make_mixed()
    with pytest.raises(gpu_envs.ResetNeeded):
        mixed.step(np.zeros((WORLDS, 1, 6), np.int32))
    mixed.reset(seed=1)
    for actions in (np.zeros((WORLDS - 1, 1, 6), np.int32), np.int32(3)):
        with pytest.raises(ValueError, match="actions must have an entry per world"):
            mixed.step(actions)
    with pytest.raises(ValueError, match="worlds must have an entry per world"):
        mixed.step(np.zeros((WORLDS, 1, 6), np.int32), worlds=np.ones(3, bool))
    with pytest.raises(ValueError, match="unknown output"):
        mixed.step(np.zeros((WORLDS, 1, 6), np.int32), out={"state": np.zeros(3)})
    with pytest.raises(ValueError, match="one entry per world"):
        mixed.reset(seed=[1, 2])
    with pytest.raises(ValueError, match="world must be"):
        mixed.text(WORLDS)
    assert "step 0" in mixed.text(WORLDS - 1)
    assert mixed.render(0, size=(8, 8)).shape == (8, 8, 3)
    mixed.close()
    with pytest.raises(RuntimeError, match="closed"):
        mixed.step(np.zeros((WORLDS, 1, 6), np.int32))


# ---- what is refused changes nothing, in any game


def state_of(mixed: MixedSimulator) -> list[Any]:
    return [one.save() for one in mixed.games.values()]


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("action", "Sokoban-v0, among its worlds: .*world 1"),
        ("mask", "rows"),
        ("option", "level"),
        ("unknown option", "nope"),
        ("out", "must be a contiguous float32 array of shape"),
        ("long out", "must be a contiguous float32 array of shape"),
        ("copy", "dst must name each world once"),
        ("parameter", "team_spirit"),
        ("env_idx", "env_idx"),
    ],
)
def test_refused_calls_change_no_game(make_mixed: Make, what: str, message: str) -> None:
    mixed = make_mixed(agent_count=2, varies=["team_spirit"])
    mixed.reset(seed=1)
    zeros = np.zeros((WORLDS, 2, 6), np.int32)
    illegal, uneven = zeros.copy(), np.ones(2 * WORLDS, bool)
    illegal[WORLDS - 1, 0, 0] = 77
    uneven[-1] = False
    spirit = np.full(WORLDS, 0.5)
    spirit[-1] = 7
    calls: dict[str, Callable[[], object]] = {
        "action": lambda: mixed.step(illegal),
        "mask": lambda: mixed.step(zeros, worlds=uneven),
        "option": lambda: mixed.reset(options={SOKOBAN: {"level": -5}}),
        "unknown option": lambda: mixed.reset(options={SOKOBAN: {"nope": 1}}),
        "out": lambda: mixed.step(zeros, out={"reward": np.zeros((3, 2), np.float32)}),
        "long out": lambda: mixed.step(zeros, out={"reward": np.zeros((9, 2), np.float32)}),
        "copy": lambda: mixed.copy_worlds([0, 0], [1, 1]),
        "parameter": lambda: mixed.set_parameters(team_spirit=spirit),
        "env_idx": lambda: mixed.reset(options={"env_idx": [99]}),
    }
    before = state_of(mixed)
    with pytest.raises((ValueError, TypeError), match=message):
        calls[what]()
    assert state_of(mixed) == before


def test_rewards_in_parts_are_each_games_own_even_where_as_many(make_mixed: Make) -> None:
    for games in ((EASY, "ObstaclesHard-v0"), (SOKOBAN,)):
        mixed = make_mixed(4, games=games)
        mixed.reset(seed=1)
        results = mixed.step(np.zeros((4, 1, 6), np.int32))
        assert results.reward_parts is None
        assert results.state is None
        for own in mixed.own.values():
            assert set(own) == {"reward_parts", "state"}


def test_rows_are_named_for_a_reset(make_mixed: Make) -> None:
    mixed = make_mixed(agent_count=2)
    mixed.reset(seed=1)
    before = mixed.observe().obs.copy()
    after = mixed.reset(options={"env_idx": [6, 7, 12, 13]}).obs  # worlds 3 and 6
    changed = [k for k in range(WORLDS) if not np.array_equal(before[k], after[k])]
    assert changed == [3, 6]
    assert np.array_equal(mixed.reset(options={"env_idx": []}).obs, after)


def test_values_by_world_go_to_their_games(make_mixed: Make) -> None:
    spirit = np.arange(WORLDS) / 10
    mixed = make_mixed(team_spirit=spirit)
    values = [one.get("world.team_spirit")[:, 0] for one in mixed.games.values()]
    assert np.allclose(np.concatenate(values), spirit)
    mixed.reset(seed=1, options={"team_spirit": spirit / 2})
    values = [one.get("world.team_spirit")[:, 0] for one in mixed.games.values()]
    assert np.allclose(np.concatenate(values), spirit / 2)
    mixed.set_parameters(team_spirit=np.array(0.25))
    assert mixed.games[SOKOBAN].get("world.team_spirit")[0, 0] == 0.25


def test_batch_that_could_not_be_loaded_begins_with_a_reset(make_mixed: Make) -> None:
    mixed, other = make_mixed(), make_mixed()
    other.reset(seed=9)
    saves = {part.game: part.simulator.save() for part in other.parts}
    saves[SOKOBAN] = make_and_save(make_mixed, games=(SOKOBAN,), num_worlds=1)
    with pytest.raises(ValueError, match="load"):
        mixed.load(mixed_saves.joined(saves))
    with pytest.raises(gpu_envs.ResetNeeded):
        mixed.step(np.zeros((WORLDS, 1, 6), np.int32))
    mixed.reset()
    assert isinstance(mixed.np_random_seed, int)
    assert len({one.np_random_seed for one in mixed.games.values()}) == 1


def test_one_game_is_named_once_however_it_is_spelt() -> None:
    with pytest.raises(ValueError, match="each once"):
        MixedSimulator((SOKOBAN, f"gpu_envs/{SOKOBAN}"), 4, **SMALL)


@pytest.mark.parametrize(
    ("own", "message"),
    [
        ({"autoreset_mode": "NextStep"}, "autoreset mode of Sokoban-v0 differs"),
        ({"arrays": "jax"}, "arrays='jax' is not offered"),
        ({"ends": "world"}, "value of `ends` of Sokoban-v0 differs"),
        ({"varies": ["team_spirit"]}, "value of `varies` of Sokoban-v0 differs"),
    ],
)
def test_options_that_differ_by_game_are_refused(own: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        MixedSimulator({COLLECT: {}, SOKOBAN: own}, 4, **SMALL)


def test_copy_before_the_first_reset_has_worlds_of_its_own(make_mixed: Make) -> None:
    mixed = make_mixed()
    again = copy.copy(mixed)
    assert np.array_equal(again.reset(seed=2).obs, mixed.reset(seed=2).obs)
    again.close()
    mixed.step(np.zeros((WORLDS, 1, 6), np.int32))
    with pytest.raises(TypeError, match="has begun"):
        copy.copy(mixed)
