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
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import MagicMock

import gymnasium
import gymnasium.wrappers.vector as wrappers
import numpy as np
import pytest
from gymnasium import spaces

pytestmark = pytest.mark.skipif(
    tuple(map(int, gymnasium.__version__.split(".")[:2])) < (1, 4),
    reason="the table is of Gymnasium 1.4; earlier wrappers have faults that were mended since",
)

MODES = ("SameStep", "NextStep", "Disabled")
DOCS = Path(__file__).parents[3] / "docs" / "wrappers.md"
EVERYWHERE = MODES
NO_SAME_STEP = MODES[1:]
NOWHERE: tuple[str, ...] = ()
BOX = spaces.Box(-9, 9, (4,), np.float32)

Step = tuple[Any, Any, Any, Any, Any]
Drawn = tuple[np.ndarray, np.ndarray]


def _pushes(random: np.random.Generator) -> Drawn:
    actions = random.integers(0, 2, 4)
    return actions, actions


def _forces(random: np.random.Generator) -> Drawn:
    forces = random.integers(-192, 193, (4, 1)).astype(np.float32) / 64  # exact also when rescaled
    return np.clip(forces, -1, 1), forces


def _shares(random: np.random.Generator) -> Drawn:
    forces, _ = _forces(random)
    return forces, (forces + 1) / 2


def _heads(random: np.random.Generator) -> Drawn:
    actions = random.integers(0, 2, (4, 6))
    return actions, actions


# ---- stand-ins

SHOWN: list[np.ndarray] = []  # pictures that reached the window or a film, in their order


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


# ---- the wrappers


@dataclass
class Case:
    """One wrapper: how it is made, where it works, and its effect on (plain step, wrapped step)."""

    name: str
    make: Callable[[Any], Any]
    numpy: tuple[str, ...]
    torch: tuple[str, ...]
    effect: Callable[[Step, Step], bool]
    environment: str = "CartPole-v0"
    options: dict[str, Any] = field(default_factory=dict)
    plain: dict[str, Any] = field(default_factory=lambda: {"observation": "flat"})
    torch_actions: bool = False
    draw: Callable[[np.random.Generator], Drawn] = _pushes  # what the plain and the wrapped get


def _near(left: Any, right: Any) -> bool:
    return np.allclose(np.asarray(left), np.asarray(right), atol=1e-6)


def _doubled_obs(plain: Step, wrapped: Step) -> bool:
    return _near(wrapped[0], 2 * np.asarray(plain[0]))


def _doubled_reward(plain: Step, wrapped: Step) -> bool:
    return _near(wrapped[1], 2 * np.asarray(plain[1]))


def _same(plain: Step, wrapped: Step) -> bool:
    return all(_near(a, b) for a, b in zip(plain[:4], wrapped[:4], strict=True))


def _tensors(plain: Step, wrapped: Step) -> bool:
    return _same(plain, wrapped) and all(hasattr(array, "data_ptr") for array in wrapped[:4])


def _arrays(plain: Step, wrapped: Step) -> bool:
    return _same(plain, wrapped) and all(isinstance(array, np.ndarray) for array in wrapped[:4])


def _never(plain: Step, wrapped: Step) -> bool:
    return False


def _statistics(plain: Step, wrapped: Step) -> bool:
    done, infos = plain[2] | plain[3], wrapped[4]
    if not done.any():
        return "episode" not in infos
    own = plain[4]["episode_stats"]
    return _near(infos["episode"]["r"], own["r"]) and _near(infos["episode"]["l"], own["l"])


def _listed(plain: Step, wrapped: Step) -> bool:
    rows = wrapped[4]
    ended = np.flatnonzero(plain[4]["_episode_stats"]).tolist()
    if [row for row in range(4) if "episode_stats" in rows[row]] != ended:
        return False
    return all(rows[r]["episode_stats"]["l"] == plain[4]["episode_stats"]["l"][r] for r in ended)


def _shown(plain: Step, wrapped: Step) -> bool:
    """Something is in the window, and the step is as it would be without one."""
    return _same(plain, wrapped) and SHOWN[-1].shape == (32, 24, 3) and SHOWN[-1].any()


def _grey(plain: Step, wrapped: Step) -> bool:
    grey = np.asarray(plain[0]) @ [0.2125, 0.7154, 0.0721]
    return wrapped[0].shape == (4, 6, 8) and np.abs(wrapped[0] - grey).max() <= 1


def _smaller(plain: Step, wrapped: Step) -> bool:
    return np.array_equal(wrapped[0], np.asarray(plain[0])[:, ::2, ::2])


DRAWN = {"render_mode": "rgb_array", "render_size": (24, 32)}
SEEN = {
    "channels": "last", "resolution": "6x8", "episode_seconds": 1.0, "platform_seconds": 0.0,
    "box_seconds": 0.0,
}  # fmt: skip


def _torch(env: Any, backwards: bool = False) -> Any:
    torch = pytest.importorskip("torch")
    kinds = {"env_xp": torch, "target_xp": np} if backwards else {"env_xp": np, "target_xp": torch}
    return wrappers.ArrayConversion(env, **kinds)


