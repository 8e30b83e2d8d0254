"""Adam against torch's, Lamb against numbers worked out by hand, and learning rates over a run."""

from __future__ import annotations

import copy
import itertools
import math
from typing import Any

import pytest

pytest.importorskip("torch", reason="needs torch")

import torch

from gpu_envs.policies import checkpoint
from gpu_envs.train import optimiser
from gpu_envs.train.config import Config
from gpu_envs.train.optimiser import Flat, Lamb, Optimiser, learning_rate, make


def config(**choices: Any) -> Config:
    return Config(env="CartPole-v0", **choices)


# ---- Lamb


def plain_lamb(
    weight: list[float],
    gradients: list[list[float]],
    *,
    is_matrix: bool,
    rate: float,
    decay: float,
    rho: float = 0.01,
    eps: float = 1e-5,
) -> list[float]:
    """Take the steps one number at a time, in double precision."""
    first, second = [0.0] * len(weight), [0.0] * len(weight)
    for count, gradient in enumerate(gradients, 1):
        first = [0.9 * m + 0.1 * g for m, g in zip(first, gradient, strict=True)]
        second = [0.999 * v + 0.001 * g * g for v, g in zip(second, gradient, strict=True)]
        move = [
            (m / (1 - 0.9**count)) / (math.sqrt(v / (1 - 0.999**count)) + eps) + decay * w
            for m, v, w in zip(first, second, weight, strict=True)
        ]
        size, length = (math.sqrt(sum(x * x for x in part)) for part in (weight, move))
        ratio = 1.0
        if is_matrix and size > 0 and length > 0:
            ratio = min(max(min(size, 10.0) / length, rho), 1 / rho)
        weight = [w - rate * ratio * s for w, s in zip(weight, move, strict=True)]
    return weight


def stepped(
    weight: torch.Tensor, gradients: list[list[float]], rate: float, **choices: Any
) -> torch.Tensor:
    parameter = torch.nn.Parameter(weight.clone())
    flat = Flat([parameter])
    lamb = Lamb(flat, torch.tensor(rate), **choices)
    for gradient in gradients:
        flat.gradient.copy_(torch.tensor(gradient))
        lamb.step()
    return parameter.detach()


def test_two_steps_by_hand() -> None:
    """A 1x2 matrix (3, 4), gradients (1, -1) then (0, 2); no decay, rate 0.1.

    First step: m = g/10, v = g^2/1000, unbiased g and g^2: the move is (1, -1), its length is
    sqrt(2), the weight's 5, the ratio 5 / sqrt(2). Then w = (3, 4) - 0.1 * 5/sqrt(2) * (1, -1).
    """
    root = math.sqrt(2)
    once = stepped(torch.tensor([[3.0, 4.0]]), [[1.0, -1.0]], 0.1, weight_decay=0.0)
    shift = 0.1 * 5 / root
    assert torch.allclose(once, torch.tensor([[3 - shift, 4 + shift]]), rtol=1e-4)
    # Second: m = (0.09, 0.11), v = (0.000999, 0.004999), divided by 0.19 and 0.001999.
    moves = [(0.09 / 0.19) / math.sqrt(0.000999 / 0.001999),
             (0.11 / 0.19) / math.sqrt(0.004999 / 0.001999)]  # fmt: skip
    size, length = math.hypot(3 - shift, 4 + shift), math.hypot(*moves)
    expected = [w - 0.1 * size / length * s for w, s in zip((3 - shift, 4 + shift), moves)]  # noqa: B905
    twice = stepped(torch.tensor([[3.0, 4.0]]), [[1.0, -1.0], [0.0, 2.0]], 0.1, weight_decay=0.0)
    assert torch.allclose(twice, torch.tensor([expected]), rtol=1e-4)


@pytest.mark.parametrize("decay", [0.0, 0.01, 0.5])
@pytest.mark.parametrize("shape", [(2, 2), (4,)])
def test_steps_equal_those_of_a_plain_reference(decay: float, shape: tuple[int, ...]) -> None:
    weight = [0.5, -1.0, 2.0, 0.1]
    gradients = torch.randn(6, 4).tolist()
    found = stepped(torch.tensor(weight).view(shape), gradients, 0.05, weight_decay=decay)
    expected = plain_lamb(weight, gradients, is_matrix=len(shape) > 1, rate=0.05, decay=decay)
    assert torch.allclose(found.flatten(), torch.tensor(expected), rtol=1e-3, atol=1e-5)


