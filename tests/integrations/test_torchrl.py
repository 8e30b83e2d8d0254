"""TorchRL's environment over gpu_envs: specs, trajectories, masks, resets, and real training."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import gpu_envs

torch = pytest.importorskip("torch", reason="needs torch")
pytest.importorskip("torchrl", reason="needs torchrl: pip install torchrl")

from tensordict.nn import TensorDictModule  # noqa: E402  # after the check that it is there
from torchrl.collectors import Collector  # noqa: E402
from torchrl.data import Bounded, Unbounded  # noqa: E402
from torchrl.envs import (  # noqa: E402
    Compose,
    GymEnv,
    GymWrapper,
    PettingZooWrapper,
    RewardSum,
    TransformedEnv,
    check_env_specs,
)
from torchrl.envs.transforms import ActionMask  # noqa: E402
from torchrl.modules import ProbabilisticActor  # noqa: E402
from torchrl.objectives import ClipPPOLoss  # noqa: E402

from gpu_envs.integrations.torchrl import TorchRLEnv  # noqa: E402
from gpu_envs.known.measures import sizes  # noqa: E402
from tests.contract.playing import every_single  # noqa: E402

EXAMPLE = Path(__file__).parents[2] / "examples" / "torchrl_ppo.py"
WORLDS = 4
SUBJECTS = {
    "cartpole": ("CartPole-v0", {}),
    "cartpole, fields": ("CartPole-v0", {"observation": "dict"}),
    "hanabi": ("Hanabi-v0", {"preset": "very_small"}),
    "hanabi, waiting agents have no action": (
        "Hanabi-v0",
        {"preset": "very_small", "player_count": 3, "noop": False},
    ),
    "overcooked": ("Overcooked-v0", {}),
    "overcooked, one chef": ("Overcooked-v0", {"player_count": 1}),
    "micro": ("Micro-v0", {"agent_count": 3, "work": 2}),
}


class ToFloat(torch.nn.Module):
    def forward(self, observation: Any) -> Any:
        return observation.float()


every_subject = pytest.mark.parametrize("subject", SUBJECTS)


@pytest.fixture
def make():
    made = []

    def make(name: str = "CartPole-v0", worlds: int = WORLDS, **options: Any) -> TorchRLEnv:
        made.append(TorchRLEnv(name, worlds, **options))
        return made[-1]

    yield make
    for env in made:
        env.close(raise_if_closed=False)


def _of_agents(data: Any) -> Any:
    return data["agents"] if "agents" in data.keys() else data


# Specs


@every_subject
@pytest.mark.parametrize("worlds", [1, WORLDS])
def test_specs_are_what_a_rollout_shows(make, subject, worlds) -> None:
    name, options = SUBJECTS[subject]
    env = make(name, worlds, max_episode_steps=7, **options)
    check_env_specs(env, seed=0, break_when_any_done="both")
    assert env.batch_size == (worlds,)
    data = env.rollout(30, break_when_any_done=False)
    assert env.observation_spec.is_in(data[:, -1].select(*env.observation_keys))
    assert data["next", "done"].any()


def test_specs_say_what_spaces_say(make) -> None:
    env = make("CartPole-v0")
    assert isinstance(env.observation_spec["observation"], Unbounded)  # the velocities are
    assert (env.action_spec.n, env.action_spec.shape) == (2, (WORLDS,))
    env = make("Overcooked-v0")
    observation = env.observation_spec["agents", "observation"]
    assert isinstance(observation, Bounded)
    assert observation.shape == (WORLDS, 2, 5, 4, 26)
    assert observation.dtype is torch.uint8
    assert (observation.space.low == 0).all()
    assert (observation.space.high == 20).all()
    parts = env.observation_spec["agents", "reward_parts"]
    assert {name: spec.shape for name, spec in parts.items()} == dict.fromkeys(
        ("sparse", "shaped"), (WORLDS, 2, 1)
    )
    assert env.observation_spec["state"].shape == (WORLDS, 522)


# TorchRL's own environments over Gymnasium's interfaces


@every_single
def test_gym_env_makes_single_environments(name) -> None:
    env = GymEnv(f"gpu_envs/{name}", **sizes(name, "alone"))
    check_env_specs(env, seed=0)
    env.close()


@pytest.mark.parametrize("mode", ["SameStep", "Disabled"])
@pytest.mark.parametrize("subject", SUBJECTS)
def test_gym_wrapper_takes_batches_with_infos_by_row(make_vec, subject, mode) -> None:
    name, options = SUBJECTS[subject]
    env = GymWrapper(make_vec(name, 3, autoreset_mode=mode, infos="rows", **options))
    check_env_specs(env, seed=0)


def test_gym_wrapper_finds_the_last_observations_of_episodes(make_vec) -> None:
    options = {"max_episode_steps": 4, "infos": "rows"}
    env = GymWrapper(make_vec("Overcooked-v0", 3, **options))
    twin = make_vec("Overcooked-v0", 3, **options)
    env.set_seed(5)
    data = env.rollout(12, break_when_any_done=False)
    assert data["next", "done"][:, 3::4].all()
    seen, _ = twin.reset(seed=5)
    for t in range(12):
        assert (data["observation"][:, t].numpy() == seen).all()
        seen, *_, infos = twin.step(data["action"][:, t].argmax(-1).numpy())
        last = infos["final_obs"] if t % 4 == 3 else seen
        assert (data["next", "observation"][:, t].numpy() == last).all()
        if t % 4 != 3:
            assert (data["next", "state"][:, t].numpy() == infos["state"]).all()


def test_gym_wrapper_finds_the_fields_of_last_observations(make_vec) -> None:
    options = {"max_episode_steps": 3, "infos": "rows"}
    fields = GymWrapper(make_vec("CartPole-v0", 3, observation="dict", **options))
    rows = GymWrapper(make_vec("CartPole-v0", 3, **options))
    seen = []
    for env in (fields, rows):
        env.set_seed(5)
        torch.manual_seed(0)
        seen.append(env.rollout(6, break_when_any_done=False)["next"])
    assert torch.equal(seen[0]["x"].flatten(), seen[1]["observation"][..., 0].flatten())


# Trajectories


def test_a_rollout_holds_fifty_distinct_observations(make) -> None:
    env = make("CartPole-v0", 1)
    env.set_seed(5)

    def policy(observation: Any) -> Any:  # pushes towards where the pole falls
        return (observation[..., 2] + observation[..., 3] > 0).long()

    data = env.rollout(50, policy)
    seen = data["observation"][0]
    assert seen.shape == (50, 4)
    assert len(torch.unique(seen, dim=0)) == 50
    assert torch.equal(data["next", "observation"][0, :-1], seen[1:])


@pytest.mark.parametrize("subject", ["cartpole", "hanabi", "overcooked", "micro"])
def test_a_rollout_with_resets_repeats_the_simulator(make, make_simulator, subject) -> None:
    name, options = SUBJECTS[subject]
    options = options | {"max_episode_steps": 17}
    env, group = make(name, **options), subject != "cartpole"
    env.set_seed(9)
    torch.manual_seed(0)
    data = env.rollout(50, break_when_any_done=False)
    agents, after = (data["agents"], data["next", "agents"]) if group else (data, data["next"])
    simulator = make_simulator(name, WORLDS, arrays="torch", autoreset_mode="Disabled", **options)
    outputs = simulator.reset(seed=9)
    axis = () if group else (0,)
    ends = 0
    for t in range(50):
        seen = (slice(None), t)
        assert torch.equal(agents["observation"][seen], outputs.obs[(slice(None), *axis)])
        if outputs.state is not None:
            assert torch.equal(data["state"][seen], outputs.state)
        if outputs.agent_active is not None:
            assert torch.equal(agents["agent_active"][seen], outputs.agent_active)
        actions = agents["action"][seen]
        outputs = simulator.step(actions.contiguous())
        last = (slice(None), *axis)
        assert torch.equal(after["observation"][seen], outputs.obs[last])
        assert torch.equal(after["reward"][seen].squeeze(-1), outputs.reward[last])
        for k, part in enumerate(simulator.reward_parts):
            found = after["reward_parts", part][seen].squeeze(-1)
            assert torch.equal(found, outputs.reward_parts[..., k])
        for flag in ("terminated", "truncated"):
            flags = getattr(outputs, flag)
            assert torch.equal(after[flag][seen].squeeze(-1), flags[last])
            assert torch.equal(data["next", flag][seen], flags.any(1, keepdim=True))
        done = (outputs.terminated | outputs.truncated).all(1)
        assert torch.equal(data["next", "done"][seen].squeeze(-1), done)
        ends += int(done.sum())
        if done.any():
            outputs = simulator.reset(mask=done)
    assert ends >= 2 * WORLDS
    simulator.check()  # no action was illegal


def test_what_a_step_returned_never_changes(make) -> None:
    env = make("Overcooked-v0", max_episode_steps=5)
    kept, data = [], env.reset()
    for _ in range(20):
        data, following = env.step_and_maybe_reset(env.rand_action(data))
        kept.append((data, data.clone()))
        data = following
    for seen, copy in kept:
        assert (seen["next"] == copy["next"]).all()


def test_the_observation_at_an_end_is_the_true_last_one(make) -> None:
    env = make("CartPole-v0", 1, max_episode_steps=3)
    env.set_seed(0)
    data = env.rollout(7, break_when_any_done=False)
    last, first = data["next", "observation"][0, 2], data["observation"][0, 3]
    assert data["next", "truncated"][0].flatten().tolist() == [False, False, True] * 2 + [False]
    assert not torch.equal(last, first)
    before, action = data["observation"][0, 2], data["action"][0, 2]
    assert torch.sign(last[1] - before[1]) == 2 * action - 1  # pushed, not placed again
    assert (first.abs() <= 0.05).all()  # where episodes begin


@pytest.mark.parametrize("subject", ["cartpole", "overcooked"])
def test_a_partial_reset_touches_its_worlds_alone(make, make_simulator, subject) -> None:
    name, options = SUBJECTS[subject]
    env = make(name, **options)
    mask = torch.tensor([False, True, True, False])
    now = env.rollout(10, break_when_any_done=False)[:, -1]["next"]
    old, other = (
        now.clone(),
        make_simulator(name, WORLDS, arrays="torch", autoreset_mode="Disabled"),
    )
    other.load(env.simulator.save())
    now["_reset"] = mask.unsqueeze(-1)
    env.reset(now)
    expected = other.reset(mask=mask).obs
    seen, before = _of_agents(now)["observation"], _of_agents(old)["observation"]
    assert torch.equal(seen, expected if name == "Overcooked-v0" else expected[:, 0])
    assert torch.equal(seen[~mask], before[~mask])
    assert (seen[mask] != before[mask]).flatten(1).any(1).all()
    assert env.simulator.save() == other.save()


def test_a_nested_reset_mask_alone_is_refused(make) -> None:
    env = make("Overcooked-v0")
    data = env.reset()
    data["agents", "_reset"] = torch.ones(WORLDS, 2, 1, dtype=torch.bool)
    with pytest.raises(ValueError, match="at the root"):
        env.reset(data)


def test_running_worlds_cannot_be_held_back(make) -> None:
    env = make()
    data = env.rand_action(env.reset())
    data["_step"] = torch.tensor([True, True, False, True]).unsqueeze(-1)
    with pytest.raises(ValueError, match="cannot pause"):
        env.step(data)


def test_rollouts_until_every_world_is_done_work_for_one_agent(make) -> None:
    env = make("CartPole-v0", 16)
    env.set_seed(1)
    data = env.rollout(500, break_when_any_done=False, break_when_all_done=True)
    assert data["next", "done"][:, -1].all()
    assert data.shape[1] < 500


# Seeds


def test_a_seed_repeats_and_a_reset_after_it_goes_on(make) -> None:
    def episodes(seed: int) -> list[Any]:
        env = make("CartPole-v0")
        env.set_seed(seed)
        return [env.reset()["observation"] for _ in range(3)]

    first, second = episodes(3), episodes(3)
    assert all(torch.equal(left, right) for left, right in zip(first, second, strict=True))
    assert not torch.equal(first[0], first[1])
    assert not torch.equal(first[0], episodes(4)[0])


def test_a_seed_is_that_of_the_simulator(make, make_simulator) -> None:
    env = make("CartPole-v0")
    env.set_seed(11)
    expected = make_simulator(arrays="torch").reset(seed=11).obs[:, 0]
    assert torch.equal(env.reset()["observation"], expected)


def test_a_seed_waits_for_a_reset_of_all_worlds(make) -> None:
    env = make("CartPole-v0")
    data = env.reset()
    env.set_seed(11)
    data["_reset"] = torch.tensor([[True], [False], [False], [False]])
    env.reset(data)
    env2 = make("CartPole-v0")
    env2.set_seed(11)
    assert torch.equal(env.reset()["observation"], env2.reset()["observation"])


@pytest.mark.parametrize("seed", [-1, 2**64, 1.5])
def test_nonsense_as_a_seed_is_refused(make, seed) -> None:
    with pytest.raises((TypeError, ValueError), match="seed must be"):
        make().set_seed(seed)


# Masks


@pytest.mark.parametrize("subject", ["hanabi", "hanabi, waiting agents have no action"])
def test_random_actions_obey_the_mask(make, subject) -> None:
    name, options = SUBJECTS[subject]
    env = make(name, **options)
    data = env.rollout(200, break_when_any_done=False)["agents"]
    assert data["action_mask"].gather(-1, data["action"].unsqueeze(-1)).all()
    assert data["action_mask"].any(-1).all()
    assert not data["action_mask"].all()
    assert torch.equal(data["agent_active"].sum(-1), torch.ones(WORLDS, 200, dtype=torch.int64))
    env.simulator.check()  # which an illegal action fails


def test_a_policy_may_read_the_mask_under_transforms(make) -> None:
    env = make("Hanabi-v0", preset="very_small")
    key = ("agents", "episode_reward")
    mask = ActionMask(("agents", "action"), ("agents", "action_mask"))
    total = RewardSum(in_keys=[("agents", "reward")], out_keys=[key], reset_keys=["_reset"])
    env = TransformedEnv(env, Compose(mask, total))
    check_env_specs(env)
    data = env.rollout(100, break_when_any_done=False)
    assert data["agents", "action_mask"].gather(-1, data["agents", "action"].unsqueeze(-1)).all()
    env.base_env.simulator.check()
    ended = data["next", "done"].squeeze(-1)
    rewards = data["next", "agents", "reward"].sum()
    assert data["next", key][ended].sum() + data["next", key][:, -1][~ended[:, -1]].sum() == rewards


# The rest of the interface


def test_a_collector_collects(make) -> None:
    env = make("Overcooked-v0", max_episode_steps=10)
    collector = Collector(
        env, env.rand_action, frames_per_batch=WORLDS * 8, total_frames=WORLDS * 24
    )
    batches = list(collector)
    assert [batch.shape for batch in batches] == [(WORLDS, 8)] * 3
    assert sum(int(batch["next", "truncated"].sum()) for batch in batches) == 2 * WORLDS
    collector.shutdown()


def test_agents_that_leave_stay_done_until_their_world_is(make) -> None:
    env = make("Micro-v0", agent_count=3, work=2)
    data = env.step(env.rand_action(env.reset()))
    now = {"terminated": torch.zeros(WORLDS, 3, dtype=torch.bool)}
    now["terminated"][0, 1] = True
    env._fates = env._fates | now  # no environment here lets an agent leave early
    data = env.step(env.rand_action(env.step_mdp(data)))["next"]
    assert data["agents", "done"].squeeze(-1)[0].tolist() == [False, True, False]
    assert not data["done"].any()
    data["_reset"] = torch.tensor([[True], [False], [False], [False]])
    assert not env.reset(data)["agents", "done"].any()


def test_float_actions_have_bounds_and_an_axis(make) -> None:
    env = make("CartPoleContinuous-v0")
    check_env_specs(env)
    assert env.action_spec.shape == (WORLDS, 1)
    assert env.action_spec.space.low.min() == -1
    assert env.rollout(5)["action"].dtype is torch.float32


def test_it_cannot_move_to_another_device(make) -> None:
    env = make()
    assert env.to("cpu") is env
    with pytest.raises(ValueError, match="cannot move to meta"):
        env.to("meta")


@pytest.mark.parametrize(
    ("option", "value"),
    [("arrays", "numpy"), ("autoreset_mode", "SameStep"), ("ends", "world"), ("reuse", True)],
)
def test_what_torchrl_fixes_cannot_be_chosen(option, value) -> None:
    with pytest.raises(ValueError, match=f"{option} is always"):
        TorchRLEnv("CartPole-v0", 2, **{option: value})


def test_closing_releases_the_simulator(make) -> None:
    env = make()
    env.reset()
    env.close()
    assert env.simulator.is_closed
    with pytest.raises(RuntimeError):
        env.reset()


def test_pettingzoo_wrapper_groups_agents_without_a_map() -> None:
    env = PettingZooWrapper(gpu_envs.parallel_env("Overcooked-v0", max_cycles=5), return_state=True)
    assert env.group_map == {"player": ["player_0", "player_1"]}
    check_env_specs(env)
    data = env.rollout(5)
    assert data["player", "observation"].shape == (5, 2, 5, 4, 26)
    env.close()


# Training


def test_a_group_of_agents_takes_ppo_updates(make, one_thread) -> None:
    def net(out: int) -> Any:
        flat = torch.nn.Flatten(-3)
        return torch.nn.Sequential(flat, torch.nn.Linear(5 * 4 * 26, out))

    env = make("Overcooked-v0", max_episode_steps=10)
    keys = {key: ("agents", key) for key in ("action", "reward", "done", "terminated")}
    seen = [("agents", "observation")]
    logits = TensorDictModule(
        torch.nn.Sequential(ToFloat(), net(6)), in_keys=seen, out_keys=[("agents", "logits")]
    )
    actor = ProbabilisticActor(
        logits,
        in_keys={"logits": ("agents", "logits")},
        out_keys=[keys["action"]],
        distribution_class=torch.distributions.Categorical,
        return_log_prob=True,
        log_prob_key=("agents", "log_prob"),
    )
    critic = TensorDictModule(
        torch.nn.Sequential(ToFloat(), net(1)), in_keys=seen, out_keys=[("agents", "state_value")]
    )
    loss = ClipPPOLoss(actor, critic)
    loss.set_keys(**keys, value=("agents", "state_value"), sample_log_prob=("agents", "log_prob"))
    loss.make_value_estimator(gamma=0.99, lmbda=0.95)
    with torch.no_grad():
        data = env.rollout(30, actor, break_when_any_done=False)
        loss.value_estimator(data, params=loss.critic_network_params)
    losses = loss(data.reshape(-1))
    sum(losses[key] for key in losses.keys() if key.startswith("loss_")).backward()
    assert data["advantage"].shape == (WORLDS, 30, 2, 1)
    weight = logits.module[1][1].weight
    assert weight.grad.abs().sum() > 0


def test_ppo_reaches_195(example, one_thread) -> None:
    mean, _ = example.train("CartPole-v0", 100_000, seed=1, stop_at=195)
    assert mean >= 195


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_ppo_reaches_475_within_100_000_steps(example, one_thread, seed) -> None:
    mean, _ = example.train("CartPole-v0", 100_000, seed=seed)
    assert mean >= 475
