"""Functions that a GPU runs as one captured graph, so that no launch waits for Python.

A captured function reads and writes tensors that stay where they are; its arguments are copied into
tensors of its own. It must not wait for the device. On the CPU it is simply called.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

_WARM_UP = 3  # calls before the capture: libraries load, allocators settle


class Captured:
    """A function of tensors that returns nothing, replayed as a CUDA graph from its fourth call on.

    Args:
        function: What to run.
        device: Where its tensors are.
        is_on: False calls the function each time.
        say: Takes one line where a capture fails; the function is called from then on.
    """

    def __init__(
        self,
        function: Callable[..., None],
        device: torch.device,
        *,
        is_on: bool,
        say: Callable[[str], None],
    ) -> None:
        self.function, self.say = function, say
        self.is_on = is_on and device.type == "cuda"
        self.stream = torch.cuda.Stream(device) if self.is_on else None  # type: ignore[no-untyped-call]
        self.calls = 0
        self.graphs: dict[tuple[torch.Size, ...], tuple[torch.cuda.CUDAGraph, list[Tensor]]] = {}

    def __call__(self, *arguments: Tensor) -> None:
        """Run the function, or replay what it did."""
        if self.stream is None:
            self.function(*arguments)
            return
        self.calls += 1
        shapes = tuple(argument.shape for argument in arguments)
        if self.is_on and self.calls > _WARM_UP and shapes not in self.graphs:
            self._capture(shapes, arguments)
        if shapes in self.graphs:
            graph, own = self.graphs[shapes]
            for mine, given in zip(own, arguments, strict=True):
                mine.copy_(given)
            graph.replay()
            return
        # On the stream of the capture, so that what autograd keeps belongs to it.
        present = torch.cuda.current_stream()
        self.stream.wait_stream(present)
        with torch.cuda.stream(self.stream):
            self.function(*arguments)
        present.wait_stream(self.stream)

    def _capture(self, shapes: tuple[torch.Size, ...], arguments: tuple[Tensor, ...]) -> None:
        assert self.stream is not None  # checked by the caller
        own, graph = [argument.clone() for argument in arguments], torch.cuda.CUDAGraph()
        torch.cuda.synchronize()
        try:
            with torch.cuda.graph(graph, stream=self.stream):
                self.function(*own)
        except RuntimeError as problem:
            self.is_on = False
            self.say(f"CUDA graphs are off: {str(problem).splitlines()[0]}")
            return
        self.graphs[shapes] = (graph, own)
