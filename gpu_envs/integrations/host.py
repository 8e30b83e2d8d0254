"""Copies outputs of a step to the host, for libraries that take only NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np


def fetch(device: str, *values: Any) -> list[Any]:
    """Return arrays, or dictionaries of them, as NumPy's; with one wait for a GPU."""
    copies = [_host(value) for value in values]
    if device != "cpu":
        import torch

        torch.cuda.current_stream(torch.device(device)).synchronize()
    return copies


def _host(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value
    if isinstance(value, dict):
        return {key: _host(part) for key, part in value.items()}
    return value.to("cpu", non_blocking=True).numpy()  # from a GPU into pinned memory
