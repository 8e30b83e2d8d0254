"""Distributions over actions: what is drawn, how likely it is, and what masks and bounds forbid."""

from __future__ import annotations

import math
from typing import Any

import gymnasium
import numpy as np
import pytest

pytest.importorskip("torch", reason="needs torch")

import torch
from gymnasium import spaces

from gpu_envs import VectorEnv
from gpu_envs.policies.distributions import Categorical, Gaussian, of_space
from gpu_envs.policies.noise import Noise

CPU = torch.device("cpu")
GRID = 100_000  # noise values, evenly spaced in (0, 1]


def grid() -> torch.Tensor:
    return (torch.arange(GRID, dtype=torch.float64).add(1) / GRID).float().unsqueeze(-1)


def one(count: int) -> Categorical:
    return Categorical((count,), is_single=True)


def random_noise(rows: int, columns: int, seed: int = 3) -> torch.Tensor:
    return Noise(seed, 0, CPU).uniform(torch.tensor(0), 1, 0, rows, columns)[0]


# ---- one choice


def test_an_even_grid_of_noise_gives_each_choice_its_share_exactly() -> None:
    kind, chances = one(4), torch.tensor([0.1, 0.25, 0.6, 0.05])
    outputs = kind.normalised(chances.log() + 7.0, None).expand(GRID, 4)  # logits of any height
    counts = kind.sample(outputs, grid()).bincount(minlength=4)
    assert (counts - chances * GRID).abs().max() <= 2  # a grid point to either side
    assert (kind.sample(outputs, grid()).diff() >= 0).all()  # the inverse of what only grows


@pytest.mark.parametrize("count", [1, 2, 7, 50])
def test_draws_with_random_noise_pass_a_chi_square_test(count: int) -> None:
    kind, rows = one(count), 20_000
    outputs = kind.normalised(torch.randn(count), None)
    counts = kind.sample(outputs.expand(rows, count), random_noise(rows, 1)).bincount(
        minlength=count
    )
    expected = outputs.exp() * rows
    chi_square = float(((counts - expected) ** 2 / expected).sum())
    assert chi_square < (count - 1) + 5 * math.sqrt(2 * (count - 1)) + 1e-9
    assert counts.sum() == rows


@pytest.mark.parametrize(
    "legal", [[0], [5], [2], [0, 5], [1, 2, 4], [5, 4], [0, 1, 2, 3, 4, 5]], ids=str
)
@pytest.mark.parametrize("height", [1.0, 30.0, 1000.0])
def test_what_a_mask_forbids_is_never_drawn(legal: list[int], height: float) -> None:
    kind, rows = one(6), 5_000
    logits = height * torch.randn(rows, 6)
    mask = torch.zeros(6, dtype=torch.int8)
    mask[legal] = 1
    outputs = kind.normalised(logits, mask.expand(rows, 6))
    allowed = mask.bool()
    for noise in (
        random_noise(rows, 1),
        torch.full((rows, 1), 1.0),
        torch.full((rows, 1), 1 - 2.0**-24),
        torch.full((rows, 1), 2.0**-24),
        torch.full((rows, 1), 1e-38),
    ):
        assert allowed[kind.sample(outputs, noise)].all()
    assert allowed[kind.likeliest(outputs)].all()
    assert (outputs.exp()[:, ~allowed] == 0).all()
    assert torch.allclose(outputs.exp().sum(-1), torch.ones(rows))


def test_every_mask_of_a_small_choice_forbids_what_it_says() -> None:
    kind, count = one(5), 5
    masks = torch.tensor([[n >> k & 1 for k in range(count)] for n in range(1, 2**count)])
    for mask in masks:
        outputs = kind.normalised(torch.randn(500, count), mask.expand(500, 5))
        drawn = kind.sample(outputs, random_noise(500, 1))
        assert mask[drawn].all()
        if mask.sum() > 1:
            assert len(drawn.unique()) == mask.sum()


