"""Orders the calls of one simulator with other work on a GPU.

Every call is enqueued between two waits, unless it runs on the library's current stream anyway:

    current stream   .. outputs allocated, actions converted .. |                 | .. used, freed
    stream=                                                     | -> the call ->  |
    maker's stream   .. actions or mask written ..............  |                 | .. reused

So outputs belong to the current stream, wherever they were written. To run a simulator beside the
current stream, make another one current.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from gpu_envs import errors
from gpu_envs.core.arrays import Arrays

_LEGACY = 1  # the default stream, as `__cuda_array_interface__` writes it


class Streams:
    """The streams of one simulator.

    Args:
        bindings: Bindings of its machine.
        ordinal: Ordinal of its device.
        arrays: Its arrays, whose library has the current stream.
    """

    def __init__(self, bindings: Any, ordinal: int, arrays: Arrays) -> None:
        self._bindings, self._ordinal, self._arrays = bindings, ordinal, arrays
        self.can_capture = bindings.MACHINE == "cuda"

    def enqueue(
        self,
        call: Callable[[int], None],
        given: object,
        makers: int | tuple[int | None, ...] | None,
        arrays: Iterable[Any],
    ) -> None:
        """Make a call on its stream, after and before the others, and keep its arrays meanwhile.

        Args:
            call: Takes the handle of the stream.
            given: The `stream=` of the call; None for the current one.
            makers: Handle of the stream on which an argument is written, or one per argument.
            arrays: The arrays that it reads and writes.
        """
        if not isinstance(makers, tuple):
            makers = (makers,)
        if given is None and all(maker is None for maker in makers):
            return call(self._arrays.stream())
        with self._ordered(given, makers) as handle:
            call(handle)
        if handle != self._arrays.stream():
            self._arrays.keep(handle, [array for array in arrays if array is not None])
        return None

    @contextmanager
    def _ordered(self, given: object, makers: tuple[int | None, ...]) -> Iterator[int]:
        current = self._arrays.stream()
        handle = current if given is None else stream_handle(given)
        others = [] if handle == current else [current]
        # What a capture reads at a replay was written before, or else is the caller's to order.
        for maker in makers:
            if maker is None or maker in (handle, current, *others):
                continue
            if not self._bindings.is_capturing(handle):
                others.append(maker)
        for other in others:
            self._bindings.follow(self._ordinal, handle, other)
        try:
            yield handle
        finally:
            for other in reversed(others):
                self._bindings.follow(self._ordinal, other, handle)

    def is_capturing(self) -> bool:
        """Whether the current stream is captured into a CUDA graph."""
        return self.can_capture and bool(self._bindings.is_capturing(self._arrays.stream()))

    def settle(self, call: str) -> None:
        """Wait for the work enqueued on the library's streams; during a capture return at once.

        Args:
            call: Name of the call, for a message.
        """
        for handle in self._arrays.used_streams():
            self._bindings.wait_for(self._ordinal, handle, call)


def handle_of_maker(stream: int | None) -> int | None:
    """Return a handle for the `stream` of a `__cuda_array_interface__`; None: nothing to wait for.

    2, the default stream of each thread, is a handle as it is.
    """
    if stream == 0:
        raise ValueError("__cuda_array_interface__: stream 0 is ambiguous: 1 is the default stream")
    return 0 if stream == _LEGACY else stream


def stream_handle(stream: Any) -> int:
    """Return the handle of a stream: an int, or an object of torch or CuPy."""
    for attribute in ("cuda_stream", "ptr"):
        if hasattr(stream, attribute):
            return int(getattr(stream, attribute))
    return errors.whole(stream, "stream", 0, 2**64 - 1)
