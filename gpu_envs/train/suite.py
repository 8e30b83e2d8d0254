"""`train --suite NAME`: a policy for each game of a suite, one after the other, and one table."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gpu_envs import suites
from gpu_envs.train.columns import measure_column
from gpu_envs.train.config import Config
from gpu_envs.train.session import Session

OPTION = "--suite"
_HEAD = ("game", "steps", "seconds", "best return", "last evaluation")

Configured = tuple[Config, dict[str, Any] | None]
Row = tuple[str, ...]


def main(words: Sequence[str], configured: Callable[[Sequence[str]], Configured]) -> int:
    """Train all games, and print what they have reached.

    Args:
        words: The name of the suite, and the options of every run.
        configured: Reads the command line of one run: the id of its game, and options.
    """
    suite = suites.find(words[0] if words else None)
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        raise ValueError(f"{OPTION} trains in one process: several are for one environment")
    runs = {game: configured([game, *words[1:]]) for game in suite.games}  # refuses before any runs
    for config, _ in runs.values():
        if "<env>" not in config.out:
            raise ValueError(f"--out needs <env> in it, for a folder of each game: {config.out}")
    rows: list[Row] = []
    try:
        for number, (game, run) in enumerate(runs.items(), 1):
            print(f"{game}, {number} of {len(suite.games)} games of {suite.name}", flush=True)
            session = Session(*run)
            try:
                session.run()
                rows.append(_row(game, session))
            finally:
                session.env.close()
                session.trials.env.close()
            if session.is_interrupted:
                break
    finally:
        if rows:
            print(table(rows), flush=True)
    return 0


def _row(game: str, session: Session) -> Row:
    names = [measure.facts["what"] for measure in session.trials.measures]
    found: Mapping[str, float] = session.reached
    values = [(name, found.get(measure_column(name))) for name in names]
    shown = ", ".join(f"{name} {value:.3g}" for name, value in values if value is not None)
    best = f"{session.best:.2f}"
    return game, f"{session.trainer.steps:,}", f"{session.seconds:.0f}", best, shown or "-"


def table(rows: Sequence[Row]) -> str:
    """Return rows below their names, in columns."""
    lines = [_HEAD, *rows]
    widths = [max(len(line[k]) for line in lines) for k in range(len(_HEAD))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if k in (0, len(_HEAD) - 1) else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )
