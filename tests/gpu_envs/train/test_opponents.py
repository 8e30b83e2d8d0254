"""Agents without a policy act at random; what a network may see: scaled rows, and the state."""

from __future__ import annotations

import copy
import itertools
import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("torch", reason="needs gpu_envs[train]")

import numpy as np
import torch as t
from gymnasium import spaces

from gpu_envs import VectorEnv
from gpu_envs.policies import teams
from gpu_envs.policies.distributions import Categorical, Distribution, of_space
from gpu_envs.policies.layers import RowShape
from gpu_envs.policies.networks import Inputs, Policy
from gpu_envs.policies.noise import ACTIONS, Noise
from gpu_envs.policies.sharing import groups
from gpu_envs.policies.teams import NOBODY
from gpu_envs.train import evaluate, match, worlds
from gpu_envs.train.config import Config, make
from gpu_envs.train.ppo import Trainer
from gpu_envs.train.ranks import Ranks
from gpu_envs.train.self_play import Seats
from tests.gpu_envs.train import fresh

CPU = t.device("cpu")
ROLES = ["hider_0", "hider_1", "seeker_0", "seeker_1", "seeker_2"]
HIDERS, SEEKERS = [0, 1, 2], [3, 4]  # of a world of HideSeek-v0
HEADS = (11, 11, 11, 2, 2)


def trainer_of(env: str = "HideSeek-v0", count: int = 2, **choices: Any) -> Trainer:
    small = {"rollout": 8, "minibatch": 16, "epochs": 2, "hidden": "8", "share": False}
    config = make(env, num_envs=count, **{**small, **choices})
    trainer = Trainer(config, worlds.for_training(config, "cpu", count), Ranks("cpu"), print)
    trainer.start()
    return trainer


def noise(rows: int, columns: int, step: int = 0) -> t.Tensor:
    return Noise(5, ACTIONS, CPU).uniform(t.tensor(step), 1, 0, rows, columns)[0]


def is_even(counts: t.Tensor) -> bool:
    expected = float(counts.sum()) / len(counts)
    chi_square = float(((counts - expected) ** 2).sum()) / expected
    return chi_square < len(counts) - 1 + 5 * math.sqrt(2 * (len(counts) - 1))


# ---- who learns


def test_only_the_role_that_learns_has_policies() -> None:
    assert groups("shared", ROLES, "hider") == {"hider": [0, 1]}
    assert groups("role", ROLES, "seeker") == {"seeker": [2, 3, 4]}
    assert groups("agent", ROLES, "hider") == {"hider_0": [0], "hider_1": [1]}
    assert groups("shared", ["player_0", "player_1"], "player") == {"player": [0, 1]}
    names = (Config(env="Game-v0", learn="seeker", policies="agent"), ROLES)
    assert teams.agents_of(*names) == [NOBODY, NOBODY, 0, 1, 2]


@pytest.mark.parametrize("policies", ["shared", "role", "agent"])
@pytest.mark.parametrize("learn", ["", "hider", "seeker"])
def test_every_row_has_a_policy_or_acts_at_random(policies: str, learn: str) -> None:
    env: Any = SimpleNamespace(agents_per_world=5, agent_names=ROLES, num_worlds=3)
    config = Config(env="Game-v0", num_envs=3, policies=policies, learn=learn)
    seats = Seats(config, env, CPU, 0)
    rows = [rows for _, _, rows, _ in seats.learners()]
    rest = seats.without_policy()
    if learn == "":
        assert rest is None
        return
    assert rest is not None
    everybody = t.cat([part for part in (*rows, rest) if part is not None])
    assert t.equal(everybody.sort().values, t.arange(15))
    assert {ROLES[row % 5].rpartition("_")[0] for row in rest.tolist()} == {
        "seeker" if learn == "hider" else "hider"
    }


