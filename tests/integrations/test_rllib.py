"""RLlib over gpu_envs: true episodes, worlds of each runner, refusals, and real training."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

import gpu_envs

pytest.importorskip("ray.rllib", reason="needs RLlib: scripts/integration rllib")
pytestmark = pytest.mark.slow

import ray  # noqa: E402  # after the check that it is there
from ray.rllib.algorithms.ppo import PPOConfig  # noqa: E402
from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig  # noqa: E402

from gpu_envs.integrations import rllib, rllib_roles  # noqa: E402
from tests.contract.rows import EARLY, Chance, Episodes  # noqa: E402

EXAMPLE = Path(__file__).parents[2] / "examples" / "rllib_ppo.py"
ROWS, SEED = 4, 5


@pytest.fixture
def example(example: Any) -> Any:
    yield example
    ray.shutdown()


def configured(name: str = "CartPole-v0", rows: int = ROWS, seed: int = SEED, **keywords: Any):
    config = rllib.configure(PPOConfig(), name, **keywords)
    return config.env_runners(num_envs_per_env_runner=rows).debugging(seed=seed)


def first_observations(runner: Any) -> np.ndarray:
    """What a fresh runner's rows saw first: the start of one chunk for each row, in their order."""
    rows = runner.config.num_envs_per_env_runner
    chunks = runner.sample(num_timesteps=rows, random_actions=True)
    assert len(chunks) == rows
    return np.stack([chunk.get_observations(0) for chunk in chunks])


def test_every_stored_episode_is_the_true_one() -> None:
    ended: list[tuple[int, Any]] = []
    config = configured().callbacks(
        on_episode_end=lambda *, episode, env_index, **_: ended.append((env_index, episode))
    )
    runner = rllib.EnvRunner(config=config)
    runner.sample(num_timesteps=1500, random_actions=True)
    runner.stop()
    assert len(ended) > 40
    for row in range(ROWS):
        plain = gpu_envs.VectorEnv("CartPole-v0", first_world=row, device="cpu")
        obs, _ = plain.reset(seed=SEED)
        for episode in (each for index, each in ended if index == row):
            seen = episode.get_observations()
            assert len(seen) == len(episode) + 1
            for step, action in enumerate(episode.get_actions()):
                assert np.array_equal(seen[step], obs[0])
                obs, reward, terminated, truncated, infos = plain.step(np.array([action]))
                assert episode.get_rewards(step) == reward[0]
                # It ends where the true one ends, and not before.
                assert (terminated | truncated)[0] == (step == len(episode) - 1)
            assert np.array_equal(seen[-1], infos["final_obs"][0])
            assert infos["episode_stats"]["l"][0] == len(episode)
            assert (episode.is_terminated, episode.is_truncated) == (terminated[0], truncated[0])
        plain.close()


def test_episodes_cut_by_the_time_limit_have_exactly_that_many_steps() -> None:
    runner = rllib.EnvRunner(config=configured(max_episode_steps=7))
    episodes = runner.sample(num_episodes=40, random_actions=True)
    runner.stop()
    done = [episode for episode in episodes if episode.is_done]
    assert len(done) == 40
    assert {len(episode) for episode in done} == {7}
    assert all(episode.is_truncated and not episode.is_terminated for episode in done)


def test_rows_are_worlds_times_agents() -> None:
    config = configured("Overcooked-v0", 6, layout="cramped_room", dtype="float32")
    # RLlib casts no observations, and has no convolutions of its own for planes of this size.
    config.rl_module(model_config=DefaultModelConfig(conv_filters=[[16, [3, 3], 1]]))
    runner = rllib.EnvRunner(config=config)
    runner.sample(num_timesteps=60)  # with actions of the network
    assert runner.env.unwrapped.num_worlds == 3
    runner.make_env()
    assert first_observations(runner).shape == (6, 5, 4, 26)
    runner.stop()


