"""Described fields and the values they accept."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gpu_envs.known import fields
from gpu_envs.known.fields import Field, checked_values, read

FIELDS = (
    Field("count", "int32", low=1, high=10, default=5),
    Field("rate", "float32", low=0.0, default=0.5),
    Field("kind", "int32", choices=3, default=0),
    Field("flag", "bool", default=False),
    Field("map", "string", default="plain"),
)


def _check(**values: object) -> dict[str, object]:
    return dict(checked_values(FIELDS, values, "parameter of Test-v0", TypeError))


def test_read_keeps_known_keys_and_ignores_new_ones() -> None:
    (field,) = read([{"name": "x", "type": "float32", "shape": [2, 3], "future": 1}])
    assert field == Field("x", "float32", (2, 3))
    assert field.size == 6


@pytest.mark.parametrize(
    ("name", "given", "kept"),
    [
        ("count", 3, 3),
        ("count", np.int64(3), 3),
        ("count", np.array(3), 3),
        ("count", 3.0, 3),
        ("rate", 1, 1),
        ("rate", np.float32(0.25), 0.25),
        ("kind", 2, 2),
        ("flag", True, True),
        ("flag", 1, True),
        ("flag", np.bool_(False), False),
        ("map", "ring", "ring"),
    ],
)
def test_accepted_values_become_python_scalars(name: str, given: object, kept: object) -> None:
    value = _check(**{name: given})[name]
    assert value == kept
    assert type(value) is type(kept)


@pytest.mark.parametrize(
    ("name", "given", "error"),
    [
        ("count", 0, ValueError),
        ("count", 11, ValueError),
        ("count", 2.5, TypeError),
        ("count", True, TypeError),
        ("count", "3", TypeError),
        ("count", [3], TypeError),
        ("rate", -0.5, ValueError),
        ("rate", float("nan"), ValueError),
        ("kind", 3, ValueError),
        ("flag", "yes", TypeError),
        ("flag", 2, TypeError),
        ("map", 3, TypeError),
    ],
)
def test_refused_values_are_named(name: str, given: object, error: type[Exception]) -> None:
    with pytest.raises(error, match=f"parameter '{name}'"):
        _check(**{name: given})


def test_unknown_name_is_met_with_a_suggestion() -> None:
    with pytest.raises(TypeError, match="did you mean 'count'"):
        _check(cuont=3)


def test_bounds_are_spelled() -> None:
    assert [field.bounds() for field in FIELDS] == [
        "1 to 10",
        "0 to inf",
        "0 to 2",
        "true | false",
        "text",
    ]


@pytest.mark.parametrize(
    ("value", "kind", "expected"),
    [
        (0.10000000149011612, "float32", 0.1),
        (-0.0500000007, "float32", -0.05),
        (3.4028234663852886e38, "float32", 3.4028235e38),
        (0.1 + 0.2, "float64", 0.1 + 0.2),
        (7, "int32", 7),
        (True, "bool", True),
        ("a", "string", "a"),
        (float("inf"), "float32", float("inf")),
    ],
)
def test_floats_are_as_short_as_their_type_allows(value: Any, kind: str, expected: Any) -> None:
    assert fields.short(value, kind) == expected


def test_values_are_spelt_as_they_are_typed() -> None:
    spelt = [fields.spelt(value) for value in (True, 0.1, 36.0, 3, "", "a")]
    assert spelt == ["true", "0.1", "36", "3", "''", "a"]


def test_a_whole_number_that_a_float_holds_stays_whole() -> None:
    assert fields.spelt(fields.short(3, "float32")) == str(fields.short(3, "float32")) == "3"