CASES = [
    Case(
        "VectorizeTransformObservation",
        lambda env: wrappers.VectorizeTransformObservation(
            env,
            gymnasium.wrappers.TransformObservation,
            func=lambda obs: obs * 2,
            observation_space=BOX,
        ),
        NO_SAME_STEP,
        NO_SAME_STEP,
        _doubled_obs,
    ),
    Case(
        "VectorizeTransformAction",
        lambda env: wrappers.VectorizeTransformAction(
            env,
            gymnasium.wrappers.TransformAction,
            func=lambda action: action,
            action_space=env.single_action_space,
        ),
        EVERYWHERE,
        NOWHERE,
        _same,
    ),
    Case(
        "VectorizeTransformReward",
        lambda env: wrappers.VectorizeTransformReward(
            env, gymnasium.wrappers.TransformReward, func=lambda reward: reward * 2
        ),
        EVERYWHERE,
        EVERYWHERE,
        _doubled_reward,
    ),
    Case("DictInfoToList", wrappers.DictInfoToList, EVERYWHERE, NOWHERE, _listed),
    Case(
        "TransformObservation",
        lambda env: wrappers.TransformObservation(env, lambda obs: obs * 2),
        NO_SAME_STEP,
        NO_SAME_STEP,
        _doubled_obs,
    ),
    Case(
        "FilterObservation",
        lambda env: wrappers.FilterObservation(env, ["x"]),
        NO_SAME_STEP,
        NO_SAME_STEP,
        lambda plain, wrapped: (
            list(wrapped[0]) == ["x"] and _near(wrapped[0]["x"], np.asarray(plain[0])[:, :1])
        ),
        options={"observation": "dict"},
    ),
    Case("FlattenObservation", wrappers.FlattenObservation, NO_SAME_STEP, NOWHERE, _same),
    Case(
        "GrayscaleObservation",
        wrappers.GrayscaleObservation,
        NO_SAME_STEP,
        NOWHERE,
        _grey,
        environment="ObstaclesEasy-v0",
        options=SEEN,
        plain={},
        draw=_heads,
    ),
    Case(
        "ResizeObservation",
        lambda env: wrappers.ResizeObservation(env, (3, 4)),
        NO_SAME_STEP,
        NOWHERE,
        _smaller,
        environment="ObstaclesEasy-v0",
        options=SEEN,
        plain={},
        draw=_heads,
    ),
    Case(
        "ReshapeObservation",
        lambda env: wrappers.ReshapeObservation(env, (2, 2)),
        NO_SAME_STEP,
        NO_SAME_STEP,
        lambda plain, wrapped: _near(wrapped[0], np.asarray(plain[0]).reshape(4, 2, 2)),
    ),
    Case(
        "RescaleObservation",
        lambda env: wrappers.RescaleObservation(env, -1, 1),
        NO_SAME_STEP,
        NOWHERE,
        lambda plain, wrapped: _near(wrapped[0], 2 * np.asarray(plain[0]) - 1),
        environment="Micro-v0",
        options={"agent_count": 1, "work": 1, "max_episode_steps": 9},
    ),
    Case(
        "DtypeObservation",
        lambda env: wrappers.DtypeObservation(env, np.float64),
        NO_SAME_STEP,
        NO_SAME_STEP,
        lambda plain, wrapped: wrapped[0].dtype == np.float64 and _same(plain, wrapped),
    ),
    Case(
        "NormalizeObservation",
        wrappers.NormalizeObservation,
        ("NextStep",),
        NOWHERE,
        lambda plain, wrapped: wrapped[0].shape == (4, 4) and np.abs(wrapped[0]).max() < 10,
    ),
    Case(
        "TransformAction",
        lambda env: wrappers.TransformAction(env, lambda actions: actions),
        EVERYWHERE,
        EVERYWHERE,
        _same,
    ),
    Case(
        "ClipAction",
        wrappers.ClipAction,
        EVERYWHERE,
        EVERYWHERE,
        _same,
        environment="CartPoleContinuous-v0",
        draw=_forces,
    ),
    Case(
        "RescaleAction",
        lambda env: wrappers.RescaleAction(env, 0, 1),
        EVERYWHERE,
        EVERYWHERE,
        _same,
        environment="CartPoleContinuous-v0",
        draw=_shares,
    ),
    Case(
        "TransformReward",
        lambda env: wrappers.TransformReward(env, lambda reward: reward * 2),
        EVERYWHERE,
        EVERYWHERE,
        _doubled_reward,
    ),
    Case(
        "ClipReward",
        lambda env: wrappers.ClipReward(env, 0, 0.5),
        EVERYWHERE,
        EVERYWHERE,
        lambda plain, wrapped: _near(wrapped[1], np.minimum(np.asarray(plain[1]), 0.5)),
    ),
    Case(
        "NormalizeReward",
        wrappers.NormalizeReward,
        EVERYWHERE,
        NOWHERE,
        lambda plain, wrapped: bool((wrapped[1] > 0).sum() == (plain[1] > 0).sum()),
    ),
    Case(
        "RecordEpisodeStatistics",
        wrappers.RecordEpisodeStatistics,
        EVERYWHERE,
        NOWHERE,
        _statistics,
    ),
    Case(
        "RecordVideo",
        lambda env: wrappers.RecordVideo(env, "videos", gc_trigger=None),
        EVERYWHERE,
        EVERYWHERE,
        _same,
        options=DRAWN,
    ),
    Case("HumanRendering", wrappers.HumanRendering, EVERYWHERE, EVERYWHERE, _shown, options=DRAWN),
    Case("ArrayConversion", _torch, EVERYWHERE, EVERYWHERE, _tensors, torch_actions=True),
    Case("JaxToNumpy", lambda env: wrappers.JaxToNumpy(env), EVERYWHERE, EVERYWHERE, _arrays),
    Case(
        "JaxToTorch",
        lambda env: wrappers.JaxToTorch(env),
        EVERYWHERE,
        EVERYWHERE,
        _tensors,
        torch_actions=True,
    ),
    Case(
        "NumpyToTorch",
        lambda env: wrappers.NumpyToTorch(env),
        EVERYWHERE,
        EVERYWHERE,
        _tensors,
        torch_actions=True,
    ),
]
BY_NAME = {case.name: case for case in CASES}


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
        return case.make(_torch(env, backwards=True))

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
