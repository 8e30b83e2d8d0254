"""Several games behind Gymnasium's vector interface, and the suite of eight."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from typing import Any

import gymnasium
import numpy as np
import pytest

import gpu_envs
from gpu_envs import MixedVectorEnv, suites

SMALL = {"resolution": "4x6", "device": "cpu", "threads": 1}
GAMES = ("Collect-v0", "Sokoban-v0")
Make = Callable[..., MixedVectorEnv]


@pytest.fixture
def make_env() -> Iterator[Make]:
    made = []

    def make(num_envs: int = 5, games: Any = GAMES, **keywords: Any) -> MixedVectorEnv:
        env = MixedVectorEnv(games, num_envs, **{**SMALL, **keywords})
        made.append(env)
        return env

    yield make
    for env in made:
        env.close()


@pytest.fixture(scope="module")
def eight() -> Iterator[MixedVectorEnv]:
    env = suites.megaverse8(agent_count=2, **SMALL).make_vec(20, episode_seconds=1.0)
    yield env
    env.close()


def test_suite_has_the_eight_games(eight: MixedVectorEnv) -> None:
    assert list(eight.games) == [
        *("Collect-v0", "HexExplore-v0", "HexMemory-v0", "ObstaclesEasy-v0"),
        *("ObstaclesHard-v0", "Rearrange-v0", "Sokoban-v0", "TowerBuilding-v0"),
    ]
    assert (eight.num_worlds, eight.num_envs) == (20, 40)
    assert eight.observation_space.shape == (40, 3, 4, 6)
    assert "megaverse8: Collect-v0 3" in repr(eight)
    assert suites.find("megaverse8") == suites.megaverse8()
    with pytest.raises(ValueError, match=r"unknown suite 'megaverse'.*megaverse8"):
        suites.find("megaverse")


def test_every_row_knows_its_game_and_what_it_alone_writes(eight: MixedVectorEnv) -> None:
    _, infos = eight.reset(seed=1)
    assert infos["game"].tolist() == [0] * 6 + [1] * 6 + [2] * 6 + [3] * 6 + [
        number for number in range(4, 8) for _ in range(4)
    ]
    assert infos["by_game"]["Sokoban-v0"]["state"].shape[0] == 2
    for _ in range(20):
        actions = eight.simulator.sample_actions(seed=2).reshape(40, 6)
        obs, reward, terminated, _, infos = eight.step(actions)
        assert obs.shape == (40, 3, 4, 6)
        assert reward.shape == terminated.shape == infos["true_objective"].shape == (40,)
        for game, own in infos["by_game"].items():
            parts = own["reward_parts"]
            rows = infos["game"] == list(eight.games).index(game)
            assert np.allclose(sum(parts.values()), reward[rows], atol=1e-6)
    assert list(infos["by_game"]["Sokoban-v0"]["reward_parts"]) == ["goal", "leave", "all"]
    assert infos["_episode_stats"].dtype == bool


def test_rows_are_those_of_each_game_alone(make_env: Make) -> None:
    env = make_env(agent_count=2)
    obs, _ = env.reset(seed=[1, 2, 3, 4, 5])
    assert env.np_random_seed == (1, 2, 3, 4, 5)
    begin = 0
    for (game, one), seeds in zip(env.games.items(), ([1, 2, 3], [4, 5]), strict=True):
        alone = gpu_envs.VectorEnv(game, one.num_worlds, agent_count=2, **SMALL)
        own, _ = alone.reset(seed=seeds)
        assert np.array_equal(obs[begin : begin + len(own)], own)
        begin += len(own)
        alone.close()


def test_infos_by_row_have_no_dicts(make_env: Make) -> None:
    env = make_env(infos="rows")
    _, infos = env.reset(seed=1)
    *_, infos = env.step(np.zeros((5, 6), np.int32))
    assert "by_game" not in infos
    assert infos["game"].tolist() == [0, 0, 0, 1, 1]
    assert infos["episode_return"].shape == (5,)


def test_wrappers_of_gymnasium_take_it(make_env: Make) -> None:
    env = make_env(episode_seconds=1.0, autoreset_mode="NextStep")
    wrapped = gymnasium.wrappers.vector.RecordEpisodeStatistics(env)
    wrapped.reset(seed=1)
    for _ in range(16 + 40):
        *_, infos = wrapped.step(np.zeros((5, 6), np.int32))
        if "episode" in infos:
            break
    assert infos["episode"]["l"].max() >= 15


def test_parameters_and_attributes_are_those_of_all_games(make_env: Make) -> None:
    env = make_env(varies=["team_spirit"])
    env.reset(seed=1)
    env.set_parameters(team_spirit=0.5)
    env.set_attr("team_spirit", [0.1, 0.2, 0.3, 0.4, 0.5])
    values = [one.get("world.team_spirit")[:, 0] for one in env.games.values()]
    assert np.allclose(np.concatenate(values), [0.1, 0.2, 0.3, 0.4, 0.5])
    assert env.get_attr("num_worlds") == (5,) * 5
    with pytest.raises(AttributeError, match=r"call set_parameters\(team_spirit"):
        env.team_spirit = 0.5
    with pytest.raises(AttributeError, match="mixed has no attribute 'yaw' to be set"):
        env.set_attr("yaw", 1)
    for call in (lambda: env.get("agents.yaw"), lambda: env.set("agents.yaw", 0)):
        with pytest.raises(TypeError, match=r"columns are those of a game: env.games\[ID\]"):
            call()
    env.games["Sokoban-v0"].set("agents.yaw", 0)


def test_attributes_of_gymnasiums_class_are_set(make_env: Make) -> None:
    env = make_env()
    env.set_attr("render_mode", ["rgb_array"] * 5)
    assert env.get_attr("render_mode") == ("rgb_array",) * 5
    env.set_attr("spec", gymnasium.spec("CartPole-v1"))
    assert env.spec.id == "CartPole-v1"
    with pytest.raises(ValueError, match="render_mode of mixed must be one of"):
        env.set_attr("render_mode", "nothing")
    with pytest.raises(ValueError, match="values must have 5 entries, got 4"):
        env.set_attr("spec", [None] * 4)
    with pytest.raises(ValueError, match="values must be equal"):
        env.set_attr("render_mode", ["ansi", None, None, None, None])


def test_infos_are_taken_apart_by_row(make_env: Make) -> None:
    env = gymnasium.wrappers.vector.DictInfoToList(make_env(infos="rows"))
    env.reset(seed=1)
    *_, infos = env.step(np.zeros((5, 6), np.int32))
    assert [info["game"] for info in infos] == [0, 0, 0, 1, 1]


def test_state_is_saved_and_copied(make_env: Make) -> None:
    env, other = make_env(), make_env()
    env.reset(seed=1)
    other.load(env.save())
    actions = np.ones((5, 6), np.int32)
    assert np.array_equal(env.step(actions)[0], other.step(actions)[0])
    env.copy_worlds([0], [1, 2])
    seen = env.observe()[0]
    assert np.array_equal(seen[0], seen[2])


def test_it_is_made_again_before_it_begins(make_env: Make) -> None:
    env = make_env(shares=(1, 4))
    again = pickle.loads(pickle.dumps(env))
    assert np.array_equal(env.reset(seed=3)[0], again.reset(seed=3)[0])
    again.close()
    with pytest.raises(TypeError, match="has begun"):
        pickle.dumps(env)


def test_worlds_are_rendered(make_env: Make) -> None:
    env = make_env(render_mode="rgb_array", render_size=(9, 16), agent_count=2)
    env.reset(seed=1)
    pictures = env.render()
    assert pictures is not None
    assert len(pictures) == 10
    assert pictures[0].shape == (9, 16, 3)
    with pytest.raises(ValueError, match="render_mode of mixed must be one of"):
        make_env(render_mode="human")
    with pytest.raises(ValueError, match="infos must be"):
        make_env(infos="flat")
