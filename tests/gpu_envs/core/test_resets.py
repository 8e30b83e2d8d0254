"""Seeds, masks and options of a reset."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gpu_envs.core import resets
from gpu_envs.known.fields import Field

OPTIONS = (Field("low", "float32"), Field("high", "float32"))


class Masks(resets.MaskReader):
    """Masks on the CPU, handed back as arrays."""

    def __init__(self, worlds: int, agents: int) -> None:
        super().__init__(worlds, agents, ("cpu", 0), lambda array: (0, array))

    def read(self, key: str, mask: Any) -> list[int]:
        array: Any = self.locate(key, mask)[1]
        assert array.dtype == np.uint8
        return list(array)


@pytest.mark.parametrize("seed", [None, 0, 2**64 - 1, [1, 2, 3], (0, 0, 2**40)])
def test_good_seeds_are_kept(seed: Any) -> None:
    kept = resets.checked_seed(seed, 3)
    assert kept == (list(seed) if isinstance(seed, tuple) else seed)


def test_fresh_seeds_differ() -> None:
    assert resets.fresh_seed() != resets.fresh_seed()


@pytest.mark.parametrize("mask", [[True, False, True], np.array([True, False, True])])
def test_mask_by_world(mask: Any) -> None:
    assert Masks(3, 2).read("reset_mask", mask) == [1, 0, 1]


def test_mask_by_row_with_equal_rows() -> None:
    assert Masks(3, 2).read("reset_mask", [True, True, False, False, True, True]) == [1, 0, 1]


def test_mask_of_torch_and_of_strides(torch) -> None:
    assert Masks(3, 1).read("reset_mask", torch.tensor([True, False, True])) == [1, 0, 1]
    wide = np.array([[True, False], [False, False], [True, False]])
    assert Masks(3, 1).read("reset_mask", wide[:, 0]) == [1, 0, 1]


def test_mask_by_row_with_unequal_rows_is_refused() -> None:
    with pytest.raises(ValueError, match="equal for the 2 rows of a world"):
        Masks(2, 2).read("reset_mask", [True, False, True, True])


@pytest.mark.parametrize("mask", [[True], np.ones(4, bool), np.ones((3, 2), bool), np.bool_(True)])
def test_mask_of_wrong_shape_is_refused(mask: Any) -> None:
    with pytest.raises((ValueError, TypeError), match="reset_mask must"):
        Masks(3, 2).read("reset_mask", mask)


@pytest.mark.parametrize("mask", [[1, 0, 1], np.ones(3), "101", 5])
def test_mask_of_wrong_type_is_refused(mask: Any) -> None:
    with pytest.raises(TypeError, match="reset_mask must"):
        Masks(3, 1).read("reset_mask", mask)


@pytest.mark.parametrize("indices", [[0, 2], (2, 0), np.array([0, 2]), np.array([2, 0, 0])])
def test_indices_are_an_alias_of_the_mask(indices: Any) -> None:
    assert Masks(3, 1).read("env_idx", indices) == [1, 0, 1]


def test_no_indices_reset_nothing() -> None:
    assert Masks(3, 1).read("env_idx", []) == [0, 0, 0]


@pytest.mark.parametrize("indices", [[3], [-1], [0.5], [[0]], [True]])
def test_bad_indices_are_refused(indices: Any) -> None:
    with pytest.raises((ValueError, TypeError), match="env_idx must be"):
        Masks(3, 1).read("env_idx", indices)


def test_options_are_split_and_never_changed() -> None:
    options = {"reset_mask": [True], "low": np.float32(0.5)}
    before = dict(options)
    assert resets.split_options(options, OPTIONS, "Test-v0") == (
        "reset_mask",
        [True],
        {"low": 0.5},
    )
    assert options == before


@pytest.mark.parametrize("options", [None, {}, {"reset_mask": None}])
def test_no_options_reset_everything(options: Any) -> None:
    assert resets.split_options(options, OPTIONS, "Test-v0") == (None, None, {})


def test_tensor_of_one_number_serves_as_an_option(torch) -> None:
    split = resets.split_options({"low": torch.tensor(0.25)}, OPTIONS, "Test-v0")
    assert split[2] == {"low": 0.25}


def test_unknown_option_is_met_with_a_suggestion() -> None:
    with pytest.raises(ValueError, match=r"unknown reset option 'lwo'; did you mean 'low'\?"):
        resets.split_options({"lwo": 1}, OPTIONS, "Test-v0")
    with pytest.raises(ValueError, match="did you mean 'reset_mask'"):
        resets.split_options({"rest_mask": 1}, OPTIONS, "Test-v0")


def test_mask_and_alias_together_are_refused() -> None:
    with pytest.raises(ValueError, match="got both"):
        resets.split_options({"reset_mask": [True], "env_idx": [0]}, OPTIONS, "Test-v0")


def test_options_that_are_no_dict_are_refused() -> None:
    with pytest.raises(TypeError, match="options must be a dict"):
        resets.split_options([("low", 1)], OPTIONS, "Test-v0")  # type: ignore[arg-type]