@pytest.mark.parametrize("noise", [1e-38, 0.5, 1.0])
def test_where_nothing_is_legal_there_is_still_an_action(noise: float) -> None:
    kind = one(4)
    outputs = kind.normalised(torch.randn(3, 4), torch.zeros(3, 4, dtype=torch.int8))
    drawn = kind.sample(outputs, torch.full((3, 1), noise))
    assert ((drawn >= 0) & (drawn < 4)).all()
    assert torch.allclose(kind.log_prob(outputs, drawn), torch.full((3,), -math.log(4)))
    assert torch.isfinite(kind.entropy(outputs)).all()


def test_likelihoods_of_one_choice_equal_those_of_torch() -> None:
    kind, logits = one(6), 3 * torch.randn(50, 6)
    mask = (torch.rand(50, 6) < 0.5).index_fill(1, torch.tensor([2]), True)
    for chosen in (None, mask):
        outputs = kind.normalised(logits, chosen)
        allowed = logits if chosen is None else logits.masked_fill(~chosen, -torch.inf)
        reference = torch.distributions.Categorical(logits=allowed)
        action = reference.sample()
        expected = reference.log_prob(action)
        assert torch.allclose(kind.log_prob(outputs, action), expected, atol=1e-5)
        plain = reference.probs.clamp(min=1e-38)  # torch's own entropy is nan under such masks
        assert torch.allclose(kind.entropy(outputs), -(plain * plain.log()).sum(-1), atol=1e-5)
        assert torch.equal(kind.likeliest(outputs), reference.probs.argmax(-1))


def test_gradients_are_finite_under_masks_and_zero_for_what_is_forbidden() -> None:
    kind = one(4)
    logits = torch.tensor([[50.0, -50.0, 3.0, 0.0]] * 3, requires_grad=True)
    mask = torch.tensor([[1, 1, 0, 1], [0, 1, 0, 0], [0, 0, 0, 0]])
    outputs = kind.normalised(logits, mask)
    action = torch.tensor([0, 1, 2])
    (kind.log_prob(outputs, action).sum() + kind.entropy(outputs).sum()).backward()
    assert logits.grad is not None and torch.isfinite(logits.grad).all()
    assert (logits.grad[mask == 0] == 0).all()


@pytest.mark.parametrize("kind", [torch.int8, torch.uint8, torch.bool, torch.int64])
def test_masks_of_any_type_say_the_same(kind: torch.dtype) -> None:
    mask = torch.tensor([[1, 0, 1]]).to(kind)
    outputs = one(3).normalised(torch.zeros(1, 3), mask)
    assert torch.allclose(outputs.exp(), torch.tensor([[0.5, 0.0, 0.5]]))


# ---- several choices


def test_several_choices_equal_independent_ones_of_torch() -> None:
    kind = of_space(spaces.MultiDiscrete([3, 1, 4]), CPU)
    assert (kind.outputs, kind.draws, kind.shape) == (8, 3, (3,))
    logits = torch.randn(200, 8)
    outputs = kind.normalised(logits, None)
    heads = [torch.distributions.Categorical(logits=part) for part in logits.split([3, 1, 4], -1)]
    action = torch.stack([head.sample() for head in heads], -1)
    expected = sum(head.log_prob(action[:, k]) for k, head in enumerate(heads))
    assert torch.allclose(kind.log_prob(outputs, action), expected, atol=1e-6)
    assert torch.allclose(kind.entropy(outputs), sum(head.entropy() for head in heads), atol=1e-5)