def test_the_ratio_is_clipped_at_both_ends_and_large_weights_count_ten() -> None:
    def ratio(weight: float, decay: float = 0.0, rho: float = 0.01) -> float:
        # One number: the first move is 1 + decay * weight.
        found = stepped(torch.full((1, 1), weight), [[1.0]], 0.01, weight_decay=decay, rho=rho)
        return float((weight - found) / 0.01) / (1 + decay * weight)

    assert ratio(5.0) == pytest.approx(5.0, rel=1e-3)
    assert ratio(1e-4) == pytest.approx(0.01, rel=1e-2)  # not below rho
    assert ratio(1000.0, rho=0.5) == pytest.approx(2.0, rel=1e-2)  # not above 1 / rho
    assert ratio(300.0) == pytest.approx(10.0, rel=1e-2)  # a weight counts 10 at most
    assert ratio(0.0) == pytest.approx(1.0, rel=1e-3)  # a weight of zero can be left
    assert ratio(8.0, decay=0.25) == pytest.approx(8 / 3, rel=1e-3)  # the decay is in the length


def test_nothing_moves_without_gradient_and_decay_and_vectors_do_decay() -> None:
    for shape in ((2, 2), (4,)):
        weight = torch.ones(shape)
        assert torch.equal(stepped(weight, [[0.0] * 4], 0.1, weight_decay=0.0), weight)
        assert (stepped(weight, [[0.0] * 4], 0.1, weight_decay=0.1) < 1).all()
    # A vector's ratio is 1: it loses rate * decay * itself.
    found = stepped(torch.tensor([4.0]), [[0.0]], 0.1, weight_decay=0.1)
    assert float(found) == pytest.approx(4 * (1 - 0.1 * 0.1))


def test_a_new_rate_acts_without_a_new_optimiser() -> None:
    parameter, rate = torch.nn.Parameter(torch.ones(1, 1)), torch.tensor(0.0)
    flat = Flat([parameter])
    lamb = Lamb(flat, rate, weight_decay=0.0)
    flat.gradient.fill_(1)
    lamb.step()
    assert parameter.item() == 1
    rate.fill_(0.5)
    lamb.step()
    assert parameter.item() == pytest.approx(0.5, rel=1e-3)


@pytest.mark.parametrize("kind", ["adam", "lamb"])
@pytest.mark.parametrize("decay", [0.0, 0.01])
def test_a_saved_state_goes_on_like_the_uninterrupted_one(
    kind: str, decay: float, tmp_path: Any
) -> None:
    gradients = torch.randn(10, 3, 2)

    def begin() -> tuple[Flat, Optimiser]:
        parameters = [torch.nn.Parameter(torch.ones(3, 2)), torch.nn.Parameter(torch.zeros(2))]
        flat = Flat(parameters)
        return flat, make(config(optimizer=kind, weight_decay=decay), flat)

    def run(flat: Flat, chosen: Optimiser, part: torch.Tensor) -> None:
        for gradient in part:
            flat.gradient.copy_(torch.cat((gradient.flatten(), gradient[0])))
            chosen.step()

    whole, one = begin()
    run(whole, one, gradients)
    early, two = begin()
    run(early, two, gradients[:4])
    checkpoint.save(tmp_path / "state", {"state": two.state_dict()})
    late, three = begin()
    late.values.copy_(early.values)
    places = [tensor.data_ptr() for tensor in three.state_dict().values()]
    three.load_state_dict(checkpoint.load(tmp_path / "state")["state"])
    assert [tensor.data_ptr() for tensor in three.state_dict().values()] == places
    run(late, three, gradients[4:])
    assert torch.equal(whole.values, late.values)
    four = begin()[1]
    four.load_state_dict(copy.deepcopy(three.state_dict()))
    assert str(four.state_dict()) == str(three.state_dict())


