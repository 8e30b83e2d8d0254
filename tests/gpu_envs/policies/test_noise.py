"""Noise: a function of what it is for, spread evenly, with nothing in common between its axes."""

from __future__ import annotations

import itertools
import math

import pytest

pytest.importorskip("torch", reason="needs torch")

import torch

from gpu_envs.policies import noise
from gpu_envs.policies.noise import ACTIONS, EVALUATION, OPPONENTS, SHUFFLES, Noise

CPU = torch.device("cpu")


def uniform(
    step: int, steps: int, row: int, rows: int, columns: int, seed: int = 1, stream: int = ACTIONS
) -> torch.Tensor:
    return Noise(seed, stream, CPU).uniform(torch.tensor(step), steps, row, rows, columns)


def test_rows_are_the_same_however_they_are_spread_over_processes() -> None:
    whole = uniform(40, 8, 0, 12, 3)
    assert whole.shape == (8, 12, 3) and whole.dtype == torch.float32
    for cuts in ((0, 6, 12), (0, 5, 10, 12), range(13)):
        parts = [uniform(40, 8, a, b - a, 3) for a, b in itertools.pairwise(cuts)]
        assert torch.equal(torch.cat(parts, 1), whole)


def test_steps_and_columns_are_the_same_however_many_are_asked_for() -> None:
    whole = uniform(0, 20, 2, 4, 3)
    assert torch.equal(torch.cat([uniform(k, 5, 2, 4, 3) for k in (0, 5, 10, 15)]), whole)
    assert torch.equal(uniform(7, 1, 2, 4, 3), whole[7:8])
    assert torch.equal(uniform(0, 20, 2, 4, 1), whole[..., :1])


def test_the_first_step_may_be_any_number() -> None:
    for step in (2**31, 2**40, 2**62):
        far = uniform(step, 3, 0, 4, 1)
        assert torch.equal(far[1:], uniform(step + 1, 2, 0, 4, 1))
        assert not torch.equal(far, uniform(0, 3, 0, 4, 1))


@pytest.mark.parametrize("seed", [0, 1, 2**32, 2**63 - 1])
def test_numbers_are_spread_evenly_between_zero_and_one(seed: int) -> None:
    drawn = uniform(0, 64, 0, 1024, 2, seed).double().flatten()
    count = len(drawn)
    assert 0 < drawn.min() and drawn.max() < 1
    for power in (1, 2, 3):
        expected, spread = 1 / (power + 1), math.sqrt(1 / (2 * power + 1) - 1 / (power + 1) ** 2)
        assert abs(float((drawn**power).mean()) - expected) < 5 * spread / math.sqrt(count)
    bins = (drawn * 256).long().bincount(minlength=256)
    chi_square = float(((bins - count / 256) ** 2 / (count / 256)).sum())
    assert abs(chi_square - 255) < 5 * math.sqrt(2 * 255)


def test_the_ends_are_the_middles_of_the_first_and_last_part(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for bits, expected in ((0, 2.0**-24), (-1, 1 - 2.0**-24)):
        monkeypatch.setattr(Noise, "bits", lambda self, *_, bits=bits: torch.tensor([bits]))
        assert float(uniform(0, 1, 0, 1, 1)) == expected


def correlation(one: torch.Tensor, other: torch.Tensor) -> float:
    """Return it in units of what chance gives."""
    a, b = one.double().flatten() - 0.5, other.double().flatten() - 0.5
    return float((a * b).mean()) * 12 * math.sqrt(len(a))


@pytest.mark.parametrize("lag", [1, 2, 3, 7])
def test_neighbours_along_any_axis_have_nothing_in_common(lag: int) -> None:
    drawn = uniform(0, 130, 0, 130, 10)
    for axis in range(3):
        length = drawn.shape[axis] - lag
        one, other = drawn.narrow(axis, 0, length), drawn.narrow(axis, lag, length)
        assert abs(correlation(one, other)) < 5
    assert abs(correlation(drawn[lag:, lag:], drawn[:-lag, :-lag])) < 5
    assert abs(correlation(drawn[lag:, :-lag], drawn[:-lag, lag:])) < 5


def test_seeds_and_streams_have_nothing_in_common() -> None:
    streams = (ACTIONS, SHUFFLES, OPPONENTS, EVALUATION)
    assert len(set(streams)) == 4
    kinds = [(seed, stream) for seed in (0, 1, 2, 1000, 2**40) for stream in streams]
    drawn = [uniform(0, 32, 0, 256, 1, *kind) for kind in kinds]
    for one, other in itertools.combinations(drawn, 2):
        assert not torch.equal(one, other)
        assert abs(correlation(one, other)) < 5
    # Nor is one the other moved along by some steps, rows or columns.
    seen = torch.cat([d.flatten() for d in drawn])
    same = len(seen) - len(seen.unique())
    assert same < 5 + 2 * len(seen) ** 2 / 2 / 2**23


def test_all_bits_of_a_large_block_differ() -> None:
    bits = Noise(5, ACTIONS, CPU).bits(torch.tensor(0), 64, 0, 2048, 4)
    assert len(bits.unique()) == bits.numel()
    for place in range(64):
        ones = float(((bits >> place) & 1).double().mean())
        assert abs(ones - 0.5) < 5 * 0.5 / math.sqrt(bits.numel())


def test_one_bit_of_a_row_turns_half_the_bits_of_its_draw() -> None:
    source = Noise(1, ACTIONS, CPU)
    bits = source.bits(torch.tensor(0), 1, 0, 4096, 1).flatten()
    turned = 0.0
    for place in range(12):
        other = bits[torch.arange(4096) ^ (1 << place)]
        turned += sum(float((((bits ^ other) >> k) & 1).double().mean()) for k in range(64))
    assert abs(turned / 12 - 32) < 0.5


def test_mixing_is_that_of_splitmix64() -> None:
    # The generator of Steele, Lea and Flood from state 0, as its authors' program prints it.
    golden, outputs = 0x9E3779B97F4A7C15, (0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4)
    states = torch.tensor([noise._signed(golden * k) for k in (1, 2)])
    found = [int(bits) & (2**64 - 1) for bits in noise._mixed(states)]
    assert tuple(found) == outputs


@pytest.mark.parametrize("count", [1, 2, 17, 1000])
def test_an_order_is_a_permutation_that_comes_again(count: int) -> None:
    source = Noise(3, SHUFFLES, CPU)
    order = source.order(4, count)
    assert torch.equal(order.sort().values, torch.arange(count))
    assert torch.equal(Noise(3, SHUFFLES, CPU).order(4, count), order)


def test_orders_differ_for_each_step_rank_seed_and_stream() -> None:
    orders = {
        tuple(Noise(seed, stream, CPU).order(step, 12, rank).tolist())
        for seed in (0, 1, 2**32)
        for stream in (SHUFFLES, ACTIONS)
        for step in range(20)
        for rank in range(3)
    }
    assert len(orders) == 3 * 2 * 20 * 3


def test_an_order_takes_nothing_from_torchs_own_generator() -> None:
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    Noise(1, SHUFFLES, CPU).order(0, 100)
    assert torch.equal(torch.rand(3), expected)


def test_every_place_is_as_likely_for_every_number() -> None:
    source, count, times = Noise(1, SHUFFLES, CPU), 6, 3000
    table = torch.zeros(count, count)
    for step in range(times):
        table[torch.arange(count), source.order(step, count)] += 1
    chi_square = float(((table - times / count) ** 2 / (times / count)).sum())
    assert chi_square < 25 + 5 * math.sqrt(2 * 25) + 10
