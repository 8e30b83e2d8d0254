"""The names of a run's main columns, and the words of its log lines.

A side is a role that learns. Where there are several, each has columns and words of its own, since
a mean over opponents says nothing; the only one's columns are called as they are.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

TRAINING, EVALUATION = "charts/episodic_return", "evaluation/return"
TRAINING_LENGTH, EVALUATION_LENGTH = "charts/episodic_length", "evaluation/length"
EVALUATION_EPISODES = "evaluation/episodes"


def column(name: str, side: str) -> str:
    """Return the column of a side."""
    return f"{name}_{side}" if side else name


def measure_column(what: str) -> str:
    """Return the column of an environment's own measure."""
    return f"evaluation/{what.replace(' ', '_')}"


def _short(value: float | None) -> str:
    return "-" if value is None or math.isnan(value) else f"{value:.3g}"


def decimal(value: float) -> str:
    """Format an episode return, a dash for none yet."""
    return f"{value:.1f}" if math.isfinite(value) else "-"


@dataclass(frozen=True)
class Told:
    """The main columns of a run, and their words.

    Args:
        sides: Roles that learn; "" for the only one.
        is_sampled: Whether evaluations draw their actions, as training does.
        measures: The measures of evaluations beside the return, such as "hiders seen".
        differences: What differs between training and evaluations, in words (`settings.within`).
        is_suite: Whether there are too many measures for a line, which a table has at the end.
    """

    sides: tuple[str, ...] = ("",)
    measures: tuple[str, ...] = ()
    is_sampled: bool = False
    differences: tuple[str, ...] = ()
    is_suite: bool = False

    def of(self, name: str) -> list[str]:
        """Return the columns of all sides."""
        return [column(name, side) for side in self.sides]

    def columns(self) -> list[str]:
        """Return the main columns: printed, drawn, and first in the table."""
        measured = map(measure_column, self.measures)
        return [*self.of(TRAINING), *self.of(EVALUATION), *measured]

    def label(self, name: str, side: str) -> str:
        """Return the label of a curve: its side, and how actions were chosen."""
        is_drawn = self.is_sampled or name == TRAINING
        what = "training" if name == TRAINING else "evaluation"
        how = "sampled" if is_drawn else "likeliest"
        return f"{side}, {what}: {how} actions" if side else f"{what}: {how} actions"

    def words(self, known: Mapping[str, float]) -> list[str]:
        """Return the values in words, with a dash for each that is not known yet."""
        returns = self._each(TRAINING, known), self._each(EVALUATION, known)
        words = [f"return {returns[0]}", f"evaluation {returns[1]}"]
        for what in () if self.is_suite else self.measures:
            words.append(f"{what} {_short(known.get(measure_column(what)))}")
        return words

    def _each(self, name: str, known: Mapping[str, float]) -> str:
        pairs = [(side, decimal(known.get(column(name, side), math.nan))) for side in self.sides]
        return " ".join(f"{side} {value}" if side else value for side, value in pairs)
