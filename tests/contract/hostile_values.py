"""Values that no call expects: wrong types, shapes, dtypes, sizes, and objects that lie."""

from __future__ import annotations

import datetime
import decimal
import random
from collections.abc import Callable
from typing import Any

import numpy as np


class Lies:
    """Says that it is a number, an array and a list, and raises when it is asked."""

    def __index__(self) -> int:
        raise OverflowError("no index")

    def __len__(self) -> int:
        raise RuntimeError("no length")

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise ValueError("no array")

    def __dlpack__(self, **_: Any) -> Any:
        raise BufferError("no DLPack")

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


class Shapeless:
    """Has the attributes of an array, none of which is one."""

    shape: Any = None
    dtype: Any = "what"
    ndim = "one"

    def reshape(self, *_: Any) -> Shapeless:
        return self


class Unequal:
    """Cannot be compared, hashed or shown shortly."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        raise TypeError("not comparable")

    def __repr__(self) -> str:
        return "Unequal()" * 3


def scalars() -> list[Any]:
    """Return values that are neither arrays nor lists."""
    return [
        *(None, True, False, -1, 0, 1, 2, 7, 2**31 - 1, 2**31, 2**32, 2**63, 2**64, 10**30),
        *(-(2**31), -(2**63) - 1, 0.0, -0.5, 1.5, 1e300, float("nan"), float("inf"), -float("inf")),
        *("", "x", "all", "\0", "\ud800", "a" * 5000, "0", "nan", "../..", b"", b"x" * 99, 1j),
        *(decimal.Decimal("1.5"), datetime.date(2000, 1, 1), object(), Lies(), Shapeless()),
        *(Unequal(), len, lambda: 0, int, range(3), iter([1]), Ellipsis, slice(1), NotImplemented),
        *(
            np.int64(3),
            np.float32("nan"),
            np.bool_(True),
            np.str_("x"),
            np.datetime64("2000-01-01"),
        ),
    ]


def lists() -> list[Any]:
    """Return lists, sets and dictionaries."""
    return [
        *([], [[]], [1], [1, 2], [[1], [2, 3]], [None], ["x"], [1.5], [2**70], [-1, -1], [[[]]]),
        *((), (1,), (1, 2), ("x", 3), {1}, frozenset(), {}, {"x": 1}, {1: 2}, {None: None}),
        *([float("nan")], [True], [Lies()], [object()], [0] * 1000, ["final_obs"] * 3),
    ]


def of_shape(shape: tuple[int, ...]) -> list[Any]:
    """Return arrays of a shape whose elements or memory are wrong."""
    wide = np.zeros((*shape[:-1], 2 * (shape[-1] if shape else 1)), np.int64)
    locked = np.zeros(shape, np.int64)
    locked.setflags(write=False)
    return [
        *(np.full(shape, value) for value in (2**62, -1, 99, np.nan, np.inf, 1e30, "x", None, 1j)),
        *(
            np.zeros(shape, kind)
            for kind in "? b B h H i I q Q e f d g F O U3 S3 M8[D] m8[s]".split()
        ),
        *(np.zeros(shape, ">i8"), np.zeros(shape, ">f4"), wide[..., ::2], locked),
        np.zeros(shape, [("a", "i4"), ("b", "f4")]),
        np.full(shape, np.iinfo(np.uint64).max),
        np.zeros(shape, np.int64, order="F"),
        np.frombuffer(bytes(8 * int(np.prod(shape)) + 1), np.uint8)[1:]
        .view(np.int64)
        .reshape(shape),
        np.broadcast_to(np.int64(0), shape),
        np.ma.masked_array(np.zeros(shape, np.int64), mask=True),
        np.zeros(shape, np.int64).tolist(),
    ]


def arrays(shape: tuple[int, ...]) -> list[Any]:
    """Return arrays of other shapes than the given one, and wrong ones of it."""
    shapes = [(), (0,), (1,), (3,), (2, 2), (2, 3, 4), (0, 5), shape[:-1], (*shape, 1), (1, *shape)]
    others = [np.zeros(one, kind) for one in shapes for kind in (np.int64, np.float32, np.bool_)]
    return [*others, *of_shape(shape)]


class Chooser:
    """Draws hostile values, the same ones for the same seed."""

    def __init__(self, seed: str) -> None:
        self.random = random.Random(seed)

    def one(self, values: list[Any]) -> Any:
        """Return one of a list."""
        return values[self.random.randrange(len(values))]

    def any(self, shape: tuple[int, ...] = (2,)) -> Any:
        """Return anything."""
        return self.one(self.one([scalars(), lists(), arrays(shape)]))

    def mostly(self, good: Callable[[], Any], shape: tuple[int, ...] = (2,)) -> Any:
        """Return what is meant as often as what is not, so that one argument alone is wrong."""
        return good() if self.random.random() < 0.5 else self.any(shape)

    def keywords(self, **good: Callable[[], Any]) -> dict[str, Any]:
        """Return some of these keywords, and seldom one that there is not."""
        chosen = {k: self.mostly(v) for k, v in good.items() if self.random.random() < 0.4}
        if self.random.random() < 0.03:
            chosen["nonsense"] = self.any()
        return chosen