def test_a_role_that_there_is_not_is_refused_with_those_there_are() -> None:
    with pytest.raises(ValueError, match=r"--learn\) 'sekeer'; did you mean 'seeker'\? \(valid: h"):
        groups("role", ROLES, "sekeer")
    with pytest.raises(ValueError, match=r"unknown role .*valid: hider, seeker"):
        trainer_of(learn="player")
    with pytest.raises(ValueError, match="--past-worlds and --learn exclude each other"):
        trainer_of(learn="hider", past_worlds=0.5)


# ---- what is done at random


@pytest.mark.parametrize("counts", [(4,), HEADS])
def test_all_choices_are_as_likely(counts: tuple[int, ...]) -> None:
    kind = Categorical(counts, is_single=len(counts) == 1)
    drawn = kind.uniform(noise(20_000, kind.draws), None).view(20_000, -1)
    for head, count in zip(drawn.T, counts, strict=True):
        assert is_even(head.bincount(minlength=count)) and int(head.max()) == count - 1


def test_only_legal_choices_are_made_and_each_is_as_likely() -> None:
    mask = t.tensor([1, 0, 1, 1, 0], dtype=t.int8).expand(9_000, 5)
    counts = Categorical((5,), is_single=True).uniform(noise(9_000, 1), mask).bincount(minlength=5)
    assert counts[1] == counts[4] == 0 and is_even(counts[[0, 2, 3]])


def test_bounded_numbers_are_even_and_others_normal() -> None:
    low, high = (np.array([a, b], dtype=np.float32) for a, b in ((-2, -np.inf), (6, np.inf)))
    kind = of_space(spaces.Box(low, high), CPU)
    drawn = kind.for_env(kind.uniform(noise(20_000, kind.draws), None))
    assert drawn.shape == (20_000, 2)
    assert drawn[:, 0].min() >= -2 and drawn[:, 0].max() <= 6
    assert is_even(((drawn[:, 0] + 2) / 8 * 10).long().clamp(max=9).bincount(minlength=10))
    assert abs(float(drawn[:, 1].mean())) < 0.05 and abs(float(drawn[:, 1].std()) - 1) < 0.05


def test_a_single_opponent_takes_legal_actions_of_its_own() -> None:
    kind = of_space(spaces.Discrete(6), CPU)
    mask = np.array([0, 1, 1, 0, 1, 1], dtype=np.int8)

    def players(kind: Distribution) -> list[Any]:
        nobody: Any = SimpleNamespace(actions=kind)
        return teams.Team([nobody], [NOBODY, NOBODY], {}).players()

    def taken(agent: int) -> list[Any]:
        player = players(kind)[agent]
        return [player(np.zeros(1), mask) for _ in range(50)]

    assert all(isinstance(action, int) for action in taken(0))
    assert set(taken(0)) == {1, 2, 4, 5}
    assert taken(0) == taken(0) != taken(1)
    several = players(of_space(spaces.MultiDiscrete(HEADS), CPU))[0](np.zeros(1), None)
    assert several.shape == (5,)


# ---- training


@pytest.mark.parametrize("memory", [0, 4])
def test_rows_without_policy_act_evenly_and_are_not_learned_from(memory: int) -> None:
    trainer = trainer_of(count=32, learn="seeker", rollout=32, memory=memory)
    results = trainer.iterate()
    r, (learner,) = trainer.rollout, trainer.learners
    rows = t.arange(160).view(32, 5)
    assert learner.name == "seeker" and t.equal(learner.rows, rows[:, SEEKERS].flatten())
    assert results["charts/samples"] == 32 * 32 * 2
    hiders = rows[:, HIDERS].flatten()
    assert not learner.known[:, hiders].any()
    assert (r.log_prob[:, hiders] == 0).all() and (r.value[:, hiders] == 0).all()
    taken = r.action[:, hiders].flatten(0, 1)
    for head, count in zip(taken.T, HEADS, strict=True):
        assert is_even(head.bincount(minlength=count))
    # They are a function of seed, step and row alone.
    drawn = Noise(1, ACTIONS, CPU).uniform(t.tensor(7), 1, 0, 160, 5)[0]
    assert t.equal(r.action[7, hiders], trainer.actions.uniform(drawn[hiders], None))


