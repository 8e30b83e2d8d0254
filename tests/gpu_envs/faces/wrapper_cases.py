"""Each wrapper of `gymnasium.wrappers.vector`: how it is made, and what it does to a step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import gymnasium
import gymnasium.wrappers.vector as wrappers
import numpy as np
import pytest
from gymnasium import spaces

SHOWN: list[np.ndarray] = []  # pictures that reached the window or a film, in their order
MODES = ("SameStep", "NextStep", "Disabled")
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


def to_torch(env: Any, backwards: bool = False) -> Any:
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
    Case("ArrayConversion", to_torch, EVERYWHERE, EVERYWHERE, _tensors, torch_actions=True),
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
