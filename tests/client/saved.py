"""What tests of saved states share: worlds of a native process, and what shall be made of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import gpu_envs

SIZE = (90, 160)  # rows and columns
WORLD = 1  # which is drawn
WORLDS = 3


def played(make: Callable[..., gpu_envs.Simulator], id: str) -> gpu_envs.Simulator:
    """Return worlds that have been played for some steps."""
    made = make(id, WORLDS, autoreset_mode="SameStep")
    made.reset(seed=11)
    for k in range(12):
        made.step(made.sample_actions(seed=k))
    return made


def task(id: str) -> dict[str, Any]:
    """Return what drawing.js is asked for, beside the state."""
    settings = {"worlds": WORLDS, "autoreset": "SameStep"}
    return {"id": id, "settings": settings, "world": WORLD, "height": SIZE[0], "width": SIZE[1]}


def expected(made: gpu_envs.Simulator) -> dict[str, bytes]:
    """Return what drawing.js has to find."""
    found = {"state": made.save(), "text": made.text(WORLD).encode()}
    if made.instance["scene"]:
        pixels = np.full((*SIZE, 4), 255, np.uint8)
        pixels[..., :3] = made.render(WORLD, size=SIZE)
        found["pixels"] = pixels.tobytes()
    return found
