"""Memory that a trainer's tensors leave stays with the process."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytest.importorskip("torch", reason="needs torch")

FAULTS = """
import resource, sys, torch
from gpu_envs.train import freed_memory
if sys.argv[1] == "kept":
    assert freed_memory.keep()
for update in range(6):
    if update == 1:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(2):
        torch.zeros(40_000_000, dtype=torch.uint8)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults(how: str) -> int:
    made = subprocess.run(
        [sys.executable, "-c", FAULTS, how], capture_output=True, text=True, check=True
    )
    return int(made.stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="about glibc")
def test_tensors_take_the_memory_that_others_left() -> None:
    assert 10 * faults("kept") < faults("given back")