def test_what_others_were_paid_changes_nothing() -> None:
    weights = []
    for extra in (0.0, 100.0):
        trainer = trainer_of(learn="hider")
        plain = trainer.rewards[0].of

        def paid(*arguments: Any, plain: Any = plain, extra: float = extra) -> t.Tensor:
            reward = plain(*arguments).view(-1, 2, 5)
            reward[..., SEEKERS] += extra
            return reward.flatten(1)

        trainer.rewards[0].of = paid  # type: ignore[method-assign]
        trainer.iterate()
        weights.append(t.cat([p.flatten() for p in trainer.learners[0].parameters]))
    assert t.equal(*weights)


@pytest.mark.parametrize("choices", [{}, {"policies": "agent"}, {"critic_state": True}])
def test_a_loaded_state_goes_on_as_the_run_would_have(choices: dict[str, Any]) -> None:
    choices = {"normalize_observations": True, "share": False, **choices}
    trainer = trainer_of(learn="hider", **choices)
    for _ in range(2):
        trainer.iterate()
    state = copy.deepcopy(trainer.state())
    other = trainer_of(learn="hider", **choices)
    assert state is not None and other.load(state)
    for each in (trainer, other):
        each.iterate()
        each.iterate()
    for mine, theirs in zip(trainer.learners, other.learners, strict=True):
        for name, tensor in mine.policy.state_dict().items():
            assert t.equal(tensor, theirs.policy.state_dict()[name]), name


