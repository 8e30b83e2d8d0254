"""Spaces from descriptions, and the views that match them."""

from __future__ import annotations

import numpy as np
import pytest
from gymnasium import spaces

from gpu_envs.core.spaces import FieldViews, action_space, box, observation_space
from gpu_envs.known.fields import Field

FIELDS = (
    Field("x", "float32", low=-4.8, high=4.8),
    Field("grid", "float32", (2, 3), low=0, high=1),
    Field("speed", "float32"),
)


def test_flat_observation_is_one_box_of_all_fields_in_order() -> None:
    space = observation_space(FIELDS, (8,), "float32", "flat")
    assert isinstance(space, spaces.Box)
    assert space.shape == (8,)
    assert space.dtype == np.float32
    assert space.low.tolist() == [np.float32(-4.8), 0, 0, 0, 0, 0, 0, -np.inf]
    assert space.high.tolist() == [np.float32(4.8), 1, 1, 1, 1, 1, 1, np.inf]


def test_dict_observation_has_a_box_per_field() -> None:
    space = observation_space(FIELDS, (8,), "float32", "dict")
    assert isinstance(space, spaces.Dict)
    assert {name: part.shape for name, part in space.items()} == {
        "x": (1,),  # a vector, as learners take a Box for one
        "grid": (2, 3),
        "speed": (1,),
    }


def test_lone_shaped_field_keeps_its_shape_when_flat() -> None:
    image = (Field("rgb", "uint8", (4, 5, 3)),)
    space = box(image, (4, 5, 3), "uint8")
    assert space.shape == (4, 5, 3)
    assert (space.low.min(), space.high.max()) == (0, 255)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ([Field("a", "int32", choices=4)], spaces.Discrete(4)),
        (
            [Field("a", "int32", choices=4), Field("b", "int32", choices=2)],
            spaces.MultiDiscrete([4, 2]),
        ),
        ([Field("a", "int32", (3,), choices=5)], spaces.MultiDiscrete([5, 5, 5])),
        (
            [Field("force", "float32", (2,), low=-1, high=1)],
            spaces.Box(-1, 1, (2,), np.float32),
        ),
        # A vector also where it is one number: learners take the Box of an action for one.
        ([Field("force", "float32", low=-1, high=1)], spaces.Box(-1, 1, (1,), np.float32)),
    ],
)
def test_action_space_follows_the_fields(fields: list[Field], expected: spaces.Space) -> None:
    assert action_space(fields) == expected


def test_views_share_the_memory_of_the_rows() -> None:
    rows = np.arange(16, dtype=np.float32).reshape(2, 8)
    views = FieldViews(FIELDS, (8,))(rows)
    assert views["x"].tolist() == [[0], [8]]
    assert views["grid"].shape == (2, 2, 3)
    assert views["grid"][1].ravel().tolist() == [9, 10, 11, 12, 13, 14]
    assert all(np.shares_memory(view, rows) for view in views.values())


def test_views_keep_leading_axes_and_work_on_tensors(torch) -> None:
    rows = torch.arange(48.0).reshape(3, 2, 8)
    views = FieldViews(FIELDS, (8,))(rows)
    assert views["grid"].shape == (3, 2, 2, 3)
    assert views["grid"].data_ptr() == rows.data_ptr() + 4
    assert views["speed"].shape == (3, 2, 1)


def test_lone_field_is_the_row_itself() -> None:
    rows = np.zeros((2, 4, 5, 3), np.uint8)
    assert FieldViews([Field("rgb", "uint8", (4, 5, 3))], (4, 5, 3))(rows)["rgb"] is rows
