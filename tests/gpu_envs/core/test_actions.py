"""What is accepted as actions, and how the rest is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gpu_envs.core.action_forms import form_of_rows
from gpu_envs.core.actions import ActionReader
from gpu_envs.core.arrays import address_of_numpy
from gpu_envs.core.layout import size_in_words
from gpu_envs.known.fields import Field

DISCRETE = [Field("a", "int32", choices=4)]
TWO = [Field("a", "int32", choices=2)]
FORCE = [Field("force", "float32", (2,), low=-1, high=1)]
LONE = [Field("force", "float32", low=-1, high=1)]


def _reader(fields: list[Field], worlds: int = 3, agents: int = 1) -> ActionReader:
    form = form_of_rows(fields, worlds, agents, size_in_words(worlds, agents))
    return ActionReader(form, ("cpu", 0), lambda array: (address_of_numpy(array), array))


class OnlyDLPack:
    """An array of a library that nobody knows, speaking DLPack alone."""

    def __init__(self, array: np.ndarray, device: int = 1) -> None:
        self._array, self._device = array, device

    def __dlpack__(self, **options: Any) -> Any:
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._device, 0


@pytest.mark.parametrize("shape", [(3,), (3, 1)])
def test_one_agent_may_leave_its_axis_out(shape: tuple[int, ...]) -> None:
    assert _reader(DISCRETE).host(np.zeros(shape, np.int64)).shape == shape


@pytest.mark.parametrize("shape", [(6, 2), (3, 2, 2)])
def test_agents_come_by_world_or_by_row(shape: tuple[int, ...]) -> None:
    assert _reader(FORCE, agents=2).host(np.zeros(shape, np.float32)).shape == shape


@pytest.mark.parametrize("shape", [(3, 1), (3, 1, 1)])
def test_lone_number_has_an_axis_of_its_own(shape: tuple[int, ...]) -> None:
    assert _reader(LONE).host(np.zeros(shape, np.float32)).shape == shape
    with pytest.raises(
        ValueError,
        match=r"actions must have shape \(3, 1\) or \(3, 1, 1\) \(3 worlds x 1 agent.*, got",
    ):
        _reader(LONE).host(np.zeros(3, np.float32))
    assert _reader(LONE, agents=2).host(np.zeros((6, 1), np.float32)).shape == (6, 1)


@pytest.mark.parametrize("shape", [(), (2,), (4,), (3, 2), (1, 3), (3, 1, 1)])
def test_wrong_shape_names_expected_and_actual(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"actions must have shape \(3,\) or \(3, 1\) \(3 .*, got"):
        _reader(DISCRETE).host(np.zeros(shape, np.int64))


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint32", ">i4"])
def test_every_integer_type_is_accepted_for_categories(dtype: str) -> None:
    array = _reader(DISCRETE).host(np.array([1, 2, 3], dtype))
    assert array.tolist() == [1, 2, 3]
    assert array.dtype.isnative


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_every_float_type_is_accepted_for_numbers(dtype: str) -> None:
    array = _reader(FORCE).host(np.full((3, 2), 0.5, dtype))
    assert array.dtype in (np.float32, np.float64)
    assert (array == 0.5).all()


@pytest.mark.parametrize(
    ("fields", "array"),
    [
        (DISCRETE, np.zeros(3, np.float32)),
        (DISCRETE, np.zeros(3, bool)),
        (DISCRETE, np.array(["a", "b", "c"])),
        (DISCRETE, np.array([None, 1, 2], object)),
        (DISCRETE, [0.0, 1.0, 2.0]),
        (FORCE, np.zeros((3, 2), np.int64)),
        (FORCE, np.zeros((3, 2), complex)),
    ],
)
def test_wrong_dtype_names_expected_and_actual(fields: list[Field], array: object) -> None:
    with pytest.raises(TypeError, match=r"actions must be (integers|floats) such as"):
        _reader(fields).host(array)


@pytest.mark.parametrize("actions", [np.array([True, False, True]), [True, False, True]])
def test_booleans_choose_between_two(actions: object) -> None:
    assert _reader(TWO).host(actions).tolist() == [1, 0, 1]
    pairs = _reader([Field("a", "int32", (2,), choices=2)]).host(np.eye(3, 2, dtype=bool))
    assert pairs.tolist() == [[1, 0], [0, 1], [0, 0]]


def test_booleans_are_taken_natively_where_they_are_actions() -> None:
    """An error of a caller's report must not lead to a second try, which would step again."""
    bools = np.zeros(3, bool)
    assert _reader([Field("a", "int32", choices=2)]).is_native(bools)
    assert not _reader([Field("a", "int32", choices=3)]).is_native(bools)


