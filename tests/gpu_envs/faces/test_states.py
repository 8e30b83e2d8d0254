"""`save`, `load`, `get`, `set` and `copy_worlds` of every kind of environment."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest

import gpu_envs

NAMES = ["CartPole-v0", "Hanabi-v0", "Overcooked-v0", "TagContinuous-v0", "ObstaclesEasy-v0"]
MODES = ["SameStep", "NextStep", "Disabled"]
every_name = pytest.mark.parametrize("name", NAMES)
every_mode = pytest.mark.parametrize("mode", MODES)

Make = Callable[..., gpu_envs.VectorEnv]


def _legal(env: gpu_envs.VectorEnv, step: int) -> Any:
    """Draw an action for each row from the number of the step alone."""
    env.action_space.seed(step)
    drawn = env.action_space.sample()
    mask = env.observe()[1].get("action_mask")
    if mask is None:
        return drawn
    weights = np.random.default_rng(step).uniform(0.1, 1, mask.shape)
    return (mask * weights).argmax(-1)


def _play(env: gpu_envs.VectorEnv, steps: range) -> list[tuple[np.ndarray, ...]]:
    """Return what steps return; where the mode leaves resets to the caller, worlds rest."""
    return [tuple(map(np.array, env.step(_legal(env, step))[:4])) for step in steps]


def _assert_same(left: Any, right: Any, rows: Any = slice(None), others: Any = None) -> None:
    others = rows if others is None else others
    for one, two in zip(left, right, strict=True):
        for mine, yours in zip(one, two, strict=True):
            assert mine[rows].tobytes() == yours[others].tobytes()


@every_name
@every_mode
def test_a_batch_continues_from_a_save(make_vec: Make, name: str, mode: str) -> None:
    first, second = (make_vec(name, 5, autoreset_mode=mode, max_episode_steps=12) for _ in range(2))
    first.reset(seed=4)
    _play(first, range(20))
    data = first.save()
    assert data == first.simulator.save()
    after = _play(first, range(20, 40))
    second.load(data)
    assert second.observe()[0].shape == first.observation_space.shape
    _assert_same(_play(second, range(20, 40)), after)
    first.load(data)
    _assert_same(_play(first, range(20, 40)), after)


@every_name
@every_mode
def test_a_save_of_one_world_continues_in_any_world(make_vec: Make, name: str, mode: str) -> None:
    form = {"autoreset_mode": mode, "max_episode_steps": 12}
    alone, batch = make_vec(name, 1, first_world=6, **form), make_vec(name, 6, **form)
    alone.reset(seed=4)
    _play(alone, range(8))
    batch.reset(seed=9)
    before = batch.save()
    batch.load(alone.save(), worlds=[4, 1])
    agents = alone.num_envs
    rows = [slice(world * agents, (world + 1) * agents) for world in range(6)]
    assert np.array_equal(batch.observe()[0][rows[4]], alone.observe()[0])
    for step in range(8, 30):
        own = _legal(alone, step)
        actions = np.concatenate([own] * 6)
        ours = batch.step(actions)
        theirs = alone.step(own)
        for mine, yours in zip(ours[:4], theirs[:4], strict=True):
            assert np.array_equal(mine[rows[4]], yours)
            assert np.array_equal(mine[rows[1]], yours)
    batch.load(before)  # the others have not moved but by their own actions
    assert batch.save() == before


def test_worlds_of_a_save_go_where_they_are_named(make_vec: Make) -> None:
    three, batch = make_vec("CartPole-v0", 3), make_vec("CartPole-v0", 7)
    three.reset(seed=1)
    batch.reset(seed=2)
    before = batch.get("cart.angle")
    batch.load(three.save(), worlds=np.array([6, 0, 3]))
    angles = batch.get("cart.angle")
    assert np.array_equal(angles[[6, 0, 3]], three.get("cart.angle"))
    assert np.array_equal(angles[[1, 2, 4, 5]], before[[1, 2, 4, 5]])
    assert batch.save(worlds=[6, 0, 3]) == three.save()
    batch.load(three.save(), worlds=range(2, 5))
    assert np.array_equal(batch.get("cart.angle")[2:5], three.get("cart.angle"))


def test_one_source_is_copied_to_many(make_vec: Make) -> None:
    env = make_vec("CartPole-v0", 6, autoreset_mode="Disabled")
    env.reset(seed=1)
    before = env.get("cart.x")
    env.copy_worlds(2, [0, 4, 5])
    assert np.array_equal(env.get("cart.x")[[0, 4, 5]], before[[2, 2, 2]])
    assert np.array_equal(env.get("cart.x")[[1, 2, 3]], before[[1, 2, 3]])
    env.copy_worlds([1], np.array([3]))
    assert np.array_equal(env.get("cart.x")[3], before[1])
    env.copy_worlds([1], [])
    env.reset(seed=1)
    env.copy_worlds(1, [0, 2, 3], reseed=True)
    assert len(np.unique(env.observe()[0], axis=0)) == 3
    assert len(np.unique(env.reset()[0], axis=0)) == 6  # they draw by themselves


def test_columns_are_written_by_world(make_vec: Make) -> None:
    env = make_vec("CartPole-v0", 4)
    env.reset(seed=0)
    env.set("cart.angle", 0.1, worlds=[3])
    assert env.get("cart.angle").shape == (4, 1)
    assert env.observe()[0][3, 2] == np.float32(0.1)
    env.set("cart.angle", [[0.0]] * 4)
    assert not env.observe()[0][:, 2].any()


def test_observe_is_what_reset_returned(make_vec: Make) -> None:
    for form in ({}, {"infos": "rows"}, {"observation": "dict"}, {"role": "tagger"}):
        env = make_vec("TagContinuous-v0", 3, **form)
        obs, infos = env.reset(seed=3)
        again, more = env.observe()
        assert infos.keys() == more.keys()
        if form.get("observation"):
            assert all(np.array_equal(obs[key], again[key]) for key in obs)
        else:
            assert np.array_equal(obs, again)


# Gymnasium's ways, one world


def test_methods_are_reached_as_gymnasium_has_it() -> None:
    batch = gymnasium.make_vec("gpu_envs/CartPole-v0", num_envs=3, device="cpu")
    batch = gymnasium.wrappers.vector.RecordEpisodeStatistics(batch)
    batch.reset(seed=1)
    data = batch.unwrapped.save()
    assert batch.unwrapped.call("save") == (data,) * 3
    batch.step(np.ones(3, int))
    batch.unwrapped.call("load", data)
    assert batch.unwrapped.save() == data
    batch.unwrapped.call("copy_worlds", 0, [1, 2])
    assert batch.unwrapped.call("get", "cart.x")[0].std() == 0
    batch.close()
    env = gymnasium.make("gpu_envs/CartPole-v0")
    env.reset(seed=1)
    data = env.unwrapped.save()
    after = [env.step(1)[0] for _ in range(3)]
    env.get_wrapper_attr("load")(data)
    assert all(np.array_equal(env.step(1)[0], obs) for obs in after)
    env.get_wrapper_attr("set")("cart.angle", 0.0)
    assert env.unwrapped.observe()[0][2] == 0
    assert env.unwrapped.get("cart.angle").shape == (1, 1)
    env.close()


def test_a_single_world_goes_into_a_batch_and_back(make_vec: Make) -> None:
    env = gpu_envs.Env("CartPole-v0")
    env.reset(seed=1)
    env.step(0)
    data = env.save()
    batch = make_vec("CartPole-v0", 4, autoreset_mode="Disabled")
    batch.reset(seed=2)
    batch.load(data, worlds=[2])
    assert np.array_equal(batch.observe()[0][2], env.observe()[0])
    fresh = gpu_envs.Env("CartPole-v0")
    fresh.load(data)
    assert np.array_equal(fresh.step(1)[0], env.step(1)[0])
    env.close()
    fresh.close()


# Agents by name


@every_name
def test_a_named_world_continues_from_a_save(name: str) -> None:
    first, second = (gpu_envs.parallel_env(name, max_cycles=30) for _ in range(2))
    first.reset(seed=3)

    def legal(env: Any, step: int) -> dict[str, Any]:
        actions = {}
        for agent, info in env.observe()[1].items():
            env.action_space(agent).seed(step)
            mask = info.get("action_mask")
            drawn = env.action_space(agent).sample
            actions[agent] = drawn() if mask is None or not mask.any() else drawn(mask)
        return actions

    for step in range(4):
        first.step(legal(first, step))
    data = first.save()
    second.load(data)
    for step in range(4, 40):
        assert first.agents == second.agents
        assert np.array_equal(first.state(), second.state())
        if not first.agents:
            break
        ours, theirs = (env.step(legal(env, step)) for env in (first, second))
        assert ours[1:4] == theirs[1:4]
    over = first.save()
    second.reset(seed=8)
    second.load(over)
    assert second.agents == first.agents == []
    with pytest.raises(gpu_envs.ResetNeeded, match="no agent is left"):
        second.step({"player_0": 0})
    second.load(data)
    assert second.agents
    for env in (first, second):
        env.close()


def test_agents_that_have_left_are_gone_after_a_load() -> None:
    form = {"num_taggers": 3, "num_runners": 6, "tagging_distance": 0.4}
    first, second = (gpu_envs.parallel_env("TagContinuous-v0", **form) for _ in range(2))
    first.reset(seed=1)
    everyone = len(first.agents)
    while len(first.agents) == everyone:
        first.step({agent: np.zeros(2, int) for agent in first.agents})
    assert first.agents
    second.load(first.save())
    assert second.agents == first.agents
    second.reset(seed=1)
    second.set("world.step", 3)
    assert len(second.agents) == everyone
    for env in (first, second):
        env.close()


def test_a_game_of_turns_continues_from_a_save() -> None:
    first, second = (gpu_envs.aec_env("Hanabi-v0") for _ in range(2))
    first.reset(seed=3)
    for step in range(60):
        data = first.save()
        second.load(data)
        assert second.agent_selection == first.agent_selection
        assert second.agents == first.agents
        for agent in first.agents:
            ours, theirs = first.observe(agent), second.observe(agent)
            assert all(np.array_equal(ours[key], theirs[key]) for key in ours)
            assert set(second.infos[agent]) == set(first.infos[agent])
        if step == 7:
            second.copy_worlds([], [])  # nothing: there is one world
        mask = first.observe(first.agent_selection)["action_mask"]
        action = int(np.random.default_rng(step).choice(np.flatnonzero(mask)))
        first.step(action)
        second.step(action)
        assert second.rewards == first.rewards
        if any(first.terminations.values()):
            break


@pytest.mark.parametrize("group", ["agent", "role"])
def test_many_named_worlds_are_saved_loaded_and_copied(group: str) -> None:
    first, second = (
        gpu_envs.batched_parallel_env("HideSeek-v0", 3, group=group, device="cpu") for _ in range(2)
    )
    observations, infos = first.reset(seed=2)
    again, more = first.observe()
    assert infos.keys() == more.keys()
    assert all(np.array_equal(observations[key], again[key]) for key in again)
    second.load(first.save())
    assert np.array_equal(second.state(), first.state())
    second.copy_worlds(1, [0, 2])
    assert np.array_equal(second.state()[0], first.state()[1])
    second.set("world.step", 5)
    assert (second.get("world.step") == 5).all()
    alone = gpu_envs.batched_parallel_env("HideSeek-v0", 1, device="cpu", first_world=9)
    alone.reset(seed=2)
    second.load(alone.save(), worlds=[2])
    assert np.array_equal(second.state()[2], alone.state()[0])
    for env in (first, second, alone):
        env.close()


# What is refused


SAVED: dict[str, Any] = {"max_episode_steps": 20}


@pytest.fixture(scope="module")
def saves() -> dict[str, bytes]:
    """Saves of one world and of two."""
    made = {}
    for worlds in (1, 2):
        env = gpu_envs.VectorEnv("CartPole-v0", worlds, device="cpu", **SAVED)
        env.reset(seed=5)
        made[str(worlds)] = env.save()
        env.close()
    return made


LOADS: list[tuple[str, Any, type[Exception], str]] = [
    ("1", None, ValueError, "load: the save differs in worlds: it has 1, this simulator 4"),
    ("2", None, ValueError, "load: the save differs in worlds: it has 2, this simulator 4"),
    ("2", [1], ValueError, "load: the save has 2 worlds and worlds= names 1"),
    ("2", [], ValueError, "load: the save has 2 worlds and worlds= names 0"),
    ("2", [0, 1, 2], ValueError, "load: the save has 2 worlds and worlds= names 3"),
    ("2", [3, 3], ValueError, "load: world 3 is named twice"),
    ("1", [0, 1, 0], ValueError, "load: world 0 is named twice"),
    ("1", [4], ValueError, r"worlds must be in \[0, 4\), got \[4\]"),
    ("1", -1, ValueError, r"worlds must be in \[0, 4\), got -1"),
    ("1", [0.5], TypeError, "worlds must be a list of world numbers"),
    ("1", "all", TypeError, "worlds must be a list of world numbers"),
    ("1", [True, False, False, True], TypeError, "worlds must be a list of world numbers"),
    ("1", [[1], [2]], TypeError, "worlds must be a list of world numbers"),
    ("1", [[1], [2, 3]], TypeError, "worlds must be world numbers"),
]


@pytest.mark.parametrize(("which", "worlds", "error", "message"), LOADS)
def test_worlds_that_cannot_be_loaded_into_are_refused(
    make_vec: Make, saves, which, worlds, error, message
) -> None:
    env = make_vec("CartPole-v0", 4, **SAVED)
    env.reset(seed=7)
    before = env.save()
    with pytest.raises(error, match=message):
        env.load(saves[which], worlds=worlds)
    assert env.save() == before


def test_saves_of_something_else_are_refused(make_vec: Make, saves) -> None:
    for form, what in (
        ({"name": "CartPole64-v0"}, "environment"),
        ({"autoreset_mode": "Disabled"}, "autoreset_mode"),
        ({"max_episode_steps": 21}, "time_limit"),
        ({"sutton_barto_reward": True}, "parameters"),
    ):
        env = make_vec(**{"name": "CartPole-v0", "num_envs": 4, **SAVED, **form})
        env.reset(seed=7)
        before = env.save()
        with pytest.raises(ValueError, match=f"load: the save differs in {what}"):
            env.load(saves["1"], worlds=[2])
        for broken in (b"", saves["1"][:-1], saves["1"] + b"\0", b"PK" + saves["1"]):
            with pytest.raises(ValueError, match="load: "):
                env.load(broken, worlds=[2])
        with pytest.raises(TypeError, match="data must be bytes, got str"):
            env.load("save", worlds=[2])
        assert env.save() == before


def test_some_worlds_are_not_loaded_before_the_others_have_begun(make_vec: Make, saves) -> None:
    env = make_vec("CartPole-v0", 4, **SAVED)
    with pytest.raises(gpu_envs.ResetNeeded, match=r"call reset\(\) before load\(worlds=\)"):
        env.load(saves["1"], worlds=[0, 1, 2])
    env.load(saves["1"], worlds=[3, 0, 1, 2])
    env.step(np.zeros(4, int))


@pytest.mark.parametrize(
    ("worlds", "error", "message"),
    [
        ([], ValueError, "save: worlds= names no world"),
        ([1, 2, 1], ValueError, "save: world 1 is named twice"),
        ([4], ValueError, r"worlds must be in \[0, 4\), got \[4\]"),
        (1.0, TypeError, "worlds must be a list of world numbers"),
    ],
)
@pytest.mark.parametrize("role", [None, "tagger"])
def test_worlds_that_cannot_be_saved_are_refused(make_vec: Make, role, worlds, error, message):
    env = make_vec("TagGrid-v0", 4, role=role)
    env.reset(seed=1)
    with pytest.raises(error, match=message):
        env.save(worlds=worlds)


@pytest.mark.parametrize("call", ["save", "observe", "copy_worlds"])
def test_worlds_that_have_not_begun_are_refused(call: str) -> None:
    for env in (
        gpu_envs.VectorEnv("CartPole-v0", 2, device="cpu"),
        gpu_envs.VectorEnv("TagGrid-v0", 2, device="cpu", role="tagger"),
        gpu_envs.Env("CartPole-v0"),
        gpu_envs.parallel_env("CartPole-v0"),
        gpu_envs.batched_parallel_env("CartPole-v0", 2, device="cpu"),
    ):
        arguments = ([0], [1]) if call == "copy_worlds" else ()
        if not (call == "copy_worlds" and isinstance(env, gpu_envs.Env)):
            with pytest.raises(gpu_envs.ResetNeeded, match=r"call reset\(\) before"):
                getattr(env, call)(*arguments)
        env.close()
