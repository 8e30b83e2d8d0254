"""The heart of the trainer: advantages, rollouts, losses, learners of several kinds."""

from __future__ import annotations

import copy
from typing import Any

import pytest

pytest.importorskip("torch", reason="needs gpu_envs[train]")

import torch as t
from gymnasium.spaces import MultiDiscrete

from gpu_envs import VectorEnv
from gpu_envs.train import worlds
from gpu_envs.train.config import Config, make
from gpu_envs.train.ppo import Trainer, advantages, backward_sums
from gpu_envs.train.ranks import Ranks
from tests.gpu_envs.train.random_rollouts import in_many_sizes, random_rollout
from tests.gpu_envs.train.small_runs import Half


def trainer_of(env: str, count: int = 8, **choices: Any) -> Trainer:
    config = make(env, num_envs=count, **{"rollout": 16, "minibatch": 64, "epochs": 2, **choices})
    return trainer_over(
        VectorEnv(env, count, device="cpu", arrays="torch", **config.parameters), config
    )


def trainer_over(env: VectorEnv, config: Config) -> Trainer:
    trainer = Trainer(config, env, Ranks("cpu"), print)
    trainer.start()
    return trainer


# ---- advantages


def plain_advantages(
    reward: Any, value: Any, decides: Any, ended: Any, gamma: float, trace: float
) -> tuple[t.Tensor, t.Tensor]:
    """Follow each decision of each row to the next, as the text says it."""
    steps, rows = reward.shape
    result = t.zeros(steps, rows, dtype=t.float64)
    known = t.zeros(steps, rows, dtype=t.bool)
    for row in range(rows):
        for step in reversed(range(steps)):
            if not decides[step, row]:
                continue
            total, at = 0.0, step
            while True:
                total += float(reward[at, row])
                if ended[at, row]:
                    following, beyond, is_known = 0.0, 0.0, True
                    break
                at += 1
                if decides[at, row]:
                    following, is_known = float(value[at, row]), True
                    beyond = float(result[at, row]) if at < steps else 0.0
                    break
                if at == steps:
                    following, beyond, is_known = 0.0, 0.0, False
                    break
            if is_known:
                surprise = total + gamma * following - float(value[step, row])
                result[step, row] = surprise + gamma * trace * beyond
            known[step, row] = is_known
    return result, known


@in_many_sizes
def test_advantages_equal_those_of_following_each_decision(
    steps: int, share: float, gamma: float
) -> None:
    reward, value, decides, ended = random_rollout(steps, share)
    found, known = advantages(reward, value, decides, ended, gamma, 0.8)
    wanted, wanted_known = plain_advantages(reward, value, decides, ended, gamma, 0.8)
    assert t.equal(known, wanted_known)
    assert t.allclose(found[known].double(), wanted[known], atol=1e-5)


def test_sums_from_behind_equal_a_loop() -> None:
    keep, add = t.rand(13, 4, dtype=t.float64), t.randn(13, 4, dtype=t.float64)
    wanted, last = t.empty_like(add), t.zeros(4, dtype=t.float64)
    for step in reversed(range(13)):
        wanted[step] = last = keep[step] * last + add[step]
    assert t.allclose(backward_sums(keep, add), wanted)


def test_what_was_cut_short_gets_the_value_of_its_last_observation() -> None:
    trainer = trainer_of("CartPole-v0", env_limit := 8, gamma=0.9)
    trainer.env.close()
    env = VectorEnv("CartPole-v0", env_limit, device="cpu", arrays="torch", max_episode_steps=10)
    trainer = trainer_over(env, trainer.config)
    trainer._play()
    r = trainer.rollout
    cut = r.truncated & ~r.terminated
    assert cut.any() and r.terminated.any()
    reward, value = r.reward.clone(), t.zeros(r.length + 1, r.rows)
    learner = trainer.learners[0]
    learner.values(value, reward)
    with t.no_grad():
        wanted = r.reward[cut] + 0.9 * learner.policy.value(r.final_obs[cut])
        assert t.allclose(value[-1], learner.policy.value(r.obs[-1]))
    assert t.allclose(reward[cut], wanted)
    assert t.equal(reward[~cut], r.reward[~cut])


# ---- rollouts


