"""skrl over gpu_envs: its own Gymnasium wrapper, our wrapper of many agents, and real training."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

import gpu_envs

torch = pytest.importorskip("torch", reason="needs torch")
pytest.importorskip("skrl", reason="needs skrl: pip install skrl")

from skrl import config  # noqa: E402  # after the check that it is there
from skrl.agents.torch.ppo import PPO  # noqa: E402
from skrl.envs.wrappers.torch import wrap_env  # noqa: E402
from skrl.memories.torch import RandomMemory  # noqa: E402
from skrl.models.torch import CategoricalMixin, DeterministicMixin, Model  # noqa: E402
from skrl.multi_agents.torch.ippo import IPPO  # noqa: E402
from skrl.multi_agents.torch.mappo import MAPPO  # noqa: E402
from skrl.trainers.torch import SequentialTrainer  # noqa: E402
from skrl.utils.spaces.torch import unflatten_tensorized_space  # noqa: E402

from gpu_envs.integrations.skrl import SkrlMultiAgentEnv  # noqa: E402

# Importing skrl's models switches off the checks of all of torch's distributions, for every test.
torch.distributions.Distribution.set_default_validate_args(True)

EXAMPLE = Path(__file__).parents[2] / "examples" / "skrl_ppo.py"
QUIET = {"write_interval": 0, "checkpoint_interval": 0}
# skrl 2.1.1 refuses its own defaults of these, empty dictionaries, unless they are by agent.
BY_AGENT = (
    "learning_rate_scheduler_kwargs",
    "observation_preprocessor_kwargs",
    "state_preprocessor_kwargs",
    "value_preprocessor_kwargs",
)
WORLDS = 6


@pytest.fixture
def seed():
    before = config.torch.key
    config.torch.key = 7
    yield 7
    config.torch.key = before


@pytest.fixture
def multi():
    made = []

    def make(name: str = "Overcooked-v0", worlds: int = WORLDS, **options: Any) -> Any:
        env = SkrlMultiAgentEnv(name, worlds, device="cpu", **options)
        made.append(env)
        return env

    yield make
    for env in made:
        env.close()


class Policy(CategoricalMixin, Model):
    def __init__(self, space: Any, actions: Any) -> None:
        Model.__init__(self, observation_space=space, action_space=actions, device="cpu")
        CategoricalMixin.__init__(self)
        self.net = torch.nn.Linear(self.num_observations, self.num_actions)

    def compute(self, inputs: dict[str, Any], role: str = "") -> Any:
        return self.net(inputs["observations"].float()), {}


class Value(DeterministicMixin, Model):
    def __init__(self, space: Any, actions: Any, key: str = "observations") -> None:
        Model.__init__(self, observation_space=space, action_space=actions, device="cpu")
        DeterministicMixin.__init__(self)
        self.net, self.key = torch.nn.Linear(self.num_observations, 1), key

    def compute(self, inputs: dict[str, Any], role: str = "") -> Any:
        return self.net(inputs[self.key].float()), {}


# The generic wrapper


@pytest.mark.parametrize("arrays", ["numpy", "torch"])
@pytest.mark.parametrize("make", [gpu_envs.VectorEnv, gpu_envs.make_vec, gymnasium.make_vec])
def test_auto_recognises_every_way_of_making_a_batch(make, arrays) -> None:
    prefix = "" if make is gpu_envs.VectorEnv else "gpu_envs/"
    env = wrap_env(make(f"{prefix}CartPole-v0", num_envs=3, device="cpu", arrays=arrays))
    assert type(env).__name__ == "GymnasiumWrapper"
    assert (env.num_envs, env.device.type) == (3, "cpu")
    assert env.observation_space.shape == (4,)
    assert env.action_space.n == 2
    env.close()


@pytest.mark.filterwarnings("ignore:To copy construct from a tensor")  # skrl's own
@pytest.mark.parametrize("arrays", ["numpy", "torch"])
def test_a_wrapped_batch_repeats_the_simulator(arrays, seed, make_simulator) -> None:
    env = wrap_env(gpu_envs.VectorEnv("CartPole-v0", WORLDS, device="cpu", arrays=arrays))
    simulator = make_simulator(num_worlds=WORLDS)
    generator = np.random.default_rng(0)
    found, expected = env.reset()[0], simulator.reset(seed=seed).obs
    kept = []
    for _ in range(60):
        assert np.array_equal(found.numpy(), expected.reshape(WORLDS, -1))
        kept.append((found, found.clone()))
        actions = generator.integers(2, size=WORLDS)
        found, *of_step, _ = env.step(torch.from_numpy(actions[:, None]))
        outputs = simulator.step(actions)
        expected = outputs.obs
        names = ("reward", "terminated", "truncated")
        for name, column in zip(names, of_step, strict=True):
            assert column.shape == (WORLDS, 1)
            assert np.array_equal(column.numpy(), getattr(outputs, name)), name
    assert all(torch.equal(row, copy) for row, copy in kept)  # nothing kept has changed
    assert env.render() == (None,) * WORLDS
    env.close()


def test_ppo_runs_with_the_default_settings_of_a_trainer(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)  # skrl writes runs/
    env = wrap_env(gpu_envs.VectorEnv("CartPole-v0", WORLDS, device="cpu"))
    spaces = env.observation_space, env.action_space
    models = {"policy": Policy(*spaces), "value": Value(*spaces)}
    before = models["policy"].net.weight.clone()
    agent = PPO(
        models=models,
        memory=RandomMemory(memory_size=16, num_envs=WORLDS, device="cpu"),
        observation_space=spaces[0],
        action_space=spaces[1],
        device="cpu",
    )
    trainer = SequentialTrainer(
        env=env, agents=agent, cfg={"timesteps": 200, "close_environment_at_exit": False}
    )
    trainer.train()
    assert not torch.equal(before, models["policy"].net.weight)
    assert list(tmp_path.rglob("*.pt"))  # its checkpoints
    env.close()


# Many agents


@pytest.mark.parametrize("observation", ["flat", "dict"])
def test_the_wrapper_of_many_agents_repeats_the_simulator(
    multi, seed, make_simulator, observation
) -> None:
    env = multi(max_episode_steps=20, observation=observation)
    simulator = make_simulator("Overcooked-v0", WORLDS, max_episode_steps=20)
    generator = np.random.default_rng(0)
    (found, _), outputs = env.reset(), simulator.reset(seed=seed)
    kept = []
    for _ in range(50):
        for i, agent in enumerate(env.possible_agents):
            assert found[agent].dtype is torch.float32
            assert np.array_equal(found[agent].numpy(), outputs.obs[:, i].reshape(WORLDS, -1))
            assert np.array_equal(env.state()[agent].numpy(), outputs.state)
        kept.append((found["player_0"], found["player_0"].clone()))
        actions = generator.integers(6, size=(WORLDS, 2))
        columns = torch.from_numpy(actions).unsqueeze(-1).unbind(1)
        found, *of_step, _ = env.step(dict(zip(env.possible_agents, columns, strict=True)))
        outputs = simulator.step(actions)
        for name, by_agent in zip(("reward", "terminated", "truncated"), of_step, strict=True):
            for i, agent in enumerate(env.possible_agents):
                assert by_agent[agent].shape == (WORLDS, 1)
                assert np.array_equal(by_agent[agent][:, 0].numpy(), getattr(outputs, name)[:, i])
    assert all(torch.equal(row, copy) for row, copy in kept)


def test_a_second_reset_begins_nothing_anew(multi) -> None:
    env = multi()
    env.reset()
    stay = {agent: torch.full((WORLDS, 1), 2) for agent in env.possible_agents}
    seen = env.step(stay)[0]
    assert env.reset()[0] is seen


@pytest.mark.parametrize("algorithm", [IPPO, MAPPO])
def test_agents_of_many_worlds_train(multi, algorithm, one_thread) -> None:
    env = multi(worlds=8)
    spaces = env.observation_spaces, env.action_spaces
    models = {}
    for agent in env.possible_agents:
        observed, actions = spaces[0][agent], spaces[1][agent]
        seen = (
            ("states", env.state_spaces[agent])
            if algorithm is MAPPO
            else ("observations", observed)
        )
        value = Value(seen[1], actions, key=seen[0])
        models[agent] = {"policy": Policy(observed, actions), "value": value}
    before = {agent: model["policy"].net.weight.clone() for agent, model in models.items()}
    memories = {agent: RandomMemory(memory_size=16, num_envs=8, device="cpu") for agent in models}
    settings = {name: {agent: {} for agent in models} for name in BY_AGENT}
    trained = algorithm(
        possible_agents=env.possible_agents,
        models=models,
        memories=memories,
        observation_spaces=spaces[0],
        state_spaces=env.state_spaces,
        action_spaces=spaces[1],
        device="cpu",
        cfg=settings | {"rollouts": 16, "learning_epochs": 2, "experiment": QUIET},
    )
    plan = {"timesteps": 64, "disable_progressbar": True, "close_environment_at_exit": False}
    SequentialTrainer(env=env, agents=trained, cfg=plan).train()
    for agent, weights in before.items():
        assert not torch.equal(weights, models[agent]["policy"].net.weight)


# Roles


class MaskedPolicy(Policy):
    """The policy of roles whose observations begin with a mask."""

    def compute(self, inputs: dict[str, Any], role: str = "") -> Any:
        seen = unflatten_tensorized_space(self.observation_space, inputs["observations"])
        logits, outputs = super().compute(inputs, role)
        return logits.masked_fill(seen["action_mask"] == 0, -1e9), outputs


def _policy(seen: Any, actions: Any) -> Any:
    kinds = {True: MaskedPolicy, False: Policy}
    return kinds[isinstance(seen, gymnasium.spaces.Dict)](seen, actions)


def _train_roles(env: Any, models: dict[str, Any], timesteps: int, monkeypatch: Any) -> Any:
    """Train by IPPO; the mean reward of each key in every step."""
    rewards: dict[str, list[float]] = {key: [] for key in env.possible_agents}
    step = env.step

    def noted(actions: Any) -> Any:
        results = step(actions)
        for key, reward in results[1].items():
            rewards[key].append(float(reward.mean()))
        return results

    monkeypatch.setattr(env, "step", noted)
    settings = {name: {key: {} for key in models} for name in BY_AGENT}
    settings |= {"rollouts": 25, "learning_epochs": 4, "learning_rate": 0.05}
    settings |= {"discount_factor": 0.5, "experiment": QUIET}
    memories = {
        key: RandomMemory(memory_size=25, num_envs=env.rows[key], device="cpu") for key in models
    }
    agent = IPPO(
        possible_agents=env.possible_agents,
        models=models,
        memories=memories,
        observation_spaces=env.observation_spaces,
        state_spaces=env.state_spaces,
        action_spaces=env.action_spaces,
        device="cpu",
        cfg=settings,
    )
    plan = {"timesteps": timesteps, "disable_progressbar": True, "close_environment_at_exit": False}
    SequentialTrainer(env=env, agents=agent, cfg=plan).train()
    env.check()  # with masks no action was illegal
    return rewards


def _of_role(env: Any, key: str) -> dict[str, Any]:
    spaces = env.observation_spaces[key], env.action_spaces[key]
    return {"policy": _policy(*spaces), "value": Value(*spaces)}


@pytest.mark.parametrize("masks", [False, True])
def test_agents_of_each_role_have_spaces_of_their_own(multi, troupe, seed, masks) -> None:
    env, plain = multi(troupe, masks=masks), multi(troupe, group="role")
    dancers = [f"dancer_{k}" for k in range(3)]
    assert env.possible_agents == [*dancers, "drummer_0", "drummer_1", "clown_0"]
    assert plain.possible_agents == ["dancer", "drummer", "clown"]
    assert plain.rows == {"dancer": 3 * WORLDS, "drummer": 2 * WORLDS, "clown": WORLDS}
    assert [int(space.n) for space in plain.action_spaces.values()] == [3, 5, 2]
    (seen, infos), (rows, _) = env.reset(), plain.reset()
    generator = torch.Generator().manual_seed(0)
    for _ in range(30):
        for role, sizes in {"dancer": (3, 7), "drummer": (5, 9), "clown": (2, 2)}.items():
            agents = [agent for agent in env.possible_agents if agent.startswith(role)]
            assert rows[role].shape == (len(agents) * WORLDS, sizes[1])
            for k, agent in enumerate(agents):
                skipped = sizes[0] if masks else 0
                assert torch.equal(seen[agent][:, skipped:], rows[role][k :: len(agents)])
                if skipped:
                    mask = seen[agent][:, :skipped]
                    given = infos[agent]["action_mask"]
                    assert torch.equal(mask, (given | ~given.any(-1, keepdim=True)).float())
        whole = {
            role: torch.randint(int(space.n), (plain.rows[role], 1), generator=generator)
            for role, space in plain.action_spaces.items()
        }
        counts = {"dancer": 3, "drummer": 2, "clown": 1}
        by_agent = {
            agent: whole[agent[:-2]][int(agent[-1]) :: counts[agent[:-2]]]
            for agent in env.possible_agents
        }
        seen, reward, *_, infos = env.step(by_agent)
        rows, rewards, *_ = plain.step(whole)
        assert torch.equal(reward["drummer_1"], rewards["drummer"][1::2])
    assert env.state()["clown_0"].shape == (WORLDS, 3 * 7 + 2 * 9 + 2)
    assert torch.equal(plain.state()["drummer"][::2], plain.state()["clown"])


def test_one_policy_for_each_role_trains(multi, troupe, seed, one_thread, monkeypatch) -> None:
    torch.manual_seed(1)
    env = multi(troupe, 16, group="role", masks=True)
    models = {role: _of_role(env, role) for role in env.possible_agents}
    rewards = _train_roles(env, models, 25 * 12, monkeypatch)
    first, last = (np.mean(rewards["drummer"][at]) for at in (slice(25), slice(-25, None)))
    assert last > 2.6 > first, rewards


def test_agents_may_share_the_policy_of_their_role(
    multi, troupe, seed, one_thread, monkeypatch
) -> None:
    env = multi(troupe, 8, masks=True)
    shared = {role: _of_role(env, f"{role}_0") for role in ("dancer", "drummer", "clown")}
    models = {agent: shared[agent[:-2]] for agent in env.possible_agents}
    before = {role: model["policy"].net.weight.clone() for role, model in shared.items()}
    _train_roles(env, models, 50, monkeypatch)
    for role, weights in before.items():
        assert not torch.equal(weights, shared[role]["policy"].net.weight)


def test_roles_that_share_their_spaces_have_a_policy_each(
    multi, seed, one_thread, monkeypatch
) -> None:
    env = multi("TagContinuous-v0", 4, group="role", actions="flat", max_episode_steps=10)
    assert sorted(env.possible_agents) == ["runner", "tagger"]
    models = {role: _of_role(env, role) for role in env.possible_agents}
    before = {role: model["policy"].net.weight.clone() for role, model in models.items()}
    _train_roles(env, models, 50, monkeypatch)
    for role, weights in before.items():
        assert not torch.equal(weights, models[role]["policy"].net.weight)


def test_governors_and_planner_train_for_a_few_steps(multi, seed, one_thread, monkeypatch) -> None:
    env = multi("CovidEconomy-v0", 2, group="role", masks=True)
    assert env.rows == {"governor": 102, "planner": 2}
    models = {role: _of_role(env, role) for role in env.possible_agents}
    before = {role: model["policy"].net.weight.clone() for role, model in models.items()}
    _train_roles(env, models, 25, monkeypatch)
    for role, weights in before.items():
        assert not torch.equal(weights, models[role]["policy"].net.weight)


# Training


def test_ppo_reaches_195(example, one_thread) -> None:
    assert example.train("CartPole-v0", 40_000, seed=1) >= 195


@pytest.mark.slow
@pytest.mark.parametrize("seed_of_run", range(3))
def test_ppo_reaches_475_within_100_000_steps(example, one_thread, seed_of_run) -> None:
    assert example.train("CartPole-v0", 100_000, seed=seed_of_run) >= 475