def test_rows_end_with_their_world_and_begin_in_the_step_after() -> None:
    given = {"name": "TagContinuous-v0", "num_envs": 35, "runner": 0, "device": "cpu"}
    env = rllib.Rows(given | EARLY["TagContinuous-v0"])
    chance, early = Chance(env.single_action_space), 0
    env.reset(seed=SEED)
    episodes, done = Episodes(env), np.zeros(35, bool)
    for _ in range(80):
        before = done
        *_, terminated, truncated, infos = env.step(chance(35, None))
        done = terminated | truncated
        assert np.array_equal(before, episodes.changed())
        early += (~infos["agent_active"] & ~done).sum()  # these wait for their world
    assert early > 0
    env.close()


def test_a_remainder_of_rows_is_refused() -> None:
    config = configured("Overcooked-v0", 5, layout="cramped_room")
    with pytest.raises(ValueError, match="multiple of 2, the agents in a world of Overcooked-v0"):
        rllib.EnvRunner(config=config)


def test_runners_of_neighbouring_seeds_have_different_worlds() -> None:
    second = rllib.EnvRunner(config=configured(seed=1), worker_index=2, num_workers=2)
    first = rllib.EnvRunner(config=configured(seed=2), worker_index=1, num_workers=2)
    assert second._seed == first._seed  # what RLlib alone would tell them apart by
    assert not (first_observations(second) == first_observations(first)).all(1).any()
    first.stop()
    second.stop()


def test_a_runner_that_makes_its_environment_again_keeps_its_worlds() -> None:
    runner = rllib.EnvRunner(config=configured(), worker_index=2, num_workers=2)
    before = first_observations(runner)
    runner.make_env()
    assert np.array_equal(first_observations(runner), before)
    runner.stop()


def test_two_processes_sample_the_worlds_that_are_theirs(example) -> None:
    algorithm = example.make_ppo("CartPole-v0", env_runners=2, seed=SEED, device="cpu")
    seen = algorithm.env_runner_group.foreach_env_runner(first_observations, local_env_runner=False)
    assert len(seen) == 2
    for number, observations in enumerate(seen, start=1):
        plain = gpu_envs.VectorEnv(
            "CartPole-v0", example.ROWS, first_world=number * example.ROWS, device="cpu"
        )
        assert np.array_equal(observations, plain.reset(seed=SEED + number)[0])
        plain.close()
    assert not (seen[0] == seen[1]).all(1).any()
    before = example.train(algorithm, 1)
    assert example.train(algorithm, 1) >= before + 4000
    algorithm.stop()


@pytest.mark.parametrize("keyword", ["arrays", "autoreset_mode", "num_envs", "reuse"])
def test_what_rllib_decides_cannot_be_chosen(keyword: str) -> None:
    with pytest.raises(TypeError, match=keyword):
        rllib.configure(PPOConfig(), "CartPole-v0", **{keyword: None})


def test_another_way_to_make_the_environment_is_refused() -> None:
    config = configured().env_runners(gym_env_vectorize_mode="sync")
    with pytest.raises(ValueError, match=r"use configure\(\)"):
        rllib.EnvRunner(config=config)


# Roles

NAMES = ["dancer_0", "dancer_1", "dancer_2", "drummer_0", "drummer_1", "clown_0"]
EPISODE = 26  # steps of an episode of Troupe, and the one that begins the next


def agents(name: str, worlds: int = ROWS, policies: str = "role", **keywords: Any) -> Any:
    config = rllib.configure(PPOConfig(), name, policies=policies, threads=1, **keywords)
    return config.env_runners(num_envs_per_env_runner=worlds).debugging(seed=SEED)


def legal(space: Any, seen: Any, generator: np.random.Generator) -> Any:
    if isinstance(space, gymnasium.spaces.Discrete):
        allowed = seen["action_mask"] if isinstance(seen, dict) else np.ones(int(space.n))
        return int((generator.random(int(space.n)) * allowed).argmax())
    return space.sample()


def by_role(simulator: Any, actions: list[dict[str, Any]]) -> dict[str, Any]:
    joined = {}
    for role in simulator.roles:
        zero = np.zeros(role.action_space.shape)
        rows = [[each.get(agent, zero) for agent in role.agents] for each in actions]
        joined[role.name] = np.array(rows, role.action_space.dtype)
    return joined


