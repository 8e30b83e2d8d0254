"""The learner's native calls against torch: draws of actions, and the gradient of the loss."""

from __future__ import annotations

import copy
from typing import Any

import pytest

pytest.importorskip("torch", reason="needs gpu_envs[train]")

import torch as t

from gpu_envs import VectorEnv
from gpu_envs.policies.noise import ACTIONS, Noise
from gpu_envs.train.config import make
from gpu_envs.train.fused import Drawing, Space
from gpu_envs.train.learner import Learner
from gpu_envs.train.ppo import Trainer
from gpu_envs.train.ranks import Ranks

GAMES: list[tuple[str, dict[str, Any]]] = [
    ("CartPole-v0", {}),  # one choice
    ("CartPoleContinuous-v0", {}),  # numbers within bounds
    ("Hanabi-v0", {"preset": "very_small"}),  # a mask, and turns
    ("HideSeek-v0", {}),  # several choices
]


def trainer_of(env: str, parameters: dict[str, Any], **choices: Any) -> Trainer:
    choices = {"rollout": 8, "minibatch": 64, "epochs": 1, "policies": "shared", **choices}
    config = make(env, num_envs=6, parameters=parameters, **choices)
    made = VectorEnv(env, 6, device="cpu", arrays="torch", **parameters)
    trainer = Trainer(config, made, Ranks("cpu"), print)
    trainer.start()
    for learner in trainer.learners:  # far from even, and with deviations of their own
        for parameter in learner.parameters:
            parameter.data.add_(0.3 * t.randn_like(parameter))
    return trainer


def outputs_of(learner: Learner, trainer: Trainer, step: int) -> t.Tensor:
    r = trainer.rollout
    rows = slice(None) if learner.rows is None else learner.rows
    memory = None if r.memory is None else r.memory[step, rows]
    mask = None if r.mask is None else r.mask[step, rows]
    with t.no_grad():
        found: t.Tensor = learner.policy(r.obs[step, rows], mask, memory)[0]
    return found


def noise_of(trainer: Trainer, count: int, step: int) -> t.Tensor:
    source, r = Noise(trainer.config.seed, ACTIONS, t.device("cpu")), trainer.rollout
    return source.uniform(trainer.clock * count, count, 0, r.rows, trainer.actions.draws)[step]


@pytest.mark.parametrize(("env", "parameters"), GAMES)
def test_draws_are_those_of_torch_by_the_same_noise(env: str, parameters: dict[str, Any]) -> None:
    trainer = trainer_of(env, parameters)
    trainer.clock.fill_(3)
    trainer._play()
    r, (learner,) = trainer.rollout, trainer.learners
    for step in range(r.length):
        outputs, noise = outputs_of(learner, trainer, step), noise_of(trainer, r.length, step)
        wanted = learner.actions.sample(outputs, noise)
        assert t.allclose(r.action[step].double(), wanted.double(), atol=1e-5)
        likely = learner.actions.log_prob(outputs, r.action[step])
        assert t.allclose(r.log_prob[step], likely, atol=2e-5)
        taken = learner.actions.for_env(r.action[step])
        assert t.allclose(r.taken[step].double(), taken.double(), atol=1e-5)


@pytest.mark.parametrize(("env", "parameters"), GAMES)
def test_chance_draws_evenly_what_is_legal(env: str, parameters: dict[str, Any]) -> None:
    trainer = trainer_of(env, parameters)
    r, actions = trainer.rollout, trainer.actions
    space, rows = Space(actions, r.device), t.tensor([1, 4, 5])
    noise, r.action[2] = Noise(trainer.config.seed, ACTIONS, r.device), 0
    r.obs[2], before = r.obs[-1], r.log_prob.clone()
    if r.mask is not None:
        r.mask[2] = r.mask[-1]
    draw = Drawing(space, r, rows, None, noise, trainer.clock, 0, hold=1, is_own=False)
    draw(2)
    mask = None if r.mask is None else r.mask[2, rows]
    wanted = actions.uniform(noise_of(trainer, r.length, 2)[rows], mask)
    assert t.allclose(r.action[2, rows].double(), wanted.double(), atol=1e-5)
    assert not r.action[2, t.tensor([0, 2, 3])].any() and t.equal(r.log_prob, before)


