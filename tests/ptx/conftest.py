"""What the tests on interpreted kernels need: the variable, nvcc, and no fault that was left."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from gpu_envs.building import places, toolchain
from gpu_envs.known import native
from scripts.ptx import interpreter


@pytest.fixture(scope="session")
def interpreted() -> None:
    """Device "cuda" means interpreted kernels, for which nvcc makes the objects."""
    if places.cuda_target() != places.PTX:
        pytest.skip("needs GPU_ENVS_CUDA_RUNTIME=interpreted, which `make cuda` sets")
    try:
        toolchain.nvcc()
    except toolchain.CannotBuild as problem:
        pytest.skip(f"needs nvcc: {problem}")
    native.at(places.PTX)


@pytest.fixture
def device(interpreted: None, on_gpu: Any) -> Iterator[Any]:
    """The array library of device "cuda"; no kernel of the test may have a fault."""
    yield on_gpu
    assert interpreter.fault() == ""