@pytest.mark.parametrize("memory", [0, 4])
def test_staggered_worlds_are_at_all_parts_of_their_episodes(memory: int) -> None:
    # Episodes of 10 steps, rollouts of 4: worlds begin at steps 0, 4 and 8.
    choices: dict[str, Any] = {"rollout": 4, "memory": memory, "learning_rate": 0.0}
    choices |= {"parameters": {"max_episode_steps": 10, "agent_count": 2}, "stagger": True}
    config = make("Micro-v0", num_envs=6, minibatch=64, hidden="8", **choices)
    trainer = trainer_over(worlds.for_training(config, "cpu", 6), config)
    r, agents, ended = trainer.rollout, trainer.rollout.agents, []
    for update in range(8):
        trainer.iterate()
        ended += list(r.ended.view(4, 6, agents).all(2))
        if memory and update in (1, 2):  # two worlds had just been reset where the rollout began
            assert r.memory is not None
            began = r.begins[0].view(6, agents).all(1)
            assert began.tolist() == [world // 2 == update for world in range(6)]
            assert not r.memory[0, r.begins[0]].any() and r.memory[0, ~r.begins[0]].any()
    ends = [[step + 1 for step, over in enumerate(ended) if over[world]] for world in range(6)]
    assert ends == [list(range(first, 33, 10)) for first in (10, 10, 14, 14, 18, 18)]


def test_worlds_that_begin_anew_with_other_ranks_are_staggered_again() -> None:
    choices: dict[str, Any] = {"rollout": 4, "learning_rate": 0.0, "stagger": True}
    choices |= {"parameters": {"max_episode_steps": 10, "agent_count": 2}}
    config = make("Micro-v0", num_envs=6, minibatch=64, hidden="8", **choices)
    first, second = (trainer_over(worlds.for_training(config, "cpu", 6), config) for _ in range(2))
    for _ in range(5):
        first.iterate()
    state = first.state()
    assert state is not None and state["began"] == 0
    assert not second.load(state | {"worlds": state["worlds"] * 2})  # those of two ranks
    ended = []
    for _ in range(5):
        second.iterate()
        ended += list(second.rollout.ended.view(4, 6, -1).all(2))
    firsts = [[over[world] for over in ended].index(True) + 1 for world in range(6)]
    assert firsts == [10, 10, 14, 14, 18, 18]
    again = second.state()
    assert again is not None and (again["updates"], again["began"]) == (10, 5)
    # Who goes on with as many ranks goes on where the worlds were.
    assert first.load(again) and first.began == 5


def test_only_worlds_with_a_time_limit_are_staggered() -> None:
    config = make("CartPole-v0", stagger=True, parameters={"max_episode_steps": 0})
    with pytest.raises(ValueError, match="--stagger needs an environment with a time limit"):
        trainer_over(worlds.for_training(config, "cpu", 2), config)


def test_rollouts_continue_each_other_and_hold_what_the_simulator_says() -> None:
    trainer = trainer_of("CartPole-v0")
    twin = VectorEnv("CartPole-v0", 8, device="cpu", arrays="torch")
    obs, _ = twin.reset(seed=trainer.config.seed)
    for _ in range(3):
        trainer._play()
        r = trainer.rollout
        for step in range(r.length):
            assert t.equal(r.obs[step], obs)
            obs, reward, terminated, truncated, infos = twin.step(r.action[step])
            assert t.equal(r.reward[step], reward)
            assert t.equal(r.terminated[step], terminated)
            assert t.equal(r.truncated[step], truncated)
            assert t.equal(r.final_obs[step], infos["final_obs"])
        trainer.clock += 1


def test_stored_probabilities_are_those_of_the_policy() -> None:
    trainer = trainer_of("Hanabi-v0", parameters={"preset": "very_small"})
    trainer._play()
    r, learner = trainer.rollout, trainer.learners[0]
    with t.no_grad():
        outputs, value, _ = learner.policy(r.obs[:-1].flatten(0, 1), r.mask[:-1].flatten(0, 1))
    log_prob = learner.actions.log_prob(outputs, r.action.flatten())
    assert t.allclose(log_prob, r.log_prob.flatten(), atol=1e-6)
    assert t.allclose(value, r.value.flatten(), atol=1e-6)
    assert (r.mask[:-1].gather(-1, r.action.unsqueeze(-1)) == 1).all()
    trainer.env.check()  # nothing illegal was ever played


def test_only_decisions_are_learned_from() -> None:
    trainer = trainer_of("Hanabi-v0", 16, parameters={"preset": "very_small"})
    seen: list[t.Tensor] = []
    learner = trainer.learners[0]
    step = learner.step
    learner.step = lambda index: (seen.append(index), step(index))[1]  # type: ignore[method-assign]
    results = trainer.iterate()
    r = trainer.rollout
    chosen = t.cat(seen).unique()
    assert r.active[:-1].flatten()[chosen].all()
    # One of two players is on turn: half of the rows, but for what leads beyond the rollout.
    assert 0.4 * r.reward.numel() < results["charts/samples"] <= 0.5 * r.reward.numel()
    assert trainer.steps == 16 * 16


def test_a_second_rank_s_rows_are_the_rest_of_one_process_s() -> None:
    whole = trainer_of("CartPole-v0", 64)
    whole._play()
    for first in (0, 32):
        env = VectorEnv("CartPole-v0", 32, device="cpu", arrays="torch", first_world=first)
        half = Trainer(whole.config, env, Half(first, 32), print)
        half.start()
        half._play()
        for name in ("obs", "action", "log_prob", "value", "reward"):
            mine, all_ = getattr(half.rollout, name), getattr(whole.rollout, name)
            assert t.equal(mine, all_[:, first : first + 32]), name


# ---- losses


def test_gradient_is_that_of_the_published_loss() -> None:
    trainer = trainer_of("CartPole-v0", clip=0.01, entropy=0.01, learning_rate=0.01)
    trainer.iterate()
    trainer._play()
    trainer._learn()
    learner, r = trainer.learners[0], trainer.rollout
    index = t.arange(0, 128, 3)
    learner.gradient(index)
    found = [p.grad.clone() for p in learner.parameters]
    policy = copy.deepcopy(learner.policy)
    policy.zero_grad()
    logits, value, _ = policy(r.obs[:-1].flatten(0, 1)[index])
    chosen = t.distributions.Categorical(logits=logits)
    ratio = (chosen.log_prob(r.action.flatten()[index]) - r.log_prob.flatten()[index]).exp()
    gain = learner.advantage.flatten()[index]
    policy_loss = -t.minimum(ratio * gain, ratio.clamp(0.99, 1.01) * gain).mean()
    value_loss = (value - learner.target.flatten()[index]).square().mean()
    assert ((ratio - 1).abs() > 0.01).any()
    (policy_loss + 0.5 * value_loss - 0.01 * chosen.entropy().mean()).backward()
    for mine, wanted in zip(found, policy.parameters(), strict=True):
        assert t.allclose(mine, wanted.grad, atol=1e-5)


def test_advantages_are_normalised_over_the_samples_alone() -> None:
    trainer = trainer_of("Hanabi-v0", 16, parameters={"preset": "very_small"})
    trainer.iterate()
    learner = trainer.learners[0]
    gain = learner.advantage[learner.known]
    assert float(gain.mean()) == pytest.approx(0, abs=1e-5)
    assert float(gain.std(correction=0)) == pytest.approx(1, abs=1e-4)


def test_a2c_is_one_unclipped_step_on_everything() -> None:
    trainer = trainer_of("CartPole-v0", algorithm="a2c", epochs=5, minibatch=32)
    calls: list[int] = []
    learner = trainer.learners[0]
    step = learner.step
    learner.step = lambda index: (calls.append(len(index)), step(index))[1]  # type: ignore[method-assign]
    results = trainer.iterate()
    assert calls == [8 * 16]
    assert results["losses/approx_kl"] == pytest.approx(0, abs=1e-6)


def test_value_scale_follows_the_returns_and_leaves_values_alone() -> None:
    trainer = trainer_of("CartPole-v0", normalize_values=True)
    for _ in range(30):
        trainer.iterate()
    policy, r = trainer.learners[0].policy, trainer.rollout
    assert float(policy.scale.mean) > 3 and float(policy.scale.deviation) > 1
    # What a rollout keeps is in the units of rewards, what is learned towards is not.
    before = r.value.clone()
    trainer._play_steps()
    assert float(r.value.mean()) == pytest.approx(float(before.mean()), rel=0.5)
    learner = trainer.learners[0]
    units = learner.target * policy.scale.deviation + policy.scale.mean
    assert float(units.mean()) == pytest.approx(float(r.value.mean()), rel=0.5)
    assert float(learner.target.mean()) < 0.5 * float(r.value.mean())


# ---- memory


def test_memory_is_lost_between_episodes_and_only_there() -> None:
    trainer = trainer_of("CartPole-v0", memory=8)
    trainer._play()
    r, policy = trainer.rollout, trainer.learners[0].policy
    assert r.ended.any()
    with t.no_grad():
        memory = t.zeros(8, 8)
        for step in range(r.length):
            assert t.allclose(r.memory[step], memory, atol=1e-6)
            assert t.equal(r.begins[step], (memory == 0).all(-1)) or step == 0
            memory = policy(r.obs[step], None, memory)[2] * ~r.ended[step].unsqueeze(-1)
    assert t.equal(r.begins[1:], r.ended)


def test_sequences_give_what_the_rollout_gave() -> None:
    trainer = trainer_of("CartPole-v0", memory=8)
    for _ in range(2):
        trainer._play()
        trainer.clock += 1
    r, learner = trainer.rollout, trainer.learners[0]
    with t.no_grad():
        outputs, value = learner.policy.sequence(r.obs[:-1], r.memory[0], r.begins[:-1])
        outputs = learner.actions.normalised(outputs, None)
    assert t.allclose(learner.actions.log_prob(outputs, r.action), r.log_prob, atol=1e-5)
    assert t.allclose(value, r.value, atol=1e-5)


def test_memory_lasts_while_others_of_the_world_go_on() -> None:
    trainer = trainer_of("Hanabi-v0", 4, memory=4, parameters={"preset": "very_small"})
    r = trainer.rollout
    r.memory[1] = 1
    r.ended[0] = t.tensor([1, 0, 0, 0, 1, 1, 0, 1], dtype=t.bool)
    trainer.stepper.end(0)
    assert r.begins[1].tolist() == [False] * 4 + [True] * 2 + [False] * 2
    r.memory[2], r.ended[1] = 1, t.tensor([0, 1, 0, 0, 0, 0, 1, 0], dtype=t.bool)
    trainer.stepper.end(1)
    assert r.begins[2].tolist() == [True] * 2 + [False] * 4 + [True] * 2
    assert r.memory[2][:, 0].tolist() == [0, 0, 1, 1, 1, 1, 0, 0]


@pytest.mark.parametrize("env", ["CartPole-v0", "Hanabi-v0", "Overcooked-v0"])
def test_policies_with_memory_learn_every_kind_of_game(env: str) -> None:
    parameters = {"preset": "very_small"} if env == "Hanabi-v0" else {}
    trainer = trainer_of(env, memory=8, parameters=parameters)
    before = [p.clone() for p in trainer.learners[0].parameters]
    results = trainer.iterate()
    assert all(v == v for n, v in results.items() if n.startswith("losses"))
    after = trainer.learners[0].parameters
    assert all(not t.equal(a, b) for a, b in zip(before, after, strict=True))


# ---- several policies


def test_each_agent_s_policy_sees_and_moves_its_own_rows_alone() -> None:
    trainer = trainer_of("Overcooked-v0", policies="agent")
    trainer._play()
    r = trainer.rollout
    assert [x.name for x in trainer.learners] == ["player_0", "player_1"]
    with t.no_grad():
        for number, learner in enumerate(trainer.learners):
            rows = t.arange(number, 16, 2)
            assert t.equal(learner.rows, rows)
            outputs, value, _ = learner.policy(r.obs[3, rows])
            assert t.allclose(value, r.value[3, rows], atol=1e-6)
            log_prob = learner.actions.log_prob(outputs, r.action[3, rows])
            assert t.allclose(log_prob, r.log_prob[3, rows], atol=1e-6)
    # What one learns from is its own.
    first, second = trainer.learners
    trainer._learn()
    assert not first.known[:, 1::2].any() and not second.known[:, 0::2].any()
    assert first.known[:, 0::2].all() and second.known[:, 1::2].all()


def test_rows_of_earlier_policies_are_not_learned_from() -> None:
    trainer = trainer_of("Overcooked-v0", past_worlds=0.5, past_every=1)
    results = trainer.iterate()
    learner = trainer.learners[0]
    assert learner.past is not None
    # In every other world, one of two agents, in turn.
    assert learner.past.positions.tolist() == [3, 6, 11, 14]
    assert results["charts/samples"] == 12 * 16
    assert not learner.known[:, [3, 6, 11, 14]].any()
    # The earlier policy plays, not the present one.
    for parameter in learner.past.policy.parameters():
        parameter.zero_()
    with t.no_grad():
        learner.past.policy.actor.bias[5] = 50.0
        trainer._play_steps()
    assert (trainer.rollout.action[:, [3, 6, 11, 14]] == 5).all()
    assert not (trainer.rollout.action[:, [2, 7, 10, 15]] == 5).all()


# ---- actions of other kinds


class TwoHeads(VectorEnv):
    """CartPole whose direction is the sum of two choices, 0..1 and 0..2, modulo 2."""

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        self.single_action_space = MultiDiscrete([2, 3])
        inner = self.simulator.step_arrays
        self.simulator.step_arrays = lambda action, *rest: inner(action.sum(-1) % 2, *rest)  # type: ignore[method-assign]


def mean_length(trainer: Trainer, updates: int) -> float:
    """Return steps per episode that ended in some updates: a number where none ended, too."""
    steps, episodes = 0, 0
    for _ in range(updates):
        trainer.iterate()
        steps += trainer.rollout.ended.numel()
        episodes += int(trainer.rollout.ended.sum())
    return steps / max(episodes, 1)


def assert_poles_stay_up_longer(trainer: Trainer) -> None:
    assert mean_length(trainer, 1) < 60  # about 30 at random, counted from the first reset
    mean_length(trainer, 16)
    assert mean_length(trainer, 3) > 100


def test_several_choices_at_once_learn() -> None:
    config = make("CartPole-v0", num_envs=32, rollout=64, minibatch=512)
    trainer = trainer_over(TwoHeads("CartPole-v0", 32, device="cpu", arrays="torch"), config)
    assert_poles_stay_up_longer(trainer)
    assert trainer.rollout.action.shape == (64, 32, 2)


def test_forces_learn() -> None:
    trainer = trainer_of("CartPoleContinuous-v0", 32, rollout=64, minibatch=512, epochs=8)
    assert_poles_stay_up_longer(trainer)


# ---- going on


@pytest.mark.parametrize(
    ("env", "choices"),
    [
        ("CartPole-v0", {}),
        ("CartPole-v0", {"memory": 8}),
        ("CartPole-v0", {"optimizer": "lamb", "normalize_values": True}),
        ("Hanabi-v0", {"parameters": {"preset": "very_small"}}),
        ("Overcooked-v0", {"policies": "agent", "past_worlds": 0.5, "past_every": 1}),
        ("Overcooked-v0", {"reward_weights": "shaped=1..0@0.5", "total_steps": 1024}),
    ],
)
def test_a_loaded_state_goes_on_as_the_run_would_have(env: str, choices: dict[str, Any]) -> None:
    trainer = trainer_of(env, **choices)
    for _ in range(3):
        trainer.iterate()
    state = copy.deepcopy(trainer.state())
    wanted = [trainer.iterate() for _ in range(2)]
    other = trainer_of(env, **choices)
    assert other.load(state)
    found = [other.iterate() for _ in range(2)]
    assert str(found) == str(wanted)  # NaN where no episode ended
    for mine, theirs in zip(trainer.learners, other.learners, strict=True):
        for name, tensor in mine.policy.state_dict().items():
            assert t.equal(tensor, theirs.policy.state_dict()[name]), name


def test_what_a_captured_gradient_reads_stays_where_it_is() -> None:
    trainer = trainer_of("Hanabi-v0", memory=4, parameters={"preset": "very_small"})
    learner = trainer.learners[0]

    def places() -> list[int]:
        read = [learner.known, learner.advantage, learner.target, learner.entropy_weight]
        read += [*learner.parameters, learner.flat.gradient, *learner.policy.buffers()]
        read += learner.optimiser.state_dict().values()
        read += [p.grad for p in learner.parameters]
        return [tensor.data_ptr() for tensor in read]

    before = places()
    for _ in range(2):
        trainer.iterate()
    learner.load(copy.deepcopy(learner.state()))
    trainer.iterate()
    assert places() == before


def test_no_step_of_a_rollout_waits_for_the_device_or_leaves_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    trainer = trainer_of("Hanabi-v0", memory=4, parameters={"preset": "very_small"})

    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("a rollout looked at a value")

    names = "item cpu numpy tolist nonzero __bool__ __int__ __float__ __array__".split()
    for name in names:
        monkeypatch.setattr(t.Tensor, name, refuse)
    monkeypatch.setattr(t, "nonzero", refuse)
    trainer._play_steps()
    trainer.learners[0].gradient(t.arange(4))
    trainer.learners[0].apply()
