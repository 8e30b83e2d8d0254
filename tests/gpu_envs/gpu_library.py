"""The array library of tests on a GPU: torch, or a stand-in for CuPy where kernels are interpreted.

Both have the same few calls, so that a test runs on either.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from gpu_envs.building import places


class Torch:
    """PyTorch on the first GPU."""

    name = "torch"

    def __init__(self) -> None:
        self._torch = pytest.importorskip("torch", reason="needs torch")

    def to_gpu(self, array: Any) -> Any:
        return self._torch.as_tensor(array, device="cuda")

    def to_host(self, array: Any) -> np.ndarray[Any, Any]:
        return np.asarray(array.cpu().numpy())

    def is_there(self, array: Any) -> bool:
        return bool(array.is_cuda)

    def stream(self) -> Any:
        return self._torch.cuda.Stream()

    @contextmanager
    def capture(self) -> Iterator[Any]:
        """Record what is enqueued; what comes has `replay`."""
        graph = self._torch.cuda.CUDAGraph()
        with self._torch.cuda.graph(graph):
            yield graph


class Recording:
    """A graph of CuPy."""

    graph: Any = None

    def replay(self) -> None:
        self.graph.launch()


class Cupy:
    """A stand-in for CuPy on the interpreter's device."""

    name = "cupy"

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        import interpreted_cupy  # of no use beside a real GPU

        self.module = interpreted_cupy.install(monkeypatch)

    def to_gpu(self, array: Any) -> Any:
        return self.module.asarray(np.asarray(array))

    def to_host(self, array: Any) -> np.ndarray[Any, Any]:
        return np.asarray(array.get())

    def is_there(self, array: Any) -> bool:
        return isinstance(array, self.module.ndarray)

    def stream(self) -> Any:
        return self.module.cuda.Stream(non_blocking=True)

    @contextmanager
    def capture(self) -> Iterator[Recording]:
        """Record what is enqueued; what comes has `replay`."""
        made = Recording()
        with self.stream() as stream:
            stream.begin_capture()
            try:
                yield made
            finally:
                made.graph = stream.end_capture()


def make(monkeypatch: pytest.MonkeyPatch) -> Torch | Cupy:
    """Return the library for device "cuda"."""
    return Cupy(monkeypatch) if places.cuda_target() == places.PTX else Torch()
