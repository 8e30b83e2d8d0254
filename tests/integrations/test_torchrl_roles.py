"""Groups by role in TorchRL: specs, rollouts, agents that are not there, a policy for each role."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="needs torch")
pytest.importorskip("torchrl", reason="needs torchrl: pip install torchrl")

from tensordict.nn import TensorDictModule, TensorDictSequential  # noqa: E402  # after the check
from torchrl.data import Bounded  # noqa: E402
from torchrl.envs import ExplorationType, check_env_specs, set_exploration_type  # noqa: E402
from torchrl.modules import MaskedCategorical, ProbabilisticActor  # noqa: E402
from torchrl.objectives import ClipPPOLoss  # noqa: E402

from gpu_envs.integrations.torchrl import TorchRLEnv  # noqa: E402

EXAMPLE = Path(__file__).parents[2] / "examples" / "torchrl_roles.py"
WORLDS = 4


@pytest.fixture
def make():
    made = []

    def make(name: str, worlds: int = WORLDS, **options: Any) -> TorchRLEnv:
        made.append(TorchRLEnv(name, worlds, **options))
        return made[-1]

    yield make
    for env in made:
        env.close(raise_if_closed=False)


@pytest.fixture
def make_troupe(make, troupe):
    return lambda worlds=WORLDS, **options: make(troupe, worlds, **options)


@pytest.mark.parametrize("worlds", [1, WORLDS])
@pytest.mark.parametrize("name", ["Troupe-v0", "Band-v0"])
def test_roles_with_spaces_of_their_own_are_groups_with_specs_of_their_own(
    make, troupe, name, worlds
) -> None:
    env = make(name, worlds, max_episode_steps=9)
    check_env_specs(env, seed=0, break_when_any_done="both")
    assert env.group_map == {
        "dancer": ["dancer_0", "dancer_1", "dancer_2"],
        "drummer": ["drummer_0", "drummer_1"],
        "clown": ["clown_0"],
    }
    observed = {role: env.observation_spec[role, "observation"].shape for role in env.group_map}
    assert observed == {
        "dancer": (worlds, 3, 7),
        "drummer": (worlds, 2, 9),
        "clown": (worlds, 1, 2),
    }
    data = env.rollout(40, break_when_any_done=False)
    assert env.observation_spec.is_in(data[:, -1].select(*env.observation_keys))
    assert data["next", "done"][:, 8::9].all()


def test_each_role_acts_by_its_own_space(make, troupe) -> None:
    specs = {name: make(name).input_spec["full_action_spec"] for name in (troupe, "Band-v0")}
    assert {role: spec["action"].n for role, spec in specs[troupe].items()} == {
        "dancer": 3,
        "drummer": 5,
        "clown": 2,
    }
    band = specs["Band-v0"]
    assert band["dancer", "action"].nvec.tolist() == [[[3, 4]] * 3] * WORLDS
    assert isinstance(band["drummer", "action"], Bounded)
    assert band["drummer", "action"].shape == (WORLDS, 2, 2)


def test_groups_by_role_repeat_the_simulator(make_troupe, make_simulator) -> None:
    env, ends = make_troupe(), 0
    env.set_seed(9)
    torch.manual_seed(0)
    data = env.rollout(60, break_when_any_done=False)
    how = {"arrays": "torch", "autoreset_mode": "Disabled", "roles": "split"}
    simulator = make_simulator("Troupe-v0", WORLDS, **how)
    outputs, left = simulator.reset(seed=9), torch.zeros(WORLDS, 6, dtype=torch.bool)
    for t in range(60):
        seen, now = simulator.by_role(outputs.obs), (slice(None), t)
        for role, rows in seen.items():
            assert torch.equal(data[role, "observation"][now], rows), (role, t)
        absent = ~simulator.by_role(outputs.agent_active)["clown"]
        assert torch.equal(data["clown", "agent_active"][now], ~absent)
        outputs = simulator.step({role: data[role, "action"][now] for role in seen})
        left |= outputs.terminated | outputs.truncated
        for role, reward in simulator.by_role(outputs.reward).items():
            assert torch.equal(data["next", role, "reward"][now].squeeze(-1), reward)
        flags = simulator.by_role(left)
        done = data["next", "done"][now].squeeze(-1)
        assert torch.equal(done, (left | ~outputs.agent_active).all(1))
        for role in ("dancer", "drummer"):
            assert torch.equal(data["next", role, "done"][now].squeeze(-1), flags[role])
        # A clown that is not there ends with its world, and not before.
        clown = data["next", "clown", "done"][now].squeeze(-1)
        assert torch.equal(clown, flags["clown"] | done[:, None])
        ends += int(done.sum())
        if done.any():
            outputs = simulator.reset(mask=done)
            left[done] = False
    assert ends == 2 * WORLDS
    simulator.check()  # no action was illegal


def test_some_worlds_have_no_clown_and_every_world_ends(make_troupe) -> None:
    env = make_troupe(16, outputs=[])  # who is there is seen all the same, and not shown
    env.set_seed(0)
    first = env.reset()
    assert "agent_active" not in first["clown"].keys()
    assert "action_mask" not in first["dancer"].keys()
    is_there = env.simulator.observe().agent_active[:, 5]
    assert 0 < is_there.sum() < 16
    data = env.rollout(26, auto_reset=False, tensordict=first, break_when_any_done=False)["next"]
    assert data["done"][:, 24].all()
    assert data["truncated"][:, 24].all()
    assert not data["done"][:, :24].any()
    assert not data["clown", "done"][~is_there, :24].any()
    assert data["clown", "truncated"][~is_there, 24].all()


@pytest.mark.parametrize("is_by_role", [False, True])
def test_one_group_of_padded_rows_is_there_for_one_policy(make_troupe, is_by_role) -> None:
    env = make_troupe(group="role" if is_by_role else "agents")
    check_env_specs(env, seed=0)
    data = env.rollout(60, break_when_any_done=False)
    env.simulator.check()
    for group in env.group_map:
        if "action_mask" in data[group].keys():
            picked = data[group, "action"].unsqueeze(-1)
            assert data[group, "action_mask"].gather(-1, picked).all()
    if not is_by_role:
        assert env.group_map == {"agents": [f"dancer_{k}" for k in range(3)] + [
            "drummer_0", "drummer_1", "clown_0"]}  # fmt: skip
        mask = data["agents", "action_mask"]
        assert mask.shape == (WORLDS, 60, 6, 5)
        assert not mask[..., :3, 3:].any()  # no more than a role has, be its mask empty or not
        assert not mask[..., 5, 2:].any()
        assert mask.any(-1).all()


def test_roles_that_share_their_spaces_are_groups_where_that_is_asked_for(make) -> None:
    options = {"max_episode_steps": 12}
    whole = make("TagContinuous-v0", **options)
    env = make("TagContinuous-v0", group="role", **options)
    check_env_specs(env, seed=0, break_when_any_done="both")
    assert list(whole.group_map) == ["agents"]
    names = whole.group_map["agents"]
    numbers = {
        role: [names.index(agent) for agent in env.group_map[role]] for role in env.group_map
    }
    assert sorted(numbers["tagger"] + numbers["runner"]) == list(range(len(names)))
    for each in (whole, env):
        each.set_seed(4)
    first, data = whole.reset(), env.reset()
    for _ in range(30):
        first = whole.rand_action(first)
        for role, of_role in numbers.items():
            data[role, "action"] = first["agents", "action"][:, of_role]
        seen, following = whole.step_and_maybe_reset(first)
        cut, data = env.step_and_maybe_reset(data)
        for name in ("observation", "reward", "done", "agent_active"):
            for role, of_role in numbers.items():
                assert torch.equal(
                    cut["next", role, name], seen["next", "agents", name][:, of_role]
                )
        assert torch.equal(cut["next", "done"], seen["next", "done"])
        first = following


def test_what_groups_cannot_be_is_refused(make, troupe) -> None:
    with pytest.raises(ValueError, match="group must be 'agents', 'role' or None, got 'roles'"):
        make(troupe, group="roles")
    with pytest.raises(ValueError, match=r"Band-v0 cannot be padded.*drummer"):
        make("Band-v0", group="agents")
    for keyword in ("role", "others", "roles"):
        with pytest.raises(TypeError, match=rf"{keyword} cannot be chosen for TorchRL.*group="):
            make(troupe, **{keyword: "dancer"})
    env = make(troupe)
    data = env.reset()
    data["dancer", "_reset"] = torch.ones(WORLDS, 3, 1, dtype=torch.bool)
    with pytest.raises(ValueError, match='at the root, got it only in "dancer"'):
        env.reset(data)


def _policy_of(env: Any, group: str) -> tuple[Any, Any]:
    """A policy, masked where the group has a mask, and a value function, of a group alone."""
    size = env.observation_spec[group, "observation"].shape[-1]
    actions = env.input_spec["full_action_spec"][group, "action"].n
    key = {name: (group, name) for name in ("observation", "action_mask", "action", "logits")}
    masked = "action_mask" in env.observation_spec[group].keys()
    actor = ProbabilisticActor(
        TensorDictModule(
            torch.nn.Linear(size, actions), in_keys=[key["observation"]], out_keys=[key["logits"]]
        ),
        in_keys={"logits": key["logits"]} | ({"mask": key["action_mask"]} if masked else {}),
        out_keys=[key["action"]],
        distribution_class=MaskedCategorical if masked else torch.distributions.Categorical,
        return_log_prob=True,
        log_prob_key=(group, "log_prob"),
    )
    critic = TensorDictModule(
        torch.nn.Linear(size, 1), in_keys=[key["observation"]], out_keys=[(group, "value")]
    )
    return actor, critic


def _train(env: Any, updates: int, steps: int) -> dict[str, list[float]]:
    """Train a policy for each group by PPO; the mean reward of who was there, by update."""
    torch.manual_seed(0)
    env.set_seed(0)
    learners = {}
    for group in env.group_map:
        actor, critic = _policy_of(env, group)
        loss = ClipPPOLoss(
            actor, critic, entropy_coeff=0.0, normalize_advantage=True,
            normalize_advantage_exclude_dims=(-2,),
        )  # fmt: skip
        keys = {key: (group, key) for key in ("action", "reward", "done", "terminated", "value")}
        keys |= {"advantage": (group, "advantage"), "value_target": (group, "value_target")}
        loss.set_keys(**keys, sample_log_prob=(group, "log_prob"))
        loss.make_value_estimator(gamma=0.5, lmbda=0.9)
        learners[group] = loss, torch.optim.Adam(loss.parameters(), 0.05)
    policy = TensorDictSequential(*(loss.actor_network for loss, _ in learners.values()))
    rewards: dict[str, list[float]] = {group: [] for group in learners}
    for _ in range(updates):
        with torch.no_grad(), set_exploration_type(ExplorationType.RANDOM):
            data = env.rollout(steps, policy, break_when_any_done=False)
        for group, (loss, optimiser) in learners.items():
            there = data[group, "agent_active"]
            rewards[group].append(float(data["next", group, "reward"].squeeze(-1)[there].mean()))
            with torch.no_grad():
                loss.value_estimator(data, params=loss.critic_network_params)
            for _ in range(4):
                losses = loss(data)
                optimiser.zero_grad()
                sum(losses[key] for key in losses.keys() if key.startswith("loss_")).backward()
                optimiser.step()
    env.simulator.check()
    return rewards


def test_a_policy_for_each_role_trains(make_troupe, one_thread) -> None:
    rewards = _train(make_troupe(16), updates=12, steps=25)
    assert rewards["dancer"][-1] > 1.3 * rewards["dancer"][0], rewards
    assert rewards["drummer"][-1] > 2.75 > rewards["drummer"][0], rewards  # at most 2.84


def test_governors_and_planner_train_for_a_few_steps(make, one_thread) -> None:
    env = make("CovidEconomy-v0", 2)
    check_env_specs(env, seed=0)
    assert {group: len(agents) for group, agents in env.group_map.items()} == {
        "governor": 51,
        "planner": 1,
    }
    rewards = _train(env, updates=2, steps=8)
    assert len(rewards["governor"]) == len(rewards["planner"]) == 2


def test_the_example_trains_every_role(example, troupe, one_thread) -> None:
    rewards = example.train(troupe, updates=2, seed=0, steps=30)
    assert {role: len(each) for role, each in rewards.items()} == {
        "dancer": 2,
        "drummer": 2,
        "clown": 2,
    }
