"""Pictures that cannot be: the promised error, by name, and what is there goes on."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import pytest

import gpu_envs

SIZE = "must be rows and columns such as '72x128', got "
SIZE_TYPE = "must be a str such as '72x128' or whole numbers such as (72, 128), got "
SIDES = "rows and columns must be from 1 to 32768, got "
LAYERS = "must be 'rgb', 'depth', 'segmentation', 'numbers' or several of them joined by +, got "

pytestmark = pytest.mark.usefixtures("gallery")

CONSTRUCTION: list[tuple[str, Any, type[Exception], str]] = [
    ("resolution", "", ValueError, SIZE + "''"),
    ("resolution", "72", ValueError, SIZE),
    ("resolution", "72x", ValueError, SIZE),
    ("resolution", "x128", ValueError, SIZE),
    ("resolution", "72x128x3", ValueError, SIZE),
    ("resolution", "72 x 128", ValueError, SIZE),
    ("resolution", "72X128", ValueError, SIZE),
    ("resolution", "-1x5", ValueError, SIZE),
    ("resolution", "1e2x3", ValueError, SIZE),
    ("resolution", "0x5", ValueError, SIDES + "'0x5'"),
    ("resolution", "5x40000", ValueError, SIDES),
    ("resolution", (5, 0), ValueError, SIDES + "'5x0'"),
    ("resolution", (-1, 5), ValueError, SIZE + "'-1x5'"),
    ("resolution", (10**30, 5), ValueError, SIZE),
    ("resolution", (5,), ValueError, SIZE),
    ("resolution", [1, 2, 3], ValueError, SIZE),
    ("resolution", (), TypeError, SIZE_TYPE),
    ("resolution", (2.5, 3), TypeError, SIZE_TYPE),
    ("resolution", ("3", "4"), TypeError, SIZE_TYPE),
    ("resolution", (True, 4), TypeError, SIZE_TYPE),
    ("resolution", 72, TypeError, SIZE_TYPE + "72"),
    ("resolution", None, TypeError, SIZE_TYPE),
    ("resolution", b"72x128", TypeError, SIZE_TYPE),
    ("resolution", "\ud800x3", ValueError, "is not text that UTF-8 can encode"),
    ("observation", "", ValueError, LAYERS),
    ("observation", "rbg", ValueError, LAYERS + "'rbg'"),
    ("observation", "RGB", ValueError, LAYERS),
    ("observation", "rgb+", ValueError, LAYERS),
    ("observation", "rgb,depth", ValueError, LAYERS),
    ("observation", "dict+rgb", ValueError, LAYERS),
    ("observation", "rgb+rgb", ValueError, "names 'rgb' twice"),
    ("observation", None, TypeError, "must be a str such as 'rgb', got None"),
    ("observation", ("rgb", "depth"), TypeError, "must be a str such as 'rgb'"),
    ("dtype", "uint8", ValueError, "dtype must be None, got 'uint8': each layer of Gallery-v0's"),
    ("actions", "flat", ValueError, "an action of Gallery-v0 is one already"),
    ("outputs", ["depth"], ValueError, "unknown output of Gallery-v0 (outputs=) 'depth'"),
]


@pytest.mark.parametrize(("keyword", "value", "error", "message"), CONSTRUCTION)
def test_pictures_that_cannot_be_are_refused(
    make_vec, keyword: str, value: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error) as caught:
        make_vec("Gallery-v0", 2, **{keyword: value})
    assert message in str(caught.value)
    env = make_vec("Gallery-v0", 1, resolution=(4, 4), visitors=1)
    assert env.reset(seed=1)[0].shape == (1, 3, 4, 4)


@pytest.mark.parametrize("observation", ["rgb", "rgb+depth", "depth"])
def test_layers_of_what_is_no_picture_are_refused(make_vec, observation: str) -> None:
    with pytest.raises(ValueError, match=r"'flat' or 'dict'.*observations of CartPole-v0 are no"):
        make_vec("CartPole-v0", observation=observation)


GOOD = {"obs": (np.uint8, (2, 2, 3, 5, 7)), "depth": (np.float32, (2, 2, 1, 5, 7))}
OUT: list[tuple[str, Any, type[Exception]]] = [
    ("obs", np.zeros((2, 2, 3, 5, 7), np.float32), TypeError),
    ("obs", np.zeros((2, 2, 5, 7, 3), np.uint8), ValueError),
    ("obs", np.zeros((4, 3, 5, 7), np.uint8), ValueError),
    ("obs", np.zeros((2, 2, 3, 5, 14), np.uint8)[..., ::2], ValueError),
    ("obs", [[0]], TypeError),
    ("depth", np.zeros((2, 2, 1, 5, 7)), TypeError),
    ("depth", np.zeros((2, 2, 5, 7), np.float32), ValueError),
    ("final_depth", np.zeros((2, 2, 1, 5, 8), np.float32), ValueError),
    ("segmentation", np.zeros((2, 2, 1, 5, 7), np.uint16), ValueError),  # not asked for
    ("rgb", np.zeros((2, 2, 3, 5, 7), np.uint8), ValueError),
]


@pytest.mark.parametrize(("name", "array", "error"), OUT)
def test_places_that_do_not_fit_are_refused(
    make_simulator, name: str, array: Any, error: type[Exception]
) -> None:
    simulator = make_simulator("Gallery-v0", 2, observation="rgb+depth", resolution=(5, 7))
    simulator.reset(seed=1)
    with pytest.raises(error, match=rf"out\['{name}'\]|unknown output in out= '{name}'"):
        simulator.step(np.zeros((2, 2), int), out={name: array})
    places = {name: np.ones(shape, kind) for name, (kind, shape) in GOOD.items()}
    results = simulator.step(np.zeros((2, 2), int), out=places)
    assert results.obs["rgb"] is places["obs"]


def test_a_large_picture_is_drawn_and_too_many_are_refused_with_what_fits(make_simulator) -> None:
    options = {"visitors": 1, "resolution": (4096, 4096), "outputs": []}
    simulator = make_simulator("Gallery-v0", 1, **options)
    seen = simulator.reset(seed=2).obs
    assert seen.shape == (1, 1, 3, 4096, 4096)
    assert seen[..., ::64, ::64].any()
    small = make_simulator("Gallery-v0", 1, **{**options, "resolution": (64, 64)})
    wanted = small.reset(seed=2).obs.mean()
    assert abs(seen.mean() - wanted) < 2
    with pytest.raises(MemoryError, match=r"4096 worlds of Gallery-v0 .* of observations; about "):
        make_simulator("Gallery-v0", 4096, **options)
    with contextlib.suppress(MemoryError):
        gpu_envs.Simulator("Gallery-v0", 2, device="cpu", resolution=(32768, 32768)).close()
    assert np.array_equal(simulator.observe().obs, seen)