@pytest.mark.parametrize("name", ["Troupe-v0", "Band-v0"])
def test_worlds_by_agent_repeat_the_simulator(troupe, make_simulator, name) -> None:
    worlds = rllib_roles.Worlds({"name": name, "num_envs": ROWS, "runner": 0, "device": "cpu"})
    simulator = make_simulator(name, ROWS, autoreset_mode="NextStep", roles="split")
    generator, absent = np.random.default_rng(0), 0
    (seen, _), outputs = worlds.reset(seed=3), simulator.reset(seed=3)
    for step in range(3 * EPISODE):
        parts = simulator.by_role(outputs.obs)
        for world, of_world in enumerate(seen):
            for agent, row in of_world.items():
                role, k = agent.split("_")
                row = row["observations"] if isinstance(row, dict) else row
                assert np.array_equal(row, parts[role][world, int(k)])
            if step % EPISODE == 0:
                active = outputs.agent_active[world]
                assert set(of_world) == {NAMES[k] for k in np.flatnonzero(active)}
                absent += "clown_0" not in of_world
        actions = [
            {a: legal(worlds.single_action_spaces[a], row, generator) for a, row in each.items()}
            for each in seen
        ]
        seen, rewards, terminated, truncated, _ = worlds.step(actions)
        outputs = simulator.step(by_role(simulator, actions))
        for world in range(ROWS):
            of_world = outputs.reward[world], outputs.terminated[world]
            told, reward, ends = terminated[world], *(x.tolist() for x in of_world)
            assert rewards[world] == {a: reward[NAMES.index(a)] for a in rewards[world]}
            assert told == {a: ends[NAMES.index(a)] for a in told if a != "__all__"} | {
                "__all__": False
            }
            assert sum(told.values()) == sum(ends)
            assert truncated[world]["__all__"] == (step % EPISODE == EPISODE - 2)
    assert 0 < absent < 3 * ROWS
    worlds.close()


def test_agents_have_the_spaces_and_the_policy_of_their_role(troupe) -> None:
    config = agents(troupe)
    assert set(config.policies) == {"dancer", "drummer", "clown"}
    assert config.policy_mapping_fn("drummer_1", None) == "drummer"
    runner = rllib.AgentsRunner(config=config)
    spaces = runner.env.single_observation_spaces, runner.env.single_action_spaces
    assert list(spaces[0]) == NAMES
    assert spaces[0]["dancer_1"]["observations"].shape == (7,)
    assert spaces[0]["dancer_1"]["action_mask"].shape == (3,)
    assert [int(spaces[1][name].n) for name in NAMES] == [3, 3, 3, 5, 5, 2]
    runner.stop()
    assert set(agents(troupe, policies="agent").policies) == set(NAMES)


def test_episodes_by_agent_end_as_they_did(troupe) -> None:
    runner = rllib.AgentsRunner(config=agents(troupe, strict=True))  # an illegal action raises
    episodes = runner.sample(num_episodes=8)
    runner.stop()
    assert len(episodes) == 8
    clowns = [episode for episode in episodes if "clown_0" in episode.agent_ids]
    assert 0 < len(clowns) < 8  # the others have none
    for episode in episodes:
        assert len(episode) == 25 and episode.is_truncated and not episode.is_terminated
        for agent, alone in episode.agent_episodes.items():
            assert alone.is_done
            if agent.startswith("drummer"):
                assert (len(alone), alone.is_truncated, alone.is_terminated) == (25, True, False)
            elif len(alone) < 25:
                assert alone.is_terminated == agent.startswith("dancer")
            seen = alone.get_observations()
            assert len(seen["observations"]) == len(alone) + 1
    assert any(len(e.agent_episodes["dancer_0"]) < 25 for e in episodes)


def test_runners_by_agent_have_worlds_of_their_own(troupe) -> None:
    runners = [
        rllib.AgentsRunner(config=agents(troupe), worker_index=k, num_workers=2) for k in (1, 2)
    ]
    first = [runner.env.reset(seed=SEED)[0] for runner in runners]
    places = [each["dancer_0"]["observations"][0] for seen in first for each in seen]
    assert len(set(places)) == 2 * ROWS
    for runner in runners:
        runner.stop()