def test_several_choices_are_drawn_by_their_own_noise_and_masks() -> None:
    kind = Categorical((2, 3), is_single=False)
    mask = torch.tensor([1, 0, 0, 1, 1]).expand(GRID, 5)
    outputs = kind.normalised(torch.zeros(GRID, 5), mask)
    noise = torch.cat((torch.full((GRID, 1), 0.99), grid()), -1)
    drawn = kind.sample(outputs, noise)
    assert (drawn[:, 0] == 0).all()
    assert drawn[:, 1].bincount(minlength=3).tolist() == [0, GRID // 2, GRID // 2]
    assert drawn.shape == (GRID, 2) and kind.likeliest(outputs).shape == (GRID, 2)
    assert (drawn == kind.sample(outputs, noise.clone())).all()


def test_draws_of_several_choices_do_not_hang_together() -> None:
    kind, rows = Categorical((2, 2), is_single=False), 20_000
    drawn = kind.sample(kind.normalised(torch.zeros(rows, 4), None), random_noise(rows, 2))
    pairs = (2 * drawn[:, 0] + drawn[:, 1]).bincount(minlength=4)
    assert ((pairs - rows / 4) ** 2 / (rows / 4)).sum() < 3 + 5 * math.sqrt(6)


# ---- numbers


def box(low: Any, high: Any, shape: tuple[int, ...] | None = None) -> Gaussian:
    kind = of_space(spaces.Box(low, high, shape, np.float32), CPU)
    assert isinstance(kind, Gaussian)
    return kind


@pytest.mark.parametrize("shape", [(), (1,), (3,), (2, 3)])
def test_numbers_equal_normal_distributions_of_torch(shape: tuple[int, ...]) -> None:
    kind, size = box(-1, 1, shape), int(np.prod(shape))
    assert (kind.outputs, kind.draws, kind.shape) == (2 * size, 2 * size, shape)
    outputs = kind.normalised(torch.randn(20, 2 * size), None)
    action = kind.sample(outputs, random_noise(20, kind.draws))
    assert action.shape == (20, *shape) and kind.likeliest(outputs).shape == (20, *shape)
    assert kind.for_env(action).shape == (20, *shape)
    mean, log_std = outputs.chunk(2, -1)
    reference = torch.distributions.Normal(mean, log_std.exp())
    expected = reference.log_prob(action.reshape(20, size)).sum(-1)
    assert torch.allclose(kind.log_prob(outputs, action), expected, atol=1e-5)
    assert torch.allclose(kind.entropy(outputs), reference.entropy().sum(-1), atol=1e-5)
    assert torch.equal(kind.likeliest(outputs).reshape(20, size), mean)


def test_likelihoods_of_sequences_have_time_and_row_axes() -> None:
    for space in (spaces.Box(-1, 1, (2, 2), np.float32), spaces.MultiDiscrete([2, 3])):
        kind = of_space(space, CPU)
        outputs = kind.normalised(torch.randn(6, kind.outputs), None)
        action = kind.sample(outputs, random_noise(6, kind.draws))
        apart, together = kind.log_prob(outputs, action), outputs.unflatten(0, (2, 3))
        assert torch.equal(kind.log_prob(together, action.unflatten(0, (2, 3))), apart.view(2, 3))
        assert kind.entropy(together).shape == (2, 3)


def test_draws_of_numbers_have_the_moments_of_a_normal_distribution() -> None:
    kind, rows = box(-1, 1, (2,)), 200_000
    outputs = torch.tensor([1.5, -2.0, math.log(0.5), math.log(3.0)]).expand(rows, 4)
    drawn = kind.sample(outputs, random_noise(rows, 4)).double()
    unit = (drawn - torch.tensor([1.5, -2.0])) / torch.tensor([0.5, 3.0])
    for power, moment in ((1, 0.0), (2, 1.0), (3, 0.0), (4, 3.0)):
        spread = math.sqrt({1: 1, 2: 2, 3: 15, 4: 96}[power] / rows)  # of the sample's moment
        assert ((unit**power).mean(0) - moment).abs().max() < 5 * spread
    assert abs(float((unit[:, 0] * unit[:, 1]).mean())) < 5 / math.sqrt(rows)
    inside = float((unit.abs() < 1.959964).double().mean())
    assert abs(inside - 0.95) < 5 * math.sqrt(0.95 * 0.05 / (2 * rows))


@pytest.mark.parametrize("noise", [2.0**-24, 0.5, 1.0])
def test_draws_of_numbers_are_finite_for_all_noise(noise: float) -> None:
    kind = box(-1, 1, (2,))
    outputs = kind.normalised(torch.full((1, 4), 1e4), None)  # deviations are kept within limits
    drawn = kind.sample(outputs, torch.full((1, 4), noise))
    assert torch.isfinite(drawn).all()
    assert torch.isfinite(kind.log_prob(outputs, drawn)).all()


def test_bounded_numbers_are_mapped_and_kept_within_their_bounds() -> None:
    kind = box(np.array([-2.0, 10.0, 0.1], np.float32), np.array([4.0, 11.0, 0.3], np.float32))
    given = torch.tensor([[-1.0, 0.0, 1.0], [1.0, 1.0, -1.0], [0.0, -7.0, 99.0], [0.5, 0.5, 0.0]])
    found = kind.for_env(given)
    expected = [[-2.0, 10.5, 0.3], [4.0, 11.0, 0.1], [1.0, 10.0, 0.3], [2.5, 10.75, 0.2]]
    assert torch.allclose(found, torch.tensor(expected))
    space = spaces.Box(kind.low.numpy(), kind.high.numpy())
    assert all(row in space for row in found.numpy())  # to the last bit


def test_half_bounded_numbers_keep_their_bound_and_unbounded_ones_their_value() -> None:
    low = np.array([0.0, -np.inf, -np.inf], np.float32)
    kind = box(low, np.array([np.inf, 3.0, np.inf], np.float32))
    found = kind.for_env(torch.tensor([[-5.0, 9.0, -1e6], [7.0, -7.0, 2.5]]))
    assert found.tolist() == [[0.0, 3.0, -1e6], [7.0, -7.0, 2.5]]


def test_the_largest_bounds_do_not_overflow() -> None:
    most = float(np.finfo(np.float32).max)
    kind = box(-most, most, (1,))
    found = kind.for_env(torch.tensor([[0.0], [1.0], [-2.0]]))
    assert found.flatten().tolist() == [0.0, most, -most]


def test_gradients_of_numbers_are_finite() -> None:
    kind = box(-1, 1, (2,))
    outputs = torch.tensor([[0.0, 5.0, -30.0, 8.0]], requires_grad=True)
    normal = kind.normalised(outputs, None)
    (kind.log_prob(normal, torch.tensor([[0.5, -9.0]])) + kind.entropy(normal)).sum().backward()
    assert outputs.grad is not None and torch.isfinite(outputs.grad).all()


# ---- spaces


@pytest.mark.parametrize(
    "space",
    [
        spaces.Box(-1, 1, (2,), np.float64),
        spaces.Box(0, 255, (2,), np.uint8),
        spaces.MultiBinary(3),
        spaces.Dict({"a": spaces.Discrete(2)}),
    ],
    ids=str,
)
def test_spaces_that_it_does_not_know_are_named(space: Any) -> None:
    with pytest.raises(ValueError, match="Discrete, MultiDiscrete and float32 Box") as found:
        of_space(space, CPU)
    assert str(space) in str(found.value)


@pytest.mark.parametrize("name", ["CartPole-v0", "CartPoleContinuous-v0"])
def test_draws_are_actions_of_the_environment_for_every_row(name: str) -> None:
    env = VectorEnv(name, 64, device="cpu", arrays="torch", strict=True)
    env.reset(seed=1)
    kind = of_space(env.single_action_space, CPU)
    outputs = kind.normalised(3 * torch.randn(64, kind.outputs), None)
    action = kind.for_env(kind.sample(outputs, random_noise(64, kind.draws)))
    assert action.shape == env.action_space.shape
    batch = gymnasium.vector.utils.iterate(env.action_space, action.numpy())
    assert all(row in env.single_action_space for row in batch)
    env.step(action)
    env.close()
