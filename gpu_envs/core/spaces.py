"""Gymnasium spaces from native descriptions, and views of observations that match them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces

from gpu_envs.core.action_forms import row_shape
from gpu_envs.known.fields import Field
from gpu_envs.known.outputs import Outputs

Space = spaces.Space[Any]
NDArray = np.ndarray[Any, Any]


def _limits(field: Field) -> tuple[Any, Any]:
    dtype = np.dtype(field.type)
    if dtype.kind == "b":
        return 0, 1
    if field.choices is not None:
        return 0, field.choices - 1
    if dtype.kind == "f":
        lowest, highest = -np.inf, np.inf
    else:
        lowest, highest = np.iinfo(dtype).min, np.iinfo(dtype).max
    return (
        lowest if field.low is None else field.low,
        highest if field.high is None else field.high,
    )


def box(fields: Sequence[Field], shape: tuple[int, ...], dtype: str) -> spaces.Box:
    """Return the Box of one contiguous row of fields, in their order."""
    kind = np.dtype(dtype)
    pairs = [(*_limits(field), field.size) for field in fields]
    low = np.concatenate([np.full(size, low, kind) for low, _, size in pairs])
    high = np.concatenate([np.full(size, high, kind) for _, high, size in pairs])
    return spaces.Box(low.reshape(shape), high.reshape(shape), dtype=kind.type)


def _extent(field: Field) -> tuple[int, ...]:
    """Return the shape of a field by itself; a single number is (1,), for learners of vectors."""
    return field.shape or (1,)


def observation_space(
    fields: Sequence[Field], shape: tuple[int, ...], dtype: str, layout: str
) -> Space:
    """Return the space of one agent's observation; `layout` is "flat" or "dict"."""
    if layout == "flat":
        return box(fields, shape, dtype)
    return spaces.Dict({field.name: box([field], _extent(field), dtype) for field in fields})


def action_space(fields: Sequence[Field]) -> Space:
    """Return the space of one agent's action: Discrete, MultiDiscrete or Box."""
    shape = row_shape(fields)
    if any(field.choices is None for field in fields):
        return box(fields, shape, fields[0].type)
    if shape == ():
        return spaces.Discrete(int(fields[0].choices or 1))
    counts = [np.full(field.shape, field.choices, np.int64).ravel() for field in fields]
    return spaces.MultiDiscrete(np.concatenate(counts))


class FieldViews:
    """Splits observation rows into a dictionary of views, one per field."""

    def __init__(self, fields: Sequence[Field], row: tuple[int, ...]) -> None:
        self._whole = fields[0].name if len(fields) == 1 and fields[0].shape == row else None
        self._plan: list[tuple[str, Any, tuple[int, ...]]] = []
        start = 0
        for field in fields:
            part = (..., slice(start, start + field.size))
            self._plan.append((field.name, part, _extent(field)))
            start += field.size

    def __call__(self, rows: Any) -> dict[str, Any]:
        """Return the views; a library whose slices copy (jax) copies."""
        if self._whole is not None:
            return {self._whole: rows}
        views = {}
        for name, part, shape in self._plan:
            view = rows[part]
            if len(shape) > 1:
                view = view.reshape((*view.shape[:-1], *shape))
            views[name] = view
        return views

    def observed(self, results: Outputs) -> dict[str, Any]:
        """Return the observations of a call by field."""
        return self(results.obs)

    def last(self, results: Outputs) -> dict[str, Any] | None:
        """Return the last observations by field; None where none were asked for."""
        return None if results.final_obs is None else self(results.final_obs)


class LayerViews:
    """Finds the output of each layer of a picture: `obs` for the first, others by their names.

    The fields of numbers beside a picture are views of one output.
    """

    def __init__(self, layers: Sequence[Field], numbers: Sequence[Field]) -> None:
        names = [layer.name for layer in layers]
        self._observed = dict(zip(names, ("obs", *names[1:]), strict=True))
        self._last = {name: f"final_{output}" for name, output in self._observed.items()}
        row = (sum(field.size for field in numbers),)
        self._numbers = FieldViews(numbers, row) if numbers else None

    def observed(self, results: Outputs) -> dict[str, Any]:
        """Return the pictures in the outputs of a call, by layer, and the numbers, by field."""
        return self._views(results, self._observed, results.numbers)

    def last(self, results: Outputs) -> dict[str, Any] | None:
        """Return the last of these; None where none were asked for."""
        if results.final_obs is None:
            return None
        return self._views(results, self._last, results.final_numbers)

    def _views(self, results: Outputs, names: Mapping[str, str], numbers: Any) -> dict[str, Any]:
        found = {name: getattr(results, output) for name, output in names.items()}
        return found if self._numbers is None else {**found, **self._numbers(numbers)}


# Space, and views of what is a dictionary; nothing where roles have spaces of their own.
Seen = tuple[Space | None, FieldViews | LayerViews | None]


def of_rows(fields: Sequence[Field], row: tuple[int, ...], dtype: str, layout: str) -> Seen:
    """Return the space and views of observations in rows; `layout` is "flat" or "dict"."""
    space = observation_space(fields, row, dtype, layout)
    return space, FieldViews(fields, row) if layout == "dict" else None


def of_pictures(fields: Sequence[Field], layout: str, numbers: int = 0) -> Seen:
    """Return the space and views of pictures: a single layer is an array unless asked for.

    Args:
        fields: Layers, and behind them the fields of numbers beside them.
        layout: "flat" or "dict".
        numbers: How many of the fields are numbers.
    """
    boxes: dict[str, Space] = {
        field.name: box([field], _extent(field), field.type) for field in fields
    }
    if layout == "flat" and len(fields) == 1:
        return boxes[fields[0].name], None
    layers = len(fields) - numbers
    return spaces.Dict(boxes), LayerViews(fields[:layers], fields[layers:])
