"""Runs scripts/gpu/check.sh --dry-run, and holds what it found to what a GPU machine is promised.

Every step has to run, each of its processes to find something and to end well, every bar to have
its line in the output and every table its place in the report. Exit status 1: something has not,
and is named.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # the tree this script belongs to

from scripts.gpu import check as gpu_check
from scripts.gpu import evidence, native, speed
from scripts.gpu import training as trainer

BUDGET = 3600  # [s]; the seconds of a GPU machine are for one that is idle
TABLES = ("Steps", "Bars", "golden", "choices", "tune")
MOST_FILES, MOST_BYTES = 8, 16 << 20


def problems(folder: Path, printed: str) -> Iterator[str]:
    """Yield what is wrong with what a dry run left and printed."""
    rows = [row for row in evidence.read(folder) if row["kind"] == "row"]
    ends = [row for row in evidence.read(folder) if row["kind"] == "end"]
    for row in rows + ends:
        if row["status"] != "pass":
            yield f"{row['step']} {row['of']}: {row['status']}: {row['detail']}"
    found = {(row["step"], row["of"]) for row in rows}
    ended = {(row["step"], row["of"]) for row in ends}
    for name, step in gpu_check.STEPS.items():
        names = step.names(True)
        wanted = names if step.reads_all else native.one_of_each_kind(names)
        for of in wanted:
            if (name, of) not in found & ended:
                yield f"{name} {of}: it found nothing, or did not end"
    yield from _of_bars([row["bar"]["line"] for row in rows if row.get("bar")], printed)
    yield from _of_files(folder)


def _of_bars(lines: list[str], printed: str) -> Iterator[str]:
    promised = len(speed.unmeasured())
    promised += sum("least" in training for training in trainer.trained().values())
    if len(lines) != promised:
        yield f"{len(lines)} bars were judged, {promised} are promised"
    yield from (f"not printed: {line}" for line in lines if line not in printed)


def _of_files(folder: Path) -> Iterator[str]:
    report = (folder / evidence.REPORT).read_text(encoding="utf-8")
    if not report.startswith("# dry run"):
        yield "the report does not begin with '# dry run'"
    yield from (f"the report has no '{t}'" for t in TABLES if f"\n## {t}\n" not in report)
    files = list(folder.iterdir())
    if len(files) > MOST_FILES or any(file.stat().st_size > MOST_BYTES for file in files):
        yield f"too much was written: {[(file.name, file.stat().st_size) for file in files]}"


def main() -> int:
    """Run and judge; return the exit status."""
    with tempfile.TemporaryDirectory(prefix="gpu_envs-dry-run-") as out:
        command = [str(native.ROOT / "scripts/gpu/check.sh"), "--dry-run"]
        command += ["--budget", str(BUDGET), "--out", out]
        done = subprocess.run(
            command,
            env=os.environ | {"PYTHON": sys.executable},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        wrong = [f"it ended with {done.returncode}"] if done.returncode else []
        wrong += problems(Path(out), done.stdout)
    if wrong:
        print(done.stdout[-8000:])
    for line in wrong:
        print(f"check_dry_run: {line}")
    print(f"check_dry_run: {len(wrong) or 'no'} problems")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
