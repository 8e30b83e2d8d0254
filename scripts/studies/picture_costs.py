"""Processor seconds of a picture of a film, by what takes them.

Usage: .venv/bin/python scripts/studies/picture_costs.py [ID] [--steps N] [any option of `render`]

Draws a film as `python -m gpu_envs render` does, HideSeek-v0 in its default size where nothing is
said, and prints milliseconds of a processor per picture: of this process, and of the encoder, which
is one of its own. `alone` is a picture before which nothing was drawn: a film keeps what did not
change since the last picture.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from gpu_envs.commands import render, videos
from gpu_envs.terminal import broken_pipes

_SOME = 8  # pictures that are drawn alone


def _processor(who: int = resource.RUSAGE_SELF) -> float:
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def _timed(spent: dict[str, float], name: str, work: Callable[[], Any]) -> Any:
    begin = _processor()
    made = work()
    spent[name] = spent.get(name, 0.0) + _processor() - begin
    return made


def _film(chosen: argparse.Namespace, own: dict[str, Any]) -> tuple[int, dict[str, float]]:
    """Make a film; return how many pictures it has and what they took."""
    spent: dict[str, float] = {}
    with closing(render._world(chosen, own)) as env:
        steps = render.episode(env, render.random_actions(env, chosen.seed), chosen.seed)
        next(steps)
        _timed(spent, "draw", lambda: render._draw(env, chosen))  # also chooses a size
        spent.clear()
        count, encoder = 0, _processor(resource.RUSAGE_CHILDREN)
        with videos.film(chosen.out, chosen.size, chosen.fps) as add:
            while count < chosen.steps:
                if _timed(spent, "step", lambda: next(steps, None)) is None:
                    break
                picture = _timed(spent, "draw", lambda: render._draw(env, chosen))
                _timed(spent, "hand over", lambda picture=picture: add(picture))
                count += 1
        spent["encode"] = _processor(resource.RUSAGE_CHILDREN) - encoder
    return count, spent


def _alone(chosen: argparse.Namespace, own: dict[str, Any]) -> float:
    """Return what a picture takes that is the first of its world, the median of some."""
    found = []
    for world in range(_SOME):
        chosen.world = world
        with closing(render._world(chosen, own)) as env:
            env.reset(seed=chosen.seed)
            spent: dict[str, float] = {}
            _timed(spent, "draw", lambda env=env: render._draw(env, chosen))
            found.append(spent["draw"])
    return statistics.median(found)


def main() -> None:
    """Measure one film."""
    arguments = sys.argv[1:]
    name = arguments.pop(0) if arguments and not arguments[0].startswith("-") else "HideSeek-v0"
    with tempfile.TemporaryDirectory() as folder:
        out = str(Path(folder) / "film.mp4")
        chosen, own = render.parse([name, "--out", out, "--steps", "100", *arguments])
        begin = time.monotonic()
        count, spent = _film(chosen, own)
        wall = time.monotonic() - begin
        size = f"{chosen.size[1]}x{chosen.size[0]}, {chosen.samples} samples a side"
        print(f"{name}: {count} pictures of {size}, {1000 * wall / count:.1f} ms each by the clock")
        for what, seconds in spent.items():
            print(f"  {what:10} {1000 * seconds / count:7.1f} ms")
        print(f"  {'together':10} {1000 * sum(spent.values()) / count:7.1f} ms")
        print(f"  {'alone':10} {1000 * _alone(chosen, own):7.1f} ms to draw")


if __name__ == "__main__":
    broken_pipes.end_quietly()
    main()