def test_boolean_tensors_are_used_where_they_are(torch) -> None:
    tensor = torch.tensor([True, False, True])
    assert _reader(TWO).locate(tensor)[:2] == (tensor.data_ptr(), "uint8")
    wide = torch.tensor([[True, False]] * 3)
    assert _reader(TWO).host(wide[:, 0]).tolist() == [1, 1, 1]


def test_booleans_for_more_than_two_are_refused_in_words(torch) -> None:
    for actions in (np.zeros(3, bool), [True, False, True], torch.zeros(3, dtype=torch.bool)):
        with pytest.raises(TypeError, match="got bool: booleans are for actions of two choices"):
            _reader(DISCRETE).host(actions)
    with pytest.raises(TypeError, match=r"must be floats such as float32, got bool$"):
        _reader(LONE).host(np.zeros((3, 1), bool))


def test_lists_of_whole_numbers_serve_as_numbers() -> None:
    assert _reader(FORCE).host([[0, 1], [1, 0], [0, 0]]).dtype == np.float32


def test_ragged_list_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="ragged"):
        _reader(DISCRETE, agents=2).host([[0, 1], [2], [3, 3]])


@pytest.mark.parametrize("actions", [None, 3, "012", {"a": 1}, object()])
def test_what_is_no_array_is_a_type_error(actions: object) -> None:
    with pytest.raises(TypeError, match="actions must be an array or a list"):
        _reader(DISCRETE).locate(actions)


def test_numpy_and_torch_are_used_where_they_are(torch) -> None:
    reader = _reader(DISCRETE)
    array, tensor = np.zeros(3, np.int64), torch.zeros(3, dtype=torch.int32)
    assert reader.locate(array)[:2] == (address_of_numpy(array), "int64")
    assert reader.locate(tensor)[:2] == (tensor.data_ptr(), "int32")


def test_strided_arrays_are_straightened(torch) -> None:
    reader = _reader(DISCRETE)
    wide = np.arange(6).reshape(3, 2)
    for actions in (wide[:, 1], torch.as_tensor(wide)[:, 1]):
        address, dtype, keep, _ = reader.locate(actions)
        assert dtype == "int64"
        assert np.asarray(keep).tolist() == [1, 3, 5]
        assert address == address_of_numpy(np.asarray(keep))


def test_tensors_that_need_gradients_or_conversion_are_accepted(torch) -> None:
    tensor = torch.zeros((3, 2), requires_grad=True)
    assert _reader(FORCE).locate(tensor)[1] == "float32"
    half = torch.full((3, 2), 0.5, dtype=torch.bfloat16)
    assert _reader(FORCE).host(half).dtype == np.float32


def test_jax_arrays_are_accepted(jax) -> None:
    array = jax.numpy.array([1, 2, 3])
    assert _reader(DISCRETE).host(array).tolist() == [1, 2, 3]


def test_any_dlpack_producer_is_accepted() -> None:
    array = np.array([1, 2, 3])
    assert _reader(DISCRETE).locate(OnlyDLPack(array))[0] == address_of_numpy(array)


def test_array_on_another_device_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="actions must be on cpu"):
        _reader(DISCRETE).locate(OnlyDLPack(np.array([1, 2, 3]), device=2))


def test_tensor_on_another_device_is_refused_by_name(torch) -> None:
    with pytest.raises(ValueError, match="actions must be on cpu, got meta"):
        _reader(DISCRETE).locate(torch.zeros(3, dtype=torch.int64, device="meta"))
