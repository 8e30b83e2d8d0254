"""Memory that a trainer's tensors leave stays with the process."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

pytest.importorskip("torch", reason="needs torch")

FAULTS = """
import resource, sys, torch
from gpu_envs.train import freed_memory
if sys.argv[1] == "kept":
    assert freed_memory.keep()
for count in range(40):
    if count == 30:  # aligned blocks may leave gaps, until one is found that is large enough
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    torch.zeros(40_000_000, dtype=torch.uint8)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults(how: str) -> int:
    made = subprocess.run(
        [sys.executable, "-c", FAULTS, how], capture_output=True, text=True, check=True
    )
    return int(made.stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="needs glibc")
def test_tensors_take_the_memory_that_others_left() -> None:
    assert 4 * faults("kept") < faults("given back")
