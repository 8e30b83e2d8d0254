"""Random numbers that depend only on their purpose.

A draw is a hash of (seed, stream, update, step, row, column): the number of rows of a process, and
earlier draws, do not matter. So two processes with half the rows each draw the numbers of one with
all of them, and a resumed run needs no state of a generator.
"""

from __future__ import annotations

import torch
from torch import Tensor

# Odd constants of the splitmix64 generator (Steele, Lea, Flood 2014) and of Weyl sequences.
_GOLDEN, _FIRST, _SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
_STEP, _ROW, _COLUMN = 0xD1B54A32D192ED03, 0xABC98388FB8FAC03, 0x8CB92BA72F3D8DD7

ACTIONS, SHUFFLES, OPPONENTS, EVALUATION, OTHERS, SYMMETRIES, NOVELTY = range(7)  # streams


def _signed(value: int) -> int:
    value &= 2**64 - 1
    return value - 2**64 if value >= 2**63 else value


def _mixed(bits: Tensor) -> Tensor:
    # Shifts of int64 keep the sign, so what they bring in is masked away.
    bits = (bits ^ ((bits >> 30) & (2**34 - 1))) * _signed(_FIRST)
    bits = (bits ^ ((bits >> 27) & (2**37 - 1))) * _signed(_SECOND)
    return bits ^ ((bits >> 31) & (2**33 - 1))


def _mixed_number(bits: int) -> int:
    # `_mixed` for one Python int: as a tensor it would cost a dozen calls.
    bits &= 2**64 - 1
    bits = (bits ^ (bits >> 30)) * _FIRST & (2**64 - 1)
    bits = (bits ^ (bits >> 27)) * _SECOND & (2**64 - 1)
    return bits ^ (bits >> 31)


def _number(bits: Tensor) -> Tensor:
    # The middles of 2^23 equal parts: with the half that is what 24 bits hold exactly.
    return (((bits >> 41) & (2**23 - 1)).float() + 0.5) * 2.0**-23


class Noise:
    """Draws of one stream of one seed.

    Args:
        seed: Seed of the run.
        stream: The purpose of the draws.
        device: The device of the draws.
    """

    def __init__(self, seed: int, stream: int, device: torch.device) -> None:
        self.key = _signed((seed + 1) * _GOLDEN + stream * _FIRST)
        self.device = device

    def bits(
        self, first_step: Tensor, steps: int, first_row: int, rows: int, columns: int
    ) -> Tensor:
        """Return 64 random bits for each (step, row, column), from `first_step` of any size on."""

        def axis(length: int, factor: int, first: int = 0) -> Tensor:
            numbers = torch.arange(first, first + length, device=self.device)
            return numbers * _signed(factor)

        step = first_step * _signed(_STEP) + axis(steps, _STEP)
        counter = step.view(-1, 1, 1) + axis(rows, _ROW, first_row).view(-1, 1)
        return _mixed(_mixed(counter + axis(columns, _COLUMN) + self.key))

    def uniform(
        self, first_step: Tensor, steps: int, first_row: int, rows: int, columns: int
    ) -> Tensor:
        """Return float32 numbers in (0, 1) of shape (steps, rows, columns)."""
        return _number(self.bits(first_step, steps, first_row, rows, columns))

    def at_steps(self, steps: Tensor, first_row: int) -> Tensor:
        """Return one float32 number in (0, 1) for each row, each at a step of its own."""
        rows = torch.arange(first_row, first_row + len(steps), device=self.device)
        counter = steps * _signed(_STEP) + rows * _signed(_ROW)
        return _number(_mixed(_mixed(counter + self.key)))

    def order(self, step: int, count: int, rank: int = 0) -> Tensor:
        """Return the numbers below `count` in random order, another one at each step and rank."""
        # Mixed, since the CPU's generator takes only the lower half of its seed.
        seed = _mixed_number(self.key + step * _STEP + rank * _ROW) & (2**63 - 1)
        generator = torch.Generator(self.device).manual_seed(seed)
        return torch.randperm(count, generator=generator, device=self.device)
