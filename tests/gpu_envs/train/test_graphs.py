"""Captured functions: when they are called, captured and replayed, by stand-ins for CUDA's."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest

pytest.importorskip("torch", reason="needs gpu_envs[train]")

import torch as t

from gpu_envs.train.graphs import Captured


class Stream:
    def wait_stream(self, other: Any) -> None:
        pass


class Cuda:
    """A capture notes the function, a replay calls it again with what it was captured with."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.total = 0.0
        self.capturing: Any = None
        self.is_broken = False

    def function(self, *arguments: t.Tensor) -> None:
        if self.capturing is not None:
            if self.is_broken:
                raise RuntimeError("operation not permitted\nwhen stream is capturing")
            self.capturing.again = lambda: self.function(*arguments)
            return
        self.said.append("call")
        self.total += sum(float(argument.sum()) for argument in arguments)

    def graph(self) -> Any:
        outer = self

        class Graph:
            again: Callable[[], None]

            def replay(self) -> None:
                outer.said.append("replay")
                self.again()

        return Graph()

    @contextlib.contextmanager
    def capture(self, graph: Any, stream: Any) -> Iterator[None]:
        self.said.append("capture")
        self.capturing = graph
        try:
            yield
        finally:
            self.capturing = None


@pytest.fixture
def cuda(monkeypatch: pytest.MonkeyPatch) -> Cuda:
    fake = Cuda()
    monkeypatch.setattr(t.cuda, "Stream", lambda device: Stream())
    monkeypatch.setattr(t.cuda, "current_stream", lambda device: Stream())
    monkeypatch.setattr(t.cuda, "set_stream", lambda stream: None)
    monkeypatch.setattr(t.cuda, "stream", lambda stream: contextlib.nullcontext())
    monkeypatch.setattr(t.cuda, "CUDAGraph", fake.graph)
    monkeypatch.setattr(t.cuda, "graph", fake.capture)
    monkeypatch.setattr(t.cuda, "synchronize", lambda device: None)
    return fake


def captured(fake: Cuda, **options: Any) -> Captured:
    return Captured(fake.function, t.device("cuda"), **{"is_on": True, "say": print, **options})


def test_on_the_cpu_a_function_is_called() -> None:
    calls: list[int] = []
    once = Captured(lambda x: calls.append(int(x)), t.device("cpu"), is_on=True, say=print)
    for number in range(6):
        once(t.tensor(number))
    assert calls == list(range(6))


def test_a_function_is_captured_once_and_replayed_with_new_arguments(cuda: Cuda) -> None:
    function = captured(cuda)
    for number in range(6):
        function(t.full((2,), float(number)))
    assert cuda.total == 2 * sum(range(6))
    assert cuda.said == ["call"] * 3 + ["capture"] + ["replay", "call"] * 3


def test_each_shape_has_a_graph_of_its_own(cuda: Cuda) -> None:
    function = captured(cuda)
    for _ in range(5):
        for length in (1, 2):
            function(t.ones(length))
    assert cuda.total == 15
    assert cuda.said.count("capture") == 2 and cuda.said.count("replay") == 4


def test_shapes_that_keep_changing_are_not_captured_without_end(cuda: Cuda) -> None:
    function = captured(cuda)
    for length in range(10):
        for _ in range(4):
            function(t.ones(length))
    assert cuda.total == 4 * sum(range(10))
    assert cuda.said.count("capture") == 4


def test_a_capture_that_fails_is_told_and_the_function_called_from_then_on(cuda: Cuda) -> None:
    said: list[str] = []
    function = captured(cuda, say=said.append)
    cuda.is_broken = True
    for _ in range(6):
        function(t.ones(1))
    assert cuda.total == 6
    assert said == ["CUDA graphs are off: operation not permitted"]


def test_graphs_can_be_turned_off(cuda: Cuda) -> None:
    function = captured(cuda, is_on=False)
    for _ in range(6):
        function(t.ones(1))
    assert cuda.said == ["call"] * 6
