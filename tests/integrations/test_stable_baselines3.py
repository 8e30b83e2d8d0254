"""Stable-Baselines3 and sb3-contrib over gpu_envs: the adapter's promises, and real training."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

import gpu_envs

torch = pytest.importorskip("torch", reason="needs torch")
pytest.importorskip("stable_baselines3", reason="needs stable-baselines3")

from stable_baselines3 import A2C, DQN, PPO  # noqa: E402  # after the check that it is there
from stable_baselines3.common.env_checker import check_env  # noqa: E402
from stable_baselines3.common.evaluation import evaluate_policy  # noqa: E402
from stable_baselines3.common.monitor import Monitor  # noqa: E402
from stable_baselines3.common.vec_env import (  # noqa: E402
    VecFrameStack,
    VecMonitor,
    VecNormalize,
)

from gpu_envs.integrations.stable_baselines3 import SB3VecEnv  # noqa: E402
from gpu_envs.known.measures import sizes  # noqa: E402
from tests.contract.playing import every_single  # noqa: E402
from tests.contract.rows import EARLY, Chance, Episodes  # noqa: E402

EXAMPLE = Path(__file__).parents[2] / "examples" / "stable_baselines3_ppo.py"
SMALL: dict[str, Any] = {"n_steps": 16, "device": "cpu", "seed": 3}
HANABI = {"preset": "very_small"}
RANDOM_HANABI = 0.03  # mean return of random legal moves, in 3,374 games


pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture
def make() -> Iterator[Any]:
    made = []

    def make_one(name: Any = "CartPole-v0", num_envs: int = 4, **keywords: Any) -> SB3VecEnv:
        if isinstance(name, str):
            keywords.setdefault("device", "cpu")
        made.append(SB3VecEnv(name, num_envs, **keywords))
        return made[-1]

    yield make_one
    for env in made:
        env.close()


@pytest.fixture
def maskable() -> Any:
    return pytest.importorskip("sb3_contrib", reason="needs sb3-contrib").MaskablePPO


@pytest.fixture
def train(example: Any) -> Any:
    return example.train


def test_rows_are_those_of_the_vector_env_and_ended_ones_are_described(make, make_vec) -> None:
    env = make(num_envs=8, max_episode_steps=12)
    twin = make_vec(num_envs=8, max_episode_steps=12)
    env.seed(5)
    assert np.array_equal(env.reset(), twin.reset(seed=5)[0])
    random, cut, fell = np.random.default_rng(0), 0, 0
    for _ in range(60):
        actions = random.integers(0, 2, 8)
        obs, reward, dones, infos = env.step(actions)
        expected, expected_reward, terminated, truncated, batch = twin.step(actions)
        assert np.array_equal(obs, expected) and np.array_equal(reward, expected_reward)
        assert np.array_equal(dones, terminated | truncated)
        for row, info in enumerate(infos):
            assert bool(info) == dones[row]
            if not info:
                continue
            assert np.array_equal(info["terminal_observation"], batch["final_obs"][row])
            assert info["TimeLimit.truncated"] is bool(truncated[row] and not terminated[row])
            assert info["episode"]["r"] == batch["episode_stats"]["r"][row]
            assert info["episode"]["l"] == batch["episode_stats"]["l"][row]
            assert type(info["episode"]["r"]) is float and type(info["episode"]["l"]) is int
        cut += int(truncated.sum())
        fell += int(terminated.sum())
    assert cut and fell  # both kinds of end were seen


@pytest.mark.usefixtures("troupe")
@pytest.mark.parametrize("name", EARLY)
def test_rows_are_done_where_another_episode_begins_and_nowhere_else(make, name) -> None:
    env = make(name, 5, **EARLY[name])
    chance, absent = Chance(env.action_space), 0
    env.seed(3)
    env.reset()
    episodes, total = Episodes(env.env), np.zeros((2, env.num_envs))
    for _ in range(90):
        mask = env.action_masks() if env.has_attr("action_masks") else None
        _, reward, dones, infos = env.step(chance(env.num_envs, mask))
        assert np.array_equal(dones, episodes.changed())
        total += np.stack([reward, np.ones(env.num_envs)])
        for row in np.flatnonzero(dones):
            last, has_played = infos[row], env.infos["_episode_stats"][row]
            assert np.array_equal(last["terminal_observation"], env.infos["final_obs"][row])
            if has_played:
                sums = last["episode"]["r"], last["episode"]["l"]
                np.testing.assert_allclose(sums, total[:, row], rtol=1e-5, atol=1e-6)
            else:
                assert "episode" not in last and not last["TimeLimit.truncated"]
                absent += 1
        assert not any(infos[row] for row in np.flatnonzero(~dones))
        total[:, dones] = 0
    assert (absent > 0) == (name == "Troupe-v0")


def test_row_that_falls_in_the_last_step_is_not_called_truncated(make, tip_over) -> None:
    env = make(num_envs=2, max_episode_steps=1)
    env.reset()
    tip_over(env.env, 0)
    _, _, dones, infos = env.step(np.array([0, 0]))
    assert dones.all()
    assert [info["TimeLimit.truncated"] for info in infos] == [False, True]


def test_earlier_steps_keep_their_infos_and_rewards_are_the_callers(make) -> None:
    env, twin = make(max_episode_steps=2), make(max_episode_steps=2)
    env.seed(1)
    twin.seed(1)
    assert np.array_equal(env.reset(), twin.reset())
    zeros = np.zeros(4, np.int64)
    steps = [env.step(zeros) for _ in range(4)]
    for _, reward, _, _ in steps:
        reward += 100
    assert [bool(infos[0]) for *_, infos in steps] == [False, True, False, True]
    for obs, *_ in steps:
        assert np.array_equal(obs, twin.step(zeros)[0])


def test_stored_observations_are_the_true_sequence(make) -> None:
    env, twin = make(num_envs=2), make(num_envs=2)
    model = PPO("MlpPolicy", env, batch_size=16, n_epochs=1, **SMALL)
    model.learn(32)
    buffer = model.rollout_buffer  # reshaped to (rows * steps, ...) by the update
    stored = buffer.observations.reshape(2, 16, 4).swapaxes(0, 1)
    actions = buffer.actions.reshape(2, 16).swapaxes(0, 1).astype(np.int64)
    twin.seed(3)
    expected = twin.reset()
    for step in range(16):
        assert np.array_equal(stored[step], expected)
        expected, *_ = twin.step(actions[step])


def test_two_runs_with_one_seed_are_equal(make) -> None:
    def weights() -> Any:
        model = PPO("MlpPolicy", make(), batch_size=32, n_epochs=2, **SMALL).learn(256)
        return torch.cat([part.flatten() for part in model.policy.parameters()])

    assert torch.equal(weights(), weights())


@pytest.mark.parametrize("algorithm", [PPO, A2C, DQN])
@pytest.mark.parametrize("arrays", ["numpy", "torch"])
def test_algorithm_runs(make, algorithm, arrays) -> None:
    options = {"learning_starts": 50} if algorithm is DQN else {"n_steps": 16}
    model = algorithm("MlpPolicy", make(arrays=arrays), device="cpu", **options).learn(400)
    assert model.num_timesteps >= 400
    assert all(info["l"] >= 1 for info in model.ep_info_buffer) and len(model.ep_info_buffer) > 5


def test_continuous_actions_run(make) -> None:
    PPO("MlpPolicy", make("CartPoleContinuous-v0"), batch_size=32, **SMALL).learn(128)


def test_named_numbers_run(make) -> None:
    env = make("CartPole-v0", 2, observation="dict")
    assert {part.shape for part in env.observation_space.spaces.values()} == {(1,)}
    PPO("MultiInputPolicy", env, batch_size=32, **SMALL).learn(128)


@pytest.mark.parametrize("observation", ["flat", "dict"])
@every_single
def test_single_environments_pass_its_check(name, observation) -> None:
    env = gpu_envs.Env(name, observation=observation, **sizes(name, "alone"))
    with warnings.catch_warnings():
        warnings.filterwarnings("error")
        warnings.filterwarnings("ignore", message=".*image.*")  # planes that are small
        check_env(env)
    env.close()


def test_named_observations_run(make) -> None:
    env = make("Overcooked-v0", 2, observation="dict", max_episode_steps=5)
    PPO("MultiInputPolicy", env, batch_size=32, **SMALL).learn(128)
    env.reset()
    ended = [env.step(np.zeros(4, np.int64))[3] for _ in range(5)][-1]
    last = ended[0]["terminal_observation"]
    assert all(space.contains(last[key]) for key, space in env.observation_space.spaces.items())


def test_agents_of_overcooked_are_rows(make) -> None:
    env = make("Overcooked-v0", 2)
    assert env.num_envs == 4
    PPO("MlpPolicy", env, batch_size=32, **SMALL).learn(128)
    assert set(env.infos["reward_parts"]) == {"sparse", "shaped"}


def test_one_agent_learns_among_frozen_policies(make, tmp_path: Path) -> None:
    from tests.gpu_envs.train import fresh

    path = fresh.write(tmp_path / "chef.ckpt", "Overcooked-v0", memory=4)
    env = make("Overcooked-v0", 4, agent="drawn", others=[path, "random"], max_episode_steps=20)
    assert env.num_envs == 4
    model = PPO("MlpPolicy", env, batch_size=32, **SMALL).learn(256)
    lengths = [episode["l"] for episode in model.ep_info_buffer]
    assert len(lengths) >= 8 and set(lengths) == {20}


def test_wrappers_run_and_agree_with_the_own_statistics(make) -> None:
    env = make()
    with pytest.warns(UserWarning, match="already wrapped with a `Monitor`"):
        wrapped = VecMonitor(env)
    wrapped = VecFrameStack(VecNormalize(wrapped), 3)
    assert wrapped.reset().shape == (4, 12)
    seen = 0
    for _ in range(60):
        _, _, dones, infos = wrapped.step(np.zeros(4, np.int64))
        for row in dones.nonzero()[0]:
            stats = env.infos["episode_stats"]
            assert infos[row]["episode"]["r"] == stats["r"][row]
            assert infos[row]["episode"]["l"] == stats["l"][row]
            assert infos[row]["terminal_observation"].shape == (12,)
            seen += 1
    assert seen


def test_evaluation_reports_true_returns_of_normalised_rewards(make, recwarn) -> None:
    model = PPO("MlpPolicy", make(), batch_size=32, **SMALL)
    returns, lengths = evaluate_policy(
        model, VecNormalize(make()), n_eval_episodes=8, return_episode_rewards=True
    )
    assert returns == lengths and max(returns) > 5
    assert not recwarn.list


def test_attributes_and_methods_are_those_of_the_vector_env(make) -> None:
    env = make(num_envs=3)
    assert env.get_attr("render_mode") == [None] * 3
    assert env.get_attr("num_worlds", indices=[0, 2]) == [3, 3]
    env.set_attr("render_mode", "rgb_array")
    assert env.env.render_mode == "rgb_array"
    with pytest.raises(AttributeError, match="make the environment with sutton_barto_reward"):
        env.set_attr("sutton_barto_reward", True)
    with pytest.raises(ValueError, match="rows"):
        env.set_attr("render_mode", None, indices=[0])
    assert env.env_method("get_attr", "num_worlds", indices=0) == [3]
    assert not env.has_attr("action_masks") and not env.has_attr("nothing")
    assert env.env_is_wrapped(Monitor) == [True] * 3
    assert env.env_is_wrapped(gymnasium.Wrapper, indices=0) == [False]


def test_parameters_of_each_world_are_attributes(make) -> None:
    env = make(num_envs=3, varies=("mass",))
    env.reset()
    env.set_attr("mass", [1.0, 2.0, 3.0])
    assert env.get_attr("mass") == [1, 2, 3] and env.get_attr("mass", indices=[2, 0]) == [3, 1]
    env.set_attr("force", 5)
    assert env.get_attr("force", indices=1) == [5] and env.has_attr("force")
    with pytest.raises(ValueError, match=r"set_parameters\(worlds=...\)"):
        env.set_attr("mass", 2, indices=[1])
    env.env.set_parameters(mass=2, worlds=[0])
    assert env.get_attr("mass") == [2, 2, 3]


def test_options_reach_the_reset_and_must_be_equal(make) -> None:
    env = make()
    env.set_options({"low": 0.01, "high": 0.02})
    obs = env.reset()
    assert (obs >= 0.01).all() and (obs <= 0.02).all()
    assert (env.reset() < 0).any()  # options count for one reset
    env.set_options([{"low": 0.01}, {}, {}, {}])
    with pytest.raises(ValueError, match="equal for all rows"):
        env.reset()


def test_pictures_of_the_vector_env_are_tiled(make) -> None:
    class Drawing(gpu_envs.VectorEnv):
        def render(self) -> Any:
            return tuple(np.full((2, 3, 3), row, np.uint8) for row in range(self.num_envs))

    vector = Drawing("CartPole-v0", 4, device="cpu")
    vector.render_mode = "rgb_array"
    env = make(vector, 1)
    picture = env.render()
    assert picture.shape == (4, 6, 3)
    assert picture[::2, ::3, 0].tolist() == [[0, 1], [2, 3]]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"reuse": True}, "reuse must be False"),
        ({"autoreset_mode": "NextStep"}, "autoreset_mode must be 'SameStep'"),
        ({"outputs": ["episode_return", "episode_length"]}, "outputs must include final_obs"),
    ],
)
def test_what_would_train_wrongly_is_refused(make, options, message) -> None:
    with pytest.raises(ValueError, match=message):
        make(**options)


def test_vector_env_takes_no_further_keywords(make, make_vec) -> None:
    assert make(make_vec(num_envs=3), 1).num_envs == 3
    with pytest.raises(TypeError, match="a VectorEnv has num_envs"):
        make(make_vec(), 2)


def test_unmasked_learner_in_a_masked_game_is_stopped(make) -> None:
    model = PPO("MlpPolicy", make("Hanabi-v0", **HANABI), batch_size=32, **SMALL)
    with pytest.raises(ValueError, match="illegal"):
        model.learn(200)


@pytest.mark.parametrize("noop", [True, False])
def test_maskable_ppo_plays_legal_moves_and_waiting_rows_teach_the_policy_nothing(
    make, maskable, noop
) -> None:
    env = make("Hanabi-v0", noop=noop, **HANABI)
    model = maskable("MlpPolicy", env, batch_size=128, n_epochs=1, **SMALL)
    model.learn(128)  # an illegal move would have raised
    buffer = model.rollout_buffer
    masks = buffer.action_masks.reshape(-1, env.action_space.n).astype(bool)
    waiting = masks[:, : env.action_space.n - noop].sum(1) == 0
    assert 0 < waiting.sum() < len(waiting)
    model.policy.optimizer.zero_grad()
    observations = torch.as_tensor(buffer.observations.reshape(len(masks), -1)[waiting])
    actions = torch.as_tensor(buffer.actions.reshape(-1)[waiting])
    _, log_prob, entropy = model.policy.evaluate_actions(observations, actions, masks[waiting])
    (log_prob.sum() + entropy.sum()).backward()
    assert all(part.grad is None or not part.grad.any() for part in model.policy.parameters())


def test_maskable_ppo_learns_in_a_game_of_turns_among_partners(
    make, maskable, tmp_path: Path
) -> None:
    from tests.gpu_envs.train import fresh

    path = fresh.write(tmp_path / "cards.ckpt", "Hanabi-v0", HANABI, memory=4)
    env = make("Hanabi-v0", 4, agent="player_1", others=[path, "random"], **HANABI)
    model = maskable("MlpPolicy", env, batch_size=64, n_epochs=1, **SMALL).learn(256)
    masks = model.rollout_buffer.action_masks.reshape(-1, env.action_space.n)
    assert not masks[:, -1].any()  # it never has to wait
    assert model.ep_info_buffer


def test_ppo_learns_cartpole(train) -> None:
    _, mean = train("CartPole-v0", 20_000, seed=1)
    assert mean >= 195


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_ppo_solves_cartpole_within_its_budget(train, seed) -> None:
    model, mean = train("CartPole-v0", 99_840, seed)
    assert model.num_timesteps <= 100_000 and mean >= 475


def test_maskable_ppo_learns_hanabi(train, maskable) -> None:
    _, mean = train("Hanabi-v0", 20_000, seed=1, **HANABI)
    assert mean > 10 * RANDOM_HANABI


def test_learner_of_one_category_takes_several_as_one_number(make) -> None:
    with pytest.raises(AssertionError, match="MultiDiscrete"):
        DQN("MlpPolicy", make("TagContinuous-v0", 1))
    env = make("TagContinuous-v0", 1, actions="flat")
    model = DQN("MlpPolicy", env, learning_starts=50, buffer_size=500, device="cpu", seed=1)
    model.learn(200)
    action, _ = model.predict(env.reset())
    assert action.shape == (env.num_envs,)


# Roles


def test_one_policy_plays_padded_rows_of_all_roles(make, maskable, troupe) -> None:
    env = make(troupe, 8)
    assert (env.num_envs, env.action_space.n, env.observation_space.shape) == (48, 5, (9,))
    model = maskable("MlpPolicy", env, batch_size=384, n_epochs=2, **SMALL)
    model.learn(64 * 48)  # an action of another role, or an illegal one, would have raised
    masks = model.rollout_buffer.action_masks.reshape(8, 6, -1, 5).astype(bool)
    assert not masks[:, :3, :, 3:].any() and not masks[:, 5, :, 2:].any()
    assert masks.any(-1).all()  # agents that left, or are not there, have something to choose
    assert (env.infos["action_mask"].reshape(8, 6, 5)[:, 5].sum(-1) == 0).any()


@pytest.mark.parametrize("role", ["dancer", "drummer", "clown"])
def test_rows_of_one_role_train_while_others_play(make, maskable, troupe, role) -> None:
    env = make(troupe, 4, role=role, others="random")
    count = {"dancer": 3, "drummer": 2, "clown": 1}[role]
    assert env.num_envs == 4 * count
    assert int(env.action_space.n) == {"dancer": 3, "drummer": 5, "clown": 2}[role]
    model = maskable("MlpPolicy", env, batch_size=64 * count, n_epochs=1, **SMALL)
    model.learn(64 * 4 * count)
    model = PPO(
        "MlpPolicy", make("Band-v0", 4, role="drummer", others="noop"), batch_size=32, **SMALL
    )
    model.learn(128)  # of numbers, while others have categories


def test_a_role_of_shared_spaces_trains_alone(make) -> None:
    env = make("TagContinuous-v0", 2, role="tagger", others="noop", max_episode_steps=20)
    assert 0 < env.num_envs < 2 * env.env.simulator.agents_per_world
    PPO("MlpPolicy", env, batch_size=env.num_envs * 16, **SMALL).learn(32 * env.num_envs)


def test_a_role_without_a_mask_has_none(make, troupe) -> None:
    env = make(troupe, 2, role="dancer", outputs=["final_obs", "episode_return", "episode_length"])
    with pytest.raises(AttributeError, match="no action mask"):
        env.action_masks()


def test_governors_and_planner_train_for_a_few_steps(make, maskable) -> None:
    padded = make("CovidEconomy-v0", 1)
    assert padded.num_envs == 52
    governors = make("CovidEconomy-v0", 1, role="governor", others="noop")
    planner = make("CovidEconomy-v0", 2, role="planner")
    assert (governors.num_envs, planner.num_envs) == (51, 2)
    for env in (padded, governors, planner):
        small = SMALL | {"n_steps": 4}
        maskable("MlpPolicy", env, batch_size=4 * env.num_envs, n_epochs=1, **small).learn(
            4 * env.num_envs
        )


def test_several_games_share_a_batch(make) -> None:
    games = ["Sokoban-v0", "Rearrange-v0"]
    mixed = gpu_envs.MixedVectorEnv(games, 4, device="cpu", resolution="36x36", episode_seconds=1.0)
    env = make(mixed, 1)
    PPO("CnnPolicy", env, n_epochs=1, batch_size=16, **SMALL).learn(64)
    assert env.infos["game"].tolist() == [0, 0, 1, 1]
    env.reset()
    for _ in range(15):
        *_, dones, infos = env.step(np.zeros((4, 6), int))
    assert dones.all()
    assert [info["episode"]["l"] for info in infos] == [15] * 4