def test_entropies_and_values_are_stored_in_the_units_of_rewards() -> None:
    trainer = trainer_of("CartPole-v0", {})
    (learner,), r = trainer.learners, trainer.rollout
    learner.policy.scale.mean.fill_(3.0)
    learner.policy.scale.deviation.fill_(2.0)
    trainer._play()
    with t.no_grad():
        assert t.allclose(r.value[2], learner.policy.value(r.obs[2]), atol=1e-5)


def plain_loss(learner: Learner, trainer: Trainer, index: t.Tensor) -> tuple[t.Tensor, t.Tensor]:
    """Return PPO's loss as torch has it, and its parts."""
    r, config, policy = trainer.rollout, trainer.config, learner.policy

    def of(array: t.Tensor) -> t.Tensor:
        if r.memory is not None:
            return array[: r.length, index]
        return array[: r.length].flatten(0, 1)[index]

    mask, weight = None if r.mask is None else of(r.mask), t.ones(())
    if r.memory is None:
        outputs, value, _ = policy(of(r.obs), mask)
    else:
        outputs, value = policy.sequence(of(r.obs), r.memory[0, index], of(r.begins))
        outputs = policy._normalised(outputs, mask)
        weight = of(learner.known).float()
    apart = learner.actions.log_prob(outputs, of(r.action)) - of(r.log_prob)
    ratio, gain = apart.exp(), of(learner.advantage)
    plain = ratio * gain
    if not config.is_a2c:
        plain = t.minimum(plain, ratio.clamp(1 - config.clip, 1 + config.clip) * gain)
    entropy = learner.actions.entropy(outputs)
    miss = (value - of(learner.target)).square()
    far = ((ratio - 1).abs() > config.clip).float()
    parts = t.stack([-plain, miss, entropy, ratio - 1 - apart, far])
    means = (parts * weight).flatten(1).sum(1) / weight.expand(parts.shape[1:]).sum()
    return means[0] + config.value_weight * means[1] - learner.entropy_weight * means[2], means


@pytest.mark.parametrize(("env", "parameters"), GAMES)
@pytest.mark.parametrize(
    "choices",
    [
        {},
        {"clip": 0.01, "entropy": 0.05},
        {"algorithm": "a2c", "entropy": 0.05},
        {"memory": 5, "entropy": 0.05},
        {"encoder": "mlp", "activation": "relu", "share": True},
    ],
)
def test_gradients_are_those_of_torch(
    env: str, parameters: dict[str, Any], choices: dict[str, Any]
) -> None:
    trainer = trainer_of(env, parameters, learning_rate=0.02, **choices)
    trainer.iterate()
    trainer._play()
    trainer._learn()
    (learner,), r = trainer.learners, trainer.rollout
    samples = learner.known.any(0) if r.memory is not None else learner.known.flatten()
    index = samples.nonzero().squeeze(-1)[::2].contiguous()
    learner.losses.zero_()
    learner.gradient(index)
    found = [p.grad.clone() for p in learner.parameters if p.grad is not None]
    kept = learner.policy
    learner.policy = copy.deepcopy(kept)
    learner.policy.zero_grad()
    loss, means = plain_loss(learner, trainer, index)
    loss.backward()
    assert t.allclose(learner.losses, means, atol=1e-4, rtol=1e-3)
    for mine, wanted in zip(found, learner.policy.parameters(), strict=True):
        assert wanted.grad is not None
        assert t.allclose(mine, wanted.grad, atol=2e-5, rtol=1e-3)


@pytest.mark.parametrize("activation", ["tanh", "relu"])
def test_a_chain_of_layers_has_torch_s_gradients(activation: str) -> None:
    from gpu_envs.policies.layers import Mlp

    made, head = Mlp(7, (5, 4), activation), t.nn.Linear(4, 3)
    rows = t.randn(9, 7, requires_grad=True)
    wish = t.randn(9, 3)
    (made(rows, head) * wish).sum().backward()
    found = [rows.grad, *(w.grad for w in (*made.weights, *head.parameters()))]
    again = rows.detach().clone().requires_grad_()
    act, x = getattr(t, activation), again
    for layer in made.layers:
        x = act(t.nn.functional.linear(x, layer.weight, layer.bias))
    inputs = [again, *made.weights, *head.parameters()]
    wanted = t.autograd.grad((head(x) * wish).sum(), inputs)
    for mine, theirs in zip(found, wanted, strict=True):
        assert t.allclose(mine, theirs, atol=1e-5)
    with t.no_grad():
        assert t.allclose(made(rows, head), head(x), atol=1e-6)
