"""Says which step of a command begins and what is left, by what its steps took last time.

Usage: scripts/checks/minutes.py COMMAND NUMBER COUNT TITLE [--elapsed SECONDS] [--before SECONDS]

Prints `gpu_envs: [1:05] 2 of 6: TITLE; left: 5 steps, 27 minutes last time` on stderr, with the
step that begins among those left. `--before` is what the step before it took: it is kept, for this
user and machine, in `minutes.json` of the folder that all trees share. At the end NUMBER is above
COUNT, and nothing is left. What cannot be read or written is done without.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "gpu_envs"))  # nothing is installed

from building import places  # type: ignore[import-not-found]

_MOST = 40  # commands that are remembered; a command counts with its arguments
_LONGEST = 1e6  # [s]


def read(name: str) -> dict[str, dict[str, float]]:
    """Return a file of seconds by group and name; empty where there is none to be used."""
    try:
        found = json.loads((places.store_folder() / name).read_text(encoding="utf-8"))
        groups = {str(group): dict(of) for group, of in found.items()}
    except (OSError, ValueError, TypeError, AttributeError, places.CannotBuild):
        return {}
    return {
        group: {str(key): float(s) for key, s in of.items() if _is_time(s)}
        for group, of in groups.items()
    }


def _is_time(value: object) -> bool:
    return isinstance(value, int | float) and 0 <= value < _LONGEST


def keep(name: str, groups: dict[str, dict[str, float]], most: int = 1000) -> None:
    """Write a file of seconds; of its groups the last ones, where there are more than `most`."""
    kept = dict(list(groups.items())[-most:])
    with contextlib.suppress(OSError, places.CannotBuild):
        folder = places.store_folder()
        places.make_folder(folder)
        places.write(folder / name, json.dumps(kept, indent=0))


def left(known: dict[str, float], number: int, count: int) -> str:
    """Say which steps are left and what they took last time."""
    times = [known.get(f"{k} of {count}") for k in range(number, count + 1)]
    said = f"{len(times)} step{'s' * (len(times) > 1)}"
    taken = [seconds for seconds in times if seconds is not None]
    if not taken:
        return f"left: {said}"
    minutes = f"{sum(taken) / 60:.1f} minutes last time"
    return f"left: {said}, {minutes if len(taken) == len(times) else 'more than ' + minutes}"


def main() -> None:
    """Keep what the last step took, and say what is left."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command")
    parser.add_argument("number", type=int)
    parser.add_argument("count", type=int)
    parser.add_argument("title")
    parser.add_argument("--elapsed", type=int, default=0)
    parser.add_argument("--before", type=int)
    options = parser.parse_args()
    number, count = options.number, options.count
    groups = read("minutes.json")
    known = groups.pop(options.command, {})
    if options.before is not None:
        known[f"{number - 1} of {count}"] = float(options.before)
        keep("minutes.json", {**groups, options.command: known}, _MOST)
    clock = f"{options.elapsed // 60}:{options.elapsed % 60:02d}"
    said = options.title
    if number <= count:
        said = f"{number} of {count}: {said}; {left(known, number, count)}"
    print(f"gpu_envs: [{clock}] {said}", file=sys.stderr)


if __name__ == "__main__":
    main()