@pytest.mark.parametrize("decay", [0.0, 0.02])
def test_adam_takes_the_steps_of_torch_s_own(decay: float) -> None:
    parameters = [torch.nn.Parameter(torch.randn(3, 2)), torch.nn.Parameter(torch.randn(2))]
    plain = [torch.nn.Parameter(parameter.detach().clone()) for parameter in parameters]
    flat = Flat(parameters)
    chosen = make(config(optimizer="adam", weight_decay=decay, learning_rate=0.03), flat)
    assert float(chosen.rate) == pytest.approx(0.03)
    theirs = torch.optim.AdamW(plain, lr=0.03, eps=1e-5, weight_decay=decay)
    for _ in range(5):
        gradient = torch.randn(8)
        flat.gradient.copy_(gradient)
        plain[0].grad, plain[1].grad = gradient[:6].view(3, 2), gradient[6:]
        chosen.step()
        theirs.step()
    for mine, other in zip(parameters, plain, strict=True):
        assert torch.allclose(mine, other, atol=1e-6)


def test_parameters_and_gradients_lie_in_one_tensor_each() -> None:
    module = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Linear(4, 2))
    before = torch.nn.utils.parameters_to_vector(module.parameters()).detach().clone()
    flat = Flat(list(module.parameters()))
    assert torch.equal(flat.values, before)
    module(torch.ones(1, 3)).sum().backward()
    found = torch.cat([p.grad.flatten() for p in module.parameters() if p.grad is not None])
    assert torch.equal(found, flat.gradient) and found.abs().sum() > 0
    flat.values.zero_()
    assert not module(torch.ones(1, 3)).any()


# ---- learning rates

TIMES = [k / 200 for k in range(201)]


@pytest.mark.parametrize("schedule", ["constant", "linear", "cosine"])
@pytest.mark.parametrize("scale", [False, True])
def test_rates_never_rise_and_stay_within_their_ends(schedule: str, scale: bool) -> None:
    chosen = config(schedule=schedule, scale_by_batch=scale, minibatch=8192, learning_rate=5e-4)
    rates = [learning_rate(chosen, time) for time in TIMES]
    assert all(b <= a for a, b in itertools.pairwise(rates))
    assert rates[0] == pytest.approx(5e-4 * (math.sqrt(32) if scale else 1))
    assert min(rates) >= 0
    assert learning_rate(chosen, 1.5) == rates[-1]  # a last update may reach beyond the end


def test_plain_schedules_end_where_they_should() -> None:
    for schedule, middle, last in (("constant", 1, 1), ("linear", 0.5, 0), ("cosine", 0.5, 0)):
        chosen = config(schedule=schedule, learning_rate=0.02)
        assert learning_rate(chosen, 0.5) == pytest.approx(0.02 * middle)
        assert learning_rate(chosen, 1.0) == pytest.approx(0.02 * last, abs=1e-12)
    quarter = learning_rate(config(schedule="cosine", learning_rate=0.02), 0.25)
    assert quarter == pytest.approx(0.01 * (1 + math.sqrt(0.5)))


def test_the_large_batch_recipe_falls_to_the_plain_rate_in_half_the_run() -> None:
    # 512 worlds: B = 8192, x 5.66; eight times 128: B = 16384, x 8 (Shacklett et al. 2021).
    for batch, first in ((8192, 2.83e-3), (16384, 4e-3)):
        chosen = config(schedule="cosine", scale_by_batch=True, minibatch=batch, learning_rate=5e-4)
        rates = [learning_rate(chosen, time) for time in TIMES]
        assert rates[0] == pytest.approx(first, rel=1e-3)
        assert rates[50] == pytest.approx((first + 5e-4) / 2, rel=1e-3)  # a quarter of the run
        assert rates[100:] == pytest.approx([5e-4] * 101)
        assert rates[99] > 5e-4


def test_small_batches_are_not_scaled_down() -> None:
    for batch in (1, 64, 256):
        chosen = config(schedule="constant", scale_by_batch=True, minibatch=batch)
        assert learning_rate(chosen, 0.0) == chosen.learning_rate
    assert optimiser._BASE_BATCH == 256
