#!/usr/bin/env python3
"""Records the golden hashes of environments again.

Usage: scripts/checks/record_golden.py NAME ... [--records]

NAME is an environment's file without its ending, such as cartpole. Every line of its file in
tests/golden/ is run by the module that users load, and says what changed: its records (the rules or
what they store) or its outputs alone (what is shown of them). Lines whose records changed are
written only with --records; a new line has zeros for its hashes, and is always written.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # the tree this script belongs to

from gpu_envs.known import native  # noqa: E402
from gpu_envs.terminal import broken_pipes  # noqa: E402
from scripts.checks import golden_cases  # noqa: E402


def run(case: golden_cases.Case) -> tuple[str, str]:
    """Return the hashes of records and of outputs."""
    target = native.cpu_target()
    simulator = native.at(target, case.id).Simulator(
        case.id, case.worlds, data_files=native.data_files(target, case.id), **case.options
    )
    records, outputs = simulator.golden(case.steps, case.seed)
    return records, outputs


def changed(line: str, takes_records: bool) -> tuple[str, str]:
    """Return a line as it has to be, and what changed: nothing, or a word."""
    case = golden_cases.parse(line)
    found = run(case)
    is_new = set("".join(case.hashes)) == {"0"}
    if found == case.hashes:
        return line, ""
    if found[0] != case.hashes[0] and not is_new and not takes_records:
        return line, "records differ: look why, then --records"
    rest = [part.strip() for part in line.split("|")][:-2]
    word = "new" if is_new else "outputs" if found[0] == case.hashes[0] else "records"
    return " | ".join([*rest, *found]), word


def main() -> int:
    """Renew the files, and return 1 where a line was left as it was."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="+", metavar="NAME", help="such as cartpole")
    parser.add_argument("--records", action="store_true", help="take changed records too")
    given = parser.parse_args()
    refused = False
    for name in given.names:
        path = golden_cases.FOLDER / f"{name}.txt"
        if not path.exists():
            parser.error(f"there is no {path.relative_to(ROOT)}: begin it with a line per case")
        lines = path.read_text(encoding="utf-8").splitlines()
        for k, line in enumerate(lines):
            if line.startswith("#"):
                continue
            lines[k], word = changed(line, given.records)
            if word:
                print(f"{name}, line {k + 1}: {word}")
            refused |= lines[k] == line and bool(word)
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return int(refused)


if __name__ == "__main__":
    broken_pipes.end_quietly()
    sys.exit(main())
