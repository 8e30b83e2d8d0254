"""Fixtures of the trainer's tests: one thread, and the same numbers from torch for each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def _one_thread_and_one_seed() -> Iterator[None]:
    try:
        import torch
    except ModuleNotFoundError:  # the tests say themselves that they need it
        yield
        return
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    yield
    torch.set_num_threads(before)
