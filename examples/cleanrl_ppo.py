#!/usr/bin/env python3
"""Runs a script of CleanRL on gpu_envs: applies a diff of ours to a copy of it, and runs the copy.

    git clone https://github.com/vwxyzjn/cleanrl && git -C cleanrl checkout fe8d8a0
    python examples/cleanrl_ppo.py --cleanrl cleanrl --env-id CartPole-v0 --seed 1

What this script does not know goes to CleanRL's. It needs what that imports: gymnasium 0.29.1,
numpy below 2, torch, tyro and tensorboard (tests/integrations/requirements/cleanrl.txt).
"""

from __future__ import annotations

import argparse
import re
import runpy
import sys
import tempfile
from pathlib import Path
from typing import Any

COMMIT = "fe8d8a03c41a7ef5b523e2e354bd01c363e786bb"
DIFFS = Path(__file__).resolve().parents[1] / "docs" / "integrations" / "cleanrl"
CALL = r"(VectorEnv\((?:args\.)?env_id, args\.num_envs)"  # how the diffs make the environment


def patched(source: str, diff: str) -> str:
    """Apply a diff without context lines; every line that it removes must be where it says."""
    lines, shift = source.splitlines(keepends=True), 0
    for hunk in re.split(r"^@@ ", diff, flags=re.MULTILINE)[1:]:
        head, *body = hunk.splitlines(keepends=True)
        place = re.match(r"-(\d+)(?:,(\d+))?", head)
        assert place is not None
        count = 1 if place[2] is None else int(place[2])
        start = int(place[1]) - (1 if count else 0) + shift
        old = [line[1:] for line in body if line.startswith("-")]
        new = [line[1:] for line in body if line.startswith("+")]
        if lines[start : start + count] != old:
            raise SystemExit(f"error: line {place[1]} differs from CleanRL's at commit {COMMIT}")
        lines[start : start + count] = new
        shift += len(new) - count
    return "".join(lines)


def run(cleanrl: Path, name: str, arguments: list[str], parameters: str = "") -> dict[str, Any]:
    """Run a script with the diff `name` and return its global variables."""
    diff = (DIFFS / f"{name}.diff").read_text(encoding="utf-8")
    script = diff.splitlines()[0].removeprefix("--- a/")
    if not (cleanrl / script).is_file():
        raise SystemExit(f"error: there is no {script} in {cleanrl}: give a checkout of CleanRL")
    source = patched((cleanrl / script).read_text(encoding="utf-8"), diff)
    if parameters:
        source = re.sub(CALL, lambda call: f"{call[1]}, {parameters}", source)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, Path(script).name)
        copy.write_text(source, encoding="utf-8")
        sys.argv = [str(copy), *arguments]
        return runpy.run_path(str(copy), run_name="__main__")


def main() -> None:
    """Run by the command line."""
    names = sorted(path.stem for path in DIFFS.glob("*.diff"))
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0], allow_abbrev=False)
    parser.add_argument("--cleanrl", type=Path, required=True, help="folder of a checkout")
    parser.add_argument("--diff", default="ppo", choices=names, help="which script, which change")
    parser.add_argument(
        "--parameters", default="", help="of the environment, as in Python: 'velocities=False'"
    )
    options, rest = parser.parse_known_args()
    run(options.cleanrl, options.diff, rest, options.parameters)


if __name__ == "__main__":
    main()
