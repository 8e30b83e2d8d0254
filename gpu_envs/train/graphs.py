"""Functions that a GPU runs as one captured graph, so that no launch waits for Python.

A captured function reads and writes tensors at fixed addresses; its arguments are copied into
tensors of its own. It must not wait for the device. On the CPU it is simply called.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

_WARM_UP = 3  # calls with the same shapes before the capture: libraries load, allocators settle
_MOST = 4  # graphs of one function: ever new shapes are not worth one each


class Captured:
    """A function of tensors that returns nothing, replayed as a CUDA graph from its fourth call on.

    Args:
        function: The function to run.
        device: The device of its tensors.
        is_on: False calls the function each time.
        say: Called with one line where a capture fails; the function is called from then on.
    """

    def __init__(
        self,
        function: Callable[..., None],
        device: torch.device,
        *,
        is_on: bool,
        say: Callable[[str], None],
    ) -> None:
        self.function, self.say, self.device = function, say, device
        self.is_on = is_on and device.type == "cuda"
        self.stream = torch.cuda.Stream(device) if self.is_on else None  # type: ignore[no-untyped-call]
        self.calls: dict[tuple[torch.Size, ...], int] = {}
        self.graphs: dict[tuple[torch.Size, ...], tuple[torch.cuda.CUDAGraph, list[Tensor]]] = {}

    def __call__(self, *arguments: Tensor) -> None:
        """Run the function, or replay its graph."""
        if self.stream is None:
            self.function(*arguments)
            return
        shapes = tuple(argument.shape for argument in arguments)
        self.calls[shapes] = self.calls.get(shapes, 0) + 1
        is_warm = self.calls[shapes] > _WARM_UP
        if self.is_on and is_warm and shapes not in self.graphs and len(self.graphs) < _MOST:
            self._capture(shapes, arguments)
        if shapes in self.graphs:
            graph, own = self.graphs[shapes]
            for mine, given in zip(own, arguments, strict=True):
                mine.copy_(given)
            graph.replay()
            return
        # On the stream of the capture, so that what autograd keeps belongs to it.
        present = torch.cuda.current_stream(self.device)
        self.stream.wait_stream(present)
        with torch.cuda.stream(self.stream):
            self.function(*arguments)
        present.wait_stream(self.stream)

    def _capture(self, shapes: tuple[torch.Size, ...], arguments: tuple[Tensor, ...]) -> None:
        own, graph = [argument.clone() for argument in arguments], torch.cuda.CUDAGraph()
        present = torch.cuda.current_stream(self.device)
        torch.cuda.synchronize(self.device)
        try:
            with torch.cuda.graph(graph, stream=self.stream):
                self.function(*own)
        except RuntimeError as problem:
            torch.cuda.set_stream(present)  # which a capture that fails at its end leaves changed
            self.is_on = False
            self.say(f"CUDA graphs are off: {str(problem).splitlines()[0]}")
            return
        self.graphs[shapes] = (graph, own)
