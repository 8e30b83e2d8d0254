"""Every wrapper of `gymnasium.wrappers.vector`: works or not, as docs/wrappers.md says.

"works" means: built, stepped through episode ends and partial resets, and its effect on what a
plain twin returns is the documented one. "no" means that Gymnasium's wrapper raises. Each case
plays an environment that has what its wrapper is for: pictures, a `Box` of actions, bounds.

moviepy, pygame and opencv, which some wrappers call, are not in the environment of the tests:
stand-ins take their places and keep what they are given.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import MagicMock

import gymnasium
import gymnasium.wrappers.vector as wrappers
import numpy as np
import pytest

from tests.gpu_envs.faces.wrapper_cases import (
    BY_NAME,
    CASES,
    DRAWN,
    EVERYWHERE,
    MODES,
    NO_SAME_STEP,
    NOWHERE,
    SHOWN,
    Case,
    to_torch,
)

pytestmark = pytest.mark.skipif(
    tuple(map(int, gymnasium.__version__.split(".")[:2])) < (1, 4),
    reason="the table is of Gymnasium 1.4; earlier wrappers have faults that were mended since",
)


DOCS = Path(__file__).parents[3] / "docs" / "wrappers.md"


# ---- stand-ins


class _Film:
    """A clip of moviepy's: writes the number of its pictures in the place of a film."""

    def __init__(self, frames: list[np.ndarray], fps: int) -> None:
        self._frames = frames

    def write_videofile(self, path: str, logger: Any) -> None:
        Path(path).write_text(str(len(self._frames)))
        SHOWN.extend(self._frames)