def test_roles_that_share_their_spaces_may_have_a_policy_each() -> None:
    config = agents("TagContinuous-v0", 2, max_episode_steps=10)
    assert set(config.policies) == {"tagger", "runner"}
    runner = rllib.AgentsRunner(config=config)
    episodes = runner.sample(num_episodes=2)
    runner.stop()
    assert {len(episode) for episode in episodes} == {10}


def test_rows_of_one_role_are_rows_of_a_shared_policy(troupe) -> None:
    runner = rllib.EnvRunner(config=configured(troupe, 4, role="drummer", others="random"))
    episodes = runner.sample(num_timesteps=4 * 30)
    runner.stop()
    done = [episode for episode in episodes if episode.is_done]
    assert [len(episode) for episode in done] == [25] * 4
    assert done[0].get_observations().shape == (26, 9)


def test_in_games_of_turns_only_who_is_on_turn_acts() -> None:
    config = agents("Hanabi-v0", 2, "agent", preset="very_small", dtype="float32", strict=True)
    runner = rllib.AgentsRunner(config=config)
    episodes = runner.sample(num_episodes=4)
    runner.stop()
    for episode in episodes:
        assert sum(len(alone) for alone in episode.agent_episodes.values()) == len(episode)
        assert all(alone.is_done for alone in episode.agent_episodes.values())


def test_what_policies_cannot_be_is_refused(troupe) -> None:
    with pytest.raises(ValueError, match="policies must be 'shared', 'role' or 'agent'"):
        agents(troupe, policies="roles")
    with pytest.raises(TypeError, match="role cannot be chosen for RLlib: use policies='role'"):
        agents(troupe, role="dancer")
    with pytest.raises(
        ValueError, match=r"shared policy ignores masks.*policies='role'\), or role="
    ):
        rllib.EnvRunner(config=configured(troupe, 6))
    config = agents(troupe).env_runners(env_runner_cls=None)
    with pytest.raises(ValueError, match=r"use configure\(\.\.\., policies='role'\)"):
        rllib_roles.Worlds(config.env_config)


def test_ppo_trains_a_policy_for_each_role(troupe) -> None:
    config = agents(troupe, strict=True).training(
        lr=0.01, gamma=0.5, num_epochs=4, train_batch_size_per_learner=100, minibatch_size=100
    )
    config.env_runners(num_env_runners=0)
    config.rl_module(model_config=DefaultModelConfig(fcnet_hiddens=[16]))
    algorithm = config.build_algo()
    returns = [algorithm.train()["env_runners"]["module_episode_returns_mean"] for _ in range(8)]
    algorithm.stop()
    ray.shutdown()
    assert returns[-1]["dancer"] > 1.5 * returns[0]["dancer"], returns
    assert returns[-1]["drummer"] > 1.1 * returns[0]["drummer"], returns


def test_governors_and_planner_train_for_a_few_steps() -> None:
    config = agents("CovidEconomy-v0", 2, strict=True).training(
        num_epochs=1, train_batch_size_per_learner=16, minibatch_size=16
    )
    config.env_runners(num_env_runners=0, rollout_fragment_length=8)
    config.rl_module(model_config=DefaultModelConfig(fcnet_hiddens=[8]))
    algorithm = config.build_algo()
    result = algorithm.train()
    algorithm.stop()
    ray.shutdown()
    assert {"governor", "planner"} <= set(result["learners"])
    assert result["env_runners"]["num_env_steps_sampled_lifetime"] >= 16


# RLlib asks 450 within 300,000 samples of its own CartPole with these settings.
@pytest.mark.parametrize(("target", "iterations"), [(195, 50), (475, 150)])
def test_ppo_trains(example, target: int, iterations: int) -> None:
    algorithm = example.make_ppo("CartPole-v0", seed=1, device="cpu")
    samples = example.train(algorithm, iterations, target)
    mean = example.evaluate(algorithm)
    algorithm.stop()
    assert samples <= iterations * 4200  # a batch ends with whole steps of all rows
    assert mean >= target
