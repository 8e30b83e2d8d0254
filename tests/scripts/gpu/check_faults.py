"""scripts/gpu/check.py with steps that go wrong, for test_check.py to run and to kill.

A step's own file of numbers, written before each row, says what had been found at any moment.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from scripts.gpu import check as gpu_check


def once(_):
    return [""]


def count(found, name, dry_run):
    """Find a number every few milliseconds, for ever."""
    number = 0
    with open(found.folder.with_suffix(f".{name}"), "ab", buffering=0) as truth:
        while True:
            number += 1
            truth.write(b"%d\n" % number)
            found.row({"number": number})
            time.sleep(0.005)


def good(found, name, dry_run):
    """Find two things."""
    found.row({"found": 1})
    found.row({"found": 2})


def crash(found, name, dry_run):
    """Find something, then die as a fault in native code does."""
    found.row({"found": "before the crash"})
    print("the last words", flush=True)
    os.abort()


def hang(found, name, dry_run):
    """Find something, then wait for ever for a child that waits for ever."""
    found.row({"found": "before it hung"})
    print("begun", flush=True)
    subprocess.run(["sleep", "1000"], check=False)


Step = gpu_check.Step
gpu_check.SCRIPT = Path(__file__).resolve()
gpu_check.STEPS = {
    "good": Step(good, once, 10, 60, decides=True),
    "crash": Step(crash, once, 10, 60),
    "hang": Step(hang, once, 1, 2),
    "count": Step(count, lambda _: ["one", "two"], 100, 1000, at_once=2),
}
gpu_check.PLANS = {}
gpu_check.gpu_bundle.problems = lambda gpu=None: []
gpu_check.gpu_bundle.take = lambda gpu=None: "bundle: none"

if __name__ == "__main__":
    sys.exit(gpu_check.main())