def _resize(picture: np.ndarray, size: tuple[int, int], **_: Any) -> np.ndarray:
    """The nearest pixels, as cv2.resize with INTER_NEAREST; `size` is (columns, rows)."""
    if not isinstance(picture, np.ndarray):
        raise TypeError("src is not a numpy array")
    rows, columns = (np.arange(n) * m // n for n, m in zip(size[::-1], picture.shape, strict=False))
    return picture[rows][:, columns]


@pytest.fixture(autouse=True)
def _stand_ins(monkeypatch, tmp_path) -> None:
    SHOWN.clear()
    monkeypatch.chdir(tmp_path)  # films go to a folder of the working directory
    film = "moviepy.video.io.ImageSequenceClip"
    for name in ("moviepy", "moviepy.video", "moviepy.video.io", film, "cv2"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setattr(sys.modules[film], "ImageSequenceClip", _Film, raising=False)
    monkeypatch.setattr(sys.modules["cv2"], "resize", _resize, raising=False)
    monkeypatch.setattr(sys.modules["cv2"], "INTER_AREA", 3, raising=False)
    window = MagicMock()
    window.surfarray.make_surface.side_effect = SHOWN.append
    monkeypatch.setitem(sys.modules, "pygame", window)


def _play(
    case: Case,
    make_vec: Any,
    mode: str,
    arrays: str,
    wrap: Callable[[Any], Any],
    converted: bool = False,
) -> None:
    """Step a wrapped environment beside a plain NumPy one, through ends and partial resets."""
    options = {"autoreset_mode": mode} | case.options
    plain = make_vec(case.environment, 4, **(options | case.plain))
    env = wrap(make_vec(case.environment, 4, arrays=arrays, **options))
    plain.reset(seed=3)
    env.reset(seed=3)
    random = np.random.default_rng(0)
    for _ in range(60):
        own, actions = case.draw(random)
        expected = plain.step(own)
        tensors = case.torch_actions or (arrays == "torch" and not converted)
        given = env.step(_tensor(actions) if tensors else actions)
        assert case.effect(expected, given)
        done = expected[2] | expected[3]
        if mode == "Disabled" and done.any():
            # Some wrappers pop the mask from the options they are given.
            plain.reset(options={"reset_mask": done.copy()})
            env.reset(options={"reset_mask": done.copy()})


def _tensor(actions: np.ndarray) -> Any:
    return pytest.importorskip("torch").as_tensor(actions)


def _needs(name: str) -> None:
    if name.startswith("Jax"):
        pytest.importorskip("jax")
    if name in ("ArrayConversion", "NumpyToTorch") or name.startswith("Jax"):
        pytest.importorskip("array_api_compat")


@pytest.mark.parametrize("arrays", ["numpy", "torch"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", BY_NAME)
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")
def test_wrapper_works_or_raises_as_documented(make_vec, name, mode, arrays) -> None:
    if arrays == "torch":
        pytest.importorskip("torch")
    _needs(name)
    case = BY_NAME[name]
    if mode in getattr(case, arrays):
        _play(case, make_vec, mode, arrays, case.make)
    else:
        with pytest.raises(Exception) as caught:  # of many types, all Gymnasium's
            _play(case, make_vec, mode, arrays, case.make)
        assert any("gymnasium" in str(entry.path) for entry in caught.traceback)


@pytest.mark.parametrize(
    ("name", "mode"),
    [(case.name, mode) for case in CASES if not case.torch_actions for mode in case.numpy],
)
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")
def test_conversion_first_makes_torch_output_as_good_as_numpy(make_vec, name, mode, torch) -> None:
    pytest.importorskip("array_api_compat")
    _needs(name)
    case = BY_NAME[name]

    def wrap(env: Any) -> Any:
        return case.make(to_torch(env, backwards=True))

    _play(case, make_vec, mode, "torch", wrap, converted=True)


@pytest.mark.parametrize(("mode", "films"), [
    ("SameStep", [9, 9, 3]), ("NextStep", [10, 10, 1]), ("Disabled", [10, 10, 3])
])  # fmt: skip
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_films_hold_the_pictures_of_an_episode(make_vec, mode: str, films: list[int]) -> None:
    """Nine steps and the reset are ten pictures; SameStep lacks the last one."""
    env = make_vec("CartPole-v0", 2, max_episode_steps=9, autoreset_mode=mode, **DRAWN)
    still = make_vec("CartPole-v0", 2, max_episode_steps=9, autoreset_mode=mode, **DRAWN)
    env = wrappers.RecordVideo(env, "videos", episode_trigger=lambda episode: True, gc_trigger=None)
    drawn = []
    for each in (env, still):
        each.reset(seed=1)
    drawn.append(np.concatenate(still.render(), axis=1))
    for step in range(20):
        actions = np.array([step % 2, (step + 1) % 2])
        ended = env.step(actions)[3]
        still.step(actions)
        drawn.append(np.concatenate(still.render(), axis=1))
        if mode == "Disabled" and ended.all():
            for each in (env, still):
                each.reset(options={"reset_mask": np.array([True, True])})
            drawn.append(np.concatenate(still.render(), axis=1))
    env.close()
    assert env.frames_per_sec == 50
    names = [f"rl-video-episode-{k}.mp4" for k in range(len(films))]
    assert [int(Path("videos", name).read_text()) for name in names] == films
    assert len(SHOWN) == len(drawn) == sum(films)
    np.testing.assert_array_equal(SHOWN, drawn)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_films_of_several_agents_show_a_world_once_per_row(make_vec) -> None:
    env = make_vec("Overcooked-v0", 2, max_episode_steps=5, **DRAWN)
    env.reset(seed=1)
    assert [picture.shape for picture in env.render()] == [(24, 32, 3)] * 4
    for options, shape in (({}, (48, 64, 3)), ({"record_first_only": True}, (24, 32, 3))):
        SHOWN.clear()
        film = wrappers.RecordVideo(env, "films", video_length=2, gc_trigger=None, **options)
        film.reset(seed=1)
        film.step(np.zeros(4, int))
        film.step(np.zeros(4, int))
        assert [frame.shape for frame in SHOWN] == [shape] * 3


def test_every_vector_wrapper_of_gymnasium_has_a_case() -> None:
    assert set(wrappers.__all__) <= set(BY_NAME)


def test_documentation_says_what_the_cases_say() -> None:
    rows = re.findall(r"^\| `(\w+)` \| ([^|]+) \| ([^|]+) \|", DOCS.read_text(), re.MULTILINE)
    spelled = {
        EVERYWHERE: "works",
        NO_SAME_STEP: "NextStep, Disabled",
        ("NextStep",): "NextStep",
        NOWHERE: "no",
    }
    documented = {name: (numpy.strip(), torch.strip()) for name, numpy, torch in rows}
    assert documented == {c.name: (spelled[c.numpy], spelled[c.torch]) for c in CASES}