def test_a_run_is_scored_by_those_that_learn(
    tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib", reason="needs matplotlib")
    pytest.importorskip("rich", reason="needs rich")
    from gpu_envs.train import run

    found, play = [], evaluate.play

    def noted(*arguments: Any, **keywords: Any) -> Any:
        found.append((arguments[2][:5].tolist(), play(*arguments, **keywords)[0]))
        return found[-1][1], t.zeros(2, 5)

    monkeypatch.setattr(evaluate, "play", noted)
    options = "--num-envs 2 --rollout 8 --total-steps 80 --hidden 4 --evaluation-episodes 2"
    options += " --learn seeker --preparation-steps 5 --tensorboard false"
    assert (
        run.main(["HideSeek-v0", *options.split(), "--device", "cpu", "--out", f"{tmp_path}"]) == 0
    )
    out = capsys.readouterr().out
    assert "1 policy of" in out and "3 agents act at random" in out
    seats, returns = found[-1]
    assert seats == [NOBODY] * 3 + [0] * 2
    line = (tmp_path / "curve.csv").read_text().splitlines()
    score = dict(zip(line[0].split(","), line[-1].split(","), strict=True))["evaluation/return"]
    assert float(score) == pytest.approx(float(returns[:, SEEKERS].mean()), abs=1e-4)


# ---- evaluation


def write(path: Path, learn: str) -> Path:
    return fresh.write(path, "HideSeek-v0", learn=learn, policies="role", encoder="mlp")


def labels(capsys: Any, *arguments: Any) -> list[str]:
    status = match.main([*map(str, arguments), "--episodes", "2", "--device", "cpu"])
    found = capsys.readouterr()
    assert (status, found.err) == (0, "")
    lines = found.out.partition("\n\n")[0].splitlines()  # notes are below
    width = lines[1].index("mean return") - 2
    return [line[:width].strip() for line in lines[2:]]


def test_rows_without_policy_act_evenly_in_evaluations() -> None:
    env = worlds.for_evaluation(make("HideSeek-v0"), "cpu", 16)
    taken: list[t.Tensor] = []
    kind = of_space(env.single_action_space, CPU)
    policy = Policy(RowShape.of(env.simulator), kind, make("HideSeek-v0", hidden="4"))
    kind.for_env = lambda action: taken.append(action.clone()) or action  # type: ignore
    of_row = evaluate.rows_of([0, 0, 0, NOBODY, NOBODY], 16, "cpu")
    first = evaluate.play(env, [policy], of_row, seed=3)[0]
    drawn = t.stack(taken).view(-1, 16, 5, 5)[:, :, SEEKERS].reshape(-1, 5)
    for head, count in zip(drawn.T, HEADS, strict=True):
        assert is_even(head.bincount(minlength=count))
    assert t.equal(evaluate.play(env, [policy], of_row, seed=3)[0], first)
    assert not t.equal(evaluate.play(env, [policy], of_row, seed=4)[0], first)
    env.close()


def test_a_file_of_one_role_is_evaluated(tmp_path: Path, capsys: Any) -> None:
    hiders, seekers = write(tmp_path / "h", "hider"), write(tmp_path / "s", "seeker")
    alone = ["FILE as hider", "random as seeker"]
    both = ["random as hider", "random as seeker"]
    assert labels(capsys, hiders) == alone
    assert labels(capsys, hiders, "--against", "random") == [*alone, *both, *alone]
    assert labels(capsys, hiders, "--against", seekers) == [
        *alone, "other FILE as seeker", "random as hider",
        "FILE as hider", "other FILE as seeker",
    ]  # fmt: skip
    everybody = write(tmp_path / "all", "")
    assert labels(capsys, everybody, "--against", "random") == [
        "FILE as hider", "FILE as seeker", *both,
        *alone, "FILE as seeker", "random as hider",
    ]  # fmt: skip


def test_players_of_a_file_of_one_role_act_alone(tmp_path: Path) -> None:
    env = worlds.for_evaluation(make("HideSeek-v0"), "cpu", 1)
    players = teams.Team.load(write(tmp_path / "h", "hider"), env.simulator).players()
    obs, _ = env.reset(seed=1)
    actions = np.stack([player(obs[k].numpy(), None) for k, player in enumerate(players)])
    assert actions.shape == (5, 5) and not np.array_equal(actions[3], actions[4])
    env.close()


# ---- normalised observations


def test_observations_are_brought_to_the_mean_and_deviation_of_all_seen() -> None:
    inputs, whole = Inputs(3), t.randn(1000, 3) * t.tensor([20.0, 1.0, 0.0]) + t.tensor([5, 0, 2])
    for part in whole.split(300):
        inputs.look(part, lambda sums: sums)
    found = inputs(whole)
    assert t.allclose(found[:, :2].mean(0), t.zeros(2), atol=1e-4)
    assert t.allclose(found[:, :2].std(0, correction=0), t.ones(2), atol=1e-3)
    assert (found[:, 2] == 0).all()
    assert float(inputs(t.tensor([[1e9, 0, -1e9]])).abs().max()) == 10
    # Two ranks with half the rows each know what one with all of them does.
    twice = Inputs(3)
    twice.look(whole[:500], lambda sums: 2 * sums)
    assert float(twice.moments[0, 0]) == 1000


def test_policies_are_normalised_by_what_they_saw_before() -> None:
    trainer = trainer_of(learn="seeker", normalize_observations=True)
    (learner,), r = trainer.learners, trainer.rollout
    inputs = learner.policy.inputs
    assert inputs is not None
    first = r.obs[-1, learner.rows].double()
    assert t.allclose(inputs.mean.double(), first.mean(0), atol=1e-4)
    results = trainer.iterate()
    seen = t.cat((first, r.obs[:-1, learner.rows].flatten(0, 1).double()))
    assert t.allclose(inputs.mean.double(), seen.mean(0), atol=1e-4)
    assert results["losses/clipfrac"] < 0.5  # rollout and update saw the same


# ---- a critic that sees more


def test_a_critic_sees_the_state_of_its_own_world() -> None:
    trainer = trainer_of(learn="hider", critic_state=True, normalize_observations=True)
    trainer.iterate()
    trainer._play()
    r, (learner,) = trainer.rollout, trainer.learners
    assert r.state is not None and learner.rows is not None
    assert t.equal(r.state[-1], trainer.env.simulator.observe().state.flatten(1))
    policy = learner.policy
    with t.no_grad():
        for row in (0, 6):
            state = r.state[3, row // 5]
            value = policy.value(r.obs[3, row][None], None, state[None])
            assert t.allclose(value, r.value[3, row], atol=1e-5)
            other = policy.value(r.obs[3, row][None], None, r.state[3, 1 - row // 5][None])
            assert not t.allclose(value, other, atol=1e-5)
        # What is done does not depend on it.
        blind = policy(r.obs[3, learner.rows])
        seen = policy(r.obs[3, learner.rows], None, None, r.state[3, learner.worlds])
        assert t.equal(blind[0], seen[0]) and not blind[1].any() and seen[1].any()
        # Rollout and update see the same.
        index = t.tensor([0, 5, 11, 16])
        state = r.state[:-1].flatten(0, 1)[index // r.agents]
        value = policy.value(r.obs[:-1].flatten(0, 1)[index], None, state)
        assert t.allclose(value, r.value.flatten()[index], atol=1e-4)


@pytest.mark.parametrize("memory", [0, 4])
def test_where_an_episode_was_cut_short_a_critic_sees_the_state_that_it_ended_in(
    memory: int,
) -> None:
    choices: dict[str, Any] = {"learn": "hider", "critic_state": True, "memory": memory}
    choices |= {"gamma": 0.9, "rollout": 12}
    trainer = trainer_of(**choices, parameters={"max_episode_steps": 9})
    env = VectorEnv("HideSeek-v0", 2, device="cpu", arrays="torch", autoreset_mode="Disabled")
    obs, infos = env.reset(seed=trainer.config.seed)
    trainer._play()
    r, (learner,) = trainer.rollout, trainer.learners
    assert r.final_state is not None and r.state is not None
    for step in range(9):
        obs, _, _, _, infos = env.step(r.action[step])
    assert r.ended[8].all() and r.truncated[8].all()
    assert t.equal(r.final_obs[8], obs)
    assert t.equal(r.final_state[8], infos["state"].flatten(1))
    assert not t.equal(r.final_state[8], r.state[9])  # where the next episode begins
    reward, value = r.reward.clone(), t.cat((r.value, r.value[:1]))
    learner.values(value, reward)
    with t.no_grad():
        for row, world in ((0, 0), (2, 0), (6, 1)):
            kept = None
            if r.memory is not None:
                kept = learner.policy.plain(r.obs[8, row][None], r.memory[8, row][None])[2]
            known = learner.policy.value(obs[row][None], kept, infos["state"][world].view(1, -1))
            assert t.allclose(reward[8, row], r.reward[8, row] + 0.9 * known, atol=1e-5)
    assert t.equal(reward[8, 3:5], r.reward[8, 3:5]) and t.equal(reward[:8], r.reward[:8])


def test_a_policy_with_memory_has_a_critic_apart_that_sees_the_state() -> None:
    trainer = trainer_of(learn="hider", critic_state=True, memory=4)
    trainer.iterate()
    trainer._play()
    r, (learner,) = trainer.rollout, trainer.learners
    assert r.memory is not None and r.state is not None
    policy, rows = learner.policy, t.tensor([0, 1, 6])
    with t.no_grad():
        obs, begins, state = r.obs[:-1, rows], r.begins[:-1, rows], r.state[:-1, rows // 5]
        outputs, value = policy.sequence(obs, r.memory[0, rows], begins, state)
        assert t.allclose(policy.real(value), r.value[:, rows], atol=1e-4)
        # What is done does not depend on it.
        blind, zero = policy.sequence(obs, r.memory[0, rows], begins)
        assert t.equal(outputs, blind) and not zero.any()


@pytest.mark.parametrize(
    ("env", "choices", "words"),
    [
        ("HideSeek-v0", {"share": True}, "leave out --share"),
        ("CartPole-v0", {}, "an environment that has a state"),
    ],
)
def test_a_critic_needs_a_state_and_an_encoder(
    env: str, choices: dict[str, Any], words: str
) -> None:
    with pytest.raises(ValueError, match=f"--critic-state needs .*{words}"):
        trainer_of(env, critic_state=True, **{"share": False, **choices})


def test_entities_are_scaled_together_and_who_is_not_there_stays_away() -> None:
    inputs = Inputs(7, [(1, 3, 2)])  # a number, then three entities of two
    rows = t.randn(500, 7, generator=t.Generator().manual_seed(1)) * 3 + 5
    entities = rows[:, 1:].view(500, 3, 2)
    entities[:, 1:] *= t.tensor([[1.0, 20.0], [1.0, 20.0]])
    entities[100:, 2] = entities[:50, 0] = 0
    inputs.look(rows[:200], lambda sums: sums)
    inputs.look(rows[200:], lambda sums: sums)
    there = (entities != 0).any(2)
    sizes = entities[there].double().square().mean(0).sqrt()
    found = inputs(rows)
    assert t.allclose(found[:, 1:].view(500, 3, 2), (entities / sizes.float()).clamp(-10, 10))
    assert t.equal((found[:, 1:].view(500, 3, 2) != 0).any(2), there)
    assert abs(float(found[:, 0].mean())) < 1e-5 and abs(float(found[:, 0].std()) - 1) < 1e-2


def test_attention_over_normalised_entities_does_not_mind_their_order() -> None:
    choices = {"normalize_observations": True, "encoder": "attention", "critic_state": True}
    trainer = trainer_of(learn="hider", **choices)
    trainer.iterate()
    (learner,), r = trainer.learners, trainer.rollout
    rows = r.obs[3, learner.rows]
    first, boxes, numbers = learner.policy.encoder.sets_in_row()[1]  # type: ignore[operator]
    assert (boxes, numbers) == (9, 9)
    assert learner.policy.inputs is not None
    factor = learner.policy.inputs.factor[first : first + 81].view(9, 9)
    assert (factor == factor[:1]).all() and factor.unique().numel() > 5
    turned = rows.clone()
    turned[:, first : first + 81] = rows[:, first : first + 81].view(-1, 9, 9).flip(1).flatten(1)
    with t.no_grad():
        plain, other = (learner.policy.plain(part)[0] for part in (rows, turned))
    assert t.allclose(plain, other, atol=1e-5)


def test_held_noise_draws_the_same_for_some_steps_and_leaves_others_alone() -> None:
    choices = {"learn": "seeker", "rollout": 10, "learning_rate": 0.0, "entropy": 0.0}
    plain, held = (trainer_of(**choices, hold_noise=hold) for hold in (1, 4))
    for trainer in (plain, held):
        for parameter in trainer.learners[0].parameters:
            parameter.data.zero_()  # all actions as likely, whatever is seen
        trainer._play()
        hold, action = trainer.config.hold_noise, trainer.rollout.action.view(10, 2, 5, 5)
        same = [t.equal(a, b) for a, b in itertools.pairwise(action[:, :, SEEKERS])]
        assert same == [bool(step % hold) for step in range(1, 10)]
        assert not any(t.equal(a, b) for a, b in itertools.pairwise(action[:, :, HIDERS]))
    last = action[-1, :, SEEKERS].clone()
    held.clock += 1
    held._play()
    assert not t.equal(held.rollout.action.view(10, 2, 5, 5)[0, :, SEEKERS], last)
